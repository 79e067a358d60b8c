"""Launch the kernels that sum features on a GPU; the notation is in the source."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.devices import cupy
from veridical.kernels.cuda import BLOCKS, THREADS, launcher


class ColumnKernels:
    """The kernels for some features.

    Parameters
    ----------
    X : array of shape (n, p)
        The features, on the GPU; of any type of numbers, which is not changed.
    """

    def __init__(self, X: Any) -> None:
        self.xp = cupy()
        if X.dtype == np.float16:
            X = X.astype(np.float32)
        self.X = self.xp.ascontiguousarray(X)
        self._launch = launcher("columns", self.X.dtype)
        self._blocks = -(-self.X.shape[1] // THREADS)

    def _parts(self, n_rows: int) -> int:
        """Return into how many parts this many rows are divided."""
        return max(1, min(BLOCKS // self._blocks, n_rows // 64, 65535))

    def ranges(self, rows: IntArray) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return the least and largest value and the missing values of each feature."""
        p, parts = self.X.shape[1], self._parts(len(rows))
        low, high = self.xp.empty((2, parts, p))
        missing = self.xp.empty((parts, p), dtype=np.int32)
        self._launch(
            "fill_ranges", (self._blocks, parts), (THREADS,), self.X, np.int64(p),
            self.xp.asarray(rows, dtype=np.int32), np.int32(len(rows)), low, high,
            missing,
        )  # fmt: skip
        found = low.min(axis=0), high.max(axis=0), missing.sum(axis=0)
        least, most, n_missing = (one.get() for one in found)
        return least, most, n_missing

    def class_sums(
        self, rows: IntArray, weight: FloatArray, ends: IntArray, origin: FloatArray
    ) -> FloatArray:
        """Sum features and their squares over the rows of every class, as pairs.

        Parameters
        ----------
        rows : int array of shape (m,)
            The rows, class by class.
        weight : array of shape (m,)
            How often each counts.
        ends : int array of shape (K + 1,)
            Class k is ``rows[ends[k]:ends[k + 1]]``.
        origin : array of shape (p,)
            What is subtracted from each feature.

        Returns
        -------
        array of shape (K, 4, p)
            The sum of x and of its square, each as a high and a low part.
        """
        xp, p, n_classes = self.xp, self.X.shape[1], len(ends) - 1
        each = max(1, self._parts(len(rows)) // n_classes)
        # Parts of a class, one after the other, and where those of each class end.
        bounds = np.concatenate(
            [
                begin + (end - begin) * np.arange(each) // each
                for begin, end in pairwise(ends.tolist())
            ]
        )
        bounds = xp.asarray(np.append(bounds, ends[-1]), dtype=np.int32)
        sums = xp.empty((n_classes * each, 4, p))
        self._launch(
            "sum_parts", (self._blocks, len(sums)), (THREADS,), self.X, np.int64(p),
            xp.asarray(rows, dtype=np.int32), xp.asarray(weight, dtype=np.float64),
            bounds, xp.asarray(origin), sums,
        )  # fmt: skip
        total = xp.empty((n_classes, 4, p))
        self._launch(
            "add_parts", (self._blocks, n_classes), (THREADS,), sums, np.int64(p),
            xp.arange(0, len(sums) + 1, each, dtype=np.int32), total,
        )  # fmt: skip
        return np.asarray(total.get())

    def column(self, j: int) -> FloatArray:
        """Copy a feature to the memory of the processor."""
        return np.asarray(self.X[:, j].get(), dtype=np.float64)

    def first_row(self) -> FloatArray:
        """Return the first value of every feature."""
        return np.asarray(self.X[0].get(), dtype=np.float64)

    def centred(self, j: int, weight: Any, total: float, mean: float) -> Any:
        """Return a feature less its weighted mean, times the weights, on the GPU.

        The mean is given, and what rounding left of it is subtracted, too.
        """
        x = self.X[:, j].astype(np.float64) - mean
        x -= (weight @ x) / total
        return x * weight

    def multiply(self, weight: Any, origin: FloatArray) -> FloatArray:
        """Sum ``(x - origin) * weight`` over all rows, for every feature."""
        n, p = self.X.shape
        blocks = -(-p // (THREADS * (4 if self.X.dtype.itemsize == 1 else 1)))
        parts = max(1, min(BLOCKS // blocks, n // 64, 65535))
        total = self.xp.empty((parts, p))
        self._launch(
            "multiply_parts", (blocks, parts), (THREADS,), self.X, np.int64(p),
            np.int64(n), self.xp.asarray(weight), self.xp.asarray(origin), total,
        )  # fmt: skip
        return np.asarray(total.sum(axis=0).get())

    def upload(self, values: FloatArray) -> Any:
        """Copy numbers to the GPU."""
        return self.xp.asarray(values)

"""HSIC of features that are on a GPU.

Standardised features, label kernels and the sums of the linear kernel are computed by
the code of `veridical.criteria.hsic`, which numpy passes on to CuPy; only the sums over
all pairs of samples have a kernel of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.lazy import LazyMatrix
from veridical.kernels.cuda.pairs import PairKernels
from veridical.kernels.hsic import unbiased_criterion

if TYPE_CHECKING:
    from veridical.criteria.hsic import LabelledRows

#: Bytes of a block of features; four arrays of this size are in memory at a time.
BLOCK_BYTES = 1 << 28


class OnDevice:
    """Features in the memory of a GPU; see `veridical.criteria.hsic.FeatureMemory`.

    Parameters
    ----------
    values : LazyMatrix
        The features, which raises where they are missing or infinite.
    device_array : array of shape (n, p)
        The same on the GPU.
    """

    make_kernels: Callable[[], PairKernels] = staticmethod(PairKernels)

    def __init__(self, values: LazyMatrix, device_array: Any) -> None:
        self.kernels = self.make_kernels()
        self._values, self._X = values, device_array

    def move(self, labels: LabelledRows) -> LabelledRows:
        """Copy the arrays of the samples to the GPU."""
        return labels.moved(self.kernels.upload)

    def map_blocks(self, work: Callable[[int, int, Any], None]) -> None:
        """Call ``work(lo, hi, block)`` for all features, one block after the other."""
        n, p = self._X.shape
        step = max(1, BLOCK_BYTES // (8 * n))
        for lo in range(0, p, step):
            block = self._X[:, lo : lo + step].T.astype(np.float64)
            for j in (~np.isfinite(block).all(axis=1)).nonzero()[0].tolist():
                self._values.read(np.array([lo + j]))  # it raises, with the row
            work(lo, lo + len(block), block)

    def gaussian_scores(
        self, Z: Any, labels: LabelledRows, D: Any | None, gamma: float, L: Any
    ) -> Any:
        """Compute the criterion of every row of `Z`."""
        counts, m = labels.counts, labels.size
        own = L.diagonal()
        row = L @ counts - own
        trace, whole, mixed = self.kernels.sum_pairs(Z, counts, D, gamma, L, row)
        trace = trace + counts @ ((counts - 1.0) * own)
        return unbiased_criterion.py_func(trace, whole, mixed, counts @ row, m)

"""Launch the kernel that sums over pairs of samples on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.devices import cupy
from veridical.kernels.cuda import THREADS, launcher


class PairKernels:
    """The kernel for pairs of samples, and copies to the GPU."""

    def __init__(self) -> None:
        self.xp = cupy()
        self._launch = launcher("pairs", np.float64)

    def upload(self, values: Any) -> Any:
        """Copy numbers to the GPU."""
        return self.xp.asarray(values)

    def sum_pairs(
        self, Z: Any, counts: Any, D: Any | None, gamma: float, L: Any, row: Any
    ) -> Any:
        """Sum Gaussian kernels of every feature, or of all features but one.

        The notation is in the source; `D` is None for each feature by itself.

        Returns
        -------
        array of shape (3, n_features)
            The products with the label kernel, the kernel itself, and its products with
            the row sums of the label kernel.
        """
        Z = self.xp.ascontiguousarray(Z)
        n_features, r = Z.shape
        parts = -(-r // THREADS)
        sums = self.xp.empty((3, n_features, parts))
        self._launch(
            "sum_pairs", (n_features, parts), (THREADS,), Z, counts,
            L if D is None else D, np.int32(D is not None), L, row, np.int32(r),
            np.float64(gamma), sums,
        )  # fmt: skip
        return sums.sum(axis=2)

"""The kernel of `veridical.kernels.cuda.pairs` in numpy: slow and obvious."""

from __future__ import annotations

import numpy as np


class NumpyPairs:
    """See `PairKernels`."""

    def upload(self, values):
        return np.array(values)

    def sum_pairs(self, Z, counts, D, gamma, L, row):
        sums = np.zeros((3, len(Z)))
        for j, x in enumerate(Z):
            square = (x[:, None] - x) ** 2
            kernel = np.exp(-gamma * (square if D is None else D - square))
            np.fill_diagonal(kernel, 0.0)
            near = kernel @ counts + counts - 1.0
            sums[0, j] = counts @ ((kernel * L) @ counts)
            sums[1, j] = counts @ near
            sums[2, j] = counts @ (near * row)
        return sums

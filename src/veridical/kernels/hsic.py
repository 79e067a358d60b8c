"""Hilbert–Schmidt independence of one feature, or of all but one, and the labels.

| symbol | meaning                                                          | shape  |
|--------|------------------------------------------------------------------|--------|
| column | a standardised feature                                           | (m,)   |
| D      | squared distances over the features kept so far                  | (m, m) |
| L      | label kernel                                                     | (m, m) |
| l      | its row sums without the diagonal                                | (m,)   |
"""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit


@njit(cache=True, nogil=True)
def gaussian_scores(
    columns: FloatArray,
    D: FloatArray,
    direction: float,
    gamma: float,
    L: FloatArray,
    out: FloatArray,
) -> None:
    """Compute unbiased HSIC of kernels ``exp(-gamma (D ± (x − x')²))``, per feature.

    A `direction` of 1 adds the feature to the distances, −1 subtracts it.
    """
    m = columns.shape[1]
    sums = np.empty(m)
    row = L.sum(axis=1)
    for a in range(m):
        row[a] -= L[a, a]
    all_labels = row.sum()
    for j in range(columns.shape[0]):
        x = columns[j]
        sums[:] = 0.0
        trace = 0.0
        for a in range(m):
            for b in range(a + 1, m):
                k = np.exp(-gamma * (D[a, b] + direction * (x[a] - x[b]) ** 2))
                trace += 2.0 * k * L[a, b]
                sums[a] += k
                sums[b] += k
        whole, mixed = 0.0, 0.0
        for a in range(m):
            whole += sums[a]
            mixed += sums[a] * row[a]
        out[j] = (
            trace + whole * all_labels / ((m - 1) * (m - 2)) - 2.0 * mixed / (m - 2)
        ) / (m * (m - 3))

"""Hilbert–Schmidt independence of one feature, or of all but one, and the labels.

| symbol | meaning                                                          | shape  |
|--------|------------------------------------------------------------------|--------|
| column | a standardised feature, at r different samples                   | (r,)   |
| counts | how often each of them occurs                                    | (r,)   |
| m      | number of samples, Σ counts                                      |        |
| D      | squared distances over the features kept so far                  | (r, r) |
| L      | label kernel                                                     | (r, r) |
| row    | its row sums over the other samples, copies included             | (r,)   |
"""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit


@njit(cache=True, nogil=True)
def unbiased_criterion(
    trace: float, whole: float, mixed: float, all_labels: float, m: float
) -> float:
    """Compute unbiased HSIC from sums over pairs of different samples.

    Parameters
    ----------
    trace : float
        Sum of the products of both kernels.
    whole, all_labels : float
        Sums of the kernel of the feature and of the label kernel.
    mixed : float
        Sum over samples of the products of the row sums of both.
    m : float
        Number of samples.
    """
    pairs = trace + whole * all_labels / ((m - 1) * (m - 2)) - 2.0 * mixed / (m - 2)
    return pairs / (m * (m - 3))


@njit(cache=True, nogil=True)
def gaussian_scores(
    columns: FloatArray,
    counts: FloatArray,
    D: FloatArray,
    direction: float,
    gamma: float,
    L: FloatArray,
    out: FloatArray,
) -> None:
    """Compute unbiased HSIC of kernels ``exp(-gamma (D ± (x − x')²))``, per feature.

    A `direction` of 1 adds the feature to the distances, −1 subtracts it.
    """
    n_rows, m = columns.shape[1], counts.sum()
    sums = np.empty(n_rows)
    row = (L * counts).sum(axis=1)
    for a in range(n_rows):
        row[a] -= L[a, a]
    all_labels = (row * counts).sum()
    # Copies of a sample are at distance 0, where the kernel is 1.
    copies = 0.0
    for a in range(n_rows):
        copies += counts[a] * (counts[a] - 1.0) * L[a, a]
    for j in range(columns.shape[0]):
        x = columns[j]
        for a in range(n_rows):
            sums[a] = counts[a] - 1.0
        trace = copies
        for a in range(n_rows):
            own = counts[a]
            for b in range(a + 1, n_rows):
                k = np.exp(-gamma * (D[a, b] + direction * (x[a] - x[b]) ** 2))
                trace += 2.0 * k * L[a, b] * (own * counts[b])
                sums[a] += k * counts[b]
                sums[b] += k * own
        whole, mixed = 0.0, 0.0
        for a in range(n_rows):
            whole += counts[a] * sums[a]
            mixed += counts[a] * sums[a] * row[a]
        out[j] = unbiased_criterion(trace, whole, mixed, all_labels, m)

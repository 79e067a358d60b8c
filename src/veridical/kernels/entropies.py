"""Entropies of contingency tables, in bits.

| symbol  | meaning                                                         | shape  |
|---------|-----------------------------------------------------------------|--------|
| table   | weight of the samples with feature value v and class k          | (V, K) |
| missing | weight of the samples of class k whose feature value is missing | (K,)   |
"""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit


def xlogx_table(n: int) -> FloatArray:
    """Compute ``x log2 x`` for x = 0..n."""
    x = np.arange(n + 1, dtype=np.float64)
    x[1:] *= np.log2(x[1:])
    return x


@njit(cache=True, nogil=True)
def xlog2x(x: float) -> float:
    """Compute ``x log2 x``, which is 0 at 0."""
    return x * np.log2(x) if x > 0 else 0.0


@njit(cache=True, nogil=True)
def spread_missing(table: FloatArray, missing: FloatArray) -> None:
    """Distribute samples with a missing value over all values, by their shares.

    The shares are the marginal ones, not those within a class, as in Weka's
    InfoGainAttributeEval.
    """
    # Loops instead of sums of arrays, which take numba a second to compile.
    known, n_missing = 0.0, 0.0
    for k in range(table.shape[1]):
        n_missing += missing[k]
        for v in range(table.shape[0]):
            known += table[v, k]
    if known <= 0 or n_missing <= 0:
        return
    for v in range(table.shape[0]):
        share = 0.0
        for k in range(table.shape[1]):
            share += table[v, k] / known
        for k in range(table.shape[1]):
            table[v, k] += share * missing[k]


@njit(cache=True, nogil=True)
def spread_pairs(table: FloatArray) -> FloatArray:
    """Distribute missing values of two features, in the last row and column.

    The shares of a feature's values are those among all samples where it is known.
    Samples without either value are distributed over all cells, by their shares.
    """
    n_rows, n_columns = table.shape[0] - 1, table.shape[1] - 1
    full = np.empty((n_rows, n_columns))
    rows, columns = np.zeros(n_rows), np.zeros(n_columns)
    in_rows, in_columns, in_both = 0.0, 0.0, 0.0
    for i in range(n_rows + 1):
        for j in range(n_columns + 1):
            weight = table[i, j]
            if i < n_rows:
                rows[i] += weight
                in_rows += weight
            if j < n_columns:
                columns[j] += weight
                in_columns += weight
            if i < n_rows and j < n_columns:
                full[i, j] = weight
                in_both += weight
    if in_rows <= 0 or in_columns <= 0:
        return full
    for i in range(n_rows):
        for j in range(n_columns):
            full[i, j] += rows[i] / in_rows * table[n_rows, j]
            full[i, j] += columns[j] / in_columns * table[i, n_columns]
            if in_both > 0:
                full[i, j] += table[i, j] / in_both * table[n_rows, n_columns]
    return full


@njit(cache=True, nogil=True)
def entropies(table: FloatArray) -> tuple[float, float, float]:
    """Compute the entropy of the rows, of the columns, and of both together."""
    total = 0.0
    rows = 0.0
    cells = 0.0
    columns = np.zeros(table.shape[1])
    for v in range(table.shape[0]):
        row = 0.0
        for k in range(table.shape[1]):
            row += table[v, k]
            columns[k] += table[v, k]
            cells += xlog2x(table[v, k])
        rows += xlog2x(row)
        total += row
    if total <= 0:
        return 0.0, 0.0, 0.0
    both = 0.0
    for k in range(table.shape[1]):
        both += xlog2x(columns[k])
    top = np.log2(total)
    return top - rows / total, top - both / total, top - cells / total


@njit(cache=True, nogil=True)
def gain_and_uncertainty(table: FloatArray) -> tuple[float, float]:
    """Compute information gain ``H(Y) − H(Y|X)`` and symmetrical uncertainty."""
    h_rows, h_columns, h_cells = entropies(table)
    gain = max(h_rows + h_columns - h_cells, 0.0)
    # An entropy of one value only is zero up to rounding, and then so is the gain.
    if h_rows <= 1e-14 or h_columns <= 1e-14:
        return 0.0, 0.0
    return gain, 2.0 * gain / (h_rows + h_columns)


@njit(cache=True, nogil=True)
def pair_uncertainty(
    a: np.ndarray, b: np.ndarray, counts: FloatArray, n_a: int, n_b: int
) -> float:
    """Compute the symmetrical uncertainty of two features; −1 is a missing value."""
    table = np.zeros((n_a + 1, n_b + 1))
    for i in range(a.size):
        table[a[i], b[i]] += counts[i]  # −1 wraps round to the last row or column
    return gain_and_uncertainty(spread_pairs(table))[1]


@njit(cache=True, nogil=True)
def uncertainty_with(
    one: int,
    others: np.ndarray,
    codes: np.ndarray,
    n_values: np.ndarray,
    counts: FloatArray,
    out: FloatArray,
) -> None:
    """Compute the symmetrical uncertainty of a row of `codes` with each of others."""
    for k in range(others.size):
        j = others[k]
        out[k] = pair_uncertainty(
            codes[one], codes[j], counts, n_values[one], n_values[j]
        )

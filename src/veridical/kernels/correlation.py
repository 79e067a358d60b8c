"""Correlations of every column with a given one, in one training set of many.

The products of all rows are known; a training set needs only the rows in which it
differs, and its own means.

| symbol  | meaning                                                       | shape   |
|---------|---------------------------------------------------------------|---------|
| Z       | the data, columns centred and scaled where that is affordable | (n, p)  |
| product | Σ over all rows of column i × column j                        | (p,)    |
| rows    | rows in which the set differs from all rows                   | (m,)    |
| force   | change of multiplicity × value of column j in those rows      | (m,)    |
| sums    | Σ over the rows of the set of column i                        | (p,)    |
| mean    | mean of column j in the set                                   |         |
| inverse | 1 / (norm of the centred column i in the set), 0 if constant  | (p,)    |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from veridical._records import FloatArray, IntArray

TILE = 1024
SAME = 1.0 - 1e-12  # correlations nearer to 1 than this are those of copies


@njit(cache=True, nogil=True, fastmath={"contract"})
def correct_product(
    Z: Any,
    product: FloatArray,
    rows: IntArray,
    force: FloatArray,
    sums: FloatArray,
    mean: float,
    out: FloatArray,
) -> None:
    """Write to `out` the centred products of one training set."""
    for f in range(0, product.size, TILE):
        target = out[f : f + TILE]
        whole, total = product[f : f + TILE], sums[f : f + TILE]
        for c in range(target.size):
            target[c] = whole[c] - mean * total[c]
        for r in range(rows.size):
            row, w = Z[rows[r], f : f + TILE], force[r]
            for c in range(target.size):
                target[c] += w * np.float64(row[c])


@njit(cache=True, nogil=True)
def add_similarity(
    product: FloatArray,
    inverse: FloatArray,
    j: int,
    floor: float,
    similarity: FloatArray,
) -> None:
    """Add to `similarity` the absolute correlation of every column with column j."""
    scale = inverse[j]
    for i in range(product.size):
        r = abs(product[i]) * inverse[i] * scale
        similarity[i] += 1.0 if r > SAME else max(r, floor)


@njit(cache=True, nogil=True, fastmath={"contract"})
def cross(X: Any, weight: FloatArray, out: FloatArray) -> None:
    """Write ``Xᵀ weight`` to `out`, summing in double precision whatever X holds."""
    out[:] = 0.0
    for f in range(0, out.size, TILE):
        target = out[f : f + TILE]
        for r in range(X.shape[0]):
            row, w = X[r, f : f + TILE], weight[r]
            if w != 0.0:
                for c in range(target.size):
                    target[c] += w * np.float64(row[c])

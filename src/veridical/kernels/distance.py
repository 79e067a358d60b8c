"""Manhattan distances between cases: numbers by range, categories by equality.

| symbol  | meaning                                                        | shape  |
|---------|----------------------------------------------------------------|--------|
| X       | cases; only complete numeric columns in the fast routine       | (n, p) |
| inverse | 1 / range of a column, 0 for a constant one                    | (p,)   |
| low     | least value of a column                                        | (p,)   |
| n_vals  | number of values of a nominal column, 0 for a numeric one      | (p,)   |
| D       | distances; only ``D[i, j]`` with i ≤ j is written              | (n, n) |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from veridical._records import FloatArray, IntArray
from veridical.kernels.threads import run

ROWS = 8  # rows of a block: they and one more row of a tile fit the first-level cache
TILE = 256

_REORDER = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _add_numeric(X: Any, inverse: FloatArray, lo: int, hi: int, D: FloatArray) -> None:
    n, p = X.shape
    for first in range(lo, hi, ROWS):
        last = min(first + ROWS, hi)
        for f in range(0, p, TILE):
            scale = inverse[f : f + TILE]
            for j in range(first + 1, n):
                b = X[j, f : f + TILE]
                for i in range(first, min(last, j)):
                    a = X[i, f : f + TILE]
                    total = 0.0
                    for c in range(scale.size):
                        total += abs(np.float64(a[c]) - np.float64(b[c])) * scale[c]
                    D[i, j] += total


def add_numeric(
    X: Any,
    inverse: FloatArray,
    D: FloatArray,
    n_threads: int,
    rows: tuple[int, int] | None = None,
) -> None:
    """Add to `D` the weighted Manhattan distances of complete numeric columns.

    `rows` limits the work to a part of the rows of `D`.
    """
    first, last = rows or (0, len(X))
    # A few jobs for each thread, shorter ones last, so that they end together.
    step = max(ROWS, (last - first) // (8 * n_threads) // ROWS * ROWS)
    blocks = [
        (X, inverse, lo, min(lo + step, last), D) for lo in range(first, last, step)
    ]
    run(_add_numeric, blocks, n_threads)


@njit(cache=True, nogil=True)
def difference(a: float, b: float, low: float, inverse: float, n_vals: int) -> float:
    """``diff`` of one column with values that may be missing or nominal.

    Weka's rules: an unknown number is as far as it can be from the known one; an
    unknown category differs with the chance of a random value.
    """
    if n_vals > 0:
        if np.isnan(a) or np.isnan(b):
            return 1.0 - 1.0 / n_vals
        return 0.0 if a == b else 1.0
    if inverse == 0.0:
        return 0.0
    if np.isnan(a):
        if np.isnan(b):
            return 1.0
        a, b = b, a
    if np.isnan(b):
        x = (a - low) * inverse
        return max(x, 1.0 - x)
    return abs(a - b) * inverse


@njit(cache=True, nogil=True)
def _add_mixed(
    X: FloatArray,
    low: FloatArray,
    inverse: FloatArray,
    n_vals: IntArray,
    sign: float,
    lo: int,
    hi: int,
    D: FloatArray,
) -> None:
    # The diagonal too: a row drawn twice is as far from its copy as from any other row
    # in the columns where its value is missing.
    for i in range(lo, hi):
        for j in range(i, X.shape[0]):
            total = 0.0
            for c in range(X.shape[1]):
                total += difference(X[i, c], X[j, c], low[c], inverse[c], n_vals[c])
            D[i, j] += sign * total


def add_mixed(
    X: FloatArray,
    low: FloatArray,
    inverse: FloatArray,
    n_vals: IntArray,
    D: FloatArray,
    n_threads: int,
    sign: float = 1.0,
) -> None:
    """Add (or take away) the distances of columns that need :func:`difference`."""
    n = len(X)
    jobs = [
        (X, low, inverse, n_vals, sign, lo, min(lo + ROWS, n), D)
        for lo in range(0, n, ROWS)
    ]
    run(_add_mixed, jobs, n_threads)


@njit(cache=True, nogil=True)
def mirror(D: FloatArray) -> None:
    """Copy the upper triangle to the lower one."""
    for i in range(D.shape[0]):
        for j in range(i + 1, D.shape[0]):
            D[j, i] = D[i, j]

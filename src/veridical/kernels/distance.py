"""Manhattan distances between cases: numbers by range, categories by equality.

Two kinds: quick ones in single precision with a bound on their error, for all pairs;
and exact ones in double precision, for the few pairs on which something hangs.

| symbol  | meaning                                                        | shape  |
|---------|----------------------------------------------------------------|--------|
| X       | cases as they are; complete numeric columns                    | (n, p) |
| Z       | cases scaled to differences of at most 1, single precision     | (m, p) |
| rows    | which rows of X (or of `base`) the rows of Z are               | (m,)   |
| low     | least value of a column                                        | (p,)   |
| inverse | 1 / range of a column, 0 for a constant one                    | (p,)   |
| factor  | what a difference in a column is multiplied by                 | (p,)   |
| n_vals  | number of values of a nominal column, 0 for a numeric one      | (p,)   |
| D       | distances                                                      | (m, m) |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from veridical._records import FloatArray, IntArray
from veridical.kernels.threads import run, spans

SingleArray = NDArray[np.float32]

ROWS = 4  # rows whose distances to another row are summed side by side
TILE = 1024  # columns of a sum; five rows of a tile fit the first-level cache

_REORDER = {"reassoc", "contract", "nsz"}
_ROUNDING = 2.0**-24  # half a unit in the last place of single precision


def error_bound(n_columns: int, largest: float) -> float:
    """How far a quick distance over columns of `Z` can lie from the exact one.

    A scaled value is off by half a unit in the last place, and so is a difference of
    two; a sum of m terms of size D in any order by less than m halves of a unit of D.
    """
    terms = TILE + n_columns / TILE + 8
    return 2 * _ROUNDING * n_columns + terms * _ROUNDING * largest


@njit(cache=True, nogil=True)
def _scale(
    X: Any,
    rows: IntArray,
    low: FloatArray,
    factor: FloatArray,
    lo: int,
    hi: int,
    Z: SingleArray,
) -> None:
    for i in range(lo, hi):
        x = X[rows[i]]
        for c in range(x.size):
            move = np.float64(x[c]) - low[c]
            Z[i, c] = move * factor[c] if factor[c] > 0 else 0.0


def scale(
    X: Any, rows: IntArray, low: FloatArray, factor: FloatArray, n_threads: int
) -> SingleArray:
    """``(X[rows] - low) * factor`` in single precision."""
    Z = np.empty((len(rows), X.shape[1]), dtype=np.float32)
    pieces = spans(len(rows), n_threads, 64)
    run(_scale, [(X, rows, low, factor, *piece, Z) for piece in pieces], n_threads)
    return Z


@njit(cache=True, nogil=True, fastmath=_REORDER)
def _sum_pairs(
    Z: SingleArray,
    base: SingleArray,
    rows: IntArray,
    lo: int,
    hi: int,
    D: SingleArray,
) -> None:
    m, p = Z.shape
    total = np.empty((m, ROWS), dtype=np.float32)
    for first in range(lo, hi, ROWS):
        total[first:] = 0.0
        for f in range(0, p, TILE):
            g = min(f + TILE, p)
            a = Z[first, f:g]
            b = Z[min(first + 1, m - 1), f:g]
            c = Z[min(first + 2, m - 1), f:g]
            d = Z[min(first + 3, m - 1), f:g]
            for j in range(first + 1, m):
                z = Z[j, f:g]
                at, bt = np.float32(0.0), np.float32(0.0)
                ct, dt = np.float32(0.0), np.float32(0.0)
                for t in range(z.size):
                    at += abs(a[t] - z[t])
                    bt += abs(b[t] - z[t])
                    ct += abs(c[t] - z[t])
                    dt += abs(d[t] - z[t])
                total[j, 0] += at
                total[j, 1] += bt
                total[j, 2] += ct
                total[j, 3] += dt
        for i in range(first, min(first + ROWS, hi)):
            known = base[rows[i]]
            for j in range(i, m):
                D[i, j] = known[rows[j]] + total[j, i - first]
                D[j, i] = D[i, j]


def sum_pairs(
    Z: SingleArray,
    base: SingleArray,
    rows: IntArray,
    D: SingleArray,
    pieces: list[tuple[int, int]],
    n_threads: int,
) -> None:
    """Fill ``D[i, j] = base[rows[i], rows[j]] + Σ |Z[i] - Z[j]|``, and ``D[j, i]``.

    `pieces` are the runs of rows i to work on; each takes all j ≥ i.
    """
    run(_sum_pairs, [(Z, base, rows, *piece, D) for piece in pieces], n_threads)


@njit(cache=True, nogil=True, fastmath=_REORDER)
def numeric_distance(X: Any, i: int, j: int, inverse: FloatArray) -> float:
    """Exact distance of two rows over complete numeric columns."""
    a, b = X[i], X[j]
    total = 0.0
    for c in range(a.size):
        total += abs(np.float64(a[c]) - np.float64(b[c])) * inverse[c]
    return total


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
def mixed_distance(
    X: FloatArray,
    i: int,
    j: int,
    low: FloatArray,
    inverse: FloatArray,
    n_vals: IntArray,
) -> float:
    """Exact distance of two rows over columns that need :func:`difference`."""
    total = 0.0
    for c in range(X.shape[1]):
        total += difference(X[i, c], X[j, c], low[c], inverse[c], n_vals[c])
    return total


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
            D[i, j] += sign * mixed_distance(X, i, j, low, inverse, n_vals)
            D[j, i] = D[i, j]


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
        (X, low, inverse, n_vals, sign, lo, min(lo + 8, n), D) for lo in range(0, n, 8)
    ]
    run(_add_mixed, jobs, n_threads)

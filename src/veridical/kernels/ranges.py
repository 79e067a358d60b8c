"""Least and largest value of each feature in each of many training sets.

| symbol  | meaning                                                    | shape  |
|---------|------------------------------------------------------------|--------|
| columns | values of some features, one feature per row               | (B, n) |
| present | whether row i occurs in set s                              | (n, S) |
| y       | one feature, or its negative; infinity for missing values, | (n',)  |
|         | and at the end, to fill the last chunk                     |        |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit

#: Least values tried for all sets at once; the sets left are searched one by one.
MAX_VALUES = 16
CHUNK = 64  # rows compared in one loop
SPREADS = 16  # features whose ranges are written together


@njit(cache=True, nogil=True)
def _least_above(y: FloatArray, bound: float, lanes: FloatArray) -> float:
    """Return the least value above `bound`; y has whole chunks."""
    lanes[:] = np.inf
    for lo in range(0, y.size, CHUNK):
        chunk = y[lo : lo + CHUNK]
        for t in range(CHUNK):
            value = chunk[t] if chunk[t] > bound else np.inf
            lanes[t] = value if value < lanes[t] else lanes[t]
    width = CHUNK
    while width > 1:
        width //= 2
        low, high = lanes[:width], lanes[width : 2 * width]
        for t in range(width):
            low[t] = high[t] if high[t] < low[t] else low[t]
    return lanes[0]


@njit(cache=True, nogil=True)
def _assign(
    y: FloatArray, value: float, present: NDArray[np.bool_], low: FloatArray
) -> int:
    """Set `low` of the sets without one that hold `value`; return their number."""
    assigned = 0
    for lo in range(0, y.size, CHUNK):
        chunk, hits = y[lo : lo + CHUNK], 0
        for t in range(CHUNK):
            hits += chunk[t] == value
        if hits == 0:
            continue
        for t in range(CHUNK):
            if chunk[t] == value:
                for s in range(low.size):
                    if present[lo + t, s] and np.isnan(low[s]):
                        low[s] = value
                        assigned += 1
    return assigned


@njit(cache=True, nogil=True)
def _lows(
    y: FloatArray, present: NDArray[np.bool_], low: FloatArray, lanes: FloatArray
) -> None:
    """Find the least value in each set, NaN where there is none.

    For most sets it is the least of all values; sets without it are tried with the next
    ones, and sets that are still open are searched one by one.
    """
    low[:] = np.nan
    n_open, value = low.size, -np.inf
    for _ in range(MAX_VALUES):
        value = _least_above(y, value, lanes)
        if value == np.inf:
            return
        n_open -= _assign(y, value, present, low)
        if n_open == 0:
            return
    for s in range(low.size):
        if np.isnan(low[s]):
            least = np.inf
            for i in range(present.shape[0]):
                if present[i, s]:
                    least = min(least, y[i])
            low[s] = least if least < np.inf else np.nan


@njit(cache=True, nogil=True)
def block_ranges(
    columns: FloatArray,
    present: NDArray[np.bool_],
    low: FloatArray,
    high: FloatArray,
) -> None:
    """Fill `low` and `high`, shape (B, S), for a block; NaN where all is missing."""
    n = columns.shape[1]
    y, lanes = np.full(-(-n // CHUNK) * CHUNK, np.inf), np.empty(CHUNK)
    for j in range(columns.shape[0]):
        x = columns[j]
        for i in range(n):
            y[i] = x[i] if x[i] == x[i] else np.inf
        _lows(y, present, low[j], lanes)
        for i in range(n):
            y[i] = -x[i] if x[i] == x[i] else np.inf
        _lows(y, present, high[j], lanes)
        for s in range(high.shape[1]):
            high[j, s] = -high[j, s]


@njit(cache=True, nogil=True)
def _keep_least(
    x: FloatArray, sign: float, values: FloatArray, rows: NDArray[np.int32]
) -> None:
    """Keep the least values of ``sign * x``, ascending, and their rows."""
    kept = 0
    for i in range(x.size):
        v = sign * x[i]
        if kept == values.size and v >= values[kept - 1]:
            continue
        at = min(kept, values.size - 1)
        while at > 0 and values[at - 1] > v:
            values[at], rows[at] = values[at - 1], rows[at - 1]
            at -= 1
        values[at], rows[at] = v, i
        kept = min(kept + 1, values.size)


@njit(cache=True, nogil=True)
def block_extremes(
    columns: FloatArray, values: FloatArray, rows: NDArray[np.int32]
) -> None:
    """Fill the least values of each feature and of its negative, and their rows.

    Parameters
    ----------
    columns : array of shape (B, n)
        Complete features.
    values, rows : arrays of shape (B, 2, M)
        The result; M is at most n.
    """
    for j in range(columns.shape[0]):
        _keep_least(columns[j], 1.0, values[j, 0], rows[j, 0])
        _keep_least(columns[j], -1.0, values[j, 1], rows[j, 1])


@njit(cache=True, nogil=True)
def fill_spreads(
    values: FloatArray,
    rows: NDArray[np.int32],
    X: Any,
    present: NDArray[np.bool_],
    lo: int,
    hi: int,
    out: FloatArray,
) -> None:
    """Fill the range of some features in each set: largest minus least value.

    Parameters
    ----------
    values, rows : arrays of shape (p, 2, M)
        From `block_extremes`.
    X : array of shape (n, p)
        All features, for the sets that hold none of these values.
    present : array of shape (n, S)
        Whether row i occurs in set s.
    lo, hi : int
        The first feature, and the first one after the last.
    out : array of shape (S, p)
        The result, of which the columns ``lo:hi`` are filled.
    """
    n_sets = present.shape[1]
    least, spread = np.empty(n_sets), np.empty((SPREADS, n_sets))
    for first in range(lo, hi, SPREADS):
        size = min(SPREADS, hi - first)
        for f in range(size):
            j, total = first + f, spread[f]
            total[:] = 0.0
            for side in range(2):
                least[:] = np.inf
                for r in range(values.shape[2] - 1, -1, -1):
                    v, here = values[j, side, r], present[rows[j, side, r]]
                    for s in range(n_sets):
                        least[s] = v if here[s] else least[s]
                for s in range(n_sets):
                    if least[s] == np.inf:
                        for i in range(present.shape[0]):
                            v = (
                                np.float64(X[i, j])
                                if side == 0
                                else -np.float64(X[i, j])
                            )
                            if present[i, s] and v < least[s]:
                                least[s] = v
                    total[s] -= least[s]
        for s in range(n_sets):
            for f in range(size):
                out[s, first + f] = spread[f, s]

"""Least and largest value of each column in each of many training sets.

| symbol  | meaning                                                           | shape  |
|---------|-------------------------------------------------------------------|--------|
| columns | values of some columns, one column per row                        | (B, n) |
| present | does row i occur in set s                                         | (n, S) |
| y       | one column, or its negative; infinity where the value is missing, | (n',)  |
|         | and at the end, to fill the last stretch                          |        |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit

PATIENCE = 16  # values that are tried before a set is searched by itself
STRETCH = 64  # rows that are looked at side by side


@njit(cache=True, nogil=True)
def _least_above(y: FloatArray, bar: float, lanes: FloatArray) -> float:
    """Least value above `bar`; the length of y is a multiple of `STRETCH`."""
    lanes[:] = np.inf
    for lo in range(0, y.size, STRETCH):
        stretch = y[lo : lo + STRETCH]
        for t in range(STRETCH):
            value = stretch[t] if stretch[t] > bar else np.inf
            lanes[t] = value if value < lanes[t] else lanes[t]
    width = STRETCH
    while width > 1:
        width //= 2
        low, high = lanes[:width], lanes[width : 2 * width]
        for t in range(width):
            low[t] = high[t] if high[t] < low[t] else low[t]
    return lanes[0]


@njit(cache=True, nogil=True)
def _serve(
    y: FloatArray, value: float, present: NDArray[np.bool_], low: FloatArray
) -> int:
    """Give `value` to the sets that hold a row with it and have none; count them."""
    served = 0
    for lo in range(0, y.size, STRETCH):
        stretch, hits = y[lo : lo + STRETCH], 0
        for t in range(STRETCH):
            hits += stretch[t] == value
        if hits == 0:
            continue
        for t in range(STRETCH):
            if stretch[t] == value:
                for s in range(low.size):
                    if present[lo + t, s] and np.isnan(low[s]):
                        low[s] = value
                        served += 1
    return served


@njit(cache=True, nogil=True)
def _lows(
    y: FloatArray, present: NDArray[np.bool_], low: FloatArray, lanes: FloatArray
) -> None:
    """Least value in each set, NaN where there is none: the least of all for most.

    Sets that do not hold a row with it are offered the next, and so on; those that are
    left after a while are searched one by one.
    """
    low[:] = np.nan
    left, value = low.size, -np.inf
    for _ in range(PATIENCE):
        value = _least_above(y, value, lanes)
        if value == np.inf:
            return
        left -= _serve(y, value, present, low)
        if left == 0:
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
    y, lanes = np.full(-(-n // STRETCH) * STRETCH, np.inf), np.empty(STRETCH)
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

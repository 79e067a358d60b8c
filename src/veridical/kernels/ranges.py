"""Least and largest value of each column in each of many training sets."""

from __future__ import annotations

import numpy as np
from numba import njit

from veridical._records import FloatArray


@njit(cache=True, nogil=True)
def block_ranges(
    columns: FloatArray, counts: FloatArray, low: FloatArray, high: FloatArray
) -> None:
    """Fill `low` and `high`, shape (B, S), for a block; NaN where all is missing.

    A set that holds a row with the extreme value of the whole column has that
    extreme; only for the other sets is the column looked at again.
    """
    n_sets, n = counts.shape
    for j in range(columns.shape[0]):
        x = columns[j]
        least, most = np.inf, -np.inf
        for i in range(n):
            least = min(least, x[i]) if x[i] == x[i] else least
            most = max(most, x[i]) if x[i] == x[i] else most
        low[j, :] = np.nan
        high[j, :] = np.nan
        for i in range(n):
            if x[i] == least:
                for s in range(n_sets):
                    if counts[s, i] > 0:
                        low[j, s] = least
            if x[i] == most:
                for s in range(n_sets):
                    if counts[s, i] > 0:
                        high[j, s] = most
        for s in range(n_sets):
            if np.isnan(low[j, s]):
                for i in range(n):
                    if counts[s, i] > 0 and not low[j, s] <= x[i]:
                        low[j, s] = x[i] if x[i] == x[i] else low[j, s]
            if np.isnan(high[j, s]):
                for i in range(n):
                    if counts[s, i] > 0 and not high[j, s] >= x[i]:
                        high[j, s] = x[i] if x[i] == x[i] else high[j, s]

"""From scores to an order in which ties are ties.

Scores that are equal in exact arithmetic come out a few units in the last place
apart, depending on the order of rows, classes or threads. An order built on such
noise would change when nothing has changed. So neighbours in the sorted list that
agree to rounding are one tied group, and a tied group is ordered by feature index.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from veridical._records import FloatArray, IntArray

RELATIVE = 1e-12
ABSOLUTE = 1e-12


@njit(cache=True, nogil=True)
def _sort_tied_groups(
    order: IntArray, scores: FloatArray, rtol: float, atol: float
) -> None:
    start = 0
    for k in range(1, order.size + 1):
        tied = False
        if k < order.size:
            high, low = scores[order[k - 1]], scores[order[k]]
            if high == low or (np.isnan(high) and np.isnan(low)):
                tied = True
            elif np.isfinite(high) and np.isfinite(low):
                tied = high - low <= atol + rtol * max(abs(high), abs(low))
        if not tied:
            if k - start > 1:
                order[start:k] = np.sort(order[start:k])
            start = k


def order_by_score(
    scores: FloatArray, *, rtol: float = RELATIVE, atol: float = 0.0
) -> IntArray:
    """Indices from the largest score to the smallest, ties by index, NaN last.

    Parameters
    ----------
    scores : array of shape (n_features,)
        Larger is better.
    rtol, atol : float
        Neighbours within ``atol + rtol * |score|`` of each other are tied. Scores that
        are differences of larger numbers need `atol`.
    """
    order = np.argsort(-scores)
    _sort_tied_groups(order, scores, rtol, atol)
    return order


def first_best(scores: FloatArray, *, atol: float = ABSOLUTE) -> int:
    """Index of the largest score; of those that agree to rounding, the lowest index."""
    best = float(scores.max())
    if not np.isfinite(best):
        return int(np.argmax(scores))
    return int(np.argmax(scores >= best - atol))

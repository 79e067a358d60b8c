"""From scores to an order in which ties are ties.

Scores that are equal in exact arithmetic come out a few units in the last place
apart, depending on the order of rows, classes or threads. An order built on such
noise would change when nothing has changed. So neighbours in the sorted list that
agree to rounding are one tied group, and a tied group is ordered by feature index.
"""

from __future__ import annotations

import numpy as np

from veridical._records import FloatArray, IntArray

RELATIVE = 1e-12
ABSOLUTE = 1e-12


def _sort_tied_groups(
    order: IntArray, scores: FloatArray, rtol: float, atol: float
) -> IntArray:
    high, low = scores[order[:-1]], scores[order[1:]]
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.maximum(np.abs(high), np.abs(low))
        near = np.isfinite(size) & (high - low <= atol + rtol * size)
    tied = near | (high == low) | (np.isnan(high) & np.isnan(low))
    if not tied.any():
        return order
    group = np.concatenate([[0], np.cumsum(~tied)])
    return np.sort(group * order.size + order) % order.size


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
    return _sort_tied_groups(np.argsort(-scores), scores, rtol, atol)


def last_by_score(
    scores: FloatArray, n_last: int, *, rtol: float = RELATIVE, atol: float = 0.0
) -> IntArray:
    """Return ``order_by_score(scores)[-n_last:]``, sorting few of the scores.

    The lowest scores are sorted until a gap parts them from the rest.
    """
    n_low = 2 * n_last + 30
    if n_low >= scores.size or not np.isfinite(scores).all():
        return order_by_score(scores, rtol=rtol, atol=atol)[scores.size - n_last :]
    low = np.argpartition(scores, n_low)[:n_low]
    low = low[np.argsort(scores[low])]
    values = scores[low]
    size = np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
    parted = np.flatnonzero(np.diff(values) > atol + rtol * size) + 1
    enough = parted[parted >= n_last]
    if not enough.size:
        return order_by_score(scores, rtol=rtol, atol=atol)[scores.size - n_last :]
    few = np.sort(low[: enough[0]])
    order = order_by_score(scores[few], rtol=rtol, atol=atol)
    return few[order[few.size - n_last :]]


def first_best(scores: FloatArray, *, atol: float = ABSOLUTE) -> int:
    """Index of the largest score; of those that agree to rounding, the lowest index."""
    best = float(scores.max())
    if not np.isfinite(best):
        return int(np.argmax(scores))
    return int(np.argmax(scores >= best - atol))

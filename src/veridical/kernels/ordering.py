"""From scores to an order in which ties are ties.

Scores that are equal in exact arithmetic come out a few units in the last place
apart, depending on the order of rows, classes or threads. An order built on such
noise would change when nothing has changed. So neighbours in the sorted list that
agree to rounding are one tied group, and a tied group is ordered by feature index.
"""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import FloatArray, IntArray

# Default relative difference of two scores; with a smaller one they are tied.
TIED_WITHIN = 1e-12

#: A score up to it is 0 up to rounding: the feature has no relevance.
NO_SCORE = 1e-12

#: One for all scores, or one for each.
Tolerance = float | FloatArray


def _slack(
    order: IntArray, ranked: FloatArray, rtol: float, atol: Tolerance
) -> FloatArray:
    """Compute the difference up to which neighbours in `order` are tied.

    `ranked` are their scores. Infinite scores are only tied with equal ones.
    """
    size = np.abs(ranked)
    size = np.maximum(size[:-1], size[1:])
    first = atol
    if isinstance(atol, np.ndarray):
        first = np.maximum(atol[order[:-1]], atol[order[1:]])
    return np.where(np.isfinite(size), first + rtol * size, -1.0)


def _sort_tied_groups(
    order: IntArray, scores: FloatArray, rtol: float, atol: Tolerance
) -> IntArray:
    ranked = scores[order]
    high, low = ranked[:-1], ranked[1:]
    with np.errstate(invalid="ignore", over="ignore"):
        near = high - low <= _slack(order, ranked, rtol, atol)
    tied = near | (high == low) | (np.isnan(high) & np.isnan(low))
    if not tied.any():
        return order
    group = np.concatenate([[0], np.cumsum(~tied)])
    return np.sort(group * order.size + order) % order.size


def order_by_score(
    scores: FloatArray, *, rtol: float = TIED_WITHIN, atol: Tolerance = 0.0
) -> IntArray:
    """Sort indices from the largest score to the smallest, ties by index, NaN last.

    Parameters
    ----------
    scores : array of shape (n_features,)
        Larger is better.
    rtol : float
        Neighbours within ``atol + rtol * |score|`` of each other are tied.
    atol : float or array of shape (n_features,)
        For scores that are differences of larger numbers; of two, the larger.
    """
    return _sort_tied_groups(np.argsort(-scores), scores, rtol, atol)


def last_by_score(
    scores: FloatArray, n_last: int, *, rtol: float = TIED_WITHIN, atol: Tolerance = 0.0
) -> IntArray:
    """Return ``order_by_score(scores)[-n_last:]``, sorting few of the scores.

    The lowest scores are sorted until a gap separates them from the rest.
    """
    n_low = 2 * n_last + 30
    if n_low >= scores.size or not np.isfinite(scores).all():
        return order_by_score(scores, rtol=rtol, atol=atol)[scores.size - n_last :]
    low = np.argpartition(scores, n_low)[:n_low]
    low = low[np.argsort(scores[low])]
    slack = _slack(low, scores[low], rtol, atol)
    parted = np.flatnonzero(np.diff(scores[low]) > slack) + 1
    enough = parted[parted >= n_last]
    if not enough.size:
        return order_by_score(scores, rtol=rtol, atol=atol)[scores.size - n_last :]
    few = np.sort(low[: enough[0]])
    beside = np.broadcast_to(atol, scores.shape)[few]
    order = order_by_score(scores[few], rtol=rtol, atol=beside)
    return few[order[few.size - n_last :]]


def first_by_score(
    scores: FloatArray, n_first: int, *, rtol: float = TIED_WITHIN, atol: float = 0.0
) -> IntArray:
    """Return the first of ``order_by_score(scores)``, sorting few of the scores.

    Scores up to `NO_SCORE`, and those that are not defined, are left out.

    Parameters
    ----------
    scores : array of shape (n_features,)
        Larger is better.
    n_first : int
        How many indices at most.
    rtol, atol : float
        As in `order_by_score`.

    Examples
    --------
    >>> first_by_score(np.array([0.0, 2.0, np.nan, 3.0, 2.0]), 2).tolist()
    [3, 1]
    """
    with np.errstate(invalid="ignore"):
        few = np.flatnonzero(scores > NO_SCORE)
    some = scores[few]
    if n_first < few.size and np.isfinite(some).all():
        least = np.partition(some, few.size - n_first)[few.size - n_first]
        # Every score that could be tied with the last one; ties may form chains.
        slack = 2 * atol + 100 * rtol * abs(least)
        near = few[some >= least - slack]
        few = near if near.size <= 2 * n_first + 30 else few
    return few[order_by_score(scores[few], rtol=rtol, atol=atol)][:n_first]


def near_first(
    scores: FloatArray, n_first: int, *, rtol: float, atol: float | FloatArray
) -> tuple[IntArray, bool]:
    """Return the features that could be among the first, whatever the errors are.

    Parameters
    ----------
    scores : array of shape (n_features,)
        Larger is better, −infinity where undefined.
    n_first : int
        How many features lead; those whose score is not above `NO_SCORE` do not.
    rtol : float
        Bound on the relative error of a score.
    atol : float or array of shape (n_features,)
        Bound on its absolute error, far above the difference of tied scores.

    Returns
    -------
    near : int array
        The features, ascending.
    is_clear : bool
        Whether they are the first ones, and errors cannot change their order.

    Examples
    --------
    >>> scores = np.array([0.0, 2.0, 5.0, 3.0, 2.001])
    >>> near_first(scores, 2, rtol=0.0, atol=1e-9)
    (array([2, 3]), True)
    >>> near_first(scores, 3, rtol=0.0, atol=1e-2)
    (array([1, 2, 3, 4]), False)
    """
    own: FloatArray | None = atol if isinstance(atol, np.ndarray) else None
    low, high = (scores, scores) if own is None else (scores - own, scores + own)
    same = 0.0 if isinstance(atol, np.ndarray) else atol  # for all scores
    least = NO_SCORE
    if n_first < scores.size:
        # What a relative error adds does not change the order.
        last = scores.size - n_first
        lowest = float(np.partition(low, last)[last])
        if np.isfinite(lowest):
            least = max(least, lowest - same - 2 * rtol * abs(lowest))
    near = np.flatnonzero(high >= least - same - 2 * rtol * abs(least))
    order = near[np.argsort(-scores[near])]
    ranked = scores[order]
    slack = rtol * np.abs(ranked) + (same if own is None else own[order])
    # Equal infinite scores have no difference.
    with np.errstate(invalid="ignore"):
        apart = ranked[:-1] - ranked[1:] > slack[:-1] + slack[1:]
    is_clear = (
        near.size <= n_first and apart.all() and (ranked > NO_SCORE + slack).all()
    )
    return near, bool(is_clear)

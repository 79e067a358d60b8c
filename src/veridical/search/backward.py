"""Backward elimination: drop the features with the lowest scores, round by round."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical.kernels.ordering import Tolerance, last_by_score
from veridical.search.feature_groups import FeatureGroups


def backward(
    n_features: int,
    score: Callable[[IntArray], FloatArray],
    n_drop: Callable[[int], int],
    *,
    rtol: float,
    atol: Callable[[], Tolerance] = lambda: 0.0,
    by_index: bool = False,
    tick: Callable[[], None] = lambda: None,
    groups: FeatureGroups | None = None,
    ahead: Callable[[IntArray], IntArray] | None = None,
) -> IntArray:
    """Order features by the round in which they are dropped, last ones first.

    Parameters
    ----------
    n_features : int
        Number of features.
    score : callable
        Given the indices of the remaining features, the score of each of them.
    n_drop : callable
        Given the number of remaining features, the number to drop in this round; with
        groups, numbers of groups that may be dropped.
    rtol : float
        Relative difference of tied scores.
    atol : callable
        Absolute difference of tied scores, one for all features or one for each
        remaining feature; called after the scores of each round.
    by_index : bool
        Order the features dropped in one round by index rather than by score.
    tick : callable
        Called after each round.
    groups : FeatureGroups, optional
        Groups are dropped as a whole, and those that are always selected never. The
        score of a group is the best of its features.
    ahead : callable, optional
        For rounds that drop one feature each: given the indices of the remaining
        features, the places among them of those that the next rounds drop, as far as
        they are known without the scores of all.

    Returns
    -------
    array of shape (n_features,)
        Feature indices, best first.
    """
    if groups is not None:
        return _drop_groups(score, n_drop, rtol, atol, by_index, tick, groups)
    kept = np.arange(n_features)
    rounds: list[IntArray] = []
    while kept.size > 1:
        known = () if ahead is None else ahead(kept)
        if len(known):
            rounds += [kept[place : place + 1] for place in known]
            kept = np.delete(kept, known)
            for _ in known:
                tick()
            continue
        scores = score(kept)
        n_dropped = min(max(1, n_drop(kept.size)), kept.size - 1)
        dropped = last_by_score(scores, n_dropped, rtol=rtol, atol=atol())
        rounds.append(kept[np.sort(dropped) if by_index else dropped])
        kept = np.delete(kept, dropped)
        tick()
    return np.concatenate([kept, *reversed(rounds)])


def _drop_groups(
    score: Callable[[IntArray], FloatArray],
    n_drop: Callable[[int], int],
    rtol: float,
    atol: Callable[[], Tolerance],
    by_index: bool,
    tick: Callable[[], None],
    groups: FeatureGroups,
) -> IntArray:
    """Eliminate whole groups; see `backward`."""
    present = np.ones(groups.number.size, dtype=bool)
    free = np.flatnonzero(~groups.kept)
    rounds: list[IntArray] = []
    while free.size > 1:
        kept = np.flatnonzero(present)
        scores = score(kept)
        best = _best_places(groups.number[kept], scores, free)
        limit = atol()
        if isinstance(limit, np.ndarray):
            limit = limit[best]
        n_dropped = min(max(1, n_drop(free.size)), free.size - 1)
        dropped = last_by_score(scores[best], n_dropped, rtol=rtol, atol=limit)
        rounds.append(groups.join(free[np.sort(dropped) if by_index else dropped]))
        present[rounds[-1]] = False
        free = np.delete(free, dropped)
        tick()
    return np.concatenate([groups.kept_features, groups.join(free), *reversed(rounds)])


def _best_places(number: IntArray, scores: FloatArray, groups: IntArray) -> IntArray:
    """Return the place of the best score of each of some groups."""
    order = np.lexsort((-scores, number))  # by group, then from the largest score
    return order[np.searchsorted(number[order], groups)]

"""Backward elimination: drop the features with the lowest scores, round by round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical.kernels.ordering import Tolerance, last_by_score
from veridical.search.feature_groups import FeatureGroups


@dataclass(eq=False)
class Elimination:
    """Features that are left, and the rounds in which the others were dropped.

    Parameters
    ----------
    kept : int array
        Indices of the features left, ascending.
    rounds : list of int arrays
        Indices of those that each round dropped, the best of a round first.
    """

    kept: IntArray
    rounds: list[IntArray] = field(default_factory=list)

    def copy(self) -> Elimination:
        """Return another elimination with the same rounds so far."""
        return Elimination(self.kept, list(self.rounds))

    def drop(
        self,
        scores: FloatArray,
        n_dropped: int,
        *,
        rtol: float,
        atol: Tolerance,
        by_index: bool,
    ) -> None:
        """Drop the features with the lowest scores; at least one, and never all."""
        n_dropped = min(max(1, n_dropped), self.kept.size - 1)
        dropped = last_by_score(scores, n_dropped, rtol=rtol, atol=atol)
        self.rounds.append(self.kept[np.sort(dropped) if by_index else dropped])
        self.kept = np.delete(self.kept, dropped)

    @property
    def order(self) -> IntArray:
        """All features, those that stayed longest first."""
        return np.concatenate([self.kept, *reversed(self.rounds)])


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
    one = Elimination(np.arange(n_features))
    while one.kept.size > 1:
        known = () if ahead is None else ahead(one.kept)
        if len(known):
            one.rounds += [one.kept[place : place + 1] for place in known]
            one.kept = np.delete(one.kept, known)
            for _ in known:
                tick()
            continue
        scores = score(one.kept)
        n_dropped = n_drop(one.kept.size)
        one.drop(scores, n_dropped, rtol=rtol, atol=atol(), by_index=by_index)
        tick()
    return one.order


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

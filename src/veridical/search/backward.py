"""Backward elimination: drop the features with the lowest scores, round by round."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical.kernels.ordering import Tolerance, last_by_score


def backward(
    n_features: int,
    score: Callable[[IntArray], FloatArray],
    n_drop: Callable[[int], int],
    *,
    rtol: float,
    atol: Callable[[], Tolerance] = lambda: 0.0,
    by_index: bool = False,
    tick: Callable[[], None] = lambda: None,
) -> IntArray:
    """Order features by the round in which they are dropped, last ones first.

    Parameters
    ----------
    n_features : int
        Number of features.
    worth : callable
        Given the indices of the remaining features, the score of each of them.
    n_drop : callable
        Given the number of remaining features, the number to drop in this round.
    rtol : float
        Relative difference of tied scores.
    atol : callable
        Absolute difference of tied scores, one for all features or one for each
        remaining feature; called after the scores of each round.
    by_index : bool
        Order the features dropped in one round by index rather than by score.
    tick : callable
        Called after each round.

    Returns
    -------
    array of shape (n_features,)
        Feature indices, best first.
    """
    kept = np.arange(n_features)
    rounds: list[IntArray] = []
    while kept.size > 1:
        scores = score(kept)
        n_dropped = min(max(1, n_drop(kept.size)), kept.size - 1)
        dropped = last_by_score(scores, n_dropped, rtol=rtol, atol=atol())
        rounds.append(kept[np.sort(dropped) if by_index else dropped])
        kept = np.delete(kept, dropped)
        tick()
    return np.concatenate([kept, *reversed(rounds)])

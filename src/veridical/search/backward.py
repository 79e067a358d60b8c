"""Start with all features and drop the least wanted, again and again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical.kernels.ordering import Tolerance, last_by_score


def backward(
    n_features: int,
    worth: Callable[[IntArray], FloatArray],
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
        How many there are.
    worth : callable
        Given the indices of the features still there, the worth of each of them.
    n_drop : callable
        Given how many are there, how many to drop in this round.
    rtol : float
        How far apart, beside their own size, tied worths may be.
    atol : callable
        How far apart they may be in any case, one number for all features or one for
        each that is there; asked after the worths of each round.
    by_index : bool
        Order the features dropped in one round by index rather than by worth.
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
        values = worth(kept)
        n_dropped = min(max(1, n_drop(kept.size)), kept.size - 1)
        dropped = last_by_score(values, n_dropped, rtol=rtol, atol=atol())
        rounds.append(kept[np.sort(dropped) if by_index else dropped])
        kept = np.delete(kept, dropped)
        tick()
    return np.concatenate([kept, *reversed(rounds)])

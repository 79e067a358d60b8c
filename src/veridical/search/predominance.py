"""The search of FCBF: keep a feature unless a more relevant one makes it redundant.

References
----------
.. [1] L. Yu & H. Liu, "Feature selection for high-dimensional data: a fast
   correlation-based filter solution", ICML 2003.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.records import Ranking
from veridical.kernels.ordering import order_by_score

#: Difference of redundancy and relevance; up to it a feature is redundant, as in Weka's
#: FCBFSearch.
SAME_SCORE = 1e-8


def predominance(
    scores: FloatArray,
    redundancy: Callable[[int, IntArray], FloatArray],
    *,
    threshold: float,
    atol: float,
    keep: IntArray | None = None,
) -> Ranking:
    """Order features: accepted ones, then those they made redundant, then the rest.

    Parameters
    ----------
    scores : array of shape (n_features,)
        Relevance of each feature.
    redundancy : callable
        ``redundancy(i, others)``: similarity of feature i and each of the others, on
        the scale of the scores.
    threshold : float
        Only features that score more than this can be accepted.
    atol : float
        Absolute difference of tied scores.
    keep : int array, optional
        Features that are accepted before all others, whatever their score.

    Returns
    -------
    Ranking
        ``n_kept`` counts the accepted features.
    """
    order = order_by_score(scores, rtol=0.0, atol=atol)
    n_first = 0
    if keep is not None:
        n_first = keep.size
        order = np.concatenate([keep, order[~np.isin(order, keep)]])
    relevant = scores[order] > threshold + atol
    relevant[:n_first] = True
    candidates, rest = order[relevant], order[~relevant]
    accepted: list[int] = []
    removed = np.zeros(candidates.size, dtype=bool)
    for place, leader in enumerate(candidates):
        if removed[place]:
            continue
        accepted.append(leader)
        next_place = max(place + 1, n_first)
        later = next_place + np.flatnonzero(~removed[next_place:])
        others = candidates[later]
        redundant = redundancy(int(leader), others) >= scores[others] - SAME_SCORE
        removed[later[redundant]] = True
    order = np.concatenate(
        [np.array(accepted, dtype=np.intp), candidates[removed], rest]
    )
    return Ranking(order, scores, len(accepted))

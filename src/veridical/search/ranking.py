"""Sort features by score."""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.records import Ranking
from veridical.kernels.ordering import first_by_score, order_by_score
from veridical.kernels.threads import run_jobs


def rank_by_score(
    scores: FloatArray, *, rtol: float = 1e-12, atol: float = 0.0, n_threads: int = 1
) -> list[Ranking]:
    """Rank features for each row of `scores`, best first, ties by feature index.

    Parameters
    ----------
    scores : array of shape (n_sets, n_features)
        Larger is better, NaN is worst.
    rtol, atol : float
        Relative and absolute difference of tied scores.
    n_threads : int, default=1
        Threads that share the rows.
    """
    scores = np.ascontiguousarray(scores)
    orders = np.empty(scores.shape, dtype=np.intp)

    def sort(s: int) -> None:
        orders[s] = order_by_score(scores[s], rtol=rtol, atol=atol)

    run_jobs(sort, [(s,) for s in range(len(scores))], n_threads)
    return [
        Ranking(order, row, row.size) for order, row in zip(orders, scores, strict=True)
    ]


def lead_by_score(
    scores: FloatArray, n: int, *, rtol: float = 1e-12, atol: float = 0.0
) -> list[IntArray]:
    """Return the first n features of each row of `scores`, as `rank_by_score` does.

    Features whose score is not above 0, or not defined, are left out.

    Parameters
    ----------
    scores : array of shape (n_sets, n_features)
        Larger is better.
    n : int
        How many features at most.
    rtol, atol : float
        Relative and absolute difference of tied scores.
    """
    return [first_by_score(row, n, rtol=rtol, atol=atol) for row in scores]

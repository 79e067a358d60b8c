"""The simplest search: sort by score."""

from __future__ import annotations

from veridical._records import FloatArray, Ranking
from veridical.kernels.ordering import order_by_score


def rank_by_score(
    scores: FloatArray, *, rtol: float = 1e-12, atol: float = 0.0
) -> list[Ranking]:
    """One ranking per row of `scores`, best first, ties by feature index.

    Parameters
    ----------
    scores : array of shape (n_sets, n_features)
        Larger is better, NaN is worst.
    rtol, atol : float
        How far apart tied scores may be.
    """
    return [
        Ranking(order_by_score(row, rtol=rtol, atol=atol), row, row.size)
        for row in scores
    ]

"""Rows and oracles of ReliefF."""

from tests.oracles import selection as oracle
from tests.selection.rows.declare import INFORMATION, Row

from veridical.selection import ReliefF


def _relieff(n_neighbors):
    def rank(problem):
        scores = oracle.relieff(
            problem.columns(),
            problem.y.tolist(),
            problem.categorical,
            n_neighbors=n_neighbors,
        )
        return scores, oracle.order_with_ties(scores, atol=1e-12), len(scores)

    return rank


_RELIEF = {**INFORMATION, "affine": "any", "max_rows": 16, "max_features": 6}

ROWS = [
    Row("ReliefF", ReliefF, _relieff(10), **_RELIEF),
    Row("ReliefF-1", ReliefF, _relieff(1), {"n_neighbors": 1}, **_RELIEF),
    Row("ReliefF-3", ReliefF, _relieff(3), {"n_neighbors": 3}, **_RELIEF),
]

"""Rows and oracles of ReliefF."""

from tests.oracles import outcomes
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


def _rrelieff(**options):
    def rank(problem):
        tau = problem.y.tolist()
        if isinstance(tau[0], tuple):
            tau = outcomes.quantiles(tau)
        scores = outcomes.rrelieff(
            problem.columns(), tau, problem.categorical, **options
        )
        return scores, oracle.order_with_ties(scores, atol=1e-12), len(scores)

    return rank


_RELIEF = {
    **INFORMATION,
    "sparse": True,
    "affine": "any",
    "max_rows": 16,
    "max_features": 6,
}

ROWS = [
    Row("ReliefF", ReliefF, _relieff(10), **_RELIEF),
    Row("ReliefF-1", ReliefF, _relieff(1), {"n_neighbors": 1}, **_RELIEF),
    Row("ReliefF-3", ReliefF, _relieff(3), {"n_neighbors": 3}, **_RELIEF),
    Row(
        "ReliefF-numbers",
        ReliefF,
        _rrelieff(n_neighbors=10),
        target="numbers",
        **_RELIEF,
    ),
    Row(
        "ReliefF-numbers-decay",
        ReliefF,
        _rrelieff(n_neighbors=5, decay=2.0),
        {"n_neighbors": 5, "decay": 2.0},
        target="numbers",
        **_RELIEF,
    ),
    Row(
        "ReliefF-survival",
        ReliefF,
        _rrelieff(n_neighbors=4),
        {"n_neighbors": 4},
        target="survival",
        **_RELIEF,
    ),
    Row(
        "ReliefF-survival-decay",
        ReliefF,
        _rrelieff(n_neighbors=5, decay=2.0),
        {"n_neighbors": 5, "decay": 2.0},
        target="survival",
        **_RELIEF,
    ),
]

"""Rows and oracles of HSIC."""

from tests.oracles import outcomes
from tests.oracles import selection as oracle
from tests.selection.problems import AROUND_ZERO
from tests.selection.rows.declare import Row

from veridical.selection import HSIC


def _hsic(kernel):
    def rank(problem):
        y = problem.y.tolist()
        scores = [oracle.hsic(x, y, kernel) for x in problem.columns()]
        atol = 1e-11 * oracle.hsic_scale(y)
        return scores, oracle.order_with_ties(scores, atol=atol), len(scores)

    return rank


def _hsic_of_numbers(kernel):
    def rank(problem):
        y = problem.y.tolist()
        scores = [outcomes.dependence(x, y, kernel) for x in problem.columns()]
        atol = 1e-11 * outcomes.dependence_scale(y, kernel)
        return scores, oracle.order_with_ties(scores, atol=atol), len(scores)

    return rank


_DEPENDENCE = {
    "sparse": True,
    "weights": "whole",
    "atol": 1e-11,
    "scale": lambda y: oracle.hsic_scale(y.tolist()),
    "wild": AROUND_ZERO,
    "affine": "any",
    "min_rows": 4,
    "max_rows": 14,
    "max_features": 6,
}

ROWS = [
    Row("HSIC", HSIC, _hsic("linear"), **_DEPENDENCE),
    Row("HSIC-rbf", HSIC, _hsic("rbf"), {"kernel": "rbf"}, **_DEPENDENCE),
    Row(
        "HSIC-backward",
        HSIC,
        None,
        {"kernel": "rbf", "search": "backward"},
        **_DEPENDENCE,
    ),
    *(
        Row(
            f"HSIC-{kernel}-numbers",
            HSIC,
            _hsic_of_numbers(kernel),
            {"kernel": kernel},
            target="numbers",
            **{
                **_DEPENDENCE,
                "scale": lambda y, kernel=kernel: outcomes.dependence_scale(y, kernel),
            },
        )
        for kernel in ("linear", "rbf")
    ),
    Row(
        "HSIC-backward-numbers",
        HSIC,
        None,
        {"kernel": "rbf", "search": "backward"},
        target="numbers",
        tested_in="test_outcomes.py",
        **_DEPENDENCE,
    ),
]

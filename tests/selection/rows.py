"""The selectors under test, one row each: what they read and what they should say.

To put a new selector under every test of this folder, write its oracle in
``tests/oracles/selection.py`` and add a row here.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.oracles import incremental
from tests.oracles import selection as oracle
from tests.selection.problems import AROUND_ZERO, WILD, problems

from veridical.selection import (
    FCBF,
    HSIC,
    MRMR,
    SVMRFE,
    AnovaF,
    Correlation,
    DifferentialPrioritization,
    InformationGain,
    ReliefF,
)


@dataclass(frozen=True)
class Row:
    """One selector, with parameters, and its oracle.

    Parameters
    ----------
    name : str
        What the test is called.
    selector : type
        The selector class.
    oracle : callable or None
        ``oracle(problem) -> (scores, order, n_kept)``, slow and obvious.
    parameters : dict
        Passed to the selector.
    nominal, missing, sparse, weights : bool
        What the selector reads.
    rtol, atol : float
        How far apart tied scores may be, and how near scores come to the oracle's.
    scale : callable
        Given the labels, what `atol` is to be multiplied with.
    wild : tuple
        Kinds of columns of wild scale that the selector can follow.
    affine : "any", "positive" or None
        Which maps ``a x + b`` of a numeric column leave the order as it is: any with
        ``a`` not 0, those with ``a`` positive, or none.
    min_rows : int
        How many cases a training set must have.
    max_rows, max_features : int
        Size of problems the oracle can do in good time.
    """

    name: str
    selector: type
    oracle: Callable[..., Any] | None
    parameters: dict[str, Any] = field(default_factory=dict)
    nominal: bool = False
    missing: bool = False
    sparse: bool = False
    weights: bool = False
    rtol: float = 0.0
    atol: float = 0.0
    scale: Callable[[Any], float] = lambda y: 1.0
    wild: tuple[Any, ...] = WILD
    affine: str | None = "positive"
    min_rows: int = 1
    max_rows: int = 30
    max_features: int = 8

    def make(self, problem, **more):
        """The selector, told which columns are nominal."""
        parameters = {"n_features_to_select": 1, **self.parameters, **more}
        if self.nominal:
            parameters["categorical_features"] = problem.nominal
        return self.selector(**parameters)

    def problems(self, **more):
        """Problems that the selector reads."""
        abilities = {"nominal": self.nominal, "missing": self.missing}
        size = {"max_rows": self.max_rows, "max_features": self.max_features}
        return problems(**{**abilities, "wild": self.wild, **size, **more})

    def has_no_ties(self, problem, moved, columns):
        """Whether the oracle's order moves with the columns: it does, but for ties."""
        try:
            here, there = self.oracle(problem)[1], self.oracle(moved)[1]
        except incremental.UnclearError:
            return False
        return [columns[j] for j in there] == here

    def tolerance(self, y):
        """How far apart equal scores may be, as numpy and the oracles want it said."""
        return {"rtol": self.rtol, "atol": self.atol * self.scale(y)}

    def is_clear(self, scores, y):
        """Whether no tie hangs on rounding."""
        return oracle.is_clear(scores, **self.tolerance(y))


def _by_score(score, **tolerance):
    """An oracle that scores column by column and sorts."""

    def rank(problem):
        y = problem.y.tolist()
        scores = [
            score(x, y, is_nominal)
            for x, is_nominal in zip(problem.columns(), problem.nominal, strict=True)
        ]
        return scores, oracle.order_with_ties(scores, **tolerance), len(scores)

    return rank


def _gain(cost):
    return _by_score(
        lambda x, y, is_nominal: oracle.information_gain(
            oracle.coded(x, y, is_nominal, cost), y
        ),
        atol=1e-12,
    )


def _fcbf(**options):
    return lambda problem: oracle.fcbf(
        problem.columns(), problem.y.tolist(), problem.nominal, **options
    )


def _relieff(n_neighbors):
    def rank(problem):
        scores = oracle.relieff(
            problem.columns(),
            problem.y.tolist(),
            problem.nominal,
            n_neighbors=n_neighbors,
        )
        return scores, oracle.order_with_ties(scores, atol=1e-12), len(scores)

    return rank


def _step_by_step(search, **options):
    """An oracle that adds one feature at a time."""

    def rank(problem):
        scores, order = search(problem.columns(), problem.y.tolist(), **options)
        return scores, order, len(scores)

    return rank


def _hsic(kernel):
    def rank(problem):
        y = problem.y.tolist()
        scores = [oracle.hsic(x, y, kernel) for x in problem.columns()]
        atol = 1e-11 * oracle.hsic_scale(y)
        return scores, oracle.order_with_ties(scores, atol=atol), len(scores)

    return rank


_INFORMATION = {"nominal": True, "missing": True, "atol": 1e-12}
_RELIEF = {**_INFORMATION, "affine": "any", "max_rows": 16, "max_features": 6}

_INCREMENTAL = {"weights": True, "rtol": 1e-12, "affine": "any", "max_rows": 20}

_DEPENDENCE = {
    "atol": 1e-11,
    "scale": lambda y: oracle.hsic_scale(y.tolist()),
    "wild": AROUND_ZERO,
    "affine": "any",
    "min_rows": 4,
    "max_rows": 14,
    "max_features": 6,
}

ROWS = [
    Row(
        "AnovaF",
        AnovaF,
        _by_score(lambda x, y, _: oracle.f_ratio(x, y), rtol=1e-12),
        sparse=True,
        weights=True,
        rtol=1e-12,
        affine="any",
    ),
    Row(
        "Correlation",
        Correlation,
        _by_score(lambda x, y, _: oracle.class_correlation(x, y), rtol=1e-12),
        sparse=True,
        weights=True,
        rtol=1e-12,
        affine="any",
    ),
    Row(
        "InformationGain",
        InformationGain,
        _gain("cuts"),
        sparse=True,
        weights=True,
        **_INFORMATION,
    ),
    Row(
        "InformationGain-cases",
        InformationGain,
        _gain("cases"),
        {"mdl_cost": "cases"},
        sparse=True,
        weights=True,
        **_INFORMATION,
    ),
    Row("FCBF", FCBF, _fcbf(), **_INFORMATION),
    Row("FCBF-0.2", FCBF, _fcbf(threshold=0.2), {"threshold": 0.2}, **_INFORMATION),
    Row("ReliefF", ReliefF, _relieff(10), **_RELIEF),
    Row("ReliefF-1", ReliefF, _relieff(1), {"n_neighbors": 1}, **_RELIEF),
    Row("ReliefF-3", ReliefF, _relieff(3), {"n_neighbors": 3}, **_RELIEF),
    Row("MRMR", MRMR, _step_by_step(incremental.mrmr), sparse=True, **_INCREMENTAL),
    Row(
        "MRMR-difference",
        MRMR,
        _step_by_step(incremental.mrmr, scheme="difference"),
        {"scheme": "difference"},
        sparse=True,
        **_INCREMENTAL,
    ),
    Row(
        "MRMR-2-searched",
        MRMR,
        _step_by_step(incremental.mrmr, n_searched=2),
        {"n_searched": 2},
        sparse=True,
        **_INCREMENTAL,
    ),
    *(
        Row(
            f"DDP-{alpha}",
            DifferentialPrioritization,
            _step_by_step(incremental.prioritize, alpha=alpha),
            {"alpha": alpha},
            **_INCREMENTAL,
        )
        for alpha in (0.1, 0.5, 1.0)
    ),
    Row(
        "DDP-one-vs-all",
        DifferentialPrioritization,
        _step_by_step(incremental.prioritize_one_vs_all, alpha=0.4),
        {"alpha": 0.4, "relevance": "one-vs-all"},
        **_INCREMENTAL,
    ),
    Row(
        "DDP-one-vs-all-3-searched",
        DifferentialPrioritization,
        _step_by_step(incremental.prioritize_one_vs_all, alpha=0.4, n_searched=3),
        {"alpha": 0.4, "relevance": "one-vs-all", "n_searched": 3},
        **_INCREMENTAL,
    ),
    Row("HSIC", HSIC, _hsic("linear"), **_DEPENDENCE),
    Row("HSIC-rbf", HSIC, _hsic("rbf"), {"kernel": "rbf"}, **_DEPENDENCE),
    Row(
        "HSIC-backward",
        HSIC,
        None,
        {"kernel": "rbf", "search": "backward"},
        **_DEPENDENCE,
    ),
    Row("SVMRFE", SVMRFE, None, sparse=True, weights=True, wild=(), affine=None),
]


def each_selector(*abilities):
    """Run a test for the first row of every selector that has the abilities."""
    rows = {row.selector: row for row in reversed(ROWS)}
    rows = [row for row in rows.values() if all(getattr(row, a) for a in abilities)]
    return pytest.mark.parametrize("row", rows[::-1], ids=lambda row: row.name)


def each(*abilities):
    """Run a test for every row that has the abilities."""
    rows = [row for row in ROWS if all(getattr(row, a) for a in abilities)]
    return pytest.mark.parametrize("row", rows, ids=lambda row: row.name)

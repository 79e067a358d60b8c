"""How a selector is put under test: a row, its oracle and its peer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.oracles import incremental, outcomes
from tests.oracles import selection as oracle
from tests.selection.problems import WILD, outcome_problems, problems


@dataclass(frozen=True)
class Peer:
    """Another package that gives the same scores.

    Parameters
    ----------
    name : str
        The package.
    scores : callable
        ``scores(X, y, categorical) -> scores``.
    is_clear : callable
        Whether the package can do a problem, and no score hangs on its rounding.
    timed_at : dict or None
        Samples ``n`` and features ``p`` of the problem on which benchmarks time both;
        None if benchmarks have a case for it.
    """

    name: str
    scores: Callable[..., Any]
    is_clear: Callable[..., bool] = lambda X, y, categorical: True
    timed_at: dict[str, int] | None = None


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
    categorical, missing, sparse : bool
        What the selector reads.
    weights : {"any", "whole", ""}
        Sample weights it reads: any numbers, whole ones, or none.
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
        How many samples a training set must have.
    max_rows, max_features : int
        Size of problems the oracle can do in good time.
    peer : Peer or None
        Another package that gives the same scores.
    tested_in : str
        Where there is no oracle, the file that tests what the selector says.
    target : {"classes", "numbers", "survival"}
        Kind of target of the problems.
    """

    name: str
    selector: type
    oracle: Callable[..., Any] | None
    parameters: dict[str, Any] = field(default_factory=dict)
    categorical: bool = False
    missing: bool = False
    sparse: bool = False
    weights: str = ""
    rtol: float = 0.0
    atol: float = 0.0
    scale: Callable[[Any], float] = lambda y: 1.0
    wild: tuple[Any, ...] = WILD
    affine: str | None = "positive"
    min_rows: int = 1
    max_rows: int = 30
    max_features: int = 8
    peer: Peer | None = None
    tested_in: str = ""
    target: str = "classes"

    def make(self, problem, **more):
        """The selector, told which features are categorical."""
        parameters = {"n_features_to_select": 1, **self.parameters, **more}
        if self.categorical:
            parameters["categorical_features"] = problem.categorical
        return self.selector(**parameters)

    def problems(self, **more):
        """Problems that the selector reads."""
        abilities = {"categorical": self.categorical, "missing": self.missing}
        size = {"max_rows": self.max_rows, "max_features": self.max_features}
        options = {**abilities, "wild": self.wild, **size, **more}
        if self.target == "classes":
            return problems(**options)
        return outcome_problems(self.target, **options)

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


def by_score(score, **tolerance):
    """An oracle that scores column by column and sorts."""

    def rank(problem):
        y = problem.y.tolist()
        scores = [
            score(x, y, is_categorical)
            for x, is_categorical in zip(
                problem.columns(), problem.categorical, strict=True
            )
        ]
        return scores, oracle.order_with_ties(scores, **tolerance), len(scores)

    return rank


def step_by_step(search, **options):
    """An oracle that adds one feature at a time."""

    def rank(problem):
        scores, order = search(problem.columns(), problem.y.tolist(), **options)
        return scores, order, len(scores)

    return rank


#: Selectors that read categories and missing values, and whose scores are shares.
INFORMATION = {"categorical": True, "missing": True, "weights": "whole", "atol": 1e-12}
#: χ² of score tests is summed in doubles, not in pairs of them.
SCORE_TEST = {
    "weights": "any",
    "rtol": 1e-10,
    "atol": 1e-12,
    "affine": "any",
    "max_rows": 16,
}
INCREMENTAL = {
    "sparse": True,
    "weights": "any",
    "rtol": 1e-12,
    "affine": "any",
    "max_rows": 20,
}


def line_ratios(columns, y):
    """Relevance of features for a target of numbers; 0 for a constant one."""
    found = [outcomes.line_ratio(x, y) for x in columns]
    return [0 if ratio != ratio else ratio for ratio in found]


def line_f_ratios(columns, y):
    """The same as F ratios."""
    return [ratio * (len(y) - 2) for ratio in line_ratios(columns, y)]


def line_correlations(columns, y):
    """The same as absolute correlations."""
    return [outcomes.correlation(x, y) for x in columns]


def cox_ratios(columns, y):
    """Relevance of features for survival times; 0 where one does not vary at risk."""
    found = [outcomes.cox(x, y) for x in columns]
    return [0 if chi2 != chi2 else chi2 for chi2 in found]

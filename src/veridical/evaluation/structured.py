"""Measured sizes and coverages for other scores than accuracy, and for groups.

``structured.csv`` was made by ``benchmarks/truth/structured.py`` and, for numbers and
survival times, by ``benchmarks/truth/outcomes.py``: in designs drawn at
random, how often the corrected resampled t-test rejected where neither side was better,
and how often the default 95 % interval covered the score of the model fitted on all
samples. What is printed is the range over the designs nearest to the user's, and
nothing where none are near, or where these do not bracket the user's: another score, or
samples without groups where the user's have some, are never near. ``test_sets.csv``, by
``benchmarks/truth/test_sets.py``, has the same for tests and intervals of one test set;
these do not depend on features and estimator.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from veridical._core.scoring import SCORES, ScoreInfo
from veridical._core.splits import Split, trains_on_the_rest
from veridical._core.table import Table
from veridical._core.targets import Survival, Target
from veridical._core.text import listing
from veridical.evaluation.records import Coverage
from veridical.evaluation.situations import (
    SIMULATED,
    Situation,
    find_near,
    like_estimators,
)
from veridical.evaluation.trust import range_of_shares

#: Levels at which rejections were counted.
ALPHAS = (0.01, 0.05, 0.1)

#: Scores that were measured, and what people call them.
MEASURED_SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "roc_auc": "area under the ROC curve",
    "log_loss": "log loss",
    "r2": "R²",
    "mean_absolute_error": "mean absolute error",
    "root_mean_squared_error": "root mean squared error",
    "spearman": "Spearman's rank correlation",
    "concordance": "concordance",
    "concordance_uno": "concordance (Uno)",
    "time_dependent_auc": "time-dependent area under the ROC curve",
    "integrated_brier_score": "integrated Brier score",
}

#: Losses on the scale of the target, which designs have as shares of that of guessing.
_RELATIVE = ("mean_absolute_error", "root_mean_squared_error", "integrated_brier_score")

#: One step of these scores; of the others it is 0.1.
_SCORE_STEPS = {"log_loss": 0.2, "r2": 0.2}

#: Estimators of numbers and survival times that were measured.
LINEAR_MODELS = {"ridge": "ridge regression", "cox": "ridge Cox model"}

#: What people call linear models, and the measured one that is like each.
_LINEAR_MODELS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("ridge", "ridge regression", "Ridge", "RidgeCV", "LinearRegression", "svr"),
        ("ridge",),
    ),
    **dict.fromkeys(
        ("cox", "ridge Cox model", "CoxRidge", "CoxPHSurvivalAnalysis"), ("cox",)
    ),
}

#: Columns of ``structured.csv``.
COLUMNS = (
    "score",
    "n_folds",
    "n_units",
    "group_size",
    "n_features",
    "n_selected",
    "minority",
    "estimator",
    "correlation",
    "value",
    "n_simulations",
    *(f"rejected_{alpha:g}" for alpha in ALPHAS),
    "covered",
)

#: Largest distance of a design that is near; designs are fewer than for accuracy.
_FARTHEST = 4.5
#: The same on one test set, where nothing depends on features and estimator.
_FARTHEST_TEST_SET = 2.0
#: Distance between estimators of different kinds.
_OTHER_ESTIMATOR = 1.5
#: Folds are alike if their ratio is smaller than this.
_LIKE_FOLDS = 1.5


def loss_of_guessing(score: str, target: Target) -> float:
    """Return by what a score is divided to compare it with that of other targets.

    Parameters
    ----------
    score : str
        Name of the score.
    target : Classes, Numbers or Survival
        All samples.

    Returns
    -------
    float
        The loss of predicting the same for all samples, where the score is a loss on
        the scale of the target; 1 for other scores.

    Examples
    --------
    >>> from veridical._core.targets import Numbers
    >>> loss_of_guessing("mean_absolute_error", Numbers(np.array([1.0, 2.0, 6.0])))
    1.6666666666666667
    """
    guess = SCORES[score].guess if score in _RELATIVE else None
    if guess is None:
        return 1.0
    return float(guess(target, None))


class Structure(NamedTuple):
    """What measured rates depend on, beside the folds.

    Parameters
    ----------
    score : str
        Name of the score.
    n_units : int
        Number of groups or, without groups, of samples.
    group_size : float
        Mean number of samples in a group; 1 without groups.
    n_features, n_selected : int
        Features to choose from, features selected.
    minority : float
        Share of the smallest class; of survival times, the share of events; of numbers,
        one half.
    estimator : str
        Name of the estimator.
    value : float
        The score.
    unit : float, default=1.0
        What the score is divided by before designs are compared, see
        `loss_of_guessing`.
    """

    score: str
    n_units: int
    group_size: float
    n_features: int
    n_selected: int
    minority: float
    estimator: str
    value: float
    unit: float = 1.0

    @classmethod
    def from_table(cls, score: str, table: Table, situation: Situation) -> Structure:
        """Describe a table, the estimator of a situation and its score."""
        n = table.n_units
        return cls(
            score,
            n,
            table.n_samples / n,
            situation.n_features,
            situation.n_selected,
            _share(table.target),
            situation.estimator,
            situation.accuracy,
            loss_of_guessing(score, table.target),
        )

    def steps(self, other: Structure) -> tuple[float, ...]:
        """Return how far each number is from a measured design, in steps."""
        return (
            math.log2(self.n_units / other.n_units),
            math.log2(self.group_size / other.group_size) / 2,
            math.log2(self.n_features / other.n_features) / 2,
            math.log2(self.n_selected / other.n_selected) / 2,
            (self.minority - other.minority) / 0.2,
            (self.value / self.unit - other.value / other.unit)
            / _SCORE_STEPS.get(self.score, 0.1),
        )

    def distance(self, other: Structure) -> float:
        """Return how far a design is.

        Infinite for another score, and if only one of the two has groups.
        """
        grouped = self.group_size > 1, other.group_size > 1
        if self.score != other.score or grouped[0] != grouped[1]:
            return math.inf
        other_kind = other.estimator not in _alike(self.estimator)
        return math.hypot(*self.steps(other), _OTHER_ESTIMATOR * other_kind)


def _share(target: Target) -> float:
    """Return the share of the smallest class, or of events; 0.5 for numbers."""
    if isinstance(target, Survival):
        return float(target.event.mean())
    counts = list(target.counts().values())
    return min(counts) / sum(counts) if counts else 0.5


def _alike(estimator: str) -> tuple[str, ...]:
    """Return the measured estimators that are like one."""
    if estimator in _LINEAR_MODELS:
        return _LINEAR_MODELS[estimator]
    return (*like_estimators(estimator), *(() if estimator else LINEAR_MODELS))


class StructuredRow(NamedTuple):
    """What was counted in one design."""

    n_folds: int
    situation: Structure
    n_simulations: int
    rejected: tuple[int, ...]  #: −1 where it was not counted
    covered: int


class MeasuredShare(NamedTuple):
    """A range of measured shares, and the designs in words."""

    rate: float
    low: float
    high: float
    n_simulations: int
    n_designs: int
    design: str


def is_structured(scoring: ScoreInfo, table: Table) -> bool:
    """Return whether these rates were measured apart: not the accuracy of samples."""
    plain = table.groups is None and table.weights is None
    return not (scoring.is_accuracy and plain)


@cache
def structured_table() -> tuple[StructuredRow, ...]:
    """Read the table that ships with the package."""
    return read_structured(files("veridical.evaluation").joinpath("structured.csv"))


@cache
def test_set_table() -> tuple[StructuredRow, ...]:
    """Read what was measured on one test set."""
    return read_structured(files("veridical.evaluation").joinpath("test_sets.csv"))


def rows_of_test_set(score: str, tested: Table, value: float) -> list[StructuredRow]:
    """Return the nearest designs of one test set; none where too few are near.

    Parameters
    ----------
    score : str
        Name of the score.
    tested : Table
        The test samples, with their groups; nothing was measured for weights.
    value : float
        The score.
    """
    rows = test_set_table()
    if tested.weights is not None or not rows or not math.isfinite(value):
        return []
    if tested.kind == "classes" and len(tested.target.counts()) != 2:
        return []
    n, like = tested.n_units, rows[0].situation
    place = Structure(
        score,
        n,
        tested.n_samples / n,
        like.n_features,
        like.n_selected,
        _share(tested.target),
        like.estimator,
        value,
        loss_of_guessing(score, tested.target),
    )
    return find_near(rows, place, _FARTHEST_TEST_SET)


def read_structured(path: Any) -> tuple[StructuredRow, ...]:
    """Read a table of measurements."""
    with path.open("r") as file:
        return tuple(_row(record) for record in csv.DictReader(file))


def _row(record: dict[str, str]) -> StructuredRow:
    where = Structure(
        record["score"],
        int(record["n_units"]),
        float(record["group_size"]),
        int(record["n_features"]),
        int(record["n_selected"]),
        float(record["minority"]),
        record["estimator"],
        float(record["value"]),
    )
    return StructuredRow(
        int(record["n_folds"]),
        where,
        int(record["n_simulations"]),
        tuple(int(record[f"rejected_{alpha:g}"] or -1) for alpha in ALPHAS),
        int(record["covered"]),
    )


def find_rows(n_folds: int | None, structure: Structure) -> list[StructuredRow]:
    """Return the nearest designs; none where too few are near."""
    return near_rows(structured_table(), n_folds, structure)


def near_rows(
    rows: Sequence[StructuredRow], n_folds: int | None, structure: Structure
) -> list[StructuredRow]:
    """Return those of some designs that are nearest; none where too few are near."""
    if n_folds is None:
        return []
    like = [
        row for row in rows if 1 / _LIKE_FOLDS < row.n_folds / n_folds < _LIKE_FOLDS
    ]
    return find_near(like, structure, _FARTHEST)


def rate_of(rows: Sequence[StructuredRow], level: float) -> MeasuredShare | None:
    """Return the range of rejections over some designs, with its error of measurement.

    Parameters
    ----------
    rows : sequence of StructuredRow
        The designs; None is returned where there are none.
    level : float
        A level of `ALPHAS`.
    """
    if not rows:
        return None
    counts = [row.rejected[ALPHAS.index(level)] for row in rows]
    if min(counts) < 0:
        return None
    numbers = [row.n_simulations for row in rows]
    measured = range_of_shares(counts, numbers, _describe(rows))
    shares = np.array(counts) / np.array(numbers)
    return MeasuredShare(
        float(np.median(shares)),
        measured.low,
        measured.high,
        sum(numbers),
        len(rows),
        measured.conditions,
    )


def _describe(rows: Sequence[StructuredRow]) -> str:
    places = [row.situation for row in rows]
    units = [one.n_units for one in places]
    folds = sorted({row.n_folds for row in rows})
    sizes = [one.group_size for one in places]
    known = {**SIMULATED, **LINEAR_MODELS}
    names = listing(dict.fromkeys(known[one.estimator] for one in places), "or")
    size = f"{min(units)} to {max(units)} samples"
    if max(sizes) > 1:
        each = f"{min(sizes):g}"
        each += f" to {max(sizes):g}" if max(sizes) > min(sizes) else ""
        size = f"{min(units)} to {max(units)} groups of {each} samples"
    shown = listing(map(str, folds), "or")
    if folds == [1]:
        return f"{MEASURED_SCORES[places[0].score]}, one test set of {size}"
    return f"{MEASURED_SCORES[places[0].score]}, {shown} folds, {size}, {names}"


def coverages_near(
    score: str,
    splits: Sequence[Split],
    table: Table,
    situation: Situation,
    lead: str,
) -> dict[str, Coverage]:
    """Look up how often default intervals covered in designs near a table.

    Parameters
    ----------
    score : str
        Name of the score.
    splits : sequence of Split
        Folds that test every sample once, or one test set; nothing was measured for
        others.
    table : Table
        The samples, with their groups; nothing was measured for weights.
    situation : Situation
        The estimator, the features, and the score as its accuracy.
    lead : str
        Kind of the default interval.

    Returns
    -------
    mapping of str to Coverage
        That of the default interval; empty if nothing was measured near.
    """
    n_folds = count_folds(splits, table.n_samples)
    if table.weights is not None or not math.isfinite(situation.accuracy):
        return {}
    if len(splits) == 1:
        tested = table.rows(splits[0].test)
        rows = rows_of_test_set(score, tested, situation.accuracy)
        rows = rows if lead == "jackknife" else []
    else:
        rows = find_rows(n_folds, Structure.from_table(score, table, situation))
    if not rows:
        return {}
    numbers = [row.n_simulations for row in rows]
    conditions = (
        f"{_describe(rows)}; {len(rows)} designs, {min(numbers)} data sets or more in "
        "each"
    )
    return {lead: range_of_shares([row.covered for row in rows], numbers, conditions)}


def count_folds(splits: Sequence[Split], n_samples: int) -> int | None:
    """Count the folds of one cross-validation; None for other splits."""
    if not trains_on_the_rest(splits):
        return None
    tested = np.concatenate([split.test for split in splits])
    once = len(tested) == n_samples and len(np.unique(tested)) == n_samples
    return len(splits) if once and len(splits) > 1 else None

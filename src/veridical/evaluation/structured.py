"""Measured sizes and coverages for other scores than accuracy, and for groups.

``structured.csv`` was made by ``benchmarks/truth/structured.py`` and, for numbers and
survival times, by ``benchmarks/truth/outcomes.py``: in designs drawn at
random, how often the corrected resampled t-test rejected where neither side was better,
and how often the default 95 % interval covered the score of the model fitted on all
samples. What is printed is the range over the designs nearest to the user's, and
nothing where none are near: another score, or samples without groups where the user's
have some, are never near.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import numpy as np

from veridical._core.splits import Split, trains_on_the_rest
from veridical._core.table import Table
from veridical._core.targets import Survival
from veridical.evaluation.records import Coverage
from veridical.evaluation.situations import SIMULATED, like_estimators
from veridical.kernels.statistics import wilson_bounds

#: Levels at which rejections were counted.
ALPHAS = (0.01, 0.05, 0.1)

#: Scores that were measured, and what people call them.
SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "roc_auc": "area under the ROC curve",
    "log_loss": "log loss",
    "r2": "R²",
    "concordance": "concordance",
}

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
    "minority",
    "estimator",
    "correlation",
    "value",
    "n_simulations",
    *(f"rejected_{alpha:g}" for alpha in ALPHAS),
    "covered",
)

#: Largest distance of a design that is near, and the fewest and most designs of a
#: range.
_FARTHEST, _FEWEST_NEAR, _N_NEAR = 2.5, 3, 10
#: Distance between estimators of different kinds.
_OTHER_ESTIMATOR = 1.5
#: Folds are alike if their ratio is smaller than this.
_LIKE_FOLDS = 1.5
#: Standard errors on either side of a measured share.
_NORMAL = 1.96


class Structure(NamedTuple):
    """What measured rates depend on, beside the score.

    Parameters
    ----------
    n_units : int
        Number of groups or, without groups, of samples.
    group_size : float
        Mean number of samples in a group; 1 without groups.
    minority : float
        Share of the smallest class; of survival times, the share of events; of numbers,
        one half.
    estimator : str
        Name of the estimator.
    """

    n_units: int
    group_size: float
    minority: float
    estimator: str

    @classmethod
    def of(cls, table: Table, estimator: str) -> Structure:
        """Describe a table and an estimator."""
        counts = list(table.target.counts().values())
        n = table.n_units
        share = min(counts) / sum(counts) if counts else 0.5
        if isinstance(table.target, Survival):
            share = float(table.target.event.mean())
        return cls(n, table.n_samples / n, share, estimator)

    def distance(self, other: Structure) -> float:
        """Return how far a design is; infinite if only one of the two has groups."""
        if (self.group_size > 1) != (other.group_size > 1):
            return math.inf
        like = other.estimator in _alike(self.estimator)
        return math.hypot(
            math.log2(self.n_units / other.n_units),
            math.log2(self.group_size / other.group_size) / 2,
            (self.minority - other.minority) / 0.2,
            0.0 if like else _OTHER_ESTIMATOR,
        )


def _alike(estimator: str) -> tuple[str, ...]:
    """Return the measured estimators that are like one."""
    if estimator in _LINEAR_MODELS:
        return _LINEAR_MODELS[estimator]
    return (*like_estimators(estimator), *(() if estimator else LINEAR_MODELS))


class StructuredRow(NamedTuple):
    """What was counted in one design."""

    score: str
    n_folds: int
    structure: Structure
    value: float
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


@cache
def structured_table() -> tuple[StructuredRow, ...]:
    """Read the table that ships with the package."""
    return read_structured(files("veridical.evaluation").joinpath("structured.csv"))


def read_structured(path: Any) -> tuple[StructuredRow, ...]:
    """Read a table of measurements."""
    with path.open("r") as file:
        return tuple(_row(record) for record in csv.DictReader(file))


def _row(record: dict[str, str]) -> StructuredRow:
    structure = Structure(
        int(record["n_units"]),
        float(record["group_size"]),
        float(record["minority"]),
        record["estimator"],
    )
    return StructuredRow(
        record["score"],
        int(record["n_folds"]),
        structure,
        float(record["value"]),
        int(record["n_simulations"]),
        tuple(int(record[f"rejected_{alpha:g}"] or -1) for alpha in ALPHAS),
        int(record["covered"]),
    )


def find_rows(
    score: str, n_folds: int | None, structure: Structure
) -> list[StructuredRow]:
    """Return the nearest designs; none where too few are near."""
    if n_folds is None:
        return []
    rows = [
        row
        for row in structured_table()
        if row.score == score and 1 / _LIKE_FOLDS < row.n_folds / n_folds < _LIKE_FOLDS
    ]
    distances = [structure.distance(row.structure) for row in rows]
    order: list[int] = np.argsort(distances, kind="stable")[:_N_NEAR].tolist()
    near = [rows[i] for i in order if distances[i] <= _FARTHEST]
    return near if len(near) >= _FEWEST_NEAR else []


def rate_of(
    rows: Sequence[StructuredRow], what: Literal["covered"] | float
) -> MeasuredShare | None:
    """Return the range of a share over some designs, with its error of measurement.

    Parameters
    ----------
    rows : sequence of StructuredRow
        The designs; None is returned where there are none.
    what : "covered" or float
        The share of intervals that cover, or of rejections at a level of `ALPHAS`.
    """
    if not rows:
        return None
    counts = [
        row.covered if what == "covered" else row.rejected[ALPHAS.index(float(what))]
        for row in rows
    ]
    if min(counts) < 0:
        return None
    shares = [c / row.n_simulations for c, row in zip(counts, rows, strict=True)]
    bounds = [
        wilson_bounds(share, row.n_simulations, _NORMAL)
        for share, row in zip(shares, rows, strict=True)
    ]
    return MeasuredShare(
        float(np.median(shares)),
        min(low for low, _ in bounds),
        max(high for _, high in bounds),
        sum(row.n_simulations for row in rows),
        len(rows),
        _describe(rows),
    )


def _describe(rows: Sequence[StructuredRow]) -> str:
    places = [row.structure for row in rows]
    units = [one.n_units for one in places]
    folds = sorted({row.n_folds for row in rows})
    sizes = [one.group_size for one in places]
    known = {**SIMULATED, **LINEAR_MODELS}
    names = " or ".join(dict.fromkeys(known[one.estimator] for one in places))
    of = f"{min(units)} to {max(units)} samples"
    if max(sizes) > 1:
        of = (
            f"{min(units)} to {max(units)} groups of {min(sizes):g} to {max(sizes):g} "
            "samples"
        )
    shown = " or ".join(map(str, folds))
    return f"{SCORES[rows[0].score]}, {shown} folds, {of}, {names}"


def structured_coverage(
    score: str, splits: Sequence[Split], table: Table, estimator: str
) -> Coverage | None:
    """Look up how often default intervals covered in designs near a table.

    Parameters
    ----------
    score : str
        Name of the score.
    splits : sequence of Split
        Folds that test every sample once; nothing was measured for others.
    table : Table
        The samples, with their groups.
    estimator : str
        Name of the estimator, of a pipeline that of its last step.
    """
    if table.weights is not None:
        return None
    n_folds = count_folds(splits, table.n_samples)
    found = rate_of(
        find_rows(score, n_folds, Structure.of(table, estimator)), "covered"
    )
    if found is None:
        return None
    return Coverage(
        found.low,
        found.high,
        f"{found.design}; {found.n_designs} designs, "
        f"{found.n_simulations // found.n_designs} data sets in each",
    )


def coverages_near(
    score: str, splits: Sequence[Split], table: Table, estimator: str
) -> dict[str, Coverage]:
    """Return the measured coverage of the default interval over folds, by its kind."""
    found = structured_coverage(score, splits, table, estimator)
    return {} if found is None else {"corrected-t": found}


def count_folds(splits: Sequence[Split], n_samples: int) -> int | None:
    """Count the folds of one cross-validation; None for other splits."""
    if not trains_on_the_rest(splits):
        return None
    tested = np.concatenate([split.test for split in splits])
    once = len(tested) == n_samples and len(np.unique(tested)) == n_samples
    return len(splits) if once and len(splits) > 1 else None

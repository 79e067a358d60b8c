"""Nested cross-validation: the error of the cross-validation estimate.

======  =======================================================================
symbol  meaning
======  =======================================================================
K       number of folds
e_out   errors on the samples of a fold, by the model without that fold
e_in    errors on all other samples, by cross-validation among the other folds
a − b   (mean e_in − mean e_out)² − var(e_out)/|fold|: squared error of
        cross-validation with K − 1 folds, without the noise of the fold itself
======  =======================================================================

Where samples have weights or groups, means are weighted, and the noise of a mean comes
from the spread between units, as in `evaluation.units`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.numbers import percent, percent_range
from veridical._core.parallel import Workers
from veridical._core.progress import ProgressLike, announce, reporting
from veridical._core.reading import read_table
from veridical._core.records import Conclusion, Record, frame
from veridical._core.scoring import weighted_mean
from veridical._core.seeds import root_seed
from veridical._core.splits import CrossValidation, Split, split_table
from veridical._core.types import (
    EstimatorLike,
    GroupsLike,
    LabelsLike,
    MatrixLike,
    RandomStateLike,
    WeightsLike,
)
from veridical.evaluation.arguments import read_estimator
from veridical.evaluation.engine import as_procedure, evaluate_table
from veridical.evaluation.intervals import Bounds, at_least_wilson, normal_quantile
from veridical.evaluation.records import Coverage
from veridical.evaluation.situations import Situation
from veridical.evaluation.trust import coverage_of
from veridical.evaluation.units import count_effective, variance_of_mean

if TYPE_CHECKING:
    import pandas as pd

#: Repeats of nested cross-validation behind ``Estimate.interval(kind="nested")``.
NESTED_REPEATS = 50


@dataclass(frozen=True, repr=False)
class NestedCV(Record):
    """The result of nested cross-validation.

    Parameters
    ----------
    value : float
        Accuracy, corrected for the smaller training sets of cross-validation and
        clipped to [0, 1].
    standard_error : float
        Of the cross-validation estimate, never below the naive one nor above √n_folds
        times it.
    naive_standard_error : float
        The standard error if the errors of all samples were independent.
    cv_value : float
        Accuracy by cross-validation on the same folds, not corrected.
    n_samples, n_folds, n_repeats : int
        Numbers of samples, folds and repeats.
    n_effective : float or None, default=None
        Number of independent samples that groups or weighted samples are worth; None
        without groups and weights.
    coverage : Coverage or None, default=None
        How often such intervals have covered the truth in designs near this one.
    """

    value: float
    standard_error: float
    naive_standard_error: float
    cv_value: float
    n_samples: int
    n_folds: int
    n_repeats: int
    n_effective: float | None = None
    coverage: Coverage | None = None

    def interval(self, confidence: float = 0.95) -> Bounds:
        """Compute an interval for the accuracy, within [0, 1].

        It has z standard errors on either side of the value, but is never narrower
        than Wilson's interval for `cv_value` on the same number of samples: near 0 and
        1 the standard error vanishes, but the uncertainty does not.
        """
        reach = normal_quantile(confidence) * self.standard_error
        bounds = self.value - reach, self.value + reach
        n = self.n_samples if self.n_effective is None else self.n_effective
        return at_least_wilson(bounds, self.cv_value, n, confidence)

    def _conclude(self) -> Conclusion:
        """Write the estimate, which is open: it is compared with nothing."""
        conclusions = import_module("veridical.evaluation.conclusions")
        return Conclusion(
            "open",
            f"{percent(self.value)} of new samples are classified correctly (95 % "
            f"interval {percent_range(*self.interval())}, "
            f"{conclusions.add_coverage(self.coverage)}, by nested "
            "cross-validation).",
        )

    def __repr__(self) -> str:
        low, high = self.interval()
        found = f"accuracy {self.value:.3f} ({low:.3f} to {high:.3f})"
        return f"NestedCV({found}, standard error {self.standard_error:.3f})"

    def to_frame(self) -> pd.DataFrame:
        """Write the result as a data frame of one row.

        Returns
        -------
        DataFrame
            Columns value, low, high (the 95 % interval), standard_error,
            naive_standard_error, cv_value, n_samples, n_folds, n_repeats, n_effective.
        """
        low, high = self.interval()
        names = [one.name for one in fields(self) if one.init][1:-1]
        rest = (getattr(self, name) for name in names)
        return frame([(self.value, low, high, *rest)], "value", "low", "high", *names)


def nested_cv(
    estimator: EstimatorLike,
    X: MatrixLike,
    y: LabelsLike,
    *,
    groups: GroupsLike = None,
    sample_weight: WeightsLike = None,
    n_folds: int = 10,
    stratified: bool = True,
    n_repeats: int = 200,
    random_state: RandomStateLike = None,
    n_jobs: int | None = None,
    progress: ProgressLike = None,
) -> NestedCV:
    """Estimate the error of cross-validation by nested cross-validation.

    For each fold left out, a smaller cross-validation is run on the other folds and
    compared with the accuracy on the fold itself; the mean square of the difference,
    minus the part that is due to the size of the fold, is the squared error of
    cross-validation [1]_. The model without folds i and j is used for both i and j, so
    a repeat takes ``n_folds (n_folds + 1) / 2`` fits.

    Parameters
    ----------
    estimator : classifier or str
        The classifier, or its registered name, whose accuracy is estimated.
    X : array-like of shape (n_samples, n_features)
        The data.
    y : array-like of shape (n_samples,)
        Class labels.
    groups : array-like of shape (n_samples,), str or list of str, optional
        Samples that belong together, as in `estimate`; folds keep them whole.
    sample_weight : array-like of shape (n_samples,) or str, optional
        Weights of samples, as in `estimate`: a sample of weight 3 counts as three in
        fits and means, but the spread between samples decides the standard error.
    n_folds : int, default=10
        Number of folds, at least 3; each must hold 2 samples (groups) or more.
    stratified : bool, default=True
        Whether folds have the class shares of the data.
    n_repeats : int, default=200
        Number of repeats, each with other folds. The variance needs many.
    random_state : int, numpy generator or None
        Decides the folds.
    n_jobs : int, optional
        Number of processes.
    progress : callable or bool, optional
        Called as ``progress(done, total)`` while models are fitted. By default, work
        that takes more than two seconds tells its cost and its progress on standard
        error; False is silent.

    Returns
    -------
    NestedCV
        With ``interval(confidence)``.

    References
    ----------
    .. [1] S. Bates, T. Hastie and R. Tibshirani, "Cross-validation: what does it
       estimate and how well does it do it?", JASA 119, 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from veridical.evaluation import nested_cv
    >>> found = nested_cv(GaussianNB(), *load_iris(return_X_y=True), n_repeats=20,
    ...                   random_state=0)
    >>> 0.9 < found.interval()[0] < found.value < found.interval()[1] <= 1
    True
    """
    table = read_table(
        X, y, groups=groups, sample_weight=sample_weight, kind="classes", encoded=False
    )
    n = table.n_samples
    if n_folds < 3 or table.n_units < 2 * n_folds:
        noun = "samples" if table.groups is None else "groups"
        raise InputError(
            f"Nested cross-validation with n_folds={n_folds} needs 3 folds or more and "
            f"2 {noun} in each, but there are {table.n_units} {noun}; change n_folds."
        )
    method = CrossValidation(n_folds, stratified, n_repeats)
    outer = split_table(method, table, root_seed(random_state))
    pairs = list(combinations(range(n_folds), 2))
    splits: list[Split] = []
    for r in range(n_repeats):
        repeat = outer[r * n_folds : (r + 1) * n_folds]
        folds = [split.test for split in repeat]
        splits.extend(repeat)
        splits.extend(Split(np.concatenate([folds[i], folds[j]]), n) for i, j in pairs)
    procedure, seen = as_procedure(read_estimator(estimator), table)
    with reporting(progress, "nested_cv") as told:
        announce(told, estimator, len(splits))
        (found,) = evaluate_table([procedure], seen, splits, run=Workers(n_jobs, told))
    wrong = [(~hits[0]).astype(np.float64) for hits in found.hits]
    repeats = _sort(wrong, n_folds, pairs)
    if table.groups is None and table.weights is None:
        plain = summarize_repeats(repeats, n)
        place = Situation.from_table(table, read_estimator(estimator), plain.cv_value)
        measured = {} if place is None else coverage_of(outer[:n_folds], place)
        return replace(plain, coverage=measured.get("nested"))
    rows = _sort([split.test for split in splits], n_folds, pairs)
    weights = np.ones(n) if table.weights is None else table.weights
    units = np.arange(n) if table.groups is None else table.groups
    return summarize_repeats(repeats, n, RowsTested(rows, weights, units))


Errors = tuple[list[FloatArray], list[FloatArray]]


class RowsTested(NamedTuple):
    """Rows of all errors, in the same places; weights and units of all samples."""

    rows: Sequence[tuple[list[IntArray], list[IntArray]]]
    weights: FloatArray
    units: IntArray


def _sort(
    tested: Sequence[Any], n_folds: int, pairs: Sequence[tuple[int, int]]
) -> list[tuple[list[Any], list[Any]]]:
    """Sort what was computed on the test samples of all splits by repeat and fold."""
    step = n_folds + len(pairs)
    return [
        _sort_repeat(tested[start : start + step], n_folds, pairs)
        for start in range(0, len(tested), step)
    ]


def _sort_repeat(
    tested: Sequence[Any], n_folds: int, pairs: Sequence[tuple[int, int]]
) -> tuple[list[Any], list[Any]]:
    """Return e_out and e_in of every fold."""
    outer = list(tested[:n_folds])
    inside: list[list[Any]] = [[] for _ in range(n_folds)]
    for (i, j), errors in zip(pairs, tested[n_folds:], strict=True):
        # The model without folds i and j tests fold i where j is left out.
        inside[j].append(errors[: len(outer[i])])
        inside[i].append(errors[len(outer[i]) :])
    return outer, [np.concatenate(parts) for parts in inside]


def summarize_repeats(
    repeats: Sequence[Errors], n: int, structure: RowsTested | None = None
) -> NestedCV:
    """Compute the estimate and its standard error from the errors of every repeat.

    Parameters
    ----------
    repeats : sequence of (outer, inner)
        For each fold, e_out and e_in; see the notation on top of the module.
    n : int
        Number of samples.
    structure : optional
        Weights and units of the samples, and the rows of the errors.
    """
    n_folds = len(repeats[0][0])
    outside, inside = (
        [errors for repeat in repeats for errors in repeat[part]] for part in (0, 1)
    )
    n_effective = None
    if structure is None:
        excess = [
            (within.mean() - fold.mean()) ** 2 - fold.var(ddof=1) / len(fold)
            for fold, within in zip(outside, inside, strict=True)
        ]
        pooled = np.concatenate(inside)
        naive = float(pooled.std(ddof=1)) / math.sqrt(n)
        mean_inside = float(pooled.mean())
        mean_outside = float(np.concatenate(outside).mean())
    else:
        excess, naive, mean_inside, mean_outside, n_effective = _weigh_errors(
            outside, inside, structure
        )
    # Nested cross-validation has (K − 1)/K of the samples; the error shrinks with them.
    squared = max(0.0, float(np.mean(excess or [0.0])) * (n_folds - 1) / n_folds)
    error = min(max(math.sqrt(squared), naive), naive * math.sqrt(n_folds))
    bias = (1 + (n_folds - 2) / n_folds) * (mean_inside - mean_outside)
    value = 1 - (mean_inside - bias)
    return NestedCV(
        value=min(max(value, 0.0), 1.0),
        standard_error=error,
        naive_standard_error=naive,
        cv_value=1 - mean_outside,
        n_samples=n,
        n_folds=n_folds,
        n_repeats=len(repeats),
        n_effective=n_effective,
    )


def _weigh_errors(
    outside: Sequence[FloatArray], inside: Sequence[FloatArray], structure: RowsTested
) -> tuple[list[float], float, float, float, float]:
    """Compute the terms of `summarize_repeats` for weighted samples or groups."""
    rows_outside, rows_inside = (
        [rows for repeat in structure.rows for rows in repeat[part]] for part in (0, 1)
    )
    weights, units = structure.weights, structure.units
    excess = []
    for fold, within, i, j in zip(
        outside, inside, rows_outside, rows_inside, strict=True
    ):
        noise = variance_of_mean(fold, units[i], weights[i])
        if not math.isnan(noise):  # two units of positive weight, or more
            gap = weighted_mean(within, weights[j]) - weighted_mean(fold, weights[i])
            excess.append(float(gap**2 - noise))
    tested = np.concatenate(rows_outside)
    wrong = np.bincount(tested, np.concatenate(outside)) / np.bincount(tested)
    n_effective = count_effective(
        1 - wrong[weights > 0],
        np.unique(units[weights > 0], return_inverse=True)[1],
        weights[weights > 0],
    )
    pooled, heavy = np.concatenate(inside), weights[np.concatenate(rows_inside)]
    mean_inside = float(weighted_mean(pooled, heavy))
    spread = weighted_mean((pooled - mean_inside) ** 2, heavy)
    n = len(pooled)
    naive = math.sqrt(spread * n / (n - 1) / n_effective)
    mean_outside = float(weighted_mean(np.concatenate(outside), weights[tested]))
    return excess, naive, mean_inside, mean_outside, n_effective


class DeferredNestedCV:
    """Nested cross-validation that is run when its interval is first needed."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._arguments = arguments
        self._result: NestedCV | None = None

    @property
    def ready(self) -> bool:
        """Whether it has been run."""
        return self._result is not None

    def result(self, progress: ProgressLike = None) -> NestedCV:
        """Run it on the first call, then release the data; later calls reuse it."""
        if self._result is None:
            self._result = nested_cv(
                **self._arguments, n_repeats=NESTED_REPEATS, progress=progress
            )
            self._arguments = {}
        return self._result

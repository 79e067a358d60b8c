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
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.numbers import percent, percent_range
from veridical._core.parallel import Workers
from veridical._core.progress import ProgressLike, announce, reporting
from veridical._core.reading import read_table
from veridical._core.records import Conclusion, Record, frame
from veridical._core.seeds import root_seed
from veridical._core.splits import CrossValidation, Split
from veridical._core.types import EstimatorLike, LabelsLike, MatrixLike, RandomStateLike
from veridical.evaluation.engine import as_procedure, evaluate_table
from veridical.evaluation.intervals import Bounds, at_least_wilson, normal_quantile

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
    """

    value: float
    standard_error: float
    naive_standard_error: float
    cv_value: float
    n_samples: int
    n_folds: int
    n_repeats: int

    def interval(self, confidence: float = 0.95) -> Bounds:
        """Compute an interval for the accuracy, within [0, 1].

        It has z standard errors on either side of the value, but is never narrower
        than Wilson's interval for `cv_value` on the same number of samples: near 0 and
        1 the standard error vanishes, but the uncertainty does not.
        """
        reach = normal_quantile(confidence) * self.standard_error
        bounds = self.value - reach, self.value + reach
        return at_least_wilson(bounds, self.cv_value, self.n_samples, confidence)

    def _conclude(self) -> Conclusion:
        """Write the estimate, which is open: it is compared with nothing."""
        return Conclusion(
            "open",
            f"{percent(self.value)} of new samples are classified correctly (95 % "
            f"interval {percent_range(*self.interval())}, by nested cross-validation).",
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
            naive_standard_error, cv_value, n_samples, n_folds, n_repeats.
        """
        low, high = self.interval()
        names = [one.name for one in fields(self) if one.init][1:]
        rest = (getattr(self, name) for name in names)
        return frame([(self.value, low, high, *rest)], "value", "low", "high", *names)


def nested_cv(
    estimator: EstimatorLike,
    X: MatrixLike,
    y: LabelsLike,
    *,
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
    estimator : classifier
        The classifier whose accuracy is estimated.
    X : array-like of shape (n_samples, n_features)
        The data.
    y : array-like of shape (n_samples,)
        Class labels.
    n_folds : int, default=10
        Number of folds, at least 3; each must hold 2 samples or more.
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
    table = read_table(X, y, kind="classes", encoded=False)
    n = len(table)
    if n_folds < 3 or n < 2 * n_folds:
        raise InputError(
            f"Nested cross-validation with n_folds={n_folds} needs 3 folds or more and "
            f"2 samples in each, but there are {n} samples; change n_folds."
        )
    method = CrossValidation(n_folds, stratified, n_repeats)
    outer = method.split(table.labels, root_seed(random_state))
    pairs = list(combinations(range(n_folds), 2))
    splits: list[Split] = []
    for r in range(n_repeats):
        repeat = outer[r * n_folds : (r + 1) * n_folds]
        folds = [split.test for split in repeat]
        splits.extend(repeat)
        splits.extend(Split(np.concatenate([folds[i], folds[j]]), n) for i, j in pairs)
    procedure, seen = as_procedure(estimator, table)
    with reporting(progress, "nested_cv") as told:
        announce(told, estimator, len(splits))
        (found,) = evaluate_table([procedure], seen, splits, run=Workers(n_jobs, told))
    wrong = [(~hits[0]).astype(np.float64) for hits in found.hits]
    per_repeat = n_folds + len(pairs)
    repeats = [
        _sort_errors(wrong[r * per_repeat : (r + 1) * per_repeat], n_folds, pairs)
        for r in range(n_repeats)
    ]
    return summarize_repeats(repeats, n)


Errors = tuple[list[FloatArray], list[FloatArray]]


def _sort_errors(
    wrong: Sequence[FloatArray], n_folds: int, pairs: Sequence[tuple[int, int]]
) -> Errors:
    """Return e_out and e_in of every fold."""
    outer = list(wrong[:n_folds])
    inside: list[list[FloatArray]] = [[] for _ in range(n_folds)]
    for (i, j), errors in zip(pairs, wrong[n_folds:], strict=True):
        # The model without folds i and j tests fold i where j is left out.
        inside[j].append(errors[: len(outer[i])])
        inside[i].append(errors[len(outer[i]) :])
    return outer, [np.concatenate(parts) for parts in inside]


def summarize_repeats(repeats: Sequence[Errors], n: int) -> NestedCV:
    """Compute the estimate and its standard error from the errors of every repeat.

    Parameters
    ----------
    repeats : sequence of (outer, inner)
        For each fold, e_out and e_in; see the notation on top of the module.
    n : int
        Number of samples.
    """
    n_folds = len(repeats[0][0])
    excess = [
        (within.mean() - fold.mean()) ** 2 - fold.var(ddof=1) / len(fold)
        for outer, inner in repeats
        for fold, within in zip(outer, inner, strict=True)
    ]
    outside, inside = (
        np.concatenate([errors for repeat in repeats for errors in repeat[part]])
        for part in (0, 1)
    )
    naive = float(inside.std(ddof=1)) / math.sqrt(n)
    # Nested cross-validation has (K − 1)/K of the samples; the error shrinks with them.
    squared = max(0.0, float(np.mean(excess)) * (n_folds - 1) / n_folds)
    error = min(max(math.sqrt(squared), naive), naive * math.sqrt(n_folds))
    bias = (1 + (n_folds - 2) / n_folds) * float(inside.mean() - outside.mean())
    value = 1 - (float(inside.mean()) - bias)
    return NestedCV(
        value=min(max(value, 0.0), 1.0),
        standard_error=error,
        naive_standard_error=naive,
        cv_value=1 - float(outside.mean()),
        n_samples=n,
        n_folds=n_folds,
        n_repeats=len(repeats),
    )


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

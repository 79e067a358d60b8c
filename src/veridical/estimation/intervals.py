"""Confidence intervals for an estimate, each with what it takes for granted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from veridical._records import Estimate, FloatArray, InputError
from veridical.estimation.fitting import Problem, predict_splits
from veridical.estimation.methods import CrossValidation
from veridical.estimation.seeds import root_seed
from veridical.estimation.splits import Split

Bounds = tuple[float, float]

#: Repeats of nested cross-validation behind ``Estimate.interval(kind="nested")``.
NESTED_REPEATS = 50

ASSUMES = {
    "holdout": "test cases are independent draws; it is for the accuracy of the "
    "classifier built on the training part",
    "stable": "the learner is stable: leaving the test cases out of the training data "
    "does not change its predictions. An unstable learner makes it too narrow",
    "corrected-t": "scores of splits are normal, and any two correlate as their "
    "training sets overlap (Nadeau and Bengio)",
    "nested": "nothing of the learner; the variance is itself estimated by nested "
    "cross-validation (Bates, Hastie and Tibshirani), for samples that are not tiny",
}


def wilson(accuracy: float, n_test: int, confidence: float = 0.95) -> Bounds:
    """Wilson's score interval for an accuracy measured on independent test cases.

    Parameters
    ----------
    accuracy : float
        Share of hits.
    n_test : int
        Number of test cases.
    confidence : float, default=0.95
        How often such an interval should cover the true accuracy.

    Returns
    -------
    low, high : float
        The two accuracies from which the one measured is exactly z standard errors
        away, in [0, 1].

    Examples
    --------
    >>> from veridical.estimation import wilson
    >>> [round(bound, 3) for bound in wilson(0.7, 50)]
    [0.562, 0.809]
    """
    return wilson_roots(accuracy, n_test, normal_quantile(confidence))


def wilson_roots(accuracy: float, n_test: int, z: float) -> Bounds:
    """Solve ``|accuracy − a| = z √(a(1 − a)/n)`` for a."""
    middle = 2 * n_test * accuracy + z**2
    reach = z * math.sqrt(4 * n_test * accuracy * (1 - accuracy) + z**2)
    width = 2 * (n_test + z**2)
    low, high = (middle - reach) / width, (middle + reach) / width
    return min(max(0.0, low), accuracy), max(min(1.0, high), accuracy)


def corrected_t(
    scores: NDArray[Any], test_share: float, confidence: float = 0.95
) -> Bounds:
    """Interval for the mean of scores whose training sets overlap.

    Parameters
    ----------
    scores : array
        One score per split.
    test_share : float
        Cases in a test set over cases in a training set.
    confidence : float, default=0.95
        Nominal coverage.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine
       Learning 52, 2003.
    """
    scores = np.asarray(scores, dtype=np.float64)
    error = math.sqrt((1 / len(scores) + test_share) * scores.var(ddof=1))
    quantile = float(stats.t.ppf((1 + _checked(confidence)) / 2, len(scores) - 1))
    mean = float(scores.mean())
    return mean - quantile * error, mean + quantile * error


def normal_quantile(confidence: float) -> float:
    """How many standard errors an interval reaches to either side."""
    return float(stats.norm.ppf((1 + _checked(confidence)) / 2))


def _checked(confidence: Any) -> float:
    if not (isinstance(confidence, (int, float, np.floating)) and 0 < confidence < 1):
        raise InputError(
            f"confidence={confidence!r} must be a share between 0 and 1, 0.95 say."
        )
    return float(confidence)


# -- nested cross-validation ---------------------------------------------------------


@dataclass(frozen=True)
class NestedCV:
    """What nested cross-validation found.

    Parameters
    ----------
    value : float
        Accuracy, corrected for the smaller training sets of cross-validation.
    standard_error : float
        Of the cross-validation estimate, never below the naive one nor above √n_folds
        times it.
    naive_standard_error : float
        What it would be if the errors of all cases were independent.
    n_folds, n_repeats : int
        How it was done.
    """

    value: float
    standard_error: float
    naive_standard_error: float
    n_folds: int
    n_repeats: int

    def interval(self, confidence: float = 0.95) -> Bounds:
        """Interval for the accuracy, cut to [0, 1]."""
        reach = normal_quantile(confidence) * self.standard_error
        return max(0.0, self.value - reach), min(1.0, self.value + reach)


def nested_cv(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_folds: int = 10,
    stratified: bool = True,
    n_repeats: int = 200,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> NestedCV:
    """Estimate how far cross-validation is off, by cross-validating it.

    Within each fold left out, a smaller cross-validation is run on the other folds and
    set against the accuracy on the fold itself; the mean square of the difference, less
    the part that is due to the fold's size, is how far off cross-validation is [1]_.
    The model without folds i and j serves both i and j, so a repeat costs
    ``n_folds (n_folds + 1) / 2`` fits, half of what it seems.

    Parameters
    ----------
    estimator : classifier
        What to estimate the accuracy of.
    X : array-like of shape (n_samples, n_features)
        The data.
    y : array-like of shape (n_samples,)
        Class labels.
    n_folds : int, default=10
        Number of folds, at least 3; each must hold 2 cases or more.
    stratified : bool, default=True
        Whether folds have the class shares of the data.
    n_repeats : int, default=200
        How often, each time with other folds. The variance needs many.
    random_state : int, numpy generator or None
        Decides the folds.
    n_jobs : int, optional
        Number of processes.

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
    >>> from veridical.estimation import nested_cv
    >>> found = nested_cv(GaussianNB(), *load_iris(return_X_y=True), n_repeats=20,
    ...                   random_state=0)
    >>> 0.9 < found.interval()[0] < found.value < found.interval()[1] <= 1
    True
    """
    problem = Problem.read(X, y)
    n = len(problem)
    if n_folds < 3 or n < 2 * n_folds:
        raise InputError(
            f"Nested cross-validation with n_folds={n_folds} needs 3 folds or more and "
            f"2 cases in each, but there are {n} cases; change n_folds."
        )
    method = CrossValidation(n_folds, stratified, n_repeats)
    outer = method.split(problem.y, root_seed(random_state))
    pairs = list(combinations(range(n_folds), 2))
    splits: list[Split] = []
    for r in range(n_repeats):
        repeat = outer[r * n_folds : (r + 1) * n_folds]
        folds = [split.test for split in repeat]
        splits.extend(repeat)
        splits.extend(Split(np.concatenate([folds[i], folds[j]]), n) for i, j in pairs)
    predicted = predict_splits(estimator, problem, splits, n_jobs)
    wrong = [
        (codes != problem.codes[split.test]).astype(np.float64)
        for codes, split in zip(predicted, splits, strict=True)
    ]
    per_repeat = n_folds + len(pairs)
    repeats = [
        _one_repeat(wrong[r * per_repeat : (r + 1) * per_repeat], n_folds, pairs)
        for r in range(n_repeats)
    ]
    return _conclude(repeats, n, n_folds, n_repeats)


def _one_repeat(
    wrong: Sequence[FloatArray], n_folds: int, pairs: Sequence[tuple[int, int]]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Squared differences less their own noise, inner errors, outer errors."""
    outside = list(wrong[:n_folds])
    inside: list[list[FloatArray]] = [[] for _ in range(n_folds)]
    for (i, j), errors in zip(pairs, wrong[n_folds:], strict=True):
        # The model without folds i and j tests fold i for those who left out j.
        inside[j].append(errors[: len(outside[i])])
        inside[i].append(errors[len(outside[i]) :])
    inner = [np.concatenate(parts) for parts in inside]
    excess = [
        (within.mean() - fold.mean()) ** 2 - fold.var(ddof=1) / len(fold)
        for within, fold in zip(inner, outside, strict=True)
    ]
    return np.array(excess), np.concatenate(inner), np.concatenate(outside)


def _conclude(repeats: Sequence[Any], n: int, n_folds: int, n_repeats: int) -> NestedCV:
    excess, inner, outer = (
        np.concatenate([repeat[part] for repeat in repeats]) for part in range(3)
    )
    naive = float(inner.std(ddof=1)) / math.sqrt(n)
    # The scheme sees samples of (K − 1)/K of the size; the error shrinks with it.
    squared = max(0.0, float(excess.mean()) * (n_folds - 1) / n_folds)
    error = min(max(math.sqrt(squared), naive), naive * math.sqrt(n_folds))
    bias = (1 + (n_folds - 2) / n_folds) * float(inner.mean() - outer.mean())
    value = 1 - (float(inner.mean()) - bias)
    return NestedCV(value, error, naive, n_folds, n_repeats)


class NestedLater:
    """Nested cross-validation that is run when somebody asks for its interval."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._arguments = arguments
        self._result: NestedCV | None = None

    @property
    def ready(self) -> bool:
        """Whether it has been run."""
        return self._result is not None

    def result(self) -> NestedCV:
        """Run it the first time; later calls remember, and the data is let go."""
        if self._result is None:
            self._result = nested_cv(**self._arguments, n_repeats=NESTED_REPEATS)
            self._arguments = {}
        return self._result


# -- the interval of an estimate -----------------------------------------------------


def interval_of(
    estimate: Estimate, confidence: float = 0.95, kind: str | None = None
) -> Bounds:
    """Compute an interval of an estimate, or say why there is none."""
    _checked(confidence)
    offered = list(estimate.assumes)
    if not offered:
        raise InputError(
            f"There is no valid interval for {estimate.metric} by {estimate.method}; "
            "use Holdout or CrossValidation, which have one for accuracy."
        )
    kind = offered[0] if kind is None else kind
    if kind not in offered:
        raise InputError(
            f"kind={kind!r} is no interval for {estimate.metric} by "
            f"{estimate.method}; use {' or '.join(map(repr, offered))}."
        )
    if kind == "wilson":
        return wilson(estimate.value, estimate.n_test, confidence)
    if kind == "nested":
        return estimate.nested.result().interval(confidence)
    low, high = corrected_t(estimate.scores, estimate.test_share, confidence)
    if estimate.metric == "accuracy":
        low, high = max(0.0, low), min(1.0, high)
    return low, high

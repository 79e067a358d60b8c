"""Confidence intervals for an estimate, each with its assumptions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from veridical._core.defaults import CONFIDENCE
from veridical._core.errors import InputError
from veridical.evaluation.jackknife import jackknife_interval
from veridical.evaluation.records import Estimate
from veridical.evaluation.trust import choose_interval, default_interval
from veridical.kernels.statistics import clopper_pearson_bounds, wilson_bounds

Bounds = tuple[float, float]

#: Relative difference of scores; below it they are equal up to rounding.
_EQUAL_WITHIN = 1e-12

#: What an interval assumes; "{units}" stands for samples or groups.
ASSUMES = {
    "holdout": "test samples are independent draws; it is for the accuracy of the "
    "classifier built on the training part",
    "stable": "the estimator is stable: leaving the test samples out of the training "
    "data does not change its predictions. An unstable estimator makes it too narrow",
    "corrected-t": "scores of splits are normally distributed, and that the "
    "correlation of two of them is the share of samples that each split tests (Nadeau "
    "and Bengio)",
    "cluster-wilson": "{units} are independent draws, and that "
    "the estimator is stable. It is Wilson's interval for the effective number of "
    "samples, which the spread between {units} gives (Korn and Graubard; Dean and "
    "Pagano)",
    "jackknife": "{units} of the test set are independent draws, and so "
    "many that the score is normal on a scale without limits. It is for the score of "
    "the model built on the training part",
    "exact": "test samples of the class are independent draws, and that the estimator "
    "is stable. The scores of the splits do not vary, so nothing is known of their "
    "spread",
    "nested": "there are enough samples to estimate the variance by nested "
    "cross-validation (Bates, Hastie and Tibshirani); it assumes nothing about the "
    "estimator",
}


def wilson(accuracy: float, n_test: float, confidence: float = 0.95) -> Bounds:
    """Compute Wilson's score interval of an accuracy on independent test samples.

    Parameters
    ----------
    accuracy : float
        Share of correct predictions.
    n_test : float
        Number of test samples, or the number that they are worth.
    confidence : float, default=0.95
        How often such an interval should cover the true accuracy.

    Returns
    -------
    low, high : float
        The two accuracies from which the one measured is exactly z standard errors
        away, in [0, 1].

    Examples
    --------
    >>> from veridical.evaluation import wilson
    >>> [round(bound, 3) for bound in wilson(0.7, 50)]
    [0.562, 0.809]
    """
    return wilson_bounds(accuracy, n_test, normal_quantile(confidence))


def cluster_wilson(
    accuracy: float, n_effective: float, n_units: int, confidence: float = 0.95
) -> Bounds:
    """Compute Wilson's interval of an accuracy on groups of test samples.

    Parameters
    ----------
    accuracy : float
        Share of correct predictions.
    n_effective : float
        Number of independent samples that would vary as much; see
        `veridical.evaluation.units.Spread`.
    n_units : int
        Number of groups, at least two. The spread between few groups is itself
        uncertain, for which the quantile of Student's t with one degree of freedom less
        allows.
    confidence : float, default=0.95
        Nominal coverage.

    References
    ----------
    .. [1] E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with
       small expected number of positive counts estimated from survey data", Survey
       Methodology 24, 1998.
    .. [2] N. Dean and M. Pagano, "Evaluating confidence interval methods for binomial
       proportions in clustered surveys", Journal of Survey Statistics and Methodology
       3, 2015.
    """
    tail = (1 + _check_confidence(confidence)) / 2
    quantile = float(stdtrit(n_units - 1, tail))
    return wilson_bounds(accuracy, n_effective, quantile)


def clopper_pearson(share: float, n: int, confidence: float = 0.95) -> Bounds:
    """Compute Clopper and Pearson's exact interval of a share of n samples.

    Parameters
    ----------
    share : float
        Share of the samples, such as that of correct predictions.
    n : int
        Number of independent samples.
    confidence : float, default=0.95
        Least coverage.

    Returns
    -------
    low, high : float
        In [0, 1], and never equal.

    Examples
    --------
    >>> [round(bound, 3) for bound in clopper_pearson(1.0, 20)]
    [0.832, 1.0]
    """
    tail = (1 - _check_confidence(confidence)) / 2
    hits = round(share * n)
    return clopper_pearson_bounds(hits, n - hits, tail)


def paired_shares(won: float, lost: float, n: int, confidence: float = 0.95) -> Bounds:
    """Compute Bonett and Price's interval of a difference of paired shares.

    Parameters
    ----------
    won, lost : float
        Number of samples that are right in the first of two runs only, and in the
        second only.
    n : int
        Number of samples.
    confidence : float, default=0.95
        Nominal coverage.

    Returns
    -------
    low, high : float
        Of the share of the first run minus that of the second, in [-1, 1], and never
        equal.

    References
    ----------
    .. [1] D. G. Bonett and R. M. Price, "Adjusted Wald confidence interval for a
       difference of binomial proportions based on paired data", Journal of Educational
       and Behavioral Statistics 37, 2012.

    Examples
    --------
    >>> from veridical.evaluation.intervals import paired_shares
    >>> [round(bound, 3) for bound in paired_shares(9, 1, 60)]
    [0.024, 0.234]
    """
    first, second = (won + 1) / (n + 2), (lost + 1) / (n + 2)
    mean = first - second
    spread = first + second - mean**2
    half = normal_quantile(confidence) * float(np.sqrt(spread / (n + 2)))
    return max(-1.0, mean - half), min(1.0, mean + half)


def corrected_t(
    scores: NDArray[Any], test_share: float, confidence: float = 0.95
) -> Bounds:
    """Compute an interval for the mean of scores whose training sets overlap.

    Parameters
    ----------
    scores : array
        One score per split, at least two.
    test_share : float
        Size of a test set over the size of a training set.
    confidence : float, default=0.95
        Nominal coverage.

    Returns
    -------
    low, high : float
        Symmetric around the mean of the scores, and not clipped to their range;
        ``Estimate.interval`` clips it.

    Raises
    ------
    InputError
        If the scores do not vary: the interval would have no width, as if the mean
        were known exactly.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine
       Learning 52, 2003.
    """
    scores = np.asarray(scores, dtype=np.float64)
    if not vary(scores):
        raise InputError(
            f"The corrected t interval needs scores that vary, but "
            f"{say_equal(scores)}; their spread says nothing about the error of their "
            "mean. For an accuracy use Wilson's interval."
        )
    half = float(t_half_width(scores, test_share, _check_confidence(confidence)))
    mean = float(scores.mean())
    return mean - half, mean + half


def t_half_width(
    scores: NDArray[Any], test_share: float, confidence: float = 0.95
) -> Any:
    """Compute half the width of the corrected t interval of a mean; see `corrected_t`.

    With ``test_share=0`` it is Student's interval, for independent scores. Scores of
    shape (n, m) are m columns of n scores each, with a half width for each column.
    """
    n = len(scores)
    error = np.sqrt((1 / n + test_share) * scores.var(axis=0, ddof=1))
    return stdtrit(n - 1, (1 + confidence) / 2) * error


def vary(scores: NDArray[Any]) -> bool:
    """Return whether there are two scores or more, not all equal up to rounding."""
    if len(scores) < 2:
        return False
    return bool(np.ptp(scores) > _EQUAL_WITHIN * max(1.0, float(np.abs(scores).max())))


def say_equal(scores: NDArray[Any]) -> str:
    """Write which value scores that do not vary have."""
    if len(scores) < 2:
        return "there are fewer than two of them"
    return f"all {len(scores)} of them are {float(scores[0]):.4g}"


def normal_quantile(confidence: float) -> float:
    """Return the number of standard errors on either side of an interval."""
    return float(ndtri((1 + _check_confidence(confidence)) / 2))


def _check_confidence(confidence: Any) -> float:
    if not (isinstance(confidence, (int, float, np.floating)) and 0 < confidence < 1):
        raise InputError(
            f"confidence={confidence!r} must be a number between 0 and 1, such as 0.95."
        )
    return float(confidence)


# -- the interval of an estimate -----------------------------------------------------


def interval_of(
    estimate: Estimate, confidence: float = 0.95, kind: str | None = None
) -> Bounds:
    """Compute an interval of an estimate; raise, with the reason, if there is none."""
    _check_confidence(confidence)
    offered = list(estimate.assumes)
    if not offered:
        scores = known_scores(estimate)
        why = ""
        if len(scores) > 1 and not vary(scores):
            why = f", whose scores do not vary ({say_equal(scores)})"
        raise InputError(
            f"There is no valid interval for {estimate.metric} by {estimate.method}"
            f"{why}; use Holdout or CrossValidation, which have one for accuracy."
        )
    kind = default_interval(estimate) if kind is None else kind
    check_kind(estimate, kind)
    if kind == "cluster-wilson":
        return cluster_wilson(
            estimate.value, estimate.n_effective, estimate.n_units, confidence
        )
    if kind == "wilson":
        return wilson(estimate.value, estimate.n_test, confidence)
    if kind == "exact":
        return clopper_pearson(estimate.value, estimate.n_shared, confidence)
    if kind == "jackknife":
        return jackknife_interval(
            estimate.value,
            estimate.details["standard_error"],
            int(estimate.details["blocks"]),
            estimate.score_range,
            confidence,
        )
    if kind == "nested":
        bounds = estimate.nested.result().interval(confidence)
        return at_least_wilson(bounds, estimate.value, estimate.n_test, confidence)
    bounds = corrected_t(known_scores(estimate), estimate.test_share, confidence)
    if estimate.metric == "accuracy" and estimate.n_units:
        low, high = wilson(estimate.value, estimate.n_effective, confidence)
        return no_narrower(bounds, high - low)
    if estimate.metric == "accuracy":
        return at_least_wilson(bounds, estimate.value, estimate.n_test, confidence)
    return clip(bounds, estimate.score_range)


def check_kind(estimate: Estimate, kind: str | None) -> None:
    """Raise, with the reason, if a kind of interval is not valid for an estimate."""
    if kind is None or kind not in estimate.assumes:
        raise InputError(_why_not(estimate, kind))


def intervals_of(estimate: Estimate) -> dict[str, Bounds]:
    """Compute the 95 % bounds of the valid kinds of interval, the default kind first.

    The nested one is computed only if its result is there: it takes thousands of fits.
    """
    lead = choose_interval(estimate.assumes, len(estimate.scores), estimate.nested)
    found = {}
    for kind in sorted(estimate.assumes, key=lambda kind: kind != lead):
        if kind == "nested" and not (estimate.nested and estimate.nested.ready):
            continue
        found[kind] = interval_of(estimate, CONFIDENCE, kind)
    return found


def known_scores(estimate: Estimate) -> NDArray[Any]:
    """Return the scores of the splits on which the score is defined."""
    return estimate.scores[~np.isnan(estimate.scores)]


def at_least_wilson(
    bounds: Bounds, accuracy: float, n_test: float, confidence: float
) -> Bounds:
    """Widen an interval of an accuracy to the width of Wilson's.

    Stratified folds may be all but equal, of a classifier that always predicts one
    class, say; the samples are still drawn at random.
    """
    low, high = wilson(accuracy, n_test, confidence)
    return no_narrower(bounds, high - low)


def no_narrower(bounds: Bounds, width: float) -> Bounds:
    """Widen an interval within [0, 1] to at least a width, which is at most 1.

    Both ends move by the same amount, unless one reaches its limit.
    """
    low, high = clip(bounds, (0.0, 1.0))
    lacking = width - (high - low)
    if lacking <= 0:
        return low, high
    low, high = low - lacking / 2, high + lacking / 2
    if low < 0:
        return 0.0, width
    if high > 1:
        return 1.0 - width, 1.0
    return low, high


def clip(bounds: Bounds, limits: Bounds) -> Bounds:
    """Cut an interval at the smallest and the largest possible value; NaN stays NaN."""
    low, high = (min(max(bound, limits[0]), limits[1]) for bound in bounds)
    return low, high


def _why_not(estimate: Estimate, kind: str | None) -> str:
    others = " or ".join(map(repr, estimate.assumes))
    scores = known_scores(estimate)
    if kind == "corrected-t" and len(scores) > 1 and not vary(scores):
        return (
            f"The corrected t interval needs scores that vary, but {say_equal(scores)} "
            f"({estimate.method}); their spread says nothing about the error of the "
            f"estimate. Use {others}."
        )
    return (
        f"kind={kind!r} is no interval for {estimate.metric} by {estimate.method}; use "
        f"{others}."
    )

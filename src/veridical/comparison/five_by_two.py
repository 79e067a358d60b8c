"""Five repeats of two-fold cross-validation: Dietterich's t and Alpaydin's F.

| symbol | meaning                                                        | shape  |
|--------|----------------------------------------------------------------|--------|
| d      | differences, one row per halving of the data                   | (5, 2) |
| s²     | per halving: sum of the squared deviations from its mean       | (5,)   |
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import fdtrc, fdtri

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical.comparison.records import TestResult
from veridical.comparison.significance import (
    SAME_ACCURACY,
    check_alpha,
    over_leading_axes,
    paired_differences,
    t_and_p,
    t_reach,
    without_rounding,
)


@over_leading_axes(2)
def five_by_two_t(
    scores_a: ArrayLike, scores_b: ArrayLike, *, alpha: float = 0.05
) -> TestResult:
    """Apply Dietterich's 5×2 cv t-test.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (..., 5, 2) or (10,)
        Scores of the two sides on both halves of five random halvings, in order.
        Leading axes count tests.
    alpha : float, default=0.05
        Significance level; the interval has confidence ``1 - alpha``.

    Returns
    -------
    TestResult
        Two-sided, with 5 degrees of freedom. ``estimate`` is the difference on the
        first half, which alone is tested, and the interval lies around it.

    See Also
    --------
    five_by_two_f : Tests all ten differences.

    Notes
    -----
    ``t = d[0, 0] / sqrt(mean(s²))``: halves do not share training samples, so each
    halving gives an unbiased variance [1]_. The verdict depends on which half comes
    first; that of `five_by_two_f` does not.

    References
    ----------
    .. [1] T. G. Dietterich, "Approximate statistical tests for comparing supervised
       classification learning algorithms", Neural Computation 10 (1998).

    Examples
    --------
    >>> from veridical.comparison import five_by_two_t
    >>> a = [[0.80, 0.74], [0.78, 0.82], [0.76, 0.80], [0.84, 0.78], [0.80, 0.80]]
    >>> b = [[0.70, 0.72], [0.74, 0.74], [0.72, 0.74], [0.74, 0.76], [0.72, 0.76]]
    >>> result = five_by_two_t(a, b)
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (2.4693, 0.0566)
    """
    check_alpha(alpha)
    d, spread = _read_halvings(scores_a, scores_b)
    error = math.sqrt(float(spread.mean()))
    first = without_rounding(float(d[0, 0]))
    statistic, pvalue = t_and_p(first, error, 5)
    reach = t_reach(error, 5, alpha)
    return TestResult(
        name="5×2 cv t",
        statistic=statistic,
        pvalue=pvalue,
        df=5.0,
        mean_difference=without_rounding(float(d.mean())),
        interval=(first - reach, first + reach),
        n=10,
        alpha=float(alpha),
        assumptions=(
            "Only the difference on the first half of the first halving is tested "
            f"({first:+.3f}; the interval is its own); the other nine serve to "
            "estimate the variance, as if halvings were independent."
        ),
        estimate=first,
        note="" if error else _without_variance(d, pvalue),
    )


@over_leading_axes(2)
def five_by_two_f(
    scores_a: ArrayLike, scores_b: ArrayLike, *, alpha: float = 0.05
) -> TestResult:
    """Apply Alpaydin's combined 5×2 cv F-test.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (..., 5, 2) or (10,)
        Scores of the two sides on both halves of five random halvings, in order.
        Leading axes count tests.
    alpha : float, default=0.05
        Significance level; the interval has confidence ``1 - alpha``.

    Returns
    -------
    TestResult
        ``df`` is that of the denominator, 5; the numerator has 10. The interval holds
        the differences which the same test would not reject; it is NaN where the test
        would reject them all, and where the differences do not vary in any halving.

    See Also
    --------
    five_by_two_t : Its predecessor, which tests one difference of the ten.

    Notes
    -----
    ``F = sum(d²) / (2 sum(s²))`` against F(10, 5), one-sided [1]_.

    References
    ----------
    .. [1] E. Alpaydin, "Combined 5×2 cv F test for comparing supervised classification
       learning algorithms", Neural Computation 11 (1999).

    Examples
    --------
    >>> from veridical.comparison import five_by_two_f
    >>> a = [[0.80, 0.74], [0.78, 0.82], [0.76, 0.80], [0.84, 0.78], [0.80, 0.80]]
    >>> b = [[0.70, 0.72], [0.74, 0.74], [0.72, 0.74], [0.74, 0.76], [0.72, 0.76]]
    >>> result = five_by_two_f(a, b)
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (2.561, 0.1555)
    """
    check_alpha(alpha)
    d, spread = _read_halvings(scores_a, scores_b)
    noise = 2 * float(spread.sum())
    signal = float((d**2).sum())
    if noise == 0:
        signal = without_rounding(signal)
        statistic, pvalue = (math.nan, math.nan) if signal else (0.0, 1.0)
    else:
        statistic = signal / noise
        pvalue = float(fdtrc(10, 5, statistic))
    mean = without_rounding(float(d.mean()))
    reach = reach_of_f(scores_a, scores_b, float(fdtri(10, 5, 1 - alpha)))
    return TestResult(
        name="5×2 cv F",
        statistic=statistic,
        pvalue=pvalue,
        df=5.0,
        mean_difference=mean,
        interval=(mean - reach, mean + reach),
        n=10,
        alpha=float(alpha),
        assumptions=(
            "The ten differences are treated as independent and normal, with one "
            "variance that the five halvings estimate; F has 10 and 5 degrees of "
            "freedom."
        ),
        note=_why_no_interval(d, noise, reach, pvalue),
    )


def _without_variance(d: FloatArray, pvalue: float) -> str:
    """Write why there is no interval where the differences vary in no halving."""
    lacking = (
        "neither an interval nor a p-value" if math.isnan(pvalue) else "no interval"
    )
    value = without_rounding(float(d[0, 0]))
    which = ", though not from halving to halving"
    if np.ptp(d) <= SAME_ACCURACY:
        which = f" ({value:+.4g})" if value else " (0)"
    return (
        f"In each halving the two differences are equal{which}; differences that do "
        "not vary within a halving say nothing about the error of their mean, so "
        f"there is {lacking}."
    )


def _why_no_interval(d: FloatArray, noise: float, reach: float, pvalue: float) -> str:
    if noise == 0:
        return _without_variance(d, pvalue)
    if math.isnan(reach):
        return (
            "The five halvings differ by more than their own variance allows, so the "
            "test rejects every difference, and there is no interval."
        )
    return ""


def reach_of_f(scores_a: ArrayLike, scores_b: ArrayLike, critical: float) -> float:
    """Compute the largest distance from the mean that F does not reject.

    ``sum((d - m)²) = sum((d - mean)²) + 10 (mean - m)²`` is solved for m where F is
    critical; NaN where F rejects even the mean, or where nothing varies.
    """
    d, spread = _read_halvings(scores_a, scores_b)
    noise = 2 * float(spread.sum())
    largest = noise * critical if noise else math.nan
    squared = largest - float(((d - d.mean()) ** 2).sum())
    return math.sqrt(squared / 10) if squared >= 0 else math.nan


def _read_halvings(
    scores_a: ArrayLike, scores_b: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return the differences as (5, 2), and the sum of squares in each halving."""
    d = paired_differences(scores_a, scores_b)
    shape = np.shape(scores_a)
    if d.size != 10 or (len(shape) == 2 and shape != (5, 2)):
        raise InputError(
            f"The 5×2 cv tests take 10 scores of each side, two halves of five "
            f"halvings; these have shape {shape}. Use cv='5x2', which is "
            "RepeatedKFold(n_splits=2, n_repeats=5)."
        )
    d = d.reshape(5, 2)
    gap = d - d.mean(axis=1, keepdims=True)
    gap[np.abs(gap) <= SAME_ACCURACY] = 0.0
    return d, (gap**2).sum(axis=1)

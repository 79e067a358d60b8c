"""The Bayesian correlated t-test: the probability that one side is better."""

from __future__ import annotations

import math
from dataclasses import replace

from numpy.typing import ArrayLike
from scipy.special import stdtr

from veridical._core.errors import InputError
from veridical.comparison.records import TestResult
from veridical.comparison.significance import (
    check_alpha,
    mean_size,
    over_leading_axes,
    paired_differences,
    t_test,
    variance,
)


@over_leading_axes(2)
def bayesian_correlated_t(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    n_train: ArrayLike,
    n_test: ArrayLike,
    rope: float = 0.01,
    alpha: float = 0.05,
) -> TestResult:
    """Compute posterior probabilities that a is better, that b is, or neither.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_splits,) or (..., n_repeats, n_folds)
        Scores of the two sides on the same splits of one data set. Leading axes count
        tests.
    n_train, n_test : int or array-like of the shape of one test
        Samples in the training and test sets.
    rope : float, default=0.01
        Region of practical equivalence: true differences up to this, in either
        direction, count as none. One point of accuracy by default.
    alpha : float, default=0.05
        A side wins where its probability exceeds ``1 - alpha``.

    Returns
    -------
    TestResult
        With ``probabilities`` of "a", "rope" and "b". ``interval`` holds the true
        difference with probability ``1 - alpha``. ``pvalue`` is twice the smaller
        probability of the two signs, and equals that of `corrected_resampled_t`.

    Notes
    -----
    With a flat prior the posterior of the true difference is Student's t with ``J - 1``
    degrees of freedom around the mean of the differences, with variance
    ``(1/J + n_test/n_train) s²`` [1]_ [2]_: a correlation of ``n_test / n`` between
    splits, as Nadeau and Bengio propose. Without any variance there is no posterior:
    probabilities and interval are NaN, and neither side wins.

    References
    ----------
    .. [1] G. Corani & A. Benavoli, "A Bayesian approach for comparing cross-validated
       algorithms on multiple data sets", Machine Learning 100 (2015).
    .. [2] A. Benavoli, G. Corani, J. Demšar & M. Zaffalon, "Time for a change: a
       tutorial for comparing multiple classifiers through Bayesian analysis", Journal
       of Machine Learning Research 18(77) (2017).

    Examples
    --------
    >>> from veridical.comparison import bayesian_correlated_t
    >>> a, b = [0.9, 0.8, 0.9, 0.7], [0.8, 0.8, 0.7, 0.6]
    >>> result = bayesian_correlated_t(a, b, n_train=75, n_test=25)
    >>> {who: round(share, 3) for who, share in result.probabilities.items()}
    {'a': 0.878, 'rope': 0.034, 'b': 0.088}
    """
    check_alpha(alpha)
    if not (isinstance(rope, (int, float)) and 0 <= rope < 1):
        raise InputError(
            f"rope must be a difference of accuracies from 0 to 1, got {rope!r}; 0.01 "
            "is one point."
        )
    d = paired_differences(scores_a, scores_b)
    ratio = mean_size(n_test, d.size, "n_test") / mean_size(n_train, d.size, "n_train")
    factor, df = 1 / d.size + ratio, d.size - 1
    assumptions = (
        "A flat prior, normal differences, and the correlation between splits that "
        f"Nadeau and Bengio assume; differences up to {100 * rope:g} percentage points "
        "count as equal. A side wins with a posterior probability above "
        f"{100 * (1 - alpha):g} %."
    )
    found = t_test("Bayesian correlated t", d, factor, df, alpha, assumptions)
    mean, error = found.mean_difference, math.sqrt(factor * variance(d))
    better_a = _probability_above(mean, error, df, rope)
    better_b = _probability_above(-mean, error, df, rope)
    rest = max(1 - better_a - better_b, 0.0)
    probabilities = {"a": better_a, "rope": rest, "b": better_b}
    return replace(found, rope=float(rope), probabilities=probabilities)


def _probability_above(mean: float, error: float, df: float, rope: float) -> float:
    """Compute the posterior probability of a difference above the rope."""
    if error == 0:
        return math.nan
    return float(stdtr(df, (mean - rope) / error))

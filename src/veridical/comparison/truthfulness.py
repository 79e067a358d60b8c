"""IN and OUT against TRUTH: which is right more often, and the bias of each."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from veridical._core.errors import InputError
from veridical.comparison.records import Bias, TestResult, Truthfulness
from veridical.comparison.significance import (
    SAME_ACCURACY,
    as_number,
    check_alpha,
    over_leading_axes,
    paired_differences,
    read_scores,
    t_and_p,
    t_reach,
    variance,
    without_rounding,
)
from veridical.kernels.statistics import clopper_pearson_bounds


@over_leading_axes(1)
def binomial_truthfulness(
    only_in: int | ArrayLike,
    only_out: int | ArrayLike,
    *,
    both_right: int = 0,
    both_wrong: int = 0,
    alpha: float = 0.05,
) -> Truthfulness:
    """Test which of IN and OUT finds the true verdict more often, by a binomial test.

    Parameters
    ----------
    only_in, only_out : int, or array-like of bool of shape (..., n_sets)
        Data sets on which only IN, only OUT, reached the true verdict. Or, for every
        data set, whether IN and whether OUT reached it, from which all is counted.
        Leading axes count tests.
    both_right, both_wrong : int, default=0
        The other data sets, which are recorded but not tested; counted where bool
        arrays are given.
    alpha : float, default=0.05
        A method is better where the one-tail p-value is below ``alpha / 2``.

    Returns
    -------
    Truthfulness
        With the one-tail ``pvalue`` and ``better``: "in", "out" or "same".
        ``statistic`` is the smaller count, ``n`` the sum of both, ``mean_difference``
        how much more often IN is right, as a share of all data sets; ``interval`` holds
        what the test does not reject (Clopper and Pearson's, given ``n``).

    References
    ----------
    .. [1] P. Refaeilzadeh, L. Tang & H. Liu, "On comparison of feature selection
       algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II (2007).

    Examples
    --------
    >>> from veridical.comparison import binomial_truthfulness
    >>> result = binomial_truthfulness(6, 0)
    >>> result.pvalue, result.better
    (0.015625, 'in')
    >>> binomial_truthfulness([True, True, False], [False, True, True]).pvalue
    0.75
    """
    check_alpha(alpha)
    if np.ndim(only_in) or np.ndim(only_out):
        only_in, only_out, both_right, both_wrong = _count_right(only_in, only_out)
    a, b = _read_count(only_in, "only_in"), _read_count(only_out, "only_out")
    both = _read_count(both_right, "both_right")
    none = _read_count(both_wrong, "both_wrong")
    n, n_sets = a + b, a + b + both + none
    # Exact in integers; one division at the end, correctly rounded.
    pvalue = sum(math.comb(n, k) for k in range(min(a, b) + 1)) / 2**n
    better: Literal["in", "out", "same"] = "same"
    if pvalue < alpha / 2:
        better = "in" if a > b else "out"
    scale = n / n_sets if n_sets else 1.0
    low, high = clopper_pearson_bounds(a, b, alpha / 2)
    return Truthfulness(
        name="binomial",
        statistic=float(min(a, b)),
        pvalue=pvalue,
        df=math.nan,
        mean_difference=(a - b) / n_sets if n_sets else 0.0,
        interval=(
            without_rounding((2 * low - 1) * scale),
            without_rounding((2 * high - 1) * scale),
        ),
        n=n,
        alpha=float(alpha),
        assumptions=(
            "The data sets are independent draws. Exact, on those where one method "
            "alone was right; the p-value is that of one tail, and is significant "
            "below alpha / 2."
        ),
        only_in=a,
        only_out=b,
        both_right=both,
        both_wrong=none,
        better=better,
    )


def sign_test(
    scores_a: ArrayLike, scores_b: ArrayLike, *, alpha: float = 0.05
) -> TestResult:
    """Apply the two-sided sign test to paired scores; equal scores do not count.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n,) or (..., n_repeats, n_folds)
        Scores of the two sides, paired: same data set. Leading axes count tests.
    alpha : float, default=0.05
        Significance level.

    Returns
    -------
    TestResult
        ``statistic`` is how often a is better, ``n`` how often the sides differ,
        ``estimate`` how much more often a is better than b, as a share of all pairs.
        ``interval`` holds the values of `estimate` that the test does not reject, given
        ``n``; on one test set, where ``n`` varies with samples, `compare` has Bonett
        and Price's instead.

    See Also
    --------
    binomial_truthfulness : The same test with one tail, for IN and OUT.

    Examples
    --------
    >>> from veridical.comparison import sign_test
    >>> result = sign_test([5, 6, 7, 8, 9, 3], [4, 5, 6, 7, 8, 3])
    >>> result.statistic, result.n, result.pvalue
    (5.0, 5, 0.0625)
    """
    d = paired_differences(scores_a, scores_b)
    better, worse = d > SAME_ACCURACY, d < -SAME_ACCURACY
    counted = binomial_truthfulness(better, worse, alpha=alpha)
    return TestResult(
        name="sign",
        statistic=as_number(better.sum(axis=-1).astype(np.float64)),
        pvalue=as_number(np.minimum(1.0, 2 * np.asarray(counted.pvalue))),
        df=math.nan,
        mean_difference=without_rounding(d.mean(axis=-1)),
        interval=counted.interval,
        n=counted.n,
        alpha=float(alpha),
        assumptions="The pairs are independent. Exact, on those that differ.",
        estimate=counted.mean_difference,
    )


def welch_bias(
    fold_scores: ArrayLike, truth_scores: ArrayLike, alpha: float = 0.05
) -> Bias:
    """Test the bias of the fold accuracies of one data set against the truth.

    Parameters
    ----------
    fold_scores : array-like of shape (n_folds,) or (..., n_repeats, n_folds)
        Accuracies of IN or OUT on the folds of one data set. Leading axes count tests.
    truth_scores : array-like of shape (n_sets,) or (..., 1, n_sets)
        TRUTH accuracies of the same selector over many data sets. Leading axes are
        those of `fold_scores`, or 1.
    alpha : float, default=0.05
        A difference that is not significant at this level counts as no bias.

    Returns
    -------
    Bias
        ``value`` (0 where not significant), the plain ``difference``, the p-value. If
        neither side varies, the interval is NaN and so is the p-value, or 1 if the
        means are equal.

    References
    ----------
    .. [1] B. L. Welch, "The generalization of 'Student's' problem when several
       different population variances are involved", Biometrika 34 (1947).

    Examples
    --------
    >>> from veridical.comparison import welch_bias
    >>> bias = welch_bias([0.9, 0.8, 1.0], [0.70, 0.72, 0.68, 0.70])
    >>> round(bias.difference, 3), bias.value, round(bias.pvalue, 3)
    (0.2, 0.0, 0.071)
    """
    check_alpha(alpha)
    folds = read_scores(fold_scores, "fold_scores")
    truths = read_scores(truth_scores, "truth_scores")
    difference = without_rounding(folds.mean(axis=-1) - truths.mean(axis=-1))
    n, m = folds.shape[-1], truths.shape[-1]
    own, true = variance(folds) / n, variance(truths) / m
    total = np.add(own, true)
    # If one side is constant, the degrees of freedom are those of the other; if both
    # are, there is nothing to estimate and any value will do.
    with np.errstate(invalid="ignore"):
        df = np.divide(total**2, own**2 / (n - 1) + np.divide(true**2, m - 1))
    df = as_number(np.where(total > 0, df, n + m - 2))
    error = np.sqrt(total)
    statistic, pvalue = t_and_p(difference, error, df)
    reach = t_reach(error, df, alpha)
    return Bias(
        name="Welch",
        statistic=statistic,
        pvalue=pvalue,
        df=df,
        mean_difference=difference,
        interval=(difference - reach, difference + reach),
        n=n + m,
        alpha=float(alpha),
        assumptions=(
            "Both samples are independent and normal, with variances of their own; "
            "the folds of one cross-validation are not independent."
        ),
        value=as_number(np.where(np.less(pvalue, alpha), difference, 0.0)),
    )


# -- parts ---------------------------------------------------------------------------


def _count_right(right_in: Any, right_out: Any) -> tuple[int, int, int, int]:
    """Count the data sets where only IN, only OUT, both, neither was right."""
    pair = np.asarray(right_in), np.asarray(right_out)
    if pair[0].ndim != 1 or pair[0].shape != pair[1].shape:
        raise InputError(
            "only_in and only_out must be two counts of data sets, or two rows of "
            "True and False, one per data set; they have shapes "
            f"{pair[0].shape} and {pair[1].shape}."
        )
    if not all(row.dtype.kind in "biuf" and np.isin(row, (0, 1)).all() for row in pair):
        raise InputError(
            "Rows for only_in and only_out must say of each data set whether the "
            "method reached the true verdict, True or False (1 or 0)."
        )
    a, b = (row.astype(bool) for row in pair)
    n, n_in, n_out, both = len(a), int(a.sum()), int(b.sum()), int((a & b).sum())
    return n_in - both, n_out - both, both, n - n_in - n_out + both


def _read_count(count: Any, name: str) -> int:
    """Check and return a number of data sets."""
    try:
        whole = -1 if isinstance(count, (bool, np.bool_)) else int(count)
    except (TypeError, ValueError, OverflowError):
        whole = -1
    if whole < 0 or whole != count:
        raise InputError(
            f"{name} must be a count of data sets (0, 1, 2, ...), got {count!r}."
        )
    return whole

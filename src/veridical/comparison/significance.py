"""Significance tests on paired accuracies.

| symbol | meaning                                                   |
|--------|-----------------------------------------------------------|
| d      | differences of paired scores, positive where ``a`` leads  |
| J      | number of differences                                     |
| s²     | their variance, with J − 1 in the denominator             |
| n1, n2 | samples in a training and in a test set                   |

`veridical.comparison.testing` passes what a test must know of the resampling, from a
`Geometry` that the splits fill in.

Scores of one test are a row (n,), or a table (n_repeats, n_folds), whose repeats follow
one another. Axes before these two count tests: scores of shape (..., n_repeats,
n_folds) give a result whose numbers are arrays of shape (...).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical.comparison.records import TestResult

#: Difference of accuracies; below it they are equal. Accuracies are fractions of small
#: counts, so that smaller differences are rounding.
SAME_ACCURACY = 1e-12


@dataclass(frozen=True)
class Geometry:
    """How the scores of a comparison were resampled.

    Parameters
    ----------
    n_train, n_test : tuple of int
        Samples in the training and test set of each split, in the order of the scores.
    n_repeats, n_folds : int
        How the splits are arranged; their product is the number of splits.
    partitions : bool
        Whether every repeat tests every sample exactly once, as folds do and random
        subsampling does not.
    """

    n_train: tuple[int, ...]
    n_test: tuple[int, ...]
    n_repeats: int
    n_folds: int
    partitions: bool = True

    @property
    def shape(self) -> tuple[int, int] | None:
        """Repeats and folds; None where the test sets are no folds."""
        return (self.n_repeats, self.n_folds) if self.partitions else None


def paired_t(
    scores_a: ArrayLike, scores_b: ArrayLike, *, alpha: float = 0.05
) -> TestResult:
    """Apply Student's t-test to paired scores.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n,) or (..., n_repeats, n_folds)
        Scores of the two sides, paired: same fold or same data set. Leading axes count
        tests.
    alpha : float, default=0.05
        Significance level; the interval has confidence ``1 - alpha``.

    Returns
    -------
    TestResult
        Two-sided, with ``n - 1`` degrees of freedom.

    See Also
    --------
    corrected_resampled_t : For the folds of a cross-validation.

    Notes
    -----
    On the folds of one cross-validation the differences are not independent, because
    training sets overlap, and the test rejects too often. It is right for scores from
    independent data sets. Differences that are all equal have no variance, which says
    nothing about the error of their mean: the interval is NaN, and the p-value is 1 if
    they are zero and NaN if they are not.

    References
    ----------
    .. [1] P. Refaeilzadeh, L. Tang & H. Liu, "On comparison of feature selection
       algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II (2007).

    Examples
    --------
    >>> from veridical.comparison import paired_t
    >>> result = paired_t([0.9, 0.8, 0.9, 0.7], [0.8, 0.8, 0.7, 0.6])
    >>> round(result.statistic, 4), round(result.pvalue, 4), result.winner
    (2.4495, 0.0917, 'draw')
    """
    d = paired_differences(scores_a, scores_b)
    assumptions = (
        "The differences are independent and normal. Differences over the folds of one "
        "cross-validation are not independent, so there this test rejects too often."
    )
    n = d.shape[-1]
    return t_test("paired t", d, 1 / n, n - 1, alpha, assumptions)


def corrected_resampled_t(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    n_train: ArrayLike,
    n_test: ArrayLike,
    alpha: float = 0.05,
) -> TestResult:
    """Apply Nadeau and Bengio's t-test, for overlapping training sets.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_splits,) or (..., n_repeats, n_folds)
        Scores of the two sides on the same splits of one data set. Leading axes count
        tests.
    n_train, n_test : int or array-like of the shape of one test
        Samples in the training and test sets. Where they differ between splits their
        means are used, which for k folds gives ``n_test / n_train = 1 / (k - 1)``.
    alpha : float, default=0.05
        Significance level; the interval has confidence ``1 - alpha``.

    Returns
    -------
    TestResult
        Two-sided, with ``n_splits - 1`` degrees of freedom.

    See Also
    --------
    paired_t : For scores from independent data sets.

    Notes
    -----
    ``t = mean(d) / sqrt((1/J + n_test/n_train) s²)``: the second term is for the
    correlation between splits, which the sample variance does not show [1]_. For
    differences that are all equal see `paired_t`.

    References
    ----------
    .. [1] C. Nadeau & Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003).

    Examples
    --------
    >>> from veridical.comparison import corrected_resampled_t
    >>> a, b = [0.9, 0.8, 0.9, 0.7], [0.8, 0.8, 0.7, 0.6]
    >>> result = corrected_resampled_t(a, b, n_train=75, n_test=25)
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (1.6036, 0.2071)
    """
    d = paired_differences(scores_a, scores_b)
    n = d.shape[-1]
    ratio = mean_size(n_test, n, "n_test") / mean_size(n_train, n, "n_train")
    assumptions = (
        "The differences are normally distributed, and the correlation of two splits "
        "is the share of the data that each tests, an approximation (Nadeau & Bengio)."
    )
    return t_test("corrected resampled t", d, 1 / n + ratio, n - 1, alpha, assumptions)


def conservative_z(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    halves_a: ArrayLike,
    halves_b: ArrayLike,
    alpha: float = 0.05,
) -> TestResult:
    """Apply Nadeau and Bengio's conservative z-test.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_splits,) or (..., n_repeats, n_folds)
        Scores of the two sides on the same splits of all samples. Leading axes count
        tests.
    halves_a, halves_b : array-like of shape (n_pairs, 2) or (..., n_pairs, 2)
        Mean scores of the two sides on two disjoint halves of the samples, each from as
        many splits as above, of half the training size; for several ways to divide the
        samples into halves. Leading axes are those of the scores.
    alpha : float, default=0.05
        Significance level; the interval has confidence ``1 - alpha``.

    Returns
    -------
    TestResult
        Two-sided, by the normal distribution.

    See Also
    --------
    corrected_resampled_t : Needs no halves; less conservative.

    Notes
    -----
    The two halves of a pair have no sample in common, so half the mean squared
    difference of their results estimates the variance of a result on half the samples
    without the bias of overlapping training sets. It is larger than that on all
    samples, which makes the test conservative [1]_.

    References
    ----------
    .. [1] C. Nadeau & Y. Bengio, "Inference for the generalization error", Machine
       Learning 52 (2003).

    Examples
    --------
    >>> from veridical.comparison import conservative_z
    >>> found = conservative_z(
    ...     [0.9, 0.8, 0.9], [0.8, 0.8, 0.7],
    ...     halves_a=[[0.8, 0.9], [0.9, 0.8]], halves_b=[[0.7, 0.7], [0.8, 0.6]],
    ... )
    >>> round(found.statistic, 3), round(found.pvalue, 3)
    (1.414, 0.157)
    """
    check_alpha(alpha)
    d = paired_differences(scores_a, scores_b)
    apart = np.asarray(halves_a, float) - np.asarray(halves_b, float)
    if apart.ndim < 2 or apart.shape[-1] != 2 or apart.shape[:-2] != d.shape[:-1]:
        raise InputError(
            "halves_a and halves_b must have shape (n_pairs, 2) for every test; got "
            f"{apart.shape}, and scores of {d.shape[:-1] or 'one test'}."
        )
    mean = without_rounding(d.mean(axis=-1))
    error = np.sqrt(np.mean((apart[..., 0] - apart[..., 1]) ** 2, axis=-1) / 2)
    same = not np.ndim(mean) and not error > 0
    return t_result(
        "conservative z",
        mean,
        error,
        math.inf,
        alpha,
        n=d.shape[-1],
        assumptions="The mean difference is normal; its variance is that of half the "
        "samples, which is too large and makes the test conservative.",
        note="The halves do not differ, so there is no interval." if same else "",
    )


def repeated_cv_t(
    scores_a: ArrayLike, scores_b: ArrayLike, *, df: float = 10, alpha: float = 0.05
) -> TestResult:
    """Apply Bouckaert's t-test to all folds of a repeated cross-validation.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n,) or (..., n_repeats, n_folds)
        Scores of the two sides on the same folds, 100 of each for 10 repeats of 10.
        Leading axes count tests.
    df : float, default=10
        Degrees of freedom; 10 is what Bouckaert found for 10 repeats of 10 folds.
    alpha : float, default=0.05
        Significance level; the interval has confidence ``1 - alpha``.

    Returns
    -------
    TestResult
        Two-sided.

    Notes
    -----
    ``t = mean(d) sqrt(n) / s``, as in `paired_t` but with fewer degrees of freedom
    [1]_; the form is that of Weka. The folds are correlated, which the variance does
    not show, and fewer degrees of freedom do not correct that: on the exact null of
    `calibrate` the test rejects about as often as the paired t-test, in the table of
    measured sizes in 30 to 60 %. Use it calibrated.

    References
    ----------
    .. [1] R. R. Bouckaert, "Choosing between two learning algorithms based on
       calibrated tests", ICML (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from veridical.comparison import repeated_cv_t
    >>> a = np.resize([0.9, 0.8, 0.9, 0.7], 100)
    >>> b = np.resize([0.8, 0.8, 0.9, 0.7, 0.8], 100)
    >>> result = repeated_cv_t(a, b)
    >>> round(result.statistic, 4), result.df
    (2.3853, 10.0)
    """
    if not df > 0:
        raise InputError(f"df must be positive, got {df!r}.")
    d = paired_differences(scores_a, scores_b)
    n = d.shape[-1]
    assumptions = (
        f"All {n} folds count as independent, and {df:g} degrees of freedom "
        "stand for their dependence, which is not enough: uncalibrated, this test "
        "rejects far too often."
    )
    return t_test("repeated cv t", d, 1 / n, df, alpha, assumptions)


def sorted_runs_t(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    n_repeats: int | None = None,
    alpha: float = 0.05,
) -> TestResult:
    """Apply Bouckaert's t-test to the averages of sorted runs.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (..., n_repeats, n_folds) or (n,)
        Scores of the two sides on the same folds of a repeated cross-validation.
        Leading axes count tests.
    n_repeats : int, optional
        Number of repeats (runs), where the scores are one row, run after run.
    alpha : float, default=0.05
        Significance level; the interval has confidence ``1 - alpha``.

    Returns
    -------
    TestResult
        Two-sided, with ``n_folds - 1`` degrees of freedom; ``n`` is ``n_folds``.

    Notes
    -----
    The differences are sorted inside each run and the j-th smallest averaged over the
    runs; an ordinary t-test is applied to the resulting ``n_folds`` numbers [1]_. Their
    mean is that of all differences.

    References
    ----------
    .. [1] R. R. Bouckaert, "Estimating replicability of classifier learning
       experiments", ICML (2004).

    Examples
    --------
    >>> from veridical.comparison import sorted_runs_t
    >>> a = [[0.9, 0.8, 0.7], [0.8, 0.8, 0.9]]
    >>> b = [[0.8, 0.8, 0.8], [0.6, 0.8, 0.8]]
    >>> result = sorted_runs_t(a, b)
    >>> round(result.statistic, 4), round(result.pvalue, 4)
    (0.866, 0.4778)
    """
    d = paired_differences(scores_a, scores_b)
    if n_repeats is None:
        shape = np.shape(scores_a)
        if len(shape) < 2:
            raise InputError(
                "sorted_runs_t must know the runs; pass scores of shape (n_repeats, "
                "n_folds), or n_repeats."
            )
        n_repeats = shape[-2]
    size = d.shape[-1]
    if n_repeats < 1 or size % n_repeats or size // n_repeats < 2:
        raise InputError(
            f"{size} scores are not {n_repeats} runs of equally many folds, at least "
            "2 in each."
        )
    runs = np.sort(d.reshape(*d.shape[:-1], n_repeats, -1), axis=-1).mean(axis=-2)
    assumptions = (
        "The averages of the sorted differences are treated as independent and normal; "
        "they are neither, and sorting only makes their variance more realistic."
    )
    n = runs.shape[-1]
    return t_test("sorted runs t", runs, 1 / n, n - 1, alpha, assumptions)


# -- parts ---------------------------------------------------------------------------


def t_test(
    name: str, d: FloatArray, factor: float, df: float, alpha: float, assumptions: str
) -> TestResult:
    """Apply a t-test on the last axis, with standard error ``sqrt(factor * s²)``."""
    check_alpha(alpha)
    mean, n = without_rounding(d.mean(axis=-1)), d.shape[-1]
    error = np.sqrt(factor * variance(d))
    note = on_equal(n, mean, error)
    return t_result(
        name, mean, error, df, alpha, n=n, assumptions=assumptions, note=note
    )


def t_result(
    name: str,
    mean: Any,
    error: Any,
    df: float,
    alpha: float,
    *,
    n: int,
    assumptions: str,
    note: str,
) -> TestResult:
    """Test a mean difference by its standard error, with Student's distribution.

    Parameters
    ----------
    name, assumptions, note : str
        As in `TestResult`.
    mean, error : float or array
        The mean difference and its standard error.
    df : float
        Degrees of freedom; infinite for the normal distribution.
    alpha : float
        Significance level.
    n : int
        Number of differences.
    """
    statistic, pvalue = t_and_p(mean, error, df)
    reach = t_reach(error, df, alpha)
    return TestResult(
        name=name,
        statistic=statistic,
        pvalue=pvalue,
        df=float(df),
        mean_difference=mean,
        interval=(mean - reach, mean + reach),
        n=n,
        alpha=float(alpha),
        assumptions=assumptions,
        note=note,
    )


def t_and_p(mean: Any, error: Any, df: Any) -> tuple[Any, Any]:
    """Compute Student's t and its two-sided p-value.

    Without any variance there is no p-value: both are NaN, unless the mean is 0, where
    t is 0 and p is 1.
    """
    known = np.greater(error, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(known, np.divide(mean, error), np.nan)
    statistic = np.where(np.equal(mean, 0), 0.0, ratio)
    pvalue = 2 * stdtr(df, -np.abs(statistic))
    return as_number(statistic), as_number(pvalue)


def t_reach(error: Any, df: Any, alpha: float) -> Any:
    """Compute half the width of a t interval; NaN where there is no variance."""
    reach = stdtrit(df, 1 - alpha / 2) * np.asarray(error)
    return as_number(np.where(np.greater(error, 0), reach, np.nan))


def on_equal(n: int, mean: Any, error: Any) -> str:
    """Write why a test without variance has no interval; nothing for many tests.

    Examples
    --------
    >>> on_equal(10, 0.1, 0.0)[:36]
    'All 10 differences are equal (+0.1);'
    """
    if np.ndim(mean) or error > 0:
        return ""
    lacking = "no interval" if mean == 0 else "neither an interval nor a p-value"
    value = f"{mean:+.4g}" if mean else "0"
    return (
        f"All {n} differences are equal ({value}); differences that do not vary say "
        f"nothing about the error of their mean, so there is {lacking}."
    )


def variance(values: FloatArray) -> Any:
    """Compute the variance along the last axis; 0 for values equal up to rounding."""
    varied = np.ptp(values, axis=-1) > SAME_ACCURACY
    return as_number(np.where(varied, values.var(axis=-1, ddof=1), 0.0))


def without_rounding(value: Any) -> Any:
    """Replace values that differ from 0 by rounding only by 0."""
    return as_number(np.where(np.abs(value) > SAME_ACCURACY, value, 0.0))


def as_number(value: Any) -> Any:
    """Return the result of one test as a number, that of several as an array."""
    return value if np.ndim(value) else float(value)


P = ParamSpec("P")
T = TypeVar("T", bound=TestResult)


def over_leading_axes(n_axes: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Extend a test of two arrays of scores to many pairs of arrays.

    Parameters
    ----------
    n_axes : int
        Largest number of axes of the scores of one test; axes before these count tests.
    """

    def decorate(test: Callable[P, T]) -> Callable[P, T]:
        parameters = signature(test)
        first, second = tuple(parameters.parameters)[:2]

        @wraps(test)
        def many(*args: P.args, **kwargs: P.kwargs) -> T:
            given = parameters.bind(*args, **kwargs)
            a, b = (given.arguments[name] for name in (first, second))
            if max(np.ndim(a), np.ndim(b)) <= n_axes:
                return test(*args, **kwargs)
            a, b = np.asarray(a), np.asarray(b)
            if a.shape != b.shape:
                raise InputError(
                    f"{first} and {second} have shapes {a.shape} and {b.shape}; paired "
                    "scores come in equal numbers."
                )
            results = []
            for place in np.ndindex(a.shape[:-n_axes]):
                given.arguments |= {first: a[place], second: b[place]}
                results.append(test(*given.args, **given.kwargs))
            return _join_results(results, a.shape[:-n_axes])

        return many

    return decorate


def _join_results(results: list[T], shape: tuple[int, ...]) -> T:
    """Combine many results into one, whose numbers are arrays."""
    changed: dict[str, Any] = {}
    for field in fields(results[0]):
        values = [getattr(one, field.name) for one in results]
        if field.name == "interval":
            low, high = np.array(values).T
            changed[field.name] = low.reshape(shape), high.reshape(shape)
        elif field.name == "probabilities" and values[0] is not None:
            changed[field.name] = {
                side: np.array([one[side] for one in values]).reshape(shape)
                for side in values[0]
            }
        elif field.name in _EACH or (field.name == "n" and len(set(values)) > 1):
            if values[0] is not None:
                changed[field.name] = np.array(values).reshape(shape)
        elif field.name == "note" and len(set(values)) > 1:
            changed[field.name] = ""  # it holds for some of the tests only
    return replace(results[0], **changed)


#: Fields of a result that differ from test to test.
_EACH = (
    "statistic", "pvalue", "mean_difference", "estimate", "better",
    "only_in", "only_out", "both_right", "both_wrong",
)  # fmt: skip


def paired_differences(scores_a: ArrayLike, scores_b: ArrayLike) -> FloatArray:
    """Check the scores of both sides and subtract them, repeat after repeat."""
    a, b = read_scores(scores_a, "scores_a"), read_scores(scores_b, "scores_b")
    shapes = np.shape(scores_a), np.shape(scores_b)
    if min(map(len, shapes)) >= 2 and shapes[0] != shapes[1]:
        raise InputError(
            f"scores_a has shape {shapes[0]} and scores_b has {shapes[1]}; paired "
            "scores come from the same repeats and folds."
        )
    if a.size != b.size:
        raise InputError(
            f"scores_a has {a.size} values and scores_b has {b.size}; paired scores "
            "come in equal numbers, one of each per fold or data set."
        )
    return a - b


def read_scores(values: ArrayLike, name: str) -> FloatArray:
    """Check scores: at least two numbers per test, none missing.

    The axes of repeats and folds become one, repeat after repeat; axes before these
    two stay.
    """
    try:
        scores = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, one per fold or data set.") from None
    if not scores.ndim:
        raise InputError(
            f"{name} must hold one value per fold or data set, in a row or in a table "
            f"of repeats and folds; it has shape {scores.shape}."
        )
    scores = scores.reshape(*scores.shape[:-2], -1)
    if scores.shape[-1] < 2:
        raise InputError(
            f"{name} has {scores.shape[-1]} value(s), but a variance needs at least 2; "
            "use more folds or data sets."
        )
    if not np.isfinite(scores).all():
        where = int(np.flatnonzero(~np.isfinite(scores))[0])
        raise InputError(
            f"{name} holds {scores.ravel()[where]} at position {where}; remove that "
            "fold from both sides or find out why it has no score."
        )
    return scores


def mean_size(sizes: ArrayLike, n_splits: int, name: str) -> float:
    """Check sizes of training or test sets, and average them."""
    array = np.asarray(sizes, dtype=np.float64)
    if array.ndim > 2 or (array.ndim and array.size != n_splits):
        raise InputError(
            f"{name} must be one number or one per split ({n_splits}); it has shape "
            f"{array.shape}."
        )
    if not (np.isfinite(array).all() and (array > 0).all()):
        raise InputError(f"{name} must be positive numbers of samples, got {sizes!r}.")
    return float(array.mean())


def check_alpha(alpha: float) -> None:
    """Raise if a significance level is not between 0 and 1."""
    if not (isinstance(alpha, (int, float)) and 0 < alpha < 1):
        raise InputError(
            f"alpha must lie between 0 and 1, got {alpha!r}; 0.05 is usual."
        )

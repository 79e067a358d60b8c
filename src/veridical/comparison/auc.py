"""DeLong's test of two areas under ROC curves on one test set.

| symbol | meaning                                                          | shape  |
|--------|------------------------------------------------------------------|--------|
| m, n   | number of positive and of negative samples                       |        |
| V10    | share of negatives below each positive sample, ties count ½      | (…, m) |
| V01    | share of positives above each negative sample, ties count ½      | (…, n) |
| S10    | covariance of V10 of the two sides over positives; S01 likewise  | (…, 2) |

The area is the mean of V10, and its variance is S10/m + S01/n. Midranks give all V in
O((m + n) log(m + n)) (Sun & Xu 2014).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical.comparison.records import TestResult
from veridical.comparison.significance import (
    as_number,
    check_alpha,
    t_result,
    without_rounding,
)


def delong(
    y: ArrayLike,
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    *,
    alpha: float = 0.05,
    positive: Any = None,
) -> TestResult:
    """Test whether two areas under ROC curves differ, on the same test samples.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Classes of the test samples, of two kinds.
    scores_a, scores_b : array-like of shape (..., n_samples)
        Decision values or probabilities of the positive class by two models that were
        fitted on other samples. Leading axes count tests.
    alpha : float, default=0.05
        Significance level; the interval has confidence ``1 - alpha``.
    positive : object, optional
        The positive class; by default the last of the sorted classes.

    Returns
    -------
    TestResult
        Two-sided, by the normal distribution; ``mean_difference`` is the area of ``a``
        minus that of ``b``, ``n`` the number of samples.

    Raises
    ------
    InputError
        If there are not two classes, or fewer than two samples of one.

    See Also
    --------
    corrected_resampled_t : For areas on the folds of a cross-validation.

    Notes
    -----
    The models are taken as given: the test is about these two models on new samples,
    not about the procedures that made them [1]_. Midranks make it O(n log n) [2]_.
    Where no sample is ranked differently, the variance is 0, and there is neither an
    interval nor a p-value unless the areas are equal.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong & D. L. Clarke-Pearson, "Comparing the areas under
       two or more correlated receiver operating characteristic curves", Biometrics 44
       (1988).
    .. [2] X. Sun & W. Xu, "Fast implementation of DeLong's algorithm for comparing the
       areas under correlated receiver operating characteristic curves", IEEE Signal
       Processing Letters 21 (2014).

    Examples
    --------
    >>> from veridical.comparison import delong
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> found = delong(y, [1, 2, 3, 6, 4, 5, 7, 8], [4, 1, 7, 6, 2, 5, 3, 8])
    >>> found.mean_difference, round(found.pvalue, 3)
    (0.375, 0.1)
    """
    check_alpha(alpha)
    is_positive, first, second = _read_outputs(y, scores_a, scores_b, positive)
    n_positive = int(is_positive.sum())
    n_negative = is_positive.size - n_positive
    sides = (_placements(scores, is_positive) for scores in (first, second))
    above, below = (one - other for one, other in zip(*sides, strict=True))
    # The variance of a difference is that of the differences of placements.
    gap = without_rounding(above.mean(axis=-1))
    variance = above.var(axis=-1, ddof=1) / n_positive
    error = np.sqrt(variance + below.var(axis=-1, ddof=1) / n_negative)
    alike = not np.ndim(gap) and not error > 0
    found = t_result(
        "DeLong",
        gap,
        error,
        math.inf,
        alpha,
        n=is_positive.size,
        assumptions="The test samples are independent, took no part in fitting, and "
        "are many enough for the areas to be normal.",
        note="Both sides rank the samples alike, so that the difference has no "
        "variance and there is no interval."
        if alike
        else "",
    )
    low, high = found.interval
    within = as_number(np.maximum(low, -1.0)), as_number(np.minimum(high, 1.0))
    return replace(found, interval=within)


def _read_outputs(
    y: ArrayLike, scores_a: ArrayLike, scores_b: ArrayLike, positive: Any
) -> tuple[NDArray[np.bool_], FloatArray, FloatArray]:
    labels = np.asarray(y)
    classes = np.unique(labels)
    if len(classes) != 2:
        raise InputError(
            f"y holds {len(classes)} class(es), but an area under the ROC curve needs "
            "two; for more classes test one against the rest."
        )
    named = classes[-1] if positive is None else positive
    if named not in classes.tolist():
        raise InputError(f"positive={positive!r} is not a class of y.")
    is_positive = labels == named
    first, second = np.asarray(scores_a, float), np.asarray(scores_b, float)
    if first.shape != second.shape or first.shape[-1:] != labels.shape:
        raise InputError(
            f"scores_a and scores_b must have one value per sample ({labels.size}) and "
            f"the same shape, got {first.shape} and {second.shape}."
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise InputError("scores_a and scores_b must be finite numbers.")
    if min(is_positive.sum(), (~is_positive).sum()) < 2:
        raise InputError(
            "DeLong's test needs two samples or more of each class, to know how much "
            "they vary."
        )
    return is_positive, first, second


def _placements(
    values: FloatArray, is_positive: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray]:
    """Compute V10 and V01, by midranks among all and among the own class."""
    everywhere = rankdata(values, axis=-1)
    positives, negatives = values[..., is_positive], values[..., ~is_positive]
    n_positive, n_negative = positives.shape[-1], negatives.shape[-1]
    above = everywhere[..., is_positive] - rankdata(positives, axis=-1)
    below = everywhere[..., ~is_positive] - rankdata(negatives, axis=-1)
    return above / n_negative, 1 - below / n_positive

"""Statistics that several packages need: sums of squares, F, χ², shares, p-values.

| symbol  | meaning                                                | shape      |
|---------|--------------------------------------------------------|------------|
| values  | features                                               | (n, p)     |
| members | weight of each sample in a class, for B sets or orders | K × (B, n) |
| between | Σ (mean of its class − mean)², BSS                     | (B, p)     |
| cells   | whether a sample holds a category, 0 or 1              | (n, q)     |
| owner   | the feature that a category belongs to                 | (q,)       |

The selectors need sums that are exact to the last digit; theirs are in `moments`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.special import betaincinv

from veridical._core.arrays import FloatArray, IntArray

#: Standard errors on either side of a value, for a 95 % interval.
NORMAL_95 = 1.96


def between_classes(
    values: Any, members: Iterable[FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute the sums of squares between classes, and the means.

    Classes are merged one by one (Chan, Golub and LeVeque), so that features far from
    zero lose no digits.

    Parameters
    ----------
    values : array or sparse matrix of shape (n, p)
        The features.
    members : iterable of arrays of shape (B, n)
        For each class, the weight of every sample in every set.

    Returns
    -------
    between : array of shape (B, p)
        The sums of squares.
    mean : array of shape (B, p)
        Means over the classes together.
    weight : array of shape (B, 1)
        Weights of the sets.
    """
    between: Any = 0.0
    mean: Any = 0.0
    weight: Any = 0.0
    for member in members:
        own = member.sum(axis=1, keepdims=True)
        together = weight + own
        share = own / np.where(together > 0, together, 1.0)
        shift = np.asarray(member @ values) / np.where(own > 0, own, 1.0) - mean
        between = between + weight * share * shift**2
        mean = mean + share * shift
        weight = together
    return between, mean, weight


def f_ratio(
    between: FloatArray, within: FloatArray, n_classes: Any, n_samples: Any
) -> FloatArray:
    """Divide the mean squares between and within classes.

    Infinite where nothing varies within the classes, NaN where nothing varies at all.

    Examples
    --------
    >>> f_ratio(np.array([6.0, 1.0, 0.0]), np.array([4.0, 0.0, 0.0]), 2, 6)
    array([ 6., inf, nan])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return between / within * (n_samples - n_classes) / (n_classes - 1)


def chi_squares(
    cells: FloatArray, owner: IntArray, members: Sequence[FloatArray], n_columns: int
) -> tuple[FloatArray, IntArray]:
    """Compute χ² of every feature and the classes.

    Parameters
    ----------
    cells : array of shape (n, q)
        The categories of all features side by side; each holds at least one sample.
    owner : int array of shape (q,)
        The feature of each category.
    members : sequence of arrays of shape (B, n)
        For each class, which samples it has under every order of the labels; each
        class has at least one sample.
    n_columns : int
        Number of features.

    Returns
    -------
    chi2 : array of shape (B, n_columns)
        The statistic.
    df : int array of shape (n_columns,)
        Its degrees of freedom.
    """
    size = cells.sum(axis=0)
    total = np.zeros((len(members[0]), cells.shape[1]))
    for member in members:
        expected = member.sum(axis=1, keepdims=True) * size / len(cells)
        total += (member @ cells - expected) ** 2 / expected
    chi2 = np.zeros((len(total), n_columns))
    np.add.at(chi2.T, owner, total.T)
    df = (np.bincount(owner, minlength=n_columns) - 1) * (len(members) - 1)
    return chi2, df


def benjamini_hochberg(pvalues: FloatArray) -> FloatArray:
    """Adjust p-values for the false discovery rate of independent features.

    The rate also holds for features with positive regression dependence.

    Parameters
    ----------
    pvalues : array of shape (n_features,)
        One p-value per feature.

    Returns
    -------
    array of shape (n_features,)
        The smallest rate at which each feature is claimed.

    See Also
    --------
    veridical.discovery.benjamini_yekutieli : For features of any dependence.

    References
    ----------
    .. [1] Y. Benjamini & Y. Hochberg, "Controlling the false discovery rate", Journal
       of the Royal Statistical Society B 57 (1995).

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.5])).round(3)
    array([0.04 , 0.053, 0.053, 0.5  ])
    """
    n = pvalues.size
    order = np.argsort(pvalues, kind="stable")
    steps = pvalues[order] * n / np.arange(1, n + 1)
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return adjusted


def clopper_pearson_bounds(hits: int, misses: int, tail: float) -> tuple[float, float]:
    """Compute Clopper and Pearson's bounds of a share from counts.

    Parameters
    ----------
    hits, misses : int
        Counts of independent trials.
    tail : float
        Level of the one-tail tests, which reject what lies outside the bounds.

    Examples
    --------
    >>> [round(bound, 3) for bound in clopper_pearson_bounds(20, 0, 0.025)]
    [0.832, 1.0]
    """
    low = float(betaincinv(hits, misses + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, misses, 1 - tail)) if misses else 1.0
    return low, high


def wilson_bounds(share: float, n: float, z: float) -> tuple[float, float]:
    """Compute Wilson's score interval: solve ``|share − a| = z √(a(1 − a)/n)`` for a.

    Parameters
    ----------
    share : float
        Share of hits.
    n : float
        Number of independent trials.
    z : float
        Quantile: how many standard errors the interval reaches to either side.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical
       inference", Journal of the American Statistical Association 22 (1927).

    Examples
    --------
    >>> [round(bound, 3) for bound in wilson_bounds(0.7, 50, 1.96)]
    [0.562, 0.809]
    """
    middle = 2 * n * share + z**2
    reach = z * math.sqrt(4 * n * share * (1 - share) + z**2)
    width = 2 * (n + z**2)
    low, high = (middle - reach) / width, (middle + reach) / width
    return min(max(0.0, low), share), max(min(1.0, high), share)

"""Many hypotheses at once: adjusted p-values, e-values, and the knockoff threshold.

| symbol  | meaning                                                  | shape  |
|---------|----------------------------------------------------------|--------|
| pvalues | one p-value per feature                                  | (p,)   |
| evalues | one e-value per feature: mean at most 1 without effect   | (p,)   |
| W       | importance of a feature minus that of its knockoff       | (p,)   |

An adjusted value is the smallest nominal rate at which the feature would be claimed,
so a feature is claimed where its adjusted value is at most the rate that was asked for.
"""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical.kernels.statistics import benjamini_hochberg

#: Features whose adjusted value exceeds the rate by less than this are claimed too: an
#: adjusted value is a product of numbers that floating point rounds.
RATE_ROUNDING = 1e-12


def benjamini_yekutieli(pvalues: FloatArray) -> FloatArray:
    """Adjust p-values for the false discovery rate under any dependence.

    Parameters
    ----------
    pvalues : array of shape (n_features,)
        One p-value per feature.

    Returns
    -------
    array of shape (n_features,)
        The smallest rate at which each feature is claimed.

    References
    ----------
    .. [1] Y. Benjamini & D. Yekutieli, "The control of the false discovery rate in
       multiple testing under dependency", Annals of Statistics 29 (2001).

    Examples
    --------
    >>> benjamini_yekutieli(np.array([0.01, 0.04, 0.03, 0.5])).round(3)
    array([0.083, 0.111, 0.111, 1.   ])
    """
    harmonic = float((1.0 / np.arange(1, pvalues.size + 1)).sum())
    return np.minimum(benjamini_hochberg(pvalues) * harmonic, 1.0)


def holm(pvalues: FloatArray) -> FloatArray:
    """Adjust p-values for the probability of any false claim, under any dependence.

    Parameters
    ----------
    pvalues : array of shape (n_features,)
        One p-value per feature.

    Returns
    -------
    array of shape (n_features,)
        The smallest rate at which each feature is claimed.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure",
       Scandinavian Journal of Statistics 6 (1979).

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03, 0.5])).round(3)
    array([0.04, 0.09, 0.09, 0.5 ])
    """
    n = pvalues.size
    order = np.argsort(pvalues, kind="stable")
    steps = pvalues[order] * np.arange(n, 0, -1)
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def e_benjamini_hochberg(evalues: FloatArray) -> FloatArray:
    """Adjust e-values for the false discovery rate, under any dependence.

    At rate α the k features with the largest e-values are claimed, for the largest k
    whose k-th e-value is at least ``p / (α k)``.

    Parameters
    ----------
    evalues : array of shape (n_features,)
        One e-value per feature; 0 or more.

    Returns
    -------
    array of shape (n_features,)
        The smallest rate at which each feature is claimed; 1 where there is none.

    References
    ----------
    .. [1] R. Wang & A. Ramdas, "False discovery rate control with e-values", Journal of
       the Royal Statistical Society B 84 (2022).

    Examples
    --------
    >>> e_benjamini_hochberg(np.array([40.0, 0.0, 30.0, 1.0])).round(3)
    array([0.067, 1.   , 0.067, 1.   ])
    """
    with np.errstate(divide="ignore"):
        return benjamini_hochberg(1.0 / evalues)


def knockoff_threshold(W: FloatArray, fdr: float) -> float:
    """Find the threshold of knockoff+: the least t with an estimated rate of `fdr`.

    The rate at t is estimated by ``(1 + #{W ≤ −t}) / max(1, #{W ≥ t})``.

    Parameters
    ----------
    W : array of shape (n_features,)
        Importance of each feature minus that of its knockoff.
    fdr : float
        Nominal false discovery rate.

    Returns
    -------
    float
        The threshold; infinite where no feature may be claimed.

    References
    ----------
    .. [1] R. F. Barber & E. J. Candès, "Controlling the false discovery rate via
       knockoffs", Annals of Statistics 43 (2015).

    Examples
    --------
    >>> knockoff_threshold(np.array([3.0, 2.5, 2.0, 1.0, -0.5]), 0.3)
    1.0
    >>> knockoff_threshold(np.array([3.0, -2.0]), 0.3)
    inf
    """
    sizes = np.unique(np.abs(W[W != 0]))
    positive, negative = np.sort(W[W > 0]), np.sort(-W[W < 0])
    n_above = positive.size - np.searchsorted(positive, sizes, side="left")
    n_below = negative.size - np.searchsorted(negative, sizes, side="left")
    enough = (1 + n_below) / np.maximum(1, n_above) <= fdr + RATE_ROUNDING
    return float(sizes[np.argmax(enough)]) if enough.any() else np.inf


def knockoff_evalues(W: FloatArray, fdr: float) -> FloatArray:
    """Turn the claims of knockoff+ at rate `fdr` into e-values.

    ``e_j = p 1{W_j ≥ T} / (1 + #{W ≤ −T})`` with the threshold T of knockoff+. The
    mean of the e-values of several draws of knockoffs are e-values again.

    Parameters
    ----------
    W : array of shape (n_features,)
        Importance of each feature minus that of its knockoff.
    fdr : float
        Nominal rate of knockoff+ in one draw.

    Returns
    -------
    array of shape (n_features,)
        The e-values.

    References
    ----------
    .. [1] Z. Ren & R. F. Barber, "Derandomised knockoffs: leveraging e-values for false
       discovery rate control", Journal of the Royal Statistical Society B 86 (2024).

    Examples
    --------
    >>> knockoff_evalues(np.array([3.0, 2.5, 2.0, 1.0, -0.5]), 0.3)
    array([5., 5., 5., 5., 0.])
    """
    threshold = knockoff_threshold(W, fdr)
    return W.size * (threshold <= W) / (1 + np.count_nonzero(-threshold >= W))


def claim(adjusted: FloatArray, rate: float) -> IntArray:
    """Return the features whose adjusted value is at most the rate, ascending."""
    return np.flatnonzero(adjusted <= rate * (1 + RATE_ROUNDING))

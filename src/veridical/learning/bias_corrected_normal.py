"""Adjustment factors of models other than the binary one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical.kernels.beta_counts import n_nodes, unit_rule
from veridical.kernels.count_lattice import low_region
from veridical.kernels.normal_classes import ratio_below
from veridical.learning.bias_corrected_factors import _broadcast, _whole


def prob_low_correlation_gaussian(
    class_sizes: ArrayLike, r: ArrayLike, gamma: ArrayLike
) -> float | FloatArray:
    """Probability that a normal feature correlates less than γ with the class.

    Within classes the feature is normal with variance w; the class means are normal
    about a common one with variance r w. The squared correlation ratio (COR² with two
    classes) is a monotone function of the F ratio, whose numerator is Σ (1 + r μ_i)
    χ²(1), μ_i being the eigenvalues of the class sizes after projection; with two
    classes the result is an F distribution function.

    Parameters
    ----------
    class_sizes : array-like of int
        Cases of each class.
    r : float or array
        Variance of the class means over that within classes; positive.
    gamma : float or array
        The threshold, from 0 to 1.

    Returns
    -------
    float or array
        P(correlation ratio ≤ γ | r, y).

    Examples
    --------
    >>> from veridical.learning import prob_low_correlation_gaussian
    >>> round(prob_low_correlation_gaussian((20, 30), 0.05, 0.3), 7)
    0.8516325
    """
    sizes = class_sizes_of(class_sizes)

    def at(ratios: FloatArray, cut: float) -> FloatArray:
        return np.array([low_normal(sizes, float(one), cut)[0] for one in ratios])

    return _broadcast(at, r, gamma)


def class_sizes_of(given: ArrayLike) -> IntArray:
    """Read sizes of two or more classes with more cases than classes."""
    sizes = np.array([_whole("class_sizes", n) for n in np.ravel(given)], np.intp)
    if sizes.size < 2 or sizes.min() < 1 or sizes.sum() <= sizes.size:
        raise InputError(
            f"class_sizes={given!r} must be two or more sizes, none of them 0, with "
            "more cases than classes."
        )
    return sizes


def low_normal(sizes: IntArray, r: float, gamma: float) -> tuple[float, float]:
    """P(correlation ratio ≤ γ | r) and its complement."""
    if gamma >= 1:
        return 1.0, 0.0
    n, n_classes = int(sizes.sum()), sizes.size
    q = np.sqrt(sizes / n)
    projection = np.eye(n_classes) - np.outer(q, q)
    eigenvalues = np.linalg.eigvalsh(projection @ np.diag(sizes) @ projection)[1:]
    weights = 1.0 + r * np.maximum(eigenvalues, 0.0)
    bound = gamma**2 / (1.0 - gamma**2)
    return ratio_below(weights, np.ones(n_classes - 1), bound, n - n_classes)


def prob_low_correlation_mixture(
    cells: ArrayLike, alpha: ArrayLike, gamma: ArrayLike
) -> float | FloatArray:
    """Probability that a feature of a binary mixture correlates less than γ.

    In the mixture model the rates of a feature depend on a hidden component z of each
    case, not on its class: φ_z ~ Beta(αθ, α(1−θ)). Given z the counts of ones in the
    two classes are sums over the components, whose joint law given θ is a convolution.

    Parameters
    ----------
    cells : array-like of shape (2, n_components)
        Cases of each class in each component.
    alpha : float or array
        How alike the components are; positive.
    gamma : float or array
        The threshold, from 0 to 1.

    Returns
    -------
    float or array
        P(|COR| < γ | α, y, z), exact. Where each class is one component it is
        `prob_low_correlation`.

    Notes
    -----
    The cost is that of n/2 convolutions of size N_0 × N_1, once for every α and every
    state of a sampler that draws z: hundredths of a second for 62 cases, tenths for
    200.

    Examples
    --------
    >>> from veridical.learning import prob_low_correlation_mixture
    >>> cells = [[8, 0], [0, 14]]
    >>> round(prob_low_correlation_mixture(cells, 5, 0.5), 10)
    0.8740249279
    """
    table = np.asarray(cells)
    if table.ndim != 2 or len(table) != 2 or table.size == 0:
        raise InputError(
            f"cells={cells!r} must be two rows, the cases of each class in each "
            "component."
        )
    table = np.array([[_whole("cells", n) for n in row] for row in table], np.intp)
    sizes = table.sum(axis=1)
    nodes, log_w = unit_rule(n_nodes(max(int(sizes.sum()), 1)))

    def at(alphas: FloatArray, cut: float) -> FloatArray:
        first, last = low_region(sizes, cut)
        found = np.zeros(len(alphas))
        for a, alpha_a in enumerate(alphas):
            for theta, weight in zip(nodes, np.exp(log_w), strict=True):
                joint = _joint_counts(table, float(alpha_a), float(theta))
                inside = sum(
                    row[lo : hi + 1].sum()
                    for row, lo, hi in zip(joint, first, last, strict=True)
                )
                found[a] += weight * inside
        return found

    return _broadcast(at, alpha, gamma)


def _joint_counts(cells: IntArray, alpha: float, theta: float) -> FloatArray:
    """P(I_0, I_1 | θ): components convolved."""
    from scipy.signal import convolve  # slow to import, and seldom needed

    joint = np.ones((1, 1))
    a, b = alpha * theta, alpha * (1.0 - theta)
    for n0, n1 in cells.T:
        i, j = np.arange(n0 + 1)[:, None], np.arange(n1 + 1)[None, :]
        ones, zeros = i + j, n0 + n1 - i - j
        logs = (
            gammaln(n0 + 1)
            - gammaln(i + 1)
            - gammaln(n0 - i + 1)
            + gammaln(n1 + 1)
            - gammaln(j + 1)
            - gammaln(n1 - j + 1)
            + gammaln(a + ones)
            - gammaln(a)
            + gammaln(b + zeros)
            - gammaln(b)
            - gammaln(alpha + n0 + n1)
            + gammaln(alpha)
        )
        joint = convolve(joint, np.exp(logs), method="auto")
    return joint


def prob_low_correlation_factor(
    n: int, rho: float, kappa: ArrayLike, gamma: ArrayLike
) -> float | FloatArray:
    """Probability that a feature of a factor model correlates less than γ.

    ``x = ν + λ z + ε``, λ ~ N(0, s²σ²), ε ~ N(0, σ²), with one hidden factor z of
    each case.

    Parameters
    ----------
    n : int
        Number of cases, at least 4.
    rho : float
        Correlation of the factor with the response.
    kappa : float or array
        s² times the sum of squares of the centred factor; positive.
    gamma : float or array
        The threshold, from 0 to 1.

    Returns
    -------
    float or array
        P(|COR| ≤ γ | κ, y, z).
    """
    if _whole("n", n) < 4 or not -1 <= rho <= 1:
        raise InputError(f"n={n!r} must be 4 or more and rho={rho!r} a correlation.")

    def at(kappas: FloatArray, cut: float) -> FloatArray:
        return np.array([_low_factor(n, rho, float(one), cut) for one in kappas])

    return _broadcast(at, kappa, gamma)


def _low_factor(n: int, rho: float, kappa: float, gamma: float) -> float:
    if gamma in (0.0, 1.0):
        return gamma
    v = np.array([rho, np.sqrt(1.0 - rho**2)])
    root = np.eye(2) + (np.sqrt(1.0 + kappa) - 1.0) * np.outer(v, v)
    form = root @ np.diag([1.0 - gamma**2, -(gamma**2)]) @ root
    negative, positive = np.linalg.eigvalsh(form)
    # High where positive χ²(1) exceeds |negative| χ²(1) + γ² χ²(n−3).
    weights = np.array([-negative, gamma**2])
    degrees = np.array([1.0, float(n - 3)])
    return ratio_below(weights, degrees, float(positive), 1.0)[1]

"""The probability of what is known about the discarded features.

Each ``prob_low_*`` computes the probability that the statistic of one feature is below
a threshold, given the hyperparameter and the class labels. Features are independent and
identically distributed given α, so this probability, raised to the number of discarded
features, is the factor by which the likelihood is multiplied [1]_.

The R package uses Simpson's rule with 41 points [2]_; it is here for comparison only.
The rule is not exact, and its error is raised to the power of the number of discarded
features: with 9000 of them it is several nats, and different for every α.

References
----------
.. [1] L. Li, J. Zhang and R. M. Neal, "A method for avoiding bias from feature
   selection with application to naive Bayes classification models", Bayesian Analysis
   3(1), 2008, 171-196.
.. [2] L. Li, "predbayescor: Classification based on Bayesian naive Bayes models with
   feature selection bias corrected", R package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike
from scipy.special import gammaln, log_expit, logsumexp, roots_jacobi

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import as_generator
from veridical.kernels.beta_counts import (
    NO_EFFECT,
    UNIFORM,
    BaseRates,
    fill_masses,
    log_low,
    log_no_effect,
    n_nodes,
    pattern_table,
    region_table,
    sum_region,
    unit_rule,
)
from veridical.kernels.count_lattice import EQUAL_WITHIN, low_region
from veridical.kernels.dirichlet_counts import pair_associations, simulate_low
from veridical.kernels.normal_classes import ratio_below

#: Terms of a sum for one α; with more the probability is simulated instead.
_MOST_TERMS = 2e7
#: Terms of a sum where features have several categories; with more it is simulated.
_MOST_PAIRS = 1e9
#: Chebyshev points in log α of an exact and of a simulated probability, and the degree
#: of the polynomial that smooths the latter.
_EXACT_NODES, _DRAWN_NODES, _DRAWN_DEGREE = 33, 25, 8
#: Features to simulate for one α; fewer, down to the second number, where draws times
#: samples would exceed the third.
_N_DRAWS, _FEWEST_DRAWS, _MOST_STEPS = 100_000, 5_000, 1e8
#: Range of α that the interpolation covers; wider where an α lies outside.
_ALPHA_RANGE = (1.0, 1e5)


# -- features with and without an effect ---------------------------------------------


@dataclass(frozen=True, eq=False)
class Components:
    """Log-probabilities of what is known of features, with and without an effect.

    A feature is a null feature with probability π: all classes have the same rate.
    What is known of T groups of features that are alike has the log-likelihood
    ``Σ_t times_t log(π exp(null_t) + (1 − π) exp(logs_at))``, for the retained and for
    the discarded features.

    Parameters
    ----------
    logs : array of shape (A, T)
        Log-probabilities given α.
    times : array of shape (T,)
        Number of features of each group.
    null : array of shape (T,) or None
        Log-probabilities of null features; None where π is 0.
    """

    logs: FloatArray
    times: FloatArray
    null: FloatArray | None = None

    @classmethod
    def joined(cls, parts: Sequence[Components]) -> Components:
        """Put the groups of several parts side by side."""
        parts = [part for part in parts if part.times.size] or list(parts[:1])
        if len(parts) == 1:
            return parts[0]
        nulls = [part.null for part in parts if part.null is not None]
        return cls(
            np.concatenate([part.logs for part in parts], axis=1),
            np.concatenate([part.times for part in parts]),
            np.concatenate(nulls) if nulls else None,
        )

    def log_likelihood(self, logits: FloatArray) -> FloatArray:
        """Compute the log-likelihood for every α and logit of π, of shape (A, P).

        Parameters
        ----------
        logits : array of shape (A, P)
            log π/(1 − π), a row for every α; minus infinity where π is 0.
        """
        if self.null is None:
            return np.broadcast_to((self.logs @ self.times)[:, None], logits.shape)
        found = np.empty(logits.shape)
        rows = np.arange(len(self.logs))
        for p in range(logits.shape[1]):
            found[:, p] = self.mixed(rows, logits[:, p]) @ self.times
        return found

    def mixed(self, rows: IntArray, logits: FloatArray) -> FloatArray:
        """Compute log(π exp(null) + (1 − π) exp(logs)), for each pair of row and logit.

        Returns
        -------
        array of shape (G, T)
            For G pairs.
        """
        if self.null is None:
            return self.logs[rows]
        without, with_effect = log_expit(logits), log_expit(-logits)
        return np.logaddexp(
            without[:, None] + self.null, with_effect[:, None] + self.logs[rows]
        )

    def null_weights(
        self, rows: IntArray, logits: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Compute the posterior probabilities of no effect and of an effect, (G, T)."""
        mixed = self.mixed(rows, logits)
        without, with_effect = log_expit(logits), log_expit(-logits)
        return (
            np.exp(without[:, None] + self.null - mixed),
            np.exp(with_effect[:, None] + self.logs[rows] - mixed),
        )


def prob_low_correlation(
    n0: int, n1: int, alpha: ArrayLike, gamma: ArrayLike
) -> float | FloatArray:
    """Compute the probability that a binary feature correlates less than γ.

    The feature has rate θ ~ U(0, 1) overall; its rates in the two classes are
    independent draws from Beta(αθ, α(1−θ)). The integral over θ is exact.

    Parameters
    ----------
    n0, n1 : int
        Samples of each class; where one is 0, all correlations are 0.
    alpha : float or array
        How similar the classes are; positive.
    gamma : float or array
        The threshold, from 0 to 1. Correlations that agree with it to 12 digits are
        equal to it, and not less.

    Returns
    -------
    float or array
        P(|COR| < γ | α, y), for the arguments broadcast against each other.

    See Also
    --------
    prob_low_association : For more classes or categories.
    BiasCorrectedNB : The classifier.

    Examples
    --------
    >>> from veridical.learning import prob_low_correlation
    >>> round(prob_low_correlation(8, 14, alpha=5, gamma=0.5), 10)
    0.8740249279
    """
    sizes = np.array([_whole("n0", n0), _whole("n1", n1)], dtype=np.intp)
    if sizes.sum() == 0:
        raise InputError("n0 and n1 are both 0; there must be at least one sample.")

    def at(alphas: FloatArray, cut: float) -> FloatArray:
        region = low_region(sizes, cut)
        return np.exp(log_low(*region_table(alphas, sizes, region)))

    return _broadcast(at, alpha, gamma)


def prob_low_association(
    class_sizes: ArrayLike, alpha: ArrayLike, gamma: ArrayLike, *, n_values: int = 2
) -> float | FloatArray:
    """Compute the probability that a categorical feature has an association below γ.

    As `prob_low_correlation`, for several classes and categories. The shares θ of the
    categories are uniform on the simplex, those in the classes independent draws from
    Dirichlet(αθ), and the statistic is Cramér's V.

    Parameters
    ----------
    class_sizes : array-like of int
        Samples of each class.
    alpha : float or array
        How similar the classes are; positive.
    gamma : float or array
        The threshold, from 0 to 1.
    n_values : int, default=2
        Number of categories of the feature.

    Returns
    -------
    float or array
        P(V < γ | α, y). Exact where the sum over all counts is feasible: two categories
        and three or four classes, three categories and two classes up to 80 samples.
        Otherwise the share of 100 000 simulated features (fewer above 1000 samples),
        smoothed over α.
    """
    sizes = np.array([_whole("class_sizes", n) for n in np.ravel(class_sizes)])
    if sizes.size < 2 or sizes.sum() == 0:
        raise InputError(
            f"class_sizes={class_sizes!r} must be the sizes of two or more classes."
        )
    if _whole("n_values", n_values) < 2:
        raise InputError(f"n_values={n_values} must be 2 or more.")
    scale = min(sizes.size, n_values) - 1

    def at(alphas: FloatArray, cut: float) -> FloatArray:
        if n_values == 2 and can_sum_exactly(sizes):
            return np.exp(log_low(*region_table(alphas, sizes, low_region(sizes, cut))))
        edge = (cut * (1 - EQUAL_WITHIN)) ** 2 * scale
        return np.exp(log_low_association(alphas, sizes, n_values, edge))

    return _broadcast(at, alpha, gamma)


# -- several classes or categories ---------------------------------------------------


def can_sum_exactly(sizes: IntArray) -> bool:
    """Return whether all counts of a binary feature can be summed over."""
    if len(sizes) == 2:
        return True
    tuples = float(np.prod(sizes[:-1] + 1.0))
    return bool(tuples * (n_nodes(int(sizes.sum())) + 1) / 2 <= _MOST_TERMS)


def log_low_association(
    alphas: FloatArray,
    sizes: IntArray,
    n_values: int,
    cut: float,
    rates: BaseRates = UNIFORM,
) -> FloatArray:
    """Compute log P(χ²/n < cut | α) for features with several categories.

    `NO_EFFECT` as the only α is for features without an effect.
    """
    if cut <= 0:
        return np.full(len(alphas), -np.inf)
    if alphas.min() >= NO_EFFECT:
        return np.full(
            len(alphas),
            _low_without_effect(tuple(map(int, sizes)), n_values, cut, rates),
        )
    low, high = _ALPHA_RANGE
    if alphas.min() < low or alphas.max() > high:
        low, high = min(low, alphas.min()), max(high, alphas.max())
    fit = _interpolant(tuple(map(int, sizes)), n_values, cut, low, high, rates)
    middle, half = 0.5 * np.log(low * high), 0.5 * np.log(high / low)
    return np.minimum(chebyshev.chebval((np.log(alphas) - middle) / half, fit), 0.0)


@lru_cache(maxsize=16)
def _interpolant(
    sizes: tuple[int, ...],
    n_values: int,
    cut: float,
    low: float,
    high: float,
    rates: BaseRates,
) -> FloatArray:
    """Compute Chebyshev coefficients of log P(low) as a function of log α."""
    counts = np.array(sizes, dtype=np.intp)
    exact = _can_sum_histograms(counts, n_values)
    n_points = _EXACT_NODES if exact else _DRAWN_NODES
    x = np.cos(np.pi * (np.arange(n_points) + 0.5) / n_points)
    middle, half = 0.5 * np.log(low * high), 0.5 * np.log(high / low)
    alphas = np.exp(middle + half * x)
    if exact:
        values = _sum_histograms(alphas, counts, n_values, cut)
        return np.asarray(chebyshev.chebfit(x, values, n_points - 1), np.float64)
    logs = _simulate_low(alphas, counts, n_values, cut, rates)
    return np.asarray(chebyshev.chebfit(x, logs, _DRAWN_DEGREE), np.float64)


@lru_cache(maxsize=16)
def _low_without_effect(
    sizes: tuple[int, ...], n_values: int, cut: float, rates: BaseRates
) -> float:
    """Compute log P(χ²/n < cut) for a feature without an effect."""
    counts, alphas = np.array(sizes, dtype=np.intp), np.array([NO_EFFECT])
    if _can_sum_histograms(counts, n_values):
        return float(_sum_histograms(alphas, counts, n_values, cut)[0])
    return float(_simulate_low(alphas, counts, n_values, cut, rates)[0])


def _can_sum_histograms(sizes: IntArray, n_values: int) -> bool:
    """Return whether all pairs of class histograms can be summed over."""
    return len(sizes) == 2 and _n_pairs(sizes, n_values) <= _MOST_PAIRS


def _simulate_low(
    alphas: FloatArray, sizes: IntArray, n_values: int, cut: float, rates: BaseRates
) -> FloatArray:
    """Estimate log P(χ²/n < cut | α), always with the same random numbers."""
    n_low, rng = np.zeros(len(alphas), dtype=np.intp), as_generator(0)
    n_draws = int(np.clip(_MOST_STEPS / sizes.sum(), _FEWEST_DRAWS, _N_DRAWS))
    # The rates of a binary feature are those of its second category.
    shapes = np.array([rates.b, rates.a]) if n_values == 2 else np.ones(n_values)
    simulate_low(alphas, sizes, n_values, cut, n_draws, rng, n_low, shapes)
    return np.log((n_low + 0.5) / (n_draws + 1))


def _n_pairs(sizes: IntArray, n_values: int) -> float:
    """Count the terms of the sum over pairs of histograms and nodes."""
    log_ways = [gammaln(n + n_values) - gammaln(n + 1) for n in sizes]
    histograms = np.exp(sum(log_ways) - len(sizes) * gammaln(n_values))
    return float(histograms * (sizes.sum() // 2 + 1.0) ** (n_values - 1))


def _sum_histograms(
    alphas: FloatArray, sizes: IntArray, n_values: int, cut: float
) -> FloatArray:
    """Sum over all pairs of class histograms; θ by a product rule on the simplex."""
    theta, weights = simplex_rule(int(sizes.sum()) // 2 + 1, n_values)
    first, second = (compositions(int(n), n_values) for n in sizes)
    low = pair_associations(first, second) < cut
    found = np.empty(len(alphas))
    for a, alpha in enumerate(alphas):
        joint = (_masses(alpha, theta, first) * weights) @ _masses(
            alpha, theta, second
        ).T
        inside, outside = float(joint[low].sum()), float(joint[~low].sum())
        found[a] = log_low(np.array([inside]), np.array([outside]))[0]
    return found


def compositions(n: int, n_values: int) -> IntArray:
    """List all ways to distribute n samples among the categories."""
    if n_values == 1:
        return np.array([[n]], dtype=np.intp)
    rows = []
    for i in range(n + 1):
        rest = compositions(n - i, n_values - 1)
        rows.append(np.column_stack([np.full(len(rest), i), rest]))
    return np.vstack(rows)


def simplex_rule(m: int, n_values: int) -> tuple[FloatArray, FloatArray]:
    """Make a rule for the uniform law on the simplex, exact to degree 2m − 1.

    Stick-breaking: category v takes a Beta(1, V − v) share of what the categories
    before it left; the density of that share is the weight of a Gauss–Jacobi rule.

    Returns
    -------
    theta : array of shape (m ** (V − 1), V)
        Nodes.
    weights : array
        Their weights, which sum to 1.
    """
    theta, left, weights = np.empty((1, 0)), np.ones(1), np.ones(1)
    for v in range(n_values - 1):
        x, w = roots_jacobi(m, n_values - 2 - v, 0)
        share, w = 0.5 * (1.0 + x), w / w.sum()
        new = (left[:, None] * share).ravel()
        theta = np.column_stack([np.repeat(theta, m, axis=0), new])
        left = (left[:, None] * (1.0 - share)).ravel()
        weights = (weights[:, None] * w).ravel()
    return np.column_stack([theta, left]), weights


def _masses(alpha: float, theta: FloatArray, histograms: IntArray) -> FloatArray:
    """Compute Dirichlet-multinomial probabilities, one row per histogram."""
    n = int(histograms[0].sum())
    steps = np.arange(n)
    logs = np.full((len(histograms), len(theta)), gammaln(n + 1))
    logs -= np.log(alpha + steps).sum()
    for v in range(theta.shape[1]):
        rises = np.zeros((n + 1, len(theta)))
        np.cumsum(np.log(alpha * theta[:, v] + steps[:, None]), axis=0, out=rises[1:])
        counts = histograms[:, v]
        logs += rises[counts] - gammaln(counts + 1)[:, None]
    return np.exp(logs)


# -- arguments -----------------------------------------------------------------------


def _broadcast(
    at: Callable[[FloatArray, float], FloatArray], alpha: ArrayLike, gamma: ArrayLike
) -> float | FloatArray:
    """Call ``at(alphas, gamma)`` once for every γ, and shape the results."""
    alphas, gammas = np.broadcast_arrays(
        np.asarray(alpha, dtype=np.float64), np.asarray(gamma, dtype=np.float64)
    )
    if not np.all((alphas > 0) & np.isfinite(alphas)):
        raise InputError(f"alpha={alpha!r} must be positive and finite.")
    if not np.all((gammas >= 0) & (gammas <= 1)):
        raise InputError(f"gamma={gamma!r} must lie between 0 and 1.")
    out = np.empty(alphas.shape)
    for cut in np.unique(gammas):
        here = gammas == cut
        out[here] = at(np.ascontiguousarray(alphas[here]).ravel(), float(cut))
    return float(out) if out.ndim == 0 else out


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or int(value) != value or value < 0:
        raise InputError(f"{name}={value!r} must be a whole number, 0 or more.")
    return int(value)


# -- other models ----------------------------------------------------------------------


def prob_low_correlation_gaussian(
    class_sizes: ArrayLike, r: ArrayLike, gamma: ArrayLike
) -> float | FloatArray:
    """Compute the probability that a normal feature correlates less than γ.

    Within classes the feature is normal with variance w; the class means are normal
    about a common one with variance r w. The squared correlation ratio (COR² with two
    classes) is a monotone function of the F ratio, whose numerator is Σ (1 + r μ_i)
    χ²(1), μ_i being the eigenvalues of the class sizes after projection; with two
    classes the result is an F distribution function.

    Parameters
    ----------
    class_sizes : array-like of int
        Samples of each class.
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
    sizes = _read_class_sizes(class_sizes)

    def at(ratios: FloatArray, cut: float) -> FloatArray:
        return np.array([low_normal(sizes, float(one), cut)[0] for one in ratios])

    return _broadcast(at, r, gamma)


def _read_class_sizes(given: ArrayLike) -> IntArray:
    """Check and return the sizes of two or more classes, more samples than classes."""
    sizes = np.array([_whole("class_sizes", n) for n in np.ravel(given)], np.intp)
    if sizes.size < 2 or sizes.min() < 1 or sizes.sum() <= sizes.size:
        raise InputError(
            f"class_sizes={given!r} must be two or more sizes, none of them 0, with "
            "more samples than classes."
        )
    return sizes


def low_normal(sizes: IntArray, r: float, gamma: float) -> tuple[float, float]:
    """Compute P(correlation ratio ≤ γ | r) and its complement."""
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
    """Compute the probability that a feature of a mixture correlates less than γ.

    In the mixture model the rates of a feature depend on a hidden component z of each
    sample, not on its class: φ_z ~ Beta(αθ, α(1−θ)). Given z the counts of ones in the
    two classes are sums over the components, whose joint law given θ is a convolution.

    Parameters
    ----------
    cells : array-like of shape (2, n_components)
        Samples of each class in each component.
    alpha : float or array
        How similar the components are; positive.
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
    state of a sampler that draws z: hundredths of a second for 62 samples, tenths for
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
            f"cells={cells!r} must be two rows, the samples of each class in each "
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
    """Compute P(I_0, I_1 | θ) by convolving the components."""
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
    """Compute the probability that a feature of a factor model correlates less than γ.

    ``x = ν + λ z + ε``, λ ~ N(0, s²σ²), ε ~ N(0, σ²), with one hidden factor z of
    each sample.

    Parameters
    ----------
    n : int
        Number of samples, at least 4.
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


# -- Simpson's rule --------------------------------------------------------------------

#: Steps of Simpson's rule, as in the R package.
_N_STEPS = 40


def _simpson_weights() -> FloatArray:
    """Compute Simpson's weights on [0, 1]."""
    weights = np.where(np.arange(_N_STEPS + 1) % 2, 4.0, 2.0)
    weights[[0, -1]] = 1.0
    return weights / (3.0 * _N_STEPS)


def _cubic_nodes(mean: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute nodes near each mean by a cubic map; log of weight × derivative."""
    with np.errstate(divide="ignore"):
        centre = 1.0 / (1.0 + np.cbrt(1.0 / mean - 1.0))[:, None]
        x = np.linspace(0.0, 1.0, _N_STEPS + 1)
        span = (1.0 - centre) ** 3 + centre**3
        nodes = ((x - centre) ** 3 + centre**3) / span
        derivative = 3.0 * (x - centre) ** 2 / span
        return np.clip(nodes, 0.0, 1.0), np.log(_simpson_weights() * derivative)


def simpson_patterns(
    alphas: FloatArray, sizes: IntArray, counts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Approximate `veridical.kernels.beta_counts.pattern_table`."""
    nodes, log_weights = _cubic_nodes(counts.sum(axis=1) / sizes.sum())
    shape = (len(alphas), len(counts))
    log_evidence, mean = np.empty(shape), np.empty(shape)
    for a, alpha in enumerate(alphas):
        term = log_weights.copy()
        for c, size in enumerate(sizes):
            ones = counts[:, c, None]
            term += _log_rise(alpha * nodes, ones)
            term += _log_rise(alpha * (1.0 - nodes), size - ones)
            term -= gammaln(alpha + size) - gammaln(alpha)
        log_evidence[a] = logsumexp(term, axis=1)
        share = np.exp(term - log_evidence[a][:, None])
        mean[a] = (share * nodes).sum(axis=1)
    return log_evidence, mean


def _log_rise(z: FloatArray, steps: IntArray) -> FloatArray:
    """Compute log z(z+1)…(z+steps−1): 0 for no steps, −∞ at z = 0 otherwise."""
    positive = np.maximum(z, np.finfo(float).tiny)
    logs = gammaln(positive + steps) - gammaln(positive)
    return np.where(steps == 0, 0.0, np.where(z > 0, logs, -np.inf))


def simpson_region(
    alphas: FloatArray, sizes: IntArray, region: tuple[IntArray, IntArray]
) -> tuple[FloatArray, FloatArray]:
    """Approximate `veridical.kernels.beta_counts.region_table`.

    At θ = 0 and 1 features are constant, and have correlation 0.
    """
    nodes = np.linspace(0.0, 1.0, _N_STEPS + 1)[1:-1]
    weights = _simpson_weights()
    mass = np.empty((nodes.size, int((sizes + 1).sum())))
    found = np.empty((2, len(alphas)))
    for a, alpha in enumerate(alphas):
        fill_masses(float(alpha), nodes, 1.0 - nodes, sizes, mass)
        found[:, a] = sum_region(mass, weights[1:-1], sizes, *region)
    return found[0] + weights[0] + weights[-1], found[1]


# -- discarded features ----------------------------------------------------------------

Ties = Literal["exact", "lt", "le"]
TIES: tuple[Ties, ...] = ("exact", "lt", "le")

#: Chebyshev points in log α; fewer values of α are evaluated directly.
_CHEBYSHEV_POINTS = 21
#: Width in log α; over a wider range every α is evaluated directly.
_CHEBYSHEV_WIDTH = 2.0


@dataclass(frozen=True, eq=False)
class Discarded:
    """Binary features whose correlation was too small.

    Parameters
    ----------
    sizes : int array of shape (K,)
        Samples of each class.
    gamma : float or Fraction
        The threshold, or its exact square.
    n_below, n_tied : int
        Number of features discarded below the threshold, and number of those equal to
        it, which tied with retained features.
    rates : BaseRates, default=UNIFORM
        The distribution of θ.
    """

    sizes: IntArray
    gamma: float | Fraction
    n_below: int
    n_tied: int
    rates: BaseRates = UNIFORM

    def log_probability(
        self,
        alphas: FloatArray,
        ties: Ties = "exact",
        rule: str = "exact",
        n_threads: int = 1,
    ) -> FloatArray:
        """Compute the logarithm of the adjustment factor for every α.

        Parameters
        ----------
        alphas : array of shape (A,)
            Values of α.
        ties : {"exact", "lt", "le"}
            Whether tied features count as tied, as below or as "not above".
        rule : {"exact", "simpson"}
            How to integrate over θ.
        n_threads : int, default=1
            Threads that share the values of α.
        """
        return self.components(alphas, ties, rule, n_threads).logs @ self._times(ties)

    def components(
        self,
        alphas: FloatArray,
        ties: Ties = "exact",
        rule: str = "exact",
        n_threads: int = 1,
        *,
        null: bool = False,
    ) -> Components:
        """Compute the log-probabilities of being below the threshold, and equal to it.

        The parameters are those of `log_probability`; `null` is whether to compute
        the probabilities of null features too.
        """

        def directly(points: FloatArray) -> FloatArray:
            return self._events(points, ties, rule, n_threads)

        logs = interpolate_in_alpha(alphas, directly)
        nothing = None
        if null:
            nothing = self._events(np.array([NO_EFFECT]), ties, rule, n_threads)[0]
        return Components(logs, self._times(ties), nothing)

    def _times(self, ties: Ties) -> FloatArray:
        """Return the numbers of features below the threshold, and equal to it."""
        if self._separate(ties):
            return np.array([self.n_below, self.n_tied], np.float64)
        return np.array([self.n_below + self.n_tied, 0.0])

    def _separate(self, ties: Ties) -> bool:
        """Return whether tied features are known to be equal to the threshold."""
        if ties == "exact":
            # A simulation cannot find exact ties.
            return can_sum_exactly(self.sizes) or not self.n_tied
        return ties == "lt" and self.gamma == 0

    def _events(
        self, alphas: FloatArray, ties: Ties, rule: str, n_threads: int
    ) -> FloatArray:
        """Compute log P(below γ | α) and log P(equal to γ | α), of shape (A, 2).

        What no feature is known to be has the log-probability 0.
        """
        found = np.zeros((len(alphas), 2))
        n_below, n_tied = self._times(ties)
        wide = ties == "le" or (ties == "exact" and not self._separate(ties))
        if n_below:
            found[:, 0] = self._log_low(alphas, wide, rule, n_threads)
        if n_tied:
            found[:, 1] = log_any(alphas, self.sizes, self._tied, n_threads, self.rates)
        return found

    @cached_property
    def _strict(self) -> tuple[IntArray, IntArray]:
        return low_region(self.sizes, self.gamma)

    @cached_property
    def _wide(self) -> tuple[IntArray, IntArray]:
        return low_region(self.sizes, self.gamma, tied=True)

    @cached_property
    def _tied(self) -> IntArray:
        return tied_patterns(self._strict, self._wide, self.sizes)

    def _log_low(
        self, alphas: FloatArray, tied: bool, rule: str, n_threads: int
    ) -> FloatArray:
        """Compute log P(below γ | α), or not above it where ties count."""
        sizes = self.sizes
        if not can_sum_exactly(sizes):
            edge = float(self.gamma) * (1 + EQUAL_WITHIN if tied else 1 - EQUAL_WITHIN)
            cut = max(edge**2, tied * EQUAL_WITHIN)
            return log_low_association(alphas, sizes, 2, cut, self.rates)
        region = self._wide if tied else self._strict
        if rule == "simpson":
            return log_low(*simpson_region(alphas, sizes, region))
        return log_low(*region_table(alphas, sizes, region, n_threads, self.rates))


def interpolate_in_alpha(
    alphas: FloatArray, function: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Evaluate functions of log α at many close points by interpolation.

    The probabilities are analytic in log α up to ±π from the real line, where α is
    negative. Over a factor of 7 in α a polynomial through 21 Chebyshev points then
    differs from them by less than 1e-13, in relation to their size.
    """
    logs = np.log(alphas)
    low, high = float(logs.min()), float(logs.max())
    if len(alphas) <= _CHEBYSHEV_POINTS or not 0 < high - low <= _CHEBYSHEV_WIDTH:
        return function(alphas)
    x = np.cos(np.pi * (np.arange(_CHEBYSHEV_POINTS) + 0.5) / _CHEBYSHEV_POINTS)
    middle, half = (low + high) / 2, (high - low) / 2
    found = function(np.exp(middle + half * x))
    fit = chebyshev.chebfit(x, found, _CHEBYSHEV_POINTS - 1)
    return np.asarray(chebyshev.chebval((logs - middle) / half, fit), np.float64).T


def log_any(
    alphas: FloatArray,
    sizes: IntArray,
    patterns: IntArray,
    n_threads: int = 1,
    rates: BaseRates = UNIFORM,
) -> FloatArray:
    """Compute log P(one of these patterns | α)."""
    if alphas.min() >= NO_EFFECT:
        log_probability = log_no_effect(sizes, patterns, rates)[None]
    else:
        log_probability, _ = pattern_table(alphas, sizes, patterns, n_threads, rates)
    return logsumexp(log_probability + log_ways(sizes, patterns), axis=1)


def log_ways(sizes: IntArray, patterns: IntArray) -> FloatArray:
    """Compute the logarithm of the number of arrangements of each pattern's ones."""
    ways = gammaln(sizes + 1) - gammaln(patterns + 1) - gammaln(sizes - patterns + 1)
    return ways.sum(axis=1)


def tied_patterns(
    strict: tuple[IntArray, IntArray], wide: tuple[IntArray, IntArray], sizes: IntArray
) -> IntArray:
    """List the counts whose statistic equals the threshold."""
    found = []
    shape = tuple(int(size) + 1 for size in sizes[:-1])
    edges = zip(*strict, *wide, strict=True)
    for t, (first, last, wide_first, wide_last) in enumerate(edges):
        if (first, last) == (wide_first, wide_last):
            continue
        others = np.unravel_index(t, shape)
        for i in range(wide_first, wide_last + 1):
            if not first <= i <= last:
                found.append((*others, i))
    return np.array(found, dtype=np.intp).reshape(-1, len(sizes))


@dataclass(frozen=True, eq=False)
class DiscardedValues:
    """Features with V categories whose Cramér's V was too small."""

    sizes: IntArray
    n_values: int
    gamma: float
    n_below: int
    n_tied: int

    def components(
        self, alphas: FloatArray, ties: Ties, *, null: bool = False
    ) -> Components:
        """Compute the log-probabilities of being below the threshold, and equal to it.

        `null` is whether to compute the probabilities of null features too.
        """
        n_below, n_tied = self.n_below, self.n_tied
        if ties != "exact" and not (ties == "lt" and self.gamma == 0):
            n_below, n_tied = n_below + n_tied, 0
        times = np.array([n_below, n_tied], np.float64)
        events = [self._events(alphas, ties, times)]
        if null:
            events.append(self._events(np.array([NO_EFFECT]), ties, times))
        return Components(events[0], times, events[1][0] if null else None)

    def _events(self, alphas: FloatArray, ties: Ties, times: FloatArray) -> FloatArray:
        """Compute log P(below γ | α) and log P(equal to γ | α), of shape (A, 2)."""
        scale = min(len(self.sizes), self.n_values) - 1

        def low(tied: bool) -> FloatArray:
            edge = self.gamma * (1 + EQUAL_WITHIN if tied else 1 - EQUAL_WITHIN)
            cut = max(edge**2 * scale, EQUAL_WITHIN if tied else 0.0)
            return log_low_association(alphas, self.sizes, self.n_values, cut)

        found = np.zeros((len(alphas), 2))
        if times[0]:
            found[:, 0] = low(ties == "le")
        if times[1]:
            wide, strict = low(True), (low(False) if self.gamma > 0 else -np.inf)
            # This statistic seldom ties; where the simulation has no tie, all that is
            # known is that it is not above the threshold.
            tie = -np.expm1(np.minimum(strict - wide, 0.0))
            found[:, 1] = wide + np.log(tie) if np.all(tie > 0) else wide
        return found

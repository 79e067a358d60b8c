"""Adjustment factors: how probable is it that a feature correlates so little?

Each function gives the probability that the statistic of one feature lies below a
threshold, given the hyperparameter and the class labels. Raised to the number of
discarded features it is what a Bayesian has to multiply the likelihood with [1]_.

References
----------
.. [1] L. Li, J. Zhang and R. M. Neal, "A method for avoiding bias from feature
   selection with application to naive Bayes classification models", Bayesian Analysis
   3(1), 2008, 171-196.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike
from scipy.special import gammaln, roots_jacobi

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.seeds import as_generator
from veridical.kernels.beta_counts import log_low, n_nodes, region_table
from veridical.kernels.count_lattice import SAME, low_region
from veridical.kernels.dirichlet_counts import pair_associations, simulate_low

#: Sums of more terms than this, for one α, are simulated instead.
_MOST_TERMS = 2e7
#: The same for one α, where features have several values.
_MOST_PAIRS = 1e9
#: Values of α between which a smooth function is interpolated.
_EXACT_NODES, _DRAWN_NODES, _DRAWN_DEGREE = 33, 25, 8
#: Features to simulate; fewer where each has very many cases.
_N_DRAWS, _FEWEST_DRAWS, _MOST_STEPS = 100_000, 5_000, 1e8
_SPAN = (1.0, 1e5)


def prob_low_correlation(
    n0: int, n1: int, alpha: ArrayLike, gamma: ArrayLike
) -> float | FloatArray:
    """Probability that a binary feature correlates less than γ with the class.

    The feature has rate θ ~ U(0, 1) overall; its rates in the two classes are
    independent draws from Beta(αθ, α(1−θ)). The integral over θ is exact.

    Parameters
    ----------
    n0, n1 : int
        Cases of each class; where one is 0, all correlations are 0.
    alpha : float or array
        How alike the classes are; positive.
    gamma : float or array
        The threshold, from 0 to 1. Correlations that agree with it to 12 digits are
        equal to it, and not less.

    Returns
    -------
    float or array
        P(|COR| < γ | α, y), for the arguments broadcast against each other.

    See Also
    --------
    prob_low_association : For more classes or values.
    BiasCorrectedNB : The classifier.

    Examples
    --------
    >>> from veridical.learning import prob_low_correlation
    >>> round(prob_low_correlation(8, 14, alpha=5, gamma=0.5), 10)
    0.8740249279
    """
    sizes = np.array([_whole("n0", n0), _whole("n1", n1)], dtype=np.intp)
    if sizes.sum() == 0:
        raise InputError("n0 and n1 are both 0; there must be at least one case.")

    def at(alphas: FloatArray, cut: float) -> FloatArray:
        region = low_region(sizes, cut)
        return np.exp(log_low(*region_table(alphas, sizes, region)))

    return _broadcast(at, alpha, gamma)


def prob_low_association(
    class_sizes: ArrayLike, alpha: ArrayLike, gamma: ArrayLike, *, n_values: int = 2
) -> float | FloatArray:
    """Probability that a nominal feature is associated less than γ with the class.

    As `prob_low_correlation`, for several classes and values. The shares θ of the
    values are uniform on the simplex, those in the classes independent draws from
    Dirichlet(αθ), and the statistic is Cramér's V.

    Parameters
    ----------
    class_sizes : array-like of int
        Cases of each class.
    alpha : float or array
        How alike the classes are; positive.
    gamma : float or array
        The threshold, from 0 to 1.
    n_values : int, default=2
        Number of values of the feature.

    Returns
    -------
    float or array
        P(V < γ | α, y). Exact while the sum over all counts is affordable: two values
        and three or four classes, three values and two classes up to 80 cases.
        Beyond that the share of 100 000 simulated features (fewer above 1000 cases),
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
        if n_values == 2 and affordable(sizes):
            return np.exp(log_low(*region_table(alphas, sizes, low_region(sizes, cut))))
        edge = (cut * (1 - SAME)) ** 2 * scale
        return np.exp(log_low_association(alphas, sizes, n_values, edge))

    return _broadcast(at, alpha, gamma)


# -- several classes or values -------------------------------------------------------


def affordable(sizes: IntArray) -> bool:
    """Tell whether all counts of a binary feature can be summed over."""
    if len(sizes) == 2:
        return True
    tuples = float(np.prod(sizes[:-1] + 1.0))
    return bool(tuples * (n_nodes(int(sizes.sum())) + 1) / 2 <= _MOST_TERMS)


def log_low_association(
    alphas: FloatArray, sizes: IntArray, n_values: int, cut: float
) -> FloatArray:
    """Log P(χ²/n < cut | α) for features with several values."""
    if cut <= 0:
        return np.full(len(alphas), -np.inf)
    low, high = _SPAN
    if alphas.min() < low or alphas.max() > high:
        low, high = min(low, alphas.min()), max(high, alphas.max())
    fit = _interpolant(tuple(map(int, sizes)), n_values, cut, low, high)
    middle, half = 0.5 * np.log(low * high), 0.5 * np.log(high / low)
    return np.minimum(chebyshev.chebval((np.log(alphas) - middle) / half, fit), 0.0)


@lru_cache(maxsize=16)
def _interpolant(
    sizes: tuple[int, ...], n_values: int, cut: float, low: float, high: float
) -> FloatArray:
    """Chebyshev coefficients of log P(low) as a function of log α."""
    cases = np.array(sizes, dtype=np.intp)
    exact = len(sizes) == 2 and _n_pairs(cases, n_values) <= _MOST_PAIRS
    n_points = _EXACT_NODES if exact else _DRAWN_NODES
    x = np.cos(np.pi * (np.arange(n_points) + 0.5) / n_points)
    middle, half = 0.5 * np.log(low * high), 0.5 * np.log(high / low)
    alphas = np.exp(middle + half * x)
    if exact:
        values = _sum_histograms(alphas, cases, n_values, cut)
        return np.asarray(chebyshev.chebfit(x, values, n_points - 1), np.float64)
    counted, rng = np.zeros(n_points, dtype=np.intp), as_generator(0)
    n_draws = int(np.clip(_MOST_STEPS / cases.sum(), _FEWEST_DRAWS, _N_DRAWS))
    simulate_low(alphas, cases, n_values, cut, n_draws, rng, counted)
    logs = np.log((counted + 0.5) / (n_draws + 1))
    return np.asarray(chebyshev.chebfit(x, logs, _DRAWN_DEGREE), np.float64)


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
    """All ways to share n cases out among the values."""
    if n_values == 1:
        return np.array([[n]], dtype=np.intp)
    rows = []
    for i in range(n + 1):
        rest = compositions(n - i, n_values - 1)
        rows.append(np.column_stack([np.full(len(rest), i), rest]))
    return np.vstack(rows)


def simplex_rule(m: int, n_values: int) -> tuple[FloatArray, FloatArray]:
    """A rule for the uniform law on the simplex, exact to degree 2m − 1.

    A stick is broken V − 1 times: the share of value v of what is left is a Beta(1,
    V − v) variable, whose density is the weight of a Gauss–Jacobi rule.

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
    """Dirichlet-multinomial probabilities, one row per histogram."""
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
    """Call ``at(alphas, gamma)`` once for every γ, and put the answers in shape."""
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

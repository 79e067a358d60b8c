"""Integrals over θ by Simpson's rule with 41 points, as the R package takes them.

For comparison only. The rule is not exact, and its error is raised to the power of
the number of discarded features: with 9000 of them it comes to several nats, which
differ from one α to the next [1]_.

References
----------
.. [1] L. Li, "predbayescor: Classification based on Bayesian naive Bayes models with
   feature selection bias corrected", R package.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, logsumexp

from veridical._core.arrays import FloatArray, IntArray
from veridical.kernels.beta_counts import fill_masses, sum_region

_N_STEPS = 40


def _weights() -> FloatArray:
    """Simpson's weights on [0, 1]."""
    weights = np.where(np.arange(_N_STEPS + 1) % 2, 4.0, 2.0)
    weights[[0, -1]] = 1.0
    return weights / (3.0 * _N_STEPS)


def _near(mean: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Nodes that crowd around each mean by a cubic map, and log of weight × slope."""
    with np.errstate(divide="ignore"):
        centre = 1.0 / (1.0 + np.cbrt(1.0 / mean - 1.0))[:, None]
        x = np.linspace(0.0, 1.0, _N_STEPS + 1)
        span = (1.0 - centre) ** 3 + centre**3
        nodes = ((x - centre) ** 3 + centre**3) / span
        slope = 3.0 * (x - centre) ** 2 / span
        return np.clip(nodes, 0.0, 1.0), np.log(_weights() * slope)


def simpson_patterns(
    alphas: FloatArray, sizes: IntArray, counts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Do what `veridical.kernels.beta_counts.pattern_table` does, less exactly."""
    nodes, log_weights = _near(counts.sum(axis=1) / sizes.sum())
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
    """Log z(z+1)…(z+steps−1); nothing is certain, and at z = 0 no step possible."""
    positive = np.maximum(z, np.finfo(float).tiny)
    logs = gammaln(positive + steps) - gammaln(positive)
    return np.where(steps == 0, 0.0, np.where(z > 0, logs, -np.inf))


def simpson_region(
    alphas: FloatArray, sizes: IntArray, region: tuple[IntArray, IntArray]
) -> tuple[FloatArray, FloatArray]:
    """Do what `veridical.kernels.beta_counts.region_table` does, less exactly.

    At θ = 0 and 1 features are constant, and low.
    """
    nodes = np.linspace(0.0, 1.0, _N_STEPS + 1)[1:-1]
    weights = _weights()
    mass = np.empty((nodes.size, int((sizes + 1).sum())))
    found = np.empty((2, len(alphas)))
    for a, alpha in enumerate(alphas):
        fill_masses(float(alpha), nodes, 1.0 - nodes, sizes, mass)
        found[:, a] = sum_region(mass, weights[1:-1], sizes, *region)
    return found[0] + weights[0] + weights[-1], found[1]

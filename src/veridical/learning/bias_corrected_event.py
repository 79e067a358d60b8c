"""What selection tells about the features that it discarded.

Features are independent and alike given α, so that the probability of what happened
to the discarded ones is a power of a single number, however many they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import gammaln, logsumexp

from veridical._core.arrays import FloatArray, IntArray
from veridical.kernels.beta_counts import log_low, pattern_table, region_table
from veridical.kernels.count_lattice import SAME, low_region
from veridical.learning.bias_corrected_factors import affordable, log_low_association
from veridical.learning.bias_corrected_simpson import simpson_region

Ties = Literal["exact", "lt", "le"]
TIES: tuple[Ties, ...] = ("exact", "lt", "le")

#: Points that a polynomial goes through, and the stretch of log α it serves.
_FEW, _NEAR = 21, 2.0


@dataclass(frozen=True, eq=False)
class Discarded:
    """Binary features whose correlation was too small.

    Parameters
    ----------
    sizes : int array of shape (K,)
        Cases of each class.
    gamma : float or Fraction
        The threshold, or its exact square.
    n_below, n_tied : int
        How many were discarded below the threshold, and how many upon it: these tied
        with features that were retained.
    """

    sizes: IntArray
    gamma: float | Fraction
    n_below: int
    n_tied: int

    def log_probability(
        self,
        alphas: FloatArray,
        ties: Ties = "exact",
        rule: str = "exact",
        n_threads: int = 1,
    ) -> FloatArray:
        """Logarithm of the adjustment factor for every α.

        Parameters
        ----------
        alphas : array of shape (A,)
            Values of α.
        ties : {"exact", "lt", "le"}
            Whether tied ones count as tied, as below or as "not above".
        rule : {"exact", "simpson"}
            How to integrate over θ.
        n_threads : int, default=1
            Threads that share the values of α.
        """

        def directly(points: FloatArray) -> FloatArray:
            return self._log_probability(points, ties, rule, n_threads)

        return through_few(alphas, directly)

    def _log_probability(
        self, alphas: FloatArray, ties: Ties, rule: str, n_threads: int
    ) -> FloatArray:
        total = np.zeros(len(alphas))
        n_below, n_tied = self.n_below, self.n_tied
        if ties == "exact" and n_tied and not affordable(self.sizes):
            ties = "le"  # simulation cannot tell a tie from a near miss
        nothing_below = self.gamma == 0
        if ties != "exact" and not (ties == "lt" and nothing_below):
            n_below, n_tied = n_below + n_tied, 0
        if n_below:
            total += n_below * self._log_low(alphas, ties == "le", rule, n_threads)
        if n_tied:
            total += n_tied * log_any(alphas, self.sizes, self._tied, n_threads)
        return total

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
        """Log P(below γ | α), or not above it."""
        sizes = self.sizes
        if not affordable(sizes):
            edge = float(self.gamma) * (1 + SAME if tied else 1 - SAME)
            return log_low_association(alphas, sizes, 2, max(edge**2, tied * SAME))
        region = self._wide if tied else self._strict
        if rule == "simpson":
            return log_low(*simpson_region(alphas, sizes, region))
        return log_low(*region_table(alphas, sizes, region, n_threads))


def through_few(
    alphas: FloatArray, function: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Evaluate a function of log α at many near points through a few.

    The probabilities are analytic in log α up to ±π from the real line, where α is
    negative. Over a factor of 7 in α a polynomial through 21 Chebyshev points then
    differs from them by less than 1e-13, in relation to their size.
    """
    logs = np.log(alphas)
    low, high = float(logs.min()), float(logs.max())
    if len(alphas) <= _FEW or not 0 < high - low <= _NEAR:
        return function(alphas)
    x = np.cos(np.pi * (np.arange(_FEW) + 0.5) / _FEW)
    middle, half = (low + high) / 2, (high - low) / 2
    found = function(np.exp(middle + half * x))
    fit = chebyshev.chebfit(x, found, _FEW - 1)
    return np.asarray(chebyshev.chebval((logs - middle) / half, fit), np.float64)


def log_any(
    alphas: FloatArray, sizes: IntArray, patterns: IntArray, n_threads: int = 1
) -> FloatArray:
    """Log P(one of these patterns | α)."""
    log_probability, _ = pattern_table(alphas, sizes, patterns, n_threads)
    return logsumexp(log_probability + log_ways(sizes, patterns), axis=1)


def log_ways(sizes: IntArray, patterns: IntArray) -> FloatArray:
    """Logarithm of the number of arrangements of each pattern's ones."""
    ways = gammaln(sizes + 1) - gammaln(patterns + 1) - gammaln(sizes - patterns + 1)
    return ways.sum(axis=1)


def tied_patterns(
    strict: tuple[IntArray, IntArray], wide: tuple[IntArray, IntArray], sizes: IntArray
) -> IntArray:
    """List the counts on the threshold: not above it, and not below."""
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

"""Retained binary features, grouped by their counts.

Features with the same number of ones in every class share all integrals: there are
far fewer such patterns than features. A test case is known by how many ones it has
among the features of each pattern, and its log-likelihoods for all values of α are a
product of matrices.

| symbol | meaning                                                     | shape     |
|--------|-------------------------------------------------------------|-----------|
| counts | ones of a pattern in each class                             | (T, K)    |
| times  | features that have it                                       | (T,)      |
| odds   | log-odds of a one, for class c and every α                  | (K, A, T) |
| none   | log-probability that no retained feature is one             | (K, A)    |
| S      | ones of a test case among the features of a pattern         | (B, T)    |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical.kernels.beta_counts import pattern_table
from veridical.kernels.binary_counts import count_patterns
from veridical.kernels.count_lattice import distinct
from veridical.learning.bias_corrected_event import Discarded, Ties
from veridical.learning.bias_corrected_simpson import simpson_patterns

RULES = ("exact", "simpson")


@dataclass(frozen=True, eq=False)
class Patterns:
    """The retained binary features and what selection tells of the others.

    Parameters
    ----------
    columns : int array of shape (k,)
        The retained columns.
    cuts : array of shape (k,)
        A value above its cut is a one.
    place : int array of shape (k,)
        The pattern of each.
    counts, times, sizes
        See the notation of the module; `sizes` are the cases of each class.
    discarded : Discarded or None
        None where there is nothing to correct for.
    ties : {"exact", "lt", "le"}
        How ties at the threshold count.
    rule : {"exact", "simpson"}
        How to integrate over θ.
    """

    columns: IntArray
    cuts: FloatArray
    place: IntArray
    counts: IntArray
    times: FloatArray
    sizes: IntArray
    discarded: Discarded | None
    ties: Ties = "exact"
    rule: str = "exact"
    n_threads: int = field(default=1, compare=False)

    @classmethod
    def of(
        cls,
        columns: IntArray,
        cuts: FloatArray,
        ones: IntArray,
        sizes: IntArray,
        discarded: Discarded | None,
        ties: Ties,
        rule: str,
        n_threads: int,
    ) -> Patterns:
        """Group the retained columns by their counts of ones, of shape (k, K)."""
        counts, place = distinct(ones, sizes)
        times = np.bincount(place, minlength=len(counts)).astype(np.float64)
        return cls(
            columns,
            cuts,
            place,
            counts,
            times,
            sizes,
            discarded,
            ties,
            rule,
            n_threads,
        )

    def _table(self, alphas: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Integrate θ out of every pattern: log-evidence and mean, (A, T) each."""
        if self.rule == "simpson":
            return simpson_patterns(alphas, self.sizes, self.counts)
        return pattern_table(alphas, self.sizes, self.counts, self.n_threads)

    def log_evidence(self, alphas: FloatArray) -> FloatArray:
        """Log P(retained features | α), of shape (A,)."""
        return self._table(alphas)[0] @ self.times

    def log_adjustment(self, alphas: FloatArray) -> FloatArray:
        """Log P(selection | α), of shape (A,)."""
        if self.discarded is None:
            return np.zeros(len(alphas))
        return self.discarded.log_probability(
            alphas, self.ties, self.rule, self.n_threads
        )

    def rates(self, alphas: FloatArray) -> tuple[FloatArray, Rates]:
        """Work out the evidence, and what predictions need, for these α."""
        logs, mean = self._table(alphas)
        odds = np.empty((len(self.sizes), *mean.shape))
        none = np.empty((len(self.sizes), len(alphas)))
        column = alphas[:, None]
        for c, size in enumerate(self.sizes):
            ones = column * mean + self.counts[:, c]
            zeros = column * (1.0 - mean) + (size - self.counts[:, c])
            odds[c] = np.log(ones) - np.log(zeros)
            none[c] = (np.log(zeros) - np.log(column + size)) @ self.times
        return logs @ self.times, Rates(self, odds, none)


@dataclass(frozen=True, eq=False)
class Rates:
    """Predictive log-odds of the retained features; see the module."""

    patterns: Patterns
    odds: FloatArray
    none: FloatArray

    def log_likelihood(self, values: NDArray[Any]) -> FloatArray:
        """Log P(x | class, α, training data), of shape (K, B, A)."""
        given = self.patterns
        S = count_patterns(
            values,
            given.columns,
            given.cuts,
            given.place,
            len(given.counts),
            given.n_threads,
        )
        return self.likelihood_of_counts(S)

    def likelihood_of_counts(self, S: FloatArray) -> FloatArray:
        """The same from the counts of ones."""
        return np.stack(
            [S @ odds.T + none for odds, none in zip(self.odds, self.none, strict=True)]
        )

    def draw_likelihood(
        self, classes: IntArray, points: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """The same for cases drawn from the model: classes and places on the grid."""
        p = 1.0 / (1.0 + np.exp(-self.odds[classes, points]))
        times = self.patterns.times.astype(np.int64)
        return self.likelihood_of_counts(rng.binomial(times, p).astype(np.float64))

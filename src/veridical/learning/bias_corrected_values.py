"""Retained and discarded features with more than two values.

| symbol | meaning                                                | shape       |
|--------|--------------------------------------------------------|-------------|
| tables | cases of each class with each value; a pattern         | (T, K, V)   |
| times  | features that have it                                  | (T,)        |
| logs   | predictive log-probability of a value, by class and α  | (K, A, T·V) |
| S      | features of a pattern that have value v in a test case | (B, T·V)    |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical.kernels.count_lattice import SAME
from veridical.kernels.dirichlet_counts import association, value_table
from veridical.learning.bias_corrected_event import Ties
from veridical.learning.bias_corrected_factors import log_low_association


def count_values(
    codes: NDArray[Any], y: IntArray, n_classes: int, n_values: int
) -> IntArray:
    """Count the cases of each class with each value."""
    places = y * n_values + codes.astype(np.intp)
    counted = np.bincount(places, minlength=n_classes * n_values)
    return counted.reshape(n_classes, n_values).astype(np.intp)


def cramer(table: IntArray) -> float:
    """Cramér's V of a table of counts; |correlation| where it is two by two."""
    return float(np.sqrt(min(association(table) / (min(table.shape) - 1), 1.0)))


@dataclass(frozen=True, eq=False)
class DiscardedValues:
    """Features with V values whose Cramér's V was too small."""

    sizes: IntArray
    n_values: int
    gamma: float
    n_below: int
    n_tied: int

    def log_probability(self, alphas: FloatArray, ties: Ties) -> FloatArray:
        """Logarithm of the adjustment factor for every α."""
        scale = min(len(self.sizes), self.n_values) - 1
        n_below, n_tied = self.n_below, self.n_tied
        if ties != "exact" and not (ties == "lt" and self.gamma == 0):
            n_below, n_tied = n_below + n_tied, 0

        def low(tied: bool) -> FloatArray:
            edge = self.gamma * (1 + SAME if tied else 1 - SAME)
            cut = max(edge**2 * scale, SAME if tied else 0.0)
            return log_low_association(alphas, self.sizes, self.n_values, cut)

        total = np.zeros(len(alphas))
        if n_below:
            total += n_below * low(ties == "le")
        if n_tied:
            wide, strict = low(True), (low(False) if self.gamma > 0 else -np.inf)
            # A statistic with so many values seldom ties; where simulation has met
            # no tie at all, "not more" is what can be said.
            gap = -np.expm1(np.minimum(strict - wide, 0.0))
            found = np.all(gap > 0)
            total += n_tied * (wide + np.log(gap) if found else wide)
        return total


@dataclass(frozen=True, eq=False)
class ValueTables:
    """The retained features with V values and what selection tells of the others."""

    columns: IntArray
    place: IntArray
    tables: IntArray
    times: FloatArray
    sizes: IntArray
    n_values: int
    discarded: DiscardedValues | None
    ties: Ties
    n_threads: int = field(default=1, compare=False)

    @classmethod
    def of(
        cls,
        columns: IntArray,
        tables: IntArray,
        sizes: IntArray,
        n_values: int,
        discarded: DiscardedValues | None,
        ties: Ties,
        n_threads: int,
    ) -> ValueTables:
        """Group the retained columns by their counts."""
        shape = (len(sizes), n_values)
        flat = tables.reshape(len(columns), len(sizes) * n_values).astype(np.intp)
        found, place = np.unique(flat, axis=0, return_inverse=True)
        return cls(
            columns,
            place.ravel().astype(np.intp),
            np.ascontiguousarray(found.reshape(-1, *shape)),
            np.bincount(place.ravel(), minlength=len(found)).astype(np.float64),
            sizes,
            n_values,
            discarded,
            ties,
            n_threads,
        )

    def log_evidence(self, alphas: FloatArray) -> FloatArray:
        """Log P(retained features | α), of shape (A,)."""
        logs, _ = value_table(alphas, self.sizes, self.tables, self.n_threads)
        return logs @ self.times

    def log_adjustment(self, alphas: FloatArray) -> FloatArray:
        """Log P(selection | α), of shape (A,)."""
        if self.discarded is None:
            return np.zeros(len(alphas))
        return self.discarded.log_probability(alphas, self.ties)

    def rates(self, alphas: FloatArray) -> tuple[FloatArray, ValueRates]:
        """Work out the evidence, and what predictions need, for these α."""
        logs, mean = value_table(alphas, self.sizes, self.tables, self.n_threads)
        column = alphas[:, None, None]
        found = np.stack(
            [
                np.log(column * mean + self.tables[:, c]) - np.log(column + size)
                for c, size in enumerate(self.sizes)
            ]
        )
        flat = found.reshape(len(self.sizes), len(alphas), -1)
        return logs @ self.times, ValueRates(self, flat)


@dataclass(frozen=True, eq=False)
class ValueRates:
    """Predictive log-probabilities of the values; see the module."""

    group: ValueTables
    logs: FloatArray

    def log_likelihood(self, values: NDArray[Any]) -> FloatArray:
        """Log P(x | class, α, training data), of shape (K, B, A)."""
        group = self.group
        S = np.zeros((len(values), self.logs.shape[2]))
        rows = np.arange(len(values))
        for j, t in zip(group.columns, group.place, strict=True):
            codes = values[:, j]
            known = ~np.isnan(codes)  # a value never seen before says nothing
            at = t * group.n_values + codes[known].astype(np.intp)
            np.add.at(S, (rows[known], at), 1.0)
        return np.stack([S @ logs.T for logs in self.logs])

    def draw_likelihood(
        self, classes: IntArray, points: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """The same for cases drawn from the model."""
        group = self.group
        shape = (len(classes), len(group.tables), group.n_values)
        p = np.exp(self.logs[classes, points]).reshape(shape)
        p /= p.sum(axis=2, keepdims=True)
        S = rng.multinomial(group.times.astype(np.int64), p).reshape(shape[0], -1)
        return np.stack([S @ logs.T for logs in self.logs])

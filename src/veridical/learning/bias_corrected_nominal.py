"""Count features, rank them, and keep the best: what selection sees and decides.

Features are grouped by how many values they have. Those of a group are alike given α,
so that each group has one adjustment factor, and all groups share α. Numeric features
are binarized first.

Features of one group with the same counts in every class share all integrals: there are
far fewer such patterns than features. A test sample is known by how many ones it has
among the features of each pattern, and its log-likelihoods for all values of α are a
product of matrices.

Binary features

| symbol | meaning                                                     | shape     |
|--------|-------------------------------------------------------------|-----------|
| counts | ones of a pattern in each class                             | (T, K)    |
| times  | features that have it                                       | (T,)      |
| odds   | log-odds of a one, for class c and every α                  | (K, A, T) |
| none   | log-probability that no retained feature is one             | (K, A)    |
| S      | ones of a test sample among the features of a pattern       | (B, T)    |

Features with V > 2 categories

| symbol | meaning                                                  | shape       |
|--------|----------------------------------------------------------|-------------|
| tables | samples of each class with each category; a pattern      | (T, K, V)   |
| times  | features that have it                                    | (T,)        |
| logs   | predictive log-probability of a category, by class and α | (K, A, T·V) |
| S      | features of a pattern with category v in a test sample   | (B, T·V)    |
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.encoding import Categories, encode
from veridical._core.errors import InputError
from veridical._core.reading import refuse_missing_or_infinite
from veridical._core.text import show
from veridical._core.validation import count_features
from veridical.kernels.beta_counts import pattern_table
from veridical.kernels.binary_counts import count_ones, count_patterns
from veridical.kernels.count_lattice import (
    SAME,
    distinct,
    rank_patterns,
    squared,
    statistics,
)
from veridical.kernels.dirichlet_counts import association, value_table
from veridical.kernels.ordering import order_by_score
from veridical.learning.bias_corrected_evidence import (
    Discarded,
    DiscardedValues,
    Ties,
    simpson_patterns,
)

# -- reading ---------------------------------------------------------------------------

#: What messages call the method that cannot do with missing values.
WHO = "The correction for selection bias"

#: The cut of a feature that holds zeros and ones already.
PLAIN_CUT = 0.5


def median_cuts(values: NDArray[Any]) -> FloatArray:
    """Cut each column at its median; one of two values only, between them.

    A value is a one where it is above the cut, so that a value equal to the median is
    a zero. A column that is a copy of the class, of two values, keeps both.
    """
    cuts = np.median(values, axis=0).astype(np.float64)
    low, high = values.min(axis=0), values.max(axis=0)
    two = (((values == low) | (values == high)).all(axis=0)) & (low < high)
    # Halved before they are added: the sum of two large numbers may be infinite.
    cuts[two] = low[two] / 2.0 + high[two] / 2.0
    return cuts


def find_cuts(
    values: NDArray[Any], plain: NDArray[np.bool_], binarize: Any, names: Any
) -> FloatArray:
    """Find the cut of every column; those of zeros and ones are plain.

    Parameters
    ----------
    values : array of shape (n, p)
        All columns.
    plain : bool array of shape (p,)
        Columns that hold nothing but 0 and 1.
    binarize : "median", number or None
        How to cut the others; None refuses them.
    names : array of str or None
        What the columns are called.
    """
    cuts = np.full(values.shape[1], PLAIN_CUT)
    rest = np.flatnonzero(~plain)
    if rest.size == 0:
        return cuts
    refuse_missing_or_infinite(values[:, rest], names_of(rest, names), WHO)
    if binarize is None:
        name = show(names_of(rest[:1], names)[0])
        raise InputError(
            f"column {name} holds other values than 0 and 1; use binarize='median' or "
            "cut it yourself."
        )
    if isinstance(binarize, str) and binarize == "median":
        cuts[rest] = median_cuts(values[:, rest].astype(np.float64, copy=False))
    elif isinstance(binarize, Real) and not isinstance(binarize, bool):
        cuts[rest] = float(binarize)
    else:
        raise InputError(
            f"binarize={binarize!r} is not known; use 'median', a number, or None."
        )
    return cuts


def names_of(columns: Any, names: Any) -> list[Any]:
    """Return the names of columns, or their indices where there are no names."""
    return [int(j) if names is None else names[j] for j in columns]


def check_threshold(threshold: Any) -> float:
    """Read ``threshold``: an absolute correlation."""
    real = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not real or not 0 <= threshold <= 1:
        raise InputError(
            f"threshold={threshold!r} is no absolute correlation; give a number from 0 "
            "to 1, or None."
        )
    return float(threshold)


# -- binary features -------------------------------------------------------------------

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
        See the notation of the module; `sizes` are the samples of each class.
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
        """Compute the evidence, and what predictions need, for these α."""
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
        """Compute the same from the counts of ones."""
        return np.stack(
            [S @ odds.T + none for odds, none in zip(self.odds, self.none, strict=True)]
        )

    def draw_likelihood(
        self, classes: IntArray, points: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """Do the same for samples drawn from the model: classes and indices of α."""
        p = 1.0 / (1.0 + np.exp(-self.odds[classes, points]))
        times = self.patterns.times.astype(np.int64)
        return self.likelihood_of_counts(rng.binomial(times, p).astype(np.float64))


# -- features with several categories --------------------------------------------------


def count_values(
    codes: NDArray[Any], y: IntArray, n_classes: int, n_values: int
) -> IntArray:
    """Count the samples of each class with each value."""
    places = y * n_values + codes.astype(np.intp)
    counted = np.bincount(places, minlength=n_classes * n_values)
    return counted.reshape(n_classes, n_values).astype(np.intp)


def cramer(table: IntArray) -> float:
    """Cramér's V of a table of counts; |correlation| where it is two by two."""
    return float(np.sqrt(min(association(table) / (min(table.shape) - 1), 1.0)))


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
        """Compute the evidence, and what predictions need, for these α."""
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
        """Do the same for samples drawn from the model."""
        group = self.group
        shape = (len(classes), len(group.tables), group.n_values)
        p = np.exp(self.logs[classes, points]).reshape(shape)
        p /= p.sum(axis=2, keepdims=True)
        S = rng.multinomial(group.times.astype(np.int64), p).reshape(shape[0], -1)
        return np.stack([S @ logs.T for logs in self.logs])


# -- selection -------------------------------------------------------------------------

#: Features that are binarized at a time; more need more memory.
_BLOCK = 4096


@dataclass(frozen=True)
class Chosen:
    """What was selected.

    Parameters
    ----------
    order : int array of shape (p,)
        All features, best first.
    n_kept : int
        How many of them are retained.
    threshold : float
        The statistic of the last retained feature, or what was asked for.
    exact : Fraction or None
        The square of the threshold, where it is known as a fraction.
    tied : bool array of shape (p,)
        Discarded features on the threshold itself.
    """

    order: IntArray
    n_kept: int
    threshold: float
    exact: Fraction | None
    tied: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Features:
    """All features and their counts.

    Parameters
    ----------
    values : array of shape (n, p) or None
        What was read; categorical features hold codes.
    categories : tuple or None
        The values of categorical features; None where there are none.
    n_values : int array of shape (p,)
        Number of values of each feature.
    cuts : array of shape (p,)
        A binary feature is one above its cut.
    sizes : int array of shape (K,)
        Samples of each class.
    ones : int array of shape (p, K)
        Counts of ones; meaningless for features with more than two values.
    tables : mapping of column to int array of shape (K, V)
        Counts of the others.
    scores : array of shape (p,)
        The selection statistic.
    names : array or None
        What the columns are called.
    """

    values: Any
    categories: Categories | None
    n_values: IntArray
    cuts: FloatArray
    sizes: IntArray
    ones: IntArray
    tables: dict[int, IntArray]
    scores: FloatArray
    names: Any

    @classmethod
    def read(
        cls,
        X: Any,
        y: IntArray,
        sizes: IntArray,
        categorical_features: Any,
        binarize: Any,
        names: Any,
    ) -> Features:
        """Count every feature in every class."""
        values, categories = _as_numbers(X, categorical_features)
        p = values.shape[1]
        n_values = np.full(p, 2, dtype=np.intp)
        for j, known in enumerate(categories or ()):
            if known is not None:
                n_values[j] = max(2, len(known))
        nominal = np.array([known is not None for known in categories or ()], bool)
        ones, plain = count_ones(values, y, len(sizes))
        if nominal.any():
            told = names_of(np.flatnonzero(nominal), names)
            refuse_missing_or_infinite(values[:, nominal], told, WHO)
            plain |= nominal
        cuts = find_cuts(values, plain, binarize, names)
        rest = np.flatnonzero(~plain)
        for start in range(0, rest.size, _BLOCK):
            columns = rest[start : start + _BLOCK]
            above = values[:, columns] > cuts[columns]
            for c in range(len(sizes)):
                ones[columns, c] = above[y == c].sum(axis=0)
        tables = {
            k: count_values(values[:, k], y, len(sizes), int(n_values[k]))
            for k in np.flatnonzero(n_values > 2).tolist()
        }
        scores = statistics(sizes, ones)
        for k, table in tables.items():
            scores[k] = cramer(table)
        return cls(
            values, categories, n_values, cuts, sizes, ones, tables, scores, names
        )

    def without_data(self) -> Features:
        """Drop training samples and counts; keep what reading test samples needs."""
        return replace(self, values=None, ones=np.empty((0, 0), np.intp), tables={})

    def values_of(self, X: Any, columns: IntArray) -> NDArray[Any]:
        """Read test samples as the training samples; check the retained columns."""
        if self.categories is None:
            values = _as_numbers(X, None)[0]
        else:
            values = encode(X, categories=self.categories).values
        numeric = columns
        if self.categories is not None:
            numeric = columns[[self.categories[j] is None for j in columns]]
        if values.dtype.kind == "f" and numeric.size:
            told = names_of(numeric, self.names)
            refuse_missing_or_infinite(values[:, numeric], told, WHO)
        return values

    def select(self, wanted: Any, threshold: Any) -> Chosen:
        """Rank the features and keep the best."""
        order, place = self._ranks()
        if threshold is not None:
            cut = check_threshold(threshold)
            n_kept = int((self.scores >= cut * (1 - SAME)).sum())
            return Chosen(order, n_kept, cut, None, np.zeros(order.size, dtype=bool))
        n_kept = count_features(wanted, order.size)
        last = int(order[n_kept - 1])
        if place is None:
            tied = self.scores >= self.scores[last] * (1 - SAME)
        else:
            tied = place == place[last]
        tied[order[:n_kept]] = False
        exact = None
        if place is not None and len(self.sizes) == 2:
            exact = squared(self.sizes, self.ones[last])
        return Chosen(order, n_kept, float(self.scores[last]), exact, tied)

    def _ranks(self) -> tuple[IntArray, IntArray | None]:
        """Order all features; where all are binary, also rank their statistics."""
        if self.tables:
            return order_by_score(self.scores, rtol=SAME), None
        patterns, which = distinct(self.ones, self.sizes)
        place = rank_patterns(self.sizes, patterns)[which]
        small = np.uint16 if place.max() < 1 << 16 else np.int64
        return np.argsort(place.astype(small), kind="stable"), place


def _as_numbers(
    X: Any, categorical_features: Any
) -> tuple[NDArray[Any], Categories | None]:
    """Read a matrix of numbers; arrays of numbers are not copied."""
    by_dtype = categorical_features is None or isinstance(categorical_features, str)
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and by_dtype:
        return X, None
    table = encode(X, categorical_features)
    if not table.categorical.any():
        return table.values, None
    return table.values, table.categories


@dataclass(frozen=True, eq=False)
class Kept:
    """The retained features, group by group.

    Parameters
    ----------
    blocks : tuple of Patterns or ValueTables
        One group for each number of values.
    rates : tuple of Rates or ValueRates
        Their predictive probabilities; empty until ``with_rates``.
    """

    blocks: tuple[Patterns | ValueTables, ...]
    rates: tuple[Rates | ValueRates, ...] = ()

    @classmethod
    def of(
        cls,
        features: Features,
        chosen: Chosen,
        *,
        correct: bool,
        ties: Ties,
        rule: str,
        n_threads: int,
    ) -> Kept:
        """Gather the retained features, and count the discarded ones."""
        kept = np.zeros(chosen.order.size, dtype=bool)
        kept[chosen.order[: chosen.n_kept]] = True
        gamma = chosen.threshold if chosen.exact is None else chosen.exact
        blocks: list[Patterns | ValueTables] = []
        for v in np.unique(features.n_values):
            group = features.n_values == v
            mine = np.flatnonzero(group & kept)
            n_tied = int((group & chosen.tied).sum())
            n_below = int((group & ~kept).sum()) - n_tied
            known = correct and n_tied + n_below > 0
            if v == 2:
                event = Discarded(features.sizes, gamma, n_below, n_tied)
                blocks.append(
                    Patterns.of(
                        mine,
                        features.cuts[mine],
                        features.ones[mine],
                        features.sizes,
                        event if known else None,
                        ties,
                        rule,
                        n_threads,
                    )
                )
            else:
                values = DiscardedValues(
                    features.sizes, int(v), chosen.threshold, n_below, n_tied
                )
                blocks.append(
                    ValueTables.of(
                        mine,
                        np.array([features.tables[j] for j in mine.tolist()]),
                        features.sizes,
                        int(v),
                        values if known else None,
                        ties,
                        n_threads,
                    )
                )
        return cls(tuple(blocks))

    def log_evidence(self, alphas: FloatArray) -> FloatArray:
        """Log P(retained features | α)."""
        return sum(block.log_evidence(alphas) for block in self.blocks)  # type: ignore[return-value]

    def log_adjustment(self, alphas: FloatArray) -> FloatArray:
        """Log P(selection | α)."""
        return sum(block.log_adjustment(alphas) for block in self.blocks)  # type: ignore[return-value]

    def with_rates(self, alphas: FloatArray) -> tuple[FloatArray, Kept]:
        """Compute the evidence, and what predictions need, for these α."""
        found = [block.rates(alphas) for block in self.blocks]
        evidence = sum(part[0] for part in found)
        return evidence, replace(self, rates=tuple(part[1] for part in found))  # type: ignore[return-value]

    def log_likelihood(self, values: NDArray[Any]) -> FloatArray:
        """Log P(x | class, α, training data), of shape (K, B, A)."""
        return sum(part.log_likelihood(values) for part in self.rates)  # type: ignore[return-value]

    def draw_likelihood(
        self, classes: IntArray, points: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """Do the same for samples drawn from the model."""
        return sum(part.draw_likelihood(classes, points, rng) for part in self.rates)  # type: ignore[return-value]

"""Count features, rank them and keep the best, as selection does.

Features are grouped by their number of categories. Those of a group have the same
distribution given α, so that each group has one adjustment factor, and all groups share
α. Numeric features are binarized first.

Features of one group with the same counts in every class share all integrals: there are
far fewer such patterns than features. Of a test sample only the number of ones among
the features of each pattern matters, and its log-likelihoods for all values of α are a
product of matrices.

A point is a value of α and a share π of null features, features without an effect. In
the published model π is 0, and there is one point for each α.

Binary features

| symbol | meaning                                                     | shape     |
|--------|-------------------------------------------------------------|-----------|
| counts | ones of a pattern in each class                             | (T, K)    |
| times  | features that have it                                       | (T,)      |
| odds   | log-odds of a one, for class c and every point              | (K, G, T) |
| none   | log-probability that no retained feature is one             | (K, G)    |
| S      | ones of a test sample among the features of a pattern       | (B, T)    |

Features with V > 2 categories

| symbol | meaning                                                  | shape       |
|--------|----------------------------------------------------------|-------------|
| tables | samples of each class with each category; a pattern      | (T, K, V)   |
| times  | features that have it                                    | (T,)        |
| logs   | log-probability of a category, by class and point        | (K, G, T·V) |
| S      | features of a pattern with category v in a test sample   | (B, T·V)    |
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import betaln, gammaln

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.encoding import Categories, encode
from veridical._core.errors import InputError
from veridical._core.reading import refuse_missing_or_infinite
from veridical._core.text import quote
from veridical._core.validation import count_features
from veridical.kernels.beta_counts import (
    UNIFORM,
    BaseRates,
    log_no_effect,
    pattern_table,
)
from veridical.kernels.binary_counts import count_ones, count_patterns
from veridical.kernels.count_lattice import (
    EQUAL_WITHIN,
    distinct,
    rank_patterns,
    squared,
    statistics,
)
from veridical.kernels.dirichlet_counts import cramers_v, value_table
from veridical.kernels.ordering import order_by_score
from veridical.learning.bias_corrected_evidence import (
    Components,
    Discarded,
    DiscardedValues,
    Ties,
    simpson_patterns,
)

# -- reading ---------------------------------------------------------------------------

#: Subject of the message that missing values are not accepted.
CORRECTION = "The correction for selection bias"

#: The cut of a feature that holds 0 and 1 already.
PLAIN_CUT = 0.5


def median_cuts(values: NDArray[Any]) -> FloatArray:
    """Return the median of each feature; of two values, the middle between them.

    A value above the cut counts as 1, so that a value equal to the median counts as 0.
    A feature with two values, as a copy of the class has, keeps both.
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
    """Return the cut of every feature.

    Parameters
    ----------
    values : array of shape (n, p)
        All features.
    plain : bool array of shape (p,)
        Features that hold nothing but 0 and 1.
    binarize : "median", number or None
        How to cut the others; None raises an error.
    names : array of str or None
        Names of the features.
    """
    cuts = np.full(values.shape[1], PLAIN_CUT)
    rest = np.flatnonzero(~plain)
    if rest.size == 0:
        return cuts
    refuse_missing_or_infinite(
        values[:, rest], _names_or_indices(rest, names), CORRECTION
    )
    if binarize is None:
        name = quote(_names_or_indices(rest[:1], names)[0])
        raise InputError(
            f"Feature {name} holds other values than 0 and 1; use binarize='median', "
            "or binarize it beforehand."
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


def _names_or_indices(columns: Any, names: Any) -> list[Any]:
    """Return the names of features, or their indices where there are no names."""
    return [int(j) if names is None else names[j] for j in columns]


def check_threshold(threshold: Any) -> float:
    """Check and return ``threshold``, an absolute correlation."""
    real = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not real or not 0 <= threshold <= 1:
        raise InputError(
            f"threshold={threshold!r} is not an absolute correlation; give a number "
            "from 0 to 1, or None."
        )
    return float(threshold)


# -- binary features -------------------------------------------------------------------

RULES = ("exact", "simpson")


@dataclass(frozen=True, eq=False)
class Patterns:
    """The retained binary features, and the discarded ones.

    Parameters
    ----------
    columns : int array of shape (k,)
        The retained features.
    cuts : array of shape (k,)
        A value above its cut counts as 1.
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
    rates : BaseRates
        The distribution of θ.
    null : bool
        Whether there may be null features.
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
    rates: BaseRates = UNIFORM
    null: bool = False

    @classmethod
    def from_counts(
        cls,
        columns: IntArray,
        cuts: FloatArray,
        ones: IntArray,
        sizes: IntArray,
        discarded: Discarded | None,
        ties: Ties,
        rule: str,
        n_threads: int,
        rates: BaseRates,
        null: bool,
    ) -> Patterns:
        """Group the retained features by their counts of ones, of shape (k, K)."""
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
            rates,
            null,
        )

    def _table(self, alphas: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Integrate over θ for every pattern: log-evidence and mean, (A, T) each."""
        if self.rule == "simpson":
            return simpson_patterns(alphas, self.sizes, self.counts)
        return pattern_table(
            alphas, self.sizes, self.counts, self.n_threads, self.rates
        )

    def _components(self, logs: FloatArray) -> Components:
        """Put the evidence of null features beside that of the others."""
        null = None
        if self.null:
            null = log_no_effect(self.sizes, self.counts, self.rates)
        return Components(logs, self.times, null)

    def evidence(self, alphas: FloatArray) -> Components:
        """Compute the log-probabilities of the retained features."""
        return self._components(self._table(alphas)[0])

    def adjustment(self, alphas: FloatArray) -> Components:
        """Compute the log-probabilities of what is known of the discarded features."""
        if self.discarded is None:
            return _nothing_known(alphas, self.null)
        return self.discarded.components(
            alphas, self.ties, self.rule, self.n_threads, null=self.null
        )

    def predictive_tables(self, alphas: FloatArray) -> PatternTables:
        """Compute the tables from which classes are predicted, for these α."""
        logs, mean = self._table(alphas)
        return PatternTables(self, self._components(logs), alphas, mean)


def _nothing_known(alphas: FloatArray, null: bool) -> Components:
    """Return components of no feature at all."""
    return Components(
        np.zeros((len(alphas), 0)), np.zeros(0), np.zeros(0) if null else None
    )


@dataclass(frozen=True, eq=False)
class PatternTables:
    """Evidence and mean of θ of every pattern, for many α."""

    patterns: Patterns
    components: Components
    alphas: FloatArray
    mean: FloatArray

    def at(self, rows: IntArray, logits: FloatArray) -> Rates:
        """Compute the predictive log-odds at G points.

        Parameters
        ----------
        rows : int array of shape (G,)
            The index of α.
        logits : array of shape (G,)
            log π/(1 − π), minus infinity for no null features.
        """
        given = self.patterns
        # Without null features the points are the values of α.
        mean = self.mean[rows] if given.null else self.mean
        odds = np.empty((len(given.sizes), *mean.shape))
        none = np.empty((len(given.sizes), len(rows)))
        column = self.alphas[rows, None]
        if given.null:
            n, s = int(given.sizes.sum()), given.counts.sum(axis=1)
            a, b = given.rates
            null, effect = self.components.null_weights(rows, logits)
            null_ones = null * ((a + s) / (a + b + n))
            null_zeros = null * ((b + n - s) / (a + b + n))
        for c, size in enumerate(given.sizes):
            ones = column * mean + given.counts[:, c]
            zeros = column * (1.0 - mean) + (size - given.counts[:, c])
            total = column + size
            if given.null:
                ones = null_ones + effect * ones / total
                zeros = null_zeros + effect * zeros / total
                total = np.ones_like(column)
            log_zeros = np.log(zeros)
            odds[c] = np.log(ones) - log_zeros
            none[c] = (log_zeros - np.log(total)) @ given.times
        return Rates(given, odds, none)


@dataclass(frozen=True, eq=False)
class Rates:
    """Predictive log-odds of the retained features; see the module."""

    patterns: Patterns
    odds: FloatArray
    none: FloatArray

    def log_likelihood(self, values: NDArray[Any]) -> FloatArray:
        """Compute log P(x | class, point, training data), of shape (K, B, G)."""
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
        """Compute the log-likelihoods from the counts of ones, (K, B, G)."""
        return np.stack(
            [S @ odds.T + none for odds, none in zip(self.odds, self.none, strict=True)]
        )

    def draw_likelihood(
        self, classes: IntArray, points: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """Draw samples given classes and points; compute their likelihoods."""
        p = 1.0 / (1.0 + np.exp(-self.odds[classes, points]))
        times = self.patterns.times.astype(np.int64)
        return self.likelihood_of_counts(rng.binomial(times, p).astype(np.float64))


# -- features with several categories --------------------------------------------------


def _count_by_class(
    codes: NDArray[Any], y: IntArray, n_classes: int, n_values: int
) -> IntArray:
    """Count the samples of each class with each category."""
    places = y * n_values + codes.astype(np.intp)
    counted = np.bincount(places, minlength=n_classes * n_values)
    return counted.reshape(n_classes, n_values).astype(np.intp)


@dataclass(frozen=True, eq=False)
class ValueTables:
    """The retained features with V categories, and the discarded ones."""

    columns: IntArray
    place: IntArray
    tables: IntArray
    times: FloatArray
    sizes: IntArray
    n_values: int
    discarded: DiscardedValues | None
    ties: Ties
    n_threads: int = field(default=1, compare=False)
    null: bool = False

    @classmethod
    def from_counts(
        cls,
        columns: IntArray,
        tables: IntArray,
        sizes: IntArray,
        n_values: int,
        discarded: DiscardedValues | None,
        ties: Ties,
        n_threads: int,
        null: bool,
    ) -> ValueTables:
        """Group the retained features by their counts."""
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
            null,
        )

    def _components(self, logs: FloatArray) -> Components:
        """Put the evidence of null features beside that of the others."""
        null = None
        if self.null:
            totals, V = self.tables.sum(axis=1), self.n_values
            null = gammaln(totals + 1.0).sum(axis=1) + gammaln(V)
            null -= gammaln(self.sizes.sum() + V)
        return Components(logs, self.times, null)

    def evidence(self, alphas: FloatArray) -> Components:
        """Compute the log-probabilities of the retained features."""
        logs, _ = value_table(alphas, self.sizes, self.tables, self.n_threads)
        return self._components(logs)

    def adjustment(self, alphas: FloatArray) -> Components:
        """Compute the log-probabilities of what is known of the discarded features."""
        if self.discarded is None:
            return _nothing_known(alphas, self.null)
        return self.discarded.components(alphas, self.ties, null=self.null)

    def predictive_tables(self, alphas: FloatArray) -> CategoryTables:
        """Compute the tables from which classes are predicted, for these α."""
        logs, mean = value_table(alphas, self.sizes, self.tables, self.n_threads)
        return CategoryTables(self, self._components(logs), alphas, mean)


@dataclass(frozen=True, eq=False)
class CategoryTables:
    """Evidence and mean of θ of every table of counts, for many α."""

    group: ValueTables
    components: Components
    alphas: FloatArray
    mean: FloatArray

    def at(self, rows: IntArray, logits: FloatArray) -> ValueRates:
        """Compute the predictive log-probabilities; see `PatternTables.at`."""
        group, column = self.group, self.alphas[rows, None, None]
        found = np.empty((len(group.sizes), len(rows), group.tables[:, 0].size))
        if group.null:
            null, effect = self.components.null_weights(rows, logits)
            shares = group.tables.sum(axis=1) + 1.0
            shares /= group.sizes.sum() + float(group.n_values)
        for c, size in enumerate(group.sizes):
            p = (column * self.mean[rows] + group.tables[:, c]) / (column + size)
            if group.null:
                p = null[:, :, None] * shares + effect[:, :, None] * p
            found[c] = np.log(p).reshape(len(rows), -1)
        return ValueRates(group, found)


@dataclass(frozen=True, eq=False)
class ValueRates:
    """Predictive log-probabilities of the categories; see the module."""

    group: ValueTables
    logs: FloatArray

    def log_likelihood(self, values: NDArray[Any]) -> FloatArray:
        """Compute log P(x | class, point, training data), of shape (K, B, G)."""
        group = self.group
        S = np.zeros((len(values), self.logs.shape[2]))
        rows = np.arange(len(values))
        for j, t in zip(group.columns, group.place, strict=True):
            codes = values[:, j]
            known = ~np.isnan(codes)  # an unknown category is skipped
            at = t * group.n_values + codes[known].astype(np.intp)
            np.add.at(S, (rows[known], at), 1.0)
        return np.stack([S @ logs.T for logs in self.logs])

    def draw_likelihood(
        self, classes: IntArray, points: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """Draw samples given classes and points; compute their likelihoods."""
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
class FeatureChoice:
    """A selection of features.

    Parameters
    ----------
    order : int array of shape (p,)
        All features, best first.
    n_kept : int
        Number of retained features.
    threshold : float
        The statistic of the last retained feature, or the given threshold.
    exact : Fraction or None
        The exact square of the threshold, where it is known.
    tied : bool array of shape (p,)
        Discarded features whose statistic equals the threshold.
    """

    order: IntArray
    n_kept: int
    threshold: float
    exact: Fraction | None
    tied: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CountedFeatures:
    """All features and their counts.

    Parameters
    ----------
    values : array of shape (n, p) or None
        The samples; categorical features hold codes.
    categories : tuple or None
        The categories of categorical features; None where there are none.
    n_values : int array of shape (p,)
        Number of categories of each feature; 2 for a binary one.
    cuts : array of shape (p,)
        A binary feature is 1 above its cut.
    sizes : int array of shape (K,)
        Samples of each class.
    ones : int array of shape (p, K)
        Counts of ones; without meaning for features with more than two categories.
    tables : mapping of feature index to int array of shape (K, V)
        Counts of those.
    scores : array of shape (p,)
        The selection statistic.
    names : array or None
        Names of the features.
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
    ) -> CountedFeatures:
        """Read the training samples, and count the values of features in each class."""
        values, categories = _as_numbers(X, categorical_features)
        p = values.shape[1]
        n_values = np.full(p, 2, dtype=np.intp)
        for j, known in enumerate(categories or ()):
            if known is not None:
                n_values[j] = max(2, len(known))
        categorical = np.array([known is not None for known in categories or ()], bool)
        ones, plain = count_ones(values, y, len(sizes))
        if categorical.any():
            told = _names_or_indices(np.flatnonzero(categorical), names)
            refuse_missing_or_infinite(values[:, categorical], told, CORRECTION)
            plain |= categorical
        cuts = find_cuts(values, plain, binarize, names)
        rest = np.flatnonzero(~plain)
        for start in range(0, rest.size, _BLOCK):
            columns = rest[start : start + _BLOCK]
            above = values[:, columns] > cuts[columns]
            for c in range(len(sizes)):
                ones[columns, c] = above[y == c].sum(axis=0)
        tables = {
            k: _count_by_class(values[:, k], y, len(sizes), int(n_values[k]))
            for k in np.flatnonzero(n_values > 2).tolist()
        }
        scores = statistics(sizes, ones)
        for k, table in tables.items():
            scores[k] = cramers_v(table)
        return cls(
            values, categories, n_values, cuts, sizes, ones, tables, scores, names
        )

    def without_data(self) -> CountedFeatures:
        """Copy without training samples and counts; enough to read new samples."""
        return replace(self, values=None, ones=np.empty((0, 0), np.intp), tables={})

    def read_new(self, X: Any, columns: IntArray) -> NDArray[Any]:
        """Read new samples like the training samples; check the retained features."""
        if self.categories is None:
            values = _as_numbers(X, None)[0]
        else:
            values = encode(X, categories=self.categories).values
        numeric = columns
        if self.categories is not None:
            numeric = columns[[self.categories[j] is None for j in columns]]
        if values.dtype.kind == "f" and numeric.size:
            told = _names_or_indices(numeric, self.names)
            refuse_missing_or_infinite(values[:, numeric], told, CORRECTION)
        return values

    def select(self, wanted: Any, threshold: Any) -> FeatureChoice:
        """Rank the features and keep the best."""
        order, place = self._ranks()
        if threshold is not None:
            cut = check_threshold(threshold)
            n_kept = int((self.scores >= cut * (1 - EQUAL_WITHIN)).sum())
            return FeatureChoice(
                order, n_kept, cut, None, np.zeros(order.size, dtype=bool)
            )
        n_kept = count_features(wanted, order.size)
        last = int(order[n_kept - 1])
        if place is None:
            tied = self.scores >= self.scores[last] * (1 - EQUAL_WITHIN)
        else:
            tied = place == place[last]
        tied[order[:n_kept]] = False
        exact = None
        if place is not None and len(self.sizes) == 2:
            exact = squared(self.sizes, self.ones[last])
        return FeatureChoice(order, n_kept, float(self.scores[last]), exact, tied)

    def base_rates(self, given: Any) -> tuple[float, float]:
        """Return the parameters of the distribution of base rates of binary features.

        `given` is the parameter ``base_rates`` of the estimator.
        """
        rates = check_base_rates(given)
        if rates is None:
            totals = self.ones[self.n_values == 2].sum(axis=1)
            rates = estimate_base_rates(totals, int(self.sizes.sum()))
        return rates.a, rates.b

    def _ranks(self) -> tuple[IntArray, IntArray | None]:
        """Order all features; where all are binary, also rank their statistics."""
        if self.tables:
            return order_by_score(self.scores, rtol=EQUAL_WITHIN), None
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
class RetainedFeatures:
    """The retained features, in groups.

    Parameters
    ----------
    blocks : tuple of Patterns or ValueTables
        One group for each number of categories.
    rates : tuple of Rates or ValueRates
        Their predictive probabilities; empty until ``with_rates``.
    """

    blocks: tuple[Patterns | ValueTables, ...]
    rates: tuple[Rates | ValueRates, ...] = ()

    @classmethod
    def from_selection(
        cls,
        features: CountedFeatures,
        chosen: FeatureChoice,
        *,
        correct: bool,
        ties: Ties,
        rule: str,
        n_threads: int,
        rates: BaseRates = UNIFORM,
        null: bool = False,
    ) -> RetainedFeatures:
        """Group the retained features, and count the discarded ones."""
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
                event = Discarded(features.sizes, gamma, n_below, n_tied, rates)
                blocks.append(
                    Patterns.from_counts(
                        mine,
                        features.cuts[mine],
                        features.ones[mine],
                        features.sizes,
                        event if known else None,
                        ties,
                        rule,
                        n_threads,
                        rates,
                        null,
                    )
                )
            else:
                values = DiscardedValues(
                    features.sizes, int(v), chosen.threshold, n_below, n_tied
                )
                blocks.append(
                    ValueTables.from_counts(
                        mine,
                        np.array([features.tables[j] for j in mine.tolist()]),
                        features.sizes,
                        int(v),
                        values if known else None,
                        ties,
                        n_threads,
                        null,
                    )
                )
        return cls(tuple(blocks))

    def evidence(self, alphas: FloatArray) -> Components:
        """Compute the log-probabilities of the retained features."""
        return Components.joined([block.evidence(alphas) for block in self.blocks])

    def adjustment(self, alphas: FloatArray) -> Components:
        """Compute the log-probabilities of what is known of the discarded features."""
        return Components.joined([block.adjustment(alphas) for block in self.blocks])

    def predictive_tables(self, alphas: FloatArray) -> RetainedTables:
        """Compute the tables from which classes are predicted, for these α."""
        tables = tuple(block.predictive_tables(alphas) for block in self.blocks)
        return RetainedTables(self, tables)

    def log_likelihood(self, values: NDArray[Any]) -> FloatArray:
        """Compute log P(x | class, point, training data), of shape (K, B, G)."""
        return sum(part.log_likelihood(values) for part in self.rates)  # type: ignore[return-value]

    def draw_likelihood(
        self, classes: IntArray, points: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """Draw samples given classes and points; compute their likelihoods."""
        return sum(part.draw_likelihood(classes, points, rng) for part in self.rates)  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class RetainedTables:
    """Evidence and means of all groups, for many α."""

    kept: RetainedFeatures
    tables: tuple[PatternTables | CategoryTables, ...]

    @property
    def components(self) -> Components:
        """The evidence of all groups."""
        return Components.joined([table.components for table in self.tables])

    def at(self, rows: IntArray, logits: FloatArray) -> RetainedFeatures:
        """Compute what predictions need at the points; see `PatternTables.at`."""
        rates = tuple(table.at(rows, logits) for table in self.tables)
        return replace(self.kept, rates=rates)


# -- base rates ------------------------------------------------------------------------

#: Bounds of both parameters of the distribution of base rates.
LEAST_SHAPE, LARGEST_SHAPE = 0.05, 100.0
#: Standard deviation of the logarithms of both parameters before the data; it decides
#: only where there are few features.
_LOG_SHAPE_SD = 2.0


def check_base_rates(given: Any) -> BaseRates | None:
    """Check the ``base_rates`` of an estimator; None is for "estimate"."""
    if isinstance(given, str) and given in ("uniform", "estimate"):
        return UNIFORM if given == "uniform" else None
    try:
        a, b = (float(value) for value in given)
    except (TypeError, ValueError):
        a, b = 0.0, 0.0
    if not all(LEAST_SHAPE <= one <= LARGEST_SHAPE for one in (a, b)):
        raise InputError(
            f"base_rates={given!r} must be 'uniform', 'estimate' or two numbers from "
            f"{LEAST_SHAPE} to {LARGEST_SHAPE:g}, parameters of a beta distribution."
        )
    return BaseRates(a, b)


def estimate_base_rates(ones: IntArray, n: int) -> BaseRates:
    """Estimate the distribution Beta(a, b) of the rates of binary features.

    The classes do not enter, so that selection by their means no bias here. The
    marginal likelihood is that of the total counts, as if no feature had an effect.

    Parameters
    ----------
    ones : int array of shape (p,)
        Ones of every feature, retained or discarded.
    n : int
        Number of samples.
    """
    totals, times = np.unique(ones, return_counts=True)
    if totals.size == 0:
        return UNIFORM

    def loss(logs: FloatArray) -> float:
        a, b = np.exp(logs)
        likelihood = times @ (betaln(a + totals, b + n - totals) - betaln(a, b))
        return float(0.5 * np.sum((logs / _LOG_SHAPE_SD) ** 2) - likelihood)

    bounds = [(np.log(LEAST_SHAPE), np.log(LARGEST_SHAPE))] * 2
    found = minimize(loss, np.zeros(2), method="L-BFGS-B", bounds=bounds)
    a, b = np.exp(found.x)
    return BaseRates(float(a), float(b))

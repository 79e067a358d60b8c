"""Count features, rank them, and keep the best: what selection sees and decides.

Features are grouped by how many values they have. Those of a group are alike given α,
so that each group has one adjustment factor, and all groups share α.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.encoding import Categories, encode
from veridical._core.reading import refuse_missing_or_infinite
from veridical._core.validation import count_features
from veridical.kernels.binary_counts import count_ones
from veridical.kernels.count_lattice import (
    SAME,
    distinct,
    rank_patterns,
    squared,
    statistics,
)
from veridical.kernels.ordering import order_by_score
from veridical.learning.bias_corrected_columns import (
    WHO,
    check_threshold,
    find_cuts,
    names_of,
)
from veridical.learning.bias_corrected_event import Discarded, Ties
from veridical.learning.bias_corrected_patterns import Patterns, Rates
from veridical.learning.bias_corrected_values import (
    DiscardedValues,
    ValueRates,
    ValueTables,
    count_values,
    cramer,
)

#: Columns that are cut at a time.
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
        What was read; nominal columns hold codes.
    categories : tuple or None
        The values of nominal columns; None where there are none.
    n_values : int array of shape (p,)
        Number of values of each feature.
    cuts : array of shape (p,)
        A binary feature is one above its cut.
    sizes : int array of shape (K,)
        Cases of each class.
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
        """Forget the training cases and their counts; what reads test cases stays."""
        return replace(self, values=None, ones=np.empty((0, 0), np.intp), tables={})

    def values_of(self, X: Any, columns: IntArray) -> NDArray[Any]:
        """Read test cases as training cases were; check the columns that matter."""
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
        """Order all features; where all are binary, also number their statistics."""
        if self.tables:
            return order_by_score(self.scores, rtol=SAME), None
        patterns, which = distinct(self.ones, self.sizes)
        place = rank_patterns(self.sizes, patterns)[which]
        small = np.uint16 if place.max() < 1 << 16 else np.int64
        return np.argsort(place.astype(small), kind="stable"), place


def _as_numbers(
    X: Any, categorical_features: Any
) -> tuple[NDArray[Any], Categories | None]:
    """A matrix of numbers; arrays of numbers are not copied."""
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
        """Work out the evidence, and what predictions need, for these α."""
        found = [block.rates(alphas) for block in self.blocks]
        evidence = sum(part[0] for part in found)
        return evidence, replace(self, rates=tuple(part[1] for part in found))  # type: ignore[return-value]

    def log_likelihood(self, values: NDArray[Any]) -> FloatArray:
        """Log P(x | class, α, training data), of shape (K, B, A)."""
        return sum(part.log_likelihood(values) for part in self.rates)  # type: ignore[return-value]

    def draw_likelihood(
        self, classes: IntArray, points: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """The same for cases drawn from the model."""
        return sum(part.draw_likelihood(classes, points, rng) for part in self.rates)  # type: ignore[return-value]

"""Relevance from means and variances: the F ratio and correlation with the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical._core.targets import Classes
from veridical.kernels.columns import map_blocks, memory_blocks
from veridical.kernels.moments import (
    MIN_SQUARES_SHARE,
    fill_quick_ratios,
    tile_size,
    tile_variances,
)
from veridical.kernels.ordering import near_first
from veridical.kernels.regressions import (
    block_regressions,
    centre_target,
    target_sums,
)
from veridical.kernels.statistics import f_ratio
from veridical.kernels.threads import run_jobs
from veridical.kernels.trainsets import TrainSets

# Bytes of the sums of a feature over a class, while rows of a CSR matrix are read.
SUM_BYTES = 48
# Share of a sum of squares; what is left of it within classes is rounding.
ROUNDED_SHARE = 1e-13
# The same share; with less left, a quick score has lost digits and is computed again.
QUICK = 1e-3
# Relative error of a quick score, with a wide margin.
QUICK_ERROR = 1e-9
# Training sets whose sums stay in the second-level cache.
QUICK_SETS = 125


@dataclass(frozen=True)
class Variances:
    """Sums of squares of every feature in every training set.

    Parameters
    ----------
    weight : array of shape (S, K)
        Weight of each class; of all samples, shape (S, 1), where there are no classes.
    within, between : arrays of shape (S, p)
        Sums of squares within classes and between class means; for a target of numbers
        of the residuals and of the fitted values of a straight line. For survival
        times *within* is the sum of squares about the mean, and *between* is 0.
    against : array of shape (S, K, p) or (S, 0, p)
        Sums between class k and all the rest, if computed.
    """

    weight: FloatArray
    within: FloatArray
    between: FloatArray
    against: FloatArray

    def sizes(self) -> tuple[IntArray, FloatArray]:
        """Return the classes and the samples of each set, both of shape (S, 1).

        Raises
        ------
        InputError
            If sample weights sum to less than one sample per class: the F ratio has
            negative degrees of freedom then. A straight line has as many parameters as
            two classes.
        """
        n_classes = np.count_nonzero(self.weight, axis=1)[:, None]
        if self.weight.shape[1] == 1:
            n_classes = np.full_like(n_classes, 2)
        n_samples = self.weight.sum(axis=1)[:, None]
        if (n_samples < n_classes).any():
            s = int(np.argmax(n_samples < n_classes))
            raise InputError(
                f"sample_weight sums to {n_samples[s, 0]:g}, but there are "
                f"{n_classes[s, 0]} {self._parameters}, and the F ratio takes weights "
                "for numbers of samples; multiply the weights so that they sum to the "
                "number of samples."
            )
        return n_classes, n_samples

    @property
    def _parameters(self) -> str:
        return "classes" if self.weight.shape[1] > 1 else "parameters of a line"

    def ratio(self) -> FloatArray:
        """Compute BSS/WSS of all classes at once, shape (S, p)."""
        return _ratio(self.between, self.within)

    def ratio_against(self) -> FloatArray:
        """Compute BSS/WSS of each class against the rest, shape (S, K, p)."""
        rest = np.maximum(self.between[:, None, :] - self.against, 0.0)
        return _ratio(self.against, self.within[:, None, :] + rest)


def variances(
    data: Table, sets: TrainSets, n_threads: int, *, against: bool = False
) -> Variances:
    """Compute sums of squares within and between classes, to the last digit or two.

    With `against`, also those of each class against the rest. For targets without
    classes see :class:`Variances`.
    """
    if data.kind == "numbers":
        return _regressions(data, sets, n_threads)
    if data.is_lazy and data.values.is_on_device:
        from veridical.criteria.moments_on_device import (
            DeviceColumns,  # it imports this
        )

        return DeviceColumns(data, sets).variances(against)
    n_features, n_sets = data.n_features, len(sets)
    n_classes = max(data.n_classes, 1)
    y = data.y if data.kind == "classes" else np.zeros(len(data), dtype=np.intp)
    weight = sets.class_counts(y, n_classes)
    within = np.empty((n_features, n_sets))
    between = np.empty((n_features, n_sets))
    each = np.empty((n_features, n_sets, n_classes if against else 0))
    step = min(tile_size(n_sets, n_classes), max(1, -(-n_features // n_threads)))

    def work(first: int, X: Any, lo: int) -> None:
        hi = min(lo + step, X.shape[1])
        own = slice(first + lo, first + hi)
        sums = within[own], between[own], each[own]
        tile_variances(X, lo, hi, y, weight, sets, *sums)

    stored = data.features.stored
    if _reads_rows(stored, sets, n_classes):
        step = -(-n_features // n_threads)
        blocks = iter([(0, stored)])
    else:
        # Sums do not depend on the tile of a feature, so that blocks may begin
        # anywhere: in tall tables a tile would take more memory than a block.
        blocks = memory_blocks(data.values)
    for first, X in blocks:
        run_jobs(work, [(first, X, lo) for lo in range(0, X.shape[1], step)], n_threads)
        del X
    return Variances(weight, within.T, between.T, np.moveaxis(each, 0, 2))


def _reads_rows(stored: Any, sets: TrainSets, n_classes: int) -> bool:
    """Return whether a matrix is summed as its rows are stored: all, for one set.

    The sums of all features are then in memory at once, in place of a CSC copy. Where
    they would take more, or most values are stored, that copy is better.
    """
    if not sparse.issparse(stored) or stored.format != "csr":
        return False
    n, p = stored.shape
    few = 2 * stored.nnz < n * p
    small = (
        SUM_BYTES * p * (n_classes + 1) <= stored.data.nbytes + stored.indices.nbytes
    )
    all_rows = len(sets) == 1 and bool(sets.whole.all()) and not sets.change.size
    return few and small and all_rows and bool(stored.has_canonical_format)


def _regressions(data: Table, sets: TrainSets, n_threads: int) -> Variances:
    """Compute the sums of squares of straight lines, for a target of numbers."""
    n_features, n_sets = data.values.shape[1], len(sets)
    z = centre_target(np.ascontiguousarray(data.as_numbers.values))
    z_sums = target_sums(z, sets.counts)
    # A set that leaves out an outlier of the target would lose digits.
    alone = z_sums[:, 1, 0] < MIN_SQUARES_SHARE * float(z @ z)
    weight = sets.counts.sum(axis=1, keepdims=True)
    within, between = np.empty((2, n_features, n_sets))

    def work(lo: int, hi: int, block: FloatArray) -> None:
        block_regressions(
            block,
            z,
            z_sums,
            weight,
            sets.counts,
            sets.whole,
            sets.start,
            sets.where,
            sets.change,
            alone,
            within[lo:hi],
            between[lo:hi],
        )

    map_blocks(work, data.values, n_threads)
    return Variances(weight, within.T, between.T, np.empty((n_sets, 0, n_features)))


def _ratio(between: FloatArray, within: FloatArray) -> FloatArray:
    """Divide; 0 for a constant feature, infinite where nothing varies within."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(between > 0, between / within, 0.0)


def cap_infinite(relevance: FloatArray) -> FloatArray:
    """Replace infinite ratios by a thousand times the largest finite one."""
    finite = np.isfinite(relevance)
    if finite.all():
        return relevance
    top = relevance[finite].max(initial=0.0)
    return np.where(finite, relevance, 1e3 * top if top > 0 else 1.0)


@dataclass(frozen=True)
class AnovaRelevance:
    """F ratio of a one-way analysis of variance, or of a straight line.

    Infinite for a feature that is constant within every class and differs between
    them; NaN for a constant feature.
    """

    rtol: float = 1e-12
    atol: float = 0.0

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return the F ratios."""
        parts = variances(data, sets, n_threads)
        return f_ratio(parts.between, parts.within, *parts.sizes())

    def permuted_scores(
        self, data: Table, orders: IntArray, columns: IntArray, n_threads: int
    ) -> FloatArray:
        """Return the F ratios for outcomes in other orders; see `PermutedRelevance`.

        Class sums are products of matrices, precise to about 1e-12 of the scores.
        """
        weights = np.ones(data.n_samples) if data.weights is None else data.weights
        if data.kind == "numbers":
            return _permuted_lines(data, orders, columns, weights, n_threads)
        labels = data.y[orders]
        members = [(labels == k) * weights for k in range(data.n_classes)]
        size = np.stack([member.sum(axis=1) for member in members])
        present = np.count_nonzero(size, axis=0)[:, None]

        def between_classes(values: FloatArray) -> FloatArray:
            rest = np.zeros((len(orders), values.shape[1]))
            between = np.zeros((len(orders), values.shape[1]))
            for member, own in zip(members[1:], size[1:], strict=True):
                sums = member @ values
                rest -= sums
                between += sums**2 / np.maximum(own, 1e-300)[:, None]
            between += rest**2 / np.maximum(size[0], 1e-300)[:, None]
            return between

        part = data.permute(columns)
        return _ratios(part, weights, between_classes, len(orders), present, n_threads)

    def leading_scores(
        self, data: Table, sets: TrainSets, n_features: int, n_threads: int
    ) -> list[tuple[IntArray, FloatArray]] | None:
        """Score the features that could be among the first; see `LeadingRelevance`.

        Quick scores decide which these are. Features that lose digits there are scored
        precisely, and so are the first ones where rounding could decide their order.
        """
        found = self._quick_scores(data, sets, n_threads)
        if found is None:
            return None
        scores, error = found
        vague = np.flatnonzero(np.isnan(scores.sum(axis=0)))
        if vague.size:
            part = self.scores(data.permute(vague), sets, n_threads)
            scores[:, vague] = np.where(np.isnan(part), -np.inf, part)
        leading, unclear = [], []
        for s, row in enumerate(scores):
            near, is_clear = near_first(
                row, n_features, rtol=QUICK_ERROR, atol=float(error[s])
            )
            leading.append((near, row[near]))
            if not is_clear:
                unclear.append(s)
        if unclear:
            some = TrainSets.from_counts(sets.counts[unclear], weights=sets.weights)
            columns = np.unique(np.concatenate([leading[s][0] for s in unclear]))
            precise = self.scores(data.permute(columns), some, n_threads)
            for s, row in zip(unclear, precise, strict=True):
                near, _ = leading[s]
                leading[s] = near, row[np.searchsorted(columns, near)]
        return leading

    def _quick_scores(
        self, data: Table, sets: TrainSets, n_threads: int
    ) -> tuple[FloatArray, FloatArray] | None:
        """Return F ratios, NaN where digits were lost, and their absolute error.

        Their relative error is `QUICK_ERROR`, and the absolute one of each set is that
        of the sums of squares between classes, which are differences.

        Sums of the classes are products of matrices. Those of the second half of a pair
        are what the first half leaves of all rows.
        """
        if data.kind != "classes":
            return None
        weight = sets.class_counts(data.y, data.n_classes)
        n_samples = weight.sum(axis=1)
        present = np.count_nonzero(weight, axis=1)
        if (n_samples <= present).any():
            return None
        firsts, seconds, neither = sets.complements()
        y, row_weight = data.y, np.ones(data.n_samples)
        if sets.weights is not None:
            row_weight = sets.weights
        counts = sets.counts[firsts]
        rows = [np.flatnonzero(y == k) for k in range(data.n_classes)]
        own_counts = [np.ascontiguousarray(counts[:, own]) for own in rows]
        result = np.empty((len(sets), data.n_features))

        def work(lo: int, hi: int, block: FloatArray) -> None:
            values = np.ascontiguousarray(block.T)
            values -= values.mean(axis=0)
            squared = values**2
            all_squares = row_weight @ squared
            all_sums = np.stack([row_weight[own] @ values[own] for own in rows])
            for start in range(0, firsts.size, QUICK_SETS):
                here = slice(start, start + QUICK_SETS)
                squares = counts[here] @ squared
                sums = np.empty((len(rows), *squares.shape))
                for k, own in enumerate(rows):
                    np.matmul(own_counts[k][here], values[own], out=sums[k])
                fill_quick_ratios(
                    squares, sums, all_squares, all_sums, values, y, row_weight,
                    firsts[here], seconds[here], neither[here], weight, QUICK, lo,
                    result,
                )  # fmt: skip

        map_blocks(work, data.values, n_threads)
        degrees = (n_samples - present) / (present - 1)
        return result, QUICK_ERROR * np.maximum(degrees, 1.0)


def _permuted_lines(
    data: Table,
    orders: IntArray,
    columns: IntArray,
    weights: FloatArray,
    n_threads: int,
) -> FloatArray:
    """Return the F ratios of straight lines for numbers in other orders."""
    z = data.as_numbers.values[orders]
    z = z - (z @ weights / weights.sum())[:, None]
    spread = z**2 @ weights

    def between_lines(values: FloatArray) -> FloatArray:
        squares: FloatArray = ((z * weights) @ values) ** 2 / spread[:, None]
        return squares

    part = data.permute(columns)
    return _ratios(part, weights, between_lines, len(orders), 2, n_threads)


def _ratios(
    data: Table,
    weights: FloatArray,
    between_of: Callable[[FloatArray], FloatArray],
    n_outcomes: int,
    n_parameters: IntArray | int,
    n_threads: int,
) -> FloatArray:
    """Return F ratios of all samples for many outcomes, shape (B, p).

    `between_of` computes the sums of squares between, shape (B, width), of centred
    values of shape (n, width).
    """
    n_samples = weights.sum()
    result = np.empty((n_outcomes, data.n_features))

    def work(lo: int, hi: int, block: FloatArray) -> None:
        values = np.ascontiguousarray(block.T, dtype=np.float64)
        values -= weights @ values / n_samples
        values -= weights @ values / n_samples  # what rounding left of the mean
        total = weights @ values**2
        between = between_of(values)
        within = np.maximum(total - between, 0.0)
        within[within < ROUNDED_SHARE * total] = 0.0
        result[:, lo:hi] = f_ratio(between, within, n_parameters, n_samples)

    map_blocks(work, data.values, n_threads)
    return result


@dataclass(frozen=True)
class CorrelationRelevance:
    """Absolute correlation with the target, 0 for a constant feature.

    For a target of numbers, and with two classes, this is ``|r|`` between the feature
    and the target. With more classes it is the mean of ``|r|`` with each class's
    indicator, weighted by the class shares (as Weka's CorrelationAttributeEval does).
    """

    rtol: float = 1e-12
    atol: float = 0.0

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return the correlations."""
        parts = variances(data, sets, n_threads, against=data.n_classes > 2)
        if data.n_classes <= 2:
            squared = np.zeros_like(parts.between)
            total = parts.within + parts.between
            np.divide(parts.between, total, out=squared, where=parts.between > 0)
            return np.sqrt(squared, out=squared)
        total = (parts.within + parts.between)[:, None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            squared = np.where(total > 0, parts.against / total, 0.0)
        share = parts.weight / parts.weight.sum(axis=1, keepdims=True)
        return np.einsum("sk,skp->sp", share, np.sqrt(np.minimum(squared, 1.0)))


@dataclass(frozen=True)
class VarianceRelevance:
    """Variance of each feature, whatever the target."""

    rtol: float = 1e-12
    atol: float = 0.0

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return sums of squares about the mean, divided by the number of samples."""
        parts = variances(_without_target(data), sets, n_threads)
        return parts.within / parts.weight


def _without_target(data: Table) -> Table:
    """Return the table with a target that has no effect on the sums."""
    nothing = np.zeros(len(data), dtype=np.intp)
    return data.replace(target=Classes(nothing, np.zeros(1, dtype=np.intp), nothing))

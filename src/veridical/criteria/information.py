"""Relevance in bits: information gain and symmetrical uncertainty.

A target of numbers is cut into intervals that hold about the same number of training
samples. These intervals are its classes, in every training set anew. Or nothing is cut,
and the information is estimated from distances to nearest neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.lazy import is_lazy
from veridical._core.table import Table
from veridical.kernels.columns import (
    column_block,
    map_blocks,
    memory_blocks,
    stored_values,
)
from veridical.kernels.entropies import uncertainty_with, xlogx_table
from veridical.kernels.mdl import (
    block_categorical_gains,
    block_gains,
    column_cuts,
    tabulate_bits,
)
from veridical.kernels.mutual_information import (
    digamma_table,
    information_of_classes,
    information_of_numbers,
)
from veridical.kernels.sorting import sort_and_count, sort_rows, sort_stored
from veridical.kernels.stored import stored_cuts, stored_gains
from veridical.kernels.trainsets import TrainSets

MdlCost = Literal["cuts", "samples"]

TARGET_BINS = 4  # intervals of a target of numbers: quarters of the training samples


def _counts_cuts(mdl_cost: MdlCost) -> bool:
    """Return whether the cost of a cut depends on the cuts rather than the samples."""
    if mdl_cost not in ("cuts", "samples"):
        raise InputError(f"mdl_cost={mdl_cost!r} must be 'cuts' or 'samples'.")
    return mdl_cost == "cuts"


def target_classes(
    data: Table, counts: FloatArray, n_bins: int
) -> tuple[IntArray, int]:
    """Return the classes of the target in one training set, and their number.

    Parameters
    ----------
    data : Table
        A target of classes, or of numbers, which is cut into intervals.
    counts : array of shape (n_samples,)
        How often each sample occurs in the training set, whole numbers.
    n_bins : int
        Number of intervals. Equal numbers are in one interval: that of the quantile in
        the middle of them. So there may be fewer intervals.
    """
    if data.kind == "classes":
        return data.y, data.n_classes
    if not isinstance(n_bins, Integral) or isinstance(n_bins, bool) or n_bins < 2:
        raise InputError(
            f"target_bins={n_bins!r} must be a whole number of intervals, 2 or more."
        )
    values, place = np.unique(data.as_numbers.values, return_inverse=True)
    at = np.bincount(place, counts, minlength=values.size).astype(np.int64)
    total = np.cumsum(at)
    # Twice the number of samples below the middle of the equal ones, as whole numbers.
    bins = int(n_bins) * (2 * total - at) // (2 * total[-1])
    _, codes = np.unique(np.minimum(bins, n_bins - 1), return_inverse=True)
    return codes[place].astype(np.intp), int(codes.max()) + 1


def gains(
    data: Table,
    sets: TrainSets,
    n_threads: int,
    mdl_cost: MdlCost = "cuts",
    target_bins: int = TARGET_BINS,
    n_scores: int = 2,
) -> list[FloatArray]:
    """Compute information gain and symmetrical uncertainty with the class, each (S, p).

    Numeric features are cut into intervals by Fayyad and Irani's rule on the training
    set itself; categorical features are not changed. A target of numbers is cut into
    `target_bins` intervals. With 1 as `n_scores` the gain is computed alone.
    """
    problems = _problems(data, sets, target_bins)
    return _gains(data, problems, n_threads, mdl_cost, n_scores)


def permuted_gains(
    data: Table,
    orders: IntArray,
    n_threads: int,
    mdl_cost: MdlCost = "cuts",
    target_bins: int = TARGET_BINS,
    n_scores: int = 2,
) -> list[FloatArray]:
    """Compute the scores of all samples for outcomes in other orders, each (B, p)."""
    weights = np.ones(data.n_samples) if data.weights is None else data.weights
    problems = [
        _problem(data.permuted(order), weights[None], target_bins) for order in orders
    ]
    return _gains(data, problems, n_threads, mdl_cost, n_scores)


class _SharedClasses(NamedTuple):
    """Training sets with the same classes: these, their sizes, and the samples."""

    y: NDArray[np.int32]
    totals: NDArray[np.int32]
    counts: NDArray[np.int32]
    by_row: NDArray[np.int32]


def _problem(data: Table, counts: FloatArray, target_bins: int) -> _SharedClasses:
    """Return some training sets, whose classes are those of the first."""
    y, n_classes = target_classes(data, counts[0], target_bins)
    totals = counts @ (y[:, None] == np.arange(n_classes))
    whole = counts.astype(np.int32)
    by_row = np.ascontiguousarray(whole.T)
    return _SharedClasses(y.astype(np.int32), totals.astype(np.int32), whole, by_row)


def _problems(data: Table, sets: TrainSets, target_bins: int) -> list[_SharedClasses]:
    """Return all training sets: at once, or one by one if each has its intervals."""
    if data.kind == "classes":
        return [_problem(data, sets.counts, target_bins)]
    return [
        _problem(data, sets.counts[s : s + 1], target_bins) for s in range(len(sets))
    ]


def _gains(
    data: Table,
    problems: Sequence[_SharedClasses],
    n_threads: int,
    mdl_cost: MdlCost,
    n_scores: int,
) -> list[FloatArray]:
    """Compute the scores of the training sets of all problems, one after the other."""
    n_features, count_cuts = data.values.shape[1], _counts_cuts(mdl_cost)
    xlogx = xlogx_table(max(int(one.totals.sum(axis=1).max()) for one in problems))
    # The scores of every problem; features are rows, as in the kernels.
    shapes = [(n_scores, n_features, len(one.totals)) for one in problems]
    found = [np.empty(shape) for shape in shapes]
    unwanted = np.empty((0, 0))
    categorical = data.categorical
    tables = [tabulate_bits(*one[:3], xlogx) for one in problems]

    def score_numeric(lo: int, block: FloatArray, outs: list[FloatArray]) -> None:
        order, n_values = sort_and_count(block)
        for one, bits, out in zip(problems, tables, outs, strict=True):
            g, u, *_ = *out[:, lo : lo + len(block)], unwanted
            block_gains(block, order, n_values, *one, bits, xlogx, count_cuts, g, u)

    def coded(lo: int, block: FloatArray, outs: list[FloatArray]) -> None:
        n_values = np.nanmax(block, axis=1, initial=0).astype(np.intp) + 1
        for (y, totals, counts, _), out in zip(problems, outs, strict=True):
            g, u, *_ = *out[:, lo : lo + len(block)], unwanted
            n_classes = totals.shape[1]
            block_categorical_gains(block, n_values, y, n_classes, counts, g, u)

    def work(lo: int, hi: int, block: FloatArray) -> None:
        in_block = categorical[lo:hi]
        for score, kind in ((score_numeric, ~in_block), (coded, in_block)):
            if kind.all():
                score(lo, block, found)
            elif kind.any():
                n = int(kind.sum())
                parts = [np.empty((n_scores, n, shape[2])) for shape in shapes]
                score(0, block[kind], parts)
                for out, part in zip(found, parts, strict=True):
                    out[:, lo + np.flatnonzero(kind)] = part

    def stored(
        lo: int, hi: int, values: FloatArray, rows: IntArray, end: IntArray
    ) -> None:
        order = sort_stored(values, end)
        for (y, totals, _, by_row), out in zip(problems, found, strict=True):
            g, u, *_ = *out[:, lo:hi], unwanted
            stored_gains(
                values, rows, end, order, y, totals, by_row, xlogx, count_cuts, g, u
            )

    map_blocks(work, data.values, n_threads, stored)
    joined = found[0] if len(found) == 1 else np.concatenate(found, axis=2)
    return [scores.T for scores in joined]


def cut_points(
    data: Table, sets: TrainSets, s: int, j: int, mdl_cost: MdlCost
) -> FloatArray:
    """Find the cuts of numeric feature `j` in training set `s`, ascending."""
    x = column_block(data.values, j, j + 1)[0]
    return _Discretizer(data, sets, s, mdl_cost)(x, sort_rows(x[None])[0])


class _Discretizer:
    """Discretizes features of one training set; shared tables are made once."""

    def __init__(
        self,
        data: Table,
        sets: TrainSets,
        s: int,
        mdl_cost: MdlCost,
        target_bins: int = TARGET_BINS,
    ) -> None:
        self._y, self._n_classes = target_classes(data, sets.counts[s], target_bins)
        self._counts = sets.counts[s].astype(np.int32)
        self._xlogx = xlogx_table(int(self._counts.sum()))
        self._count_cuts = _counts_cuts(mdl_cost)

    def __call__(self, x: FloatArray, order: IntArray) -> FloatArray:
        return column_cuts(
            x,
            order,
            self._y,
            self._n_classes,
            self._counts,
            self._xlogx,
            self._count_cuts,
        )

    def stored(self, values: FloatArray, rows: IntArray) -> FloatArray:
        """Return the cuts of a sparse feature, from its stored values."""
        totals = np.bincount(self._y, self._counts, minlength=self._n_classes)
        return stored_cuts(
            values,
            rows,
            sort_stored(values, np.array([0, values.size])),
            self._y,
            totals.astype(np.int32)[None],
            self._counts[:, None],
            self._xlogx,
            self._count_cuts,
        )


def _iterate_features(X: Any, features: IntArray) -> Iterator[tuple[int, FloatArray]]:
    """Iterate over some features, each as a dense array of its own."""
    if is_lazy(X):  # several at a time
        part = X.take_columns(features)
        for first, block in memory_blocks(part):
            for k in range(block.shape[1]):
                yield int(features[first + k]), column_block(block, k, k + 1)[0]
        return
    for j in features.tolist():
        yield j, column_block(X, j, j + 1)[0]


def interval_codes(x: FloatArray, cuts: FloatArray) -> NDArray[np.intp]:
    """Return the interval of each value, −1 if missing; a cut belongs to the left."""
    codes = np.searchsorted(cuts, x, side="left")
    codes[np.isnan(x)] = -1
    return codes


@dataclass(frozen=True)
class InformationRelevance:
    """Information gain ``H(Y) − H(Y|X)`` of the discretised feature, in bits."""

    mdl_cost: MdlCost = "cuts"
    target_bins: int = TARGET_BINS
    rtol: float = 0.0
    atol: float = 1e-12
    _place: ClassVar[int] = 0  # of the scores in what `gains` returns

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return the scores of the features for every training set."""
        options = self.mdl_cost, self.target_bins, self._place + 1
        return gains(data, sets, n_threads, *options)[self._place]

    def permuted_scores(
        self, data: Table, orders: IntArray, columns: IntArray, n_threads: int
    ) -> FloatArray:
        """Return the scores for outcomes in other orders; see `PermutedRelevance`.

        Features are sorted once.
        """
        options = self.mdl_cost, self.target_bins, self._place + 1
        part = data.permute(columns)
        return permuted_gains(part, orders, n_threads, *options)[self._place]


@dataclass(frozen=True)
class NeighborInformation:
    """Mutual information in bits by nearest neighbours, of values that are not cut.

    See `veridical.kernels.mutual_information`. A categorical feature and a target of
    classes are counted. Samples whose value is missing are left out, and the
    information in the others is multiplied by their share.
    """

    n_neighbors: int = 3
    rtol: float = 0.0
    atol: float = 1e-12

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return the information in bits."""
        counts = sets.counts.astype(np.int64)
        psi = digamma_table(int(counts.sum(axis=1).max()))
        result = np.empty((len(sets), data.values.shape[1]))
        y = data.y if data.kind == "classes" else _scaled(data.as_numbers.values)
        by_target = None if data.kind == "classes" else np.argsort(y, kind="stable")

        def estimate(x: FloatArray, order: IntArray, w: IntArray) -> float:
            """Estimate it for a numeric feature, given its rows by value."""
            rows = order[w[order] > 0]
            if by_target is None:
                return information_of_classes(
                    x[rows], y[rows], w[rows], data.n_classes, self.n_neighbors, psi
                )
            up = by_target[(w[by_target] > 0) & ~np.isnan(x[by_target])]
            return information_of_numbers(
                x[rows], y[rows], w[rows], y[up], w[up], self.n_neighbors, psi
            )

        def estimate_categories(x: FloatArray, w: IntArray) -> float:
            """Estimate it for a categorical feature and a target of numbers."""
            assert by_target is not None
            up = by_target[(w[by_target] > 0) & ~np.isnan(x[by_target])]
            codes = x[up].astype(np.intp)
            n_codes = int(codes.max(initial=0)) + 1
            return information_of_classes(
                y[up], codes, w[up], n_codes, self.n_neighbors, psi
            )

        def work(lo: int, hi: int, block: FloatArray) -> None:
            sorted_rows = sort_rows(block).astype(np.intp)
            for place, j in enumerate(range(lo, hi)):
                if data.categorical[j] and by_target is None:
                    continue
                known = ~np.isnan(block[place])
                x, order = _scaled(block[place]), sorted_rows[place]
                order = order[known[order]]
                for s, w in enumerate(counts):
                    n_known = int(w[known].sum())
                    if not n_known:
                        result[s, j] = 0.0
                        continue
                    found = (
                        estimate_categories(block[place], w)
                        if data.categorical[j]
                        else estimate(x, order, w)
                    )
                    result[s, j] = found / np.log(2) * (n_known / w.sum())

        map_blocks(work, data.values, n_threads)
        if by_target is None and data.categorical.any():
            columns = np.flatnonzero(data.categorical)
            result[:, columns] = gains(data.permute(columns), sets, n_threads)[0]
        return result


def _scaled(values: FloatArray) -> FloatArray:
    """Divide by a power of two, which is exact, so that no square overflows."""
    largest = np.nanmax(np.abs(values), initial=0.0)
    return values if largest == 0 else np.ldexp(values, -np.frexp(largest)[1])


class UncertaintyRelevance(InformationRelevance):
    """Symmetrical uncertainty of the discretised feature and the class, 0 to 1."""

    _place: ClassVar[int] = 1


class UncertaintyRedundancy:
    """Symmetrical uncertainty between features of one training set.

    Features are discretized when they are first used, and stored.

    Parameters
    ----------
    data : Table
        The data.
    sets : TrainSets
        The training sets.
    s : int
        Which of them.
    mdl_cost : {"cuts", "samples"}
        See `gains`.
    orders : dict, optional
        Rows of features sorted by value, shared by all training sets; filled here.
    target_bins : int
        See `gains`.
    """

    def __init__(
        self,
        data: Table,
        sets: TrainSets,
        s: int,
        mdl_cost: MdlCost,
        orders: dict[int, NDArray[np.int32]] | None = None,
        target_bins: int = TARGET_BINS,
    ) -> None:
        self._data, self._weight = data, sets.counts[s]
        self._orders = {} if orders is None else orders
        self._discretize = _Discretizer(data, sets, s, mdl_cost, target_bins)
        self._place = np.full(data.values.shape[1], -1, dtype=np.intp)
        # Intervals are few; features with more categories need larger codes.
        self._codes: NDArray[Any] = np.empty((0, len(data)), dtype=np.int8)
        self._sizes = np.empty(0, dtype=np.intp)

    def between(self, i: int, others: IntArray) -> FloatArray:
        """Return the symmetrical uncertainty of feature `i` and each of the others."""
        asked = np.append(others, i)
        self._code(asked[self._place[asked] < 0])
        out = np.empty(others.size)
        uncertainty_with(
            self._place[i],
            self._place[others],
            self._codes,
            self._sizes,
            self._weight,
            out,
        )
        return out

    def _code(self, features: IntArray) -> None:
        if not features.size:
            return
        new = np.empty((features.size, self._codes.shape[1]), self._codes.dtype)
        for place, (j, x) in enumerate(_iterate_features(self._data.values, features)):
            if self._data.categorical[j]:
                codes = np.where(np.isnan(x), -1, x).astype(np.intp)
            else:
                codes = interval_codes(x, self._cuts(j, x))
            if codes.max(initial=0) > np.iinfo(new.dtype).max:
                new = new.astype(np.int32)
            new[place] = codes
        self._place[features] = len(self._codes) + np.arange(features.size)
        self._codes = np.concatenate([self._codes, new]) if self._codes.size else new
        self._sizes = np.append(self._sizes, new.max(axis=1).astype(np.intp) + 1)

    def _cuts(self, j: int, x: FloatArray) -> FloatArray:
        X = self._data.values
        if sparse.issparse(X):
            values, rows, _ = stored_values(X, j, j + 1)
            return self._discretize.stored(values, rows)
        return self._discretize(x, self._order(j, x))

    def _order(self, j: int, x: FloatArray) -> IntArray:
        if j not in self._orders:
            self._orders[j] = sort_rows(x[None])[0].astype(np.int32)
        return self._orders[j].astype(np.intp)

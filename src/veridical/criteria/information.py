"""Relevance in bits: information gain and symmetrical uncertainty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical.kernels.columns import column_block, map_blocks
from veridical.kernels.mdl import (
    block_categorical_gains,
    block_gains,
    column_cuts,
)
from veridical.kernels.sorting import sort_rows
from veridical.kernels.tables import uncertainty_with, xlogx_table
from veridical.kernels.trainsets import TrainSets

MdlCost = Literal["cuts", "samples"]


def _counts_cuts(mdl_cost: MdlCost) -> bool:
    """Return whether the cost of a cut depends on the cuts rather than the samples."""
    if mdl_cost not in ("cuts", "samples"):
        raise InputError(f"mdl_cost={mdl_cost!r} must be 'cuts' or 'samples'.")
    return mdl_cost == "cuts"


def gains(
    data: Table, sets: TrainSets, n_threads: int, mdl_cost: MdlCost = "cuts"
) -> tuple[FloatArray, FloatArray]:
    """Compute information gain and symmetrical uncertainty with the class, each (S, p).

    Numeric features are cut into intervals by Fayyad and Irani's rule on the training
    set itself; categorical features are not changed.
    """
    counts = sets.counts.astype(np.int32)
    totals = sets.class_counts(data.y, data.n_classes).astype(np.int32)
    return _gains(data, [data.y], counts, totals, n_threads, mdl_cost)


def permuted_gains(
    data: Table, orders: IntArray, n_threads: int, mdl_cost: MdlCost = "cuts"
) -> tuple[FloatArray, FloatArray]:
    """Compute the scores of all samples for outcomes in other orders, each (B, p)."""
    weights = np.ones(data.n_samples) if data.weights is None else data.weights
    counts = weights[None].astype(np.int32)
    labels = [np.ascontiguousarray(data.y[order]) for order in orders]
    totals = np.stack(
        [np.bincount(y, weights=weights, minlength=data.n_classes) for y in labels]
    ).astype(np.int32)
    return _gains(data, labels, counts, totals, n_threads, mdl_cost)


def _gains(
    data: Table,
    labels: Sequence[IntArray],
    counts: NDArray[np.int32],
    totals: NDArray[np.int32],
    n_threads: int,
    mdl_cost: MdlCost,
) -> tuple[FloatArray, FloatArray]:
    """Compute the scores of one outcome in many sets, or of many outcomes in one set.

    `totals` has a row for every result.
    """
    n_features, count_cuts = data.values.shape[1], _counts_cuts(mdl_cost)
    n_results = len(totals)
    by_row = np.ascontiguousarray(counts.T)
    xlogx = xlogx_table(int(totals.sum(axis=1).max()))
    gain = np.empty((n_features, n_results))
    uncertainty = np.empty((n_features, n_results))
    categorical = data.categorical

    def parts() -> Iterator[tuple[IntArray, slice]]:
        for b, y in enumerate(labels):
            yield y, slice(b, b + 1) if len(labels) > 1 else slice(None)

    def numeric(where: slice | IntArray, block: FloatArray) -> None:
        order = sort_rows(block)
        for y, here in parts():
            g, u = np.empty((2, len(block), len(counts)))
            block_gains(
                block,
                order,
                y,
                totals[here],
                counts,
                by_row,
                xlogx,
                count_cuts,
                g,
                u,
            )
            gain[where, here], uncertainty[where, here] = g, u

    def coded(where: slice | IntArray, block: FloatArray) -> None:
        n_values = np.nanmax(block, axis=1, initial=0).astype(np.intp) + 1
        for y, here in parts():
            g, u = np.empty((2, len(block), len(counts)))
            block_categorical_gains(block, n_values, y, data.n_classes, counts, g, u)
            gain[where, here], uncertainty[where, here] = g, u

    def work(lo: int, hi: int, block: FloatArray) -> None:
        in_block = categorical[lo:hi]
        if not in_block.any():
            numeric(slice(lo, hi), block)
        elif in_block.all():
            coded(slice(lo, hi), block)
        else:
            numeric(lo + np.flatnonzero(~in_block), block[~in_block])
            coded(lo + np.flatnonzero(in_block), block[in_block])

    map_blocks(work, data.values, n_threads)
    return gain.T, uncertainty.T


def cut_points(
    data: Table, sets: TrainSets, s: int, j: int, mdl_cost: MdlCost
) -> FloatArray:
    """Find the cuts of numeric feature `j` in training set `s`, ascending."""
    x = column_block(data.values, j, j + 1)[0]
    return _Discretizer(data, sets, s, mdl_cost)(x, sort_rows(x[None])[0])


class _Discretizer:
    """Discretizes features of one training set; shared tables are made once."""

    def __init__(self, data: Table, sets: TrainSets, s: int, mdl_cost: MdlCost) -> None:
        self._y, self._n_classes = data.y, data.n_classes
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


def interval_codes(x: FloatArray, cuts: FloatArray) -> NDArray[np.intp]:
    """Return the interval of each value, −1 if missing; a cut belongs to the left."""
    codes = np.searchsorted(cuts, x, side="left")
    codes[np.isnan(x)] = -1
    return codes


@dataclass(frozen=True)
class InformationRelevance:
    """Information gain ``H(Y) − H(Y|X)`` of the discretised feature."""

    mdl_cost: MdlCost = "cuts"
    rtol: float = 0.0
    atol: float = 1e-12

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return the gains in bits."""
        return gains(data, sets, n_threads, self.mdl_cost)[0]

    def permuted_scores(
        self, data: Table, orders: IntArray, columns: IntArray, n_threads: int
    ) -> FloatArray:
        """Return the gains for outcomes in other orders; see `PermutedRelevance`.

        Features are sorted once.
        """
        return permuted_gains(data.permute(columns), orders, n_threads, self.mdl_cost)[
            0
        ]


class UncertaintyRelevance(InformationRelevance):
    """Symmetrical uncertainty of the discretised feature and the class."""

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return the uncertainties, between 0 and 1."""
        return gains(data, sets, n_threads, self.mdl_cost)[1]

    def permuted_scores(
        self, data: Table, orders: IntArray, columns: IntArray, n_threads: int
    ) -> FloatArray:
        """Return the uncertainties for outcomes in other orders."""
        return permuted_gains(data.permute(columns), orders, n_threads, self.mdl_cost)[
            1
        ]


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
    """

    def __init__(
        self,
        data: Table,
        sets: TrainSets,
        s: int,
        mdl_cost: MdlCost,
        orders: dict[int, NDArray[np.int32]] | None = None,
    ) -> None:
        self._data, self._weight = data, sets.counts[s]
        self._orders = {} if orders is None else orders
        self._discretize = _Discretizer(data, sets, s, mdl_cost)
        self._place = np.full(data.values.shape[1], -1, dtype=np.intp)
        self._codes = np.empty((0, len(data.y)), dtype=np.int32)
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
        new = np.empty((features.size, self._codes.shape[1]), dtype=np.int32)
        for row, j in zip(new, features.tolist(), strict=True):
            x = column_block(self._data.values, j, j + 1)[0]
            if self._data.categorical[j]:
                row[:] = np.where(np.isnan(x), -1, x)
            else:
                row[:] = interval_codes(x, self._discretize(x, self._order(j, x)))
        self._place[features] = len(self._codes) + np.arange(features.size)
        self._codes = np.concatenate([self._codes, new])
        self._sizes = np.append(self._sizes, new.max(axis=1) + 1)

    def _order(self, j: int, x: FloatArray) -> IntArray:
        if j not in self._orders:
            self._orders[j] = sort_rows(x[None])[0].astype(np.int32)
        return self._orders[j].astype(np.intp)

"""Relevance by neighbours: ReliefF and MultiSURF.

Quick distances are taken over all rows once. A training set needs other distances only
for the features whose range (or number of values) changes when its rows are left out,
and those are corrected; then its neighbours are found anew. Where a quick distance
cannot tell which case is a neighbour, exact ones decide. The k nearest cases are clear
from distances in single precision but for few; for a radius that hangs on the distances
of all cases, quick distances have double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.table import Table
from veridical.kernels.columns import map_blocks
from veridical.kernels.distance import (
    Precision,
    QuickArray,
    add_mixed,
    error_bound,
    scale,
    sum_pairs,
)
from veridical.kernels.ranges import block_ranges
from veridical.kernels.relief import (
    Cases,
    Neighbourhood,
    Pairs,
    find_nearest,
    find_within,
)
from veridical.kernels.relief_sums import sum_mixed, sum_numeric
from veridical.kernels.threads import run
from veridical.kernels.trainsets import TrainSets

SLICES = 10  # parts in which the distances are taken, for those who watch
SHORT = 1e-290  # a range below this, or above its inverse, is put in other units
NARROW = 16  # a set whose range is so many times smaller shares no sums of a column


@dataclass(frozen=True)
class _Scales:
    """What ``diff`` needs to know of the columns in one training set."""

    low: FloatArray
    inverse: FloatArray
    n_vals: IntArray

    def differ(self, other: _Scales) -> NDArray[np.bool_]:
        """Find the columns in which two training sets measure differently."""
        return (
            (self.low != other.low)
            | (self.inverse != other.inverse)
            | (self.n_vals != other.n_vals)
        )

    def stretch(self, other: _Scales, columns: IntArray) -> FloatArray:
        """How much more a difference counts here; 0 where no two cases differ."""
        more = self.inverse[columns] - other.inverse[columns]
        return np.where(self.inverse[columns] > 0, more, 0.0)

    def narrower(self, other: _Scales, columns: IntArray) -> IntArray:
        """Find those columns whose range is far smaller here: an outlier is missing."""
        return np.flatnonzero(self.inverse[columns] > NARROW * other.inverse[columns])

    def centre(self, mean: FloatArray, columns: IntArray) -> FloatArray:
        """Values in the middle of these columns: near `mean`, within the range."""
        low, inverse = self.low[columns], self.inverse[columns]
        inverse = np.where(inverse > 0, inverse, np.inf)
        return low + np.clip(np.nan_to_num(mean[columns] - low), 0.0, 1.0 / inverse)

    def take(self, columns: IntArray) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return the scales of some columns, as kernels want them."""
        return self.low[columns], self.inverse[columns], self.n_vals[columns]


@dataclass(frozen=True)
class ReliefRelevance:
    """Kononenko's ReliefF weights.

    Parameters
    ----------
    n_neighbors : int
        Hits, and misses per class, that each case is held against.
    queries : array of shape (S, n) or None
        How often each case is asked; None asks every case of the set once.
    tick : callable or None
        Called after each of the `SLICES` parts of the distances; without it they are
        taken in one go.
    """

    n_neighbors: int = 10
    queries: FloatArray | None = None
    rtol: float = 0.0
    atol: float = 1e-12
    tick: Callable[[], None] | None = None

    precision: ClassVar[Precision] = np.float32
    batch: ClassVar[int] = 16  # sets whose pairs, mostly the same, are summed together

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return the weights, between −1 and 1."""
        return _Relief(data, sets, self, n_threads).weights()

    def pairs(self, problem: Neighbourhood) -> Pairs:
        """Find the nearest cases of every class."""
        return find_nearest(problem, self.n_neighbors)


@dataclass(frozen=True)
class MultiSurfRelevance:
    """MultiSURF weights.

    Parameters
    ----------
    tick : callable or None
        As in :class:`ReliefRelevance`.
    """

    rtol: float = 0.0
    atol: float = 1e-12
    tick: Callable[[], None] | None = None

    queries: ClassVar[None] = None  # every case is asked
    precision: ClassVar[Precision] = np.float64
    # The weight of a pair hangs on how many neighbours there are, in each set others.
    batch: ClassVar[int] = 1

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return the weights, between −1 and the number of classes less one."""
        return _Relief(data, sets, self, n_threads).weights()

    def pairs(self, problem: Neighbourhood) -> Pairs:
        """Find the cases within the radius of each case."""
        return find_within(problem)


def pairs_evenly(n: int, pieces: int) -> list[tuple[int, int]]:
    """Cut the rows so that each piece has about as many pairs (i, j > i)."""
    share = np.sqrt(1.0 - np.arange(pieces + 1) / pieces)
    bounds = np.rint(n * (1.0 - share)).astype(int).tolist()
    return list(pairwise(bounds))


class _Relief:
    """Rows in order of class, columns parted by how they are compared."""

    def __init__(
        self,
        data: Table,
        sets: TrainSets,
        relevance: ReliefRelevance | MultiSurfRelevance,
        n_threads: int,
    ) -> None:
        self.X = _writeable(data.values)
        self.rows = np.argsort(data.y, kind="stable")
        self.y = data.y[self.rows]
        self.n_classes = data.n_classes
        self.counts = np.ascontiguousarray(sets.counts[:, self.rows])
        queries = sets.counts if relevance.queries is None else relevance.queries
        self.queries = np.ascontiguousarray(queries[:, self.rows])
        self.relevance = relevance
        self.precision = relevance.precision
        self.n_threads = n_threads
        self.tick = relevance.tick
        self.nominal = data.categorical
        self.scales = self._scales()
        plain = ~data.categorical
        with np.errstate(over="ignore", invalid="ignore"):
            self.mean = self.X.sum(axis=0) / np.float64(len(self.X))
        plain[plain] = ~np.isnan(self.mean[plain])
        self.plain, self.mixed = np.flatnonzero(plain), np.flatnonzero(~plain)
        self.X_plain = self.X if plain.all() else self.X[:, self.plain]
        self.X_mixed = self.X[:, self.mixed].astype(np.float64)

    def _scales(self, anew: bool = False) -> list[_Scales]:
        """Scales of every training set, and last those of all rows together."""
        counts = np.vstack([self.counts, np.ones(self.counts.shape[1])])
        unsorted = np.empty_like(counts)
        unsorted[:, self.rows] = counts
        low, high = self._ranges(unsorted)
        if not anew and self._change_units(low, high):
            return self._scales(anew=True)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inverse = (1.0 / (high - low)).T
        # No range, or none that can be told: the column tells no two cases apart.
        inverse = np.where(np.isfinite(inverse), inverse, 0.0)
        low = np.where(np.isnan(low), 0.0, low).T.copy()
        n_vals = np.zeros(low.shape, dtype=np.intp)
        for j in np.flatnonzero(self.nominal):
            for s, present in enumerate(unsorted > 0):
                values = self.X[present, j]
                n_vals[s, j] = max(1, np.unique(values[~np.isnan(values)]).size)
        low[:, self.nominal], inverse[:, self.nominal] = 0.0, 0.0
        return [_Scales(*each) for each in zip(low, inverse, n_vals, strict=True)]

    def _change_units(self, low: FloatArray, high: FloatArray) -> bool:
        """Measure columns in other units whose sums or inverses no number holds.

        Powers of two leave digits as they are; they are no larger than need be, so that
        a set without an outlier can still see what it has.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            spread = high - low
        long = (spread > 1.0 / SHORT).any(axis=1) & ~self.nominal
        short = ((spread > 0) & (spread < SHORT)).any(axis=1) & ~self.nominal & ~long
        for columns, power in ((long, -60), (short, 100)):
            if columns.any():
                self.X = self.X.astype(np.float64)
                with np.errstate(over="ignore"):
                    there = np.ldexp(self.X[:, columns], power)
                fits = ~np.isinf(there).any(axis=0)
                self.X[:, np.flatnonzero(columns)[fits]] = there[:, fits]
        return bool(long.any() or short.any())

    def _ranges(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Least and largest value of every column in every set, shape (p, S)."""
        low, high = np.empty((2, self.X.shape[1], len(counts)))
        if counts.all():  # all sets hold all rows
            low[:] = np.fmin.reduce(self.X, axis=0)[:, None]
            high[:] = np.fmax.reduce(self.X, axis=0)[:, None]
            return low, high

        present = np.ascontiguousarray(counts.T > 0)

        def work(lo: int, hi: int, block: FloatArray) -> None:
            block_ranges(block, present, low[lo:hi], high[lo:hi])

        map_blocks(work, self.X, self.n_threads)
        return low, high

    def weights(self) -> FloatArray:
        """Return weights of shape (S, p)."""
        numeric, mixed = self._numeric_distances(), self._mixed_distances()
        result = np.zeros((len(self.counts), self.X.shape[1]))
        for lo in range(0, len(self.counts), self.relevance.batch):
            batch = range(lo, min(lo + self.relevance.batch, len(self.counts)))
            self._sum(batch, self._all_pairs(numeric, mixed, batch), result)
        return result

    def _all_pairs(
        self, numeric: QuickArray, mixed: FloatArray | None, batch: range
    ) -> list[Pairs]:
        """Neighbour pairs of every set of a batch, sets side by side."""
        found: dict[int, Pairs] = {}
        each = max(1, self.n_threads // len(batch))  # threads for one set

        def work(s: int) -> None:
            found[s] = self._pairs(numeric, mixed, s, each)

        run(work, [(s,) for s in batch], self.n_threads)
        return [found[s] for s in batch]

    def _numeric_distances(self) -> QuickArray:
        """Quick distances of all rows over the complete numeric columns."""
        n, whole = len(self.X), self.scales[-1]
        centre = whole.centre(self.mean, self.plain)
        inverse = whole.inverse[self.plain]
        scaled = scale(
            self.X_plain, self.rows, centre, inverse, self.n_threads, self.precision
        )
        self.reach = scaled.reach
        D: QuickArray = np.zeros((n, n), dtype=self.precision)
        same = np.arange(n)
        each = 4 * self.n_threads
        steps = 1 if self.tick is None else SLICES
        pieces = pairs_evenly(n, steps * each)
        for first in range(0, steps * each, each):
            # D is its own base: a pair is read before it is filled, and never after.
            sum_pairs(scaled, D, same, D, pieces[first : first + each], self.n_threads)
            if self.tick is not None:
                self.tick()
        return D

    def _mixed_distances(self) -> FloatArray | None:
        """Distances of all rows over the other columns, rows as in the data."""
        if not self.mixed.size:
            return None
        D = np.zeros((len(self.X), len(self.X)))
        add_mixed(self.X_mixed, *self.scales[-1].take(self.mixed), D, self.n_threads)
        return D

    def _quick(
        self,
        numeric: QuickArray,
        mixed: FloatArray | None,
        s: int,
        here: IntArray,
        n_threads: int,
    ) -> tuple[QuickArray, float]:
        """Distances as training set `s` measures them, and how far they may be off."""
        scales, whole = self.scales[s], self.scales[-1]
        stretch = scales.stretch(whole, self.plain)
        changed = np.flatnonzero(stretch)
        D, reach = numeric, 0.0
        if changed.size or here.size < len(numeric):
            X = np.take(self.X_plain, changed, axis=1)
            centre = scales.centre(self.mean, self.plain[changed])
            scaled = scale(
                X, self.rows[here], centre, stretch[changed], n_threads, self.precision
            )
            D, reach = np.empty((here.size, here.size), self.precision), scaled.reach
            pieces = pairs_evenly(here.size, 4 * n_threads)
            sum_pairs(scaled, numeric, here, D, pieces, n_threads)
        if mixed is not None:
            rows = self.rows[here]
            more = self._as_measured(mixed, s, n_threads)[np.ix_(rows, rows)]
            D = D + more.astype(self.precision)
        largest = float(D.max(initial=0.0))
        return D, (
            error_bound(self.plain.size, self.reach, largest, self.precision)
            + error_bound(changed.size, reach, largest, self.precision)
            # Added and taken away in double precision, column by column.
            + 4 * self.mixed.size * float(np.finfo(np.float64).eps) * self.mixed.size
        )

    def _as_measured(self, mixed: FloatArray, s: int, n_threads: int) -> FloatArray:
        """Distances over nominal and incomplete columns in training set `s`."""
        scales, whole = self.scales[s], self.scales[-1]
        changed = np.flatnonzero(scales.differ(whole)[self.mixed])
        if not changed.size:
            return mixed
        D, columns = mixed.copy(), self.mixed[changed]
        X = np.ascontiguousarray(self.X_mixed[:, changed])
        add_mixed(X, *whole.take(columns), D, n_threads, -1.0)
        add_mixed(X, *scales.take(columns), D, n_threads)
        return D

    def _pairs(
        self,
        numeric: QuickArray,
        mixed: FloatArray | None,
        s: int,
        n_threads: int,
    ) -> Pairs:
        """Neighbour pairs of one set; cases are called by their place in `rows`."""
        here = np.flatnonzero(self.counts[s])
        scales = self.scales[s]
        cases = Cases(
            self.X_plain,
            scales.inverse[self.plain],
            self.X_mixed,
            *scales.take(self.mixed),
            self.rows[here],
        )
        return self.relevance.pairs(
            Neighbourhood(
                *self._quick(numeric, mixed, s, here, n_threads),
                self.counts[s, here],
                self.queries[s, here],
                np.searchsorted(self.y[here], np.arange(self.n_classes + 1)),
                cases,
                here,
                len(self.X),
                n_threads,
            )
        )

    def _sum(self, batch: range, pairs: list[Pairs], result: FloatArray) -> None:
        """Add up what the pairs of a batch of sets say of every column."""
        if self.plain.size:
            sums = sum_numeric(self.X_plain, self.rows, pairs, self.n_threads)
            result[batch.start : batch.stop, self.plain] = sums
        for s, each in zip(batch, pairs, strict=True):
            if len(batch) > 1:
                self._sum_narrower(s, each, result[s])
            scales = self.scales[s]
            # Where no two cases differ there is no range, and nothing to divide by it.
            with np.errstate(invalid="ignore"):
                scaled = np.where(scales.inverse > 0, result[s] * scales.inverse, 0.0)
            if self.mixed.size:
                scaled[self.mixed] = sum_mixed(
                    self.X_mixed, self.rows, *scales.take(self.mixed), each
                )
            result[s] = scaled / self.queries[s].sum()

    def _sum_narrower(self, s: int, pairs: Pairs, sums: FloatArray) -> None:
        """Add up anew, for this set alone, the columns whose outliers it leaves out.

        What sets share holds pairs with the outliers. A set takes them away again, but
        not their rounding error, which may be larger than all differences in the set.
        """
        columns = self.scales[s].narrower(self.scales[-1], self.plain)
        if columns.size:
            X = np.take(self.X_plain, columns, axis=1)
            alone = sum_numeric(X, self.rows, [pairs], self.n_threads)
            sums[self.plain[columns]] = alone[0]


def _writeable(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Rows in a piece and writeable, the one form for which kernels are compiled."""
    if values.flags.c_contiguous and values.flags.writeable:
        return values
    return np.array(values, order="C")

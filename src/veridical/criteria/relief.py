"""Relevance by neighbours: ReliefF, RReliefF for numbers, and MultiSURF.

Quick distances of all rows are computed once. A training set has other distances only
in features whose range (or number of categories) changes when rows are left out, and
these are corrected; then its neighbours are searched for. Where a quick distance cannot
decide which sample is a neighbour, exact distances do. For the k nearest samples single
precision is nearly always enough; for a radius that depends on the distances of all
samples, quick distances have double precision.

The distances of a tall table do not fit into memory. There each training set computes
those of a few samples to all, finds their neighbours, and keeps no distances. The same
is done where features are sparse: distances come from the stored values alone.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical._core.targets import Numbers, Survival
from veridical.criteria.survival import expected_quantiles
from veridical.kernels.columns import map_blocks
from veridical.kernels.distance import (
    LEVELS,
    Precision,
    QuickArray,
    add_mixed,
    add_mixed_rows,
    coarse_error,
    error_bound,
    scale_columns,
    scale_samples,
    sum_pairs,
    sum_pairs_by_tiles,
    sum_rows,
)
from veridical.kernels.ordering import near_first
from veridical.kernels.ranges import block_extremes, block_ranges, fill_spreads
from veridical.kernels.relief import (
    N_PARTS,
    Neighbourhood,
    NeighbourPairs,
    Samples,
    find_nearest,
    find_within,
    find_within_by_target,
)
from veridical.kernels.relief_sums import sum_levels, sum_mixed, sum_numeric
from veridical.kernels.sparse_distance import SparseDistances, SparseSamples, Stored
from veridical.kernels.threads import run_jobs, spans
from veridical.kernels.trainsets import TrainSets

#: Bytes of the distances of all samples; beyond them, and beyond those of the data,
#: distances of a few samples are computed at a time.
MAX_BYTES = 1 << 26
SCALED_BYTES = 1 << 25  # scaled features of all samples, in tables that are not tall
TILE_BYTES = 1 << 23  # these distances: they stay in the cache
MAX_PAIRS = 1 << 23  # neighbour pairs that are summed at a time
MAX_COARSE = 4096  # features of coarse distances
OPEN_SHARE = 1 / 128  # of all samples that coarse distances may leave open
LEAST_RANGE = 1e-290  # a feature with a smaller range, or above 1/this, is rescaled
MAX_SHARE = 0.7  # of all samples in small training sets
MAX_SPREAD = 1e100  # the largest usual range; 1/this is the smallest
MAX_WIDER = 4  # mean ratio of the ranges of all samples to those in a small set
N_EXTREMES = 12  # least and largest values of a feature that are looked for in a set
SETS_AT_ONCE = 64  # sets whose ranges are computed together
NARROWING = 16  # ratio of ranges; beyond it a set shares no sums of a feature


@dataclass(frozen=True)
class Scales:
    """Scales of the features in one training set."""

    low: FloatArray
    inverse: FloatArray
    n_vals: IntArray

    def differ_in(self, other: Scales) -> NDArray[np.bool_]:
        """Mark the features whose scales differ between two training sets."""
        return (
            (self.low != other.low)
            | (self.inverse != other.inverse)
            | (self.n_vals != other.n_vals)
        )

    def added_factor(self, other: Scales, columns: IntArray) -> FloatArray:
        """Return 1/range here minus that in the other set; 0 for a constant feature."""
        more = self.inverse[columns] - other.inverse[columns]
        return np.where(self.inverse[columns] > 0, more, 0.0)

    def narrowed(self, other: Scales, columns: IntArray) -> IntArray:
        """Return the features whose range is far smaller than in the other set."""
        return np.flatnonzero(
            self.inverse[columns] > NARROWING * other.inverse[columns]
        )

    def centres(self, mean: FloatArray, columns: IntArray) -> FloatArray:
        """Return values in the middle of features: near `mean`, within the range."""
        low, inverse = self.low[columns], self.inverse[columns]
        inverse = np.where(inverse > 0, inverse, np.inf)
        return low + np.clip(np.nan_to_num(mean[columns] - low), 0.0, 1.0 / inverse)

    def take(self, columns: IntArray) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return the scales of some features, as arguments of kernels."""
        return self.low[columns], self.inverse[columns], self.n_vals[columns]


@dataclass(frozen=True, kw_only=True)
class NeighbourRelevance(ABC):
    """Weights of features by their differences between samples that are near.

    Parameters
    ----------
    rtol, atol : float
        See `Relevance`.
    tick : callable or None
        Called after each of the `N_PARTS` parts of the distances; without it they are
        computed in one part.
    """

    rtol: float = 0.0
    atol: float = 1e-12
    tick: Callable[[], None] | None = None

    precision: ClassVar[Precision]
    batch: ClassVar[int]  # sets whose pairs are summed together
    # Whether a share of all samples are neighbours of each sample, too many to keep.
    has_many_pairs: ClassVar[bool] = False

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return the weights, at least −1."""
        return _relief(data, sets, self, n_threads).weights()

    def permuted_scores(
        self, data: Table, orders: IntArray, columns: IntArray, n_threads: int
    ) -> FloatArray:
        """Return the weights of features that are independent of all else.

        The neighbours of the samples stay, and the values of the features are exchanged
        between samples; see `PermutedRelevance`. A permuted outcome would change the
        neighbours of all features, also those that matter. The neighbours were found
        with the true values of the feature too, so the exchange is approximate: it is
        too liberal with a rare class and with categorical features.
        """
        sets = TrainSets.all_rows(data.n_samples, data.weights)
        return _relief(data, sets, self, n_threads).permuted_weights(orders, columns)

    def query_counts(self, sets: TrainSets) -> FloatArray:
        """Return how often the neighbours of each sample are used, shape (S, n)."""
        return sets.counts

    @abstractmethod
    def pairs(self, problem: Neighbourhood, target: FloatArray) -> NeighbourPairs:
        """Find the neighbours of the samples, with their weights."""


@dataclass(frozen=True)
class ReliefRelevance(NeighbourRelevance):
    """Kononenko's ReliefF weights, between −1 and 1.

    Parameters
    ----------
    n_neighbors : int
        Number of hits, and of misses per class, of each sample.
    queries : array of shape (S, n) or None
        How often the neighbours of each sample are used; None is once for every
        sample of the set.
    rtol, atol, tick
        As in :class:`NeighbourRelevance`.
    """

    n_neighbors: int = 10
    queries: FloatArray | None = None

    precision: ClassVar[Precision] = np.float32
    batch: ClassVar[int] = 16  # sets whose pairs, mostly the same, are summed together

    def query_counts(self, sets: TrainSets) -> FloatArray:
        """Return `queries`, or how often each sample is in each set."""
        return sets.counts if self.queries is None else self.queries

    def leading_scores(
        self, data: Table, sets: TrainSets, n_features: int, n_threads: int
    ) -> list[tuple[IntArray, FloatArray]] | None:
        """Score the features that could be among the first; see `LeadingRelevance`."""
        share = np.count_nonzero(sets.counts, axis=1).mean() / data.n_samples
        if share > MAX_SHARE or data.categorical.any() or data.is_sparse:
            return None
        if data.is_lazy:  # on a GPU
            return None
        found = _LeadingRelief(data, sets, self, n_threads)
        return found.leading_scores(n_features) if found.is_usual else None

    def of_set(self, s: int) -> Self:
        """Return the relevance for one of the training sets."""
        queries = None if self.queries is None else self.queries[s : s + 1]
        return replace(self, queries=queries, tick=None)

    def shares(self, n_samples: float) -> FloatArray | None:
        """Return the weights of neighbours by rank, None if all have the same."""
        return None

    def pairs(self, problem: Neighbourhood, target: FloatArray) -> NeighbourPairs:
        """Find the nearest samples of every class."""
        return find_nearest(problem, self.n_neighbors)


@dataclass(frozen=True)
class RegressionReliefRelevance(ReliefRelevance):
    """RReliefF weights, between −1 and 1, for a target of numbers or survival times.

    With N_C, N_A and N_CA the sums over all samples and their neighbours of the
    difference of the target, of the feature, and of the product of both, each times the
    weight of the neighbour, the weight of a feature is
    ``N_CA / N_C − (N_A − N_CA) / (m − N_C)`` [1]_. Survival times enter by their
    expected quantiles.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours of each sample.
    decay : float or None
        The neighbour of rank r has a weight proportional to ``exp(−(r / decay)²)``;
        None gives all the same weight.
    queries, rtol, atol, tick
        As in :class:`ReliefRelevance`.

    References
    ----------
    .. [1] M. Robnik-Šikonja & I. Kononenko, "Theoretical and empirical analysis of
       ReliefF and RReliefF", Machine Learning 53 (2003).
    """

    decay: float | None = None

    # Weights of pairs depend on the sum of differences, which differs between sets.
    batch: ClassVar[int] = 1

    def pairs(self, problem: Neighbourhood, target: FloatArray) -> NeighbourPairs:
        """Find the nearest samples; weight them by the differences of the target."""
        shares = self.shares(problem.counts.sum())
        first, second, negative = find_nearest(problem, self.n_neighbors, shares)
        weight, n_queries = -negative, float(problem.queries.sum())
        own = target[problem.ids]
        reach = float(own.max() - own.min())
        differ = np.abs(target[first] - target[second]) / (reach if reach > 0 else 1.0)
        total = float(weight @ differ)
        rest = n_queries - total
        gain = weight * differ / total if total > 0 else np.zeros(weight.size)
        loss = weight * (1.0 - differ) / rest if rest > 0 else np.zeros(weight.size)
        return NeighbourPairs(first, second, n_queries * (gain - loss))

    def shares(self, n_samples: float) -> FloatArray | None:
        """Return the weights of neighbours by rank, None if all have the same."""
        if self.decay is None:
            return None
        n_near = int(min(self.n_neighbors, n_samples - 1))
        shares = np.exp(-((np.arange(1, n_near + 1) / self.decay) ** 2))
        return shares / shares.sum()


class MultiSurfRelevance(NeighbourRelevance):
    """MultiSURF weights, between −1 and the number of classes less one."""

    precision: ClassVar[Precision] = np.float64
    # Weights of pairs depend on the number of neighbours, which differs between sets.
    batch: ClassVar[int] = 1
    has_many_pairs: ClassVar[bool] = True

    def pairs(self, problem: Neighbourhood, target: FloatArray) -> NeighbourPairs:
        """Find the samples within the radius of each sample."""
        return find_within(problem)


class RegressionMultiSurfRelevance(MultiSurfRelevance):
    """MultiSURF weights for a target of numbers, as in skrebate.

    Near samples whose targets differ by less than one standard deviation are hits, the
    others misses.
    """

    def pairs(self, problem: Neighbourhood, target: FloatArray) -> NeighbourPairs:
        """Find the samples within the radius, with similar and with other targets."""
        own, counts = target[problem.ids], problem.counts
        n = counts.sum()
        centred = own - counts @ own / n
        return find_within_by_target(
            problem, target, float(np.sqrt(counts @ centred**2 / (n - 1)))
        )


def pairs_evenly(n: int, pieces: int) -> list[tuple[int, int]]:
    """Divide the rows into pieces with about the same number of pairs (i, j > i)."""
    share = np.sqrt(1.0 - np.arange(pieces + 1) / pieces)
    bounds = np.rint(n * (1.0 - share)).astype(int).tolist()
    return list(pairwise(bounds))


class PlainRelief:
    """Rows sorted by class, features divided into plain and mixed ones."""

    def __init__(
        self,
        data: Table,
        sets: TrainSets,
        relevance: NeighbourRelevance,
        n_threads: int,
    ) -> None:
        self.X = self._read(data)
        y = data.y if data.kind == "classes" else np.zeros(len(data), dtype=np.intp)
        self.rows = np.argsort(y, kind="stable")
        self.y = y[self.rows]
        self.n_classes = max(data.n_classes, 1)
        self.target = data.target
        self.counts = np.ascontiguousarray(sets.counts[:, self.rows])
        queries = relevance.query_counts(sets)
        self.queries = np.ascontiguousarray(queries[:, self.rows], dtype=np.float64)
        self.relevance = relevance
        self.precision = relevance.precision
        self.n_threads = n_threads
        self.tick = relevance.tick
        self.nominal = data.categorical
        self.scales = self._scales()
        self._divide()

    def _read(self, data: Table) -> Any:
        """Return the features in the form that the methods below work on."""
        return _writeable(data.values)

    def _divide(self) -> None:
        """Divide the features into plain and mixed ones."""
        plain = ~self.nominal
        with np.errstate(over="ignore", invalid="ignore"):
            self.mean = self.X.sum(axis=0) / np.float64(len(self.X))
        plain[plain] = ~np.isnan(self.mean[plain])
        self.plain, self.mixed = np.flatnonzero(plain), np.flatnonzero(~plain)
        # `take` keeps rows together, as `X[:, features]` does not.
        self.X_plain = self.X if plain.all() else self.X.take(self.plain, axis=1)
        self.X_mixed = self.X.take(self.mixed, axis=1).astype(np.float64, copy=False)

    def _scales(self, rescaled: bool = False) -> list[Scales]:
        """Compute the scales of every training set, and last those of all rows."""
        counts = np.vstack([self.counts, np.ones(self.counts.shape[1])])
        unsorted = self.unsorted(counts)
        low, high = self._ranges(unsorted)
        if not rescaled and self._rescale_extreme(low, high):
            return self._scales(rescaled=True)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inverse = (1.0 / (high - low)).T
        # Without a known range a feature does not tell samples apart.
        inverse = np.where(np.isfinite(inverse), inverse, 0.0)
        low = np.where(np.isnan(low), 0.0, low).T.copy()
        n_vals = np.zeros(low.shape, dtype=np.intp)
        for j in np.flatnonzero(self.nominal):
            for s, present in enumerate(unsorted > 0):
                values = self.X[present, j]
                n_vals[s, j] = max(1, np.unique(values[~np.isnan(values)]).size)
        low[:, self.nominal], inverse[:, self.nominal] = 0.0, 0.0
        return [Scales(*each) for each in zip(low, inverse, n_vals, strict=True)]

    def _rescale_extreme(self, low: FloatArray, high: FloatArray) -> bool:
        """Rescale features whose sums or inverse ranges would overflow.

        Powers of two keep all digits. They are as small as possible, so that values
        of a set without an outlier do not underflow.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            spread = high - low
        large = (spread > 1.0 / LEAST_RANGE).any(axis=1) & ~self.nominal
        small = (
            ((spread > 0) & (spread < LEAST_RANGE)).any(axis=1) & ~self.nominal & ~large
        )
        for columns, power in ((large, -60), (small, 100)):
            if columns.any():
                self._rescale(columns, power)
        return bool(large.any() or small.any())

    def _rescale(self, columns: NDArray[np.bool_], power: int) -> None:
        """Multiply some features by a power of two, where they stay finite."""
        self.X = self.X.astype(np.float64)
        with np.errstate(over="ignore"):
            scaled = np.ldexp(self.X[:, columns], power)
        fits = ~np.isinf(scaled).any(axis=0)
        self.X[:, np.flatnonzero(columns)[fits]] = scaled[:, fits]

    def _ranges(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return low and high of every feature in every set, shape (p, S)."""
        low, high = np.empty((2, self.X.shape[1], len(counts)))
        if counts.all():  # all sets hold all rows
            least, largest = self._whole_range()
            low[:], high[:] = least[:, None], largest[:, None]
            return low, high

        present = np.ascontiguousarray(counts.T > 0)

        def work(lo: int, hi: int, block: FloatArray) -> None:
            block_ranges(block, present, low[lo:hi], high[lo:hi])

        map_blocks(work, self.X, self.n_threads)
        return low, high

    def _whole_range(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the least and the largest value of every feature."""
        return np.fmin.reduce(self.X, axis=0), np.fmax.reduce(self.X, axis=0)

    @property
    def is_tall(self) -> bool:
        """Whether the distances of all samples are too many, or few are wanted."""
        n = len(self.X)
        n_bytes = n * n * np.dtype(self.precision).itemsize
        few = 4 * np.count_nonzero(self.queries.any(axis=0)) < n
        return n_bytes > MAX_BYTES and bool(few or n_bytes > self.X.nbytes)

    def weights(self) -> FloatArray:
        """Return weights of shape (S, p)."""
        if self.is_tall:
            return self._weights_by_tiles()
        numeric, mixed = self._numeric_distances(), self._mixed_distances()
        result = np.zeros((len(self.counts), self.X.shape[1]))
        for lo in range(0, len(self.counts), self.relevance.batch):
            batch = range(lo, min(lo + self.relevance.batch, len(self.counts)))
            pairs = self._all_pairs(numeric, mixed, batch)
            self._sum(lo, pairs, result[batch.start : batch.stop])
        return result

    def permuted_weights(self, orders: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of permuted features for the pairs of all samples.

        Parameters
        ----------
        orders : int array of shape (B, n)
            Sample i has the values of sample ``orders[b, i]``.
        columns : int array
            The features to weigh.
        """
        if self.is_tall:
            pairs = self.relevance.pairs(self.tiles(0), self._target_values(0))
        else:
            numeric, mixed = self._numeric_distances(), self._mixed_distances()
            (pairs,) = self._all_pairs(numeric, mixed, range(1))
        result = np.zeros((len(orders), columns.size))
        is_plain = np.isin(columns, self.plain)
        plain, other = columns[is_plain], columns[~is_plain]
        places, scales = np.flatnonzero(is_plain), self.scales[0]
        all_rows = np.ascontiguousarray(orders[:, self.rows])
        for part, X_plain in self._blocks(plain):
            inverse = scales.inverse[plain[part]]
            for row, rows in zip(result, all_rows, strict=True):
                (sums,) = sum_numeric(X_plain, rows, [pairs], self.n_threads)
                row[places[part]] = np.where(inverse > 0, sums * inverse, 0.0)
        if other.size:
            X_other = self.X.take(other, axis=1).astype(np.float64, copy=False)
            for row, rows in zip(result, all_rows, strict=True):
                row[~is_plain] = sum_mixed(X_other, rows, *scales.take(other), pairs)
        return result / self.queries[0].sum()

    def _blocks(self, columns: IntArray) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Iterate over plain features, with their places among `columns`."""
        if columns is self.plain:
            yield slice(None), self.X_plain
        elif columns.size:
            yield slice(None), np.ascontiguousarray(self.X.take(columns, axis=1))

    def _weights_by_tiles(self) -> FloatArray:
        """Return the weights, set by set, without all distances in memory."""
        result = np.zeros((len(self.counts), self.X.shape[1]))
        for s, total in enumerate(result):
            problem, target = self.tiles(s), self._target_values(s)
            asked, tick = problem.asked, problem.tick
            few = problem.counts.size**2 <= MAX_PAIRS
            if few or not self.relevance.has_many_pairs:
                self._sum(s, [self.relevance.pairs(problem, target)], total[None])
                continue
            step = max(1, MAX_PAIRS // problem.counts.size)
            for lo, hi in spans(asked.size, N_PARTS):
                for first in range(lo, hi, step):
                    here = asked[first : min(first + step, hi)]
                    part, row = (
                        problem._replace(asked=here, tick=None),
                        np.zeros_like(total),
                    )
                    self._sum(s, [self.relevance.pairs(part, target)], row[None])
                    total += row
                if tick is not None:
                    tick()
        return result

    def tiles(self, s: int) -> Neighbourhood:
        """Return the search in training set `s`, a few samples at a time."""
        here = np.flatnonzero(self.counts[s])
        asked = np.flatnonzero(self.queries[s, here])
        distances, error = self._tile(s, here, self.precision)
        if self._may_be_coarse:
            quickly, coarsely = self._tile(s, here, np.uint16)
            some = asked[:: -(-asked.size // 16)]
            if self._tells_apart(quickly(some), coarsely):
                distances, error = quickly, coarsely
        itemsize = np.dtype(self.precision).itemsize
        step = max(16, TILE_BYTES // (here.size * itemsize))
        found = self._neighbourhood(
            s, here, self.scales[s], distances, step, error, self.n_threads
        )
        return found._replace(tick=self.tick)

    @property
    def _may_be_coarse(self) -> bool:
        return self.precision is np.float32 and self.plain.size <= MAX_COARSE

    def _tile(
        self, s: int, here: IntArray, precision: Precision | type[np.uint16]
    ) -> tuple[Callable[[IntArray], QuickArray], float]:
        """Return what computes distances of some samples to all, and their error."""
        scales, rows, plain = self.scales[s], self.rows[here], self.plain
        coarse = precision is np.uint16
        centre, factor = scales.centres(self.mean, plain), scales.inverse[plain]
        if coarse:
            centre, factor = scales.low[plain], LEVELS * factor
        columns = scale_columns(
            self.X_plain, rows, centre, factor, self.n_threads, precision
        )
        mixed = scales.take(self.mixed)

        def distances(some: IntArray) -> QuickArray:
            D: QuickArray = np.empty((some.size, here.size), dtype=self.precision)
            own = scale_samples(self.X_plain, rows[some], centre, factor, 1, precision)
            sum_rows(own, columns, D)
            D[np.arange(some.size), some] = 0.0
            if self.mixed.size:
                add_mixed_rows(self.X_mixed, rows, some, *mixed, D)
            return D

        error = coarse_error(plain.size, columns.largest_rounding)
        # No value is further from another than both are from the middle.
        largest = 2 * columns.largest_size + self.mixed.size
        if not coarse:
            error = error_bound(
                plain.size, columns.largest_size, largest, self.precision
            )
        # The others are added in double precision, and the sum is rounded.
        eps = float(np.finfo(self.precision).eps)
        return distances, error + self.mixed.size * eps * (largest + self.mixed.size)

    def _tells_apart(self, D: QuickArray, error: float) -> bool:
        """Return whether distances with this error leave few neighbours open."""
        place = min(getattr(self.relevance, "n_neighbors", 1), D.shape[1] - 1)
        last = np.partition(D, place, axis=1)[:, place : place + 1]
        n_open = np.count_nonzero(np.abs(D - last) <= 2 * error, axis=1)
        return float(n_open.mean()) <= OPEN_SHARE * D.shape[1]

    def _all_pairs(
        self, numeric: QuickArray, mixed: FloatArray | None, batch: range
    ) -> list[NeighbourPairs]:
        """Find the neighbour pairs of every set of a batch, in parallel."""
        found: dict[int, NeighbourPairs] = {}
        each = max(1, self.n_threads // len(batch))  # threads for one set

        def work(s: int) -> None:
            found[s] = self._pairs(numeric, mixed, s, each)

        run_jobs(work, [(s,) for s in batch], self.n_threads)
        return [found[s] for s in batch]

    def _numeric_distances(self) -> QuickArray:
        """Compute quick distances of all rows over complete numeric features."""
        n, p, whole = len(self.X), self.plain.size, self.scales[-1]
        centres = whole.centres(self.mean, self.plain)
        inverse = whole.inverse[self.plain]
        D: QuickArray = np.zeros((n, n), dtype=self.precision)
        same = np.arange(n)
        each = 4 * self.n_threads
        steps = 1 if self.tick is None else N_PARTS
        pieces = pairs_evenly(n, steps * each)
        width = max(1, SCALED_BYTES // (n * D.itemsize))
        starts = range(0, max(p, 1), width)
        self.largest_size, done = 0.0, 0
        for lo in starts:
            part = slice(lo, min(lo + width, p))
            scaled = scale_samples(
                self.X_plain
                if len(starts) == 1
                else np.ascontiguousarray(self.X_plain[:, part]),
                self.rows,
                centres[part],
                inverse[part],
                self.n_threads,
                self.precision,
            )
            self.largest_size += scaled.largest_size
            for first in range(0, steps * each, each):
                # D is also the base: each pair is read before it is written.
                here = pieces[first : first + each]
                sum_pairs(scaled, D, same, D, here, self.n_threads)
                done += 1
                if self.tick is not None and done % len(starts) == 0:
                    self.tick()
            del scaled  # before the next block is scaled
        # Sums of several blocks of features are rounded once for each.
        eps = float(np.finfo(self.precision).eps)
        self.added_error = (len(starts) - 1) * eps / 2
        return D

    def _mixed_distances(self) -> FloatArray | None:
        """Compute distances of all rows over the other features."""
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
        """Compute the distances in training set `s`, and a bound of their error."""
        scales, whole = self.scales[s], self.scales[-1]
        added_factor = scales.added_factor(whole, self.plain)
        changed = np.flatnonzero(added_factor)
        D, largest_size = numeric, 0.0
        if changed.size or here.size < len(numeric):
            X = np.take(self.X_plain, changed, axis=1)
            centres = scales.centres(self.mean, self.plain[changed])
            scaled = scale_samples(
                X,
                self.rows[here],
                centres,
                added_factor[changed],
                n_threads,
                self.precision,
            )
            D, largest_size = (
                np.empty((here.size, here.size), self.precision),
                scaled.largest_size,
            )
            pieces = pairs_evenly(here.size, 4 * n_threads)
            sum_pairs(scaled, numeric, here, D, pieces, n_threads)
        if mixed is not None:
            rows = self.rows[here]
            more = self._mixed_in_set(mixed, s, n_threads)[np.ix_(rows, rows)]
            D = D + more.astype(self.precision)
        largest = float(D.max(initial=0.0))
        return D, (
            error_bound(self.plain.size, self.largest_size, largest, self.precision)
            + self.added_error * largest
            + error_bound(changed.size, largest_size, largest, self.precision)
            # Added and subtracted in double precision, feature by feature.
            + 4 * self.mixed.size * float(np.finfo(np.float64).eps) * self.mixed.size
        )

    def _mixed_in_set(self, mixed: FloatArray, s: int, n_threads: int) -> FloatArray:
        """Compute distances over categorical or incomplete features in set `s`."""
        scales, whole = self.scales[s], self.scales[-1]
        changed = np.flatnonzero(scales.differ_in(whole)[self.mixed])
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
    ) -> NeighbourPairs:
        """Find the neighbour pairs of one set; ids are places in `rows`."""
        here = np.flatnonzero(self.counts[s])
        D, error = self._quick(numeric, mixed, s, here, n_threads)
        problem = self._neighbourhood(
            s, here, self.scales[s], partial(_take_rows, D), len(D), error, n_threads
        )
        return self.relevance.pairs(problem, self._target_values(s))

    def _neighbourhood(
        self,
        s: int,
        here: IntArray,
        scales: Scales,
        distances: Callable[[IntArray], QuickArray],
        step: int,
        error: float,
        n_threads: int,
    ) -> Neighbourhood:
        """Return the search for neighbours in one set, given its distances."""
        return Neighbourhood(
            distances,
            step,
            np.flatnonzero(self.queries[s, here]),
            error,
            self.counts[s, here],
            self.queries[s, here],
            np.searchsorted(self.y[here], np.arange(self.n_classes + 1)),
            self._samples(scales, self.rows[here]),
            here,
            len(self.rows),
            n_threads,
        )

    def _samples(self, scales: Scales, rows: IntArray) -> Any:
        """Return what kernels compute exact distances from."""
        return Samples(
            self.X_plain,
            scales.inverse[self.plain],
            self.X_mixed,
            *scales.take(self.mixed),
            rows,
        )

    def _target_values(self, s: int) -> FloatArray:
        """Return the target as numbers, by place in `rows`; of classes, the codes."""
        if isinstance(self.target, Survival):
            counts = np.empty(len(self.rows))
            counts[self.rows] = self.counts[s]
            return expected_quantiles(self.target, counts)[self.rows]
        if isinstance(self.target, Numbers):
            return self.target.values[self.rows]
        return self.y.astype(np.float64)

    def unsorted(self, values: FloatArray) -> FloatArray:
        """Put values of samples, in the last axis, in the order of the rows."""
        result = np.empty_like(values)
        result[..., self.rows] = values
        return result

    def sum_differences(self, s: int, pairs: NeighbourPairs) -> FloatArray:
        """Sum weight × difference over pairs, with the ranges of one set."""
        result = np.zeros((1, self.X.shape[1]))
        self._sum(s, [pairs], result)
        return result[0] * self.queries[s].sum()

    def _sum(self, first: int, pairs: list[NeighbourPairs], result: FloatArray) -> None:
        """Sum the differences of every feature over the pairs of some sets."""
        for part, X in self._blocks(self.plain):
            sums = sum_numeric(X, self.rows, pairs, self.n_threads)
            result[:, self.plain[part]] = sums
        for s, (each, row) in enumerate(zip(pairs, result, strict=True), first):
            if len(pairs) > 1:
                self._sum_narrowed(s, each, row)
            scales = self.scales[s]
            # A constant feature has no range to divide by.
            with np.errstate(invalid="ignore"):
                scaled = np.where(scales.inverse > 0, row * scales.inverse, 0.0)
            if self.mixed.size:
                scaled[self.mixed] = sum_mixed(
                    self.X_mixed, self.rows, *scales.take(self.mixed), each
                )
            row[:] = scaled / self.queries[s].sum()

    def _sum_narrowed(self, s: int, pairs: NeighbourPairs, sums: FloatArray) -> None:
        """Sum features for one set alone, if it leaves their outliers out.

        The sums that sets share include pairs with the outliers. Subtracting them
        leaves a rounding error that may be larger than all differences in the set.
        """
        columns = self.scales[s].narrowed(self.scales[-1], self.plain)
        if columns.size:
            X = np.take(self.X_plain, columns, axis=1)
            alone = sum_numeric(X, self.rows, [pairs], self.n_threads)
            sums[self.plain[columns]] = alone[0]


class _SparseRelief(PlainRelief):
    """Sparse features, all of them numbers that are not missing.

    Distances are computed from the stored values, a few samples at a time, and
    differences of neighbours from blocks of features that are made dense.
    """

    is_tall = True
    _may_be_coarse = False

    def _read(self, data: Table) -> Any:
        if np.isnan(data.values.data).any():
            raise InputError(
                "X is sparse and holds missing values (NaN), which distances between "
                "sparse samples cannot use; impute them."
            )
        X = data.values.tocsc()
        if not X.has_canonical_format:
            X = X.copy()  # the matrix of the user stays as it is
            X.sum_duplicates()
        return X

    def _divide(self) -> None:
        self.plain, self.mixed = np.arange(self.X.shape[1]), np.zeros(0, dtype=np.intp)
        self.X_mixed = np.zeros((self.X.shape[0], 0))
        self.X_rows = self.X.tocsr()
        self.stored = Stored.from_matrix(self.X_rows)

    def _rescale(self, columns: NDArray[np.bool_], power: int) -> None:
        chosen = np.repeat(columns, np.diff(self.X.indptr))
        self.X = self.X.astype(np.float64)  # a copy
        self.X.data[chosen] = np.ldexp(self.X.data[chosen], power)

    def _whole_range(self) -> tuple[NDArray[Any], NDArray[Any]]:
        least, largest = self.X.min(axis=0), self.X.max(axis=0)
        return least.toarray().ravel(), largest.toarray().ravel()

    def _blocks(self, columns: IntArray) -> Iterator[tuple[slice, NDArray[Any]]]:
        width = max(1, TILE_BYTES // (self.X.dtype.itemsize * self.X.shape[0]))
        for lo in range(0, columns.size, width):
            part = slice(lo, min(lo + width, columns.size))
            yield part, self.X[:, columns[part]].toarray(order="C")

    def _tile(
        self, s: int, here: IntArray, precision: Any
    ) -> tuple[Callable[[IntArray], QuickArray], float]:
        X = self.X_rows[self.rows[here]]
        found = SparseDistances(X, self.scales[s].inverse, precision)
        return found, found.error

    def _samples(self, scales: Scales, rows: IntArray) -> Any:
        return SparseSamples(self.stored, scales.inverse, rows)


def _relief(
    data: Table, sets: TrainSets, relevance: NeighbourRelevance, n_threads: int
) -> PlainRelief:
    """Return the computation for dense or sparse features, or for those on a GPU."""
    if data.is_sparse:
        return _SparseRelief(data, sets, relevance, n_threads)
    on_device = data.is_lazy and data.values.is_on_device
    if on_device and isinstance(relevance, ReliefRelevance):
        from veridical.criteria.relief_on_device import relief_on_device  # it extends

        found = relief_on_device(data, sets, relevance, n_threads)
        if found is not None:
            return found
        warnings.warn(
            "Neighbours are searched for on the processor: the GPU is used for up to "
            "124 neighbours and features of usual size.",
            UserWarning,
            stacklevel=2,
        )
    loaded = data.replace(features=data.features.load())
    return PlainRelief(loaded, sets, relevance, n_threads)


class _LeadingRelief(PlainRelief):
    """The first features of many small training sets, of complete numbers.

    A half of the samples has other ranges of most features than all samples, so that
    distances of all samples are of little use. Here values are scaled once by the
    ranges of all samples, and again for each set. All features are weighed from values
    that are rounded to whole numbers, with a bound on the error, and those that could
    be among the first are weighed precisely.
    """

    def _scales(self, rescaled: bool = False) -> list[Scales]:
        """Compute the ranges of all samples; those of the sets are computed later."""
        with np.errstate(over="ignore", invalid="ignore"):
            self.low = self.X.min(axis=0).astype(np.float64)
            self.spread = self.X.max(axis=0) - self.low
        return []

    @property
    def is_usual(self) -> bool:
        """Whether distances fit into memory, and no range is very large or small."""
        usual = (self.spread >= 1 / MAX_SPREAD) & (self.spread <= MAX_SPREAD)
        return not self.is_tall and bool((usual | (self.spread == 0)).all())

    def leading_scores(
        self, n_features: int
    ) -> list[tuple[IntArray, FloatArray]] | None:
        """Weigh the features that could be among the first of each set.

        None where a set leaves out the outliers of many features: single precision
        would lose too many digits of the others.
        """
        inverse = _inverse(self.spread)
        self.scaled = scale_samples(
            self.X, self.rows, self.low + self.spread / 2, inverse, self.n_threads
        ).Z
        rounded = scale_samples(
            self.X, self.rows, self.low, LEVELS * inverse, self.n_threads, np.uint16
        ).Z[:, : len(inverse)]
        self.levels: NDArray[np.uint16] = rounded.astype(np.uint16, copy=False)
        found: dict[int, tuple[IntArray, FloatArray]] = {}

        def work(s: int, spread: FloatArray) -> None:
            found[s] = self._lead(s, spread, n_features)

        for first in range(0, len(self.counts), SETS_AT_ONCE):
            here = range(first, min(first + SETS_AT_ONCE, len(self.counts)))
            spreads = self._spreads(here)
            wider = (self.spread * _inverse(spreads)).mean(axis=1)
            if wider.max() > MAX_WIDER:
                return None
            run_jobs(work, zip(here, spreads, strict=True), self.n_threads)
        return [found[s] for s in range(len(self.counts))]

    @cached_property
    def _extremes(self) -> tuple[FloatArray, NDArray[np.int32]]:
        """The least and largest values of every feature, and their rows."""
        shape = (len(self.spread), 2, min(N_EXTREMES, len(self.X)))
        values, rows = np.empty(shape), np.empty(shape, dtype=np.int32)

        def find(lo: int, hi: int, block: FloatArray) -> None:
            block_extremes(block, values[lo:hi], rows[lo:hi])

        map_blocks(find, self.X, self.n_threads)
        return values, rows

    def _spreads(self, here: range) -> FloatArray:
        """Compute the ranges of all features in some sets."""
        present = np.empty((len(self.X), len(here)), dtype=np.bool_)
        present[self.rows] = self.counts[here].T > 0
        spreads = np.empty((len(here), len(self.spread)))
        pieces = spans(len(self.spread), self.n_threads, 64)
        fixed = *self._extremes, self.X, present
        run_jobs(
            fill_spreads, [(*fixed, *each, spreads) for each in pieces], self.n_threads
        )
        return spreads

    def _lead(
        self, s: int, spread: FloatArray, n_features: int
    ) -> tuple[IntArray, FloatArray]:
        """Weigh the features that could be among the first of set `s`."""
        inverse, p = _inverse(spread), spread.size
        wider = self.spread * inverse  # how much wider the range of all samples is
        here = np.flatnonzero(self.counts[s])
        Z = self.scaled
        factor = np.zeros(Z.shape[1], dtype=Z.dtype)
        factor[:p] = wider
        D: QuickArray = np.empty((here.size, here.size), dtype=self.precision)
        largest_size = sum_pairs_by_tiles(Z, here, factor, Z.dtype.type(-2), D)
        error = error_bound(p, largest_size, float(D.max()))
        scales = Scales(self.low, inverse, np.zeros(p, dtype=np.intp))
        problem = self._neighbourhood(
            s, here, scales, partial(_take_rows, D), here.size, error, 1
        )
        pairs = self.relevance.pairs(problem, self._target_values(s))
        n_queries = self.queries[s].sum()
        sums, off = sum_levels(self.levels, pairs)
        unit = wider / (LEVELS * n_queries)
        near, _ = near_first(sums * unit, n_features, rtol=1e-6, atol=off * unit)
        X = self.X.take(near, axis=1)
        (precise,) = sum_numeric(X, self.rows, [pairs], 1)
        return near, precise * inverse[near] / n_queries


def _take_rows(D: QuickArray, some: IntArray) -> QuickArray:
    """Return some rows, ascending, without a copy where they are all in a run."""
    if some.size == some[-1] - some[0] + 1:
        return D[some[0] : some[-1] + 1]
    return D[some]


def _inverse(spread: FloatArray) -> FloatArray:
    """Divide 1 by ranges; 0 for a constant feature."""
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)


def _writeable(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return a C-contiguous, writeable array: the form that kernels compile for."""
    if values.flags.c_contiguous and values.flags.writeable:
        return values
    return np.array(values, order="C")

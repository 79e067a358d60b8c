"""ReliefF and RReliefF on a GPU.

The distances of some samples to all are computed at a time, over a few hundred features
each. Lists of the nearest samples of each class serve all training sets: a set has
other distances only in features whose range changes, and the change has a bound. Where
a list does not prove the neighbours of a sample in a set, distances of the set itself
are computed, and where more samples are equally far than a list can hold, the processor
decides.

Neighbours are those of `veridical.criteria.relief`, because exact distances decide, and
weights are equal up to the rounding of their sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.devices import device_values
from veridical._core.table import Table
from veridical.criteria.relief import (
    LEAST_RANGE,
    PlainRelief,
    ReliefRelevance,
    Scales,
)
from veridical.kernels.cuda.columns import ColumnKernels
from veridical.kernels.cuda.neighbours import (
    MAX_CAPACITY,
    MAX_WANTED,
    TILE,
    DeviceMixedFeatures,
    DeviceSamples,
    DeviceSet,
    Near,
    NeighbourKernels,
    NeighbourLists,
)
from veridical.kernels.relief import N_PARTS, find_nearest
from veridical.kernels.trainsets import TrainSets

#: Features of distances that are summed in single precision before they are added to
#: the others; more would have larger rounding errors.
SINGLE_FEATURES = 512
#: Bytes of the distances that are in memory at a time, and their share of what is free.
MAX_CHUNK_BYTES, CHUNK_SHARE = 48 << 30, 0.3
#: The same for lists of candidates.
LIST_BYTES, LIST_SHARE = 4 << 30, 1 / 16
#: Bytes of a sample in a list, with what is computed for its neighbours.
ENTRY_BYTES = 70
#: Samples by which a list is longer than the number of neighbours, which distances that
#: cannot be told apart may need; and standard deviations by which it is longer than a
#: set needs on average.
SPARE, SPARE_DEVIATIONS = 8, 4.0
#: Samples whose distances tell whether lists are long enough for a set.
SOME = 32
#: Share of the samples that lists may leave open; beyond it distances of the set itself
#: decide for all of them, because those of all samples take half the time.
MAX_OPEN = 1 / 2
#: Largest relative rounding error of a number in single precision.
SINGLE_ROUNDING = 2.0**-24


def relief_on_device(
    data: Table, sets: TrainSets, relevance: ReliefRelevance, n_threads: int
) -> DeviceRelief | None:
    """Return the computation on the GPU; None where the processor has to do it."""
    if relevance.n_neighbors + 4 > MAX_WANTED:
        return None
    found = DeviceRelief(data, sets, relevance, n_threads)
    return found if found.is_usual else None


@dataclass(frozen=True)
class _SearchedSamples:
    """Samples among which neighbours are searched for, in one training set.

    `places` are their places in `rows`; a sample is numbered by its place in these.
    """

    places: IntArray
    samples: DeviceSamples
    one: DeviceSet


class DeviceRelief(PlainRelief):
    """Weights of features that are on a GPU, or are copied to it."""

    relevance: ReliefRelevance
    is_usual = True
    make_kernels: Callable[[Any], NeighbourKernels] = staticmethod(NeighbourKernels)
    make_columns: Callable[[Any], ColumnKernels] = staticmethod(ColumnKernels)

    def _read(self, data: Table) -> Any:
        self._data = data
        self.kernels = self.make_kernels(device_values(data.values))
        self._columns = self.make_columns(self.kernels.X)
        self._has_missing = np.zeros(data.n_features, dtype=np.bool_)
        return data.values

    def _ranges(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        low, high = np.empty((2, self.X.shape[1], len(counts)))
        known: dict[bytes, int] = {}
        for s, present in enumerate(counts > 0):
            first = known.setdefault(np.packbits(present).tobytes(), s)
            if first == s:
                rows = np.flatnonzero(present)
                least, most, missing = self._columns.ranges(rows)
                empty = missing == int(present.sum())
                low[:, s] = np.where(empty, np.nan, least)
                high[:, s] = np.where(empty, np.nan, most)
                self._has_missing |= missing > 0
            else:
                low[:, s], high[:, s] = low[:, first], high[:, first]
        self._refuse_infinite(low, high)
        return low, high

    def _refuse_infinite(self, low: FloatArray, high: FloatArray) -> None:
        infinite = np.isinf(low).any(axis=1) | np.isinf(high).any(axis=1)
        for j in np.flatnonzero(infinite):
            self.X.read(np.array([j]))  # it raises, with the row

    def _rescale_extreme(self, low: FloatArray, high: FloatArray) -> bool:
        """Leave features whose range is very large or very small to the processor."""
        with np.errstate(over="ignore", invalid="ignore"):
            spread = high - low
            extreme = (spread > 1.0 / LEAST_RANGE) | (
                (spread > 0) & (spread < LEAST_RANGE)
            )
        self.is_usual = not extreme.any()
        return False

    def _divide(self) -> None:
        plain = ~self.nominal & ~self._has_missing
        self.plain, self.mixed = np.flatnonzero(plain), np.flatnonzero(~plain)

    # -- between the memories --------------------------------------------------------

    def _upload(self, values: Any, dtype: Any = None) -> Any:
        return self.kernels.xp.asarray(np.ascontiguousarray(values, dtype=dtype))

    def _download(self, values: Any) -> Any:
        return values.get() if hasattr(values, "get") else np.asarray(values)

    # -- weights ---------------------------------------------------------------------

    def weights(self) -> FloatArray:
        """Return weights of shape (S, p)."""
        self._prepare()
        n_sets, p = self.counts.shape[0], self.X.shape[1]
        # Sums of weighted differences, and of these times the difference of the target.
        self._sums, self._total = np.zeros((n_sets, 2, p)), np.zeros(n_sets)
        asked = np.flatnonzero(self.queries.any(axis=0))
        done, ticks = 0, 0
        self._left: list[list[IntArray]] = [[] for _ in range(n_sets)]
        for part in self._chunks(asked):
            self._add_part(part)
            done += part.size
            while self.tick is not None and ticks * asked.size < N_PARTS * done:
                self.tick()
                ticks += 1
        for s, left in enumerate(self._left):
            samples = np.concatenate([np.zeros(0, dtype=np.intp), *left])
            if samples.size:
                self._add_on_host(s, samples)
        return np.stack([self._finish(s) for s in range(n_sets)])

    def permuted_weights(self, orders: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of permuted features, which the processor computes."""
        return self._on_host(0).permuted_weights(orders, columns)

    def _prepare(self) -> None:
        """Copy samples and training sets to the GPU."""
        everything = np.arange(len(self.rows))
        self._views = [self._view(s, everything) for s in range(len(self.counts))]
        self._Z: Any = None
        self._wanted = [self._list_length(s) for s in range(len(self.counts))]

    def _view(self, s: int, places: IntArray) -> _SearchedSamples:
        """Return some samples in a training set."""
        scales, counts, y = self.scales[s], self.counts[s], self.y[places]
        inverse = scales.inverse.copy()
        inverse[self.mixed] = 0.0  # they are not numbers without missing values
        samples = DeviceSamples(
            self._upload(self.rows[places], np.int32),
            self._upload(y, np.int32),
            self._upload(np.searchsorted(y, np.arange(self.n_classes + 1)), np.int32),
        )
        one = DeviceSet(
            self._upload(inverse),
            self._mixed_features(scales),
            self._upload(counts[places]),
            self._upload(self.queries[s, places]),
            self._upload(np.bincount(self.y, counts, minlength=self.n_classes)),
            float(counts.sum()),
        )
        return _SearchedSamples(places, samples, one)

    def _mixed_features(self, scales: Scales) -> DeviceMixedFeatures:
        low, inverse, n_vals = scales.take(self.mixed)
        return DeviceMixedFeatures(
            self._upload(self.mixed, np.int32),
            self._upload(low),
            self._upload(inverse),
            self._upload(n_vals, np.int32),
        )

    def _chunks(self, asked: IntArray) -> Iterator[IntArray]:
        """Divide the asked samples into parts whose distances fit into memory."""
        width = 4 * _padded_size(len(self.rows))
        free = self.kernels.free_bytes()
        budget = min(MAX_CHUNK_BYTES, int(CHUNK_SHARE * free))
        lists = min(LIST_BYTES, int(LIST_SHARE * free))
        lists //= self.n_classes * MAX_CAPACITY * ENTRY_BYTES
        step = max(TILE, min(budget // width, lists) // TILE * TILE)
        for lo in range(0, asked.size, step):
            yield asked[lo : lo + step]

    def _add_part(self, part: IntArray) -> None:
        """Add the sums over the neighbours of some samples, in every set."""
        whole = self._views[0]
        D = self._distances(whole, part, self.scales[-1], keep=True)
        wanted, listed = self._length_of_lists(), None
        if wanted:
            capacity = min(MAX_CAPACITY, 2 * wanted + 32)
            listed = self.kernels.list_nearest(
                whole.samples, D, part.size, wanted, capacity
            )
        span = self._span_of_lists(D, part.size)
        for s, queries in enumerate(self.queries):
            wanting = np.flatnonzero(queries[part])
            if listed is not None and wanting.size and self._may_share(s, span):
                wider = self._bound_of_change(s, part)
                near = self._decide(s, self._views[s], part, listed, wider)
                is_open = self._find_open(near)
                if is_open.mean() <= MAX_OPEN:
                    self._add_sums(s, self._views[s], part, near)
                    wanting = np.flatnonzero(is_open)
            if wanting.size:
                self._add_by_own_distances(s, part[wanting], wanting, D)

    def _find_open(self, near: Near) -> Any:
        return self._download((near.n < 0).any(axis=1))

    # -- distances -------------------------------------------------------------------

    def _distances(
        self,
        view: _SearchedSamples,
        part: IntArray,
        scales: Scales,
        *,
        keep: bool = False,
    ) -> Any:
        """Compute the quick distances of some samples to all of a view."""
        shape = _padded_size(part.size), _padded_size(view.places.size)
        D = self.kernels.xp.empty(shape, dtype=np.float32)
        middle = scales.low[self.plain] + _find_ranges(scales, self.plain) / 2
        inverse = scales.inverse[self.plain]
        self._add_blocks(view, D, part, self.plain, middle, inverse, keep=keep)
        if self.mixed.size:
            asked = self._upload(part, np.int32)
            mixed = self._mixed_features(scales)
            self.kernels.add_mixed(view.samples, asked, mixed, D)
        return D

    def _add_blocks(
        self,
        view: _SearchedSamples,
        D: Any,
        part: IntArray,
        columns: IntArray,
        centre: FloatArray,
        factor: FloatArray,
        *,
        keep: bool = False,
        accumulate: bool = False,
    ) -> None:
        """Add distances over some features, a block at a time; see `_distances`.

        With `keep` scaled features are kept for the next part, if they are one block.
        """
        symmetric = part.size == view.places.size
        for lo in range(0, max(columns.size, 1), SINGLE_FEATURES):
            here = slice(lo, lo + SINGLE_FEATURES)
            Z = self._Z if keep else None
            if Z is None:
                Z = self.kernels.scale(
                    view.samples,
                    self._upload(columns[here], np.int32),
                    self._upload(centre[here]),
                    self._upload(factor[here]),
                )
            if keep and columns.size <= SINGLE_FEATURES:
                self._Z = Z
            self.kernels.add_distances(
                Z if symmetric else self._take_padded(Z, part),
                Z,
                D,
                symmetric=symmetric,
                accumulate=accumulate or lo > 0,
            )
        if symmetric:
            self.kernels.mirror(D)

    def _take_padded(self, Z: Any, part: IntArray) -> Any:
        """Take some samples; their number is filled up to a multiple of the tile."""
        return self.kernels.xp.ascontiguousarray(Z[:, self._upload(_padded(part))])

    def _errors(self, n_features: int, largest_size: float) -> tuple[float, float]:
        """Bound the error of quick distances, and its part relative to the distance.

        A scaled value is rounded once, and so is each difference; a sum over a block
        has a rounding for each feature, and so has each block.
        """
        n_blocks = -(-n_features // SINGLE_FEATURES)
        relative = (
            min(n_features, SINGLE_FEATURES) + n_blocks + self.mixed.size + 8
        ) * SINGLE_ROUNDING
        return 2.02 * SINGLE_ROUNDING * largest_size, 1.02 * relative

    # -- lists of all samples --------------------------------------------------------

    def _list_length(self, s: int) -> int:
        """Return how many samples of all hold the neighbours in a set, most likely.

        0 where the set is too small a share of them, or has other scales of categories.
        """
        size = np.bincount(self.y, self.counts[s] > 0, minlength=self.n_classes)
        whole = np.bincount(self.y, minlength=self.n_classes)
        k = self.relevance.n_neighbors + 1  # a sample is in its own list
        share = (size[size > 0] / whole[size > 0]).min(initial=1.0)
        more = SPARE + SPARE_DEVIATIONS * np.sqrt(k * (1.0 - share))
        wanted = int(np.ceil((k + more) / share))
        same = not self.scales[s].differ_in(self.scales[-1])[self.mixed].any()
        return wanted if same and wanted <= MAX_WANTED else 0

    def _length_of_lists(self) -> int:
        """Return the length of lists for all sets; the largest if ranges differ."""
        wanted = max(self._wanted, default=0)
        changed = any(self._changed(s)[0].size for s in range(len(self.counts)))
        return MAX_WANTED if wanted and changed else wanted

    def _changed(self, s: int) -> tuple[IntArray, FloatArray]:
        """Return the features whose range is smaller in a set, with 1/range more."""
        factor = self.scales[s].added_factor(self.scales[-1], self.plain)
        changed = np.flatnonzero(factor)
        return self.plain[changed], factor[changed]

    def _span_of_lists(self, D: Any, m: int) -> float:
        """Return how much further the end of a list is than the neighbours, about."""
        if len(self.counts) == 1:
            return np.inf
        some = self.kernels.xp.sort(D[: min(m, SOME), : len(self.rows)], axis=1)
        last = min(MAX_WANTED, some.shape[1]) - 1
        first = min(self.relevance.n_neighbors, last)
        return 2.0 * float((some[:, last] - some[:, first]).max())

    def _may_share(self, s: int, span: float) -> bool:
        """Return whether lists of all samples may hold the neighbours in a set.

        A sample is at least half the range of a feature away from one of its ends, so
        that the bound of the change of a distance is no smaller than this.
        """
        columns, factor = self._changed(s)
        least = float((factor * _find_ranges(self.scales[s], columns)).sum()) / 2
        return self._wanted[s] > 0 and least <= span

    def _bound_of_change(self, s: int, part: IntArray) -> Any:
        """Bound how much larger distances of samples are with the ranges of a set."""
        xp, view, scales = self.kernels.xp, self._views[s], self.scales[s]
        total = xp.zeros(part.size)
        columns, factor = self._changed(s)
        rows = view.samples.rows[self._upload(part)][:, None]
        for lo in range(0, columns.size, SINGLE_FEATURES):
            here = columns[lo : lo + SINGLE_FEATURES]
            x = self.kernels.X[rows, self._upload(here)].astype(np.float64)
            low = scales.low[here]
            high = self._upload(low + _find_ranges(scales, here))
            reach = xp.maximum(x - self._upload(low), high - x)
            total += reach @ self._upload(factor[lo : lo + SINGLE_FEATURES])
        return total * (1.0 + 1e-9)

    # -- distances in a set ----------------------------------------------------------

    def _add_by_own_distances(
        self, s: int, part: IntArray, at: IntArray, D: Any
    ) -> None:
        """Add the sums of one set over samples whose neighbours no list has proved.

        Parameters
        ----------
        s : int
            The set.
        part : int array
            The samples, as places in `rows`.
        at : int array
            Their places in D.
        D : array
            Distances with the ranges of all samples.
        """
        view = self._view(s, np.flatnonzero(self.counts[s]))
        own = np.searchsorted(view.places, part)
        scales, whole = self.scales[s], self.scales[-1]
        columns, factor = self._changed(s)
        added = 0.0
        other = scales.differ_in(whole)[self.mixed].any()
        if other or 2 * columns.size > self.plain.size:
            near_D = self._distances(view, own, scales)
        else:
            rows, places = self._upload(_padded(at)), self._upload(_padded(view.places))
            near_D = D[rows[:, None], places]
            spread = _find_ranges(whole, columns)
            added = float((factor * spread).sum()) / 2
            if columns.size:
                middle = whole.low[columns] + spread / 2
                self._add_blocks(
                    view, near_D, own, columns, middle, factor, accumulate=True
                )
        listed = self.kernels.list_nearest(
            view.samples, near_D, own.size, MAX_WANTED, MAX_CAPACITY
        )
        none = self.kernels.xp.zeros(own.size)
        near = self._decide(s, view, own, listed, none, added)
        self._add_sums(s, view, own, near)
        self._left[s].append(part[self._find_open(near)])

    def _decide(
        self,
        s: int,
        view: _SearchedSamples,
        part: IntArray,
        listed: NeighbourLists,
        wider: Any,
        added: float = 0.0,
    ) -> Near:
        """Decide the neighbours in a set; `added` is the size of added distances."""
        error, relative = self._errors(self.plain.size, self.plain.size / 2 + added)
        if added:
            relative *= 2.0
        ranks = np.append(0.0, self._cumulative_shares(s))
        return self.kernels.decide(
            view.samples,
            view.one,
            self._upload(part, np.int32),
            listed,
            self.relevance.n_neighbors,
            self._upload(ranks),
            error + self.mixed.size * 2.0**-50,
            relative,
            wider,
        )

    def _cumulative_shares(self, s: int) -> FloatArray:
        """Return the weights of neighbours up to each rank; none if all are equal."""
        shares = self.relevance.shares(float(self.counts[s].sum()))
        return np.empty(0) if shares is None else np.cumsum(shares)

    # -- sums ------------------------------------------------------------------------

    def _add_sums(
        self, s: int, view: _SearchedSamples, part: IntArray, near: Near
    ) -> None:
        """Add the sums of one set over the neighbours of some samples.

        Samples that are open in any class are left out.
        """
        asked = self._upload(part, np.int32)
        closed = (near.n >= 0).all(axis=1)
        near = near._replace(n=near.n * closed[:, None])
        if self._data.kind == "classes":
            self._sums[s, 0] += self._sum_differences(s, view, asked, near)
            return
        target = self._upload(self._target_values(s)[view.places])
        differ = abs(target[asked][:, None, None] - target[near.index])
        near = near._replace(weight=-near.weight)
        by_target = near._replace(weight=near.weight * differ / self._reach(s))
        self._total[s] += float(by_target.weight.sum())
        for term, one in enumerate((near, by_target)):
            self._sums[s, term] += self._sum_differences(s, view, asked, one)

    def _reach(self, s: int) -> float:
        """Return the range of the target in a set; 1 where it is constant."""
        own = self._target_values(s)[self.counts[s] > 0]
        reach = float(own.max() - own.min())
        return reach if reach > 0 else 1.0

    def _sum_differences(
        self, s: int, view: _SearchedSamples, asked: Any, near: Near
    ) -> FloatArray:
        """Sum the differences of every feature, divided by its range in the set."""
        inverse = self.scales[s].inverse
        sums = self._download(self.kernels.sum_numeric(view.samples, asked, near))
        with np.errstate(invalid="ignore"):
            sums = np.where(inverse > 0, sums * inverse, 0.0)
        if self.mixed.size:
            found = self.kernels.sum_mixed(view.samples, asked, near, view.one.mixed)
            sums[self.mixed] = self._download(found)
        return sums

    def _on_host(self, s: int) -> PlainRelief:
        """Return the same computation on the processor, for one set."""
        data = self._data.replace(features=self._data.features.load())
        sets = TrainSets.from_counts(self.unsorted(self.counts[s]))
        return PlainRelief(data, sets, self.relevance.of_set(s), self.n_threads)

    def _add_on_host(self, s: int, asked: IntArray) -> None:
        """Add the sums over the neighbours of samples that the GPU left open."""
        host = self._on_host(s)
        problem = host.tiles(0)._replace(tick=None)
        places = np.searchsorted(problem.ids, np.sort(asked))
        shares = self.relevance.shares(float(self.counts[s].sum()))
        pairs = find_nearest(
            problem._replace(asked=places), self.relevance.n_neighbors, shares
        )
        if self._data.kind == "classes":
            self._sums[s, 0] += host.sum_differences(0, pairs)
            return
        target = self._target_values(s)
        differ = abs(target[pairs.first] - target[pairs.second]) / self._reach(s)
        near = pairs._replace(weight=-pairs.weight)
        by_target = near._replace(weight=near.weight * differ)
        self._total[s] += float(by_target.weight.sum())
        for term, one in enumerate((near, by_target)):
            self._sums[s, term] += host.sum_differences(0, one)

    def _finish(self, s: int) -> FloatArray:
        """Return the weights of one set."""
        n_queries = float(self.queries[s].sum())
        plain, by_target = self._sums[s]
        if self._data.kind == "classes":
            return plain / n_queries
        total = float(self._total[s])
        rest = n_queries - total
        gain = by_target / total if total > 0 else np.zeros_like(plain)
        loss = (plain - by_target) / rest if rest > 0 else np.zeros_like(plain)
        return gain - loss


def _padded(places: IntArray) -> IntArray:
    """Fill up places with the first sample, to a multiple of the tile."""
    filled = np.zeros(_padded_size(places.size), dtype=np.int64)
    filled[: places.size] = places
    return filled


def _padded_size(n: int) -> int:
    return -(-n // TILE) * TILE


def _find_ranges(scales: Scales, columns: IntArray) -> FloatArray:
    """Return the ranges of features; 0 for constant ones."""
    inverse = scales.inverse[columns]
    return np.where(inverse > 0, 1.0 / np.where(inverse > 0, inverse, 1.0), 0.0)

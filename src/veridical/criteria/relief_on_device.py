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
from typing import Any, ClassVar

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.devices import device_values
from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical.criteria.relief import (
    LEAST_RANGE,
    PlainRelief,
    ReliefRelevance,
    Scales,
)
from veridical.kernels.cuda.neighbours import (
    MAX_CAPACITY,
    MAX_WANTED,
    TILE,
    Candidates,
    DeviceSamples,
    DeviceSet,
    MixedFeatures,
    Near,
    NeighbourKernels,
)
from veridical.kernels.relief import N_PARTS, find_nearest
from veridical.kernels.trainsets import TrainSets

#: Features of distances that are summed in single precision before they are added to
#: the others; more would have larger rounding errors.
WIDTH = 512
#: Bytes of the distances that are in memory at a time, and their share of what is free.
MAX_CHUNK_BYTES, CHUNK_SHARE = 48 << 30, 0.3
#: The same for lists of candidates.
LIST_BYTES = 4 << 30
#: Samples by which a list is longer than the number of neighbours, which distances that
#: cannot be told apart may need; and standard deviations by which it is longer than a
#: set needs on average.
SPARE, SPARE_DEVIATIONS = 8, 4.0
#: Share of the samples that lists may leave open; beyond it distances of the set itself
#: decide for all of them, because those of all samples take half the time.
MAX_OPEN = 1 / 2
#: Largest relative rounding error of a number in single precision.
ROUNDING = 2.0**-24


def relief_on_device(
    data: Table, sets: TrainSets, relevance: ReliefRelevance, n_threads: int
) -> DeviceRelief | None:
    """Return the computation on the GPU; None where the processor has to do it."""
    if relevance.n_neighbors + 4 > MAX_WANTED:
        return None
    found = DeviceRelief(data, sets, relevance, n_threads)
    return found if found.is_usual else None


class DeviceRelief(PlainRelief):
    """Weights of features that are on a GPU, or are copied to it."""

    relevance: ReliefRelevance
    is_usual = True
    make_kernels: ClassVar[Callable[[Any], NeighbourKernels]] = NeighbourKernels

    def _read(self, data: Table) -> Any:
        self._data = data
        values = device_values(data.values)
        self.kernels = self.make_kernels(data.values if values is None else values)
        self._has_missing = np.zeros(data.n_features, dtype=np.bool_)
        return data.values

    def _ranges(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        low, high = np.empty((2, self.X.shape[1], len(counts)))
        known: dict[bytes, int] = {}
        for s, present in enumerate(counts > 0):
            first = known.setdefault(np.packbits(present).tobytes(), s)
            if first == s:
                rows = self._upload(np.flatnonzero(present), np.int32)
                found = self.kernels.ranges(rows)
                least, most, missing = map(self._download, found)
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
        if infinite.any():
            j = int(np.argmax(infinite))
            column = self._download(self.kernels.X[:, j])
            row = int(np.isinf(column).argmax())
            names = self._data.names
            raise InputError(
                f"Column {j if names is None else repr(names[j])} of X holds an "
                f"infinite value (row {row}); replace it by a finite number or by NaN "
                "for missing."
            )

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
        codes = np.arange(self.n_classes + 1)
        self._samples_on_device = DeviceSamples(
            self._upload(self.rows, np.int32),
            self._upload(self.y, np.int32),
            self._upload(np.searchsorted(self.y, codes), np.int32),
        )
        self._sets = [self._set(s) for s in range(len(self.counts))]
        whole = self.scales[-1]
        self._spreads = self._spread(whole)
        self._wider = [
            float(
                (scales.added_factor(whole, self.plain) / _positive(scales, self.plain))
                .clip(0.0)
                .sum()
            )
            for scales in self.scales[:-1]
        ]
        self._Z: Any = None
        self._wanted = [self._list_length(s) for s in range(len(self.counts))]

    def _spread(self, scales: Scales) -> FloatArray:
        """Return the ranges of plain features; 0 for constant ones."""
        inverse = scales.inverse[self.plain]
        return np.where(inverse > 0, 1.0 / np.where(inverse > 0, inverse, 1.0), 0.0)

    def _set(self, s: int) -> DeviceSet:
        scales, counts = self.scales[s], self.counts[s]
        inverse = scales.inverse.copy()
        inverse[self.mixed] = 0.0  # they are not numbers without missing values
        size = np.bincount(self.y, counts, minlength=self.n_classes)
        return DeviceSet(
            self._upload(inverse),
            self._mixed_features(scales),
            self._upload(counts),
            self._upload(self.queries[s]),
            self._upload(size),
            float(counts.sum()),
        )

    def _mixed_features(self, scales: Scales) -> MixedFeatures:
        low, inverse, n_vals = scales.take(self.mixed)
        return MixedFeatures(
            self._upload(self.mixed, np.int32),
            self._upload(low),
            self._upload(inverse),
            self._upload(n_vals, np.int32),
        )

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

    def _chunks(self, asked: IntArray) -> Iterator[IntArray]:
        """Divide the asked samples into parts whose distances fit into memory."""
        width = 4 * -(-len(self.rows) // TILE) * TILE
        free = self.kernels.free_bytes()
        budget = min(MAX_CHUNK_BYTES, int(CHUNK_SHARE * free))
        lists = min(LIST_BYTES, free // 8) // (self.n_classes * MAX_CAPACITY * 20)
        step = max(TILE, min(budget // width, lists) // TILE * TILE)
        for lo in range(0, asked.size, step):
            yield asked[lo : lo + step]

    def _add_part(self, part: IntArray) -> None:
        """Add the sums over the neighbours of some samples, in every set."""
        asked = self._upload(part, np.int32)
        D = self._distances(part, self.scales[-1])
        wanted, listed = max(self._wanted, default=0), None
        if wanted and max(self._wider) > 0.0:
            wanted = MAX_WANTED
        if wanted:
            capacity = min(MAX_CAPACITY, 2 * wanted + 32)
            listed = self.kernels.list_nearest(
                self._samples_on_device, D, part.size, wanted, capacity
            )
        for s, queries in enumerate(self.queries):
            wanting = np.flatnonzero(queries[part])
            if listed is not None and self._wanted[s] and wanting.size:
                near = self._decide(s, asked, listed, self._wider[s])
                is_open = self._find_open(near)
                if is_open.mean() <= MAX_OPEN:
                    self._add_sums(s, asked, near)
                    wanting = np.flatnonzero(is_open)
            if wanting.size:
                self._add_by_own_distances(s, part[wanting], self._take_rows(D, wanting))

    def _add_by_own_distances(self, s: int, part: IntArray, D: Any) -> None:
        """Add the sums of one set over samples whose neighbours no list has proved."""
        asked = self._upload(part, np.int32)
        near = self._decide(s, asked, *self._list_in_set(s, part, D))
        self._add_sums(s, asked, near)
        self._left[s].append(part[self._find_open(near)])

    def _take_rows(self, D: Any, places: IntArray) -> Any:
        """Take some rows of D; their number is filled up to a multiple of the tile."""
        return D[self._upload(_padded(places))]

    def _find_open(self, near: Near) -> Any:
        return self._download((near.n < 0).any(axis=1))

    def _distances(self, part: IntArray, scales: Scales) -> Any:
        """Compute the quick distances of some samples to all."""
        n, xp = len(self.rows), self.kernels.xp
        width = -(-n // TILE) * TILE
        D = xp.empty((-(-part.size // TILE) * TILE, width), dtype=np.float32)
        spread = self._spread(scales)
        middle = scales.low[self.plain] + spread / 2
        whole = scales is self.scales[-1]
        self._add_blocks(
            D, part, self.plain, middle, scales.inverse[self.plain], keep=whole
        )
        if self.mixed.size:
            self.kernels.add_mixed(
                self._samples_on_device,
                self._upload(part, np.int32),
                self._mixed_features(scales),
                D,
            )
        return D

    def _add_blocks(
        self,
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
        symmetric = part.size == len(self.rows)
        for lo in range(0, max(columns.size, 1), WIDTH):
            here = slice(lo, lo + WIDTH)
            Z = self._Z if keep else None
            if Z is None:
                Z = self.kernels.scale(
                    self._samples_on_device,
                    self._upload(columns[here], np.int32),
                    self._upload(centre[here]),
                    self._upload(factor[here]),
                )
            if keep and columns.size <= WIDTH:
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
        n_blocks = -(-n_features // WIDTH)
        relative = (min(n_features, WIDTH) + n_blocks + self.mixed.size + 8) * ROUNDING
        return 2.02 * ROUNDING * largest_size, 1.02 * relative

    def _decide(
        self, s: int, asked: Any, listed: Candidates, wider: float, added: float = 0.0
    ) -> Near:
        """Decide the neighbours in a set; `added` is the size of added distances."""
        error, relative = self._errors(self.plain.size, self.plain.size / 2 + added)
        if added:
            relative *= 2.0
        ranks = np.append(0.0, self._cumulative_shares(s))
        return self.kernels.decide(
            self._samples_on_device,
            self._sets[s],
            asked,
            listed,
            self.relevance.n_neighbors,
            self._upload(ranks),
            error + self.mixed.size * 2.0**-50,
            relative,
            wider,
        )

    def _cumulative_shares(self, s: int) -> FloatArray:
        """Return the weight of the neighbours up to each rank; none if all weigh alike."""
        shares = self.relevance.shares(float(self.counts[s].sum()))
        return np.empty(0) if shares is None else np.cumsum(shares)

    def _list_in_set(
        self, s: int, part: IntArray, D: Any
    ) -> tuple[Candidates, float, float]:
        """List the nearest samples by the distances of the set itself; changes D."""
        scales, whole = self.scales[s], self.scales[-1]
        factor, added = scales.added_factor(whole, self.plain), 0.0
        changed = np.flatnonzero(factor)
        if scales.differ_in(whole)[self.mixed].any() or 2 * changed.size > len(factor):
            D = self._distances(part, scales)
        elif changed.size:
            middle = whole.low[self.plain] + self._spreads / 2
            added = float((factor * self._spreads).sum()) / 2
            self._add_blocks(
                D, part, self.plain[changed], middle[changed], factor[changed],
                accumulate=True,
            )  # fmt: skip
        D[:, self._upload(np.flatnonzero(self.counts[s] == 0))] = np.inf
        listed = self.kernels.list_nearest(
            self._samples_on_device, D, part.size, MAX_WANTED, MAX_CAPACITY
        )
        return listed, 0.0, added

    # -- sums ------------------------------------------------------------------------

    def _add_sums(self, s: int, asked: Any, near: Near) -> None:
        """Add the sums of one set over the neighbours of some samples.

        Samples that are open in any class are left out.
        """
        closed = (near.n >= 0).all(axis=1)
        near = near._replace(n=near.n * closed[:, None])
        if self._data.kind == "classes":
            self._sums[s, 0] += self._sum_differences(s, asked, near)
            return
        near = near._replace(weight=-near.weight)
        differ = self._target_differences(s, asked, near)
        both = near, near._replace(weight=near.weight * differ)
        self._total[s] += float(both[1].weight.sum())
        for term, one in enumerate(both):
            self._sums[s, term] += self._sum_differences(s, asked, one)

    def _target_differences(self, s: int, asked: Any, near: Near) -> Any:
        """Return the differences of the target as a share of its range in the set."""
        values = self._target_values(s)
        target = self._upload(values)
        return abs(target[asked][:, None, None] - target[near.index]) / self._reach(s)

    def _reach(self, s: int) -> float:
        own = self._target_values(s)[self.counts[s] > 0]
        reach = float(own.max() - own.min())
        return reach if reach > 0 else 1.0

    def _sum_differences(self, s: int, asked: Any, near: Near) -> FloatArray:
        """Sum the differences of every feature, divided by its range in the set."""
        inverse, samples = self.scales[s].inverse, self._samples_on_device
        sums = self._download(self.kernels.sum_numeric(samples, asked, near))
        with np.errstate(invalid="ignore"):
            sums = np.where(inverse > 0, sums * inverse, 0.0)
        if self.mixed.size:
            mixed = self._sets[s].mixed
            found = self.kernels.sum_mixed(samples, asked, near, mixed)
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
        both = near, near._replace(weight=near.weight * differ)
        self._total[s] += float(both[1].weight.sum())
        for term, one in enumerate(both):
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
    filled = np.zeros(-(-places.size // TILE) * TILE, dtype=np.int64)
    filled[: places.size] = places
    return filled


def _positive(scales: Scales, columns: IntArray) -> FloatArray:
    """Return 1/range of features; infinite for a constant one."""
    inverse = scales.inverse[columns]
    return np.where(inverse > 0, inverse, np.inf)

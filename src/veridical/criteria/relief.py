"""Relevance by neighbours: ReliefF.

Distances are taken over all rows once. A training set needs other distances only for
the features whose range (or number of values) changes when its rows are left out, and
those are corrected; then its neighbours are found anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from veridical._records import FloatArray, IntArray, Labelled
from veridical.kernels.columns import map_blocks
from veridical.kernels.distance import add_mixed, add_numeric, mirror
from veridical.kernels.ranges import block_ranges
from veridical.kernels.relief import add_pulls, sum_mixed, sum_numeric
from veridical.kernels.threads import run, spans
from veridical.kernels.trainsets import TrainSets

SLICES = 10  # parts in which the distances are taken, for those who watch
BATCH = 16  # training sets whose neighbour pairs are summed in one pass over X


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

    def scores(self, data: Labelled, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return the weights, between −1 and 1."""
        return _Relief(data, sets, self, n_threads).weights()


def pairs_evenly(n: int, pieces: int) -> list[tuple[int, int]]:
    """Cut the rows so that each piece has about as many pairs (i, j > i)."""
    share = np.sqrt(1.0 - np.arange(pieces + 1) / pieces)
    bounds = np.rint(n * (1.0 - share)).astype(int).tolist()
    return list(pairwise(bounds))


class _Relief:
    """Rows sorted by class, columns parted by how they are compared."""

    def __init__(
        self,
        data: Labelled,
        sets: TrainSets,
        relevance: ReliefRelevance,
        n_threads: int,
    ) -> None:
        rows = np.argsort(data.y, kind="stable")
        self.X = np.ascontiguousarray(data.values[rows])
        self.bounds = np.searchsorted(data.y[rows], np.arange(data.n_classes + 1))
        self.counts = np.ascontiguousarray(sets.counts[:, rows])
        queries = sets.counts if relevance.queries is None else relevance.queries
        self.queries = np.ascontiguousarray(queries[:, rows])
        self.k = relevance.n_neighbors
        self.n_threads = n_threads
        self.tick = relevance.tick
        plain = ~data.nominal
        plain[plain] = ~np.isnan(self.X.sum(axis=0)[plain])
        self.plain, self.mixed = np.flatnonzero(plain), np.flatnonzero(~plain)
        self.X_plain = self.X if plain.all() else self.X[:, self.plain]
        self.X_mixed = self.X[:, self.mixed].astype(np.float64)
        self.nominal = data.nominal
        self.scales = self._scales()

    def _scales(self) -> list[_Scales]:
        """Scales of every training set, and last those of all rows together."""
        counts = np.vstack([self.counts, np.ones(self.counts.shape[1])])
        low, high = np.empty((2, self.X.shape[1], len(counts)))

        def work(lo: int, hi: int, block: FloatArray) -> None:
            block_ranges(block, counts, low[lo:hi], high[lo:hi])

        map_blocks(work, self.X, self.n_threads)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inverse = (1.0 / (high - low)).T
        # No range, or one too small to divide by: the column tells no two cases apart.
        inverse = np.where(np.isfinite(inverse), inverse, 0.0)
        low = np.where(np.isnan(low), 0.0, low).T.copy()
        n_vals = np.zeros(low.shape, dtype=np.intp)
        for j in np.flatnonzero(self.nominal):
            for s, present in enumerate(counts > 0):
                values = self.X[present, j]
                n_vals[s, j] = max(1, np.unique(values[~np.isnan(values)]).size)
        low[:, self.nominal], inverse[:, self.nominal] = 0.0, 0.0
        return [_Scales(*each) for each in zip(low, inverse, n_vals, strict=True)]

    def weights(self) -> FloatArray:
        """Return ReliefF weights of shape (S, p)."""
        base = self._distances()
        result = np.zeros((len(self.counts), self.X.shape[1]))
        for lo in range(0, len(self.counts), BATCH):
            batch = range(lo, min(lo + BATCH, len(self.counts)))
            pairs = [self._pairs(self._corrected(base, s), s) for s in batch]
            self._sum(batch, pairs, result)
        return result

    def _distances(self) -> FloatArray:
        n, whole = len(self.X), self.scales[-1]
        D = np.zeros((n, n))
        numeric = self.X_plain, whole.inverse[self.plain], D, self.n_threads
        if self.tick is None:
            add_numeric(*numeric)
        else:
            for lo, hi in pairs_evenly(n, SLICES):
                add_numeric(*numeric, rows=(lo, hi))
                self.tick()
        if self.mixed.size:
            add_mixed(self.X_mixed, *whole.take(self.mixed), D, self.n_threads)
        return D

    def _corrected(self, base: FloatArray, s: int) -> FloatArray:
        """Distances as training set `s` measures them, both triangles."""
        D = base.copy()
        here, whole = self.scales[s], self.scales[-1]
        changed = here.differ(whole)
        plain = np.flatnonzero(changed[self.plain])
        if plain.size:
            columns = self.plain[plain]
            add_numeric(
                np.ascontiguousarray(self.X_plain[:, plain]),
                here.inverse[columns] - whole.inverse[columns],
                D,
                self.n_threads,
            )
        mixed = np.flatnonzero(changed[self.mixed])
        if mixed.size:
            X, columns = self.X_mixed[:, mixed], self.mixed[mixed]
            X = np.ascontiguousarray(X)
            add_mixed(X, *whole.take(columns), D, self.n_threads, -1.0)
            add_mixed(X, *here.take(columns), D, self.n_threads)
        mirror(D)
        return D

    def _pairs(self, D: FloatArray, s: int) -> tuple[IntArray, FloatArray]:
        """Neighbour pairs of one set as keys ``i * n + j`` (i ≤ j), and their pull."""
        n = len(D)
        pull = np.zeros((n, n))
        fixed = (D, self.counts[s], self.queries[s], self.bounds, self.k)
        pieces = spans(n, 4 * self.n_threads, 16)
        run(add_pulls, [(*fixed, lo, hi, pull) for lo, hi in pieces], self.n_threads)
        both = (np.triu(pull) + np.tril(pull, -1).T).ravel()
        keys = np.flatnonzero(both)
        return keys, both[keys]

    def _sum(
        self,
        batch: range,
        pairs: list[tuple[IntArray, FloatArray]],
        result: FloatArray,
    ) -> None:
        """Add up what the pairs of a batch of sets say of every column."""
        n = len(self.X)
        if self.plain.size:
            every = np.concatenate([keys for keys, _ in pairs])
            force = np.concatenate([pull for _, pull in pairs])
            where = np.repeat(np.arange(len(pairs)), [len(keys) for keys, _ in pairs])
            order = np.argsort(every, kind="stable")
            keys, start = np.unique(every[order], return_index=True)
            total = sum_numeric(
                self.X_plain,
                keys // n,
                keys % n,
                np.append(start, every.size),
                where[order],
                force[order],
                len(pairs),
                self.n_threads,
            )
            for s, sums in zip(batch, total, strict=True):
                result[s, self.plain] = sums * self.scales[s].inverse[self.plain]
        if self.mixed.size:
            for s, (keys, pull) in zip(batch, pairs, strict=True):
                scales = self.scales[s].take(self.mixed)
                result[s, self.mixed] = sum_mixed(
                    self.X_mixed, *scales, keys // n, keys % n, pull
                )

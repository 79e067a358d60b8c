"""The kernels of `veridical.kernels.cuda.neighbours` in numpy: slow and obvious.

They are the oracle of the kernels on a GPU, and take their place where there is none,
so that everything around them is tested everywhere.
"""

from __future__ import annotations

import numpy as np

from veridical.kernels.cuda.neighbours import DEPTH, TILE, Near, NeighbourLists
from veridical.kernels.distance import value_difference

TIE = 1e-11


def difference(a, b, low, inverse, n_vals):
    """Compare two values of a categorical or incomplete feature."""
    return value_difference.py_func(float(a), float(b), low, inverse, int(n_vals))


class NumpyNeighbours:
    """See `NeighbourKernels`."""

    xp = np
    #: Free memory that is pretended, so that tests can ask for many parts.
    free = 1 << 34

    def __init__(self, X):
        X = np.asarray(X)
        single = X.dtype.itemsize <= 4 and X.dtype.kind == "f"
        self.X = np.ascontiguousarray(X, dtype=np.float32 if single else np.float64)

    def free_bytes(self):
        return self.free

    def scale(self, samples, columns, centre, factor):
        n, q = len(samples.rows), len(columns)
        Z = np.zeros((-(-q // DEPTH) * DEPTH, -(-n // TILE) * TILE), dtype=np.float32)
        X = self.X[np.ix_(samples.rows, columns)].astype(float)
        Z[:q, :n] = np.where(factor > 0, (X - centre) * factor, 0.0).T
        return Z

    def add_distances(self, own, Z, D, *, symmetric, accumulate):
        found = np.zeros(D.shape, dtype=np.float32)
        for a, b in zip(own, Z, strict=True):
            found += abs(a[:, None] - b)
        if symmetric:  # what lies below the diagonal is for `mirror`
            found[np.tril_indices(len(found), -1)] = np.nan
        D[:] = D + found if accumulate else found

    def mirror(self, D):
        below = np.tril_indices(len(D), -1)
        D[below] = D.T[below]

    def add_mixed(self, samples, asked, mixed, D):
        for row, i in enumerate(asked):
            for j in range(len(samples.rows)):
                D[row, j] += self._mixed(samples, i, j, mixed)

    def _mixed(self, samples, i, j, mixed):
        a, b = self.X[samples.rows[i]], self.X[samples.rows[j]]
        return sum(
            difference(a[c], b[c], *scale) for c, *scale in zip(*mixed, strict=True)
        )

    def list_nearest(self, samples, D, m, wanted, capacity):
        n_classes = len(samples.bounds) - 1
        index = np.zeros((m, n_classes, capacity), dtype=np.int32)
        distance = np.zeros(index.shape, dtype=np.float32)
        n = np.zeros((m, n_classes), dtype=np.int32)
        cutoff = np.zeros((m, n_classes), dtype=np.float32)
        for i in range(m):
            for c in range(n_classes):
                begin, end = samples.bounds[c : c + 2]
                own = D[i, begin:end]
                limit = np.inf
                if own.size > capacity:
                    limit = np.sort(own)[wanted - 1]
                inside = np.flatnonzero((own <= limit) & (own < np.inf))
                n[i, c], cutoff[i, c] = inside.size, limit
                if inside.size > capacity:
                    n[i, c], cutoff[i, c] = -1, 0.0
                    continue
                index[i, c, : inside.size] = begin + inside
                distance[i, c, : inside.size] = own[inside]
        return NeighbourLists(index, distance, n, cutoff)

    def decide(self, samples, one, asked, listed, k, shares, error, relative, wider):
        m, n_classes, _ = listed.index.shape
        near = Near(
            np.zeros(listed.index.shape, dtype=np.int32),
            np.zeros(listed.index.shape),
            np.zeros((m, n_classes), dtype=np.int32),
        )
        for row, i in enumerate(asked):
            own_class = samples.classes[i]
            for c in range(n_classes):
                available = one.class_size[c] - (c == own_class)
                if one.queries[i] <= 0 or available <= 0:
                    continue
                places = min(k, available)
                n = listed.n[row, c]
                j = listed.index[row, c, : max(n, 0)]
                d = listed.distance[row, c, : max(n, 0)].astype(float)
                w = one.counts[j] - (j == i)
                j, d, w = j[w > 0], d[w > 0], w[w > 0]
                by_distance = np.argsort(d, kind="stable")
                reached = np.flatnonzero(np.cumsum(w[by_distance]) >= places)
                if n < 0 or not reached.size:
                    near.n[row, c] = -1
                    continue
                quick = d[by_distance[reached[0]]]
                limit = quick + error + relative * quick + wider[row] + error
                limit /= 1.0 - relative
                if limit > listed.cutoff[row, c]:
                    near.n[row, c] = -1
                    continue
                inside = d <= limit
                j, w = j[inside], w[inside]
                exact = np.array([self._exact(samples, one, i, other) for other in j])
                factor = -1.0
                if c != own_class:
                    factor = one.class_size[c] / (one.n - one.class_size[own_class])
                found = 0
                for t, at in enumerate(exact):
                    below = w[exact < at - TIE * at].sum()
                    equal = w[abs(exact - at) <= TIE * at].sum()
                    share = self._share(below + equal, places, shares)
                    share -= self._share(below, places, shares)
                    if share > 0:
                        weight = one.queries[i] * factor * share * w[t] / equal
                        near.index[row, c, found] = j[t]
                        near.weight[row, c, found] = weight
                        found += 1
                near.n[row, c] = found
        return near

    @staticmethod
    def _share(rank, places, shares):
        rank = min(rank, places)
        if len(shares) == 1:
            return rank / places
        return np.interp(rank, np.arange(len(shares)), shares)

    def _exact(self, samples, one, i, j):
        a, b = self.X[samples.rows[i]], self.X[samples.rows[j]]
        plain = one.inverse > 0
        difference = abs(a[plain].astype(float) - b[plain].astype(float))
        return difference @ one.inverse[plain] + self._mixed(samples, i, j, one.mixed)

    def sum_numeric(self, samples, asked, near):
        total = np.zeros(self.X.shape[1])
        for i, j, w in self._pairs(asked, near):
            a, b = self.X[samples.rows[i]], self.X[samples.rows[j]]
            total += w * abs(a.astype(float) - b.astype(float))
        return total

    def sum_mixed(self, samples, asked, near, mixed):
        total = np.zeros(len(mixed.columns))
        for i, j, w in self._pairs(asked, near):
            a, b = self.X[samples.rows[i]], self.X[samples.rows[j]]
            for at, (c, *scale) in enumerate(zip(*mixed, strict=True)):
                total[at] += w * difference(a[c], b[c], *scale)
        return total

    @staticmethod
    def _pairs(asked, near):
        for row, i in enumerate(asked):
            for c in range(near.n.shape[1]):
                for t in range(near.n[row, c]):
                    yield i, near.index[row, c, t], near.weight[row, c, t]

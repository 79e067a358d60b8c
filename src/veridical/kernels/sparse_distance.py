"""Manhattan distances between sparse samples, from their stored values alone.

``|a − b|`` is ``|a| + |b|`` unless both are stored. So the distance of two samples is
the sum of their sizes, and what is too much of it where both have a value: as many
additions as there are features that both share.

| symbol  | meaning                                                          | shape  |
|---------|------------------------------------------------------------------|--------|
| Z       | samples scaled by the range of each feature                      | (m, p) |
| sizes   | Σ |z| of a sample                                                | (m,)   |
| columns | features of the stored values of `Z` by rows, one after another  | (nnz,) |
| rows    | samples of the stored values of `Z` by columns                   | (nnz,) |
| ends    | where the values of a row or column begin, and the end           |        |
| D       | distances of some samples to all                                 | (h, m) |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.distance import Precision, QuickArray
from veridical.kernels.relief import exact_distance


class Stored(NamedTuple):
    """Stored values of the rows (or columns) of a matrix, and where they belong."""

    values: NDArray[Any]
    places: NDArray[np.int32]
    ends: IntArray

    @classmethod
    def from_matrix(cls, X: Any) -> Stored:
        """Take the values of a CSR or CSC matrix, in ascending order."""
        X.sum_duplicates()
        places = X.indices.astype(np.int32, copy=False)
        return cls(X.data, places, X.indptr.astype(np.intp, copy=False))


class SparseSamples(NamedTuple):
    """Values and scales of the features, for exact distances.

    Sample i is row ``rows[i]`` of `stored`.
    """

    stored: Stored
    inverse: FloatArray
    rows: IntArray


@exact_distance.register(SparseSamples)
def _exact(samples: SparseSamples, i: int, j: int) -> float:
    values, places, ends = samples.stored
    inverse, total = samples.inverse, 0.0
    u, u_end = ends[samples.rows[i]], ends[samples.rows[i] + 1]
    v, v_end = ends[samples.rows[j]], ends[samples.rows[j] + 1]
    while u < u_end or v < v_end:
        a, b = 0.0, 0.0
        if v >= v_end or (u < u_end and places[u] <= places[v]):
            c = places[u]
        else:
            c = places[v]
        if u < u_end and places[u] == c:
            a = np.float64(values[u])
            u += 1
        if v < v_end and places[v] == c:
            b = np.float64(values[v])
            v += 1
        total += abs(a - b) * inverse[c]
    return total


@njit(cache=True, nogil=True)
def _fill(
    by_rows: Stored, by_columns: Stored, sizes: FloatArray, some: IntArray, D: Any
) -> None:
    columns, rows = by_rows.places, by_columns.places
    distance = np.empty(sizes.size)
    for t in range(some.size):
        i = some[t]
        for r in range(sizes.size):
            distance[r] = sizes[i] + sizes[r]
        for u in range(by_rows.ends[i], by_rows.ends[i + 1]):
            z, c = np.float64(by_rows.values[u]), columns[u]
            for v in range(by_columns.ends[c], by_columns.ends[c + 1]):
                other = np.float64(by_columns.values[v])
                distance[rows[v]] += abs(z - other) - abs(z) - abs(other)
        for r in range(sizes.size):
            D[t, r] = max(distance[r], 0.0)
        D[t, i] = 0.0


@njit(cache=True, nogil=True)
def _scale(by_columns: Stored, n: int, inverse: FloatArray, out: Any) -> None:
    """Write scaled values; those of a feature without zeros are centred first."""
    values, _, ends = by_columns
    for c in range(inverse.size):
        centre = 0.0
        if ends[c + 1] - ends[c] == n:
            for u in range(ends[c], ends[c + 1]):
                centre += np.float64(values[u]) / n
        for u in range(ends[c], ends[c + 1]):
            out[u] = (np.float64(values[u]) - centre) * inverse[c]


class SparseDistances:
    """Quick distances of some samples to all, with a bound of their error.

    Parameters
    ----------
    X : CSR matrix of shape (m, p)
        The samples.
    inverse : array of shape (p,)
        1 / range of each feature, 0 for a constant one.
    precision : type
        Of the distances; they are summed in double precision.

    Attributes
    ----------
    error : float
        How far a distance can be from the exact one.
    """

    def __init__(self, X: Any, inverse: FloatArray, precision: Precision) -> None:
        own = X.tocsc()
        scaled = np.empty(own.data.size, dtype=precision)
        _scale(Stored.from_matrix(own), X.shape[0], inverse, scaled)
        Z = sparse.csc_array((scaled, own.indices, own.indptr), shape=X.shape)
        del own, scaled
        rows = Z.tocsr()
        self._by_columns, self._by_rows = (
            Stored.from_matrix(Z),
            Stored.from_matrix(rows),
        )
        self._sizes = np.asarray(abs(rows).sum(axis=1, dtype=np.float64)).ravel()
        self._precision = precision
        largest = float(self._sizes.max(initial=0.0))
        terms = int(np.diff(rows.indptr).max(initial=0)) + 8
        double, own_eps = (float(np.finfo(t).eps) for t in (np.float64, precision))
        self.error = 4 * (terms * double + own_eps) * largest

    def __call__(self, some: IntArray) -> QuickArray:
        """Return the distances of some samples to all."""
        D: QuickArray = np.empty((some.size, self._sizes.size), self._precision)
        _fill(self._by_rows, self._by_columns, self._sizes, some, D)
        return D

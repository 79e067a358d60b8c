"""Redundancy by correlation between features."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.lazy import is_lazy, is_on_disk, make_store
from veridical._core.table import Table
from veridical.criteria.anova import variances
from veridical.kernels.columns import TILE, column_block, map_blocks, memory_blocks
from veridical.kernels.similarity import (
    LANES,
    Columns,
    stored_moments,
    to_unit_length,
    write_single,
)
from veridical.kernels.threads import run_jobs, spans
from veridical.kernels.trainsets import TrainSets

if TYPE_CHECKING:
    from veridical.criteria.moments_on_device import DeviceCorrelations

# Length of a centred feature in a set, as a share of that over all rows. A smaller one
# (an outlier was left out) would lose digits to the mean of all rows: the feature is
# centred again over the set.
RECENTRE_RATIO = 0.03
# Rounding error of a correlation in single precision; beyond it single precision is not
# used. With weights of 0 and 1 that takes 160,000 rows.
MAX_ROUNDING = 0.01
_NO_SINGLE, _NO_BOUNDS = np.empty(0, np.float32), np.empty((0, 0), np.float32)


class CorrelationRedundancy:
    """Absolute Pearson correlations in many training sets, computed on demand.

    Stores the values of each feature contiguously, so that a correlation is one product
    of contiguous arrays. That takes as much memory as X, unless X is stored like this
    already; where X is not in memory, a temporary file is used.

    Parameters
    ----------
    data : Table
        The data.
    sets : TrainSets
        The training sets.
    n_threads : int
        Threads for passes over the data.
    against : bool
        Whether `variances` also needs each class against all others.
    floor : float
        Smaller correlations are replaced by this value.

    Attributes
    ----------
    variances : Variances
        Sums of squares within and between classes.
    """

    def __init__(
        self,
        data: Table,
        sets: TrainSets,
        n_threads: int,
        *,
        against: bool = False,
        floor: float = 0.0,
    ) -> None:
        self._X, self._sets, self._floor = _loaded(data.values), sets, floor
        self._bound_row = np.full(data.values.shape[1], -1, dtype=np.int32)
        self._n_threads, self._lock = n_threads, Lock()
        self._single: tuple[NDArray[np.float32], FloatArray] | None = None
        n, p = data.values.shape
        self._norm = np.ones(p)
        self._rows = np.empty(0, dtype=np.int32)
        self._start = np.empty(0, dtype=np.intp)
        self.variances = variances(data, sets, n_threads, against=against)
        self._on_disk = is_lazy(self._X) or is_on_disk(self._X)
        if sparse.issparse(self._X) or self._X.dtype != np.float64:
            self._values = self._unscaled_values()
        else:
            Z = make_store((p, n), np.float64, self._on_disk)

            def rescale(lo: int, hi: int, block: FloatArray) -> None:
                to_unit_length(block, Z[lo:hi], self._norm[lo:hi])

            map_blocks(rescale, self._X, n_threads)
            self._values = Z.ravel()
        self._centre, norm_of_all = self._means_and_norms(n)
        spread = self.variances.within + self.variances.between
        scaled = np.sqrt(spread) / self._norm
        with np.errstate(divide="ignore"):
            inverse = np.where(scaled > 0, 1.0 / scaled, 0.0)
        self._inverse = np.ascontiguousarray(inverse)
        ill_conditioned = (scaled > 0) & (scaled < RECENTRE_RATIO * norm_of_all)
        self._ill_conditioned = [np.flatnonzero(row) for row in ill_conditioned]

    def columns(self, s: int, *, single: bool = False) -> Columns:
        """Return the features in training set `s`.

        With `single`, in single precision too; not if they are sparse, or if its
        rounding error would be too large.
        """
        weight = self._sets.counts[s]
        # At most n + 8 roundings, times the length of the weighted feature (Cauchy and
        # Schwarz).
        rounding = 1.02 * (weight.size + 8) * 2.0**-24 * float(np.sqrt(weight.max()))
        wanted = single and self._start.size == 0 and rounding < MAX_ROUNDING
        values, norm = self._get_single() if wanted else (_NO_SINGLE, self._norm)
        return Columns(
            self._values,
            self._rows,
            self._start,
            self._centre,
            self._inverse[s],
            weight,
            self._floor,
            values,
            self._inverse[s] * norm,
            rounding,
            _NO_BOUNDS,
            self._bound_row,
        )

    def _get_single(self) -> tuple[NDArray[np.float32], FloatArray]:
        """Return the features in single precision; computed once."""
        with self._lock:
            if self._single is None:
                p, n = self._norm.size, self._sets.counts.shape[1]
                width = -(-n // LANES) * LANES
                single = make_store((p, width), np.float32, self._on_disk).ravel()
                single.reshape(p, width)[:, n:] = 0.0
                norm = np.empty(p)
                jobs = [
                    (self._values, self._centre, lo, hi, single, norm)
                    for lo, hi in spans(p, self._n_threads, minimum=1000)
                ]
                run_jobs(write_single, jobs, self._n_threads)
                self._single = single, norm
            return self._single

    def ill_conditioned(self, s: int) -> IntArray:
        """Return the features of set `s` to be correlated by `unit_column`."""
        return self._ill_conditioned[s]

    def unit_column(self, s: int, j: int) -> FloatArray:
        """Return feature `j`, centred over the rows of set `s` and of length 1.

        It is 0 in rows outside the set.
        """
        weight = self._sets.counts[s]
        x = column_block(self._X, j, j + 1)[0] / self._norm[j]
        x[weight == 0] = 0.0
        x = np.where(weight > 0, x - (weight @ x) / weight.sum(), 0.0)
        return x * self._inverse[s][j]

    def correlations(self, s: int, j: int, others: IntArray) -> FloatArray:
        """Return the absolute correlations of feature `j` with others in set `s`."""
        weighted = self._sets.counts[s] * self.unit_column(s, j)
        return np.array([abs(weighted @ self.unit_column(s, k)) for k in others])

    def _unscaled_values(self) -> Any:
        """Return the features end to end, unscaled: sparse or float32 data stay so."""
        if not sparse.issparse(self._X):
            if not is_lazy(self._X) and self._X.T.flags.c_contiguous:
                return self._X.T.reshape(-1)
            n, p = self._X.shape
            stored = make_store((p, n), np.float32, self._on_disk)
            for first, block in memory_blocks(self._X):
                for lo, hi in spans(block.shape[1], -(-block.shape[1] // TILE)):
                    stored[first + lo : first + hi] = block[:, lo:hi].T
                del block
            return stored.reshape(-1)
        self._rows = self._X.indices.astype(np.int32, copy=False)
        self._start = self._X.indptr.astype(np.intp, copy=False)
        return self._X.data

    def _means_and_norms(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return the mean of each feature, and its length over all rows."""
        p = self._norm.size
        if not sparse.issparse(self._X) and self._X.dtype == np.float64:
            return np.zeros(p), np.ones(p)
        if sparse.issparse(self._X):
            mean, square = np.empty((2, p))
            stored_moments(self._values, self._start, n, mean, square)
            # Means are subtracted from products of the raw values, so that rounding
            # errors have the size of these products.
            return mean, np.sqrt(square)
        mean, square = np.empty((2, p))
        ends = np.arange(0, n * p + 1, n)
        stored_moments(self._values, ends, n, mean, square)
        return mean, np.sqrt(np.maximum(square - n * mean**2, 0.0))


def correlation_redundancy(
    data: Table,
    sets: TrainSets,
    n_threads: int,
    *,
    against: bool = False,
    floor: float = 0.0,
) -> CorrelationRedundancy | DeviceCorrelations:
    """Return the correlations of features, where these are; see the class."""
    if data.is_lazy and data.values.is_on_device:
        from veridical.criteria.moments_on_device import DeviceCorrelations

        return DeviceCorrelations(data, sets, n_threads, against=against, floor=floor)
    return CorrelationRedundancy(data, sets, n_threads, against=against, floor=floor)


def _loaded(X: Any) -> Any:
    """Load a lazy matrix if it is sparse; return any other X as it is."""
    if is_lazy(X) and X.n_bytes is not None:
        return X.load()
    return X

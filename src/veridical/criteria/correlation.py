"""Redundancy by correlation: how much does every feature repeat a given one?"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from veridical._records import FloatArray, IntArray, Labelled
from veridical.criteria.anova import variances
from veridical.kernels.columns import column_block
from veridical.kernels.tradeoff import Columns, standardize
from veridical.kernels.trainsets import TrainSets

# A column whose spread in a set is this much smaller than in all rows (an outlier was
# left out) would lose digits to the mean of all rows: it is centred anew.
FRAGILE = 0.03


class CorrelationRedundancy:
    """Absolute Pearson correlations in many training sets, taken when asked for.

    Holds the columns one after the other, so that a single correlation is one product
    of short, contiguous arrays. That takes as much memory as X.

    Parameters
    ----------
    data : Labelled
        The data.
    sets : TrainSets
        The training sets.
    n_threads : int
        Threads for the one pass over the data.
    against : bool
        Whether `variances` are wanted for each class against the rest as well.
    floor : float
        Correlations below this count as this.

    Attributes
    ----------
    variances : Variances
        Of the same pass over the data.
    """

    def __init__(
        self,
        data: Labelled,
        sets: TrainSets,
        n_threads: int,
        *,
        against: bool = False,
        floor: float = 0.0,
    ) -> None:
        self._X, self._sets, self._floor = data.values, sets, floor
        n, p = data.values.shape
        self._norm = np.ones(p)
        self._rows = np.empty(0, dtype=np.int32)
        self._start = np.empty(0, dtype=np.intp)
        if sparse.issparse(self._X) or self._X.dtype != np.float64:
            self.variances = variances(data, sets, n_threads, against=against)
            self._values = self._as_they_are()
        else:
            Z = np.empty((p, n))

            def also(lo: int, hi: int, block: FloatArray) -> None:
                standardize(block, Z[lo:hi], self._norm[lo:hi])

            self.variances = variances(
                data, sets, n_threads, against=against, also=also
            )
            self._values = Z.ravel()
        self._centre, whole = self._whole(n)
        spread = self.variances.within + self.variances.between
        scaled = np.sqrt(spread) / self._norm
        with np.errstate(divide="ignore"):
            self._inverse = np.where(scaled > 0, 1.0 / scaled, 0.0)
        fragile = (scaled > 0) & (scaled < FRAGILE * whole)
        self._fragile = [np.flatnonzero(row) for row in fragile]

    def columns(self, s: int) -> Columns:
        """All columns as training set `s` sees them."""
        return Columns(
            self._values,
            self._rows,
            self._start,
            self._centre,
            self._inverse[s],
            self._sets.counts[s],
            self._floor,
        )

    def fragile(self, s: int) -> IntArray:
        """Columns whose correlations in set `s` have to be taken by `alone`."""
        return self._fragile[s]

    def alone(self, s: int, j: int) -> FloatArray:
        """Column `j` scaled and centred over the rows of set `s` alone, 0 elsewhere."""
        weight = self._sets.counts[s]
        x = column_block(self._X, j, j + 1)[0] / self._norm[j]
        x[weight == 0] = 0.0
        x = np.where(weight > 0, x - (weight @ x) / weight.sum(), 0.0)
        return x * self._inverse[s][j]

    def _as_they_are(self) -> Any:
        """Columns end to end without scaling: what is sparse or short must stay so."""
        if not sparse.issparse(self._X):
            return np.ascontiguousarray(self._X.T).ravel()
        self._rows = self._X.indices.astype(np.int32, copy=False)
        self._start = self._X.indptr.astype(np.intp, copy=False)
        return self._X.data

    def _whole(self, n: int) -> tuple[FloatArray, FloatArray]:
        """What is to be taken away from each column, and its length over all rows."""
        p = self._norm.size
        if not sparse.issparse(self._X) and self._X.dtype == np.float64:
            return np.zeros(p), np.ones(p)
        X = self._X
        mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        if sparse.issparse(X):
            square = np.asarray(X.multiply(X).sum(axis=0)).ravel()
        else:
            square = np.einsum("ij,ij->j", X, X, dtype=np.float64)
        return mean, np.sqrt(np.maximum(square - n * mean**2, 0.0))

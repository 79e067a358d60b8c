"""Redundancy by correlation: how much does every feature repeat a given one?"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.table import Table
from veridical.criteria.anova import variances
from veridical.kernels.columns import column_block
from veridical.kernels.similarity import LANES, Columns, standardize, write_draft
from veridical.kernels.threads import run, spans
from veridical.kernels.trainsets import TrainSets

# A column whose spread in a set is this much smaller than in all rows (an outlier was
# left out) would lose digits to the mean of all rows: it is centred anew.
FRAGILE = 0.03
# Where rounding in single precision may change a correlation by more than this, it is
# of no use; with weights of 0 and 1 that takes 160,000 rows.
COARSE = 0.01
_NO_DRAFT, _NO_TABLE = np.empty(0, np.float32), np.empty((0, 0), np.float32)


class CorrelationRedundancy:
    """Absolute Pearson correlations in many training sets, taken when asked for.

    Holds the columns one after the other, so that a single correlation is one product
    of short, contiguous arrays. That takes as much memory as X.

    Parameters
    ----------
    data : Table
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
        data: Table,
        sets: TrainSets,
        n_threads: int,
        *,
        against: bool = False,
        floor: float = 0.0,
    ) -> None:
        self._X, self._sets, self._floor = data.values, sets, floor
        self._place = np.full(data.values.shape[1], -1, dtype=np.int32)
        self._n_threads, self._making = n_threads, Lock()
        self._draft: tuple[NDArray[np.float32], FloatArray] | None = None
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

    def columns(self, s: int, *, draft: bool = False) -> Columns:
        """All columns as training set `s` sees them, with a draft if there is one.

        Sparse columns have none, nor have sets in which single precision says little.
        """
        weight = self._sets.counts[s]
        # At most n + 8 roundings, and a force of this length (Cauchy and Schwarz).
        slack = 1.02 * (weight.size + 8) * 2.0**-24 * float(np.sqrt(weight.max()))
        wanted = draft and self._start.size == 0 and slack < COARSE
        values, length = self._get_draft() if wanted else (_NO_DRAFT, self._norm)
        return Columns(
            self._values,
            self._rows,
            self._start,
            self._centre,
            self._inverse[s],
            weight,
            self._floor,
            values,
            self._inverse[s] * length,
            slack,
            _NO_TABLE,
            self._place,
        )

    def _get_draft(self) -> tuple[NDArray[np.float32], FloatArray]:
        """The columns in single precision, half as large as X; made once."""
        with self._making:
            if self._draft is None:
                p, n = self._norm.size, self._sets.counts.shape[1]
                draft = np.zeros(p * (-(-n // LANES) * LANES), dtype=np.float32)
                length = np.empty(p)
                jobs = [
                    (self._values, self._centre, lo, hi, draft, length)
                    for lo, hi in spans(p, self._n_threads, minimum=1000)
                ]
                run(write_draft, jobs, self._n_threads)
                self._draft = draft, length
            return self._draft

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
            # Products are taken as they are and the means off afterwards, so that
            # rounding is that of the numbers themselves.
            return mean, np.sqrt(square)
        square = np.einsum("ij,ij->j", X, X, dtype=np.float64)
        return mean, np.sqrt(np.maximum(square - n * mean**2, 0.0))

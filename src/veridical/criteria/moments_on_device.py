"""Variances and correlations of features that are on a GPU.

Sums are taken on the GPU in twice the working precision, as `veridical.kernels.moments`
takes them on the processor, where the same routines turn them into variances. For the
correlations of all features with a chosen one the GPU reads the features once, so that
a search needs no bounds: a step compares all features.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.devices import device_values
from veridical._core.table import Table
from veridical.criteria.anova import Variances, variances
from veridical.kernels.cuda.columns import ColumnKernels
from veridical.kernels.exact import add
from veridical.kernels.moments import finish_variances, sum_extreme_features
from veridical.kernels.similarity import Columns
from veridical.kernels.trainsets import TrainSets

#: Bytes of correlations that are kept for other searches in the same training set.
KEPT_BYTES = 1 << 28


class DeviceColumns:
    """Sums of features over the samples of every training set.

    Parameters
    ----------
    data : Table
        The data, with features on the GPU.
    sets : TrainSets
        The training sets.
    """

    make_kernels: Callable[[Any], ColumnKernels] = staticmethod(ColumnKernels)

    def __init__(self, data: Table, sets: TrainSets) -> None:
        self.kernels = self.make_kernels(device_values(data.values))
        self._data, self._sets = data, sets
        self._y = np.zeros(len(data), dtype=np.intp)
        if data.kind == "classes":
            self._y = data.y
        self._n_classes = max(data.n_classes, 1)
        self._origin = self._origins()

    def _origins(self) -> FloatArray:
        """Return `exact_origin` of every feature; raise for values that are refused."""
        X = self.kernels.X
        if X.dtype.kind != "f" and X.dtype.itemsize <= 2:
            return np.zeros(X.shape[1])
        low, high, missing = self.kernels.ranges(np.arange(len(self._data)))
        refused = (missing > 0) | np.isinf(low) | np.isinf(high)
        for j in np.flatnonzero(refused):
            self._data.values.read(np.array([j]))  # it raises, with the row
        first = self.kernels.first_row()
        least, most = np.minimum(first / 2, 2 * first), np.maximum(first / 2, 2 * first)
        return np.where((low >= least) & (high <= most), first, 0.0)

    def variances(self, against: bool) -> Variances:
        """Return the sums of squares within and between classes."""
        n_sets, p = len(self._sets), self._data.n_features
        sums = np.empty((2, n_sets + 1, self._n_classes, p))
        squares = np.zeros((2, n_sets + 1, p))
        for s in range(n_sets + 1):
            change = np.ones(len(self._y))
            if s < n_sets:
                change = self._sets.counts[s] - self._sets.whole[s]
            found = self._class_sums(change)
            sums[:, s] = found[:, :2].swapaxes(0, 1)
            high, low = squares[:, s]
            with np.errstate(over="ignore", invalid="ignore"):  # these are summed again
                for own in found:
                    high, low = add.py_func(high, low, own[2], own[3])
            squares[:, s] = high, low
        weight = self._sets.class_counts(self._y, self._n_classes)
        within, between = np.empty((2, p, n_sets))
        each = np.empty((p, n_sets, self._n_classes if against else 0))
        rows = np.arange(len(self._y))

        def stored(j: int) -> tuple[FloatArray, IntArray]:
            return self.kernels.column(j), rows

        fixed = self._y, self._sets, stored
        sum_extreme_features(sums, squares, *fixed)
        finish_variances(
            sums, squares, self._y, weight, *fixed[1:], within, between, each
        )
        return Variances(weight, within.T, between.T, np.moveaxis(each, 0, 2))

    def _class_sums(self, change: FloatArray) -> FloatArray:
        """Return the sums of every class over rows that count so often."""
        rows = np.flatnonzero(change)
        rows = rows[np.argsort(self._y[rows], kind="stable")]
        ends = np.searchsorted(self._y[rows], np.arange(self._n_classes + 1))
        return self.kernels.class_sums(rows, change[rows], ends, self._origin)

    def mean(self, s: int) -> FloatArray:
        """Return the mean of every feature in a training set."""
        counts = self._sets.counts[s]
        sums = self.kernels.multiply(counts, self._origin)
        return np.asarray(self._origin + sums / counts.sum())


class DeviceCorrelations:
    """Absolute correlations of all features with a chosen one, at once.

    It takes the place of `CorrelationRedundancy`; see there for the parameters. Every
    feature counts as ill-conditioned: it is correlated at once, in the training set
    itself.
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
        self._columns, self._sets, self._floor = DeviceColumns(data, sets), sets, floor
        if data.kind == "numbers":
            self.variances = variances(data, sets, n_threads)
        else:
            self.variances = self._columns.variances(against)
        spread = np.sqrt(self.variances.within + self.variances.between)
        with np.errstate(divide="ignore"):
            self._inverse = np.where(spread > 0, 1.0 / spread, 0.0)
        self._all = np.arange(data.n_features)
        self._means: dict[int, FloatArray] = {}
        self._known: OrderedDict[tuple[int, int], FloatArray] = OrderedDict()
        self._lock = Lock()

    def columns(self, s: int, *, single: bool = False) -> Columns:
        """Return the lengths of features, without values: none is compared later."""
        p = self._all.size
        none = np.empty(0, dtype=np.float32)
        return Columns(
            np.zeros(p), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.intp),
            np.zeros(p), self._inverse[s].copy(), np.ones(1), self._floor, none,
            np.ones(p), 0.0, none.reshape(0, 0), np.full(p, -1, dtype=np.int32),
        )  # fmt: skip

    def ill_conditioned(self, s: int) -> IntArray:
        """Return all features."""
        return self._all

    def unit_column(self, s: int, j: int) -> FloatArray:
        """Return no values, as `columns` does."""
        return np.zeros(1)

    def correlations(self, s: int, j: int, others: IntArray) -> FloatArray:
        """Return the absolute correlations of feature `j` with others."""
        with self._lock:
            found = self._known.pop((s, j), None)
            found = self._correlate(s, j) if found is None else found
            self._known[s, j] = found
            if len(self._known) * found.nbytes > KEPT_BYTES:
                self._known.popitem(last=False)
        return found[others]

    def _correlate(self, s: int, j: int) -> FloatArray:
        kernels, total = self._columns.kernels, float(self._sets.counts[s].sum())
        if s not in self._means:
            self._means[s] = self._columns.mean(s)
        counts, centre = kernels.upload(self._sets.counts[s]), self._means[s]
        column = kernels.centred(j, counts, total, float(centre[j]))
        products = kernels.multiply(column, centre) * self._inverse[s][j]
        return np.abs(products) * self._inverse[s]

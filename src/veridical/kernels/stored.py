"""Information of sparse features, from the values that are stored of them.

All zeros of a feature are one value. So a feature with m stored values is that of
m + K samples: those that are stored, and for every class one zero, which counts as
often as the class has zeros. Class counts, and with them cuts and scores, are those of
the whole feature.

| symbol       | meaning                                              | shape      |
|--------------|------------------------------------------------------|------------|
| values, rows | stored values of some features, and their rows       | (nnz,)     |
| end          | feature j has the values ``end[j]:end[j + 1]``       | (B + 1,)   |
| order        | stored values of each feature by size, missing last  | (nnz,)     |
| class_totals | samples of each class in each training set           | (S, K)     |
| by_row       | how often row i occurs in training set s             | (n, S)     |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.mdl import SavedBits, block_gains, column_cuts


@njit(cache=True, nogil=True)
def sort_stored(values: FloatArray, end: IntArray) -> IntArray:
    """Sort the stored values of each feature; returns places among its values."""
    order = np.empty(values.size, dtype=np.intp)
    for j in range(end.size - 1):
        x = values[end[j] : end[j + 1]]
        known = np.empty(x.size, dtype=np.intp)
        n_known, last = 0, x.size
        for t in range(x.size):
            if x[t] == x[t]:
                known[n_known] = t
                n_known += 1
            else:
                last -= 1
                order[end[j] + last] = t
        places = np.argsort(x[known[:n_known]])
        for t in range(n_known):
            order[end[j] + t] = known[places[t]]
    return order


@njit(cache=True, nogil=True)
def _compress(
    x: FloatArray,
    rows: IntArray,
    order: IntArray,
    y: IntArray,
    class_totals: NDArray[np.int32],
    by_row: NDArray[np.int32],
) -> tuple[FloatArray, IntArray, NDArray[np.int32]]:
    """Return sorted values, classes and counts (S, m + K) of stored values and zeros.

    Zeros of a class without any are left out.
    """
    n_sets, n_classes = class_totals.shape
    zeros = class_totals.copy()
    for t in range(x.size):
        for s in range(n_sets):
            zeros[s, y[rows[t]]] -= by_row[rows[t], s]
    length = x.size
    for k in range(n_classes):
        length += zeros[:, k].max() > 0
    value, label = np.empty(length), np.empty(length, dtype=np.intp)
    counts = np.empty((n_sets, length), dtype=np.int32)
    place, added = 0, False
    for t in range(x.size + 1):
        if not added and (t == x.size or not x[order[t]] < 0.0):
            added = True
            for k in range(n_classes):
                if zeros[:, k].max() > 0:
                    value[place], label[place] = 0.0, k
                    counts[:, place] = zeros[:, k]
                    place += 1
        if t < x.size:
            i = rows[order[t]]
            value[place], label[place] = x[order[t]], y[i]
            for s in range(n_sets):
                counts[s, place] = by_row[i, s]
            place += 1
    return value, label, counts


@njit(cache=True, nogil=True)
def stored_gains(
    values: FloatArray,
    rows: IntArray,
    end: IntArray,
    order: IntArray,
    y: IntArray,
    class_totals: NDArray[np.int32],
    by_row: NDArray[np.int32],
    xlogx: FloatArray,
    count_cuts: bool,
    gain: FloatArray,
    uncertainty: FloatArray,
) -> None:
    """Compute the scores of `block_gains` for sparse features.

    Every feature has samples of its own after `_compress`, so that no table of bits
    serves them all.
    """
    bits = SavedBits(
        np.empty(0, dtype=np.float32),
        np.empty(0, dtype=np.int32),
        np.empty((0, 0), dtype=np.int32),
    )
    for j in range(end.size - 1):
        own = slice(end[j], end[j + 1])
        x, label, counts = _compress(
            values[own], rows[own], order[own], y, class_totals, by_row
        )
        places = np.arange(x.size)
        block_gains(
            x.reshape(1, -1),
            places.reshape(1, -1),
            label,
            class_totals,
            counts,
            np.ascontiguousarray(counts.T),
            bits,
            xlogx,
            count_cuts,
            gain[j : j + 1],
            uncertainty[j : j + 1],
        )


@njit(cache=True, nogil=True)
def stored_cuts(
    values: FloatArray,
    rows: IntArray,
    y: IntArray,
    class_totals: NDArray[np.int32],
    by_row: NDArray[np.int32],
    xlogx: FloatArray,
    count_cuts: bool,
) -> FloatArray:
    """Find the cut points of `column_cuts` for one sparse feature and training set."""
    order = sort_stored(values, np.array([0, values.size]))
    x, label, counts = _compress(values, rows, order, y, class_totals, by_row)
    return column_cuts(
        x,
        np.arange(x.size),
        label,
        class_totals.shape[1],
        counts[0],
        xlogx,
        count_cuts,
    )

"""Information gain of sparse features, from their stored values alone.

All zeros of a feature are one value. A feature with m stored values is therefore
treated as one of m + K samples: the stored values, and one zero for each of the K
classes, which is counted as often as the class has zeros. Class counts, cuts and scores
are the same as those of the whole feature.

| symbol       | meaning                                              | shape      |
|--------------|------------------------------------------------------|------------|
| values, rows | stored values of some features, and their rows       | (nnz,)     |
| end          | feature j has the values ``end[j]:end[j + 1]``       | (B + 1,)   |
| order        | their places by value, missing ones last; those of a | (nnz,)     |
|              | feature stand together                               |            |
| class_totals | samples of each class in each training set           | (S, K)     |
| by_row       | how often row i occurs in training set s             | (n, S)     |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.mdl import (
    SavedBits,
    block_gains,
    cannot_be_cut,
    column_cuts,
    write_scores,
)


@njit(cache=True, nogil=True)
def _compress(
    x: FloatArray,
    rows: IntArray,
    order: IntArray,
    y: IntArray,
    class_totals: NDArray[np.int32],
    by_row: NDArray[np.int32],
) -> tuple[FloatArray, NDArray[np.int32], NDArray[np.int32], int]:
    """Return sorted values, classes and counts (S, m + K) of stored values and zeros.

    `order` are the places of one feature. Zeros of a class without any are left out.
    The last number is where the zeros of the classes begin.
    """
    n_sets, n_classes = class_totals.shape
    zeros = class_totals.copy()
    for t in range(order.size):
        i = rows[order[t]]
        for s in range(n_sets):
            zeros[s, y[i]] -= by_row[i, s]
    length = order.size
    for k in range(n_classes):
        length += zeros[:, k].max() > 0
    value, label = np.empty(length), np.empty(length, dtype=np.int32)
    counts = np.empty((n_sets, length), dtype=np.int32)
    place, begin = 0, -1
    for t in range(order.size + 1):
        if begin < 0 and (t == order.size or not x[order[t]] < 0.0):
            begin = place
            for k in range(n_classes):
                if zeros[:, k].max() > 0:
                    value[place], label[place] = 0.0, k
                    counts[:, place] = zeros[:, k]
                    place += 1
        if t < order.size:
            i = rows[order[t]]
            value[place], label[place] = x[order[t]], y[i]
            for s in range(n_sets):
                counts[s, place] = by_row[i, s]
            place += 1
    return value, label, counts, begin


@njit(cache=True, nogil=True)
def stored_gains(
    values: FloatArray,
    rows: IntArray,
    end: IntArray,
    order: IntArray,
    y: NDArray[np.int32],
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
        np.empty((0, 0), dtype=np.int16),
    )
    below = np.empty(class_totals.shape[1], dtype=np.int32)
    open_ = np.zeros(1, dtype=np.intp)  # it was found that the feature may be cut
    for j in range(end.size - 1):
        own = order[end[j] : end[j + 1]]
        x, label, counts, begin = _compress(values, rows, own, y, class_totals, by_row)
        if len(class_totals) == 1 and x[-1] == x[-1] and counts.min() > 0:
            candidates = -1
            if count_cuts:
                for t in range(x.size):
                    candidates += t == 0 or x[t] != x[t - 1]
            else:
                candidates += class_totals.sum()
            zeros_end = begin + x.size - own.size
            total = class_totals[0]
            if cannot_be_cut(
                label, counts[0], total, candidates, begin, zeros_end, xlogx, below
            ):
                write_scores(0.0, 0.0, j, 0, gain, uncertainty)
                continue
        block_gains(
            x.reshape(1, -1),
            np.arange(x.size).reshape(1, -1),
            open_,
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
    order: IntArray,
    y: IntArray,
    class_totals: NDArray[np.int32],
    by_row: NDArray[np.int32],
    xlogx: FloatArray,
    count_cuts: bool,
) -> FloatArray:
    """Find the cut points of `column_cuts` for one sparse feature and training set."""
    x, label, counts, _ = _compress(values, rows, order, y, class_totals, by_row)
    return column_cuts(
        x,
        np.arange(x.size),
        label,
        class_totals.shape[1],
        counts[0],
        xlogx,
        count_cuts,
    )

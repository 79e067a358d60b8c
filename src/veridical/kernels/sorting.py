"""Sort many features at once, by keys that hold the value and the row.

To sort pairs (or rows by value) takes about twice as long as to sort plain integers.
So a value and its row are packed into one integer: the bits of a double, changed so
that their order is that of the values, lose as many low bits as a row number needs.
These bits can only change the order of neighbours in the sorted list; that is
corrected. The stored values of many sparse features are sorted together: the first
bits of their keys are the number of the feature.

| symbol  | meaning                                            | shape    |
|---------|----------------------------------------------------|----------|
| columns | a block of features, one per row                   | (B, n)   |
| values  | stored values of some features, one after another  | (nnz,)   |
| end     | feature j has the values ``end[j]:end[j + 1]``     | (B + 1,) |
| keys    | value (high bits) and row or place (low bits)      | (B, n)   |
| n_bits  | how many bits a row number takes                   |          |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit

# Moves per row that correct the order; a feature that needs more, because many values
# agree in all the bits kept, is sorted by `np.argsort`.
MAX_MOVES_PER_ROW = 4


@njit(cache=True, nogil=True, inline="always")
def _ordered(x: float, bits: Any) -> Any:
    """Return the bits of a double so that their order is that of the values."""
    if bits == np.int64(-0x8000000000000000):
        bits = np.int64(0)  # minus zero is zero
    # As integers, the bits of negative numbers are in reverse order: flip all of them,
    # and set the first bit of the others, so that these come after.
    flip = (bits >> 63) | np.int64(-0x8000000000000000)
    return np.uint64(bits ^ flip) if x == x else ~np.uint64(0)


@njit(cache=True, nogil=True)
def _pack(columns: FloatArray, n_bits: int, keys: NDArray[np.uint64]) -> None:
    keep = ~((np.uint64(1) << np.uint64(n_bits)) - np.uint64(1))
    for j in range(columns.shape[0]):
        x, bits = columns[j], columns[j].view(np.int64)
        for i in range(x.size):
            keys[j, i] = (_ordered(x[i], bits[i]) & keep) | np.uint64(i)


@njit(cache=True, nogil=True)
def _pack_stored(
    values: FloatArray,
    end: IntArray,
    n_bits: int,
    feature_bits: int,
    keys: NDArray[np.uint64],
) -> None:
    keep = ~((np.uint64(1) << np.uint64(n_bits)) - np.uint64(1))
    bits = values.view(np.int64)
    for j in range(end.size - 1):
        feature = np.uint64(j) << np.uint64(64 - feature_bits)
        for t in range(end[j], end[j + 1]):
            ordered = _ordered(values[t], bits[t]) >> np.uint64(feature_bits)
            keys[0, t] = feature | (ordered & keep) | np.uint64(t)


@njit(cache=True, nogil=True)
def _unpack(
    columns: FloatArray, n_bits: int, keys: NDArray[np.uint64], n_values: IntArray
) -> NDArray[np.bool_]:
    """Replace keys by rows, in order; return which features are not sorted.

    Also fills in how many different values each feature has; missing ones are none.
    """
    low = (np.uint64(1) << np.uint64(n_bits)) - np.uint64(1)
    unsorted = np.zeros(columns.shape[0], dtype=np.bool_)
    for j in range(columns.shape[0]):
        x, key = columns[j], keys[j]
        steps = MAX_MOVES_PER_ROW * x.size
        found, begin, last = 0, 0, np.uint64(0)
        for t in range(x.size):
            row, high = key[t] & low, key[t] & ~low
            if t == 0 or high != last:
                key[t], last, begin = row, high, t
                found += high != ~low or x[row] == x[row]
                continue
            # Keys that agree in all the bits kept are the only ones out of order.
            value = x[row]
            place = t
            while place > begin and steps > 0 and value < x[key[place - 1]]:
                key[place] = key[place - 1]
                place -= 1
                steps -= 1
            key[place] = row
            new = place == begin or x[key[place - 1]] != value
            found += new and value == value
        n_values[j] = found
        unsorted[j] = steps == 0
    return unsorted


def sort_and_count(columns: FloatArray) -> tuple[IntArray, IntArray]:
    """Sort the rows of each feature; also return how many different values it has."""
    n = columns.shape[1]
    n_bits = max(n - 1, 0).bit_length()
    keys = np.empty(columns.shape, dtype=np.uint64)
    n_values = np.empty(len(columns), dtype=np.intp)
    _pack(columns, n_bits, keys)
    keys.sort(axis=1)
    unsorted = _unpack(columns, n_bits, keys, n_values)
    order: Any = keys.view(np.int64)
    if unsorted.any():
        order[unsorted] = np.argsort(columns[unsorted], axis=1)
        for j in np.flatnonzero(unsorted):
            values = np.unique(columns[j])
            n_values[j] = np.count_nonzero(~np.isnan(values))
    return order, n_values


def sort_rows(columns: FloatArray) -> IntArray:
    """Sort the rows of each feature by value, missing values last.

    As ``np.argsort(columns, axis=1)``, except for the order of equal values.
    """
    return sort_and_count(columns)[0]


def sort_stored(values: FloatArray, end: IntArray) -> IntArray:
    """Sort the stored values of each feature, missing ones last; return their places.

    Those of feature j are ``end[j]:end[j + 1]``, as those of its values.
    """
    n_bits = max(values.size - 1, 0).bit_length()
    feature_bits = max(end.size - 2, 1).bit_length()
    keys = np.empty((1, values.size), dtype=np.uint64)
    _pack_stored(values, end, n_bits, feature_bits, keys)
    keys.sort(axis=1)
    if _unpack(values[None], n_bits, keys, np.empty(1, dtype=np.intp)).any():
        features = np.repeat(np.arange(end.size - 1), np.diff(end))
        return np.lexsort((values, features))
    order: IntArray = keys[0].view(np.int64)
    return order

"""Sort many features at once, by keys that hold the value and the row.

To sort pairs (or rows by value) takes about twice as long as to sort plain integers.
So a value and its row are packed into one integer: the bits of a double, changed so
that their order is that of the values, lose as many low bits as a row number needs.
These bits can only change the order of neighbours in the sorted list; that is
corrected.

| symbol  | meaning                              | shape  |
|---------|--------------------------------------|--------|
| columns | a block of features, one per row     | (B, n) |
| keys    | value (high bits) and row (low bits) | (B, n) |
| n_bits  | how many bits a row number takes     |        |
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


@njit(cache=True, nogil=True)
def _pack(columns: FloatArray, n_bits: int, keys: NDArray[np.uint64]) -> None:
    keep = ~((np.uint64(1) << np.uint64(n_bits)) - np.uint64(1))
    for j in range(columns.shape[0]):
        x, bits = columns[j], columns[j].view(np.int64)
        for i in range(x.size):
            # As integers, the bits of negative numbers are in reverse order: flip all
            # of them, and set the first bit of the others, so that these come after.
            flip = (bits[i] >> 63) | np.int64(-0x8000000000000000)
            ordered = np.uint64(bits[i] ^ flip)
            if x[i] != x[i]:
                ordered = ~np.uint64(0)
            keys[j, i] = (ordered & keep) | np.uint64(i)


@njit(cache=True, nogil=True)
def _unpack(
    columns: FloatArray, n_bits: int, keys: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Replace keys by rows, in order; return which features are not sorted."""
    low = (np.uint64(1) << np.uint64(n_bits)) - np.uint64(1)
    unsorted = np.zeros(columns.shape[0], dtype=np.bool_)
    for j in range(columns.shape[0]):
        x, key = columns[j], keys[j]
        steps = MAX_MOVES_PER_ROW * x.size
        for t in range(x.size):
            row = key[t] & low
            value = x[row]
            place = t
            while place > 0 and steps > 0 and value < x[key[place - 1]]:
                key[place] = key[place - 1]
                place -= 1
                steps -= 1
            key[place] = row
        unsorted[j] = steps == 0
    return unsorted


def sort_rows(columns: FloatArray) -> IntArray:
    """Sort the rows of each feature by value, missing values last.

    As ``np.argsort(columns, axis=1)``, except for the order of equal values.
    """
    n = columns.shape[1]
    n_bits = max(n - 1, 0).bit_length()
    keys = np.empty(columns.shape, dtype=np.uint64)
    _pack(columns, n_bits, keys)
    keys.sort(axis=1)
    unsorted = _unpack(columns, n_bits, keys)
    order: Any = keys.view(np.int64)
    if unsorted.any():
        order[unsorted] = np.argsort(columns[unsorted], axis=1)
    return order

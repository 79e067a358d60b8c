"""Sort many columns at once: keys that carry the row with the value.

To sort pairs (or rows by value) takes about twice as long as to sort plain integers.
So a value and its row are packed into one: the bits of a double, made to rise with it,
are cut short by as many low bits as a row number needs. What was cut off can only
matter between neighbours of the sorted list, and is mended there.

| symbol  | meaning                                                  | shape  |
|---------|----------------------------------------------------------|--------|
| columns | a block of columns, one per row                          | (B, n) |
| keys    | value (high bits) and row (low bits)                     | (B, n) |
| n_bits  | how many bits a row number takes                         |        |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit

# A column whose values agree in all the bits that were kept is sorted the plain way;
# so many steps per row are tried first.
PATIENCE = 4


@njit(cache=True, nogil=True)
def _pack(columns: FloatArray, n_bits: int, keys: NDArray[np.uint64]) -> None:
    keep = ~((np.uint64(1) << np.uint64(n_bits)) - np.uint64(1))
    for j in range(columns.shape[0]):
        x, bits = columns[j], columns[j].view(np.int64)
        for i in range(x.size):
            # Bits of negative numbers fall as the number rises: turn all of them, and
            # set the first bit of the others, so that these come after.
            turn = (bits[i] >> 63) | np.int64(-0x8000000000000000)
            rising = np.uint64(bits[i] ^ turn)
            if x[i] != x[i]:
                rising = ~np.uint64(0)
            keys[j, i] = (rising & keep) | np.uint64(i)


@njit(cache=True, nogil=True)
def _unpack(
    columns: FloatArray, n_bits: int, keys: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Leave the rows alone in `keys`, in order; return which columns need more work."""
    low = (np.uint64(1) << np.uint64(n_bits)) - np.uint64(1)
    unsorted = np.zeros(columns.shape[0], dtype=np.bool_)
    for j in range(columns.shape[0]):
        x, key = columns[j], keys[j]
        steps = PATIENCE * x.size
        for t in range(x.size):
            row = key[t] & low
            value = x[row]
            at = t
            while at > 0 and steps > 0 and value < x[key[at - 1]]:
                key[at] = key[at - 1]
                at -= 1
                steps -= 1
            key[at] = row
        unsorted[j] = steps == 0
    return unsorted


def sort_rows(columns: FloatArray) -> IntArray:
    """Rows of each column by rising value, missing values last.

    As ``np.argsort(columns, axis=1)``, but for the order of equal values.
    """
    n = columns.shape[1]
    n_bits = max(n - 1, 0).bit_length()
    keys = np.empty(columns.shape, dtype=np.uint64)
    _pack(columns, n_bits, keys)
    keys.sort(axis=1)
    again = _unpack(columns, n_bits, keys)
    order: Any = keys.view(np.int64)
    if again.any():
        order[again] = np.argsort(columns[again], axis=1)
    return order

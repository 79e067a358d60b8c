"""Find the small whole numbers that occur in each column of a matrix.

One function for matrices in C order and one for Fortran order, with the same result. A
column fits if it holds nothing but NaN and whole numbers below the width of `seen`; the
marks of other columns are undefined.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.compiling import njit

#: Numbers below it are recorded as the bits of one word.
_WORD_BITS = 64


@njit(cache=True, nogil=True)
def seen_by_row(
    X: Any, columns: NDArray[np.intp], seen: NDArray[np.bool_], fits: NDArray[np.bool_]
) -> None:
    """Mark in `seen` the values of each column, and in `fits` the columns that fit."""
    limit = seen.shape[1]
    for i in range(X.shape[0]):
        for k in range(columns.size):
            v = X[i, columns[k]]
            if v >= 0 and v < limit:
                whole = int(v)
                seen[k, whole] = True
                fits[k] &= whole == v
            else:
                fits[k] &= v != v


@njit(cache=True, nogil=True)
def seen_by_column(
    rows: Any,
    columns: NDArray[np.intp],
    seen: NDArray[np.bool_],
    fits: NDArray[np.bool_],
) -> None:
    """Do the same for a transposed matrix.

    Few columns hold numbers of 64 and more. The others are read without a branch, many
    values at a time.
    """
    for k in range(columns.size):
        x = rows[columns[k]]
        bits, n_fit = np.uint64(0), 0
        for i in range(x.size):
            v = x[i]
            known = v == v
            whole = np.int64(min(max(v, 0), _WORD_BITS - 1)) if known else 0
            n_fit += (whole == v) | (not known)
            bits |= np.uint64(known) << np.uint64(whole)
        if n_fit == x.size:
            for b in range(_WORD_BITS):
                seen[k, b] = (bits >> np.uint64(b)) & np.uint64(1)
        else:
            seen_by_row(x.reshape(-1, 1), np.zeros(1, np.intp), seen[k:], fits[k:])


@njit(cache=True, nogil=True)
def count_seen(seen: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the number of values of each column, and the largest (−1: none)."""
    number = np.zeros(len(seen), dtype=np.intp)
    largest = np.full(len(seen), -1, dtype=np.intp)
    for k in range(len(seen)):
        for v in range(seen.shape[1]):
            if seen[k, v]:
                number[k] += 1
                largest[k] = v
    return number, largest

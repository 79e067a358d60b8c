"""Count the ones of every feature in every class, in one pass over the matrix.

The matrix is read in its memory order, by row or by column, and no part of it is
copied: a million features cost little more than reading them.

| symbol | meaning                                              | shape  |
|--------|------------------------------------------------------|--------|
| X      | the values                                           | (n, p) |
| y      | classes 0..K−1                                       | (n,)   |
| ones   | number of ones of a feature in a class               | (K, p) |
| plain  | 1 where a feature holds nothing but 0 and 1          | (p,)   |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.threads import run_jobs, spans

#: Features counted together, so that their counts stay in the cache.
_TILE = 8192
#: Types that are read without a copy; others are copied to float64.
_READ_WITHOUT_COPY = ("u1", "f4", "f8", "i8")


@njit(cache=True, nogil=True)
def _count_rows(X: Any, y: IntArray, ones: Any, plain: NDArray[np.uint8]) -> None:
    for start in range(0, X.shape[1], _TILE):
        stop = min(start + _TILE, X.shape[1])
        for i in range(X.shape[0]):
            row, counts_of_class = X[i, start:stop], ones[y[i], start:stop]
            good = plain[start:stop]
            for j in range(stop - start):
                one = row[j] == 1
                counts_of_class[j] += one
                good[j] &= one | (row[j] == 0)


@njit(cache=True, nogil=True)
def _count_columns(X: Any, y: IntArray, ones: Any, plain: NDArray[np.uint8]) -> None:
    for j in range(X.shape[1]):
        column = X[:, j]
        good = True
        for i in range(column.size):
            one = column[i] == 1
            ones[y[i], j] += one
            good &= one | (column[i] == 0)
        plain[j] = good


@njit(cache=True, nogil=True)
def _count_patterns(
    X: Any,
    columns: IntArray,
    cuts: FloatArray,
    place: IntArray,
    lo: int,
    hi: int,
    S: FloatArray,
) -> None:
    for i in range(lo, hi):
        row, counts_of_class = X[i], S[i]
        for k in range(columns.size):
            counts_of_class[place[k]] += row[columns[k]] > cuts[k]


def count_patterns(
    X: NDArray[Any],
    columns: IntArray,
    cuts: FloatArray,
    place: IntArray,
    n_patterns: int,
    n_threads: int = 1,
) -> FloatArray:
    """Count for each row its values above the cut, among the features of a pattern.

    Parameters
    ----------
    X : array of shape (n, p)
        Numbers of any type.
    columns, cuts, place : arrays of shape (k,)
        Features that count, the cut of each, and its pattern.
    n_patterns : int
        Number of patterns.
    n_threads : int, default=1
        Number of threads, which share the rows.

    Returns
    -------
    array of shape (n, n_patterns)
        The counts.
    """
    X = readable(X)
    S = np.zeros((X.shape[0], n_patterns))
    jobs = [(X, columns, cuts, place, lo, hi, S) for lo, hi in spans(len(X), n_threads)]
    run_jobs(_count_patterns, jobs, n_threads)
    return S


def readable(X: NDArray[Any]) -> NDArray[Any]:
    """Convert a matrix to a type that kernels are compiled for, if necessary."""
    if X.dtype in (np.bool_, np.int8):
        X = X.view(np.uint8)  # −1 becomes 255, which does not count as 1 either
    if X.dtype.str[1:] not in _READ_WITHOUT_COPY or not X.dtype.isnative:
        X = X.astype(np.float64)
    return X


def count_ones(
    X: NDArray[Any], y: IntArray, n_classes: int
) -> tuple[IntArray, NDArray[np.bool_]]:
    """Count the ones of every feature in every class.

    Parameters
    ----------
    X : array of shape (n, p)
        Numbers of any type.
    y : int array of shape (n,)
        Classes ``0..n_classes-1``.
    n_classes : int
        How many there are.

    Returns
    -------
    ones : int array of shape (p, n_classes)
        Number of ones.
    plain : bool array of shape (p,)
        Which features hold nothing but 0 and 1.
    """
    X = readable(X)
    p = X.shape[1]
    ones = np.zeros((n_classes, p), dtype=np.int32)
    plain = np.ones(p, dtype=np.uint8)
    if X.flags.f_contiguous and not X.flags.c_contiguous:
        routine, view = _count_columns, X
    else:
        routine, view = _count_rows, np.ascontiguousarray(X)
    labels = np.ascontiguousarray(y, dtype=np.intp)
    routine(view, labels, ones, plain)
    return np.ascontiguousarray(ones.T, dtype=np.intp), plain.astype(bool)

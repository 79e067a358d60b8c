"""Pass a matrix to kernels a block of features at a time.

Kernels that work on features read C-contiguous float64 blocks with one *feature per
row*. Whatever the matrix is (C or Fortran order, float32, a read-only
memory map, CSC), at most one block of it is converted at a time. Of a matrix that is
not in memory (`veridical._core.lazy`), larger blocks are read one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical._core.lazy import LazyMatrix
from veridical.kernels.threads import run_jobs, spans

BLOCK_BYTES = 1 << 19  # a block and its work arrays stay in the second-level cache
ROWS = 8  # rows that are transposed together: a cache line of each feature
AT_ONCE = 4  # features of a long table whose rows are read together
TILE = 1024  # features whose sums stay in the first-level cache


@njit(cache=True, nogil=True)
def _transpose(X: Any, lo: int, hi: int, out: FloatArray) -> None:
    n = X.shape[0]
    for first in range(0, n, ROWS):
        last = min(first + ROWS, n)
        for c in range(lo, hi):
            for i in range(first, last):
                out[c - lo, i] = X[i, c]


def column_block(X: Any, lo: int, hi: int) -> FloatArray:
    """Return the features ``lo:hi`` as the rows of a contiguous float64 array."""
    if isinstance(X, LazyMatrix):
        X, lo, hi = X.read(np.arange(lo, hi)), 0, hi - lo
    if sparse.issparse(X):
        return np.ascontiguousarray(X[:, lo:hi].T.toarray(), dtype=np.float64)
    if X.flags.c_contiguous and X.flags.writeable and X.dtype.kind == "f":
        out = np.empty((hi - lo, len(X)))
        _transpose(X, lo, hi, out)
        return out
    return np.ascontiguousarray(X[:, lo:hi].T, dtype=np.float64)


def memory_blocks(X: Any, multiple: int = 1) -> Iterator[tuple[int, Any]]:
    """Iterate over blocks of features that are in memory, with their first feature.

    A matrix in memory is one block. Sparse blocks are CSC with ascending rows; those
    of a matrix that is not in memory begin at multiples of `multiple`. A caller that
    deletes a block at the end of its loop never has two of them in memory.
    """
    blocks = X.parts(multiple) if isinstance(X, LazyMatrix) else [(0, X)]
    for first, block in blocks:
        if sparse.issparse(block):
            block = block.tocsc()
            if not block.has_sorted_indices:
                block = block.sorted_indices()
        yield first, block
        del block  # before the next one is read


def map_blocks(
    work: Callable[[int, int, FloatArray], None],
    X: Any,
    n_jobs: int,
    work_stored: Callable[[int, int, FloatArray, IntArray, IntArray], None]
    | None = None,
) -> None:
    """Call ``work(lo, hi, block)`` for all features of `X`, on `n_jobs` threads.

    For sparse features ``work_stored(lo, hi, values, rows, end)`` is called instead, if
    it is given, with what `stored_values` returns.
    """
    n_rows, n_columns = X.shape
    step = max(1, min(BLOCK_BYTES // (8 * max(n_rows, 1)), -(-n_columns // n_jobs)))

    # A cache line of a row holds several features.
    in_rows = isinstance(X, np.ndarray) and X.flags.c_contiguous
    width = max(step, min(AT_ONCE, -(-n_columns // n_jobs))) if in_rows else step

    def one(first: int, part: Any, lo: int) -> None:
        block = column_block(part, lo, min(lo + width, part.shape[1]))
        for k in range(0, len(block), step):
            some = block[k : k + step]
            work(first + lo + k, first + lo + k + len(some), some)

    def some(first: int, part: Any, lo: int, hi: int) -> None:
        assert work_stored is not None
        work_stored(first + lo, first + hi, *stored_values(part, lo, hi))

    for first, part in memory_blocks(X, step):
        if work_stored is not None and sparse.issparse(part):
            pieces = 1 + 16 * part.nnz // BLOCK_BYTES
            ranges = spans(part.shape[1], max(n_jobs, pieces))
            run_jobs(some, [(first, part, lo, hi) for lo, hi in ranges], n_jobs)
        else:
            starts = range(0, part.shape[1], width)
            run_jobs(one, [(first, part, lo) for lo in starts], n_jobs)
        del part


def stored_values(X: Any, lo: int, hi: int) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the stored values of CSC features ``lo:hi``, their rows, and their ends.

    Feature ``lo + j`` has the values ``end[j]:end[j + 1]``.
    """
    end = X.indptr[lo : hi + 1].astype(np.intp)
    part = slice(end[0], end[-1])
    rows = X.indices[part].astype(np.intp)
    return X.data[part].astype(np.float64), rows, end - end[0]


@njit(cache=True, nogil=True, fastmath={"contract"})
def _cross(X: Any, weight: FloatArray, out: FloatArray) -> None:
    """Write ``Xᵀ weight`` to `out`, summing in double precision whatever X holds."""
    out[:] = 0.0
    for f in range(0, out.size, TILE):
        target = out[f : f + TILE]
        for r in range(X.shape[0]):
            row, w = X[r, f : f + TILE], weight[r]
            if w != 0.0:
                for c in range(target.size):
                    target[c] += w * np.float64(row[c])


def cross_products(X: Any, weight: FloatArray) -> FloatArray:
    """Compute ``Xᵀ weight`` in double precision, whatever `X` holds."""
    if sparse.issparse(X) or X.dtype == np.float64:
        return np.asarray(X.T @ weight).ravel()
    out = np.empty(X.shape[1])
    _cross(np.ascontiguousarray(X), weight, out)
    return out


def row_products(X: Any, weight: FloatArray) -> FloatArray:
    """Compute ``X weight`` in double precision, whatever `X` holds."""
    if sparse.issparse(X) or X.dtype == np.float64:
        return np.asarray(X @ weight).ravel()
    total = np.zeros(X.shape[0])
    step = max(1, BLOCK_BYTES // (8 * X.shape[0]))
    for lo in range(0, X.shape[1], step):
        total += X[:, lo : lo + step].astype(np.float64) @ weight[lo : lo + step]
    return total


def gram(X: Any) -> FloatArray:
    """Compute ``X Xᵀ`` as a dense double matrix, whatever `X` holds."""
    if sparse.issparse(X):
        X = X.astype(np.float64)
        return np.asarray((X @ X.T).toarray())
    if X.dtype == np.float64:
        return X @ X.T
    total = np.zeros((X.shape[0], X.shape[0]))
    step = max(1, BLOCK_BYTES // (8 * X.shape[0]))
    for lo in range(0, X.shape[1], step):
        block = X[:, lo : lo + step].astype(np.float64)
        total += block @ block.T
    return total


def column_norms(X: Any) -> FloatArray:
    """Compute the norm of every feature, in double precision whatever `X` holds."""
    if sparse.issparse(X):
        X = X.astype(np.float64)
        return np.sqrt(np.asarray(X.multiply(X).sum(axis=0)).ravel())
    return np.sqrt(np.einsum("ij,ij->j", X, X, dtype=np.float64))

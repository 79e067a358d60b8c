"""Similarity with chosen features: absolute correlations, and lower bounds of them.

| symbol     | meaning                                                   | shape    |
|------------|-----------------------------------------------------------|----------|
| values     | the features end to end; with `rows` and `start` as in CSC| (p·n,)   |
| inverse    | 1 / length of each centred feature in the set, 0 if const.| (p,)     |
| weighted   | chosen features, centred and of length 1 in the set, times| (m, n)   |
|            | the weight of each row: the product with any feature is   |          |
|            | their correlation times the length of that feature        |          |
| single     | features of length 1 over all rows, in single precision,  | (p·w,)   |
|            | each padded with zeros to `w` rows; or empty              |          |
| weighted_  | `weighted` in single precision, padded in the same way    | (m, w)   |
| single     |                                                           |          |
| norm_ratio | length of each centred feature over all rows, divided by  | (p,)     |
|            | that in the set                                           |          |
| rounding   | bound of the rounding error of a product with `single`    |          |
| bounds     | lower bounds of similarities with some features           | (t, p)   |
| bound_row  | row of each feature in `bounds`, −1 where there is none   | (p,)     |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit

COPY = 1.0 - 1e-12  # absolute correlation; above it features are copies
LANES = 32  # rows multiplied in parallel; `single` is padded to a multiple
BLOCK = 32  # features that stay in the cache while all products are computed


class Columns(NamedTuple):
    """The features in one training set; dense where `start` is empty."""

    values: Any
    rows: NDArray[np.int32]
    start: IntArray
    centre: FloatArray
    inverse: FloatArray
    weight: FloatArray
    floor: float
    single: NDArray[np.float32]
    norm_ratio: FloatArray
    rounding: float
    bounds: NDArray[np.float32]
    bound_row: NDArray[np.int32]


class FeatureState(NamedTuple):
    """Sums of similarities of each feature; see `veridical.kernels.tradeoff`."""

    relevance: FloatArray
    similarity: FloatArray
    known: NDArray[np.int32]
    lower_bound: FloatArray


class Chosen(NamedTuple):
    """The features chosen so far, in order, with relevance and antiredundancy."""

    order: IntArray
    weighted: FloatArray
    weighted_single: NDArray[np.float32]
    mean_relevance: FloatArray
    antiredundancy: FloatArray


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _product(column: Any, centre: float, weighted: FloatArray) -> float:
    """Multiply a dense feature with a weighted one."""
    total = 0.0
    for r in range(weighted.size):
        total += (np.float64(column[r]) - centre) * weighted[r]
    return total


@njit(cache=True, nogil=True)
def _sparse_product(values: Any, rows: Any, weighted: FloatArray) -> float:
    """Multiply a sparse feature with a weighted one, which sums to zero.

    So neither zeros nor the mean of the sparse feature add anything.
    """
    total = 0.0
    for k in range(values.size):
        total += np.float64(values[k]) * weighted[rows[k]]
    return total


@njit(cache=True, nogil=True)
def write_weighted(
    columns: Columns, j: int, out: FloatArray, weighted_single: Any
) -> None:
    """Centre feature j in the set, scale it to length 1, and weight its rows."""
    n, weight = columns.weight.size, columns.weight
    if columns.start.size == 0:
        for r in range(n):
            out[r] = np.float64(columns.values[j * n + r]) - columns.centre[j]
    else:
        out[:] = 0.0
        for k in range(columns.start[j], columns.start[j + 1]):
            out[columns.rows[k]] = np.float64(columns.values[k])
    total, total_weight = 0.0, 0.0
    for r in range(n):
        total += weight[r] * out[r]
        total_weight += weight[r]
    mean = total / total_weight
    for r in range(n):
        out[r] = weight[r] * (out[r] - mean) * columns.inverse[j]
        weighted_single[r] = np.float32(out[r])


@njit(cache=True, nogil=True)
def add_similarities(
    i: int,
    size: int,
    values: Any,
    rows: Any,
    start: IntArray,
    centre: float,
    inverse: float,
    floor: float,
    weighted: FloatArray,
    seen: int,
    total: float,
) -> float:
    """Add to `total` the similarity with the chosen features from number `seen` on."""
    n = weighted.shape[1]
    lo, hi = (i * n, (i + 1) * n) if start.size == 0 else (start[i], start[i + 1])
    column = values[lo:hi]
    for k in range(seen, size):
        if start.size == 0:
            r = abs(_product(column, centre, weighted[k])) * inverse
        else:
            r = abs(_sparse_product(column, rows[lo:hi], weighted[k])) * inverse
        total += 1.0 if r > COPY else max(r, floor)
    return total


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _single_product(column: Any, weighted_single: Any) -> Any:
    """Multiply two features in single precision."""
    total = np.float32(0.0)
    for r in range(weighted_single.size):
        total += column[r] * weighted_single[r]
    return total


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _four_products(
    column: Any, other: Any, f: Any, g: Any, out: Any, k: int, i: int, j: int
) -> None:
    """Multiply two features with two others, which halves the reads from memory."""
    a, b, c, d = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for r in range(f.size):
        x, y, u, v = column[r], other[r], f[r], g[r]
        a += x * u
        b += y * u
        c += x * v
        d += y * v
    out[k, i], out[k, j], out[k + 1, i], out[k + 1, j] = a, b, c, d


@njit(cache=True, nogil=True)
def _to_bounds(
    products: Any, norm_ratio: FloatArray, rounding: float, floor: float
) -> None:
    """Turn products into lower bounds of similarities."""
    for i in range(norm_ratio.size):
        r = (abs(np.float64(products[i])) - rounding) * norm_ratio[i]
        products[i] = r if r > floor else floor


@njit(cache=True, nogil=True)
def write_bounds(
    columns: Columns, weighted_single: Any, lo: int, hi: int, out: NDArray[np.float32]
) -> None:
    """Write lower bounds of the similarities of the features ``lo:hi``.

    A row of `out` for each of the features in `weighted_single`.
    """
    single, norm_ratio, w = columns.single, columns.norm_ratio, weighted_single.shape[1]
    rounding, floor, last = (
        columns.rounding,
        columns.floor,
        weighted_single.shape[0] - 1,
    )
    for start in range(lo, hi, BLOCK):
        end = min(start + BLOCK, hi)
        for k in range(0, last, 2):
            f, g = weighted_single[k], weighted_single[k + 1]
            for i in range(start, end, 2):
                j = min(i + 1, end - 1)
                one, other = single[i * w : (i + 1) * w], single[j * w : (j + 1) * w]
                _four_products(one, other, f, g, out, k, i, j)
        if last % 2 == 0:  # the last of an odd number
            f = weighted_single[last]
            for i in range(start, end):
                out[last, i] = _single_product(single[i * w : (i + 1) * w], f)
        for k in range(last + 1):
            _to_bounds(out[k, start:end], norm_ratio[start:end], rounding, floor)


@njit(cache=True, nogil=True)
def add_bounds(
    j: int, columns: Columns, weighted_single: Any, work: Any, lower_bound: FloatArray
) -> None:
    """Add to `lower_bound` the bounds of all similarities with feature j.

    They are looked up in `columns.bounds` or computed: then `weighted_single` holds j
    alone, and `work` has one row.
    """
    row = columns.bound_row[j]
    if row < 0:
        write_bounds(columns, weighted_single, 0, lower_bound.size, work)
    added = work[0] if row < 0 else columns.bounds[row]
    for i in range(lower_bound.size):
        lower_bound[i] += added[i]


@njit(cache=True, nogil=True)
def rebuild_bounds(
    size: int, columns: Columns, state: FeatureState, chosen: Chosen
) -> None:
    """Compute `lower_bound` from the first `size` chosen features."""
    p = state.lower_bound.size
    work = np.empty((1, p), dtype=np.float32)
    state.lower_bound[:] = 0.0
    for k in range(size):
        add_bounds(
            chosen.order[k],
            columns,
            chosen.weighted_single[k : k + 1],
            work,
            state.lower_bound,
        )
    for i in range(p):  # exact where that is known already
        if state.known[i] == size or state.similarity[i] == np.inf:
            state.lower_bound[i] = state.similarity[i]


@njit(cache=True, nogil=True)
def write_single(
    values: Any,
    centre: FloatArray,
    lo: int,
    hi: int,
    single: Any,
    length: FloatArray,
) -> None:
    """Write the features ``lo:hi`` to `single`, divided by their length."""
    n, width = values.size // centre.size, single.size // centre.size
    for i in range(lo, hi):
        column, here = values[i * n : (i + 1) * n], single[i * width : (i + 1) * width]
        square = 0.0
        for r in range(n):
            square += (np.float64(column[r]) - centre[i]) ** 2
        length[i] = np.sqrt(square)
        scale = 1.0 / length[i] if length[i] > 0.0 else 0.0
        for r in range(n):
            here[r] = np.float32((np.float64(column[r]) - centre[i]) * scale)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def stored_moments(
    values: Any, start: IntArray, n: int, mean: FloatArray, square: FloatArray
) -> None:
    """Write the mean over n rows, and the sum of squares, of the stored values.

    Feature j has the values ``start[j]:start[j + 1]``; others are zero.
    """
    for j in range(mean.size):
        total, total_square = 0.0, 0.0
        for k in range(start[j], start[j + 1]):
            v = np.float64(values[k])
            total += v
            total_square += v * v
        mean[j], square[j] = total / n, total_square


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def to_unit_length(columns: FloatArray, out: FloatArray, norm: FloatArray) -> None:
    """Write features of mean 0 and length 1 to `out`, and their lengths to `norm`."""
    n = columns.shape[1]
    for j in range(columns.shape[0]):
        z = out[j]
        mean = columns[j].sum() / n
        for r in range(n):
            z[r] = columns[j, r] - mean
        mean = z.sum() / n  # what rounding left of it
        for r in range(n):
            z[r] -= mean
        length = np.sqrt((z * z).sum())
        norm[j] = length if length > 0.0 else 1.0
        for r in range(n):
            z[r] /= norm[j]

"""Sums and squares per class, and the variances between and within classes.

Dense features are summed a tile at a time, row by row, so that the features of a row
are added to their sums in parallel. Sparse features, and those whose squares overflow,
are summed one at a time over their stored values; where all rows of a CSR matrix are
the only set, row by row. All add in the order of the rows, and give the same numbers.

| symbol  | meaning                                          | shape        |
|---------|--------------------------------------------------|--------------|
| block   | some rows of a tile of features                  | (R, B)       |
| x, rows | the stored values of one feature, and their rows | (m,)         |
| y       | class of each row, 0..K-1                        | (n,)         |
| sums    | Σ x over the rows of class k in set s, as a pair | (2, S, K, B) |
| squares | Σ x² over the rows of set s, as a pair           | (2, S, B)    |
| weight  | weight of class k in set s                       | (S, K)       |
| counts  | how often row i occurs in set s                  | (S, n)       |
| within  | Σ (x − mean of its class)², WSS                  | (B, S)       |
| between | Σ (mean of its class − mean)², BSS               | (B, S)       |
| against | the same for class k against the rest, BSS_k     | (B, S, K)    |

`sums` and `squares` have one more set, the last, which holds every row once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.columns import column_block, stored_values
from veridical.kernels.exact import (
    add,
    divide_double,
    fma,
    multiply_double,
    normalize,
    square,
)
from veridical.kernels.trainsets import TrainSets

# Sum of squares per sample, relative to Σ x²; below it the sum is rounding, and zero.
PAIR_ROUNDING = 2.0**-96

# Σ x² of a set as a share of that of all rows; below it (an outlier is left out, say)
# the difference has too few digits, and the set is summed by itself.
MIN_SQUARES_SHARE = 2.0**-8

# Absolute value; features with a larger one, or all below its inverse, are rescaled,
# because squares would overflow or lose digits.
MAX_SIZE = 2.0**400

# Σ x² of all rows; beyond them a feature is summed alone, after rescaling.
MAX_SQUARES = MAX_SIZE**2
MIN_SQUARES = 2.0**-760

# Bytes of the sums of a tile, and of the rows that are added at a time; both stay in
# the second-level cache.
SUMS_BYTES = 1 << 18
ROWS_BYTES = 1 << 18
# Features of a tile, so that they fill the registers of any processor.
MIN_TILE, MAX_TILE = 16, 512


@njit(cache=True, nogil=True)
def exact_origin(x: FloatArray) -> float:
    """Find a value that can be subtracted from all others without rounding, or 0.

    Where every value lies between half and twice the first, differences from it are
    exact (Sterbenz), and a feature far from zero loses no digits to its mean.
    """
    low, high = min(x[0] / 2, 2 * x[0]), max(x[0] / 2, 2 * x[0])
    for i in range(x.size):
        if x[i] < low or x[i] > high:
            return 0.0
    return x[0]


@njit(cache=True, nogil=True)
def rescale(x: FloatArray) -> None:
    """Scale numbers whose squares would overflow to about 1, by a power of two.

    All results are ratios of two sums, so that the scale has no effect.
    """
    largest = 0.0
    for i in range(x.size):
        largest = max(largest, abs(x[i]))
    if largest > MAX_SIZE or 0.0 < largest < 1.0 / MAX_SIZE:
        half = int(np.log2(largest)) // 2  # in two steps: the whole factor may overflow
        x *= 2.0**-half
        x *= 2.0**-half


@njit(cache=True, nogil=True)
def _sum_alone(
    x: FloatArray,
    rows: IntArray,
    y: IntArray,
    count: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    """Sum one feature for one training set, over its own rows only."""
    own = x.copy()
    for t in range(x.size):
        if count[rows[t]] == 0:
            own[t] = 0.0
    rescale(own)
    sums[:] = 0.0
    squares[:] = 0.0
    for t in range(x.size):
        v, k, w = own[t], y[rows[t]], count[rows[t]]
        if w == 0:
            continue
        p, q = multiply_double(v, 0.0, w)
        a, b = add(sums[0, k], sums[1, k], p, q)
        sums[0, k], sums[1, k] = a, b
        high = v * v
        p, q = multiply_double(high, fma(v, v, -high), w)
        a, b = add(squares[0], squares[1], p, q)
        squares[0], squares[1] = a, b


@njit(cache=True, nogil=True)
def _sum_features(
    values: FloatArray,
    rows: IntArray,
    end: IntArray,
    y: IntArray,
    start: IntArray,
    where: IntArray,
    change: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    """Add stored values, feature by feature, to sums over all rows and to changes.

    Feature j has the values ``end[j]:end[j + 1]``. One that is not stored is zero, and
    adds nothing.
    """
    last = squares.shape[1] - 1
    for j in range(squares.shape[2]):
        x = values[end[j] : end[j + 1]].copy()
        if x.size == y.size:
            x -= exact_origin(x)
        rescale(x)
        for t in range(x.size):
            v, i = x[t], rows[end[j] + t]
            k = y[i]
            high = v * v
            low = fma(v, v, -high)
            a, b = add(sums[0, last, k, j], sums[1, last, k, j], v, 0.0)
            sums[0, last, k, j], sums[1, last, k, j] = a, b
            a, b = add(squares[0, last, j], squares[1, last, j], high, low)
            squares[0, last, j], squares[1, last, j] = a, b
            for c in range(start[i], start[i + 1]):
                s, w = where[c], change[c]
                p, q = multiply_double(v, 0.0, w)
                a, b = add(sums[0, s, k, j], sums[1, s, k, j], p, q)
                sums[0, s, k, j], sums[1, s, k, j] = a, b
                p, q = multiply_double(high, low, w)
                a, b = add(squares[0, s, j], squares[1, s, j], p, q)
                squares[0, s, j], squares[1, s, j] = a, b


@njit(cache=True, nogil=True)
def _add_rows(
    block: FloatArray,
    origin: FloatArray,
    y: IntArray,
    start: IntArray,
    where: IntArray,
    change: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    """Add some rows of a tile to the sums over all rows, and to the changes of sets.

    It does for every feature what `_sum_features` does; the innermost loops run over
    features, which do not depend on each other.
    """
    last = squares.shape[1] - 1
    for i in range(block.shape[0]):
        x, k = block[i], y[i]
        a, b, q, r = (
            sums[0, last, k],
            sums[1, last, k],
            squares[0, last],
            squares[1, last],
        )
        for j in range(x.size):
            v = x[j] - origin[j]
            high = v * v
            low = fma(v, v, -high)
            a[j], b[j] = add(a[j], b[j], v, 0.0)
            q[j], r[j] = add(q[j], r[j], high, low)
        for c in range(start[i], start[i + 1]):
            s, w = where[c], change[c]
            a, b, q, r = sums[0, s, k], sums[1, s, k], squares[0, s], squares[1, s]
            for j in range(x.size):
                v = x[j] - origin[j]
                high = v * v
                low = fma(v, v, -high)
                first, second = multiply_double(v, 0.0, w)
                a[j], b[j] = add(a[j], b[j], first, second)
                first, second = multiply_double(high, low, w)
                q[j], r[j] = add(q[j], r[j], first, second)


@njit(cache=True, nogil=True)
def _add_whole(
    sums: FloatArray,
    squares: FloatArray,
    whole: NDArray[np.bool_],
    alone: NDArray[np.bool_],
) -> None:
    """Add the sums over all rows to the changes of each set that starts from them.

    `alone` says for which sets and features the difference has too few digits.
    """
    n_sets = whole.size
    for s in range(n_sets):
        if not whole[s]:
            continue
        for k in range(sums.shape[2]):
            for j in range(alone.shape[1]):
                a, b = add(
                    sums[0, s, k, j],
                    sums[1, s, k, j],
                    sums[0, n_sets, k, j],
                    sums[1, n_sets, k, j],
                )
                sums[0, s, k, j], sums[1, s, k, j] = a, b
        for j in range(alone.shape[1]):
            a, b = add(
                squares[0, s, j],
                squares[1, s, j],
                squares[0, n_sets, j],
                squares[1, n_sets, j],
            )
            squares[0, s, j], squares[1, s, j] = a, b
            alone[s, j] = a < MIN_SQUARES_SHARE * squares[0, n_sets, j]


@njit(cache=True, nogil=True)
def minus_mean_square(
    high: float, low: float, a: float, b: float, n: float
) -> tuple[float, float]:
    """Compute ``(high + low) − (a + b)² / n`` without cancellation."""
    a, b = normalize(a, b)
    p, q = square(a, b)
    p, q = divide_double(p, q, n)
    return add(high, low, -p, -q)


@njit(cache=True, nogil=True)
def _fill_variances(
    sums: FloatArray,
    squares: FloatArray,
    weight: FloatArray,
    within: FloatArray,
    between: FloatArray,
    against: FloatArray,
) -> None:
    """Fill `within`, `between` and, unless it is empty, `against` for a tile."""
    n_sets, n_classes = weight.shape
    for j in range(within.shape[0]):
        for s in range(n_sets):
            n = 0.0
            present = 0
            all_high, all_low = 0.0, 0.0
            high, low = squares[0, s, j], squares[1, s, j]
            in_high, in_low = high, low
            for k in range(n_classes):
                if weight[s, k] > 0:
                    present += 1
                    n += weight[s, k]
                    a, b = sums[0, s, k, j], sums[1, s, k, j]
                    all_high, all_low = add(all_high, all_low, a, b)
                    in_high, in_low = minus_mean_square(
                        in_high, in_low, a, b, weight[s, k]
                    )
            noise = PAIR_ROUNDING * n * high
            high, low = minus_mean_square(high, low, all_high, all_low, n)
            wss = in_high + in_low
            within[j, s] = wss if wss > noise else 0.0
            bss_high, bss_low = add(high, low, -in_high, -in_low)
            bss = bss_high + bss_low
            between[j, s] = bss if bss > noise else 0.0
            for k in range(against.shape[2]):
                m = weight[s, k]
                if between[j, s] == 0.0 or m == 0 or m == n:
                    against[j, s, k] = 0.0
                    continue
                if present == 2:
                    against[j, s, k] = between[j, s]
                    continue
                # The deviation of the class sum from its share of the whole sum.
                p, q = multiply_double(all_high, all_low, m)
                p, q = divide_double(p, q, n)
                p, q = add(sums[0, s, k, j], sums[1, s, k, j], -p, -q)
                d = p + q
                against[j, s, k] = d * d * n / (m * (n - m))


@njit(cache=True, nogil=True)
def _sum_stored_rows(
    values: Any,
    columns: Any,
    end: Any,
    y: IntArray,
    lo: int,
    sums: FloatArray,
    squares: FloatArray,
    count: IntArray,
) -> None:
    """Sum the features from `lo` on over the stored values of all rows.

    Row i has the values ``end[i]:end[i + 1]``; `count` is how many each feature has.
    """
    last, n_classes = squares.shape[1] - 1, sums.shape[2]
    # What is added to together stands together: the sums of a feature, its squares.
    own = np.zeros((count.size, 2 * n_classes + 2))
    q = 2 * n_classes
    for i in range(y.size):
        k = 2 * y[i]
        for t in range(end[i], end[i + 1]):
            j = int(columns[t]) - lo
            if j < 0 or j >= count.size:
                continue
            v, line = np.float64(values[t]), own[j]
            high = v * v
            low = fma(v, v, -high)
            line[k], line[k + 1] = add(line[k], line[k + 1], v, 0.0)
            line[q], line[q + 1] = add(line[q], line[q + 1], high, low)
            count[j] += 1
    for part in range(2):
        for j in range(count.size):
            squares[part, last, j] = own[j, q + part]
            for k in range(n_classes):
                sums[part, last, k, j] = own[j, 2 * k + part]


def _sum_csr(
    X: Any,
    lo: int,
    hi: int,
    y: IntArray,
    sets: TrainSets,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    """Fill the sums over all rows of features lo:hi of a CSR matrix."""
    count = np.zeros(hi - lo, dtype=np.intp)
    _sum_stored_rows(X.data, X.indices, X.indptr, y, lo, sums, squares, count)
    total = squares[0, -1]
    fits = (total > MIN_SQUARES) & (total < MAX_SQUARES)
    # Features with an origin, and those that are rescaled.
    apart = np.flatnonzero((count == len(y)) | ((count > 0) & ~fits))
    if apart.size:
        own, own_squares = (
            np.zeros_like(sums[..., apart]),
            np.zeros_like(squares[..., apart]),
        )
        part = _stored(X[:, lo + apart].tocsc(), 0, apart.size)
        changes = sets.start, sets.where, sets.change
        _sum_features(*part, y, *changes, own, own_squares)
        sums[..., apart], squares[..., apart] = own, own_squares


def tile_size(n_sets: int, n_classes: int) -> int:
    """Return how many features are summed at a time."""
    per_feature = 16 * (n_sets + 1) * (n_classes + 1)
    return max(MIN_TILE, min(MAX_TILE, SUMS_BYTES // per_feature))


def tile_variances(
    X: Any,
    lo: int,
    hi: int,
    y: IntArray,
    weight: FloatArray,
    sets: TrainSets,
    within: FloatArray,
    between: FloatArray,
    against: FloatArray,
) -> None:
    """Fill `within`, `between` and, unless it is empty, `against` of features lo:hi.

    Parameters
    ----------
    X : array, CSC or CSR matrix of shape (n, p)
        All features; the indices of a sparse matrix are sorted. CSR only where `sets`
        is the one of all rows.
    lo, hi : int
        The first feature of the tile, and the first one after it.
    y : int array of shape (n,)
        Class of each row.
    weight : array of shape (S, K)
        Weight of each class in each set.
    sets : TrainSets
        The training sets.
    within, between : arrays of shape (hi - lo, S)
        Sums of squares within classes and between class means.
    against : array of shape (hi - lo, S, K) or (hi - lo, S, 0)
        Sums of squares between each class and the others.
    """
    n_sets, n_classes = weight.shape
    sums = np.zeros((2, n_sets + 1, n_classes, hi - lo))
    squares = np.zeros((2, n_sets + 1, hi - lo))
    changes = sets.start, sets.where, sets.change
    if not sparse.issparse(X):
        _sum_tile(X[:, lo:hi], y, sets, sums, squares)
    elif X.format == "csr":
        _sum_csr(X, lo, hi, y, sets, sums, squares)
    else:
        _sum_features(*_stored(X, lo, hi), y, *changes, sums, squares)

    def stored(j: int) -> tuple[FloatArray, IntArray]:
        if sparse.issparse(X) and X.format == "csr":
            return _stored(X[:, [lo + j]].tocsc(), 0, 1)[:2]
        return _stored(X, lo + j, lo + j + 1)[:2]

    if not sparse.issparse(X):
        sum_extreme_features(sums, squares, y, sets, stored)
    finish_variances(sums, squares, y, weight, sets, stored, within, between, against)


def sum_extreme_features(
    sums: FloatArray,
    squares: FloatArray,
    y: IntArray,
    sets: TrainSets,
    stored: Callable[[int], tuple[FloatArray, IntArray]],
) -> None:
    """Sum features again whose squares overflow or underflow, after rescaling.

    Parameters
    ----------
    sums, squares : arrays
        As in the notation above, before changes and sums over all rows are added.
    y, sets
        As in `tile_variances`.
    stored : callable
        Returns the values of a feature, and their rows.
    """
    total = squares[0, -1]
    fits = (total > MIN_SQUARES) & (total < MAX_SQUARES)
    for j in np.flatnonzero(~fits).tolist():
        own, own_squares = np.zeros_like(sums[..., :1]), np.zeros_like(squares[..., :1])
        x, rows = stored(j)
        ends = np.array([0, x.size])
        changes = sets.start, sets.where, sets.change
        _sum_features(x, rows, ends, y, *changes, own, own_squares)
        sums[..., j], squares[..., j] = own[..., 0], own_squares[..., 0]


def finish_variances(
    sums: FloatArray,
    squares: FloatArray,
    y: IntArray,
    weight: FloatArray,
    sets: TrainSets,
    stored: Callable[[int], tuple[FloatArray, IntArray]],
    within: FloatArray,
    between: FloatArray,
    against: FloatArray,
) -> None:
    """Turn sums into variances; see `tile_variances` and `sum_extreme_features`."""
    n_sets, n_classes = weight.shape
    alone = np.zeros((n_sets, squares.shape[2]), dtype=np.bool_)
    _add_whole(sums, squares, sets.whole, alone)
    for s, j in np.argwhere(alone).tolist():
        x, rows = stored(j)
        if x.size == len(y):
            x -= exact_origin(x)
        own, own_squares = np.empty((2, n_classes)), np.empty(2)
        _sum_alone(x, rows, y, sets.counts[s], own, own_squares)
        sums[:, s, :, j], squares[:, s, j] = own, own_squares
    _fill_variances(sums, squares, weight, within, between, against)


def _sum_tile(
    X: Any, y: IntArray, sets: TrainSets, sums: FloatArray, squares: FloatArray
) -> None:
    """Add all rows of a tile of dense features, some rows at a time."""
    origin = _origins(X)
    step = max(1, ROWS_BYTES // (8 * X.shape[1]))
    for first in range(0, len(X), step):
        part = slice(first, first + step)
        block = np.ascontiguousarray(X[part], dtype=np.float64)
        start = sets.start[first : first + step + 1]
        _add_rows(block, origin, y[part], start, sets.where, sets.change, sums, squares)


def _origins(X: Any) -> FloatArray:
    """Return `exact_origin` of all rows, for each feature of a tile."""
    first = X[0].astype(np.float64)
    low, high = np.minimum(first / 2, 2 * first), np.maximum(first / 2, 2 * first)
    near = np.ones(len(first), dtype=np.bool_)
    step = 64
    begin = 1
    while begin < len(X) and near.any():  # most tiles have no such feature
        block = X[begin : begin + step]
        near &= (block >= low).all(axis=0) & (block <= high).all(axis=0)
        begin, step = begin + step, min(2 * step, 4096)
    return np.where(near, first, 0.0)


def _stored(X: Any, lo: int, hi: int) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the stored values of features lo:hi, their rows, and where each ends."""
    if not sparse.issparse(X):
        n = X.shape[0]
        rows = np.tile(np.arange(n), hi - lo)
        return column_block(X, lo, hi).ravel(), rows, np.arange(0, n * (hi - lo) + 1, n)
    return stored_values(X, lo, hi)


@njit(cache=True, nogil=True, error_model="numpy")
def fill_quick_ratios(
    squares: FloatArray,
    sums: FloatArray,
    all_squares: FloatArray,
    all_sums: FloatArray,
    values: FloatArray,
    y: IntArray,
    row_weight: FloatArray,
    firsts: IntArray,
    seconds: IntArray,
    neither: NDArray[np.bool_],
    weight: FloatArray,
    least_share: float,
    lo: int,
    out: FloatArray,
) -> None:
    """Fill F ratios of a block of features, NaN where digits were lost.

    Parameters
    ----------
    squares, sums : arrays of shape (H, B) and (K, H, B)
        Σ x² and Σ x of each class over the rows of some sets.
    all_squares, all_sums : arrays of shape (B,) and (K, B)
        The same over all rows.
    values : array of shape (n, B)
        x.
    y, row_weight : arrays of shape (n,)
        Class and weight of each row.
    firsts, seconds : int arrays of shape (H,)
        These sets, and for each the one whose sums are those of all rows minus its own,
        or −1.
    neither : array of shape (H, n)
        The rows that are in neither of the two.
    weight : array of shape (S, K)
        Weight of each class in each set.
    least_share : float
        Least sum of squares within classes, as a share of those that it is the
        difference of.
    lo : int
        The first feature of the block.
    out : array of shape (S, p)
        The result, of which ``lo:lo + B`` are filled.
    """
    n_classes, width = sums.shape[0], values.shape[1]
    total, between = np.empty(width), np.empty(width)
    rest, rest_squares = np.empty((n_classes, 1, width)), np.empty(width)
    for h in range(firsts.size):
        s = firsts[h]
        _fill_quick_ratio(
            squares[h], sums, h, squares[h], weight[s], least_share, total, between,
            out[s, lo : lo + width],
        )  # fmt: skip
        s = seconds[h]
        if s < 0:
            continue
        for j in range(width):
            rest_squares[j] = all_squares[j] - squares[h, j]
        for k in range(n_classes):
            own, left, every = sums[k, h], rest[k, 0], all_sums[k]
            for j in range(width):
                left[j] = every[j] - own[j]
        for i in range(y.size):
            if neither[h, i]:
                x, w, own = values[i], row_weight[i], rest[y[i], 0]
                for j in range(width):
                    own[j] -= w * x[j]
                    rest_squares[j] -= w * x[j] * x[j]
        _fill_quick_ratio(
            rest_squares, rest, 0, all_squares, weight[s], least_share, total, between,
            out[s, lo : lo + width],
        )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def _fill_quick_ratio(
    squares: FloatArray,
    sums: FloatArray,
    h: int,
    minuend: FloatArray,
    weight: FloatArray,
    least_share: float,
    total: FloatArray,
    between: FloatArray,
    out: FloatArray,
) -> None:
    """Fill `out` with F ratios in one set; squares are differences from `minuend`."""
    n, present = weight.sum(), 0
    total[:] = 0.0
    between[:] = 0.0
    for k in range(weight.size):
        if weight[k] > 0:
            present += 1
            own, share = sums[k, h], 1.0 / weight[k]
            for j in range(total.size):
                total[j] += own[j]
                between[j] += own[j] * own[j] * share
    degrees = (n - present) / (present - 1)
    for j in range(total.size):
        within = squares[j] - between[j]
        ratio = (between[j] - total[j] * total[j] / n) / within * degrees
        out[j] = ratio if within >= least_share * minuend[j] else np.nan

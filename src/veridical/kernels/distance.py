"""Manhattan distances between samples: numbers by range, categories by equality.

Two kinds: quick ones in single or double precision with a bound on their error, for all
pairs; and exact ones in double precision, for the few pairs that quick ones leave open.

| symbol  | meaning                                                         | shape  |
|---------|-----------------------------------------------------------------|--------|
| X       | numeric features without missing values                         | (n, p) |
| Z       | samples scaled to differences of at most 1, in the precision of | (m, q) |
|         | D; zeros fill the last columns up to a multiple of `WIDTH`      |        |
| sums    | Σ of a row of Z, in the precision of the sums of minima         | (m,)   |
| rows    | which rows of X (or of `base`) the rows of Z are                | (m,)   |
| low     | least value of a feature                                        | (p,)   |
| centre  | a value in the middle of a feature                              | (p,)   |
| inverse | 1 / range of a feature, 0 for a constant one                    | (p,)   |
| factor  | factor of differences in a feature                              | (p,)   |
| n_vals  | number of categories of a feature, 0 for a numeric one          | (p,)   |
| D       | distances                                                       | (m, m) |

Quick distances use ``|a − b| = a + b − 2 min(a, b)``: the sums of rows are known, so a
pair costs a minimum and a fused multiply–add, which processors compute in parallel,
whereas difference, absolute value and sum depend on each other.

Tall tables with few features have coarse distances: scaled values are rounded to whole
numbers up to `LEVELS`, of which a register holds twice as many. Their error is larger,
so that more pairs need an exact distance.

There are two ways to all distances. `sum_pairs` computes each pair once, and a register
holds features of one pair: for wide tables, whose distances fit into memory.
`sum_rows` computes distances of some samples to all, and a register holds pairs: for
tall tables, and where few distances are wanted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.threads import run_jobs, spans

#: Quick distances, and what they are summed from: single or double precision.
QuickArray = NDArray[np.float32 | np.float64]
Precision = type[np.float32] | type[np.float64]
#: What quick and coarse distances are summed from.
ScaledArray = NDArray[np.float32 | np.float64 | np.uint16]

ROWS = 4  # rows whose distances to two others are summed in one loop
WIDTH = 16  # numbers that the widest registers hold
TILE = 256  # features of a sum; longer sums have larger rounding errors
STRIP_BYTES = 1 << 18  # values of some samples that stay in the second-level cache
MIN_STRIP, MAX_STRIP = 64, 1024  # number of these samples
STEP = 4096  # samples that are scaled at a time
# Largest whole number of a scaled value in coarse distances, and features of a sum.
LEVELS, COARSE_TILE = 2047, 32

_FAST_SUMS = {"reassoc", "contract", "nsz"}


class Scaled(NamedTuple):
    """Scaled samples, Σ z, and of their rows the largest Σ |z| and Σ of roundings."""

    Z: ScaledArray
    sums: QuickArray
    largest_size: float
    largest_rounding: float


def coarse_error(n_columns: int, largest_rounding: float) -> float:
    """Bound the error of a coarse distance by what rounding changed in two samples."""
    rounding = float(np.finfo(np.float32).eps)
    return 2 * (largest_rounding / LEVELS + n_columns * rounding)


def error_bound(
    n_columns: int,
    largest_size: float,
    largest: float,
    precision: Precision = np.float32,
) -> float:
    """Bound the error of a quick distance of up to `largest`.

    The error of a scaled value is half a unit in its last place. That of a sum of m
    terms is at most m half units of the sum of their absolute values, which are
    ``2 |min(a, b)| ≤ |a| + |b| + |a − b|``. Sums over tiles are added in double
    precision.
    """
    within = (min(n_columns, TILE) + 8) * float(np.finfo(precision).eps) / 2
    beyond = n_columns / TILE * float(np.finfo(np.float64).eps) / 2
    return (within + beyond) * (2 * largest_size + largest)


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _scale_rows(
    X: Any,
    rows: IntArray,
    centre: FloatArray,
    factor: FloatArray,
    offset: float,
    lo: int,
    hi: int,
    Z: ScaledArray,
    sums: QuickArray,
    sizes: FloatArray,
    roundings: FloatArray,
) -> None:
    p = X.shape[1]
    for i in range(lo, hi):
        x, z = X[rows[i]], Z[i]
        rounding = 0.0
        for c in range(p):
            shift = np.float64(x[c]) - centre[c]
            value = shift * factor[c] if factor[c] > 0 else 0.0
            z[c] = value + offset
            rounding += abs(value - np.float64(z[c]))
        z[p:] = 0
        total, size = 0.0, 0.0
        for c in range(p):
            total += z[c]
            size += abs(z[c])
        sums[i], sizes[i], roundings[i] = total, size, rounding


def _aligned(n_rows: int, width: int, precision: type) -> ScaledArray:
    """Allocate rows that begin with a cache line, so that no register spans two."""
    room: ScaledArray = np.empty(n_rows * width + 4 * WIDTH, dtype=precision)
    skip = -room.ctypes.data % (4 * WIDTH) // room.itemsize
    return room[skip : skip + n_rows * width].reshape(n_rows, width)


def scale_samples(
    X: Any,
    rows: IntArray,
    centre: FloatArray,
    factor: FloatArray,
    n_threads: int,
    precision: Precision | type[np.uint16] = np.float32,
) -> Scaled:
    """Compute ``(X[rows] - centre) * factor`` in the given precision.

    Whole numbers are rounded, and must not be negative.
    """
    m, width = len(rows), -(-X.shape[1] // WIDTH) * WIDTH
    Z = _aligned(m, width, precision)
    sums, (sizes, roundings) = np.empty(m, _sum_type(precision)), np.empty((2, m))
    fixed = X, rows, centre, factor, 0.5 if precision is np.uint16 else 0.0
    results = Z, sums, sizes, roundings
    pieces = spans(m, n_threads, 64)
    run_jobs(_scale_rows, [(*fixed, *piece, *results) for piece in pieces], n_threads)
    largest = float(sizes.max(initial=0.0)), float(roundings.max(initial=0.0))
    return Scaled(Z, sums, *largest)


def _sum_type(precision: type) -> Precision:
    """Return the type of sums; whole numbers up to 2^24 are exact in single one."""
    return np.float32 if precision is np.uint16 else np.float64


@njit(cache=True, nogil=True, fastmath=_FAST_SUMS, inline="always")
def _add_minima(
    a: QuickArray,
    b: QuickArray,
    c: QuickArray,
    d: QuickArray,
    y: QuickArray,
    z: QuickArray,
    minus_two: float,
    out: FloatArray,
    j: int,
) -> None:
    """Add ``-2 Σ min`` of four rows and of `y` and `z` to rows j and j + 1 of `out`."""
    ay = by = cy = dy = minus_two - minus_two  # in the precision of the rows
    az = bz = cz = dz = minus_two - minus_two
    for t in range(z.size):
        ay += minus_two * (a[t] if a[t] < y[t] else y[t])
        by += minus_two * (b[t] if b[t] < y[t] else y[t])
        cy += minus_two * (c[t] if c[t] < y[t] else y[t])
        dy += minus_two * (d[t] if d[t] < y[t] else y[t])
        az += minus_two * (a[t] if a[t] < z[t] else z[t])
        bz += minus_two * (b[t] if b[t] < z[t] else z[t])
        cz += minus_two * (c[t] if c[t] < z[t] else z[t])
        dz += minus_two * (d[t] if d[t] < z[t] else z[t])
    out[j, 0] += ay
    out[j, 1] += by
    out[j, 2] += cy
    out[j, 3] += dy
    out[j + 1, 0] += az
    out[j + 1, 1] += bz
    out[j + 1, 2] += cz
    out[j + 1, 3] += dz


@njit(cache=True, nogil=True, fastmath=_FAST_SUMS)
def sum_pairs_by_tiles(
    Z: QuickArray,
    rows: IntArray,
    factor: QuickArray,
    minus_two: float,
    D: QuickArray,
) -> float:
    """Fill D with ``Σ factor |Z[rows[i]] - Z[rows[j]]|``, and return the largest Σ |z|.

    Values of a tile of features are multiplied by their factors first, and stay in the
    second-level cache while all pairs are summed. The rounding error of a value is then
    three halves of a unit in its last place.

    Parameters
    ----------
    Z : array of shape (n, q)
        All samples, from `scale_samples`.
    rows : int array of shape (m,)
        The samples to compare.
    factor : array of shape (q,)
        A factor for each feature, in the precision of Z.
    minus_two : float
        −2 in this precision.
    D : array of shape (m, m)
        The result.
    """
    m, p = rows.size, Z.shape[1]
    scaled = np.empty((m, TILE), dtype=Z.dtype)
    sums, sizes = np.zeros(m), np.zeros(m)
    total = np.zeros((-(-m // ROWS), m + 1, ROWS))  # there may be no second j
    for f in range(0, p, TILE):
        width = min(TILE, p - f)
        for i in range(m):
            x, w, z = (
                Z[rows[i], f : f + width],
                factor[f : f + width],
                scaled[i, :width],
            )
            for t in range(width):
                z[t] = x[t] * w[t]
            part, size = 0.0, 0.0
            for t in range(width):
                part += z[t]
                size += abs(z[t])
            sums[i] += part
            sizes[i] += size
        for first in range(0, m, ROWS):
            a, b = scaled[first, :width], scaled[min(first + 1, m - 1), :width]
            c = scaled[min(first + 2, m - 1), :width]
            d = scaled[min(first + 3, m - 1), :width]
            out = total[first // ROWS]
            for j in range(first + 1, m, 2):
                y, z = scaled[j, :width], scaled[min(j + 1, m - 1), :width]
                _add_minima(a, b, c, d, y, z, minus_two, out, j)
    for i in range(m):
        D[i, i] = 0.0
        for j in range(i + 1, m):
            D[i, j] = sums[i] + sums[j] + total[i // ROWS, j, i % ROWS]
            D[j, i] = D[i, j]
    return sizes.max()


@njit(cache=True, nogil=True, fastmath=_FAST_SUMS)
def _sum_pairs(
    Z: QuickArray,
    sums: FloatArray,
    minus_two: float,
    base: QuickArray,
    rows: IntArray,
    lo: int,
    hi: int,
    D: QuickArray,
) -> None:
    m, p = Z.shape
    total = np.empty((m + 1, ROWS))  # one more row: there may be no second j
    for first in range(lo, hi, ROWS):
        total[first:] = 0.0
        for f in range(0, p, TILE):
            g = min(f + TILE, p)
            a = Z[first, f:g]
            b = Z[min(first + 1, m - 1), f:g]
            c = Z[min(first + 2, m - 1), f:g]
            d = Z[min(first + 3, m - 1), f:g]
            for j in range(first + 1, m, 2):
                y, z = Z[j, f:g], Z[min(j + 1, m - 1), f:g]
                _add_minima(a, b, c, d, y, z, minus_two, total, j)
        for i in range(first, min(first + ROWS, hi)):
            known, sums_i, out = base[rows[i]], total[:, i - first], D[i]
            out[i] = known[rows[i]]
            for j in range(i + 1, m):
                out[j] = known[rows[j]] + (sums[i] + sums[j] + sums_i[j])
        # The other half of D is written one cache line at a time.
        for j in range(first + 1, m):
            for i in range(first, min(first + ROWS, hi, j)):
                D[j, i] = D[i, j]


def sum_pairs(
    scaled: Scaled,
    base: QuickArray,
    rows: IntArray,
    D: QuickArray,
    pieces: list[tuple[int, int]],
    n_threads: int,
) -> None:
    """Fill ``D[i, j] = base[rows[i], rows[j]] + Σ |Z[i] - Z[j]|``, and ``D[j, i]``.

    `pieces` are the runs of rows i to work on; each takes all j ≥ i.
    """
    minus_two = scaled.Z.dtype.type(-2.0)
    fixed = scaled.Z, scaled.sums, minus_two, base, rows
    run_jobs(_sum_pairs, [(*fixed, *piece, D) for piece in pieces], n_threads)


def scale_columns(
    X: Any,
    rows: IntArray,
    centre: FloatArray,
    factor: FloatArray,
    n_threads: int,
    precision: Precision | type[np.uint16] = np.float32,
) -> Scaled:
    """Compute the same with one feature per row; zeros fill up the last four rows."""
    m, p = len(rows), X.shape[1]
    Z: ScaledArray = np.zeros((-(-p // 4) * 4, m), dtype=precision)
    sums, largest = np.empty(m, _sum_type(precision)), np.zeros(2)
    for lo in range(0, m, STEP):
        part = slice(lo, lo + STEP)
        some = scale_samples(X, rows[part], centre, factor, n_threads, precision)
        Z[:p, part], sums[part] = some.Z[:, :p].T, some.sums
        largest = np.maximum(largest, some[2:])
    return Scaled(Z, sums, *largest.tolist())


@njit(cache=True, nogil=True, fastmath=_FAST_SUMS)
def _sum_rows(
    own: ScaledArray,
    own_sums: QuickArray,
    Z: ScaledArray,
    sums: QuickArray,
    unit: float,
    minus_two: float,
    tile: int,
    total: QuickArray,
    D: QuickArray,
) -> None:
    p, m = Z.shape
    width = total.shape[1]
    n = own_sums.size
    dtype = Z.dtype
    strip = np.zeros((p, width), dtype=dtype)
    a, b, c, d = (
        np.empty(width, dtype=dtype),
        np.empty(width, dtype=dtype),
        np.empty(width, dtype=dtype),
        np.empty(width, dtype=dtype),
    )
    for lo in range(0, m, width):
        size = min(width, m - lo)
        for f in range(p):
            source, target = Z[f, lo : lo + size], strip[f]
            for t in range(size):
                target[t] = source[t]
        for first in range(0, n, ROWS):
            total[:] = 0
            # Rows after the last one repeat it.
            ya, yb = own[first], own[min(first + 1, n - 1)]
            yc, yd = own[min(first + 2, n - 1)], own[min(first + 3, n - 1)]
            for g in range(0, p, tile):
                a[:] = 0
                b[:] = 0
                c[:] = 0
                d[:] = 0
                for f in range(g, min(g + tile, p), 4):
                    # Four features at a time: each sum is read and written once.
                    z0, z1, z2, z3 = strip[f], strip[f + 1], strip[f + 2], strip[f + 3]
                    a0, a1, a2, a3 = ya[f], ya[f + 1], ya[f + 2], ya[f + 3]
                    b0, b1, b2, b3 = yb[f], yb[f + 1], yb[f + 2], yb[f + 3]
                    c0, c1, c2, c3 = yc[f], yc[f + 1], yc[f + 2], yc[f + 3]
                    d0, d1, d2, d3 = yd[f], yd[f + 1], yd[f + 2], yd[f + 3]
                    for t in range(width):
                        x0, x1, x2, x3 = z0[t], z1[t], z2[t], z3[t]
                        a[t] += ((a0 if a0 < x0 else x0) + (a1 if a1 < x1 else x1)) + (
                            (a2 if a2 < x2 else x2) + (a3 if a3 < x3 else x3)
                        )
                        b[t] += ((b0 if b0 < x0 else x0) + (b1 if b1 < x1 else x1)) + (
                            (b2 if b2 < x2 else x2) + (b3 if b3 < x3 else x3)
                        )
                        c[t] += ((c0 if c0 < x0 else x0) + (c1 if c1 < x1 else x1)) + (
                            (c2 if c2 < x2 else x2) + (c3 if c3 < x3 else x3)
                        )
                        d[t] += ((d0 if d0 < x0 else x0) + (d1 if d1 < x1 else x1)) + (
                            (d2 if d2 < x2 else x2) + (d3 if d3 < x3 else x3)
                        )
                for t in range(width):
                    total[0, t] += a[t]
                    total[1, t] += b[t]
                    total[2, t] += c[t]
                    total[3, t] += d[t]
            for i in range(first, min(first + ROWS, n)):
                out, least = D[i, lo : lo + size], total[i - first]
                all_sums, own_sum = sums[lo : lo + size], own_sums[i]
                for t in range(size):
                    out[t] = unit * (own_sum + all_sums[t] + minus_two * least[t])


def sum_rows(own: Scaled, columns: Scaled, D: QuickArray) -> None:
    """Fill D with the distances of some samples to all, of shape (n, m).

    Parameters
    ----------
    own : Scaled
        The samples, from `scale_samples`.
    columns : Scaled
        All samples, from `scale_columns`.
    D : array of shape (n, m)
        The result.
    """
    Z, coarse = columns.Z, columns.Z.dtype == np.uint16
    room = STRIP_BYTES // (len(Z) * Z.itemsize + 1)
    width = min(max(room // MIN_STRIP * MIN_STRIP, MIN_STRIP), MAX_STRIP)
    unit, tile = (1.0 / LEVELS, COARSE_TILE) if coarse else (1.0, TILE)
    total = np.empty((ROWS, width), dtype=_sum_type(Z.dtype.type))
    factors = total.dtype.type(unit), total.dtype.type(-2)
    _sum_rows(own.Z, own.sums, Z, columns.sums, *factors, tile, total, D)


@njit(cache=True, nogil=True, fastmath=_FAST_SUMS)
def numeric_distance(X: Any, i: int, j: int, inverse: FloatArray) -> float:
    """Compute the exact distance of two rows over complete numeric features."""
    a, b = X[i], X[j]
    total = 0.0
    for c in range(a.size):
        total += abs(np.float64(a[c]) - np.float64(b[c])) * inverse[c]
    return total


@njit(cache=True, nogil=True)
def value_difference(
    a: float, b: float, low: float, inverse: float, n_vals: int
) -> float:
    """Compute the difference of two values of a feature; NaN is missing.

    Weka's rules: a missing number is as far as it can be from the known one; a missing
    category differs with the probability of a random one.
    """
    if n_vals > 0:
        if np.isnan(a) or np.isnan(b):
            return 1.0 - 1.0 / n_vals
        return 0.0 if a == b else 1.0
    if inverse == 0.0:
        return 0.0
    if np.isnan(a):
        if np.isnan(b):
            return 1.0
        a, b = b, a
    if np.isnan(b):
        x = (a - low) * inverse
        return max(x, 1.0 - x)
    return abs(a - b) * inverse


@njit(cache=True, nogil=True)
def mixed_distance(
    X: FloatArray,
    i: int,
    j: int,
    low: FloatArray,
    inverse: FloatArray,
    n_vals: IntArray,
) -> float:
    """Compute the exact distance of two rows as a sum of `value_difference`."""
    total = 0.0
    for c in range(X.shape[1]):
        total += value_difference(X[i, c], X[j, c], low[c], inverse[c], n_vals[c])
    return total


@njit(cache=True, nogil=True)
def add_mixed_rows(
    X: FloatArray,
    rows: IntArray,
    here: IntArray,
    low: FloatArray,
    inverse: FloatArray,
    n_vals: IntArray,
    D: QuickArray,
) -> None:
    """Add the distances of the samples `here` to all, over the same features.

    Sample j is row ``rows[j]`` of X.
    """
    for i in range(here.size):
        out, own = D[i], rows[here[i]]
        for j in range(rows.size):
            out[j] += mixed_distance(X, own, rows[j], low, inverse, n_vals)


@njit(cache=True, nogil=True)
def _add_mixed(
    X: FloatArray,
    low: FloatArray,
    inverse: FloatArray,
    n_vals: IntArray,
    sign: float,
    lo: int,
    hi: int,
    D: FloatArray,
) -> None:
    # The diagonal too: in a feature whose value is missing, a row drawn twice differs
    # from its copy as from any other row.
    for i in range(lo, hi):
        for j in range(i, X.shape[0]):
            D[i, j] += sign * mixed_distance(X, i, j, low, inverse, n_vals)
            D[j, i] = D[i, j]


def add_mixed(
    X: FloatArray,
    low: FloatArray,
    inverse: FloatArray,
    n_vals: IntArray,
    D: FloatArray,
    n_threads: int,
    sign: float = 1.0,
) -> None:
    """Add (or subtract) distances over categorical or incomplete features."""
    n = len(X)
    jobs = [
        (X, low, inverse, n_vals, sign, lo, min(lo + 8, n), D) for lo in range(0, n, 8)
    ]
    run_jobs(_add_mixed, jobs, n_threads)

"""Sums and squares per class, and the variances between and within classes.

For a target of numbers the variances explained by a straight line take the place of
those between classes: *between* is the sum of squares of the fitted values, *within*
that of the residuals.

| symbol  | meaning                                          | shape     |
|---------|--------------------------------------------------|-----------|
| columns | a block of features, one per row                 | (B, n)    |
| y       | class of each row, 0..K-1                        | (n,)      |
| sums    | Σ x over the rows of class k in set s, as a pair | (S, K, 2) |
| squares | Σ x² over the rows of set s, as a pair           | (S, 2)    |
| weight  | weight of class k in set s                       | (S, K)    |
| counts  | how often row i occurs in set s                  | (S, n)    |
| within  | Σ (x − mean of its class)², WSS                  | (B, S)    |
| between | Σ (mean of its class − mean)², BSS               | (B, S)    |
| against | the same for class k against the rest, BSS_k     | (B, S, K) |
| z       | target of numbers of each row                    | (n,)      |
| joint   | Σ x and Σ x z over the rows of set s, as pairs   | (S, 2, 2) |
| z_sums  | Σ z and Σ z² over the rows of set s, as pairs    | (S, 2, 2) |
| alone   | set s takes its sums over its own rows           | (S,)      |
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.exact import (
    add,
    divide_double,
    divide_pairs,
    fma,
    multiply,
    multiply_double,
    normalize,
    square,
)

# Sum of squares per sample, relative to Σ x²; below it the sum is rounding, and zero.
PAIR_ROUNDING = 2.0**-96

# Σ x² of a set as a share of that of all rows; below it (an outlier is left out, say)
# the difference has too few digits, and the set is summed by itself.
MIN_SQUARES_SHARE = 2.0**-8

# Absolute value; features with a larger one, or all below its inverse, are rescaled,
# because squares would overflow or lose digits.
MAX_SIZE = 2.0**400


@njit(cache=True, nogil=True)
def _origin(x: FloatArray) -> float:
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
def _rescale(x: FloatArray) -> None:
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
    y: IntArray,
    count: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    """Sum one feature for one training set, over its own rows only."""
    own = x.copy()
    for i in range(x.size):
        if count[i] == 0:
            own[i] = 0.0
    _rescale(own)
    sums[:] = 0.0
    squares[:] = 0.0
    for i in range(x.size):
        v, k, w = own[i], y[i], count[i]
        if w == 0:
            continue
        p, q = multiply_double(v, 0.0, w)
        a, b = add(sums[k, 0], sums[k, 1], p, q)
        sums[k, 0], sums[k, 1] = a, b
        high = v * v
        p, q = multiply_double(high, fma(v, v, -high), w)
        a, b = add(squares[0], squares[1], p, q)
        squares[0], squares[1] = a, b


@njit(cache=True, nogil=True)
def _moments(
    raw: FloatArray,
    y: IntArray,
    counts: FloatArray,
    whole: NDArray[np.bool_],
    start: IntArray,
    where: IntArray,
    change: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
) -> None:
    """Sum one feature for every training set; the last row is for all rows."""
    n_sets = whole.size
    x = raw.copy()
    _rescale(x)
    sums[:] = 0.0
    squares[:] = 0.0
    for i in range(x.size):
        v, k = x[i], y[i]
        high = v * v
        low = fma(v, v, -high)
        a, b = add(sums[n_sets, k, 0], sums[n_sets, k, 1], v, 0.0)
        sums[n_sets, k, 0], sums[n_sets, k, 1] = a, b
        a, b = add(squares[n_sets, 0], squares[n_sets, 1], high, low)
        squares[n_sets, 0], squares[n_sets, 1] = a, b
        for c in range(start[i], start[i + 1]):
            s, w = where[c], change[c]
            p, q = multiply_double(v, 0.0, w)
            a, b = add(sums[s, k, 0], sums[s, k, 1], p, q)
            sums[s, k, 0], sums[s, k, 1] = a, b
            p, q = multiply_double(high, low, w)
            a, b = add(squares[s, 0], squares[s, 1], p, q)
            squares[s, 0], squares[s, 1] = a, b
    for s in range(n_sets):
        if whole[s]:
            for k in range(sums.shape[1]):
                a, b = add(
                    sums[s, k, 0],
                    sums[s, k, 1],
                    sums[n_sets, k, 0],
                    sums[n_sets, k, 1],
                )
                sums[s, k, 0], sums[s, k, 1] = a, b
            a, b = add(
                squares[s, 0], squares[s, 1], squares[n_sets, 0], squares[n_sets, 1]
            )
            squares[s, 0], squares[s, 1] = a, b
            if squares[s, 0] < MIN_SQUARES_SHARE * squares[n_sets, 0]:
                _sum_alone(raw, y, counts[s], sums[s], squares[s])


@njit(cache=True, nogil=True)
def _minus_mean_square(
    high: float, low: float, a: float, b: float, n: float
) -> tuple[float, float]:
    """Compute ``(high + low) − (a + b)² / n`` without cancellation."""
    a, b = normalize(a, b)
    p, q = square(a, b)
    p, q = divide_double(p, q, n)
    return add(high, low, -p, -q)


@njit(cache=True, nogil=True)
def block_variances(
    columns: FloatArray,
    y: IntArray,
    weight: FloatArray,
    counts: FloatArray,
    whole: NDArray[np.bool_],
    start: IntArray,
    where: IntArray,
    change: FloatArray,
    within: FloatArray,
    between: FloatArray,
    against: FloatArray,
) -> None:
    """Fill `within`, `between` and, unless it is empty, `against` for a block."""
    n_sets, n_classes = weight.shape
    sums = np.empty((n_sets + 1, n_classes, 2))
    squares = np.empty((n_sets + 1, 2))
    for j in range(columns.shape[0]):
        x = columns[j] - _origin(columns[j])
        _moments(x, y, counts, whole, start, where, change, sums, squares)
        for s in range(n_sets):
            n = 0.0
            present = 0
            all_high, all_low = 0.0, 0.0
            high, low = squares[s, 0], squares[s, 1]
            in_high, in_low = high, low
            for k in range(n_classes):
                if weight[s, k] > 0:
                    present += 1
                    n += weight[s, k]
                    a, b = sums[s, k, 0], sums[s, k, 1]
                    all_high, all_low = add(all_high, all_low, a, b)
                    in_high, in_low = _minus_mean_square(
                        in_high, in_low, a, b, weight[s, k]
                    )
            noise = PAIR_ROUNDING * n * high
            high, low = _minus_mean_square(high, low, all_high, all_low, n)
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
                p, q = add(sums[s, k, 0], sums[s, k, 1], -p, -q)
                d = p + q
                against[j, s, k] = d * d * n / (m * (n - m))


# -- targets of numbers --------------------------------------------------------------


@njit(cache=True, nogil=True)
def centre_target(z: FloatArray) -> FloatArray:
    """Shift and scale a target without rounding, so that its products are exact."""
    centred = z - _origin(z)
    _rescale(centred)
    return centred


@njit(cache=True, nogil=True)
def _add_row(v: float, z: float, w: float, joint: FloatArray, squares: Any) -> None:
    """Add a row of weight w to the sums of x, x z and x²."""
    p, q = multiply_double(v, 0.0, w)
    joint[0, 0], joint[0, 1] = add(joint[0, 0], joint[0, 1], p, q)
    high = v * z
    p, q = multiply_double(high, fma(v, z, -high), w)
    joint[1, 0], joint[1, 1] = add(joint[1, 0], joint[1, 1], p, q)
    high = v * v
    p, q = multiply_double(high, fma(v, v, -high), w)
    squares[0], squares[1] = add(squares[0], squares[1], p, q)


@njit(cache=True, nogil=True)
def _joint_alone(
    x: FloatArray, z: FloatArray, count: FloatArray, joint: FloatArray, squares: Any
) -> None:
    """Sum one feature and the target over the rows of one training set only."""
    own = np.where(count > 0, x, 0.0)
    _rescale(own)
    joint[:] = 0.0
    squares[:] = 0.0
    for i in range(x.size):
        if count[i] != 0:
            _add_row(own[i], z[i], count[i], joint, squares)


@njit(cache=True, nogil=True)
def _joint_moments(
    raw: FloatArray,
    z: FloatArray,
    counts: FloatArray,
    whole: NDArray[np.bool_],
    start: IntArray,
    where: IntArray,
    change: FloatArray,
    alone: NDArray[np.bool_],
    joint: FloatArray,
    squares: FloatArray,
) -> None:
    """Sum one feature and the target for every set; the last row is for all rows."""
    n_sets = whole.size
    x = raw.copy()
    _rescale(x)
    joint[:] = 0.0
    squares[:] = 0.0
    for i in range(x.size):
        _add_row(x[i], z[i], 1.0, joint[n_sets], squares[n_sets])
        for c in range(start[i], start[i + 1]):
            _add_row(x[i], z[i], change[c], joint[where[c]], squares[where[c]])
    for s in range(n_sets):
        if whole[s]:
            for k in range(2):
                joint[s, k, 0], joint[s, k, 1] = add(
                    joint[s, k, 0],
                    joint[s, k, 1],
                    joint[n_sets, k, 0],
                    joint[n_sets, k, 1],
                )
            squares[s, 0], squares[s, 1] = add(
                squares[s, 0], squares[s, 1], squares[n_sets, 0], squares[n_sets, 1]
            )
            if alone[s] or squares[s, 0] < MIN_SQUARES_SHARE * squares[n_sets, 0]:
                _joint_alone(raw, z, counts[s], joint[s], squares[s])


@njit(cache=True, nogil=True)
def target_sums(z: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the sums of the target and of its squares in every set, as pairs."""
    result = np.zeros((counts.shape[0], 2, 2))
    for s in range(counts.shape[0]):
        for i in range(z.size):
            p, q = multiply_double(z[i], 0.0, counts[s, i])
            result[s, 0, 0], result[s, 0, 1] = add(
                result[s, 0, 0], result[s, 0, 1], p, q
            )
            high = z[i] * z[i]
            p, q = multiply_double(high, fma(z[i], z[i], -high), counts[s, i])
            result[s, 1, 0], result[s, 1, 1] = add(
                result[s, 1, 0], result[s, 1, 1], p, q
            )
    return result


@njit(cache=True, nogil=True)
def block_regressions(
    columns: FloatArray,
    z: FloatArray,
    z_sums: FloatArray,
    weight: FloatArray,
    counts: FloatArray,
    whole: NDArray[np.bool_],
    start: IntArray,
    where: IntArray,
    change: FloatArray,
    alone: NDArray[np.bool_],
    within: FloatArray,
    between: FloatArray,
) -> None:
    """Fill `within` and `between` for a block of features and a target of numbers.

    `weight` is the sum of the weights of each set, shape (S, 1).
    """
    n_sets = weight.shape[0]
    joint, squares = np.empty((n_sets + 1, 2, 2)), np.empty((n_sets + 1, 2))
    for j in range(columns.shape[0]):
        x = columns[j] - _origin(columns[j])
        _joint_moments(
            x, z, counts, whole, start, where, change, alone, joint, squares
        )
        for s in range(n_sets):
            n = weight[s, 0]
            a, b = normalize(joint[s, 0, 0], joint[s, 0, 1])
            c, d = normalize(z_sums[s, 0, 0], z_sums[s, 0, 1])
            high, low = _minus_mean_square(squares[s, 0], squares[s, 1], a, b, n)
            noise = PAIR_ROUNDING * n * squares[s, 0]
            spread = high + low
            z_high, z_low = _minus_mean_square(
                z_sums[s, 1, 0], z_sums[s, 1, 1], c, d, n
            )
            z_spread = z_high + z_low
            within[j, s], between[j, s] = 0.0, 0.0
            if spread <= noise or z_spread <= 0.0:
                within[j, s] = spread if spread > noise else 0.0
                continue
            p, q = multiply(a, b, c, d)
            p, q = divide_double(p, q, n)
            p, q = add(joint[s, 1, 0], joint[s, 1, 1], -p, -q)
            p, q = normalize(p, q)
            if abs(p) <= PAIR_ROUNDING * n * np.sqrt(squares[s, 0] * z_sums[s, 1, 0]):
                within[j, s] = spread
                continue
            p, q = square(p, q)
            p, q = divide_pairs(p, q, *normalize(z_high, z_low))
            left_high, left_low = add(high, low, -p, -q)
            left = left_high + left_low
            # The target's own rounding, larger where its mean is far from zero.
            noise *= z_sums[s, 1, 0] / z_spread
            within[j, s] = left if left > noise else 0.0
            between[j, s] = p + q

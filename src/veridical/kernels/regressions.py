"""Straight lines between features and a target of numbers: sums of squares.

What `veridical.kernels.moments` computes for classes, for numbers: *between* is the sum
of squares of the fitted values of a straight line, *within* that of its residuals.

| symbol  | meaning                                        | shape     |
|---------|------------------------------------------------|-----------|
| columns | a block of features, one per row               | (B, n)    |
| z       | target of each row                             | (n,)      |
| joint   | Σ x and Σ x z over the rows of set s, as pairs | (S, 2, 2) |
| squares | Σ x² over the rows of set s, as a pair         | (S, 2)    |
| z_sums  | Σ z and Σ z² over the rows of set s, as pairs  | (S, 2, 2) |
| weight  | Σ of the weights of the rows of set s          | (S, 1)    |
| counts  | how often row i occurs in set s                | (S, n)    |
| alone   | set s takes its sums over its own rows         | (S,)      |
| within  | Σ (x − fitted x)²                              | (B, S)    |
| between | Σ (fitted x − mean)²                           | (B, S)    |

`joint` and `squares` have one more set, the last, which holds every row once. The line
is that of x on z; the correlation is the same either way.
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
    multiply_double,
    multiply_pairs,
    normalize,
    square,
)
from veridical.kernels.moments import (
    MIN_SQUARES_SHARE,
    PAIR_ROUNDING,
    exact_origin,
    minus_mean_square,
    rescale,
)


@njit(cache=True, nogil=True)
def centre_target(z: FloatArray) -> FloatArray:
    """Shift and scale a target without rounding, so that its products are exact."""
    centred = z - exact_origin(z)
    rescale(centred)
    return centred


@njit(cache=True, nogil=True)
def _add_to_sums(v: float, z: float, w: float, joint: FloatArray, squares: Any) -> None:
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
    rescale(own)
    joint[:] = 0.0
    squares[:] = 0.0
    for i in range(x.size):
        if count[i] != 0:
            _add_to_sums(own[i], z[i], count[i], joint, squares)


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
    rescale(x)
    joint[:] = 0.0
    squares[:] = 0.0
    for i in range(x.size):
        _add_to_sums(x[i], z[i], 1.0, joint[n_sets], squares[n_sets])
        for c in range(start[i], start[i + 1]):
            _add_to_sums(x[i], z[i], change[c], joint[where[c]], squares[where[c]])
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
        x = columns[j] - exact_origin(columns[j])
        _joint_moments(x, z, counts, whole, start, where, change, alone, joint, squares)
        for s in range(n_sets):
            n = weight[s, 0]
            a, b = normalize(joint[s, 0, 0], joint[s, 0, 1])
            c, d = normalize(z_sums[s, 0, 0], z_sums[s, 0, 1])
            high, low = minus_mean_square(squares[s, 0], squares[s, 1], a, b, n)
            noise = PAIR_ROUNDING * n * squares[s, 0]
            spread = high + low
            z_high, z_low = minus_mean_square(z_sums[s, 1, 0], z_sums[s, 1, 1], c, d, n)
            z_spread = z_high + z_low
            within[j, s], between[j, s] = 0.0, 0.0
            if spread <= noise or z_spread <= 0.0:
                within[j, s] = spread if spread > noise else 0.0
                continue
            p, q = multiply_pairs(a, b, c, d)
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

"""Interior points in a box: the dual of the ordinary support vector machine.

    min  ½ aᵀPa − gᵀa   with   0 ≤ a ≤ c,  yᵀa = 0

This is a program of `veridical.kernels.interior`, whose variables are the multipliers
and the bias, the multiplier of ``yᵀa = 0``; its constraints are the bounds.

P is ``Q + E Eᵀ``, where either part may be empty: where the rank of the samples is
small, their features are in E, and a step costs O(n rank²); otherwise their inner
products are in Q, and a step costs O(n³).

| symbol | meaning                                                     | shape    |
|--------|-------------------------------------------------------------|----------|
| y      | class of each sample, +1 or −1                              | (n,)     |
| a      | multipliers                                                 | (n,)     |
| c      | their upper bounds                                          | (n,)     |
| g      | linear part of the objective; 1 for a classifier            | (n,)     |
| Q      | inner products times the classes, or empty                  | (n, n)   |
| T      | rows of Eᵀ; the last row is y, and not part of P            | (m, n)   |
| s      | distances from the bounds: a, and then c − a                | (2n,)    |
| z      | multipliers of ``a ≥ 0``, the surplus of a sample over its  | (2n,)    |
|        | margin, and of ``a ≤ c``, its hinge loss                    |          |
| w      | weights ``Eᵀa``, and the bias                               | (m,)     |
| theta  | inverse of the curvature that the bounds add                | (n,)     |
| M      | ``Q + 1/theta``                                             | (n, n)   |
| N      | T M⁻¹                                                       | (m, n)   |
| H      | ``N Tᵀ`` plus 1 for every weight                            | (m, m)   |

References
----------
.. [1] M. C. Ferris & T. S. Munson, "Interior-point methods for massive support vector
   machines", SIAM Journal on Optimization 13 (2002).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.duality import LAST_GAP, MAX_RESIDUAL, ROUGH_GAP
from veridical.kernels.interior import (
    certify,
    divide,
    factor_newton,
    factor_upper,
    follow_path,
    measure_residuals,
    multiply,
    multiply_transposed,
    multiply_upper,
    solve_newton,
)
from veridical.kernels.products import Gram

#: Rank as a share of the samples; from it on, inner products replace features.
_FULL_RANK = 0.7
_EMPTY = np.empty((0, 0))


class Box(NamedTuple):
    """A problem, and room for its Newton equations; see the notation above.

    M and H are there by their factors.
    """

    Q: FloatArray
    T: FloatArray
    c: FloatArray
    gain: FloatArray
    theta: FloatArray
    M: FloatArray
    N: FloatArray
    H: FloatArray


@measure_residuals.register(Box)
def _measure(
    box: Box,
    x: FloatArray,
    s: FloatArray,
    z: FloatArray,
    dual: FloatArray,
    primal: FloatArray,
) -> float:
    m, n = box.T.shape
    a, b = x[:n], x[n]
    w = np.dot(box.T, a)
    imbalance = w[m - 1]
    w[m - 1] = b
    part = dual[:n]
    if box.Q.size > 0:
        np.dot(box.Q, a, part)
    else:
        part[:] = 0.0
    for j in range(m):
        weight, row = w[j], box.T[j]
        for i in range(n):
            part[i] += weight * row[i]
    value = 0.5 * b * imbalance
    for i in range(n):
        value += (0.5 * part[i] - box.gain[i]) * a[i]
        part[i] -= box.gain[i] + z[i] - z[n + i]
        primal[i] = a[i] - s[i]
        primal[n + i] = box.c[i] - a[i] - s[n + i]
    dual[n] = imbalance
    return value


@certify.register(Box)
def _certify(box: Box, z: FloatArray) -> float:
    return 1.0  # a = 0 meets all constraints


@factor_newton.register(Box)
def _factor_newton(box: Box, s: FloatArray, z: FloatArray) -> None:
    m, n = box.T.shape
    theta, M, N, H = box.theta, box.M, box.N, box.H
    for i in range(n):
        theta[i] = 1.0 / (z[i] / s[i] + z[n + i] / s[n + i])
    if M.size > 0:
        for i in range(n):
            for j in range(i, n):
                M[i, j] = box.Q[i, j]
            M[i, i] += 1.0 / theta[i]
        factor_upper(M)
    for j in range(m):
        features, row = box.T[j], N[j]
        for i in range(n):
            row[i] = features[i] if M.size > 0 else features[i] * theta[i]
        if M.size > 0:
            divide(M, row)
    multiply_upper(N, box.T, H)
    for k in range(m - 1):
        H[k, k] += 1.0
    factor_upper(H)


@solve_newton.register(Box)
def _solve_newton(box: Box, r: FloatArray, dx: FloatArray) -> None:
    m, n = box.N.shape
    da = dx[:n]
    for i in range(n):
        da[i] = r[i]
    change = np.dot(box.N, da)
    change[m - 1] -= r[n]
    divide(box.H, change)
    if box.M.size > 0:
        divide(box.M, da)
    else:
        for i in range(n):
            da[i] *= box.theta[i]
    for j in range(m):
        weight, row = change[j], box.N[j]
        for i in range(n):
            da[i] -= weight * row[i]
    dx[n] = change[m - 1]


@multiply.register(Box)
def _multiply(box: Box, x: FloatArray, product: FloatArray) -> None:
    n = x.size - 1
    for i in range(n):
        product[i] = x[i]
        product[n + i] = -x[i]


@multiply_transposed.register(Box)
def _multiply_transposed(box: Box, z: FloatArray, product: FloatArray) -> None:
    n = product.size - 1
    for i in range(n):
        product[i] = z[i] - z[n + i]
    product[n] = 0.0


@njit(cache=True, nogil=True)
def _follow_box(
    Q: FloatArray,
    T: FloatArray,
    c: FloatArray,
    gain: FloatArray,
    longest: float,
    max_gap: float,
    max_residual: float,
) -> tuple[FloatArray, FloatArray, bool]:
    """Follow the central path from small multipliers.

    Returns s and z of its best point, and whether that is near enough to the optimum.
    `longest` is the squared length of the longest sample.
    """
    m, n = T.shape
    x, s, z = np.zeros(n + 1), np.empty(2 * n), np.ones(2 * n)
    for i in range(n):
        x[i] = min(0.5 * c[i], 1.0 / max(longest, 1e-300))
        s[i], s[n + i] = x[i], c[i] - x[i]
    box = Box(
        Q, T, c, gain, np.empty(n), np.empty(Q.shape), np.empty((m, n)),
        np.empty((m, m)),
    )  # fmt: skip
    point = follow_path(box, x, s, z, max_gap, max_residual)
    return point.s, point.z, point.error <= max_gap


# -- problems ------------------------------------------------------------------------


def solve_box(
    gram: Gram,
    Z: FloatArray,
    y: FloatArray,
    c: FloatArray,
    tolerance: float = ROUGH_GAP,
    cost: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Solve the dual of a support vector machine: a, its multipliers, slacks.

    The multipliers of ``a ≥ 0`` are the surplus of samples over their margin. `Z` is a
    factor of the Gram matrix; `cost` is the linear part of the objective, −1 by
    default.
    """
    n = len(y)
    if isinstance(gram, np.ndarray) and _is_full(*Z.shape):
        Q, T = gram * np.multiply.outer(y, y), y[None].copy()
    else:
        Q, T = _EMPTY, np.ascontiguousarray(np.vstack([Z.T * y, y]))
    gain = np.ones(n) if cost is None else -cost
    longest = float(gram.diagonal().max())
    s, z, _ = _follow_box(Q, T, c, gain, longest, tolerance, tolerance)
    return s[:n], z[:n], z[n:]


def fit_hinge(X: FloatArray, s: FloatArray, C: float) -> tuple[FloatArray, float, bool]:
    """Compute weights and intercept of the linear support vector machine.

    Minimizes ``½ |w|² + C Σ max(0, 1 − s (X w + b))``. The weights are unique; where
    the intercept is not, it is the middle of what is possible. Both classes must be
    there.

    Returns
    -------
    weights, intercept, and whether they are a solution
        They are not where the products of the samples, times C, are so large that
        rounding hides the margin.
    """
    n, d = X.shape
    T, mean, longest = _center_and_sign(X, s)
    signed = T[:d]
    Q, rows = (signed.T @ signed, T[d:]) if _is_full(n, d) else (_EMPTY, T)
    bounds, _, found = _follow_box(
        Q, rows, np.full(n, C), np.ones(n), longest, LAST_GAP, MAX_RESIDUAL
    )
    w = signed @ bounds[:n]
    return w, _find_intercept(s * (w @ signed), s) - float(mean @ w), found


def _is_full(n: int, rank: int) -> bool:
    """Return whether a step with inner products is faster than with features."""
    return rank >= _FULL_RANK * n


@njit(cache=True, nogil=True)
def _center_and_sign(
    X: FloatArray, s: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Compute T, the means of the features, and the longest squared length.

    The intercept includes the means; products become smaller.
    """
    n, d = X.shape
    T, mean = np.empty((d + 1, n)), np.zeros(d)
    for i in range(n):
        for j in range(d):
            mean[j] += X[i, j] / n
    longest = 0.0
    for i in range(n):
        square = 0.0
        for j in range(d):
            centred = X[i, j] - mean[j]
            T[j, i] = s[i] * centred
            square += centred**2
        T[d, i] = s[i]
        longest = max(longest, square)
    return T, mean, longest


def _find_intercept(margin: FloatArray, s: FloatArray) -> float:
    """Find the intercept that costs least for given ``X w``.

    The sum of the hinges is piecewise linear in b with a corner for every sample at
    ``s − margin``. Its derivative starts at minus the number of positive samples and
    rises by one at each corner, so it is zero between the corners of that rank and the
    next; the middle is taken, as libsvm does. (`veridical.kernels.duality.bias_of`
    needs multipliers at their bounds, where those of interior points never are.)
    """
    corners = np.sort(s - margin)
    n_positive = int(np.count_nonzero(s > 0))
    return 0.5 * float(corners[n_positive - 1] + corners[n_positive])

"""Interior points in a box: the dual of the ordinary support vector machine.

    min  ½ aᵀPa − gᵀa   with   0 ≤ a ≤ c,  yᵀa = 0

This is the method of `veridical.kernels.interior.follow`, with its length of steps and
its centring, for constraints that are bounds of the variables. It is compiled as a
whole, because most problems of this library are small: with some dozen samples the
calls of numpy would take up to a hundred times as long as the computation.

P is ``Q + E Eᵀ``, where either part may be empty: where the rank of the samples is
small, their features are in E, and a step costs O(n rank²); otherwise their inner
products are in Q, and a step costs O(n³).

Loops are written out, because numba compiles them in a third of the time that it takes
for expressions of arrays.

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
| w      | weights ``Eᵀa``, and the intercept                          | (m,)     |
| theta  | inverse of the curvature that the bounds add                | (n,)     |
| M      | ``Q + 1/theta``                                             | (n, n)   |
| N      | T M⁻¹                                                       | (m, n)   |
| H      | ``N Tᵀ`` plus 1 for every weight                            | (m, m)   |

References
----------
.. [1] S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM
   Journal on Optimization 2 (1992).
.. [2] M. C. Ferris & T. S. Munson, "Interior-point methods for massive support vector
   machines", SIAM Journal on Optimization 13 (2002).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.duality import LAST_GAP, MAX_RESIDUAL, MAX_STEPS, ROUGH_GAP
from veridical.kernels.interior import (
    MIN_STEP_SIZE,
    MIN_VALUE,
    has_stalled,
    next_mean,
    step_inside,
)

#: Rows that are factored before others are updated by a product of matrices: as many
#: as a fast cache holds, and as many as make copies rare.
_BLOCK, _LARGE_BLOCK = 32, 256
#: Rank as a share of the samples; from it on, inner products replace features.
_FULL_RANK = 0.7
_EMPTY = np.empty((0, 0))
#: Square root of a pivot that rounding made negative: its variable is not changed.
_NO_PIVOT = 1e100


class Box(NamedTuple):
    """A problem; see the notation above."""

    Q: FloatArray
    T: FloatArray
    c: FloatArray
    gain: FloatArray


class Newton(NamedTuple):
    """Newton equations at a point; see the notation above.

    M and H are there by their factors; `dual` is the residual of every sample, and
    `inverse` is 1/s.
    """

    dual: FloatArray
    inverse: FloatArray
    theta: FloatArray
    M: FloatArray
    N: FloatArray
    H: FloatArray


# -- linear algebra ------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _factor(H: FloatArray) -> None:
    """Replace the upper half of a matrix by its Cholesky factor U, ``UᵀU = H``."""
    m = H.shape[0]
    for first in range(0, m, _BLOCK):
        last = min(first + _BLOCK, m)
        # Subtract what the rows of U above have added to these rows: for the rows of a
        # large block at once, and then for those of a block.
        for top, end in (
            (0, min(first + _LARGE_BLOCK, m) if first % _LARGE_BLOCK == 0 else first),
            (first - first % _LARGE_BLOCK, last),
        ):
            if top == first or end == first:
                continue
            above = np.ascontiguousarray(H[top:first, first:])
            part = np.ascontiguousarray(above[:, : end - first])
            product = np.dot(part.T, above)
            for k in range(end - first):
                row, products = H[first + k, first:], product[k]
                for i in range(k, row.size):
                    row[i] -= products[i]
        for k in range(first, last):
            root = np.sqrt(H[k, k]) if H[k, k] > 0.0 else _NO_PIVOT
            row = H[k, k:]
            for i in range(row.size):
                row[i] /= root
            row[0] = root
            for j in range(k + 1, last):
                weight, shorter, other = H[k, j], H[k, j:], H[j, j:]
                for i in range(other.size):
                    other[i] -= weight * shorter[i]


@njit(cache=True, nogil=True)
def _divide(U: FloatArray, x: FloatArray) -> None:
    """Replace x by the solution of ``UᵀU x = x``."""
    m = x.size
    for k in range(m):
        x[k] /= U[k, k]
        value, row, rest = x[k], U[k, k + 1 :], x[k + 1 :]
        for i in range(rest.size):
            rest[i] -= value * row[i]
    for k in range(m - 1, -1, -1):
        value, row, rest = x[k], U[k, k + 1 :], x[k + 1 :]
        for i in range(rest.size):
            value -= row[i] * rest[i]
        x[k] = value / U[k, k]


@njit(cache=True, nogil=True)
def _multiply(T: FloatArray, w: FloatArray, result: FloatArray) -> None:
    """Add ``Tᵀ w`` to the result."""
    for j in range(w.size):
        weight, row = w[j], T[j]
        for i in range(result.size):
            result[i] += weight * row[i]


@njit(cache=True, nogil=True)
def _factor_newton(box: Box, s: FloatArray, z: FloatArray, newton: Newton) -> None:
    """Write the Newton equations at a point, but for the residuals."""
    m, n = box.T.shape
    _, inverse, theta, M, N, H = newton
    for i in range(2 * n):
        inverse[i] = 1.0 / s[i]
    upper, upper_z = inverse[n:], z[n:]
    for i in range(n):
        theta[i] = 1.0 / (z[i] * inverse[i] + upper_z[i] * upper[i])
    if M.size > 0:
        for i in range(n):
            for j in range(i, n):
                M[i, j] = box.Q[i, j]
            M[i, i] += 1.0 / theta[i]
        _factor(M)
    for j in range(m):
        features, row = box.T[j], N[j]
        for i in range(n):
            row[i] = features[i] if M.size > 0 else features[i] * theta[i]
        if M.size > 0:
            _divide(M, row)
    for first in range(0, m, _BLOCK):
        last = min(first + _BLOCK, m)
        product = np.dot(N[first:last], box.T[first:].T)
        for k in range(first, last):
            row, products = H[k, k:], product[k - first, k - first :]
            for i in range(row.size):
                row[i] = products[i]
            row[0] += 1.0 if k < m - 1 else 0.0
    _factor(H)


# -- the central path ----------------------------------------------------------------


@njit(cache=True, nogil=True)
def _find_direction(
    newton: Newton,
    imbalance: float,
    z: FloatArray,
    target: FloatArray,
    ds: FloatArray,
    dz: FloatArray,
) -> float:
    """Solve the Newton equations for ``z Δs + s Δz = target``.

    Writes Δs and Δz; returns the change of the intercept.
    """
    m, n = newton.N.shape
    inverse, dual, da = newton.inverse, newton.dual, ds[:n]
    upper, upper_target, upper_ds = inverse[n:], target[n:], ds[n:]
    for i in range(n):
        da[i] = target[i] * inverse[i] - upper_target[i] * upper[i] - dual[i]
    change = np.dot(newton.N, da)
    change[m - 1] += imbalance
    _divide(newton.H, change)
    if newton.M.size > 0:
        _divide(newton.M, da)
    else:
        for i in range(n):
            da[i] *= newton.theta[i]
    for j in range(m):
        weight, row = change[j], newton.N[j]
        for i in range(n):
            da[i] -= weight * row[i]
    for i in range(n):
        upper_ds[i] = -da[i]
    for i in range(2 * n):
        dz[i] = (target[i] - z[i] * ds[i]) * inverse[i]
    return float(change[m - 1])


@njit(cache=True, nogil=True)
def _measure(
    box: Box, b: float, s: FloatArray, z: FloatArray, dual: FloatArray
) -> tuple[float, float, float]:
    """Compute relative gap, largest residual and imbalance; write the residuals."""
    m, n = box.T.shape
    a = s[:n]
    w = np.dot(box.T, a)
    imbalance = w[m - 1]
    w[m - 1] = b
    if box.Q.size > 0:
        np.dot(box.Q, a, dual)
    else:
        dual[:] = 0.0
    _multiply(box.T, w, dual)
    value, gap, residual, top = 0.5 * b * imbalance, 0.0, abs(imbalance), 0.0
    upper, upper_z = s[n:], z[n:]
    for i in range(n):
        value += (0.5 * dual[i] - box.gain[i]) * a[i]
        gap += a[i] * z[i] + upper[i] * upper_z[i]
        dual[i] -= box.gain[i] + z[i] - upper_z[i]
        residual = max(residual, abs(dual[i]))
        top = max(top, z[i], upper_z[i])
    return gap / max(abs(value), 1e-300), residual / top, imbalance


@njit(cache=True, nogil=True)
def _follow_box(
    box: Box, longest: float, max_gap: float, max_residual: float
) -> tuple[FloatArray, FloatArray, bool]:
    """Follow the central path from small multipliers.

    Returns s and z of its best point, and whether that is near enough to the optimum.
    `longest` is the squared length of the longest sample.
    """
    m, n = box.T.shape
    s, z, best_s, best_z = (
        np.empty(2 * n),
        np.ones(2 * n),
        np.empty(2 * n),
        np.empty(2 * n),
    )
    for i in range(n):
        s[i] = min(0.5 * box.c[i], 1.0 / max(longest, 1e-300))
        s[n + i] = box.c[i] - s[i]
    target, ds, dz = np.empty(2 * n), np.empty(2 * n), np.empty(2 * n)
    newton = Newton(
        np.empty(n),
        np.empty(2 * n),
        np.empty(n),
        np.empty(box.Q.shape),
        np.empty((m, n)),
        np.empty((m, m)),
    )
    b, best, best_step = 0.0, np.inf, 0
    for step in range(MAX_STEPS):
        gap, residual, imbalance = _measure(box, b, s, z, newton.dual)
        error = max(gap, residual * max_gap / max_residual)
        if error < 0.9 * best or step == 0:
            best, best_step = error, step
            for i in range(2 * n):
                best_s[i], best_z[i] = s[i], z[i]
        stalled = has_stalled(best, step - best_step)
        if error <= max_gap or stalled or not np.isfinite(error):
            break
        _factor_newton(box, s, z, newton)
        for i in range(2 * n):
            target[i] = -s[i] * z[i]
        _find_direction(newton, imbalance, z, target, ds, dz)
        mean = next_mean(s, z, ds, dz)
        for i in range(2 * n):
            target[i] = mean - s[i] * z[i] - ds[i] * dz[i]
        db = _find_direction(newton, imbalance, z, target, ds, dz)
        step_size = step_inside(s, z, ds, dz)
        if not step_size > MIN_STEP_SIZE:
            break
        b += step_size * db
        for i in range(2 * n):
            s[i] = max(s[i] + step_size * ds[i], MIN_VALUE)
            z[i] = max(z[i] + step_size * dz[i], MIN_VALUE)
    return best_s, best_z, best <= max_gap


# -- problems ------------------------------------------------------------------------


def solve_box(
    gram: FloatArray,
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
    if _is_full(*Z.shape):
        Q, T = gram * np.multiply.outer(y, y), y[None].copy()
    else:
        Q, T = _EMPTY, np.ascontiguousarray(np.vstack([Z.T * y, y]))
    gain = np.ones(n) if cost is None else -cost
    longest = float(np.diag(gram).max())
    s, z, _ = _follow_box(Box(Q, T, c, gain), longest, tolerance, tolerance)
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
    box = Box(Q, rows, np.full(n, C), np.ones(n))
    bounds, _, found = _follow_box(box, longest, LAST_GAP, MAX_RESIDUAL)
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

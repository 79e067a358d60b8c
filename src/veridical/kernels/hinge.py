"""The linear support vector machine by an interior point method.

A path through the inside of the box of multipliers leads to the solution in ten to
twenty Newton steps, whatever the data; each costs a matrix of the size of the number of
columns. That suits the many small fits of a study: the time hardly varies, and the
answer does not depend on where one starts.

| symbol | meaning                                                      | shape  |
|--------|--------------------------------------------------------------|--------|
| X      | cases                                                        | (n, d) |
| s      | class of each case, +1 or −1                                 | (n,)   |
| C      | largest multiplier                                           |        |
| a, u   | multipliers, ``0 < a < C`` on the way, and ``C − a``         | (n,)   |
| z, v   | multipliers of ``a ≥ 0`` and of ``a ≤ C``; v is the hinge    | (n,)   |
|        | loss of a case, z how far it lies behind its margin          |        |
| w, b   | weights ``Σ s a x`` and intercept                            | (d,)   |
| mu     | mean of the products ``a z`` and ``u v``; 0 at the end       |        |
| theta  | inverse of the curvature that the box adds                   | (n,)   |

References
----------
.. [1] S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM
   Journal on Optimization 2 (1992).
.. [2] M. C. Ferris & T. S. Munson, "Interior-point methods for massive support vector
   machines", SIAM Journal on Optimization 13 (2002).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from veridical._records import FloatArray

#: The path ends where mu, as a share of C, is below. Further on rounding wins: the
#: curvatures of free and of bounded multipliers differ by the square of its inverse.
TOLERANCE = 1e-11
#: By then no case may be off its margin, nor the multipliers off balance, by more.
_FEASIBLE = 1e-6
MOST_STEPS = 60
#: How far towards the wall a step may go.
_NEARLY = 0.9995


@njit(cache=True, nogil=True)
def _largest_step(a: float, change: float, so_far: float) -> float:
    """Shorten a step so that a positive number stays positive."""
    return min(so_far, -a / change) if change < 0 else so_far


@njit(cache=True, nogil=True)
def _direction(
    X: FloatArray,
    s: FloatArray,
    theta: FloatArray,
    factor: FloatArray,
    target: FloatArray,
    balance: float,
) -> tuple[FloatArray, float]:
    """Solve the Newton system: the change of the multipliers and of the intercept.

    ``(Q + 1/theta) da + s db = target`` and ``Σ s da = balance``, where ``Q`` is
    ``s sᵀ ∘ X Xᵀ``; `factor` is a Cholesky factor of the reduced matrix.
    """
    n, d = X.shape
    pull = theta * s * target
    right = np.empty(d + 1)
    right[:d] = np.dot(pull, X)
    right[d] = pull.sum() - balance
    for i in range(d + 1):
        total = right[i]
        for j in range(i):
            total -= factor[i, j] * right[j]
        right[i] = total / factor[i, i]
    for i in range(d, -1, -1):
        total = right[i]
        for j in range(i + 1, d + 1):
            total -= factor[j, i] * right[j]
        right[i] = total / factor[i, i]
    da = np.dot(X, right[:d])
    for i in range(n):
        da[i] = theta[i] * (target[i] - s[i] * (da[i] + right[d]))
    return da, float(right[d])


@njit(cache=True, nogil=True)
def _factorize(X: FloatArray, theta: FloatArray) -> FloatArray:
    """Cholesky factor of ``[1, X]ᵀ theta [1, X]`` plus 1 for every weight."""
    n, d = X.shape
    scaled = np.empty((d, n))
    for i in range(n):
        for j in range(d):
            scaled[j, i] = X[i, j] * theta[i]
    matrix = np.empty((d + 1, d + 1))
    matrix[:d, :d] = np.dot(scaled, X)
    for j in range(d):
        matrix[j, j] += 1.0
        matrix[d, j] = scaled[j].sum()
    matrix[d, d] = theta.sum()
    for j in range(d + 1):
        for k in range(j):
            matrix[j, j] -= matrix[j, k] ** 2
        # What rounding makes negative is nothing beside its column: leave it alone.
        matrix[j, j] = np.sqrt(matrix[j, j]) if matrix[j, j] > 0.0 else 1e100
        for i in range(j + 1, d + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total / matrix[j, j]
    return matrix


@njit(cache=True, nogil=True)
def _intercept(margin: FloatArray, s: FloatArray) -> float:
    """Find the intercept that costs least for given ``X w``.

    The sum of the hinges is piecewise linear in b with a corner for every case at
    ``s − margin``. Its slope starts at minus the number of positive cases and rises by
    one at each corner, so it is zero between the corners of that rank and the next; we
    take the middle, as libsvm does.
    """
    corners = np.sort(s - margin)
    n_positive = 0
    for value in s:
        n_positive += value > 0
    return 0.5 * (corners[n_positive - 1] + corners[n_positive])


@njit(cache=True, nogil=True)
def fit_hinge(X: FloatArray, s: FloatArray, C: float) -> tuple[FloatArray, float]:
    """Weights and intercept of the linear support vector machine.

    Minimizes ``½ |w|² + C Σ max(0, 1 − s (X w + b))``. The weights are unique; where
    the intercept is not, it is the middle of what is possible. Both classes must be
    there.
    """
    n = s.size
    a, u = np.full(n, 0.5 * C), np.full(n, 0.5 * C)
    z, v = np.ones(n), np.ones(n)
    w, b = np.dot(s * a, X), 0.0
    theta, target = np.empty(n), np.empty(n)
    dz, dv = np.empty(n), np.empty(n)
    for _ in range(MOST_STEPS):
        margin = np.dot(X, w)
        mu, worst = 0.0, 0.0
        balance = 0.0
        for i in range(n):
            mu += a[i] * z[i] + u[i] * v[i]
            balance -= s[i] * a[i]
            theta[i] = 1.0 / (z[i] / a[i] + v[i] / u[i])
            worst = max(worst, abs(1.0 + z[i] - v[i] - s[i] * (margin[i] + b)))
        mu /= 2 * n
        if mu <= TOLERANCE * C and max(worst, abs(balance) / C) <= _FEASIBLE:
            break
        factor = _factorize(X, theta)
        # First straight at the solution, to see how far that goes.
        for i in range(n):
            target[i] = 1.0 - s[i] * (margin[i] + b)
        da, db = _direction(X, s, theta, factor, target, balance)
        step = 1.0
        for i in range(n):
            dz[i] = -z[i] - z[i] * da[i] / a[i]
            dv[i] = -v[i] + v[i] * da[i] / u[i]
            step = _largest_step(a[i], da[i], step)
            step = _largest_step(u[i], -da[i], step)
            step = _largest_step(z[i], dz[i], step)
            step = _largest_step(v[i], dv[i], step)
        ahead = 0.0
        for i in range(n):
            ahead += (a[i] + step * da[i]) * (z[i] + step * dz[i])
            ahead += (u[i] - step * da[i]) * (v[i] + step * dv[i])
        aim = mu * (ahead / (2 * n * mu)) ** 3
        # Then with what is known about the bend of the path.
        for i in range(n):
            dz[i] = aim - da[i] * dz[i]  # what a z should change by, plus a z
            dv[i] = aim + da[i] * dv[i]
            target[i] += dz[i] / a[i] - dv[i] / u[i]
        da, db = _direction(X, s, theta, factor, target, balance)
        step = 1.0 / _NEARLY
        for i in range(n):
            dz[i] = (dz[i] - z[i] * da[i]) / a[i] - z[i]
            dv[i] = (dv[i] + v[i] * da[i]) / u[i] - v[i]
            step = _largest_step(a[i], da[i], step)
            step = _largest_step(u[i], -da[i], step)
            step = _largest_step(z[i], dz[i], step)
            step = _largest_step(v[i], dv[i], step)
        step *= _NEARLY
        for i in range(n):
            a[i] += step * da[i]
            u[i] -= step * da[i]
            z[i] += step * dz[i]
            v[i] += step * dv[i]
        b += step * db
        w = np.dot(s * a, X)
    return w, _intercept(np.dot(X, w), s)

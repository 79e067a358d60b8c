"""The linear support vector machine by interior points, for many small fits.

This is the compiled form of `veridical.kernels.interior.solve_box`: ten to twenty steps
of Mehrotra's predictor and corrector in the box of multipliers, each with a matrix of
the size of the number of features. It stands beside the engine because with some dozen
samples that takes up to a hundred times as long, most of it in calls of numpy; the two
share step length, centring and the tolerances of `veridical.kernels.duality`. Where it
ends without a solution, `veridical.kernels.svm.solve_svm` is the next solver.

| symbol | meaning                                                   | shape  |
|--------|-----------------------------------------------------------|--------|
| X      | samples                                                   | (n, d) |
| s      | class of each sample, +1 or −1                            | (n,)   |
| C      | largest multiplier                                        |        |
| a, u   | multipliers, ``0 < a < C`` on the way, and ``C − a``      | (n,)   |
| z, v   | multipliers of ``a ≥ 0`` and of ``a ≤ C``; v is the hinge | (n,)   |
|        | loss of a sample, z its surplus over the margin           |        |
| w, b   | weights ``Σ s a x`` and intercept                         | (d,)   |
| mu     | mean of the products ``a z`` and ``u v``; 0 at the end    |        |
| theta  | inverse of the curvature that the box adds                | (n,)   |

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
from veridical.kernels.duality import FEW_STEPS, LAST_GAP, MAX_RESIDUAL
from veridical.kernels.interior import limit_step, next_mean

#: Share of the step to the nearest bound; variables stay inside the bounds.
_STEP_SHARE = 0.9995


class _Point(NamedTuple):
    """A point on the central path; see the notation above."""

    a: FloatArray
    u: FloatArray
    z: FloatArray
    v: FloatArray


class _Direction(NamedTuple):
    """A search direction; u changes by −a."""

    a: FloatArray
    z: FloatArray
    v: FloatArray


@njit(cache=True, nogil=True)
def _newton_direction(
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
    weighted = theta * s * target
    right = np.empty(d + 1)
    right[:d] = np.dot(weighted, X)
    right[d] = weighted.sum() - balance
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
    """Factor ``[1, X]ᵀ theta [1, X]`` plus 1 for every weight, by Cholesky."""
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
        # A pivot that rounding made negative is zero; its variable is not changed.
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

    The sum of the hinges is piecewise linear in b with a corner for every sample at
    ``s − margin``. Its derivative starts at minus the number of positive samples and
    rises by one at each corner, so it is zero between the corners of that rank and the
    next; the middle is taken, as libsvm does. (`veridical.kernels.duality.bias_of`
    needs multipliers at their bounds, where those of interior points never are.)
    """
    corners = np.sort(s - margin)
    n_positive = 0
    for value in s:
        n_positive += value > 0
    return 0.5 * (corners[n_positive - 1] + corners[n_positive])


@njit(cache=True, nogil=True)
def _longest_step(point: _Point, change: _Direction, step: float) -> float:
    """Return the longest step before a bound is met."""
    step = limit_step(point.a, change.a, 1.0, step)
    step = limit_step(point.u, change.a, -1.0, step)
    step = limit_step(point.z, change.z, 1.0, step)
    return limit_step(point.v, change.v, 1.0, step)


@njit(cache=True, nogil=True)
def _start(X: FloatArray, s: FloatArray, C: float) -> _Point:
    """Return a start inside the bounds, with small weights."""
    n = s.size
    longest = 0.0
    for i in range(n):
        longest = max(longest, np.sum(X[i] ** 2))
    a = np.full(n, min(0.5 * C, 1.0 / max(longest, 1e-300)))
    return _Point(a, C - a, np.ones(n), np.ones(n))


@njit(cache=True, nogil=True)
def _target_mu(point: _Point, change: _Direction, step: float, mu: float) -> float:
    """Choose the next mu from that after the predictor step."""
    predicted = 0.0
    for i in range(point.a.size):
        predicted += (point.a[i] + step * change.a[i]) * (
            point.z[i] + step * change.z[i]
        )
        predicted += (point.u[i] - step * change.a[i]) * (
            point.v[i] + step * change.v[i]
        )
    return next_mean(mu, predicted / (2 * point.a.size))


@njit(cache=True, nogil=True)
def _move(point: _Point, change: _Direction, step: float) -> None:
    for i in range(point.a.size):
        point.a[i] += step * change.a[i]
        point.u[i] -= step * change.a[i]
        point.z[i] += step * change.z[i]
        point.v[i] += step * change.v[i]


@njit(cache=True, nogil=True)
def _newton(
    X: FloatArray, s: FloatArray, point: _Point, residual: FloatArray, mu: float
) -> float:
    """Take one Newton step; return the change of the intercept.

    `residual` is the residual of each margin, ``1 − s (X w + b)``.
    """
    a, u, z, v = point
    theta = 1.0 / (z / a + v / u)
    factor = _factorize(X, theta)
    balance = -np.sum(s * a)
    # Predictor: towards the solution.
    da, db = _newton_direction(X, s, theta, factor, residual, balance)
    predictor = _Direction(da, -z - z * da / a, -v + v * da / u)
    step = _longest_step(point, predictor, 1.0)
    target_mu = _target_mu(point, predictor, step, mu)
    # Corrector: with the curvature of the path.
    rz, rv = target_mu - da * predictor.z, target_mu + da * predictor.v
    da, db = _newton_direction(X, s, theta, factor, residual + rz / a - rv / u, balance)
    change = _Direction(da, (rz - z * da) / a - z, (rv + v * da) / u - v)
    step = min(1.0, _STEP_SHARE * _longest_step(point, change, 1.0 / _STEP_SHARE))
    _move(point, change, step)
    return step * db


@njit(cache=True, nogil=True)
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
    centre = np.empty(d)
    for j in range(d):
        centre[j] = X[:, j].mean()
    X = X - centre  # the intercept includes it; products become smaller
    point = _start(X, s, C)
    w, b = np.dot(s * point.a, X), 0.0
    found = False
    for _ in range(FEW_STEPS):
        residual = 1.0 - s * (np.dot(X, w) + b)
        mu = (np.sum(point.a * point.z) + np.sum(point.u * point.v)) / (2 * n)
        largest_residual = max(
            np.abs(residual + point.z - point.v).max(), abs(np.sum(s * point.a)) / C
        )
        # The gap is 2n mu, and the cost of slack 2 for all samples 2n C.
        found = mu <= LAST_GAP * C and largest_residual <= MAX_RESIDUAL
        if found or not np.isfinite(mu):
            break
        b += _newton(X, s, point, residual, mu)
        w = np.dot(s * point.a, X)
    return w, _intercept(np.dot(X, w), s) - np.dot(centre, w), found

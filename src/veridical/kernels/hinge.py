"""The linear support vector machine by interior points, for many small fits.

This is the compiled form of `veridical.kernels.interior.solve_box`: ten to twenty steps
of Mehrotra's predictor and corrector in the box of multipliers, each with a matrix of
the size of the number of features. It stands beside the engine because with some dozen
samples that takes up to a hundred times as long, most of it in calls of numpy; the two
share step length, centring and the tolerances of `veridical.kernels.duality`. Where it
ends without a solution, `veridical.kernels.svm.solve_svm` is the next solver.

Loops are written out, because numba compiles them in a third of the time that it takes
for expressions of arrays.

| symbol | meaning                                                     | shape    |
|--------|-------------------------------------------------------------|----------|
| X      | centred samples, and 1 for the intercept as last column     | (n, m)   |
| T      | X transposed                                                | (m, n)   |
| s      | class of each sample, +1 or −1                              | (n,)     |
| C      | largest multiplier                                          |          |
| a, u   | multipliers, ``0 < a < C`` on the way, and ``C − a``        | (n,)     |
| z, v   | multipliers of ``a ≥ 0`` and of ``a ≤ C``; v is the hinge   | (n,)     |
|        | loss of a sample, z its surplus over the margin             |          |
| w      | weights ``Σ s a x``, and the intercept                      | (m,)     |
| r      | residual of each margin, ``1 − s X w``                      | (n,)     |
| mu     | mean of the products ``a z`` and ``u v``; 0 at the end      |          |
| theta  | inverse of the curvature that the box adds                  | (n,)     |
| L      | Cholesky factor of ``Xᵀ theta X`` plus 1 for every weight   | (m, m)   |

References
----------
.. [1] S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM
   Journal on Optimization 2 (1992).
.. [2] M. C. Ferris & T. S. Munson, "Interior-point methods for massive support vector
   machines", SIAM Journal on Optimization 13 (2002).
"""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.duality import FEW_STEPS, LAST_GAP, MAX_RESIDUAL
from veridical.kernels.interior import limit_step, next_mean

#: Share of the step to the nearest bound; variables stay inside the bounds.
_STEP_SHARE = 0.9995


@njit(cache=True, nogil=True)
def _multiply(T: FloatArray, w: FloatArray, result: FloatArray) -> None:
    """Compute ``X w``."""
    result[:] = 0.0
    for j in range(w.size):
        weight, column = w[j], T[j]
        for i in range(result.size):
            result[i] += weight * column[i]


@njit(cache=True, nogil=True)
def _multiply_transposed(X: FloatArray, a: FloatArray, result: FloatArray) -> None:
    """Compute ``Xᵀ a``."""
    result[:] = 0.0
    for i in range(a.size):
        weight, sample = a[i], X[i]
        for j in range(result.size):
            result[j] += weight * sample[j]


@njit(cache=True, nogil=True)
def _factorize(X: FloatArray, T: FloatArray, theta: FloatArray, L: FloatArray) -> None:
    """Write the Cholesky factor of ``Xᵀ theta X`` plus 1 for every weight."""
    m, n = T.shape
    scaled = np.empty((m, n))
    for j in range(m):
        for i in range(n):
            scaled[j, i] = T[j, i] * theta[i]
    np.dot(scaled, X, L)
    for j in range(m - 1):
        L[j, j] += 1.0
    for j in range(m):
        for k in range(j):
            L[j, j] -= L[j, k] ** 2
        # A pivot that rounding made negative is zero; its variable is not changed.
        L[j, j] = np.sqrt(L[j, j]) if L[j, j] > 0.0 else 1e100
        for i in range(j + 1, m):
            total = L[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total / L[j, j]


@njit(cache=True, nogil=True)
def _newton_direction(
    X: FloatArray,
    T: FloatArray,
    s: FloatArray,
    theta: FloatArray,
    L: FloatArray,
    target: FloatArray,
    balance: float,
    da: FloatArray,
) -> float:
    """Solve the Newton system; write `da` and return the change of the intercept.

    ``(Q + 1/theta) da + s db = target`` and ``Σ s da = balance``, where ``Q`` is
    ``s sᵀ ∘ X Xᵀ`` without the last column of X.
    """
    m = L.shape[0]
    for i in range(da.size):
        da[i] = theta[i] * s[i] * target[i]
    right = np.empty(m)
    _multiply_transposed(X, da, right)
    right[m - 1] -= balance
    for i in range(m):
        for j in range(i):
            right[i] -= L[i, j] * right[j]
        right[i] /= L[i, i]
    for i in range(m - 1, -1, -1):
        for j in range(i + 1, m):
            right[i] -= L[j, i] * right[j]
        right[i] /= L[i, i]
    _multiply(T, right, da)
    for i in range(da.size):
        da[i] = theta[i] * (target[i] - s[i] * da[i])
    return float(right[m - 1])


@njit(cache=True, nogil=True)
def _newton(
    X: FloatArray,
    T: FloatArray,
    s: FloatArray,
    r: FloatArray,
    mu: float,
    a: FloatArray,
    u: FloatArray,
    z: FloatArray,
    v: FloatArray,
) -> float:
    """Take one Newton step; return the change of the intercept."""
    n, m = X.shape
    theta, target, da, dz, dv = (
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
    )
    balance = 0.0
    for i in range(n):
        theta[i] = 1.0 / (z[i] / a[i] + v[i] / u[i])
        balance -= s[i] * a[i]
    L = np.empty((m, m))
    _factorize(X, T, theta, L)
    # Predictor: towards the solution.
    _newton_direction(X, T, s, theta, L, r, balance, da)
    for i in range(n):
        dz[i] = -z[i] - z[i] * da[i] / a[i]
        dv[i] = -v[i] + v[i] * da[i] / u[i]
    step = _longest_step(a, u, z, v, da, dz, dv, 1.0)
    predicted = 0.0
    for i in range(n):
        predicted += (a[i] + step * da[i]) * (z[i] + step * dz[i])
        predicted += (u[i] - step * da[i]) * (v[i] + step * dv[i])
    next_mu = next_mean(mu, predicted / (2 * n))
    # Corrector: with the curvature of the path.
    for i in range(n):
        dz[i] = next_mu - da[i] * dz[i]
        dv[i] = next_mu + da[i] * dv[i]
        target[i] = r[i] + dz[i] / a[i] - dv[i] / u[i]
    db = _newton_direction(X, T, s, theta, L, target, balance, da)
    for i in range(n):
        dz[i] = (dz[i] - z[i] * da[i]) / a[i] - z[i]
        dv[i] = (dv[i] + v[i] * da[i]) / u[i] - v[i]
    longest = _longest_step(a, u, z, v, da, dz, dv, 1.0 / _STEP_SHARE)
    step = min(1.0, _STEP_SHARE * longest)
    for i in range(n):
        a[i] += step * da[i]
        u[i] -= step * da[i]
        z[i] += step * dz[i]
        v[i] += step * dv[i]
    return float(step * db)


@njit(cache=True, nogil=True)
def _longest_step(
    a: FloatArray,
    u: FloatArray,
    z: FloatArray,
    v: FloatArray,
    da: FloatArray,
    dz: FloatArray,
    dv: FloatArray,
    step: float,
) -> float:
    """Return the longest step before a bound is met; u changes by −da."""
    step = limit_step(a, da, 1.0, step)
    step = limit_step(u, da, -1.0, step)
    step = limit_step(z, dz, 1.0, step)
    return limit_step(v, dv, 1.0, step)


@njit(cache=True, nogil=True)
def _follow_path(
    X: FloatArray, T: FloatArray, s: FloatArray, C: float, w: FloatArray
) -> bool:
    """Follow the central path to its end; write `w`, return whether it was reached."""
    n, m = X.shape
    longest = 0.0
    for i in range(n):
        square = 0.0
        for j in range(m - 1):
            square += X[i, j] ** 2
        longest = max(longest, square)
    start = min(0.5 * C, 1.0 / max(longest, 1e-300))  # weights are small
    a, u, z, v = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    signed, r = np.empty(n), np.empty(n)
    for i in range(n):
        a[i], u[i], z[i], v[i] = start, C - start, 1.0, 1.0
    b = 0.0
    for _ in range(FEW_STEPS + 1):
        for i in range(n):
            signed[i] = s[i] * a[i]
        _multiply_transposed(X, signed, w)
        balance = w[m - 1]
        w[m - 1] = b
        _multiply(T, w, r)
        mu, largest = 0.0, abs(balance) / C
        for i in range(n):
            r[i] = 1.0 - s[i] * r[i]
            mu += (a[i] * z[i] + u[i] * v[i]) / (2 * n)
            largest = max(largest, abs(r[i] + z[i] - v[i]))
        # The gap is 2n mu, and the cost of slack 2 for all samples 2n C.
        if mu <= LAST_GAP * C and largest <= MAX_RESIDUAL:
            return True
        if not np.isfinite(mu):
            return False
        b += _newton(X, T, s, r, mu, a, u, z, v)
    return False


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
    centre = X.mean(axis=0)  # the intercept includes it; products become smaller
    samples = np.ones((n, d + 1))
    np.subtract(X, centre, out=samples[:, :d])
    weights = np.empty(d + 1)
    columns = np.ascontiguousarray(samples.T)
    found = _follow_path(samples, columns, s, C, weights)
    w = weights[:d]
    return w, _find_intercept(samples[:, :d] @ w, s) - float(centre @ w), found


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

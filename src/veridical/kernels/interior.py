"""The interior-point method of all support vector machines of this library.

    min  ½ xᵀPx + qᵀx   with   g(x) ≥ 0

Mehrotra's predictor and corrector [1]_. A program is a named tuple of arrays, and says
how to compute residuals, to multiply by the derivative A of its constraints, and to
solve with ``P + AᵀDA``, so that its structure is used; `follow_path` is compiled for
each type of program, because most problems of this library are small: with some dozen
samples calls of numpy would take up to a hundred times as long as the computation.

`veridical.kernels.box` is the program of multipliers with bounds,
`veridical.kernels.margins` that of weights with margins and slacks. Constraints are
linear, or concave: then A is their derivative, and P has the second derivative of the
Lagrangian, at the point that was measured last.

Loops are written out, because numba compiles them in a third of the time that it takes
for expressions of arrays.

| symbol | meaning                                   | shape |
|--------|-------------------------------------------|-------|
| x      | variables                                 | (k,)  |
| s, z   | slacks of the constraints and multipliers | (m,)  |
| D      | z / s                                     | (m,)  |
| dual   | ``Px + q − Aᵀz``                          | (k,)  |
| primal | ``g(x) − s``                              | (m,)  |

References
----------
.. [1] S. Mehrotra, "On the implementation of a primal-dual interior point method",
   SIAM J. Optim. 2 (1992).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpstrf

from veridical._core.arrays import FloatArray
from veridical._core.compiling import by_type, njit
from veridical.kernels.duality import (
    INFEASIBLE,
    MAX_STEPS,
    MIN_STEP_SIZE,
    MIN_VALUE,
    POOR_GAP,
    RANK,
)

#: Steps without progress before the best point so far is returned: below `POOR_GAP`
#: rounding is the reason, above it a curved path.
_PATIENCE, _LONG_PATIENCE = 7, 40
#: Share of the step to the nearest bound: the least, far from the optimum, and the
#: largest, near to it.
_LEAST_SHARE, _LARGEST_SHARE = 0.99, 1.0 - 1e-6
#: Mean of the products ``s z`` as a share of what it was, or of the residuals if these
#: are larger: the least that a step between curved constraints aims at.
_LEAST_MEAN = 0.1
#: Rows that are factored before others are updated by a product of matrices: as many
#: as a fast cache holds, and as many as make copies rare.
_BLOCK, _LARGE_BLOCK = 32, 256
#: Square root of a pivot that rounding made negative: its variable is not changed.
_NO_PIVOT = 1e100


# -- linear algebra ------------------------------------------------------------------


def factor(gram: FloatArray) -> tuple[FloatArray, Any]:
    """Factor a positive semidefinite matrix: ``Z Zᵀ``, and the pivots of its rank.

    The rows of Z at the pivots are lower triangular.
    """
    n = len(gram)
    top = float(np.diag(gram).max(initial=0.0))
    if top <= 0.0:
        return np.zeros((n, 0)), np.zeros(0, dtype=np.intp)
    lower, pivots, rank, _ = dpstrf(gram, lower=1, tol=n * RANK * top)
    Z = np.zeros((n, rank))
    Z[pivots - 1] = np.tril(lower[:, :rank])
    return Z, pivots[:rank] - 1


def center(gram: FloatArray) -> FloatArray:
    """Return the Gram matrix of centred features."""
    means = gram.mean(axis=0)
    return gram - means - means[:, None] + means.mean()


@njit(cache=True, nogil=True)
def factor_upper(H: FloatArray) -> None:
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
def divide(U: FloatArray, x: FloatArray) -> None:
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
def multiply_upper(N: FloatArray, T: FloatArray, H: FloatArray) -> None:
    """Write the upper half of ``N Tᵀ``, which is symmetric."""
    m = len(T)
    for first in range(0, m, _BLOCK):
        last = min(first + _BLOCK, m)
        product = np.dot(N[first:last], T[first:].T)
        for k in range(first, last):
            row, products = H[k, k:], product[k - first, k - first :]
            for i in range(row.size):
                row[i] = products[i]


# -- what a program computes ---------------------------------------------------------


@by_type
def measure_residuals(
    program: Any,
    x: FloatArray,
    s: FloatArray,
    z: FloatArray,
    dual: FloatArray,
    primal: FloatArray,
) -> float:
    """Write the residuals of a point; return the objective."""
    raise NotImplementedError


@by_type
def certify(program: Any, z: FloatArray) -> float:
    """Return the largest entry of Aᵀz, per unit of limit; 0 proves infeasible."""
    raise NotImplementedError


@by_type
def factor_newton(program: Any, s: FloatArray, z: FloatArray) -> None:
    """Factor ``P + AᵀDA``."""
    raise NotImplementedError


@by_type
def solve_newton(program: Any, r: FloatArray, dx: FloatArray) -> None:
    """Write the solution of ``(P + AᵀDA) Δx = r``."""
    raise NotImplementedError


@by_type
def multiply(program: Any, x: FloatArray, product: FloatArray) -> None:
    """Write ``A x``."""
    raise NotImplementedError


@by_type
def multiply_transposed(program: Any, z: FloatArray, product: FloatArray) -> None:
    """Write ``Aᵀ z``."""
    raise NotImplementedError


# -- the engine ----------------------------------------------------------------------


class Point(NamedTuple):
    """The best point of a central path.

    Parameters
    ----------
    x, s, z : arrays
        See the notation above.
    error : float
        The larger of the relative gap and the residuals, these in units of the gap.
    infeasible : bool
        Whether multipliers prove that no variables meet the constraints.
    n_steps : int
        Number of Newton steps.
    """

    x: FloatArray
    s: FloatArray
    z: FloatArray
    error: float
    infeasible: bool
    n_steps: int


@njit(cache=True, nogil=True)
def follow_path(
    program: Any,
    x: FloatArray,
    s: FloatArray,
    z: FloatArray,
    max_gap: float,
    max_residual: float,
    curved: bool = False,
) -> Point:
    """Follow the central path from a point with positive s and z to the optimum.

    It ends where the relative gap is at most `max_gap` and the residuals are at most
    `max_residual`. Where constraints are `curved`, a step leaves residuals that only
    another step removes, and near its bounds a point can hardly be moved: the products
    ``s z`` become smaller slowly, and the corrector's second-order term, which belongs
    to linear constraints, is left out.
    """
    best_x, best_s, best_z = x, s, z
    x, s, z = x.copy(), s.copy(), z.copy()
    dual, dx = np.empty(x.size), np.empty(x.size)
    primal, target = np.empty(s.size), np.empty(s.size)
    ds, dz = np.empty(s.size), np.empty(s.size)
    best, best_step, infeasible, n_steps = np.inf, 0, False, 0
    for step in range(MAX_STEPS):
        n_steps = step
        value = measure_residuals(program, x, s, z, dual, primal)
        gap, residual = _measure_errors(value, s, z, dual, primal)
        error = max(gap, residual * max_gap / max_residual)
        if error < 0.9 * best or step == 0:
            best, best_step = error, step
            best_x, best_s, best_z = x.copy(), s.copy(), z.copy()
        stalled = _has_stalled(best, step - best_step)
        if error <= max_gap or stalled or not np.isfinite(error):
            break
        if certify(program, z) <= INFEASIBLE:
            infeasible = True
            break
        factor_newton(program, s, z)
        for i in range(s.size):
            target[i] = -s[i] * z[i]
        _find_direction(program, s, z, dual, primal, target, dx, ds, dz)
        mean = _next_mean(s, z, ds, dz)
        if curved:
            mean = max(mean, _LEAST_MEAN * max(gap, residual) * abs(value) / s.size)
        for i in range(s.size):
            target[i] = mean - s[i] * z[i]
            if not curved:
                target[i] -= ds[i] * dz[i]
        _find_direction(program, s, z, dual, primal, target, dx, ds, dz)
        step_size = _step_inside(s, z, ds, dz)
        if not step_size > MIN_STEP_SIZE:
            break
        for i in range(x.size):
            x[i] += step_size * dx[i]
        for i in range(s.size):
            s[i] = max(s[i] + step_size * ds[i], MIN_VALUE)
            z[i] = max(z[i] + step_size * dz[i], MIN_VALUE)
    return Point(best_x, best_s, best_z, best, infeasible, n_steps)


@njit(cache=True, nogil=True)
def _measure_errors(
    value: float,
    s: FloatArray,
    z: FloatArray,
    dual: FloatArray,
    primal: FloatArray,
) -> tuple[float, float]:
    """Return the relative gap, and the larger of the residuals."""
    gap, largest, residual, unbalanced = 0.0, 0.0, 0.0, 0.0
    for i in range(s.size):
        gap += s[i] * z[i]
        largest = max(largest, z[i])
        residual = max(residual, abs(primal[i]))
    for i in range(dual.size):
        unbalanced = max(unbalanced, abs(dual[i]))
    return gap / max(abs(value), 1e-300), max(residual, unbalanced / largest)


@njit(cache=True, nogil=True)
def _find_direction(
    program: Any,
    s: FloatArray,
    z: FloatArray,
    dual: FloatArray,
    primal: FloatArray,
    target: FloatArray,
    dx: FloatArray,
    ds: FloatArray,
    dz: FloatArray,
) -> None:
    """Write the solution of the Newton equations for ``z Δs + s Δz = target``."""
    for i in range(s.size):
        dz[i] = (target[i] - z[i] * primal[i]) / s[i]
    r = np.empty(dx.size)
    multiply_transposed(program, dz, r)
    for i in range(r.size):
        r[i] -= dual[i]
    solve_newton(program, r, dx)
    multiply(program, dx, ds)
    for i in range(s.size):
        ds[i] += primal[i]
        dz[i] = (target[i] - z[i] * ds[i]) / s[i]


# -- the rules of a step -------------------------------------------------------------


@njit(cache=True, nogil=True)
def _next_mean(s: FloatArray, z: FloatArray, ds: FloatArray, dz: FloatArray) -> float:
    """Choose the next mean of the products ``s z`` from the predictor step [1]_."""
    step_size = _longest_step(s, z, ds, dz)
    mean, predicted = 0.0, 0.0
    for i in range(s.size):
        mean += s[i] * z[i]
        predicted += (s[i] + step_size * ds[i]) * (z[i] + step_size * dz[i])
    return float(mean * (predicted / mean) ** 3 / s.size)


@njit(cache=True, nogil=True)
def _step_inside(s: FloatArray, z: FloatArray, ds: FloatArray, dz: FloatArray) -> float:
    """Return the step size of the corrector, at most 1; values stay positive."""
    step_size = _longest_step(s, z, ds, dz)
    if step_size == 1.0:
        return 1.0
    mean = 0.0
    for i in range(s.size):
        mean += s[i] * z[i] / s.size
    return float(step_size * min(max(1.0 - mean, _LEAST_SHARE), _LARGEST_SHARE))


@njit(cache=True, nogil=True)
def _longest_step(
    s: FloatArray, z: FloatArray, ds: FloatArray, dz: FloatArray
) -> float:
    """Return the largest step size, at most 1, that keeps every value positive."""
    longest = 1.0
    for i in range(s.size):
        # A division only where the step becomes shorter.
        if s[i] + longest * ds[i] < 0.0:
            longest = -s[i] / ds[i]
        if z[i] + longest * dz[i] < 0.0:
            longest = -z[i] / dz[i]
    return longest


@njit(cache=True, nogil=True)
def _has_stalled(error: float, n_steps: int) -> bool:
    """Return whether this many steps without progress are too many at this error."""
    return n_steps > (_PATIENCE if error < POOR_GAP else _LONG_PATIENCE)

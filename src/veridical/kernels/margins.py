"""SVM+ as a program in the weights: the hinge loss, squared slacks, the logistic loss.

    min  ½ Σ curve x² + qᵀx   with   φ(E x₁) + F x₂ ≥ h,   and F x₂ ≥ 0 with the hinge

Every step solves with ``P + AᵀDA``, as many rows as there are weights. φ is the
identity except for the logistic loss, where slacks are bounds of losses:
``φ(m) = −log(1 + exp(−m))`` is concave, A has its derivative, and P its curvature times
the multipliers.

Gram matrices come in factors, ``K = Z Zᵀ``, so that a matrix of low rank makes the work
less instead of the equations singular; for linear kernels the features themselves are
factors. SVM+ is scaled first: with ``Z/√κ`` and ``Z*/√κ*`` for Z and Z*, κ times the
objective is the objective for κc and γκ/κ*, so that rows have length 1, and a factor
makes the optimum about 1. Then one step size suits all variables.

| symbol | meaning                                                   | shape     |
|--------|-----------------------------------------------------------|-----------|
| Z, Z*  | factors of the Gram matrices, of rank r and r*            | (n, r)    |
| E      | [y Z, y]: margins ``y f`` are ``E (w, b)``                | (n, r+1)  |
| F      | [Z*, 1], without b* Z* alone: slacks ξ are ``F (w*, b*)`` | (n, r*+1) |
| T      | columns of E, and then of F; k are of E                   | (K, n)    |
| s, z   | slacks of the constraints and their multipliers           | (m,)      |
| D      | z / s                                                     | (m,)      |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.duality import GOOD_GAP, LEAST_GAP, RIDGE, ROUNDED
from veridical.kernels.interior import (
    Point,
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

#: Attempts to scale the objective by its optimum, as the attempt before found it.
_MAX_ATTEMPTS = 3


class Margins(NamedTuple):
    """A program, and room for its Newton equations; see the notation above.

    Parameters
    ----------
    T : array of shape (K, n)
        Rows of the notation above.
    plain : array of shape (K, n)
        The same scaled to one length, which proves that a program is infeasible.
    curve, cost : arrays of shape (K,)
        The diagonal of P; q.
    limit : array of shape (n,) or (2n,)
        h; 0 for the slacks, where these are bounded too.
    logistic : bool
        Whether φ is the logistic loss.
    slope : array of shape (n,)
        Derivative of φ at the point that was measured last.
    weight : array of shape (3, n)
        Weights of the products of E, of E with F, and of F in ``AᵀDA``.
    N, H : arrays of shape (K, n) and (K, K)
        T times weights; the factor of ``P + AᵀDA``.
    """

    T: FloatArray
    plain: FloatArray
    curve: FloatArray
    cost: FloatArray
    limit: FloatArray
    k: int
    logistic: bool
    slope: FloatArray
    weight: FloatArray
    N: FloatArray
    H: FloatArray


def state_program(
    rows: list[FloatArray],
    curve: FloatArray,
    cost: FloatArray,
    limit: FloatArray,
    *,
    logistic: bool = False,
) -> Margins:
    """State a program; `rows` are the columns of E, and of F where there are slacks."""
    T = np.ascontiguousarray(np.hstack(rows).T)
    n, size = T.shape[1], len(T)
    return Margins(
        T, T, curve, cost, limit, rows[0].shape[1], logistic,
        np.ones(n), np.empty((3, n)), np.empty((size, n)), np.empty((size, size)),
    )  # fmt: skip


# -- what the interior-point method needs --------------------------------------------


@njit(cache=True, nogil=True)
def _combine(T: FloatArray, k: int, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute ``E x₁`` and ``F x₂``."""
    return np.dot(x[:k], T[:k]), np.dot(x[k:], T[k:])


@njit(cache=True, nogil=True)
def _sum_rows(
    T: FloatArray, k: int, first: FloatArray, second: FloatArray, product: FloatArray
) -> None:
    """Write ``Eᵀ first`` and ``Fᵀ second``."""
    product[:k] = np.dot(T[:k], first)
    product[k:] = np.dot(T[k:], second)


@measure_residuals.register(Margins)
def _measure(
    program: Margins,
    x: FloatArray,
    s: FloatArray,
    z: FloatArray,
    dual: FloatArray,
    primal: FloatArray,
) -> float:
    n, limit, slope = program.slope.size, program.limit, program.slope
    margin, slack = _combine(program.T, program.k, x)
    for i in range(n):
        if program.logistic:
            # Both without overflow, whatever the sign of the margin.
            small = np.exp(-abs(margin[i]))
            slope[i] = (small if margin[i] > 0.0 else 1.0) / (1.0 + small)
            margin[i] = min(margin[i], 0.0) - np.log1p(small)
        primal[i] = margin[i] + slack[i] - limit[i] - s[i]
    for i in range(n, limit.size):
        primal[i] = slack[i - n] - limit[i] - s[i]
    multiply_transposed(program, z, dual)
    value = 0.0
    for j in range(x.size):
        curved = program.curve[j] * x[j]
        value += (0.5 * curved + program.cost[j]) * x[j]
        dual[j] = curved + program.cost[j] - dual[j]
    return value


@certify.register(Margins)
def _certify(program: Margins, z: FloatArray) -> float:
    n, k = program.slope.size, program.k
    if program.logistic:
        return 1.0  # a large enough b* meets all constraints
    total, both = 0.0, np.empty(n)
    for i in range(n):
        total += z[i]
        both[i] = z[i] + (z[n + i] if z.size > n else 0.0)
    largest, product = 0.0, np.empty(len(program.plain))
    _sum_rows(program.plain, k, z[:n], both, product)
    for one in product:
        largest = max(largest, abs(one))
    return largest / total


@njit(cache=True, nogil=True)
def _weigh(program: Margins, D: FloatArray, z: FloatArray) -> None:
    """Write the weights of products, and their sums to H."""
    T, k, slope, weight = program.T, program.k, program.slope, program.weight
    n = slope.size
    for i in range(n):
        weight[0, i] = D[i] * slope[i] ** 2
        if program.logistic:
            weight[0, i] += z[i] * slope[i] * (1.0 - slope[i])
        weight[1, i] = D[i] * slope[i]
        weight[2, i] = D[i] + (D[n + i] if D.size > n else 0.0)
    N, H = program.N, program.H
    for j in range(len(T)):
        row, features, own = N[j], T[j], weight[0 if j < k else 2]
        for i in range(n):
            row[i] = features[i] * own[i]
    multiply_upper(N[:k], T[:k], H[:k, :k])
    if k < len(T):
        multiply_upper(N[k:], T[k:], H[k:, k:])
        for j in range(k):
            row, features, own = N[j], T[j], weight[1]
            for i in range(n):
                row[i] = features[i] * own[i]
        H[:k, k:] = np.dot(N[:k], T[k:].T)


@factor_newton.register(Margins)
def _factor_newton(program: Margins, s: FloatArray, z: FloatArray) -> None:
    D = np.empty(s.size)
    for i in range(s.size):
        D[i] = z[i] / s[i]
    _weigh(program, D, z)
    for j in range(len(program.H)):
        program.H[j, j] += program.curve[j]
    factor_upper(program.H)


@solve_newton.register(Margins)
def _solve_newton(program: Margins, r: FloatArray, dx: FloatArray) -> None:
    """Solve, and refine by one step."""
    dx[:] = r
    divide(program.H, dx)
    margin, slack = _combine(program.T, program.k, dx)
    for i in range(margin.size):
        first, second = margin[i], slack[i]
        margin[i] = program.weight[0, i] * first + program.weight[1, i] * second
        slack[i] = program.weight[1, i] * first + program.weight[2, i] * second
    product = np.empty(r.size)
    _sum_rows(program.T, program.k, margin, slack, product)
    for j in range(r.size):
        product[j] = r[j] - program.curve[j] * dx[j] - product[j]
    divide(program.H, product)
    for j in range(r.size):
        dx[j] += product[j]


@multiply.register(Margins)
def _multiply(program: Margins, x: FloatArray, product: FloatArray) -> None:
    n = program.slope.size
    margin, slack = _combine(program.T, program.k, x)
    for i in range(n):
        product[i] = program.slope[i] * margin[i] + slack[i]
    for i in range(n, product.size):
        product[i] = slack[i - n]


@multiply_transposed.register(Margins)
def _multiply_transposed(program: Margins, z: FloatArray, product: FloatArray) -> None:
    n = program.slope.size
    first, second = np.empty(n), np.empty(n)
    for i in range(n):
        first[i] = program.slope[i] * z[i]
        second[i] = z[i] + (z[n + i] if z.size > n else 0.0)
    _sum_rows(program.T, program.k, first, second, product)


@njit(cache=True, nogil=True)
def _balance(program: Margins, x: FloatArray, s: FloatArray, z: FloatArray) -> None:
    """Correct multipliers at the end so that ``Aᵀz = Px + q``, large ones first.

    Rounding errors have the size of the largest multipliers; their sum may be tiny.
    """
    residual, primal = np.empty(x.size), np.empty(s.size)
    moved, largest = np.empty(s.size), z.max()
    measure_residuals(program, x, s, z, residual, primal)
    D = np.empty(s.size)
    for i in range(s.size):
        D[i] = (z[i] / largest) ** 2
    _weigh(program, D, np.zeros(s.size))
    top = 0.0
    for j in range(x.size):
        top = max(top, program.H[j, j])
    for j in range(x.size):
        program.H[j, j] += RIDGE * top
    factor_upper(program.H)
    for _ in range(3):
        before = np.abs(residual).max()
        divide(program.H, residual)
        multiply(program, residual, moved)
        for i in range(s.size):
            moved[i] = z[i] + D[i] * moved[i]
        measure_residuals(program, x, s, moved, residual, primal)
        if moved.min() < 0.0 or not np.abs(residual).max() < before:
            break
        z[:] = moved


@njit(cache=True, nogil=True)
def _solve(
    program: Margins, x: FloatArray, s: FloatArray, z: FloatArray, tolerance: float
) -> Point:
    """Follow the central path, and balance the multipliers."""
    point = follow_path(program, x, s, z, tolerance, tolerance, program.logistic)
    if not point.infeasible:
        _balance(program, point.x, point.s, point.z)
    return point


Start = Callable[[float], tuple[FloatArray, FloatArray, FloatArray]]


def _solve_scaled(
    program: Margins, start: Start, total: float, good: float
) -> tuple[Point, float, int]:
    """Scale by a guess of the optimum; where it was poor, by the value found.

    Returns the best point, its scale, and the steps of all attempts.
    """
    steps = 0
    best: Any = None
    for _ in range(_MAX_ATTEMPTS):
        scaled = program._replace(
            curve=program.curve / total, cost=program.cost / total
        )
        point = _solve(scaled, *start(total), LEAST_GAP)
        steps += point.n_steps
        if point.infeasible:
            return point, total, steps
        if best is None or point.error < best[0].error:
            best = (point, total)
        value = 0.5 * point.x @ (scaled.curve * point.x) + scaled.cost @ point.x
        if point.error <= good or not np.isfinite(value) or value <= 0.0:
            break
        total *= float(value)
    return *best, steps


def _mean_square(Z: FloatArray) -> float:
    """Return the mean squared length of the rows."""
    return float(np.einsum("ij,ij->", Z, Z) / len(Z)) or 1.0


# -- problems ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class HingePoint:
    """Result of `solve_hinge_margins`.

    Parameters
    ----------
    w, b, w_star, b_star : array or float
        In the coordinates of the factors.
    alpha, beta, margin, slack : arrays of shape (n,)
        The multipliers; the surplus of margins over 1 − ξ, and ξ.
    infeasible : bool
        Whether multipliers prove that there are no feasible weights.
    n_steps : int
        Number of Newton steps.
    """

    w: FloatArray
    b: float
    w_star: FloatArray
    b_star: float
    alpha: FloatArray
    beta: FloatArray
    margin: FloatArray
    slack: FloatArray
    infeasible: bool
    n_steps: int


def solve_hinge_margins(
    Z: FloatArray,
    Z_star: FloatArray,
    y: FloatArray,
    c: FloatArray,
    gamma: float,
    *,
    bias: bool,
    good: float = GOOD_GAP,
) -> HingePoint:
    """Minimise ½|w|² + γ/2 |w*|² + Σ cᵢξᵢ with margins at least 1 − ξ and ξ ≥ 0.

    Every step costs one Cholesky decomposition of as many rows as there are weights.
    Where the error is larger than `good`, the program is solved again at another scale.
    """
    n, rank = Z.shape
    size, size_star = _mean_square(Z), _mean_square(Z_star)
    c = size * c
    one = np.ones((n, 1))
    E = y[:, None] * np.hstack([Z / np.sqrt(size), one])
    F = Z_star / np.sqrt(size_star)
    F = np.hstack([F, one]) if bias else F
    k = rank + 1
    curve = np.ones(k + F.shape[1])
    curve[k:] = gamma * size / size_star
    curve[rank] = 0.0
    if bias:
        curve[-1] = 0.0
    linear_cost = np.concatenate([np.zeros(k), F.T @ c])
    limit = np.concatenate([np.ones(n), np.zeros(n)])
    total = float(c.sum())  # the cost of slack 1 for all: with b* an upper bound
    if not bias:
        total = max(total, 1.0, float(curve.max()))

    def start(total: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        x, s = np.zeros(len(curve)), np.ones(2 * n)
        z = np.full(2 * n, 1.0 / n)
        if bias:  # slack 2 for all is feasible, and α + β sums to the sum of c
            x[-1], s[n:] = 2.0, 2.0
            z[:n] = np.minimum(c / (2 * total), 1.0 / n)
            z[n:] = c / total - z[:n]
        return x, s, z

    program = state_program([E, F], curve, linear_cost, limit)
    point, total, steps = _solve_scaled(program, start, total, good)
    x, s, z = point.x, point.s, point.z * (total / size)
    return HingePoint(
        w=x[:rank] / np.sqrt(size),
        b=float(x[rank]),
        w_star=x[k : k + Z_star.shape[1]] / np.sqrt(size_star),
        b_star=float(x[-1]) if bias else 0.0,
        alpha=z[:n],
        beta=z[n:],
        margin=s[:n],
        slack=s[n:],
        infeasible=point.infeasible,
        n_steps=steps,
    )


@dataclass(frozen=True, eq=False)
class SquaredPoint:
    """Result of `solve_squared_margins`.

    Parameters
    ----------
    w, v : arrays
        Weights in the coordinates of the factors.
    alpha : array of shape (n,)
        The multipliers.
    slack_part : float
        αᵀHα, the part of the slacks in the dual objective.
    infeasible : bool
        Whether multipliers prove that there are no feasible weights.
    n_steps : int
        Number of Newton steps.
    """

    w: FloatArray
    v: FloatArray
    alpha: FloatArray
    slack_part: float
    infeasible: bool
    n_steps: int


def solve_squared_margins(
    Z: FloatArray, F: FloatArray, y: FloatArray, c: FloatArray, gamma: float
) -> SquaredPoint:
    """Minimise ½|w|² + γ/2 |v|² + ½ Σ cᵢξᵢ² with margins at least 1 − ξ, ξ = F v.

    With ``u = R v``, RᵀR = γI + Σ cᵢ fᵢ fᵢᵀ, it is ½|w|² + ½|u|² that is minimised.
    Biases are weights of a constant among the features.
    """
    (n, k), root = Z.shape, np.sqrt(c)[:, None]
    signed, size_star = y[:, None] * Z, np.sqrt(_mean_square(F))
    R = np.linalg.qr(np.vstack([root * F, np.sqrt(gamma) * np.eye(F.shape[1])]), "r")
    part = solve_triangular(R, F.T, trans=1).T
    B = np.hstack([signed, part])
    size = np.sqrt(_mean_square(B))
    plain = np.hstack([signed / np.sqrt(_mean_square(Z)), F / size_star])
    total = 0.5 * size**2 * (float(c.sum()) + gamma)  # the cost of slack 1 for all
    m = B.shape[1]
    program = state_program([B / size], np.ones(m), np.zeros(m), np.ones(n))
    program = program._replace(plain=np.ascontiguousarray(plain.T))
    begin = (np.zeros(m), np.ones(n), np.full(n, 1.0 / n))
    point, total, steps = _solve_scaled(program, lambda _: begin, total, GOOD_GAP)
    alpha = point.z * (total / size**2)
    implied = part.T @ alpha
    return SquaredPoint(
        point.x[:k] / size,
        solve_triangular(R, point.x[k:]) / size,
        alpha,
        float(implied @ implied),
        point.infeasible,
        steps,
    )


# -- the logistic loss ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LogisticPoint:
    """Weights in the coordinates of the factors, multipliers, gap and steps."""

    w: FloatArray
    b: float
    w_star: FloatArray
    b_star: float
    alpha: FloatArray
    gap: float
    n_steps: int


def solve_logistic(
    Z: FloatArray, Z_star: FloatArray, y: FloatArray, c: FloatArray, gamma: float
) -> LogisticPoint:
    """Minimise a logistic regression whose losses are bounded by privileged features.

        min  ½|w|² + γ/2 |w*|² + Σ cᵢ tᵢ   with   log(1 + exp(−yᵢ(⟨w, xᵢ⟩ + b))) ≤ tᵢ,
        tᵢ = ⟨w*, xᵢ*⟩ + b*

    The hinge of SVM+ is replaced by the logistic loss; tᵢ ≥ 0 then follows by itself.
    With multipliers αᵢ ≥ 0 the classifier's part is an ordinary logistic regression in
    which sample i has the weight αᵢ, and w* = Σ (αᵢ − cᵢ) xᵢ*/γ, Σ αᵢ = Σ cᵢ: the
    privileged features decide where weight may be moved. Bounds that rounding leaves
    below a loss are raised by b*. The gap is a share of 1 + objective.
    """
    (n, rank), one = Z.shape, np.ones((len(Z), 1))
    size, size_star = np.sqrt(_mean_square(Z)), np.sqrt(_mean_square(Z_star))
    E, F = y[:, None] * np.hstack([Z / size, one]), np.hstack([Z_star / size_star, one])
    k = rank + 1
    curve = np.zeros(k + F.shape[1])
    curve[:rank], curve[k:-1] = 1.0 / size**2, gamma / size_star**2
    cost = np.concatenate([np.zeros(k), F.T @ c])
    total = float(c.sum())

    def start(total: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        x = np.zeros(len(curve))
        x[-1] = np.log(2.0) + 1.0
        return x, np.ones(n), c / total

    program = state_program([E, F], curve, cost, np.zeros(n), logistic=True)
    point, total, steps = _solve_scaled(program, start, total, GOOD_GAP)
    x, alpha = point.x, point.z * total
    room = F @ x[k:] - np.logaddexp(0.0, -(E @ x[:k]))
    if room.min() <= 0.0:
        x[-1] += ROUNDED * (1.0 + abs(float(x[-1]))) - float(room.min())
    objective = float(0.5 * x @ (curve * x) + cost @ x)
    return LogisticPoint(
        x[:rank] / size,
        float(x[rank]),
        x[k:-1] / size_star,
        float(x[-1]),
        alpha,
        point.error * abs(objective) / (1.0 + abs(objective)),
        steps,
    )

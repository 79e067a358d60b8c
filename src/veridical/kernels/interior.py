"""Interior-point methods for the quadratic programs of this library.

    min  ½ xᵀPx + qᵀx   with   A x ≥ h

Mehrotra's predictor and corrector [1]_; every step solves with ``P + AᵀDA``. A program
says how to multiply by P and A and how to solve with that matrix, so that its structure
is used: margins and slacks of SVM+ with the hinge loss and with squared slacks. For the
box of multipliers of an ordinary support vector machine, `veridical.kernels.box`
follows the path with the same rules, compiled. The logistic loss is no quadratic
program: a barrier method solves it. Its bounds are curved, so that steps are halved
until they stay inside.

Gram matrices come in factors, ``K = Z Zᵀ``, so that a matrix of low rank makes the work
less instead of the equations singular; for linear kernels the features themselves are
factors. SVM+ is scaled first: with ``Z/√κ`` and ``Z*/√κ*`` for Z and Z*, κ times the
objective is the objective for κc and γκ/κ*, so that rows have length 1, and a factor T
makes the optimum about 1. Then one step size suits all variables.

| symbol | meaning                                                   | shape     |
|--------|-----------------------------------------------------------|-----------|
| x      | variables                                                 | (k,)      |
| s, z   | slacks of the constraints and their multipliers           | (m,)      |
| D      | z / s                                                     | (m,)      |
| Z, Z*  | factors of the Gram matrices, of rank r and r*            | (n, r)    |
| E      | [y Z, y]: margins ``y f`` are ``E (w, b)``                | (n, r+1)  |
| F      | [Z*, 1], without b* Z* alone: slacks ξ are ``F (w*, b*)`` | (n, r*+1) |

References
----------
.. [1] S. Mehrotra, "On the implementation of a primal-dual interior point method",
   SIAM J. Optim. 2 (1992).
.. [2] S. Boyd & L. Vandenberghe, "Convex Optimization", Cambridge 2004, chapter 11.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpstrf

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.duality import (
    BARRIER_GAP,
    GOOD_GAP,
    LEAST_GAP,
    MAX_STEPS,
    POOR_GAP,
    RANK,
    ROUNDED,
)

#: Steps without progress before the best point so far is returned: below `POOR_GAP`
#: rounding is the reason, above it a curved path.
_PATIENCE, _LONG_PATIENCE = 7, 40
#: Step size; a smaller one makes no progress.
MIN_STEP_SIZE = 1e-12
#: Least value of slacks and multipliers; smaller ones are raised to it, so that no
#: division by zero occurs.
MIN_VALUE = 1e-60
#: Share of the step to the nearest bound: the least, far from the optimum, and the
#: largest, near to it.
_LEAST_SHARE, _LARGEST_SHARE = 0.99, 1.0 - 1e-6
#: Share of the largest diagonal entry that is added where rounding has made a matrix
#: singular; a hundred times as much at each further attempt.
_RIDGE = 1e-15
#: `Program.certificate`; below it multipliers prove that weights would have to be
#: longer than its inverse: the program is infeasible.
_INFEASIBLE = 1e-9
#: Attempts to scale the objective by its optimum, as the attempt before found it.
_MAX_ATTEMPTS = 3


# -- linear algebra ------------------------------------------------------------------


def factor(gram: FloatArray, tolerance: float = RANK) -> tuple[FloatArray, Any]:
    """Factor a positive semidefinite matrix: ``Z Zᵀ``, and the pivots of its rank.

    The rows of Z at the pivots are lower triangular.
    """
    n = len(gram)
    top = float(np.diag(gram).max(initial=0.0))
    if top <= 0.0:
        return np.zeros((n, 0)), np.zeros(0, dtype=np.intp)
    lower, pivots, rank, _ = dpstrf(gram, lower=1, tol=n * tolerance * top)
    Z = np.zeros((n, rank))
    Z[pivots - 1] = np.tril(lower[:, :rank])
    return Z, pivots[:rank] - 1


def center(gram: FloatArray) -> FloatArray:
    """Return the Gram matrix of centred features."""
    means = gram.mean(axis=0)
    return gram - means - means[:, None] + means.mean()


def cholesky(H: FloatArray) -> Any:
    """Factor, adding to the diagonal where rounding has made the matrix singular."""
    ridge = _RIDGE * float(np.diag(H).max())
    for _ in range(8):
        try:
            return cho_factor(H, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            H[np.diag_indices(len(H))] += ridge
            ridge *= 100.0
    raise np.linalg.LinAlgError("the Newton equations are singular")


# -- the engine ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Program(ABC):
    """Interface between the engine and a quadratic program in weights.

    Parameters
    ----------
    curve : array of shape (k,)
        The diagonal of P.
    linear_cost : array of shape (k,)
        Vector q, the linear part of the objective.
    limit : array of shape (m,)
        Vector h, the lower bounds of the constraints.
    """

    curve: FloatArray
    linear_cost: FloatArray
    limit: FloatArray

    def curvature(self, x: FloatArray) -> FloatArray:
        """Multiply by P."""
        return self.curve * x

    @abstractmethod
    def multiply(self, x: FloatArray) -> FloatArray:
        """Multiply by A."""

    @abstractmethod
    def multiply_transposed(self, z: FloatArray) -> FloatArray:
        """Multiply by the transpose of A."""

    @abstractmethod
    def normal(self, D: FloatArray) -> FloatArray:
        """Compute AᵀDA, its lower half at least."""

    @abstractmethod
    def certificate(self, z: FloatArray) -> float:
        """Return the largest entry of Aᵀz, per unit of limit; 0 proves infeasible."""

    def factored(self, D: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Return the function that solves with ``P + AᵀDA``, refined by one step."""
        H = self.normal(D)
        H[np.diag_indices(len(H))] += self.curve
        lower = cholesky(H)

        def solve(r: FloatArray) -> FloatArray:
            dx = cho_solve(lower, r, check_finite=False)
            product = self.curve * dx + self.multiply_transposed(D * self.multiply(dx))
            return dx + cho_solve(lower, r - product, check_finite=False)

        return solve

    def balance(self, x: FloatArray, z: FloatArray) -> FloatArray:
        """Correct multipliers at the end so that ``Aᵀz = Px + q``, large ones first.

        Rounding errors have the size of the largest multipliers; their sum may be tiny.
        """
        wanted = self.curve * x + self.linear_cost
        D = (z / float(z.max())) ** 2
        try:
            H = self.normal(D)
            H[np.diag_indices(len(H))] += _RIDGE * float(np.diag(H).max())
            lower = cholesky(H)
        except np.linalg.LinAlgError:
            return z
        for _ in range(3):
            residual = wanted - self.multiply_transposed(z)
            step = D * self.multiply(cho_solve(lower, residual, check_finite=False))
            moved = z + step
            remaining = np.abs(wanted - self.multiply_transposed(moved)).max()
            if moved.min() < 0.0 or not remaining < np.abs(residual).max():
                break
            z = moved
        return z


@dataclass(frozen=True, eq=False)
class Point:
    """The best point of a central path.

    Parameters
    ----------
    x, s, z : arrays
        See the notation above.
    error : float
        Largest of the relative gap and the primal and dual residuals.
    infeasible : bool
        Whether multipliers prove that there are no feasible weights.
    n_steps : int
        Number of Newton steps.
    """

    x: FloatArray
    s: FloatArray
    z: FloatArray
    error: float
    infeasible: bool
    n_steps: int


def follow(
    program: Program,
    x: FloatArray,
    s: FloatArray,
    z: FloatArray,
    tolerance: float = LEAST_GAP,
) -> Point:
    """Follow the central path from a point with positive s and z to the optimum."""
    q, h = program.linear_cost, program.limit
    best_point, infeasible, steps, best_step = (x, s, z), False, 0, 0
    best: Any = np.inf
    for steps in range(MAX_STEPS):
        Px = program.curvature(x)
        dual = Px + q - program.multiply_transposed(z)
        primal = program.multiply(x) - s - h
        gap = float(s @ z) / max(abs(float(0.5 * x @ Px + q @ x)), 1e-300)
        balance = float(np.abs(dual).max()) / float(z.max())
        error = max(gap, float(np.abs(primal).max()), balance)
        if error < 0.9 * best:
            best, best_point, best_step = error, (x, s, z), steps
        stalled = has_stalled(best, steps - best_step)
        if error <= tolerance or stalled or not np.isfinite(error):
            break
        if program.certificate(z) <= _INFEASIBLE:
            infeasible = True
            break
        try:
            solve = program.factored(z / s)
        except np.linalg.LinAlgError:
            break

        def direction(
            target: FloatArray,
            s: Any = s,
            z: Any = z,
            dual: Any = dual,
            primal: Any = primal,
            solve: Any = solve,
        ) -> tuple[FloatArray, FloatArray, FloatArray]:
            """Solve the Newton equations for ``z Δs + s Δz = target``."""
            dx = solve(program.multiply_transposed((target - z * primal) / s) - dual)
            ds = program.multiply(dx) + primal
            return dx, ds, (target - z * ds) / s

        (dx, ds, dz), step_size = _predict_and_correct(direction, s, z)
        if not step_size > MIN_STEP_SIZE:
            break
        x = x + step_size * dx
        s = np.maximum(s + step_size * ds, MIN_VALUE)
        z = np.maximum(z + step_size * dz, MIN_VALUE)
    x, s, z = best_point
    if not infeasible:
        z = program.balance(x, z)
    return Point(x, s, z, float(best), infeasible, steps)


def _predict_and_correct(
    direction: Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]],
    s: FloatArray,
    z: FloatArray,
) -> tuple[tuple[FloatArray, FloatArray, FloatArray], float]:
    """Compute Mehrotra's predictor and corrector: a direction and its step size."""
    _, ds, dz = direction(-s * z)
    found = direction(next_mean(s, z, ds, dz) - s * z - ds * dz)
    return found, step_inside(s, z, found[1], found[2])


# -- the rules of a step, shared with `veridical.kernels.box` ------------------------


@njit(cache=True, nogil=True)
def next_mean(s: FloatArray, z: FloatArray, ds: FloatArray, dz: FloatArray) -> float:
    """Choose the next mean of the products ``s z`` from the predictor step [1]_."""
    step_size = _longest_step(s, z, ds, dz)
    mean, predicted = 0.0, 0.0
    for i in range(s.size):
        mean += s[i] * z[i]
        predicted += (s[i] + step_size * ds[i]) * (z[i] + step_size * dz[i])
    return float(mean * (predicted / mean) ** 3 / s.size)


@njit(cache=True, nogil=True)
def step_inside(s: FloatArray, z: FloatArray, ds: FloatArray, dz: FloatArray) -> float:
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
def has_stalled(error: float, n_steps: int) -> bool:
    """Return whether so many steps without progress are too many at this error."""
    return n_steps > (_PATIENCE if error < POOR_GAP else _LONG_PATIENCE)


# -- programs in the weights ---------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Hinge(Program):
    """Margins and slacks of all samples."""

    E: FloatArray
    F: FloatArray

    def multiply(self, x: FloatArray) -> FloatArray:
        k = self.E.shape[1]
        slack = self.F @ x[k:]
        return np.concatenate([self.E @ x[:k] + slack, slack])

    def multiply_transposed(self, z: FloatArray) -> FloatArray:
        n = len(self.E)
        return np.concatenate([self.E.T @ z[:n], self.F.T @ (z[:n] + z[n:])])

    def normal(self, D: FloatArray) -> FloatArray:
        n, k = self.E.shape
        H = np.zeros((len(self.curve), len(self.curve)))
        root = np.sqrt(D[:n])[:, None]
        H[:k, :k] = dsyrk(1.0, root * self.E, trans=1, lower=1)
        if self.F.shape[1]:
            H[k:, :k] = (D[:n, None] * self.F).T @ self.E
            root = np.sqrt(D[:n] + D[n:])[:, None]
            H[k:, k:] = dsyrk(1.0, root * self.F, trans=1, lower=1)
        return H

    def certificate(self, z: FloatArray) -> float:
        return float(np.abs(self.multiply_transposed(z)).max() / z[: len(self.E)].sum())


@dataclass(frozen=True, eq=False)
class _Margins(Program):
    """Margins alone, ``B x ≥ 1``; `plain` are all features, scaled to one length."""

    B: FloatArray
    plain: FloatArray

    def multiply(self, x: FloatArray) -> FloatArray:
        return self.B @ x

    def multiply_transposed(self, z: FloatArray) -> FloatArray:
        return self.B.T @ z

    def normal(self, D: FloatArray) -> FloatArray:
        return dsyrk(1.0, np.sqrt(D)[:, None] * self.B, trans=1, lower=1)

    def certificate(self, z: FloatArray) -> float:
        return float(np.abs(self.plain.T @ z).max() / z.sum())


Start = Callable[[float], tuple[FloatArray, FloatArray, FloatArray]]


def _follow_scaled(
    program: Program, start: Start, total: float, good: float
) -> tuple[Point, float, int]:
    """Scale by a guess of the optimum; where it was poor, by the value found.

    Returns the best point, its scale, and the steps of all attempts.
    """
    steps = 0
    best: Any = None
    for _ in range(_MAX_ATTEMPTS):
        scaled = replace(
            program,
            curve=program.curve / total,
            linear_cost=program.linear_cost / total,
        )
        point = follow(scaled, *start(total))
        steps += point.n_steps
        if point.infeasible:
            return point, total, steps
        if best is None or point.error < best[0].error:
            best = (point, total)
        value = 0.5 * point.x @ (scaled.curve * point.x) + scaled.linear_cost @ point.x
        if point.error <= good or not np.isfinite(value) or value <= 0.0:
            break
        total *= float(value)
    return *best, steps


def _mean_square(Z: FloatArray) -> float:
    """Return the mean squared length of the rows."""
    return float(np.einsum("ij,ij->", Z, Z) / len(Z)) or 1.0


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

    program = _Hinge(curve, linear_cost, limit, E, F)
    point, total, steps = _follow_scaled(program, start, total, good)
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
    program = _Margins(np.ones(m), np.zeros(m), np.ones(n), B / size, plain)
    begin = (np.zeros(m), np.ones(n), np.full(n, 1.0 / n))
    point, total, steps = _follow_scaled(program, lambda _: begin, total, GOOD_GAP)
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


# -- the logistic loss: a barrier method [2]_ ----------------------------------------

#: Factor by which the weight of the objective against the barrier grows.
_GROWTH = 20.0
#: Newton steps of the barrier method; then the point so far is returned.
_MAX_BARRIER_STEPS = 400
#: Expected decrease of the barrier function; below it the next weight is taken.
_CENTRED = 1e-9


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
    Z: FloatArray,
    Z_star: FloatArray,
    y: FloatArray,
    c: FloatArray,
    gamma: float,
    tolerance: float = BARRIER_GAP,
) -> LogisticPoint:
    """Minimise a logistic regression whose losses are bounded by privileged features.

        min  ½|w|² + γ/2 |w*|² + Σ cᵢ tᵢ   with   log(1 + exp(−yᵢ(⟨w, xᵢ⟩ + b))) ≤ tᵢ,
        tᵢ = ⟨w*, xᵢ*⟩ + b*

    The hinge of SVM+ is replaced by the logistic loss; tᵢ ≥ 0 then follows by itself.
    With multipliers αᵢ ≥ 0 the classifier's part is an ordinary logistic regression in
    which sample i has the weight αᵢ, and w* = Σ (αᵢ − cᵢ) xᵢ*/γ, Σ αᵢ = Σ cᵢ: the
    privileged features decide where weight may be moved. The central path is followed
    until the duality gap, relative to 1 + objective, is below `tolerance`.
    """
    n, rank = Z.shape
    one = np.ones((n, 1))
    E, F = y[:, None] * np.hstack([Z, one]), np.hstack([Z_star, one])
    k = E.shape[1]
    P = np.concatenate([np.ones(rank), [0.0], np.full(Z_star.shape[1], gamma), [0.0]])
    linear_cost = np.concatenate([np.zeros(k), F.T @ c])
    x = np.zeros(len(P))
    x[-1] = np.log(2.0) + 1.0

    def bounds_minus_losses(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute the bounds minus the losses, and the margins."""
        margin = E @ x[:k]
        return F @ x[k:] - np.logaddexp(0.0, -margin), margin

    def value(x: FloatArray) -> float:
        return float(0.5 * x @ (P * x) + linear_cost @ x)

    tau, steps = n / (1.0 + value(x)), 0
    s, margin = bounds_minus_losses(x)
    while steps < _MAX_BARRIER_STEPS:
        while steps < _MAX_BARRIER_STEPS:
            steps += 1
            p = 1.0 / (1.0 + np.exp(np.clip(margin, -700.0, 700.0)))  # of an error
            gradient = tau * (P * x + linear_cost)
            gradient[:k] -= E.T @ (p / s)
            gradient[k:] -= F.T @ (1.0 / s)
            H = _barrier_hessian(E, F, P, p, s, tau)
            step = -cho_solve(cholesky(H), gradient)
            decrease = float(-gradient @ step)
            if decrease <= _CENTRED:
                break
            x, s, margin, moved = _backtrack(
                x, step, s, decrease, tau, value, bounds_minus_losses
            )
            if not moved:
                break
        if n / tau <= tolerance * (1.0 + abs(value(x))):
            break
        tau *= _GROWTH
    return LogisticPoint(
        x[:rank],
        float(x[rank]),
        x[k:-1],
        float(x[-1]),
        1.0 / (tau * s),
        n / tau / (1.0 + abs(value(x))),
        steps,
    )


def _barrier_hessian(
    E: FloatArray,
    F: FloatArray,
    P: FloatArray,
    p: FloatArray,
    s: FloatArray,
    tau: float,
) -> FloatArray:
    """Compute second derivatives of the objective with its barrier."""
    k = E.shape[1]
    H = np.empty((len(P), len(P)))
    H[:k, :k] = (E * (p**2 / s**2 + p * (1.0 - p) / s)[:, None]).T @ E
    H[:k, k:] = (E * (p / s**2)[:, None]).T @ F
    H[k:, :k] = H[:k, k:].T
    H[k:, k:] = (F * (1.0 / s**2)[:, None]).T @ F
    H[np.diag_indices(len(P))] += tau * P
    return H


def _backtrack(
    x: FloatArray,
    step: FloatArray,
    s: FloatArray,
    decrease: float,
    tau: float,
    value: Any,
    bounds_minus_losses: Any,
) -> tuple[FloatArray, FloatArray, FloatArray, bool]:
    """Halve the step size until all bounds hold and the barrier function falls."""
    old_value = tau * value(x) - np.log(s).sum()
    step_size = 1.0
    for _ in range(60):
        new_x = x + step_size * step
        new_s, margin = bounds_minus_losses(new_x)
        if new_s.min() > 0:
            new_value = tau * value(new_x) - np.log(new_s).sum()
            if new_value <= old_value - 0.1 * step_size * decrease + ROUNDED * abs(
                old_value
            ):
                return new_x, new_s, margin, True
        step_size /= 2
    return x, s, bounds_minus_losses(x)[1], False

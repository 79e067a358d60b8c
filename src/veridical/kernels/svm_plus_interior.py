"""SVM+ by interior points: slower than pivoting, and never at a loss.

Gram matrices come in factors, ``K = Z Zᵀ``, so that a matrix of low rank makes the work
less instead of the equations singular; for linear kernels the features themselves are
factors. Before anything else the problem is brought to one size: with ``Z/√κ`` and
``Z*/√κ*`` for Z and Z*, κ times the objective is the objective for κc and γκ/κ*, so
that rows of length 1 can be had at once, and an optimum of about 1 by a factor T.

| symbol | meaning                                                   | shape     |
|--------|-----------------------------------------------------------|-----------|
| Z, Z*  | factors of the Gram matrices, of rank r and r*            | (n, r)    |
| E      | [y Z, y]: margins ``y f`` are ``E (w, b)``                | (n, r+1)  |
| F      | [Z*, 1], without b* Z* alone: slacks ξ are ``F (w*, b*)`` | (n, r*+1) |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dsyrk

from veridical._core.arrays import FloatArray
from veridical.kernels.interior import Point, follow

#: A point that is further off is looked for again, at another size.
_GOOD = 1e-9
#: How often.
_ATTEMPTS = 3


@dataclass(frozen=True, eq=False)
class _Hinge:
    """Margins and slacks of all cases as one program."""

    E: FloatArray
    F: FloatArray
    curve: FloatArray
    price: FloatArray
    limit: FloatArray

    def forward(self, x: FloatArray) -> FloatArray:
        k = self.E.shape[1]
        slack = self.F @ x[k:]
        return np.concatenate([self.E @ x[:k] + slack, slack])

    def backward(self, z: FloatArray) -> FloatArray:
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

    def pull(self, z: FloatArray) -> float:
        return float(np.abs(self.backward(z)).max() / z[: len(self.E)].sum())


@dataclass(frozen=True, eq=False)
class _Margins:
    """Margins alone, ``B x ≥ 1``; `plain` are all features in one size."""

    B: FloatArray
    plain: FloatArray
    curve: FloatArray
    price: FloatArray
    limit: FloatArray

    def forward(self, x: FloatArray) -> FloatArray:
        return self.B @ x

    def backward(self, z: FloatArray) -> FloatArray:
        return self.B.T @ z

    def normal(self, D: FloatArray) -> FloatArray:
        return dsyrk(1.0, np.sqrt(D)[:, None] * self.B, trans=1, lower=1)

    def pull(self, z: FloatArray) -> float:
        return float(np.abs(self.plain.T @ z).max() / z.sum())


@dataclass(frozen=True, eq=False)
class Interior:
    """Where the interior point method came to a halt.

    Parameters
    ----------
    w, b, w_star, b_star : array or float
        In the coordinates of the factors.
    alpha, beta, margin, slack : arrays of shape (n,)
        The multipliers; what margins have beyond 1 − ξ, and ξ.
    infeasible : bool
        Whether multipliers were found that no weights can meet.
    n_steps : int
        How many it took.
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


def _size(Z: FloatArray) -> float:
    """Mean squared length of the rows."""
    return float(np.einsum("ij,ij->", Z, Z) / len(Z)) or 1.0


def solve_interior(
    Z: FloatArray,
    Z_star: FloatArray,
    y: FloatArray,
    c: FloatArray,
    gamma: float,
    *,
    bias: bool,
    good: float = _GOOD,
) -> Interior:
    """Minimise ½|w|² + γ/2 |w*|² + Σ cᵢξᵢ with margins at least 1 − ξ and ξ ≥ 0.

    Every step costs one Cholesky decomposition of as many rows as there are weights. A
    point further off than `good` is looked for again.
    """
    n, rank = Z.shape
    size, size_star = _size(Z), _size(Z_star)
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
    price = np.concatenate([np.zeros(k), F.T @ c])
    limit = np.concatenate([np.ones(n), np.zeros(n)])
    point, total, steps = _attempt(_Hinge(E, F, curve, price, limit), c, bias, good)
    x, s, z = point.x, point.s, point.z * (total / size)
    return Interior(
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


def _attempt(
    program: _Hinge, c: FloatArray, bias: bool, good: float
) -> tuple[Point, float, int]:
    """Guess the size of the optimum; where the guess was poor, take what was found."""
    n, steps = len(c), 0
    total = float(c.sum())  # what slack 1 costs for all: no optimum with b* is dearer
    if not bias:
        total = max(total, 1.0, float(program.curve.max()))
    best: Any = None
    for _ in range(_ATTEMPTS):
        x, s = np.zeros(len(program.curve)), np.ones(2 * n)
        z = np.full(2 * n, 1.0 / n)
        if bias:  # slack 2 for all is feasible, and all multipliers sum to all prices
            x[-1], s[n:] = 2.0, 2.0
            z[:n] = np.minimum(c / (2 * total), 1.0 / n)
            z[n:] = c / total - z[:n]
        scaled = _Hinge(
            program.E,
            program.F,
            program.curve / total,
            program.price / total,
            program.limit,
        )
        point = follow(scaled, x, s, z)
        steps += point.n_steps
        if point.infeasible:
            return point, total, steps
        if best is None or point.off < best[0].off:
            best = (point, total)
        value = 0.5 * point.x @ (scaled.curve * point.x) + scaled.price @ point.x
        if point.off <= good or not np.isfinite(value) or value <= 0.0:
            break
        total *= float(value)
    return *best, steps


@dataclass(frozen=True, eq=False)
class SquaredInterior:
    """Where interior points came to a halt with squared slacks.

    Parameters
    ----------
    w, v : arrays
        Weights in the coordinates of the factors.
    alpha : array of shape (n,)
        The multipliers.
    bend : float
        αᵀHα, what the slacks take from the dual.
    infeasible : bool
        Whether multipliers were found that no weights can meet.
    n_steps : int
        How many it took.
    """

    w: FloatArray
    v: FloatArray
    alpha: FloatArray
    bend: float
    infeasible: bool
    n_steps: int


def solve_squared_margins(
    Z: FloatArray, F: FloatArray, y: FloatArray, c: FloatArray, gamma: float
) -> SquaredInterior:
    """Minimise ½|w|² + γ/2 |v|² + ½ Σ cᵢξᵢ² with margins at least 1 − ξ, ξ = F v.

    With ``u = R v``, RᵀR = γI + Σ cᵢ fᵢ fᵢᵀ, it is ½|w|² + ½|u|² that is minimised.
    Biases are weights of a constant among the features.
    """
    k, root = Z.shape[1], np.sqrt(c)[:, None]
    signed, size_star = y[:, None] * Z, np.sqrt(_size(F))
    R = np.linalg.qr(np.vstack([root * F, np.sqrt(gamma) * np.eye(F.shape[1])]), "r")
    part = solve_triangular(R, F.T, trans=1).T
    B = np.hstack([signed, part])
    size = np.sqrt(_size(B))
    plain = np.hstack([signed / np.sqrt(_size(Z)), F / size_star])
    guess = 0.5 * size**2 * (float(c.sum()) + gamma)  # what slack 1 costs for all
    point, total, steps = _attempt_margins(B / size, plain, guess)
    alpha = point.z * (total / size**2)
    push = part.T @ alpha
    return SquaredInterior(
        point.x[:k] / size,
        solve_triangular(R, point.x[k:]) / size,
        alpha,
        float(push @ push),
        point.infeasible,
        steps,
    )


def _attempt_margins(
    B: FloatArray, plain: FloatArray, total: float
) -> tuple[Point, float, int]:
    """Guess the size of the optimum; where the guess was poor, take what was found."""
    n, k = B.shape
    steps = 0
    best: Any = None
    for _ in range(_ATTEMPTS):
        program = _Margins(B, plain, np.full(k, 1.0 / total), np.zeros(k), np.ones(n))
        point = follow(program, np.zeros(k), np.ones(n), np.full(n, 1.0 / n))
        steps += point.n_steps
        if point.infeasible:
            return point, total, steps
        if best is None or point.off < best[0].off:
            best = (point, total)
        value = 0.5 * float(point.x @ point.x)
        if point.off <= _GOOD or not np.isfinite(value) or value <= 0.0:
            break
        total = value
    return *best, steps

"""Logistic regression whose losses are bounded by a function of privileged features.

    min  ½|w|² + γ/2 |w*|² + Σ cᵢ tᵢ   with   log(1 + exp(−yᵢ(⟨w, xᵢ⟩ + b))) ≤ tᵢ,
    tᵢ = ⟨w*, xᵢ*⟩ + b*

The hinge of SVM+ is replaced by the logistic loss; tᵢ ≥ 0 then follows by itself. With
multipliers αᵢ ≥ 0 the classifier's part is an ordinary logistic regression in which
case i has the weight αᵢ, and w* = Σ (αᵢ − cᵢ) xᵢ*/γ, Σ αᵢ = Σ cᵢ: the privileged
features decide where weight may be moved. A barrier method finds the optimum.

| symbol | meaning                                               | shape     |
|--------|-------------------------------------------------------|-----------|
| E      | [y Z, y]: margins are ``E (w, b)``                    | (n, r+1)  |
| F      | [Z*, 1]: bounds t are ``F (w*, b*)``                  | (n, r*+1) |
| p      | probability of the wrong class                        | (n,)      |
| s      | what is left of the bound, t − loss                   | (n,)      |

References
----------
.. [1] S. Boyd & L. Vandenberghe, "Convex Optimization", Cambridge 2004, chapter 11.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_solve

from veridical._core.arrays import FloatArray
from veridical.kernels.interior import cholesky

_GROWTH = 20.0
_MAX_STEPS = 400


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
    tolerance: float = 1e-8,
) -> LogisticPoint:
    """Follow the central path until the duality gap is small, relative to 1 + value."""
    n, rank = Z.shape
    one = np.ones((n, 1))
    E, F = y[:, None] * np.hstack([Z, one]), np.hstack([Z_star, one])
    k = E.shape[1]
    P = np.concatenate([np.ones(rank), [0.0], np.full(Z_star.shape[1], gamma), [0.0]])
    price = np.concatenate([np.zeros(k), F.T @ c])
    x = np.zeros(len(P))
    x[-1] = np.log(2.0) + 1.0

    def room(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        margin = E @ x[:k]
        return F @ x[k:] - np.logaddexp(0.0, -margin), margin

    def value(x: FloatArray) -> float:
        return float(0.5 * x @ (P * x) + price @ x)

    tau, steps = n / (1.0 + value(x)), 0
    s, margin = room(x)
    while steps < _MAX_STEPS:
        while steps < _MAX_STEPS:
            steps += 1
            p = 1.0 / (1.0 + np.exp(np.clip(margin, -700.0, 700.0)))
            slope = tau * (P * x + price)
            slope[:k] -= E.T @ (p / s)
            slope[k:] -= F.T @ (1.0 / s)
            step = -cho_solve(cholesky(_bend(E, F, P, p, s, tau)), slope)
            promise = float(-slope @ step)
            if promise <= 1e-9:
                break
            x, s, margin, moved = _search(x, step, s, promise, tau, value, room)
            if not moved:
                break
        if n / tau <= tolerance * (1.0 + abs(value(x))):
            break
        tau *= _GROWTH
    gap = n / tau / (1.0 + abs(value(x)))
    return LogisticPoint(
        x[:rank],
        float(x[rank]),
        x[k:-1],
        float(x[-1]),
        1.0 / (tau * s),
        gap,
        steps,
    )


def _bend(
    E: FloatArray,
    F: FloatArray,
    P: FloatArray,
    p: FloatArray,
    s: FloatArray,
    tau: float,
) -> FloatArray:
    """Second derivatives of the objective with its barrier."""
    k = E.shape[1]
    H = np.empty((len(P), len(P)))
    H[:k, :k] = (E * (p**2 / s**2 + p * (1.0 - p) / s)[:, None]).T @ E
    H[:k, k:] = (E * (p / s**2)[:, None]).T @ F
    H[k:, :k] = H[:k, k:].T
    H[k:, k:] = (F * (1.0 / s**2)[:, None]).T @ F
    H[np.diag_indices(len(P))] += tau * P
    return H


def _search(
    x: FloatArray,
    step: FloatArray,
    s: FloatArray,
    promise: float,
    tau: float,
    value: Any,
    room: Any,
) -> tuple[FloatArray, FloatArray, FloatArray, bool]:
    """Halve the step until all bounds hold and the barrier function falls."""
    here = tau * value(x) - np.log(s).sum()
    length = 1.0
    for _ in range(60):
        ahead = x + length * step
        left, margin = room(ahead)
        if left.min() > 0:
            there = tau * value(ahead) - np.log(left).sum()
            if there <= here - 0.1 * length * promise + 1e-13 * abs(here):
                return ahead, left, margin, True
        length /= 2
    return x, s, room(x)[1], False

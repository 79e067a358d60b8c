"""The end of a descent: an augmented Lagrangian method for many sparse features.

Coordinate descent comes near the optimum and then crawls. From its multipliers z the
weights follow as the minimum of

    φ(x) = ½|x|² + qᵀx + |max(0, z + σ(h − A x))|² / 2σ

and the next multipliers are ``max(0, z + σ(h − A x))`` [1]_. φ is quadratic in pieces:
Newton steps find its minimum in a few rounds, each solving with ``I + σ A_JᵀA_J``, for
the constraints J that count, by conjugate gradients. Nothing but products with the
features is needed. The larger σ is, the sooner the multipliers arrive.

| symbol | meaning                                                    | shape |
|--------|------------------------------------------------------------|-------|
| E      | yᵢ(xᵢ, 1): margins are ``E w``                             | (n, p)|
| F      | (xᵢ*, 1)/√γ: slacks are ``F u``, u = √γ (w*, b*)           | (n, q)|
| x      | w and u                                                    |       |
| A, h   | [E, F; 0, F] and (1, 0): constraints ``A x ≥ h``           |       |
| z      | multipliers α and β                                        | (2n,) |

References
----------
.. [1] X. Li, D. Sun & K.-C. Toh, "A highly efficient semismooth Newton augmented
   Lagrangian method for solving lasso problems", SIAM J. Optim. 28 (2018).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray

#: Rounds, Newton steps in a round, products in a Newton step.
_ROUNDS, _STEPS, _PRODUCTS = 60, 25, 500
#: σ grows so much when multipliers settle slowly.
_GROWTH = 4.0
#: Looks for the length of a step; the share of the slope that is as good as none.
_LOOKS, _LEVEL = 60, 1e-3


@dataclass(eq=False)
class Rows:
    """All constraints, as products with sparse features.

    Parameters
    ----------
    E, F : CSR matrices of shape (n, p) and (n, q)
        See the notation above.
    price : array of shape (p + q,)
        q.
    """

    E: Any
    F: Any
    price: FloatArray
    limit: FloatArray = field(init=False)
    _Et: Any = field(init=False)
    _Ft: Any = field(init=False)

    def __post_init__(self) -> None:
        n = self.E.shape[0]
        self.limit = np.concatenate([np.ones(n), np.zeros(n)])
        self._Et, self._Ft = self.E.T.tocsr(), self.F.T.tocsr()

    def forward(self, x: FloatArray) -> FloatArray:
        """Multiply by A."""
        p = self.E.shape[1]
        slack = self.F @ x[p:]
        return np.concatenate([self.E @ x[:p] + slack, slack])

    def weights(self, z: FloatArray) -> FloatArray:
        """Give the weights that multipliers stand for: ``Aᵀz − q``."""
        n = self.E.shape[0]
        both = z[:n] + z[n:]
        return np.concatenate([self._Et @ z[:n], self._Ft @ both]) - self.price

    def curve(self, active: Any, sigma: float) -> tuple[Any, FloatArray]:
        """Give what multiplies by ``I + σ A_JᵀA_J``, and the diagonal of that."""
        n, p = self.E.shape
        met, tight = np.flatnonzero(active[:n]), np.flatnonzero(active[n:])
        E, F, G = self.E[met], self.F[met], self.F[tight]
        Et, Ft, Gt = E.T.tocsr(), F.T.tocsr(), G.T.tocsr()

        def apply(d: FloatArray) -> FloatArray:
            margin, slack = E @ d[:p] + F @ d[p:], G @ d[p:]
            back = np.concatenate([Et @ margin, Ft @ margin + Gt @ slack])
            return d + sigma * back

        squares = np.concatenate([_squares(E), _squares(F) + _squares(G)])
        return apply, 1.0 + sigma * squares


def _squares(M: Any) -> FloatArray:
    return np.asarray(M.multiply(M).sum(axis=0)).ravel()


def _solve(
    apply: Any, diagonal: FloatArray, right: FloatArray, tolerance: float
) -> FloatArray:
    """Conjugate gradients, divided by the diagonal."""
    d, left = np.zeros(len(right)), right.copy()
    scaled = left / diagonal
    along, size = scaled.copy(), float(left @ scaled)
    for _ in range(_PRODUCTS):
        if np.linalg.norm(left) <= tolerance or size <= 0.0:
            break
        bent = apply(along)
        length = size / float(along @ bent)
        d += length * along
        left -= length * bent
        scaled = left / diagonal
        before, size = size, float(left @ scaled)
        along = scaled + size / before * along
    return d


def _minimise(
    rows: Rows, x: FloatArray, z: FloatArray, sigma: float, tolerance: float, most: int
) -> tuple[FloatArray, FloatArray, int]:
    """Minimise φ by Newton steps: the weights, ``A x``, and how many it took."""
    made, floor = rows.forward(x), 1e-13 * (1.0 + float(np.linalg.norm(rows.price)))
    scale = 1.0 + float(np.linalg.norm(rows.price))
    for step in range(most):
        pushed = np.maximum(z + sigma * (rows.limit - made), 0.0)
        slope = x - rows.weights(pushed)
        steep = float(np.linalg.norm(slope))
        if steep <= max(tolerance, floor):
            return x, made, step
        apply, diagonal = rows.curve(pushed > 0.0, sigma)
        exact = 0.1 * min(0.1, np.sqrt(steep / scale)) * steep
        d = _solve(apply, diagonal, -slope, exact)
        ahead = rows.forward(d)
        before = z + sigma * (rows.limit - made)
        length = _walk(float(d @ (x + rows.price)), float(d @ d), before, ahead, sigma)
        if length == 0.0:
            return x, made, step + 1  # rounding hides any further progress
        x, made = x + length * d, made + length * ahead
    return x, made, most


def _walk(
    slope: float, bend: float, before: FloatArray, ahead: FloatArray, sigma: float
) -> float:
    """Find how far to go along d: there the slope of φ vanishes.

    The slope ``slope + t·bend − Σ aheadᵢ max(0, beforeᵢ − σ t aheadᵢ)`` grows with t,
    in straight pieces. The values of φ itself would drown in rounding where C/γ is
    large.
    """

    def look(t: float) -> tuple[float, float]:
        left = before - sigma * t * ahead
        on = left > 0.0
        met = ahead[on]
        return slope + t * bend - float(met @ left[on]), bend + sigma * float(met @ met)

    start, _ = look(0.0)
    if start >= 0.0:
        return 0.0
    t, low, high = 1.0, 0.0, np.inf
    for _ in range(_LOOKS):
        here, curve = look(t)
        if abs(here) <= -_LEVEL * start:
            break
        low, high = (t, high) if here < 0.0 else (low, t)
        t -= here / curve
        if not low < t < high:
            t = (low + high) / 2 if high < np.inf else 2 * low
    return t


def finish(
    rows: Rows,
    z: FloatArray,
    sigma: float,
    judge: Callable[[FloatArray, FloatArray, FloatArray], bool],
    max_steps: int,
) -> int:
    """Improve multipliers until `judge` is content; the number of Newton steps.

    `judge` is shown the multipliers after every round, the weights they stand for, and
    those that minimise φ. Exactly minimised, both weights are the same; otherwise the
    former carry C/γ times the error.
    """
    x, steps, before = rows.weights(z), 0, np.inf
    tolerance = 1e-3 * float(np.linalg.norm(rows.price))
    for _ in range(_ROUNDS):
        most = min(_STEPS, max_steps - steps)
        if most <= 0:
            break
        x, made, took = _minimise(rows, x, z, sigma, tolerance, most)
        steps += took
        new = np.maximum(z + sigma * (rows.limit - made), 0.0)
        moved = float(np.linalg.norm(new - z)) / sigma
        z = new
        if judge(z, rows.weights(z), x):
            break
        if moved > 0.3 * before:
            sigma *= _GROWTH
        before, tolerance = moved, 1e-2 * moved * np.sqrt(sigma)
    return steps

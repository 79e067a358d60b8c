"""The ordinary support vector machine: every case has a slack of its own.

    max  Σa − ½ aᵀQa   with   0 ≤ a ≤ c, yᵀa = 0

Steps of SMO are enough for most problems; interior points for the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray
from veridical.kernels.interior import factor, follow
from veridical.kernels.svm import descend, solve_dual
from veridical.kernels.svm_box import solve_box
from veridical.kernels.svm_plus_cases import SMALL, Cases, Solution, States
from veridical.kernels.svm_plus_gap import relative_gap, shrink_to_balance

#: Steps of SMO per case in search of a start.
_PATIENCE = 20
#: A solution with a larger gap is not believed.
_GOOD_GAP = 1e-8
#: Up to so many cases slacks can be among the unknowns.
_MODEST = 1000


def descend_svm(cases: Cases, c: FloatArray) -> tuple[States, bool]:
    """States of an ordinary SVM by steps of SMO, and whether they were enough."""
    n = len(c)
    a, gradient = np.zeros(n), -np.ones(n)
    left = descend(cases.gram, cases.sign, c, a, gradient, 1e-4, _PATIENCE * n)
    return States(a > 0, a >= c), left <= 1e-4


def center_svm(cases: Cases, c: FloatArray) -> States:
    """States of an ordinary SVM by interior points."""
    a, margin, slack = solve_box(cases.gram, cases.factor, cases.sign, c)
    return States(a / c > margin, slack > 1 - a / c)


def solve_plain(cases: Cases, c: FloatArray) -> Solution:
    """Solve the ordinary support vector machine.

    Steps of SMO are enough for most problems; interior points for the others.
    """
    n = len(c)
    if n <= SMALL:
        a = solve_dual(cases.gram, cases.sign, c, np.zeros(n), max_steps=_PATIENCE * n)
        found = _finish(cases, c, a)
        if found.gap <= _GOOD_GAP:
            return found
    if n > _MODEST:
        a, _, _ = solve_box(cases.gram, cases.factor, cases.sign, c, 1e-11)
        return _finish(cases, c, a)
    return _finish(cases, c, _solve_soft(cases, c))


def bias_of(wish: FloatArray, sign: FloatArray, a: FloatArray, c: FloatArray) -> float:
    """Find the bias of a support vector machine.

    `wish` is the bias at which a case meets its margin exactly. Free multipliers agree
    on it; without any, the middle of what the others allow is taken.
    """
    free = (a > 0) & (a < c)
    if free.any():
        return float(np.median(wish[free]))
    least = np.where(sign > 0, a < c, a > 0)  # these cases want at least their wish
    low, high = wish[least], wish[~least]
    if not low.size or not high.size:
        return float(low.max() if low.size else high.min())
    return float(low.max() + high.min()) / 2


def _finish(cases: Cases, c: FloatArray, a: FloatArray) -> Solution:
    """Find the bias that belongs to multipliers, and the gap they leave."""
    sign = cases.sign
    a = np.where(a < 1e-9 * c, 0.0, np.where(a > (1 - 1e-9) * c, c, a))
    b = bias_of(sign - cases.gram @ (sign * a), sign, a, c)
    states = States(a > 0, a >= c)
    a = shrink_to_balance(a, sign)
    bend = cases.gram @ (sign * a)
    half = 0.5 * float((sign * a) @ bend)
    dual = float(a.sum()) - half
    slack = np.maximum(1.0 - sign * (bend + b), 0.0)
    gap = relative_gap(half + float(c @ slack), dual)
    return Solution(a, np.zeros(len(c)), b, 0.0, dual, gap, 1, states)


# -- interior points -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Soft:
    """Margins with a slack for every case: weights, bias and slacks are one vector."""

    E: FloatArray
    curve: FloatArray
    price: FloatArray
    limit: FloatArray

    def forward(self, x: FloatArray) -> FloatArray:
        k = self.E.shape[1]
        return np.concatenate([self.E @ x[:k] + x[k:], x[k:]])

    def backward(self, z: FloatArray) -> FloatArray:
        n = len(self.E)
        return np.concatenate([self.E.T @ z[:n], z[:n] + z[n:]])

    def normal(self, D: FloatArray) -> FloatArray:
        n, k = self.E.shape
        H = np.zeros((k + n, k + n))
        H[k:, :k] = D[:n, None] * self.E
        H[:k, :k] = self.E.T @ H[k:, :k]
        H[np.arange(k, k + n), np.arange(k, k + n)] = D[:n] + D[n:]
        return H

    def pull(self, z: FloatArray) -> float:  # slacks can meet any margin
        return 1.0


def _solve_soft(cases: Cases, c: FloatArray) -> FloatArray:
    """Multipliers from a program of one size, as in `svm_plus_interior`."""
    n = len(c)
    means = cases.gram.mean(axis=0)
    centred = cases.gram - means - means[:, None] + means.mean()
    Z, _ = factor(centred)
    size = float(np.einsum("ij,ij->", Z, Z) / n) or 1.0
    E = cases.sign[:, None] * np.hstack([Z / np.sqrt(size), np.ones((n, 1))])
    k, total = E.shape[1], size * float(c.sum())
    share = size * c / total
    curve = np.zeros(k + n)
    limit = np.concatenate([np.ones(n), np.zeros(n)])
    best: Any = None
    for _ in range(2):
        curve[: k - 1] = 1.0 / total
        price = np.concatenate([np.zeros(k), share])
        x = np.concatenate([np.zeros(k), np.full(n, 2.0)])
        z = np.minimum(share / 2, 1.0 / n)
        point = follow(
            _Soft(E, curve, price, limit), x, limit * -1.0 + 2.0,
            np.concatenate([z, share - z]),
        )  # fmt: skip
        if best is None or point.off < best[0].off:
            best = (point, total)
        value = float(0.5 * point.x @ (curve * point.x) + price @ point.x)
        if point.off <= 1e-10 or not 0.0 < value < 1e-2:
            break
        total, share = total * value, share / value  # hardly any slack: a smaller size
    point, total = best
    return point.z[:n] * (total / size)

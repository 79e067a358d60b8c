"""SVM+ on the features themselves, without Gram matrices, by interior points.

For linear kernels the features are factors of their Gram matrices. With few of them a
step costs ``n (p + p*)²`` however many cases there are; and weights that are sums of
large multipliers, which cancel, keep their digits. Where features outnumber cases an
orthogonal basis of their span takes their place.

| symbol | meaning                             | shape     |
|--------|-------------------------------------|-----------|
| X, X*  | features and privileged features    | (n, p)    |
| A, B   | bases: ``X = Z Aᵀ`` with AᵀA = I    | (p, rank) |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray
from veridical.kernels.svm_plus_cases import InfeasibleError
from veridical.kernels.svm_plus_feasible import exists
from veridical.kernels.svm_plus_gap import (
    ROUNDING,
    cost_of_margins,
    relative_gap,
    shrink_to_balance,
    stretch,
)
from veridical.kernels.svm_plus_interior import solve_interior, solve_squared_margins

#: An answer with a larger gap is no answer.
_POOR_GAP = 1e-6


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """Weights, with what it takes to believe them.

    Parameters
    ----------
    w, w_star : arrays
        Weights of the features and of the privileged ones.
    b, b_star : float
        Biases.
    alpha : array of shape (n,)
        Multipliers of the margins; ``Σ αᵢ yᵢ xᵢ`` is w up to rounding.
    objective, gap : float
        As in `veridical.kernels.svm_plus_cases.Solution`.
    n_rounds : int
        Linear systems solved, or sweeps.
    """

    w: FloatArray
    b: float
    w_star: FloatArray
    b_star: float
    alpha: FloatArray
    objective: float
    gap: float
    n_rounds: int


def _basis(X: FloatArray) -> tuple[FloatArray, Any]:
    """Coordinates Z of the rows, and the basis they refer to; None for no change."""
    n, p = X.shape
    if p <= n:
        return X, None
    Q, R = np.linalg.qr(X.T)
    return np.ascontiguousarray(R.T), Q


def _back(w: FloatArray, basis: Any) -> FloatArray:
    return w if basis is None else basis @ w


@dataclass(frozen=True, eq=False)
class Linear:
    """A two-class problem with linear kernels.

    Parameters
    ----------
    X, X_star : arrays of shape (n, p) and (n, p*)
        Features and privileged features.
    sign : array of shape (n,)
        +1 or −1; both occur.
    c : array of shape (n,)
        C times the weight of a case.
    gamma : float
        Weight of the privileged weights.
    bias : bool
        Whether slacks have a constant b*.
    """

    X: FloatArray
    X_star: FloatArray
    sign: FloatArray
    c: FloatArray
    gamma: float
    bias: bool

    # -- the hinge -------------------------------------------------------------------

    def solve_hinge(self) -> LinearSolution:
        """Solve with the hinge loss; both biases are free.

        Raises
        ------
        InfeasibleError
            If no weights meet the constraints; only possible without b*.
        """
        centre = self.X.mean(axis=0)
        centre_star = self.X_star.mean(axis=0) * self.bias
        Z, basis = _basis(self.X - centre)
        Z_star, basis_star = _basis(self.X_star - centre_star)
        inner = solve_interior(Z, Z_star, self.sign, self.c, self.gamma, bias=self.bias)
        if inner.infeasible:
            raise InfeasibleError
        w, v = _back(inner.w, basis), _back(inner.w_star, basis_star)
        alpha = shrink_to_balance(inner.alpha, self.sign)
        dual = self._promise(alpha, inner.beta, Z, Z_star)
        found = LinearSolution(
            w,
            inner.b - float(centre @ w),
            v,
            inner.b_star - float(centre_star @ v),
            alpha,
            dual,
            relative_gap(
                self._cost(Z @ inner.w + inner.b, Z_star @ inner.w_star + inner.b_star,
                           inner.w, inner.w_star, Z_star),
                dual,
            ),
            inner.n_steps,
        )  # fmt: skip
        if found.gap > _POOR_GAP and not self._solvable():
            raise InfeasibleError
        return found

    def _solvable(self, *, squared: bool = False) -> bool:
        return self.bias or exists(self.X, self.X_star, self.sign, squared=squared)

    def _promise(
        self, alpha: FloatArray, beta: FloatArray, Z: FloatArray, Z_star: FloatArray
    ) -> float:
        """Dual objective of multipliers, none negative."""
        if self.bias:
            # With b* all multipliers together are as much as all prices.
            beta = beta * (max(0.0, self.c.sum() - alpha.sum()) / beta.sum())
        bend = (alpha * self.sign) @ Z
        push = (alpha + beta - self.c) @ Z_star
        half = 0.5 * float(bend @ bend) + 0.5 * float(push @ push) / self.gamma
        return max(0.0, float(alpha.sum()) - half)

    def _cost(
        self,
        scores: FloatArray,
        slack: FloatArray,
        w: FloatArray,
        v: FloatArray,
        Z_star: FloatArray,
    ) -> float:
        """Objective of the weights, once slacks below zero and margins are mended."""
        below = max(0.0, -float(slack.min()))
        if below > 0.0 and self.bias:
            slack = slack + below
        elif below > 0.0:
            u = find_lift(Z_star)
            if u.size:
                v = v + below * u
                slack = Z_star @ v
            elif below > ROUNDING * max(1.0, float(slack.max())):
                return np.inf
            slack = np.maximum(slack, 0.0)
        half = 0.5 * float(w @ w) + 0.5 * self.gamma * float(v @ v)
        return cost_of_margins(half, self.sign * scores, slack, self.c, bias=self.bias)

    # -- squared slacks --------------------------------------------------------------

    def solve_squared(self) -> LinearSolution:
        """Solve with squared slacks; both biases are penalised like weights.

        Raises
        ------
        InfeasibleError
            If no weights meet the constraints; only possible without b*.
        """
        one = np.ones((len(self.c), 1))
        Z, basis = _basis(self.X)
        Z_star, basis_star = _basis(self.X_star)
        wide = np.hstack([Z_star, one]) if self.bias else Z_star
        inner = solve_squared_margins(
            np.hstack([Z, one]), wide, self.sign, self.c, self.gamma
        )
        if inner.infeasible:
            raise InfeasibleError
        w, v, alpha = inner.w, inner.v, inner.alpha
        slack = wide @ v
        cost = 0.5 * float(w @ w) + 0.5 * self.gamma * float(v @ v)
        cost += 0.5 * float(self.c @ slack**2)
        cost = stretch(cost, self.sign * (Z @ w[:-1] + w[-1]), slack)
        bend = np.append((alpha * self.sign) @ Z, self.sign @ alpha)
        dual = float(alpha.sum()) - 0.5 * float(bend @ bend) - 0.5 * inner.bend
        dual = max(0.0, dual)
        found = LinearSolution(
            _back(w[:-1], basis),
            float(w[-1]),
            _back(v[: Z_star.shape[1]], basis_star),
            float(v[-1]) if self.bias else 0.0,
            alpha,
            dual,
            relative_gap(cost, dual),
            inner.n_steps,
        )
        if found.gap > _POOR_GAP and not self._solvable(squared=True):
            raise InfeasibleError
        return found


def find_lift(X_star: Any) -> FloatArray:
    """Find weights that give every case a slack of at least 1; empty if none found."""
    n = X_star.shape[0]
    tries = [np.asarray(X_star.T @ np.ones(n)).ravel()]
    if isinstance(X_star, np.ndarray) and X_star.shape[1] <= n:
        tries.append(np.linalg.lstsq(X_star, np.ones(n), rcond=None)[0])
    for u in tries:
        slack = X_star @ u
        least = float(slack.min())
        if least > 1e-6 * float(slack.max()):
            return u / least
    return np.zeros(0)

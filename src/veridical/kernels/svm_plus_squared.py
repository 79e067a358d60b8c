"""SVM+ with squared slacks: one quadratic problem with no bound but zero.

    min  ½|w|² + γ/2 |w*|² + ½ Σ cᵢ ξᵢ²   with   yᵢ⟨w, xᵢ⟩ ≥ 1 − ξᵢ,  ξᵢ = ⟨w*, xᵢ*⟩

Both biases are weights of a constant feature, penalised like the others. With
H = (diag c + γ K*⁻¹)⁻¹ the dual is ``max Σα − ½ αᵀ(Q + H)α`` over α ≥ 0 [1]_. Who has a
positive α is guessed and corrected; where that goes in circles, steps of which each
gains go on. With few features Q + H is singular; then interior points solve the same
problem in the weights.

References
----------
.. [1] W. Li, D. Dai, M. Tan, D. Xu & L. Van Gool, "Fast algorithms for linear and
   kernel SVM+", CVPR 2016.
.. [2] C. L. Lawson & R. J. Hanson, "Solving least squares problems", 1974, chapter 23.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from veridical._core.arrays import FloatArray
from veridical.kernels.interior import factor
from veridical.kernels.svm_plus_cases import InfeasibleError, Solution, States
from veridical.kernels.svm_plus_feasible import exists
from veridical.kernels.svm_plus_gap import relative_gap, stretch
from veridical.kernels.svm_plus_interior import solve_squared_margins

_MAX_ROUNDS = 60
#: Guesses that may be no better than the best before.
_PATIENCE = 3
#: Steps where guessing goes in circles.
_MAX_STEPS = 300
#: A slope above it is none; with one of this share of the steepest a case comes in.
_LEVEL, _SHARE = -1e-11, 0.5
#: A guessed solution with a larger gap is not believed,
_GOOD_GAP = 1e-9
#: unless it is so many times the rounding of the products it is judged by, and a second
#: opinion is dear: beyond so many cases.
_ROUNDINGS, FEW = 8.0, 500
#: An answer with a larger gap is no answer.
_POOR_GAP = 1e-6


@dataclass(frozen=True, eq=False)
class Slacks:
    """The privileged Gram matrix with its prices, factored once.

    With R = √diag c and M = I + R K* R/γ, H is ``R⁻¹ M⁻¹ (M − I) R⁻¹``.
    """

    gram_star: FloatArray
    c: FloatArray
    gamma: float

    @cached_property
    def _root(self) -> FloatArray:
        return np.sqrt(self.c)

    @cached_property
    def _factored(self) -> Any:
        whole = self._inner()
        whole[np.diag_indices(len(whole))] += 1.0
        return cho_factor(whole, lower=True, overwrite_a=True)

    def _inner(self) -> FloatArray:
        return self.gram_star * np.multiply.outer(self._root, self._root) / self.gamma

    def bend(self) -> FloatArray:
        """Compute H."""
        H = cho_solve(self._factored, self._inner())
        H = H / np.multiply.outer(self._root, self._root)
        return (H + H.T) / 2

    def coefficients(self, alpha: FloatArray) -> FloatArray:
        """Compute η: ``(α − c∘Hα)/γ``, without a difference of equals at large C."""
        return self._root * cho_solve(self._factored, alpha / self._root) / self.gamma


def solve_nonnegative(G: FloatArray) -> tuple[FloatArray, float, int]:
    """Maximise ``Σa − ½ aᵀGa`` over a ≥ 0: the maximiser, relative gap, rounds.

    Guess who is positive, solve, move all whose sign is wrong; where that goes in
    circles, go on in steps of which each gains. The gap is infinite where G is
    singular.
    """
    lift = 1e-13 * max(float(np.diag(G).mean()), 1e-300)
    try:
        a, solved, rounds = _guess(G, lift)
        if not solved:
            a, more = _climb(G, a, lift)
            rounds += more
    except np.linalg.LinAlgError:
        return np.zeros(len(G)), np.inf, 1
    return a, _gap(G, a), rounds


def _guess(G: FloatArray, lift: float) -> tuple[FloatArray, bool, int]:
    """Move all whose sign is wrong, until none is or their number stays."""
    n = len(G)
    active = np.ones(n, dtype=bool)
    fewest, patience = n + 1, _PATIENCE
    best = np.zeros(n)
    for rounds in range(1, _MAX_ROUNDS + 1):
        a = _solve_active(G, active, lift)
        scale = 1e-11 * max(float(np.abs(a).max()), 1e-300)
        wrong = np.where(active, a < -scale, G @ a - 1.0 < _LEVEL)
        count = int(wrong.sum())
        if count < fewest:
            fewest, patience, best = count, _PATIENCE, np.maximum(a, 0.0)
        elif patience:
            patience -= 1
        else:
            return best, False, rounds
        if count == 0:
            return best, True, rounds
        active ^= wrong
    return best, False, _MAX_ROUNDS


def _climb(G: FloatArray, a: FloatArray, lift: float) -> tuple[FloatArray, int]:
    """Go to the best among some, or as far as all stay positive, then let others in.

    Every step gains [2]_; those that would gain most come in together.
    """
    active, rounds = a > 0.0, 0
    while rounds < _MAX_STEPS:
        rounds += 1
        want = _solve_active(G, active, lift)
        below = np.flatnonzero(active & (want <= 0.0))
        if below.size:
            room = a[below] / (a[below] - want[below])
            length = float(room.min())
            a = np.maximum(a + length * (want - a), 0.0)
            active[below[room <= length * (1 + 1e-12)]] = False
            a[~active] = 0.0
            continue
        a = want
        slope = np.where(active, 0.0, G @ a - 1.0)
        least = float(slope.min())
        if least >= _LEVEL:
            break
        active |= slope <= _SHARE * least
    return a, rounds


def _solve_active(G: FloatArray, active: Any, lift: float) -> FloatArray:
    a = np.zeros(len(G))
    where = np.flatnonzero(active)
    if where.size:
        part = G[np.ix_(where, where)]
        ridged = part.copy()
        ridged[np.diag_indices(where.size)] += lift
        factored = cho_factor(ridged, lower=True)
        found = cho_solve(factored, np.ones(where.size))
        found += cho_solve(factored, 1.0 - part @ found)
        a[where] = found
    return a


def _gap(G: FloatArray, a: FloatArray) -> float:
    """Relative gap; the primal point is stretched until no margin is missed."""
    Ga = G @ a
    bend, least = float(a @ Ga), float(Ga.min())
    if least <= 0.0:
        return np.inf
    return relative_gap(0.5 * bend / least**2, float(a.sum()) - 0.5 * bend)


@dataclass(frozen=True, eq=False)
class Squared:
    """A problem with squared slacks; `gram_star` without the constant."""

    gram: FloatArray
    gram_star: FloatArray
    sign: FloatArray
    c: FloatArray
    gamma: float
    bias: bool

    @cached_property
    def Q(self) -> FloatArray:
        """Signed products of the features, the constant among them."""
        return (self.gram + 1.0) * np.multiply.outer(self.sign, self.sign)

    def solve(self) -> Solution:
        """Find α, η and the two biases.

        Raises
        ------
        InfeasibleError
            If no weights meet the constraints; only possible without b*.
        """
        c, gamma = self.c, self.gamma
        wide = self.gram_star + 1.0 if self.bias else self.gram_star
        slacks = Slacks(wide, c, gamma)
        H = slacks.bend()
        G = self.Q + H
        alpha, gap, rounds = solve_nonnegative(G)
        good = _GOOD_GAP
        if len(c) > FEW:
            rounding = np.finfo(float).eps * float((np.abs(G) @ alpha).max())
            good = max(good, min(_ROUNDINGS * rounding, _POOR_GAP))
        if gap <= good:
            eta = slacks.coefficients(alpha)
            b_star = float(eta.sum()) if self.bias else 0.0
            found = self._finish(alpha, eta, b_star, float(alpha @ H @ alpha), rounds)
            if found.gap <= good:
                return found
        return self._solve_inside(rounds)

    def _solve_inside(self, rounds: int) -> Solution:
        """Solve in the weights, and find coefficients η for the privileged ones."""
        (Z, _), (F, pivots) = factor(self.gram), factor(self.gram_star)
        one = np.ones((len(Z), 1))
        wide = np.hstack([F, one]) if self.bias else F
        inner = solve_squared_margins(
            np.hstack([Z, one]), wide, self.sign, self.c, self.gamma
        )
        if inner.infeasible:
            raise InfeasibleError
        eta, b_star = np.zeros(len(Z)), float(inner.v[-1]) if self.bias else 0.0
        if pivots.size:
            eta[pivots] = np.linalg.solve(F[pivots].T, inner.v[: F.shape[1]])
        found = self._finish(
            inner.alpha, eta, b_star, inner.bend, rounds + inner.n_steps
        )
        if (
            found.gap > _POOR_GAP
            and not self.bias
            and not exists(Z, F, self.sign, squared=True)
        ):
            raise InfeasibleError
        return found

    def _finish(
        self,
        alpha: FloatArray,
        eta: FloatArray,
        b_star: float,
        bend: float,
        rounds: int,
    ) -> Solution:
        """Compare what is found with what can be proved; `bend` is αᵀHα."""
        Qa, push = self.Q @ alpha, self.gram_star @ eta
        slack = push + b_star
        half = 0.5 * float(alpha @ Qa)
        cost = half + 0.5 * self.gamma * float(eta @ push + b_star**2)
        cost = stretch(cost + 0.5 * float(self.c @ slack**2), Qa, slack)
        dual = float(alpha.sum()) - half - 0.5 * bend
        return Solution(
            alpha,
            eta,
            float(self.sign @ alpha),
            b_star,
            dual,
            relative_gap(cost, max(dual, 0.0)),
            rounds,
            States(alpha > 0, alpha > 0),
        )

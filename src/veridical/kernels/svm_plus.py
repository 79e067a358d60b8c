"""SVM+: a support vector machine whose slacks are a function of privileged features.

    min  ½|w|² + γ/2 |w*|² + Σ cᵢ ξᵢ   with   yᵢ(⟨w, xᵢ⟩ + b) ≥ 1 − ξᵢ,
    ξᵢ = ⟨w*, xᵢ*⟩ + b* ≥ 0

and its dual in well-scaled variables (α, η), w* = Σ ηᵢ xᵢ*:

    max  Σα − ½ αᵀQα − γ/2 ηᵀK*η   with   α ≥ 0, β = c − α + γη ≥ 0, yᵀα = 0, 1ᵀη = 0.

The last equation goes with b*. The dual in (α, β) would carry the constant
(C²/2γ) 1ᵀK*1, beside which the optimum drowns when C/γ is large.

Only Gram matrices enter. What depends on them alone is kept in `PrivilegedGram` and
serves every C and γ; a solution's states start the next problem near it.

References
----------
.. [1] V. Vapnik & A. Vashist, "A new learning paradigm: learning using privileged
   information", Neural Networks 22 (2009).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf, dpotri, dpotrs

from veridical._records import FloatArray
from veridical.kernels.svm import descend, solve_dual
from veridical.kernels.svm_plus_interior import factor, solve_box, solve_interior
from veridical.kernels.svm_plus_pivots import NEEDS_INVERSE, SOLVED, pivot

#: Below this the privileged Gram matrix counts as singular.
_LEAST_RCOND = 1e-11
#: A sign is wrong when it is so far beyond zero, relative to its scale.
_TOLERANCE = 1e-11
#: Steps of SMO per case in search of a start.
_PATIENCE = 20
#: Up to so many cases a whole inverse costs no more than asking for rows of it, and
#: steps of SMO are cheaper than interior points.
_SMALL = 400
#: Rounds from a start that should be right, and from one that may be.
_ROUNDS, _FEW_ROUNDS = 25, 10
#: A pivoted solution with a larger gap is not believed.
_GOOD_GAP = 1e-8
#: An answer with a larger gap is no answer.
_POOR_GAP = 1e-6
#: One with a larger gap is worth a correction.
_FINE_GAP = 1e-11


class InfeasibleError(ValueError):
    """No weights at all meet the constraints; only possible without b*."""


@dataclass(frozen=True, eq=False)
class States:
    """Who met the margin exactly, and who was allowed a slack."""

    margin: Any
    slack: Any

    def copy(self) -> States:
        """Copy both, for a solver that changes them."""
        return States(self.margin.copy(), self.slack.copy())


@dataclass(frozen=True, eq=False)
class Solution:
    """An optimum, with what it takes to believe it.

    Parameters
    ----------
    alpha, eta : arrays of shape (n,)
        ``w = Σ αᵢ yᵢ xᵢ`` and ``w* = Σ ηᵢ xᵢ*``.
    bias, privileged_bias : float
        b and b*.
    objective : float
        The dual objective, a lower bound of the primal one.
    gap : float
        Primal minus dual objective, relative to 1 + the larger; a constraint that is
        missed counts at its price c.
    n_rounds : int
        Linear systems solved.
    states : States
        To start from.
    """

    alpha: FloatArray
    eta: FloatArray
    bias: float
    privileged_bias: float
    objective: float
    gap: float
    n_rounds: int
    states: States


@dataclass(eq=False)
class PrivilegedGram:
    """A privileged Gram matrix, and what serves every C and γ.

    Parameters
    ----------
    gram : array of shape (n, n)
        K*.
    bias : bool
        Whether slacks have a constant b*.
    """

    gram: FloatArray
    bias: bool = True
    shifted: FloatArray = field(init=False)
    kappa: float = field(init=False, default=0.0)
    inverse: FloatArray = field(init=False)
    known: Any = field(init=False)
    _lower: FloatArray | None = field(init=False, default=None)
    _factor: tuple[FloatArray, Any] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.gram = np.ascontiguousarray(self.gram, dtype=np.float64)
        self.inverse = np.zeros_like(self.gram)
        self.known = np.zeros(len(self.gram), dtype=bool)
        if not self.bias:
            self.shifted = self.gram
            return
        means = self.gram.mean(axis=0)
        centred = self.gram - means
        centred -= means[:, None] - means.mean()
        n = len(means)
        self.kappa = max(float(np.trace(centred)) / n**2, 1e-300)
        self.shifted = centred + self.kappa

    @property
    def regular(self) -> bool:
        """Whether the shifted matrix can be inverted."""
        if self._lower is None:
            self._lower = _decompose(self.shifted)
        return self._lower.size > 0

    def invert(self, wanted: Any) -> bool:
        """Compute some rows of the inverse; False where the matrix is singular."""
        if not self.regular:
            return False
        n, missing = len(self.known), np.flatnonzero(wanted & ~self.known)
        if n <= _SMALL or self.known.sum() + missing.size > n // 3:
            half, _ = dpotri(self._lower, lower=1)
            half = np.tril(half)
            self.inverse[:] = half + np.tril(half, -1).T
            self.known[:] = True
        elif missing.size:
            unit = np.zeros((n, missing.size), order="F")
            unit[missing, np.arange(missing.size)] = 1.0
            rows, _ = dpotrs(self._lower, unit, lower=1)
            self.inverse[missing] = rows.T
            self.known[missing] = True
        return True

    @property
    def factor(self) -> tuple[FloatArray, Any]:
        """Factor of the (centred) matrix, and its pivots."""
        if self._factor is None:
            self._factor = factor(self.shifted - self.kappa)
        return self._factor


def _decompose(matrix: FloatArray) -> FloatArray:
    """Cholesky factor, or nothing where the matrix is as good as singular."""
    lower, failed = dpotrf(matrix, lower=1, clean=1)
    if failed:
        return np.zeros((0, 0))
    rcond, _ = dpocon(lower, np.abs(matrix).sum(axis=0).max(), uplo="L")
    return lower if rcond > _LEAST_RCOND else np.zeros((0, 0))


@dataclass(eq=False)
class Cases:
    """Training cases of a two-class problem.

    Parameters
    ----------
    gram : array of shape (n, n)
        K.
    sign : array of shape (n,)
        +1 or −1; both occur.
    """

    gram: FloatArray
    sign: FloatArray
    Q: FloatArray = field(init=False)
    ridge: float = field(init=False)
    words: Any = field(init=False)
    _factor: FloatArray | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.gram = np.ascontiguousarray(self.gram, dtype=np.float64)
        self.sign = np.ascontiguousarray(self.sign, dtype=np.float64)
        self.Q = self.gram * np.multiply.outer(self.sign, self.sign)
        self.ridge = 1e-12 * max(float(np.diag(self.Q).mean()), 1e-300)
        n = len(self.sign)
        rng = np.random.default_rng(0)  # words to tell sets of states apart, no more
        self.words = rng.integers(2**62, size=2 * n)

    @property
    def factor(self) -> FloatArray:
        """Factor of K."""
        if self._factor is None:
            self._factor = factor(self.gram)[0]
        return self._factor


def solve_hinge(
    cases: Cases,
    privileged: PrivilegedGram,
    c: FloatArray,
    gamma: float,
    start: States | None = None,
) -> Solution:
    """Solve SVM+ with the hinge loss, exactly.

    The states of a start, or else of the ordinary support vector machine (the limit
    γ → 0), are pivoted to those of the solution. Where that fails, or the privileged
    Gram matrix is singular, interior points find them.

    Raises
    ------
    InfeasibleError
        If no weights meet the constraints.
    """
    effort = _Effort(cases, privileged, c, gamma)
    if start is not None:
        found = effort.pivot(start.copy(), _FEW_ROUNDS)
        if found is not None:
            return found
    if len(c) <= _SMALL:
        begin, sure = _descend_svm(cases, c)
        found = effort.pivot(begin, _ROUNDS if sure else _FEW_ROUNDS)
        if found is not None:
            return found
        if sure:
            return effort.solve_inside()
    found = effort.pivot(_center_svm(cases, c), _ROUNDS)
    return effort.solve_inside() if found is None else found


def _descend_svm(cases: Cases, c: FloatArray) -> tuple[States, bool]:
    """States of an ordinary SVM by steps of SMO, and whether they were enough."""
    n = len(c)
    a, gradient = np.zeros(n), -np.ones(n)
    left = descend(cases.gram, cases.sign, c, a, gradient, 1e-4, _PATIENCE * n)
    return States(a > 0, a >= c), left <= 1e-4


def _center_svm(cases: Cases, c: FloatArray) -> States:
    """States of an ordinary SVM by interior points."""
    a, margin, slack = solve_box(cases.gram, cases.factor, cases.sign, c)
    return States(a / c > margin, slack > 1 - a / c)


def solve_plain(cases: Cases, c: FloatArray) -> Solution:
    """Solve the ordinary support vector machine: every case has a slack of its own.

    Steps of SMO are enough for most problems; interior points for the others.
    """
    n = len(c)
    if n <= _SMALL:
        a = solve_dual(cases.gram, cases.sign, c, np.zeros(n), max_steps=_PATIENCE * n)
        found = _finish_plain(cases, c, a)
        if found.gap <= _GOOD_GAP:
            return found
    a, _, _ = solve_box(cases.gram, cases.factor, cases.sign, c, 1e-11)
    return _finish_plain(cases, c, a)


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


def _finish_plain(cases: Cases, c: FloatArray, a: FloatArray) -> Solution:
    """Find the bias that belongs to multipliers, and the gap they leave."""
    sign = cases.sign
    a = np.where(a < 1e-9 * c, 0.0, np.where(a > (1 - 1e-9) * c, c, a))
    bend = cases.gram @ (sign * a)
    b = bias_of(sign - bend, sign, a, c)
    half = 0.5 * float((sign * a) @ bend)
    dual = float(a.sum()) - half
    slack = np.maximum(1.0 - sign * (bend + b), 0.0)
    primal = half + float(c @ slack)
    gap = abs(primal - dual) / (1.0 + max(abs(primal), abs(dual)))
    return Solution(a, np.zeros(len(c)), b, 0.0, dual, gap, 1, States(a > 0, a >= c))


@dataclass(eq=False)
class _Effort:
    """One problem, and what was spent on it so far."""

    cases: Cases
    privileged: PrivilegedGram
    c: FloatArray
    gamma: float
    n_rounds: int = 0

    def pivot(self, states: States, most: int) -> Solution | None:
        """Try to pivot; rows of the inverse are computed when slacks need them."""
        cases, privileged = self.cases, self.privileged
        while True:
            try:
                ended, rounds, a, h, b, b_star = pivot(
                    cases.Q, cases.sign, self.c, float(self.gamma), privileged.shifted,
                    privileged.inverse, privileged.known, privileged.kappa,
                    states.margin, states.slack, cases.ridge, _TOLERANCE, cases.words,
                    most,
                )  # fmt: skip
            except np.linalg.LinAlgError:
                return None
            self.n_rounds += rounds
            if ended != NEEDS_INVERSE:
                break
            if not privileged.invert(states.slack):
                return None
        if ended != SOLVED:
            return None
        a = np.maximum(a, 0.0)
        found = self._finish(a, h, b, b_star, states)
        if found.gap > _FINE_GAP and privileged.invert(states.slack):
            again = self._finish(a, *self._refine(a, b, h, b_star, states), states)
            found = again if again.gap < found.gap else found
        return found if found.gap <= _GOOD_GAP else None

    def _refine(
        self, a: FloatArray, b: float, h: FloatArray, b_star: float, states: States
    ) -> tuple[FloatArray, float, float]:
        """Take slacks from the margins, and η from the slacks.

        Where γ is small, (α − c)/γ has lost the digits that α and c share.
        """
        privileged = self.privileged
        slack = privileged.shifted @ h + b_star
        met = states.margin & states.slack
        slack[met] = (1.0 - self.cases.Q @ a - b * self.cases.sign)[met]
        slack[~states.slack] = 0.0
        h = privileged.inverse[states.slack].T @ slack[states.slack]
        if not privileged.bias:
            return h, b, 0.0
        return h - h.mean(), b, float(slack.mean())

    def solve_inside(self) -> Solution:
        """Solve by interior points, and pivot from there for the last digits."""
        cases, c, privileged = self.cases, self.c, self.privileged
        Z_star, pivots = privileged.factor
        inner = solve_interior(
            cases.factor, Z_star, cases.sign, c, self.gamma, bias=privileged.bias
        )
        if inner.infeasible:
            raise InfeasibleError
        self.n_rounds += inner.n_steps
        scale = max(float(inner.alpha.max()), 1e-300)
        states = States(
            inner.alpha / scale > inner.margin, inner.slack > inner.beta / c
        )
        if privileged.regular:
            sure = self.pivot(states.copy(), _FEW_ROUNDS)
            if sure is not None:
                return sure
        eta = (inner.alpha + inner.beta - c) / self.gamma
        if privileged.bias:
            eta -= eta.mean()
        if pivots.size:  # the digits that rounding took when γ is small
            lost = inner.w_star - Z_star.T @ eta
            eta[pivots] += np.linalg.solve(Z_star[pivots].T, lost)
        found = self._finish(inner.alpha, eta, inner.b, inner.b_star, states)
        if found.gap > _POOR_GAP and not privileged.bias:
            # Prices do not decide whether weights exist, but small ones hide it.
            one = np.ones(len(c))
            fair = solve_interior(
                cases.factor, Z_star, cases.sign, one, 1.0, bias=False
            )
            if fair.infeasible:
                raise InfeasibleError
        return found

    def _finish(
        self, a: FloatArray, eta: FloatArray, b: float, b_star: float, states: States
    ) -> Solution:
        """Compare primal and dual objective of what was found."""
        sign = self.cases.sign
        Qa = self.cases.Q @ a
        push = self.privileged.gram @ eta
        if self.privileged.bias:
            b_star -= float(push.mean())  # b* was that of the centred matrix
        half = 0.5 * float(a @ Qa) + 0.5 * self.gamma * float(eta @ push)
        dual = float(a.sum()) - half
        needed = np.maximum(push + b_star, 1.0 - Qa - b * sign)
        primal = half + float(self.c @ np.maximum(needed, 0.0))
        gap = abs(primal - dual) / (1.0 + max(abs(primal), abs(dual)))
        return Solution(a, eta, b, b_star, dual, gap, self.n_rounds, states)


def same_for_all_gamma(solution: Solution) -> bool:
    """Whether no case needs a slack: then γ is without effect, and so is a larger C."""
    return not solution.states.slack.any() and not solution.eta.any()

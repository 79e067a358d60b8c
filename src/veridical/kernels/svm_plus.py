"""SVM+: a support vector machine whose slacks are a function of privileged features.

    min  ½|w|² + γ/2 |w*|² + Σ cᵢ ξᵢ   with   yᵢ(⟨w, xᵢ⟩ + b) ≥ 1 − ξᵢ,
    ξᵢ = ⟨w*, xᵢ*⟩ + b* ≥ 0

and its dual in well-scaled variables (α, η), w* = Σ ηᵢ xᵢ*:

    max  Σα − ½ αᵀQα − γ/2 ηᵀK*η   with   α ≥ 0, β = c − α + γη ≥ 0, yᵀα = 0, 1ᵀη = 0.

The last equation goes with b*. The dual in (α, β) would carry the constant
(C²/2γ) 1ᵀK*1, beside which the optimum drowns when C/γ is large.

References
----------
.. [1] V. Vapnik & A. Vashist, "A new learning paradigm: learning using privileged
   information", Neural Networks 22 (2009).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.arrays import FloatArray
from veridical.kernels.svm_plain import center_svm, descend_svm
from veridical.kernels.svm_plus_cases import (
    SMALL,
    Cases,
    InfeasibleError,
    PrivilegedGram,
    Solution,
    States,
)
from veridical.kernels.svm_plus_feasible import exists
from veridical.kernels.svm_plus_gap import (
    ROUNDING,
    cost_of_margins,
    promise_of_multipliers,
    relative_gap,
    shrink_to_balance,
)
from veridical.kernels.svm_plus_interior import Interior, solve_interior
from veridical.kernels.svm_plus_pivots import NEEDS_INVERSE, SOLVED, pivot

#: A sign is wrong when it is so far beyond zero, relative to its scale.
_TOLERANCE = 1e-11
#: Rounds from a start that should be right, and from one that may be.
_ROUNDS, _FEW_ROUNDS = 25, 10
#: A pivoted solution with a larger gap is not believed.
_GOOD_GAP = 1e-8
#: An answer with a larger gap is no answer.
_POOR_GAP = 1e-6
#: So near the states are known, and pivoting finds the last digits.
_NEAR = 1e-7
#: One with a larger gap is worth a correction.
_FINE_GAP = 1e-10


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
    if len(c) <= SMALL:
        begin, sure = descend_svm(cases, c)
        found = effort.pivot(begin, _ROUNDS if sure else _FEW_ROUNDS)
        if found is not None:
            return found
        if sure:
            return effort.solve_inside()
    found = effort.pivot(center_svm(cases, c), _ROUNDS)
    return effort.solve_inside() if found is None else found


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
        inner = solve_interior(
            cases.factor,
            privileged.factor[0],
            cases.sign,
            c,
            self.gamma,
            bias=privileged.bias,
            good=_NEAR if privileged.regular else _FINE_GAP,
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
        found = self._finish(
            inner.alpha, self._unfold(inner), inner.b, inner.b_star, states
        )
        if (
            found.gap > _POOR_GAP
            and not privileged.bias
            and not exists(cases.factor, privileged.factor[0], cases.sign)
        ):
            raise InfeasibleError
        return found

    def _unfold(self, inner: Interior) -> FloatArray:
        """Coefficients η of cases that give the weights w* of a factor."""
        Z_star, pivots = self.privileged.factor
        eta = (inner.alpha + inner.beta - self.c) / self.gamma
        if self.privileged.bias:
            eta -= eta.mean()
        if pivots.size:  # the digits that rounding took when γ is small
            lost = inner.w_star - Z_star.T @ eta
            eta[pivots] += np.linalg.solve(Z_star[pivots].T, lost)
        return eta

    def _finish(
        self, a: FloatArray, eta: FloatArray, b: float, b_star: float, states: States
    ) -> Solution:
        """Compare what is found with what can be proved."""
        sign, gamma, privileged = self.cases.sign, self.gamma, self.privileged
        a = shrink_to_balance(a, sign)
        Qa = self.cases.Q @ a
        push = privileged.gram @ eta
        if privileged.bias:
            b_star -= float(push.sum()) / len(push)  # b* was that of the centred matrix
        half = 0.5 * float(a @ Qa) + 0.5 * gamma * float(eta @ push)
        beta = self.c - a + gamma * eta
        dual = promise_of_multipliers(float(a.sum()) - half, beta, self.c)
        cost = self._cost(half, Qa + b * sign, push + b_star, eta, push)
        gap = relative_gap(cost, dual)
        return Solution(a, eta, b, b_star, dual, gap, self.n_rounds, states)

    def _cost(
        self,
        half: float,
        margin: FloatArray,
        slack: FloatArray,
        eta: FloatArray,
        push: FloatArray,
    ) -> float:
        """Objective of the weights, once slacks below zero and margins are mended."""
        bias = self.privileged.bias
        below = -float(slack.min())
        if below > 0.0 and bias:
            slack = slack + below
        elif below > 0.0:
            d, lifted = self.privileged.lift
            if d.size:
                half += self.gamma * below * float(d @ push + 0.5 * below * d @ lifted)
                slack = slack + below * lifted
            elif below > ROUNDING * max(1.0, float(slack.max())):
                return np.inf
            slack = np.maximum(slack, 0.0)
        return cost_of_margins(half, margin, slack, self.c, bias=bias)


def same_for_all_gamma(solution: Solution) -> bool:
    """Whether no case needs a slack: then γ is without effect, and so is a larger C."""
    return not solution.states.slack.any() and not solution.eta.any()

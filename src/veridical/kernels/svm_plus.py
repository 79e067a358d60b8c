"""SVM+: a support vector machine whose slacks are a function of privileged features.

    min  ½|w|² + γ/2 |w*|² + Σ cᵢ ξᵢ   with   yᵢ(⟨w, xᵢ⟩ + b) ≥ 1 − ξᵢ,
    ξᵢ = ⟨w*, xᵢ*⟩ + b* ≥ 0

and its dual in well-scaled variables (α, η), w* = Σ ηᵢ xᵢ*:

    max  Σα − ½ αᵀQα − γ/2 ηᵀK*η   with   α ≥ 0, β = c − α + γη ≥ 0, yᵀα = 0, 1ᵀη = 0.

The last equation is that of b*. The dual in (α, β) would carry the constant
(C²/2γ) 1ᵀK*1, beside which the optimum is lost to rounding when C/γ is large [1]_.

With squared slacks, ½ Σ cᵢ ξᵢ² without ξ ≥ 0, both biases are weights of a constant
feature, penalised like the others. With H = (diag c + γ K*⁻¹)⁻¹ the dual is
``max Σα − ½ αᵀ(Q + H)α`` over α ≥ 0 [2]_. With few features Q + H is singular; then
interior points solve the same problem in the weights.

Only Gram matrices enter. What depends on them alone is kept in `SignedGram` and
`PrivilegedGram` and serves every C and γ; a solution's states start the next problem
near it.

References
----------
.. [1] V. Vapnik & A. Vashist, "A new learning paradigm: learning using privileged
   information", Neural Networks 22 (2009).
.. [2] W. Li, D. Dai, M. Tan, D. Xu & L. Van Gool, "Fast algorithms for linear and
   kernel SVM+", CVPR 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpocon, dpotrf, dpotri, dpotrs

from veridical._core.arrays import EPS, FloatArray
from veridical.kernels.box import solve_box
from veridical.kernels.duality import (
    FINE_GAP,
    GOOD_GAP,
    POOR_GAP,
    ROUGH_GAP,
    START_TOLERANCE,
    InfeasibleError,
    Lift,
    dual_bound,
    find_lift,
    is_feasible,
    measure_squared,
    measure_svm,
    primal_bound,
    put_at_bounds,
    relative_gap,
    shrink_to_balance,
)
from veridical.kernels.interior import center, factor
from veridical.kernels.margins import (
    HingePoint,
    solve_hinge_margins,
    solve_squared_margins,
)
from veridical.kernels.states import NEEDS_INVERSE, SOLVED, pivot
from veridical.kernels.svm import descend, solve_nonnegative, solve_svm

#: Reciprocal condition number; below it the privileged Gram matrix counts as singular.
_LEAST_RCOND = 1e-11
#: Share of the mean of the diagonal of Q that is added to it, so that copies of samples
#: do not make it singular; refinements remove the effect.
_RIDGE = 1e-12
#: Samples; up to this many a whole inverse costs no more than some of its rows, and SMO
#: steps cost less than interior points.
SMALL = 400
#: SMO steps per sample in search of the active set.
_STEPS_PER_SAMPLE = 20
#: Rounds of the active-set method from a start that should be near, and from others.
_ROUNDS, _FEW_ROUNDS = 25, 10
#: Multiples of the rounding error of the dual gradient; with squared slacks and more
#: than `MANY_SQUARED` samples a gap of so much is accepted, for a second solution would
#: cost too much time.
_ROUNDING_ERRORS, MANY_SQUARED = 8.0, 500


# -- problems and solutions ----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class States:
    """Which samples meet their margin exactly, and which have a slack."""

    margin: Any
    slack: Any

    def copy(self) -> States:
        """Copy both, for a solver that changes them."""
        return States(self.margin.copy(), self.slack.copy())


@dataclass(frozen=True, eq=False)
class Solution:
    """An optimum, with the gap that proves it.

    Parameters
    ----------
    alpha, eta : arrays of shape (n,)
        ``w = Σ αᵢ yᵢ xᵢ`` and ``w* = Σ ηᵢ xᵢ*``.
    bias, privileged_bias : float
        b and b*.
    objective : float
        The dual objective, a lower bound of the primal one.
    gap : float
        How far the objective can be from the optimum, as a share of it; see
        `veridical.kernels.duality`.
    n_rounds : int
        Linear systems solved.
    states : States
        To start from.
    alpha_low : array of shape (n,) or None
        What the rounding of α to doubles left out; None where it is unknown.
    """

    alpha: FloatArray
    eta: FloatArray
    bias: float
    privileged_bias: float
    objective: float
    gap: float
    n_rounds: int
    states: States
    alpha_low: FloatArray | None = None


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
        centred, n = center(self.gram), len(self.gram)
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
        if not missing.size:
            return True
        if n <= SMALL or self.known.sum() + missing.size > n // 3:
            half, _ = dpotri(self._lower, lower=1)
            half = np.tril(half)
            self.inverse[:] = half + np.tril(half, -1).T
            self.known[:] = True
        else:
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

    @cached_property
    def bias_lift(self) -> Lift:
        """A larger b*, which raises all slacks and costs no weights."""
        return Lift(np.ones(len(self.gram)))

    @cached_property
    def lift(self) -> tuple[FloatArray, FloatArray]:
        """Weights of the factor that raise all slacks, and by how much."""
        return find_lift(self.factor[0])


def _decompose(matrix: FloatArray) -> FloatArray:
    """Compute the Cholesky factor; empty where the matrix is nearly singular."""
    lower, failed = dpotrf(matrix, lower=1, clean=1)
    if failed:
        return np.zeros((0, 0))
    rcond, _ = dpocon(lower, np.abs(matrix).sum(axis=0).max(), uplo="L")
    return lower if rcond > _LEAST_RCOND else np.zeros((0, 0))


@lru_cache(maxsize=64)
def _draw_codes(n: int) -> Any:
    """Draw random numbers whose sums identify sets of states."""
    return np.random.default_rng(0).integers(2**62, size=2 * n)


@dataclass(eq=False)
class SignedGram:
    """Training samples of a two-class problem.

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
    codes: Any = field(init=False)
    _factor: FloatArray | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.gram = np.ascontiguousarray(self.gram, dtype=np.float64)
        self.sign = np.ascontiguousarray(self.sign, dtype=np.float64)
        self.Q = self.gram * np.multiply.outer(self.sign, self.sign)
        self.ridge = _RIDGE * max(float(np.diag(self.Q).mean()), 1e-300)
        self.codes = _draw_codes(len(self.sign))

    @property
    def factor(self) -> FloatArray:
        """Factor of K."""
        if self._factor is None:
            self._factor = factor(self.gram)[0]
        return self._factor


# -- the ordinary support vector machine ---------------------------------------------


def start_by_descent(problem: SignedGram, c: FloatArray) -> tuple[States, bool]:
    """Find states of the ordinary SVM by SMO steps, and whether these were enough."""
    n = len(c)
    a, gradient = np.zeros(n), -np.ones(n)
    steps = _STEPS_PER_SAMPLE * n
    left = descend(problem.gram, problem.sign, c, a, gradient, START_TOLERANCE, steps)
    return States(a > 0, a >= c), left <= START_TOLERANCE


def start_interior(problem: SignedGram, c: FloatArray) -> States:
    """Find states of the ordinary SVM by interior points."""
    inner = solve_box(problem.gram, problem.factor, problem.sign, c)
    a = put_at_bounds(*inner, c)
    return States(a > 0, a >= c)


def solve_plain(
    problem: SignedGram,
    c: FloatArray,
    exact: Callable[[], FloatArray] | None = None,
) -> Solution:
    """Solve the ordinary support vector machine, where nothing is privileged.

    `exact` is that of `veridical.kernels.svm.solve_svm`.
    """
    sign, n = problem.sign, len(c)
    a, low, bias_at_margin = solve_svm(problem.gram, sign, c, exact=exact)
    states = States(a > 0, a >= c)
    if not low.any():
        a = shrink_to_balance(a, sign)
        bias_at_margin = sign - problem.gram @ (sign * a)
    half = 0.5 * float(a @ (1.0 - sign * bias_at_margin))
    bias, dual, gap = measure_svm(half, bias_at_margin, sign, sign, a, c)
    return Solution(a, np.zeros(n), bias, 0.0, dual, gap, 1, states, low)


# -- the hinge loss ------------------------------------------------------------------


def solve_hinge(
    problem: SignedGram,
    privileged: PrivilegedGram,
    c: FloatArray,
    gamma: float,
    start: States | None = None,
    *,
    good: float = FINE_GAP,
) -> Solution:
    """Solve SVM+ with the hinge loss, exactly.

    The states of a start, or else of the ordinary support vector machine (the limit
    γ → 0), start the active-set method. Where that fails, or the privileged Gram
    matrix is singular, interior points find the states. Where the matrix is singular
    they are the result, and tried again where their gap is larger than `good`.

    Raises
    ------
    InfeasibleError
        If no weights meet the constraints.
    """
    solver = HingeSolver(problem, privileged, c, gamma, good)
    if start is not None:
        found = solver.pivot(start.copy(), _FEW_ROUNDS)
        if found is not None:
            return found
    if len(c) <= SMALL:
        begin, sure = start_by_descent(problem, c)
        found = solver.pivot(begin, _ROUNDS if sure else _FEW_ROUNDS)
        if found is not None:
            return found
        if sure:
            return solver.solve_interior()
    found = solver.pivot(start_interior(problem, c), _ROUNDS)
    return solver.solve_interior() if found is None else found


@dataclass(eq=False)
class HingeSolver:
    """One problem, with the best solution and the number of rounds so far."""

    problem: SignedGram
    privileged: PrivilegedGram
    c: FloatArray
    gamma: float
    good: float = FINE_GAP
    n_rounds: int = 0
    best: Solution | None = None

    def pivot(self, states: States, most: int) -> Solution | None:
        """Try the active-set method; None where it cycles or leaves too large a gap.

        Rows of the privileged inverse are computed when slacks need them.
        """
        problem, privileged = self.problem, self.privileged
        while True:
            try:
                ended, rounds, a, h, b, b_star = pivot(
                    problem.Q,
                    problem.sign,
                    self.c,
                    float(self.gamma),
                    privileged.shifted,
                    privileged.inverse,
                    privileged.known,
                    privileged.kappa,
                    states.margin,
                    states.slack,
                    problem.ridge,
                    problem.codes,
                    most,
                )
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
        found = self.finish(a, h, b, b_star, states)
        if found.gap > FINE_GAP and privileged.invert(states.slack):
            again = self.finish(a, *self._refine(a, b, h, b_star, states), states)
            found = again if again.gap < found.gap else found
        if self.best is None or found.gap < self.best.gap:
            self.best = found
        return found if found.gap <= GOOD_GAP else None

    def _refine(
        self, a: FloatArray, b: float, h: FloatArray, b_star: float, states: States
    ) -> tuple[FloatArray, float, float]:
        """Take slacks from the margins, and η from the slacks.

        Where γ is small, (α − c)/γ has lost the digits that α and c share.
        """
        privileged = self.privileged
        slack = privileged.shifted @ h + b_star
        met = states.margin & states.slack
        slack[met] = (1.0 - self.problem.Q @ a - b * self.problem.sign)[met]
        slack[~states.slack] = 0.0
        h = privileged.inverse[states.slack].T @ slack[states.slack]
        if not privileged.bias:
            return h, b, 0.0
        return h - h.mean(), b, float(slack.mean())

    def solve_interior(self) -> Solution:
        """Solve by interior points, then by the active-set method from there."""
        problem, c, privileged = self.problem, self.c, self.privileged
        inner = solve_hinge_margins(
            problem.factor,
            privileged.factor[0],
            problem.sign,
            c,
            self.gamma,
            bias=privileged.bias,
            good=ROUGH_GAP if privileged.regular else self.good,
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
        found = self.finish(
            inner.alpha, self._unfold(inner), inner.b, inner.b_star, states
        )
        if (
            found.gap > POOR_GAP
            and not privileged.bias
            and not is_feasible(problem.factor, privileged.factor[0], problem.sign)
        ):
            raise InfeasibleError
        return found if self.best is None or found.gap < self.best.gap else self.best

    def _unfold(self, inner: HingePoint) -> FloatArray:
        """Compute coefficients η of samples that give the weights w* of a factor."""
        Z_star, pivots = self.privileged.factor
        eta = (inner.alpha + inner.beta - self.c) / self.gamma
        if self.privileged.bias:
            eta -= eta.mean()
        if pivots.size:  # the digits that rounding took when γ is small
            lost = inner.w_star - Z_star.T @ eta
            eta[pivots] += np.linalg.solve(Z_star[pivots].T, lost)
        return eta

    def finish(
        self, a: FloatArray, eta: FloatArray, b: float, b_star: float, states: States
    ) -> Solution:
        """Compute the gap between cost and dual objective."""
        sign, gamma, privileged = self.problem.sign, self.gamma, self.privileged
        a = shrink_to_balance(a, sign)
        Qa = self.problem.Q @ a
        K_eta = privileged.gram @ eta
        if privileged.bias:
            b_star -= float(K_eta.sum()) / len(eta)  # b* was that of centred features
        half = 0.5 * float(a @ Qa) + 0.5 * gamma * float(eta @ K_eta)
        beta = self.c - a + gamma * eta
        dual = dual_bound(float(a.sum()) - half, beta, self.c)
        slack = K_eta + b_star
        cost, _ = primal_bound(half, Qa + b * sign, slack, self.c, self._lift(eta))
        gap = relative_gap(cost, dual)
        return Solution(a, eta, b, b_star, dual, gap, self.n_rounds, states)

    def _lift(self, eta: FloatArray) -> Lift | None:
        if self.privileged.bias:
            return self.privileged.bias_lift
        weights = self.privileged.factor[0].T @ eta
        return Lift.along(*self.privileged.lift, weights, self.gamma)


def same_for_all_gamma(solution: Solution) -> bool:
    """Return whether no sample has a slack: then γ and a larger C have no effect."""
    return not solution.states.slack.any() and not solution.eta.any()


# -- squared slacks ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Slacks:
    """The privileged Gram matrix with the costs c, factored once.

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

    def curvature(self) -> FloatArray:
        """Compute H, the curvature of the slacks; see the notation above."""
        H = cho_solve(self._factored, self._inner())
        H = H / np.multiply.outer(self._root, self._root)
        return (H + H.T) / 2

    def coefficients(self, alpha: FloatArray) -> FloatArray:
        """Compute η: ``(α − c∘Hα)/γ``, without a difference of equals at large C."""
        return self._root * cho_solve(self._factored, alpha / self._root) / self.gamma


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
        H = slacks.curvature()
        G = self.Q + H
        alpha, gap, rounds = solve_nonnegative(G)
        good = GOOD_GAP
        if len(c) > MANY_SQUARED:
            rounding = EPS * float((np.abs(G) @ alpha).max())
            good = max(good, min(_ROUNDING_ERRORS * rounding, POOR_GAP))
        if gap <= good:
            eta = slacks.coefficients(alpha)
            b_star = float(eta.sum()) if self.bias else 0.0
            found = self._finish(alpha, eta, b_star, float(alpha @ H @ alpha), rounds)
            if found.gap <= good:
                return found
        return self._solve_interior(rounds)

    def _solve_interior(self, rounds: int) -> Solution:
        """Solve for the weights, and compute η from the privileged weights."""
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
            inner.alpha, eta, b_star, inner.slack_part, rounds + inner.n_steps
        )
        if (
            found.gap > POOR_GAP
            and not self.bias
            and not is_feasible(Z, F, self.sign, squared=True)
        ):
            raise InfeasibleError
        return found

    def _finish(
        self,
        alpha: FloatArray,
        eta: FloatArray,
        b_star: float,
        slack_part: float,
        rounds: int,
    ) -> Solution:
        """Compute the gap between cost and dual objective; `slack_part` is αᵀHα."""
        Qa, K_eta = self.Q @ alpha, self.gram_star @ eta
        squared = float(alpha @ Qa)
        half = 0.5 * squared + 0.5 * self.gamma * float(eta @ K_eta + b_star**2)
        dual, gap = measure_squared(
            half, Qa, K_eta + b_star, self.c, alpha, squared + slack_part
        )
        return Solution(
            alpha,
            eta,
            float(self.sign @ alpha),
            b_star,
            dual,
            gap,
            rounds,
            States(alpha > 0, alpha > 0),
        )


# -- a grid of C and γ ---------------------------------------------------------------


def solve_grid(
    problem: SignedGram,
    privileged: PrivilegedGram,
    Cs: Sequence[float],
    gammas: Sequence[float],
    weights: FloatArray,
) -> list[list[Solution | None]]:
    """Solve for every γ (outer list) and every C (inner lists), in the orders given.

    None stands for a problem that no weights solve. A grid is there to choose from, so
    interior points are not tried again for the last digit of a gap.
    """
    found: list[list[Solution | None]] = [[None] * len(Cs) for _ in gammas]
    settled: Solution | None = None
    for column in np.argsort(Cs):
        start = None
        for row in np.argsort(gammas):
            if settled is None:
                c = float(Cs[column]) * weights
                try:
                    one = solve_hinge(
                        problem,
                        privileged,
                        c,
                        float(gammas[row]),
                        start,
                        good=GOOD_GAP,
                    )
                except InfeasibleError:
                    return found  # C and γ do not decide what is feasible
                start = one.states
                if same_for_all_gamma(one):
                    settled = one
                found[row][column] = one
            else:
                found[row][column] = settled
    return found

"""SVM+ on the features themselves, without Gram matrices; kernels are linear.

`Linear` follows interior points. With few features a step costs ``n (p + p*)²`` however
many samples there are; and weights that are sums of large multipliers, which cancel,
keep their digits. Where features outnumber samples an orthogonal basis of their span
takes their place.

`Descent` is dual coordinate descent [1]_, for many samples with many, sparse features.
Both biases are weights of a constant feature, penalised like the others, so that no
equation couples the multipliers and each can be changed alone. A sweep costs as
much as reading the data once; the number of sweeps grows with C/γ. After a hundred of
them an augmented Lagrangian method takes over: from multipliers z the weights follow as
the minimum of

    φ(x) = ½|x|² + qᵀx + |max(0, z + σ(h − A x))|² / 2σ

and the next multipliers are ``max(0, z + σ(h − A x))`` [2]_. φ is quadratic in pieces:
Newton steps find its minimum in a few rounds, each solving with ``I + σ A_JᵀA_J``, for
the active constraints J, by conjugate gradients. Nothing but products with the features
is needed. The larger σ is, the sooner the multipliers converge.

| symbol  | meaning                                             | shape     |
|---------|-----------------------------------------------------|-----------|
| X, X*   | features and privileged features                    | (n, p)    |
| A, B    | bases of `Linear`: ``X = Z Aᵀ`` with AᵀA = I        | (p, rank) |
| data, … | rows of X and X* in CSR form                        |           |
| w, v    | weights, privileged weights; in `Descent` bias last |           |
| a, d    | multipliers α and β                                 | (n,)      |
| squared_lengths    | squared lengths of the rows, bias included          | (n,)      |
| E       | yᵢ(xᵢ, 1): margins are ``E w``                      | (n, p)    |
| F       | (xᵢ*, 1)/√γ: slacks are ``F u``, u = √γ (w*, b*)    | (n, q)    |
| x       | w and u                                             |           |
| A, h    | [E, F; 0, F] and (1, 0): constraints ``A x ≥ h``    |           |
| z       | multipliers α and β                                 | (2n,)     |

References
----------
.. [1] W. Li, D. Dai, M. Tan, D. Xu & L. Van Gool, "Fast algorithms for linear and
   kernel SVM+", CVPR 2016.
.. [2] X. Li, D. Sun & K.-C. Toh, "A highly efficient semismooth Newton augmented
   Lagrangian method for solving lasso problems", SIAM J. Optim. 28 (2018).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.duality import (
    POOR_GAP,
    ROUNDED,
    InfeasibleError,
    Lift,
    find_lift,
    is_feasible,
    measure_squared,
    primal_bound,
    relative_gap,
    shrink_to_balance,
)
from veridical.kernels.margins import (
    HingePoint,
    solve_hinge_margins,
    solve_squared_margins,
)
from veridical.kernels.svm_exact import sum_weights
from veridical.kernels.svm_plus import Solution

#: Sweeps of coordinate descent before Newton steps take over.
_SWEEPS = 100
#: Sweeps between two computations of the gap, or a tenth of all sweeps so far.
_SWEEPS_PER_GAP = 10
#: Rounds of the augmented Lagrangian method, Newton steps in a round, iterations of
#: conjugate gradients in a Newton step; each ends when they are used up.
_ROUNDS, _NEWTON_STEPS, _ITERATIONS = 60, 25, 500
#: Factor by which σ grows where multipliers converge slowly: a round moves them by more
#: than this share of what the last one did.
_GROWTH, _SLOW = 4.0, 0.3
#: Gradient of φ at which a round ends: the first one as a share of the linear costs,
#: later ones as a share of the distance that the last round moved.
_FIRST_ROUND, _NEXT_ROUNDS = 1e-3, 1e-2
#: Evaluations of the directional derivative in a line search.
_EVALUATIONS = 60
#: Directional derivative as a share of that at the start; below it the search ends.
_LINE_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class LinearSolution:
    """Weights, with the gap that proves them.

    Parameters
    ----------
    weights, privileged_weights : array or None
        Of the features; None where a kernel is not linear.
    bias, privileged_bias : float
        b and b*.
    alpha : array of shape (n,)
        Multipliers of the margins; ``Σ αᵢ yᵢ xᵢ`` are the weights up to rounding.
    objective, gap : float
        As in `veridical.kernels.svm_plus.Solution`.
    n_rounds : int
        Linear systems solved, or sweeps.
    """

    weights: FloatArray | None
    bias: float
    privileged_weights: FloatArray | None
    privileged_bias: float
    alpha: FloatArray
    objective: float
    gap: float
    n_rounds: int

    @classmethod
    def of_gram(
        cls, one: Solution, sign: FloatArray, X: Any, X_star: Any
    ) -> LinearSolution:
        """Turn coefficients of samples into weights; features are None if unknown."""
        low = None if one.alpha_low is None else one.alpha_low * sign
        return cls(
            None if X is None else sum_weights(X, one.alpha * sign, low),
            one.bias,
            None if X_star is None else np.asarray(one.eta @ X_star).ravel(),
            one.privileged_bias,
            one.alpha,
            one.objective,
            one.gap,
            one.n_rounds,
        )


def _basis(X: FloatArray) -> tuple[FloatArray, Any]:
    """Compute coordinates Z of the rows, and their basis; None for the features."""
    n, p = X.shape
    if p <= n:
        return X, None
    Q, R = np.linalg.qr(X.T)
    return np.ascontiguousarray(R.T), Q


def _to_features(w: FloatArray, basis: Any) -> FloatArray:
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
        C times the weight of a sample.
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
        inner = solve_hinge_margins(
            Z, Z_star, self.sign, self.c, self.gamma, bias=self.bias
        )
        if inner.infeasible:
            raise InfeasibleError
        w, v = _to_features(inner.w, basis), _to_features(inner.w_star, basis_star)
        alpha = shrink_to_balance(inner.alpha, self.sign)
        dual = self._dual_objective(alpha, inner.beta, Z, Z_star)
        found = LinearSolution(
            w,
            inner.b - float(centre @ w),
            v,
            inner.b_star - float(centre_star @ v),
            alpha,
            dual,
            relative_gap(self._cost(inner, Z, Z_star), dual),
            inner.n_steps,
        )
        if found.gap > POOR_GAP and not self._solvable():
            raise InfeasibleError
        return found

    def _solvable(self, *, squared: bool = False) -> bool:
        return self.bias or is_feasible(self.X, self.X_star, self.sign, squared=squared)

    def _dual_objective(
        self, alpha: FloatArray, beta: FloatArray, Z: FloatArray, Z_star: FloatArray
    ) -> float:
        """Compute the dual objective of multipliers, none negative."""
        if self.bias:  # then α + β sums to the sum of c
            beta = beta * (max(0.0, self.c.sum() - alpha.sum()) / beta.sum())
        w = (alpha * self.sign) @ Z
        v = (alpha + beta - self.c) @ Z_star  # times γ
        half = 0.5 * float(w @ w) + 0.5 * float(v @ v) / self.gamma
        return max(0.0, float(alpha.sum()) - half)

    def _cost(self, inner: HingePoint, Z: FloatArray, Z_star: FloatArray) -> float:
        """Compute the cost of the weights, once slacks and margins are repaired."""
        w, v, gamma = inner.w, inner.w_star, self.gamma
        slack = Z_star @ v + inner.b_star
        lift: Lift | None = Lift(np.ones(len(slack)))
        if not self.bias:
            lift = Lift.along(*find_lift(Z_star), v, gamma)
        half = 0.5 * float(w @ w) + 0.5 * gamma * float(v @ v)
        margin = self.sign * (Z @ w + inner.b)
        return primal_bound(half, margin, slack, self.c, lift)[0]

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
        implied = np.append((alpha * self.sign) @ Z, self.sign @ alpha)
        dual, gap = measure_squared(
            0.5 * float(w @ w) + 0.5 * self.gamma * float(v @ v),
            self.sign * (Z @ w[:-1] + w[-1]),
            wide @ v,
            self.c,
            alpha,
            float(implied @ implied) + inner.slack_part,
        )
        found = LinearSolution(
            _to_features(w[:-1], basis),
            float(w[-1]),
            _to_features(v[: Z_star.shape[1]], basis_star),
            float(v[-1]) if self.bias else 0.0,
            alpha,
            dual,
            gap,
            inner.n_steps,
        )
        if found.gap > POOR_GAP and not self._solvable(squared=True):
            raise InfeasibleError
        return found


# -- dual coordinate descent ---------------------------------------------------------


@njit(cache=True, nogil=True)
def _dot_product(
    data: Any, indices: Any, start: int, stop: int, w: FloatArray
) -> float:
    total = 0.0
    for t in range(start, stop):
        total += data[t] * w[indices[t]]
    return total


@njit(cache=True, nogil=True)
def _add(
    data: Any, indices: Any, start: int, stop: int, by: float, w: FloatArray
) -> None:
    for t in range(start, stop):
        w[indices[t]] += by * data[t]


@njit(cache=True, nogil=True)
def _sweep(
    order: Any,
    y: FloatArray,
    gamma: float,
    data: Any,
    indices: Any,
    starts: Any,
    star_data: Any,
    star_indices: Any,
    star_starts: Any,
    constant: float,
    norm: FloatArray,
    star_norm: FloatArray,
    w: FloatArray,
    v: FloatArray,
    a: FloatArray,
    d: FloatArray,
) -> None:
    """Change every multiplier once, to the optimum given all others."""
    last, star_last = w.size - 1, v.size - 1
    for i in order:
        p, q = starts[i], starts[i + 1]
        r, s = star_starts[i], star_starts[i + 1]
        slack = _dot_product(star_data, star_indices, r, s, v) + constant * v[star_last]
        margin = y[i] * (_dot_product(data, indices, p, q, w) + w[last])
        step = max(-a[i], (1.0 - margin - slack) / (norm[i] + star_norm[i] / gamma))
        if step != 0.0:
            a[i] += step
            _add(data, indices, p, q, step * y[i], w)
            w[last] += step * y[i]
            _add(star_data, star_indices, r, s, step / gamma, v)
            v[star_last] += constant * step / gamma
            slack += star_norm[i] * step / gamma
        if star_norm[i] > 0.0:
            step = max(-d[i], -gamma * slack / star_norm[i])
            if step != 0.0:
                d[i] += step
                _add(star_data, star_indices, r, s, step / gamma, v)
                v[star_last] += constant * step / gamma


@dataclass(frozen=True, eq=False)
class Descent:
    """A two-class problem with linear kernels, features as CSR matrices.

    Parameters
    ----------
    X, X_star : CSR matrices of shape (n, p) and (n, p*)
        Features and privileged features.
    sign, c : arrays of shape (n,)
        +1 or −1; C times the weight of a sample.
    gamma : float
        Weight of the privileged weights.
    bias : bool
        Whether slacks have a constant b*.
    """

    X: Any
    X_star: Any
    sign: FloatArray
    c: FloatArray
    gamma: float
    bias: bool

    def solve(self, tolerance: float, max_steps: int, seed: int) -> LinearSolution:
        """Sweep, and where that converges slowly end with Newton steps.

        `max_steps` is for sweeps and Newton steps together.

        Raises
        ------
        InfeasibleError
            If no weights meet the constraints; only possible without b*.
        """
        found, state = self.sweep(tolerance, min(max_steps, _SWEEPS), seed)
        if found.gap <= tolerance:
            return found
        if not self.bias and not is_feasible(self.X, self.X_star, self.sign):
            raise InfeasibleError
        if max_steps <= _SWEEPS:
            return found
        best = _Best(found, tolerance, found.objective / max(1.0 - found.gap, 1e-300))

        def split(x: FloatArray) -> tuple[FloatArray, FloatArray]:
            w, u = x[: rows.E.shape[1]], x[rows.E.shape[1] :]
            v = u / np.sqrt(self.gamma)
            return w, v if self.bias else np.append(v, 0.0)

        def accept(z: FloatArray, implied: FloatArray, x: FloatArray) -> bool:
            a = z[: len(self.c)]
            best.update(*self._evaluate(*split(implied), a))
            return best.update(*self._evaluate(*split(x), a, implied=False))

        rows = self._rows()
        long = float(squared_lengths(rows.E).mean() + squared_lengths(rows.F).mean())
        sigma = min(10.0 * float(self.c.mean()), 1e4 / long)
        steps = improve(rows, np.concatenate(state), sigma, accept, max_steps - _SWEEPS)
        return replace(best.found, n_rounds=found.n_rounds + steps)

    def sweep(
        self, tolerance: float, max_sweeps: int, seed: int
    ) -> tuple[LinearSolution, tuple[FloatArray, FloatArray]]:
        """Sweep until the gap is small or `max_sweeps` is reached."""
        X, X_star, n = self.X, self.X_star, len(self.c)
        constant = 1.0 if self.bias else 0.0
        sizes, sizes_star = squared_lengths(X) + 1.0, squared_lengths(X_star) + constant
        w, v = np.zeros(X.shape[1] + 1), np.zeros(X_star.shape[1] + 1)
        # With β = c the privileged weights are 0; with β = 0 they begin at −n C/γ.
        a, d = np.zeros(n), self.c.copy()
        rng = np.random.default_rng(seed)
        best = _Best(None, tolerance)
        done, sweeps = best.update(*self._evaluate(w, v, a)), 0
        at = _SWEEPS_PER_GAP
        while not done and sweeps < max_sweeps:
            sweeps += 1
            _sweep(
                rng.permutation(n), self.sign, self.gamma, X.data, X.indices, X.indptr,
                X_star.data, X_star.indices, X_star.indptr, constant, sizes, sizes_star,
                w, v, a, d,
            )  # fmt: skip
            if sweeps in (at, max_sweeps):
                at += max(_SWEEPS_PER_GAP, at // 10)
                done = best.update(*self._evaluate(w, v, a))
        return replace(best.found, n_rounds=sweeps), (a, d)

    def _rows(self) -> SparseConstraints:
        """Return all constraints, the constants among the features."""
        one, root = np.ones((len(self.c), 1)), np.sqrt(self.gamma)
        E = sparse.diags_array(self.sign) @ sparse.hstack([self.X, one])
        F = sparse.hstack([self.X_star, one]) if self.bias else self.X_star
        F = sparse.csr_array(F / root)
        E = sparse.csr_array(E)
        return SparseConstraints(
            E, F, np.concatenate([np.zeros(E.shape[1]), F.T @ self.c])
        )

    def _evaluate(
        self, w: FloatArray, v: FloatArray, a: FloatArray, *, implied: bool = True
    ) -> tuple[LinearSolution, float]:
        """Compute the gap of weights and multipliers, and the cost of the weights.

        Multipliers give a lower bound with the weights that they imply, and no others.
        """
        slack = self.X_star @ v[:-1] + v[-1]
        margin = self.sign * (self.X @ w[:-1] + w[-1])
        half = 0.5 * float(w @ w) + 0.5 * self.gamma * float(v @ v)
        dual = max(0.0, float(a.sum()) - half) if implied else 0.0
        # Slacks are raised by b* = v[-1], or without it by weights.
        lift = Lift.along(*self._lift, v, self.gamma)
        cost, below = primal_bound(half, margin, slack, self.c, lift)
        if lift is not None:
            v = v + below * self._lift[0]
        found = LinearSolution(
            w[:-1].copy(), float(w[-1]), v[:-1].copy(), float(v[-1]), a.copy(), dual,
            relative_gap(cost, dual), 0,
        )  # fmt: skip
        return found, cost

    @cached_property
    def _lift(self) -> tuple[FloatArray, FloatArray]:
        """Return the change of (w*, b*) that raises all slacks, and by how much."""
        n, q = self.X_star.shape
        if self.bias:
            return np.append(np.zeros(q), 1.0), np.ones(n)
        u, raised = find_lift(self.X_star)
        return (np.append(u, 0.0) if u.size else u), raised


@dataclass(eq=False)
class _Best:
    """The weights of least cost so far, with the largest dual objective so far.

    The two need not belong together: each is a bound by itself.
    """

    found: Any
    tolerance: float
    cost: float = np.inf

    def update(self, now: LinearSolution, cost: float) -> bool:
        """Take weights and multipliers where better; return whether that is enough."""
        bound = now.objective
        if self.found is not None:
            bound = max(bound, self.found.objective)
        if self.found is None or cost < self.cost:
            self.found, self.cost = now, cost
        gap = relative_gap(self.cost, bound)
        self.found = replace(self.found, objective=bound, gap=gap)
        return gap <= self.tolerance


def squared_lengths(X: Any) -> FloatArray:
    """Compute the squared lengths of the rows."""
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()


# -- augmented Lagrangian method -----------------------------------------------------


@dataclass(eq=False)
class SparseConstraints:
    """All constraints, as products with sparse features.

    Parameters
    ----------
    E, F : CSR matrices of shape (n, p) and (n, q)
        See the notation above.
    price : array of shape (p + q,)
        The vector q.
    """

    E: Any
    F: Any
    linear_cost: FloatArray
    limit: FloatArray = field(init=False)
    _Et: Any = field(init=False)
    _Ft: Any = field(init=False)

    def __post_init__(self) -> None:
        n = self.E.shape[0]
        self.limit = np.concatenate([np.ones(n), np.zeros(n)])
        self._Et, self._Ft = self.E.T.tocsr(), self.F.T.tocsr()

    def multiply(self, x: FloatArray) -> FloatArray:
        """Multiply by A."""
        p = self.E.shape[1]
        slack = self.F @ x[p:]
        return np.concatenate([self.E @ x[:p] + slack, slack])

    def weights(self, z: FloatArray) -> FloatArray:
        """Compute the weights that multipliers imply: ``Aᵀz − q``."""
        n = self.E.shape[0]
        both = z[:n] + z[n:]
        return np.concatenate([self._Et @ z[:n], self._Ft @ both]) - self.linear_cost

    def hessian(self, active: Any, sigma: float) -> tuple[Any, FloatArray]:
        """Return a function that multiplies by ``I + σ A_JᵀA_J``, and the diagonal."""
        n, p = self.E.shape
        margins, slacks = np.flatnonzero(active[:n]), np.flatnonzero(active[n:])
        E, F, G = self.E[margins], self.F[margins], self.F[slacks]
        Et, Ft, Gt = E.T.tocsr(), F.T.tocsr(), G.T.tocsr()

        def apply(d: FloatArray) -> FloatArray:
            margin, slack = E @ d[:p] + F @ d[p:], G @ d[p:]
            back = np.concatenate([Et @ margin, Ft @ margin + Gt @ slack])
            return d + sigma * back

        squares = np.concatenate([_squares(E), _squares(F) + _squares(G)])
        return apply, 1.0 + sigma * squares


def _squares(M: Any) -> FloatArray:
    return np.asarray(M.multiply(M).sum(axis=0)).ravel()


def _conjugate_gradients(
    apply: Any, diagonal: FloatArray, right: FloatArray, tolerance: float
) -> FloatArray:
    """Solve by conjugate gradients with the diagonal as preconditioner."""
    d, residual = np.zeros(len(right)), right.copy()
    scaled = residual / diagonal
    direction, size = scaled.copy(), float(residual @ scaled)
    for _ in range(_ITERATIONS):
        if np.linalg.norm(residual) <= tolerance or size <= 0.0:
            break
        product = apply(direction)
        step_size = size / float(direction @ product)
        d += step_size * direction
        residual -= step_size * product
        scaled = residual / diagonal
        last_size, size = size, float(residual @ scaled)
        direction = scaled + size / last_size * direction
    return d


def _minimise_lagrangian(
    rows: SparseConstraints,
    x: FloatArray,
    z: FloatArray,
    sigma: float,
    tolerance: float,
    most: int,
) -> tuple[FloatArray, FloatArray, int]:
    """Minimise φ by Newton steps: the weights, ``A x``, and the number of steps."""
    Ax = rows.multiply(x)
    scale = 1.0 + float(np.linalg.norm(rows.linear_cost))
    for step in range(most):
        shifted = z + sigma * (rows.limit - Ax)
        new_z = np.maximum(shifted, 0.0)
        gradient = x - rows.weights(new_z)
        size = float(np.linalg.norm(gradient))
        if size <= max(tolerance, ROUNDED * scale):
            return x, Ax, step
        apply, diagonal = rows.hessian(new_z > 0.0, sigma)
        accuracy = 0.1 * min(0.1, np.sqrt(size / scale)) * size
        d = _conjugate_gradients(apply, diagonal, -gradient, accuracy)
        Ad = rows.multiply(d)
        step_size = search_line(
            float(d @ (x + rows.linear_cost)), float(d @ d), shifted, Ad, sigma
        )
        if step_size == 0.0:
            return x, Ax, step + 1  # rounding hides any further progress
        x, Ax = x + step_size * d, Ax + step_size * Ad
    return x, Ax, most


def search_line(
    derivative: float,
    curvature: float,
    shifted: FloatArray,
    Ad: FloatArray,
    sigma: float,
) -> float:
    """Find the step size at which the directional derivative of φ vanishes.

    The derivative ``derivative + t·curvature − Σ Adᵢ max(0, shiftedᵢ − σ t Adᵢ)`` grows
    with t and is piecewise linear. The values of φ itself would be lost to rounding
    where C/γ is large.
    """

    def derivatives(t: float) -> tuple[float, float]:
        remaining = shifted - sigma * t * Ad
        positive = remaining > 0.0
        active_Ad = Ad[positive]
        first = derivative + t * curvature - float(active_Ad @ remaining[positive])
        return first, curvature + sigma * float(active_Ad @ active_Ad)

    start, _ = derivatives(0.0)
    if start >= 0.0:
        return 0.0
    t, low, high = 1.0, 0.0, np.inf
    for _ in range(_EVALUATIONS):
        here, second = derivatives(t)
        if abs(here) <= -_LINE_TOLERANCE * start:
            break
        low, high = (t, high) if here < 0.0 else (low, t)
        t -= here / second
        if not low < t < high:
            t = (low + high) / 2 if high < np.inf else 2 * low
    return t


def improve(
    rows: SparseConstraints,
    z: FloatArray,
    sigma: float,
    accept: Callable[[FloatArray, FloatArray, FloatArray], bool],
    max_steps: int,
) -> int:
    """Improve multipliers until `accept` returns True; return the Newton steps.

    `accept` gets the multipliers after every round, the weights they imply, and those
    that minimise φ. Exactly minimised, both weights are the same; otherwise the former
    carry C/γ times the error.
    """
    x, steps, last_change = rows.weights(z), 0, np.inf
    tolerance = _FIRST_ROUND * float(np.linalg.norm(rows.linear_cost))
    for _ in range(_ROUNDS):
        most = min(_NEWTON_STEPS, max_steps - steps)
        if most <= 0:
            break
        x, Ax, took = _minimise_lagrangian(rows, x, z, sigma, tolerance, most)
        steps += took
        new = np.maximum(z + sigma * (rows.limit - Ax), 0.0)
        moved = float(np.linalg.norm(new - z)) / sigma
        z = new
        if accept(z, rows.weights(z), x):
            break
        if moved > _SLOW * last_change:
            sigma *= _GROWTH
        last_change, tolerance = moved, _NEXT_ROUNDS * moved * np.sqrt(sigma)
    return steps

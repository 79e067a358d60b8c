"""SVM+ for many cases with linear features: dual coordinate descent.

Both biases are weights of a constant feature, penalised like the others, so that no
equation ties the multipliers together and each can be moved alone. A sweep costs as
much as reading the data once; the number of sweeps grows with C/γ, so after a hundred
of them `svm_plus_newton` takes over.

| symbol     | meaning                                      | shape |
|------------|----------------------------------------------|-------|
| data, …    | rows of X and X* in CSR form                 |       |
| w, v       | weights, privileged weights; the bias last   |       |
| a, d       | multipliers α and β                          | (n,)  |
| norm       | squared lengths of the rows, bias included   | (n,)  |

References
----------
.. [1] W. Li, D. Dai, M. Tan, D. Xu & L. Van Gool, "Fast algorithms for linear and
   kernel SVM+", CVPR 2016.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.svm_plus_cases import InfeasibleError
from veridical.kernels.svm_plus_feasible import exists
from veridical.kernels.svm_plus_gap import ROUNDING, cost_of_margins, relative_gap
from veridical.kernels.svm_plus_linear import LinearSolution, find_lift
from veridical.kernels.svm_plus_newton import Rows, finish

#: Sweeps before Newton steps take over.
_SWEEPS = 100


@njit(cache=True, nogil=True)
def _dot(data: Any, indices: Any, start: int, stop: int, w: FloatArray) -> float:
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
    """Move every pair of multipliers once, each to the best it can do alone."""
    last, star_last = w.size - 1, v.size - 1
    for i in order:
        p, q = starts[i], starts[i + 1]
        r, s = star_starts[i], star_starts[i + 1]
        slack = _dot(star_data, star_indices, r, s, v) + constant * v[star_last]
        margin = y[i] * (_dot(data, indices, p, q, w) + w[last])
        move = max(-a[i], (1.0 - margin - slack) / (norm[i] + star_norm[i] / gamma))
        if move != 0.0:
            a[i] += move
            _add(data, indices, p, q, move * y[i], w)
            w[last] += move * y[i]
            _add(star_data, star_indices, r, s, move / gamma, v)
            v[star_last] += constant * move / gamma
            slack += star_norm[i] * move / gamma
        if star_norm[i] > 0.0:
            move = max(-d[i], -gamma * slack / star_norm[i])
            if move != 0.0:
                d[i] += move
                _add(star_data, star_indices, r, s, move / gamma, v)
                v[star_last] += constant * move / gamma


@dataclass(frozen=True, eq=False)
class Descent:
    """A two-class problem with linear kernels, features as CSR matrices.

    Parameters
    ----------
    X, X_star : CSR matrices of shape (n, p) and (n, p*)
        Features and privileged features.
    sign, c : arrays of shape (n,)
        +1 or −1; C times the weight of a case.
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
        """Sweep, and where that crawls end with Newton steps.

        `max_steps` is for sweeps and Newton steps together.

        Raises
        ------
        InfeasibleError
            If no weights meet the constraints; only possible without b*.
        """
        found, state = self.sweep(tolerance, min(max_steps, _SWEEPS), seed)
        if found.gap <= tolerance:
            return found
        if not self.bias and not exists(self.X, self.X_star, self.sign):
            raise InfeasibleError
        if max_steps <= _SWEEPS:
            return found
        best = _Best(found, tolerance, found.objective / max(1.0 - found.gap, 1e-300))

        def split(x: FloatArray) -> tuple[FloatArray, FloatArray]:
            w, u = x[: rows.E.shape[1]], x[rows.E.shape[1] :]
            v = u / np.sqrt(self.gamma)
            return w, v if self.bias else np.append(v, 0.0)

        def judge(z: FloatArray, implied: FloatArray, x: FloatArray) -> bool:
            a = z[: len(self.c)]
            best.take(*self._judge(*split(implied), a))
            return best.take(*self._judge(*split(x), a, implied=False))

        rows = self._rows()
        long = float(norm(rows.E).mean() + norm(rows.F).mean())
        sigma = min(10.0 * float(self.c.mean()), 1e4 / long)
        steps = finish(rows, np.concatenate(state), sigma, judge, max_steps - _SWEEPS)
        return replace(best.found, n_rounds=found.n_rounds + steps)

    def sweep(
        self, tolerance: float, max_sweeps: int, seed: int
    ) -> tuple[LinearSolution, tuple[FloatArray, FloatArray]]:
        """Sweep until the gap is small enough, or too often; multipliers too."""
        X, X_star, n = self.X, self.X_star, len(self.c)
        constant = 1.0 if self.bias else 0.0
        sizes, sizes_star = norm(X) + 1.0, norm(X_star) + constant
        w, v = np.zeros(X.shape[1] + 1), np.zeros(X_star.shape[1] + 1)
        # With β = c the slacks weigh nothing yet; from β = 0 they would first have to
        # come back from n C/γ.
        a, d = np.zeros(n), self.c.copy()
        rng = np.random.default_rng(seed)
        best = _Best(None, tolerance)
        done, sweeps, look = best.take(*self._judge(w, v, a)), 0, 10
        while not done and sweeps < max_sweeps:
            sweeps += 1
            _sweep(
                rng.permutation(n), self.sign, self.gamma, X.data, X.indices, X.indptr,
                X_star.data, X_star.indices, X_star.indptr, constant, sizes, sizes_star,
                w, v, a, d,
            )  # fmt: skip
            if sweeps in (look, max_sweeps):
                look += max(10, look // 10)
                done = best.take(*self._judge(w, v, a))
        return replace(best.found, n_rounds=sweeps), (a, d)

    def _rows(self) -> Rows:
        """All constraints, the constants among the features."""
        one, root = np.ones((len(self.c), 1)), np.sqrt(self.gamma)
        E = sparse.diags_array(self.sign) @ sparse.hstack([self.X, one])
        F = sparse.hstack([self.X_star, one]) if self.bias else self.X_star
        F = sparse.csr_array(F / root)
        E = sparse.csr_array(E)
        return Rows(E, F, np.concatenate([np.zeros(E.shape[1]), F.T @ self.c]))

    def _judge(
        self, w: FloatArray, v: FloatArray, a: FloatArray, *, implied: bool = True
    ) -> tuple[LinearSolution, float]:
        """Compare what is found with what can be proved; the cost of the weights.

        Multipliers prove something with the weights that they imply, and no others.
        """
        slack = self.X_star @ v[:-1] + v[-1]
        margin = self.sign * (self.X @ w[:-1] + w[-1])
        half = 0.5 * float(w @ w) + 0.5 * self.gamma * float(v @ v)
        dual = max(0.0, float(a.sum()) - half) if implied else 0.0
        b_star, below = float(v[-1]), max(0.0, -float(slack.min()))
        if below > 0.0 and self.bias:
            half += self.gamma * below * (b_star + 0.5 * below)
            slack, b_star = slack + below, b_star + below
        elif below > 0.0 and self._lift.size:
            v = v.copy()
            v[:-1] += below * self._lift
            slack = np.maximum(self.X_star @ v[:-1], 0.0)
            half = 0.5 * float(w @ w) + 0.5 * self.gamma * float(v @ v)
        elif below > ROUNDING * max(1.0, float(slack.max())):
            slack = np.full(len(slack), np.inf)
        cost = cost_of_margins(
            half, margin, slack, self.c, bias=self.bias, bend=self.gamma, b_star=b_star
        )
        found = LinearSolution(
            w[:-1].copy(), float(w[-1]), v[:-1].copy(), b_star, a.copy(), dual,
            relative_gap(cost, dual), 0,
        )  # fmt: skip
        return found, cost

    @cached_property
    def _lift(self) -> FloatArray:
        return find_lift(self.X_star)


@dataclass(eq=False)
class _Best:
    """The cheapest weights seen, beside the best that multipliers promise.

    The two need not have been seen together: each is a bound by itself.
    """

    found: Any
    tolerance: float
    cost: float = np.inf

    def take(self, now: LinearSolution, cost: float) -> bool:
        """Look at weights and multipliers; whether they are good enough."""
        promise = now.objective
        if self.found is not None:
            promise = max(promise, self.found.objective)
        if self.found is None or cost < self.cost:
            self.found, self.cost = now, cost
        gap = relative_gap(self.cost, promise)
        self.found = replace(self.found, objective=promise, gap=gap)
        return gap <= self.tolerance


def norm(X: Any) -> FloatArray:
    """Squared lengths of the rows."""
    return np.asarray(X.multiply(X).sum(axis=1)).ravel()

"""A path through the inside: quadratic programs with a diagonal curve.

    min  ½ xᵀPx + qᵀx   with   A x ≥ h

Mehrotra's predictor and corrector [1]_; every step solves with ``P + AᵀDA``. Whoever
states a program says how to multiply by A and how to make that matrix, so that the
blocks of A are used. Rows of A should be of length about 1, and the optimum too: then
steps of one size suit all.

| symbol | meaning                                          | shape |
|--------|--------------------------------------------------|-------|
| x      | weights                                          | (k,)  |
| s, z   | slacks of the constraints and their multipliers  | (m,)  |
| D      | z / s                                            | (m,)  |

References
----------
.. [1] S. Mehrotra, "On the implementation of a primal-dual interior point method",
   SIAM J. Optim. 2 (1992).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpstrf

from veridical._core.arrays import FloatArray

_MAX_STEPS = 120
_TINY = 1e-15
_LEAST = 1e-60
#: Steps without progress before the best point so far is taken: near the optimum
#: rounding is the reason, far from it a bend of the path.
_PATIENCE, _LONG_PATIENCE = 7, 40
_NEAR = 1e-6
#: Multipliers that pull so little prove that weights would have to be longer than the
#: inverse: there are none.
_NO_PULL = 1e-9


def factor(gram: FloatArray, tolerance: float = 1e-13) -> tuple[FloatArray, Any]:
    """Factor a positive semidefinite matrix: ``Z Zᵀ``, and the pivots of its rank.

    The rows of Z at the pivots are lower triangular.
    """
    n = len(gram)
    top = float(np.diag(gram).max(initial=0.0))
    if top <= 0.0:
        return np.zeros((n, 0)), np.zeros(0, dtype=np.intp)
    lower, pivots, rank, _ = dpstrf(gram, lower=1, tol=n * tolerance * top)
    Z = np.zeros((n, rank))
    Z[pivots - 1] = np.tril(lower)[:, :rank]
    return Z, pivots[:rank] - 1


def cholesky(H: FloatArray, tiny: float = _TINY) -> Any:
    """Factor, lifting the diagonal a little where rounding has eaten it."""
    lift = tiny * float(np.diag(H).max())
    for _ in range(8):
        try:
            return cho_factor(H, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            H[np.diag_indices(len(H))] += lift
            lift *= 100.0
    raise np.linalg.LinAlgError("the Newton equations are singular")


def _step_length(*pairs: tuple[FloatArray, FloatArray]) -> float:
    """Find the longest step, at most 1, that keeps every value positive."""
    longest = 1.0
    for value, change in pairs:
        falling = change < 0
        if falling.any():
            longest = min(longest, float((-value[falling] / change[falling]).min()))
    return longest


def mehrotra(
    move: Callable[[FloatArray], tuple[Any, ...]], s: FloatArray, z: FloatArray
) -> tuple[tuple[Any, ...], float]:
    """Predict, choose how far to centre, correct: a direction and its length.

    `move` solves the Newton equations for ``z Δs + s Δz = target``; the last two things
    it returns are Δs and Δz.
    """
    mean = s @ z / s.size
    *_, ds, dz = move(-s * z)
    length = _step_length((s, ds), (z, dz))
    ahead = (s + length * ds) @ (z + length * dz) / s.size
    centre = (ahead / mean) ** 3 * mean
    direction = move(centre - s * z - ds * dz)
    *_, ds, dz = direction
    length = _step_length((s, ds), (z, dz))
    if length < 1.0:  # stay inside
        length *= float(np.clip(1.0 - mean, 0.99, 1.0 - 1e-6))
    return direction, length


class Program(Protocol):
    """What the path needs to know of a quadratic program."""

    @property
    def curve(self) -> FloatArray:
        """Diagonal of P."""
        ...

    @property
    def price(self) -> FloatArray:
        """Give q."""
        ...

    @property
    def limit(self) -> FloatArray:
        """Give h."""
        ...

    def forward(self, x: FloatArray) -> FloatArray:
        """Multiply by A."""
        ...

    def backward(self, z: FloatArray) -> FloatArray:
        """Multiply by the transpose of A."""
        ...

    def normal(self, D: FloatArray) -> FloatArray:
        """Give AᵀDA, its lower half at least."""
        ...

    def pull(self, z: FloatArray) -> float:
        """Say how much multipliers pull at weights of length 1, per unit of limit."""
        ...


@dataclass(frozen=True, eq=False)
class Point:
    """Where the path came to a halt.

    Parameters
    ----------
    x, s, z : arrays
        See the notation above.
    off : float
        Largest of relative gap, missed constraints and missed balance.
    infeasible : bool
        Whether multipliers were found that no weights can meet.
    n_steps : int
        How many it took.
    """

    x: FloatArray
    s: FloatArray
    z: FloatArray
    off: float
    infeasible: bool
    n_steps: int


def follow(
    program: Program,
    x: FloatArray,
    s: FloatArray,
    z: FloatArray,
    tolerance: float = 1e-13,
) -> Point:
    """Follow the path from a point with positive s and z to the optimum."""
    P, q, h = program.curve, program.price, program.limit
    kept, infeasible, steps, since = (x, s, z), False, 0, 0
    best: Any = np.inf
    for steps in range(_MAX_STEPS):
        dual = P * x + q - program.backward(z)
        primal = program.forward(x) - s - h
        objective = 0.5 * x @ (P * x) + q @ x
        gap = float(s @ z) / max(abs(float(objective)), 1e-300)
        balance = float(np.abs(dual).max()) / float(z.max())
        off = max(gap, float(np.abs(primal).max()), balance)
        if off < 0.9 * best:
            best, kept, since = off, (x, s, z), steps
        patience = _PATIENCE if best < _NEAR else _LONG_PATIENCE
        if off <= tolerance or steps - since > patience or not np.isfinite(off):
            break
        if program.pull(z) <= _NO_PULL:
            infeasible = True
            break
        try:
            apply = _newton(program, z / s)
        except np.linalg.LinAlgError:
            break

        def move(
            target: FloatArray,
            s: Any = s,
            z: Any = z,
            dual: Any = dual,
            primal: Any = primal,
            apply: Any = apply,
        ) -> tuple[Any, ...]:
            dx = apply(program.backward((target - z * primal) / s) - dual)
            ds = program.forward(dx) + primal
            return dx, ds, (target - z * ds) / s

        (dx, ds, dz), length = mehrotra(move, s, z)
        if not length > 1e-12:
            break
        x = x + length * dx
        s = np.maximum(s + length * ds, _LEAST)
        z = np.maximum(z + length * dz, _LEAST)
    x, s, z = kept
    if not infeasible:
        z = _balance(program, x, z)
    return Point(x, s, z, float(best), infeasible, steps)


def _balance(program: Program, x: FloatArray, z: FloatArray) -> FloatArray:
    """Bring multipliers to what x asks for, ``Aᵀz = Px + q``, large ones first.

    Rounding has the size of the largest multipliers; what they leave may be tiny.
    """
    wanted = program.curve * x + program.price
    top = float(z.max())
    D = (z / top) ** 2
    try:
        H = program.normal(D)
        H[np.diag_indices(len(H))] += _TINY * float(np.diag(H).max())
        factored = cholesky(H)
    except np.linalg.LinAlgError:
        return z
    for _ in range(3):
        lack = wanted - program.backward(z)
        step = D * program.forward(cho_solve(factored, lack, check_finite=False))
        moved = z + step
        left = np.abs(wanted - program.backward(moved)).max()
        if moved.min() < 0.0 or not left < np.abs(lack).max():
            break
        z = moved
    return z


def _newton(program: Program, D: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Give what solves with ``P + AᵀDA``; a correction brings back lost digits."""
    H = program.normal(D)
    H[np.diag_indices(len(H))] += program.curve
    factored = cholesky(H)

    def apply(r: FloatArray) -> FloatArray:
        dx = cho_solve(factored, r, check_finite=False)
        made = program.curve * dx + program.backward(D * program.forward(dx))
        return dx + cho_solve(factored, r - made, check_finite=False)

    return apply

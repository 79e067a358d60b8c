"""SVM and SVM+ by interior points: slower than pivoting, and never at a loss.

Both take Gram matrices in factors, ``K = Z Zᵀ``, so that a matrix of low rank makes the
work less instead of the equations singular.

| symbol | meaning                                                   | shape     |
|--------|-----------------------------------------------------------|-----------|
| Z, Z*  | factors of the Gram matrices                              | (n, rank) |
| E      | [y Z, y]: margins ``y f`` are ``E (w, b)``                | (n, r+1)  |
| F      | [Z*, 1], without b* Z* alone: slacks ξ are ``F (w*, b*)`` | (n, r*+1) |
| s, z   | slacks of all constraints and their multipliers           | (2n,)     |

References
----------
.. [1] S. Mehrotra, "On the implementation of a primal-dual interior point method",
   SIAM J. Optim. 2 (1992).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpstrf

from veridical._records import FloatArray

_MAX_STEPS = 200
_TINY = 1e-14
_LEAST = 1e-100
#: Steps without progress before the best point so far is taken.
_PATIENCE = 10


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


def _step_length(*pairs: tuple[FloatArray, FloatArray]) -> float:
    """Find the longest step, at most 1, that keeps every value positive."""
    longest = 1.0
    for value, change in pairs:
        falling = change < 0
        if falling.any():
            longest = min(longest, float((-value[falling] / change[falling]).min()))
    return longest


def _mehrotra(
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


def _cholesky(H: FloatArray) -> Any:
    """Factor, lifting the diagonal a little where rounding has eaten it."""
    lift = _TINY * float(np.diag(H).max())
    for _ in range(8):
        try:
            return cho_factor(H, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            H[np.diag_indices(len(H))] += lift
            lift *= 100.0
    raise np.linalg.LinAlgError("the Newton equations are singular")


# -- the ordinary support vector machine ---------------------------------------------


def _shifted_inverse(
    matrix: FloatArray, diagonal: FloatArray, thin: bool
) -> Callable[[FloatArray], FloatArray]:
    """Give what solves with ``matrix + diagonal``, or with ``M Mᵀ + diagonal``."""
    if not thin:
        whole = matrix.copy()
        whole[np.diag_indices(len(whole))] += diagonal
        factored = _cholesky(whole)
        return lambda r: cho_solve(factored, r, check_finite=False)
    weight = 1.0 / diagonal
    inner = dsyrk(1.0, np.sqrt(weight)[:, None] * matrix, trans=1, lower=1)
    inner[np.diag_indices(len(inner))] += 1.0
    factored = _cholesky(inner)

    def apply(r: FloatArray) -> FloatArray:
        r = weight * r
        back = cho_solve(factored, matrix.T @ r, check_finite=False)
        return r - weight * (matrix @ back)

    return apply


def solve_box(
    gram: FloatArray,
    Z: FloatArray,
    y: FloatArray,
    c: FloatArray,
    tolerance: float = 1e-7,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Multipliers of an SVM, ``0 ≤ a ≤ c``, with slacks u of the margins and ξ.

    The cost of a step is O(n rank²), or O(n³) where the rank is large.
    """
    n = len(y)
    thin = 2 * Z.shape[1] < n
    signed = np.asfortranarray(y[:, None] * Z)
    Q = np.empty((0, 0)) if thin else gram * np.multiply.outer(y, y)
    b = 0.0
    s = np.concatenate([c / 2, c / 2])
    z = np.ones(2 * n)
    for _ in range(_MAX_STEPS):
        a, u, xi = s[:n], z[:n], z[n:]
        bend = signed @ (signed.T @ a) if thin else Q @ a
        dual = bend - 1.0 + b * y - u + xi
        balance = y @ a
        if s @ z <= tolerance * (1.0 + a.sum()) and np.abs(dual).max() <= tolerance:
            break
        apply = _shifted_inverse(signed if thin else Q, u / a + xi / s[n:], thin)
        along = apply(y)

        def move(
            target: FloatArray,
            s: Any = s,
            z: Any = z,
            dual: Any = dual,
            balance: Any = balance,
            along: Any = along,
            apply: Any = apply,
        ) -> tuple[Any, ...]:
            pull = target / s
            right = apply(-dual + pull[:n] - pull[n:])
            db = (y @ right + balance) / (y @ along)
            da = right - db * along
            ds = np.concatenate([da, -da])
            return db, ds, pull - z / s * ds

        (db, ds, dz), length = _mehrotra(move, s, z)
        s, z, b = s + length * ds, z + length * dz, b + length * db
    return s[:n], z[:n], z[n:]


def _relative(value: FloatArray, scale: FloatArray) -> float:
    return float(np.abs(value).max(initial=0) / (1.0 + np.abs(scale).max(initial=0)))


# -- SVM+ ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Interior:
    """Where the interior point method came to a halt.

    Parameters
    ----------
    w, b, w_star, b_star : array or float
        In the coordinates of the factors.
    alpha, beta, margin, slack : arrays of shape (n,)
        The multipliers, u and ξ.
    infeasible : bool
        Whether multipliers were found that no weights can meet.
    n_steps : int
        How many it took.
    """

    w: FloatArray
    b: float
    w_star: FloatArray
    b_star: float
    alpha: FloatArray
    beta: FloatArray
    margin: FloatArray
    slack: FloatArray
    infeasible: bool
    n_steps: int


def _normal_matrix(
    E: FloatArray, F: FloatArray, P: FloatArray, D: FloatArray
) -> FloatArray:
    """Matrix of the Newton equations: ``P + AᵀDA`` for all constraints A."""
    n, k = E.shape
    H = np.empty((len(P), len(P)))
    H[:k, :k] = (E * D[:n, None]).T @ E
    H[:k, k:] = (E * D[:n, None]).T @ F
    H[k:, :k] = H[:k, k:].T
    H[k:, k:] = (F * (D[:n] + D[n:])[:, None]).T @ F
    H[np.diag_indices(len(P))] += P
    return H


def solve_interior(
    Z: FloatArray,
    Z_star: FloatArray,
    y: FloatArray,
    c: FloatArray,
    gamma: float,
    *,
    bias: bool,
    tolerance: float = 1e-12,
) -> Interior:
    """Minimise ½|w|² + γ/2 |w*|² + Σ cᵢξᵢ with margins at least 1 − ξ and ξ ≥ 0.

    Every step costs one Cholesky decomposition of as many rows as there are weights.
    """
    n, rank = Z.shape
    one = np.ones((n, 1))
    E = y[:, None] * np.hstack([Z, one])
    F = np.hstack([Z_star, one]) if bias else Z_star
    k = E.shape[1]
    P = np.concatenate([np.ones(rank), [0.0], np.full(Z_star.shape[1], gamma), [0.0]])
    P = P[: k + F.shape[1]]
    price = np.concatenate([np.zeros(k), F.T @ c])
    limit = np.concatenate([np.ones(n), np.zeros(n)])
    size = float(max(np.abs(E).max(), np.abs(F).max(initial=0.0)))

    def forward(x: FloatArray) -> FloatArray:
        slack = F @ x[k:]
        return np.concatenate([E @ x[:k] + slack, slack])

    def backward(z: FloatArray) -> FloatArray:
        return np.concatenate([E.T @ z[:n], F.T @ (z[:n] + z[n:])])

    x = np.zeros(len(P))
    s, z = np.ones(2 * n), np.concatenate([c, c]) / 2
    infeasible, steps, since = False, 0, 0
    best: Any = np.inf
    kept = (x, s, z)
    for steps in range(_MAX_STEPS):
        pull = backward(z)
        dual, primal = P * x + price - pull, forward(x) - s - limit
        objective = 0.5 * x @ (P * x) + price @ x
        gap = s @ z / (1.0 + abs(objective))
        off = max(
            float(np.abs(primal).max()),
            _relative(dual[:k], pull[:k]),
            _relative(dual[k:], pull[k:]),
        )
        if gap + off < best:
            best, kept, since = gap + off, (x, s, z), steps
        if (gap <= tolerance and off <= tolerance) or steps - since > _PATIENCE:
            break
        total = z[:n].sum()
        if not bias and np.abs(pull).max() <= 1e-8 * size * total:
            infeasible = True
            break
        D = z / s
        H = _normal_matrix(E, F, P, D)
        try:
            factored = _cholesky(H)
        except np.linalg.LinAlgError:
            break

        def move(
            target: FloatArray,
            s: Any = s,
            z: Any = z,
            dual: Any = dual,
            primal: Any = primal,
            factored: Any = factored,
        ) -> tuple[Any, ...]:
            right = backward((target - z * primal) / s) - dual
            dx = cho_solve(factored, right, check_finite=False)
            ds = forward(dx) + primal
            return dx, ds, (target - z * ds) / s

        (dx, ds, dz), length = _mehrotra(move, s, z)
        if length < 1e-12:
            break
        x = x + length * dx
        s = np.maximum(s + length * ds, _LEAST)
        z = np.maximum(z + length * dz, _LEAST)
    x, s, z = kept
    return Interior(
        w=x[:rank],
        b=float(x[rank]),
        w_star=x[k : k + Z_star.shape[1]],
        b_star=float(x[-1]) if bias else 0.0,
        alpha=z[:n],
        beta=z[n:],
        margin=s[:n],
        slack=s[n:],
        infeasible=infeasible,
        n_steps=steps,
    )

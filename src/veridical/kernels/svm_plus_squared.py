"""SVM+ with squared slacks: one quadratic problem with no bound but zero.

    min  ½|w|² + γ/2 |w*|² + ½ Σ cᵢ ξᵢ²   with   yᵢ⟨w, xᵢ⟩ ≥ 1 − ξᵢ,  ξᵢ = ⟨w*, xᵢ*⟩

Both biases are weights of a constant feature, penalised like the others. With
H = (diag c + γ K*⁻¹)⁻¹ the dual is ``max Σα − ½ αᵀ(Q + H)α`` over α ≥ 0 [1]_.

References
----------
.. [1] W. Li, D. Dai, M. Tan, D. Xu & L. Van Gool, "Fast algorithms for linear and
   kernel SVM+", CVPR 2016.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from veridical._records import FloatArray
from veridical.kernels.svm_plus import Solution, States

_MAX_ROUNDS = 60


def bend_of_slacks(gram_star: FloatArray, c: FloatArray, gamma: float) -> FloatArray:
    """Compute H from the privileged Gram matrix."""
    root = np.sqrt(c)
    inner = gram_star * np.multiply.outer(root, root) / gamma
    whole = inner.copy()
    whole[np.diag_indices(len(c))] += 1.0
    H = cho_solve(cho_factor(whole, lower=True), inner)
    H = H / np.multiply.outer(root, root)
    return (H + H.T) / 2


def solve_nonnegative(G: FloatArray) -> tuple[FloatArray, float, int]:
    """Maximise ``Σa − ½ aᵀGa`` over a ≥ 0: the maximiser, relative gap, rounds.

    Guess who is positive, solve, move all whose sign is wrong; where that goes in
    circles, exchange only the last of them, which always ends.
    """
    n = len(G)
    lift = 1e-13 * max(float(np.diag(G).mean()), 1e-300)
    active = np.ones(n, dtype=bool)
    fewest, patience, rounds = n + 1, 3, 0
    a = np.zeros(n)
    while rounds < _MAX_ROUNDS + 20 * n:
        rounds += 1
        a = _solve_active(G, active, lift)
        slope = G @ a - 1.0
        scale = 1e-11 * max(float(np.abs(a).max()), 1e-300)
        wrong = np.where(active, a < -scale, slope < -1e-11)
        count = int(wrong.sum())
        if count == 0:
            break
        if count < fewest:
            fewest, patience = count, 3
        elif patience:
            patience -= 1
        else:
            only = np.flatnonzero(wrong)[-1:]
            wrong = np.zeros(n, dtype=bool)
            wrong[only] = True
        active ^= wrong
    a = np.maximum(a, 0.0)
    return a, _gap(G, a), rounds


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
    dual = float(a.sum()) - 0.5 * bend
    if least <= 0.0:
        return np.inf
    return abs(0.5 * bend / least**2 - dual) / (1.0 + abs(dual))


def solve_squared(
    gram: FloatArray,
    gram_star: FloatArray,
    sign: FloatArray,
    c: FloatArray,
    gamma: float,
    bias: bool,
) -> Solution:
    """Squared slacks, in the form that the hinge has: α, η and the two biases."""
    H = bend_of_slacks(gram_star + 1.0 if bias else gram_star, c, gamma)
    G = (gram + 1.0) * np.multiply.outer(sign, sign) + H
    alpha, gap, rounds = solve_nonnegative(G)
    eta = (alpha - c * (H @ alpha)) / gamma
    objective = float(alpha.sum() - 0.5 * alpha @ G @ alpha)
    return Solution(
        alpha,
        eta,
        float(sign @ alpha),
        float(eta.sum()) if bias else 0.0,
        objective,
        gap,
        rounds,
        States(alpha > 0, alpha > 0),
    )

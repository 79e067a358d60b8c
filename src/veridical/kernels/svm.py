"""The dual of a linear support vector machine, solved to the last digits.

| symbol | meaning                                              | shape  |
|--------|------------------------------------------------------|--------|
| G      | inner products of the cases                          | (n, n) |
| sign   | class of each case, +1 or −1                         | (n,)   |
| bound  | largest multiplier of each case (C times its weight) | (n,)   |
| a      | multipliers, ``0 ≤ a ≤ bound``, ``Σ sign a = 0``     | (n,)   |
| grad   | gradient of ½ aᵀQa − Σa, with Q = sign signᵀ ∘ G     | (n,)   |

References
----------
.. [1] R.-E. Fan, P.-H. Chen & C.-J. Lin, "Working set selection using second order
   information for training support vector machines", JMLR 6 (2005).
"""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.svm_box import PRECISE, settle, solve_inside, violation

# Iterations of SMO between two attempts to solve for the free multipliers exactly.
PATIENCE = 200
# Iterations per case after which the other way is tried.
STEPS_PER_CASE = 10
TOLERANCE = 1e-10


@njit(cache=True, nogil=True)
def descend(
    G: FloatArray,
    sign: FloatArray,
    bound: FloatArray,
    a: FloatArray,
    grad: FloatArray,
    tolerance: float,
    n_steps: int,
) -> float:
    """Take SMO steps on the pair that promises most; return the violation left."""
    n = sign.size
    for _ in range(n_steps):
        top, i = -np.inf, -1
        for t in range(n):
            movable = a[t] < bound[t] if sign[t] > 0 else a[t] > 0.0
            if movable and -sign[t] * grad[t] > top:
                top, i = -sign[t] * grad[t], t
        low, j, promise = np.inf, -1, 0.0
        for t in range(n):
            movable = a[t] > 0.0 if sign[t] > 0 else a[t] < bound[t]
            if not movable:
                continue
            value = -sign[t] * grad[t]
            low = min(low, value)
            if i >= 0 and value < top:
                curve = max(G[i, i] + G[t, t] - 2.0 * G[i, t], 1e-300)
                if (top - value) ** 2 / curve > promise:
                    promise, j = (top - value) ** 2 / curve, t
        if i < 0 or j < 0 or top - low <= tolerance:
            return max(top - low, 0.0)
        curve = max(G[i, i] + G[j, j] - 2.0 * G[i, j], 1e-300)
        move = (top + sign[j] * grad[j]) / curve
        room_i = bound[i] - a[i] if sign[i] > 0 else a[i]
        room_j = a[j] if sign[j] > 0 else bound[j] - a[j]
        move = min(move, room_i, room_j)
        # A multiplier that reaches its bound is put there exactly.
        if move == room_i:
            a[i] = bound[i] if sign[i] > 0 else 0.0
        else:
            a[i] += sign[i] * move
        if move == room_j:
            a[j] = 0.0 if sign[j] > 0 else bound[j]
        else:
            a[j] -= sign[j] * move
        for t in range(n):
            grad[t] += sign[t] * move * (G[t, i] - G[t, j])
    return top - low


def _polish(
    G: FloatArray,
    sign: FloatArray,
    bound: FloatArray,
    a: FloatArray,
    tolerance: float,
) -> FloatArray | None:
    """Solve for the free multipliers, the others staying at their bounds.

    Returns None if the solution leaves the box or another multiplier wants to move:
    then the guess of who is free was wrong.
    """
    free = (a > 0) & (a < bound)
    m = int(free.sum())
    if m == 0:
        return None
    signed = sign * a
    held = np.where(free, 0.0, signed)
    system = np.zeros((m + 1, m + 1))
    system[:m, :m] = G[np.ix_(free, free)]
    system[:m, m] = system[m, :m] = 1.0
    target = np.append(sign[free] - G[free] @ held, -held.sum())
    try:
        solution = np.linalg.solve(system, target)
    except np.linalg.LinAlgError:
        return None
    result = a.copy()
    result[free] = sign[free] * solution[:m]
    if not np.all((result >= 0) & (result <= bound)):
        return None
    return result if violation(G, sign, bound, result) <= tolerance else None


def solve_dual(
    G: FloatArray,
    sign: FloatArray,
    bound: FloatArray,
    start: FloatArray,
    *,
    max_steps: int = 1_000_000,
) -> FloatArray:
    """Multipliers of the support vector machine with Gram matrix `G`.

    Steps of sequential minimal optimization find out which multipliers are free; a
    linear system then gives these exactly. From a good `start` the system alone is
    often enough. Where the steps do not come to an end (columns of different scale, a
    high price), a way through the inside of the box does.
    """
    a = np.clip(start, 0.0, bound)
    done = _polish(G, sign, bound, a, PRECISE)
    if done is not None:
        return done
    grad = sign * (G @ (sign * a)) - 1.0
    steps = PATIENCE
    total, patient = 0, True
    while total < max_steps:
        gap = descend(G, sign, bound, a, grad, TOLERANCE, steps)
        done = _polish(G, sign, bound, a, PRECISE)
        if done is not None:
            return done
        if gap <= TOLERANCE:
            return settle(G, sign, bound, a)
        total += steps
        steps *= 2
        if patient and STEPS_PER_CASE * sign.size <= total < max_steps:
            patient = False
            inside, left = solve_inside(G, sign, bound)
            if left <= TOLERANCE:
                return inside
            if left < violation(G, sign, bound, a):
                a, grad = inside, sign * (G @ (sign * inside)) - 1.0
    return a

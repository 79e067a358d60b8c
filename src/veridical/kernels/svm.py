"""The ordinary linear support vector machine, solved in its dual to the last digits.

    max  Σa − ½ aᵀQa   with   0 ≤ a ≤ bound, Σ sign a = 0

Steps of sequential minimal optimization (SMO) find out which multipliers are free, and
an active-set method their exact values. Where the steps do not end (features of
different scale, a high C), an interior-point method takes their place: ten to forty
Newton steps whatever the data, where pairwise steps may take millions.

| symbol | meaning                                                | shape  |
|--------|--------------------------------------------------------|--------|
| G      | inner products of the samples                          | (n, n) |
| sign   | class of each sample, +1 or −1                         | (n,)   |
| bound  | largest multiplier of each sample (C times its weight) | (n,)   |
| a      | multipliers                                            | (n,)   |
| grad   | gradient of ½ aᵀQa − Σa, with Q = sign signᵀ ∘ G       | (n,)   |

References
----------
.. [1] R.-E. Fan, P.-H. Chen & C.-J. Lin, "Working set selection using second order
   information for training support vector machines", JMLR 6 (2005).
"""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.active_set import polish, solve_active_set
from veridical.kernels.duality import ROUGH_GAP, ROUNDED, TOLERANCE, violation
from veridical.kernels.interior import center, factor, solve_box

#: SMO steps before the first attempt to solve for the free multipliers; twice as many
#: before each further one.
_STEPS = 200
#: SMO steps per sample; after so many the interior-point method is tried.
_STEPS_PER_SAMPLE = 10
#: SMO steps; then the multipliers so far are returned.
_MAX_STEPS = 1_000_000
#: Relative gaps of interior points from which the active set is taken. With a large
#: one it is not yet seen which multipliers are at a bound; with a small one rounding
#: decides the last steps.
_INTERIOR_GAPS = (ROUGH_GAP, 1e-5)


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
    """Take SMO steps on the pair with the largest gain; return the violation [1]_."""
    n = sign.size
    for _ in range(n_steps):
        top, i = -np.inf, -1
        for t in range(n):
            movable = a[t] < bound[t] if sign[t] > 0 else a[t] > 0.0
            if movable and -sign[t] * grad[t] > top:
                top, i = -sign[t] * grad[t], t
        low, j, gain = np.inf, -1, 0.0
        for t in range(n):
            movable = a[t] > 0.0 if sign[t] > 0 else a[t] < bound[t]
            if not movable:
                continue
            value = -sign[t] * grad[t]
            low = min(low, value)
            if i >= 0 and value < top:
                curvature = max(G[i, i] + G[t, t] - 2.0 * G[i, t], 1e-300)
                if (top - value) ** 2 / curvature > gain:
                    gain, j = (top - value) ** 2 / curvature, t
        if i < 0 or j < 0 or top - low <= tolerance:
            return max(top - low, 0.0)
        curvature = max(G[i, i] + G[j, j] - 2.0 * G[i, j], 1e-300)
        step = (top + sign[j] * grad[j]) / curvature
        distance_i = bound[i] - a[i] if sign[i] > 0 else a[i]
        distance_j = a[j] if sign[j] > 0 else bound[j] - a[j]
        step = min(step, distance_i, distance_j)
        # A multiplier that reaches its bound is put there exactly.
        if step == distance_i:
            a[i] = bound[i] if sign[i] > 0 else 0.0
        else:
            a[i] += sign[i] * step
        if step == distance_j:
            a[j] = 0.0 if sign[j] > 0 else bound[j]
        else:
            a[j] -= sign[j] * step
        for t in range(n):
            grad[t] += sign[t] * step * (G[t, i] - G[t, j])
    return top - low


def solve_dual(
    G: FloatArray,
    sign: FloatArray,
    bound: FloatArray,
    start: FloatArray,
    *,
    max_steps: int = _MAX_STEPS,
) -> FloatArray:
    """Find the multipliers of the support vector machine with Gram matrix `G`.

    From a good `start` the linear system of its free multipliers is often enough.
    """
    a = np.clip(start, 0.0, bound)
    done = polish(G, sign, bound, a)
    if done is not None:
        return done
    grad = sign * (G @ (sign * a)) - 1.0
    steps, total, tried = _STEPS, 0, False
    while total < max_steps:
        violation_left = descend(G, sign, bound, a, grad, TOLERANCE, steps)
        done = polish(G, sign, bound, a)
        if done is not None:
            return done
        if violation_left <= TOLERANCE:
            return solve_active_set(G, sign, bound, a)
        total += steps
        steps *= 2
        if not tried and _STEPS_PER_SAMPLE * sign.size <= total < max_steps:
            tried = True
            interior, violation_left = solve_interior(G, sign, bound)
            if violation_left <= TOLERANCE:
                return interior
            if violation_left < violation(G, sign, bound, a):
                a, grad = interior, sign * (G @ (sign * interior)) - 1.0
    return a


def solve_interior(
    G: FloatArray, sign: FloatArray, bound: FloatArray
) -> tuple[FloatArray, float]:
    """Find multipliers by interior points, and return the violation they leave.

    The violation is that of samples centred and of length about 1. It is infinite where
    the method fails.
    """
    # The multipliers balance, so a constant added to a row or a column has no effect.
    centred = center(G)
    size = float(np.diag(centred).mean())
    if not 0.0 < size < np.inf:
        return np.zeros(len(sign)), np.inf
    centred /= size
    c = bound * size
    Z, _ = factor(centred)
    best, least_violation = np.zeros(len(sign)), np.inf
    for gap in _INTERIOR_GAPS:
        a, surplus, slack = solve_box(centred, Z, sign, c, gap)
        if not np.isfinite(a).all():
            continue
        a = solve_active_set(centred, sign, c, put_at_bounds(a, surplus, slack, c))
        violation_left = violation(centred, sign, c, a)
        if violation_left < least_violation:
            best, least_violation = a, violation_left
        if least_violation <= ROUNDED:
            break
    return np.where(best >= c, bound, best / size), least_violation


def put_at_bounds(
    a: FloatArray, surplus: FloatArray, slack: FloatArray, c: FloatArray
) -> FloatArray:
    """Move multipliers of an interior point to the bounds that they converge to.

    At the optimum a multiplier or the surplus over the margin is zero, and the distance
    of the multiplier from c or the slack: the smaller one, in units of each.
    """
    unit = np.minimum(c, 1.0)
    return np.where(a <= unit * surplus, 0.0, np.where(c - a < unit * slack, c, a))

"""The ordinary linear support vector machine, solved in its dual to the last digits.

    max  Σ sign target a − ½ aᵀQa   with   0 ≤ a ≤ bound, Σ sign a = 0

For a classifier ``sign target`` is 1. A support vector regression has every sample
twice: with sign 1 and the target y − ε for errors above, and with sign −1 and the
target y + ε for errors below.

Steps of sequential minimal optimization (SMO) find out which multipliers are free, and
an active-set method (`veridical.kernels.active_set`) their exact values. Where the
steps do not end (features of different scale, a high C), an interior-point method takes
their place: ten to forty Newton steps whatever the data, where pairwise steps may take
millions. Where rounding hides the margins, the active-set method works in twice the
precision.

| symbol | meaning                                                | shape  |
|--------|--------------------------------------------------------|--------|
| G      | inner products of the samples                          | (n, n) |
| sign   | class of each sample, +1 or −1                         | (n,)   |
| target | decision of a sample that meets its margin exactly     | (n,)   |
| bound  | largest multiplier of each sample (C times its weight) | (n,)   |
| a      | multipliers                                            | (n,)   |
| grad   | gradient of minus the above, with Q = sign signᵀ ∘ G   | (n,)   |

References
----------
.. [1] R.-E. Fan, P.-H. Chen & C.-J. Lin, "Working set selection using second order
   information for training support vector machines", JMLR 6 (2005).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from veridical._core.arrays import EPS, FloatArray
from veridical._core.compiling import njit
from veridical.kernels.box import solve_box
from veridical.kernels.duality import (
    COARSE_GAP,
    LAST_GAP,
    ROUGH_GAP,
    ROUNDED,
    START_TOLERANCE,
    TOLERANCE,
    bias_difference,
    largest_sum,
    put_at_bounds,
    relative_gap,
    violation,
)
from veridical.kernels.interior import center, factor
from veridical.kernels.inverse import solve_active_set
from veridical.kernels.products import Gram, Products
from veridical.kernels.svm_exact import exact_gram, solve_active_set_exactly

#: SMO steps before the first attempt to solve for the free multipliers; twice as many
#: before each further one.
_STEPS_BEFORE_SOLVE = 200
#: SMO steps per sample; after this many the interior-point method is tried.
_STEPS_PER_SAMPLE = 10
#: SMO steps per sample before the active-set method, where no bound limits them.
_STEPS_TO_START = 4
#: Samples; with more, interior points are faster than SMO steps from 0 and than
#: changes of the active set.
_LARGE = 1000
#: Samples; inner products of more, in twice the precision, would take too much memory
#: and time.
_MOST_EXACT = 2000


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


class Multipliers(NamedTuple):
    """Solution of the dual.

    Parameters
    ----------
    a : array of shape (n,)
        The multipliers.
    low : array of shape (n,)
        What their rounding to doubles left out; zero unless the last digits were found
        in twice the working precision.
    bias_at_margin : array of shape (n,)
        Bias at which each sample meets its margin exactly.
    """

    a: FloatArray
    low: FloatArray
    bias_at_margin: FloatArray


def solve_svm(
    gram: Gram,
    sign: FloatArray,
    bound: FloatArray,
    start: FloatArray | None = None,
    *,
    target: FloatArray | None = None,
    exact: Callable[[], FloatArray] | None = None,
) -> Multipliers:
    """Find the multipliers of the support vector machine with these inner products.

    Descent comes first, then interior points, then the active-set method in twice the
    working precision, where the biases of two samples still differ. Two routines for
    many small problems come before it, for their speed: the compiled descent of nested
    feature sets (`veridical.kernels.dagsvm`) and the compiled interior points of
    `veridical.kernels.box`; what either cannot solve is solved here.

    Parameters
    ----------
    gram, sign, bound : arrays
        G, sign and bound of the notation above. G may be the features of many samples
        (`veridical.kernels.products.Products`): then no step needs n² memory.
    start : array of shape (n,), optional
        Multipliers of a similar problem. From a good start the linear system of its
        free multipliers is often enough.
    target : array of shape (n,), optional
        As in the notation above; `sign` by default.
    exact : function, optional
        Computes the inner products in twice the working precision, as
        `veridical.kernels.svm_exact.exact_gram` does. Without it `gram` counts as
        exact.
    """
    target = sign if target is None else target
    a = _solve_in_doubles(gram, sign, target, bound, start)
    found = Multipliers(a, np.zeros(len(a)), target - gram @ (sign * a))
    uncertainty = bias_difference(found.bias_at_margin, sign, bound, a)
    if exact is not None:
        uncertainty += EPS * largest_sum(gram, a)
    if uncertainty <= TOLERANCE or len(a) > _MOST_EXACT:
        return found
    if exact is not None:
        pairs = exact()
    elif isinstance(gram, Products):
        pairs = exact_gram(gram.left)
    else:
        pairs = np.stack([gram, np.zeros_like(gram)])
    both, at_margin, remaining = solve_active_set_exactly(pairs, sign, target, bound, a)
    if remaining >= uncertainty:
        return found
    return Multipliers(both[0], both[1], at_margin)


def _solve_in_doubles(
    gram: Gram,
    sign: FloatArray,
    target: FloatArray,
    bound: FloatArray,
    start: FloatArray | None,
) -> FloatArray:
    """Take SMO steps, then interior points; return the better multipliers."""
    n = len(sign)
    if start is None and n > _LARGE:
        return solve_interior(gram, sign, target, bound)[0]
    a = np.zeros(n) if start is None else np.clip(start, 0.0, bound)
    problem = gram, sign, target, bound
    found = polish(*problem, a)
    if isinstance(gram, Products):
        optimal = found is not None
        if found is None and a.any():
            found, optimal, _ = solve_active_set(*problem, a)
        return found if found is not None and optimal else solve_interior(*problem)[0]
    grad = sign * (gram @ (sign * a) - target)
    near, steps, total = False, _STEPS_BEFORE_SOLVE, 0
    while found is None and not near and total < _STEPS_PER_SAMPLE * n:
        near = descend(gram, sign, bound, a, grad, TOLERANCE, steps) <= TOLERANCE
        found = polish(*problem, a)
        total += steps
        steps *= 2
    if found is not None:
        return found
    if near:
        found, optimal, _ = solve_active_set(*problem, a)
        if optimal:
            return found
        return min((found, a), key=lambda one: violation(*problem, one))
    interior, remaining = solve_interior(*problem)
    return interior if remaining < violation(*problem, a) else a


def polish(
    G: Gram,
    sign: FloatArray,
    target: FloatArray,
    bound: FloatArray,
    a: FloatArray,
) -> FloatArray | None:
    """Solve for the free multipliers, the others staying at their bounds.

    Returns None if the active set is not the right one, or the equations are singular.
    Then `solve_active_set` is needed, which takes seconds to compile.
    """
    free = np.flatnonzero((a > 0) & (a < bound))
    m = free.size
    if m == 0:
        return None
    held = sign * a
    held[free] = 0.0
    system = np.zeros((m + 1, m + 1))
    system[:m, :m] = G[np.ix_(free, free)]
    system[:m, m] = system[m, :m] = 1.0
    right = np.append(target[free] - G[free] @ held, -held.sum())
    try:
        solution = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        return None
    result = a.copy()
    result[free] = sign[free] * solution[:m]
    if not np.all((result >= 0) & (result <= bound)):
        return None
    return result if violation(G, sign, target, bound, result) <= ROUNDED else None


def solve_interior(
    G: Gram, sign: FloatArray, target: FloatArray, bound: FloatArray
) -> tuple[FloatArray, float]:
    """Find multipliers by interior points, and return the violation they leave.

    The violation is that of samples centred and of length about 1. It is infinite where
    the method fails.
    """
    # The multipliers balance, so a constant added to a row or a column has no effect.
    centred, size = _center_to_unit(G)
    best, least_violation = np.zeros(len(sign)), np.inf
    if not 0.0 < size < np.inf:
        return best, least_violation
    c = bound * size
    by_features = isinstance(centred, Products)
    Z = centred.left if isinstance(centred, Products) else factor(centred)[0]
    # A change of the active set takes the equations of the free multipliers alone, but
    # n² products where these are not computed from the features.
    few = by_features or len(c) <= _LARGE
    for gap in (ROUGH_GAP, COARSE_GAP) if len(c) <= _LARGE else (LAST_GAP,):
        a = put_at_bounds(*solve_box(centred, Z, sign, c, gap, -sign * target), c)
        if not np.isfinite(a).all():
            continue
        problem = centred, sign, target, c
        found = polish(*problem, a)
        if found is None and few:
            found, _, _ = solve_active_set(*problem, a)
        for one in (a, found):
            if one is None:
                continue
            violation_left = violation(*problem, one)
            if violation_left < least_violation:
                best, least_violation = one, violation_left
        if least_violation <= ROUNDED:
            break
    return np.where(best >= c, bound, best / size), least_violation


def solve_nonnegative(G: FloatArray) -> tuple[FloatArray, float, int]:
    """Maximise ``Σa − ½ aᵀGa`` over a ≥ 0: the maximiser, relative gap, systems solved.

    This is an ordinary support vector machine whose multipliers need not balance: that
    of one more sample, at the origin and without a bound, takes what they sum to. The
    gap is infinite where no maximum was found.
    """
    n = len(G)
    whole = np.zeros((n + 1, n + 1))
    whole[1:, 1:] = G
    sign, target, a = np.ones(n + 1), np.ones(n + 1), np.zeros(n + 1)
    sign[0], target[0] = -1.0, 0.0
    bound, grad = np.full(n + 1, np.inf), -target
    descend(whole, sign, bound, a, grad, START_TOLERANCE, _STEPS_TO_START * n)
    found, _, n_solved = solve_active_set(whole, sign, target, bound, a, n)
    a = found[1:]
    Ga = G @ a
    square, least = float(a @ Ga), float(Ga.min())
    if least <= 0.0:
        return a, np.inf, n_solved
    # The primal point is scaled to meet all margins.
    cost = 0.5 * square / least**2
    return a, relative_gap(cost, float(a.sum()) - 0.5 * square), n_solved


def _center_to_unit(G: Gram) -> tuple[Gram, float]:
    """Centre samples and bring their mean squared length to 1; return what it was."""
    if isinstance(G, Products):
        X = G.left - G.left.mean(axis=0)
        size = float(np.einsum("ij,ij->i", X, X).mean())
        return Products(X / np.sqrt(size) if 0.0 < size < np.inf else X), size
    centred = center(G)
    size = float(np.diag(centred).mean())
    if 0.0 < size < np.inf:
        centred /= size
    return centred, size

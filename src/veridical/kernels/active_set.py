"""The active-set method of all ordinary support vector machines of this library.

    max  Σ target v − ½ vᵀGv   with   lower ≤ v ≤ upper, Σ v = 0

SMO steps, interior points or the last of several similar problems tell nearly which
multipliers are at their bounds. Given that, those of the other, the free samples, solve
linear equations: all free samples meet their margins with one bias. `find_optimum`
takes the step to this solution, or up to the first bound; a multiplier that meets its
bound is no longer free. Where none does, it looks for samples that violate the
optimality conditions, and lets the one with the largest and the one with the smallest
bias become free. It ends with all digits that the arithmetic has.

How the equations are solved is the arithmetic: a named tuple of arrays, and five
functions that `find_optimum` declares; it is compiled for each. `kernels.inverse`
updates the inverse of the equations when a sample becomes free or meets its bound, in
double precision; `kernels.svm_exact` factors them anew, in twice the working precision.

Every arithmetic has these arrays (in twice the precision they are the high parts):

| symbol       | meaning                                                  | shape |
|--------------|----------------------------------------------------------|-------|
| v            | multipliers, negative for samples of the second class    | (n,)  |
| lower, upper | bounds of v; one of them is 0                            | (n,)  |
| bias         | bias at which a sample meets its margin: ``target − Gv`` | (n,)  |
| free         | whether v may change                                     | (n,)  |
| change       | by how much the free multipliers change in a whole step  | (n,)  |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import by_type, njit
from veridical.kernels.duality import ROUNDED

#: Residual of the equations as a share of that before a refinement; where more is left,
#: the residual is rounding.
_REFINED = 0.5


def bound_signed(sign: FloatArray, bound: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of multipliers times `sign`."""
    return np.where(sign > 0, 0.0, -bound), np.where(sign > 0, bound, 0.0)


# -- what an arithmetic computes -----------------------------------------------------


@by_type
def solve(equations: Any) -> bool:
    """Write the change that solves the equations of the free multipliers.

    Where they have no solution, the change is a direction without curvature along which
    the objective grows, and True is returned.
    """
    raise NotImplementedError


@by_type
def move(equations: Any, step_size: float) -> None:
    """Add ``step_size * change`` to the free multipliers, within their bounds."""
    raise NotImplementedError


@by_type
def measure_biases(equations: Any) -> float:
    """Write the bias of every sample; return which difference of two is rounding."""
    raise NotImplementedError


@by_type
def bind(equations: Any, i: int) -> bool:
    """Remove sample i, which met its bound, from the free ones; False if singular."""
    raise NotImplementedError


@by_type
def release(equations: Any, i: int) -> bool:
    """Let sample i become free; False if that makes the equations singular."""
    raise NotImplementedError


# -- the method ----------------------------------------------------------------------


@njit(cache=True, nogil=True)
def find_optimum(equations: Any, max_changes: int, refine: bool) -> tuple[bool, int]:
    """Change the active set until the multipliers are optimal.

    Parameters
    ----------
    equations : named tuple
        As described above. Its multipliers change; its `bias` belongs to those given.
    max_changes : int
        Changes of the active set; then the multipliers so far are kept.
    refine : bool
        Whether to refine the solution as long as it gains digits, also where it is
        optimal up to rounding.

    Returns
    -------
    optimal : bool
        Whether no sample violates the optimality conditions by more than rounding.
    n_solved : int
        Number of linear systems solved.
    """
    n_changes, n_solved, last = 0, 0, np.inf
    while n_changes < max_changes:
        n_solved += 1
        flat = solve(equations)
        n_bound = step_to_bound(equations, np.inf if flat else 1.0)
        tolerance = measure_biases(equations)
        if n_bound < 0:
            break
        if n_bound == 0:
            found = find_violators(equations)
            residual, imbalance, above, below, highest, lowest = found
            unsolved = max(residual / tolerance, imbalance / ROUNDED)
            # What refinements leave is rounding.
            rounding = max(tolerance, residual)
            optimal = max(above, below) <= rounding
            again = unsolved > 1.0 or (optimal and refine and unsolved > 0.0)
            if again and unsolved < _REFINED * last:
                last = unsolved
                continue
            if optimal:
                return unsolved <= 1.0, n_solved
            if above > rounding and not release(equations, highest):
                break
            if below > rounding and not release(equations, lowest):
                break
        n_changes, last = n_changes + 1, np.inf
    return False, n_solved


@njit(cache=True, nogil=True)
def step_to_bound(equations: Any, longest: float) -> int:
    """Add `longest` times their change to the free multipliers, or up to a bound.

    Returns how many met their bound and are free no longer; −1 where that failed, or
    where there is neither a bound nor an end of the step.
    """
    v, change, free = equations.v, equations.change, equations.free
    lower, upper = equations.lower, equations.upper
    step_size, first = longest, -1
    for i in range(v.size):
        # A division only where the step becomes shorter.
        if free[i] and change[i] < 0.0 and lower[i] - v[i] > step_size * change[i]:
            step_size, first = (lower[i] - v[i]) / change[i], i
        elif free[i] and change[i] > 0.0 and upper[i] - v[i] < step_size * change[i]:
            step_size, first = (upper[i] - v[i]) / change[i], i
    if step_size == np.inf:
        return -1
    move(equations, step_size)
    if first < 0:
        return 0
    n_bound = 0
    for i in range(v.size):
        bound = lower[i] if change[i] < 0.0 else upper[i]
        if free[i] and change[i] != 0.0 and (i == first or v[i] == bound):
            v[i] = bound
            if not bind(equations, i):
                return -1
            n_bound += 1
    return n_bound


@njit(cache=True, nogil=True)
def find_violators(
    equations: Any,
) -> tuple[float, float, float, float, int, int]:
    """Compare the biases of free samples with those that other samples allow.

    Returns ``residual``, ``imbalance``, ``above``, ``below``, ``highest``, ``lowest``.
    ``residual`` is the largest difference between the biases of two free samples;
    ``imbalance`` the sum of the multipliers, as a share of their absolute values.
    ``highest`` is the sample with the largest bias among those whose multiplier may
    grow, and ``above`` by how much it is above a free sample. ``lowest`` is the sample
    with the smallest bias among those whose multiplier may shrink, and ``below`` by how
    much it is below. Without free samples these two samples are compared with each
    other, unless the multipliers have to be balanced.
    """
    v, bias = equations.v, equations.bias
    up, down, free_up, free_down = -np.inf, np.inf, -np.inf, np.inf
    highest, lowest, total, balance = 0, 0, 0.0, 0.0
    for i in range(v.size):
        total += abs(v[i])
        balance += v[i]
        if equations.free[i]:
            free_up, free_down = max(free_up, bias[i]), min(free_down, bias[i])
            continue
        if v[i] < equations.upper[i] and bias[i] > up:
            up, highest = bias[i], i
        if v[i] > equations.lower[i] and bias[i] < down:
            down, lowest = bias[i], i
    imbalance = abs(balance) / max(total, 1e-300)
    residual, above, below = free_up - free_down, up - free_down, free_up - down
    if free_up < free_down:  # none is free
        residual, above, below = 0.0, up - down, up - down
        if imbalance > ROUNDED:
            above, below = (np.inf, 0.0) if balance < 0.0 else (0.0, np.inf)
    return residual, imbalance, above, below, highest, lowest

"""Rounds of backward elimination by a linear SVM, as long as each is clear.

A round drops the feature with the smallest squared weight and solves the support vector
machines again. The multipliers hardly change from one round to the next, so that

- the inverse of the equations for the free multipliers is updated, not computed anew.
  It need not be accurate: residuals are computed from the inner products, and the
  solution is refined until they are rounding;
- a multiplier that meets its bound leaves the equations, and a sample that violates the
  optimality conditions enters them, by an update of the inverse;
- weights are computed for a pool of features alone. A weight changes by no more than
  the norm of its feature times the change of the multipliers, so that for some rounds
  no feature outside the pool can have the smallest.

What is not clear (two smallest weights that are equal up to rounding, equations that
are singular) is left to `veridical.criteria.svm`, which knows what to do.

======  =========================================================  ================
symbol  meaning                                                    shape
======  =========================================================  ================
P       features of the pool                                       (n, n_pool)
G       inner products of the samples                              (n, n)
sign    class of each sample, for every problem                    (q, n)
target  decision of a sample that meets its margin exactly         (q, n)
bound   largest multipliers; 0 for samples of other classes        (q, n)
v       multipliers times `sign`                                   (q, n)
f       G v                                                        (q, n)
free    the free samples first, `n_free` of them                   (q, n), (q,)
M       inverse of [[0, 1ᵀ], [1, G of the free samples]], with     (q, m, m)
        room for more of them
======  =========================================================  ================
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from veridical._core.arrays import EPS, FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.duality import (
    LEAST_PIVOT,
    MAX_CHANGES,
    MAX_REFINEMENTS,
    ROUNDED,
    TOLERANCE,
)


class Machines(NamedTuple):
    """Support vector machines near their optimum; see the notation above."""

    sign: FloatArray
    target: FloatArray
    bound: FloatArray
    v: FloatArray
    f: FloatArray
    free: IntArray
    n_free: IntArray
    M: FloatArray


class _Machine(NamedTuple):
    """One of them: the same arrays without their first axis."""

    sign: FloatArray
    target: FloatArray
    bound: FloatArray
    v: FloatArray
    f: FloatArray
    free: IntArray
    M: FloatArray


@njit(cache=True, nogil=True, fastmath={"contract"})
def _multiply(M: FloatArray, m: int, r: FloatArray, out: FloatArray) -> None:
    """Write the product of a symmetric matrix of size m and `r` to `out`."""
    out[:m] = 0.0
    for j in range(m):
        rj, row = r[j], M[j]
        for i in range(m):
            out[i] += rj * row[i]


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add_outer(M: FloatArray, m: int, u: FloatArray, factor: float) -> None:
    """Add ``factor * u uᵀ`` to a symmetric matrix of size m."""
    for j in range(m):
        scaled, row = factor * u[j], M[j]
        for i in range(m):
            row[i] += scaled * u[i]


@njit(cache=True, nogil=True, fastmath={"contract"})
def _margins(G: FloatArray, v: FloatArray, f: FloatArray, size: FloatArray) -> float:
    """Write ``G v`` to `f`; return the largest sum of the sizes of its terms."""
    n = v.size
    f[:] = 0.0
    size[:] = 0.0
    for j in range(n):
        vj = v[j]
        if vj != 0.0:
            row, absolute = G[j], abs(vj)
            for i in range(n):
                f[i] += vj * row[i]
                size[i] += absolute * abs(row[i])
    largest = 0.0
    for i in range(n):
        largest = max(largest, size[i])
    return largest


@njit(cache=True, nogil=True)
def _remove(M: FloatArray, m: int, place: int, column: FloatArray) -> bool:
    """Remove a row and a column from a matrix by updating its inverse M of size m."""
    pivot = M[place, place]
    largest = 0.0
    for i in range(m):
        column[i] = M[i, place]
        largest = max(largest, abs(M[i, i]))
    if not abs(pivot) > EPS * largest:
        return False
    _add_outer(M, m, column, -1.0 / pivot)
    last = m - 1
    for i in range(m):
        M[i, place] = M[i, last]
    for i in range(m):
        M[place, i] = M[last, i]
    return True


@njit(cache=True, nogil=True)
def _enter(
    M: FloatArray, m: int, column: FloatArray, diagonal: float, z: FloatArray
) -> bool:
    """Add a row and a column to a matrix by updating its inverse M of size m."""
    _multiply(M, m, column, z)
    pivot = diagonal
    for i in range(m):
        pivot -= column[i] * z[i]
    if not pivot > LEAST_PIVOT * diagonal:
        return False
    _add_outer(M, m, z, 1.0 / pivot)
    for i in range(m):
        M[i, m] = M[m, i] = -z[i] / pivot
    M[m, m] = 1.0 / pivot
    return True


@njit(cache=True, nogil=True)
def _move(
    machine: _Machine, m: int, change: FloatArray, step: float
) -> tuple[int, float]:
    """Change free multipliers by `step` times `change[1:]`, or up to the first bound.

    Returns the place of the one that met its bound, or −1, and the step taken.
    """
    sign, _, bound, v, _, free, _ = machine
    stopped = -1
    for t in range(m):
        i = free[t]
        a, moved = sign[i] * v[i], sign[i] * change[t + 1]
        if moved < 0.0 and a < -step * moved:
            step, stopped = a / -moved, t
        elif moved > 0.0 and bound[i] - a < step * moved:
            step, stopped = (bound[i] - a) / moved, t
    for t in range(m):
        i = free[t]
        a = sign[i] * (v[i] + step * change[t + 1])
        v[i] = sign[i] * min(max(a, 0.0), bound[i])
    if stopped >= 0:
        i = free[stopped]
        v[i] = 0.0 if sign[i] * change[stopped + 1] < 0.0 else sign[i] * bound[i]
    return stopped, step


@njit(cache=True, nogil=True)
def _bind(machine: _Machine, m: int, place: int, column: FloatArray) -> bool:
    """Take a multiplier that met its bound from the m free ones."""
    if not _remove(machine.M, m + 1, place + 1, column):
        return False
    last = machine.free[m - 1]
    machine.free[m - 1] = machine.free[place]
    machine.free[place] = last
    return True


@njit(cache=True, nogil=True)
def _free(
    G: FloatArray,
    machine: _Machine,
    m: int,
    i: int,
    rises: bool,
    column: FloatArray,
    change: FloatArray,
) -> int:
    """Let sample i become free: return the number of free samples, or 0 in vain.

    Where its products are a combination of those of the free samples, the objective has
    no curvature along it: then the multipliers move until one of them meets a bound,
    and sample i takes its place.
    """
    free, M = machine.free, machine.M
    if m + 1 >= len(M):
        return 0
    for _ in range(2):
        column[0] = 1.0
        for t in range(m):
            column[t + 1] = G[i, free[t]]
        if _enter(M, m + 1, column, G[i, i], change):
            free[m] = i
            return m + 1
        direction = 1.0 if rises else -1.0
        for t in range(m + 1):
            change[t] *= -direction
        stopped, step = _move(machine, m, change, machine.bound[i])
        if stopped < 0:  # sample i meets its other bound first
            rose = machine.sign[i] * direction > 0.0
            machine.v[i] = machine.sign[i] * machine.bound[i] if rose else 0.0
            return m
        machine.v[i] += step * direction
        if not _bind(machine, m, stopped, column):
            return 0
        m -= 1
    return 0


@njit(cache=True, nogil=True)
def _measure(
    machine: _Machine, m: int, is_free: Any
) -> tuple[float, float, float, int, bool]:
    """Measure how far multipliers are from optimal.

    Returns the largest difference of the biases of two free samples, the imbalance of
    the multipliers as a share of their sum, the largest difference of the biases of any
    other two samples, the sample that should become free first, and whether its
    multiplier rises then. `is_free` is room for n values.
    """
    is_free[:] = False
    for i in machine.free[:m]:
        is_free[i] = True
    up, down, free_up, free_down = -np.inf, np.inf, -np.inf, np.inf
    highest, lowest, total, balance = -1, -1, 0.0, 0.0
    for i in range(is_free.size):
        bias = machine.target[i] - machine.f[i]
        total += abs(machine.v[i])
        balance += machine.v[i]
        if is_free[i]:
            free_up, free_down = max(free_up, bias), min(free_down, bias)
        elif machine.bound[i] > 0.0:
            if (machine.v[i] == 0.0) == (machine.sign[i] > 0.0):
                if bias > up:
                    up, highest = bias, i
            elif bias < down:
                down, lowest = bias, i
    above, below = up - free_down, free_up - down
    return (
        free_up - free_down,
        abs(balance) / max(total, 1e-300),
        max(above, below, up - down),
        highest if above >= below else lowest,
        above >= below,
    )


@njit(cache=True, nogil=True)
def _solve(G: FloatArray, machine: _Machine, n_free: int) -> int:
    """Find the optimal multipliers from near ones; `f` belongs to those given.

    Returns
    -------
    int
        Number of free multipliers; 0 where the optimum was not found.
    """
    _, target, _, v, f, free, M = machine
    n, m = v.size, n_free
    residual, change, size = np.empty(n + 1), np.empty(n + 1), np.empty(n)
    is_free = np.empty(n, dtype=np.bool_)
    n_changes, n_refined = 0, 0
    while n_changes <= MAX_CHANGES and n_refined <= MAX_REFINEMENTS and m > 0:
        residual[0] = 0.0
        for i in range(n):
            residual[0] -= v[i]
        for t in range(m):
            residual[t + 1] = target[free[t]] - f[free[t]]
        _multiply(M, m + 1, residual, change)
        stopped, _ = _move(machine, m, change, 1.0)
        largest = _margins(G, v, f, size)
        if stopped >= 0:
            if not _bind(machine, m, stopped, residual):
                return 0
            m -= 1
        else:
            among_free, imbalance, difference, i, rises = _measure(machine, m, is_free)
            tolerance = ROUNDED * max(1.0, largest)
            if among_free > tolerance or imbalance > ROUNDED:
                n_refined += 1
                continue
            if difference <= tolerance:
                difference = max(difference, among_free)
                return m if difference + EPS * largest <= TOLERANCE else 0
            m = _free(G, machine, m, i, rises, residual, change)
        n_changes += 1
        n_refined = 0
    return 0


@njit(cache=True, nogil=True)
def _machine(machines: Machines, k: int) -> _Machine:
    """Return one of several problems."""
    sign, target, bound, v, f, free, _, M = machines
    return _Machine(sign[k], target[k], bound[k], v[k], f[k], free[k], M[k])


@njit(cache=True, nogil=True)
def _solve_all(G: FloatArray, machines: Machines) -> bool:
    """Solve every problem; False where one could not be, with its old multipliers."""
    for k in range(len(machines.v)):
        machine = _machine(machines, k)
        before = machine.v.copy()
        machines.n_free[k] = _solve(G, machine, machines.n_free[k])
        if machines.n_free[k] == 0:
            machine.v[:] = before  # which balance
            return False
    return True


@njit(cache=True, nogil=True, fastmath={"contract"})
def _score_pool(
    P: FloatArray,
    norms: FloatArray,
    v: FloatArray,
    rounding: FloatArray,
    weight: FloatArray,
    scores: FloatArray,
    noise: FloatArray,
) -> None:
    """Write Σ w² of the features of the pool, and the bounds of their rounding."""
    scores[:] = 0.0
    noise[:] = 0.0
    for k in range(len(v)):
        weight[:] = 0.0
        for i in range(len(P)):
            vi = v[k, i]
            if vi != 0.0:
                row = P[i]
                for j in range(weight.size):
                    weight[j] += vi * row[j]
        for j in range(weight.size):
            error = rounding[k] * norms[j]
            scores[j] += weight[j] ** 2
            noise[j] += (2.0 * abs(weight[j]) + error) * error


@njit(cache=True, nogil=True)
def _measure_change(v: FloatArray, start: FloatArray) -> tuple[float, float]:
    """Compare multipliers with those at the start: common factor, and other change.

    What all multipliers gain in proportion, all weights gain; so weights are compared
    with those at the start after division by the factor.
    """
    along, at_start, changed = 0.0, 0.0, 0.0
    for k in range(len(v)):
        for i in range(v.shape[1]):
            along += v[k, i] * start[k, i]
            at_start += start[k, i] ** 2
    if not (along > 0.0 and at_start > 0.0):
        return 0.0, np.inf
    scale = along / at_start
    for k in range(len(v)):
        for i in range(v.shape[1]):
            changed += (v[k, i] / scale - start[k, i]) ** 2
    return scale, np.sqrt(changed)


@njit(cache=True, nogil=True)
def _find_smallest(scores: FloatArray, present: Any) -> tuple[int, int]:
    """Return the places of the smallest and second smallest score; −1 without any."""
    first, second = -1, -1
    for j in range(scores.size):
        if present[j]:
            if first < 0 or scores[j] < scores[first]:
                first, second = j, first
            elif second < 0 or scores[j] < scores[second]:
                second = j
    return first, second


@njit(cache=True, nogil=True)
def _pivot_without(
    x: FloatArray, machine: _Machine, m: int, x_free: FloatArray, u: FloatArray
) -> float:
    """Return the pivot of M where the products of x are subtracted; write M x to u."""
    x_free[0] = 0.0
    for t in range(m):
        x_free[t + 1] = x[machine.free[t]]
    _multiply(machine.M, m + 1, x_free, u)
    pivot = 1.0
    for t in range(m + 1):
        pivot -= x_free[t] * u[t]
    return pivot


@njit(cache=True, nogil=True)
def _subtract(x: FloatArray, G: FloatArray, machines: Machines) -> bool:
    """Take the products of a feature x out of G, f and M; False where M is singular.

    Where x alone gives the objective its curvature along a change of free multipliers,
    they change until one of them meets its bound, and is free no longer.
    """
    n = x.size
    u, x_free = np.empty(n + 1), np.empty(n + 1)
    _add_outer(G, n, x, -1.0)
    for k in range(len(machines.v)):
        machine = _machine(machines, k)
        product = 0.0
        for i in range(n):
            product += x[i] * machine.v[i]
        for i in range(n):
            machine.f[i] -= product * x[i]
        for _ in range(2):
            m = machines.n_free[k]
            pivot = _pivot_without(x, machine, m, x_free, u)
            if pivot > LEAST_PIVOT:
                break
            if product < 0.0:
                for t in range(m + 1):
                    u[t] = -u[t]
            stopped, _ = _move(machine, m, u, np.inf)
            if stopped < 0 or not _bind(machine, m, stopped, x_free):
                return False
            machines.n_free[k] -= 1
        if not pivot > LEAST_PIVOT:
            return False
        _add_outer(machine.M, m + 1, u, 1.0 / pivot)
    return True


@njit(cache=True, nogil=True)
def drop_while_clear(
    P: FloatArray,
    norms: FloatArray,
    G: FloatArray,
    machines: Machines,
    gone: FloatArray,
    limits: tuple[float, float, float],
    rtol: float,
    rounding: float,
) -> Any:
    """Drop the feature with the smallest squared weight, one in each round.

    Parameters
    ----------
    P, G : arrays
        As in the notation above. `G` changes: afterwards it is that of the features
        left.
    norms : array of shape (n_pool,)
        Norms of the features of the pool.
    machines : Machines
        Their multipliers change: afterwards they are a good start for the features
        left. `f` is computed here.
    gone : array of shape (n_gone, n)
        Features whose products are still in `G` and are subtracted first.
    limits : tuple of float
        The weights of features outside the pool have at least the first norm, as long
        as the multipliers, up to a common factor, have not changed by more than the
        second; the third is the largest norm of these features.
    rtol : float
        Relative difference of scores that are tied.
    rounding : float
        Rounding error of a weight, as a share of the largest it could be.

    Returns
    -------
    int array
        Places in the pool of the features dropped, in this order.
    """
    n, n_pool = P.shape
    v, q = machines.v, len(machines.v)
    least, most_change, largest_norm = limits
    start, size = v.copy(), np.empty(n)
    for k in range(q):
        _margins(G, v[k], machines.f[k], size)
    present = np.ones(n_pool, dtype=np.bool_)
    weight, scores = np.empty(n_pool), np.empty(n_pool)
    noise, errors = np.empty(n_pool), np.empty(q)
    dropped = np.empty(n_pool, dtype=np.int64)
    n_dropped, x = 0, np.empty(n)
    clear = True
    for one in gone:
        clear = _subtract(one, G, machines) and clear
    while clear and n_dropped < n_pool and _solve_all(G, machines):
        scale, changed = _measure_change(v, start)
        if not (scale > 0.0 and changed < most_change):
            break
        beyond = 0.0
        for k in range(q):
            errors[k] = rounding * np.sqrt(np.dot(v[k], v[k]))
            error = errors[k] * largest_norm
            if least < np.inf:  # there are features outside the pool
                beyond += (2.0 * scale * least + error) * error
        _score_pool(P, norms, v, errors, weight, scores, noise)
        first, second = _find_smallest(scores, present)
        if second < 0:
            break
        slack = max(noise[first], noise[second])
        if scores[second] - scores[first] <= slack + rtol * scores[second]:
            break
        limit = (1.0 - rtol) * (scale * least) ** 2
        if not limit - scores[first] > max(beyond, noise[first]):
            break
        dropped[n_dropped] = first
        n_dropped += 1
        present[first] = False
        for i in range(n):
            x[i] = P[i, first]
        clear = _subtract(x, G, machines)
    return dropped[:n_dropped]

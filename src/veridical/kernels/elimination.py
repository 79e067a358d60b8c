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
bound   largest multipliers; 0 for samples of other classes        (q, n)
v       multipliers times `sign`                                   (q, n)
f       G v                                                        (q, n)
M       inverse of [[0, 1ᵀ], [1, G of the free samples]]           (q, m + 1, m + 1)
======  =========================================================  ================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.arrays import EPS, FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.duality import MAX_CHANGES, ROUNDED, TOLERANCE

#: Attempts to bring the residuals down to rounding; then the inverse is too inaccurate.
_REFINEMENTS = 4
#: Share of a pivot that may be lost in an update of the inverse; beyond it the
#: equations are nearly singular.
_LEAST_PIVOT = 1e-7


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
    if not pivot > _LEAST_PIVOT * diagonal:
        return False
    _add_outer(M, m, z, 1.0 / pivot)
    for i in range(m):
        M[i, m] = M[m, i] = -z[i] / pivot
    M[m, m] = 1.0 / pivot
    return True


@njit(cache=True, nogil=True)
def _solve(
    G: FloatArray,
    sign: FloatArray,
    bound: FloatArray,
    v: FloatArray,
    f: FloatArray,
    free: IntArray,
    n_free: int,
    M: FloatArray,
) -> int:
    """Find the optimal `v` from a near one; `f` belongs to the given `v`.

    Returns
    -------
    int
        Number of free multipliers; 0 where the optimum was not found.
    """
    n, m = v.size, n_free
    residual, change = np.empty(n + 1), np.empty(n + 1)
    size = np.empty(n)
    is_free = np.zeros(n, dtype=np.bool_)
    for i in free[:m]:
        is_free[i] = True
    n_changes, n_refined = 0, 0
    while n_changes <= MAX_CHANGES and n_refined <= _REFINEMENTS and m > 0:
        balance = 0.0
        for i in range(n):
            balance += v[i]
        residual[0] = -balance
        for t in range(m):
            residual[t + 1] = sign[free[t]] - f[free[t]]
        _multiply(M, m + 1, residual, change)
        step, stopped = 1.0, -1
        for t in range(m):
            i = free[t]
            a, moved = sign[i] * v[i], sign[i] * change[t + 1]
            if a + moved < 0.0 and a < -step * moved:
                step, stopped = a / -moved, t
            elif a + moved > bound[i] and bound[i] - a < step * moved:
                step, stopped = (bound[i] - a) / moved, t
        for t in range(m):
            i = free[t]
            a = sign[i] * (v[i] + step * change[t + 1])
            v[i] = sign[i] * min(max(a, 0.0), bound[i])
        if stopped >= 0:
            i = free[stopped]
            v[i] = 0.0 if sign[i] * change[stopped + 1] < 0.0 else sign[i] * bound[i]
            if not _remove(M, m + 1, stopped + 1, residual):
                return 0
            is_free[i] = False
            m -= 1
            free[stopped] = free[m]
            n_changes += 1
            n_refined = 0
            _margins(G, v, f, size)
            continue
        largest = _margins(G, v, f, size)
        up, down, free_up, free_down = -np.inf, np.inf, -np.inf, np.inf
        highest, lowest, total, balance = -1, -1, 0.0, 0.0
        for i in range(n):
            value = sign[i] - f[i]
            total += abs(v[i])
            balance += v[i]
            if is_free[i]:
                free_up, free_down = max(free_up, value), min(free_down, value)
            elif bound[i] > 0.0:
                if (v[i] == 0.0) == (sign[i] > 0.0):
                    if value > up:
                        up, highest = value, i
                elif value < down:
                    down, lowest = value, i
        tolerance = ROUNDED * max(1.0, largest)
        if free_up - free_down > tolerance or abs(balance) > ROUNDED * total:
            n_refined += 1
            continue
        above, below = up - free_down, free_up - down
        if above <= tolerance and below <= tolerance and up - down <= tolerance:
            difference = max(above, below, free_up - free_down, up - down)
            return m if difference + EPS * largest <= TOLERANCE else 0
        i = highest if above >= below else lowest
        if m + 1 >= len(M):
            return 0
        residual[0] = 1.0
        for t in range(m):
            residual[t + 1] = G[i, free[t]]
        if not _enter(M, m + 1, residual, G[i, i], change):
            return 0
        free[m] = i
        is_free[i] = True
        m += 1
        n_changes += 1
        n_refined = 0
    return 0


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
def drop_while_clear(
    P: FloatArray,
    norms: FloatArray,
    G: FloatArray,
    sign: FloatArray,
    bound: FloatArray,
    v: FloatArray,
    free: IntArray,
    n_free: IntArray,
    M: FloatArray,
    limits: tuple[float, float, float],
    rtol: float,
    rounding: float,
) -> Any:
    """Drop the feature with the smallest squared weight, one in each round.

    Parameters
    ----------
    P, G, sign, bound, v, M : arrays
        As in the notation above. `G` and `v` change: afterwards `G` is that of the
        features left, and `v` is a good start for its multipliers. `M` has room for
        more free samples than there are.
    norms : array of shape (n_pool,)
        Norms of the features of the pool.
    free : int array of shape (q, n)
        The free samples of every problem first; `n_free` of them.
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
    q = len(v)
    least, most_change, largest_norm = limits
    start, f, size = v.copy(), np.empty((q, n)), np.empty(n)
    at_start = 0.0
    for k in range(q):
        _margins(G, v[k], f[k], size)
        for i in range(n):
            at_start += v[k, i] ** 2
    present = np.ones(n_pool, dtype=np.bool_)
    weight, scores = np.empty(n_pool), np.empty(n_pool)
    noise, errors = np.empty(n_pool), np.empty(q)
    dropped = np.empty(n_pool, dtype=np.int64)
    n_dropped = 0
    x, u, x_free = np.empty(n), np.empty(n + 1), np.empty(n + 1)
    before = np.empty(n)
    while n_dropped < n_pool:
        along, beyond = 0.0, 0.0
        for k in range(q):
            before[:] = v[k]
            n_free[k] = _solve(
                G, sign[k], bound[k], v[k], f[k], free[k], n_free[k], M[k]
            )
            if n_free[k] == 0:
                v[k] = before  # which balance
                return dropped[:n_dropped]
            squared = 0.0
            for i in range(n):
                squared += v[k, i] ** 2
                along += v[k, i] * start[k, i]
            errors[k] = rounding * np.sqrt(squared)
        # What all multipliers gain in proportion, all weights gain; so weights are
        # compared with those at the start after division by `scale`.
        scale, changed = along / at_start, 0.0
        for k in range(q):
            for i in range(n):
                changed += (v[k, i] / scale - start[k, i]) ** 2
            error = errors[k] * largest_norm
            if least < np.inf:  # there are features outside the pool
                beyond += (2.0 * scale * least + error) * error
        if not (scale > 0.0 and np.sqrt(changed) < most_change):
            break
        _score_pool(P, norms, v, errors, weight, scores, noise)
        first, second = -1, -1
        for j in range(n_pool):
            if present[j]:
                if first < 0 or scores[j] < scores[first]:
                    first, second = j, first
                elif second < 0 or scores[j] < scores[second]:
                    second = j
        if second < 0:
            break
        slack = max(noise[first], noise[second])
        if scores[second] - scores[first] <= slack + rtol * scores[second]:
            break
        beyond = max(beyond, noise[first])
        limit = (1.0 - rtol) * (scale * least) ** 2
        if not limit - scores[first] > beyond:
            break
        dropped[n_dropped] = first
        n_dropped += 1
        present[first] = False
        for i in range(n):
            x[i] = P[i, first]
        _add_outer(G, n, x, -1.0)
        for k in range(q):
            m = n_free[k]
            product = 0.0
            for i in range(n):
                product += x[i] * v[k, i]
            for i in range(n):
                f[k, i] -= product * x[i]
            x_free[0] = 0.0
            for t in range(m):
                x_free[t + 1] = x[free[k, t]]
            _multiply(M[k], m + 1, x_free, u)
            pivot = 1.0
            for t in range(m + 1):
                pivot -= x_free[t] * u[t]
            if not pivot > _LEAST_PIVOT:
                return dropped[:n_dropped]
            _add_outer(M[k], m + 1, u, 1.0 / pivot)
    return dropped[:n_dropped]

"""Rounds of backward elimination by a linear SVM, as long as each is clear.

A round drops the feature with the smallest squared weight and solves the support vector
machines again. The multipliers hardly change from one round to the next, so that

- the inverse of the equations for the free multipliers (`veridical.kernels.inverse`)
  lasts: the products of a feature that is dropped are subtracted by one more update;
- weights are computed for a pool of features alone. A weight changes by no more than
  the norm of its feature times the change of the multipliers, so that for some rounds
  no feature outside the pool can have the smallest.

What is not clear (two smallest weights that are equal up to rounding, equations that
are singular) is left to `veridical.criteria.svm`, which knows what to do.

====== ============================================================ ===========
symbol meaning                                                      shape
====== ============================================================ ===========
P      features of the pool                                         (n, n_pool)
x      a feature that is dropped                                    (n,)
v      multipliers of every problem, times the class of the sample  (q, n)
====== ============================================================ ===========

The other symbols are those of `veridical.kernels.inverse`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.arrays import EPS, FloatArray
from veridical._core.compiling import njit
from veridical.kernels.active_set import find_optimum, step_to_bound
from veridical.kernels.duality import LEAST_PIVOT, MAX_CHANGES, TOLERANCE
from veridical.kernels.inverse import (
    Inverse,
    add_outer,
    invert_equations,
    multiply_symmetric,
)


@njit(cache=True, nogil=True)
def _take(problems: Inverse, k: int) -> Inverse:
    """Return the equations of one of several problems."""
    return Inverse(
        problems.G,
        problems.target[k],
        problems.lower[k],
        problems.upper[k],
        problems.v[k],
        problems.bias[k],
        problems.largest[k],
        problems.change[k],
        problems.free[k],
        problems.order[k],
        problems.n_free[k],
        problems.M[k],
    )


@njit(cache=True, nogil=True)
def _solve_all(problems: Inverse) -> bool:
    """Solve every problem; False where one could not be, with its old multipliers."""
    for k in range(len(problems.v)):
        one = _take(problems, k)
        before = one.v.copy()
        optimal, _ = find_optimum(one, MAX_CHANGES, False)
        if not (optimal and 2.0 * EPS * one.largest[0] < TOLERANCE):
            one.v[:] = before  # which balance
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
def _subtract(x: FloatArray, problems: Inverse) -> bool:
    """Take the products of a feature x out of G, biases and M; False if M is singular.

    Where x alone gives the objective its curvature along a change of free multipliers,
    they change until one of them meets its bound, and is free no longer.
    """
    add_outer(problems.G, x.size, x, -1.0)
    u, x_free = np.empty(x.size + 1), np.zeros(x.size + 1)
    for k in range(len(problems.v)):
        one = _take(problems, k)
        product = 0.0
        for i in range(x.size):
            product += x[i] * one.v[i]
        for i in range(x.size):
            one.bias[i] += product * x[i]
        for _ in range(2):
            m, pivot = one.n_free[0], 1.0
            for t in range(m):
                x_free[t + 1] = x[one.order[t]]
            multiply_symmetric(one.M, m + 1, x_free, u)
            for t in range(m + 1):
                pivot -= x_free[t] * u[t]
            if pivot > LEAST_PIVOT:
                break
            for t in range(m):
                one.change[one.order[t]] = u[t + 1] if product >= 0.0 else -u[t + 1]
            if step_to_bound(one, np.inf) < 1:
                return False
        if not pivot > LEAST_PIVOT:
            return False
        add_outer(one.M, m + 1, u, 1.0 / pivot)
    return True


@njit(cache=True, nogil=True)
def drop_while_clear(
    P: FloatArray,
    norms: FloatArray,
    problems: Inverse,
    gone: FloatArray,
    limits: tuple[float, float, float],
    rtol: float,
    rounding: float,
) -> Any:
    """Drop the feature with the smallest squared weight, one in each round.

    Parameters
    ----------
    P : array of shape (n, n_pool)
        As in the notation above.
    norms : array of shape (n_pool,)
        Norms of the features of the pool.
    problems : Inverse
        Support vector machines near their optimum, with one more axis. Their
        multipliers and `G` change: afterwards they are a good start for the features
        left, and the inner products of these.
    gone : array of shape (n_gone, n)
        Features whose products are still in G and are subtracted first.
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
    v, q = problems.v, len(problems.v)
    least, most_change, largest_norm = limits
    start = v.copy()
    present = np.ones(n_pool, dtype=np.bool_)
    weight, scores = np.empty(n_pool), np.empty(n_pool)
    noise, errors = np.empty(n_pool), np.empty(q)
    dropped = np.empty(n_pool, dtype=np.int64)
    n_dropped, x = 0, np.empty(n)
    clear = True
    for k in range(q):
        clear = clear and invert_equations(_take(problems, k))
    for k in range(len(gone)):
        for i in range(n):
            x[i] = gone[k, i]
        clear = _subtract(x, problems) and clear
    while clear and n_dropped < n_pool and _solve_all(problems):
        scale, changed = _measure_change(v, start)
        if not (scale > 0.0 and changed < most_change):
            break
        beyond = 0.0
        for k in range(q):
            square = 0.0
            for i in range(n):
                square += v[k, i] ** 2
            errors[k] = rounding * np.sqrt(square)
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
        clear = _subtract(x, problems)
    return dropped[:n_dropped]

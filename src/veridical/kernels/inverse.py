"""The equations of free multipliers, solved by an inverse that is updated.

A sample that becomes free, or meets its bound, changes one row and one column of the
equations. So their inverse is updated, in O(m²) for m free samples, not computed anew.
It need not be accurate: residuals are computed from the inner products, and the
solution is refined until they are rounding.

The inverse exists only while the free samples are independent. A sample whose products
are a combination of theirs, such as a copy, gives the objective no curvature: then the
multipliers move along it until one of them meets its bound.

| symbol  | meaning                                                    | shape      |
|---------|------------------------------------------------------------|------------|
| G       | inner products of the samples, or `FeatureProducts`        | (n, n)     |
| target  | decision of a sample that meets its margin exactly         | (n,)       |
| largest | largest sum of the sizes of the terms of ``G v``           | (1,)       |
| order   | free samples in the order of the equations, `n_free`       | (n,), (1,) |
| M       | inverse of [[0, 1ᵀ], [1, G of the free samples]], with     | (m, m)     |
|         | room for more of them                                      |            |

The other arrays are those of `veridical.kernels.active_set`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from veridical._core.arrays import EPS, FloatArray, IntArray
from veridical._core.compiling import by_type, njit
from veridical.kernels.active_set import (
    bind,
    bound_signed,
    find_optimum,
    measure_biases,
    move,
    release,
    solve,
    step_to_bound,
)
from veridical.kernels.duality import (
    LEAST_PIVOT,
    MAX_CHANGES,
    RANK,
    ROUNDED,
    TOLERANCE,
)
from veridical.kernels.products import Gram, Products


class Inverse(NamedTuple):
    """Equations with their inverse; see the notation above.

    Several problems with the same products are one tuple, with one more axis.
    """

    G: Any
    target: FloatArray
    lower: FloatArray
    upper: FloatArray
    v: FloatArray
    bias: FloatArray
    largest: FloatArray
    change: FloatArray
    free: Any
    order: IntArray
    n_free: IntArray
    M: FloatArray


# -- products and updates ------------------------------------------------------------


@njit(cache=True, nogil=True, fastmath={"contract"})
def multiply_symmetric(M: FloatArray, m: int, r: FloatArray, out: FloatArray) -> None:
    """Write the product of a symmetric matrix of size m and `r` to `out`."""
    out[:m] = 0.0
    for j in range(m):
        rj, row = r[j], M[j]
        for i in range(m):
            out[i] += rj * row[i]


@njit(cache=True, nogil=True, fastmath={"contract"})
def add_outer(M: FloatArray, m: int, u: FloatArray, factor: float) -> None:
    """Add ``factor * u uᵀ`` to a symmetric matrix of size m."""
    for j in range(m):
        scaled, row = factor * u[j], M[j]
        for i in range(m):
            row[i] += scaled * u[i]


@njit(cache=True, nogil=True)
def _remove(M: FloatArray, m: int, place: int) -> bool:
    """Remove a row and a column from a matrix by updating its inverse M of size m."""
    pivot, last = M[place, place], m - 1
    column, largest = np.empty(m), 0.0
    for i in range(m):
        column[i] = M[place, i]
        largest = max(largest, abs(M[i, i]))
    if not abs(pivot) > EPS * largest:
        return False
    add_outer(M, m, column, -1.0 / pivot)
    for i in range(m):
        M[i, place] = M[i, last]
    for i in range(m):
        M[place, i] = M[last, i]
    return True


# -- inner products ------------------------------------------------------------------


class FeatureProducts(NamedTuple):
    """Features of many samples, in place of their inner products."""

    X: FloatArray


@by_type
def multiply_gram(G: Any, v: FloatArray, f: FloatArray, size: FloatArray) -> None:
    """Write ``G v`` to `f`, and (bounds of) the sums of the sizes of its terms."""
    raise NotImplementedError


@by_type
def take_products(G: Any, i: int, others: IntArray, m: int, out: FloatArray) -> float:
    """Write the products with m samples to `out[1:]`; return that with i itself."""
    raise NotImplementedError


@multiply_gram.register(np.ndarray)
def _multiply_gram(
    G: FloatArray, v: FloatArray, f: FloatArray, size: FloatArray
) -> None:
    for i in range(v.size):
        f[i], size[i] = 0.0, 0.0
    for j in range(v.size):
        if v[j] != 0.0:
            _add_row(G[j], v[j], f, size)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add_row(row: FloatArray, factor: float, f: FloatArray, size: FloatArray) -> None:
    absolute = abs(factor)
    for i in range(row.size):
        f[i] += factor * row[i]
        size[i] += absolute * abs(row[i])


@take_products.register(np.ndarray)
def _take_products(
    G: FloatArray, i: int, others: IntArray, m: int, out: FloatArray
) -> float:
    for t in range(m):
        out[t + 1] = G[i, others[t]]
    return float(G[i, i])


@multiply_gram.register(FeatureProducts)
def _multiply_features(
    G: FeatureProducts, v: FloatArray, f: FloatArray, size: FloatArray
) -> None:
    n, p = G.X.shape
    w, sizes = np.zeros(p), np.zeros(p)
    for i in range(n):
        if v[i] != 0.0:
            for k in range(p):
                w[k] += v[i] * G.X[i, k]
                sizes[k] += abs(v[i] * G.X[i, k])
    for i in range(n):
        f[i], size[i] = 0.0, 0.0
        for k in range(p):
            f[i] += G.X[i, k] * w[k]
            size[i] += abs(G.X[i, k]) * sizes[k]


@take_products.register(FeatureProducts)
def _multiply_samples(
    G: FeatureProducts, i: int, others: IntArray, m: int, out: FloatArray
) -> float:
    square, x = 0.0, G.X[i]
    for t in range(m):
        out[t + 1], z = 0.0, G.X[others[t]]
        for k in range(x.size):
            out[t + 1] += x[k] * z[k]
    for k in range(x.size):
        square += x[k] ** 2
    return square


# -- the equations -------------------------------------------------------------------


@solve.register(Inverse)
def _solve(equations: Inverse) -> bool:
    v, order, m = equations.v, equations.order, equations.n_free[0]
    residual, solution = np.zeros(m + 1), np.empty(m + 1)
    for i in range(v.size):
        residual[0] -= v[i]
    for t in range(m):
        residual[t + 1] = equations.bias[order[t]]
    multiply_symmetric(equations.M, m + 1, residual, solution)
    for t in range(m):
        equations.change[order[t]] = solution[t + 1]
    return False


@move.register(Inverse)
def _move(equations: Inverse, step_size: float) -> None:
    v = equations.v
    for i in range(v.size):
        if equations.free[i]:
            moved = v[i] + step_size * equations.change[i]
            v[i] = min(max(moved, equations.lower[i]), equations.upper[i])


@measure_biases.register(Inverse)
def _measure(equations: Inverse) -> float:
    """Sum the products; a difference as small as their last digits is rounding.

    Beside the rounding of the sums it is to leave the biases within the tolerance of
    all solvers, if there is room for that.
    """
    bias, size = equations.bias, np.empty(equations.v.size)
    multiply_gram(equations.G, equations.v, bias, size)
    largest = 0.0
    for i in range(bias.size):
        bias[i] = equations.target[i] - bias[i]
        largest = max(largest, size[i])
    equations.largest[0] = largest
    rest = TOLERANCE - EPS * largest
    rounding = ROUNDED * max(1.0, largest)
    return min(rounding, rest) if rest > EPS * largest else rounding


@bind.register(Inverse)
def _bind(equations: Inverse, i: int) -> bool:
    order, m = equations.order, equations.n_free[0]
    equations.free[i] = False
    for t in range(m):
        if order[t] == i:
            if m > 1 and not _remove(equations.M, m + 1, t + 1):
                return False
            order[t] = order[m - 1]
            equations.n_free[0] = m - 1
    return True


@release.register(Inverse)
def _release(equations: Inverse, i: int) -> bool:
    """Add sample i to the equations.

    Where its products are a combination of those of the free samples, the objective has
    no curvature along it: then the multipliers move until one of them meets a bound,
    and sample i takes its place.
    """
    order, M = equations.order, equations.M
    column, z = np.ones(len(M)), np.empty(len(M))
    for _ in range(equations.n_free[0] + 1):
        m = equations.n_free[0]
        if m + 2 > len(M):
            return False
        diagonal = take_products(equations.G, i, order, m, column)
        pivot = _enter(M, m + 1, column, diagonal, z)
        if pivot > LEAST_PIVOT * diagonal or m == 0:
            order[m], equations.n_free[0], equations.free[i] = i, m + 1, True
            return True
        slope = equations.bias[i]
        for t in range(m):
            slope -= z[t + 1] * equations.bias[order[t]]
        direction = 1.0 if slope >= 0.0 else -1.0
        for t in range(m):
            equations.change[order[t]] = -direction * z[t + 1]
        equations.free[i], equations.change[i] = True, direction
        curved = pivot > RANK * diagonal
        n_bound = step_to_bound(equations, abs(slope) / pivot if curved else np.inf)
        if n_bound < 1 or not equations.free[i]:
            equations.free[i] = False
            return n_bound >= 0
        equations.free[i] = False
    return False


@njit(cache=True, nogil=True)
def _enter(
    M: FloatArray, m: int, column: FloatArray, diagonal: float, z: FloatArray
) -> float:
    """Add a row and a column to a matrix by updating its inverse M of size m.

    Returns the pivot; where it is too small, nothing is added. z is M times the column.
    """
    if m == 1:  # of the balance alone, which has no inverse
        M[0, 0], M[0, 1], M[1, 0], M[1, 1] = -diagonal, 1.0, 1.0, 0.0
        return 1.0
    multiply_symmetric(M, m, column, z)
    pivot = diagonal
    for i in range(m):
        pivot -= column[i] * z[i]
    if pivot > LEAST_PIVOT * diagonal:
        add_outer(M, m, z, 1.0 / pivot)
        for i in range(m):
            M[i, m] = M[m, i] = -z[i] / pivot
        M[m, m] = 1.0 / pivot
    return pivot


# -- from any multipliers ------------------------------------------------------------


def state_equations(
    G: Gram,
    target: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    v: FloatArray,
    room: int,
) -> Inverse:
    """Return the equations of these multipliers, for `invert_equations`.

    There is room for `room` more free samples than now.
    """
    n, shape = v.shape[-1], v.shape[:-1]
    most_free = int(((lower < v) & (v < upper)).sum(axis=-1).max())
    size = min(n, most_free + room) + 1
    return Inverse(
        FeatureProducts(G.left) if isinstance(G, Products) else G,
        target,
        lower,
        upper,
        v,
        bias=np.zeros_like(v),
        largest=np.zeros((*shape, 1)),
        change=np.zeros_like(v),
        free=np.zeros(v.shape, dtype=np.bool_),
        order=np.zeros(v.shape, dtype=np.int64),
        n_free=np.zeros((*shape, 1), dtype=np.int64),
        M=np.zeros((*shape, size, size)),
    )


@njit(cache=True, nogil=True)
def invert_equations(equations: Inverse) -> bool:
    """Invert the equations of these multipliers; False if they are singular."""
    v = equations.v
    measure_biases(equations)
    for i in range(v.size):
        between = equations.lower[i] < v[i] < equations.upper[i]
        if between and not release(equations, i):
            return False
    measure_biases(equations)
    return True


@njit(cache=True, nogil=True)
def invert_and_find_optimum(equations: Inverse, max_changes: int) -> tuple[bool, int]:
    """Run `find_optimum` from any multipliers."""
    if not invert_equations(equations):
        return False, 0
    return find_optimum(equations, max_changes, True)


def solve_active_set(
    G: Gram,
    sign: FloatArray,
    target: FloatArray,
    bound: FloatArray,
    a: FloatArray,
    max_changes: int = MAX_CHANGES,
) -> tuple[FloatArray, bool, int]:
    """Find the optimal multipliers from near ones, by `find_optimum`.

    Also returns whether they are optimal up to rounding, and the number of linear
    systems solved.
    """
    lower, upper = bound_signed(sign, bound)
    v = sign * a
    equations = state_equations(G, target, lower, upper, v, 2 * max_changes)
    optimal, n_solved = invert_and_find_optimum(equations, max_changes)
    return np.where(sign > 0, v, -v), optimal, n_solved

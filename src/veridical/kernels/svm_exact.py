"""The dual of a linear support vector machine in twice the working precision.

Where rows differ in length by a factor of 10⁶, their inner products differ by 10¹², and
double precision leaves margins of size 1 few digits. Here inner products, multipliers
and margins are pairs of doubles (see `veridical.kernels.exact`): an arithmetic of
`veridical.kernels.active_set`, whose symbols are used here; arrays whose name ends in
``_low`` are the low parts. It factors the equations anew after every change of the
active set, as differences to a reference sample, and lets singular ones be.

| symbol         | meaning                                             | shape     |
|----------------|-----------------------------------------------------|-----------|
| G              | inner products of the samples, high and low parts   | (2, n, n) |
| target         | decision of a sample that meets its margin exactly  | (n,)      |
| H              | inner products of differences to a reference sample | (2, k, k) |
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from veridical._core.arrays import EPS, FloatArray
from veridical._core.compiling import njit
from veridical.kernels.active_set import (
    bind,
    bound_signed,
    find_optimum,
    measure_biases,
    move,
    release,
    solve,
)
from veridical.kernels.columns import column_block, cross_products
from veridical.kernels.duality import EXACT_RANK, SAME_BIAS, bias_difference
from veridical.kernels.exact import add, divide_pairs, fma, multiply_pairs, normalize

#: Features whose products are summed together.
_BLOCK_FEATURES = 64
#: Changes of the active set per sample, each with a linear system; then it ends.
_CHANGES_PER_SAMPLE = 20


class PreciseEquations(NamedTuple):
    """Equations in pairs of doubles; see the notation above."""

    G: FloatArray
    target: FloatArray
    lower: FloatArray
    upper: FloatArray
    v: FloatArray
    v_low: FloatArray
    bias: FloatArray
    bias_low: FloatArray
    change: FloatArray
    change_low: FloatArray
    free: Any


# -- inner products ------------------------------------------------------------------


@njit(cache=True, nogil=True)
def add_products(columns: FloatArray, sign: float, G: FloatArray) -> None:
    """Add the inner products of some features to G, or subtract them.

    `columns` holds one feature per row; `sign` is 1 or −1.
    """
    n = G.shape[1]
    for k in range(columns.shape[0]):
        x = columns[k]
        for i in range(n):
            signed = sign * x[i]
            if signed == 0.0:
                continue
            for j in range(i + 1):
                product = signed * x[j]
                high, low = add(
                    G[0, i, j], G[1, i, j], product, fma(signed, x[j], -product)
                )
                G[0, i, j], G[1, i, j] = normalize(high, low)
    for i in range(n):
        for j in range(i):
            G[0, j, i], G[1, j, i] = G[0, i, j], G[1, i, j]


def add_features(X: Any, sign: float, G: FloatArray) -> None:
    """Add the inner products of all features of X to G, or subtract them."""
    for lo in range(0, X.shape[1], _BLOCK_FEATURES):
        hi = min(lo + _BLOCK_FEATURES, X.shape[1])
        add_products(column_block(X, lo, hi), sign, G)


def exact_gram(X: Any) -> FloatArray:
    """Compute the inner products of the rows of X, as high and low parts."""
    G = np.zeros((2, X.shape[0], X.shape[0]))
    add_features(X, 1.0, G)
    return G


def sum_weights(X: Any, signed: FloatArray, low: FloatArray | None) -> FloatArray:
    """Compute ``Xᵀ (signed + low)``, in twice the precision where low is not zero."""
    if low is None or not low.any():
        return cross_products(X, signed)
    w = np.zeros(X.shape[1])
    for lo in range(0, w.size, _BLOCK_FEATURES):
        hi = min(lo + _BLOCK_FEATURES, w.size)
        _sum_rows(column_block(X, lo, hi), signed, low, w[lo:hi])
    return w


@njit(cache=True, nogil=True)
def _sum_rows(
    columns: FloatArray, signed: FloatArray, signed_low: FloatArray, out: FloatArray
) -> None:
    for k in range(columns.shape[0]):
        high, low = 0.0, 0.0
        for i in range(signed.size):
            if signed[i] != 0.0:
                high, low = _subtract_product(
                    high, low, -columns[k, i], 0.0, signed[i], signed_low[i]
                )
        out[k] = high + low


@njit(cache=True, nogil=True)
def _subtract_product(
    high: float, low: float, a: float, a_low: float, b: float, b_low: float
) -> tuple[float, float]:
    """Subtract the product of the pairs a and b from a pair."""
    p, p_low = multiply_pairs(a, a_low, b, b_low)
    high, low = add(high, low, -p, -p_low)
    return normalize(high, low)


@njit(cache=True, nogil=True)
def _factor(H: FloatArray) -> tuple[Any, int]:
    """Replace the lower half of H by its pivoted Cholesky factor L D Lᵀ.

    Returns the pivots, and how many of them are above rounding. Rows and columns are
    exchanged as the pivots say.
    """
    k = H.shape[1]
    pivots = np.arange(k)
    largest = 0.0
    for i in range(k):
        largest = max(largest, H[0, i, i])
    for step in range(k):
        best = step
        for i in range(step + 1, k):
            if H[0, i, i] > H[0, best, best]:
                best = i
        if not H[0, best, best] > EXACT_RANK * k * largest:
            return pivots, step
        if best != step:
            pivots[step], pivots[best] = pivots[best], pivots[step]
            for half in range(2):
                for j in range(k):
                    H[half, step, j], H[half, best, j] = (
                        H[half, best, j],
                        H[half, step, j],
                    )
                for i in range(k):
                    H[half, i, step], H[half, i, best] = (
                        H[half, i, best],
                        H[half, i, step],
                    )
        d, d_low = H[0, step, step], H[1, step, step]
        for i in range(step + 1, k):
            share, share_low = divide_pairs(H[0, i, step], H[1, i, step], d, d_low)
            for j in range(step + 1, i + 1):
                H[0, i, j], H[1, i, j] = _subtract_product(
                    H[0, i, j], H[1, i, j], share, share_low, H[0, j, step],
                    H[1, j, step],
                )  # fmt: skip
                H[0, j, i], H[1, j, i] = H[0, i, j], H[1, i, j]
        for i in range(step + 1, k):
            H[0, i, step], H[1, i, step] = divide_pairs(
                H[0, i, step], H[1, i, step], d, d_low
            )
            H[0, step, i], H[1, step, i] = H[0, i, step], H[1, i, step]
    return pivots, k


@njit(cache=True, nogil=True)
def _solve_back(H: FloatArray, rank: int, x: FloatArray) -> None:
    """Solve ``Lᵀ x = x`` in place for the first `rank` entries."""
    for i in range(rank - 1, -1, -1):
        high, low = x[0, i], x[1, i]
        for j in range(i + 1, rank):
            high, low = _subtract_product(
                high, low, H[0, j, i], H[1, j, i], x[0, j], x[1, j]
            )  # fmt: skip
        x[0, i], x[1, i] = high, low


@njit(cache=True, nogil=True)
def _subtract_pair(
    high: float, low: float, a: float, a_low: float
) -> tuple[float, float]:
    """Subtract a pair from a pair."""
    high, low = add(high, low, -a, -a_low)
    return normalize(high, low)


@njit(cache=True, nogil=True)
def _build_equations(
    G: FloatArray,
    others: Any,
    ref: int,
    equations: PreciseEquations,
    excess: float,
    excess_low: float,
) -> tuple[FloatArray, FloatArray]:
    """Compute H, and the right-hand sides of the equations for the other samples."""
    k = others.size
    H, g = np.empty((2, k, k)), np.empty((2, k))
    for i in range(k):
        s = others[i]
        for j in range(i + 1):
            t = others[j]
            high, low = _subtract_pair(
                G[0, s, t], G[1, s, t], G[0, s, ref], G[1, s, ref]
            )
            high, low = _subtract_pair(high, low, G[0, t, ref], G[1, t, ref])
            high, low = add(high, low, G[0, ref, ref], G[1, ref, ref])
            H[0, i, j], H[1, i, j] = normalize(high, low)
            H[0, j, i], H[1, j, i] = H[0, i, j], H[1, i, j]
        high, low = _subtract_pair(
            equations.bias[s],
            equations.bias_low[s],
            equations.bias[ref],
            equations.bias_low[ref],
        )
        high, low = _subtract_product(
            high, low, -excess, -excess_low, G[0, s, ref], G[1, s, ref]
        )
        g[0, i], g[1, i] = _subtract_product(
            high, low, excess, excess_low, G[0, ref, ref], G[1, ref, ref]
        )
    return H, g


@njit(cache=True, nogil=True)
def _solve_pivoted(
    H: FloatArray, g: FloatArray, pivots: Any, rank: int
) -> tuple[FloatArray, int]:
    """Solve with a factored H, in the order of its pivots.

    Where there is no solution, the direction without curvature of the largest residual
    is returned, and the place of its own entry; −1 otherwise.
    """
    k = g.shape[1]
    x = np.empty((2, k))
    for i in range(k):
        high, low = g[0, pivots[i]], g[1, pivots[i]]
        for j in range(min(i, rank)):
            high, low = _subtract_product(
                high, low, H[0, i, j], H[1, i, j], x[0, j], x[1, j]
            )  # fmt: skip
        x[0, i], x[1, i] = high, low
    flat = -1
    for i in range(rank, k):
        if abs(x[0, i]) > SAME_BIAS and (flat < 0 or abs(x[0, i]) > abs(x[0, flat])):
            flat = i
    if flat >= 0:
        residual = x[0, flat]
        for i in range(rank):
            x[0, i], x[1, i] = -residual * H[0, flat, i], -residual * H[1, flat, i]
    else:
        for i in range(rank):
            x[0, i], x[1, i] = divide_pairs(x[0, i], x[1, i], H[0, i, i], H[1, i, i])
    _solve_back(H, rank, x)
    return x, flat


# -- the equations -------------------------------------------------------------------


@solve.register(PreciseEquations)
def _solve(equations: PreciseEquations) -> bool:
    """Find the changes that put all free samples on the margin and balance.

    Where the inner products are singular and there are no such changes, a direction
    without curvature takes their place.
    """
    G, change, change_low = equations.G, equations.change, equations.change_low
    where_free = np.flatnonzero(equations.free)
    if where_free.size == 0:
        return False
    ref = where_free[0]
    for one in where_free:
        if G[0, one, one] < G[0, ref, ref]:
            ref = one
    others = where_free[where_free != ref]
    excess, excess_low = 0.0, 0.0
    for t in range(change.size):
        excess, excess_low = add(excess, excess_low, equations.v[t], equations.v_low[t])
        change[t], change_low[t] = 0.0, 0.0
    excess, excess_low = normalize(excess, excess_low)
    H, g = _build_equations(G, others, ref, equations, excess, excess_low)
    pivots, rank = _factor(H)
    x, flat = _solve_pivoted(H, g, pivots, rank)
    high, low = (0.0, 0.0) if flat >= 0 else (-excess, -excess_low)
    for i in range(others.size):
        if i < rank or i == flat:
            at = others[pivots[i]]
            change[at], change_low[at] = x[0, i], (x[1, i] if i < rank else 0.0)
            high, low = _subtract_pair(high, low, change[at], change_low[at])
    change[ref], change_low[ref] = high, low
    return flat >= 0


@move.register(PreciseEquations)
def _move(equations: PreciseEquations, step_size: float) -> None:
    v, v_low = equations.v, equations.v_low
    for i in range(v.size):
        if equations.free[i]:
            high, low = _subtract_product(
                v[i], v_low[i], -step_size, 0.0,
                equations.change[i], equations.change_low[i],
            )  # fmt: skip
            v[i] = min(max(high, equations.lower[i]), equations.upper[i])
            v_low[i] = low if v[i] == high else 0.0


@measure_biases.register(PreciseEquations)
def _measure(equations: PreciseEquations) -> float:
    """Compute the biases; the last digit of those of free samples is rounding."""
    G, v, v_low = equations.G, equations.v, equations.v_low
    largest = 0.0
    for i in range(v.size):
        high, low = equations.target[i], 0.0
        for j in range(v.size):
            if v[j] != 0.0:
                high, low = _subtract_product(
                    high, low, G[0, i, j], G[1, i, j], v[j], v_low[j]
                )
        equations.bias[i], equations.bias_low[i] = high, low
        if equations.free[i]:
            largest = max(largest, abs(high))
    return max(SAME_BIAS, EPS * largest)


@bind.register(PreciseEquations)
def _bind(equations: PreciseEquations, i: int) -> bool:
    equations.free[i], equations.v_low[i] = False, 0.0
    return True


@release.register(PreciseEquations)
def _release(equations: PreciseEquations, i: int) -> bool:
    equations.free[i] = True
    return True


@njit(cache=True, nogil=True)
def _follow(equations: PreciseEquations, max_changes: int) -> None:
    """Run the active-set method from any multipliers."""
    measure_biases(equations)
    find_optimum(equations, max_changes, False)


def solve_active_set_exactly(
    G: FloatArray,
    sign: FloatArray,
    target: FloatArray,
    bound: FloatArray,
    start: FloatArray,
) -> tuple[FloatArray, FloatArray, float]:
    """Find the multipliers from near ones, with biases and the remaining violation.

    The violation is the largest difference of two biases; at the optimum it is zero.
    """
    n, a = len(sign), np.clip(start, 0.0, bound)
    lower, upper = bound_signed(sign, bound)
    v, v_low, bias, bias_low, change, change_low = np.zeros((6, n))
    v[:] = sign * a
    free = (a > 0) & (a < bound)
    equations = PreciseEquations(
        G, target, lower, upper, v, v_low, bias, bias_low, change, change_low, free
    )
    _follow(equations, _CHANGES_PER_SAMPLE * n)
    a = np.stack([sign * v, sign * v_low]) + 0.0  # no negative zeros
    return a, bias, bias_difference(bias, sign, bound, a[0])

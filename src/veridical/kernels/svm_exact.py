"""The dual of a linear support vector machine in twice the working precision.

Where rows differ in length by a factor of 10⁶, their inner products differ by 10¹², and
double precision leaves margins of size 1 few digits. Here inner products, multipliers
and margins are pairs of doubles (see `veridical.kernels.exact`), and an active-set
method finds the multipliers: solve for the free ones, stop at the first bound that is
met, and free the two samples that violate the optimality conditions most.

| symbol         | meaning                                             | shape     |
|----------------|-----------------------------------------------------|-----------|
| G              | inner products of the samples, high and low parts   | (2, n, n) |
| y              | class of each sample, +1 or −1                      | (n,)      |
| target         | decision of a sample that meets its margin exactly  | (n,)      |
| c              | largest multiplier of each sample                   | (n,)      |
| a              | multipliers, high and low parts                     | (2, n)    |
| bias_at_margin | bias at which a sample meets its margin exactly     | (2, n)    |
| H              | inner products of differences to a reference sample | (2, k, k) |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.columns import column_block, cross_products
from veridical.kernels.duality import EXACT_RANK, SAME_BIAS
from veridical.kernels.exact import add, divide_pairs, fma, multiply_pairs, normalize

#: Features whose products are summed together.
_BLOCK_FEATURES = 64
#: Changes of the active set per sample, each with a linear system; then it ends.
_CHANGES_PER_SAMPLE = 20


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
def _biases_at_margin(
    G: FloatArray, y: FloatArray, target: FloatArray, a: FloatArray
) -> FloatArray:
    n = y.size
    bias_at_margin = np.zeros((2, n))
    for i in range(n):
        high, low = target[i], 0.0
        for j in range(n):
            if a[0, j] != 0.0:
                high, low = _subtract_product(
                    high, low, G[0, i, j], G[1, i, j], y[j] * a[0, j], y[j] * a[1, j]
                )
        bias_at_margin[0, i], bias_at_margin[1, i] = high, low
    return bias_at_margin


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
def _differences(
    G: FloatArray,
    others: Any,
    ref: int,
    bias_at_margin: FloatArray,
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
            bias_at_margin[0, s],
            bias_at_margin[1, s],
            bias_at_margin[0, ref],
            bias_at_margin[1, ref],
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


@njit(cache=True, nogil=True)
def _direction(
    G: FloatArray,
    where_free: Any,
    bias_at_margin: FloatArray,
    excess: float,
    excess_low: float,
) -> tuple[FloatArray, bool]:
    """Find the change of signed multipliers that puts all free samples on the margin.

    The changes sum to ``−excess``. Where the inner products are singular and there is
    no such change, a direction without curvature is returned, and True.
    """
    m, r = where_free.size, 0
    for i in range(m):
        if G[0, where_free[i], where_free[i]] < G[0, where_free[r], where_free[r]]:
            r = i
    others = np.empty(m - 1, dtype=np.int64)
    for i in range(m - 1):
        others[i] = where_free[i] if i < r else where_free[i + 1]
    H, g = _differences(G, others, where_free[r], bias_at_margin, excess, excess_low)
    pivots, rank = _factor(H)
    x, flat = _solve_pivoted(H, g, pivots, rank)
    moves = np.zeros((2, m))
    high, low = (0.0, 0.0) if flat >= 0 else (-excess, -excess_low)
    for i in range(m - 1):
        if i >= rank and i != flat:
            continue
        at = pivots[i] if pivots[i] < r else pivots[i] + 1
        moves[0, at], moves[1, at] = x[0, i], (0.0 if i >= rank else x[1, i])
        high, low = _subtract_pair(high, low, moves[0, at], moves[1, at])
    moves[0, r], moves[1, r] = high, low
    return moves, flat >= 0


@njit(cache=True, nogil=True)
def _step_to_bound(
    y: FloatArray, c: FloatArray, a: FloatArray, free: Any, where_free: Any, moves: Any,
    flat: bool,
) -> bool:  # fmt: skip
    """Change free multipliers up to their bounds; True where no bound was met."""
    m = where_free.size
    step_sizes = np.full(m, np.inf)
    step_size = np.inf if flat else 1.0
    for i in range(m):
        step = y[where_free[i]] * moves[0, i]
        if step != 0.0:
            distance = (
                a[0, where_free[i]]
                if step < 0
                else c[where_free[i]] - a[0, where_free[i]]
            )
            step_sizes[i] = distance / abs(step)
            step_size = min(step_size, step_sizes[i])
    if not np.isfinite(step_size):
        return True
    bounded = False
    for i in range(m):
        t = where_free[i]
        if step_sizes[i] <= step_size and (step_size < 1.0 or flat):
            a[0, t] = 0.0 if y[t] * moves[0, i] < 0 else c[t]
            a[1, t], free[t], bounded = 0.0, False, True
            continue
        added, added_low = multiply_pairs(
            step_size * y[t], 0.0, moves[0, i], moves[1, i]
        )
        high, low = add(a[0, t], a[1, t], added, added_low)
        a[0, t], a[1, t] = normalize(high, low)
        if a[0, t] < 0.0 or a[0, t] > c[t]:
            a[0, t], a[1, t] = min(max(a[0, t], 0.0), c[t]), 0.0
    return not bounded


@njit(cache=True, nogil=True)
def solve_active_set_exactly(
    G: FloatArray,
    y: FloatArray,
    target: FloatArray,
    c: FloatArray,
    start: FloatArray,
) -> tuple[FloatArray, FloatArray, float]:
    """Find the multipliers from near ones, with biases and the remaining violation.

    This is `veridical.kernels.active_set.solve_active_set` in twice the precision. The
    violation is the largest difference of two biases; at the optimum it is zero.
    """
    n = y.size
    a = np.zeros((2, n))
    free = np.zeros(n, dtype=np.bool_)
    for i in range(n):
        a[0, i] = min(max(start[i], 0.0), c[i])
        free[i] = 0.0 < a[0, i] < c[i]
    violation, bias_at_margin = np.inf, a
    for _ in range(_CHANGES_PER_SAMPLE * n):
        violation = np.inf
        bias_at_margin = _biases_at_margin(G, y, target, a)
        where_free = np.flatnonzero(free)
        if where_free.size > 0:
            excess, excess_low = 0.0, 0.0
            for i in range(n):
                excess, excess_low = add(
                    excess, excess_low, y[i] * a[0, i], y[i] * a[1, i]
                )
            excess, excess_low = normalize(excess, excess_low)
            moves, flat = _direction(G, where_free, bias_at_margin, excess, excess_low)
            if not _step_to_bound(y, c, a, free, where_free, moves, flat):
                continue
            bias_at_margin = _biases_at_margin(G, y, target, a)
        high, low, i_high, i_low = -np.inf, np.inf, -1, -1
        for i in range(n):
            up = a[0, i] < c[i] if y[i] > 0 else a[0, i] > 0.0
            down = a[0, i] > 0.0 if y[i] > 0 else a[0, i] < c[i]
            if up and bias_at_margin[0, i] > high:
                high, i_high = bias_at_margin[0, i], i
            if down and bias_at_margin[0, i] < low:
                low, i_low = bias_at_margin[0, i], i
        violation = max(high - low, 0.0)
        if violation <= SAME_BIAS or i_high < 0 or i_low < 0:
            break
        if free[i_high] and free[i_low]:
            break  # they differ by rounding only
        free[i_high], free[i_low] = True, True
    return a, bias_at_margin[0], violation

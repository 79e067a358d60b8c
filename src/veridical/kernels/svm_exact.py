"""The dual of a linear support vector machine in twice the working precision.

Where rows differ in length by a factor of 10⁶, their inner products differ by 10¹², and
double precision leaves margins of size 1 few digits. Here inner products, multipliers
and margins are pairs of doubles (see `veridical.kernels.exact`), and an active-set
method finds the multipliers: solve for the free ones, stop at the first bound that is
met, and set those free that disagree most about the bias.

| symbol | meaning                                             | shape     |
|--------|-----------------------------------------------------|-----------|
| G      | inner products of the samples, high and low parts     | (2, n, n) |
| y      | class of each sample, +1 or −1                        | (n,)      |
| c      | largest multiplier of each sample                     | (n,)      |
| a      | multipliers, high and low parts                     | (2, n)    |
| wish   | bias at which a sample meets its margin exactly       | (2, n)    |
| H      | inner products of differences to a reference sample   | (2, k, k) |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.compiling import njit
from veridical.kernels.exact import add, divide_pairs, fma, multiply, normalize

#: Difference of biases in units of a margin; samples with a smaller one agree.
AGREED = 1e-14
#: Pivot as a share of the largest; a smaller one is rounding.
_RANK = 1e-27
#: Changes of the active set per sample, each with a linear system; then it is given up.
_MOVES_PER_CASE = 20


@njit(cache=True, nogil=True)
def add_products(columns: FloatArray, sign: float, G: FloatArray) -> None:
    """Add the inner products of some features to G, or take them off it.

    `columns` holds one feature per row; `sign` is 1 or −1.
    """
    n = G.shape[1]
    for k in range(columns.shape[0]):
        x = columns[k]
        for i in range(n):
            left = sign * x[i]
            if left == 0.0:
                continue
            for j in range(i + 1):
                product = left * x[j]
                high, low = add(
                    G[0, i, j], G[1, i, j], product, fma(left, x[j], -product)
                )
                G[0, i, j], G[1, i, j] = normalize(high, low)
    for i in range(n):
        for j in range(i):
            G[0, j, i], G[1, j, i] = G[0, i, j], G[1, i, j]


@njit(cache=True, nogil=True)
def _subtract_product(
    high: float, low: float, a: float, a_low: float, b: float, b_low: float
) -> tuple[float, float]:
    """Subtract the product of the pairs a and b from a pair."""
    p, p_low = multiply(a, a_low, b, b_low)
    high, low = add(high, low, -p, -p_low)
    return normalize(high, low)


@njit(cache=True, nogil=True)
def _wishes(G: FloatArray, y: FloatArray, a: FloatArray) -> FloatArray:
    n = y.size
    wish = np.zeros((2, n))
    for i in range(n):
        high, low = y[i], 0.0
        for j in range(n):
            if a[0, j] != 0.0:
                high, low = _subtract_product(
                    high, low, G[0, i, j], G[1, i, j], y[j] * a[0, j], y[j] * a[1, j]
                )
        wish[0, i], wish[1, i] = high, low
    return wish


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
        if not H[0, best, best] > _RANK * k * largest:
            return pivots, step
        if best != step:
            pivots[step], pivots[best] = pivots[best], pivots[step]
            for part in range(2):
                for j in range(k):
                    H[part, step, j], H[part, best, j] = (
                        H[part, best, j],
                        H[part, step, j],
                    )
                for i in range(k):
                    H[part, i, step], H[part, i, best] = (
                        H[part, i, best],
                        H[part, i, step],
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
def _direction(
    G: FloatArray, who: Any, wish: FloatArray, excess: float, excess_low: float
) -> tuple[FloatArray, bool]:
    """Find the change of signed multipliers after which all free samples agree.

    The changes sum to ``−excess``. Where the inner products are singular and the free
    samples cannot agree, a direction without curvature is returned, and True.
    """
    m = who.size
    r = 0
    for i in range(m):
        if G[0, who[i], who[i]] < G[0, who[r], who[r]]:
            r = i
    others = np.empty(m - 1, dtype=np.int64)
    for i in range(m - 1):
        others[i] = who[i] if i < r else who[i + 1]
    ref, k = who[r], m - 1
    H, g = np.empty((2, k, k)), np.empty((2, k))
    for i in range(k):
        s = others[i]
        for j in range(i + 1):
            t = others[j]
            high, low = add(G[0, s, t], G[1, s, t], -G[0, s, ref], -G[1, s, ref])
            high, low = normalize(high, low)
            high, low = add(high, low, -G[0, t, ref], -G[1, t, ref])
            high, low = normalize(high, low)
            high, low = add(high, low, G[0, ref, ref], G[1, ref, ref])
            H[0, i, j], H[1, i, j] = normalize(high, low)
            H[0, j, i], H[1, j, i] = H[0, i, j], H[1, i, j]
        high, low = add(wish[0, s], wish[1, s], -wish[0, ref], -wish[1, ref])
        high, low = normalize(high, low)
        high, low = _subtract_product(
            high, low, -excess, -excess_low, G[0, s, ref], G[1, s, ref]
        )
        g[0, i], g[1, i] = _subtract_product(
            high, low, excess, excess_low, G[0, ref, ref], G[1, ref, ref]
        )
    pivots, rank = _factor(H)
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
        if abs(x[0, i]) > AGREED and (flat < 0 or abs(x[0, i]) > abs(x[0, flat])):
            flat = i
    if flat >= 0:
        left = x[0, flat]
        for i in range(rank):
            x[0, i], x[1, i] = -left * H[0, flat, i], -left * H[1, flat, i]
    else:
        for i in range(rank):
            x[0, i], x[1, i] = divide_pairs(x[0, i], x[1, i], H[0, i, i], H[1, i, i])
    _solve_back(H, rank, x)
    change = np.zeros((2, m))
    high, low = (0.0, 0.0) if flat >= 0 else (-excess, -excess_low)
    for i in range(k):
        if i >= rank and i != flat:
            continue
        at = pivots[i] if pivots[i] < r else pivots[i] + 1
        change[0, at], change[1, at] = x[0, i], (0.0 if i >= rank else x[1, i])
        high, low = add(high, low, -change[0, at], -change[1, at])
        high, low = normalize(high, low)
    change[0, r], change[1, r] = high, low
    return change, flat >= 0


@njit(cache=True, nogil=True)
def _move(
    y: FloatArray, c: FloatArray, a: FloatArray, free: Any, who: Any, change: Any,
    flat: bool,
) -> bool:  # fmt: skip
    """Change free multipliers as far as the box allows; True where no bound was met."""
    m = who.size
    lengths = np.full(m, np.inf)
    far = np.inf if flat else 1.0
    for i in range(m):
        step = y[who[i]] * change[0, i]
        if step != 0.0:
            room = a[0, who[i]] if step < 0 else c[who[i]] - a[0, who[i]]
            lengths[i] = room / abs(step)
            far = min(far, lengths[i])
    if not np.isfinite(far):
        return True
    bounded = False
    for i in range(m):
        t = who[i]
        if lengths[i] <= far and (far < 1.0 or flat):
            a[0, t] = 0.0 if y[t] * change[0, i] < 0 else c[t]
            a[1, t], free[t], bounded = 0.0, False, True
            continue
        part, part_low = multiply(far * y[t], 0.0, change[0, i], change[1, i])
        high, low = add(a[0, t], a[1, t], part, part_low)
        a[0, t], a[1, t] = normalize(high, low)
        if a[0, t] < 0.0 or a[0, t] > c[t]:
            a[0, t], a[1, t] = min(max(a[0, t], 0.0), c[t]), 0.0
    return not bounded


@njit(cache=True, nogil=True)
def settle_exactly(
    G: FloatArray, y: FloatArray, c: FloatArray, start: FloatArray
) -> tuple[FloatArray, float]:
    """Find the multipliers from near ones, and the disagreement they leave.

    This is `veridical.kernels.active_set.settle` in twice the precision. Samples
    disagree about the bias; at the optimum they do not.
    """
    n = y.size
    a = np.zeros((2, n))
    free = np.zeros(n, dtype=np.bool_)
    for i in range(n):
        a[0, i] = min(max(start[i], 0.0), c[i])
        free[i] = 0.0 < a[0, i] < c[i]
    left = np.inf
    for _ in range(_MOVES_PER_CASE * n):
        wish = _wishes(G, y, a)
        who = np.flatnonzero(free)
        if who.size > 0:
            excess, excess_low = 0.0, 0.0
            for i in range(n):
                excess, excess_low = add(
                    excess, excess_low, y[i] * a[0, i], y[i] * a[1, i]
                )
            excess, excess_low = normalize(excess, excess_low)
            change, flat = _direction(G, who, wish, excess, excess_low)
            if not _move(y, c, a, free, who, change, flat):
                continue
            wish = _wishes(G, y, a)
        high, low, i_high, i_low = -np.inf, np.inf, -1, -1
        for i in range(n):
            up = a[0, i] < c[i] if y[i] > 0 else a[0, i] > 0.0
            down = a[0, i] > 0.0 if y[i] > 0 else a[0, i] < c[i]
            if up and wish[0, i] > high:
                high, i_high = wish[0, i], i
            if down and wish[0, i] < low:
                low, i_low = wish[0, i], i
        left = max(high - low, 0.0)
        if left <= AGREED or i_high < 0 or i_low < 0:
            break
        if free[i_high] and free[i_low]:
            break  # the free ones agree as far as twice the precision allows
        free[i_high], free[i_low] = True, True
    return a[0], left

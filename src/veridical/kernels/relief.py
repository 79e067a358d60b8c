"""ReliefF: who are the neighbours, and how do features differ from them?

Cases are sorted by class, so that each class is a run of rows.

| symbol  | meaning                                                         | shape   |
|---------|-----------------------------------------------------------------|---------|
| D       | distances between cases                                         | (n, n)  |
| counts  | how often a case occurs in the training set                     | (n,)    |
| queries | how often a case is asked for its neighbours                    | (n,)    |
| bounds  | class k is rows ``bounds[k]:bounds[k + 1]``                     | (K + 1,)|
| pull    | weight of the difference between i and j in the result          | (n, n)  |

Neighbours at the same distance as the k-th share the places that are left, so that
the weights do not depend on the order of the rows: what one gets on average by
breaking such ties at random.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from veridical._records import FloatArray, IntArray
from veridical.kernels.distance import TILE, difference
from veridical.kernels.threads import run, spans

# Distances closer than this (relatively) are equal.
TIE = 1e-11


@njit(cache=True, nogil=True)
def _radius(
    d: FloatArray, counts: FloatArray, me: int, lo: int, hi: int, k: float
) -> float:
    """Distance within which row `me` has at least `k` neighbours in ``lo:hi``."""
    size = int(np.ceil(k)) + 1
    near, weight = np.empty(size + 1), np.empty(size + 1)
    held, total = 0, 0.0
    for j in range(lo, hi):
        w = counts[j] - (j == me)
        if w <= 0 or (total >= k and d[j] >= near[held - 1]):
            continue
        at = held
        while at > 0 and near[at - 1] > d[j]:
            near[at], weight[at] = near[at - 1], weight[at - 1]
            at -= 1
        near[at], weight[at] = d[j], w
        held += 1
        total += w
        while total - weight[held - 1] >= k:
            held -= 1
            total -= weight[held]
    return near[held - 1]


@njit(cache=True, nogil=True)
def add_pulls(
    D: FloatArray,
    counts: FloatArray,
    queries: FloatArray,
    bounds: IntArray,
    k: int,
    lo: int,
    hi: int,
    pull: FloatArray,
) -> None:
    """Write the pulls of queries ``lo:hi`` on their neighbours."""
    n_classes = bounds.size - 1
    size = np.zeros(n_classes)
    for c in range(n_classes):
        for j in range(bounds[c], bounds[c + 1]):
            size[c] += counts[j]
    n, m = size.sum(), queries.sum()
    mine = 0
    for i in range(lo, hi):
        while i >= bounds[mine + 1]:
            mine += 1
        if queries[i] == 0:
            continue
        for c in range(n_classes):
            available = size[c] - (c == mine)
            if available <= 0:
                continue
            places = min(float(k), available)
            radius = _radius(D[i], counts, i, bounds[c], bounds[c + 1], places)
            slack = TIE * radius
            inside, border = 0.0, 0.0
            for j in range(bounds[c], bounds[c + 1]):
                w = counts[j] - (j == i)
                if w > 0 and D[i, j] < radius - slack:
                    inside += w
                elif w > 0 and D[i, j] <= radius + slack:
                    border += w
            share = (places - inside) / border
            force = queries[i] / (m * places)
            force *= -1.0 if c == mine else size[c] / (n - size[mine])
            for j in range(bounds[c], bounds[c + 1]):
                w = counts[j] - (j == i)
                if w > 0 and D[i, j] < radius - slack:
                    pull[i, j] = force * w
                elif w > 0 and D[i, j] <= radius + slack:
                    pull[i, j] = force * w * share


@njit(cache=True, nogil=True, fastmath={"contract"})
def _sum_numeric(
    X: Any,
    first: IntArray,
    second: IntArray,
    start: IntArray,
    where: IntArray,
    force: FloatArray,
    lo: int,
    hi: int,
    total: FloatArray,
) -> None:
    gap = np.empty(TILE)
    for f in range(lo, hi, TILE):
        g = min(f + TILE, hi)
        for pair in range(first.size):
            a, b = X[first[pair], f:g], X[second[pair], f:g]
            for c in range(a.size):
                gap[c] = abs(np.float64(a[c]) - np.float64(b[c]))
            for t in range(start[pair], start[pair + 1]):
                out, w = total[where[t], f:g], force[t]
                for c in range(out.size):
                    out[c] += w * gap[c]


def sum_numeric(
    X: Any,
    first: IntArray,
    second: IntArray,
    start: IntArray,
    where: IntArray,
    force: FloatArray,
    n_sets: int,
    n_threads: int,
) -> FloatArray:
    """Σ over pairs of force × |difference|, for every training set and column.

    The pairs ``first[t], second[t]`` serve all training sets; pair t acts on the sets
    ``where[start[t]:start[t + 1]]``.
    """
    total = np.zeros((n_sets, X.shape[1]))
    pieces = spans(X.shape[1], 4 * n_threads, TILE)
    run(
        _sum_numeric,
        [(X, first, second, start, where, force, lo, hi, total) for lo, hi in pieces],
        n_threads,
    )
    return total


@njit(cache=True, nogil=True)
def sum_mixed(
    X: FloatArray,
    low: FloatArray,
    inverse: FloatArray,
    n_vals: IntArray,
    first: IntArray,
    second: IntArray,
    force: FloatArray,
) -> FloatArray:
    """Σ over pairs of force × diff for columns with missing or nominal values."""
    total = np.zeros(X.shape[1])
    for t in range(first.size):
        i, j = first[t], second[t]
        for c in range(X.shape[1]):
            total[c] += force[t] * difference(
                X[i, c], X[j, c], low[c], inverse[c], n_vals[c]
            )
    return total

"""ReliefF: who are the neighbours, and how do features differ from them?

Rows of D are the cases of one training set, sorted by class, so that each class is a
run of rows.

| symbol  | meaning                                                         | shape   |
|---------|-----------------------------------------------------------------|---------|
| D       | quick distances between cases                                   | (m, m)  |
| error   | how far a quick distance can lie from the exact one             |         |
| counts  | how often a case occurs in the training set                     | (m,)    |
| queries | how often a case is asked for its neighbours                    | (m,)    |
| bounds  | class k is rows ``bounds[k]:bounds[k + 1]``                     | (K + 1,)|
| kind    | is j a neighbour of i: no, within the k-th one, as far as it    | (m, m)  |
| force   | weight of a neighbour of i in class c within the k-th           | (m, K)  |
| share   | part of that for a neighbour as far as the k-th                 | (m, K)  |

Neighbours at the same distance as the k-th share the places that are left, so that
the weights do not depend on the order of the rows: what one gets on average by
breaking such ties at random.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from veridical._records import FloatArray, IntArray
from veridical.kernels.distance import (
    SingleArray,
    difference,
    mixed_distance,
    numeric_distance,
)
from veridical.kernels.threads import run, spans

# Distances closer than this (relatively) are equal.
TIE = 1e-11
TILE = 256
PAIRS = 4

NO, WITHIN, BORDER = 0, 1, 2


class Cases(NamedTuple):
    """The cases themselves, for exact distances: two kinds of columns, their scales."""

    plain: Any
    inverse: FloatArray
    mixed: FloatArray
    low: FloatArray
    mixed_inverse: FloatArray
    n_vals: IntArray
    rows: IntArray


@njit(cache=True, nogil=True)
def _exact(cases: Cases, i: int, j: int) -> float:
    a, b = cases.rows[i], cases.rows[j]
    return numeric_distance(cases.plain, a, b, cases.inverse) + mixed_distance(
        cases.mixed, a, b, cases.low, cases.mixed_inverse, cases.n_vals
    )


@njit(cache=True, nogil=True)
def _radius(
    distance: Any,
    weight: FloatArray,
    lo: int,
    hi: int,
    me: int,
    k: float,
    guess: float,
) -> float:
    """Distance within which cases ``lo:hi`` have weight `k`; `me` counts once less.

    Cases beyond `guess` are not looked at, unless it proves too small.
    """
    size = min(int(np.ceil(k)), hi - lo)
    near, heavy = np.empty(size + 1), np.empty(size + 1)
    while True:
        kept, total, bar = 0, 0.0, guess
        for j in range(lo, hi):
            d = distance[j]
            if d >= bar:
                continue
            w = weight[j] - (j == me)
            if w <= 0:
                continue
            at = kept
            while at > 0 and near[at - 1] > d:
                near[at], heavy[at] = near[at - 1], heavy[at - 1]
                at -= 1
            near[at], heavy[at] = d, w
            kept += 1
            total += w
            while total - heavy[kept - 1] >= k:
                kept -= 1
                total -= heavy[kept]
            if total >= k:
                bar = near[kept - 1]
        if total >= k:
            return near[kept - 1]
        guess = np.inf


@njit(cache=True, nogil=True)
def _neighbours_in(
    i: int,
    lo: int,
    hi: int,
    places: float,
    D: SingleArray,
    error: float,
    counts: FloatArray,
    cases: Cases,
    kind: NDArray[np.uint8],
    work: FloatArray,
    guess: float,
) -> tuple[float, float]:
    """Mark the neighbours of case i among cases ``lo:hi``.

    Return the border's share, and the distance of the k-th. Quick distances
    settle all but the cases near the k-th; for these the exact ones are taken, unless
    all of them find a place.
    """
    row, exact, weight, who = D[i], work[0], work[1], work[2]
    quick = _radius(row, counts, lo, hi, i, places, guess)
    sure, limit = quick - 2 * error, quick + 2 * error
    inside, doubtful, near = 0.0, 0.0, 0
    for j in range(lo, hi):
        if row[j] > limit:
            continue
        w = counts[j] - (j == i)
        if w <= 0:
            continue
        if row[j] < sure:
            kind[i, j] = WITHIN
            inside += w
        else:
            who[near], weight[near] = j, w
            doubtful += w
            near += 1
    if doubtful == places - inside:
        for t in range(near):
            kind[i, int(who[t])] = WITHIN
        return 0.0, quick
    for t in range(near):
        exact[t] = _exact(cases, i, int(who[t]))
    radius = _radius(exact, weight, 0, near, -1, places - inside, np.inf)
    slack = TIE * radius
    border = 0.0
    for t in range(near):
        if exact[t] < radius - slack:
            kind[i, int(who[t])] = WITHIN
            inside += weight[t]
        elif exact[t] <= radius + slack:
            kind[i, int(who[t])] = BORDER
            border += weight[t]
    return (places - inside) / border, quick


@njit(cache=True, nogil=True)
def _find(
    D: SingleArray,
    error: float,
    counts: FloatArray,
    queries: FloatArray,
    bounds: IntArray,
    k: int,
    cases: Cases,
    lo: int,
    hi: int,
    kind: NDArray[np.uint8],
    force: FloatArray,
    share: FloatArray,
) -> None:
    n_classes = bounds.size - 1
    work = np.empty((3, counts.size))
    size = np.zeros(n_classes)
    for c in range(n_classes):
        size[c] = counts[bounds[c] : bounds[c + 1]].sum()
    n, asked = size.sum(), queries.sum()
    # The k-th neighbour of the case before, and a little: few are nearer than that.
    guess = np.full(n_classes, np.inf)
    mine = 0
    for i in range(lo, hi):
        while i >= bounds[mine + 1]:
            mine += 1
            guess[:] = np.inf
        kind[i] = NO
        if queries[i] == 0:
            continue
        for c in range(n_classes):
            available = size[c] - (c == mine)
            if available <= 0:
                continue
            places = min(float(k), available)
            here = bounds[c], bounds[c + 1]
            share[i, c], radius = _neighbours_in(
                i,
                here[0],
                here[1],
                places,
                D,
                error,
                counts,
                cases,
                kind,
                work,
                guess[c],
            )
            guess[c] = 1.05 * radius
            force[i, c] = queries[i] / (asked * places)
            force[i, c] *= -1.0 if c == mine else size[c] / (n - size[mine])


@njit(cache=True, nogil=True)
def _collect(
    kind: NDArray[np.uint8],
    counts: FloatArray,
    label: IntArray,
    force: FloatArray,
    share: FloatArray,
    names: IntArray,
    base: int,
) -> tuple[IntArray, FloatArray]:
    m, found = counts.size, 0
    for i in range(m):
        for j in range(i, m):
            found += (kind[i, j] | kind[j, i]) != NO
    keys, pull = np.empty(found, dtype=np.intp), np.empty(found)
    at = 0
    for i in range(m):
        for j in range(i, m):
            there, back = kind[i, j], kind[j, i]
            if (there | back) == NO:
                continue
            total = 0.0
            if there != NO:
                w = force[i, label[j]] * (counts[j] - (i == j))
                total += w if there == WITHIN else w * share[i, label[j]]
            if back != NO and i != j:
                w = force[j, label[i]] * counts[i]
                total += w if back == WITHIN else w * share[j, label[i]]
            keys[at], pull[at] = names[i] * base + names[j], total
            at += 1
    return keys, pull


def find_pairs(
    D: SingleArray,
    error: float,
    counts: FloatArray,
    queries: FloatArray,
    bounds: IntArray,
    k: int,
    cases: Cases,
    names: IntArray,
    base: int,
    n_threads: int,
) -> tuple[IntArray, FloatArray]:
    """Neighbour pairs as ascending keys ``names[i] * base + names[j]``, and their pull.

    A pull is the weight of the difference between i and j in the result. Cases have
    ascending names, the same in all training sets.
    """
    m, n_classes = len(D), bounds.size - 1
    kind = np.empty((m, m), dtype=np.uint8)
    force, share = np.zeros((2, m, n_classes))
    fixed = D, error, counts, queries, bounds, k, cases
    pieces = spans(m, 4 * n_threads, 16)
    run(_find, [(*fixed, *piece, kind, force, share) for piece in pieces], n_threads)
    label = np.repeat(np.arange(n_classes), np.diff(bounds))
    return _collect(kind, counts, label, force, share, names, base)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _sum_numeric(
    X: Any,
    first: IntArray,
    second: IntArray,
    force: FloatArray,
    lo: int,
    hi: int,
    total: FloatArray,
) -> None:
    n_pairs, n_sets = force.shape
    gap = np.empty((PAIRS, TILE))
    for f in range(lo, hi, TILE):
        g = min(f + TILE, hi)
        for start in range(0, n_pairs, PAIRS):
            held = min(PAIRS, n_pairs - start)
            for q in range(held):
                a, b = X[first[start + q], f:g], X[second[start + q], f:g]
                for c in range(a.size):
                    gap[q, c] = abs(np.float64(a[c]) - np.float64(b[c]))
            for s in range(n_sets):
                out = total[s, f:g]
                if held == PAIRS:
                    # Four at a time: a sum is fetched and put back once for all.
                    w0, w1 = force[start, s], force[start + 1, s]
                    w2, w3 = force[start + 2, s], force[start + 3, s]
                    for c in range(out.size):
                        out[c] += (w0 * gap[0, c] + w1 * gap[1, c]) + (
                            w2 * gap[2, c] + w3 * gap[3, c]
                        )
                else:
                    for q in range(held):
                        w = force[start + q, s]
                        for c in range(out.size):
                            out[c] += w * gap[q, c]


def sum_numeric(
    X: Any,
    first: IntArray,
    second: IntArray,
    force: FloatArray,
    n_threads: int,
) -> FloatArray:
    """Σ over pairs of force × |difference|, for every training set and column.

    The pairs ``first[t], second[t]`` serve all training sets; pair t has the force
    ``force[t, s]`` in set s, 0 where it is no pair of neighbours.
    """
    total = np.zeros((force.shape[1], X.shape[1]))
    pieces = spans(X.shape[1], 4 * n_threads, TILE)
    jobs = [(X, first, second, force, lo, hi, total) for lo, hi in pieces]
    run(_sum_numeric, jobs, n_threads)
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

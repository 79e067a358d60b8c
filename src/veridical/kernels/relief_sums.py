"""Sum the differences of features between neighbours, for many training sets at once.

In ReliefF most pairs of neighbours are neighbours in most training sets, with the same
weight. The weight that most sets give a pair is summed once for all of them, and each
set adds its differences from it. So the rounding error of a set's sum is that of the
differences of all rows, also of rows that the set leaves out. (In MultiSURF the weights
differ between sets, and each set is summed by itself.)

| symbol | meaning                                                       | shape |
|--------|---------------------------------------------------------------|-------|
| first  | one sample of each pair of neighbours                         | (t,)  |
| second | the other                                                     | (t,)  |
| weight | weight of their difference                                    | (t,)  |
| which  | number of a pair among those of all training sets             | (t,)  |
| ends   | where the pairs of each training set end, one after the other | (S,)  |
| common | weight of a pair in more than half of the sets, else 0        | (u,)  |
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.distance import LEVELS, value_difference
from veridical.kernels.relief import NeighbourPairs, join
from veridical.kernels.threads import run_jobs, spans

TILE = 1024  # features whose sums stay in the first-level cache
AT_ONCE = 65535 // LEVELS  # differences of rounded values that are summed at a time
LEVEL_TILE = 1024  # features whose rounded values stay in the second-level cache
SAME_WEIGHT = 0.01  # difference of weights that are the same, as a share of the largest


@njit(cache=True, nogil=True)
def _number_pairs(
    first: IntArray, second: IntArray, ends: IntArray, n: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return both samples of each different pair of all sets, and `which`."""
    which, firsts, seconds = np.empty((3, first.size), dtype=np.intp)
    last_pair = np.full(
        n, -1, dtype=np.intp
    )  # number of the last pair with that second
    place = np.zeros(ends.size, dtype=np.intp)
    for s in range(1, ends.size):
        place[s] = ends[s - 1]
    n_pairs = 0
    for i in range(n):
        here = n_pairs
        for s in range(ends.size):
            while place[s] < ends[s] and first[place[s]] == i:
                j = second[place[s]]
                if last_pair[j] < here:
                    last_pair[j] = n_pairs
                    firsts[n_pairs], seconds[n_pairs] = i, j
                    n_pairs += 1
                which[place[s]] = last_pair[j]
                place[s] += 1
    return firsts[:n_pairs], seconds[:n_pairs], which


@njit(cache=True, nogil=True)
def _common_weights(
    weight: FloatArray, which: IntArray, n_pairs: int, n_sets: int
) -> FloatArray:
    common, votes = np.zeros(n_pairs), np.zeros(n_pairs, dtype=np.intp)
    # A weight that most sets share is left over by Boyer and Moore's majority vote.
    for t in range(weight.size):
        u = which[t]
        if votes[u] == 0:
            common[u] = weight[t]
        votes[u] += 1 if common[u] == weight[t] else -1
    votes[:] = 0
    for t in range(weight.size):
        votes[which[t]] += common[which[t]] == weight[t]
    for u in range(n_pairs):
        if 2 * votes[u] <= n_sets:
            common[u] = 0.0
    return common


@njit(cache=True, nogil=True)
def _split_common(
    pairs: NeighbourPairs, ends: IntArray, n: int
) -> tuple[NeighbourPairs, IntArray]:
    """Return the weights of each set minus the common ones, then the common ones.

    Also returns where the pairs of each set end.
    """
    firsts, seconds, which = _number_pairs(pairs.first, pairs.second, ends, n)
    n_pairs, n_sets = firsts.size, ends.size
    common = _common_weights(pairs.weight, which, n_pairs, n_sets)
    extra = np.empty((n_sets + 1, n_pairs))
    for u in range(n_pairs):
        extra[n_sets, u] = common[u]
    lo = 0
    for s in range(n_sets):
        for u in range(n_pairs):
            extra[s, u] = -common[u]
        for t in range(lo, ends[s]):
            extra[s, which[t]] += pairs.weight[t]
        lo = ends[s]
    found = 0
    for s in range(n_sets + 1):
        for u in range(n_pairs):
            found += extra[s, u] != 0
    first, second = np.empty((2, found), dtype=np.intp)
    weight, stops = np.empty(found), np.empty(n_sets + 1, dtype=np.intp)
    place = 0
    for s in range(n_sets + 1):
        for u in range(n_pairs):
            if extra[s, u] != 0:
                first[place], second[place], weight[place] = (
                    firsts[u],
                    seconds[u],
                    extra[s, u],
                )
                place += 1
        stops[s] = place
    return NeighbourPairs(first, second, weight), stops


@njit(cache=True, nogil=True, fastmath={"contract"})
def _sum_numeric(
    X: Any,
    rows: IntArray,
    pairs: NeighbourPairs,
    begin: int,
    end: int,
    lo: int,
    total: Any,
) -> None:
    weight = pairs.weight
    fours = begin + (end - begin) // 4 * 4
    for f in range(0, total.size, TILE):
        out = total[f : f + TILE]
        here = slice(lo + f, lo + f + out.size)
        for t in range(begin, fours, 4):
            # Four pairs at a time: each sum is read and written once for all four.
            w0, w1, w2, w3 = weight[t], weight[t + 1], weight[t + 2], weight[t + 3]
            a0, b0 = X[rows[pairs.first[t]], here], X[rows[pairs.second[t]], here]
            a1 = X[rows[pairs.first[t + 1]], here]
            b1 = X[rows[pairs.second[t + 1]], here]
            a2 = X[rows[pairs.first[t + 2]], here]
            b2 = X[rows[pairs.second[t + 2]], here]
            a3 = X[rows[pairs.first[t + 3]], here]
            b3 = X[rows[pairs.second[t + 3]], here]
            for c in range(out.size):
                d0 = abs(np.float64(a0[c]) - np.float64(b0[c]))
                d1 = abs(np.float64(a1[c]) - np.float64(b1[c]))
                d2 = abs(np.float64(a2[c]) - np.float64(b2[c]))
                d3 = abs(np.float64(a3[c]) - np.float64(b3[c]))
                out[c] += (w0 * d0 + w1 * d1) + (w2 * d2 + w3 * d3)
        for t in range(fours, end):
            a, b = X[rows[pairs.first[t]], here], X[rows[pairs.second[t]], here]
            for c in range(out.size):
                out[c] += weight[t] * abs(np.float64(a[c]) - np.float64(b[c]))


def sum_numeric(
    X: Any, rows: IntArray, sets: Sequence[NeighbourPairs], n_threads: int
) -> FloatArray:
    """Sum weight × |difference| over pairs, for every training set and feature.

    Sample i of the pairs is row ``rows[i]`` of X.
    """
    ends = np.cumsum([pairs.weight.size for pairs in sets])
    pairs = join(sets)
    if len(sets) > 1:
        pairs, ends = _split_common(pairs, ends, len(rows))
    total = np.zeros((len(ends), X.shape[1]))
    stops = [0, *ends.tolist()]
    jobs = [
        (X, rows, pairs, stops[s], stops[s + 1], lo, total[s, lo:hi])
        for s in reversed(range(len(ends)))  # the longest first
        for lo, hi in spans(X.shape[1], n_threads, 64)
    ]
    run_jobs(_sum_numeric, jobs, n_threads)
    if len(sets) == 1:
        return total
    with np.errstate(invalid="ignore"):  # values near the largest double
        return total[:-1] + total[-1]


@njit(cache=True, nogil=True, inline="always")
def _apart(a: Any, b: Any) -> Any:
    return (a if a > b else b) - (a if a < b else b)


@njit(cache=True, nogil=True)
def _sum_levels(
    Q: NDArray[np.uint16],
    first: IntArray,
    second: IntArray,
    stops: IntArray,
    weight: NDArray[np.float32],
    total: NDArray[np.float32],
) -> None:
    sums = np.empty(LEVEL_TILE, dtype=np.uint16)
    for f in range(0, total.size, LEVEL_TILE):
        out = total[f : f + LEVEL_TILE]
        here, own = slice(f, f + out.size), sums[: out.size]
        begin = 0
        for t in range(stops.size):
            own[:] = 0
            fours = begin + (stops[t] - begin) // 4 * 4
            for u in range(begin, fours, 4):
                a0, b0 = Q[first[u], here], Q[second[u], here]
                a1, b1 = Q[first[u + 1], here], Q[second[u + 1], here]
                a2, b2 = Q[first[u + 2], here], Q[second[u + 2], here]
                a3, b3 = Q[first[u + 3], here], Q[second[u + 3], here]
                for c in range(own.size):
                    d0 = _apart(a0[c], b0[c])
                    d1 = _apart(a1[c], b1[c])
                    d2 = _apart(a2[c], b2[c])
                    d3 = _apart(a3[c], b3[c])
                    own[c] += (d0 + d1) + (d2 + d3)
            for u in range(fours, stops[t]):
                a, b = Q[first[u], here], Q[second[u], here]
                for c in range(own.size):
                    own[c] += _apart(a[c], b[c])
            w = weight[t]
            for c in range(own.size):
                out[c] += w * np.float32(own[c])
            begin = stops[t]


def sum_levels(Q: NDArray[np.uint16], pairs: NeighbourPairs) -> tuple[Any, float]:
    """Sum weight × |difference| over pairs, of values rounded to `LEVELS` levels.

    Pairs of nearly the same weight are summed together, as whole numbers.

    Parameters
    ----------
    Q : array of shape (n, p)
        Whole numbers up to `LEVELS`, of the samples that the pairs are numbers of.
    pairs : NeighbourPairs
        The pairs of one training set.

    Returns
    -------
    total : array of shape (p,)
        The sums, in levels.
    error : float
        How far they can be from those of values that are not rounded, in levels.
    """
    order = np.argsort(pairs.weight, kind="stable")
    weight = pairs.weight[order]
    size = float(np.abs(weight).sum())
    close = SAME_WEIGHT * max(abs(weight[0]), abs(weight[-1]))
    runs = np.flatnonzero(np.diff(np.floor(weight / close))) + 1 if close else ()
    edges: list[int] = [0, *np.asarray(runs, dtype=int).tolist(), weight.size]
    parts = [np.arange(lo, hi, AT_ONCE) for lo, hi in pairwise(edges)]
    begins = np.concatenate(parts)
    stops = np.append(begins[1:], weight.size)
    means = np.add.reduceat(weight, begins) / (stops - begins)
    off = float(np.abs(weight - np.repeat(means, stops - begins)).sum())
    total = np.zeros(Q.shape[1], dtype=np.float32)
    single = means.astype(np.float32)
    _sum_levels(Q, pairs.first[order], pairs.second[order], stops, single, total)
    rounding = (len(stops) + 4) * float(np.finfo(np.float32).eps)
    return total, size + LEVELS * (off + rounding * size)


@njit(cache=True, nogil=True)
def sum_mixed(
    X: FloatArray,
    rows: IntArray,
    low: FloatArray,
    inverse: FloatArray,
    n_vals: IntArray,
    pairs: NeighbourPairs,
) -> FloatArray:
    """Sum weight × difference over pairs, for categorical or incomplete features."""
    total = np.zeros(X.shape[1])
    for t in range(pairs.weight.size):
        i, j = rows[pairs.first[t]], rows[pairs.second[t]]
        for c in range(X.shape[1]):
            total[c] += pairs.weight[t] * value_difference(
                X[i, c], X[j, c], low[c], inverse[c], n_vals[c]
            )
    return total

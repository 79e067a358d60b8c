"""How do features differ between neighbours, in many training sets at once?

In ReliefF most pairs of neighbours are neighbours in most training sets, with the same
pull. What most sets want of a pair is added up once for all of them, and each set adds
what it wants else. So the rounding error of a set's sum is that of all rows'
differences, also of those that the set leaves out. (In MultiSURF each set has pulls of
its own, and is added up by itself.)

| symbol  | meaning                                                          | shape  |
|---------|------------------------------------------------------------------|--------|
| first   | one case of each pair of neighbours                              | (t,)   |
| second  | the other                                                        | (t,)   |
| pull    | weight of their difference                                       | (t,)   |
| which   | number of a pair among those of all training sets                | (t,)   |
| ends    | where the pairs of each training set end, one after the other    | (S,)   |
| usual   | pull of a pair in more than half of the sets, 0 if there is none | (u,)   |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.distance import difference
from veridical.kernels.relief import Pairs, join
from veridical.kernels.threads import run, spans

TILE = 1024  # columns whose sums stay in the first-level cache


@njit(cache=True, nogil=True)
def _number(
    first: IntArray, second: IntArray, ends: IntArray, n: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Number the pairs of all sets; return both cases of each, and `which`."""
    which, mine, other = np.empty((3, first.size), dtype=np.intp)
    last = np.full(n, -1, dtype=np.intp)  # number of the last pair with that second
    at = np.zeros(ends.size, dtype=np.intp)
    at[1:] = ends[:-1]
    n_pairs = 0
    for i in range(n):
        here = n_pairs
        for s in range(ends.size):
            while at[s] < ends[s] and first[at[s]] == i:
                j = second[at[s]]
                if last[j] < here:
                    last[j] = n_pairs
                    mine[n_pairs], other[n_pairs] = i, j
                    n_pairs += 1
                which[at[s]] = last[j]
                at[s] += 1
    return mine[:n_pairs], other[:n_pairs], which


@njit(cache=True, nogil=True)
def _usual(pull: FloatArray, which: IntArray, n_pairs: int, n_sets: int) -> FloatArray:
    usual, lead = np.zeros(n_pairs), np.zeros(n_pairs, dtype=np.intp)
    # A pull that has the majority keeps a lead over all others together.
    for t in range(pull.size):
        u = which[t]
        if lead[u] == 0:
            usual[u] = pull[t]
        lead[u] += 1 if usual[u] == pull[t] else -1
    lead[:] = 0
    for t in range(pull.size):
        lead[which[t]] += usual[which[t]] == pull[t]
    for u in range(n_pairs):
        if 2 * lead[u] <= n_sets:
            usual[u] = 0.0
    return usual


@njit(cache=True, nogil=True)
def _part(pairs: Pairs, ends: IntArray, n: int) -> tuple[Pairs, IntArray]:
    """What each set wants beside the usual, and last the usual; where each ends."""
    mine, other, which = _number(pairs.first, pairs.second, ends, n)
    n_pairs, n_sets = mine.size, ends.size
    usual = _usual(pairs.pull, which, n_pairs, n_sets)
    wanted = np.zeros((n_sets + 1, n_pairs))
    wanted[n_sets] = usual
    lo = 0
    for s in range(n_sets):
        wanted[s] -= usual
        for t in range(lo, ends[s]):
            wanted[s, which[t]] += pairs.pull[t]
        lo = ends[s]
    found = np.count_nonzero(wanted)
    first, second = np.empty((2, found), dtype=np.intp)
    pull, stops = np.empty(found), np.empty(n_sets + 1, dtype=np.intp)
    at = 0
    for s in range(n_sets + 1):
        for u in range(n_pairs):
            if wanted[s, u] != 0:
                first[at], second[at], pull[at] = mine[u], other[u], wanted[s, u]
                at += 1
        stops[s] = at
    return Pairs(first, second, pull), stops


@njit(cache=True, nogil=True, fastmath={"contract"})
def _sum_numeric(
    X: Any, rows: IntArray, pairs: Pairs, begin: int, end: int, lo: int, total: Any
) -> None:
    pull = pairs.pull
    fours = begin + (end - begin) // 4 * 4
    for f in range(0, total.size, TILE):
        out = total[f : f + TILE]
        here = slice(lo + f, lo + f + out.size)
        for t in range(begin, fours, 4):
            # Four at a time: a sum is fetched and put back once for all.
            w0, w1, w2, w3 = pull[t], pull[t + 1], pull[t + 2], pull[t + 3]
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
                out[c] += pull[t] * abs(np.float64(a[c]) - np.float64(b[c]))


def sum_numeric(
    X: Any, rows: IntArray, sets: Sequence[Pairs], n_threads: int
) -> FloatArray:
    """Σ over pairs of pull × |difference|, for every training set and column.

    Case i of the pairs is row ``rows[i]`` of X.
    """
    ends = np.cumsum([pairs.pull.size for pairs in sets])
    pairs = join(sets)
    if len(sets) > 1:
        pairs, ends = _part(pairs, ends, len(rows))
    total = np.zeros((len(ends), X.shape[1]))
    stops = [0, *ends.tolist()]
    jobs = [
        (X, rows, pairs, stops[s], stops[s + 1], lo, total[s, lo:hi])
        for s in reversed(range(len(ends)))  # the longest first
        for lo, hi in spans(X.shape[1], n_threads, 64)
    ]
    run(_sum_numeric, jobs, n_threads)
    if len(sets) == 1:
        return total
    with np.errstate(invalid="ignore"):  # of values at the end of what doubles hold
        return total[:-1] + total[-1]


@njit(cache=True, nogil=True)
def sum_mixed(
    X: FloatArray,
    rows: IntArray,
    low: FloatArray,
    inverse: FloatArray,
    n_vals: IntArray,
    pairs: Pairs,
) -> FloatArray:
    """Σ over pairs of pull × diff for columns with missing or nominal values."""
    total = np.zeros(X.shape[1])
    for t in range(pairs.pull.size):
        i, j = rows[pairs.first[t]], rows[pairs.second[t]]
        for c in range(X.shape[1]):
            total[c] += pairs.pull[t] * difference(
                X[i, c], X[j, c], low[c], inverse[c], n_vals[c]
            )
    return total

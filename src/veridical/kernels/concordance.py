"""Harrell's concordance of features with survival times, in O(n log n) each.

Two samples are comparable if the event of one was seen while the other was still
observed: at a longer time, or at the same time and censored. They are concordant if the
one with the shorter time has the larger value; equal values count one half.

Samples enter from the longest time to the shortest into a tree of partial sums over the
ranks of a feature [1]_, which then says how much weight lies below any rank.

| symbol | meaning                                                            | shape |
|--------|--------------------------------------------------------------------|-------|
| rows   | the samples, from the longest time to the shortest; of the same    | (m,)  |
|        | time, censored ones first                                          |       |
| weight | weight of each of them; a pair has the product                     | (m,)  |
| event  | whether their event was seen                                       | (m,)  |
| time   | their times                                                        | (m,)  |
| rank   | rank of each value of a feature, from 1; equal values, equal ranks | (n,)  |

References
----------
.. [1] P. M. Fenwick, "A new data structure for cumulative frequency tables", Software:
   Practice and Experience 24 (1994).
.. [2] F. E. Harrell, R. M. Califf, D. B. Pryor, K. L. Lee & R. A. Rosati, "Evaluating
   the yield of medical tests", JAMA 247 (1982).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.compiling import njit


class TimeOrder(NamedTuple):
    """The samples of a training set by falling time; see the notation above."""

    rows: IntArray
    weight: FloatArray
    event: BoolArray
    time: FloatArray


def order_by_time(time: FloatArray, event: BoolArray, weight: FloatArray) -> TimeOrder:
    """Sort the samples of positive weight."""
    present = np.flatnonzero(weight > 0)
    rows = present[np.lexsort((event[present], -time[present]))]
    return TimeOrder(rows, weight[rows], event[rows], time[rows])


@njit(cache=True, nogil=True)
def _rank(x: FloatArray, order: IntArray, rank: IntArray) -> int:
    """Write the rank of each value; return the largest."""
    current = 1
    for t in range(order.size):
        if t > 0 and x[order[t]] != x[order[t - 1]]:
            current += 1
        rank[order[t]] = current
    return current


@njit(cache=True, nogil=True)
def _below(tree: FloatArray, rank: int) -> float:
    """Return the weight at ranks up to `rank`."""
    total = 0.0
    while rank > 0:
        total += tree[rank]
        rank &= rank - 1
    return total


@njit(cache=True, nogil=True)
def _insert(tree: FloatArray, n_ranks: int, rank: int, weight: float) -> None:
    while rank <= n_ranks:
        tree[rank] += weight
        rank += rank & -rank


@njit(cache=True, nogil=True)
def block_concordances(
    columns: FloatArray,
    order: IntArray,
    rows: IntArray,
    weight: FloatArray,
    event: BoolArray,
    time: FloatArray,
    out: FloatArray,
) -> None:
    """Write the concordance of some features with the times of one training set.

    ``order[j]`` sorts the values of feature j. Without comparable samples it is ½.
    """
    m = rows.size
    rank, tree = np.empty(columns.shape[1], dtype=np.intp), np.empty(order.shape[1] + 1)
    for j in range(columns.shape[0]):
        n_ranks = _rank(columns[j], order[j], rank)
        tree[: n_ranks + 1] = 0.0
        later, twice, comparable = 0.0, 0.0, 0.0
        t = 0
        while t < m:
            end = t + 1
            if event[t]:
                while end < m and event[end] and time[end] == time[t]:
                    end += 1
                for u in range(t, end):
                    k = rank[rows[u]]
                    less = _below(tree, k - 1)
                    twice += weight[u] * (less + _below(tree, k))
                    comparable += weight[u] * later
            for u in range(t, end):
                _insert(tree, n_ranks, rank[rows[u]], weight[u])
                later += weight[u]
            t = end
        out[j] = twice / (2.0 * comparable) if comparable > 0.0 else 0.5

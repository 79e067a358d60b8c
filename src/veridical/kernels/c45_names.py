"""Tests of nominal columns, a branch for each name, and how their cases are counted.

Counting is where the time goes: every case of a node once for every column. Where all
weights are 1 the counts are whole numbers, and two columns with few names are counted
together, by the combination of their names; sums over the other column are cheap.

The notation is that of `c45_problem`, and:

| symbol | meaning                                                     | shape   |
|--------|-------------------------------------------------------------|---------|
| tally  | cases by code and class; the first code is "missing"        | (4, ·)  |
| counts | weight of each name by class                                | (V, K)  |
| bag    | weight of each name                                         | (V,)    |
| seen   | the names that occur at the node                            | (V,)    |
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.c45_problem import (
    CASES_PER_CELL,
    EPS,
    Int32Array,
    Problem,
    pair_cells,
    ratio_of,
    xlogx,
)


class Count(NamedTuple):
    """Room to count in, all zeros between two counts (but for what was `seen`)."""

    tally: Int32Array
    one: Int32Array
    other: Int32Array
    counts: FloatArray
    bag: FloatArray
    seen: IntArray


@njit(cache=True, nogil=True)
def room_to_count(problem: Problem) -> Count:
    """Make room for the widest nominal column, for two branches, and for all pairs."""
    n_classes, widest = problem.n_classes, max(2, problem.n_values.max())
    cells = (widest + 1) * n_classes
    for one, other in problem.members:
        both = pair_cells(problem.n_values[one], problem.n_values[other], n_classes)
        cells = max(cells, both)
    return Count(
        np.zeros((4, cells), dtype=np.int32),
        np.zeros((widest + 1) * n_classes, dtype=np.int32),
        np.zeros((widest + 1) * n_classes, dtype=np.int32),
        np.zeros((widest, n_classes)),
        np.zeros(widest),
        np.empty(widest, dtype=np.intp),
    )


@njit(cache=True, nogil=True)
def tally_names(
    x: Int32Array, y: Int32Array, rows: Int32Array, n_classes: int, tally: Int32Array
) -> None:
    """Count each code by class: those of code v and class k at ``(v + 1) K + k``.

    Neighbours often have the same name and class, and an increment must wait for the
    one before it; four tallies take turns, so that it need not. Missing values, whose
    code is −1, are counted in front, so that nothing need be asked.
    """
    K = np.int32(n_classes)
    one, two, three, four = tally[0], tally[1], tally[2], tally[3]
    n_rounds = rows.size // 4
    # Unsigned, for a signed index would be asked whether it counts from the end.
    for t in range(n_rounds):
        a, b = np.uint32(rows[4 * t]), np.uint32(rows[4 * t + 1])
        c, d = np.uint32(rows[4 * t + 2]), np.uint32(rows[4 * t + 3])
        one[np.uint32((x[a] + 1) * K + y[a])] += 1
        two[np.uint32((x[b] + 1) * K + y[b])] += 1
        three[np.uint32((x[c] + 1) * K + y[c])] += 1
        four[np.uint32((x[d] + 1) * K + y[d])] += 1
    for t in range(4 * n_rounds, rows.size):
        row = rows[t]
        one[(x[row] + 1) * K + y[row]] += 1


@njit(cache=True, nogil=True)
def take(tally: Int32Array, place: int) -> int:
    """Read what was counted at a place, and leave it empty."""
    number = tally[0, place] + tally[1, place] + tally[2, place] + tally[3, place]
    tally[0, place] = tally[1, place] = tally[2, place] = tally[3, place] = 0
    return number


@njit(cache=True, nogil=True)
def _list_names(table: Int32Array, n_values: int, n_classes: int, count: Count) -> int:
    """Turn a table into weights; list the names seen, and return their number."""
    n_seen = 0
    for k in range(n_classes):
        table[k] = 0  # the missing ones
    for v in range(n_values):
        for k in range(n_classes):
            place = (v + 1) * n_classes + k
            count.counts[v, k] = table[place]
            count.bag[v] += table[place]
            table[place] = 0
        if count.bag[v] > 0.0:
            count.seen[n_seen] = v
            n_seen += 1
    return n_seen


@njit(cache=True, nogil=True)
def _weigh_names(
    x: Int32Array, y: Int32Array, rows: Int32Array, w: FloatArray, count: Count
) -> int:
    """Sum the weight of each name by class and altogether; list the names seen."""
    n_seen = 0
    for row in rows:
        v, weight = x[row], w[row]
        if v < 0:
            continue
        if count.bag[v] == 0.0:
            count.seen[n_seen] = v
            n_seen += 1
        count.counts[v, y[row]] += weight
        count.bag[v] += weight
    return n_seen


@njit(cache=True, nogil=True)
def _judge(
    problem: Problem, total: float, n_seen: int, count: Count
) -> tuple[float, float]:
    """Compute gain (−1 where the test will not do) and gain ratio from the weights."""
    table, counts, bag, seen = problem.xlogx, count.counts, count.bag, count.seen
    known = 0.0
    for s in range(n_seen):
        known += bag[seen[s]]
    n_large = 0
    for s in range(n_seen):
        n_large += bag[seen[s]] >= problem.min_weight - EPS
    before, after = xlogx(known, table), 0.0
    split = xlogx(total, table) - xlogx(total - known, table)
    for k in range(problem.n_classes):
        of_class = 0.0
        for s in range(n_seen):
            of_class += counts[seen[s], k]
            after -= xlogx(counts[seen[s], k], table)
            counts[seen[s], k] = 0.0
        before -= xlogx(of_class, table)
    for s in range(n_seen):
        size = xlogx(bag[seen[s]], table)
        after += size
        split -= size
        bag[seen[s]] = 0.0
    if n_large < 2:
        return -1.0, 0.0
    # Splits without gain are valid, and useless.
    gain = (before - after) / total if abs(before - after) * known >= EPS * total else 0
    return gain, ratio_of(gain, split, total)


@njit(cache=True, nogil=True)
def nominal_split(
    problem: Problem,
    feature: int,
    rows: Int32Array,
    w: FloatArray,
    is_unit: bool,
    total: float,
    count: Count,
) -> tuple[float, float]:
    """Judge the test that has a branch per name of a nominal column.

    `is_unit` says that all weights at the node are 1. Only the names seen cost time
    where there are more names than cases. Returns gain (−1 where the test will not do)
    and gain ratio.
    """
    x, y = problem.codes[problem.slot[feature]], problem.y
    n_values, n_classes = problem.n_values[feature], problem.n_classes
    if is_unit and n_values <= rows.size:
        tally_names(x, y, rows, n_classes, count.tally)
        for place in range((n_values + 1) * n_classes):
            count.one[place] = take(count.tally, place)
        n_seen = _list_names(count.one, n_values, n_classes, count)
    else:
        n_seen = _weigh_names(x, y, rows, w, count)
    return _judge(problem, total, n_seen, count)


@njit(cache=True, nogil=True)
def nominal_pairs(
    problem: Problem,
    rows: Int32Array,
    total: float,
    count: Count,
    gain: FloatArray,
    ratio: FloatArray,
) -> None:
    """Judge the columns that can be counted in pairs; all weights must be 1.

    Sets their `gain` and `ratio`, and leaves those of the others alone.
    """
    n_classes = problem.n_classes
    for g in range(len(problem.members)):
        i, j = problem.members[g]
        n_one, n_other = problem.n_values[i], problem.n_values[j]
        if CASES_PER_CELL * pair_cells(n_one, n_other, n_classes) > rows.size:
            continue
        tally_names(problem.pairs[g], problem.y, rows, n_classes, count.tally)
        for a in range(n_one + 1):
            for b in range(n_other + 1):
                for k in range(n_classes):
                    place = (a * (n_other + 1) + b) * n_classes + k
                    number = take(count.tally, place)
                    count.one[a * n_classes + k] += number
                    count.other[b * n_classes + k] += number
        n_seen = _list_names(count.one, n_one, n_classes, count)
        gain[i], ratio[i] = _judge(problem, total, n_seen, count)
        n_seen = _list_names(count.other, n_other, n_classes, count)
        gain[j], ratio[j] = _judge(problem, total, n_seen, count)

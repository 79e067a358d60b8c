"""Grow a C4.5 tree on flat arrays: each numeric column is sorted once, at the root.

Nodes waiting to be split lie on a stack, and so do their cases: the node on top owns
the end of the arrays, and its children's cases take the place of its own. A case goes
down every branch where the tested value is missing, so children can hold more cases
than their parent; otherwise no memory is needed beyond that of the root.

| symbol  | meaning                                                    | shape    |
|---------|------------------------------------------------------------|----------|
| rows    | cases of all waiting nodes, end to end                     | (≥ n,)   |
| part    | their weights                                              | (≥ n,)   |
| ordered | the same cases by rising value of each numeric column; −1  | (q, ≥ n) |
|         | after the last whose value is known                        |          |
| w       | weight of each case at the node at hand, 1 for the others  | (n,)     |
| branch  | which way each case goes there, −1 for all ways            | (n,)     |
"""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.c45_names import (
    Count,
    nominal_pairs,
    nominal_split,
    room_to_count,
)
from veridical.kernels.c45_nodes import (
    Nodes,
    copy_nodes,
    divide,
    empty_nodes,
    send,
    share_out,
    trimmed,
    with_room,
)
from veridical.kernels.c45_problem import EPS, Int32Array, Problem, is_one
from veridical.kernels.c45_splits import choose, numeric_split, training_value

#: So many classes are counted faster by one pass for each than by one for all.
_FEW_CLASSES = 8


@njit(cache=True, nogil=True)
def _sum_by_class(y: Int32Array, weight: FloatArray, value: FloatArray) -> None:
    """Sum the weights of each class; of few classes, those of weight 1 are counted."""
    if value.size <= _FEW_CLASSES and is_one(weight):
        for k in range(value.size):
            count = 0
            for i in range(y.size):
                count += y[i] == k
            value[k] = count
        return
    for i in range(y.size):
        value[y[i]] += weight[i]


@njit(cache=True, nogil=True)
def _is_final(value: FloatArray, min_weight: float) -> bool:
    """Tell whether a node is too small to be split, or of one class."""
    total = value.sum()
    return total < 2 * min_weight - EPS or total - value.max() < EPS


@njit(cache=True, nogil=True)
def _divide_sorted(
    rows: Int32Array,
    branch: Int32Array,
    share: FloatArray,
    start: IntArray,
    end: IntArray,
    new_rows: Int32Array,
) -> None:
    """Divide one sorted list in the same way, and mark where the known cases end."""
    for row in rows:
        if row < 0:
            break
        b = branch[row]
        if b >= 0:
            if start[b] >= 0:
                new_rows[start[b]] = row
                start[b] += 1
            continue
        for c in range(share.size):
            if share[c] > EPS and start[c] >= 0:
                new_rows[start[c]] = row
                start[c] += 1
    for b in range(start.size):
        if 0 <= start[b] < end[b]:
            new_rows[start[b]] = -1


@njit(cache=True, nogil=True)
def _more_columns(old: Int32Array, width: int) -> Int32Array:
    new = np.empty((old.shape[0], width), dtype=np.int32)
    for s in range(old.shape[0]):
        for t in range(old.shape[1]):
            new[s, t] = old[s, t]
    return new


@njit(cache=True, nogil=True)
def _best_test(
    problem: Problem,
    rows: Int32Array,
    ordered: Int32Array,
    w: FloatArray,
    is_unit: bool,
    total: float,
    count: Count,
) -> tuple[int, float]:
    """Choose the test of a node; feature −1 where none will do."""
    p = problem.n_values.size
    gain, ratio, middle = np.full(p, np.nan), np.empty(p), np.empty(p)
    side, logs = np.empty((2, problem.n_classes)), np.empty((2, problem.n_classes))
    two = np.zeros((2, problem.n_classes), dtype=np.intp)
    if is_unit:
        nominal_pairs(problem, rows, total, count, gain, ratio)
    for j in range(p):
        if problem.n_values[j] == 0:
            in_order = ordered[problem.slot[j]]
            gain[j], ratio[j], middle[j] = numeric_split(
                problem, j, in_order, w, is_unit, total, side, logs, two
            )
        elif np.isnan(gain[j]):
            gain[j], ratio[j] = nominal_split(
                problem, j, rows, w, is_unit, total, count
            )
    feature = choose(problem, gain, ratio)
    if feature < 0 or problem.n_values[feature] > 0:
        return feature, np.nan
    return feature, training_value(problem, feature, middle[feature])


@njit(cache=True, nogil=True)
def _attach(
    nodes: Nodes, n_nodes: int, node: int, feature: int, threshold: float, n_new: int
) -> Nodes:
    """Put a test at a node, and its children behind all nodes there are."""
    if n_nodes + n_new > nodes.feature.size:
        larger = empty_nodes(2 * (n_nodes + n_new), nodes.value.shape[1])
        copy_nodes(nodes, larger, n_nodes)
        nodes = larger
    nodes.feature[node], nodes.threshold[node] = feature, threshold
    nodes.first[node], nodes.n_children[node] = n_nodes, n_new
    return nodes


@njit(cache=True, nogil=True)
def _lay_out(
    value: FloatArray, size: IntArray, min_weight: float, begin: IntArray
) -> int:
    """Find a place for the cases of each child that can be split; −1 for the others.

    Returns the room that they take together.
    """
    end = 0
    for b in range(value.shape[0]):
        begin[b] = -1
        if not _is_final(value[b], min_weight):
            begin[b] = end
            end += size[b]
    return end


@njit(cache=True, nogil=True)
def _move(
    rows: Int32Array,
    part: FloatArray,
    ordered: Int32Array,
    m: int,
    branch: Int32Array,
    share: FloatArray,
    begin: IntArray,
    size: IntArray,
    spare_rows: Int32Array,
    spare_part: FloatArray,
) -> None:
    """Put the children's cases, laid out as `begin` says, in place of the first m."""
    start, end = begin.copy(), begin + size
    divide(rows[:m], part[:m], branch, share, start, spare_rows, spare_part)
    for t in range(rows.size):
        rows[t], part[t] = spare_rows[t], spare_part[t]
    for s in range(ordered.shape[0]):
        for b in range(begin.size):
            start[b] = begin[b]
        column = ordered[s]
        _divide_sorted(column[:m], branch, share, start, end, spare_rows)
        for t in range(column.size):
            column[t] = spare_rows[t]


@njit(cache=True, nogil=True)
def _sorted_known(problem: Problem) -> Int32Array:
    """Copy the orders of the numeric columns, and mark where missing values begin."""
    ordered = problem.order.copy()
    for s in range(ordered.shape[0]):
        if problem.known[s] < ordered.shape[1]:
            ordered[s, problem.known[s]] = -1
    return ordered


@njit(cache=True, nogil=True)
def grow(problem: Problem, weight: FloatArray) -> Nodes:
    """Grow the tree of a training table until no test gains anything."""
    n, widest = weight.size, max(2, problem.n_values.max())
    rows, part = np.arange(n).astype(np.int32), weight.copy()
    ordered = _sorted_known(problem)
    spare_rows, spare_part = np.empty(n, dtype=np.int32), np.empty(n)
    w, either = np.ones(n), np.empty(n, dtype=np.int32)
    count = room_to_count(problem)
    size, begin = np.empty(widest, dtype=np.intp), np.empty(widest, dtype=np.intp)
    nodes = empty_nodes(64, problem.n_classes)
    _sum_by_class(problem.y, weight, nodes.value[0])
    waiting = [(0, 0, n)]
    n_nodes = len(waiting)
    if _is_final(nodes.value[0], problem.min_weight):
        waiting.pop()
    while len(waiting) > 0:
        node, lo, m = waiting.pop()
        here, weights = rows[lo : lo + m], part[lo : lo + m]
        is_unit = is_one(weights)
        if not is_unit:
            for t in range(m):
                w[here[t]] = weights[t]
        total = nodes.value[node].sum()
        in_order = ordered[:, lo : lo + m]
        feature, threshold = _best_test(
            problem, here, in_order, w, is_unit, total, count
        )
        if not is_unit:
            for row in here:
                w[row] = 1.0
        if feature < 0:
            continue
        n_new = max(2, problem.n_values[feature])
        nodes = _attach(nodes, n_nodes, node, feature, threshold, n_new)
        first, n_nodes = n_nodes, n_nodes + n_new
        share, value = nodes.share[first:n_nodes], nodes.value[first:n_nodes]
        branch = send(problem, feature, threshold, here, either)
        share_out(
            problem, here, weights, branch, share, value, size[:n_new], count.tally
        )
        room = _lay_out(value, size, problem.min_weight, begin)
        for b in range(n_new):
            if begin[b] >= 0:
                waiting.append((first + b, lo + begin[b], size[b]))
        end = lo + max(m, room)  # missing values make children outgrow their parent
        if end > rows.size:
            rows, part = with_room(rows, part, 2 * end)
            ordered = _more_columns(ordered, 2 * end)
        if end - lo > spare_rows.size:
            spare_rows = np.empty(2 * (end - lo), dtype=np.int32)
            spare_part = np.empty(2 * (end - lo))
        if room > 0:
            _move(
                rows[lo:end],
                part[lo:end],
                ordered[:, lo:end],
                m,
                branch,
                share,
                begin[:n_new],
                size[:n_new],
                spare_rows,
                spare_part,
            )
    return trimmed(nodes, n_nodes)

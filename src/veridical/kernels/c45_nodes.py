"""The nodes of a C4.5 tree as arrays, and how cases find their way through them.

| symbol | meaning                                                     | shape      |
|--------|-------------------------------------------------------------|------------|
| value  | weight per class of each node                               | (nodes, K) |
| share  | weight of a node among its siblings, where the value tested | (nodes,)   |
|        | is known                                                    |            |
| rows   | cases at a node                                             | (m,)       |
| part   | their weights there                                         | (m,)       |
| branch | which way each case goes, −1 for all ways                   | (n,)       |
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.c45_names import take, tally_names
from veridical.kernels.c45_problem import EPS, Int32Array, Problem, is_one


class Nodes(NamedTuple):
    """A tree; the children of a node are neighbours, and come after it.

    A leaf has feature −1 and no children. Branch 0 of a numeric test takes values up to
    the threshold; branch b of a nominal one takes the b-th name.
    """

    feature: IntArray
    threshold: FloatArray
    first: IntArray
    n_children: IntArray
    value: FloatArray
    share: FloatArray


@njit(cache=True, nogil=True)
def empty_nodes(capacity: int, n_classes: int) -> Nodes:
    """Leaves without cases."""
    return Nodes(
        np.full(capacity, -1, dtype=np.intp),
        np.full(capacity, np.nan),
        np.zeros(capacity, dtype=np.intp),
        np.zeros(capacity, dtype=np.intp),
        np.zeros((capacity, n_classes)),
        np.ones(capacity),
    )


@njit(cache=True, nogil=True)
def copy_node(source: Nodes, i: int, target: Nodes, j: int) -> None:
    """Copy node i of one tree to node j of another."""
    target.feature[j] = source.feature[i]
    target.threshold[j] = source.threshold[i]
    target.first[j] = source.first[i]
    target.n_children[j] = source.n_children[i]
    target.share[j] = source.share[i]
    for k in range(source.value.shape[1]):
        target.value[j, k] = source.value[i, k]


@njit(cache=True, nogil=True)
def copy_nodes(source: Nodes, target: Nodes, n: int) -> None:
    """Copy the first n nodes."""
    for i in range(n):
        copy_node(source, i, target, i)


@njit(cache=True, nogil=True)
def send(
    problem: Problem, feature: int, threshold: float, rows: Int32Array, room: Int32Array
) -> Int32Array:
    """Say for each case which way it goes; −1 where the tested value is missing.

    The codes of a nominal column are its branches. Those of a number are written to
    `room`, for the given rows.
    """
    slot = problem.slot[feature]
    if problem.n_values[feature] > 0:
        return problem.codes[slot]
    x = problem.numbers[slot]
    for row in rows:
        room[row] = -1 if np.isnan(x[row]) else 0 if x[row] <= threshold else 1
    return room


@njit(cache=True, nogil=True)
def share_out(
    problem: Problem,
    rows: Int32Array,
    part: FloatArray,
    branch: Int32Array,
    share: FloatArray,
    value: FloatArray,
    size: IntArray,
    tally: Int32Array,
) -> None:
    """Sum up the children: share in the known weight, weight per class, cases.

    Where nothing is known, all branches share alike. `tally` is room for `tally_names`.
    """
    y, n_classes = problem.y, problem.n_classes
    share[:] = 0.0
    value[:] = 0.0
    size[:] = 0
    if 0 < rows.size >= share.size and is_one(part):
        tally_names(branch, y, rows, n_classes, tally)
        n_missing = 0
        for k in range(n_classes):
            n_missing += take(tally, k)
            for b in range(share.size):
                number = take(tally, (b + 1) * n_classes + k)
                value[b, k] = number
                size[b] += number
        if n_missing == 0:
            for b in range(share.size):
                share[b] = size[b] / rows.size
            return
        value[:] = 0.0
        size[:] = 0
    known = 0.0
    for t in range(rows.size):
        b = branch[rows[t]]
        if b >= 0:
            share[b] += part[t]
            known += part[t]
    if known > EPS:
        share /= known
    else:
        share[:] = 1 / share.size
    for t in range(rows.size):
        k, b = y[rows[t]], branch[rows[t]]
        if b >= 0:
            value[b, k] += part[t]
            size[b] += 1
            continue
        for c in range(share.size):
            if share[c] > EPS:
                value[c, k] += part[t] * share[c]
                size[c] += 1


@njit(cache=True, nogil=True)
def divide(
    rows: Int32Array,
    part: FloatArray,
    branch: Int32Array,
    share: FloatArray,
    start: IntArray,
    new_rows: Int32Array,
    new_part: FloatArray,
) -> None:
    """Copy the cases of each branch b to ``start[b]``, in their order; skip b if < 0.

    `start` is moved to where each branch ends.
    """
    for t in range(rows.size):
        row, b = rows[t], branch[rows[t]]
        if b >= 0:
            if start[b] >= 0:
                new_rows[start[b]] = row
                new_part[start[b]] = part[t]
                start[b] += 1
            continue
        for c in range(share.size):
            if share[c] > EPS and start[c] >= 0:
                new_rows[start[c]] = row
                new_part[start[c]] = part[t] * share[c]
                start[c] += 1


@njit(cache=True, nogil=True)
def with_room(
    rows: Int32Array, part: FloatArray, size: int
) -> tuple[Int32Array, FloatArray]:
    """Copy cases to the beginning of larger arrays."""
    new_rows, new_part = np.empty(size, dtype=np.int32), np.empty(size)
    for t in range(rows.size):
        new_rows[t], new_part[t] = rows[t], part[t]
    return new_rows, new_part


@njit(cache=True, nogil=True)
def trimmed(nodes: Nodes, n_nodes: int) -> Nodes:
    """The first nodes alone."""
    result = empty_nodes(n_nodes, nodes.value.shape[1])
    copy_nodes(nodes, result, n_nodes)
    return result


@njit(cache=True, nogil=True)
def compact(nodes: Nodes) -> Nodes:
    """Leave out nodes that the root no longer reaches; the others level by level."""
    total = nodes.feature.size
    source = np.empty(total, dtype=np.intp)
    source[0] = 0
    first = np.zeros(total, dtype=np.intp)
    n, i = 1, 0
    while i < n:
        node = source[i]
        first[i] = n
        for c in range(nodes.n_children[node]):
            source[n] = nodes.first[node] + c
            n += 1
        i += 1
    result = empty_nodes(n, nodes.value.shape[1])
    for i in range(n):
        node = source[i]
        copy_node(nodes, node, result, i)
        result.first[i] = first[i]
        if nodes.n_children[node] == 0:
            result.threshold[i] = np.nan
            result.first[i] = 0
    return result


@njit(cache=True, nogil=True)
def predict(
    nodes: Nodes, probability: FloatArray, n_values: IntArray, columns: FloatArray
) -> FloatArray:
    """Average the class probabilities of the leaves each case reaches."""
    n = columns.shape[1]
    result = np.zeros((n, probability.shape[1]))
    for i in range(n):
        waiting = [(0, 1.0)]
        while len(waiting) > 0:
            node, weight = waiting.pop()
            while nodes.n_children[node] > 0:
                feature, first = nodes.feature[node], nodes.first[node]
                value = columns[feature, i]
                if np.isnan(value):
                    for c in range(nodes.n_children[node]):
                        if nodes.share[first + c] > 0:
                            waiting.append((first + c, weight * nodes.share[first + c]))
                    weight = 0.0
                    break
                if n_values[feature] > 0:
                    node = first + int(value)
                else:
                    node = first + (0 if value <= nodes.threshold[node] else 1)
            for k in range(probability.shape[1]):
                result[i, k] += weight * probability[node, k]
        total = 0.0  # 1, but for rounding
        for k in range(probability.shape[1]):
            total += result[i, k]
        for k in range(probability.shape[1]):
            result[i, k] /= total
    return result

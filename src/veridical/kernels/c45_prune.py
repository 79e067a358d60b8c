"""Prune a C4.5 tree: collapse, replace by a leaf, raise the largest branch.

A leaf with weight N and e errors is expected to make ``e + added_errors(N, e)`` errors
on new samples: the upper end of a one-sided confidence interval, which is wider for
small leaves.

References
----------
.. [1] J. R. Quinlan, "C4.5: Programs for machine learning", Morgan Kaufmann, 1993,
   chapter 4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.c45_grow import (
    NEGLIGIBLE,
    GrowthProblem,
    Int32Array,
    Nodes,
    branches_of,
    divide_samples,
    enlarge,
    enlarge_stack,
    error_of,
    fill_children,
    number_rows,
    sum_of,
)

#: Training errors; a subtree that avoids no more of them is collapsed.
_COLLAPSE = 1e-3
#: Expected errors; a smaller tree may have this many more.
_PRUNE = 0.1


@njit(cache=True, nogil=True)
def _upper_limit(n: float, e: float, z: float) -> float:
    """Compute the errors to add to one or more: normal limit, continuity corrected."""
    if e + 0.5 >= n:
        return max(n - e, 0.0)
    f = (e + 0.5) / n
    spread = z * np.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return n * (f + z * z / (2 * n) + spread) / (1 + z * z / n) - e


@njit(cache=True, nogil=True)
def added_errors(n: float, e: float, confidence: float, z: float) -> float:
    """Compute the errors to add to `e` among `n` samples; z is Φ⁻¹(1 − confidence)."""
    if e >= 1:
        return _upper_limit(n, e, z)
    none = n * (1 - confidence ** (1 / n))  # exact binomial limit for no error
    return none + e * (_upper_limit(n, 1.0, z) - none)


@njit(cache=True, nogil=True)
def _training_errors(value: FloatArray) -> float:
    """Compute the weight of the training samples outside the largest class."""
    return max(error_of(value), 0.0)


@njit(cache=True, nogil=True)
def _expected(value: FloatArray, confidence: float, z: float) -> float:
    """Compute the errors expected of a leaf."""
    n = sum_of(value)
    if n < NEGLIGIBLE:
        return 0.0
    e = _training_errors(value)
    return e + added_errors(n, e, confidence, z)


@njit(cache=True, nogil=True)
def _cut(nodes: Nodes, node: int) -> None:
    nodes.feature[node] = -1
    nodes.n_children[node] = 0


@njit(cache=True, nogil=True)
def collapse(nodes: Nodes) -> None:
    """Replace subtrees that do no better than a leaf on the training samples."""
    below = np.empty(nodes.feature.size)
    for node in range(nodes.feature.size - 1, -1, -1):  # children before parents
        alone = _training_errors(nodes.value[node])
        below[node] = alone
        if nodes.n_children[node] > 0:
            first = nodes.first[node]
            below[node] = sum_of(below[first : first + nodes.n_children[node]])
            if below[node] >= alone - _COLLAPSE:
                _cut(nodes, node)


@njit(cache=True, nogil=True)
def prune_to_leaves(nodes: Nodes, confidence: float, z: float) -> None:
    """Replace subtrees that are expected to do no better than a leaf."""
    below = np.empty(nodes.feature.size)
    for node in range(nodes.feature.size - 1, -1, -1):
        below[node] = alone = _expected(nodes.value[node], confidence, z)
        if nodes.n_children[node] > 0:
            first = nodes.first[node]
            tree = sum_of(below[first : first + nodes.n_children[node]])
            if alone < tree + _PRUNE + NEGLIGIBLE:
                _cut(nodes, node)
            else:
                below[node] = tree


class WorkArrays(NamedTuple):
    """Work arrays; written before they are read."""

    either: Int32Array
    value: FloatArray
    share: FloatArray
    start: IntArray
    size: IntArray
    tally: Int32Array


def _make_work_arrays(problem: GrowthProblem, nodes: Nodes, n: int) -> WorkArrays:
    widest = problem.widest
    return WorkArrays(
        np.empty(n, dtype=np.int32),
        np.empty_like(nodes.value),
        np.empty_like(nodes.share),
        np.empty(widest, dtype=np.intp),
        np.empty(widest, dtype=np.intp),
        np.zeros((4, (widest + 1) * problem.n_classes), dtype=np.int32),
    )


@njit(cache=True, nogil=True)
def _send_down(
    problem: GrowthProblem,
    nodes: Nodes,
    top: int,
    rows: Int32Array,
    part: FloatArray,
    work: WorkArrays,
    confidence: float,
    z: float,
    value: FloatArray,
    share: FloatArray,
    limit: float,
) -> float:
    """Send samples through a subtree as if it had been grown on them.

    Sets the `value` and `share` of the nodes below `top`, and returns the errors then
    expected of it; stops as soon as these are not below `limit`. `rows` and `part` are
    used up.
    """
    expected = 0.0
    waiting = np.empty((64, 3), dtype=np.intp)  # node, first of its samples, number
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = top, 0, rows.size
    height = 1
    while height > 0:
        height -= 1
        node, lo, m = waiting[height, 0], waiting[height, 1], waiting[height, 2]
        here, weights = rows[lo : lo + m], part[lo : lo + m]
        first, end = nodes.first[node], nodes.first[node] + nodes.n_children[node]
        feature, threshold = nodes.feature[node], nodes.threshold[node]
        branch = branches_of(problem, feature, threshold, here, work.either)
        shares, size = share[first:end], work.size[: end - first]
        fill_children(
            problem, here, weights, branch, shares, value[first:end], size, work.tally
        )
        start, m_new = work.start[: end - first], 0
        waiting = enlarge_stack(waiting, height, size.size)
        for c in range(size.size):
            start[c] = -1
            if nodes.n_children[first + c] == 0:
                expected += _expected(value[first + c], confidence, z)
                continue
            start[c] = m_new
            m_new += size[c]
            waiting[height, 0] = first + c
            waiting[height, 1], waiting[height, 2] = lo + start[c], size[c]
            height += 1
        if expected >= limit:
            break
        if m_new > 0:
            new_rows, new_part = np.empty(m_new, dtype=np.int32), np.empty(m_new)
            divide_samples(here, weights, branch, shares, start, new_rows, new_part)
            if lo + m_new > rows.size:  # missing values go down every branch
                rows, part = enlarge(rows, part, 2 * (lo + m_new))
            for t in range(m_new):
                rows[lo + t], part[lo + t] = new_rows[t], new_part[t]
    return expected


@njit(cache=True, nogil=True)
def _sort_by_branch(
    nodes: Nodes,
    node: int,
    rows: Int32Array,
    part: FloatArray,
    branch: Int32Array,
    begin: IntArray,
) -> None:
    """Put the samples of each branch side by side, those of all branches last.

    ``begin[c]`` becomes the place where those of child c begin, ``begin[node]`` the
    place where those of all branches do.
    """
    first, n_children = nodes.first[node], nodes.n_children[node]
    size = np.zeros(n_children + 1, dtype=np.intp)
    for row in rows:
        size[branch[row]] += 1  # a branch of -1 counts in the last place
    place = np.zeros(n_children + 1, dtype=np.intp)
    for c in range(n_children):
        begin[first + c] = place[c]
        place[c + 1] = place[c] + size[c]
    begin[node] = place[n_children]
    old_rows, old_part = rows.copy(), part.copy()
    for t in range(old_rows.size):
        b = branch[old_rows[t]]
        rows[place[b]] = old_rows[t]
        part[place[b]] = old_part[t]
        place[b] += 1


@njit(cache=True, nogil=True)
def _append(
    rows: Int32Array, part: FloatArray, place: int, size: int, share: float, top: int
) -> None:
    """Copy a share of some samples to the end."""
    for t in range(size):
        rows[top + t] = rows[place + t]
        part[top + t] = part[place + t] * share


@njit(cache=True, nogil=True)
def _largest_child(nodes: Nodes, node: int) -> int:
    """Find the child with the largest weight; the last of them where they tie."""
    largest, most = -1, 0.0
    for child in range(nodes.first[node], nodes.first[node] + nodes.n_children[node]):
        weight = sum_of(nodes.value[child])
        if weight > most - NEGLIGIBLE:
            largest, most = child, weight
    return largest


@njit(cache=True, nogil=True)
def _improve(
    problem: GrowthProblem,
    nodes: Nodes,
    node: int,
    tree: float,
    rows: Int32Array,
    part: FloatArray,
    work: WorkArrays,
    confidence: float,
    z: float,
) -> bool:
    """Replace a node by a leaf or its largest child, if no more errors are expected.

    `tree` are the errors expected of the subtree. Returns whether the child was raised.
    """
    largest = _largest_child(nodes, node)
    leaf = _expected(nodes.value[node], confidence, z)
    enough = tree + _PRUNE + NEGLIGIBLE
    raised = leaf  # true where the child is a leaf
    if nodes.n_children[largest] > 0:
        raised = _send_down(
            problem,
            nodes,
            largest,
            rows.copy(),
            part.copy(),
            work,
            confidence,
            z,
            work.value,
            work.share,
            min(leaf, enough),  # beyond it the exact number is not needed
        )
    if leaf < enough and leaf < raised + _PRUNE + NEGLIGIBLE:
        _cut(nodes, node)
    elif raised < enough:
        nodes.feature[node] = nodes.feature[largest]
        nodes.threshold[node] = nodes.threshold[largest]
        nodes.n_children[node] = nodes.n_children[largest]
        nodes.first[node] = nodes.first[largest]
        _send_down(
            problem,
            nodes,
            node,
            rows.copy(),
            part.copy(),
            work,
            confidence,
            z,
            nodes.value,
            nodes.share,
            np.inf,
        )
        return True
    return False


@njit(cache=True, nogil=True)
def _has_subtrees(nodes: Nodes, node: int) -> bool:
    """Return whether a child has children."""
    for child in range(nodes.first[node], nodes.first[node] + nodes.n_children[node]):
        if nodes.n_children[child] > 0:
            return True
    return False


def prune_and_raise(
    problem: GrowthProblem,
    nodes: Nodes,
    weight: FloatArray,
    confidence: float,
    z: float,
) -> None:
    """Replace subtrees by leaves or by their largest branch, from the bottom up.

    The samples of a raised branch's siblings are sent down that branch, and the result
    is pruned again.

    The nodes on the path from the root are open, each with its samples. A child's
    samples lie among its parent's; only where some are shared by all branches are they
    copied to the end.
    """
    work = _make_work_arrays(problem, nodes, weight.size)
    _prune_and_raise(problem, nodes, weight, confidence, z, work)


@njit(cache=True, nogil=True)
def _prune_and_raise(
    problem: GrowthProblem,
    nodes: Nodes,
    weight: FloatArray,
    confidence: float,
    z: float,
    work: WorkArrays,
) -> None:
    n, total = weight.size, nodes.feature.size
    rows, part = number_rows(n), weight.copy()
    begin, visited = np.empty(total, dtype=np.intp), np.empty(total, dtype=np.intp)
    below = np.empty(total)  # errors expected of the subtree
    for node in range(total):
        visited[node], below[node] = 0, 0.0
    # Node, its samples, end of all samples; a path has no more nodes than the tree.
    opened = np.empty((total, 4), dtype=np.intp)
    opened[0, 0], opened[0, 1], opened[0, 2], opened[0, 3] = 0, 0, n, n
    height = 1
    while height > 0:
        node, lo = opened[height - 1, 0], opened[height - 1, 1]
        m, top = opened[height - 1, 2], opened[height - 1, 3]
        first, n_children = nodes.first[node], nodes.n_children[node]
        here, weights = rows[lo : lo + m], part[lo : lo + m]
        if visited[node] == 0 and _has_subtrees(nodes, node):
            feature, threshold = nodes.feature[node], nodes.threshold[node]
            branch = branches_of(problem, feature, threshold, here, work.either)
            _sort_by_branch(nodes, node, here, weights, branch, begin)
        while visited[node] < n_children:
            child = first + visited[node]
            if nodes.n_children[child] > 0:
                break
            below[child] = _expected(nodes.value[child], confidence, z)
            visited[node] += 1
        if visited[node] == n_children:
            below[node] = sum_of(below[first : first + n_children])
            visited[node] = 0
            if n_children == 0 or not _improve(
                problem, nodes, node, below[node], here, weights, work, confidence, z
            ):
                if nodes.n_children[node] == 0:
                    below[node] = _expected(nodes.value[node], confidence, z)
                height -= 1
            continue
        c = visited[node]
        visited[node] += 1
        child, share = first + c, nodes.share[first + c]
        shared = m - begin[node] if share > NEGLIGIBLE else 0
        stop = begin[child + 1] if c + 1 < n_children else begin[node]
        size = stop - begin[child]
        place = lo + begin[child]
        if shared > 0:
            if top + size + shared > rows.size:
                rows, part = enlarge(rows, part, 2 * (top + size + shared))
            _append(rows, part, place, size, 1.0, top)
            _append(rows, part, lo + begin[node], shared, share, top + size)
            place = top
            size += shared
            top += size
        opened[height, 0], opened[height, 1] = child, place
        opened[height, 2], opened[height, 3] = size, top
        height += 1

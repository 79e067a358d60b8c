"""A fitted decision tree as arrays, and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray

#: Weight of samples; a node with less is empty. Also the difference of two class shares
#: below which they tie.
_EMPTY_WEIGHT = 1e-6


@dataclass(frozen=True, eq=False)
class Tree:
    """A decision tree, level by level: node 0 is the root, siblings are neighbours.

    Parameters
    ----------
    feature : int array of shape (n_nodes,)
        Feature that a node tests; −1 for a leaf.
    threshold : array of shape (n_nodes,)
        Branch 0 of a numeric test takes values up to it, branch 1 those above; NaN for
        a categorical test, whose branch b takes the b-th category, and for a leaf.
    first_child : int array of shape (n_nodes,)
        The child that branch 0 leads to; branch b leads to ``first_child + b``.
    n_children : int array of shape (n_nodes,)
        Number of branches; 0 for a leaf.
    value : array of shape (n_nodes, n_classes)
        Weight of the training samples of each class.
    share : array of shape (n_nodes,)
        Part of a sample that comes to this node from its parent where the value tested
        there is missing.
    """

    feature: IntArray
    threshold: FloatArray
    first_child: IntArray
    n_children: IntArray
    value: FloatArray
    share: FloatArray

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of leaves, empty ones included."""
        return int(np.count_nonzero(self.n_children == 0))

    @property
    def parent(self) -> IntArray:
        """The parent of each node; −1 for the root."""
        parents = np.repeat(np.arange(self.n_nodes), self.n_children)
        return np.concatenate(([-1], parents))

    @property
    def probability(self) -> FloatArray:
        """Class shares of each node; an empty leaf has those of its parent."""
        weight = self.value.sum(axis=1)
        empty = np.flatnonzero(weight < _EMPTY_WEIGHT)
        source = np.arange(self.n_nodes)
        source[empty] = self.parent[empty]
        return self.value[source] / weight[source, None]

    def children(self, node: int) -> slice:
        """Return the indices of a node's children."""
        first = self.first_child[node]
        return slice(first, first + self.n_children[node])

    def walk(self, max_depth: int | None = None) -> Iterator[tuple[int, int, int]]:
        """Visit the nodes, each before its children: node, depth, branch taken.

        The root's branch is −1.
        """
        waiting = [(0, 0, -1)]
        while waiting:
            node, depth, branch = waiting.pop()
            yield node, depth, branch
            if max_depth is None or depth < max_depth:
                children = range(self.n_nodes)[self.children(node)]
                waiting += [
                    (child, depth + 1, b)
                    for b, child in reversed(list(enumerate(children)))
                ]


@dataclass(frozen=True, eq=False)
class TreeWords:
    """The text for the nodes and branches of a tree.

    Parameters
    ----------
    tree : Tree
        The tree.
    feature_names : sequence of str
        Names of its features.
    categories : sequence of arrays or None
        The categories of each categorical feature; None for a numeric one.
    classes : array
        The class labels.
    """

    tree: Tree
    feature_names: Sequence[str]
    categories: Sequence[NDArray[Any] | None]
    classes: NDArray[Any]

    @cached_property
    def _label(self) -> IntArray:
        return first_largest(self.tree.probability)

    def feature(self, node: int) -> str:
        """Return the name of the feature that a node tests."""
        return self.feature_names[self.tree.feature[node]]

    def condition(self, node: int, branch: int) -> str:
        """Write which values a branch takes: ``<= 0.6``, ``> 0.6`` or ``= red``."""
        categories = self.categories[self.tree.feature[node]]
        if categories is not None:
            return f"= {categories[branch]}"
        return f"{'>' if branch else '<='} {self.tree.threshold[node]:.10g}"

    def outcome(self, node: int) -> str:
        """Write the class of a leaf, with its weight and its training errors."""
        value = self.tree.value[node]
        label = self.classes[self._label[node]]
        weight = value.sum()
        errors = weight - value.max()
        counts = _write_weight(weight) + (
            f"/{_write_weight(errors)}" if errors > 0.005 else ""
        )
        return f"{label} ({counts})"

    def text(self, max_depth: int | None = None) -> str:
        """Write the tree with one line per branch."""
        tree, parent = self.tree, self.tree.parent
        lines = []
        for node, depth, branch in tree.walk(max_depth):
            line = ""
            if branch >= 0:
                above = int(parent[node])
                line = "|   " * (depth - 1)
                line += f"{self.feature(above)} {self.condition(above, branch)}"
            if tree.n_children[node] == 0:
                line += (": " if line else "") + self.outcome(node)
            elif depth == max_depth:
                line += (": " if line else "") + f"... {self.outcome(node)}"
            if line:
                lines.append(line)
        return "\n".join(lines)


def first_largest(probability: FloatArray) -> IntArray:
    """Return the index of the largest value of each row; of ties, the first.

    Averages over many leaves are rounded, so values that differ by less than a
    millionth tie.
    """
    largest = probability.max(axis=1, keepdims=True)
    return (probability > largest - _EMPTY_WEIGHT).argmax(axis=1)


def _write_weight(x: float) -> str:
    """Write a weight with at most two decimals, and none where it is whole."""
    return f"{x:.2f}".rstrip("0").rstrip(".")

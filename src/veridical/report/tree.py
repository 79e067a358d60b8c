"""Draw a decision tree: tests in boxes, classes at the leaves.

`place` computes where everything stands; `TreeDisplay` draws it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.utils.validation import check_is_fitted

from veridical.learning.tree import Tree, TreeWords

#: Inches per leaf and per level of a figure made here.
_PER_LEAF, _PER_LEVEL = 1.5, 1.0
#: Characters of a name; a longer one is cut.
_LONGEST_NAME = 24


@dataclass(frozen=True)
class NodeBox:
    """One node, placed: leaves are 1 apart, the root is at height 0, its child at −1.

    ``branch`` says which values lead here from ``parent``; the root has neither.
    ``label`` is the place of its majority class among the classes.
    """

    node: int
    x: float
    y: float
    text: str
    is_leaf: bool
    label: int
    parent: int | None
    branch: str


def place_boxes(words: TreeWords, max_depth: int | None = None) -> list[NodeBox]:
    """Place the nodes of a tree, each before its children.

    Parameters
    ----------
    words : TreeWords
        The tree and its words.
    max_depth : int, optional
        How deep to go; a node there stands for its subtree, marked by "…".
    """
    tree = words.tree
    visits = list(tree.walk(max_depth))
    x = _across(tree, [(node, depth) for node, depth, _ in visits], max_depth)
    parent, shares = tree.parent, tree.probability
    boxes = []
    for node, depth, branch in visits:
        is_leaf = tree.n_children[node] == 0
        cut = not is_leaf and depth == max_depth
        text = words.outcome(node) if is_leaf or cut else words.feature(node)
        above = int(parent[node])
        boxes.append(
            NodeBox(
                node=node,
                x=x[node],
                y=float(-depth),
                text=f"… {_short(text)}" if cut else _short(text),
                is_leaf=bool(is_leaf or cut),
                label=int(shares[node].argmax()),
                parent=above if branch >= 0 else None,
                branch=_short(words.condition(above, branch)) if branch >= 0 else "",
            )
        )
    return boxes


def _across(
    tree: Tree, visits: Sequence[tuple[int, int]], max_depth: int | None
) -> dict[int, float]:
    """Place leaves side by side, other nodes above the middle of their children."""
    x: dict[int, float] = {}
    for node, depth in visits:
        if tree.n_children[node] == 0 or depth == max_depth:
            x[node] = float(len(x))
    for node, _ in reversed(visits):
        if node not in x:
            children = range(tree.n_nodes)[tree.children(node)]
            x[node] = (x[children[0]] + x[children[-1]]) / 2
    return x


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


class TreeDisplay:
    """A picture of a decision tree.

    Parameters
    ----------
    words : TreeWords
        The tree and its words.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure of these axes.

    See Also
    --------
    veridical.learning.C45.export_text : The same tree as text.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from veridical.learning import C45
    >>> from veridical.report.tree import TreeDisplay
    >>> tree = C45().fit(*load_iris(return_X_y=True))
    >>> display = TreeDisplay.from_estimator(tree, max_depth=2)
    """

    def __init__(self, words: TreeWords) -> None:
        self.words = words

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, max_depth: int | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw the tree of a fitted :class:`veridical.learning.C45`.

        Parameters
        ----------
        estimator : C45
            A fitted tree.
        max_depth : int, optional
            How deep to go; deeper subtrees are shown as "…".
        ax : matplotlib Axes, optional
            Where to draw; a new figure of fitting size if not given.

        Returns
        -------
        TreeDisplay
            The drawn display.
        """
        check_is_fitted(estimator)
        return cls(estimator.tree_words()).plot(max_depth=max_depth, ax=ax)

    def plot(self, *, max_depth: int | None = None, ax: Axes | None = None) -> Self:
        """Draw the tree.

        Parameters
        ----------
        max_depth : int, optional
            How deep to go; deeper subtrees are shown as "…".
        ax : matplotlib Axes, optional
            Where to draw; a new figure of fitting size if not given.

        Returns
        -------
        TreeDisplay
            The display itself.
        """
        boxes = place_boxes(self.words, max_depth)
        if ax is None:
            width = _PER_LEAF * (1 + max(box.x for box in boxes))
            height = _PER_LEVEL * (1 - min(box.y for box in boxes))
            _, ax = plt.subplots(
                figsize=(max(width, 3), max(height, 1.5)), layout="constrained"
            )
        by_node = {box.node: box for box in boxes}
        for box in boxes:
            if box.parent is not None:
                _draw_branch(ax, by_node[box.parent], box)
        colours = plt.get_cmap("tab20")(np.arange(1, 20, 2) / 20)  # the pale ones
        for box in boxes:
            colour = colours[box.label % len(colours)] if box.is_leaf else "white"
            ax.text(
                box.x,
                box.y,
                box.text,
                ha="center",
                va="center",
                parse_math=False,
                bbox={"boxstyle": "round", "facecolor": colour, "edgecolor": "0.4"},
            )
        ax.set_xlim(-0.6, max(box.x for box in boxes) + 0.6)
        ax.set_ylim(min(box.y for box in boxes) - 0.4, 0.4)
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _draw_branch(ax: Axes, above: NodeBox, below: NodeBox) -> None:
    ax.plot([above.x, below.x], [above.y, below.y], color="0.6", zorder=0)
    ax.text(
        (above.x + 2 * below.x) / 3,
        (above.y + 2 * below.y) / 3,
        below.branch,
        ha="center",
        va="center",
        fontsize="small",
        parse_math=False,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )

"""Decision trees as pictures: places first, then what is drawn."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from veridical.learning import C45
from veridical.report.tree import TreeDisplay, place_boxes

mpl.use("Agg")


@pytest.fixture
def iris():
    X, y = load_iris(as_frame=True, return_X_y=True)
    yield C45().fit(X, load_iris().target_names[y])
    plt.close("all")


def test_boxes_of_leaves_stand_side_by_side(iris):
    boxes = place_boxes(iris.tree_words())
    assert len(boxes) == iris.n_nodes_
    leaves = [box for box in boxes if box.is_leaf]
    assert sorted(box.x for box in leaves) == list(range(iris.n_leaves_))
    by_node = {box.node: box for box in boxes}
    for box in boxes[1:]:
        assert box.y == by_node[box.parent].y - 1
    root = boxes[0]
    assert (root.parent, root.text, root.y) == (None, "petal width (cm)", 0)
    assert [(b.text, b.branch) for b in boxes if b.parent == 0 and b.is_leaf] == [
        ("setosa (50)", "<= 0.6")
    ]


def test_no_two_nodes_of_a_level_share_a_place(iris):
    boxes = place_boxes(iris.tree_words())
    assert len({(box.x, box.y) for box in boxes}) == len(boxes)


def test_depth_can_be_cut(iris):
    boxes = place_boxes(iris.tree_words(), max_depth=1)
    assert [box.text for box in boxes] == [
        "petal width (cm)",
        "setosa (50)",
        "… versicolor (100/50)",
    ]
    (leaf,) = place_boxes(iris.tree_words(), max_depth=0)
    assert leaf.text == "… setosa (150/100)"


def test_a_drawn_tree_names_features_and_classes(iris):
    display = TreeDisplay.from_estimator(iris)
    texts = {text.get_text() for text in display.ax_.texts}
    assert {"petal width (cm)", "<= 0.6", "setosa (50)"} <= texts
    assert len(display.ax_.lines) == iris.n_nodes_ - 1
    _, ax = plt.subplots()
    assert TreeDisplay.from_estimator(iris, ax=ax).figure_ is ax.figure


def test_names_are_shown_as_they_are():
    """A name is text: neither mathematics nor markup, and cut where it is long."""
    X = pd.DataFrame({"$\\frac{": np.arange(8.0), "t" * 99: list("pqpqpqpq")})
    model = C45().fit(X, ["<b>$a"] * 4 + ["line\nbreak"] * 4)
    display = TreeDisplay.from_estimator(model)
    display.figure_.canvas.draw()
    texts = {text.get_text() for text in display.ax_.texts}
    assert {"$\\frac{", "<b>$a (4)", "line break (4)"} <= texts
    plt.close("all")


def test_a_lone_leaf_and_an_unfitted_tree():
    model = C45().fit(np.ones((4, 1)), [0, 0, 0, 1])
    display = TreeDisplay.from_estimator(model)
    assert [text.get_text() for text in display.ax_.texts] == ["0 (4/1)"]
    plt.close("all")
    with pytest.raises(NotFittedError):
        TreeDisplay.from_estimator(C45())

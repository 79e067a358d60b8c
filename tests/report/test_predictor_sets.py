"""Displays of nested predictor sets draw what they are given."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

from veridical._core.errors import InputError
from veridical.report.displays import (
    AlphaDisplay,
    ClassAccuracyDisplay,
    ClassesDisplay,
    ClassFeaturesDisplay,
)
from veridical.selection import DifferentialPrioritization

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


def test_alphas_and_the_best_of_them():
    display = AlphaDisplay(
        [0.2, 0.4, 0.6], {"a": [0.5, 0.9, 0.7], "b": [0.8, 0.8, 0.1]}
    ).plot()
    assert display.best_ == {"a": 0.4, "b": 0.3}
    curve, ring = display.ax_.lines[:2]
    np.testing.assert_allclose(curve.get_ydata(), [50, 90, 70])
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (0.4, 90)


def test_alphas_of_a_selector():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 12)), np.arange(40) % 2
    X[:, 0] += y
    selector = DifferentialPrioritization(
        3, alpha="auto", n_splits=2, n_searched=4, random_state=0
    ).fit(X, y)
    display = AlphaDisplay.from_estimator(selector)
    np.testing.assert_allclose(
        display.ax_.lines[0].get_ydata(), 100 * selector.alpha_accuracy_
    )
    np.testing.assert_allclose(display.alphas, np.arange(1, 11) / 10)
    with pytest.raises(InputError, match="auto"):
        AlphaDisplay.from_estimator(DifferentialPrioritization(3).fit(X, y))


def test_values_by_number_of_classes():
    _, ax = plt.subplots()
    display = ClassesDisplay([14, 3], {"accuracy": [0.6, 0.9]}, ["G", "$M"]).plot(ax=ax)
    assert display.ax_ is ax
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [3, 14])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [90, 60])
    assert [text.get_text() for text in ax.texts] == ["G", "$M"]
    display.figure_.canvas.draw()


def test_most_median_and_least_served_class():
    counts = np.array([[1.0, 9.0, 4.0, 6.0], [3.0, 7.0, 4.0, 8.0]])
    display = ClassFeaturesDisplay([0.1, 1.0], counts).plot()
    np.testing.assert_array_equal(display.most_, [9.0, 7.0])
    np.testing.assert_array_equal(display.median_, [5.0, 6.0])
    np.testing.assert_array_equal(display.least_, [1.0, 3.0])
    odd = ClassFeaturesDisplay([0.1, 1.0], counts[:, :3])
    np.testing.assert_array_equal(odd.median_, [4.0, 4.0])


def test_class_accuracy_by_features():
    display = ClassAccuracyDisplay([3, 40], [0.5, 1.0], ["a", "b"]).plot()
    (dots,) = display.ax_.collections
    np.testing.assert_allclose(dots.get_offsets(), [[3, 50], [40, 100]])


def test_wrong_shapes_are_named():
    with pytest.raises(InputError, match="accuracy of a"):
        AlphaDisplay([0.1, 0.2], {"a": [0.5]})
    with pytest.raises(InputError, match="range"):
        ClassesDisplay([3, 4], {"range": [0.1]})
    with pytest.raises(InputError, match="row for each"):
        ClassFeaturesDisplay([0.1, 0.2], [[1, 2]])
    with pytest.raises(InputError, match="accuracy"):
        ClassAccuracyDisplay([1, 2], [0.5])

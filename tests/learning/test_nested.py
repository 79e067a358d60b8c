"""Nested subsets at once: what each named classifier says of each subset alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical._core.reading import read_table
from veridical.comparison import CLASSIFIERS, make_classifier
from veridical.datasets import make_linear, make_monks
from veridical.learning.nested import NESTED, Task, nested_accuracies, number_classes

NAMES = sorted(NESTED)


def tables(kind, n, seed, n_classes=2):
    """Numbers, names, or both with holes."""
    rng = np.random.default_rng(seed)
    if kind == "numbers":
        X, y = make_linear(n, random_state=seed)[:2]
        return pd.DataFrame(np.asarray(X)[:, :12]), np.asarray(y)
    if kind == "names":
        return make_monks(1 + seed % 3, n, random_state=seed)
    y = rng.integers(n_classes, size=n)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n) + y,
            "b": pd.Categorical(rng.choice(list("rstu"), n)),
            "c": rng.normal(scale=30, size=n) - 10 * y,
            "d": pd.Categorical(np.where(rng.random(n) < 0.7, y, rng.integers(3))),
            "e": rng.random(n),
        }
    )
    if kind == "holes":  # so few values that training may see none
        X.loc[2:, "b"] = X.loc[2:, "c"] = np.nan
        X.loc[5:, "d"] = np.nan
    X.loc[rng.random(n) < 0.2, "a"] = np.nan
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    return X, np.array(["x", "y", "z"])[y]


def alone(name, data, train, test, columns):
    """The slow way: a fresh classifier for one subset, through a data frame."""
    columns = np.sort(columns)
    model = make_classifier(name).fit(
        data.features.frame(train, columns), data.y[train]
    )
    return np.mean(model.predict(data.features.frame(test, columns)) == data.y[test])


def test_every_classifier_of_the_paper_has_a_quick_way():
    assert set(NESTED) == set(CLASSIFIERS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["numbers", "names", "both", "three", "holes"])
@pytest.mark.parametrize("seed", range(4))
def test_as_one_subset_at_a_time(name, kind, seed):
    X, y = tables(kind, 90, seed, n_classes=3 if kind == "three" else 2)
    data = read_table(X, y)
    rng = np.random.default_rng(seed)
    order = rng.permutation(data.n_features)
    rows = rng.permutation(90)
    train, test = rows[:60], rows[60:]
    sizes = [1, 3, data.n_features, 2]

    (found,) = nested_accuracies((name,), data, train, test, order, sizes)

    expected = [alone(name, data, train, test, order[:size]) for size in sizes]
    assert found == pytest.approx(expected, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_other_sizes_and_the_order_of_rows_change_nothing(seed):
    X, y = tables("names" if seed % 2 else "numbers", 50, seed)
    data = read_table(X, y)
    rng = np.random.default_rng(seed)
    order = rng.permutation(data.n_features)
    # An odd number: of equally frequent classes the one that occurs first goes first.
    train, test = np.arange(31), np.arange(31, 50)

    all_sizes = nested_accuracies(NAMES, data, train, test, order, [1, 2, 4, 6])
    few = nested_accuracies(NAMES, data, train, test, order, [2, 6])
    single = nested_accuracies(("svm",), data, train, test, order, [4])
    shuffled = nested_accuracies(
        NAMES, data, rng.permutation(train), rng.permutation(test), order, [1, 2, 4, 6]
    )

    assert np.array_equal(few, all_sizes[:, [1, 3]])
    assert single[0, 0] == all_sizes[NAMES.index("svm"), 2]
    assert all_sizes == pytest.approx(shuffled, abs=1e-12)


def test_the_order_within_a_subset_changes_nothing():
    X, y = make_monks(1, 60, random_state=5)
    data = read_table(X, y)
    train, test = np.arange(40), np.arange(40, 60)

    found = [
        nested_accuracies(NAMES, data, train, test, np.array(order), [4])
        for order in ([0, 1, 2, 3], [3, 1, 0, 2])
    ]

    assert found[0] == pytest.approx(found[1], abs=1e-12)


def test_one_class_alone_is_predicted():
    X, y = make_linear(30, random_state=0)[:2]
    data = read_table(X, y)
    train = np.flatnonzero(data.y == 1)
    everyone = np.arange(30)

    found = nested_accuracies(NAMES, data, train, everyone, np.arange(3), [1, 3])

    assert found == pytest.approx(np.full((4, 2), np.mean(data.y == 1)))


def test_a_category_unknown_to_training():
    """The tree treats it as missing; the others give it no indicator, no evidence."""
    known = np.array([[0.0], [0.0], [1.0], [1.0], [1.0], [0.0], [1.0], [0.0]])
    y = np.array([0, 0, 1, 1, 1, 0, 1, 0])
    unknown = np.array([[0.0], [1.0], [2.0], [np.nan]])
    task = Task(known, unknown, np.array([True]), np.array([0]), y, 2, (1,))

    for name in NAMES:
        assert NESTED[name](task)[0, :2].tolist() == [0, 1], name
        # Shares are equal, so the first class wins where nothing is known.
        assert NESTED[name](task)[0, 2:].tolist() == [0, 0], name


def test_classes_are_numbered_by_frequency():
    sorted_labels, labels, y = number_classes(np.array(list("bacbbacc")))

    assert sorted_labels.tolist() == ["a", "b", "c"]
    assert labels.tolist() == ["b", "c", "a"]
    assert y.tolist() == [0, 2, 1, 0, 0, 2, 1, 1]

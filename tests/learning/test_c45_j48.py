"""C4.5 against J48: same trees, same predictions, on the UCI files."""

import hashlib
import os
from functools import cache

import numpy as np
import pytest
from tests.learning.j48_results import J48, OPTIONS

from veridical.datasets import load
from veridical.learning import C45

pytestmark = pytest.mark.skipif(
    "VERIDICAL_DATA" not in os.environ, reason="VERIDICAL_DATA names no data folder"
)

read_once = cache(load)


def rows_of(X, rows):
    return X[rows] if isinstance(X, np.ndarray) else X.iloc[rows]


def figures(model, X, y):
    return model.n_leaves_, model.n_nodes_, int((model.predict(X) != y).sum())


@pytest.mark.in_part(2)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", J48)
def test_same_figures_as_j48(name, options):
    X, y = read_once(name)
    nominal = range(6) if name.startswith("monks") else "from_dtype"
    model = C45(categorical_features=nominal, **OPTIONS[options])
    if options.startswith("all"):
        assert figures(model.fit(X, y), X, y) == J48[name][options]
        return
    train, test = slice(0, None, 2), slice(1, None, 2)
    model.fit(rows_of(X, train), y[train])
    seen = figures(model, rows_of(X, train), y[train])
    predicted = model.predict(rows_of(X, test))
    codes = np.unique(y).searchsorted(predicted).astype(np.uint8) + 1
    digest = hashlib.sha256(codes.tobytes()).hexdigest()[:16]
    errors = int((predicted != y[test]).sum())
    assert (*seen, errors, digest) == J48[name][options]


def test_half_of_the_rows_has_every_class():
    """Else the digests above would count classes from another start."""
    for name in J48:
        _, y = read_once(name)
        assert np.unique(y[::2]).tolist() == np.unique(y).tolist()


def test_text_of_the_iris_tree():
    X, y = read_once("iris")
    assert C45().fit(X, y).export_text().splitlines() == [
        "x3 <= 0.6: Iris-setosa (50)",
        "x3 > 0.6",
        "|   x3 <= 1.7",
        "|   |   x2 <= 4.9: Iris-versicolor (48/1)",
        "|   |   x2 > 4.9",
        "|   |   |   x3 <= 1.5: Iris-virginica (3)",
        "|   |   |   x3 > 1.5: Iris-versicolor (3/1)",
        "|   x3 > 1.7: Iris-virginica (46/1)",
    ]

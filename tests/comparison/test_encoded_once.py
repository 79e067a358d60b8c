"""A verb encodes the table one time, whatever it does with it afterwards."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

import veridical
from veridical._core import encoding
from veridical.datasets import read

VERBS = {
    "compare": lambda X, y, estimator: veridical.compare(
        ["relieff", "information-gain"],
        X,
        y,
        estimator=estimator,
        n_features_to_select=2,
        cv=3,
        random_state=0,
    ),
    "select": lambda X, y, estimator: veridical.select(
        "relieff",
        X,
        y,
        estimator=estimator,
        n_features_to_select=2,
        cv=3,
        random_state=0,
    ),
    "estimate": lambda X, y, estimator: veridical.estimate(
        estimator, X, y, cv=3, random_state=0
    ),
    "audit": lambda X, y, estimator: veridical.audit(
        estimator,
        X,
        y,
        selected=[0, 1],
        selector="relieff",
        n_permutations=19,
        cv=3,
        random_state=0,
    ),
}


@pytest.fixture
def file(tmp_path):
    """Numbers, categories and missing values, in a CSV file."""
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 30)
    X = rng.normal(size=(60, 4)) + (y == "yes")[:, np.newaxis]
    X[rng.random(X.shape) < 0.05] = np.nan
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame["colour"] = rng.choice(["red", "green", "blue"], 60)
    path = tmp_path / "table.csv"
    frame.assign(kind=y).to_csv(path, index=False)
    return path


@pytest.fixture
def encoded(monkeypatch):
    """The shapes of all tables encoded from now on, wherever `encode` is used."""
    shapes = []
    real = encoding.encode

    def counted(X, *arguments, **options):
        shapes.append(np.shape(X))
        return real(X, *arguments, **options)

    for name, module in list(sys.modules.items()):
        if name.startswith("veridical.") and getattr(module, "encode", None) is real:
            monkeypatch.setattr(module, "encode", counted)
    return shapes


@pytest.mark.parametrize("estimator", ["svm", "nb", "1nn", "c45"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_table_is_encoded_once(file, encoded, verb, estimator):
    X, y = read(file, "kind")
    VERBS[verb](X, y, estimator)
    # One sample alone tells which features declare their categories.
    assert [shape for shape in encoded if shape[0] > 1] == [(60, 5)]

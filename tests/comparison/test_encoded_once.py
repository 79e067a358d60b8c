"""A verb encodes the table one time, whatever it does with it afterwards."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import veridical
from veridical._core import encoding
from veridical.cli import app
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


# The same through the command line, and ways of its own.
COMMANDS = {
    "estimate": "estimate",
    "estimate, selected": "estimate --selector relieff --features 2",
    "estimate, nested": "estimate --nested --cv 3 --estimator nb",
    "audit": "audit --selector relieff --features 2 --permutations 19",
    "audit, first": "audit --selector relieff --features 2 --first --permutations 19",
    "compare": "compare --selectors relieff,information-gain --features 2 --cv 3",
    "select": "select --selector relieff --features 2 --cv 3",
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


def answer(command, path):
    """Run a command on a file; a finding of an audit is no failure."""
    words = [*command.split(), str(path), "--target", "kind", "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code in (0, 1), done.output
    assert done.stdout.startswith("{")


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_file_is_encoded_once(file, encoded, command):
    answer(command, file)
    assert [shape for shape in encoded if shape[0] > 1] == [(60, 5)]


@pytest.mark.parametrize(
    "command",
    [
        "audit --selector anova --features 2 --permutations 19",
        "audit --selector anova --features 2 --permutations 19 --cv boot632",
        "probabilities --features 2 --cv 3",
    ],
)
def test_a_file_of_numbers_is_encoded_once(file, encoded, command):
    pd.read_csv(file).drop(columns="colour").fillna(0).to_csv(file, index=False)
    answer(command, file)
    assert [shape for shape in encoded if shape[0] > 1] == [(60, 4)]

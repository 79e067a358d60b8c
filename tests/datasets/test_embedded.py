"""Real data sets that come with scikit-learn are there without a file."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from tests.cli.conftest import run  # noqa: F401  the command line

from veridical.datasets import EMBEDDED, available, load, locate


@pytest.fixture(autouse=True)
def _no_folders(monkeypatch, tmp_path):
    monkeypatch.delenv("VERIDICAL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", EMBEDDED)
def test_they_are_there(name):
    X, y = load(name)
    assert name in available()
    assert locate(name) is None
    assert str(len(y)) in EMBEDDED[name]
    assert X.shape[0] == len(y)
    assert (y.dtype.kind == "f") == (name == "diabetes")


def test_values_and_labels_are_those_of_scikit_learn():
    X, y = load("breast-cancer")
    expected = load_breast_cancer()
    np.testing.assert_array_equal(X, expected.data)
    assert (y == expected.target_names[expected.target]).all()


def test_a_file_of_the_same_name_comes_first(tmp_path, monkeypatch):
    (tmp_path / "iris.csv").write_text("a,class\n1,u\n2,v\n3,v\n")
    monkeypatch.setenv("VERIDICAL_DATA", str(tmp_path))
    assert load("iris")[0].shape == (3, 1)
    assert available().count("iris") == 1


def test_by_name_on_the_command_line(run):  # noqa: F811
    shown = json.loads(run("data", "show", "iris", "--json").stdout)
    assert shown["classes"] == {"setosa": 50, "versicolor": 50, "virginica": 50}
    assert shown["columns"][2]["name"] == "petal length (cm)"
    words = ("estimate", "iris", "--estimator", "nb", "--cv", 3, "--json")
    found = json.loads(run(*words).stdout)
    assert found["data"]["name"] == "iris"
    assert "Real data sets: breast-cancer" in run("data", "list").stdout
    refused = run("estimate", "iris", "--target", "species")
    assert refused.exit_code == 2
    assert "iris has its own target" in refused.stderr

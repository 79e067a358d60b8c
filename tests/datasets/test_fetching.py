"""Data sets of OpenML: fetched once, checked, and friendly without a network."""

from types import SimpleNamespace
from urllib.error import HTTPError, URLError

import numpy as np
import pandas as pd
import pytest

from veridical._core.errors import InputError
from veridical.datasets import available, fetch, load


@pytest.fixture
def openml(monkeypatch, tmp_path):
    """An OpenML that has one data set, and counts how often it is asked."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("VERIDICAL_DATA", raising=False)
    asked = []

    def fetch_openml(**which):
        asked.append(which)
        data = pd.DataFrame(
            {
                "age": [30.5, np.nan, 51.0, 20.25],
                "class": [1.0, 2.0, 3.0, 4.0],  # a feature of that name
                "it's, odd": pd.Categorical(["a\\b", "x\ny", None, "'q',"]),
                "code": pd.Categorical(["1", "2", "1", "1"]),  # numbers by name only
            }
        )
        return SimpleNamespace(data=data, target=pd.Series(["no", "yes", "no", "yes"]))

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    return asked


def test_what_was_fetched_is_what_is_loaded(openml):
    X, y = load("openml:credit-g")
    assert list(X.columns) == ["age", "class_", "it's, odd", "code"]
    np.testing.assert_array_equal(X["age"], [30.5, np.nan, 51.0, 20.25])
    values = X["it's, odd"].astype(object).where(X["it's, odd"].notna(), None)
    assert values.tolist() == ["a\\b", "x\ny", None, "'q',"]
    assert str(X["code"].dtype) == "category"
    assert y.tolist() == ["no", "yes", "no", "yes"]


def test_it_is_fetched_once(openml):
    first = fetch("openml:31")
    content = first.read_bytes()
    assert fetch("31") == first
    load("openml:31")
    load("openml/31")
    assert openml == [
        {"data_id": 31, "as_frame": True, "parser": "auto", "cache": False}
    ]
    assert "openml/31" in available()
    assert fetch("31", again=True).read_bytes() == content
    assert len(openml) == 2


@pytest.mark.parametrize("name", ["openml:31", "openml/31"])
def test_an_altered_file_is_refused(openml, name):
    path = fetch("openml:31")
    path.write_bytes(path.read_bytes()[:-1] + b"\7")
    with pytest.raises(InputError, match=r"SHA-256 differs.*data fetch openml:31"):
        load(name)


def test_names_stay_inside_the_cache(openml, tmp_path):
    path = fetch("openml:../../evil name")
    assert path.parent == tmp_path / "veridical" / "openml"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (URLError("no route"), "cannot be reached .no route.; check the connection"),
        (TimeoutError("timed out"), "cannot be reached"),
        (HTTPError("u", 412, "Precondition", None, None), "answers 412 for 'credit-g'"),
        (ValueError("No active dataset"), "no usable 'credit-g': No active"),
    ],
)
def test_without_an_answer_it_says_so(monkeypatch, tmp_path, error, message):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def fails(**which):
        raise error

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fails)
    with pytest.raises(InputError, match=message):
        load("openml:credit-g")
    with pytest.raises(InputError, match="names no data set"):
        fetch("openml:")
    assert not list(tmp_path.rglob("*.arff*"))


def test_several_targets_or_none_are_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    bunch = SimpleNamespace(data=pd.DataFrame({"a": [1, 2]}), target=None)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **which: bunch)
    with pytest.raises(InputError, match="names no single class"):
        fetch("openml:two")

"""Data sets are found by name, and only where they may be."""

import os

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse

from veridical._core.errors import InputError
from veridical.datasets import EMBEDDED, SOURCES, available, load


@pytest.fixture
def folder(tmp_path, monkeypatch):
    data = tmp_path / "data"
    (data / "deep").mkdir(parents=True)
    (tmp_path / "cache" / "veridical").mkdir(parents=True)
    text = "a,b,class\n1,2,u\n2,3,v\n"
    for place in ("data/numbers.csv", "cache/veridical/cached.csv", "secret.csv"):
        (tmp_path / place).write_text(text)
    (data / "mixed.tsv").write_text("a\tb\tclass\n1\tx\tu\n2\ty\tv\n3\ty\tv\n")
    (data / "noclass.csv").write_text("a,b,c\n1,2,u\n2,3,v\n")
    (data / "README.md").write_text("not data")
    names = np.array(["g", "g"])
    np.savez(data / "deep" / "genes.npz", X=np.eye(2), y=[0, 1], feature_names=names)
    monkeypatch.setenv("VERIDICAL_DATA", str(data))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return data


def test_available(folder):
    assert available() == [
        *SOURCES,
        *EMBEDDED,
        "cached",
        "deep/genes",
        "mixed",
        "noclass",
        "numbers",
    ]


def test_without_folders_there_are_the_sources(monkeypatch, tmp_path):
    monkeypatch.delenv("VERIDICAL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert available() == [*SOURCES, *EMBEDDED]
    with pytest.raises(InputError, match="set VERIDICAL_DATA to their folder"):
        load("vehicle")


@pytest.mark.parametrize("name", list(SOURCES))
def test_sources_are_always_the_same_sample(name):
    (X, y), (X_again, y_again) = load(name), load(name)
    np.testing.assert_array_equal(np.asarray(X), np.asarray(X_again))
    np.testing.assert_array_equal(y, y_again)
    assert X.shape == (SOURCES[name].n_samples, SOURCES[name].n_features)


def test_numbers_are_an_array_and_mixed_columns_a_frame(folder):
    X, y = load("numbers")
    assert isinstance(X, np.ndarray)
    assert X.tolist() == [[1, 2], [2, 3]]
    assert y.tolist() == ["u", "v"]
    X, _ = load("mixed")
    assert isinstance(X, pd.DataFrame)
    assert X["b"].dtype == "category"
    X, _ = load("deep/genes")
    np.testing.assert_array_equal(X, np.eye(2))
    assert load("cached")[0].shape == (2, 2)


def test_the_folder_comes_before_the_cache_and_sources_before_both(folder):
    (folder / "cached.csv").write_text("a,class\n1,u\n2,v\n3,v\n")
    (folder / "linear.csv").write_text("a,class\n1,u\n2,v\n3,v\n")
    assert load("cached")[0].shape == (3, 1)
    assert load("linear")[0].shape == (125, 60)
    assert available().count("linear") == 1


@pytest.mark.parametrize(
    "name",
    ["../secret", "deep/../../secret", "/etc/passwd", "..", "", ".", "c:x", "a\\b"],
)
def test_no_way_out_of_the_folder(folder, name):
    with pytest.raises(InputError, match=r"not the name of a data set|no data set"):
        load(name)


def test_unknown_name_suggests_a_known_one(folder):
    with pytest.raises(
        InputError, match="no data set 'number'; did you mean 'numbers'"
    ):
        load("number")


@pytest.mark.parametrize("name", [None, 31])
def test_what_is_no_name_is_refused_in_words(name):
    with pytest.raises(InputError, match="is not the name of a data set"):
        load(name)


def test_file_without_a_class_column(folder):
    with pytest.raises(InputError, match=r"noclass\.csv has no column 'class'"):
        load("noclass")


def test_real_data():
    if not os.environ.get("VERIDICAL_DATA"):
        pytest.skip("VERIDICAL_DATA is not set")
    X, y = load("vehicle")
    assert X.shape == (846, 18)
    assert dict(zip(*np.unique(y, return_counts=True), strict=True)) == {
        "bus": 218,
        "opel": 212,
        "saab": 217,
        "van": 199,
    }
    X, y = load("golub_amlall3")
    assert X.shape == (72, 7129)
    assert X.dtype == np.float32
    assert (y == "ALL-B").sum() == 38
    X, y = load("techtc/ng20_00")
    assert issparse(X)
    assert X.shape == (150, 5287)
    assert np.bincount(y + 1).tolist() == [75, 0, 75]
    X, y = load("hypothyroid")
    assert (X.dtypes == "category").sum() == 18
    assert X.isna().sum().sum() == 5329
    X, y = load("soybean_large")
    assert len(np.unique(y)) == 19
    assert X.isna().sum().sum() == 2337

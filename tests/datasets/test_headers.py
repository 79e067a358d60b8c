"""Whether the first row of a file holds names or data."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from veridical._core.errors import InputError
from veridical.datasets import read


def make_frame(n=30, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "length": rng.normal(5, 1, n).round(2),
            "count": rng.integers(0, 40, n),
            "colour": rng.choice(["red", "blue", "green"], n),
        }
    )
    return frame.assign(kind=np.where(frame["length"] > 5, "long", "short"))


@pytest.fixture
def save(tmp_path):
    """Write a table, with other names or with none; return the path."""

    def save(frame, names=None, **options):
        path = tmp_path / "data.csv"
        frame.to_csv(path, index=False, header=False, **options)
        if names is not None:
            line = options.get("sep", ",").join(map(str, names))
            path.write_text(f"{line}\n{path.read_text()}")
        return path

    return save


def test_a_file_without_names_is_read_from_its_first_row(save):
    frame = make_frame()
    path = save(frame)
    with pytest.warns(UserWarning, match="first row of .* looks like data") as told:
        X, y = read(path, "column_4")
    assert "column_1 to column_4" in str(told[0].message)
    assert "header=True" in str(told[0].message)
    assert X.columns.tolist() == ["column_1", "column_2", "column_3"]
    assert X["column_1"].tolist() == frame["length"].tolist()
    assert y.tolist() == frame["kind"].tolist()


def test_header_false_says_nothing_and_header_true_decides(save):
    frame = make_frame()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X, _ = read(save(frame), "column_4", header=False)
        assert len(X) == len(frame)
        first = str(frame["length"].iloc[0])
        X, _ = read(save(frame), frame["kind"].iloc[0], header=True)
    assert len(X) == len(frame) - 1
    assert X.columns[0] == first


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("first", ["?", "", "NA", "7"])
def test_missing_values_in_the_first_row_are_no_names(save, separator, first):
    frame = make_frame().astype({"count": object})
    frame.loc[0, "count"] = first
    with pytest.warns(UserWarning, match="looks like data"):
        X, _ = read(save(frame, sep=separator), "column_4")
    assert len(X) == len(frame)


def test_decimal_commas_and_booleans_without_names(save):
    frame = make_frame().assign(flag=np.tile(["TRUE", "FALSE"], 15))
    with pytest.warns(UserWarning, match="looks like data"):
        X, _ = read(save(frame, sep=";", decimal=","), "column_4")
    assert X["column_1"].tolist() == frame["length"].tolist()
    assert len(X) == len(frame)


def test_a_table_of_categories_without_names(save):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.choice(list("abc"), size=(40, 6)))
    with pytest.warns(UserWarning, match="looks like data"):
        X, _ = read(save(frame), "column_1")
    assert X.shape == (40, 5)


@pytest.mark.parametrize(
    "names",
    [
        ["length", "count", "colour", "kind"],
        ["", "1", "colour", "kind"],  # as pandas writes an index
        ["2019", "count", "colour", "kind"],  # a word above numbers
        ["5.5", "7", "red", "kind"],  # the user knows the name of the target
        ["2019", "2020", "2021", "kind"],
    ],
)
def test_names_are_names(save, names):
    frame = make_frame()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X, y = read(save(frame, names), "kind")
    assert X.columns.tolist() == names[:3]
    assert len(y) == len(frame)


def years(n=30):
    rng = np.random.default_rng(2)
    values = rng.normal(0.4, 0.1, size=(n, 5)).round(3)
    return pd.DataFrame(values).assign(y=np.tile([0, 1], n // 2))


@pytest.mark.parametrize(
    ("names", "target"),
    [
        ([2019, 2020, 2021, 2022, 2023, 2024], "2024"),  # years
        ([2019, 2020, 2021, 2022, 2023, 2024], None),
        ([2019, 2020, 2021, 2022, 2023, 1], "1"),  # far from the values
        ([0, 1, 2, 3, 4, 5], "5"),  # as pandas names the columns of an array
        ([1100.5, 1102.5, 1104.5, 1106.5, 1108.5, 0], None),  # wavelengths
        ([675, 672, 5728, 7157, 4609, 9], None),  # numbers of genes
        ([0.41, 0.39, 0.42, 0.43, 0.38, 1], "1"),  # a target that may be a name
    ],
)
def test_numbers_that_may_be_names_are_asked_about(save, names, target):
    frame = years()
    path = save(frame, names)
    with pytest.raises(InputError, match="may be names of columns or a sample") as told:
        read(path, target)
    assert "header=True" in str(told.value)
    assert "header=False" in str(told.value)
    X, y = read(path, str(names[-1]), header=True)
    assert X.columns.tolist() == [str(one) for one in names[:-1]]
    assert len(y) == len(frame)
    X, y = read(path, "column_6", header=False)
    assert len(y) == len(frame) + 1


def test_words_of_which_some_occur_below_are_asked_about(save):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.choice(list("abc"), size=(40, 3)))
    with pytest.raises(InputError, match="words that also occur below"):
        read(save(frame, ["a", "b", "kind"]))


def test_the_formats_that_have_their_own_names_take_no_header(tmp_path):
    path = tmp_path / "data.libsvm"
    path.write_text("1 1:2.5\n0 1:3.5\n")
    with pytest.raises(InputError, match=r"header is for CSV files, but .* libsvm"):
        read(path, header=True)

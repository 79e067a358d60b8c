"""Tables become matrices: no value is lost, and nothing odd slips through."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from veridical._core.encoding import encode
from veridical._core.errors import InputError


def mixed_pandas():
    return pd.DataFrame(
        {
            "size": [1.5, np.nan, 3.0],
            "count": [7, 8, 9],
            "grade": pd.Categorical(["x", None, "y"], categories=["y", "z", "x"]),
            "colour": ["red", None, "blue"],
            "flag": [True, False, True],
            "maybe": pd.array([1, None, 3], dtype="Int64"),
        }
    )


def mixed_polars():
    return pl.DataFrame(
        {
            "size": [1.5, None, 3.0],
            "count": [7, 8, 9],
            "grade": pl.Series(["x", None, "y"], dtype=pl.Enum(["y", "z", "x"])),
            "colour": pl.Series(["red", None, "blue"], dtype=pl.Categorical),
            "flag": [True, False, True],
            "maybe": [1, None, 3],
        }
    )


@pytest.mark.parametrize("make", [mixed_pandas, mixed_polars])
def test_mixed_frame(make):
    table = encode(make())
    nan = np.nan
    expected = [
        [1.5, 7, 2, 1, 1, 1],
        [nan, 8, nan, nan, 0, nan],
        [3.0, 9, 0, 0, 1, 3],
    ]
    np.testing.assert_array_equal(table.values, expected)
    assert table.categorical.tolist() == [False, False, True, True, True, False]
    assert [None if c is None else c.tolist() for c in table.categories] == [
        None,
        None,
        ["y", "z", "x"],
        ["blue", "red"],
        [False, True],
        None,
    ]
    assert table.names == tuple(make().columns)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_float_arrays_pass_through_without_a_copy(dtype, order, tmp_path):
    X = np.asarray(np.arange(12).reshape(4, 3), dtype=dtype, order=order)
    X[1, 1] = np.nan
    table = encode(X)
    assert np.shares_memory(table.values, X)
    assert table.values.dtype == dtype
    assert not table.categorical.any()
    assert table.names is None
    frame = pd.DataFrame(X, columns=list("abc"), copy=False)
    assert np.shares_memory(encode(frame).values, frame.to_numpy())
    assert encode(frame).values.dtype == dtype
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.shares_memory(encode(mapped).values, mapped)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, bool, np.float16, ">f8"])
def test_other_numbers_become_float64(dtype):
    X = np.array([[1, 0], [0, 1]], dtype=dtype)
    values = encode(X).values
    assert values.dtype == np.dtype(np.float64)
    assert values.dtype.isnative
    np.testing.assert_array_equal(values, X.astype(float))


def test_masked_entries_are_missing():
    X = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(encode(X).values, [[1, np.nan], [3, 4]])


def test_frames_of_float32_and_integers_are_float64():
    frame = pd.DataFrame({"a": np.float32([1, 2]), "b": np.int8([1, 2])})
    assert encode(frame).values.dtype == np.float64
    assert encode(pl.from_pandas(frame)).values.dtype == np.float64
    assert encode(pl.from_pandas(frame[["a"]])).values.dtype == np.float32


@pytest.mark.parametrize("chosen", [[1], [False, True], np.array([1]), [np.int64(1)]])
def test_declared_columns_of_an_array(chosen):
    X = np.array([[0.5, 30], [0.7, 10], [0.9, np.nan], [1.0, 30]])
    before = X.copy()
    table = encode(X, chosen)
    np.testing.assert_array_equal(table.values[:, 1], [1, 0, np.nan, 1])
    np.testing.assert_array_equal(table.values[:, 0], X[:, 0])
    assert table.categories[1].tolist() == [10, 30]
    np.testing.assert_array_equal(X, before)


def test_columns_that_are_codes_already_cost_no_copy():
    X = np.array([[0.5, 1], [0.7, 0], [0.9, np.nan]])
    assert np.shares_memory(encode(X, [1]).values, X)


def test_declared_text_in_object_array_and_list():
    rows = [["a", 1.5], ["b", 2], [None, 3]]
    for X in (np.array(rows, dtype=object), rows):
        table = encode(X, [0])
        np.testing.assert_array_equal(table.values, [[0, 1.5], [1, 2], [np.nan, 3]])
    assert encode(np.array([["bb", "1"], ["a", "2"]]), [0]).values.tolist() == [
        [1, 1],
        [0, 2],
    ]


def test_text_beside_numbers_in_one_categorical_column():
    table = encode(np.array([["a"], [2], ["b"], [1]], dtype=object), [0])
    assert table.categories[0].tolist() == [1, 2, "a", "b"]
    assert table.values.ravel().tolist() == [2, 1, 3, 0]


def test_names_choose_columns():
    table = encode(mixed_pandas()[["size", "count"]], ["count"])
    assert table.categorical.tolist() == [False, True]
    assert table.categories[1].tolist() == [7, 8, 9]


def test_undeclared_categories_of_numbers_are_numbers():
    frame = pd.DataFrame({"a": pd.Categorical([3, 1, None]), "b": [True, False, True]})
    table = encode(frame, None)
    np.testing.assert_array_equal(table.values, [[3, 1], [1, 0], [np.nan, 1]])
    assert not table.categorical.any()


def test_integer_column_names_are_shown_as_text():
    table = encode(pd.DataFrame({0: [1, 2], 1: ["a", "b"], 5: [3, 4]}))
    assert table.names == ("0", "1", "5")
    assert table.values.tolist() == [[1, 0, 3], [2, 1, 4]]


def test_unhashable_value_in_a_categorical_column():
    with pytest.raises(InputError, match=r"Column 0 of X .*neither text nor"):
        encode(np.array([[{"a": 1}], [2]], dtype=object), [0])


@pytest.mark.parametrize("make", [mixed_pandas, mixed_polars])
def test_known_categories_decide_the_codes(make):
    known = encode(mixed_pandas()).categories
    frame = make()[::-1]
    np.testing.assert_array_equal(
        encode(frame, categories=known).values, encode(mixed_pandas()).values[::-1]
    )


def test_unknown_values_become_missing():
    known = (np.array(["a", "b"], dtype=object), None)
    table = encode(pd.DataFrame({"x": ["b", "new"], "y": [1, 2]}), categories=known)
    np.testing.assert_array_equal(table.values, [[1, 1], [np.nan, 2]])
    assert table.categories[0] is known[0]
    with pytest.raises(InputError, match="3 columns, but categories are given for 2"):
        encode(np.ones((1, 3)), categories=known)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pd.array([True, None, False], dtype="boolean"), np.array([True, True, False])),
        (np.array([True, True, False]), pd.array([True, None, False], dtype="boolean")),
        (pd.Categorical([2, 1, 2]), np.array([2.0, np.nan, 1.0])),
        (pd.Categorical(["u", "v", "u"]), np.array(["u", None, "v"], dtype=object)),
    ],
)
def test_known_categories_match_across_dtypes(first, second):
    known = encode(pd.DataFrame({"x": first}), [0])
    codes = encode(pd.DataFrame({"x": second}), categories=known.categories).values
    decoded = [
        None if np.isnan(c) else known.categories[0][int(c)] for c in codes[:, 0]
    ]
    expected = [None if pd.isna(v) else v for v in second]
    assert decoded == expected


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(allow_infinity=False),
            st.one_of(st.none(), st.text()),
            st.one_of(st.none(), st.booleans()),
        ),
        min_size=1,
    )
)
@example([(0.0, "\x00", None)])
def test_codes_can_be_decoded(rows):
    numbers, texts, flags = (list(column) for column in zip(*rows, strict=True))
    schema = {"n": pl.Float64, "t": pl.String, "f": pl.Boolean}
    polars = pl.DataFrame({"n": numbers, "t": texts, "f": flags}, schema=schema)
    pandas = pd.DataFrame(
        {
            "n": numbers,
            "t": pd.Series(texts, dtype="str"),
            "f": pd.Series(flags, dtype="boolean"),
        }
    )
    for frame in (polars, pandas):
        table = encode(frame)
        np.testing.assert_array_equal(table.values[:, 0], numbers)
        for j, column in ((1, texts), (2, flags)):
            names = table.categories[j]
            assert list(names) == sorted({v for v in column if v is not None})
            codes = table.values[:, j]
            decoded = [None if np.isnan(c) else names[int(c)] for c in codes]
            assert decoded == column


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1, 2], "Reshape your data"),
        ([[1, 2], [3]], "rows differ in length"),
        (np.empty((0, 3)), r"0 sample\(s\)"),
        (np.empty((3, 0)), r"0 feature\(s\)"),
        (pd.DataFrame({"a": []}), r"0 sample\(s\)"),
        (np.ones((2, 2)) * 1j, "Complex data not supported"),
        (np.array([[1.0, "red"], [2.0, "5"]], dtype=object), "Column 1 of X.*'red'"),
        (pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}), "'when'.*dates"),
        (pl.DataFrame({"when": pl.Series(["2020-01-01"]).str.to_date()}), "'when'"),
        (pl.DataFrame({"nest": [[1, 2]]}), "'nest'.*not a number"),
        (pd.DataFrame({"o": [{"a": 1}]}), "'o'.*not a number"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "more than one column named 'a'"),
        (np.array([[1, 2], [3, -np.inf]]), r"Column 1 of X.*infinite.*\(row 1\)"),
        (pd.DataFrame({"a": [np.nan, np.inf]}), "Column 'a'.*infinite"),
        (np.array([["2020"]], dtype="M8[D]"), "dates"),
    ],
)
def test_values_that_cannot_be_encoded_are_refused(X, message):
    with pytest.raises(InputError, match=message):
        encode(X)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("all", "categorical_features='all'"),
        ([9], "column 9, but X has 6 columns; use 0 to 5"),
        ([-1], "column -1"),
        ([True], "mask of 1 values, but X has 6"),
        (["color"], "did you mean 'colour'"),
        ([1.5], "1.5"),
    ],
)
def test_bad_choice_of_columns(chosen, message):
    with pytest.raises(InputError, match=message):
        encode(mixed_pandas(), chosen)


def test_names_need_a_frame():
    with pytest.raises(InputError, match="without column names"):
        encode(np.ones((2, 2)), ["a"])


def test_infinity_is_found_beyond_the_first_chunk(monkeypatch):
    monkeypatch.setattr("veridical._core.encoding._MAX_ELEMENTS", 4)
    X = np.zeros((3, 9))
    X[2, 7] = np.inf
    with pytest.raises(InputError, match="Column 7"):
        encode(X)
    X[2, 7] = np.nan
    assert np.isnan(encode(X).values[2, 7])


def test_name_of_the_table_is_in_the_message():
    with pytest.raises(InputError, match=r"Column 0 of toy\.csv"):
        encode([[np.inf]], name="toy.csv")


WAYS = {
    "category": lambda s: s.astype("category"),
    "str": lambda s: s.astype("str").where(s.notna()),
    "string": lambda s: s.astype("string"),
    "object": lambda s: s.astype(object),
    "polars": lambda s: pl.Series(s.where(s.notna(), None).tolist(), dtype=pl.String),
}


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["b", "a", "", "ü", "zz", "z\x00", None]),
        min_size=1,
        max_size=12,
    ),
    st.integers(0, 5),
)
def test_categories_have_the_same_codes_for_every_dtype(names, n_numbers):
    """Against a plain loop, beside more or fewer columns of numbers."""
    expected = sorted({v for v in names if v is not None})
    codes = [np.nan if v is None else expected.index(v) for v in names]
    for kind, make in WAYS.items():
        column = make(pd.Series(names, dtype=object))
        data = {f"x{j}": np.arange(len(names)) + 0.5 for j in range(n_numbers)}
        data["name"] = column
        frame = (pl if kind == "polars" else pd).DataFrame(data)
        if frame["name"].isnull().all() if kind != "polars" else not expected:
            continue  # nothing says that such a column is nominal
        table = encode(frame)
        assert table.categories[-1].tolist() == expected, kind
        np.testing.assert_array_equal(table.values[:, -1], codes)
        again = encode(frame, categories=(*[None] * n_numbers, np.array(["zz", "a"])))
        wanted = {"zz": 0, "a": 1}
        np.testing.assert_array_equal(
            again.values[:, -1], [wanted.get(v, np.nan) for v in names]
        )

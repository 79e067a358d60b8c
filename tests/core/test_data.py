"""The door: one form for every table, and back."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from veridical._core.data import read_data

Y = np.array(["b", "a", "b", "c"])


@pytest.fixture
def mixed():
    return pd.DataFrame(
        {
            "size": [1.0, np.nan, 3.0, 4.0],
            "kind": pd.Categorical(["x", None, "y", "x"], categories=["y", "x", "z"]),
            7: [5, 6, 7, 8],
        }
    )


def test_codes_follow_the_order_of_appearance():
    data = read_data(np.eye(4), Y)
    assert data.codes.tolist() == [0, 1, 0, 2]
    assert data.labels.tolist() == Y.tolist()
    assert data.summary("toy").classes == {"a": 1, "b": 2, "c": 1}
    assert data.summary("toy").majority_share == 0.5


def test_labels_of_several_kinds_are_listed():
    data = read_data(np.eye(3), np.array([1, "x", 1], dtype=object))
    assert data.summary("toy").classes == {"1": 2, "x": 1}


def test_a_mixed_table_comes_back_as_it_was(mixed):
    data = read_data(mixed, Y)
    assert data.names == ("size", "kind", "7")
    rows, columns = np.array([3, 1]), np.array([1, 0])
    assert np.array_equal(
        data.take(rows, columns), [[1.0, 4.0], [np.nan, np.nan]], equal_nan=True
    )
    table = data.table(rows, columns)
    assert list(table.columns) == ["kind", "size"]
    assert table["kind"].tolist()[0] == "x"
    assert table["kind"].isna().tolist() == [False, True]
    assert table["kind"].cat.categories.tolist() == ["y", "x", "z"]
    numbers = data.table(rows, np.array([2, 0]))
    assert isinstance(numbers, np.ndarray)


def test_permuted_keeps_to_the_leading_rows(mixed):
    data = read_data(mixed, Y)
    table = data.permuted(np.array([2, 1, 0]), 3)
    assert list(table.columns) == ["7", "kind", "size"]
    assert len(table) == 3


def test_sparse_stays_sparse_until_columns_are_taken():
    dense = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0, 0, 3], [4, 0, 0]])
    data = read_data(sparse.csr_matrix(dense), Y)
    assert np.array_equal(
        data.take(np.array([2, 0]), np.array([2, 1])), [[3, 0], [0, 2]]
    )
    permuted = data.permuted(np.array([2, 0, 1]), 2)
    assert sparse.issparse(permuted)
    assert np.array_equal(permuted.toarray(), dense[:2][:, [2, 0, 1]])
    assert data.names == ("x0", "x1", "x2")

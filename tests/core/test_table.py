"""Tables: one form for data of every kind, and back."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from veridical._core.errors import InputError
from veridical._core.reading import read_table

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


def test_classes_are_sorted_or_numbered_as_they_appear():
    data = read_table(np.eye(4), Y)
    assert data.y.tolist() == [1, 0, 1, 2]
    assert data.target.classes.tolist() == ["a", "b", "c"]
    assert data.target.by_appearance.tolist() == [0, 1, 0, 2]
    assert data.labels.tolist() == Y.tolist()
    assert data.summary("toy").classes == {"a": 1, "b": 2, "c": 1}
    assert data.summary("toy").majority_share == 0.5


def test_labels_of_several_kinds_are_listed():
    data = read_table(np.eye(3), np.array([1, "x", 1], dtype=object))
    assert data.summary("toy").classes == {"1": 2, "x": 1}


def test_a_mixed_table_comes_back_as_it_was(mixed):
    data = read_table(mixed, Y)
    assert data.feature_names == ("size", "kind", "7")
    rows, columns = np.array([3, 1]), np.array([1, 0])
    assert np.array_equal(
        data.take(rows, columns), [[1.0, 4.0], [np.nan, np.nan]], equal_nan=True
    )
    table = data.features.frame(rows, columns)
    assert list(table.columns) == ["kind", "size"]
    assert table["kind"].tolist()[0] == "x"
    assert table["kind"].isna().tolist() == [False, True]
    assert table["kind"].cat.categories.tolist() == ["y", "x", "z"]
    numbers = data.features.frame(rows, np.array([2, 0]))
    assert isinstance(numbers, np.ndarray)
    assert data.frame(rows, columns).equals(mixed.iloc[rows, columns])


def test_a_permuted_table_is_read_as_it_would_be_anew(mixed):
    data = read_table(mixed, Y)
    order = np.array([2, 1, 0])
    shuffled = data.rows(slice(0, 3)).permute(order)
    anew = read_table(mixed.iloc[:3, order], Y[:3])
    assert shuffled.names == anew.names == ("7", "kind", "size")
    assert np.array_equal(shuffled.values, anew.values, equal_nan=True)
    assert shuffled.labels.tolist() == Y[:3].tolist()


def test_features_are_encoded_when_they_are_first_asked_for():
    words = [["any"], ["thing"]]
    data = read_table(words, ["a", "b"], encoded=False)
    assert data.frame(np.array([1])) == [["thing"]]
    with pytest.raises(InputError, match="not a number"):
        data.values  # noqa: B018


def test_sparse_stays_sparse_until_columns_are_taken():
    dense = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0, 0, 3], [4, 0, 0]])
    data = read_table(sparse.csr_matrix(dense), Y)
    assert np.array_equal(
        data.take(np.array([2, 0]), np.array([2, 1])), [[3, 0], [0, 2]]
    )
    permuted = data.rows(slice(0, 2)).permute(np.array([2, 0, 1])).values
    assert sparse.issparse(permuted)
    assert np.array_equal(permuted.toarray(), dense[:2][:, [2, 0, 1]])
    assert data.feature_names == ("x0", "x1", "x2")

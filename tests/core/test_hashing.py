"""The hash of a table: the same for the same table, whoever holds it."""

import hashlib
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csc_array, csr_array

from veridical._core.hashing import table_hash


def test_against_the_definition():
    X = pd.DataFrame({"mass": [7, 150.5, np.nan], "colour": ["red", None, "blue"]})
    head = {
        "n_samples": 3,
        "columns": ["mass", "colour"],
        "nominal": {"1": ["blue", "red"]},
        "labels": ["cherry", "apple", "plum"],
    }
    values = np.array([[7, 1], [150.5, np.nan], [np.nan, 0]])
    text = json.dumps(head, sort_keys=True).encode() + b"\n" + values.tobytes()
    expected = hashlib.sha256(text).hexdigest()
    assert table_hash(X, ["cherry", "apple", "plum"]) == expected


def test_data_container_does_not_matter():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 3)), rng.integers(2, size=600)
    X[5, 1] = np.nan
    same = [
        X,
        np.asfortranarray(X),
        X.tolist(),
        pd.DataFrame(X, columns=["x0", "x1", "x2"]),
        pl.DataFrame({f"x{j}": X[:, j] for j in range(3)}),
    ]
    assert len({table_hash(table, y) for table in same}) == 1
    words = ["u", "w", None] * 200
    frame = pd.DataFrame({"n": X[:, 0], "w": words})
    same = [
        frame,
        frame.astype({"w": pd.CategoricalDtype(["z", "w", "u"])}),
        pl.DataFrame({"n": X[:, 0], "w": words}),
    ]
    assert len({table_hash(table, y) for table in same}) == 1


def test_every_part_enters_the_hash():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["u", "v", "v"]})
    y = [0, 1, 1]
    other = [
        (X, [0, 1, 0]),
        (X.rename(columns={"a": "c"}), y),
        (X.assign(a=[1.0, 2.0, np.nextafter(3.0, 4.0)]), y),
        (X.assign(b=["u", "v", "w"]), y),
        (X.assign(b=["u", "u", "v"]), y),
        (X.iloc[::-1], y[::-1]),
        (X[["b", "a"]], y),
    ]
    hashes = {table_hash(*table) for table in [(X, y), *other]}
    assert len(hashes) == 1 + len(other)


def test_sparse_matrices_by_what_they_store():
    dense = np.array([[0, 1.5, 0], [2, 0, 0], [0, 0, 3]])
    y = [0, 1, 1]
    twice = csr_array(
        ([1.0, 0.5, 2.0, 3.0], ([0, 0, 1, 2], [1, 1, 0, 2])), shape=(3, 3)
    )
    unsorted = csc_array(dense[::-1].copy())[::-1]
    before = unsorted.indices.copy()
    hashes = {table_hash(X, y) for X in (csc_array(dense), twice, unsorted)}
    assert len(hashes) == 1
    np.testing.assert_array_equal(unsorted.indices, before)
    assert table_hash(csr_array(2 * dense), y) not in hashes


@pytest.mark.parametrize("y", [[True, False], np.array(["a", "b"], dtype=object)])
def test_labels_of_any_kind(y):
    assert len(table_hash([[1.0], [2.0]], y)) == 64

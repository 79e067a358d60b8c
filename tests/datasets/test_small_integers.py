"""Columns of small whole numbers are coded by counting; the codes are the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from veridical.datasets import encode


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float64, np.float32])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_codes_are_positions_among_the_sorted_values(dtype, data):
    shape = data.draw(st.tuples(st.integers(1, 12), st.integers(1, 5)))
    elements = st.sampled_from([0, 1, 2, 3, 7, 200, 255])
    X = data.draw(arrays(dtype, shape, elements=elements))
    before = X.copy()
    table = encode(X, np.ones(shape[1], dtype=bool))
    np.testing.assert_array_equal(X, before)
    for j in range(shape[1]):
        values, codes = np.unique(X[:, j], return_inverse=True)
        np.testing.assert_array_equal(table.categories[j], values)
        np.testing.assert_array_equal(table.values[:, j], codes)


def test_others_are_coded_one_by_one():
    X = np.array([[0.0, -1.0, 0.5, 300.0, np.nan], [2.0, 4.0, 0.5, 1.0, 3.0]])
    table = encode(X, np.ones(5, dtype=bool))
    expected = [[0, 0, 0, 1, np.nan], [1, 1, 0, 0, 0]]
    np.testing.assert_array_equal(table.values, expected)
    assert [c.tolist() for c in table.categories][-1] == [3.0]


def test_a_matrix_of_its_own_codes_is_not_copied():
    X = np.tile(np.arange(4.0), (3, 1)).T
    table = encode(X, np.ones(3, dtype=bool))
    assert np.shares_memory(table.values, X)

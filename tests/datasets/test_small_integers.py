"""Columns of small whole numbers are coded by counting; the codes are the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from veridical._core.encoding import encode

KINDS = [np.int64, np.int32, np.int8, np.uint8, np.uint16, np.float64, np.float32]


@pytest.mark.parametrize("dtype", KINDS)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_codes_are_positions_among_the_sorted_values(dtype, data):
    shape = data.draw(st.tuples(st.integers(1, 12), st.integers(1, 5)))
    most = np.iinfo(dtype).max if np.dtype(dtype).kind in "iu" else 255
    small = [v for v in (0, 1, 2, 3, 7, 63, 64, 200, 255) if v <= most]
    elements = st.sampled_from(small)
    X = data.draw(arrays(dtype, shape, elements=elements))
    X = np.array(X, order=data.draw(st.sampled_from(["C", "F"])))
    before = X.copy()
    table = encode(X, np.ones(shape[1], dtype=bool))
    np.testing.assert_array_equal(X, before)
    for j in range(shape[1]):
        values, codes = np.unique(X[:, j], return_inverse=True)
        np.testing.assert_array_equal(table.categories[j], values)
        np.testing.assert_array_equal(table.values[:, j], codes)


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 9), st.integers(1, 4)),
        elements=st.sampled_from([0, 1, 2, 64, 90, np.nan, -0.0, 0.5, 256, 1e300]),
    ),
    st.sampled_from(["C", "F"]),
)
@settings(max_examples=60, deadline=None)
def test_codes_do_not_depend_on_the_way_they_are_found(X, order):
    """Holes and numbers of any kind: the codes are those of a column of objects."""
    table = encode(np.array(X, order=order), np.ones(X.shape[1], dtype=bool))
    asked_singly = encode(X.astype(object), np.ones(X.shape[1], dtype=bool))
    np.testing.assert_array_equal(table.values, asked_singly.values)
    for found, expected in zip(table.categories, asked_singly.categories, strict=True):
        assert found.dtype == np.float64
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("order", ["C", "F"])
def test_others_are_coded_one_by_one(order):
    X = [[0.0, -1.0, 0.5, 300.0, np.nan], [2.0, 4.0, 0.5, 1.0, 3.0]]
    table = encode(np.array(X, order=order), np.ones(5, dtype=bool))
    expected = [[0, 0, 0, 1, np.nan], [1, 1, 0, 0, 0]]
    np.testing.assert_array_equal(table.values, expected)
    assert [c.tolist() for c in table.categories][-1] == [3.0]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("hole", [False, True])
def test_a_matrix_of_its_own_codes_is_not_copied(order, hole):
    X = np.array(np.tile(np.arange(4.0), (3, 1)).T, order=order)
    if hole:
        X[3, 1] = np.nan
    table = encode(X, np.ones(3, dtype=bool))
    assert np.shares_memory(table.values, X)

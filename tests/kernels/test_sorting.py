"""Sorting by packed keys against a plain sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from veridical.kernels.sorting import sort_and_count, sort_rows, sort_stored


def check(columns):
    order = sort_rows(columns)
    values = np.take_along_axis(columns, order, axis=1)
    np.testing.assert_array_equal(values, np.sort(columns, axis=1))
    np.testing.assert_array_equal(
        np.sort(order, axis=1), np.tile(np.arange(columns.shape[1]), (len(columns), 1))
    )


@settings(deadline=None)
@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=40),
        elements=st.floats(allow_infinity=True, allow_nan=True)
        | st.sampled_from([0.0, -0.0, 1.0, np.nextafter(1.0, 2.0), 1e15, 1e15 + 1]),
    )
)
def test_any_numbers_are_sorted(columns):
    check(columns)


@pytest.mark.parametrize("n", [1, 2, 1000, 1024, 1025])
@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
def test_normal_features_are_sorted(n, scale):
    check(np.random.default_rng(n).normal(size=(5, n)) * scale)


@pytest.mark.parametrize("step", [1, 3, 1000])
def test_values_that_differ_only_in_the_bits_that_were_cut_off(step):
    rng = np.random.default_rng(step)
    ulps = rng.permuted(np.tile(np.arange(2000) * step, (4, 1)), axis=1)
    columns = (np.float64(1.0).view(np.int64) + ulps).view(np.float64)
    check(columns)
    check(-columns)


def test_nothing_to_sort():
    assert sort_rows(np.empty((3, 0))).shape == (3, 0)
    assert sort_rows(np.empty((0, 3))).shape == (0, 3)


def test_different_values_are_counted():
    columns = np.array([[0.0, -0.0, 1.0, np.nan], [2.0, 3.0, 1.0, 3.0]])
    rng = np.random.default_rng(0)
    ulps = rng.integers(0, 300, (4, 2000))
    near = (np.float64(1.0).view(np.int64) + ulps).view(np.float64)
    for block in (columns, near, np.full((1, 3), np.nan), np.round(near, 1)):
        _, n_values = sort_and_count(block)
        expected = [np.unique(x[~np.isnan(x)]).size for x in block]
        assert n_values.tolist() == expected


@settings(deadline=None)
@given(
    st.lists(
        st.lists(
            st.floats(allow_nan=True, allow_infinity=False)
            | st.sampled_from([0.0, -0.0, 1.0, np.nextafter(1.0, 2.0)]),
            max_size=20,
        ),
        max_size=8,
    )
)
def test_stored_values_are_sorted_within_their_features(features):
    values = np.array([v for x in features for v in x])
    end = np.cumsum([0, *map(len, features)])
    order = sort_stored(values, end)
    for x, lo, hi in zip(features, end[:-1], end[1:], strict=True):
        np.testing.assert_array_equal(np.sort(order[lo:hi]), np.arange(lo, hi))
        np.testing.assert_array_equal(values[order[lo:hi]], np.sort(x))


def test_stored_values_that_differ_in_the_last_bits_only():
    ulps = np.random.default_rng(0).permuted(np.tile(np.arange(2000), (4, 1)), axis=1)
    values = (np.float64(1.0).view(np.int64) + ulps).view(np.float64)
    order = sort_stored(values.ravel(), np.arange(0, 8001, 2000))
    np.testing.assert_array_equal(values.ravel()[order], np.sort(values).ravel())

"""Sample weights are checked in one place, and rounded so that sums are exact."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical._core.errors import InputError
from veridical._core.weights import read_weights, round_weights


def test_sample_weights():
    assert read_weights(None, 4).tolist() == [1.0] * 4
    assert read_weights(2, 3).tolist() == [2.0] * 3
    assert read_weights([1, 0, 2, 1], 4).dtype == np.float64
    assert read_weights(pd.Series([1, 0], index=[7, 8]), 2).tolist() == [1.0, 0.0]


def test_the_weights_of_the_user_are_not_shared():
    given_weights = np.ones(3)
    read_weights(given_weights, 3)[0] = 5.0
    assert given_weights.tolist() == [1.0] * 3


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (
            [1, -1, 1, 1],
            r"Negative values in sample_weight: -1 in row 1, counted from 0; give 0",
        ),
        (
            [1, 1, np.nan, 1],
            r"NaN in sample_weight: nan in row 2, counted from 0; replace",
        ),
        ([np.inf, 1, 1, 1], r"Infinite values in sample_weight: inf in row 0"),
        ([0, 0, 0, 0], r"at least one non-zero weight, or leave sample_weight out"),
        ([1, 1], r"shape \(2,\), but X has 4 samples; give one weight for each"),
        (np.ones((4, 1)), r"shape \(4, 1\)"),
        (["a", 1, 1, 1], r"sample_weight must be numbers, one for each sample"),
        (-1.0, "Negative values"),
    ],
)
def test_weights_that_cannot_be_used(weights, words):
    with pytest.raises(InputError, match=words):
        read_weights(weights, 4)


@given(
    st.lists(
        st.one_of(st.just(0.0), st.floats(1e-30, 1e30)), min_size=1, max_size=30
    ).filter(any),
    st.randoms(),
)
def test_sums_of_rounded_weights_are_exact_in_any_order(weights, random):
    weights = np.array(weights)
    rounded = round_weights(weights)
    np.testing.assert_array_equal(rounded > 0, weights > 0)
    assert np.abs(rounded - weights).max() <= 2.0**-51 * weights.sum()
    shuffled = rounded.tolist()
    random.shuffle(shuffled)
    assert sum(shuffled) == rounded.sum() == rounded[::-1].cumsum()[-1]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=30))
def test_whole_weights_are_not_rounded(weights):
    weights = np.array(weights, dtype=float)
    assert round_weights(weights) is weights

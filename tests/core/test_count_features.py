"""How many features: one reading of numbers, shares and None, used everywhere."""

import warnings
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from veridical._core.errors import InputError
from veridical._core.validation import count_features
from veridical.comparison import compare
from veridical.evaluation import estimate
from veridical.learning import BiasCorrectedGaussianNB
from veridical.selection import AnovaF


@given(st.integers(1, 5000), st.integers(1, 100))
def test_a_share_in_hundredths_is_what_it_says(n_features, hundredths):
    exact = Fraction(hundredths, 100) * n_features
    assert count_features(hundredths / 100, n_features) == max(1, int(exact))


def test_numbers_and_none():
    assert count_features(3, 10) == 3
    assert count_features(np.int64(30), 10) == 10
    assert count_features(None, 10) == 10
    assert count_features(None, 10, otherwise=4) == 4


@pytest.mark.parametrize(
    ("wanted", "word"),
    [
        (0, "n=0 selects nothing"),
        (-2, "n=-2 selects nothing"),
        (1.5, "n=1.5 is not a share"),
        (0.0, "n=0.0 is not a share"),
        (float("nan"), "n=nan is not a share"),
        (True, "n=True is neither"),
        ("all", "n='all' is neither"),
    ],
)
def test_what_is_no_number_of_features(wanted, word):
    with pytest.raises(InputError, match=word):
        count_features(wanted, 10, name="n")


def test_more_than_there_are_is_said_where_it_matters():
    with pytest.warns(UserWarning, match="n=11 is more than the 10 features of X"):
        assert count_features(11, 10, name="n", warn=True) == 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert count_features(11, 10) == 10


class Counting(GaussianNB):
    """Note how many features it was given."""

    seen: ClassVar[list[int]] = []

    def fit(self, X, y, sample_weight=None):
        self.seen.append(X.shape[1])
        return super().fit(X, y, sample_weight)


def test_everyone_takes_29_of_100_for_a_share_of_0_29():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 100)), np.arange(60) % 2
    assert int(0.29 * 100) == 28, "in binary the product falls short"
    assert AnovaF(0.29).fit(X, y).n_features_ == 29
    assert BiasCorrectedGaussianNB(0.29).fit(X, y).n_features_ == 29
    Counting.seen.clear()
    estimate(make_pipeline(AnovaF(0.29), Counting()), X, y, cv=5)
    assert set(Counting.seen) == {29}
    found = compare(["anova", "correlation"], X, y, n_features_to_select=0.29, cv=3)
    assert found.n_features_to_select == 29

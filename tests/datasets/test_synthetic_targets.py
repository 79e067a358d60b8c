"""Sources of numbers and survival times have the truth that they promise."""

from __future__ import annotations

import numpy as np
import pytest

from veridical._core.errors import InputError
from veridical._core.survival_scores import concordance
from veridical._core.targets import Survival
from veridical.datasets import (
    SOURCES,
    make_friedman,
    make_linear_regression,
    make_random_numbers,
    make_random_survival,
    make_survival,
)


@pytest.mark.parametrize("r2", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("tail_df", [np.inf, 5.0])
def test_features_explain_the_share_of_the_variance(r2, tail_df):
    X, y = make_linear_regression(
        20_000, 12, 10, r2=r2, tail_df=tail_df, random_state=0
    )
    A = np.c_[np.ones(len(X)), X]
    left = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    assert 1 - left.var() / y.var() == pytest.approx(r2, abs=0.02)
    assert y.var() == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("censored", [0.0, 0.1, 0.5, 0.8])
@pytest.mark.parametrize("strength", [0.0, 2.0])
def test_the_share_of_censored_times_is_the_one_asked_for(censored, strength):
    _, y = make_survival(
        20_000, 5, 5, censored=censored, strength=strength, random_state=0
    )
    # Three standard errors of a share of 20000.
    assert 1 - y["event"].mean() == pytest.approx(censored, abs=0.011)
    assert (y["time"] > 0).all()


def test_survival_follows_proportional_hazards():
    X, y = make_survival(4000, 3, 1, strength=1.0, censored=0.0, random_state=0)
    target = Survival(y["time"], y["event"])
    # P(T_i < T_j) of two exponential times is e^a / (e^a + e^b); its mean where a > b,
    # both standard normal, is about 0.72.
    difference = np.abs(np.diff(np.random.default_rng(0).normal(size=(2, 200_000)).T))
    expected = (1 / (1 + np.exp(-difference))).mean()
    assert concordance(target, X[:, 0]) == pytest.approx(expected, abs=0.01)


def test_friedman_is_the_printed_surface():
    X, y, relevant = make_friedman(50, noise=0.0, random_state=0, return_relevant=True)
    a, b, c, d, e = X[:, relevant].T
    wanted = 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
    np.testing.assert_allclose(y, wanted)


@pytest.mark.parametrize("make", [make_random_numbers, make_random_survival])
def test_noise_has_no_relevant_feature(make):
    X, y, relevant = make(30, 40, random_state=0, return_relevant=True)
    assert X.shape == (30, 40)
    assert len(y) == 30
    assert relevant.size == 0


def test_sources_draw_what_they_say():
    kinds = {source.kind for source in SOURCES.values()}
    assert kinds == {"classes", "numbers", "survival"}
    for source in SOURCES.values():
        if source.kind != "classes":
            X, y, relevant = source(20, random_state=0, return_relevant=True)
            assert X.shape == (20, source.n_features)
            assert relevant.size == source.n_relevant
            assert (y.dtype.names is not None) == (source.kind == "survival")


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (make_linear_regression, {"r2": 2}, "between 0 and 1"),
        (make_linear_regression, {"tail_df": 2}, "more than 2"),
        (make_linear_regression, {"n_relevant": 99}, "more than n_features"),
        (make_friedman, {"noise": -1}, "0 or more"),
        (make_survival, {"censored": 1}, "below 1"),
        (make_survival, {"shape": 0}, "positive"),
    ],
)
def test_bad_parameters_are_refused(make, options, message):
    with pytest.raises(InputError, match=message):
        make(50, **options)

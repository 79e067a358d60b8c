"""From scores to an order: sorted, complete, and independent of rounding."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.oracles import selection as oracle

from veridical.kernels.ordering import last_by_score, order_by_score

coarse = st.integers(-3, 3).map(float)
any_score = st.one_of(coarse, st.floats(allow_nan=True, allow_infinity=True))
score_lists = st.lists(any_score, min_size=1, max_size=12)


@given(scores=score_lists)
@settings(max_examples=80, deadline=None)
def test_the_oracles_order(scores):
    assume(oracle.is_clear(scores, rtol=1e-12))
    got = order_by_score(np.array(scores))
    assert got.tolist() == oracle.order_with_ties(scores, rtol=1e-12)


@given(scores=score_lists)
@settings(max_examples=80, deadline=None)
def test_every_feature_once_and_none_before_a_better_one(scores):
    scores = np.array(scores)
    order = order_by_score(scores)
    assert sorted(order.tolist()) == list(range(scores.size))
    ranked = scores[order]
    known = ranked[~np.isnan(ranked)]
    assert np.isnan(ranked[known.size :]).all(), "undefined scores come last"
    with np.errstate(invalid="ignore", over="ignore"):
        drop = known[:-1] - known[1:]
    slack = 1e-12 * len(scores) * np.abs(known[1:])
    assert ((drop >= -slack) | (known[:-1] == known[1:])).all()


@given(
    scores=st.lists(coarse, min_size=1, max_size=12),
    noise=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([1e-30, 1.0, 1e30]),
)
@settings(max_examples=80, deadline=None)
def test_noise_in_the_last_places_changes_nothing(scores, noise, scale):
    scores = np.array(scores) * scale
    rng = np.random.default_rng(noise)
    noisy = scores * (1 + rng.uniform(-1, 1, scores.size) * 1e-14)
    assert order_by_score(noisy).tolist() == order_by_score(scores).tolist()


@given(scores=st.lists(coarse, min_size=1, max_size=12), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=80, deadline=None)
def test_absolute_noise_around_zero(scores, seed):
    noise = np.random.default_rng(seed).uniform(-1, 1, len(scores)) * 1e-14
    noisy = order_by_score(np.array(scores) + noise, rtol=0.0, atol=1e-12)
    assert noisy.tolist() == order_by_score(np.array(scores), rtol=0.0).tolist()


@given(scores=st.permutations(list(range(10))))
def test_without_ties_the_order_moves_with_the_features(scores):
    order = order_by_score(np.array(scores, dtype=float))
    assert [scores[j] for j in order] == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("scores", "order"),
    [
        ([1.0, 3.0, 2.0], [1, 2, 0]),
        ([2.0, 2.0, 2.0], [0, 1, 2]),
        ([1.0, np.nan, 2.0, np.nan], [2, 0, 1, 3]),
        ([0.0, np.inf, -np.inf, np.inf], [1, 3, 0, 2]),
        ([0.0, -0.0, 1e-13], [2, 0, 1]),
        ([1.0, 1.0 + 5e-13, 1.0 + 1e-9], [2, 0, 1]),
        ([np.nan, np.nan], [0, 1]),
    ],
)
def test_scores_that_agree_up_to_rounding_are_ties(scores, order):
    assert order_by_score(np.array(scores)).tolist() == order


@given(
    st.lists(any_score | st.sampled_from([1.0, 1.0 + 1e-13, 1e-9]), min_size=60),
    st.integers(1, 20),
    st.sampled_from([0.0, 1e-12, 0.5]),
)
@settings(max_examples=80, deadline=None)
def test_the_last_are_the_last_of_all(scores, n_last, atol):
    scores = np.array(scores)
    wanted = order_by_score(scores, atol=atol)[-n_last:]
    assert last_by_score(scores, n_last, atol=atol).tolist() == wanted.tolist()


def test_last_by_score_is_the_end_of_the_order():
    rng = np.random.default_rng(0)
    for scores in (rng.normal(size=500), rng.integers(0, 9, 500) / 3, np.zeros(500)):
        wanted = order_by_score(scores)[-7:]
        assert last_by_score(scores, 7).tolist() == wanted.tolist()


def test_every_score_may_have_a_tolerance_of_its_own():
    scores = np.array([1.0, 1.1, 5.0, 5.1])
    own = np.array([0.2, 0.2, 0.0, 0.01])
    assert order_by_score(scores).tolist() == [3, 2, 1, 0]
    assert order_by_score(scores, atol=own).tolist() == [3, 2, 0, 1]
    assert last_by_score(scores, 1, atol=own).tolist() == [1]
    many = np.concatenate([scores, np.arange(10.0, 200.0)])
    wide = np.concatenate([own, np.zeros(190)])
    assert last_by_score(many, 2, atol=wide).tolist() == [0, 1]

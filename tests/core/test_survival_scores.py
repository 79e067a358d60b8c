"""Scores of survival: equal to scikit-survival's, invariant, defined at the edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sksurv import metrics
from sksurv.nonparametric import kaplan_meier_estimator

from veridical._core.survival_scores import (
    Observed,
    harrell,
    integrated_brier,
    kaplan_meier,
    pool_observed,
    score_times,
    time_dependent_auc,
    uno,
    without_features,
)
from veridical._core.targets import Survival


def _draw(rng, n, ties):
    time, censored = rng.exponential(10, n), rng.exponential(15, n)
    if ties:
        time, censored = np.ceil(time), np.ceil(censored)
    return Survival(np.minimum(time, censored) + 0.5, time <= censored)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_scores_equal_those_of_scikit_survival(seed, ties):
    rng = np.random.default_rng(seed)
    train, test = _draw(rng, 150, ties), _draw(rng, 60, ties)
    test = test.take(test.time < train.time[train.event].max())
    risk = rng.normal(size=len(test)) - test.time / 10
    risk = np.round(risk, 1) if ties else risk
    y = Observed(test, train)
    inside = (y.times > test.time.min()) & (y.times < test.time.max())
    times = y.times[inside]
    S = np.exp(-np.exp(risk)[:, None] * times / 10)
    pair = train.labels, test.labels
    by_them = [
        metrics.concordance_index_censored(test.event, test.time, risk)[0],
        metrics.concordance_index_ipcw(*pair, risk)[0],
        metrics.integrated_brier_score(*pair, S, times),
        metrics.cumulative_dynamic_auc(*pair, risk, times)[1],
    ]
    by_us = [
        harrell(y, risk),
        uno(y, risk),
        integrated_brier(y, S, times),
        time_dependent_auc(y, risk, times),
    ]
    np.testing.assert_allclose(by_us, by_them, rtol=0, atol=1e-12)


def test_kaplan_meier_equals_that_of_scikit_survival():
    target = _draw(np.random.default_rng(0), 80, ties=True)
    for reverse in (False, True):
        times, share = kaplan_meier_estimator(
            target.event, target.time, reverse=reverse
        )
        ours = kaplan_meier(target.time, target.event, of_censoring=reverse)
        np.testing.assert_allclose(ours(times), share, atol=1e-12)


def test_concordance_depends_on_the_order_of_risks_and_times_alone():
    rng = np.random.default_rng(1)
    target = _draw(rng, 50, ties=True)
    risk = rng.integers(0, 9, 50).astype(float)
    y = Observed(target, target)
    order = rng.permutation(50)
    other = target.take(order)
    stretched = Survival(target.time**2, target.event)
    c = harrell(y, risk)
    assert harrell(Observed(other, other), risk[order]) == pytest.approx(c, abs=1e-14)
    assert harrell(Observed(stretched, stretched), np.exp(risk)) == c
    assert harrell(y, -risk) == pytest.approx(1 - c, abs=1e-14)
    assert harrell(y, np.zeros(50)) == 0.5
    assert uno(y, np.zeros(50)) == 0.5


def test_without_censoring_uno_is_harrell():
    rng = np.random.default_rng(2)
    target = Survival(rng.exponential(size=40), np.ones(40, dtype=bool))
    risk = rng.normal(size=40)
    y = Observed(target, target)
    assert uno(y, risk) == pytest.approx(harrell(y, risk), abs=1e-14)


def test_scores_without_a_comparable_pair_are_not_defined():
    censored = Survival(np.array([1.0, 2.0]), np.zeros(2, dtype=bool))
    train = _draw(np.random.default_rng(3), 30, ties=False)
    y = Observed(censored, train)
    assert math.isnan(harrell(y, np.array([1.0, 2.0])))
    assert math.isnan(uno(y, np.array([1.0, 2.0])))
    assert math.isnan(time_dependent_auc(y, np.array([1.0, 2.0])))


def test_events_after_the_last_training_time_have_no_weight():
    train = Survival(np.array([1.0, 2.0, 3.0]), np.array([True, True, False]))
    test = Survival(np.array([1.5, 2.5, 9.0]), np.ones(3, dtype=bool))
    np.testing.assert_array_equal(Observed(test, train).weights, [1.0, 1.0, 0.0])


def _score_all(y, risk):
    S = np.exp(-np.exp(risk)[:, None] * y.times / 10)
    by_risk = [harrell(y, risk), uno(y, risk), time_dependent_auc(y, risk)]
    return [*by_risk, integrated_brier(y, S)]


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_weight_is_a_number_of_repeats(seed, ties):
    rng = np.random.default_rng(seed)
    train, test = _draw(rng, 90, ties), _draw(rng, 50, ties)
    risk = np.round(rng.normal(size=50) - test.time / 10, 1)
    w, v = rng.integers(0, 4, 50), rng.integers(0, 4, 90)
    weighted = Observed(test, train, w.astype(float), v.astype(float))
    repeated = Observed(
        test.take(np.repeat(np.arange(50), w)), train.take(np.repeat(np.arange(90), v))
    )
    np.testing.assert_array_equal(weighted.times, repeated.times)
    np.testing.assert_allclose(
        _score_all(weighted, risk),
        _score_all(repeated, np.repeat(risk, w)),
        rtol=0,
        atol=1e-12,
    )
    np.testing.assert_allclose(
        without_features(train, v.astype(float)),
        without_features(repeated.train),
        atol=1e-12,
    )
    pooled = pool_observed([weighted, weighted])
    doubled = pool_observed([repeated, repeated])
    np.testing.assert_allclose(
        _score_all(pooled, np.tile(risk, 2)),
        _score_all(doubled, np.tile(np.repeat(risk, w), 2)),
        rtol=0,
        atol=1e-12,
    )


def test_scores_do_not_depend_on_the_scale_of_weights():
    rng = np.random.default_rng(7)
    target = _draw(rng, 60, ties=True)
    risk, w = rng.normal(size=60), rng.uniform(0.1, 3, 60)
    one, other = (Observed(target, target, c * w, c * w) for c in (1.0, 0.001))
    np.testing.assert_array_equal(one.times, other.times)
    np.testing.assert_allclose(
        _score_all(one, risk), _score_all(other, risk), rtol=0, atol=1e-10
    )
    everyone = Observed(target, target, np.ones(60), np.ones(60))
    assert _score_all(everyone, risk) == _score_all(Observed(target, target), risk)


def test_scores_look_at_times_between_the_early_and_the_late_events():
    time = np.arange(1.0, 31.0)
    event = np.arange(30) % 3 > 0
    times = score_times(Survival(time, event))
    seen = time[event]
    assert (times[0], times[-1]) == (seen[1], seen[17])  # 2 and 18 of 20 events
    np.testing.assert_allclose(np.diff(times), np.ptp(times) / 24)

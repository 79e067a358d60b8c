"""Pictures of predictions: bins of numbers, risk groups, calibration."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sksurv.nonparametric import kaplan_meier_estimator

from veridical.datasets import make_linear_regression, make_survival
from veridical.evaluation import estimate
from veridical.evaluation.outcome_curves import survival_at_times


def test_bins_hold_the_means_of_predicted_and_observed_numbers():
    X, y = make_linear_regression(100, 5, 5, r2=0.7, random_state=0)
    rows = np.arange(100)
    found = estimate(LinearRegression(), X, y, cv=[(rows[:50], rows[50:])])
    (drawn,) = found.curves
    predicted = LinearRegression().fit(X[:50], y[:50]).predict(X[50:])
    bins = np.array_split(np.argsort(predicted, kind="stable"), 10)
    observed, said = drawn.curves
    for b, own in enumerate(bins):
        assert said.values[b].value == pytest.approx(predicted[own].mean())
        assert observed.values[b].value == pytest.approx(y[50:][own].mean())
        assert observed.values[b].low < observed.values[b].value


def test_intervals_of_bins_count_groups():
    """Groups of equal samples are as many samples as there are groups."""
    X, y = make_linear_regression(100, 5, 5, r2=0.7, random_state=0)
    rows = np.arange(100)
    once = estimate(LinearRegression(), X, y, cv=[(rows[:50], rows[50:])])
    repeated, again = np.repeat(rows, 4), np.arange(400)
    found = estimate(
        LinearRegression(),
        X[repeated],
        y[repeated],
        groups=repeated,
        cv=[(again[:200], again[200:])],
    )
    (alone,), (grouped,) = once.curves, found.curves
    assert "which count groups" in grouped.title
    for one, four in zip(alone.curves[0].values, grouped.curves[0].values, strict=True):
        assert four == pytest.approx(one)


def test_one_group_in_a_bin_says_nothing_about_others():
    X, y = make_linear_regression(60, 2, 2, r2=0.9, random_state=0)
    groups = np.repeat([0, 1, 2], 20)
    X = np.asarray(X) + 1000 * groups[:, np.newaxis]
    tested = np.arange(20, 60)
    found = estimate(
        LinearRegression(), X, y, groups=groups, cv=[(np.arange(20), tested)]
    )
    for one in found.curves[0].curves[0].values:
        assert (one.low, one.high) == (y[tested].min(), y[tested].max())


def test_risk_groups_are_divided_inside_each_fold():
    X, y = make_survival(150, 5, 5, strength=2.0, random_state=0)
    found = estimate("cox", X, y, cv=5, scoring=["concordance", "ibs"], random_state=0)
    groups, calibration = found.curves
    lower, higher = groups.curves
    assert "75 samples" in lower.label
    assert groups.steps
    marks = np.array([float(name) for name in groups.places if name])
    assert marks[0] == 0
    assert 4 < len(marks) < 12
    np.testing.assert_allclose(np.diff(marks), marks[1])
    assert lower.values[0] == higher.values[0] == (100.0, 100.0, 100.0)
    for low, high in zip(lower.values, higher.values, strict=True):
        assert low.value >= high.value
        assert 0 <= low.low <= low.value <= low.high <= 100
    observed = [one.value for one in calibration.curves[0].values]
    assert observed == sorted(observed)
    assert found.others[0].curves == ()


def test_intervals_are_those_of_scikit_survival():
    _, y = make_survival(80, 3, 3, random_state=1)
    times, share, bounds = kaplan_meier_estimator(
        y["event"], y["time"], conf_type="log-log"
    )
    found = survival_at_times(y["time"], y["event"], times)
    known = np.isfinite(bounds).all(axis=0) & (share > 0) & (share < 1)
    assert known.sum() > 60
    np.testing.assert_allclose(
        np.array(found)[known],
        100 * np.stack([share, *bounds], axis=1)[known],
        rtol=1e-3,
    )
    before, after = survival_at_times(y["time"], y["event"], times[[0, -1]] * [0.5, 2])
    assert before == (100.0, 100.0, 100.0)
    assert np.isnan(after).all() or after.value == 0


def test_classes_have_no_such_curves():
    X, y = make_linear_regression(60, 5, 5, random_state=0)
    assert estimate("nb", X, y > 0, cv=3).curves == ()

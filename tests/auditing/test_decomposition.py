"""The parts of a score add up, and a planted cause is the largest of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from veridical import audit, report
from veridical._core.reading import read_table
from veridical.auditing.class_traces import (
    find_class_imputed,
    impute_together,
    normalise_together,
)
from veridical.auditing.decomposing import part_between
from veridical.datasets import make_linear_regression, make_survival
from veridical.evaluation.intervals import paired_shares
from veridical.leakbench import MECHANISMS, draw_table

FEW = {"n_permutations": 19, "random_state": 0, "progress": False}
PARTS = (
    *("chance", "signal", "selection", "choice", "removed", "fitted", "overlap"),
    *("luck", "features", "duplicates", "groups", "order", "batch"),
)


def take_apart(name, source="noise", number=3):
    leaky = MECHANISMS[name].draw(source, number).leaky
    found = audit(leaky.estimator, leaky.X, leaky.y, cv=leaky.cv, **leaky.known, **FEW)
    return found, found.decomposition


@pytest.mark.filterwarnings("ignore:Some test samples are also training samples")
@pytest.mark.in_part(5)
@pytest.mark.parametrize(
    "name",
    [
        *("selection", "best-setting", "duplicates", "patients", "time-order", "batch"),
        *("consequence", "overlapping-folds", "cleaning"),
        *("target-encoding", "missingness", "threshold", "best-seed", "smote"),
        *("selection-hidden", "tuned-on-all", "batch-correction"),
    ],
)
def test_a_planted_cause_is_the_largest_part(name):
    found, parts = take_apart(name)
    assert parts.largest.name == MECHANISMS[name].cause
    assert sum(part.value for part in parts.parts) == pytest.approx(parts.reported)
    assert parts.reported == found.score[found.reported].value
    for part in parts.parts:
        assert part.low <= part.value <= part.high, part
    assert "The score taken apart" in report.page(found)


def test_honest_work_has_chance_signal_and_luck_only():
    table = draw_table("signal", 0)
    found = audit(GaussianNB(), table.X, table.y, cv=5, **FEW)
    parts = found.decomposition
    assert tuple(part.name for part in parts.parts) == PARTS
    assert {part.name for part in parts.parts if part.value} <= {
        "chance",
        "signal",
        "luck",
    }
    assert abs(parts["luck"].value) < 0.15
    assert parts["signal"].value > 0.05
    frame = parts.to_frame()
    assert frame["value"].sum() == pytest.approx(parts.reported)
    again = audit(GaussianNB(), table.X, table.y, cv=5, **FEW).decomposition
    assert again.parts == parts.parts


@pytest.mark.parametrize("name", ["selection-hidden", "tuned-on-all"])
def test_a_step_that_cannot_be_repeated_may_explain_all_above_chance(name):
    _, parts = take_apart(name)
    part = parts[MECHANISMS[name].cause]
    others = sum(one.value for one in parts.parts if one.name != part.name)
    assert (part.low, part.high) == (0.0, part.value)
    assert part.value == pytest.approx(parts.reported - others)
    signal = parts["signal"]
    assert signal.value == pytest.approx(0.0)
    assert signal.high - signal.value > part.value  # it may all be signal


@pytest.mark.parametrize("name", ["outcome-copy", "missingness"])
def test_a_perfect_score_does_not_make_the_signal_sure(name):
    """The interval is of the score without the feature, as if it never was there."""
    planted = MECHANISMS[name].draw("noise", 3, 1.0)
    works = planted.leaky, planted.cured
    leaky, honest = (audit(w.estimator, w.X, w.y, cv=5, **FEW) for w in works)
    assert leaky.score["in"].value > 0.95
    wide = honest.decomposition["signal"]
    found = leaky.decomposition["signal"]
    assert found.high - found.low > 0.6 * (wide.high - wide.low)


def test_samples_on_which_nothing_was_fitted_measure_what_fitting_adds():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 2))
    X[:60, 0] += 4 * y[:60]  # a feature that was fitted to the first half
    found = audit(KNeighborsClassifier(5), X, y, cv=5, fitted_on=np.arange(60), **FEW)
    right = found.score["in"].value
    unseen = next(one for one in found.findings if one.code == "VD029").details
    part = found.decomposition["fitted"]
    assert part.value == pytest.approx(right - unseen["accuracy_unseen"])
    assert part.low > 0.02
    assert part.high - part.value == pytest.approx(part.value - part.low)
    # Tested ten times, the samples say little more about others.
    often = RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0)
    again = audit(
        KNeighborsClassifier(5), X, y, cv=often, fitted_on=np.arange(60), **FEW
    )
    width = again.decomposition["fitted"].high - again.decomposition["fitted"].low
    assert width > 0.7 * (part.high - part.low)


def test_a_bound_holds_what_was_measured_of_the_same_step():
    """A correction cannot be repeated, and something was fitted on half of the rows."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    batch = (rng.random(120) < np.where(y == 1, 0.7, 0.3)).astype(int)
    X = rng.normal(size=(120, 20)) + y[:, np.newaxis] * (np.arange(20) < 3)
    X[:60, 0] += 3 * y[:60]
    for b, k in ((0, 0), (0, 1), (1, 0), (1, 1)):
        own = (batch == b) & (y == k)
        X[own] += X[y == k].mean(axis=0) - X[own].mean(axis=0)
    known = {"batch": batch, "fitted_on": np.arange(60)}
    found = audit(GaussianNB(), X, y, cv=5, **known, **FEW)
    severity = {one.code: one.severity for one in found.findings}
    assert severity["VD013"] == "error"
    assert any("accuracy_unseen" in one.details for one in found.findings)
    parts = found.decomposition
    assert sum(part.value for part in parts.parts) == pytest.approx(parts.reported)
    assert parts["signal"].value == pytest.approx(0.0)
    assert (parts["fitted"].low, parts["fitted"].high) == (0, parts["fitted"].value)


def test_other_scores_and_some_checks():
    table = draw_table("signal", 0)
    by_auc = audit(GaussianNB(), table.X, table.y, cv=5, scoring="roc_auc", **FEW)
    parts = by_auc.decomposition
    assert parts.reported == by_auc.score["in"].value
    assert sum(part.value for part in parts.parts) == pytest.approx(parts.reported)
    some = audit(GaussianNB(), table.X, table.y, cv=5, checks="VD003", **FEW)
    assert some.decomposition is None
    assert np.isfinite([part.value for part in parts.parts]).all()


def test_the_order_of_the_samples_is_no_part():
    """Runs with other folds have the labels of the samples, also in a sorted table."""
    table = draw_table("signal", 0)
    for order in (np.argsort(table.y), np.argsort(table.y)[::-1]):
        X, y = np.asarray(table.X)[order], np.asarray(table.y)[order]
        found = audit(GaussianNB(), X, y, cv=5, scoring="roc_auc", **FEW)
        parts = found.decomposition
        assert abs(parts["luck"].value) < 0.1
        assert parts["signal"].value > 0.05
        assert np.isfinite([part.value for part in parts.parts]).all()


@pytest.mark.parametrize("outcome", ["numbers", "survival"])
def test_scores_of_numbers_and_survival_times_are_taken_apart(outcome):
    make = make_linear_regression if outcome == "numbers" else make_survival
    X, y = make(90, 6, 3, random_state=0)
    X = np.asarray(X)
    X[60:], y[60:] = X[:30], y[:30]
    estimator = "ridge" if outcome == "numbers" else "cox"
    found = audit(estimator, X, y, cv=5, **FEW)
    parts = found.decomposition
    assert sum(part.value for part in parts.parts) == pytest.approx(parts.reported)
    assert parts["duplicates"].value != 0
    assert "The score taken apart" in report.page(found)


def test_equal_rows_of_few_values_and_a_number_to_predict():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 3)).astype(float)
    y = X[:, 0] + 0.5 * rng.normal(size=60)
    parts = audit("ridge", X, y, cv=5, **FEW).decomposition
    assert sum(part.value for part in parts.parts) == pytest.approx(parts.reported)


def test_features_that_tell_the_class_leave_nothing_behind():
    """Without the copy of the class the procedure is the one without the mistake."""
    planted = MECHANISMS["outcome-copy"].draw("noise", 3)
    honest = audit(
        planted.cured.estimator, planted.cured.X, planted.cured.y, cv=5, **FEW
    )
    found = audit(
        planted.leaky.estimator, planted.leaky.X, planted.leaky.y, cv=5, **FEW
    )
    left, right = found.decomposition, honest.decomposition
    # Both are means over the same other folds.
    rest = left.reported - left["luck"].value - left["features"].value
    assert rest == pytest.approx(right.reported - right["luck"].value)


def test_values_imputed_by_class_are_imputed_again():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    missing = np.zeros(X.shape, dtype=bool)
    missing[:12, 0] = True
    for k in (0, 1):
        own = y == k
        X[own & missing[:, 0], 0] = X[own & ~missing[:, 0], 0].mean()
    table = read_table(X, y)
    assert find_class_imputed(table) == [0]
    again = impute_together(table, X, [0])
    np.testing.assert_array_equal(again[~missing], X[~missing])
    np.testing.assert_allclose(again[missing], X[12:, 0].mean(), rtol=1e-12)


def test_values_normalised_by_class_are_normalised_again():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 6))
    again = normalise_together(X)
    assert np.ptp(np.sort(again, axis=1), axis=0).max() == 0
    np.testing.assert_array_equal(np.argsort(again, axis=1), np.argsort(X, axis=1))


def test_an_interval_of_a_difference_is_that_of_welch():
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=5), 3 * rng.normal(size=8)
    expected = stats.ttest_ind(one, two, equal_var=False).confidence_interval(0.95)
    part = part_between("groups", one, two, 0.05)
    np.testing.assert_allclose((part.low, part.high), expected, rtol=1e-10)
    assert part_between("groups", one, None, 0.05)[1:] == (0.0, 0.0, 0.0)


def test_equal_runs_have_an_interval_of_the_rule_of_three():
    """Samples that change with probability 0.4 in a run are seldom seen in five."""
    rng = np.random.default_rng(0)
    five, one = np.full(5, 0.9), np.array([0.8])
    part = part_between("order", five, one, 0.05, 1 / 50)
    assert part.high - part.value == pytest.approx(-np.log(0.05) / 5 / 50)
    assert part_between("order", five, one, 0.05).high == pytest.approx(0.1)
    both = part_between("groups", five, five, 0.05, 1 / 50)
    assert both.high == pytest.approx(2**0.5 * -np.log(0.05) / 5 / 50)
    covered = 0
    for _ in range(2000):
        runs = 1 - rng.poisson(0.4, 5) / 50
        low, high = part_between("luck", runs, np.zeros(1), 0.05, 1 / 50)[2:]
        covered += low <= 1 - 0.4 / 50 <= high
    assert covered / 2000 > 0.93


def test_runs_that_cannot_differ_have_no_width():
    table = draw_table("noise", 0).take(np.arange(24))
    found = audit(GaussianNB(), table.X, table.y, cv="loo", **FEW)
    assert found.decomposition["luck"][1:] == (0.0, 0.0, 0.0)


@pytest.mark.filterwarnings("ignore:Some test samples are also training samples")
def test_overlap_that_changes_nothing_has_an_interval():
    X, y = make_blobs(60, centers=[[0, 0], [9, 9]], random_state=0)
    splits = [
        (np.r_[train, test[:2]], test) for train, test in StratifiedKFold(5).split(X, y)
    ]
    found = audit(KNeighborsClassifier(1), X, y, cv=splits, **FEW)
    overlap = found.decomposition["overlap"]
    assert overlap.value == 0
    assert overlap.low < -0.02
    assert overlap.high > 0.02


@pytest.mark.filterwarnings("ignore:Some test samples are also training samples")
def test_the_interval_of_overlap_counts_samples():
    leaky = MECHANISMS["overlapping-folds"].draw("signal", 0).leaky
    found = audit(leaky.estimator, leaky.X, leaky.y, cv=leaky.cv, **FEW)
    won = lost = 0
    for train, test in leaky.cv:
        model = clone(leaky.estimator).fit(leaky.X[train], leaky.y[train])
        apart = np.setdiff1d(train, test)
        honest = clone(leaky.estimator).fit(leaky.X[apart], leaky.y[apart])
        one = model.predict(leaky.X[test]) == leaky.y[test]
        two = honest.predict(leaky.X[test]) == leaky.y[test]
        won, lost = won + np.sum(one & ~two), lost + np.sum(two & ~one)
    overlap = found.decomposition["overlap"]
    n = len(leaky.y)
    assert overlap.value == pytest.approx((won - lost) / n)
    bounds = paired_shares(float(won), float(lost), n)
    assert (overlap.low, overlap.high) == pytest.approx(bounds)

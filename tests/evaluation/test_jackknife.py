"""Intervals of any score on one test set, by leaving out samples or groups."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import norm
from sklearn import metrics
from sklearn.linear_model import LogisticRegression, Ridge

from veridical import estimate, select
from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical._core.records import Conclusion
from veridical._core.scoring import SCORES as SCORES_BY_NAME
from veridical.evaluation import Holdout
from veridical.evaluation.engine import Procedure, evaluate
from veridical.evaluation.jackknife import (
    MOST_BLOCKS,
    divide_test_set,
    divide_units,
    jackknife_interval,
    standard_error,
)


def problem(n=120, n_train=60, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.digitize(
        X[:, 0] + rng.normal(size=n), norm.ppf(np.arange(1, n_classes) / n_classes)
    )
    rows = np.arange(n)
    return X, y, [(rows[:n_train], rows[n_train:])]


#: Scores as scikit-learn computes them, of (y, probabilities, weights).
SCORES = {
    "roc_auc": lambda y, p, w: metrics.roc_auc_score(y, p[:, 1], sample_weight=w),
    "average_precision": lambda y, p, w: metrics.average_precision_score(
        y, p[:, 1], sample_weight=w
    ),
    "balanced_accuracy": lambda y, p, w: metrics.balanced_accuracy_score(
        y, p.argmax(axis=1), sample_weight=w
    ),
    "matthews_corrcoef": lambda y, p, w: metrics.matthews_corrcoef(
        y, p.argmax(axis=1), sample_weight=w
    ),
    "log_loss": lambda y, p, w: metrics.log_loss(y, p, sample_weight=w, labels=[0, 1]),
    "brier_score": lambda y, p, w: metrics.brier_score_loss(
        y, p[:, 1], sample_weight=w
    ),
}


@pytest.mark.parametrize("structure", ["", "groups", "weights", "both"])
@pytest.mark.parametrize("scoring", SCORES)
def test_the_error_is_that_of_a_slow_loop_of_scikit_learn(scoring, structure):
    X, y, cv = problem()
    groups = np.arange(120) // 4 if structure in ("groups", "both") else None
    weights = None
    if structure in ("weights", "both"):
        weights = np.random.default_rng(1).integers(0, 4, 120).astype(float)
    model = LogisticRegression()
    found = estimate(
        model, X, y, cv=cv, scoring=scoring, groups=groups, sample_weight=weights
    )
    ((train, test),) = cv
    model.fit(X[train], y[train], None if weights is None else weights[train])
    p, truth = model.predict_proba(X[test]), y[test]
    w = np.ones(60) if weights is None else weights[test]
    assert found.value == pytest.approx(SCORES[scoring](truth, p, w), rel=1e-10)
    units = test if groups is None else groups[test]
    values = []
    for unit in np.unique(units[w > 0]):
        left = units != unit
        values.append(SCORES[scoring](truth[left], p[left], w[left]))
    m = len(values)
    error = np.sqrt((m - 1) / m * np.sum((np.array(values) - np.mean(values)) ** 2))
    assert found.details["standard_error"] == pytest.approx(error, rel=1e-8)
    assert found.details["blocks"] == m
    low, high = found.interval(kind="jackknife")
    limits = found.score_range
    assert limits[0] < low < found.value < high < limits[1]
    assert (low, high) == pytest.approx(
        jackknife_interval(found.value, error, m, limits)
    )


def test_numbers_and_survival_times_have_it_too():
    X, _, cv = problem()
    rng = np.random.default_rng(3)
    target = X[:, 0] + rng.normal(size=120)
    found = estimate(Ridge(), X, target, cv=cv, scoring="r2")
    low, high = found.interval()
    assert low < found.value < high < 1
    time = np.exp(-X[:, 0] + rng.normal(size=120))
    y = np.array(
        list(zip(rng.random(120) < 0.7, time, strict=True)),
        dtype=[("event", bool), ("time", float)],
    )
    found = estimate("cox", X, y, cv=cv)
    low, high = found.interval()
    assert 0 < low < found.value < high < 1


def test_several_splits_and_accuracy_have_other_intervals():
    X, y, cv = problem()
    found = estimate("nb", X, y, cv=5, scoring="roc_auc", random_state=0)
    assert "jackknife" not in found.assumes
    assert list(estimate("nb", X, y, cv=cv).assumes) == ["wilson"]
    found = estimate("nb", X, y, cv=Holdout(), scoring="roc_auc", random_state=0)
    assert list(found.assumes) == ["jackknife"]


@pytest.mark.parametrize(
    ("scoring", "is_smooth"),
    [
        ("median_absolute_error", False),
        ("max_error", False),
        (metrics.make_scorer(metrics.median_absolute_error), False),
        ("mean_absolute_error", True),
        ("neg_mean_absolute_percentage_error", True),
        (metrics.make_scorer(lambda y, p: float(np.mean((y - p) ** 4))), True),
    ],
)
def test_medians_and_extremes_have_no_interval(scoring, is_smooth):
    X, _, cv = problem()
    found = estimate(Ridge(), X, X[:, 0] + X[:, 1] ** 2, cv=cv, scoring=scoring)
    assert list(found.assumes) == (["jackknife"] if is_smooth else [])
    said = [note for note in found.notes if "a median or an extreme" in note]
    assert len(said) == (not is_smooth)


def test_scores_without_blocks_are_those_of_these_blocks():
    X, y, cv = problem()
    score = SCORES_BY_NAME["log_loss"]
    learner = Procedure(LogisticRegression(), responses=("predict_proba",))
    (found,) = evaluate([learner], X, y, cv, scoring="log_loss")
    one_each = divide_test_set(read_table(X, y), cv[0][1])
    pairs = one_each // 2
    assert [len(found.left_out(score, own)) for own in (one_each, pairs)] == [60, 30]
    assert len(found.left_out(score, one_each)) == 60


def test_a_perfect_score_has_no_interval():
    X, y, cv = problem()
    X[:, 0] = 9.0 * y
    found = estimate(LogisticRegression(), X, y, cv=cv, scoring="roc_auc")
    assert found.value == 1
    with pytest.raises(InputError, match="no valid interval"):
        found.interval()
    assert isinstance(found.conclusion, Conclusion)


def test_a_class_that_one_group_holds_gives_no_error():
    """Without the group the score is not defined, so nothing is known of its error."""
    X, y, cv = problem(n_train=90)
    y[90:] = 0
    y[90:93] = 1
    groups = np.arange(120)
    groups[90:93] = 90
    found = estimate("nb", X, y, cv=cv, scoring="roc_auc", groups=groups)
    assert not found.assumes


def test_many_units_are_left_out_in_blocks():
    blocks = divide_units(np.repeat(np.arange(1000), 2))
    assert np.array_equal(blocks[::2], blocks[1::2])
    assert np.bincount(blocks).tolist() == [10] * MOST_BLOCKS
    rng = np.random.default_rng(0)
    values = rng.normal(size=3000)
    blocks = divide_units(np.arange(3000))
    without = np.array([values[blocks != b].mean() for b in range(MOST_BLOCKS)])
    expected = values.std(ddof=1) / np.sqrt(3000)
    assert standard_error(without) == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize(
    ("limits", "value"),
    [((0, 1), 0.97), ((-1, 1), -0.9), ((0, np.inf), 0.1), ((-np.inf, 1), 0.95)],
)
def test_intervals_stay_inside_the_limits(limits, value):
    for error in (1e-6, 0.05, 0.5, 50.0):
        low, high = jackknife_interval(value, error, 10, limits)
        assert limits[0] <= low < value < high <= limits[1]
    low, high = jackknife_interval(value, 1e-6, 1000, limits)
    assert (high - low) / 2 == pytest.approx(1.9623e-6, rel=1e-3)


@pytest.mark.parametrize(("n", "minority"), [(100, 0.3), (400, 0.1)])
def test_intervals_of_an_area_cover_it(n, minority):
    """400 test sets; 95 % with an error of 1.1 points."""
    from veridical._core.scoring import areas_under_roc

    rng = np.random.default_rng(0)
    y = (np.arange(n) < minority * n).astype(int)
    covered = 0
    blocks = divide_units(np.arange(n))
    for _ in range(400):
        scores = rng.normal(size=n) + np.sqrt(2) * norm.ppf(0.8) * y
        without = np.array(
            [
                areas_under_roc(y[blocks != b] == 1, scores[blocks != b][None])[0]
                for b in range(blocks.max() + 1)
            ]
        )
        area = float(areas_under_roc(y == 1, scores[None])[0])
        error = float(standard_error(without))
        low, high = jackknife_interval(area, error, len(without), (0, 1))
        covered += low <= 0.8 <= high
    assert 0.92 <= covered / 400 <= 0.98


def test_a_selection_has_it_at_every_number_of_features():
    X, y, cv = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = select(
            "anova",
            X,
            y,
            cv=cv,
            estimator="nb",
            scoring="roc_auc",
            random_state=0,
            n_features_to_select=3,
        )
    assert all(one.low < one.value < one.high for one in found.size_intervals)
    (score,) = found.scores
    assert score.interval == "jackknife"

"""Confusion matrices, curves and calibration of predictions."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, precision_recall_curve, roc_curve
from sklearn.model_selection import cross_val_predict

import veridical
from veridical import report
from veridical.evaluation import CrossValidation
from veridical.evaluation.curves import (
    PLACES,
    calibrate_logits,
    precision_at,
    roc_at,
    sums_above,
)
from veridical.evaluation.intervals import wilson
from veridical.evaluation.probabilities import bins_of


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(120) % 3, "no", "yes")
    X = rng.normal(size=(120, 4))
    X[:, 0] += y == "yes"
    return X, y


def test_confusion_is_that_of_scikit_learn(data):
    X, y = data
    splits = [tuple(one) for one in CrossValidation(5).split(y, 0)]
    model = LogisticRegression()
    found = veridical.estimate(model, X, y, cv=splits)
    predicted = cross_val_predict(model, X, y, cv=splits)
    assert found.class_predictions.classes == ("no", "yes")
    assert np.array_equal(
        found.class_predictions.confusion, confusion_matrix(y, predicted)
    )
    assert found.class_predictions.roc == ()  # no score needs decision values
    assert "Confusion matrix" in report.page(found)


@pytest.mark.parametrize("scoring", ["average_precision", "average_precision:no"])
def test_curves_are_of_the_positive_class_of_the_scores(data, scoring):
    X, y = data
    drawn = veridical.estimate(
        LogisticRegression(), X, y, cv=[(np.arange(60), np.arange(60, 120))],
        scoring=["brier", scoring],
    ).class_predictions  # fmt: skip
    positive = scoring.partition(":")[2] or "yes"
    assert drawn.positive == positive
    model = LogisticRegression().fit(X[:60], y[:60])
    proba = model.predict_proba(X[60:])[:, model.classes_.tolist().index(positive)]
    truth = y[60:] == positive
    assert [one.value for one in drawn.roc] == pytest.approx(
        roc_at(*sums_above(truth, proba))
    )
    assert [one.value for one in drawn.precision] == pytest.approx(
        precision_at(*sums_above(truth, proba))
    )
    assert [drawn.slope, drawn.intercept] == pytest.approx(
        calibrate_logits(truth, proba)
    )
    assert sum(one.n for one in drawn.bins) == 60
    assert [(one.n, one.observed) for one in drawn.bins] == [
        (one.n, one.observed) for one in bins_of(proba, truth)
    ]


def test_curves_take_1_for_positive_where_it_is_a_label():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([1, 2], 30))
    X = rng.normal(size=(60, 2)) + (y == 1)[:, None]
    asked = ["sensitivity", "roc_auc"]
    found = veridical.estimate("nb", X, y, cv=3, scoring=asked, random_state=0)
    assert found.class_predictions.positive == found.scoring.positive == "1"


@pytest.mark.parametrize("ties", [False, True])
def test_curves_are_those_of_scikit_learn(ties):
    rng = np.random.default_rng(1)
    truth = rng.random(80) < 0.4
    values = rng.normal(size=80) + truth
    values = np.round(values, 1) if ties else values
    fpr, tpr, _ = roc_curve(truth, values, drop_intermediate=False)
    for place, found in zip(PLACES, roc_at(*sums_above(truth, values)), strict=True):
        assert found >= tpr[fpr <= place + 1e-12].max() - 1e-12
        assert found <= tpr[fpr >= place - 1e-12].max() + 1e-12
    precision, recall, _ = precision_recall_curve(truth, values)
    found = precision_at(*sums_above(truth, values))
    for place, value in zip(PLACES[1:], found[1:], strict=True):
        reached = recall[:-1] >= place - 1e-12
        assert value == pytest.approx(precision[:-1][reached][-1])
    weights = rng.integers(1, 4, 80)
    rows = np.repeat(np.arange(80), weights)
    for curve in (roc_at, precision_at):
        one = curve(*sums_above(truth, values, weights.astype(float)))
        repeated = curve(*sums_above(truth[rows], values[rows]))
        assert one == pytest.approx(repeated)


def test_calibration_against_logistic_regression():
    rng = np.random.default_rng(2)
    z = rng.normal(size=500)
    truth = rng.random(500) < 1 / (1 + np.exp(-(0.5 + 0.6 * z)))
    proba = 1 / (1 + np.exp(-z))
    slope, intercept = calibrate_logits(truth, proba)
    model = LogisticRegression(C=1e10, tol=1e-10).fit(z[:, None], truth)
    assert slope == pytest.approx(model.coef_[0, 0], abs=1e-4)
    assert intercept > 0.2  # probabilities were too low
    shifted = 1 / (1 + np.exp(-(z + intercept)))
    assert shifted.mean() == pytest.approx(truth.mean(), abs=1e-8)
    assert np.isnan(calibrate_logits(truth, np.full(500, 0.3))[0])
    assert np.isnan(calibrate_logits(proba > 0.5, proba)[0])  # separated


def _bins_of(X, y, **structure):
    found = veridical.estimate(
        "nb", X, y, scoring="roc_auc", cv=5, random_state=0, **structure
    )
    return [one for one in found.class_predictions.bins if one.n], report.page(found)


def test_calibration_bins_count_groups(data):
    """Copies of samples in one group add nothing to what is known."""
    X, y = data
    alone, page = _bins_of(X, y)
    assert "as if samples were independent" in page
    copies = np.repeat(np.arange(120), 3)
    groups, page = _bins_of(X[copies], y[copies], groups=copies)
    assert "as if groups" in page
    assert {one.n_units for one in alone} == {0}
    assert sum(one.n for one in groups) == 360
    checked = 0
    for one in groups:
        # Every sample of a group is predicted alike, so a bin holds whole groups.
        assert 3 * one.n_units == one.n
        share = one.interval
        if one.n_units > 4 and 0 < share.value < 1:
            naive = wilson(share.value, one.n)
            assert share.high - share.low > 1.3 * (naive[1] - naive[0])
            checked += 1
    assert checked


def test_calibration_bins_of_whole_weights_are_those_of_copies(data):
    X, y = data
    times = np.random.default_rng(4).integers(1, 4, 120)
    copies = np.repeat(np.arange(120), times)
    folds = np.arange(120) % 5
    weighted = veridical.estimate(
        "nb", X, y, scoring="roc_auc", sample_weight=times,
        cv=[(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(5)],
    )  # fmt: skip
    folds = folds[copies]
    copied = veridical.estimate(
        "nb", X[copies], y[copies], scoring="roc_auc",
        cv=[(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(5)],
    )  # fmt: skip
    pairs = zip(
        weighted.class_predictions.bins, copied.class_predictions.bins, strict=True
    )
    for one, other in pairs:
        assert (one.predicted is None) == (other.predicted is None)
        if one.predicted is not None:
            assert one.predicted == pytest.approx(other.predicted, abs=1e-12)
            assert one.observed == pytest.approx(other.observed, abs=1e-12)


def test_pages_show_curves_with_bands(data):
    X, y = data
    scores = ["roc_auc", "brier"]
    found = veridical.estimate("logistic", X, y, cv=5, scoring=scores, random_state=0)
    curves = found.class_predictions
    assert all(one.low <= one.value <= one.high for one in curves.roc)
    assert curves.roc[-1].value == 1
    assert sum(one.n for one in curves.bins) == 120
    assert found.others[0].class_predictions is None
    page = report.page(found)
    for text in ("ROC curve", "Precision and recall", "Calibration slope"):
        assert text in page
    chosen = veridical.select(
        "anova", X, y, estimator="logistic", cv=5, scoring=scores, random_state=0
    )
    assert chosen.class_predictions.slope == chosen.class_predictions.slope
    assert "Calibration slope" in report.page(chosen)


def test_of_three_classes_there_is_the_confusion_matrix():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    found = veridical.estimate(
        "nb", rng.normal(size=(60, 3)), y, cv=3, scoring="roc_auc_ovr", random_state=0
    )
    assert np.sum(found.class_predictions.confusion) == 60
    assert found.class_predictions.roc == ()


@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy"])
def test_a_bin_of_samples_without_weight_has_no_interval(scoring):
    X = np.linspace(-1, 1, 60)[:, None]
    X[0] = 9  # alone in its bin
    weights = np.ones(60)
    weights[0] = 0
    found = veridical.estimate(
        "nb", X, np.tile([0, 0, 1], 20), cv=5, sample_weight=weights, scoring=scoring,
        random_state=0,
    )  # fmt: skip
    assert 0 <= found.value <= 1

"""Scores equal scikit-learn's on the same predictions; fast outputs equal the loop."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC

from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical._core.scoring import (
    SCORES,
    Outputs,
    StoredClasses,
    areas_under_roc,
    read_scoring,
)
from veridical._core.splits import CrossValidation
from veridical._core.targets import Classes
from veridical.evaluation import estimate, make_score
from veridical.evaluation.intervals import clopper_pearson
from veridical.learning import make_estimator
from veridical.learning.many import fill_by_loop, predict_loop, predict_table

BINARY = [name for name, one in SCORES.items() if one.kind == "classes"]
MULTI = [name for name in BINARY if not SCORES[name].two_classes]
OF_SKLEARN = {
    "log_loss": "neg_log_loss",
    "brier_score": "neg_brier_score",
    "sensitivity": "recall",
}


def reference(name, classes):
    """Return scikit-learn's scorer of a score."""
    if name == "specificity":
        return metrics.make_scorer(metrics.recall_score, pos_label=classes[0])
    if name in ("f1", "precision", "recall", "sensitivity"):
        function = getattr(metrics, f"{OF_SKLEARN.get(name, name)}_score")
        return metrics.make_scorer(function, pos_label=classes[-1], zero_division=0)
    if name == "brier_score" and len(classes) == 2:
        return metrics.make_scorer(
            metrics.brier_score_loss,
            response_method="predict_proba",
            pos_label=classes[-1],
            greater_is_better=False,
        )
    if name == "average_precision" and len(classes) == 2:
        return metrics.make_scorer(
            metrics.average_precision_score,
            response_method=("decision_function", "predict_proba"),
            pos_label=classes[-1],
        )
    return metrics.get_scorer(OF_SKLEARN.get(name, name))


@st.composite
def predictions(draw):
    """Draw classes and probabilities, with ties."""
    n_classes = draw(st.integers(2, 4))
    n = draw(st.integers(n_classes, 30))
    seed = draw(st.integers(0, 2**31))
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]
    levels = draw(st.sampled_from([2, 5, 1000]))
    proba = rng.integers(0, levels, (n, n_classes)) + 1e-3
    proba /= proba.sum(axis=1, keepdims=True)
    decision = (
        rng.integers(-levels, levels, n).astype(float) if n_classes == 2 else None
    )
    return y, Outputs(rng.integers(0, n_classes, n), proba, decision)


@settings(deadline=None, max_examples=60)
@given(predictions())
def test_every_score_equals_that_of_scikit_learn(drawn):
    y, outputs = drawn
    classes = np.array(list("abcd"))[: outputs.proba.shape[1]]
    model = StoredClasses(outputs, classes)
    for name in BINARY if len(classes) == 2 else MULTI:
        (score,) = read_scoring(name, Classes.from_labels(classes))
        if score.name == "average_precision" and len(classes) > 2:
            continue  # of decision values, see below
        found = score.score_outputs(y, outputs, classes, score.response(model)).value
        wanted = reference(name, classes)(model, np.zeros((len(y), 1)), classes[y])
        assert found == pytest.approx(score.sign * wanted, abs=1e-12), name


@pytest.mark.parametrize("y", [[0, 1], ["no", "yes"], [False, True], [-1, 1], [2, 1]])
def test_the_positive_class_is_1_or_else_the_last(y):
    classes = np.unique(y)
    (score,) = read_scoring("sensitivity", Classes.from_labels(classes))
    expected = 0 if classes.tolist() == [1, 2] else 1
    assert score.place_of_positive(classes) == expected
    assert score.info(classes).positive == str(classes[expected])


# -- from one evaluation -------------------------------------------------------------


@pytest.mark.parametrize("n_samples", [12, 60, 400])  # pairs compared, and sorted
def test_areas_of_all_sizes_are_those_of_scikit_learn(n_samples):
    rng = np.random.default_rng(n_samples)
    positive = np.arange(n_samples) % 3 == 0
    values = np.round(rng.normal(size=(4, n_samples)) + positive, 1)  # with ties
    found = areas_under_roc(positive, values)
    expected = [metrics.roc_auc_score(positive, one) for one in values]
    assert found == pytest.approx(expected, abs=1e-12)
    assert np.isnan(areas_under_roc(np.ones(n_samples, dtype=bool), values)).all()


def test_the_average_precision_of_three_classes_is_of_no_single_one():
    score = SCORES["average_precision"]
    assert score.info(np.array([0, 1, 2])).positive is None
    assert score.info(np.array([0, 1])).positive == "1"


@pytest.mark.parametrize("model", [GaussianNB(), LogisticRegression(max_iter=5000)])
def test_several_scores_equal_cross_validate(model):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    names = ["roc_auc", "accuracy", "f1", "neg_log_loss", "average_precision"]
    cv = StratifiedKFold(5, shuffle=True, random_state=1)
    found = estimate(model, X, y, cv=cv, scoring=names).by_score
    assert list(found) == ["roc_auc", "accuracy", "f1", "log_loss", "average_precision"]
    wanted = cross_validate(model, X, y, cv=cv, scoring=names)
    for name, one in zip(names, found.values(), strict=True):
        sign = one.scoring.sign
        np.testing.assert_allclose(
            one.scores, sign * wanted[f"test_{name}"], rtol=1e-9, atol=1e-12
        )
        if one.scoring.averaging == "mean of folds":
            assert one.value == pytest.approx(np.mean(one.scores))
    proba = cross_val_predict(model, X, y, cv=cv, method="predict_proba")
    assert found["log_loss"].scoring.averaging == "pooled"
    assert found["log_loss"].value == pytest.approx(metrics.log_loss(y, proba[:, 1]))


def test_a_mapping_names_scores_and_a_callable_gets_the_model():
    X, y = load_wine(return_X_y=True)
    seen = []

    def spy(model, X, y):
        seen.append(model)
        return float((model.predict(X) == y).mean())

    found = estimate(
        GaussianNB(), X, y, scoring={"own": spy, "bac": "balanced_accuracy"},
        cv=5, random_state=0,
    )  # fmt: skip
    assert list(found.by_score) == ["own", "bac"]
    assert len(seen) == 5
    assert found.by_score["bac"].scoring.label == "bac"
    plain = estimate(GaussianNB(), X, y, cv=5, random_state=0)
    np.testing.assert_allclose(found.scores, plain.scores)


@pytest.mark.parametrize("name", ["nb", "svm", "1nn", "logistic", "majority"])
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
@pytest.mark.parametrize("nested", [False, True])
def test_fast_outputs_equal_those_of_the_loop(name, load, nested):
    X, y = load(return_X_y=True)
    X, y = X[::3], y[::3]
    table = read_table(X, y)
    estimator = make_estimator(name)
    method = "predict_proba" if name in ("nb", "1nn", "majority") else None
    responses = (method or "decision_function",)
    splits = CrossValidation(3).split(table.labels, 0)
    orders = [np.random.default_rng(s).permutation(X.shape[1])[:5] for s in range(3)]
    more = (orders, (2, 5)) if nested else (None, None)
    fast = predict_table(estimator, table, splits, *more, responses)
    assert fast is not None
    fast = fill_by_loop(fast, estimator, table, splits, *more, responses)
    slow = predict_loop(estimator, table, splits, *more, responses)
    for one, other in zip(fast, slow, strict=True):
        np.testing.assert_array_equal(one.codes, other.codes)
        for a, b in zip(one[1:], other[1:], strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_the_linear_svm_decides_as_that_of_scikit_learn():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    from veridical.learning.linear_svm import LinearSVM

    ours = LinearSVM().fit(X, y).decision_function(X)
    theirs = SVC(kernel="linear", decision_function_shape="ovr").fit(X, y)
    np.testing.assert_allclose(ours, theirs.decision_function(X), atol=0.02)
    two = y < 2
    ours = LinearSVM().fit(X[two], y[two]).decision_function(X)
    theirs = SVC(kernel="linear").fit(X[two], y[two]).decision_function(X)
    np.testing.assert_allclose(ours, theirs, atol=0.02)


# -- losses, thresholds, intervals ---------------------------------------------------


def test_a_loss_is_a_positive_number_and_less_is_better():
    X, y = load_breast_cancer(return_X_y=True)
    good = estimate("nb", X, y, scoring="neg_log_loss", random_state=0)
    bad = estimate("majority", X, y, scoring="log_loss", random_state=0)
    assert good.metric == bad.metric == "log_loss"
    assert 0 < good.value < bad.value
    assert good.scoring.is_better(good.value, bad.value)
    assert good.scoring.chance == pytest.approx(0.6603, abs=1e-4)
    assert good.score_range == (0, math.inf)


def test_a_threshold_moves_sensitivity_against_specificity():
    X, y = load_breast_cancer(return_X_y=True)
    names = ["sensitivity", "sensitivity@0.01", "specificity", "specificity@0.01"]
    found = estimate("logistic", X, y, scoring=names, random_state=0).by_score
    sens, sens_low, spec, spec_low = (found[name].value for name in names)
    assert sens_low > sens
    assert spec_low < spec
    other = make_score("sensitivity", positive=0)
    flipped = estimate("logistic", X, y, scoring=other, random_state=0)
    assert flipped.value == pytest.approx(spec)
    assert flipped.scoring.positive == "0"


def test_the_positive_class_is_named_in_text():
    X, y = load_breast_cancer(return_X_y=True)
    names = ["sensitivity:0", "specificity", "sensitivity:0@0.2", "f1:0", "f1"]
    found = estimate("logistic", X, y, scoring=names, random_state=0).by_score
    assert list(found) == names
    assert found["sensitivity:0"].value == found["specificity"].value
    assert found["sensitivity:0@0.2"].value > found["sensitivity:0"].value
    assert found["sensitivity:0@0.2"].scoring.full_label == (
        "sensitivity at threshold 0.2 (0)"
    )
    asked = make_score("f1", positive=0)
    other = estimate("logistic", X, y, scoring=asked, random_state=0)
    assert found["f1:0"].value == other.value != found["f1"].value
    for wrong, said in [
        ("roc_auc:0", "does not depend on which class"),
        ("sensitivity:2", "positive='2' is not a class"),
        ("sensitivity:", "positive='' is not a class"),
        ("sensitvity:0", "did you mean 'sensitivity'"),
    ]:
        with pytest.raises(InputError, match=re.escape(said)):
            estimate("logistic", X, y, scoring=wrong)


def test_a_share_that_is_1_in_every_fold_has_an_interval_of_positive_width():
    X = np.r_[np.zeros(30), np.ones(20)][:, np.newaxis]
    y = np.r_[np.zeros(30), np.ones(20)].astype(int)
    found = estimate("nb", X + 0.01 * np.arange(50)[:, np.newaxis] % 0.1, y, cv=5,
                     scoring="sensitivity", random_state=0)  # fmt: skip
    assert found.value == 1
    assert found.interval() == clopper_pearson(1.0, 20)
    assert found.interval()[0] < found.interval()[1] == 1
    assert found.interval()[0] == pytest.approx(0.025 ** (1 / 20))


# -- bad input -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "scoring", "words"),
    [
        ("nb", "roc_acu", "did you mean 'roc_auc'"),
        (LinearSVC(), "log_loss", "CalibratedClassifierCV"),
        ("svm", ["accuracy", "brier"], r"needs probabilities, and LinearSVM\(\)"),
        ("nb", [], "scoring is empty"),
        ("nb", ["accuracy", "accuracy"], "twice"),
        ("nb", "sensitivity@2", "between 0 and 1"),
        ("nb", "sensitivity@low", "after @"),
        ("nb", "roc_auc@0.3", "no threshold"),
        ("nb", 3, "must be the name of a scorer"),
    ],
)
def test_bad_scores_are_refused_with_the_cure(estimator, scoring, words):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(InputError, match=words):
        estimate(estimator, X, y, scoring=scoring)


def test_an_estimator_that_cannot_rank_is_refused_for_auc():
    class Bare(DummyClassifier):
        predict_proba = property()

    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(InputError, match="needs decision values or probabilities"):
        estimate(Bare(), X, y, scoring="roc_auc")
    with pytest.raises(InputError, match="is not a class"):
        estimate("nb", X, y, scoring=make_score("f1", positive="yes"))

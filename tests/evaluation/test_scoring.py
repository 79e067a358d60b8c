"""Other scores than accuracy: classes that a split lacks, and ranges."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from sklearn import metrics
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from veridical._core.errors import InputError
from veridical._core.scoring import AllClasses, range_of
from veridical.evaluation import Bootstrap632, CrossValidation, LeaveOut, estimate

SCORES = [
    "balanced_accuracy",
    "neg_log_loss",
    "neg_brier_score",
    "roc_auc_ovr",
    "roc_auc_ovo",
    "f1_macro",
    "matthews_corrcoef",
    "top_k_accuracy",
    "d2_log_loss_score",
]


def three_classes(n_rare, n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b"] * ((n - n_rare) // 2) + ["rare"] * n_rare)
    X = rng.normal(size=(len(y), 3))
    X[:, 0] += 2 * (y == "b")
    X[:, 1] += 3 * (y == "rare")
    return X, y


# -- a class that a training set lacks -----------------------------------------------


@pytest.mark.parametrize("scoring", SCORES)
@pytest.mark.parametrize("model", [GaussianNB(), LogisticRegression()], ids=str)
@pytest.mark.parametrize("n_rare", [1, 2])
def test_a_score_is_defined_and_the_user_is_warned(scoring, model, n_rare):
    X, y = three_classes(n_rare)
    cv = KFold(6)  # in order: all rare samples are in the last fold
    with pytest.warns(UserWarning, match="'rare' is missing from the training set"):
        found = estimate(model, X, y, cv=cv, scoring=scoring, random_state=0)
    assert np.isfinite(found.value)
    assert any("never predicted there" in note for note in found.notes)
    undefined = np.isnan(found.scores)
    if undefined.any():
        assert any(f"on {undefined.sum()} of 6 test sets" in n for n in found.notes)
    if found.scoring.averaging == "mean of folds":
        assert 2 * undefined.sum() <= 6
        assert found.value == pytest.approx(np.nanmean(found.scores))
    else:
        assert 2 * undefined.sum() > 6 or "neg_" in scoring


def test_absent_classes_have_probability_0_and_the_rest_is_untouched():
    X, y = three_classes(2)
    known = y != "rare"
    model = LogisticRegression().fit(X[known], y[known])
    shown = AllClasses(model, np.unique(y))
    np.testing.assert_array_equal(
        shown.predict_proba(X), np.c_[model.predict_proba(X), np.zeros(len(X))]
    )
    decided = shown.decision_function(X)
    np.testing.assert_array_equal(decided[:, 1], model.decision_function(X))
    assert (decided[:, 2] < decided[:, :2].min(axis=1)).all()
    np.testing.assert_array_equal(shown.predict(X), model.predict(X))
    assert not hasattr(AllClasses(SVC(), np.unique(y)), "predict_proba")


def test_log_loss_by_hand():
    """The fold of the rare sample counts it at probability 0, the others as ever."""
    X, y = three_classes(1)
    train, test = np.arange(49), np.arange(49, 59)
    with pytest.warns(UserWarning, match="missing"):
        found = estimate(GaussianNB(), X, y, cv=[(train, test)], scoring="neg_log_loss")
    model = GaussianNB().fit(X[train], y[train])
    padded = np.c_[model.predict_proba(X[test]), np.zeros(len(test))]
    expected = metrics.log_loss(y[test], padded, labels=["a", "b", "rare"])
    assert found.value == pytest.approx(expected, rel=1e-12)
    assert math.isfinite(expected)


def test_a_training_set_of_one_class_has_a_score_too():
    X, y = three_classes(0, n=20)
    train, test = np.flatnonzero(y == "a")[:6], np.arange(12, 20)
    for scoring, expected in (("balanced_accuracy", 0.5), ("roc_auc", 0.5)):
        with pytest.warns(UserWarning, match="one class only"):
            found = estimate(SVC(), X, y, cv=[(train, test)], scoring=scoring)
        assert found.value == pytest.approx(expected)


# -- a class that a test set lacks ---------------------------------------------------


def test_undefined_splits_are_left_out_and_told():
    """The area under the curve of a test set of one class is nothing at all."""
    X, y = three_classes(0, n=40)
    rows = np.arange(40)
    one_class = rows[y == "a"][:5]
    splits = [
        (np.setdiff1d(rows, one_class), one_class),
        (rows[10:], rows[:10]),
        (rows[:30], rows[30:]),
    ]
    with pytest.warns(UserWarning, match="not defined on 1 of 3 test sets") as told:
        found = estimate(GaussianNB(), X, y, cv=splits, scoring="roc_auc")
    assert not any("UndefinedMetric" in type(w.message).__name__ for w in told)
    assert np.isnan(found.scores).tolist() == [True, False, False]
    expected = [
        metrics.roc_auc_score(
            y[test], GaussianNB().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
        )
        for train, test in splits[1:]
    ]
    assert found.value == pytest.approx(np.mean(expected))
    assert found.std == pytest.approx(np.std(expected, ddof=1))
    low, high = found.interval(kind="corrected-t")
    assert 0 <= low < found.value < high <= 1


def test_a_score_that_is_defined_on_no_fold_is_pooled_and_that_is_said():
    """In leave-one-out every test set lacks a class: models are mixed, and told so."""
    X, y = three_classes(0, n=20)
    with pytest.warns(UserWarning, match="come from different models"):
        found = estimate(GaussianNB(), X, y, cv=LeaveOut(1), scoring="roc_auc")
    assert found.scoring.averaging == "pooled"
    values = [
        GaussianNB()
        .fit(np.delete(X, i, 0), np.delete(y, i))
        .predict_proba(X[[i]])[0, 1]
        for i in range(20)
    ]
    assert found.value == pytest.approx(metrics.roc_auc_score(y, values))
    assert not found.assumes


def test_a_score_that_is_defined_nowhere_is_refused():
    X, y = three_classes(0, n=20)
    rows = np.arange(20)
    splits = [(np.delete(rows, [i]), [i]) for i in rows[y == "a"]]
    with pytest.raises(InputError, match="not defined on any test set"):
        estimate(GaussianNB(), X, y, cv=splits, scoring="roc_auc")


@pytest.mark.parametrize(
    ("scoring", "cure"), [("roc_auc", "roc_auc_ovr"), ("f1", "f1_macro")]
)
def test_scorers_that_do_not_fit_the_data_are_refused_in_words(scoring, cure):
    X, y = three_classes(15)
    with pytest.raises(InputError, match="for two classes, but there are 3") as refusal:
        estimate(GaussianNB(), X, y, scoring=scoring, random_state=0)
    assert cure in str(refusal.value)
    assert "make_scorer" in str(refusal.value)


def test_bootstrap_scores_survive_rare_classes():
    X, y = three_classes(2, n=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = estimate(
            GaussianNB(), X, y, cv=Bootstrap632(20), scoring="roc_auc_ovr",
            random_state=0,
        )  # fmt: skip
    assert np.isfinite(found.value)
    assert found.value == pytest.approx(np.nanmean(found.scores))


@pytest.mark.parametrize("scoring", SCORES)
def test_with_all_classes_everywhere_nothing_differs_from_scikit_learn(scoring):
    X, y = three_classes(20)
    splits = [(s.train, s.test) for s in CrossValidation(4).split(y, 0)]
    found = estimate(GaussianNB(), X, y, cv=splits, scoring=scoring)
    expected = cross_val_score(GaussianNB(), X, y, cv=splits, scoring=scoring)
    sign = -1.0 if str(scoring).startswith("neg_") else 1.0
    np.testing.assert_allclose(sign * found.scores, expected, rtol=1e-12)


# -- ranges --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scorer", "expected"),
    [
        (None, (0, 1)),
        ("balanced_accuracy", (0, 1)),
        ("roc_auc", (0, 1)),
        ("f1_macro", (0, 1)),
        ("matthews_corrcoef", (-1, 1)),
        ("neg_log_loss", (-math.inf, 0)),
        ("neg_brier_score", (-2, 0)),
        ("d2_log_loss_score", (-math.inf, 1)),
        ("explained_variance", (-math.inf, 1)),
        (metrics.make_scorer(metrics.cohen_kappa_score), (-1, 1)),
        (metrics.make_scorer(metrics.balanced_accuracy_score, adjusted=True), (-1, 1)),
        (metrics.make_scorer(metrics.accuracy_score, normalize=False), (0, math.inf)),
        (lambda model, X, y: 7.0, (-math.inf, math.inf)),
    ],
)
def test_the_range_of_a_scorer_is_known(scorer, expected):
    known = metrics.get_scorer(scorer) if isinstance(scorer, str) else scorer
    assert range_of(known) == expected


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "roc_auc_ovr", "f1_macro"])
def test_intervals_are_cut_to_the_range_of_the_score(scoring):
    X, y = three_classes(20)
    X[:, 2] += 4 * (y == "a")
    found = estimate(
        DecisionTreeClassifier(random_state=0), X, y, cv=CrossValidation(3),
        scoring=scoring, random_state=2,
    )  # fmt: skip
    low, high = found.interval(0.999)
    assert 0 <= low < high <= 1
    loss = estimate(
        GaussianNB(), X, y, cv=CrossValidation(3), scoring="neg_log_loss",
        random_state=2,
    )  # fmt: skip
    assert loss.interval(0.999)[0] >= 0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_warning_of_the_scorer_is_told_once(n_jobs):
    X, y = three_classes(0, n=40)
    with pytest.warns(UndefinedMetricWarning, match="ill-defined") as told:
        found = estimate(
            DummyClassifier(), X, y, scoring="precision_macro", n_jobs=n_jobs
        )
    assert len(told) == 1
    assert len(found.scores) == 10

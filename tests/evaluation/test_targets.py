"""Estimates of regressors and survival estimators: scores, splits, refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sksurv.linear_model import CoxPHSurvivalAnalysis, IPCRidge
from sksurv.metrics import concordance_index_censored

from veridical._core.errors import InputError
from veridical._core.scoring import read_scoring
from veridical._core.targets import Numbers
from veridical.evaluation import (
    Bootstrap632,
    CrossValidation,
    LeaveOut,
    Procedure,
    estimate,
    evaluate,
)
from veridical.learning import CoxRidge
from veridical.learning.outcomes import target_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 6))
Y = X[:, 0] + RNG.normal(size=90)
TIME = RNG.exponential(np.exp(-X[:, 0]))
LIMIT = RNG.exponential(2.0, size=90)
S = np.empty(90, dtype=[("event", bool), ("time", float)])
S["event"], S["time"] = TIME <= LIMIT, np.minimum(TIME, LIMIT)
COX = CoxPHSurvivalAnalysis(alpha=1.0)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("r2", "r2"),
        ("rmse", "neg_root_mean_squared_error"),
        ("explained_variance", "explained_variance"),
        ("neg_max_error", "neg_max_error"),
        ("median_absolute_error", "neg_median_absolute_error"),
    ],
)
def test_scores_of_numbers_are_those_of_scikit_learn(ours, theirs):
    cv = KFold(5, shuffle=True, random_state=1)
    found = estimate(Ridge(), X, Y, cv=cv, scoring=ours)
    wanted = cross_val_score(Ridge(), X, Y, cv=cv, scoring=theirs)
    np.testing.assert_allclose(found.scores, np.abs(wanted), rtol=1e-12)
    assert found.value == pytest.approx(np.abs(wanted).mean(), rel=1e-12)
    assert found.scoring.greater_is_better == (not theirs.startswith("neg_"))


def test_errors_are_pooled_and_ranks_are_correlated():
    cv = KFold(5, shuffle=True, random_state=1)
    found = estimate(Ridge(), X, Y, cv=cv, scoring=["mae", "spearman"])
    predicted = cross_val_predict(Ridge(), X, Y, cv=cv)
    assert found.value == pytest.approx(np.abs(Y - predicted).mean(), rel=1e-12)
    wanted = [spearmanr(Y[t], predicted[t])[0] for _, t in cv.split(X)]
    np.testing.assert_allclose(found.others[0].scores, wanted, rtol=1e-12)
    # Predicting the median for all samples is guessing.
    guess = np.abs(Y - np.median(Y)).mean()
    assert found.scoring.chance == pytest.approx(guess)


def test_concordance_is_that_of_scikit_survival_on_the_same_splits():
    cv = [*KFold(5, shuffle=True, random_state=1).split(X)]
    found = estimate(COX, X, S, cv=cv)
    wanted = [
        concordance_index_censored(
            S["event"][b], S["time"][b], COX.fit(X[a], S[a]).predict(X[b])
        )[0]
        for a, b in cv
    ]
    np.testing.assert_allclose(found.scores, wanted, atol=1e-10)
    assert found.metric == "concordance"
    assert found.scoring.chance == 0.5
    assert found.interval()[0] < found.value < found.interval()[1] <= 1


def test_an_estimator_of_times_has_the_risk_of_minus_the_time():
    found = estimate(IPCRidge(), X, S, cv=5, random_state=0)
    assert found.value > 0.6


def test_every_survival_score_comes_from_one_run():
    scores = ["concordance", "uno", "time_dependent_auc", "ibs"]
    found = estimate(COX, X, S, cv=5, scoring=scores, random_state=0)
    brier = found.by_score["integrated_brier_score"]
    assert 0 < brier.value < brier.scoring.chance
    assert found.by_score["time_dependent_auc"].value > 0.6


def test_survival_probabilities_of_the_last_step_of_a_pipeline():
    """A pipeline of scikit-learn passes on other methods, but not this one."""
    nested = make_pipeline(make_pipeline(FunctionTransformer()), make_pipeline(COX))
    options = {"cv": 4, "scoring": ["concordance", "ibs"], "random_state": 0}
    found = estimate(nested, X, S, **options)
    alone = estimate(COX, X, S, **options)
    for name in ("concordance", "integrated_brier_score"):
        assert found.by_score[name].value == pytest.approx(
            alone.by_score[name].value, rel=1e-12
        )
    search = GridSearchCV(make_pipeline(StandardScaler(), COX), {}, cv=3)
    scaled = estimate(make_pipeline(StandardScaler(), COX), X, S, **options)
    searched = estimate(make_pipeline(FunctionTransformer(), search), X, S, **options)
    brier = "integrated_brier_score"
    assert searched.by_score[brier].value == scaled.by_score[brier].value
    worse = make_pipeline(StandardScaler(), IPCRidge())
    with pytest.raises(InputError, match="predict_survival_function"):
        estimate(worse, X, S, scoring="ibs", cv=3)


def test_folds_are_plain_for_numbers_and_stratified_by_event():
    assert estimate(Ridge(), X, Y).method == "10-fold cross-validation"
    assert "stratified" in estimate(COX, X, S, cv=5).method
    found = CrossValidation(5).split(S["event"].astype(int), random_state=0)
    n_events = [S["event"][split.test].sum() for split in found]
    assert max(n_events) - min(n_events) <= 1
    # Numbers that are asked to be stratified are small and large in every fold.
    means = [Y[s.test].mean() for s in CrossValidation(5).split(Y, random_state=0)]
    plain = CrossValidation(5, stratified=False)
    others = [Y[s.test].mean() for s in plain.split(Y, random_state=0)]
    assert np.std(means) < np.std(others) / 2


@pytest.mark.parametrize(
    ("estimator", "kind"),
    [
        (Ridge(), "numbers"),
        (LogisticRegression(), "classes"),
        (COX, "survival"),
        (make_pipeline(StandardScaler(), Ridge()), "numbers"),
        (make_pipeline(StandardScaler(), COX), "survival"),
        (GridSearchCV(COX, {"alpha": [1.0]}), "survival"),
        (StandardScaler(), None),
    ],
)
def test_an_estimator_says_what_it_learns(estimator, kind):
    assert target_of(estimator) == kind


@pytest.mark.parametrize("cv", [LeaveOut(1), "10x2", Bootstrap632(10), "holdout"])
def test_every_way_to_split_has_a_score(cv):
    found = estimate(Ridge(), X, Y, cv=cv, random_state=0)
    assert -1 < found.value < 1
    survival = estimate(COX, X, S, cv=cv, random_state=0)
    assert 0.4 < survival.value < 1


def test_data_frames_and_whole_numbers_do_as_well():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    target = pd.DataFrame({"time": S["time"], "event": S["event"]})
    a = estimate(COX, frame, target, cv=5, random_state=0)
    b = estimate(COX, X, S, cv=5, random_state=0)
    np.testing.assert_array_equal(a.scores, b.scores)
    assert estimate(Ridge(), X, np.arange(90)).data.kind == "numbers"


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("svm", X, Y), {}, "must be classes.*regressor"),
        (("svm", X, S), {}, "linear SVM learns classes, but y holds events"),
        ((Ridge(), X, S), {}, "Ridge learns numbers, but y holds events"),
        ((Ridge(), X, ["low", "high"] * 45), {}, "must be numbers.*'low'"),
        ((Ridge(), X, np.ones(90)), {}, "constant target"),
        ((COX, X, Y), {}, "needs an event and a time"),
        ((Ridge(), X, Y), {"scoring": "accuracy"}, "is a score of classes.*r2"),
        ((COX, X, S), {"scoring": "r2"}, "is a score of numbers.*concordance"),
        (("svm", X, Y > 0), {"scoring": "r2"}, "score of numbers.*accuracy"),
        ((IPCRidge(), X, S), {"scoring": "ibs"}, "predict_survival_function"),
        ((StandardScaler(), X, Y), {}, "not a classifier, regressor or survival"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_cure(arguments, options, message):
    with pytest.raises(InputError, match=f"(?s){message}"):
        estimate(*arguments, **options)


def test_folds_without_events_are_left_out_with_a_note():
    few = S.copy()
    few["event"] = False
    few["event"][np.argsort(S["time"])[:4]] = True
    with pytest.warns(UserWarning, match="4 event.*fewer than the 10 folds"):
        found = estimate(COX, X, few, random_state=0)
    assert np.isnan(found.scores).any()
    assert any("no two samples that are known to differ" in n for n in found.notes)


def test_a_pooled_concordance_beside_survival_probabilities():
    """Training sets of one event have probabilities at one time, others at 25."""
    few = S.copy()
    few["event"] = False
    few["event"][np.argsort(S["time"])[:2]] = True
    scores = ["concordance", "concordance_uno", "ibs"]
    with pytest.warns(UserWarning, match="2 event"):
        found = estimate(COX, X, few, scoring=scores, random_state=0)
    with pytest.warns(UserWarning, match="2 event"):
        alone = estimate(COX, X, few, random_state=0)
    assert np.isnan(found.scores).sum() > 5
    assert found.value == alone.value
    assert found.by_score["integrated_brier_score"].value > 0


@pytest.mark.parametrize(
    "cv", [GroupKFold(4), LeaveOneGroupOut(), GroupShuffleSplit(3, random_state=0)]
)
@pytest.mark.parametrize("text", [False, True], ids=["numbers", "text"])
def test_splitters_that_take_groups_split_as_in_scikit_learn(cv, text):
    """They number groups by their labels; our own folds do not depend on these."""
    groups = np.random.default_rng(5).permutation(np.arange(90) % 9)
    groups = np.array(list("zebrafishy"))[groups] if text else groups
    found = estimate(Ridge(), X, Y, cv=cv, groups=groups)
    wanted = cross_val_score(Ridge(), X, Y, cv=cv, groups=groups)
    np.testing.assert_allclose(found.scores, wanted, rtol=1e-12)


def test_procedures_of_different_targets_are_refused():
    splits = CrossValidation(3).split(Y > 0, random_state=0)
    both = [Procedure(Ridge()), Procedure(LogisticRegression())]
    with pytest.raises(InputError, match="Ridge learns numbers, but Logistic"):
        evaluate(both, X, Y, splits)
    (found,) = evaluate([Procedure(Ridge())], X, Y, splits)
    (score,) = read_scoring(None, Numbers(Y))
    assert found.scored(score).splits.shape == (1, 3)


@pytest.mark.parametrize(
    "scoring", ["concordance", "concordance_uno", "time_dependent_auc", "ibs"]
)
def test_weights_of_survival_times_are_repeats(scoring):
    """Splits of weighted samples, and of as many copies, give the same scores."""
    w = np.random.default_rng(4).integers(1, 4, 90)
    rows = np.repeat(np.arange(90), w)
    folds = CrossValidation(5).split(S["event"], 0)
    copies = [
        (np.flatnonzero(np.isin(rows, train)), np.flatnonzero(np.isin(rows, test)))
        for train, test in folds
    ]
    model = CoxRidge()
    weighted = estimate(model, X, S, cv=folds, scoring=scoring, sample_weight=w)
    repeated = estimate(model, X[rows], S[rows], cv=copies, scoring=scoring)
    np.testing.assert_allclose(weighted.scores, repeated.scores, rtol=0, atol=1e-7)
    assert weighted.value == pytest.approx(repeated.value, abs=1e-7)
    assert weighted.scoring.chance == pytest.approx(repeated.scoring.chance, abs=1e-12)
    plain = estimate(model, X, S, cv=folds, scoring=scoring)
    assert weighted.value != pytest.approx(plain.value, abs=1e-4)


def test_equal_scores_name_a_cure_that_the_target_has():
    y = np.array([1.0, 2.0, 3.0, 4.0] * 5)
    X = y[:, None] * np.array([1.0, 0.5])
    found = estimate(LinearRegression(), X, y, cv=5)
    (note,) = (one for one in found.notes if "do not vary" in one)
    assert note.endswith("use more samples, or fewer folds.")

"""The best of many as an estimator, and what a choice can write about itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning, UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

from veridical import choose
from veridical._core.errors import InputError
from veridical._core.scoring import ACCURACY
from veridical.evaluation import SelectionSearchCV, wilson
from veridical.evaluation.checklists import CHECKLISTS
from veridical.evaluation.choice_coverage import (
    coverage_of_choice,
    measured_choices,
    nearest_designs,
    say_bias,
)


def problem(n=48, p=12, seed=0):
    rng = np.random.default_rng(seed)
    y = np.resize(["no", "yes"], n)
    X = rng.normal(size=(n, p))
    X[:, 0] += 2 * (y == "yes")
    return X, y


QUICK = {
    "selectors": ["anova"],
    "sizes": [1, 3],
    "estimators": ["nb"],
    "cv": 3,
    "random_state": 0,
    "n_bootstrap": 50,
}


def test_a_search_agrees_with_choose():
    X, y = problem()
    search = SelectionSearchCV(**QUICK).fit(X, y)
    found = choose(X, y, **QUICK, correction="bbc")
    assert search.best_score_ == found.naive_score
    assert search.corrected_score_ == found.score
    assert search.corrected_interval_ == found.interval()
    assert isinstance(search.best_estimator_, Pipeline)
    assert (search.predict(X) == found.estimator_.predict(X)).all()
    assert search.best_params_["estimator"] == found.winner.estimator
    assert len(search.cv_results_["score"]) == len(found.candidates)
    assert search.classes_.tolist() == ["no", "yes"]
    assert search.score(X, y) > 0.7


@pytest.mark.parametrize("options", [{}, {"scoring": "log_loss"}, {"drop": 0.7}])
def test_results_have_the_names_of_scikit_learn(options):
    X, y = problem()
    quick = {**QUICK, "estimators": ["nb", "1nn"], "sizes": [1, 3, 12]}
    search = SelectionSearchCV(**quick, **options).fit(X, y)
    results, best = search.cv_results_, search.best_index_
    assert results["params"][best] == search.best_params_
    assert set(search.best_params_) == {"selector", "n_features", "estimator"}
    assert results["mean_test_score"][best] == search.best_score_
    assert results["rank_test_score"][best] == 1
    dropped = pd.notna(results["dropped_after"])
    scores, ranks = results["mean_test_score"], results["rank_test_score"]
    assert (np.isnan(scores) == dropped).all()
    assert dropped.any() == ("drop" in options)
    better = (scores[:, None] > scores).sum(axis=0)
    assert (ranks[~dropped] == 1 + better[~dropped]).all()
    assert (ranks[dropped] == 1 + (~dropped).sum()).all()


def test_a_search_is_searched_and_cross_validated():
    X, y = problem()
    scores = cross_val_score(SelectionSearchCV(**QUICK), X, y, cv=2)
    assert scores.shape == (2,)
    outer = GridSearchCV(SelectionSearchCV(**QUICK), {"sizes": [[1], [3]]}, cv=2)
    assert outer.fit(X, y).best_params_["sizes"] in ([1], [3])


def test_a_loss_has_the_sign_of_scikit_learn():
    X, y = problem()
    search = SelectionSearchCV(**QUICK, scoring="log_loss").fit(X, y)
    assert search.corrected_score_ <= search.best_score_ < 0
    low, high = search.corrected_interval_
    assert low < search.corrected_score_ < high


def test_a_search_for_numbers_is_a_regressor():
    X, _ = problem()
    y = X[:, 0] + 0.1 * np.random.default_rng(0).normal(size=len(X))
    search = SelectionSearchCV("correlation", sizes=[1], estimators=[Ridge()], cv=3)
    assert search.__sklearn_tags__().estimator_type == "regressor"
    search = search.fit(X, y)
    assert search.corrected_score_ > 0.5
    assert not hasattr(search, "predict_proba")


def test_groups_are_kept_whole_and_drawn_whole():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 4)
    y = np.repeat(np.resize(["no", "yes"], 12), 4)
    X = np.repeat(rng.normal(size=(12, 8)), 4, axis=0) + 0.01 * rng.normal(size=(48, 8))
    found = choose(X, y, **QUICK, groups=groups)
    assert found.n_units == 12
    assert found.n_test == 48
    alone = choose(X, y, **QUICK)
    assert alone.naive_score > found.naive_score  # samples of a group are alike
    low, high = found.interval()
    assert high - low > 0.3
    search = SelectionSearchCV(**QUICK).fit(X, y, groups=groups)
    assert search.choice_.n_units == 12


def test_survival_times():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    y = np.empty(60, dtype=[("event", bool), ("time", float)])
    y["time"] = rng.exponential(np.exp(-1.5 * X[:, 0]))
    y["event"] = rng.random(60) < 0.8
    found = choose(X, y, selectors=["cox-score"], sizes=[1, 2], cv=3, random_state=0)
    assert found.scoring.name == "concordance"
    assert 0.6 < found.score < 0.95
    assert found.conclusion.belief == "yes"
    assert set(found.candidates.estimator) == {
        "ridge Cox model",
        "ridge Cox model (alpha=1)",
        "ridge Cox model (alpha=100)",
    }


# -- checklists ------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "n_items"), [("tripod+ai", 52), ("reforms", 32)])
def test_checklists_hold_what_the_record_knows(name, n_items):
    found = choose(*problem(), **QUICK)
    filled = found.checklist(name)
    assert len(filled) == n_items
    assert filled.item.is_unique
    answered = filled[filled.status == "answered"]
    assert (answered.evidence.str.len() > 10).all()
    assert not filled[filled.status == "yours"].evidence.any()
    assert found.scoring.write(found.score) in " ".join(filled.evidence)
    assert set(CHECKLISTS) == {"tripod+ai", "reforms"}
    with pytest.raises(InputError, match="no checklist 'tripod'"):
        found.checklist("tripod")


def test_checklists_say_whether_samples_were_weighted():
    X, y = problem()
    for more, said in (
        ({}, "no samples were added, removed or weighted"),
        ({"sample_weight": np.resize([1, 2], len(y))}, "removed, but they were weig"),
    ):
        filled = choose(X, y, **QUICK, **more).checklist().set_index("item")
        assert said in filled.evidence["13"]


def test_the_pipeline_is_saved_by_skops(tmp_path):
    skops = pytest.importorskip("skops.io")
    X, y = problem()
    found = choose(X, y, **QUICK)
    path = found.save_estimator(tmp_path / "model.skops")
    trusted = skops.get_untrusted_types(file=path)
    again = skops.load(path, trusted=trusted)
    assert (again.predict(X) == found.estimator_.predict(X)).all()


def test_data_frames_with_categories():
    X, y = problem()
    frame = pd.DataFrame(X).add_prefix("g")
    frame["kind"] = pd.Categorical(np.resize(["a", "b", "c"], len(frame)))
    found = choose(
        frame,
        y,
        selectors=["information-gain"],
        sizes=[2, 13],
        estimators=["nb", "svm"],
        cv=3,
        random_state=0,
    )
    assert (found.estimator_.predict(frame) == y).mean() > 0.6


# -- what was measured -----------------------------------------------------------------


def test_measured_designs_are_found_by_size_and_target():
    rows = measured_choices()
    assert len(rows) >= 27
    near = nearest_designs("classes", "accuracy", 100, 60, grouped=False)
    assert near[0].n_samples == 100
    found = coverage_of_choice(near, "nested")
    shares = [one.nested_covered / one.n_sets for one in near]
    bounds = [
        wilson(share, one.n_sets) for share, one in zip(shares, near, strict=True)
    ]
    # The share of a few data sets has an error, 100 % too.
    assert found.low == pytest.approx(min(low for low, _ in bounds), abs=1e-4)
    assert found.low < min(shares)
    assert found.high == pytest.approx(max(high for _, high in bounds), abs=1e-4)
    assert "200 to 300 features" in found.conditions
    assert nearest_designs("classes", "roc_auc", 100, 60, grouped=False) == ()
    assert not nearest_designs("classes", "accuracy", 10**6, 60, grouped=False)
    assert coverage_of_choice((), "bbc") is None
    assert say_bias((), "bbc", ACCURACY) == ""


def test_biases_are_written_on_the_scale_of_the_score():
    near = nearest_designs("classes", "accuracy", 40, 60, grouped=False)
    few = [
        one._replace(bbc_bias=b, n_sets=n)
        for one, b, n in zip(near, (0.05, -0.01), (10, 30), strict=False)
    ]
    said = say_bias(few, "bbc", ACCURACY)
    assert "by +0.5 points on average (−1.0 to +5.0 points in single designs)" in said
    assert "designs nearest" in said
    many = [one._replace(bbc_bias=0.05) for one in few]
    assert "Nested cross-validation is less" in say_bias(many, "bbc", ACCURACY)
    number = replace(ACCURACY, name="r2", percent=False)
    said = say_bias(few[:1], "bbc", number)
    assert "design nearest" in said
    assert "by +0.050, and" in said
    assert "average" not in said


@pytest.mark.parametrize(
    ("cv", "measured"), [(5, True), (10, True), (3, False), ("loo", False)]
)
def test_other_folds_than_measured_have_no_measured_coverage(cv, measured):
    found = choose(*problem(), **{**QUICK, "cv": cv}, correction="bbc")
    assert (found.coverage is not None) == measured
    assert any("measured design" in note for note in found.notes) == measured


def test_a_target_with_one_column_is_read_with_a_warning():
    X, y = problem()
    search = SelectionSearchCV(sizes=[1], cv=3, n_bootstrap=20, random_state=0)
    with pytest.warns(DataConversionWarning):
        search.fit(X, y[:, np.newaxis])
    assert search.predict(X).shape == (len(y),)


@pytest.mark.parametrize(
    "scoring",
    [
        *("accuracy", "roc_auc", "balanced_accuracy", "neg_log_loss"),
        *("matthews_corrcoef", "f1_macro", "neg_brier_score"),
    ],
)
def test_new_samples_are_scored_as_by_scikit_learn(scoring):
    X, y = problem(80)
    y = (y == "yes").astype(int)  # some scorers of scikit-learn need 0 and 1
    search = SelectionSearchCV(**QUICK, scoring=scoring).fit(X[:48], y[:48])
    there = get_scorer(scoring)(search.best_estimator_, X[48:], y[48:])
    assert search.score(X[48:], y[48:]) == pytest.approx(there, abs=1e-12)
    whole = cross_val_score(search, X, y, cv=2)
    assert whole.tolist() == pytest.approx(
        cross_val_score(search, X, y, cv=2, scoring=scoring).tolist()
    )


def test_new_samples_have_scores_of_ours():
    X, y = problem(80)
    search = SelectionSearchCV(**QUICK, scoring="sensitivity").fit(X[:48], y[:48])
    found = search.predict(X[48:])[y[48:] == "yes"]
    assert search.score(X[48:], y[48:]) == np.mean(found == "yes")
    with pytest.raises(InputError, match="classes that the search was not fitted on"):
        search.score(X[:2], np.array(["yes", "maybe"]))


@pytest.mark.parametrize("scoring", ["roc_auc", "balanced_accuracy"])
def test_a_score_that_is_not_defined_is_said(scoring):
    X, y = problem(80)
    search = SelectionSearchCV(**QUICK, scoring=scoring).fit(X, y)
    with pytest.warns(UndefinedMetricWarning, match="not defined: .* class"):
        assert np.isnan(search.score(X[y == "yes"], y[y == "yes"]))


def test_new_numbers_and_survival_times_are_scored():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 4))
    number = X[:, 0] + rng.normal(size=90)
    options = {"sizes": [1, 2], "cv": 3, "random_state": 0, "n_bootstrap": 20}
    search = SelectionSearchCV("correlation", scoring="mae", **options)
    search.fit(X[:60], number[:60])
    error = np.abs(search.predict(X[60:]) - number[60:]).mean()
    assert search.score(X[60:], number[60:]) == pytest.approx(-error)
    y = np.empty(90, dtype=[("event", bool), ("time", float)])
    y["time"] = rng.exponential(np.exp(-1.5 * X[:, 0]))
    y["event"] = rng.random(90) < 0.8
    for scoring, low, high in (("concordance_uno", 0.6, 1.0), ("ibs", -0.25, 0.0)):
        search = SelectionSearchCV(
            "cox-score", estimators=["cox"], scoring=scoring, **options
        )
        assert low < search.fit(X[:60], y[:60]).score(X[60:], y[60:]) < high

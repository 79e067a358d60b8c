"""The best of many as an estimator, and what a choice can write about itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

from veridical import choose
from veridical._core.errors import InputError
from veridical.evaluation import SelectionSearchCV
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
    assert 0.8 < found.low <= found.high <= 1
    assert "points on average" in say_bias(near, "bbc")
    assert nearest_designs("classes", "roc_auc", 100, 60, grouped=False) == ()
    assert not nearest_designs("classes", "accuracy", 10**6, 60, grouped=False)
    assert coverage_of_choice((), "bbc") is None
    assert say_bias((), "bbc") == ""

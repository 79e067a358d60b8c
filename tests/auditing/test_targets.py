"""Audits of regressors and survival estimators."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from veridical._core.reading import read_table
from veridical._core.splits import CrossValidation
from veridical._core.targets import Survival
from veridical.auditing import audit
from veridical.auditing.association import coarse_outcome
from veridical.auditing.auditing import CHECKS, OF_ANY_TARGET
from veridical.auditing.conclusions import beats_random_labels
from veridical.auditing.nulls import LabelPermutations
from veridical.datasets import (
    make_linear_regression,
    make_random_numbers,
    make_random_survival,
    make_survival,
)
from veridical.learning import CoxRidge

FEW = {"cv": 5, "n_permutations": 19, "random_state": 0}


def _residual(X, y):
    """Score features by the martingale residuals, as Cox's score test does."""
    target = read_table(X, y).target
    order = np.argsort(target.time)
    hazard = np.empty(len(order))
    event = target.event
    hazard[order] = np.cumsum(event[order] / np.arange(len(order), 0, -1))
    return np.abs((event - hazard) @ (X - X.mean(axis=0)))


@pytest.mark.parametrize(
    ("data", "score", "estimator", "chance"),
    [
        (make_random_numbers(60, 300, random_state=0), f_regression, Ridge(), 0.0),
        (make_random_survival(80, 300, random_state=0), _residual, CoxRidge(), 0.5),
    ],
)
def test_features_selected_beforehand_are_found_out(data, score, estimator, chance):
    X, y = data
    values = score(X, y)
    values = values[0] if isinstance(values, tuple) else values
    best = np.argsort(-values)[:10]
    selector = SelectKBest(score, k=10) if score is f_regression else _ByResidual(10)
    found = audit(estimator, X, y, selected=best, selector=selector, **FEW)
    assert found.codes[0] == "VD001"
    assert found.conclusion.belief == "no"
    assert found.score["out"].value > chance + 0.15
    assert found.null["out"].mean > chance + 0.1
    assert found.null["in"].mean < chance + 0.05
    assert found.score["in"].value < found.score["out"].value - 0.1
    assert np.isnan(found.balanced_accuracy)


class _ByResidual:
    """A selector with rank_many alone."""

    def __init__(self, n_features_to_select):
        self.n_features_to_select = n_features_to_select

    def rank_many(self, X, y, train_sets):
        return [np.argsort(-_residual(X[rows], y[rows])) for rows in train_sets]


def test_a_signal_inside_the_folds_is_believed():
    X, y = make_linear_regression(120, 40, 3, r2=0.8, random_state=0)
    pipeline = make_pipeline(SelectKBest(f_regression, k=5), Ridge())
    found = audit(pipeline, X, y, **FEW)
    assert found.clean
    assert found.conclusion.belief == "yes"
    assert found.scoring.name == "r2"
    X, y = make_survival(120, 20, 3, strength=2.0, random_state=0)
    found = audit("cox", X, y, **FEW)
    assert found.clean
    assert beats_random_labels(found)
    # Nothing was measured where all features are used.
    assert found.conclusion.belief == "care"
    assert "not measured near this design" in found.conclusion.sentence


def test_a_time_keeps_its_event_when_outcomes_are_permuted():
    X, y = make_survival(60, 5, 5, random_state=0)
    table = read_table(X, y)
    permutations = LabelPermutations(CrossValidation(5), 0, 3)
    order, splits = permutations.draw(1, table)
    permuted = table.permuted(order)
    assert sorted(permuted.labels.tolist()) == sorted(y.tolist())
    assert not np.array_equal(permuted.labels, y)
    # Folds are stratified by the permuted events.
    n_events = [int(permuted.target.event[split.test].sum()) for split in splits]
    assert max(n_events) - min(n_events) <= 1


def test_outcomes_of_groups_move_with_the_group():
    X, y = make_linear_regression(40, 5, 5, random_state=0)
    groups = np.arange(40) // 4
    table = read_table(X, y[groups * 4], groups=groups)
    order, _ = LabelPermutations(CrossValidation(5), 0, 3).draw(0, table)
    permuted = table.labels[order].reshape(10, 4)
    assert (permuted == permuted[:, :1]).all()
    assert not np.array_equal(permuted.ravel(), table.labels)


def test_thirds_of_survival_follow_early_events():
    time = np.arange(1.0, 10.0)
    table = read_table(time[:, None], Survival(time, time < 7).labels)
    assert coarse_outcome(table).tolist() == [2, 2, 2, 1, 1, 1, 0, 0, 0]
    numbers = read_table(time[:, None], time + 0.5)
    assert coarse_outcome(numbers).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_checks_about_classes_are_not_testable_for_other_targets():
    X, y = make_linear_regression(40, 5, 3, random_state=0)
    found = audit(Ridge(), X, y, **FEW)
    open_checks = {one.code: one.needs for one in found.untested}
    about_classes = set(CHECKS) - OF_ANY_TARGET
    assert {code for code, needs in open_checks.items() if needs == "classes"} == (
        about_classes
    )
    assert not about_classes & set(found.seconds)
    said = str(next(one for one in found.untested if one.code == "VD009"))
    assert said == "VD009 not testable without classes: the target is numbers."
    assert not audit(Ridge(), X, y, checks=["VD003"], **FEW).untested

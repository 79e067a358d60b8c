"""The parts of a score add up, and a planted cause is the largest of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from veridical import audit, report
from veridical.datasets import make_linear_regression, make_survival
from veridical.leakbench import MECHANISMS, draw_table

FEW = {"n_permutations": 19, "random_state": 0, "progress": False}
PARTS = (
    *("chance", "signal", "selection", "choice", "removed", "overlap", "luck"),
    *("features", "duplicates", "groups", "order", "batch"),
)


def take_apart(name, source="noise", number=3):
    leaky = MECHANISMS[name].draw(source, number).leaky
    found = audit(leaky.estimator, leaky.X, leaky.y, cv=leaky.cv, **leaky.known, **FEW)
    return found, found.decomposition


@pytest.mark.in_part(3)
@pytest.mark.parametrize(
    "name",
    ["selection", "best-setting", "duplicates", "patients", "time-order", "batch"],
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

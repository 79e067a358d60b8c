"""Audits of regressors and survival estimators."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor
from tests.selection.problems import survival

from veridical._core.reading import read_table
from veridical._core.splits import CrossValidation
from veridical._core.targets import Survival
from veridical.auditing import audit
from veridical.auditing.association import coarse_outcome
from veridical.auditing.auditing import OF_CLASSES
from veridical.auditing.batches import find_batch_trace
from veridical.auditing.conclusions import beats_random_labels
from veridical.auditing.nulls import LabelPermutations
from veridical.datasets import (
    make_linear_regression,
    make_random_numbers,
    make_random_survival,
    make_survival,
)
from veridical.learning import CoxRidge
from veridical.preparation import ComBat

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
    assert "not measured in designs like this one" in found.conclusion.sentence


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
    needing = {code for code, needs in open_checks.items() if needs == "classes"}
    assert needing == OF_CLASSES
    assert not OF_CLASSES & set(found.seconds)
    said = str(next(one for one in found.untested if one.code == "VD009"))
    assert said == "VD009 not testable without classes: the target is numbers."
    assert not audit(Ridge(), X, y, checks=["VD003"], **FEW).untested


# -- every check that is not about classes, on numbers and on survival times -----------

KINDS = pytest.mark.parametrize("kind", ["numbers", "survival"])


def _outcome(kind, signal, rng):
    """Draw numbers, or censored times, that depend on a signal."""
    if kind == "numbers":
        return signal + 0.8 * rng.normal(size=signal.size)
    return survival(rng, 2 * signal, share=0.8)


def _honest(kind, seed, n=100, p=8):
    """Draw a table with one useful feature among noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, _outcome(kind, X[:, 1], rng)


def _wild(kind):
    """Mistakes: a table, its outcome, the code, and what else an audit is told."""
    rng = np.random.default_rng(7)
    X, y = _honest(kind, 7)
    z = X[:, 1]
    n = len(X)
    of = np.arange(n) // 4  # four samples of each subject
    near = rng.normal(size=(n // 4, 8))[of] + 0.2 * rng.normal(size=(n, 8))
    drift = np.cumsum(rng.normal(size=(n, 8)), axis=0)
    level = rng.integers(0, 8, n)
    coded = y["event"].astype(float) if kind == "survival" else y
    encoded = np.bincount(level, coded) / np.bincount(level)
    gone = X.copy()
    gone[(z > 0.4) & (rng.random(n) < 0.9), 5] = np.nan
    number = X.copy()
    number[:, 5] = np.argsort(np.argsort(z)) + 1
    made = X.copy()
    made[:20] = made[20:40] + rng.random((20, 1)) * (made[40:60] - made[20:40])
    strong = X.copy()
    strong[:, 1] += 0.02 * rng.normal(size=n)
    plain = _outcome(kind, near[:, 0] + rng.normal(size=n // 4)[of], rng)
    site = (z + 0.7 * rng.normal(size=n) > 0).astype(int)
    shifted = X + 2.0 * site[:, None] * rng.normal(size=8)
    exact = 6.0 * z if kind == "numbers" else _sharp(z)
    imputer = SimpleImputer()
    model = Ridge() if kind == "numbers" else CoxRidge()
    return {
        "VD004": (X, y, {"cv": KFold(25), "test": "corrected-t"}),
        "VD012": (strong, exact, {}),
        "VD014": (pd.DataFrame(near).add_prefix("x").assign(patient=of), plain, {}),
        "VD020": (np.column_stack([X, encoded[level]]), y, {}),
        "VD021": (near, plain, {}),
        "VD022": (drift, _outcome(kind, drift[:, 0] / 10, rng), {}),
        "VD023": (shifted, y, {"batch": site}),
        "VD024": (gone, exact, {"estimator": make_pipeline(imputer, model)}),
        "VD025": (number, y, {}),
        "VD027": (made, y, {}),
        "VD029": (X, y, {"fitted_on": np.arange(50)}),
        "VD032": (X, y, {"n_removed": 5}),
    }


def _sharp(z):
    """Return times in the order of a signal, some of them censored."""
    y = np.empty(z.size, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = np.arange(z.size) % 5 > 0, np.exp(-z)
    return y


@KINDS
@pytest.mark.parametrize("code", sorted(_wild("numbers")))
def test_a_mistake_is_found_whatever_the_target(kind, code):
    X, y, more = _wild(kind)[code]
    estimator = more.pop("estimator", "ridge" if kind == "numbers" else "cox")
    found = audit(estimator, X, y, checks=[code], **{**FEW, **more})
    (one,) = found.findings
    assert one.code == code
    said = one.title + one.evidence + one.cure
    assert "class" not in said
    assert "accuracy" not in said


def test_a_memoriser_of_numbers_is_told_of_no_plus():
    X, y = _honest("numbers", 0)
    tree = DecisionTreeRegressor(random_state=0)
    (one,) = audit(tree, X, y, checks="VD006", **{**FEW, "cv": "boot632"}).findings
    assert one.cure == "Use CrossValidation(10)."
    assert one.details["outside"] < one.details["estimate"] < 1


def test_no_rate_of_accuracies_is_told_of_another_score():
    X, y = _honest("numbers", 0)
    (one,) = audit("ridge", X, y, checks="VD010", test="paired-t", **FEW).findings
    assert "measured_size" not in one.details


@KINDS
def test_honest_work_is_not_flagged_whatever_the_target(kind):
    for seed in range(3):
        X, y = _honest(kind, seed)
        rng = np.random.default_rng(100 + seed)
        told = {"batch": rng.integers(0, 3, len(X)), "n_tried": 1, "n_removed": 0}
        told |= {"time": rng.permutation(len(X)), "groups": range(len(X))}
        found = audit("ridge" if kind == "numbers" else "cox", X, y, **told, **FEW)
        assert not found.codes, found.findings
        parts = {part.name: part.value for part in found.decomposition.parts}
        assert all(parts[name] == 0 for name in ("features", "groups", "order"))


@KINDS
def test_batches_corrected_with_the_outcome_are_found(kind):
    """The batch is associated with the outcome, and ComBat saw both on all samples."""
    rng = np.random.default_rng(3)
    signal = rng.normal(size=120)
    site = (signal + rng.normal(size=120) > 0).astype(int)
    X = rng.normal(size=(120, 200)) + rng.normal(size=200) * site[:, None]
    y = _outcome(kind, signal, rng)
    kept = y["event"] * 1.0 if kind == "survival" else y
    if kind == "survival":
        kept = np.column_stack([kept, np.log(y["time"])])
    corrected = {
        "with": ComBat().fit_transform(X, batch=site, covariates=kept),
        "without": ComBat().fit_transform(X, batch=site),
    }
    how = {}
    for name, values in corrected.items():
        how[name] = find_batch_trace(read_table(values, y), site, 0).how
    if kind == "numbers":
        assert how == {"with": "with the class", "without": "without the class"}
    assert find_batch_trace(read_table(X, y), site, 0) is None
    found = audit(
        "ridge" if kind == "numbers" else "cox",
        corrected["with"],
        y,
        checks="VD013",
        batch=site,
        **FEW,
    )
    assert found.codes == ("VD013",)
    assert "class" not in found.findings[0].evidence


def test_a_table_sorted_by_its_target_shows_no_likeness_in_order():
    for seed in range(5):
        X, y = _honest("numbers", seed, n=120)
        order = np.argsort(y)
        found = audit("ridge", X[order], y[order], checks="VD022", **FEW)
        assert not found.findings

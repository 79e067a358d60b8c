"""Scripts that try other variances, and that measure calibrated tests."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.truth import calibrated, factors, other_tests, test_sets
from sklearn.metrics import log_loss, r2_score, roc_auc_score

import veridical
from veridical._core.survival_scores import concordance
from veridical._core.targets import Survival


def test_scores_are_those_of_scikit_learn_and_influences_sum_to_zero():
    rng = np.random.default_rng(0)
    found, classes = rng.normal(size=40), rng.integers(0, 2, 40).astype(float)
    numbers = found + rng.normal(size=40)
    times = Survival(rng.exponential(size=40), rng.random(40) < 0.6)
    share = 1 / (1 + np.exp(-found))
    for name, y, wanted in (
        ("roc_auc", classes, roc_auc_score(classes, found)),
        ("log_loss", classes, log_loss(classes, share)),
        ("r2", numbers, r2_score(numbers, found)),
        ("concordance", times, concordance(times, found)),
    ):
        value, added = factors.score_of(name, y, found)
        assert value == pytest.approx(wanted, abs=1e-12)
        assert added.sum() == pytest.approx(0, abs=1e-12)
    # What a sample adds is what the score changes with its weight.
    _, added = factors.score_of("r2", numbers, found)
    w = np.ones(40)
    w[7] += 1e-6
    changed = 1 - w @ (numbers - found) ** 2 / (w @ (numbers - numbers.mean()) ** 2)
    slope = (changed - r2_score(numbers, found)) / 1e-6
    assert added[7] == pytest.approx(slope, abs=1e-5)


def test_every_candidate_has_a_pvalue_in_every_kind_of_design():
    for design in list(factors.designs(3, 3))[::2]:
        row = factors.measure(design, 2)
        assert row["n_simulations"] <= 2
        assert all(row[name] <= row["n_simulations"] for name in factors.CANDIDATES)
        rng = np.random.default_rng(1)
        found = [factors.simulate(design, rng) for _ in range(3)]
        known = [one for one in found if one is not None]
        assert all(0 <= p <= 1 for one in known for p in one.values())
        assert not known or set(known[0]) == set(factors.CANDIDATES)
        assert all(one["kappa 0"] <= one["kappa 1"] for one in known)


def test_the_jackknife_over_folds_is_right_for_sums_over_folds_and_pairs():
    rng = np.random.default_rng(0)
    v, n = 5, 4000
    means, variances = np.empty((2, n))
    for i in range(n):
        own = rng.normal(size=v)
        # What training on fold l changes on fold j, partly the same both ways.
        either, both = rng.normal(size=(2, v, v))
        pairs = rng.normal(size=v) + 2 * (either + (both + both.T) / np.sqrt(2))
        np.fill_diagonal(pairs, 0)
        d = own + pairs.sum(axis=1) / (v - 1)
        left = own[:, None] + (pairs.sum(axis=1)[:, None] - pairs) / (v - 2)
        np.fill_diagonal(left, 0)
        means[i], variances[i] = d.mean(), factors.jackknife(d, left)
    error = np.hypot(variances.std() / np.sqrt(n), means.var() * np.sqrt(2 / n))
    assert abs(variances.mean() - means.var()) < 3 * error
    alone = np.where(np.eye(v), 0, own[:, None])
    assert factors.jackknife(own, alone) == pytest.approx(own.var(ddof=1) / v)


@pytest.mark.parametrize("target", ["numbers", "survival"])
def test_each_selector_selects_from_its_own_block(target):
    design = calibrated.Design(target, 60, 0.7, censored=0.3, group_size=2)
    X, y, groups = calibrated.draw(design, np.random.default_rng(0))
    selectors = [one(5) for one in calibrated.SELECTORS[target]]
    found = veridical.compare(
        selectors, X, y, groups=groups, n_features_to_select=5, cv=3,
        methods=("in",), random_state=0,
    )  # fmt: skip
    blocks = found.selected["in"] // calibrated.N_COLUMNS
    assert (blocks[0] == 0).all()
    assert (blocks[1] == 1).all()


@pytest.mark.parametrize("score", ["roc_auc", "balanced_accuracy", "log_loss"])
@pytest.mark.parametrize("group_size", [1, 5])
def test_both_models_of_a_test_set_are_equal(monkeypatch, score, group_size):
    monkeypatch.setattr(test_sets, "N_SETS", 100)
    design = test_sets.Design(score, 40, group_size, 0.5, 0.8)
    row = test_sets.measure_design(design)
    assert row["rejected_0.05"] <= 15
    assert row["rejected_0.01"] <= row["rejected_0.05"] <= row["rejected_0.1"]
    assert row["covered"] >= 85
    y, groups = test_sets.classes(design)
    values = test_sets.draw(design, 400, np.random.default_rng(0))
    for side in values:
        one = side[:, y == 1].mean() - side[:, y == 0].mean()
        assert one == pytest.approx(test_sets.apart(design), abs=0.1)
    within = values - test_sets.apart(design) * y
    both = np.corrcoef(within[0].ravel(), within[1].ravel())[0, 1]
    assert both == pytest.approx(test_sets.CORRELATION, abs=0.05)
    if group_size > 1:
        first, second = within[0][:, groups == 0][:, :2].T
        shared = np.corrcoef(first, second)[0, 1]
        assert shared == pytest.approx(test_sets.GROUP_SHARE, abs=0.15)


@pytest.mark.parametrize("kind", ["numbers", "survival"])
@pytest.mark.parametrize("group_size", [1, 4])
def test_both_models_of_an_outcome_are_equal(monkeypatch, kind, group_size):
    monkeypatch.setattr(test_sets, "N_SETS", 60)
    monkeypatch.setattr(test_sets, "N_TRUE_TIMES", 800)
    censored = 0.0 if kind == "numbers" else 0.4
    design = test_sets.OutcomeDesign(kind, 40, group_size, 1.0, censored=censored)
    for row in test_sets.measure_outcome(design):
        assert row["rejected_0.05"] <= 12
        assert row["rejected_0.01"] <= row["rejected_0.05"] <= row["rejected_0.1"]
        assert row["covered"] >= 48
        assert row["minority"] == (0.5 if kind == "numbers" else 0.6)
    y, predicted = test_sets.draw_outcome(design, 5000, np.random.default_rng(0))
    name = "r2" if kind == "numbers" else "concordance"
    one, other = test_sets.score_outcome(name, y, predicted)
    assert one == pytest.approx(other, abs=0.02)
    if kind == "numbers":  # all but 1 and the error, of a variance of 2
        assert one == pytest.approx(1 - (1 + test_sets.ERROR) / 2, abs=0.03)
    else:
        assert y.test.event.mean() == pytest.approx(0.6, abs=0.02)
        assert one > 0.65


def test_both_sides_of_other_tests_are_equal(monkeypatch):
    monkeypatch.setattr(other_tests, "N_DELONG", 400)
    monkeypatch.setattr(other_tests, "N_CONSERVATIVE", 5)
    monkeypatch.setattr(other_tests, "N_PAIRS", 4)
    row = other_tests.measure_design(
        other_tests.Design("delong", "roc_auc", 100, 0.5, 0.8)
    )
    assert 4 <= row["rejected"] <= 50
    design = other_tests.Design("conservative-z", "roc_auc", 60, 0.5)
    assert other_tests.measure_design(design)["rejected"] <= 3
    rng = np.random.default_rng(0)
    y = other_tests.classes(design)
    X = rng.standard_normal((60, 10)) + 0.8 * y[:, np.newaxis]
    scores = other_tests.score_splits(X, y, "roc_auc", rng).mean(axis=1)
    assert (scores > 0.7).all()
    X[:, 5:] = rng.standard_normal((60, 5))  # the second block knows nothing
    scores = other_tests.score_splits(X, y, "roc_auc", rng).mean(axis=1)
    assert scores[0] > scores[1] + 0.15

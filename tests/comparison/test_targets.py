"""Comparisons, selections and truth for numbers and survival times."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import Ridge

from veridical import report
from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical._core.scoring import read_scoring
from veridical.comparison import compare, sensitivity, truth
from veridical.comparison.design import Design, read_estimators, read_selectors
from veridical.comparison.simulation import SimulatedSource
from veridical.comparison.splits import make_splits
from veridical.comparison.verdicts import null_pair
from veridical.datasets import (
    SOURCES,
    make_linear,
    make_linear_regression,
    make_random_numbers,
    make_random_survival,
    make_survival,
)
from veridical.evaluation import select
from veridical.learning import CoxRidge
from veridical.selection import selectors_for


class ByScore(BaseEstimator):
    """Select by the relation of a feature to the martingale residuals."""

    def __init__(self, n_features_to_select=5, sign=1.0):
        self.n_features_to_select = n_features_to_select
        self.sign = sign

    def fit(self, X, y):
        order = np.argsort(y["time"], kind="stable")
        hazard = np.empty(len(order))
        event = y["event"]
        hazard[order] = np.cumsum(event[order] / np.arange(len(order), 0, -1))
        self.scores_ = self.sign * np.abs((event - hazard) @ (X - X.mean(axis=0)))
        return self

    def get_support(self, indices=False):
        best = np.argsort(-self.scores_, kind="stable")[: self.n_features_to_select]
        return np.sort(best) if indices else np.isin(range(len(self.scores_)), best)


NUMBERS = {
    "best": SelectKBest(f_regression, k=5),
    "other": SelectKBest(lambda X, y: X.std(axis=0), k=5),
}
SURVIVAL = {"best": ByScore(), "worst": ByScore(sign=-1.0)}


@pytest.mark.parametrize(
    ("make", "selectors", "estimator", "chance"),
    [
        (make_random_numbers, NUMBERS, Ridge(), 0.0),
        (make_random_survival, SURVIVAL, CoxRidge(), 0.5),
    ],
)
def test_on_noise_inside_is_chance_and_outside_is_not(
    make, selectors, estimator, chance
):
    found = []
    for seed in range(4):
        X, y = make(100, 400, random_state=seed)
        one = compare(selectors, X, y, estimator=estimator, cv=5, random_state=0)
        assert one.scoring.chance == chance
        assert one.conclusion.belief in ("no", "open")
        found.append(one)
    inside, outside = (
        np.mean([one.score[m][0].mean() for one in found]) for m in ("in", "out")
    )
    assert inside < chance + 0.05
    assert outside > chance + 0.1


def test_the_default_estimator_follows_the_target():
    X, y = make_survival(90, 20, strength=2.0, random_state=0)
    found = compare(SURVIVAL, X, y, cv=5, random_state=0)
    assert found.estimators == ("cox",)
    assert found.scoring.name == "concordance"
    assert found.score["in"][0].mean() > 0.7
    assert found.verdicts["in"].mean_difference > 0.1
    chosen = select(ByScore(), X, y, cv=5, random_state=0)
    assert chosen.estimator == "cox"
    assert chosen.score.value == pytest.approx(found.score["in"][0].mean(), abs=0.1)
    assert chosen.classes == ()
    assert len(chosen.by_size) == len(chosen.sizes)
    numbers = SOURCES["linear-regression"](80, random_state=0)
    assert select(NUMBERS["best"], *numbers, cv=5).scoring.name == "r2"


def test_a_loss_is_compared_as_a_loss():
    X, y = SOURCES["linear-regression"](100, random_state=1)
    found = compare(NUMBERS, X, y, cv=5, scoring=["mae", "r2"], random_state=0)
    verdict = found.pairs["in"][0]
    assert found.score["in"][0].mean() < found.score["in"][1].mean()
    assert verdict.better in ("best", None)
    assert set(found.values) == {"mean_absolute_error", "r2"}
    assert list(found.further_means) == ["r2"]
    for method, means in found.further_means["r2"].items():
        values = found.values["r2"][method]
        assert means == pytest.approx(values.mean(axis=tuple(range(1, values.ndim))))
    assert "Further scores" in report.page(found)


@pytest.mark.parametrize(
    ("source", "selectors"),
    [("linear-regression", NUMBERS), ("survival", SURVIVAL)],
)
def test_the_truth_of_a_source_is_found(source, selectors):
    found = truth(selectors, source, n_train=60, n_sets=4, cv=5, random_state=0)
    assert found.verdicts["truth"].winner == "a"
    assert len(found.set_verdicts["in"]) == 4
    assert "truly better" in found.recommendation
    assert found.data.kind == SOURCES[source].kind


def _strong(kind, seed=0):
    """Twelve features, three of which matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 12))
    signal = X[:, :3].sum(axis=1)
    if kind == "numbers":
        return X, signal + rng.normal(size=60)
    y = np.empty(60, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = rng.random(60) < 0.7, rng.exponential(np.exp(-signal))
    return X, y


OTHERS = [("numbers", NUMBERS, Ridge()), ("survival", SURVIVAL, CoxRidge())]


@pytest.mark.parametrize(("kind", "selectors", "estimator"), OTHERS)
def test_tests_are_calibrated_on_data_sets_like_these(kind, selectors, estimator):
    X, y = _strong(kind)
    options = {"estimator": estimator, "cv": 3, "random_state": 0, "progress": False}
    found = compare(selectors, X, y, calibrated=20, **options)
    plain = compare(selectors, X, y, **options)
    test = found.verdicts["in"].test
    assert test.calibrated
    assert test.size.n_simulations == 40
    assert test.statistic == plain.verdicts["in"].test.statistic
    assert 1 / 41 <= test.pvalue <= 1
    assert found.settings["calibration pairs"] == 20


@pytest.mark.parametrize(("kind", "selectors", "estimator"), OTHERS)
def test_neither_of_two_null_blocks_is_better(kind, selectors, estimator):
    """Blocks are exchangeable: their mean difference is within its error."""
    table = read_table(*_strong(kind))
    like = SimulatedSource.from_table(table)
    assert like.n_relevant > 0
    design = Design(
        read_selectors(selectors, 0),
        read_estimators(estimator, 0),
        5,
        ("in",),
        read_scoring(None, table.target),
    )
    splits = make_splits(3, table, 0)
    gaps = []
    for number in range(40):
        pair = null_pair(design, table, splits, like, 0, number)["in"]
        gaps.append(np.nanmean(pair[0, 0] - pair[1, 0]))
    error = np.std(gaps, ddof=1) / np.sqrt(len(gaps))
    assert abs(np.mean(gaps)) < 3 * error
    assert error > 0


@pytest.mark.parametrize(("kind", "selectors", "estimator"), OTHERS)
def test_sensitivity_of_numbers_and_survival_times(kind, selectors, estimator):
    X, y = _strong(kind)
    found = sensitivity(
        selectors,
        X,
        y,
        estimator=estimator,
        sample_weight=np.arange(60) % 3 + 1,
        strengths=(0.0, 1.0),
        n_sets=4,
        n_test=200,
        cv=3,
        random_state=0,
    )
    label = {"numbers": "R²", "survival": "concordance"}[kind]
    assert label in found.recommendation
    assert found.n_relevant[0] == 0 < found.n_relevant[1]
    assert "Samples count as often as their weights say" in found.recipe
    chance = 0.0 if label == "R²" else 0.5
    nothing, like = (one.means["truth"][0].value for one in found.sources)
    assert nothing < chance + 0.1 < like
    page = report.to_json(found)
    assert page["scoring"]["label"].startswith(label)
    assert label in str(report.view(found).sections)


def test_the_truth_is_about_one_score():
    with pytest.raises(
        InputError, match="only one can be compared with the truth; pass one"
    ):
        truth(NUMBERS, "friedman", n_train=50, n_sets=2, scoring=["r2", "mae"])


def test_pictures_of_r2_are_in_numbers_and_scores_show_their_coverage():
    X, y = SOURCES["linear-regression"](80, random_state=0)
    page = compare(NUMBERS, X, y, cv=5, random_state=0)._repr_html_()
    words = re.findall(r">([^<]+)<", page[page.index("<svg") : page.index("</svg>")])
    assert "guessing 0.000" in words
    assert not any("%" in one for one in words)
    chosen = select(
        NUMBERS["best"], X, y, cv=5, scoring=["r2", "pearson"], random_state=0
    )._repr_html_()
    assert "Measured coverage" in chosen
    assert "not measured" in chosen  # the correlation


# -- noise stays noise -----------------------------------------------------------------

PERMUTED = {
    "classes": lambda seed: make_linear(60, 400, random_state=seed),
    "numbers": lambda seed: make_linear_regression(60, 1500, 10, random_state=seed),
    "survival": lambda seed: make_survival(60, 1500, 10, random_state=seed),
}
#: Selectors that keep little of what chance offers to an estimator of straight lines.
WEAK = ("information-gain", "fcbf", "relieff", "multisurf")


@pytest.mark.parametrize(
    ("kind", "scoring", "chance"),
    [
        ("classes", "accuracy", 0.5),
        ("numbers", "r2", 0.0),
        ("numbers", "spearman", 0.0),
        ("survival", "concordance", 0.5),
        ("survival", "concordance_uno", 0.5),
    ],
)
def test_on_permuted_outcomes_in_is_at_chance_and_out_is_not(kind, scoring, chance):
    """The canary, by every selector that reads the target; means of three tables."""
    names = selectors_for(kind)
    inside, outside = np.zeros((2, len(names)))
    for seed in range(3):
        X, y = PERMUTED[kind](seed)
        y = y[np.random.default_rng(seed).permutation(len(y))]
        found = compare(
            names,
            X,
            y,
            n_features_to_select=10,
            cv=5,
            scoring=scoring,
            random_state=seed,
        )
        inside += found.scores["in"].reshape(len(names), -1).mean(axis=1) / 3
        outside += found.scores["out"].reshape(len(names), -1).mean(axis=1) / 3
    if scoring == "r2":  # below 0: each model predicts worse than the mean
        assert (inside < chance).all()
    else:
        assert np.abs(inside.mean() - chance) < 0.08
        assert (np.abs(inside - chance) < 0.16).all()
    for name, within, before in zip(names, inside, outside, strict=True):
        if name == "variance":  # uses no outcome
            assert abs(before - within) < 0.05
        elif name in WEAK:
            assert before > within + 0.05
        else:
            assert before > chance + 0.2

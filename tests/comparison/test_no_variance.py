"""Scores that do not vary over the folds are no evidence: nothing is claimed."""

from __future__ import annotations

import html
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import ShuffleSplit
from tests.report import records

from veridical._core.errors import InputError
from veridical._core.records import Interval
from veridical.comparison import (
    bayesian_correlated_t,
    compare,
    corrected_resampled_t,
    five_by_two_f,
    five_by_two_t,
    friedman,
    paired_t,
    repeated_cv_t,
    sorted_runs_t,
    truth,
)
from veridical.comparison import conclusions as say
from veridical.comparison.significance import Geometry
from veridical.comparison.testing import apply_test, on_accuracies
from veridical.comparison.verdicts import PairTester, SignificanceTest
from veridical.evaluation import wilson
from veridical.evaluation.situations import Situation
from veridical.report import save, to_json
from veridical.report.render import terminal as on_terminal
from veridical.report.view import view

N_FOLDS = 10
GEOMETRY = Geometry((90,) * N_FOLDS, (10,) * N_FOLDS, 1, N_FOLDS)
SIZES = {"n_train": 50, "n_test": 50}
VARIED = np.resize([0.5, 0.7, 0.6, 0.8, 0.6], N_FOLDS)


def record(inside, outside, geometry=GEOMETRY):
    """A comparison with these accuracies, (2, n_folds), of IN and OUT."""
    accuracy = {
        "in": np.asarray(inside, dtype=float)[:, None, None],
        "out": np.asarray(outside, dtype=float)[:, None, None],
    }
    tester = PairTester(
        SignificanceTest("corrected-t", 0.05, 0.01),
        geometry,
        Situation(100, 60, 5, 2, 0.5, "", 0.5),
    )
    made = records.comparison({"in": (0.6, 0.6), "out": (0.6, 0.6)})
    scores = {method: values[:, 0] for method, values in accuracy.items()}
    pairs = tester.pairs(scores, "", made.names, "holm")
    made = replace(
        made,
        accuracy=accuracy,
        pairs=pairs,
        by_estimator={"SVM": pairs},
        optimism=say.measure_optimism(accuracy, geometry, 0.05),
        n_train=float(geometry.n_train[0]),
        n_test=float(geometry.n_test[0]),
    )
    return replace(made, recommendation=say.recommend(made))


def shown(made, tmp_path, capsys):
    """The comparison as JSON, as a page and on the terminal."""
    on_terminal.show(view(made))
    page = save(made, tmp_path / "page.html").read_text(encoding="utf-8")
    page = re.sub(r"<(script|style).*?</\1>", " ", page, flags=re.DOTALL)
    page = html.unescape(re.sub(r"<[^>]*>", " ", page))
    terminal = capsys.readouterr().out
    return to_json(made), " ".join(page.split()), " ".join(terminal.split())


def claims_nothing(made, summary, page, terminal):
    """Assert that no place names a winner, an interval of no width or an artefact."""
    json.dumps(summary, allow_nan=False)
    assert made.artefacts == ()
    assert made.conclusion.belief == "open"
    assert all(verdict.winner == "draw" for verdict in made.verdicts.values())
    assert all(pair.better is None for (pair,) in made.pairs.values())
    for text in (made.recommendation, page, terminal, json.dumps(summary)):
        assert not re.search(r"\bnan\b", text, re.IGNORECASE)
        assert "artefact of" not in text
        assert "You may claim" not in text
        assert "p < 0.001" not in text
    assert "Not decided" in page


@pytest.mark.parametrize("gap", [0.25, -0.25])
def test_differences_that_are_all_equal_claim_nothing(gap, tmp_path, capsys):
    made = record([VARIED + gap, VARIED], [VARIED + gap, VARIED])
    summary, page, terminal = shown(made, tmp_path, capsys)
    claims_nothing(made, summary, page, terminal)
    verdict = made.verdicts["in"]
    assert math.isnan(verdict.pvalue)
    assert np.isnan(verdict.interval).all()
    assert verdict.mean_difference == pytest.approx(gap)
    note = "All 10 differences are equal"
    difference = summary["methods"][0]["difference"]
    assert difference["note"].startswith(note)
    assert [difference[key] for key in ("pvalue", "low", "high")] == [None] * 3
    assert any(note in said for said in summary["words"]["notes"])
    assert note in page
    assert note in terminal
    assert "cannot be tested (it is equal in all folds)" in made.conclusion.sentence


def test_equal_optimism_is_no_artefact(tmp_path, capsys):
    # OUT is 40 points above IN in every fold.
    low, high = VARIED - 0.1, VARIED + 0.3
    made = record([low, low[::-1]], [high, high[::-1]])
    assert all(
        gap.value == pytest.approx(0.4) and np.isnan(gap[1:]).all()
        for gap in made.optimism
    )
    summary, page, terminal = shown(made, tmp_path, capsys)
    claims_nothing(made, summary, page, terminal)
    assert "whether OUT is too optimistic is not known" in page
    assert "OUT is too optimistic" not in page.replace("whether OUT is too", "")
    # With a little variance of the same gap it is one.
    wiggle = np.resize([0.01, -0.01], N_FOLDS)
    assert record([low, low], [high + wiggle, high - wiggle]).artefacts == (0, 1)


def test_no_artefact_where_in_has_no_interval():
    half, high = np.full(N_FOLDS, 0.5), VARIED + 0.2
    made = replace(record([half, half], [high, high]), n_test=math.nan)
    assert made.optimism[0].low > 0
    assert np.isnan(made.means["in"][0][1:3]).all()
    assert made.artefacts == ()


def test_all_folds_at_100_percent_claim_nothing(tmp_path, capsys):
    full = np.ones((2, N_FOLDS))
    made = record(full, full)
    summary, page, terminal = shown(made, tmp_path, capsys)
    claims_nothing(made, summary, page, terminal)
    assert made.verdicts["in"].pvalue == 1
    for mean in made.means["in"]:
        assert (mean.value, mean.std, mean.n) == (1.0, 0.0, N_FOLDS)
        assert (mean.low, mean.high) == wilson(1.0, 100)
    note = "the interval is Wilson's for the tested samples"
    assert note in page
    assert note in terminal


def test_a_selector_at_100_percent_may_be_better():
    # The difference varies, so it has an interval; so has the other selector's mean.
    made = record([np.ones(N_FOLDS), VARIED + 0.15], [np.ones(N_FOLDS), VARIED])
    assert made.verdicts["in"].winner == "a"
    assert made.conclusion.belief == "yes"


def test_two_folds_claim_nothing(tmp_path, capsys):
    geometry = Geometry((50, 50), (50, 50), 1, 2)
    scores = [[0.90, 0.91], [0.60, 0.60]]
    assert corrected_resampled_t(*scores, n_train=50, n_test=50).pvalue < 0.05
    made = record(scores, scores[::-1], geometry)
    summary, page, terminal = shown(made, tmp_path, capsys)
    claims_nothing(made, summary, page, terminal)
    assert "2 differences are too few" in page
    assert "2 differences are too few" in terminal
    assert "2 folds are too few" in made.conclusion.sentence
    assert all(np.isnan(gap[1:]).all() for gap in made.optimism)


class Memory(ClassifierMixin, BaseEstimator):
    """Classifies by the sign of the first feature, without any error."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 0] > 0).astype(int)]


@pytest.fixture
def easy():
    y = np.resize([0, 1], 40)
    X = np.random.default_rng(0).normal(size=(40, 5))
    return np.column_stack([2.0 * y - 1, X]), y


@pytest.mark.parametrize("cv", [2, 5])
def test_compare_at_the_ceiling(easy, cv, tmp_path, capsys):
    made = compare(
        ["anova", "correlation"],
        *easy,
        estimator=Memory(),
        n_features_to_select=1,
        cv=cv,
        random_state=0,
    )
    assert (made.accuracy["in"] == 1).all()
    claims_nothing(made, *shown(made, tmp_path, capsys))


def test_one_fold_is_refused(easy):
    with pytest.raises(InputError, match="at least 2"):
        compare(
            ["anova", "correlation"],
            *easy,
            estimator="nb",
            n_features_to_select=1,
            cv=ShuffleSplit(1, random_state=0),
        )


def test_three_selectors_at_the_ceiling(easy, tmp_path, capsys):
    made = compare(
        ["anova", "correlation", "information-gain"],
        *easy,
        estimator=Memory(),
        n_features_to_select=1,
        cv=2,
        random_state=0,
    )
    summary, page, terminal = shown(made, tmp_path, capsys)
    json.dumps(summary, allow_nan=False)
    assert made.conclusion.belief == "open"
    for text in (page, terminal, made.recommendation):
        assert not re.search(r"\bnan\b", text, re.IGNORECASE)
    assert "the accuracy is 100.0 % on all 2 folds" in page


def test_two_data_sets_of_a_source_show_no_truth():
    made = truth(
        ["anova", "correlation"],
        "linear",
        n_train=40,
        estimator="nb",
        n_features_to_select=2,
        n_sets=2,
        cv=2,
        random_state=0,
    )
    assert made.verdicts["truth"].winner == "draw"
    assert set(made.set_verdicts["in"]) == {"draw"}
    assert "nan" not in made.recommendation


EQUAL = np.full(10, 0.7), np.full(10, 0.6)


@pytest.mark.parametrize(
    "test",
    [
        paired_t,
        lambda a, b: corrected_resampled_t(a, b, **SIZES),
        lambda a, b: bayesian_correlated_t(a, b, **SIZES),
        repeated_cv_t,
        lambda a, b: sorted_runs_t(a, b, n_repeats=2),
        five_by_two_t,
        five_by_two_f,
    ],
)
def test_every_test_without_variance(test):
    a, b = EQUAL
    for one, other, gap in ((a, b, 0.1), (b, a, -0.1), (a, a, 0.0)):
        result = test(one, other)
        assert result.mean_difference == pytest.approx(gap)
        assert np.isnan(result.interval).all()
        assert result.winner == "draw"
        assert result.note
        if gap:
            assert np.isnan([result.pvalue, result.statistic]).all()
        else:
            assert (result.pvalue, result.statistic) == (1, 0)
        if result.probabilities is not None:
            assert np.isnan(list(result.probabilities.values())).all()


def test_intervals_of_differences_of_accuracies_stay_within_bounds():
    wide = paired_t([1.0, 0.0, 1.0], [0.0, 1.0, 0.0])
    assert wide.interval[0] < -1 < 1 < wide.interval[1]
    assert on_accuracies(wide).interval == (-1, 1)
    geometry = Geometry((2,) * 3, (1,) * 3, 1, 3)
    a, b = np.array([1.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])
    assert apply_test("corrected-t", a, b, geometry).interval == (-1, 1)
    accuracy = {"in": np.array([[[a]]]).reshape(1, 1, 1, 3)}
    accuracy["out"] = 1 - accuracy["in"]
    (gap,) = say.measure_optimism(accuracy, geometry, 0.05)
    assert gap == Interval(pytest.approx(-1 / 3), -1.0, 1.0)


def test_identical_ranks_have_the_exact_probability():
    for n in (2, 3, 5):
        same = friedman([[0.9] * n, [0.8] * n, [0.7] * n])
        assert same.pvalue == pytest.approx((1 / 6) ** (n - 1))
        tied = friedman([[0.9] * n, [0.8] * n, [0.8] * n])
        assert tied.pvalue == pytest.approx((1 / 3) ** (n - 1))

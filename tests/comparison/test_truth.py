"""IN, OUT and TRUTH on a source: against an obvious loop, seeds, and what they tell."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import f_classif
from tests.oracles.comparison import in_and_out, true_accuracy

from veridical._core.errors import InputError
from veridical._core.seeds import Purpose, seed_for
from veridical._core.splits import CrossValidation
from veridical.comparison import (
    binomial_truthfulness,
    compare,
    paired_t,
    truth,
    with_truth,
)
from veridical.datasets import SOURCES, make_linear
from veridical.learning import make_estimator


@pytest.fixture(scope="module")
def result(anova, chance):
    return truth(
        [anova, chance],
        "linear",
        n_features_to_select=8,
        n_train=50,
        n_sets=12,
        n_test=80,
        cv=5,
        estimator=["1nn", "svm"],
        random_state=42,
    )


def anova_best(X, y):
    return np.argsort(-f_classif(X, y)[0])[:8]


def test_equals_the_obvious_loop(result):
    for b in (0, 7):
        X, y = make_linear(50, random_state=seed_for(42, Purpose.TRAINING_SET, b))
        X_test, y_test = make_linear(80, random_state=seed_for(42, Purpose.TEST_SET, b))
        seed = seed_for(42, Purpose.FOLDS, b)
        folds = CrossValidation(5).split(y, random_state=seed)
        for c, name in enumerate(result.estimators):

            def model(name=name):
                return make_estimator(name)

            inside, outside = in_and_out(anova_best, model, X, y, folds)
            true = true_accuracy(anova_best, model, X, y, X_test, y_test)
            assert np.array_equal(result.accuracy["in"][0, c, b], inside)
            assert np.array_equal(result.accuracy["out"][0, c, b], outside)
            assert result.accuracy["truth"][0, c, b, 0] == true


def test_accuracies_have_the_documented_shapes(result):
    assert result.accuracy["truth"].shape == (2, 2, 12, 1)
    assert result.accuracy["in"].shape == result.accuracy["out"].shape == (2, 2, 12, 5)
    assert result.selected["truth"].shape == (2, 12, 1, 8)
    assert result.selected["in"].shape == (2, 12, 5, 8)
    assert result.data.name == "linear"
    assert result.data.n_samples == 50
    assert sum(result.data.classes.values()) == 12 * (50 + 80)
    assert list(result.verdicts) == ["truth"]
    assert len(result.to_frame()) == 2 * 2 * 12 * (1 + 5 + 5)


def test_out_selects_what_truth_selects(result):
    """A0: OUT and TRUTH both select on the whole training set."""
    assert np.array_equal(result.selected["out"], result.selected["truth"])


def test_verdicts_and_counts(result):
    scores = {m: result.accuracy[m].mean(axis=1) for m in result.accuracy}
    expected = paired_t(*scores["truth"][:, :, 0])
    assert result.verdicts["truth"].test == expected
    assert expected.df == 11
    assert result.verdicts["truth"].winner == "a"
    alone = paired_t(*result.accuracy["truth"][:, 1, :, 0])
    assert result.by_estimator["svm"]["truth"][0].verdict.test == alone
    right = {}
    for method in ("in", "out"):
        winners = [paired_t(*scores[method][:, b]).winner for b in range(12)]
        assert list(result.set_verdicts[method]) == winners
        right[method] = np.array(winners) == "a"
    only_in = int(np.sum(right["in"] & ~right["out"]))
    only_out = int(np.sum(~right["in"] & right["out"]))
    found, test = result.truthfulness, binomial_truthfulness(only_in, only_out)
    assert (found.only_in, found.only_out) == (only_in, only_out)
    assert (found.pvalue, found.better) == (test.pvalue, test.better)
    assert found.only_in + found.only_out + found.both_right + found.both_wrong == 12


def test_optimism_and_bias(result):
    for i in range(2):
        per_set = [result.accuracy[m][i].mean(axis=(0, 2)) for m in ("out", "in")]
        gap = paired_t(*per_set)
        assert result.optimism[i] == (gap.mean_difference, *gap.interval)
    mean = {m: result.accuracy[m].mean(axis=(1, 2, 3)) for m in result.accuracy}
    for method in ("in", "out"):
        bias = mean[method] - mean["truth"]
        assert result.bias_imbalance[method] == pytest.approx(abs(bias[0] - bias[1]))


def test_a_selector_against_itself(anova):
    """A11: every verdict is a draw, and neither protocol reaches it more often."""
    same = truth(
        [anova, anova],
        "linear",
        n_features_to_select=5,
        n_train=40,
        n_sets=4,
        random_state=0,
    )
    assert same.verdicts["truth"].winner == "draw"
    assert same.verdicts["truth"].pvalue == 1
    assert set(same.set_verdicts["in"] + same.set_verdicts["out"]) == {"draw"}
    assert (same.truthfulness.only_in, same.truthfulness.only_out) == (0, 0)
    assert (same.truthfulness.pvalue, same.truthfulness.better) == (1.0, "same")
    assert same.truthfulness.both_right == 4


def test_data_sets_depend_on_seed_and_number_alone(anova, chance):
    common = {
        "n_features_to_select": 5,
        "n_train": 40,
        "estimator": "1nn",
        "random_state": 9,
    }
    few = truth([anova, chance], "linear", n_sets=3, n_jobs=1, **common)
    many = truth([anova, chance], "linear", n_sets=5, n_jobs=2, **common)
    for method in ("truth", "in", "out"):
        assert np.array_equal(few.accuracy[method], many.accuracy[method][:, :, :3])
        assert np.array_equal(few.selected[method], many.selected[method][:, :3])
    alone = truth([anova, chance], "linear", n_sets=3, methods=["truth"], **common)
    assert np.array_equal(alone.accuracy["truth"], few.accuracy["truth"])
    assert alone.truthfulness is None
    assert alone.set_verdicts == alone.bias_imbalance == {}
    assert alone.optimism == ()
    folded = truth([anova, chance], "linear", n_sets=3, methods=["in", "out"], **common)
    assert np.array_equal(folded.accuracy["in"], few.accuracy["in"])
    assert folded.verdicts == {}
    assert "TRUTH was not run" in folded.recommendation


def test_the_papers_example_has_its_signs():
    """OUT is too high and IN too low, for a univariate filter on few samples."""
    cell = truth(
        ["relieff", "fcbf"],
        "linear",
        n_features_to_select=20,
        n_train=125,
        n_sets=8,
        random_state=1,
    )
    truths = cell.accuracy["truth"].mean(axis=(1, 2, 3))
    assert cell.names == ("ReliefF", "FCBF")
    assert 0.7 < truths.min() < truths.max() < 0.9
    assert all(gap.value > 0 for gap in cell.optimism)


class Noisy:
    """A source whose test sets are of another kind than its training sets."""

    name = "noisy"

    def __call__(self, n_samples, random_state=None):
        rng = np.random.default_rng(random_state)
        y = np.arange(n_samples) % 2
        X = rng.normal(size=(n_samples, 4)) + 3 * y[:, np.newaxis]
        return X, rng.permutation(y)

    def test(self, n_samples, random_state=None):
        y = np.arange(n_samples) % 2
        return np.tile(3.0 * y[:, np.newaxis], 4), np.full(n_samples, 7)


def test_test_sets_come_from_the_sources_own_method(anova, worst):
    found = truth(
        [anova, worst],
        Noisy(),
        n_features_to_select=2,
        n_train=30,
        n_sets=2,
        random_state=0,
    )
    assert found.data.name == "noisy"
    assert np.all(found.accuracy["truth"] == 0)  # no training sample is of class 7
    assert np.all(found.accuracy["in"].mean(axis=(2, 3)) > 0)


def test_categorical_sources():
    assert "monks-3" in SOURCES
    found = truth(
        ["relieff", "information-gain"],
        "monks-3",
        n_features_to_select=2,
        n_train=60,
        n_sets=3,
        estimator=["c45", "nb"],
        random_state=0,
    )
    assert found.data.feature_names == ("a1", "a2", "a3", "a4", "a5", "a6")
    assert found.accuracy["truth"].mean() > 0.8


def test_categories_that_differ_between_training_and_test(anova):
    def source(n_samples, random_state=None):
        rng = np.random.default_rng(random_state)
        colours = rng.choice(["red", "green", "blue"], n_samples)
        y = np.where(colours == "red", "yes", "no")
        # Each draw declares the values it happens to hold, in their order there.
        column = pd.Categorical(colours, categories=pd.unique(colours))
        return pd.DataFrame({"c": column, "x": rng.normal(size=n_samples)}), y

    found = truth(
        ["relieff", "fcbf"],
        source,
        n_features_to_select=1,
        n_train=40,
        n_sets=3,
        random_state=0,
    )
    assert np.all(found.accuracy["truth"] == 1)
    assert found.data.name == "source"


def test_truth_beside_a_comparison(anova, chance, result):
    X, y = make_linear(50, random_state=1)
    here = compare(
        [anova, chance],
        X,
        y,
        n_features_to_select=8,
        estimator=["1nn", "svm"],
        random_state=42,
    )
    both = with_truth(here, result)
    assert list(both.accuracy) == ["in", "out", "truth"]
    assert both.verdicts["in"] == here.verdicts["in"]
    assert both.verdicts["truth"] == result.verdicts["truth"]
    assert both.by_estimator["svm"]["truth"] == result.by_estimator["svm"]["truth"]
    assert both.truthfulness == result.truthfulness
    mean = {m: both.accuracy[m].mean(axis=(1, 2, 3)) for m in both.accuracy}
    gap = np.diff(mean["in"] - mean["truth"])[0]
    assert both.bias_imbalance["in"] == pytest.approx(abs(gap))
    assert here.recommendation in both.recommendation
    assert "truly better" in both.recommendation
    assert both.settings["truth"]["n_sets"] == 12
    assert both.settings["n_train"] == 45

    other = compare([anova, chance], X, y, n_features_to_select=7, random_state=42)
    with pytest.raises(InputError, match="differ in"):
        with_truth(other, result)
    with pytest.raises(InputError, match="no TRUTH"):
        with_truth(here, here)


def test_repeats_of_folds_stay_folds_beside_as_many_data_sets(anova, chance):
    X, y = make_linear(60, random_state=1)
    common = {"n_features_to_select": 8, "estimator": "1nn", "random_state": 0}
    here = compare([anova, chance], X, y, cv="4x5", **common)
    known = truth([anova, chance], "linear", n_train=50, n_sets=4, cv=5, **common)

    both = with_truth(here, known)

    assert len(both.set_verdicts["in"]) == both.accuracy["in"].shape[2] == 4
    assert both.means["in"] == here.means["in"]
    assert [mean.n for mean in both.means["in"]] == [20, 20]
    assert [mean.n for mean in known.means["in"]] == [4, 4]
    assert [mean.n for mean in both.means["truth"]] == [4, 4]
    inside, _, true = both.to_dict()["methods"]
    assert inside["interval"].startswith("t interval over 20 folds, its variance")
    assert true["interval"] == "t interval over 4 independent data sets"
    assert known.independent_repeats
    assert not both.independent_repeats


def test_a_test_that_does_not_fit_the_folds_is_refused_at_once(anova, worst):
    with pytest.raises(InputError, match="use cv='5x2'"):
        truth(
            [anova, worst],
            "linear",
            n_features_to_select=5,
            n_train=40,
            test="five-by-two-f",
        )

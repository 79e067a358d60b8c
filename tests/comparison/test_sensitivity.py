"""IN and OUT on sources like the data, held against a truth that is known."""

import numpy as np
import pytest

from veridical._core.errors import InputError
from veridical._core.reading import read_table
from veridical.comparison import sensitivity, truth
from veridical.comparison.simulation import SimulatedSource

COMMON = {
    "n_features_to_select": 4,
    "estimator": "nb",
    "cv": 5,
    "n_sets": 12,
    "n_test": 300,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def observed():
    rng = np.random.default_rng(0)
    y = np.resize(["no", "yes"], 80)
    X = rng.normal(size=(80, 12))
    X[:, :4] += 1.2 * (y == "yes")[:, None]
    return X, y


@pytest.fixture(scope="module")
def result(anova, worst, observed):
    return sensitivity(
        {"best": anova, "worst": worst},
        *observed,
        **COMMON,
    )


def test_a_clear_difference_is_found_on_every_source(result):
    frame = result.to_frame()
    assert frame["strength"].tolist() == [0.5, 1.0, 1.5]
    assert set(frame["true_winner"]) == {"a"}
    assert (frame["truth_a"] > frame["truth_b"] + 0.05).all()
    # Stronger columns make better classifiers.
    assert frame["truth_a"].is_monotonic_increasing
    assert set(frame["n_relevant"]) == {4}
    assert (frame["in_right"] <= 12).all()
    assert result.recommendation.startswith(
        "On a source like these data (strength 1) best is truly better, by "
    )
    assert "At strength 0.5 best is truly better" in result.recommendation
    assert "IN says so on" in result.recommendation


def test_the_source_looks_like_the_data(result):
    inside = result.to_frame().set_index("strength").loc[1.0, "in_a"]
    assert inside == pytest.approx(result.observed.accuracy["in"][0].mean(), abs=0.07)
    one = result.sources[1]
    assert one.data.n_samples == 80
    assert one.data.n_features == 12
    assert one.data.classes["no"] == one.data.classes["yes"]
    assert "false discovery rate" in result.recipe


def test_it_is_truth_on_a_simulated_source(result, anova, worst, observed):
    source = SimulatedSource.from_table(read_table(*observed), 1.0)
    known = truth(
        {"best": anova, "worst": worst},
        source,
        n_train=80,
        test="corrected-t",
        **COMMON,
    )
    assert np.array_equal(known.accuracy["truth"], result.sources[1].accuracy["truth"])
    assert known.set_verdicts == result.sources[1].set_verdicts


def test_another_score_than_accuracy(anova, worst, observed):
    pair = {"best": anova, "worst": worst}
    few = {**COMMON, "n_sets": 4, "scoring": "roc_auc", "strengths": (1.0,)}
    result = sensitivity(pair, *observed, **few)

    assert result.observed.scoring.name == result.sources[0].scoring.name == "roc_auc"
    frame = result.to_frame()
    assert (frame["truth_a"] > frame["truth_b"] + 0.05).all()
    assert "Values of area under the ROC curve under IN" in result.recommendation
    with pytest.raises(InputError, match="only one can be compared with the truth"):
        sensitivity(pair, *observed, **{**few, "scoring": ["roc_auc", "f1"]})


def test_noise_has_no_winner(anova, chance):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 30)), np.resize(["a", "b"], 60)
    found = sensitivity([anova, chance], X, y, **COMMON, strengths=(1,))
    assert found.n_relevant == (0,)
    frame = found.to_frame()
    assert frame["truth_a"][0] == pytest.approx(0.5, abs=0.03)
    # OUT promises what is not there.
    assert frame["out_a"][0] > frame["in_a"][0] + 0.05
    assert "On a source like these data" in found.recommendation


def test_progress_counts_all_sources(anova, worst, observed):
    seen = []
    arguments = {**COMMON, "strengths": (1.0, 2.0), "n_sets": 2}
    one = sensitivity(
        [anova, worst], *observed, **arguments, progress=lambda *at: seen.append(at)
    )
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert one.to_frame().equals(
        sensitivity([anova, worst], *observed, **arguments).to_frame()
    )


def test_more_than_two_selectors_are_refused(anova, worst, first, observed):
    with pytest.raises(InputError, match="3 selectors, but only two"):
        sensitivity([anova, worst, first], *observed, **COMMON)


@pytest.mark.parametrize("test", ["delong", "jackknife", "conservative-z", "tea"])
def test_a_test_that_truth_lacks_is_refused_first(
    anova, worst, observed, test, monkeypatch
):
    def compare(*args, **kwargs):
        raise AssertionError("compared before the test was checked")

    monkeypatch.setattr("veridical.comparison.sensitivity_analysis.compare", compare)
    with pytest.raises(InputError, match="se one of 'corrected-t'"):
        sensitivity([anova, worst], *observed, **COMMON, test=test)


@pytest.mark.parametrize("strengths", [(), (-1,), ("strong",), (np.inf,), 3])
def test_bad_arguments_are_refused_in_words(anova, worst, observed, strengths):
    with pytest.raises(InputError, match="strengths must be numbers"):
        sensitivity([anova, worst], *observed, **COMMON, strengths=strengths)

"""Several selectors: the same numbers as pair by pair, corrected, ranked, worded."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from veridical._core.errors import InputError
from veridical.comparison import compare, friedman
from veridical.comparison.ranks import group
from veridical.comparison.verdicts import adjust
from veridical.datasets import make_random_labels

COMMON = {"n_features_to_select": 5, "estimator": "nb", "cv": 5, "random_state": 0}


@pytest.fixture(scope="module")
def record(anova, worst, first, problem):
    selectors = {"best": anova, "worst": worst, "first": first}
    return compare(selectors, *problem, **COMMON)


def test_pairs_are_those_of_compare(record, anova, worst, first, problem):
    given = (anova, worst, first)
    for pair, (i, j) in zip(record.pairs["in"], combinations(range(3), 2), strict=True):
        alone = compare([given[i], given[j]], *problem, **COMMON)
        assert (pair.first, pair.second) == (record.names[i], record.names[j])
        assert pair.verdict == alone.verdicts["in"]
        for method in ("in", "out"):
            assert np.array_equal(
                record.accuracy[method][[i, j]], alone.accuracy[method]
            )
            assert np.array_equal(
                record.selected[method][[i, j]], alone.selected[method]
            )
        one, other = record.optimism[i], alone.optimism[0]
        assert np.array_equal(one, other, equal_nan=True)
        one, other = record.stability["in"][j], alone.stability["in"][1]
        assert np.array_equal(one, other, equal_nan=True)


def test_order_of_the_selectors_is_nothing(record, anova, worst, first, problem):
    turned = compare(
        {"first": first, "worst": worst, "best": anova}, *problem, **COMMON
    )
    assert np.array_equal(turned.accuracy["in"], record.accuracy["in"][::-1])
    assert turned.friedman["in"].mean_ranks == record.friedman["in"].mean_ranks[::-1]


def test_ranks_are_those_of_the_folds(record):
    found = record.friedman["in"]
    alone = friedman(record.scores["in"])
    assert found.mean_ranks == alone.mean_ranks
    assert found.pvalue == alone.pvalue
    assert found.n == 5
    assert found.size.design.startswith("5 folds under IN, ")
    ranks = stats.rankdata(-record.scores["in"], axis=0).mean(axis=1)
    assert found.mean_ranks == pytest.approx(ranks)


def test_corrections_for_the_number_of_pairs_by_hand():
    p = np.array([0.01, 0.04, 0.03, 0.005, 0.9])
    # By hand: 0.005·5, 0.01·4, 0.03·3, then 0.04·2 must not fall below 0.09.
    assert adjust(p, "holm") == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.9])
    assert adjust(p, "bonferroni") == pytest.approx([0.05, 0.2, 0.15, 0.025, 1.0])
    assert np.array_equal(adjust(p, "none"), p)
    assert (adjust(p, "holm") <= adjust(p, "bonferroni")).all()


def test_a_correction_can_only_take_verdicts_away(anova, worst, first, problem):
    selectors = {"best": anova, "worst": worst, "first": first}
    loose = compare(selectors, *problem, **COMMON, correction="none")
    strict = compare(selectors, *problem, **COMMON, correction="bonferroni")
    for one, other in zip(loose.pairs["in"], strict.pairs["in"], strict=True):
        assert other.adjusted == pytest.approx(min(1, 3 * one.adjusted))
        assert other.better in (one.better, None)
        winner = {"a": one.first, "b": one.second, "draw": None}
        assert one.better == winner[one.verdict.winner]
    assert any(pair.better is not None for pair in loose.pairs["in"])


def test_what_may_be_claimed(record):
    text = record.recommendation
    assert text.startswith("You may claim, under IN (3 pairs, Holm's correction): ")
    assert "best selects better than" in text
    assert "The accuracies to report are those under IN:" in text


def test_equal_selectors_are_not_told_apart(anova, problem):
    record = compare({"one": anova, "two": anova, "three": anova}, *problem, **COMMON)
    assert all(pair.better is None for pair in record.pairs["in"])
    assert record.friedman["in"].pvalue == 1
    assert record.friedman["in"].groups == ((0, 1, 2),)
    assert "Do not claim that any" in record.recommendation
    assert "neither IN nor OUT finds a difference" in record.recommendation


def test_out_alone_supports_no_claim(anova, worst, first, problem):
    record = compare([anova, worst, first], *problem, **COMMON, methods=("out",))
    assert record.recommendation.startswith("Do not claim that any is better: OUT")
    assert record.optimism == ()
    assert record.stability == {}
    assert record.names == (
        "AnovaRanker(worst=False)",
        "AnovaRanker(worst=True)",
        "FirstColumns",
    )


def test_all_pairs_may_have_calibrated_tests(anova, worst, first, problem):
    record = compare(
        [anova, worst, first], *problem, **{**COMMON, "cv": 3}, calibrated=30
    )
    for pair in record.pairs["in"]:
        assert pair.verdict.test.calibrated
        assert pair.verdict.test.size.n_simulations == 60


def test_verdicts_are_for_two(record):
    with pytest.raises(InputError, match="3 selectors were compared"):
        _ = record.verdicts


def test_one_estimator_alone(record):
    assert record.by_estimator == {"nb": record.pairs}


def test_estimators_one_by_one_are_those_of_a_comparison_with_each(
    anova, worst, first, problem
):
    selectors = {"best": anova, "worst": worst, "first": first}
    both = compare(selectors, *problem, **{**COMMON, "estimator": ["nb", "1nn"]})
    for e, name in enumerate(both.estimators):
        alone = compare(selectors, *problem, **{**COMMON, "estimator": name})
        assert np.array_equal(both.accuracy["in"][:, [e]], alone.accuracy["in"])
        assert both.by_estimator[name] == alone.pairs


def test_the_largest_difference_of_two_biases(record):
    gaps = [optimism.value for optimism in record.optimism]
    assert record.bias_imbalance == {"out": pytest.approx(max(gaps) - min(gaps))}


def test_an_artefact_is_said_first_for_several_too(anova, worst, first):
    X, y = make_random_labels(50, 2000, random_state=4)
    options = {**COMMON, "n_features_to_select": 20, "cv": 10}
    found = compare({"best": anova, "worst": worst, "first": first}, X, y, **options)
    text = found.recommendation
    assert text.startswith("OUT is an artefact of selection here: OUT reports ")
    assert "(best)" in text.split(", but when")[0]


def test_the_frame_has_a_row_per_accuracy(record):
    frame = record.to_frame()
    assert len(frame) == 2 * 3 * 5
    assert set(frame["selector"]) == {"best", "worst", "first"}
    means = frame[frame["method"] == "in"].groupby("selector")["accuracy"].mean()
    assert means["best"] == pytest.approx(record.scores["in"][0].mean())


def test_groups_are_maximal():
    assert group(np.array([1.0, 2.0, 3.0]), 0.5) == ()
    assert group(np.array([3.0, 1.0, 2.0]), 5) == ((1, 2, 0),)
    assert group(np.array([1.0, 1.4, 2.0, 2.3]), 1.0) == ((0, 1, 2), (1, 2, 3))


@pytest.mark.parametrize(
    ("selectors", "options", "message"),
    [
        (["anova"], {}, "1 selector.*needs two or more"),
        ({"one": "anova"}, {}, "1 selector.*needs two or more"),
        ([], {}, "0 selector.*needs two or more"),
        ("anova", {}, "must be a list of selectors"),
        (["anova", "fcbf", "nothing"], {}, "no selector 'nothing'"),
        (["anova", "fcbf", 3], {}, "Selector 3 is 3"),
        (["anova"] * 3, {"test": "bayesian-correlated-t"}, "has no p-value"),
        (["anova"] * 3, {"correction": "holmes"}, "did you mean 'holm'"),
        (["anova"] * 3, {"test": "five-by-two-f"}, "use cv='5x2'"),
        (["anova"] * 3, {"calibrated": 29}, "from 30 up"),
    ],
)
def test_bad_arguments_are_refused_in_words(problem, selectors, options, message):
    with pytest.raises(InputError, match=message):
        compare(selectors, *problem, **{**COMMON, **options})

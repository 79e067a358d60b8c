"""The recommendation says what the numbers allow, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from veridical._core.records import DataSummary, Interval
from veridical.comparison import binomial_truthfulness, paired_t, welch_bias
from veridical.comparison.conclusions import (
    Wording,
    describe_truth,
    find_artefacts,
    recommend_pair,
)
from veridical.comparison.records import Comparison, MeasuredSize, Verdict

WORDING = Wording(("Alpha", "Beta"), 0.05, 0.5)
WIGGLE = np.resize([0.01, -0.01], 10)


def verdict(gap):
    """A verdict with about this difference, significant unless it is small."""
    return Verdict.from_test(paired_t(0.7 + gap + WIGGLE, np.full(10, 0.7)))


def accuracy(a_in, b_in, a_out, b_out):
    def one(*means):
        return np.array([mean + WIGGLE for mean in means]).reshape(2, 1, 1, 10)

    return {"in": one(a_in, b_in), "out": one(a_out, b_out)}


PLAIN = accuracy(0.8, 0.8, 0.8, 0.8)


@pytest.mark.parametrize(
    ("inside", "outside", "claim", "pick"),
    [
        (0.1, 0.1, "may claim that Alpha selects better than Beta", "IN and OUT agree"),
        (-0.1, 0.0, "may claim that Beta selects better", "take Beta: only IN finds"),
        (0.0, 0.1, "Do not claim that either", "take either: IN finds no difference"),
        (0.0, 0.0, "Do not claim that either", "take either"),
        (
            0.1,
            -0.1,
            "may claim that Alpha",
            "trust neither: IN prefers Alpha and OUT B",
        ),
    ],
)
def test_claims_rest_on_in_and_picks_on_any_difference(inside, outside, claim, pick):
    verdicts = {"in": verdict(inside), "out": verdict(outside)}
    text = recommend_pair(verdicts, PLAIN, (), (), WORDING)
    assert claim in text
    assert pick in text
    assert "artefact" not in text


def test_figures_are_for_the_winner():
    text = recommend_pair({"in": verdict(-0.1)}, PLAIN, (), (), WORDING)
    assert "higher by 10.0 points (95 % interval 9.2 to 10.8, p < 0.001)" in text
    text = recommend_pair({"in": verdict(-0.002)}, PLAIN, (), (), WORDING)
    assert "Alpha minus Beta is −0.2 points" in text
    assert "(95 % interval −1.0 to 0.6, p = " in text


def test_one_method_alone():
    only_in = recommend_pair({"in": verdict(0.1)}, PLAIN, (), (), WORDING)
    assert only_in.startswith("You may claim")
    assert "pick" not in only_in
    only_out = recommend_pair({"out": verdict(0.1)}, PLAIN, (), (), WORDING)
    assert "run IN as well" in only_out
    assert "You may claim" not in only_out


def test_the_accuracy_to_report_is_that_of_in():
    scores = accuracy(0.6, 0.58, 0.9, 0.5)
    optimism = (Interval(0.3, -0.015, 0.615), Interval(-0.08, -0.2, 0.04))
    verdicts = {"in": verdict(0.0), "out": verdict(0.1)}
    text = recommend_pair(verdicts, scores, (), optimism, WORDING)
    assert (
        "The accuracy to report is that under IN: 60.0 % for Alpha (OUT is 30.0" in text
    )
    assert "points higher, 95 % interval −1.5 to 61.5)" in text
    assert "58.0 % for Beta (OUT is 8.0 points lower" in text


def test_artefacts_are_said_first():
    scores = accuracy(0.48, 0.8, 0.93, 0.8)
    verdicts = {"in": verdict(0.0), "out": verdict(0.1)}
    text = recommend_pair(verdicts, scores, (0,), (), WORDING)
    assert text.startswith("OUT is an artefact of selection here: OUT reports 93.0 %")
    assert "IN reports 48.0 % (Alpha), not shown to be better than always" in text
    assert "most frequent class (50.0 %)" in text
    assert "ignore the verdict of OUT" in text
    both = recommend_pair(verdicts, accuracy(0.5, 0.5, 0.9, 0.9), (0, 1), (), WORDING)
    assert "90.0 % (Alpha) and 90.0 % (Beta)" in both
    assert "Neither selection is shown to be worth using" in both


@pytest.mark.parametrize(
    ("inside", "outside", "found"),
    [
        (0.49, 0.9, True),  # at chance, and far below OUT
        (0.40, 0.9, True),  # below chance is not above it
        (0.8, 0.9, False),  # OUT is too high, but there is a signal
        (0.49, 0.495, False),  # neither is above chance
        (0.40, 0.47, False),  # OUT is too high, and still not above chance
    ],
)
def test_what_an_artefact_is(inside, outside, found):
    scores = accuracy(inside, 0.8, outside, 0.8)
    gap = outside - inside
    optimism = (
        Interval(gap, gap - 0.01, gap + 0.01),
        Interval(0.0, -0.01, 0.01),
    )
    expected = (0,) if found else ()
    record = Comparison(
        names=("Alpha", "Beta"),
        estimators=("nb",),
        n_features_to_select=2,
        data=DataSummary("made", 100, 9, {"no": 50, "yes": 50}, ()),
        accuracy=scores,
        selected={},
        pairs={},
        by_estimator={},
        optimism=optimism,
        bias_imbalance={},
        recommendation="",
        n_train=90.0,
        n_test=10.0,
    )
    assert find_artefacts(record) == record.artefacts == expected
    assert find_artefacts(replace(record, optimism=())) == ()
    unsure = (Interval(gap, -0.1, 1.0), optimism[1])
    assert find_artefacts(replace(record, optimism=unsure)) == ()


@pytest.mark.parametrize(
    ("gap", "better", "messages"),
    [
        (0.1, "out", ["Alpha is truly better, by 10.0 points", "OUT reaches the true"]),
        (-0.1, "same", ["Beta is truly better", "neither reaches the true verdict"]),
        (0.0, "in", ["TRUTH does not show a difference", "IN on 2 and OUT on 1 of 3"]),
    ],
)
def test_sentence_on_the_truth(gap, better, messages):
    found = {"in": ("draw", "draw", "b"), "out": ("a", "draw", "b")}
    counted = binomial_truthfulness(1, 0, both_right=1, both_wrong=1)
    outcome = replace(counted, better=better)
    text = describe_truth(verdict(gap), found, outcome, WORDING, 3)
    for message in messages:
        assert message in text
    alone = describe_truth(verdict(gap), {}, None, WORDING, 3)
    assert "same verdict" not in alone


def test_what_a_p_value_is_worth_stands_beside_it():
    size = MeasuredSize(0.05, 0.083, 0.07, 0.1, 2000, "10 folds")
    found = verdict(-0.002)
    known = Verdict.from_test(replace(found.test, size=size))
    text = recommend_pair({"in": known}, PLAIN, (), (), WORDING)
    assert (
        "; false-positive rate of the test 7.0 to 10.0 % (measured; nominal 5 %))"
        in text
    )
    calibrated = replace(known.test, name="paired t", calibrated=True)
    text = recommend_pair({"in": Verdict.from_test(calibrated)}, PLAIN, (), (), WORDING)
    assert "nominal" not in text


# -- tests alone -----------------------------------------------------------------------


def test_many_tests_are_counted():
    rng = np.random.default_rng(0)
    a = rng.normal(0.8, 0.05, (2, 6, 1, 10))
    a[0, :2] += 0.5
    a[1, 5] -= 0.5
    b = rng.normal(0.8, 0.001, a.shape)
    a[1, 0], b[1, 0] = 0.9, 0.8  # no variance, hence no p-value
    many = paired_t(a, b, alpha=0.001)
    belief, said = many.conclusion
    assert belief == "care"
    assert said == (
        "3 of 12 tests show a difference: a is better in 2 and b in 1; 1 has no "
        "p-value. The p-values are not corrected for the number of tests."
    )
    assert many.note == ""  # it would hold for one test only
    assert many.to_frame()["winner"].tolist() == np.ravel(many.winner).tolist()
    none = paired_t(b[:, 1:], b[:, 1:][..., ::-1], alpha=0.001)
    assert none.conclusion == ("open", "None of 10 tests shows a difference.")


def test_many_tests_have_a_page_a_table_and_json(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.8, 0.05, (2, 3, 5, 10))
    many = paired_t(a[:, None], b[:, None])
    told = many.to_dict()
    assert told["winner"] == np.asarray(many.winner).tolist()
    assert told["pvalue"] == np.asarray(many.pvalue).tolist()
    assert many.to_latex().count("test ") == 3
    page = many.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "None of 3 tests shows a difference" in page
    assert "None of 3 tests" in many._repr_html_()


def test_each_of_many_tests_has_its_own_number_of_data_sets():
    inside = np.array([[1, 1, 1, 1], [1, 0, 1, 1]], dtype=bool)
    outside = np.array([[0, 0, 0, 0], [1, 0, 0, 1]], dtype=bool)
    many = binomial_truthfulness(inside, outside)
    assert many.to_frame()["n"].tolist() == [4, 1]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_bias_is_not_called_better(sign):
    true = np.array([0.70, 0.72, 0.68, 0.70])
    folds = 0.70 + sign * np.array([0.2, 0.15, 0.1, 0.2, 0.15])
    belief, said = welch_bias(folds, true).conclusion
    assert belief == "care"
    size, side = ("high", "above") if sign > 0 else ("low", "below")
    assert said.startswith(
        f"The accuracy is significantly too {size}: its mean is 0.16 {side} the true"
    )
    assert "better" not in said


def test_a_bias_that_is_not_shown():
    draw = welch_bias([0.9, 0.8, 1.0], [0.70, 0.72, 0.68, 0.70]).conclusion
    said = "No bias is shown: the mean accuracy is 0.2 above the true one (p = 0.071)."
    assert draw == ("open", said)
    unknown = welch_bias([0.9, 0.9], [0.7, 0.7]).conclusion
    assert unknown.belief == "open"
    assert unknown.sentence.startswith("Whether there is a bias is not known")
    many = welch_bias([[[0.9, 0.91, 0.9]], [[0.5, 0.51, 0.5]]], [[[0.7, 0.71, 0.7]]])
    assert many.conclusion.sentence.startswith(
        "2 of 2 tests show a bias: it is upward in 1 and downward in 1."
    )


@pytest.mark.parametrize(
    ("counts", "belief", "said"),
    [
        ((9, 1), "yes", "IN reaches the true verdict significantly more often than "),
        ((1, 9), "yes", "OUT reaches the true verdict significantly more often than "),
        ((4, 3), "open", "Neither IN nor OUT is shown to reach the true verdict more "),
    ],
)
def test_truthfulness_names_the_methods(counts, belief, said):
    found = binomial_truthfulness(*counts, both_right=5).conclusion
    assert found.belief == belief
    assert found.sentence.startswith(said)
    assert f"IN alone did on {counts[0]} data set" in found.sentence
    assert f"OUT alone on {counts[1]} (p = " in found.sentence

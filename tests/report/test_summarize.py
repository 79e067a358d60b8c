"""From a record to plain numbers and sentences."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.report import records

from veridical import report
from veridical._core.errors import InputError
from veridical.comparison.conclusions import mean_accuracy
from veridical.comparison.records import MeasuredSize
from veridical.report.plain import LONGEST_NAME, clean, plain
from veridical.report.views.comparison import Summary


@pytest.mark.parametrize("kind", ["honest", "undecided", "random_labels", "with_truth"])
def test_summary_survives_json(kind):
    summary = report.to_json(getattr(records, kind)())

    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert set(summary) == set(Summary.__annotations__)


def test_names_are_cut_earlier_than_sentences():
    long = "x" * 5000
    found = plain({"name": long, "names": {"a": [long]}, "note": long})

    assert len(found["name"]) == len(found["names"]["a"][0]) == LONGEST_NAME
    assert len(found["note"]) > LONGEST_NAME


def test_infinite_statistics_become_null():
    """Equal differences on every fold have no variance: t is infinite."""
    record = records.honest()
    verdict = record.verdicts["in"]
    test = replace(verdict.test, statistic=np.inf, pvalue=0.0)
    record = replace(
        record, pairs={**record.pairs, "in": records.paired(test, record.names)}
    )

    summary = report.to_json(record)

    assert summary["methods"][0]["difference"]["statistic"] is None
    json.dumps(summary, allow_nan=False)
    assert "p < 0.001" in summary["words"]["evidence"]


def test_means_are_those_of_the_record():
    record = records.honest(estimators=("SVM", "tree"))

    for method in report.to_json(record)["methods"]:
        stored = record.scores[method["method"]]
        assert method["a"]["value"] == pytest.approx(stored[0].mean())
        assert method["b"]["value"] == pytest.approx(stored[1].mean())
        assert [pair["a"] for pair in method["pairs"]] == stored[0].tolist()
        assert (
            method["difference"]["value"]
            == record.verdicts[method["method"]].mean_difference
        )


def test_interval_of_folds_by_hand():
    values = np.array([0.7, 0.8, 0.9, 0.8])
    # s = sqrt(0.02 / 3); t(0.975; 3) = 3.18245; 1/4 + 1/3 from test/train = 1/3
    half = 3.182446 * np.sqrt(0.02 / 3) * np.sqrt(1 / 4 + 1 / 3)

    mean = mean_accuracy(values, 1 / 3, 0.05)

    assert mean.value == pytest.approx(0.8)
    assert mean.low == pytest.approx(0.8 - half, abs=1e-6)
    assert mean.high == pytest.approx(min(1, 0.8 + half), abs=1e-6)


def test_interval_of_independent_data_sets_is_the_usual_one():
    values = np.random.default_rng(0).uniform(0.4, 0.6, 50)

    mean = mean_accuracy(values, 0.0, 0.1)

    usual = stats.t.interval(0.9, 49, values.mean(), stats.sem(values))
    assert (mean.low, mean.high) == pytest.approx(usual)


def test_a_single_value_has_no_interval():
    mean = mean_accuracy(np.array([0.9]), 0.5, 0.05)

    assert np.isnan([mean.low, mean.high, mean.std]).all()
    assert mean.n == 1


def test_fold_sizes_come_from_the_record_where_they_are():
    record = records.honest()
    # So many samples that Wilson's interval, the narrowest allowed, does not matter.
    many = replace(record.data, n_samples=1_000_000)
    record = replace(record, data=many, n_train=900_000.0, n_test=100_000.0)
    halves = replace(record, n_train=500_000.0, n_test=500_000.0)
    unknown = replace(record, n_train=np.nan, n_test=np.nan)

    def width(record):
        mean = report.to_json(record)["methods"][0]["b"]
        return mean["high"] - mean["low"]

    assert width(halves) / width(record) == pytest.approx(
        np.sqrt((1 / 10 + 1) / (1 / 10 + 1 / 9))
    )
    assert width(unknown) == pytest.approx(width(record))


def test_repeats_that_are_data_sets_count_as_independent():
    record = records.honest(n_repeats=8, independent_repeats=True)

    method = report.to_json(record)["methods"][0]

    assert (method["unit"], method["a"]["n"]) == ("data set", 8)
    assert method["interval"] == "t interval over 8 independent data sets"


def test_padding_is_no_feature():
    """A selector that finds fewer than it was asked for leaves -1."""
    record = records.honest()
    selected = {**record.selected, "out": np.full_like(record.selected["out"], -1)}

    summary = report.to_json(replace(record, selected=selected))

    assert all(feature["index"] >= 0 for feature in summary["features"])
    assert all("out" not in feature["a"] for feature in summary["features"])


def test_unknown_records_are_refused():
    with pytest.raises(InputError, match="no report is known for a dict"):
        report.to_json({})


# ---- sentences ------------------------------------------------------------------


def words(record):
    return report.to_json(record)["words"]


def with_size(record, size):
    """Give the test under IN a measured false-positive rate."""
    (pair,) = record.pairs["in"]
    verdict = pair.verdict._replace(test=replace(pair.verdict.test, size=size))
    pairs = {**record.pairs, "in": (pair._replace(verdict=verdict),)}
    return replace(record, pairs=pairs)


NEAR = MeasuredSize(
    0.05, 0.03, 0.02, 0.05, 2000, "10 folds, linear SVM", 20, claim_level=0.05
)


@pytest.mark.parametrize("size", [None, NEAR._replace(near=False)])
def test_a_clear_difference_by_a_test_that_was_not_measured_is_no_claim(size):
    said = words(with_size(records.honest(), size))

    assert said["belief"] == "care"
    assert "was not measured in designs like this one" in said["headline"]


def test_the_method_paragraph_says_where_the_rate_was_measured():
    near, far = (
        report.method_section(with_size(records.honest(), size))
        for size in (NEAR, NEAR._replace(near=False))
    )

    assert "The false-positive rate of this test is" in near
    assert "in the 20 measured designs nearest to this one" in near
    assert "has not been measured in designs like this one" in far


def test_a_clear_difference_may_be_believed():
    said = words(with_size(records.honest(), NEAR))

    assert said["belief"] == "yes"
    assert said["headline"].startswith("ReliefF is better than FCBF on these data")
    assert "points more accurate" in said["headline"]
    assert "corrected resampled t test with false-positive rate" in said["evidence"]
    assert "n = 10 folds" in said["evidence"]


def test_a_draw_is_left_open():
    said = words(records.undecided())

    assert said["belief"] == "open"
    assert said["headline"].startswith("These data do not show which")


def test_keeping_everything_compares_nothing():
    said = words(records.undecided(n_features_to_select=60))

    assert said["headline"].startswith("Nothing was compared: both selectors keep all")


def test_a_winner_of_out_alone_is_not_believed():
    record = records.comparison({"in": (0.8, 0.8), "out": (0.97, 0.7)}, samples=100)

    said = words(record)

    assert record.verdicts["in"].winner == "draw"
    assert "OUT prefers ReliefF, but that may not be claimed" in said["headline"]


def test_a_test_that_ignores_overlap_is_taken_with_care():
    record = records.honest()
    test = replace(record.verdicts["in"].test, name="paired t")
    record = replace(
        record, pairs={**record.pairs, "in": records.paired(test, record.names)}
    )

    said = words(record)

    assert said["belief"] == "care"
    assert "treats folds as independent" in said["headline"]


def test_a_winner_near_chance_is_taken_with_care():
    record = records.comparison({"in": (0.5, 0.2)}, samples=100, seed=3)

    said = words(record)

    assert record.verdicts["in"].winner == "a"
    assert said["belief"] == "care"
    assert "neither is shown to be better than always predicting" in said["headline"]


@pytest.mark.parametrize(
    ("gap", "start"),
    [
        (0.04, "ReliefF is truly better than FCBF on this source"),
        (-0.04, "FCBF is truly better than ReliefF on this source"),
        (0.0, "100 fresh data sets do not show a difference between ReliefF and FCBF"),
    ],
)
def test_truth_is_in_the_first_sentence(gap, start):
    said = words(records.with_truth(winner_gap=gap))

    assert said["belief"] == ("known" if gap else "open")
    assert said["headline"].startswith(start)


def test_data_sets_that_show_nothing_decide_nothing():
    """Not to find a difference is not to know that there is none."""
    record = records.with_truth(n_sets=26, winner_gap=0.0)
    assert record.verdicts["truth"].winner == "draw"
    start = "26 fresh data sets do not show a difference between ReliefF and FCBF"
    assert record.conclusion == ("open", f"{start}, nor do IN and OUT.")
    assert report.view(record).badge.text == "Not decided"
    clear = records.honest().pairs
    for methods, rest in [
        (("in", "out"), "; here IN and OUT find one."),
        (("out",), "; here OUT finds one and IN does not."),
    ]:
        pairs = {**record.pairs, **{m: clear[m] for m in methods}}
        assert replace(record, pairs=pairs).conclusion.sentence == start + rest
    alone = {m: v for m, v in record.pairs.items() if m == "truth"}
    assert replace(record, pairs=alone).conclusion.sentence == f"{start}."


def test_counts_of_right_verdicts():
    record = records.with_truth()
    truth = report.to_json(record)["truth"]
    right = record.set_verdicts["in"].count("a")

    assert truth["winner"] == "a"
    assert truth["verdicts"][0]["right"] == right
    assert sum(truth["verdicts"][1][k] for k in ("a", "b", "draw")) == 100


# ---- names ----------------------------------------------------------------------


@given(st.text(st.characters(codec=None), max_size=300))
def test_cleaned_names_fit_a_line_and_a_file(text):
    shown = clean(text)

    assert len(shown) <= 200
    assert shown.encode("utf-8").decode("utf-8") == shown
    assert shown.isprintable() or not text.isprintable()
    assert "\x1b" not in shown
    assert "\n" not in shown


def test_ordinary_names_stay_as_they_are():
    for name in ("gène 7", "αβγ", "x_1 (mm³)", "<b>", "日本語", "👩‍🔬"):
        assert clean(name) == name

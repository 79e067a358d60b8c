"""The page about a correction, and the display of calibration."""

import json
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from tests.report.injection_payloads import PAYLOADS
from tests.report.markup import Page

from veridical._core.records import DataSummary
from veridical.evaluation.records import (
    Bin,
    CalibrationTable,
    Correction,
    Dependence,
    ScoreDifference,
)
from veridical.learning import BiasCorrectedNB
from veridical.report import fragment, save, to_json
from veridical.report.displays import CalibrationDisplay
from veridical.report.view import view

mpl.use("Agg")


def table(label, error, expected):
    bins = [Bin(i / 10, (i + 1) / 10, 0, None, None) for i in range(10)]
    bins[0] = Bin(0.0, 0.1, 40, 0.03, 0.05)
    bins[9] = Bin(0.9, 1.0, 60, 0.98, 0.9)
    return CalibrationTable(
        label, "tumour", tuple(bins), 100, error, expected, 0.3, 0.08
    )


def record(name="colon"):
    return Correction(
        DataSummary(name, 100, 50, {name: 40, "tumour": 60}, ()),
        "binary",
        10,
        0.31,
        table("corrected", 0.08, 0.07),
        table("uncorrected", 0.08, 0.01),
        table("corrected, null features", 0.09, 0.08),
        {"corrected": 300.0, "uncorrected": 8.0, "sparse": 12.0},
        0.9,
        (
            ScoreDifference("corrected", "uncorrected", -0.1, 0.02, -0.01, 0.002),
            ScoreDifference("sparse", "uncorrected", -0.11, 0.02, -0.01, 0.002),
            ScoreDifference("sparse", "corrected", -0.01, 0.02, -0.001, 0.002),
        ),
        Dependence(1.02, 0.3),
        "corrected",
        f"Believe it, {name}.",
        {"random_state": 0},
    )


def test_a_summary_is_plain_json():
    content = to_json(record())
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["kind"] == "correction"
    assert content["models"][0]["bins"][1]["observed"] is None
    assert content["belief"] == "yes"
    assert [m["label"] for m in content["models"]][1:] == [
        "uncorrected",
        "corrected, null features",
    ]
    assert content["differences"][2]["second"] == "corrected"
    assert to_json(replace(record(), believed=None))["belief"] == "care"


def test_a_correction_that_does_harm_says_so_first(tmp_path):
    worse = ScoreDifference("corrected", "uncorrected", 0.1, 0.02, 0.01, 0.002)
    found = replace(record(), differences=(worse,), believed="sparse")
    belief, headline = found.conclusion
    assert belief == "yes"
    assert "; the model with null features misclassifies 9.0" in headline
    assert headline.endswith("the published correction makes the probabilities worse.")
    assert not record().does_harm
    page = Page(save(found, tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "corrected, null features: samples" in page.text
    assert "+0.100" in page.text


def test_page_has_headline_and_numbers(tmp_path):
    path = save(record(), tmp_path / "page.html")
    page = Page(path.read_text(encoding="utf-8"))
    headings = [text.replace("\xa0", " ") for _, text in page.headings]
    assert headings[:2] == [
        "Naive Bayes misclassifies 8.0 % of new samples and expects to misclassify "
        "1.0 %; with the correction it expects 7.0 %.",
        "Probabilities with and without the correction",
    ]
    for words in ("Believe it, colon.", "0.9 to 1.0", "0.980", "0.900", "40", "300"):
        assert words in page.text
    assert any("default-src 'none'" in value for _, _, value in page.attributes)
    assert "Probabilities with and without" in fragment(record())


@pytest.mark.in_part(4)
@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_name_becomes_markup(payload, tmp_path):
    expected = Page(save(record(), tmp_path / "a.html").read_text(encoding="utf-8"))
    found = Page(save(record(payload), tmp_path / "b.html").read_text(encoding="utf-8"))
    assert found.elements == expected.elements
    assert found.other == expected.other


def test_the_bounds_are_wilsons():
    # statsmodels: proportion_confint(9, 10, method="wilson")
    _, low, high = Bin(0, 1, 10, 0.8, 0.9).interval
    assert (low, high) == pytest.approx((0.5958, 0.9821), abs=1e-4)
    assert np.isnan(Bin(0, 1, 0, None, None).interval).all()


def test_the_display_draws_counts_and_shares():
    rng = np.random.default_rng(0)
    X, y = rng.integers(2, size=(80, 20)), np.arange(80) % 2
    models = {
        name: BiasCorrectedNB(5, correct).fit(X[:40], y[:40])
        for name, correct in (("corrected", True), ("uncorrected", False))
    }
    shown = CalibrationDisplay.from_estimators(models, X[40:], y[40:])
    assert [t.label for t in shown.tables] == ["corrected", "uncorrected"]
    heights = [bar.get_height() for bar in shown.counts_ax_.patches]
    assert sum(heights) == 2 * 40
    # A name in a legend begins with an invisible letter, lest "_" should hide it.
    assert {
        text.get_text().lstrip("\N{ZERO WIDTH SPACE}")
        for text in shown.ax_.get_legend().get_texts()
    } == {"perfectly calibrated", "corrected", "uncorrected"}
    mpl.pyplot.close(shown.figure_)
    single = CalibrationDisplay.from_estimator(models["corrected"], X[40:], y[40:])
    assert [t.label for t in single.tables] == ["BiasCorrectedNB"]
    assert single.tables[0].bins == shown.tables[0].bins
    mpl.pyplot.close(single.figure_)
    alone = CalibrationDisplay.from_predictions(y[:4], [0.2, 0.9, 0.4, 0.6], n_bins=2)
    assert [b.n for b in alone.tables[0].bins] == [2, 2]
    mpl.pyplot.close(alone.figure_)


def test_probabilities_that_none_may_believe_have_no_mild_badge():
    found = record()
    off = {
        name: replace(getattr(found, name), expected_error=0.001)
        for name in ("corrected", "uncorrected", "sparse")
    }
    none = replace(found, **off, believed=None)
    assert none.conclusion.belief == "no"
    assert none.conclusion.sentence.endswith("Believe none of these probabilities.")
    assert view(none).badge.text == "Do not believe them"
    # Each model expects its own error rate, but none is the best: more data decide.
    assert replace(found, believed=None).conclusion.belief == "care"

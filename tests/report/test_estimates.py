"""Estimates as numbers, sentences and a page."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from tests.report import estimates_records as records
from tests.report.injection_payloads import PAYLOADS
from tests.report.markup import Page

from veridical import report
from veridical._core.errors import InputError
from veridical.evaluation import CrossValidation, nested_cv, wilson
from veridical.evaluation import estimate as measure
from veridical.evaluation.records import Coverage
from veridical.report.plain import to_json as summarize
from veridical.report.render import svg
from veridical.report.view import Rows
from veridical.report.views.estimates import EstimatesSummary, EstimateSummary


def read(record, tmp_path):
    return Page(report.save(record, tmp_path / "page.html").read_text(encoding="utf-8"))


# ---- numbers --------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["estimates", "with_failure", "with_truth"])
def test_summary_survives_json(kind):
    summary = report.to_json(getattr(records, kind)())

    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert set(summary) == set(EstimatesSummary.__annotations__)
    for estimate in summary["estimates"]:
        assert set(estimate) == set(EstimateSummary.__annotations__)


def test_figures_are_those_of_the_record():
    summary = report.to_json(records.with_truth())
    cv, boot = summary["estimates"]
    low, high = wilson(0.5, 200)

    assert (cv["value"], boot["value"]) == (0.5, 0.684)
    assert cv["intervals"][1] == {
        "kind": "wilson",
        "low": low,
        "high": high,
        "assumes": records.STABLE,
        "coverage": {
            "low": 0.884,
            "high": 0.926,
            "conditions": "10 folds",
            "reached": 0.9,
        },
    }
    assert [b["kind"] for b in cv["intervals"]] == ["corrected-t", "wilson"]
    assert cv["intervals"][0]["coverage"]["reached"] == 0.95
    assert boot["intervals"] == []
    assert boot["off"] == pytest.approx(0.164)
    assert (cv["n_splits"], cv["n_test"]) == (10, 200)
    assert summary["data"]["chance"] == 0.55


def test_nested_interval_is_shown_only_where_computed():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1], 20)
    from sklearn.naive_bayes import GaussianNB

    found = measure(GaussianNB(), X, y, cv=CrossValidation(4), random_state=3)

    def kinds(found):
        written = report.to_json(records.estimates(found))
        return [b["kind"] for b in written["estimates"][0]["intervals"]]

    assert kinds(found) == ["corrected-t", "wilson"]
    bounds = found.interval(kind="nested")
    assert kinds(found) == ["corrected-t", "wilson"]
    assert kinds(found.with_nested()) == ["nested", "wilson", "corrected-t"]
    again = nested_cv(GaussianNB(), X, y, n_folds=4, n_repeats=50, random_state=3)
    assert bounds == again.interval()


def test_scores_of_two_kinds_are_refused():
    found = [records.estimate(0.8, metric=m) for m in ("accuracy", "<b>\x1b[2J")]
    with pytest.raises(InputError, match="accuracy and <b>\ufffd"):
        summarize(records.estimates(*found))


@pytest.mark.parametrize("data", [None, records.estimates().data])
def test_a_page_of_another_score_writes_numbers_and_no_chance(data):
    found = records.estimate(0.8125, metric="f1_macro", score_range=(0.0, 1.0))
    record = replace(records.estimates(found), data=data)
    summary = summarize(record)
    assert summary["metric"] == "f1_macro"
    assert summary["words"]["belief"] == "open"
    assert summary["words"]["headline"].startswith(
        "C4.5 has F1 score, macro-averaged over classes 0.812 on new"
    )
    page = report.page(record).split("</style>")[-1]
    assert "0.812 " in page
    assert "81.2" not in page
    assert "vd-level" not in page


def test_nothing_is_refused():
    with pytest.raises(InputError, match="at least one estimate"):
        replace(records.estimates(), estimates=())


# ---- sentences ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "belief", "words"),
    [
        (
            [records.estimate(0.8)],
            "yes",
            "C4.5 classifies 80.0 % of new samples correctly (95",
        ),
        (
            [records.estimate(0.58)],
            "open",
            "not shown to be better than always predicting the most",
        ),
        (
            [records.estimate(0.65, test_share=1.0)],
            "open",  # Wilson's interval alone lies above chance
            "not shown to be better than always predicting the most",
        ),
        (
            # Small folds with more hits: their mean is above the share of all samples.
            [records.estimate(0.58, scores=np.linspace(0.69, 0.71, 10))],
            "care",
            "which interval you believe",
        ),
        (
            [records.estimate(0.8, coverage={})],
            "care",
            "). So claim only with care that it is better than always predicting",
        ),
        (
            [records.estimate(0.8, coverage={"corrected-t": records.TOO_SELDOM})],
            "care",
            "%): such intervals miss the truth too often in designs like this one",
        ),
        (
            [records.estimate(0.8, coverage={}), records.estimate(0.7)],
            "yes",  # the one whose intervals were measured leads
            "70.0 %",
        ),
        ([records.bootstrap(0.8)], "care", "which has no valid interval"),
        (
            [records.resubstitution()],
            "no",
            "cannot be estimated from the samples that it was trained on",
        ),
        (
            [records.estimate(0.8, notes=("Doubt.",))],
            "care",
            "every estimate here is doubtful",
        ),
        (
            [
                records.estimate(0.0, notes=("It is wrong about nearly all.",)),
                records.estimate(
                    0.5, notes=("Nothing was learned.",), is_doubtful=False
                ),
            ],
            "open",
            "50.0 % of new samples",
        ),
        (
            [records.resubstitution(), records.bootstrap(0.9), records.estimate(0.8)],
            "yes",
            "80.0 %",
        ),
        (
            [records.estimate(0.7, n_test=66, method="holdout"), records.estimate(0.8)],
            "yes",
            "80.0 %",
        ),
        (
            [records.estimate(0.7, notes=("Doubt.",)), records.bootstrap(0.8)],
            "care",
            "80.0 %",
        ),
    ],
)
def test_the_first_sentence(found, belief, words):
    said = report.to_json(records.estimates(*found))["words"]

    assert said["belief"] == belief
    assert words in said["headline"]


@pytest.mark.parametrize(("truth", "verb"), [(0.52, "covers"), (0.7, "misses")])
def test_the_truth_comes_first(truth, verb):
    known = records.fresh(truth)
    said = report.to_json(records.with_truth(truth=known))["words"]

    assert said["belief"] == "known"
    assert said["headline"].startswith(f"C4.5 classifies {100 * truth:.1f} % of new")
    expected = (
        f"{verb} the truth (95 % corrected t interval 43.0 to 57.0 %, measured "
        "coverage 93.0 to 99.0 %)"
    )
    assert expected in said["headline"]
    assert "on 20000 fresh samples" in said["evidence"]


def test_the_first_interval_is_one_that_covers_as_it_should():
    """Wilson's is too narrow for folds, right for a single split."""
    summary = report.to_json(
        records.estimates(
            records.estimate(0.8), records.fresh(0.8, method="holdout", n_test=66)
        )
    )
    kinds = [e["intervals"][0]["kind"] for e in summary["estimates"]]
    assert kinds == ["corrected-t", "wilson"]
    assert "95 % corrected t interval" in summary["words"]["headline"]
    # Where the folds do not vary, the corrected t interval is none.
    same = records.estimate(1.0, scores=np.ones(10), assumes={"wilson": "stability"})
    said = report.to_json(records.estimates(same))["words"]["headline"]
    assert "95 % Wilson interval" in said


def test_the_measured_coverage_stands_beside_the_interval(tmp_path):
    record = records.estimates(
        records.estimate(0.8, coverage={"corrected-t": Coverage(0.9, 0.99, "so so")})
    )
    summary, page = report.to_json(record), read(record, tmp_path)
    sentence = "covered the truth in 90.0 to 99.0 % of data sets (so so)"
    assert "measured coverage 90.0 to 99.0 %" in summary["words"]["headline"]
    assert sentence in summary["words"]["evidence"]
    assert sentence in summary["words"]["intervals"][0]["text"]
    assert "Measured coverage" in page.text
    assert "corrected t90.0 to 99.0 %" in page.text


def test_a_doubt_is_said_once_with_its_methods():
    note = "Class 'x' is missing."
    record = records.estimates(
        records.estimate(0.8, notes=(note,)),
        records.bootstrap(0.8, notes=(note, "More.")),
    )

    notes = report.to_json(record)["words"]["notes"]

    assert [n["text"] for n in notes] == [note, "More."]
    assert notes[0]["methods"] == [e.method for e in record.estimates]


def test_every_method_that_has_a_name_is_explained():
    from veridical.evaluation.naming import METHODS, make_method

    for name in METHODS:
        method = make_method(name)
        record = records.estimates(records.estimate(0.8, method=method.describe()))
        assert len(report.to_json(record)["words"]["methods"]) == 1, name


# ---- picture --------------------------------------------------------------------


def forest(record):
    (figure,) = report.view(record).sections[0].blocks
    (picture,) = svg.draw(figure)
    return picture


def test_marks_lie_where_their_accuracy_is():
    summary = report.to_json(records.with_truth())
    root = ET.fromstring(forest(records.with_truth()))
    bounds = summary["estimates"][0]["intervals"]
    scale = svg.scale_for(
        [0.5, 0.684, 0.52, *(b[end] for b in bounds for end in ("low", "high"))], 0.55
    )

    def at(value):
        return f"{scale.x(value):.4g}%"

    dots = [(c.get("cx"), c.get("class")) for c in root.iter("circle")]
    assert dots == [(at(0.5), "vd-dot vd-a"), (at(0.684), "vd-dot vd-b")]
    groups = {g.get("class"): g for g in root.iter("g")}
    for name, value in (("vd-level vd-level-solid", 0.52), ("vd-level", 0.55)):
        assert {line.get("x1") for line in groups[name].iter("line")} == {at(value)}
    whiskers = next(iter(groups["vd-usual"].iter("line")))
    assert whiskers.get("x1") == at(bounds[0]["low"])
    assert whiskers.get("x2") == at(bounds[0]["high"])
    height = float(root.get("height"))
    assert all(float(c.get("cy")) < height for c in root.iter("circle"))


def test_the_picture_in_words():
    root = ET.fromstring(forest(records.with_truth()))

    words = root.get("aria-label")
    for part in ("cross-validation 50.0 %, 43.0 to 57.0 %", "truth is 52.0 %", "55.0"):
        assert part in words


# ---- page -----------------------------------------------------------------------


def test_sections_in_reading_order(tmp_path):
    page = read(records.with_truth(), tmp_path)

    assert [text for _, text in page.headings[1:]] == [
        "The estimates side by side",
        "The numbers",
        "What is doubtful, and why",
        "Method and provenance",
        "To repeat this analysis",
    ]
    for words in (
        records.MEMORY,
        "the Wilson interval assumes that the estimator is stable.",
        "no interval is valid.",
        "+16.4",
        "20000 fresh samples",
        "veridical estimate --seed 0",
        "yes 110 (55.0 %)",
    ):
        assert words in page.text


def test_without_doubt_or_truth_neither_is_mentioned(tmp_path):
    page = read(records.estimates(), tmp_path)

    assert "What is doubtful, and why" not in [text for _, text in page.headings]
    assert "Estimate − truth" not in page.text
    assert "fresh" not in page.text


def test_page_can_be_read_without_seeing_it(tmp_path):
    page = read(records.with_truth(), tmp_path)
    tags = Counter(tag for tag, _ in page.elements)

    assert tags["caption"] == tags["table"] == 2  # one is folded
    assert all("scope" in names for tag, names in page.elements if tag == "th")
    assert ("svg", "role", "img") in page.attributes
    assert tags["script"] == 1
    assert not {"iframe", "object", "embed"} & set(tags)
    assert "style" not in {name for _, name, _ in page.attributes}
    columns = [tag for tag, names in page.elements if "scope" in names].count("th")
    assert columns == 9 + 3 + 3 + 2


def test_fragment_is_the_first_part_of_the_page():
    record = records.with_failure()
    fragment = Page(report.fragment(record))

    assert fragment.headings[0][0] == 1
    assert {"html", "head", "body", "meta"}.isdisjoint(t for t, _ in fragment.elements)
    assert record._repr_html_() == report.fragment(record)


def named(text):
    """A record with a text in every place a name can have."""
    odd = {"method": text, "notes": (text,), "estimator": text, "details": {text: 1.0}}
    return records.with_truth(
        name=text,
        estimator=text,
        class_names=(text, text + " 2"),
        settings={"command": text, text: text},
        truth=records.fresh(0.5, method=text),
    ), (
        records.estimates(
            records.estimate(0.7, assumes={"wilson": text}, **odd),
            records.bootstrap(0.6, **odd),
            estimator=text,
        )
    )


@pytest.mark.parametrize("payload", PAYLOADS)
def test_no_name_becomes_markup(payload):
    for hostile, harmless in zip(named(payload), named("name"), strict=True):
        pages = [Page(report.page(record)) for record in (hostile, harmless)]
        assert Counter(pages[0].elements) == Counter(pages[1].elements)
        assert pages[0].other == pages[1].other


def test_endless_names_are_cut():
    for record in named("x" * 100_000):
        assert len(report.page(record)) < 100_000


def test_an_estimates_record_saves_itself(tmp_path):
    path = records.estimates().save(tmp_path / "page.html")

    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_one_split_has_no_spread():
    one = records.estimate(0.8, assumes={"wilson": records.STABLE})
    one = replace(one, scores=one.scores[:1])
    (rows,) = (
        block
        for section in report.view(records.estimates(one)).sections
        for block in section.blocks
        if isinstance(block, Rows) and "with its intervals" in block.caption
    )
    said = dict(zip((c.header for c in rows.columns), rows.rows[0].cells, strict=True))
    assert said["Standard deviation of splits (points)"].text == "–"

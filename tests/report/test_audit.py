"""An audit as numbers, sentences and a page."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from tests.report import audit_records as records
from tests.report.injection_payloads import PAYLOADS
from tests.report.markup import Page, elements

from veridical import report
from veridical._core.records import Interval
from veridical.evaluation.records import Coverage
from veridical.report.render import pile, svg
from veridical.report.views.audit import AuditSummary, FindingSummary, LaneSummary

NOTE = records.finding("VD008", "note", title="The selection is unstable")
WARNING = records.finding("VD003", "warning", title="Copies of a sample lie apart")


def read(record, tmp_path):
    return Page(report.save(record, tmp_path / "page.html").read_text(encoding="utf-8"))


# ---- numbers -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["audit", "leaky"])
def test_summary_survives_json(kind):
    summary = report.to_json(getattr(records, kind)())

    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert set(summary) == set(AuditSummary.__annotations__)
    for lane in summary["lanes"]:
        assert set(lane) == set(LaneSummary.__annotations__)
    for finding in summary["findings"]:
        assert set(finding) == set(FindingSummary.__annotations__)


def test_figures_are_those_of_the_record():
    record = records.leaky()
    summary = report.to_json(record)
    out, inside = summary["lanes"]

    assert (out["label"], inside["label"]) == ("OUT", "IN")
    assert out["accuracy"] == {"value": 0.94, "low": None, "high": None}
    assert inside["accuracy"]["low"] == record.accuracy["in"].low
    assert out["null"] == sorted(record.null["out"].accuracies.tolist())
    assert (inside["pvalue"], out["pvalue"]) == (0.6, 0.7)
    assert summary["preselection"]["columns"] == ["x", "z"]
    assert summary["optimism"]["value"] == pytest.approx(0.48)


# ---- words -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "belief", "words"),
    [
        (records.leaky(), "no", "Do not believe the 94.0 %"),
        (
            records.leaky(
                records.finding(severity="warning"), honest=0.85, pvalue=0.01
            ),
            "care",
            "Report 85.0 % (95 % interval 67.0 to 100.0 %, measured coverage 93.0 to "
            "99.0 %), not 94.0 %",
        ),
        (records.leaky(honest=0.7, pvalue=0.01), "no", "Report 70.0 %"),
        (
            records.leaky(
                records.finding(severity="warning"), honest=0.94, pvalue=0.01
            ),
            "care",
            "this made no difference here: features selected inside each training",
        ),
        (records.leaky(NOTE), "open", "do not look selected by these labels, but"),
        (
            records.leaky(NOTE, honest=0.9, pvalue=0.01),
            "yes",
            "The features do not look selected by these labels; these features give "
            "94.0 %",
        ),
        (records.audit(), "yes", "You may report 80.0 % (95 % interval"),
        (records.audit(NOTE), "yes", "no check found a reason against it"),
        (
            records.audit(coverage=None),
            "care",
            "coverage not measured in designs like this one) with care: no check",
        ),
        (
            records.audit(coverage=Coverage(0.57, 0.98, "leave-one-out", 0.7)),
            "care",
            "but such intervals miss the truth too often in designs like this one.",
        ),
        (records.audit(WARNING), "care", "with care: copies of a sample lie apart."),
        (
            records.audit(pvalue=0.4),
            "open",
            "is not shown to be better than on random",
        ),
        (records.audit(records.finding()), "no", "Do not believe the 80.0 %"),
    ],
)
def test_first_sentence_answers(record, belief, words):
    said = report.to_json(record)["words"]
    assert said["belief"] == belief
    assert words in said["headline"]


def test_level_decides_what_beats_chance():
    record = records.audit(pvalue=0.02)
    strict = replace(record, alpha=0.01)
    assert report.to_json(record)["words"]["belief"] == "yes"
    assert report.to_json(strict)["words"]["belief"] == "open"


# ---- the picture -------------------------------------------------------------------


def lanes(record):
    """The pictures of an audit, by protocol."""
    (figure,) = report.view(record).sections[0].blocks
    protocols = [panel.protocol for panel in figure.panels]
    return dict(zip(protocols, svg.draw(figure), strict=True))


def test_every_random_order_is_a_dot():
    summary = report.to_json(records.leaky())
    pictures = lanes(records.leaky())
    for lane in summary["lanes"]:
        svg = ET.fromstring(str(pictures[lane["protocol"]]))
        dots = [e for e in svg.iter("circle") if "class" not in e.attrib]
        assert len(dots) == 50
        marks = [e for e in svg.iter("circle") if "class" in e.attrib]
        assert len(marks) == 1
        height = float(svg.attrib["height"])
        for dot in dots + marks:
            assert 0 <= float(dot.attrib["cx"].rstrip("%")) <= 100
            assert 0 <= float(dot.attrib["cy"]) <= height
        assert lane["label"] in svg.attrib["aria-label"]


def test_equal_accuracies_pile_up():
    placed = pile([0.5, 0.5, 0.5, 0.6], 0.01)
    assert [level for _, level in placed] == [0, 1, 2, 0]
    assert len({x for x, _ in placed[:3]}) == 1


def test_no_random_orders_no_dots():
    record = records.leaky(null={"in": records.null(0.5, 0.6)})
    pictures = lanes(record)
    assert "vd-null" not in str(pictures["out"])


# ---- the page ----------------------------------------------------------------------


def test_page_has_everything(tmp_path):
    record = records.leaky(records.finding(), NOTE, muted=(WARNING,))

    text = report.save(record, tmp_path / "page.html").read_text(encoding="utf-8")

    for words in (
        "May this accuracy be believed?",
        "Do not believe it",
        "VD001",
        "VD008",
        "Cure:",
        "Optimism, OUT − IN",
        "VD003 (copies of a sample lie apart)",
        "Features in common",
        "Method and provenance",
        "Nothing to remove: batch and covariates.",
        '<span class="vd-option">--seed</span> 0',
    ):
        assert words in text, words
    assert Page(text)


def test_page_without_findings(tmp_path):
    text = report.save(records.audit(), tmp_path / "page.html").read_text("utf-8")
    assert "nothing that an audit looks for was found" in text
    assert "Features in common" not in text
    assert ">Against random labels</h2>" in text


def test_notebook_fragment():
    assert "vd-finding" in records.leaky()._repr_html_()


def test_optimism_without_interval(tmp_path):
    record = records.leaky(optimism=Interval(0.4, records.NAN, records.NAN))
    text = report.save(record, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "+40.0" in text


def test_names_with_markup_make_no_element(tmp_path):
    def count(names):
        record = records.leaky(
            records.finding(evidence=names[0], title=names[1], cure=names[2]),
            name=names[3],
            feature_names=names[:3],
            class_names=names[4:6],
            estimator=names[6],
        )
        text = report.save(record, tmp_path / "page.html").read_text(encoding="utf-8")
        return Counter(elements(text))

    harmless = count(tuple(f"name {i}" for i in range(7)))
    for start in range(0, len(PAYLOADS) - 7, 7):
        assert count(PAYLOADS[start : start + 7]) == harmless

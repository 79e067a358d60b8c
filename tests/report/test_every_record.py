"""Every record: shown in a notebook, and written for a paper, whatever its names."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from tests.report.all_records import KINDS
from tests.report.injection_payloads import PAYLOADS

from veridical import report
from veridical._core.errors import InputError
from veridical._core.records import Record
from veridical.evaluation.records import Coverage
from veridical.report.plain import clean

ROUNDS = 8  # sets of words with special characters tried on each record

#: What a notebook's cell may be made of.
NODES = {
    *("style", "div", "section", "header", "h1", "h2", "h3", "p", "b", "strong", "em"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "bdi", "span", "abbr"),
    *("svg", "g", "line", "rect", "circle", "text", "title", "polyline", "path"),
    *("figure", "figcaption", "dl", "dt", "dd", "ul", "ol", "li", "details", "summary"),
    *("code", "a", "br", "small", "i", "pre"),
}


LINKS = {"href", "src", "action", "xlink:href", "formaction", "data"}


class Nodes(HTMLParser):
    def __init__(self):
        super().__init__()
        self.names, self.events = set(), []

    def handle_starttag(self, tag, attributes):
        self.names.add(tag)
        self.events += [
            (tag, name, value)
            for name, value in attributes
            if name.startswith("on")
            or (name in LINKS and not (value or "").startswith("#"))
        ]


@pytest.fixture(params=KINDS)
def make(request):
    return KINDS[request.param]


@pytest.mark.parametrize("kind", ["selection", "audit"])
def test_tables_for_papers_have_the_coverage_beside_the_interval(kind):
    record = KINDS[kind]()
    measured = Coverage(0.91, 0.97, "10 folds")
    for coverage, words in (
        (measured, "measured coverage 91.0 to 97.0 %"),
        (None, "coverage not measured in designs like this one"),
    ):
        assert words in replace(record, coverage=coverage, scores=()).to_markdown()


def test_without_claims_there_are_no_intervals_and_no_claimed_points():
    for kind, shown in (("discoveries", True), ("discoveries-none", False)):
        page = report.page(KINDS[kind]())
        assert ("Only claimed features have intervals" in page) is shown
        assert ("Above the dashed line, features may be claimed" in page) is shown
        assert (" % interval" in KINDS[kind]().to_markdown()) is shown


def test_html_markdown_and_latex_have_all_rows(make):
    record = make()
    html = record._repr_html_()
    assert "<table" in html
    rows = [x for x in record.to_markdown().splitlines() if x.startswith("|")]
    assert len(rows) >= 3
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1
    latex = record.to_latex()
    (columns,) = re.findall(r"begin{tabular}{(\w+)}", latex)
    lines = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert len(lines) == len(rows) - 1
    for line in lines:
        assert len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1
    text = record.method_section()
    assert re.search(r"Computed with veridical \d", text)
    assert len(text.split()) > 20
    assert "\n" not in text
    assert not re.search(r"\.\.|  | ,", text)


#: Documented columns, by kind of record.
COLUMNS = {
    "Estimate": "estimator method metric split score",
    "Estimates": "estimator metric method value std interval low high n_splits n_test",
    "Selection": "rank index name score n_folds",
    "Choice": "selector estimator n_features score low high standard_error pvalue "
    "within_one_se stability wins on_front is_baseline dropped_after",
    "Comparison": "method selector estimator repeat fold accuracy n_features_to_select",
    "Sensitivity": "strength n_relevant truth_a truth_b in_a in_b out_a out_b "
    "true_winner n_sets in_right out_right pvalue more_truthful",
    "Audit": "code severity title evidence cure",
    "Discoveries": "feature frequency statistic pvalue qvalue claimed effect low high",
    "Correction": "model low high n predicted observed",
    "CalibrationTable": "low high n predicted observed",
    "StudyReport": "statement outcome published ours rule",
    "StudyReports": "study statement outcome published ours rule",
    "TestResult": "name statistic pvalue df mean_difference low high n alpha winner",
    "Truthfulness": "name statistic pvalue df mean_difference low high n alpha winner",
    "Bias": "name statistic pvalue df mean_difference low high n alpha winner",
    "Friedman": "selector mean_rank critical_difference pvalue",
    "Calibration": "test nominal rate low high n_simulations accuracy design",
    "NestedCV": "value low high standard_error naive_standard_error cv_value n_samples "
    "n_folds n_repeats n_effective",
}


def test_every_record_is_here():
    kinds = {type(make()).__name__ for make in KINDS.values()}
    assert kinds == set(COLUMNS)
    below = Record.__subclasses__()
    for one in below:
        below += one.__subclasses__()
    ours = [one for one in below if one.__module__.startswith("veridical.")]
    assert {one.__name__ for one in ours} == set(COLUMNS)


def test_the_frame_has_the_documented_columns(make):
    record = make()
    frame = record.to_frame()
    assert list(frame.columns) == COLUMNS[type(record).__name__].split()
    said = " ".join(type(record).to_frame.__doc__.split())
    assert all(name in said for name in frame.columns)
    assert list(frame.index) == list(range(len(frame)))


def test_repr_is_one_line(make):
    shown = repr(make())
    assert "\n" not in shown
    assert type(make()).__name__ in shown


def test_a_terminal_shows_it(make):
    console = Console(width=100, file=io.StringIO(), force_terminal=False)
    console.print(make())
    assert len(console.file.getvalue().splitlines()) >= 3
    assert "object at 0x" not in console.file.getvalue()


def test_it_has_a_page(make, tmp_path):
    record = make()
    path = record.save(tmp_path / "page.html")
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    again = report.save(record, tmp_path / "again.html")
    assert again.read_bytes() == path.read_bytes()


def test_the_end_of_the_name_says_how_it_is_written(make, tmp_path):
    record = make()
    json_path = record.save(tmp_path / "record.JSON")
    assert json.loads(json_path.read_text("utf-8")) == record.to_dict()
    assert record.save(tmp_path / "table.md").read_text("utf-8") == record.to_markdown()
    assert record.save(tmp_path / "table.tex").read_text("utf-8") == record.to_latex()
    shown = record.to_frame()
    again = pd.read_csv(record.save(tmp_path / "frame.csv"), keep_default_na=False)
    assert list(again.columns) == list(shown.columns)
    assert len(again) == len(shown)
    for column in shown.select_dtypes("number"):
        read = pd.to_numeric(again[column].replace("", np.nan)).to_numpy(float)
        np.testing.assert_array_equal(read, shown[column].to_numpy(float))


def test_its_pictures_are_files(make, tmp_path):
    record = make()
    if not report.view(record).figures:
        with pytest.raises(InputError, match="has no figure to write as"):
            record.save(tmp_path / "picture.png")
        return
    marks = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    for kind, mark in marks.items():
        first = record.save(tmp_path / f"first{kind}").read_bytes()
        assert first.startswith(mark)
        if kind == ".svg":
            again = report.save(record, tmp_path / "again.svg")
            assert again.read_bytes() == first


def test_the_record_decides_and_its_page_shows_it(make):
    record = make()
    belief, sentence = record.conclusion
    told = report.view(record)
    assert told.badge.tone == belief
    assert told.headline == clean(sentence, 4000)


def test_the_conclusion_is_stored_and_settings_are_values(make):
    record = make()
    assert "conclusion" in {one.name for one in fields(record)}
    assert vars(record)["conclusion"] is record.conclusion
    for value in getattr(record, "settings", {}).values():
        inside = value.values() if isinstance(value, Mapping) else [value]
        for one in inside:
            many = one if isinstance(one, tuple) else (one,)
            assert all(isinstance(each, (str, int, float)) for each in many), value


def test_its_figures_are_those_of_its_page(make, tmp_path):
    record = make()
    blocks = report.view(record).figures
    drawn = report.figures(record)
    assert len(drawn) == len(blocks)
    for figure, block in zip(drawn, blocks, strict=True):
        kinds = [type(panel.picture).__name__ for panel in block.panels]
        n_axes = len(kinds) + kinds.count("Reliability")
        if set(kinds) == {"Distribution"}:
            n_axes = 1
        assert len(figure.axes) == n_axes
        assert all(ax.has_data() or ax.texts for ax in figure.axes)
        figure.savefig(tmp_path / "figure.png", dpi=40)
    if blocks:
        shown = record.plot(len(blocks) - 1)
        assert len(shown.axes_) == len(drawn[-1].axes)
        plt.close(shown.figure_)
    with pytest.raises(InputError, match=f"there are {len(blocks)}, counted from 0"):
        record.plot(len(blocks))


def test_a_figure_of_several_pictures_needs_a_figure_of_its_own():
    figure, ax = plt.subplots()
    with pytest.raises(InputError, match="more than one pair of axes"):
        KINDS["correction"]().plot(ax=ax)
    plt.close(figure)


def test_a_single_estimate_tells_its_figures():
    record = KINDS["estimate"]()
    told = record.to_dict()
    assert told["kind"] == "estimate"
    assert told["value"] == record.value
    assert told["scores"] == list(record.scores)
    low, high = record.interval(kind="wilson")
    assert {"kind": "wilson", "low": low, "high": high}.items() <= max(
        told["intervals"], key=lambda bounds: bounds["kind"]
    ).items()
    assert record.to_frame()["score"].tolist() == list(record.scores)


def test_it_is_plain_for_programs(make):
    told = make().to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert "kind" in told


@pytest.mark.parametrize("kind", ["comparison", "comparison-truth", "many", "audit"])
def test_a_dict_is_what_the_command_line_prints(kind):
    record = KINDS[kind]()
    assert record.to_dict() == report.to_json(record)


@pytest.mark.parametrize(
    "number",
    [pytest.param(i, marks=pytest.mark.slow if i % 4 else ()) for i in range(ROUNDS)],
)
def test_names_with_special_characters_are_kept(make, number):
    special = iter([*PAYLOADS[number::ROUNDS], r"\input{x}", "a|b", "50%&$#_^~"] * 200)
    names = {}
    record = make(lambda word: names.setdefault(word, next(special)))
    for html in (record._repr_html_(), record.to_html()):
        nodes = Nodes()
        nodes.feed(html)
        assert nodes.names <= NODES
        assert nodes.events == []
    rows = [x for x in record.to_markdown().splitlines() if x.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows}) == 1
    assert not re.search(r"(?<!\\)<", record.to_markdown())
    latex = record.to_latex()
    assert r"\input" not in latex
    (columns,) = re.findall(r"begin{tabular}{(\w+)}", latex)
    for line in latex.splitlines():
        if line.endswith(r"\\"):
            assert len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1
        assert not re.search(r"(?<!\\)[%#]", line)
    assert latex.count("\n") < 200

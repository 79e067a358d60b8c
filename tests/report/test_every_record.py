"""Every record: shown in a notebook, and written for a paper, whatever its names."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from tests.report.all_records import KINDS
from tests.report.hostile import PAYLOADS

from veridical import report

ROUNDS = 8  # so many sets of nasty words are tried on each record

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


def test_it_is_all_there(make):
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


def test_it_is_plain_for_programs(make):
    told = make().to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert "kind" in told


@pytest.mark.parametrize("kind", ["comparison", "comparison-truth", "many", "audit"])
def test_a_dict_is_what_the_command_line_prints(kind):
    record = KINDS[kind]()
    assert record.to_dict() == report.to_json(record)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_nasty_names_stay_names(make, number):
    nasty = iter([*PAYLOADS[number::ROUNDS], r"\input{x}", "a|b", "50%&$#_^~"] * 200)
    names = {}
    record = make(lambda word: names.setdefault(word, next(nasty)))
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

"""A new kind of record: one function says what it shows, and all outputs follow."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from rich.console import Console
from tests.report.injection_payloads import PAYLOADS
from tests.report.markup import Page

from veridical import report
from veridical._core.errors import InputError
from veridical._core.records import Conclusion, Curve, Interval, Record, frame
from veridical.report.plain import clean
from veridical.report.render import svg
from veridical.report.view import (
    Badge,
    Curves,
    DrawnInterval,
    Figure,
    Intervals,
    Mark,
    Panel,
    Section,
    View,
    paragraph,
    provenance,
    table,
    view,
)


@dataclass(frozen=True)
class Temperature(Record):
    """A record that the library does not know."""

    place: str
    degrees: float

    def _conclude(self):
        return Conclusion("yes", f"It is {self.degrees:g} degrees.")

    def to_frame(self):
        return frame([self], "place", "degrees")


@pytest.fixture
def known():
    """Register its view for one test."""

    def show(record):
        place, degrees = clean(record.place), record.degrees
        mark = Mark(place, degrees, (DrawnInterval(degrees - 1, degrees + 1),))
        picture = Intervals(f"Temperature of {place}.", (mark,), unit="number")
        rows = [(place, f"{degrees:g}")]
        listed = table("Temperatures", "Place! | Degrees#", rows)
        figure = Figure((Panel(picture),), "Degrees, with an interval.")
        return View(
            title="Temperature",
            question="How warm is it?",
            badge=Badge("yes", "Measured"),
            headline=f"It is {degrees:g} degrees in {place}.",
            lead="",
            facts=(),
            sections=(Section("The figure", (figure, listed), first=True),),
            provenance=provenance({"kind": "temperature"}),
            tables=(listed,),
            method=paragraph({}, ["We looked at a thermometer."]),
        )

    view.register(Temperature, show)
    yield
    registry = view.dispatch.__closure__
    for cell in registry:
        if isinstance(cell.cell_contents, dict):
            cell.cell_contents.pop(Temperature, None)
    view._clear_cache()


@pytest.mark.parametrize("place", ["Oslo", *PAYLOADS[::9]])
def test_all_outputs_follow(known, place, tmp_path):
    record = Temperature(place, 21.5)
    page = Page(record.save(tmp_path / "page.html").read_text(encoding="utf-8"))
    assert page.headings[0][1].startswith("It is 21.5 degrees in ")
    assert "21.5" in record._repr_html_()
    assert "| 21.5 |" in record.to_markdown()
    assert r"& 21.5 \\" in record.to_latex()
    assert "21.5" in record.to_html()
    screen = io.StringIO()
    Console(file=screen, width=200).print(record)
    assert "21.5" in screen.getvalue()
    assert record.method_section().startswith("We looked at a thermometer. Computed")
    written = json.loads(json.dumps(record.to_dict()))
    assert written["degrees"] == 21.5
    assert (written["belief"], written["headline"]) == record.conclusion
    (figure,) = report.figures(record)
    shown = record.plot()
    for ax in (figure.axes[0], shown.ax_):
        assert ax.lines[0].get_xdata() == [21.5]
        assert len(ax.get_yticklabels()) == 1
        assert not ax.get_yticklabels()[0].get_parse_math()
    assert shown.figure_ is shown.ax_.figure
    for name in ("a.json", "a.tex", "a.md", "a.svg"):
        assert "21.5" in record.save(tmp_path / name).read_text("utf-8")
    assert record.save(tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert record.save(tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert record.save(tmp_path / "a.csv").read_text("utf-8").endswith(",21.5\n")
    plt.close(shown.figure_)


#: A subpackage makes the record; one file under report/views says what it shows.
MADE = '''
from dataclasses import dataclass

from veridical._core.records import Conclusion, Record, frame


@dataclass(frozen=True)
class Temperature(Record):
    """How warm it is."""

    place: str
    degrees: float

    def _conclude(self):
        return Conclusion("yes", f"It is {self.degrees:g} degrees.")

    def to_frame(self):
        return frame([self], "place", "degrees")
'''
SHOWN = '''
from veridical.report.view import (
    Badge, DrawnInterval, Figure, Intervals, Mark, Panel, Section, View, paragraph,
    provenance, table, view,
)
from veridical.thermometer import Temperature


@view.register
def show(record: Temperature) -> View:
    """Show the temperature."""
    between = DrawnInterval(record.degrees - 1, record.degrees + 1)
    mark = Mark(record.place, record.degrees, (between,))
    panel = Panel(Intervals("Temperature.", (mark,), unit="number"))
    rows = table("Temperatures", "Place! | Degrees#", [(record.place, "21.5")])
    return View(
        title="Temperature",
        question="How warm is it?",
        badge=Badge("yes", "Measured"),
        headline=record.conclusion.sentence,
        lead="",
        facts=(),
        sections=(Section("Figure", (Figure((panel,), "Degrees."), rows)),),
        provenance=provenance({"kind": "temperature"}),
        tables=(rows,),
        method=paragraph({}, ["We looked at a thermometer."]),
    )
'''
USED = """
from rich.console import Console
from veridical import report
from veridical.thermometer import Temperature

record = Temperature("Oslo", 21.5)
for end in ("html", "json", "tex", "md", "csv", "svg", "png", "pdf"):
    record.save(f"by_record.{end}")
    report.save(record, f"by_call.{end}")
record.plot()
Console(width=100).print(record)
"""


def test_one_file_under_views_is_enough(tmp_path):
    """The file is found by itself: nothing else of the library is changed."""
    ours = Path(report.__file__).parents[1]
    copy = tmp_path / "veridical"
    shutil.copytree(ours, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "thermometer.py").write_text(MADE)
    (copy / "report" / "views" / "temperature.py").write_text(SHOWN)
    done = subprocess.run(
        [sys.executable, "-c", USED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert "It is 21.5 degrees." in done.stdout
    assert "21.5" in (tmp_path / "by_record.html").read_text("utf-8")
    for end in ("html", "json", "tex", "md", "csv", "svg"):
        ways = [tmp_path / f"by_{way}.{end}" for way in ("record", "call")]
        first, second = (way.read_text("utf-8") for way in ways)
        assert "21.5" in first
        assert first == second
    for end, start in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert (tmp_path / f"by_call.{end}").read_bytes().startswith(start)


def test_the_key_of_curves_has_the_looks_that_are_drawn():
    spans = [(Interval(v, v, v), Interval(v + 1, v, v + 2)) for v in range(4)]
    curves = tuple(Curve(f"c{i}", (0, 1), span) for i, span in enumerate(spans))
    picture = Curves("", "Rates", "%", (("n", ("1", "2")),), curves)
    figure = Figure.from_curves(picture)
    assert figure.key == (("c0", "a"), ("c1", "b"), ("c2", None), ("c3", "a"))
    groups = svg.draw_picture(picture, None).iter("g")
    kinds = [(one.get("class", ""), one.get("stroke")) for one in groups]
    drawn = [kind for kind in kinds if "vd-mean" in kind[0] or kind[1]]
    plain = ("", "currentColor")
    named = [("vd-mean vd-a", None), ("vd-mean vd-b", None), plain]
    assert drawn == [*named, named[0]]


def test_a_picture_that_is_not_there_is_refused_in_words(known):
    with pytest.raises(InputError, match="no picture 1; there are 1, counted from 0"):
        Temperature("Oslo", 21.5).plot(1)


def test_a_picture_is_drawn_where_one_wants_it(known):
    figure, (left, right) = plt.subplots(1, 2)
    shown = Temperature("Oslo", 21.5).plot(ax=right, markersize=3)
    assert (shown.axes_, shown.figure_) == ([right], figure)
    assert right.lines[0].get_markersize() == 3
    assert not left.lines
    plt.close(figure)


def test_without_a_view_it_is_refused_in_words():
    with pytest.raises(InputError, match="no report is known for a Temperature"):
        report.page(Temperature("Oslo", 21.5))


def test_every_figure_can_be_drawn_by_every_renderer():
    from veridical.report.render import matplotlib as mpl
    from veridical.report.view import Chart

    kinds = set(Chart.__args__)
    assert kinds <= set(svg.draw_picture.registry)
    apart = {"Distribution"}  # those of all protocols are drawn together
    drawn = {kind.__name__ for kind in mpl.draw.registry}
    assert {kind.__name__ for kind in kinds} - apart <= drawn

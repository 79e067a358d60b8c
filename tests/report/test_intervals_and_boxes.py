"""Intervals, curves and boxes: every mark where it belongs."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import matplotlib.pyplot as plt
import pytest
from tests.report import all_records, pages, study_pages
from tests.report.markup import Page
from tests.report.page_texts import plain

from veridical import report
from veridical._core.records import Interval
from veridical.evaluation.intervals import wilson
from veridical.experiments import Check, Curve, Picture
from veridical.report.render import matplotlib, svg
from veridical.report.view import (
    Curves,
    DrawnInterval,
    Figure,
    Intervals,
    Level,
    Mark,
    Outcomes,
    Panel,
)
from veridical.report.views import study


def parts(picture, tag):
    return [e for e in ET.fromstring(picture).iter() if e.tag.endswith(tag)]


def share(element, name):
    return float(element.get(name).rstrip("%"))


def drawn(picture):
    return svg.draw(Figure((Panel(picture),), ""))[0]


def test_rows_stand_where_their_values_are():
    marks = (
        Mark("one", 0.9, (DrawnInterval(0.8, 0.95),)),
        Mark("two", 0.6, (DrawnInterval(0.4, 0.7),), "b", "3 of 5"),
    )
    picture = drawn(Intervals("Words.", marks, (Level("majority class", 0.5),)))
    scale = svg.scale_for([0.9, 0.8, 0.95, 0.6, 0.4, 0.7], 0.5)

    dots = parts(picture, "circle")
    assert [share(dot, "cx") for dot in dots] == pytest.approx(
        [scale.x(0.9), scale.x(0.6)], abs=0.01
    )
    assert [dot.get("class") for dot in dots] == ["vd-dot vd-a", "vd-dot vd-b"]
    assert float(dots[0].get("cy")) < float(dots[1].get("cy"))
    titles = [title.text for title in parts(picture, "title")]
    assert "two: 60.0 % (40.0 to 70.0 %), 3 of 5" in titles
    assert ET.fromstring(picture).get("aria-label") == "Words."


def test_the_words_of_a_picture_have_its_values():
    (figure,) = report.view(all_records.KINDS["selection"]()).sections[0].blocks
    words = ET.fromstring(svg.draw(figure)[0]).get("aria-label")
    assert words.startswith(
        "Accuracy: All samples: 90.0 % (80.0 to 95.0 %); ALL: 95.0 %"
    )
    assert re.search(r"majority class \d+\.\d %\.$", words)


def test_rows_without_a_level_have_no_dashed_line():
    picture = drawn(
        Intervals("Right.", (Mark("one", 1.0, (DrawnInterval(0.8, 1.0),)),))
    )
    assert "vd-level" not in picture
    assert "one: 100.0 % (80.0 to 100.0 %)" in picture


@pytest.mark.parametrize("n", [0, 1, 12, 13, 39])
def test_the_strip_has_a_box_for_each_finding(n):
    outcomes = ("reproduced", "not reproduced", "open")
    checks = tuple(
        Check(f"finding {i}", outcomes[i % 3], "yes", "yes", "always") for i in range(n)
    )
    made = replace(study_pages.study_report(plain), checks=checks, pictures=())
    figures = [
        block
        for block in report.view(made).sections[0].blocks
        if isinstance(block, Figure)
    ]
    if not n:
        assert figures == []
        assert "<svg" in drawn(Outcomes("None.", ()))
        return
    picture = svg.draw(figures[0])[0]
    boxes = [
        (share(r, "x"), float(r.get("y")), share(r, "width"))
        for r in parts(picture, "rect")
    ]
    assert len(set(boxes)) == n
    assert all(x >= 0 and x + width <= 100 for x, _, width in boxes)
    height = float(ET.fromstring(picture).get("height"))
    assert all(y + svg.BOX_HEIGHT - 1 <= height for _, y, _ in boxes)
    signs = [text.text for text in parts(picture, "text")]
    assert signs == [study.SIGNS[check.outcome][1] for check in checks]


def test_a_point_without_a_value_is_left_out():
    nan = math.nan
    curve = Curve(
        "c",
        (0, 1, 2),
        (Interval(1, 0, 2), Interval(nan, nan, nan), Interval(3, nan, 4)),
    )
    picture = Picture("g", "t", "u", (("x", ("a", "b", "c")),), (curve,))
    shown = drawn(study.convert_picture(picture))
    assert "nan" not in shown
    assert len(parts(shown, "circle")) == 2
    assert "b" not in ET.fromstring(shown).get("aria-label").split("c: ")[1]
    made = replace(study_pages.study_report(plain), pictures=(picture,))
    assert not re.search(r"\bnan\b", Page(report.page(made)).text)


def test_classes_have_wilsons_interval():
    page = Page(pages.selected(plain))
    low, high = wilson(0.75, 10)
    assert f"AML75.0 %{100 * low:.1f} to {100 * high:.1f} %10" in page.text


def test_many_classes_are_drawn_worst_first():
    assert "worst of" not in Page(pages.selected(plain)).text
    many = Page(pages.selected(plain, n_classes=30))
    assert "(the 20 worst of 30)" in many.text


def test_steps_are_level_and_only_named_places_are_marked():
    """Five times from 0; the share falls at the second and at the fourth."""
    shares = [Interval(v, v - 5, v + 5) for v in (100.0, 80.0, 80.0, 40.0, 40.0)]
    curve = Curve("survival", tuple(range(5)), tuple(shares))
    places = ("0", "", "10", "", "20")
    picture = Curves(
        "", "", "%", (("time", places),), (curve,), ribbon=True, steps=True
    )
    (mean,) = [g for g in parts(drawn(picture), "g") if "vd-mean" in g.get("class")]
    lines = [line for line in mean if line.tag.endswith("line")]
    ends = [
        [share(line, name) for name in ("x1", "x2")]
        + [float(line.get(name)) for name in ("y1", "y2")]
        for line in lines
    ]
    assert [x1 == x2 or y1 == y2 for x1, x2, y1, y2 in ends] == [True] * 5
    assert [x1 == x2 for x1, x2, _, _ in ends] == [False, True, False, True, False]
    titles = [title.text for title in parts(drawn(picture), "title")]
    assert titles == [
        "survival, 0: 100.0 (95.0 to 105.0)",
        "survival, 10: 80.0 (75.0 to 85.0)",
        "survival, 20: 40.0 (35.0 to 45.0)",
    ]
    assert picture.described().alt == "; %. survival: 0 100.0, 10 80.0, 20 40.0."
    plain_axes = plt.subplots()[1]
    matplotlib.draw(picture, plain_axes)
    line = plain_axes.lines[0]
    assert line.get_drawstyle() == "steps-post"
    assert line.get_markevery() == [0, 2, 4]
    assert [text.get_text() for text in plain_axes.get_xticklabels()] == [
        "0",
        "10",
        "20",
    ]
    plt.close("all")

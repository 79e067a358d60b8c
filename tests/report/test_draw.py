"""Where the marks of a picture go."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from tests.report import records

from veridical import report
from veridical.report import draw


@pytest.fixture
def summary():
    return report.to_json(records.with_truth())


def places(picture, tag, name, kind=""):
    return [
        float(e.get(name).rstrip("%"))
        for e in ET.fromstring(picture).iter(tag)
        if kind in e.get("class", "")
    ]


def test_every_pair_is_two_dots_and_a_link(summary):
    for method in summary["methods"]:
        root = ET.fromstring(draw.bands(summary)[method["method"]])
        links = [g for g in root.iter("g") if "vd-link " in g.get("class", "")]
        dots = [c for c in root if c.tag == "circle"]
        assert len(links) == len(method["pairs"])
        assert len(dots) == 2 * len(method["pairs"])


def test_links_have_the_colour_of_the_better(summary):
    method = summary["methods"][0]
    root = ET.fromstring(draw.bands(summary)["in"])
    links = [g for g in root.iter("g") if "vd-link " in g.get("class", "")]

    for pair, link in zip(method["pairs"], links, strict=True):
        sign = (pair["a"] > pair["b"]) - (pair["a"] < pair["b"])
        better = {1: "vd-a", -1: "vd-b", 0: "vd-tie"}[sign]
        assert link.get("class") == f"vd-link {better}"
        title = link.find("title")
        assert title is not None
        assert title.text.startswith(pair["label"])


def test_all_marks_lie_inside_and_bands_share_an_axis(summary):
    pictures = draw.bands(summary)
    ticks = {m: places(p, "text", "x") for m, p in pictures.items()}

    for picture in pictures.values():
        for x in places(picture, "circle", "cx"):
            assert draw.LEFT <= x <= draw.RIGHT
    scale = draw.accuracy_scale(summary)
    for tick in scale.ticks:
        at = float(f"{scale.x(tick):.4g}")
        assert all(at in xs for xs in ticks.values())


def test_marks_lie_where_their_accuracy_is(summary):
    scale = draw.accuracy_scale(summary)
    method = summary["methods"][0]
    drawn = places(draw.bands(summary)["in"], "circle", "cx", "vd-dot vd-a")

    expected = [scale.x(pair["a"]) for pair in method["pairs"]]
    expected.append(scale.x(method["a"]["value"]))
    assert drawn == pytest.approx(expected, abs=0.01)


def test_ties_pile_up():
    scale = draw.Scale(0.0, 1.0, ())
    pairs = [{"label": str(i), "a": 0.5, "b": b} for i, b in enumerate((0.9, 0.1, 0.5))]

    levels = [dot.level for dot in draw.stack(pairs, "a", scale, 1.0)]

    assert sorted(levels) == [0, 1, 2]
    assert levels[1] < levels[2] < levels[0]  # in the order of their partners


def test_chance_is_on_the_axis_where_it_is_near(summary):
    assert draw.accuracy_scale(summary).shows(summary["data"]["chance"])


def test_chance_far_away_is_only_pointed_at():
    summary = report.to_json(records.comparison({"in": (0.9, 0.92)}, cases=1000))
    summary["data"]["chance"] = 0.01
    scale = draw.accuracy_scale(summary)

    assert not scale.shows(0.01)
    assert "← chance 1.0 %" in draw.bands(summary)["in"]


def test_one_value_for_all_is_still_a_picture():
    record = records.comparison({"in": (1.0, 1.0), "out": (1.0, 1.0)}, pairs={})
    summary = report.to_json(record)

    scale = draw.accuracy_scale(summary)

    assert scale.low < 1.0 == scale.high
    assert len(scale.ticks) >= 2
    assert "100.0 %" in draw.bands(summary)["out"]


def test_bar_is_as_long_as_the_share():
    widths = places(draw.bar(3, 10, "a"), "rect", "width")

    assert widths == [100, 30]

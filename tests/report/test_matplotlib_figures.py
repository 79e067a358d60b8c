"""Where the marks of a picture go."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from matplotlib import pyplot
from tests.report import records

from veridical import report
from veridical.report.render import matplotlib, svg
from veridical.report.view import Cloud, Figure, Level, Pair, Spot


@pytest.fixture
def summary():
    return report.to_json(records.with_truth())


def figure_of(record):
    return next(
        block
        for section in report.view(record).sections
        for block in section.blocks
        if isinstance(block, Figure)
    )


def bands(record):
    """The pictures of a figure, by protocol."""
    figure = figure_of(record)
    protocols = [panel.protocol for panel in figure.panels]
    return dict(zip(protocols, svg.draw(figure), strict=True))


def scale_of(record):
    return svg.scale_of([panel.picture for panel in figure_of(record).panels])


def places(picture, tag, name, kind=""):
    return [
        float(e.get(name).rstrip("%"))
        for e in ET.fromstring(picture).iter(tag)
        if kind in e.get("class", "")
    ]


def test_every_pair_is_two_dots_and_a_link(summary):
    for method in summary["methods"]:
        root = ET.fromstring(bands(records.with_truth())[method["method"]])
        links = [g for g in root.iter("g") if "vd-link " in g.get("class", "")]
        dots = [c for c in root if c.tag == "circle"]
        assert len(links) == len(method["pairs"])
        assert len(dots) == 2 * len(method["pairs"])


def test_links_have_the_colour_of_the_better(summary):
    method = summary["methods"][0]
    root = ET.fromstring(bands(records.with_truth())["in"])
    links = [g for g in root.iter("g") if "vd-link " in g.get("class", "")]

    for pair, link in zip(method["pairs"], links, strict=True):
        sign = (pair["a"] > pair["b"]) - (pair["a"] < pair["b"])
        better = {1: "vd-a", -1: "vd-b", 0: "vd-tie"}[sign]
        assert link.get("class") == f"vd-link {better}"
        title = link.find("title")
        assert title is not None
        assert title.text.startswith(pair["label"])


def test_all_marks_lie_inside_and_bands_share_an_axis(summary):
    pictures = bands(records.with_truth())
    ticks = {m: places(p, "text", "x") for m, p in pictures.items()}

    for picture in pictures.values():
        for x in places(picture, "circle", "cx"):
            assert svg.LEFT <= x <= svg.RIGHT
    scale = scale_of(records.with_truth())
    for tick in scale.ticks:
        at = float(f"{scale.x(tick):.4g}")
        assert all(at in xs for xs in ticks.values())


def test_marks_lie_where_their_accuracy_is(summary):
    scale = scale_of(records.with_truth())
    method = summary["methods"][0]
    drawn = places(bands(records.with_truth())["in"], "circle", "cx", "vd-dot vd-a")

    expected = [scale.x(pair["a"]) for pair in method["pairs"]]
    expected.append(scale.x(method["a"]["value"]))
    assert drawn == pytest.approx(expected, abs=0.01)


def test_ties_pile_up():
    scale = svg.AxisScale(0.0, 1.0, ())
    pairs = [Pair(str(i), 0.5, b) for i, b in enumerate((0.9, 0.1, 0.5))]

    levels = [dot.level for dot in svg.stack(pairs, "a", scale, 1.0)]

    assert sorted(levels) == [0, 1, 2]
    assert levels[1] < levels[2] < levels[0]  # in the order of their partners


def test_chance_is_on_the_axis_where_it_is_near(summary):
    assert scale_of(records.with_truth()).shows(summary["data"]["chance"])


def test_a_level_far_away_is_only_pointed_at():
    figure = figure_of(records.comparison({"in": (0.9, 0.92)}, samples=1000))
    (panel,) = figure.panels
    picture = replace(panel.picture, levels=(Level("majority class", 0.01),))

    assert not svg.scale_of([picture]).shows(0.01)
    far = replace(figure, panels=(replace(panel, picture=picture),))
    assert "← majority class 1.0 %" in svg.draw(far)[0]


def test_no_line_runs_through_a_label():
    """The line of a level leaves out the rows in which labels stand."""
    for record in (records.honest(), records.with_truth()):
        for picture in bands(record).values():
            root = ET.fromstring(picture)
            level = next(g for g in root.iter("g") if g.get("class") == "vd-level")
            spans = [
                sorted((float(line.get("y1")), float(line.get("y2"))))
                for line in level.iter("line")
            ]
            means = [g for g in root.iter("g") if "vd-mean" in g.get("class", "")]
            for text in (t for g in means for t in g.iter("text")):
                baseline = float(text.get("y"))
                assert not any(a < baseline and baseline - 9 < b for a, b in spans)


@pytest.mark.parametrize(
    "values", [(0.61, 0.6), (0.6, 0.61), (0.9, 0.92), (0.92, 0.9), (0.55, 0.99)]
)
def test_no_line_of_a_level_runs_through_the_name_of_another(values):
    """Names take rows from the top; no line begins above a name that it crosses."""
    figure = figure_of(records.comparison({"in": (0.5, 1.0)}, samples=1000))
    (panel,) = figure.panels
    levels = tuple(Level("random labels, mean", value) for value in values)
    picture = replace(panel.picture, levels=levels)
    (drawn,) = svg.draw(replace(figure, panels=(replace(panel, picture=picture),)))
    groups = [g for g in ET.fromstring(drawn).iter("g") if g.get("class") == "vd-level"]

    assert len(groups) == 2
    for group, other in (groups, groups[::-1]):
        name = group.find("text")
        start = float(name.get("x").rstrip("%"))
        end = start + (30 if name.get("text-anchor") == "start" else -30)
        baseline = float(name.get("y"))
        for line in other.iter("line"):
            crosses = (
                min(start, end) < float(line.get("x1").rstrip("%")) < max(start, end)
            )
            assert not (crosses and float(line.get("y1")) < baseline)


def test_one_value_for_all_is_still_a_picture():
    record = records.comparison({"in": (1.0, 1.0), "out": (1.0, 1.0)}, pairs={})

    scale = scale_of(record)

    assert scale.low < 1.0 == scale.high
    assert len(scale.ticks) >= 2
    assert "100.0 %" in bands(record)["out"]


def test_bar_is_as_long_as_the_share():
    widths = places(svg.bar(0.3, "a"), "rect", "width")

    assert widths == [100, 30]


def test_names_of_a_cloud_do_not_cover_each_other():
    spots = [Spot(f"near {i}", i / 100, 1.0, "a") for i in range(5)]
    spots += [Spot("far", 1.0, 1.0, "a"), Spot("low", 0.0, 0.0, "a")]
    figure = pyplot.figure()
    try:
        ax = figure.add_subplot()
        matplotlib.draw(Cloud("", tuple(spots), "across", "upward"), ax)
        assert [text.get_text() for text in ax.texts] == ["near 0", "far", "low"]
    finally:
        pyplot.close(figure)

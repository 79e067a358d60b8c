"""The picture of an audit: what was reached, above what random labels reach.

One lane per protocol on a common axis. Grey dots are accuracies on labels in random
order; the mark above them is the one on the true labels.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from markupsafe import Markup

from veridical._core.numbers import percent, percent_range
from veridical.comparison.records import Side
from veridical.report import draw
from veridical.report.schema import AuditSummary, LaneSummary

ROW, DOT, SPACING, TALLEST, PADDING = 40, 2.5, 5.5, 96, 12
SIDES: dict[str, Side] = {"in": "a", "out": "b"}


def lanes(summary: AuditSummary) -> dict[str, Markup]:
    """Draw one lane per protocol."""
    scale = draw.scale_for(_drawn(summary), summary["data"]["chance"])
    return {x["protocol"]: _lane(summary, x, scale) for x in summary["lanes"]}


def _drawn(summary: AuditSummary) -> list[float]:
    values: list[float] = []
    for lane in summary["lanes"]:
        a = lane["accuracy"]
        values += [v for v in (a["value"], a["low"], a["high"]) if v is not None]
        values += lane["null"]
    return values


def describe(summary: AuditSummary, lane: LaneSummary) -> str:
    """Say in words what a lane shows, for those who do not see it."""
    a = lane["accuracy"]
    said = [f"{lane['label']}: accuracy {percent(a['value'])}"]
    if a["low"] is not None:
        said.append(f"interval {percent_range(a['low'], a['high'])}")
    if lane["null_mean"] is not None:
        said.append(
            f"on {len(lane['null'])} random orders of the labels "
            f"{percent(lane['null_mean'])} on average, 95 % of them "
            f"{percent_range(lane['null_low'], lane['null_high'])}"
        )
    said.append(f"chance {percent(summary['data']['chance'])}")
    return ", ".join(said) + "."


def _lane(summary: AuditSummary, lane: LaneSummary, scale: draw.Scale) -> Markup:
    piles = stack(lane["null"], scale)
    tallest = max((level for _, level in piles), default=0)
    spacing = min(SPACING, TALLEST / max(1, tallest))
    top = draw.CHANCE_ROW + ROW
    ground = top + PADDING + spacing * tallest if piles else top
    bottom = ground + PADDING
    svg = draw._canvas(describe(summary, lane), bottom + draw.AXIS_ROW)
    draw._axis(svg, scale, draw.CHANCE_ROW, bottom)
    draw._level(svg, "chance", summary["data"]["chance"], scale, 2, bottom)
    if piles:
        group = ET.SubElement(svg, "g", {"class": "vd-null"})
        for value, (x, level) in zip(sorted(lane["null"]), piles, strict=True):
            dot = {
                "cx": draw._share(x),
                "cy": f"{ground - spacing * level:g}",
                "r": f"{DOT:g}",
            }
            mark = ET.SubElement(group, "circle", dot)
            words = f"labels in random order: {percent(value)}"
            ET.SubElement(mark, "title").text = words
    _mark(svg, lane, scale, top - 8)
    return draw._markup(svg)


def stack(values: list[float], scale: draw.Scale) -> list[tuple[float, int]]:
    """Place dots, those at the same accuracy on top of each other."""
    width = 1.0  # per cent of the width that a dot takes
    placed, first, level = [], float("-inf"), 0
    for value in sorted(values):
        x = scale.x(value)
        first, level = (first, level + 1) if x - first < width else (x, 0)
        placed.append((first, level))
    return placed


def _mark(svg: ET.Element, lane: LaneSummary, scale: draw.Scale, y: float) -> None:
    side = SIDES[lane["protocol"]]
    a = lane["accuracy"]
    group = ET.SubElement(svg, "g", {"class": f"vd-mean vd-{side}"})
    words = f"{lane['label']}, true labels: {percent(a['value'])}"
    if a["low"] is not None and a["high"] is not None:
        words += f" ({percent_range(a['low'], a['high'])})"
        draw._whiskers(group, scale.x(a["low"]), scale.x(a["high"]), y)
    x = scale.x(a["value"])
    draw._dot(group, side, x, y, 6)
    ET.SubElement(group, "title").text = words
    label = f"{lane['label']} {percent(a['value'])}"
    draw._text(group, x, y - 13, label, draw._anchor(x, 12))

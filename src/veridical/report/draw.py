"""From a summary to pictures: inline SVG that stretches with the page.

Every horizontal position is a share of the width and every vertical one is in pixels,
so that a picture fills a phone or a desk without ever scaling its letters. Elements
are built as a tree, never by pasting strings, which leaves a name no way out of its
text node.

======  ============================================
symbol  meaning
======  ============================================
x       position along the width, in per cent of it
y       distance from the top, in pixels
======  ============================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from markupsafe import Markup

from veridical._records import SIDES, Side
from veridical.report.numbers import count, percent, points
from veridical.report.schema import MeanSummary, MethodSummary, PairSummary, Summary

LEFT, RIGHT = 2.5, 97.5  # the plot's edges, in per cent of the width
CHANCE_ROW, LABEL_ROW, MEAN_ROW, GAP, AXIS_ROW = 16, 20, 18, 46, 22
LONGEST_LABEL = 26
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25)


@dataclass(frozen=True)
class Scale:
    """The accuracy axis that all bands of a picture share."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def x(self, value: float) -> float:
        """Place an accuracy along the width."""
        share = (value - self.low) / (self.high - self.low)
        return LEFT + (RIGHT - LEFT) * share

    def shows(self, value: float) -> bool:
        """Tell whether an accuracy lies on the axis."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Dot:
    """One accuracy, placed; ties are stacked, ``level`` counts up from the lane."""

    x: float
    level: int


def bands(summary: Summary) -> dict[str, Markup]:
    """Draw one band per method: both selectors, every pair, the means, chance."""
    scale = accuracy_scale(summary)
    return {m["method"]: _band(summary, m, scale) for m in summary["methods"]}


def bar(number: int, total: int, side: Side) -> Markup:
    """Draw how many of all selections chose a feature; the cell beside it says it."""
    svg = ET.Element(
        "svg", {"class": "vd-bar", "aria-hidden": "true", "focusable": "false"}
    )
    ET.SubElement(svg, "rect", {"class": "vd-track", "width": "100%", "height": "100%"})
    share = 100 * number / total if total else 0
    ET.SubElement(
        svg,
        "rect",
        {"class": f"vd-fill vd-{side}", "width": _share(share), "height": "100%"},
    )
    return _markup(svg)


def accuracy_scale(summary: Summary) -> Scale:
    """Choose an axis that holds every value drawn, and chance unless it is far away."""
    values = [v for m in summary["methods"] for v in _drawn(m)]
    low, high = min(values), max(values)
    chance = summary["data"]["chance"]
    reach = max(high, chance) - min(low, chance)
    if reach <= 3 * max(high - low, 0.05):
        low, high = min(low, chance), max(high, chance)
    margin = max(0.02, 0.06 * (high - low))
    low, high = max(0.0, low - margin), min(1.0, high + margin)
    step = next((s for s in STEPS if (high - low) / s <= 7), STEPS[-1])
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return Scale(low, high, tuple(i * step for i in range(first, last + 1)))


def _drawn(method: MethodSummary) -> list[float]:
    values = [pair[side] for pair in method["pairs"] for side in SIDES]
    for side in SIDES:
        mean = method[side]
        values += [
            v for v in (mean["value"], mean["low"], mean["high"]) if v is not None
        ]
    return values


def describe(summary: Summary, method: MethodSummary) -> str:
    """Say in words what a band shows, for those who do not see it."""
    a, b = (
        f"{_short(summary['names'][side])} {percent(method[side]['value'])}"
        for side in SIDES
    )
    wins = sum(pair["a"] > pair["b"] for pair in method["pairs"])
    losses = sum(pair["a"] < pair["b"] for pair in method["pairs"])
    gap = method["difference"]
    by = "" if gap is None else f", difference {points(gap['value'])}"
    return (
        f"{method['label']}: mean accuracy {a}, {b}{by}. Of "
        f"{count(len(method['pairs']), method['pair_unit'])} the first is better on "
        f"{wins}, the second on {losses}. Chance is "
        f"{percent(summary['data']['chance'])}."
    )


def _band(summary: Summary, method: MethodSummary, scale: Scale) -> Markup:
    pairs = method["pairs"]
    radius, spacing = (4.0, 9.0) if len(pairs) <= 30 else (2.75, 6.0)
    dots = {
        side: stack(pairs, side, scale, 1.6 if radius > 3 else 1.0) for side in SIDES
    }
    tallest = {side: max(dot.level for dot in dots[side]) for side in SIDES}
    spacing = min(spacing, 72 / max(1, *tallest.values()))
    top = CHANCE_ROW + LABEL_ROW + MEAN_ROW / 2
    lane_a = top + MEAN_ROW / 2 + radius + 2 + spacing * tallest["a"]
    lane_b = lane_a + GAP + (14 if len(pairs) > 30 else 0)
    bottom = lane_b + spacing * tallest["b"] + radius + 2 + MEAN_ROW + LABEL_ROW
    height = bottom + AXIS_ROW
    svg = ET.Element(
        "svg",
        {
            "class": "vd-band-picture",
            "role": "img",
            "aria-label": describe(summary, method),
            "width": "100%",
            "height": f"{height:g}",
        },
    )
    _axis(svg, scale, bottom)
    _chance(svg, summary["data"]["chance"], scale, bottom)
    _links(svg, summary, pairs, (dots["a"], dots["b"]), (lane_a, lane_b), spacing)
    for dot in dots["a"]:
        _dot(svg, "a", dot.x, lane_a - spacing * dot.level, radius)
    for dot in dots["b"]:
        _dot(svg, "b", dot.x, lane_b + spacing * dot.level, radius)
    _mean(svg, summary, "a", method["a"], scale, top, -1)
    _mean(svg, summary, "b", method["b"], scale, bottom - LABEL_ROW - MEAN_ROW / 2, 1)
    return _markup(svg)


def stack(
    pairs: list[PairSummary], side: Side, scale: Scale, width: float
) -> list[Dot]:
    """Place one selector's dots; those within `width` of a pile's first join it.

    Every dot keeps its own place along the axis, as in Wilkinson's dot plots but for
    his averaging. Dots of one pile are ordered by their partner, which keeps the links
    from crossing.
    """
    partner: Side = "b" if side == "a" else "a"
    order = sorted(
        range(len(pairs)), key=lambda i: (pairs[i][side], pairs[i][partner], i)
    )
    dots: dict[int, Dot] = {}
    first, level = -math.inf, 0
    for i in order:
        x = scale.x(pairs[i][side])
        first, level = (first, level + 1) if x - first < width else (x, 0)
        dots[i] = Dot(x, level)
    return [dots[i] for i in range(len(pairs))]


def _axis(svg: ET.Element, scale: Scale, bottom: float) -> None:
    group = ET.SubElement(svg, "g", {"class": "vd-axis"})
    for tick in scale.ticks:
        x = scale.x(tick)
        _line(group, x, CHANCE_ROW, x, bottom)
        _text(group, x, bottom + 15, percent(tick, 0), _anchor(x, 3))


def _chance(svg: ET.Element, chance: float, scale: Scale, bottom: float) -> None:
    group = ET.SubElement(svg, "g", {"class": "vd-chance"})
    if scale.shows(chance):
        x = scale.x(chance)
        _line(group, x, 2, x, bottom)
        shift, anchor = ("5", "start") if x < 70 else ("-5", "end")
        _text(group, x, 10, f"chance {percent(chance)}", anchor).set("dx", shift)
    elif chance < scale.low:
        _text(group, LEFT, 10, f"← chance {percent(chance)}", "start")
    else:
        _text(group, RIGHT, 10, f"chance {percent(chance)} →", "end")


def _links(
    svg: ET.Element,
    summary: Summary,
    pairs: list[PairSummary],
    dots: tuple[list[Dot], list[Dot]],
    lanes: tuple[float, float],
    spacing: float,
) -> None:
    group = ET.SubElement(svg, "g", {"class": "vd-links"})
    for pair, a, b in zip(pairs, *dots, strict=True):
        better = (
            "a" if pair["a"] > pair["b"] else "b" if pair["b"] > pair["a"] else "tie"
        )
        link = ET.SubElement(group, "g", {"class": f"vd-link vd-{better}"})
        ET.SubElement(link, "title").text = (
            f"{pair['label']}: {_short(summary['names']['a'])} {percent(pair['a'])}, "
            f"{_short(summary['names']['b'])} {percent(pair['b'])}"
        )
        ends = (
            (a.x, lanes[0] - spacing * a.level),
            (b.x, lanes[1] + spacing * b.level),
        )
        _line(link, *ends[0], *ends[1], "vd-touch")
        _line(link, *ends[0], *ends[1])


def _dot(svg: ET.Element, side: Side, x: float, y: float, radius: float) -> None:
    # One selector is a disc and the other a ring: told apart without any colour.
    ring = side == "b"
    ET.SubElement(
        svg,
        "circle",
        {
            "class": f"vd-dot vd-{side}",
            "cx": _share(x),
            "cy": f"{y:g}",
            "r": f"{radius - 0.75 if ring else radius:g}",
        },
    )


def _mean(
    svg: ET.Element,
    summary: Summary,
    side: Side,
    mean: MeanSummary,
    scale: Scale,
    y: float,
    up: int,
) -> None:
    group = ET.SubElement(svg, "g", {"class": f"vd-mean vd-{side}"})
    if mean["low"] is not None and mean["high"] is not None:
        low, high = scale.x(mean["low"]), scale.x(mean["high"])
        _line(group, low, y, high, y)
        _line(group, low, y - 4, low, y + 4)
        _line(group, high, y - 4, high, y + 4)
    x = scale.x(mean["value"])
    _dot(group, side, x, y, 6)
    label = f"{_short(summary['names'][side])} {percent(mean['value'])}"
    _text(group, x, y + (24 if up > 0 else -13), label, _anchor(x, 27))


def _anchor(x: float, margin: float) -> str:
    """Keep a label inside the picture."""
    return "start" if x < margin else "end" if x > 100 - margin else "middle"


def _line(
    parent: ET.Element, x1: float, y1: float, x2: float, y2: float, kind: str = ""
) -> None:
    place = {"x1": _share(x1), "y1": f"{y1:g}", "x2": _share(x2), "y2": f"{y2:g}"}
    ET.SubElement(parent, "line", {"class": kind, **place} if kind else place)


def _text(parent: ET.Element, x: float, y: float, text: str, anchor: str) -> ET.Element:
    place = {"x": _share(x), "y": f"{y:g}", "text-anchor": anchor}
    element = ET.SubElement(parent, "text", place)
    element.text = text
    return element


def _share(x: float) -> str:
    return f"{x:.4g}%"


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 1] + "…"


def _markup(svg: ET.Element) -> Markup:
    """Serialise a tree; ElementTree has escaped every text and attribute in it."""
    return Markup(ET.tostring(svg, encoding="unicode", short_empty_elements=False))

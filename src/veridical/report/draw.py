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
from typing import Literal
from xml.etree import ElementTree as ET

from markupsafe import Markup

from veridical._core.numbers import count, percent, percent_range, points
from veridical.comparison.records import SIDES, Side
from veridical.report.estimates_words import chance_of, figure, figure_range
from veridical.report.schema import (
    EstimatesSummary,
    EstimateSummary,
    MeanSummary,
    MethodSummary,
    PairSummary,
    Summary,
)

LEFT, RIGHT = 2.5, 97.5  # the plot's edges, in per cent of the width
CHANCE_ROW, LABEL_ROW, MEAN_ROW, GAP, AXIS_ROW = 16, 20, 18, 46, 22
MORE_ROW = 12
LONGEST_LABEL, LONGEST_METHOD = 26, 46
ENDS: tuple[Literal["low", "high"], ...] = ("low", "high")
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
    """Choose the axis of a comparison's picture."""
    values = [v for m in summary["methods"] for v in _drawn(m)]
    return scale_for(values, summary["data"]["chance"])


def scale_for(values: list[float], chance: float) -> Scale:
    """Choose an axis that holds every value drawn, and chance unless it is far away."""
    low, high = min(values), max(values)
    reach = max(high, chance) - min(low, chance)
    if reach <= 3 * max(high - low, 0.05):
        low, high = min(low, chance), max(high, chance)
    margin = max(0.02, 0.06 * (high - low))
    low, high = max(0.0, low - margin), min(1.0, high + margin)
    step = next((s for s in STEPS if (high - low) / s <= 6), STEPS[-1])
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return Scale(low, high, tuple(i * step for i in range(first, last + 1)))


def score_scale(values: list[float]) -> Scale:
    """Choose an axis for scores that may have any size and sign.

    Examples
    --------
    >>> score_scale([-30.0, 10.0]).ticks
    (-30.0, -20.0, -10.0, 0.0, 10.0)
    """
    low, high = min(values), max(values)
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    low, high = low - margin, high + margin
    tens = 10.0 ** math.floor(math.log10((high - low) / 6))
    step = next(s * tens for s in (1, 2, 5, 10) if (high - low) / (s * tens) <= 6)
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


def forest(summary: EstimatesSummary) -> Markup:
    """Draw estimates one below the other, with intervals, chance and the truth."""
    truth, chance = summary["truth"], chance_of(summary)
    metric, values = summary["metric"], _estimated(summary)
    if metric == "accuracy":
        scale = scale_for(values, values[0] if chance is None else chance)
    else:
        scale = score_scale(values)
    top = CHANCE_ROW * sum(level is not None for level in (chance, truth))
    rows = [
        LABEL_ROW + MEAN_ROW + MORE_ROW * max(0, len(e["intervals"]) - 1)
        for e in summary["estimates"]
    ]
    bottom = top + sum(rows) + 4
    svg = _canvas(describe_estimates(summary), bottom + AXIS_ROW)
    _axis(svg, scale, top, bottom, metric)
    if chance is not None:
        _level(svg, "chance", chance, scale, 2, bottom)
    if truth is not None:
        start = 2 if chance is None else CHANCE_ROW + 2
        _level(svg, "truth", truth["value"], scale, start, bottom, metric)
    y = float(top)
    for estimate, height in zip(summary["estimates"], rows, strict=True):
        _estimate(svg, estimate, scale, y + LABEL_ROW, metric)
        y += height
    return _markup(svg)


def _estimated(summary: EstimatesSummary) -> list[float]:
    drawn = [*summary["estimates"], *filter(None, [summary["truth"]])]
    bounds = [b for e in summary["estimates"] for b in e["intervals"]]
    return [e["value"] for e in drawn] + [b[end] for b in bounds for end in ENDS]


def describe_estimates(summary: EstimatesSummary) -> str:
    """Say in words what a picture of estimates shows."""
    metric, chance = summary["metric"], chance_of(summary)
    said = [
        f"{_short(e['method'], LONGEST_METHOD)} {figure(e['value'], metric)}"
        + "".join(
            f", {figure_range(b['low'], b['high'], metric)}" for b in e["intervals"][:1]
        )
        for e in summary["estimates"]
    ]
    if summary["truth"] is not None:
        said.append(f"the truth is {figure(summary['truth']['value'], metric)}")
    if chance is not None:
        said.append(f"chance is {percent(chance)}")
    return f"{metric[:1].upper()}{metric[1:]} by method: {'; '.join(said)}."


def _estimate(
    svg: ET.Element, estimate: EstimateSummary, scale: Scale, y: float, metric: str
) -> None:
    # A ring where there is a note: to be told from the others without any colour.
    side: Side = "b" if estimate["notes"] else "a"
    group = ET.SubElement(svg, "g", {"class": f"vd-mean vd-{side}"})
    value = figure(estimate["value"], metric)
    label = f"{_short(estimate['method'], LONGEST_METHOD)} {value}"
    _text(group, LEFT, y - 6, label, "start")
    y += MEAN_ROW / 2 - 3
    for i, bounds in enumerate(estimate["intervals"]):
        row = ET.SubElement(group, "g", {"class": "vd-more" if i else "vd-usual"})
        span = figure_range(bounds["low"], bounds["high"], metric)
        ET.SubElement(row, "title").text = f"{bounds['kind']}: {span}"
        low, high = scale.x(bounds["low"]), scale.x(bounds["high"])
        _whiskers(row, low, high, y + MORE_ROW * i)
    mark = ET.SubElement(group, "g")
    ET.SubElement(mark, "title").text = label
    _dot(mark, side, scale.x(estimate["value"]), y, 6)


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
    svg = _canvas(describe(summary, method), height)
    _axis(svg, scale, CHANCE_ROW, bottom)
    _level(svg, "chance", summary["data"]["chance"], scale, 2, bottom)
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


def _canvas(words: str, height: float) -> ET.Element:
    """Start a picture as wide as the page, with words for those who do not see it."""
    return ET.Element(
        "svg",
        {
            "class": "vd-band-picture",
            "role": "img",
            "aria-label": words,
            "width": "100%",
            "height": f"{height:g}",
        },
    )


def _axis(
    svg: ET.Element,
    scale: Scale,
    top: float,
    bottom: float,
    metric: str = "accuracy",
) -> None:
    group = ET.SubElement(svg, "g", {"class": "vd-axis"})
    for tick in scale.ticks:
        x = scale.x(tick)
        _line(group, x, top, x, bottom)
        shown = percent(tick, 0) if metric == "accuracy" else figure(tick, metric)
        _text(group, x, bottom + 15, shown, _anchor(x, 3))


def _level(
    svg: ET.Element,
    name: str,
    value: float,
    scale: Scale,
    top: float,
    bottom: float,
    metric: str = "accuracy",
) -> None:
    """Draw a score to hold the others against, as a line through all of them."""
    group = ET.SubElement(svg, "g", {"class": f"vd-{name}"})
    words, y = f"{name} {figure(value, metric)}", top + 8
    if scale.shows(value):
        x = scale.x(value)
        _line(group, x, top, x, bottom)
        shift, anchor = ("5", "start") if x < 70 else ("-5", "end")
        _text(group, x, y, words, anchor).set("dx", shift)
    elif value < scale.low:
        _text(group, LEFT, y, f"← {words}", "start")
    else:
        _text(group, RIGHT, y, f"{words} →", "end")


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
    ET.SubElement(group, "title").text = (
        f"{_short(summary['names'][side])}, mean {percent(mean['value'])} "
        f"({percent_range(mean['low'], mean['high'])}), n = {mean['n']}"
    )
    if mean["low"] is not None and mean["high"] is not None:
        _whiskers(group, scale.x(mean["low"]), scale.x(mean["high"]), y)
    x = scale.x(mean["value"])
    _dot(group, side, x, y, 6)
    label = f"{_short(summary['names'][side])} {percent(mean['value'])}"
    _text(group, x, y + (24 if up > 0 else -13), label, _anchor(x, 27))


def _whiskers(parent: ET.Element, low: float, high: float, y: float) -> None:
    _line(parent, low, y, high, y)
    _line(parent, low, y - 4, low, y + 4)
    _line(parent, high, y - 4, high, y + 4)


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


def _short(name: str, longest: int = LONGEST_LABEL) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"


def _markup(svg: ET.Element) -> Markup:
    """Serialise a tree; ElementTree has escaped every text and attribute in it."""
    return Markup(ET.tostring(svg, encoding="unicode", short_empty_elements=False))

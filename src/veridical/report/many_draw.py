"""The critical-difference picture: mean ranks, and who is not told apart.

Like the other pictures, inline SVG whose horizontal positions are shares of the width
and whose vertical ones are in pixels; see `veridical.report.draw`.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

import numpy as np
from markupsafe import Markup

from veridical._core.numbers import percent
from veridical._core.text import names
from veridical.report.draw import _anchor, _canvas, _dot, _line, _markup, _short, _text
from veridical.report.many_schema import ManyMethod, ManySummary

LEFT, RIGHT = 4.0, 96.0  # rank 1 and the last rank, in per cent of the width
TOP, ROW, BAR, AXIS = 34, 34, 14, 24
LONGEST = 40


def critical_differences(summary: ManySummary) -> dict[str, Markup]:
    """Draw one picture per method."""
    return {m["method"]: _picture(summary, m) for m in summary["methods"]}


def describe(summary: ManySummary, method: ManyMethod) -> str:
    """Say in words what a picture shows, for those who do not see it."""
    found = method["friedman"]
    order = np.argsort(found["mean_ranks"], kind="stable")
    ranks = ", ".join(
        f"{_short(summary['names'][i])} {found['mean_ranks'][i]:.2f}" for i in order
    )
    groups = "; ".join(
        names(_short(summary["names"][i]) for i in group) for group in found["groups"]
    )
    apart = f"Not told apart: {groups}." if groups else "All are told apart."
    return (
        f"{method['label']}: mean ranks over {found['n']} folds, 1 is best: {ranks}. "
        f"Critical difference {found['critical_difference']:.2f}. {apart}"
    )


def _picture(summary: ManySummary, method: ManyMethod) -> Markup:
    found = method["friedman"]
    ranks = found["mean_ranks"]
    n = len(ranks)
    order = [int(i) for i in np.argsort(ranks, kind="stable")]
    bars = TOP + ROW * n + 4
    bottom = bars + BAR * len(found["groups"])
    svg = _canvas(describe(summary, method), bottom + AXIS)
    axis = ET.SubElement(svg, "g", {"class": "vd-axis"})
    for rank in range(1, n + 1):
        x = _x(rank, n)
        _line(axis, x, TOP - 6, x, bottom)
        words = {1: "1, best", n: f"{n}, worst"}.get(rank, str(rank))
        _text(axis, x, bottom + 15, words, _anchor(x, 5))
    _distance(svg, found["critical_difference"], n)
    for row, i in enumerate(order):
        group = ET.SubElement(svg, "g", {"class": "vd-mean vd-a"})
        x, y = _x(ranks[i], n), TOP + ROW * row + 22
        mean = summary["selectors"][i]["means"][method["method"]]
        ET.SubElement(group, "title").text = (
            f"{_short(summary['names'][i], LONGEST)}: mean rank {ranks[i]:.2f}, "
            f"mean accuracy {percent(mean['value'])}"
        )
        _dot(group, "a", x, y, 5)
        label = f"{_short(summary['names'][i], LONGEST)} {ranks[i]:.2f}"
        _text(group, x, y - 10, label, _anchor(x, 25))
    for row, members in enumerate(found["groups"]):
        group = ET.SubElement(svg, "g", {"class": "vd-clique"})
        ends = [ranks[i] for i in members]
        told = names(_short(summary["names"][i]) for i in members)
        ET.SubElement(group, "title").text = f"Not told apart: {told}"
        y = bars + BAR * row + 4
        _line(group, _x(min(ends), n) - 0.5, y, _x(max(ends), n) + 0.5, y)
    return _markup(svg)


def _distance(svg: ET.Element, critical: float, n: int) -> None:
    """Draw the critical difference as a length, where it fits on the axis."""
    group = ET.SubElement(svg, "g", {"class": "vd-distance"})
    end = _x(1 + critical, n)
    words = f"critical difference {critical:.2f}"
    if end <= RIGHT:
        _line(group, LEFT, 10, end, 10)
        _line(group, LEFT, 6, LEFT, 14)
        _line(group, end, 6, end, 14)
        _text(group, LEFT, 24, words, "start")
    else:
        _text(group, LEFT, 14, f"{words}, wider than the axis", "start")


def _x(rank: float, n: int) -> float:
    return LEFT + (RIGHT - LEFT) * (rank - 1) / (n - 1)

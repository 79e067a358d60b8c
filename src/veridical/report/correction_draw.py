"""The calibration picture: what was promised, what happened, and how often.

Like the other pictures, inline SVG whose horizontal positions are shares of the width
and whose vertical ones are in pixels; see `veridical.report.draw`.
"""

from __future__ import annotations

from xml.etree import ElementTree as ET

from markupsafe import Markup

from veridical._core.numbers import percent
from veridical.comparison.records import Side
from veridical.report.correction_schema import CalibrationSummary, CorrectionSummary
from veridical.report.draw import (
    _anchor,
    _canvas,
    _dot,
    _line,
    _markup,
    _share,
    _short,
    _text,
)

LEFT, RIGHT = 8.0, 98.0  # probability 0 and 1, in per cent of the width
TOP, HEIGHT, GAP, BARS, AXIS = 12, 200, 26, 44, 22
SIDES: tuple[Side, Side] = ("a", "b")
#: Both models often promise the same; side by side their intervals can be told apart.
DODGE: dict[Side, float] = {"a": -0.6, "b": 0.6}


def calibration(summary: CorrectionSummary) -> Markup:
    """Draw both models: shares over probabilities, counts of cases below."""
    floor = TOP + HEIGHT
    bottom = floor + GAP + 2 * (BARS + GAP)
    svg = _canvas(describe(summary), bottom + AXIS)
    axis = ET.SubElement(svg, "g", {"class": "vd-axis"})
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = _x(tick), _y(tick)
        _line(axis, x, TOP, x, bottom)
        _line(axis, LEFT, y, RIGHT, y)
        _text(axis, LEFT - 1, y + 4, percent(tick, 0), "end")
        _text(axis, x, bottom + 15, percent(tick, 0), _anchor(x, 9))
    honest = ET.SubElement(svg, "g", {"class": "vd-chance"})
    _line(honest, _x(0), _y(0), _x(1), _y(1))
    for row, (side, model) in enumerate(zip(SIDES, summary["models"], strict=True)):
        _points(svg, side, model)
        _counts(svg, side, model, floor + GAP + (row + 1) * BARS + row * GAP)
    return _markup(svg)


def describe(summary: CorrectionSummary) -> str:
    """Say in words what the picture shows, for those who do not see it."""
    said = []
    for model in summary["models"]:
        parts = [
            f"{percent(b['low'], 0)} to {percent(b['high'], 0)}: {b['n']} cases, "
            f"{percent(b['predicted'])} promised, {percent(b['observed'])} observed"
            for b in model["bins"]
            if b["n"]
        ]
        said.append(f"{model['label']}: {'; '.join(parts)}.")
    return " ".join(said)


def _points(svg: ET.Element, side: Side, model: CalibrationSummary) -> None:
    group = ET.SubElement(svg, "g", {"class": f"vd-mean vd-{side}"})
    for one in model["bins"]:
        predicted, observed = one["predicted"], one["observed"]
        low, high = one["observed_low"], one["observed_high"]
        if predicted is None or observed is None or low is None or high is None:
            continue
        x = _x(predicted) + DODGE[side]
        mark = ET.SubElement(group, "g")
        ET.SubElement(mark, "title").text = (
            f"{model['label']}: {one['n']} cases, {percent(predicted)} promised, "
            f"{percent(observed)} observed ({percent(low)} to {percent(high)})"
        )
        _line(mark, x, _y(low), x, _y(high))
        _dot(mark, side, x, _y(observed), 5)


def _counts(
    svg: ET.Element, side: Side, model: CalibrationSummary, floor: float
) -> None:
    """Bars of the number of cases in each bin, with the numbers themselves."""
    group = ET.SubElement(svg, "g", {"class": f"vd-counts vd-{side}"})
    most = max((one["n"] for one in model["bins"]), default=1) or 1
    for one in model["bins"]:
        left, right = _x(one["low"]), _x(one["high"])
        height = (BARS - 16) * one["n"] / most
        ET.SubElement(
            group,
            "rect",
            {
                "class": f"vd-fill vd-{side}",
                "x": _share(left + 0.4),
                "y": f"{floor - height:g}",
                "width": _share(right - left - 0.8),
                "height": f"{height:g}",
            },
        )
        middle = (left + right) / 2
        _text(group, middle, floor - height - 4, str(one["n"]), "middle")
    _text(group, LEFT - 1, floor - 2, "cases", "end")
    _text(group, LEFT + 0.8, floor + 14, _short(model["label"]), "start")


def _x(probability: float) -> float:
    return LEFT + (RIGHT - LEFT) * probability


def _y(share: float) -> float:
    return TOP + HEIGHT * (1.0 - share)

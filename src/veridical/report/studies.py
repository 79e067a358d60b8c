"""The page of a study: its findings first, then the tables and curves behind them.

Like the other pictures, curves are inline SVG whose horizontal positions are shares of
the width and whose vertical ones are in pixels; see `veridical.report.draw`.

======  ============================================
symbol  meaning
======  ============================================
x       position along the width, in per cent of it
y       distance from the top, in pixels
place   number of a point on the horizontal axis
======  ============================================
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from markupsafe import Markup

from veridical._core.numbers import count, number
from veridical._core.records import Interval
from veridical.experiments.findings import Curve, Outcome, Picture, StudyReport
from veridical.report import render
from veridical.report.findings_draw import strip
from veridical.report.summarize import clean

SCHEMA = "veridical/study/1"

LEFT, RIGHT = 9.0, 99.0  # the plot's edges, in per cent of the width
TOP, HEIGHT = 10, 180
GAP = 0.6  # between two sections of the axis, in places
APART = 0.16  # between two curves at the same place
STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
LONGEST, LONGEST_PLACE, LONGEST_AXIS = 400, 16, 40

#: How the curves of a picture are told apart: colour, and disc or ring.
LOOKS = ("vd-a", "vd-b", "")

_BELIEF: dict[Outcome, str] = {
    "reproduced": "yes",
    "not reproduced": "no",
    "open": "open",
}


def save(report: StudyReport, path: str | Path) -> Path:
    """Write what a study found as one self-contained HTML page.

    Parameters
    ----------
    report : StudyReport
        What the study's ``findings`` returned.
    path : str or Path
        Where to write it; an older page is replaced in a single step.

    Raises
    ------
    InputError
        Where the page cannot be written there.
    """
    return render.write(page(report), path)


def page(report: StudyReport) -> str:
    """Write what a study found as HTML."""
    pictures = {"groups": _draw_groups(report), "strip": strip(report.checks)}
    return render.whole("study", to_json(report), pictures)


def fragment(report: StudyReport) -> str:
    """Show a study in a notebook: how many findings came out, and each of them."""
    return render.part("study", to_json(report), {"strip": strip(report.checks)})


# -- plain numbers and strings -------------------------------------------------------


def to_json(report: StudyReport) -> dict[str, Any]:
    """Turn a report into plain numbers, strings, lists and dicts, safe to show."""
    return {
        "schema": SCHEMA,
        "kind": "study",
        "study": clean(report.study),
        "question": clean(report.question, LONGEST),
        "paper": clean(report.paper, LONGEST),
        "headline": headline(report),
        "belief": _belief(report),
        "checks": [
            {
                "statement": clean(check.statement, LONGEST),
                "outcome": check.outcome,
                "belief": _BELIEF[check.outcome],
                "published": clean(check.published, LONGEST),
                "ours": clean(check.ours, LONGEST),
                "rule": clean(check.rule, LONGEST),
            }
            for check in report.checks
        ],
        "tables": [
            {
                "title": clean(table.title, LONGEST),
                "header": [clean(cell, LONGEST) for cell in table.header],
                "rows": [[clean(cell, LONGEST) for cell in row] for row in table.rows],
                "notes": [clean(note, LONGEST) for note in table.notes],
            }
            for table in report.tables
        ],
        "pictures": [_picture(picture) for picture in report.pictures],
        "notes": [clean(note, 2000) for note in report.notes],
        "settings": {
            clean(key): clean(value, 2000) for key, value in report.settings.items()
        },
    }


def _picture(picture: Picture) -> dict[str, Any]:
    names = [name for _, places in picture.sections for name in places]
    return {
        "group": clean(picture.group),
        "title": clean(picture.title, LONGEST),
        "unit": clean(picture.unit),
        "points": [
            {
                "curve": clean(curve.label),
                "place": clean(names[place]),
                "value": _finite(value.value),
                "low": _finite(value.low),
                "high": _finite(value.high),
            }
            for curve in picture.curves
            for place, value in zip(curve.places, curve.values, strict=True)
        ],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def headline(report: StudyReport) -> str:
    """Say in one sentence how many of the paper's findings came out.

    Examples
    --------
    >>> from veridical.experiments.findings import Check, StudyReport
    >>> check = Check("More is better", "open", "yes", "no data", "more > less")
    >>> headline(StudyReport("s", "Is more better?", "Anon 1995", (check,)))
    'Of 1 finding of the paper, 0 are reproduced, 0 are not, 1 is open.'
    """
    parts = [
        (report.count("reproduced"), "reproduced"),
        (report.count("not reproduced"), "not"),
        (report.count("open"), "open"),
    ]
    total = len(report.checks)
    words = ", ".join(f"{n} {'is' if n == 1 else 'are'} {what}" for n, what in parts)
    return f"Of {count(total, 'finding')} of the paper, {words}."


def _belief(report: StudyReport) -> dict[str, str]:
    if report.count("not reproduced"):
        return {"kind": "care", "badge": "Not all reproduced"}
    if report.count("open") or not report.checks:
        return {"kind": "open", "badge": "Some open"}
    return {"kind": "yes", "badge": "All reproduced"}


# -- pictures ------------------------------------------------------------------------


def _draw_groups(report: StudyReport) -> list[dict[str, Any]]:
    return [
        {"title": clean(group), "items": [_item(picture) for picture in pictures]}
        for group, pictures in groupby(report.pictures, lambda p: p.group)
    ]


def _item(picture: Picture) -> dict[str, Any]:
    return {
        **_picture(picture),
        "svg": draw(picture),
        "key": [
            {"label": clean(curve.label), "look": LOOKS[i % len(LOOKS)]}
            for i, curve in enumerate(picture.curves)
        ],
    }


@dataclass(frozen=True)
class Axes:
    """Where places and values lie in a picture."""

    low: float
    high: float
    step: float
    starts: tuple[float, ...]  # offset of each place, in places
    width: float

    @classmethod
    def of(cls, picture: Picture) -> Axes:
        """Choose a vertical axis that holds every value, interval and the band."""
        values = [0.0] if picture.band is None else list(picture.band)
        for curve in picture.curves:
            values += [v for value in curve.values for v in value]
        values = [value for value in values if math.isfinite(value)] or [0.0]
        low, high = min(values), max(values)
        reach = max(high - low, STEPS[0])
        step = next((s for s in STEPS if reach / s <= 7), reach / 5)
        starts, offset = [], 0.5
        for _, places in picture.sections:
            starts += [offset + i for i in range(len(places))]
            offset += len(places) + GAP
        return cls(
            step * math.floor(low / step + 1e-9),
            step * math.ceil((low + reach) / step - 1e-9),
            step,
            tuple(starts),
            offset - GAP,
        )

    def x(self, place: float) -> float:
        """Place along the width, in per cent."""
        return LEFT + (RIGHT - LEFT) * place / self.width

    def y(self, value: float) -> float:
        """Distance of a value from the top."""
        inside = min(max(value, self.low), self.high)
        return TOP + HEIGHT * (self.high - inside) / (self.high - self.low)

    def ticks(self) -> Iterator[float]:
        """Where the vertical axis has its lines."""
        first, last = round(self.low / self.step), round(self.high / self.step)
        return (i * self.step for i in range(first, last + 1))


def draw(picture: Picture) -> Markup:
    """Draw the curves of a picture over its band."""
    axes = Axes.of(picture)
    svg = ET.Element(
        "svg",
        {
            "class": "vd-band-picture",
            "role": "img",
            "aria-label": describe(picture),
            "width": "100%",
            "height": str(TOP + HEIGHT + 42),
        },
    )
    if picture.band is not None:
        _band(svg, picture.band, axes)
    _grid(svg, picture, axes)
    n = len(picture.curves)
    names = [name for _, places in picture.sections for name in places]
    for k, curve in enumerate(picture.curves):
        look = LOOKS[k % len(LOOKS)]
        _curve(svg, curve, names, axes, look, k - (n - 1) / 2)
    return Markup(ET.tostring(svg, encoding="unicode", short_empty_elements=False))


def describe(picture: Picture) -> str:
    """Say in words what a picture shows, for those who do not see it."""
    names = [name for _, places in picture.sections for name in places]
    parts = [
        f"{curve.label}: "
        + ", ".join(
            f"{names[place]} {number(value.value)}" for place, value in _known(curve)
        )
        for curve in picture.curves
    ]
    return clean(f"{picture.title}; {picture.unit}. {'. '.join(parts)}.", 2000)


def _band(svg: ET.Element, band: Interval, axes: Axes) -> None:
    high, low = axes.y(band.high), axes.y(band.low)
    place = {
        "x": _share(LEFT),
        "width": _share(RIGHT - LEFT),
        "y": f"{high:.1f}",
        "height": f"{max(low - high, 1):.1f}",
    }
    ET.SubElement(svg, "rect", {"class": "vd-track", **place})


def _grid(svg: ET.Element, picture: Picture, axes: Axes) -> None:
    group = ET.SubElement(svg, "g", {"class": "vd-axis"})
    digits = 1 if axes.step < 1 else 0
    for tick in axes.ticks():
        y = axes.y(tick)
        _line(group, LEFT, y, RIGHT, y)
        _text(group, LEFT - 1, y + 4, number(tick, digits), "end")
    place = 0
    for title, names in picture.sections:
        if not names:
            continue
        first = axes.starts[place]
        for name in names:
            x = axes.x(axes.starts[place])
            _text(group, x, TOP + HEIGHT + 17, clean(name, LONGEST_PLACE), "middle")
            place += 1
        centre = axes.x(first + (len(names) - 1) / 2)
        _text(group, centre, TOP + HEIGHT + 35, clean(title, LONGEST_AXIS), "middle")


def _curve(
    svg: ET.Element,
    curve: Curve,
    names: list[str],
    axes: Axes,
    look: str,
    offset: float,
) -> None:
    kind = {"class": f"vd-mean {look}"} if look else {"stroke": "currentColor"}
    group = ET.SubElement(svg, "g", kind)
    ends: list[tuple[float, float]] = []
    known = _known(curve)
    for place, value in known:
        x = axes.x(axes.starts[place] + APART * offset)
        low, high = (
            bound if math.isfinite(bound) else value.value
            for bound in (value.low, value.high)
        )
        _line(group, x, axes.y(low), x, axes.y(high))
        ends.append((x, axes.y(value.value)))
    for a, b in pairwise(ends):
        _line(group, *a, *b)
    for (x, y), (place, value) in zip(ends, known, strict=True):
        dot = {"cx": _share(x), "cy": f"{y:.1f}", "r": "4"}
        looks = {"class": f"vd-dot {look}"} if look else {"fill": "currentColor"}
        mark = ET.SubElement(group, "circle", {**looks, **dot})
        ET.SubElement(mark, "title").text = clean(_said(curve, names[place], value))


def _known(curve: Curve) -> list[tuple[int, Interval]]:
    """The points of a curve that have a value, with their places."""
    points = zip(curve.places, curve.values, strict=True)
    return [point for point in points if math.isfinite(point[1].value)]


def _said(curve: Curve, where: str, value: Interval) -> str:
    """Say a point in words, with its interval where it has one."""
    said = f"{curve.label}, {where}: " if where else f"{curve.label}: "
    said += number(value.value)
    if (
        math.isfinite(value.low)
        and math.isfinite(value.high)
        and value.low < value.high
    ):
        said += f" ({number(value.low)} to {number(value.high)})"
    return said


def _line(parent: ET.Element, x1: float, y1: float, x2: float, y2: float) -> None:
    place = {"x1": _share(x1), "x2": _share(x2), "y1": f"{y1:.1f}", "y2": f"{y2:.1f}"}
    ET.SubElement(parent, "line", place)


def _text(parent: ET.Element, x: float, y: float, text: str, anchor: str) -> None:
    place = {"x": _share(x), "y": f"{y:.1f}", "text-anchor": anchor}
    ET.SubElement(parent, "text", place).text = text


def _share(x: float) -> str:
    return f"{x:.4g}%"

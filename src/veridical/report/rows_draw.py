"""Shares one below the other, each with its interval, on one axis.

Like the other pictures, inline SVG whose horizontal positions are shares of the width
and whose vertical ones are in pixels; see `veridical.report.draw`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from markupsafe import Markup

from veridical._core.numbers import percent, percent_range
from veridical.comparison.records import Side
from veridical.report import draw


@dataclass(frozen=True)
class Row:
    """A share with its interval; "a" is drawn as a disc, "b" as a ring."""

    label: str
    value: float
    low: float
    high: float
    side: Side = "a"
    note: str = ""

    @property
    def words(self) -> str:
        """The row in words."""
        said = f"{self.label}: {percent(self.value)} "
        said += f"({percent_range(self.low, self.high)})"
        return f"{said}, {self.note}" if self.note else said


def rows(
    found: Sequence[Row], *, chance: float | None = None, about: str = "Accuracy"
) -> Markup:
    """Draw shares as rows, and chance as a dashed line through them.

    Parameters
    ----------
    found : sequence of Row
        From top to bottom.
    chance : float, optional
        What guessing reaches.
    about : str
        What the shares are, for those who do not see the picture.
    """
    values = [v for row in found for v in (row.value, row.low, row.high)]
    reference = values[0] if chance is None else chance
    scale = draw.scale_for(values, reference)
    top = draw.CHANCE_ROW if chance is not None else 4
    height = draw.LABEL_ROW + draw.MEAN_ROW
    bottom = top + height * len(found) + 4
    words = "; ".join(row.words for row in found)
    if chance is not None:
        words += f"; chance {percent(chance)}"
    svg = draw._canvas(f"{about}: {words}.", bottom + draw.AXIS_ROW)
    draw._axis(svg, scale, top, bottom)
    if chance is not None:
        draw._level(svg, "chance", chance, scale, 2, bottom)
    for number, row in enumerate(found):
        _row(svg, row, scale, top + height * number + draw.LABEL_ROW)
    return draw._markup(svg)


def _row(svg: ET.Element, row: Row, scale: draw.Scale, y: float) -> None:
    group = ET.SubElement(svg, "g", {"class": f"vd-mean vd-{row.side}"})
    ET.SubElement(group, "title").text = row.words
    label = draw._short(row.label, draw.LONGEST_METHOD)
    draw._text(group, draw.LEFT, y - 6, f"{label} {percent(row.value)}", "start")
    y += draw.MEAN_ROW / 2 - 3
    draw._whiskers(group, scale.x(row.low), scale.x(row.high), y)
    draw._dot(group, row.side, scale.x(row.value), y, 6)

"""From figures to pictures: inline SVG that stretches with the page.

Every horizontal position is a share of the width and every vertical one is in pixels,
so that a picture fits every screen and its letters are never scaled. Elements
are built as a tree, never by joining strings, so that no name can become markup.

======  ============================================
symbol  meaning
======  ============================================
x       position along the width, in per cent of it
y       distance from the top, in pixels
place   number of a point on an axis of names
======  ============================================
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as ET

from markupsafe import Markup

from veridical._core.numbers import number, percent
from veridical._core.records import SIDES, Curve, Interval, Side
from veridical._core.text import listing, shortened
from veridical.report.render import (
    APART,
    BOXES_PER_ROW,
    pile,
    starts,
)
from veridical.report.render import (
    GAP as SECTION_GAP,
)
from veridical.report.view import (
    Bars,
    Cloud,
    Curves,
    Distribution,
    Figure,
    Intervals,
    Level,
    Mark,
    Outcomes,
    Pair,
    Pairs,
    Ranks,
    Reliability,
    Share,
    ValueUnit,
    Waterfall,
    write_score,
    write_score_range,
)

LEFT, RIGHT = 2.5, 97.5  # edges of the plot, in per cent of the width
#: Heights of rows and gaps, in pixels.
LEVEL_ROW, LABEL_ROW, MEAN_ROW, GAP, AXIS_ROW, MORE_ROW = 16, 20, 18, 46, 22, 12
LONGEST_LABEL, LONGEST_ROW = 26, 46  # characters
#: Distances between ticks of an axis of shares; the smallest with at most six ticks.
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25)


@dataclass(frozen=True)
class AxisScale:
    """The horizontal axis that all panels of a figure share."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def x(self, value: float) -> float:
        """Place a value along the width."""
        share = (value - self.low) / (self.high - self.low)
        return LEFT + (RIGHT - LEFT) * share

    def shows(self, value: float) -> bool:
        """Tell whether a value lies on the axis."""
        return self.low <= value <= self.high


def draw(figure: Figure) -> list[Markup]:
    """Draw the panels of a figure; those on an axis of values share it."""
    pictures = [panel.picture for panel in figure.panels]
    scale = scale_of(pictures)
    return [_markup(draw_picture(picture, scale)) for picture in pictures]


def scale_of(pictures: Sequence[Any]) -> AxisScale | None:
    """Choose the axis of pictures whose values lie along the width."""
    found = [p for p in pictures if isinstance(p, (Intervals, Pairs, Distribution))]
    values = [value for picture in found for value in picture.values]
    if not values:
        return None
    if any(getattr(picture, "unit", "percent") == "number" for picture in found):
        return score_scale(values)
    levels = [level.value for picture in found for level in picture.levels]
    return scale_for(values, levels[0] if levels else values[0])


def scale_for(values: Sequence[float], level: float) -> AxisScale:
    """Choose an axis that holds every value, and the level unless it is far away."""
    low, high = min(values), max(values)
    reach = max(high, level) - min(low, level)
    if reach <= 3 * max(high - low, 0.05):
        low, high = min(low, level), max(high, level)
    margin = max(0.02, 0.06 * (high - low))
    return _add_ticks(max(0.0, low - margin), min(1.0, high + margin), STEPS)


def score_scale(values: Sequence[float]) -> AxisScale:
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
    return _add_ticks(low, high, [step * tens for step in (1, 2, 5, 10)])


def _add_ticks(low: float, high: float, steps: Sequence[float]) -> AxisScale:
    """Put ticks on an axis: at most six of the smallest step that allows it."""
    step = next((one for one in steps if (high - low) / one <= 6), steps[-1])
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return AxisScale(low, high, tuple(i * step for i in range(first, last + 1)))


@singledispatch
def draw_picture(picture: Any, scale: AxisScale | None) -> ET.Element:
    """Draw one picture."""
    raise TypeError(f"no way to draw a {type(picture).__name__}")


# -- values one below the other --------------------------------------------------------


@draw_picture.register
def _intervals(picture: Intervals, scale: AxisScale) -> ET.Element:
    top = LEVEL_ROW * len(picture.levels) or 4
    heights = [
        LABEL_ROW + MEAN_ROW + MORE_ROW * max(0, len(mark.bounds) - 1)
        for mark in picture.marks
    ]
    tops = [float(top)]
    for height in heights:
        tops.append(tops[-1] + height)
    bottom = tops[-1] + 4
    svg = _canvas(picture.alt, bottom + AXIS_ROW)
    _axis(svg, scale, top, bottom, picture.unit)
    # Lines leave out the rows of the labels, so that they do not cross letters.
    spans = [
        (y + LABEL_ROW - 2, y + height)
        for y, height in zip(tops, heights, strict=False)
    ]
    _levels(svg, picture.levels, scale, spans, picture.unit)
    for mark, y in zip(picture.marks, tops, strict=False):
        _draw_row(svg, mark, scale, y + LABEL_ROW, picture.unit)
    return svg


def _draw_row(
    svg: ET.Element, mark: Mark, scale: AxisScale, y: float, unit: ValueUnit
) -> None:
    group = _group(svg, f"vd-mean vd-{mark.side}")
    label = f"{shortened(mark.label, LONGEST_ROW)} {write_score(mark.value, unit)}"
    _draw_text(group, LEFT, y - 6, label, "start")
    y += MEAN_ROW / 2 - 3
    for i, bounds in enumerate(mark.bounds):
        words = mark.words(unit)
        if bounds.kind:
            words = f"{bounds.kind}: {write_score_range(bounds.low, bounds.high, unit)}"
        row = _group(group, "vd-more" if i else "vd-usual", words)
        _whiskers(row, scale.x(bounds.low), scale.x(bounds.high), y + MORE_ROW * i)
    point = _group(group, "", mark.words(unit))
    _dot(point, mark.side, scale.x(mark.value), y, 6)


# -- two sides, pair by pair -----------------------------------------------------------


@dataclass(frozen=True)
class Dot:
    """Position of one value; ``level`` is the number of dots below it in its pile."""

    x: float
    level: int


@draw_picture.register
def _pairs(picture: Pairs, scale: AxisScale) -> ET.Element:
    n = len(picture.pairs)
    radius, spacing = (4.0, 9.0) if n <= 30 else (2.75, 6.0)
    width = 1.6 if radius > 3 else 1.0
    above, below = (stack(picture.pairs, side, scale, width) for side in ("a", "b"))
    heights = [max((dot.level for dot in dots), default=0) for dots in (above, below)]
    spacing = min(spacing, 72 / max(1, *heights))
    first = LEVEL_ROW * max(1, len(picture.levels))
    top = first + LABEL_ROW + MEAN_ROW / 2
    lane_a = top + MEAN_ROW / 2 + radius + 2 + spacing * heights[0]
    lane_b = lane_a + GAP + (14 if n > 30 else 0)
    bottom = lane_b + spacing * heights[1] + radius + 2 + MEAN_ROW + LABEL_ROW
    svg = _canvas(picture.alt, bottom + AXIS_ROW)
    _axis(svg, scale, first, bottom, picture.unit)
    spans = [(first + LABEL_ROW, bottom - LABEL_ROW)]
    _levels(svg, picture.levels, scale, spans, picture.unit)
    _links(svg, picture, (above, below), (lane_a, lane_b), spacing)
    for dot in above:
        _dot(svg, "a", dot.x, lane_a - spacing * dot.level, radius)
    for dot in below:
        _dot(svg, "b", dot.x, lane_b + spacing * dot.level, radius)
    last = bottom - LABEL_ROW - MEAN_ROW / 2
    _draw_mean(svg, picture.a, scale, top, -13, unit=picture.unit)
    _draw_mean(svg, picture.b, scale, last, 24, unit=picture.unit)
    return svg


def stack(
    pairs: Sequence[Pair], side: str, scale: AxisScale, width: float
) -> list[Dot]:
    """Place one side's dots; those within `width` of a pile's first join it.

    Every dot keeps its own place along the axis, as in Wilkinson's dot plots except for
    his averaging. Dots of one pile are ordered by their partner, which keeps the links
    from crossing.
    """
    own, other = (1, 2) if side == "a" else (2, 1)
    order = sorted(range(len(pairs)), key=lambda i: (pairs[i][own], pairs[i][other], i))
    places = [scale.x(float(pairs[i][own])) for i in order]
    piles = zip(order, places, pile(places, width), strict=True)
    dots = {i: Dot(x, level) for i, x, (_, level) in piles}
    return [dots[i] for i in range(len(pairs))]


def _links(
    svg: ET.Element,
    picture: Pairs,
    dots: tuple[list[Dot], list[Dot]],
    lanes: tuple[float, float],
    spacing: float,
) -> None:
    group = _group(svg, "vd-links")
    labels = [shortened(mark.label, LONGEST_LABEL) for mark in (picture.a, picture.b)]
    for pair, a, b in zip(picture.pairs, *dots, strict=True):
        gap = pair.a - pair.b if picture.greater_is_better else pair.b - pair.a
        better = "a" if gap > 0 else "b" if gap < 0 else "tie"
        words = f"{pair.label}: {labels[0]} {write_score(pair.a, picture.unit)}, "
        words += f"{labels[1]} {write_score(pair.b, picture.unit)}"
        link = _group(group, f"vd-link vd-{better}", words)
        start = (a.x, lanes[0] - spacing * a.level)
        end = (b.x, lanes[1] + spacing * b.level)
        _draw_line(link, *start, *end, "vd-touch")
        _draw_line(link, *start, *end)


def _draw_mean(
    svg: ET.Element,
    mark: Mark,
    scale: AxisScale,
    y: float,
    shift: float,
    room: float = 27,
    unit: ValueUnit = "percent",
) -> None:
    """Draw a mean with its interval and a label above or below it."""
    group = _group(svg, f"vd-mean vd-{mark.side}")
    name = shortened(mark.label, LONGEST_LABEL)
    words = f"{name}, mean {write_score(mark.value, unit)}"
    if mark.bounds:
        low, high, _ = mark.bounds[0]
        words += f" ({write_score_range(low, high, unit)})"
        _whiskers(group, scale.x(low), scale.x(high), y)
    _title(group, f"{words}, {mark.note}" if mark.note else words)
    x = scale.x(mark.value)
    _dot(group, mark.side, x, y, 6)
    _draw_text(
        group, x, y + shift, f"{name} {write_score(mark.value, unit)}", _anchor(x, room)
    )


# -- a value above a distribution ------------------------------------------------------

#: In pixels; taller piles of dots are pressed together.
NULL_ROW, NULL_DOT, NULL_SPACING, NULL_TALLEST, PADDING = 40, 2.5, 5.5, 96, 12
DOT_WIDTH = 1.0  # per cent of the width


@draw_picture.register
def _distribution(picture: Distribution, scale: AxisScale) -> ET.Element:
    values = sorted(picture.values_below)
    piles = pile([scale.x(value) for value in values], DOT_WIDTH)
    tallest = max((level for _, level in piles), default=0)
    spacing = min(NULL_SPACING, NULL_TALLEST / max(1, tallest))
    first = LEVEL_ROW * max(1, len(picture.levels))
    top = first + NULL_ROW
    ground = top + PADDING + spacing * tallest if piles else top
    bottom = ground + PADDING
    svg = _canvas(picture.alt, bottom + AXIS_ROW)
    _axis(svg, scale, first, bottom, picture.unit)
    _levels(svg, picture.levels, scale, [(top - 18, bottom)], picture.unit)
    if piles:
        group = _group(svg, "vd-null")
        for value, (x, level) in zip(values, piles, strict=True):
            y = f"{ground - spacing * level:g}"
            dot = {"cx": _in_percent(x), "cy": y, "r": f"{NULL_DOT:g}"}
            _title(
                ET.SubElement(group, "circle", dot),
                f"{picture.what}: {write_score(value, picture.unit)}",
            )
    _draw_mean(svg, picture.mark, scale, top - 8, -13, 12, picture.unit)
    return svg


# -- mean ranks ------------------------------------------------------------------------

RANK_LEFT, RANK_RIGHT = 4.0, 96.0  # rank 1 and the last rank
#: Heights in pixels: above the first row, of a row, and of the thick lines.
RANK_TOP, RANK_ROW, RANK_BAR = 34, 34, 14
#: Characters of a name; a longer one is cut.
LONGEST_RANK = 40


@draw_picture.register
def _ranks(picture: Ranks, scale: AxisScale | None) -> ET.Element:
    ranks, n = picture.ranks, len(picture.ranks)
    order = sorted(range(n), key=lambda i: ranks[i])
    bars = RANK_TOP + RANK_ROW * n + 4
    bottom = bars + RANK_BAR * len(picture.groups)
    svg = _canvas(picture.alt, bottom + 24)
    axis = _group(svg, "vd-axis")
    for rank in range(1, n + 1):
        x = _rank_x(rank, n)
        _draw_line(axis, x, RANK_TOP - 6, x, bottom)
        words = {1: "1, best", n: f"{n}, worst"}.get(rank, str(rank))
        _draw_text(axis, x, bottom + 15, words, _anchor(x, 5))
    _critical(svg, picture.critical, n)
    for row, i in enumerate(order):
        x, y = _rank_x(ranks[i], n), RANK_TOP + RANK_ROW * row + 22
        name = shortened(picture.names[i], LONGEST_RANK)
        group = _group(svg, "vd-mean vd-a", f"{name}: {picture.notes[i]}")
        _dot(group, "a", x, y, 5)
        _draw_text(group, x, y - 10, f"{name} {ranks[i]:.2f}", _anchor(x, 25))
    for row, members in enumerate(picture.groups):
        ends = [ranks[i] for i in members]
        told = listing(shortened(picture.names[i], LONGEST_LABEL) for i in members)
        group = _group(svg, "vd-clique", f"Not distinguished: {told}")
        y = bars + RANK_BAR * row + 4
        _draw_line(
            group, _rank_x(min(ends), n) - 0.5, y, _rank_x(max(ends), n) + 0.5, y
        )
    return svg


def _critical(svg: ET.Element, critical: float, n: int) -> None:
    """Draw the critical difference as a length, where it fits on the axis."""
    group = _group(svg, "vd-distance")
    end = _rank_x(1 + critical, n)
    words = f"critical difference {critical:.2f}"
    if end <= RANK_RIGHT:
        _draw_line(group, RANK_LEFT, 10, end, 10)
        _draw_line(group, RANK_LEFT, 6, RANK_LEFT, 14)
        _draw_line(group, end, 6, end, 14)
        _draw_text(group, RANK_LEFT, 24, words, "start")
    else:
        _draw_text(group, RANK_LEFT, 14, f"{words}, wider than the axis", "start")


def _rank_x(rank: float, n: int) -> float:
    return RANK_LEFT + (RANK_RIGHT - RANK_LEFT) * (rank - 1) / (n - 1)


# -- curves ----------------------------------------------------------------------------

#: Edges of the plot in per cent of the width; its top and height in pixels.
CURVE_LEFT, CURVE_RIGHT, CURVE_TOP, CURVE_HEIGHT = 9.0, 99.0, 10, 180
#: Distances between ticks of a vertical axis.
CURVE_STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
#: Characters of the name of a place and of an axis; longer ones are cut.
LONGEST_PLACE, LONGEST_AXIS = 16, 40
#: Style classes of the first curves, in turn.
CSS_CLASSES = ("vd-a", "vd-b", "")


@dataclass(frozen=True)
class Axes:
    """Where places and values lie in a picture of curves."""

    low: float
    high: float
    step: float
    starts: tuple[float, ...]  # offset of each place, in places
    width: float

    @classmethod
    def from_picture(cls, picture: Curves) -> Axes:
        """Choose a vertical axis that holds every value, interval and the band."""
        values = [] if picture.band is None else list(picture.band)
        if picture.band is None and picture.from_zero:
            values = [0.0]
        for curve in picture.curves:
            values += [v for value in curve.values for v in value]
        values = [value for value in values if math.isfinite(value)] or [0.0]
        low, high = min(values), max(values)
        reach = max(high - low, CURVE_STEPS[0])
        step = next((s for s in CURVE_STEPS if reach / s <= 7), reach / 5)
        gaps = SECTION_GAP * (len(picture.sections) - 1)
        return cls(
            step * math.floor(low / step + 1e-9),
            step * math.ceil((low + reach) / step - 1e-9),
            step,
            tuple(0.5 + start for start in starts(picture.sections)),
            len(picture.places) + gaps,
        )

    def x(self, place: float) -> float:
        """Return the position of a place, in per cent of the width."""
        return CURVE_LEFT + (CURVE_RIGHT - CURVE_LEFT) * place / self.width

    def y(self, value: float) -> float:
        """Return the distance of a value from the top, in pixels."""
        inside = min(max(value, self.low), self.high)
        return CURVE_TOP + CURVE_HEIGHT * (self.high - inside) / (self.high - self.low)

    def ticks(self) -> Iterator[float]:
        """Return the values at which the vertical axis has lines."""
        first, last = round(self.low / self.step), round(self.high / self.step)
        return (i * self.step for i in range(first, last + 1))


@draw_picture.register
def _curves(picture: Curves, scale: AxisScale | None) -> ET.Element:
    axes = Axes.from_picture(picture)
    svg = _canvas(picture.alt, CURVE_TOP + CURVE_HEIGHT + 42)
    if picture.band is not None:
        high, low = axes.y(picture.band.high), axes.y(picture.band.low)
        _rect(
            svg,
            "vd-track",
            CURVE_LEFT,
            high,
            CURVE_RIGHT - CURVE_LEFT,
            max(low - high, 1),
        )
    _grid(svg, picture, axes)
    n = len(picture.curves)
    for k, curve in enumerate(picture.curves):
        offset = k - (n - 1) / 2
        if picture.ribbon:
            look = CSS_CLASSES[k % len(CSS_CLASSES)]
            _ribbon(svg, curve, axes, look, steps=picture.steps)
            offset = 0.0
        _curve(svg, curve, picture, axes, CSS_CLASSES[k % len(CSS_CLASSES)], offset)
    return svg


def _grid(svg: ET.Element, picture: Curves, axes: Axes) -> None:
    group = _group(svg, "vd-axis")
    digits = 1 if axes.step < 1 else 0
    for tick in axes.ticks():
        y = axes.y(tick)
        _draw_line(group, CURVE_LEFT, y, CURVE_RIGHT, y)
        _draw_text(group, CURVE_LEFT - 1, y + 4, number(tick, digits), "end")
    place, floor = 0, CURVE_TOP + CURVE_HEIGHT
    for title, places in picture.sections:
        if not places:
            continue
        first = axes.starts[place]
        for name in places:
            x, shown = axes.x(axes.starts[place]), shortened(name, LONGEST_PLACE)
            if shown:
                _draw_text(group, x, floor + 17, shown, "middle")
            place += 1
        centre = axes.x(first + (len(places) - 1) / 2)
        _draw_text(group, centre, floor + 35, shortened(title, LONGEST_AXIS), "middle")


def _ribbon(
    svg: ET.Element, curve: Curve, axes: Axes, look: str, *, steps: bool
) -> None:
    """Draw the intervals of a curve as a band along it."""
    known = [
        (place, value)
        for place, value in curve.known()
        if math.isfinite(value.low) and math.isfinite(value.high)
    ]
    if len(known) < 2:
        return
    # A path cannot use percentages of the width: it is drawn in an SVG of its own that
    # is stretched.
    frame = {
        "class": "vd-ribbon",
        "aria-hidden": "true",
        "x": _in_percent(CURVE_LEFT),
        "width": _in_percent(CURVE_RIGHT - CURVE_LEFT),
        "height": f"{CURVE_TOP + CURVE_HEIGHT}",
        "viewBox": f"0 0 {axes.width:g} {CURVE_TOP + CURVE_HEIGHT}",
        "preserveAspectRatio": "none",
    }
    inside = ET.SubElement(svg, "svg", frame)
    upper = [(axes.starts[p], axes.y(v.high)) for p, v in known]
    lower = [(axes.starts[p], axes.y(v.low)) for p, v in known]
    if steps:
        upper, lower = _corners(upper), _corners(lower)
    around = [f"{x:g} {y:.1f}" for x, y in (*upper, *reversed(lower))]
    path = {"class": look, "d": f"M{' L'.join(around)} Z"}
    ET.SubElement(inside, "path", path)


def _curve(
    svg: ET.Element, curve: Curve, picture: Curves, axes: Axes, look: str, offset: float
) -> None:
    kind = {"class": f"vd-mean {look}"} if look else {"stroke": "currentColor"}
    group = ET.SubElement(svg, "g", kind)
    ends: list[tuple[float, float]] = []
    known = curve.known()
    for place, value in known:
        x = axes.x(axes.starts[place] + APART * offset)
        low, high = (
            bound if math.isfinite(bound) else value.value
            for bound in (value.low, value.high)
        )
        if not picture.ribbon:
            _draw_line(group, x, axes.y(low), x, axes.y(high))
        ends.append((x, axes.y(value.value)))
    for a, b in pairwise(_corners(ends) if picture.steps else ends):
        _draw_line(group, *a, *b)
    places = picture.places
    for (x, y), (place, value) in zip(ends, known, strict=True):
        if picture.steps and not places[place]:
            continue
        dot = {"cx": _in_percent(x), "cy": f"{y:.1f}", "r": "4"}
        looks = {"class": f"vd-dot {look}"} if look else {"fill": "currentColor"}
        mark = ET.SubElement(group, "circle", {**looks, **dot})
        _title(mark, point_words(curve.label, places[place], value))


def _corners(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the corners of steps: every height holds until the next point.

    Examples
    --------
    >>> _corners([(0.0, 9.0), (1.0, 9.0), (2.0, 5.0), (3.0, 5.0)])
    [(0.0, 9.0), (2.0, 9.0), (2.0, 5.0), (3.0, 5.0)]
    """
    found = list(points[:1])
    for (x, y), (_, before) in zip(points[1:], points, strict=False):
        if y != before:
            found += [(x, before), (x, y)]
    return [*found, points[-1]] if found and found[-1] != points[-1] else found


def point_words(label: str, where: str, value: Interval) -> str:
    """Write a point as text, with its interval where it has one."""
    said = f"{label}, {where}: " if where else f"{label}: "
    said += number(value.value)
    if (
        math.isfinite(value.low)
        and math.isfinite(value.high)
        and value.low < value.high
    ):
        said += f" ({number(value.low)} to {number(value.high)})"
    return said


# -- predicted and observed ------------------------------------------------------------

SHARE_LEFT, SHARE_RIGHT = 8.0, 98.0  # probability 0 and 1, in per cent of the width
#: In pixels: top and height of the plot, and gap and height of the bars below.
SHARE_TOP, SHARE_HEIGHT, SHARE_GAP, SHARE_BARS = 12, 200, 26, 44
#: Models often predict the same; side by side their intervals can be told apart.
DODGE: dict[Side, float] = {"a": -0.6, "b": 0.6}


@draw_picture.register
def _reliability(picture: Reliability, scale: AxisScale | None) -> ET.Element:
    floor, n = SHARE_TOP + SHARE_HEIGHT, len(picture.models)
    bottom = floor + SHARE_GAP + n * (SHARE_BARS + SHARE_GAP)
    svg = _canvas(picture.alt, bottom + AXIS_ROW)
    axis = _group(svg, "vd-axis")
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = _share_x(tick), _share_y(tick)
        _draw_line(axis, x, SHARE_TOP, x, floor)
        _draw_line(axis, SHARE_LEFT, y, SHARE_RIGHT, y)
        _draw_text(axis, SHARE_LEFT - 1, y + 4, percent(tick, 0), "end")
        _draw_text(axis, x, bottom + 15, percent(tick, 0), _anchor(x, 9))
    diagonal = _group(svg, "vd-level")
    _draw_line(diagonal, _share_x(0), _share_y(0), _share_x(1), _share_y(1))
    for row, (label, shares) in enumerate(picture.models):
        side = SIDES[row % 2]
        _points(svg, side, label, shares)
        ground = floor + SHARE_GAP + (row + 1) * SHARE_BARS + row * SHARE_GAP
        _draw_counts(svg, side, label, shares, ground)
    return svg


def _points(svg: ET.Element, side: Side, label: str, shares: Sequence[Share]) -> None:
    group = _group(svg, f"vd-mean vd-{side}")
    for one in shares:
        low, high = one.observed_low, one.observed_high
        if one.predicted is None or one.observed is None or low is None or high is None:
            continue
        x = _share_x(one.predicted) + DODGE[side]
        words = f"{label}: {one.n} samples, {percent(one.predicted)} predicted, "
        words += f"{percent(one.observed)} observed ({percent(low)} to {percent(high)})"
        mark = _group(group, "", words)
        _draw_line(mark, x, _share_y(low), x, _share_y(high))
        _dot(mark, side, x, _share_y(one.observed), 5)


def _draw_counts(
    svg: ET.Element, side: Side, label: str, shares: Sequence[Share], floor: float
) -> None:
    """Draw the number of samples in each bin as bars, with the numbers themselves."""
    group = _group(svg, f"vd-counts vd-{side}")
    most = max((one.n for one in shares), default=1) or 1
    for one in shares:
        left, right = _share_x(one.low), _share_x(one.high)
        height = (SHARE_BARS - 16) * one.n / most
        place = (left + 0.4, floor - height, right - left - 0.8, height)
        _rect(group, f"vd-fill vd-{side}", *place)
        _draw_text(group, (left + right) / 2, floor - height - 4, str(one.n), "middle")
    name = f"samples, {shortened(label, LONGEST_LABEL)}"
    _draw_text(group, SHARE_LEFT + 0.8, floor + 14, name, "start")


def _share_x(probability: float) -> float:
    return SHARE_LEFT + (SHARE_RIGHT - SHARE_LEFT) * probability


def _share_y(share: float) -> float:
    return SHARE_TOP + SHARE_HEIGHT * (1.0 - share)


# -- boxes and bars --------------------------------------------------------------------

#: In pixels.
BOX_HEIGHT, BOX_GAP = 34, 6


@draw_picture.register
def _outcomes(picture: Outcomes, scale: AxisScale | None) -> ET.Element:
    n_rows = -(-len(picture.outcomes) // BOXES_PER_ROW)
    across = min(len(picture.outcomes), BOXES_PER_ROW) or 1
    height = max(1, n_rows * (BOX_HEIGHT + BOX_GAP) - BOX_GAP)
    svg = _canvas(picture.alt, height)
    for i, one in enumerate(picture.outcomes):
        row, column = divmod(i, BOXES_PER_ROW)
        group = _group(svg, f"vd-box vd-box-{one.tone}", one.words)
        width, y = 100 / across, row * (BOX_HEIGHT + BOX_GAP)
        place = (column * width + 0.3, y + 1, width - 0.6, BOX_HEIGHT - 2)
        _rect(group, "", *place).set("rx", "4")
        middle = (column + 0.5) * width
        _draw_text(group, middle, y + BOX_HEIGHT / 2 + 5, one.sign, "middle")
    return svg


@draw_picture.register
def _bars(picture: Bars, scale: AxisScale | None) -> ET.Element:
    row = 22 + 12 * len(picture.series)
    svg = _canvas(picture.alt, row * len(picture.labels) + 4)
    for i, label in enumerate(picture.labels):
        said = [f"{counts[i]} of {picture.total}" for _, counts in picture.series]
        text = f"{shortened(label, LONGEST_ROW)}: {', '.join(said)}"
        _draw_text(_group(svg, "vd-label"), LEFT, row * i + 14, text, "start")
        for k, (name, counts) in enumerate(picture.series):
            words = f"{label}, {name}: {said[k]}"
            share = counts[i] / picture.total if picture.total else 0.0
            place = (LEFT, row * i + 20 + 12 * k, (RIGHT - LEFT) * share, 9)
            _rect(_group(svg, "", words), f"vd-fill {CSS_CLASSES[k % 2]}", *place)
    return svg


STEP_ROW = 34  # pixels


@draw_picture.register
def _waterfall(picture: Waterfall, scale: AxisScale | None) -> ET.Element:
    ends = (*picture.ends, (0.0, picture.total))
    values = [value for pair in ends for value in pair]
    axis = score_scale(values) if picture.unit == "number" else scale_for(values, 0.5)
    rows = [*picture.steps, None]
    svg = _canvas(picture.alt, STEP_ROW * len(rows) + AXIS_ROW + 8)
    _axis(svg, axis, 4, STEP_ROW * len(rows) + 4, picture.unit)
    for i, step in enumerate(rows):
        label = picture.total_label if step is None else step.label
        words = picture.total_words if step is None else step.words
        left, right = sorted(map(axis.x, ends[i]))
        group = _group(svg, "", f"{label}: {words}")
        look = CSS_CLASSES[1 if step is not None and i > 1 else 0]
        place = (left, STEP_ROW * i + 20, max(right - left, 0.3), 11)
        _rect(group, f"vd-fill {look}", *place)
        text = f"{shortened(label, LONGEST_ROW)}: {words}"
        _draw_text(_group(svg, "vd-label"), LEFT, STEP_ROW * i + 15, text, "start")
    return svg


CLOUD_TOP, CLOUD_HEIGHT = 14, 280  # pixels
LONGEST_NAMES = 12  # spots whose names are written beside them, where there is room
NAME_WIDTH, NAME_HEIGHT = 10, 13  # percent of the picture, and pixels


@draw_picture.register
def _cloud(picture: Cloud, scale: AxisScale | None) -> ET.Element:
    svg = _canvas(picture.alt, CLOUD_TOP + CLOUD_HEIGHT + 46)
    across = score_scale([spot.x for spot in picture.spots] or [0.0, 1.0])
    heights = [spot.y for spot in picture.spots]
    heights += [level.value for level in picture.levels]
    upward = score_scale([0.0, *heights])
    floor = CLOUD_TOP + CLOUD_HEIGHT

    def x(value: float) -> float:
        share = (value - across.low) / (across.high - across.low)
        return CURVE_LEFT + (CURVE_RIGHT - CURVE_LEFT) * share

    def y(value: float) -> float:
        share = (value - upward.low) / (upward.high - upward.low)
        return floor - CLOUD_HEIGHT * share

    group = _group(svg, "vd-axis")
    for tick in upward.ticks:
        _draw_line(group, CURVE_LEFT, y(tick), CURVE_RIGHT, y(tick))
        _draw_text(group, CURVE_LEFT - 1, y(tick) + 4, _tick(tick), "end")
    for tick in across.ticks:
        _draw_line(group, x(tick), floor, x(tick), floor + 4)
        _draw_text(group, x(tick), floor + 18, _tick(tick), "middle")
    _draw_text(
        group, (CURVE_LEFT + CURVE_RIGHT) / 2, floor + 38, picture.across, "middle"
    )
    for level in picture.levels:
        lines = _group(svg, "vd-level")
        _draw_line(lines, CURVE_LEFT, y(level.value), CURVE_RIGHT, y(level.value))
        _draw_text(lines, CURVE_RIGHT, y(level.value) - 4, level.name, "end")
    named = [spot for spot in picture.spots if spot.side == "a"][:LONGEST_NAMES]
    for spot in sorted(picture.spots, key=lambda one: one.side is not None):
        words = f"{spot.label}: {spot.x:.3g}, {spot.y:.3g}".replace(" -", " −")
        if spot.side is None:
            parent = _group(svg, "vd-null", words)
            dot = {"cx": _in_percent(x(spot.x)), "cy": f"{y(spot.y):.1f}", "r": "2.5"}
            ET.SubElement(parent, "circle", dot)
        else:
            _dot(_group(svg, "", words), spot.side, x(spot.x), y(spot.y), 4)
    marked = [(x(spot.x), y(spot.y)) for spot in picture.spots if spot.side is not None]
    taken: list[tuple[float, float]] = []
    for spot in named:
        here = x(spot.x), y(spot.y)
        if any(
            abs(here[0] - left) < NAME_WIDTH and abs(here[1] - top) < NAME_HEIGHT
            for left, top in taken
        ) or any(
            abs(here[0] - left) < NAME_WIDTH / 2 and 3 < here[1] - top < 7 + NAME_HEIGHT
            for left, top in marked
        ):
            continue  # the pointer still shows its name
        taken.append(here)
        beside = _anchor(here[0], 20)
        text = shortened(spot.label, LONGEST_LABEL)
        _draw_text(_group(svg, "vd-axis"), x(spot.x), y(spot.y) - 7, text, beside)
    return svg


def bar(share: float, side: Side = "a") -> Markup:
    """Draw a share as a bar, beside the text of its cell."""
    svg = ET.Element(
        "svg", {"class": "vd-bar", "aria-hidden": "true", "focusable": "false"}
    )
    ET.SubElement(svg, "rect", {"class": "vd-track", "width": "100%", "height": "100%"})
    fill = {"class": f"vd-fill vd-{side}", "width": _in_percent(100 * share)}
    ET.SubElement(svg, "rect", {**fill, "height": "100%"})
    return _markup(svg)


# -- parts -----------------------------------------------------------------------------


def _canvas(words: str, height: float) -> ET.Element:
    """Start a picture as wide as the page, with a description for screen readers."""
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
    scale: AxisScale,
    top: float,
    bottom: float,
    unit: ValueUnit = "percent",
) -> None:
    group = _group(svg, "vd-axis")
    for tick in scale.ticks:
        x = scale.x(tick)
        _draw_line(group, x, top, x, bottom)
        shown = percent(tick, 0) if unit == "percent" else _tick(tick)
        _draw_text(group, x, bottom + 15, shown, _anchor(x, 3))


def _tick(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


def _levels(
    svg: ET.Element,
    levels: Sequence[Level],
    scale: AxisScale,
    spans: Sequence[tuple[float, float]],
    unit: ValueUnit = "percent",
) -> None:
    """Draw reference values: names on top, vertical lines between labels."""
    places = [scale.x(level.value) for level in levels]
    for row, i in enumerate(_level_rows(places)):
        level, x = levels[i], places[i]
        kind = "vd-level vd-level-solid" if level.solid else "vd-level"
        group = _group(svg, kind)
        words, y = (
            f"{level.name} {write_score(level.value, unit)}",
            LEVEL_ROW * row + 10,
        )
        if scale.shows(level.value):
            _draw_line(group, x, y - 8, x, LEVEL_ROW * len(levels))
            for start, end in spans:
                _draw_line(group, x, start, x, end)
            shift, anchor = ("-5", "end") if _ends_at(x, places) else ("5", "start")
            _draw_text(group, x, y, words, anchor).set("dx", shift)
        elif level.value < scale.low:
            _draw_text(group, LEFT, y, f"← {words}", "start")
        else:
            _draw_text(group, RIGHT, y, f"{words} →", "end")


def _ends_at(x: float, places: Sequence[float]) -> bool:
    """Return whether the name of a level stands to the left of its line."""
    return x >= 70 or (x > 30 and max(places) >= 70)


def _level_rows(places: Sequence[float]) -> list[int]:
    """Order levels from the top row down, so that no line runs through a name.

    A line begins in the row of its name. Names to the left of their lines come from the
    right, the others from the left.

    Examples
    --------
    >>> _level_rows([61.0, 60.0]), _level_rows([71.0, 75.0])
    ([1, 0], [1, 0])
    """
    return sorted(
        range(len(places)),
        key=lambda i: -places[i] if _ends_at(places[i], places) else places[i],
    )


def _dot(svg: ET.Element, side: Side, x: float, y: float, radius: float) -> None:
    # One side is a disc and the other a ring: told apart without any colour.
    place = {
        "class": f"vd-dot vd-{side}",
        "cx": _in_percent(x),
        "cy": f"{y:g}",
        "r": f"{radius - 0.75 if side == 'b' else radius:g}",
    }
    ET.SubElement(svg, "circle", place)


def _whiskers(parent: ET.Element, low: float, high: float, y: float) -> None:
    _draw_line(parent, low, y, high, y)
    _draw_line(parent, low, y - 4, low, y + 4)
    _draw_line(parent, high, y - 4, high, y + 4)


def _anchor(x: float, margin: float) -> str:
    """Keep a label inside the picture."""
    return "start" if x < margin else "end" if x > 100 - margin else "middle"


def _group(parent: ET.Element, kind: str = "", words: str = "") -> ET.Element:
    """Start a group of a class, with words that are shown where one points at it."""
    group = ET.SubElement(parent, "g", {"class": kind} if kind else {})
    if words:
        _title(group, words)
    return group


def _rect(
    parent: ET.Element, kind: str, x: float, y: float, width: float, height: float
) -> ET.Element:
    place = {"x": _in_percent(x), "y": f"{y:g}", "width": _in_percent(width)}
    named = {"class": kind} if kind else {}
    return ET.SubElement(parent, "rect", {**named, **place, "height": f"{height:g}"})


def _title(parent: ET.Element, words: str) -> None:
    ET.SubElement(parent, "title").text = words


def _draw_line(
    parent: ET.Element, x1: float, y1: float, x2: float, y2: float, kind: str = ""
) -> None:
    place = {
        "x1": _in_percent(x1),
        "y1": f"{y1:g}",
        "x2": _in_percent(x2),
        "y2": f"{y2:g}",
    }
    ET.SubElement(parent, "line", {"class": kind, **place} if kind else place)


def _draw_text(
    parent: ET.Element, x: float, y: float, text: str, anchor: str
) -> ET.Element:
    place = {"x": _in_percent(x), "y": f"{y:g}", "text-anchor": anchor}
    element = ET.SubElement(parent, "text", place)
    element.text = text
    return element


def _in_percent(x: float) -> str:
    return f"{x:.4g}%"


def _markup(svg: ET.Element) -> Markup:
    """Serialise a tree; ElementTree has escaped every text and attribute in it."""
    return Markup(ET.tostring(svg, encoding="unicode", short_empty_elements=False))

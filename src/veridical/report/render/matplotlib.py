"""From figures to matplotlib, for notebooks and papers; names stay names."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.ticker import PercentFormatter

from veridical._core.errors import InputError
from veridical._core.records import Interval, Side
from veridical._core.text import shortened
from veridical.report.render import APART, BOXES_PER_ROW, pile, starts
from veridical.report.view import (
    Bars,
    Cloud,
    Curves,
    Distribution,
    DrawnInterval,
    Figure,
    Intervals,
    Level,
    Mark,
    Outcomes,
    Pairs,
    Panel,
    Ranks,
    Reliability,
    ValueUnit,
    View,
    Waterfall,
    write_score,
)

#: Spots of a cloud whose names are written beside them, at most, and the room of a name
#: as shares of the axes: a name that would cover another one is left out.
NAMED_SPOTS, NAME_WIDTH, NAME_HEIGHT = 12, 0.16, 0.04
#: The two sides are told apart by colour, and by disc and ring.
STYLES: dict[Side, dict[str, Any]] = {
    "a": {"color": "C0", "marker": "o", "markerfacecolor": "C0"},
    "b": {"color": "C1", "marker": "o", "markerfacecolor": "white"},
}
CURVE_STYLES = (
    *STYLES.values(),
    {"color": "0.2", "marker": "s", "markerfacecolor": "0.2"},
)
TONES = {"yes": "C2", "no": "C3", "open": "0.5"}
LONGEST_NAME = 46  # characters of a name
PAD = 16  # points between axes and title: room for the names of levels
MORE = 0.22  # rows between two intervals of one mark
PILED_WITHIN = 0.01  # values nearer than this are piled up
TALLEST = 0.7  # rows that a pile may take
_DPI = 200  # dots per inch of a picture of dots


@singledispatch
def draw(picture: Any, ax: Any, **kwargs: Any) -> None:
    """Draw a picture into axes.

    Parameters
    ----------
    picture : picture of a view
        What to draw.
    ax : matplotlib Axes, or two of them for `Reliability`
        Where.
    **kwargs
        For the marks, as matplotlib takes them.
    """
    raise TypeError(f"no way to draw a {type(picture).__name__}")


def plot(picture: Any, ax: Any = None, title: str = "", **kwargs: Any) -> Any:
    """Draw a picture into axes, or into a new figure of fitting size.

    Parameters
    ----------
    picture : picture of a view
        What to draw.
    ax : matplotlib Axes, or two of them for `Reliability`, optional
        Where.
    title : str
        What stands above it.
    **kwargs
        For the marks, as matplotlib takes them.

    Returns
    -------
    Axes, or a tuple of two
        Where it was drawn.
    """
    if ax is None:
        figure = plt.figure(figsize=_size([picture]), layout="constrained")
        ax = _make_axes(figure, picture)
    draw(picture, ax, **kwargs)
    if title:
        upper = ax[0] if isinstance(ax, tuple) else ax
        if isinstance(picture, Ranks):  # it has a title already
            title = f"{title}: {upper.get_title(loc='left')}"
        upper.set_title(title, loc="left", pad=PAD, parse_math=False)
    return ax


def draw_figure(figure: Any, block: Figure, **kwargs: Any) -> list[Axes]:
    """Draw all panels of a figure of a view, one below the other.

    Parameters
    ----------
    figure : matplotlib Figure
        Where; its size is changed to fit.
    block : Figure
        What to draw.
    **kwargs
        For the marks, as matplotlib takes them.

    Returns
    -------
    list of Axes
        From top to bottom.
    """
    panels = _together(block.panels)
    pictures = [picture for picture, _ in panels]
    figure.set_size_inches(_size(pictures))
    heights = [_size([picture])[1] for picture in pictures]
    parts = [figure]
    if len(panels) > 1:
        parts = list(figure.subfigures(len(panels), 1, height_ratios=heights))
    found: list[Axes] = []
    for part, (picture, title) in zip(parts, panels, strict=True):
        drawn = plot(picture, _make_axes(part, picture), title, **kwargs)
        found += drawn if isinstance(drawn, tuple) else [drawn]
    return found


def draw_into(ax: Axes, block: Figure, **kwargs: Any) -> Axes:
    """Draw a figure of a view that needs one pair of axes only.

    Raises
    ------
    InputError
        If it needs more of them.
    """
    (picture, title), *more = _together(block.panels)
    if more or isinstance(picture, Reliability):
        raise InputError(
            "This figure needs more than one pair of axes; leave out ax=, and take the "
            "new figure from figure_."
        )
    plot(picture, ax, title, **kwargs)
    return ax


def figures(view: View, **kwargs: Any) -> list[MatplotlibFigure]:
    """Draw all figures of a view.

    Parameters
    ----------
    view : View
        What a record shows.
    **kwargs
        For the marks, as matplotlib takes them.
    """
    drawn = []
    for block in view.figures:
        figure = MatplotlibFigure(layout="constrained")
        draw_figure(figure, block, **kwargs)
        drawn.append(figure)
    return drawn


def to_file(view: View, kind: str) -> bytes:
    """Draw the first figure of a view as a file; into a PDF all figures are drawn.

    The same view gives the same bytes: neither dates nor random names are written.

    Parameters
    ----------
    view : View
        What a record shows.
    kind : {".png", ".svg", ".pdf"}
        The format.

    Raises
    ------
    InputError
        If the view has no figure.
    """
    if not view.figures:
        raise InputError(
            f"{view.title!r} has no figure to write as {kind}; write its page, .html."
        )
    written = io.BytesIO()
    with plt.rc_context({"svg.hashsalt": "veridical"}):
        if kind == ".pdf":
            with PdfPages(written, metadata={"CreationDate": None}) as sheets:
                for figure in figures(view):
                    sheets.savefig(figure)
        else:
            metadata = {"Date": None} if kind == ".svg" else None
            figures(view)[0].savefig(
                written, format=kind[1:], dpi=_DPI, metadata=metadata
            )
    return written.getvalue()


def _together(panels: Sequence[Panel]) -> list[tuple[Any, str]]:
    """Pair pictures with titles; distributions share one pair of axes."""
    several = tuple(
        one.picture for one in panels if isinstance(one.picture, Distribution)
    )
    if len(several) == len(panels):
        return [(several, "")]
    return [
        (
            (one.picture,) if isinstance(one.picture, Distribution) else one.picture,
            one.title,
        )
        for one in panels
    ]


def _make_axes(figure: Any, picture: Any) -> Any:
    """Make the axes that a picture needs in an empty figure."""
    if isinstance(picture, Reliability):
        return tuple(figure.subplots(2, 1, sharex=True, height_ratios=(3, 1)))
    return figure.subplots()


def _size(pictures: Sequence[Any]) -> tuple[float, float]:
    """Return the inches that pictures need, one below the other."""
    width = 5.5 if isinstance(pictures[0], Reliability) else 6.4
    return width, sum(height(picture) for picture in pictures)


def height(picture: Any) -> float:
    """Return the inches that a picture needs."""
    if isinstance(picture, Intervals):
        step = 0.6 if any(len(mark.bounds) > 1 for mark in picture.marks) else 0.4
        return 1.4 + step * len(picture.marks)
    if isinstance(picture, Pairs):
        return 3.2
    if isinstance(picture, tuple):
        return 1.4 + 1.3 * len(picture)
    if isinstance(picture, Ranks):
        return 1.6 + 0.4 * len(picture.names) + 0.2 * len(picture.groups)
    if isinstance(picture, Waterfall):
        return 1.4 + 0.36 * (1 + len(picture.steps))
    if isinstance(picture, Bars):
        return 1.4 + 0.32 * max(1, len(picture.labels))
    if isinstance(picture, Outcomes):
        return 0.6 + 0.55 * max(1, -(-len(picture.outcomes) // BOXES_PER_ROW))
    return 6.5 if isinstance(picture, Reliability) else 4.8


def short(name: str, longest: int = LONGEST_NAME) -> str:
    """Cut a long name at its end."""
    return shortened(" ".join(name.split()), longest)


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Write names beside rows, the first on top; dollar signs are not mathematics."""
    ax.set_yticks(range(len(names)), [short(name) for name in names], parse_math=False)
    ax.set_ylim(len(names) - 0.5, -0.5)


def _values_axis(ax: Axes, label: str, unit: ValueUnit = "percent") -> None:
    if unit == "percent":
        ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_xlabel(label, parse_math=False)
    ax.grid(axis="x", alpha=0.3)


def _levels(ax: Axes, levels: Sequence[Level], unit: ValueUnit = "percent") -> None:
    """Draw reference values as vertical lines, their names above the axes."""
    for i, level in enumerate(levels):
        ax.axvline(
            level.value, color="0.4", linestyle="-" if level.solid else "--", zorder=0
        )
        right = i % 2 == 0
        ax.annotate(
            f"{level.name} {write_score(level.value, unit)}",
            (level.value, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(2 if right else -2, 3),
            textcoords="offset points",
            ha="left" if right else "right",  # two of them do not meet
            fontsize="small",
            color="0.4",
        )


def _whiskers(
    ax: Axes, y: float, mark: Mark, bounds: DrawnInterval | None, **more: Any
) -> None:
    """Draw a value with its interval, where it has one."""
    look = {**STYLES[mark.side], "markersize": 8, "capsize": 4, **more}
    span = None
    if bounds is not None:
        span = [[mark.value - bounds.low], [bounds.high - mark.value]]
    ax.errorbar([mark.value], [y], xerr=span, linestyle="none", **look)


@draw.register
def _intervals(picture: Intervals, ax: Axes, **kwargs: Any) -> None:
    for row, mark in enumerate(picture.marks):
        _whiskers(ax, row, mark, mark.bounds[0] if mark.bounds else None, **kwargs)
        for i, bounds in enumerate(mark.bounds[1:], 1):
            y = row + MORE * i
            ax.plot([bounds.low, bounds.high], [y, y], color="0.6", marker="|")
    name_rows(ax, [mark.label for mark in picture.marks])
    _levels(ax, picture.levels, picture.unit)
    _values_axis(ax, picture.axis, picture.unit)


@draw.register
def _pairs(picture: Pairs, ax: Axes, **kwargs: Any) -> None:
    for pair in picture.pairs:
        gap = pair.a - pair.b if picture.greater_is_better else pair.b - pair.a
        better = "C0" if gap > 0 else "C1" if gap < 0 else "0.6"
        ax.plot([pair.a, pair.b], [0, 1], color=better, alpha=0.6, zorder=1)
    for row, mark in enumerate((picture.a, picture.b)):
        values = [pair[1 + row] for pair in picture.pairs]
        look = {**STYLES[mark.side], "markersize": 5, "linestyle": "none", **kwargs}
        ax.plot(values, [row] * len(values), **look)
        away = row + (0.3 if row else -0.3)
        _whiskers(ax, away, mark, mark.bounds[0] if mark.bounds else None)
    name_rows(ax, [short(mark.label, 30) for mark in (picture.a, picture.b)])
    ax.set_ylim(1.6, -0.6)
    _levels(ax, picture.levels, picture.unit)
    _values_axis(ax, picture.axis, picture.unit)


@draw.register(tuple)
def _distributions(pictures: tuple[Distribution, ...], ax: Axes, **kwargs: Any) -> None:
    for row, picture in enumerate(pictures):
        values = sorted(picture.values_below)
        levels = [level for _, level in pile(values, PILED_WITHIN)]
        step = min(0.08, TALLEST / max([1, *levels]))
        ax.plot(
            values,
            [row + 0.35 - step * level for level in levels],
            linestyle="none",
            marker=".",
            color="0.6",
        )
        mark = picture.mark
        bounds = mark.bounds[0] if mark.bounds else None
        _whiskers(ax, row - 0.4, mark, bounds, **kwargs)
    name_rows(ax, [picture.mark.label for picture in pictures])
    ax.set_ylim(len(pictures) - 0.4, -0.7)
    _levels(ax, pictures[0].levels[:1], pictures[0].unit)
    _values_axis(ax, pictures[0].axis, pictures[0].unit)


@draw.register
def _ranks(picture: Ranks, ax: Axes, **kwargs: Any) -> None:
    ranks, n = picture.ranks, len(picture.names)
    order = sorted(range(n), key=lambda i: ranks[i])
    look = {**STYLES["a"], "markersize": 8, "linestyle": "none", **kwargs}
    ax.plot([ranks[i] for i in order], range(n), **look)
    name_rows(ax, [f"{picture.names[i]}  {ranks[i]:.2f}" for i in order])
    for row, members in enumerate(picture.groups):
        ends = [ranks[i] for i in members]
        y = n - 0.3 + 0.35 * row
        ax.plot([min(ends), max(ends)], [y, y], color="0.2", linewidth=4)
    ax.plot([1, 1 + picture.critical], [-0.8, -0.8], color="0.4", marker="|")
    ax.set_ylim(n + 0.35 * len(picture.groups), -1.2)
    ax.set_xlim(0.8, max(n, 1 + picture.critical) + 0.2)
    ax.set_xlabel("mean rank, 1 is best; bars join those not distinguished")
    ax.set_title(f"critical difference {picture.critical:.2f}", loc="left")
    ax.grid(axis="x", alpha=0.3)


@draw.register
def _curves(picture: Curves, ax: Axes, **kwargs: Any) -> None:
    if picture.band is not None:
        ax.axhspan(picture.band.low, picture.band.high, color="0.9", zorder=0)
        ax.axhline(picture.band.value, color="0.6", zorder=0)
    places = starts(picture.sections)
    n = len(picture.curves)
    handles = []
    for i, curve in enumerate(picture.curves):
        offset = 0.0 if picture.ribbon else APART * (i - (n - 1) / 2)
        look = {**CURVE_STYLES[i % len(CURVE_STYLES)], "capsize": 3, **kwargs}
        x = [places[place] + offset for place in curve.places]
        spans: Any = _spans(curve.values)
        if picture.ribbon:
            low, high = (
                [v.value + sign * s for v, s in zip(curve.values, side, strict=True)]
                for sign, side in zip((-1, 1), spans, strict=True)
            )
            band = {"color": look["color"], "alpha": 0.2, "linewidth": 0}
            ax.fill_between(
                x, low, high, step="post" if picture.steps else None, **band
            )
            spans = None
        if picture.steps:
            marked = [i for i, p in enumerate(curve.places) if picture.places[p]]
            look |= {"drawstyle": "steps-post", "markevery": marked}
        handles.append(ax.errorbar(x, [v.value for v in curve.values], spans, **look))
    named = [(x, name) for x, name in zip(places, picture.places, strict=True) if name]
    ax.set_xticks(
        [x for x, _ in named], [short(name, 16) for _, name in named], parse_math=False
    )
    _name_sections(ax, picture, places)
    ax.set_ylabel(picture.unit, parse_math=False)
    ax.set_title(short(picture.title, 70), loc="left", parse_math=False)
    if n > 1:
        _legend(ax, handles, [curve.label for curve in picture.curves])


def _legend(ax: Axes, handles: Sequence[Any], labels: Sequence[str], **at: Any) -> None:
    """Name the marks; dollar signs are not mathematics."""
    # A name that begins with "_" would be left out of the legend.
    shown = [f"\N{ZERO WIDTH SPACE}{short(label)}" for label in labels]
    for text in ax.legend(handles, shown, **at).get_texts():
        text.set_parse_math(False)


def _name_sections(ax: Axes, picture: Curves, where: Sequence[float]) -> None:
    """Write what the places of each section are, below its middle."""
    begin = 0
    for title, places in picture.sections:
        if places:
            end = begin + len(places)
            ax.annotate(
                short(title),
                ((where[begin] + where[end - 1]) / 2, 0.0),
                xycoords=("data", "axes fraction"),
                xytext=(0, -32),
                textcoords="offset points",
                ha="center",
                parse_math=False,
            )
            begin = end


def _spans(values: Sequence[Interval]) -> list[list[float]]:
    """Return the lengths of the intervals below and above; 0 where there is none."""
    ends = ([v.value - v.low for v in values], [v.high - v.value for v in values])
    return [[max(x, 0.0) if math.isfinite(x) else 0.0 for x in side] for side in ends]


@draw.register
def _reliability(picture: Reliability, ax: Any, **kwargs: Any) -> None:
    """Draw shares into the first of two axes, numbers of samples into the second."""
    upper, lower = ax
    handles = upper.plot([0, 1], [0, 1], color="0.6", linestyle="--")
    width = 0.8 / max(len(picture.models), 1)
    for i, (_, shares) in enumerate(picture.models):
        known: Any = [one for one in shares if one.observed is not None]
        spans = [
            [one.observed - one.observed_low for one in known],
            [one.observed_high - one.observed for one in known],
        ]
        x, y = [one.predicted for one in known], [one.observed for one in known]
        look = {"marker": "o", "capsize": 2, **kwargs}
        handles.append(upper.errorbar(x, y, spans, **look))
        widths = [width * (one.high - one.low) for one in shares]
        starts = [one.low + 0.1 * (one.high - one.low) for one in shares]
        x = [start + (i + 0.5) * w for start, w in zip(starts, widths, strict=True)]
        bars = lower.bar(x, [one.n for one in shares], widths)
        lower.bar_label(bars, fontsize="x-small")
    upper.set_xlim(-0.02, 1.02)
    upper.set_ylim(-0.02, 1.02)
    upper.set_ylabel("share observed")
    lower.set_xlabel("probability predicted")
    lower.set_ylabel("samples")
    lower.margins(y=0.2)
    labels = ["perfectly calibrated", *(label for label, _ in picture.models)]
    _legend(upper, handles, labels, loc="upper left")


@draw.register
def _outcomes(picture: Outcomes, ax: Axes, **kwargs: Any) -> None:
    n_rows = max(1, -(-len(picture.outcomes) // BOXES_PER_ROW))
    across = min(max(1, len(picture.outcomes)), BOXES_PER_ROW)
    for i, outcome in enumerate(picture.outcomes):
        row, column = divmod(i, BOXES_PER_ROW)
        colour = TONES.get(outcome.tone, "0.5")
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": colour}
        look = {"color": colour, "fontsize": "large", "bbox": box, **kwargs}
        ax.text(column, -row, outcome.sign, ha="center", va="center", **look)
    ax.set_xlim(-0.6, across - 0.4)
    ax.set_ylim(-n_rows + 0.4, 0.6)
    ax.set_axis_off()


@draw.register
def _bars(picture: Bars, ax: Axes, **kwargs: Any) -> None:
    n = len(picture.series)
    width = 0.76 / max(1, n)
    for place, (_, counts) in enumerate(picture.series):
        look = {"color": f"C{place}", "height": width, **kwargs}
        if place % 2:
            look = {"fill": False, "edgecolor": look.pop("color"), **look}
        rows = [i + 0.8 / n * (place - (n - 1) / 2) for i in range(len(picture.labels))]
        ax.barh(rows, counts, **look)
    name_rows(ax, picture.labels)
    ax.set_xlim(0, picture.total)
    ax.set_xlabel(picture.axis)
    kinds = ("filled", "open")
    named = "; ".join(
        f"{kinds[i % 2]}: {short(name, 26)}"
        for i, (name, _) in enumerate(picture.series)
    )
    ax.set_title(named, loc="left", parse_math=False)


@draw.register
def _waterfall(picture: Waterfall, ax: Axes, **kwargs: Any) -> None:
    ends = picture.ends
    rows = range(len(ends))
    look = {"height": 0.6, **kwargs}
    colours = ["C0" if i < 2 else "C1" for i in rows]
    starts, widths = [a for a, _ in ends], [b - a for a, b in ends]
    ax.barh(list(rows), widths, left=starts, **{"color": colours, **look})
    ax.barh([len(ends)], [picture.total], **{"color": "C0", **look})
    stops = [b for _, b in ends]
    halves = [(step.high - step.low) / 2 for step in picture.steps]
    ax.errorbar(stops, list(rows), xerr=halves, fmt="none", color="0.4")
    name_rows(ax, [*(step.label for step in picture.steps), picture.total_label])
    _values_axis(ax, picture.axis, picture.unit)


@draw.register
def _cloud(picture: Cloud, ax: Axes, **kwargs: Any) -> None:
    kinds: dict[Side | None, dict[str, Any]] = {
        None: {"color": "0.6", "marker": "."},
        "a": {**STYLES["a"], "markersize": 6},
        "b": {**STYLES["b"], "markersize": 6},
    }
    for side, look in kinds.items():
        spots = [spot for spot in picture.spots if spot.side == side]
        places = [spot.x for spot in spots], [spot.y for spot in spots]
        ax.plot(*places, **{**look, "linestyle": "none", **kwargs})
    ax.autoscale_view()
    taken: list[tuple[float, float]] = []
    for spot in [spot for spot in picture.spots if spot.side == "a"][:NAMED_SPOTS]:
        x, y = ax.transLimits.transform((spot.x, spot.y))
        if any(abs(x - a) < NAME_WIDTH and abs(y - b) < NAME_HEIGHT for a, b in taken):
            continue
        taken.append((x, y))
        ax.annotate(
            short(spot.label, 20),
            (spot.x, spot.y),
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            fontsize="small",
            parse_math=False,
        )
    for level in picture.levels:
        ax.axhline(level.value, color="0.4", linestyle="--", linewidth=1)
    ax.set_xlabel(picture.across)
    ax.set_ylabel(picture.upward)
    ax.grid(alpha=0.3)

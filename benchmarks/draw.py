"""The picture ``results.svg``: ratios on a logarithmic axis, a panel for each question.

`points` computes what to draw, `draw` draws it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.aims import Faster, show_ratio
from benchmarks.definitions import Case, CaseRecord, Measurement

AGAINST_PEERS = "Time of others, in times of veridical's"
MANY = "Ten training sets, in times of one fit"
MARKS = {
    "over": (">", "stopped at the limit: more than this"),
    "extrapolated": ("D", "extrapolated"),
    "measured": ("o", "measured"),
}
OURS, OTHERS, AIM = "#0b6e4f", "#8a6d3b", "#b00020"


@dataclass(frozen=True)
class Point:
    """One ratio: its panel and row, how it was measured, and its aim."""

    panel: str
    row: str
    ratio: float
    kind: str
    ours: bool
    aim: float | None


def points(cases: Mapping[str, Case], records: Sequence[CaseRecord]) -> list[Point]:
    """Return all valid ratios of times; memory is not drawn."""
    found = []
    for record in records:
        reference = record.measurements[0]
        if record.case == "memory" or reference.status != "measured":
            continue
        many = record.case.startswith("rank-many-")
        name = record.case.removeprefix("rank-many-")
        for measurement in record.measurements[1:]:
            if not measurement.counts:
                continue
            assert measurement.seconds is not None
            assert reference.seconds is not None
            found.append(
                Point(
                    MANY if many else AGAINST_PEERS,
                    f"{name}: {measurement.contender}",
                    measurement.seconds / reference.seconds,
                    _kind(measurement),
                    measurement.contender.startswith(("veridical", "rank_many")),
                    _aim(cases[record.case], measurement.contender),
                )
            )
    return found


def draw(drawn: Sequence[Point], file: Path) -> None:
    """Draw the points as an SVG file that depends on nothing but them."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    panels = [p for p in (AGAINST_PEERS, MANY) if any(q.panel == p for q in drawn)]
    heights = [sum(q.panel == panel for q in drawn) for panel in panels]
    style = {"svg.hashsalt": "veridical", "svg.fonttype": "none", "font.size": 9}
    with plt.rc_context(style):
        figure, axes = plt.subplots(
            len(panels),
            squeeze=False,
            figsize=(8, 1.5 * len(panels) + 0.24 * sum(heights)),
            height_ratios=heights,
            layout="constrained",
        )
        for axis, panel in zip(axes[:, 0], panels, strict=True):
            _draw_panel(axis, panel, [q for q in drawn if q.panel == panel])
        figure.savefig(file, metadata={"Date": None})
        plt.close(figure)


def _draw_panel(axis: Any, title: str, drawn: Sequence[Point]) -> None:
    for place, point in enumerate(drawn):
        _draw_point(axis, place, point)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g} ×")
    axis.axvline(1, color="black", linewidth=1)
    values = [1.0, *(p.ratio for p in drawn), *(p.aim for p in drawn if p.aim)]
    axis.set_xlim(min(values) / 3, max(values) * 4)
    axis.set_yticks(range(len(drawn)), [point.row for point in drawn])
    axis.set_ylim(len(drawn) - 0.4, -0.6)
    axis.set_title(title, loc="left", fontweight="bold")
    axis.grid(axis="x", alpha=0.3)
    axis.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    _draw_legend(axis, drawn)


def _draw_point(axis: Any, place: int, point: Point) -> None:
    colour = OURS if point.ours else OTHERS
    axis.hlines(place, 1, point.ratio, color=colour, alpha=0.35)
    axis.plot(point.ratio, place, MARKS[point.kind][0], color=colour)
    if point.aim is not None:
        axis.vlines(point.aim, place - 0.35, place + 0.35, color=AIM, linewidth=2)
    right = point.ratio >= 1
    axis.annotate(
        f"{show_ratio(point.ratio)} ×",
        (point.ratio, place),
        xytext=(6 if right else -6, 0),
        textcoords="offset points",
        ha="left" if right else "right",
        va="center",
    )


def _draw_legend(axis: Any, drawn: Sequence[Point]) -> None:
    for kind, (mark, words) in MARKS.items():
        if kind != "measured" and any(point.kind == kind for point in drawn):
            axis.plot([], [], mark, color=OTHERS, label=words)
    if any(point.aim is not None for point in drawn):
        words = "aim: this or less" if drawn[0].panel == MANY else "aim: this or more"
        axis.plot([], [], "|", color=AIM, markeredgewidth=2, label=words)
    handles, _ = axis.get_legend_handles_labels()
    if handles:
        axis.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.06), frameon=False, ncols=3
        )


def _kind(measurement: Measurement) -> str:
    if measurement.status == "over":
        return "over"
    return "extrapolated" if measurement.note.startswith("extrapolated") else "measured"


def _aim(case: Case, contender: str) -> float | None:
    """Return the strictest aim as a ratio to the first contender."""
    first = case.contenders[0].name
    aims = [aim for aim in case.aims if isinstance(aim, Faster)]
    wanted = [a.times for a in aims if (a.contender, a.than) == (first, contender)]
    allowed = [1 / a.times for a in aims if (a.contender, a.than) == (contender, first)]
    if wanted:
        return max(wanted)
    return min(allowed, default=None)

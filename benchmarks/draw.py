"""The picture ``results.svg``: ratios on a logarithmic axis, a panel for each question.

`points` computes what to draw, `draw` draws it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.declare import Case, CaseRecord

AGAINST_PEERS = "Time of others, in times of veridical's"
MANY = "Ten training sets, in times of one fit"
LEGEND = (
    ("o", "measured", AGAINST_PEERS),
    (">", "stopped at the limit: more than this", AGAINST_PEERS),
    ("D", "extrapolated", AGAINST_PEERS),
)
COLOURS = {"veridical": "#0b6e4f", "others": "#8a5a00"}


@dataclass(frozen=True)
class Point:
    """One ratio: which panel and row it belongs to, and how it was come by."""

    panel: str
    row: str
    ratio: float
    marker: str
    ours: bool


def points(cases: Mapping[str, Case], records: Sequence[CaseRecord]) -> list[Point]:
    """What there is to draw: every ratio that may be believed, except memory's."""
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
                    _marker(measurement.status, measurement.note),
                    many or measurement.contender.startswith("veridical"),
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
    style = {"svg.hashsalt": "veridical", "font.size": 9}
    with plt.rc_context(style):
        figure, axes = plt.subplots(
            len(panels),
            squeeze=False,
            figsize=(8, 1.4 * len(panels) + 0.24 * sum(heights)),
            height_ratios=heights,
            layout="constrained",
        )
        for axis, panel in zip(axes[:, 0], panels, strict=True):
            _draw_panel(axis, panel, [q for q in drawn if q.panel == panel])
        figure.savefig(file, metadata={"Date": None})
        plt.close(figure)


def _draw_panel(axis: Any, title: str, drawn: Sequence[Point]) -> None:
    from benchmarks.aims import show_ratio

    places = range(len(drawn))
    for place, point in zip(places, drawn, strict=True):
        colour = COLOURS["veridical" if point.ours else "others"]
        axis.hlines(place, 1, point.ratio, color=colour, alpha=0.35)
        axis.plot(point.ratio, place, point.marker, color=colour)
        axis.annotate(
            f"{show_ratio(point.ratio)} ×",
            (point.ratio, place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
        )
    axis.set_xscale("log")
    axis.axvline(1, color="black", linewidth=1)
    low = min([1.0, *(point.ratio for point in drawn)])
    high = max([1.0, *(point.ratio for point in drawn)])
    axis.set_xlim(low / 1.5, high * 4)
    axis.set_yticks(list(places), [point.row for point in drawn])
    axis.set_ylim(len(drawn) - 0.4, -0.6)
    axis.set_title(title, loc="left", fontweight="bold")
    axis.grid(axis="x", alpha=0.3)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    used = {point.marker for point in drawn} - {"o"}
    for marker, words, _ in LEGEND:
        if marker in used:
            axis.plot([], [], marker, color=COLOURS["others"], label=words)
    if used:
        axis.legend(loc="upper right", frameon=False)


def _marker(status: str, note: str) -> str:
    if status == "over":
        return ">"
    return "D" if note.startswith("extrapolated") else "o"

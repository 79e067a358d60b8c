"""Pictures of a study, and of what a selector says of its first features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

from matplotlib.axes import Axes

from veridical._core.errors import InputError
from veridical.evaluation.records import Selection
from veridical.experiments.findings import Check, Picture, StudyReport
from veridical.report.displays.base import Display, short
from veridical.report.selection import pictures as pictures_of_selection
from veridical.report.studies import APART, GAP

_MARKS = (
    {"color": "C0", "marker": "o", "markerfacecolor": "C0"},
    {"color": "C1", "marker": "o", "markerfacecolor": "white"},
    {"color": "0.2", "marker": "s", "markerfacecolor": "0.2"},
)
_SIGNS = {
    "reproduced": ("\N{CHECK MARK}", "C2"),
    "not reproduced": ("\N{MULTIPLICATION X}", "C3"),
    "open": ("?", "0.5"),
}
_PER_ROW = 12


class CurvesDisplay(Display):
    """Curves with intervals over an axis of named places.

    Parameters
    ----------
    picture : Picture
        What to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    def __init__(self, picture: Picture) -> None:
        self.picture = picture

    @classmethod
    def from_study(
        cls, report: StudyReport, *, which: int = 0, ax: Axes | None = None, **kw: Any
    ) -> Self:
        """Draw one of the pictures of a study.

        Parameters
        ----------
        report : StudyReport
            What the study's ``findings`` returned.
        which : int, default=0
            The place of the picture among ``report.pictures``.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kw
            For the curves, as ``Axes.errorbar`` takes them.
        """
        return cls(_one(report.pictures, which)).plot(ax=ax, **kw)

    @classmethod
    def from_selection(
        cls, record: Selection, *, which: int = 0, ax: Axes | None = None, **kw: Any
    ) -> Self:
        """Draw accuracy by number of features, or what else changes along the path.

        Parameters
        ----------
        record : Selection
            What `veridical.select` returned.
        which : int, default=0
            0 is the accuracy by number of features; then comes what the selector says
            of its first features, and last the exponents that were tried.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kw
            For the curves, as ``Axes.errorbar`` takes them.
        """
        return cls(_one(pictures_of_selection(record), which)).plot(ax=ax, **kw)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the curves over their band.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the curves, as ``Axes.errorbar`` takes them.
        """
        ax = self._axes(ax)
        picture = self.picture
        if picture.band is not None:
            ax.axhspan(picture.band.low, picture.band.high, color="0.9", zorder=0)
            ax.axhline(picture.band.value, color="0.6", zorder=0)
        starts, names = _places(picture)
        n = len(picture.curves)
        handles = []
        for number, curve in enumerate(picture.curves):
            offset = APART * (number - (n - 1) / 2)
            look = {**_MARKS[number % len(_MARKS)], "capsize": 3, **kwargs}
            handles.append(
                ax.errorbar(
                    [starts[place] + offset for place in curve.places],
                    [value.value for value in curve.values],
                    yerr=_spans(curve.values),
                    **look,
                )
            )
        ax.set_xticks(starts, names, parse_math=False)
        self._name_sections(starts)
        ax.set_ylabel(picture.unit)
        ax.set_title(short(picture.title, 70), loc="left", parse_math=False)
        if n > 1:
            labels = [f"\N{ZERO WIDTH SPACE}{short(c.label)}" for c in picture.curves]
            for text in ax.legend(handles, labels).get_texts():
                text.set_parse_math(False)
        ax.yaxis.label.set_parse_math(False)
        return self

    def _name_sections(self, starts: list[float]) -> None:
        """Write what the places of each section are, below its middle."""
        begin = 0
        for title, places in self.picture.sections:
            if places:
                end = begin + len(places)
                middle = (starts[begin] + starts[end - 1]) / 2
                self.ax_.annotate(
                    short(title),
                    (middle, 0.0),
                    xycoords=("data", "axes fraction"),
                    xytext=(0, -32),
                    textcoords="offset points",
                    ha="center",
                    parse_math=False,
                )
                begin = end


def _one(pictures: Sequence[Picture], which: int) -> Picture:
    if not 0 <= which < len(pictures):
        raise InputError(
            f"There is no picture {which}; there are {len(pictures)}, counted from 0."
        )
    return pictures[which]


def _places(picture: Picture) -> tuple[list[float], list[str]]:
    """Say where each place stands, sections apart, and what it is called."""
    starts: list[float] = []
    names: list[str] = []
    begin = 0.0
    for _, places in picture.sections:
        starts += [begin + i for i in range(len(places))]
        names += [short(name, 16) for name in places]
        begin += len(places) + GAP
    return starts, names


def _spans(values: Sequence[Any]) -> list[list[float]]:
    """Lengths of the intervals below and above; 0 where there is none."""

    def length(span: float) -> float:
        return max(span, 0.0) if math.isfinite(span) else 0.0

    below = [length(value.value - value.low) for value in values]
    above = [length(value.high - value.value) for value in values]
    return [below, above]


class FindingsDisplay(Display):
    """A box for each finding of a paper: reproduced, not reproduced, or open.

    Parameters
    ----------
    checks : sequence of Check
        The findings, in their order.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    def __init__(self, checks: Sequence[Check]) -> None:
        self.checks = tuple(checks)

    @classmethod
    def from_study(
        cls, report: StudyReport, *, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw the findings of a study.

        Parameters
        ----------
        report : StudyReport
            What the study's ``findings`` returned.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the signs, as ``Axes.text`` takes them.
        """
        return cls(report.checks).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the boxes, with a sign and a colour each.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the signs, as ``Axes.text`` takes them.
        """
        n_rows = max(1, -(-len(self.checks) // _PER_ROW))
        across = min(max(1, len(self.checks)), _PER_ROW)
        ax = self._axes(ax, height=0.6 + 0.55 * n_rows)
        for number, check in enumerate(self.checks):
            row, column = divmod(number, _PER_ROW)
            sign, colour = _SIGNS[check.outcome]
            box = {"boxstyle": "round", "facecolor": "white", "edgecolor": colour}
            look = {"color": colour, "fontsize": "large", "bbox": box, **kwargs}
            ax.text(column, -row, sign, ha="center", va="center", **look)
        ax.set_xlim(-0.6, across - 0.4)
        ax.set_ylim(-n_rows + 0.4, 0.6)
        counts = ", ".join(
            f"{sum(check.outcome == outcome for check in self.checks)} {outcome}"
            for outcome in _SIGNS
        )
        ax.set_title(f"Findings: {counts}", loc="left")
        ax.set_axis_off()
        return self

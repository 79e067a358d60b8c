"""Pictures of values one below the other: estimates, classes, sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from matplotlib.axes import Axes
from matplotlib.ticker import ScalarFormatter

from veridical.comparison.records import Sensitivity, Side
from veridical.evaluation.intervals import wilson
from veridical.evaluation.records import Estimate, Estimates, Selection
from veridical.report.displays.base import (
    Display,
    name_rows,
    show_accuracy,
    show_level,
    whiskers,
)
from veridical.report.estimates_words import chance_of
from veridical.report.rows_draw import Row
from veridical.report.selection import drawn_interval, to_json
from veridical.report.sensitivity_draw import SIDES
from veridical.report.summarize import summarize

_MORE = 0.22  # between two intervals of one estimate, in rows


class EstimatesDisplay(Display):
    """Estimates of one estimator, each with its intervals, chance and the truth.

    An open mark is an estimate with a note: there is a reason to doubt it.

    Parameters
    ----------
    summary : EstimatesSummary
        What ``veridical.report.to_json`` makes of `Estimates`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    def __init__(self, summary: Any) -> None:
        self.summary = summary

    @classmethod
    def from_estimates(
        cls, record: Estimates | Estimate, *, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw the estimates of one estimator.

        Parameters
        ----------
        record : Estimates or Estimate
            Several estimates, or one.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the marks, as ``Axes.errorbar`` takes them.
        """
        return cls(summarize(record)).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw a row per method; where there are more intervals, the rest below.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the marks, as ``Axes.errorbar`` takes them.
        """
        found = self.summary["estimates"]
        ax = self._axes(ax, height=1.4 + 0.6 * len(found))
        for row, estimate in enumerate(found):
            side: Side = "b" if estimate["notes"] else "a"
            bounds = [(b["low"], b["high"]) for b in estimate["intervals"]]
            first = bounds[0] if bounds else (None, None)
            whiskers(ax, row, estimate["value"], first, side, **kwargs)
            for i, (low, high) in enumerate(bounds[1:], 1):
                y = row + _MORE * i
                ax.plot([low, high], [y, y], color="0.6", marker="|")
        name_rows(ax, [estimate["method"] for estimate in found])
        chance = chance_of(self.summary)
        if chance is not None:
            show_level(ax, chance, "chance")
        if self.summary["truth"] is not None:
            show_level(ax, self.summary["truth"]["value"], "truth", "-")
        show_accuracy(ax, self.summary["metric"])
        if self.summary["metric"] != "accuracy":
            ax.xaxis.set_major_formatter(ScalarFormatter())
        return self


class _RowsDisplay(Display):
    """Shares with intervals, one below the other."""

    def __init__(self, rows: Sequence[Row], chance: float | None = None) -> None:
        self.rows = list(rows)
        self.chance = chance

    def _plot(self, ax: Axes | None, label: str, **kwargs: Any) -> Self:
        ax = self._axes(ax, height=1.4 + 0.4 * len(self.rows))
        for y, row in enumerate(self.rows):
            whiskers(ax, y, row.value, (row.low, row.high), row.side, **kwargs)
        name_rows(ax, [row.label for row in self.rows])
        if self.chance is not None:
            show_level(ax, self.chance, "chance")
        show_accuracy(ax, label)
        return self


class SelectionDisplay(_RowsDisplay):
    """The accuracy of selecting and learning, and that of each class.

    Parameters
    ----------
    rows : sequence of Row
        All cases first, then class by class.
    chance : float
        Accuracy of always naming the most frequent class.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    @classmethod
    def from_selection(
        cls, record: Selection, *, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw a selection.

        Parameters
        ----------
        record : Selection
            What `veridical.select` returned.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the marks, as ``Axes.errorbar`` takes them.
        """
        s = to_json(record)
        rows = [Row("all cases", *drawn_interval(record))]
        for one in s["classes"]:
            if one["n_test"]:
                bounds = wilson(one["accuracy"], one["n_test"])
                rows.append(Row(one["name"], one["accuracy"], *bounds, "b"))
        return cls(rows, s["data"]["chance"]).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw all cases, then class by class, with Wilson's 95 % intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the marks, as ``Axes.errorbar`` takes them.
        """
        return self._plot(ax, "cases named rightly", **kwargs)


class SensitivityDisplay(_RowsDisplay):
    """How often IN and OUT find the truth, on sources like a data set.

    Parameters
    ----------
    rows : sequence of Row
        IN (disc) and OUT (ring) for each source.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    @classmethod
    def from_sensitivity(
        cls, record: Sensitivity, *, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw a sensitivity analysis.

        Parameters
        ----------
        record : Sensitivity
            What `veridical.comparison.sensitivity` returned.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the marks, as ``Axes.errorbar`` takes them.
        """
        summary: Any = summarize(record)
        rows = []
        for source in summary["sources"]:
            n = source["n_sets"]
            for method, side in SIDES.items():
                share = source["right"][method] / n
                label = f"strength {source['strength']:g}, {method.upper()}"
                rows.append(Row(label, share, *wilson(share, n), side))
        return cls(rows).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw two rows per source, with Wilson's 95 % intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the marks, as ``Axes.errorbar`` takes them.
        """
        return self._plot(ax, "data sets judged rightly", **kwargs)

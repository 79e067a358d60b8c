"""The picture of an audit: what was reached, above what random labels reach."""

from __future__ import annotations

from typing import Any, Self

from matplotlib.axes import Axes

from veridical.auditing.records import Audit
from veridical.report.audit_draw import SIDES
from veridical.report.displays.base import (
    Display,
    name_rows,
    show_accuracy,
    show_level,
    whiskers,
)
from veridical.report.summarize import summarize

_CLOSE = 0.01  # accuracies nearer than this are piled up
_TALLEST = 0.7  # of a pile, in rows


class AuditDisplay(Display):
    """Accuracies on the true labels, and on labels in random order.

    Parameters
    ----------
    summary : AuditSummary
        What ``veridical.report.to_json`` makes of an `Audit`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    def __init__(self, summary: Any) -> None:
        self.summary = summary

    @classmethod
    def from_audit(
        cls, record: Audit, *, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw an audit.

        Parameters
        ----------
        record : Audit
            What `veridical.audit` returned.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the marks, as ``Axes.errorbar`` takes them.
        """
        return cls(summarize(record)).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw a lane per protocol: the mark, and grey dots for random labels.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the marks, as ``Axes.errorbar`` takes them.
        """
        lanes = self.summary["lanes"]
        ax = self._axes(ax, height=1.4 + 1.3 * len(lanes))
        for row, lane in enumerate(lanes):
            levels = piles(lane["null"])
            step = min(0.08, _TALLEST / max([1, *levels]))
            ax.plot(
                sorted(lane["null"]),
                [row + 0.35 - step * level for level in levels],
                linestyle="none",
                marker=".",
                color="0.6",
            )
            found = lane["accuracy"]
            bounds = (found["low"], found["high"])
            side = SIDES[lane["protocol"]]
            whiskers(ax, row - 0.4, found["value"], bounds, side, **kwargs)
        name_rows(ax, [lane["label"] for lane in lanes])
        ax.set_ylim(len(lanes) - 0.4, -0.7)
        show_level(ax, self.summary["data"]["chance"], "chance")
        show_accuracy(ax, "accuracy; grey: labels in random order")
        return self


def piles(values: list[float]) -> list[int]:
    """Say how high each value lies, in ascending order, so that none hides another.

    Examples
    --------
    >>> piles([0.5, 0.9, 0.505])
    [0, 1, 0]
    """
    levels, first, level = [], float("-inf"), 0
    for value in sorted(values):
        first, level = (first, level + 1) if value - first < _CLOSE else (value, 0)
        levels.append(level)
    return levels

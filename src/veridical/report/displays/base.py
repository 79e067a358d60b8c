"""What all displays share: axes to draw in, two looks, and names that stay names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from veridical._core.numbers import percent
from veridical.comparison.records import Side

#: The two sides are told apart by colour, and by disc and ring.
LOOKS: dict[Side, dict[str, Any]] = {
    "a": {"color": "C0", "marker": "o", "markerfacecolor": "C0"},
    "b": {"color": "C1", "marker": "o", "markerfacecolor": "white"},
}
LONGEST = 46
PAD = 16  # between axes and title, in points: room for the names of levels


class Display:
    """Something to look at, drawn in axes that are kept as ``ax_`` and ``figure_``."""

    ax_: Axes
    figure_: Any

    def _axes(self, ax: Axes | None, height: float | None = None) -> Axes:
        if ax is None:
            size = None if height is None else (6.4, height)
            _, ax = plt.subplots(figsize=size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def short(name: str, longest: int = LONGEST) -> str:
    """Cut a long name; its beginning tells most."""
    name = " ".join(name.split())
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Write names beside rows, the first on top; a dollar sign is no mathematics."""
    ax.set_yticks(range(len(names)), [short(name) for name in names], parse_math=False)
    ax.set_ylim(len(names) - 0.5, -0.5)


def show_accuracy(ax: Axes, label: str = "accuracy") -> None:
    """Write shares along the horizontal axis as percentages."""
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_xlabel(label)
    ax.grid(axis="x", alpha=0.3)


def show_level(ax: Axes, value: float, name: str, style: str = "--") -> None:
    """Draw an accuracy to hold the others against, its name above the axes."""
    ax.axvline(value, color="0.4", linestyle=style, zorder=0)
    right = style == "--"
    ax.annotate(
        f"{name} {percent(value)}",
        (value, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(2 if right else -2, 3),
        textcoords="offset points",
        ha="left" if right else "right",  # two of them do not meet
        fontsize="small",
        color="0.4",
    )


def whiskers(
    ax: Axes,
    y: float,
    value: float,
    bounds: tuple[float | None, float | None],
    side: Side = "a",
    **more: Any,
) -> None:
    """Draw a value with its interval, where it has one."""
    look = {**LOOKS[side], "markersize": 8, "capsize": 4, **more}
    low, high = bounds
    known = low is not None and high is not None
    span = [[value - low], [high - value]] if known else None  # type: ignore[operator]
    ax.errorbar([value], [y], xerr=span, linestyle="none", **look)

"""Pictures of a comparison of two selectors: pairs of accuracies, and features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from veridical._core.errors import InputError
from veridical.comparison.records import SIDES, Comparison
from veridical.report.displays.base import (
    LOOKS,
    PAD,
    Display,
    name_rows,
    short,
    show_accuracy,
    show_level,
    whiskers,
)
from veridical.report.schema import FeatureSummary, MethodSummary
from veridical.report.summarize import summarize


def _summary(record: Comparison) -> Any:
    """Summarize a comparison of two selectors; raise if there are more."""
    if len(record.names) > 2:
        raise InputError(
            f"This picture shows two selectors, and {len(record.names)} were compared; "
            "CriticalDifferenceDisplay shows more."
        )
    return summarize(record)


_BETTER = {1: "C0", -1: "C1", 0: "0.6"}


class ComparisonDisplay(Display):
    """Both selectors on every fold or data set, joined, with their means.

    The picture of a comparison's page for one method: each line is a fold, and leans
    to the selector that does better there.

    Parameters
    ----------
    method : MethodSummary
        One of ``methods`` of the summary.
    names : mapping of "a" and "b" to str
        What the selectors are called.
    chance : float
        Accuracy of always naming the most frequent class.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> from veridical.comparison import compare
    >>> from veridical.datasets import make_linear
    >>> from veridical.report.displays import ComparisonDisplay
    >>> X, y = make_linear(60, random_state=0)
    >>> pair = ["anova", "fcbf"]
    >>> found = compare(pair, X, y, estimator="nb", n_features_to_select=5, cv=3)
    >>> shown = ComparisonDisplay.from_comparison(found, method="in")
    >>> shown.ax_.get_title(loc="left")
    'IN'
    """

    def __init__(self, method: MethodSummary, names: Any, chance: float) -> None:
        self.method = method
        self.names = dict(names)
        self.chance = chance

    @classmethod
    def from_comparison(
        cls,
        record: Comparison,
        *,
        method: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw one method of a comparison.

        Parameters
        ----------
        record : Comparison
            What `veridical.comparison.compare` or `truth` returned.
        method : {"in", "out", "truth"}, optional
            Which method, by default the first that was run.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the dots, as ``Axes.plot`` takes them.
        """
        summary = _summary(record)
        found = {each["method"]: each for each in summary["methods"]}
        wanted = next(iter(found)) if method is None else method
        if wanted not in found:
            raise InputError(
                f"The comparison has no method {method!r}; it has {', '.join(found)}."
            )
        display = cls(found[wanted], summary["names"], summary["data"]["chance"])
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the pairs, the means with their intervals, and chance.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the dots, as ``Axes.plot`` takes them.
        """
        ax = self._axes(ax, height=3.2)
        for pair in self.method["pairs"]:
            ends = [pair[side] for side in SIDES]
            colour = _BETTER[int(np.sign(ends[0] - ends[1]))]
            ax.plot(ends, [0, 1], color=colour, alpha=0.6, zorder=1)
        for row, side in enumerate(SIDES):
            values = [pair[side] for pair in self.method["pairs"]]
            look = {**LOOKS[side], "markersize": 5, "linestyle": "none", **kwargs}
            ax.plot(values, [row] * len(values), **look)
            mean = self.method[side]
            away = row + (0.3 if row else -0.3)
            whiskers(ax, away, mean["value"], (mean["low"], mean["high"]), side)
        name_rows(ax, [f"{short(self.names[side], 30)}" for side in SIDES])
        ax.set_ylim(1.6, -0.6)
        show_level(ax, self.chance, "chance")
        show_accuracy(ax, f"accuracy, one dot per {self.method['pair_unit']}")
        ax.set_title(self.method["label"], loc="left", pad=PAD)
        return self


class FeaturesDisplay(Display):
    """How often each selector chose a feature, the most frequent first.

    Parameters
    ----------
    features : sequence of FeatureSummary
        As in the summary.
    n_selections : int
        How many selections were made.
    method : str
        Which of the counts to draw.
    names : mapping of "a" and "b" to str
        What the selectors are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    def __init__(
        self, features: list[FeatureSummary], n_selections: int, method: str, names: Any
    ) -> None:
        self.features = features
        self.n_selections = n_selections
        self.method = method
        self.names = dict(names)

    @classmethod
    def from_comparison(
        cls,
        record: Comparison,
        *,
        method: str | None = None,
        n_features: int = 20,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the features of a comparison.

        Parameters
        ----------
        record : Comparison
            What `veridical.comparison.compare` or `truth` returned.
        method : {"in", "truth"}, optional
            Whose selections, by default the first that was run.
        n_features : int, default=20
            How many features at most.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the bars, as ``Axes.barh`` takes them.
        """
        summary = _summary(record)
        counted = summary["n_selections"]
        wanted = next(iter(counted)) if method is None else method
        if wanted not in counted:
            raise InputError(
                f"No selections by the method {method!r}; there are "
                f"{', '.join(counted)}."
            )
        chosen = [
            feature
            for feature in summary["features"]
            if any(feature[side].get(wanted, 0) for side in SIDES)
        ]
        chosen.sort(key=lambda f: -sum(f[side].get(wanted, 0) for side in SIDES))
        display = cls(chosen[:n_features], counted[wanted], wanted, summary["names"])
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw two bars for each feature.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the bars, as ``Axes.barh`` takes them.
        """
        ax = self._axes(ax, height=1.4 + 0.32 * max(1, len(self.features)))
        rows = np.arange(len(self.features))
        for place, side in enumerate(SIDES):
            counts = [f[side].get(self.method, 0) for f in self.features]
            look = {"color": f"C{place}", "height": 0.38, **kwargs}
            if side == "b":
                look = {"fill": False, "edgecolor": look.pop("color"), **look}
            ax.barh(rows + 0.4 * place - 0.2, counts, **look)
        name_rows(ax, [feature["name"] for feature in self.features])
        ax.set_xlim(0, self.n_selections)
        ax.set_xlabel(f"selections out of {self.n_selections}")
        who = (short(self.names["a"], 26), short(self.names["b"], 26))
        ax.set_title(f"filled: {who[0]}; open: {who[1]}", loc="left", parse_math=False)
        return self

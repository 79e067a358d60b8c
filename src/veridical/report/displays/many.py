"""The critical-difference picture of several selectors."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from veridical._core.errors import InputError
from veridical.comparison.records import Comparison
from veridical.report.displays.base import LOOKS, Display, name_rows
from veridical.report.many_schema import ManyMethod
from veridical.report.summarize import summarize


class CriticalDifferenceDisplay(Display):
    """Mean ranks, and bars that join those which are not told apart.

    Parameters
    ----------
    method : ManyMethod
        One of ``methods`` of the summary.
    names : sequence of str
        What the selectors are called.

    Attributes
    ----------
    order_ : list of int
        Places of the selectors, the best mean rank first.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets",
       Journal of Machine Learning Research 7, 2006.
    """

    def __init__(self, method: ManyMethod, names: Any) -> None:
        self.method = method
        self.names = list(names)
        ranks = method["friedman"]["mean_ranks"]
        self.order_ = [int(i) for i in np.argsort(ranks, kind="stable")]

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
            What `veridical.comparison.compare` returned for three selectors or more.
        method : {"in", "out"}, optional
            Which method, by default the first that was run.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the dots, as ``Axes.plot`` takes them.
        """
        if len(record.names) == 2:
            raise InputError(
                "Mean ranks are for three selectors or more; ComparisonDisplay shows "
                "two."
            )
        summary: Any = summarize(record)
        found = {each["method"]: each for each in summary["methods"]}
        wanted = next(iter(found)) if method is None else method
        if wanted not in found:
            raise InputError(
                f"The comparison has no method {method!r}; it has {', '.join(found)}."
            )
        return cls(found[wanted], summary["names"]).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw ranks, groups and the critical difference.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the dots, as ``Axes.plot`` takes them.
        """
        found = self.method["friedman"]
        ranks, n = found["mean_ranks"], len(self.names)
        groups = found["groups"]
        ax = self._axes(ax, height=1.6 + 0.4 * n + 0.2 * len(groups))
        look = {**LOOKS["a"], "markersize": 8, "linestyle": "none", **kwargs}
        ax.plot([ranks[i] for i in self.order_], range(n), **look)
        name_rows(ax, [f"{self.names[i]}  {ranks[i]:.2f}" for i in self.order_])
        for row, members in enumerate(groups):
            ends = [ranks[i] for i in members]
            y = n - 0.3 + 0.35 * row
            ax.plot([min(ends), max(ends)], [y, y], color="0.2", linewidth=4)
        critical = found["critical_difference"]
        ax.plot([1, 1 + critical], [-0.8, -0.8], color="0.4", marker="|")
        ax.set_ylim(n + 0.35 * len(groups), -1.2)
        ax.set_xlim(0.8, max(n, 1 + critical) + 0.2)
        ax.set_xlabel("mean rank, 1 is best; bars join those not told apart")
        ax.set_title(
            f"{self.method['label']}: critical difference {critical:.2f}", loc="left"
        )
        ax.grid(axis="x", alpha=0.3)
        return self

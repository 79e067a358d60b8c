"""Pictures of the pages on matplotlib, for notebooks and papers.

As in scikit-learn, a display is made by ``from_…`` of what it shows, draws with
``plot(ax=...)``, and keeps ``ax_`` and ``figure_``. All show the figures of a record's
view, so they have the numbers of its page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, TypeVar

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from veridical._core.errors import InputError
from veridical.comparison.records import SIDES, Comparison
from veridical.evaluation.records import Selection
from veridical.experiments.findings import StudyReport
from veridical.report.calibration import CalibrationDisplay
from veridical.report.predictor_sets import (
    AlphaDisplay,
    ClassAccuracyDisplay,
    ClassesDisplay,
    ClassFeaturesDisplay,
)
from veridical.report.render import matplotlib as renderer
from veridical.report.tree import TreeDisplay
from veridical.report.view import (
    Bars,
    Curves,
    Distribution,
    Figure,
    Intervals,
    Outcomes,
    Pairs,
    Panel,
    Ranks,
    view,
)
from veridical.report.views.comparison import summarize_pair
from veridical.report.views.selection import curves as curves_of_selection
from veridical.report.views.study import curves as curves_of_study

__all__ = [
    "AlphaDisplay",
    "AuditDisplay",
    "CalibrationDisplay",
    "ClassAccuracyDisplay",
    "ClassFeaturesDisplay",
    "ClassesDisplay",
    "ComparisonDisplay",
    "CriticalDifferenceDisplay",
    "CurvesDisplay",
    "EstimatesDisplay",
    "FeaturesDisplay",
    "FindingsDisplay",
    "SelectionDisplay",
    "SensitivityDisplay",
    "TreeDisplay",
]

T = TypeVar("T")


D = TypeVar("D", bound="_Display")


@classmethod  # type: ignore[misc]
def _from_record(
    cls: type[D], record: Any, *, ax: Axes | None = None, **kwargs: Any
) -> D:
    """Draw the picture of a record's page.

    Parameters
    ----------
    record : record
        What a verb returned: `Estimates` or `Estimate`, `Selection`, `Sensitivity` or
        `Audit`, as the name of the display says.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    **kwargs
        For the marks, as ``Axes.errorbar`` takes them.
    """
    found = tuple(picture for _, picture in _panels(record, cls.kind))
    picture = found if cls.kind is Distribution else found[0]
    return cls(picture).plot(ax=ax, **kwargs)


class _Display:
    """A picture of a view, drawn in axes that are kept as ``ax_`` and ``figure_``."""

    ax_: Axes
    figure_: Any
    kind: Any = None

    def __init__(self, picture: Any, title: str = "") -> None:
        self.picture = picture
        self.title = title

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the marks, as ``Axes.errorbar`` or ``Axes.plot`` take them.
        """
        if ax is None:
            height = renderer.height(self.picture)
            size = None if height is None else (6.4, height)
            _, ax = plt.subplots(figsize=size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        renderer.draw(self.picture, ax, **kwargs)
        if self.title:
            ax.set_title(self.title, loc="left", pad=renderer.PAD, parse_math=False)
        return self


def _panels(record: Any, kind: type[T]) -> list[tuple[Panel, T]]:
    """Find the panels of a record's view that show a kind of picture."""
    return [
        (panel, panel.picture)
        for section in view(record).sections
        for block in section.blocks
        if isinstance(block, Figure)
        for panel in block.panels
        if isinstance(panel.picture, kind)
    ]


def _of_method(
    record: Comparison, kind: type[T], method: str | None
) -> tuple[Panel, T]:
    """Find the panel of one method, the first by default."""
    found = {
        panel.protocol: (panel, picture) for panel, picture in _panels(record, kind)
    }
    wanted = next(iter(found)) if method is None else method
    if wanted not in found:
        raise InputError(
            f"The comparison has no method {method!r}; it has "
            f"{', '.join(map(str, found))}."
        )
    return found[wanted]


def _refuse_more_than_two(record: Comparison) -> None:
    if len(record.names) > 2:
        raise InputError(
            f"This picture shows two selectors, and {len(record.names)} were compared; "
            "CriticalDifferenceDisplay shows more."
        )


class ComparisonDisplay(_Display):
    """Both selectors on every fold or data set, joined, with their means.

    The picture of a comparison's page for one method: each line is a fold, and leans
    to the selector that does better there.

    Parameters
    ----------
    picture : Pairs
        What to draw, as a view has it.
    title : str
        The method.

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
        _refuse_more_than_two(record)
        panel, picture = _of_method(record, Pairs, method)
        return cls(picture, panel.title).plot(ax=ax, **kwargs)


class FeaturesDisplay(_Display):
    """How often each selector chose a feature, the most frequent first.

    Parameters
    ----------
    picture : Bars
        What to draw.

    Attributes
    ----------
    features : list of FeatureSummary
        The features shown, as in the JSON of a comparison.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    features: list[Any]

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
        _refuse_more_than_two(record)
        summary = summarize_pair(record)
        counted = summary["n_selections"]
        wanted = next(iter(counted)) if method is None else method
        if wanted not in counted:
            raise InputError(
                f"No selections by the method {method!r}; there are "
                f"{', '.join(counted)}."
            )

        def times(feature: Any) -> list[int]:
            return [feature[side].get(wanted, 0) for side in SIDES]

        chosen = [feature for feature in summary["features"] if any(times(feature))]
        chosen.sort(key=lambda feature: -sum(times(feature)))
        chosen = chosen[:n_features]
        series = tuple(
            (summary["names"][side], tuple(times(f)[i] for f in chosen))
            for i, side in enumerate(SIDES)
        )
        total = counted[wanted]
        axis = f"selections out of {total}"
        labels = tuple(feature["name"] for feature in chosen)
        display = cls(Bars(f"How often of {total}", labels, series, total, axis))
        display.features = list(chosen)
        return display.plot(ax=ax, **kwargs)


class CriticalDifferenceDisplay(_Display):
    """Mean ranks, and bars that join those which are not distinguished.

    Parameters
    ----------
    picture : Ranks
        What to draw, as a view has it.
    title : str
        The method.

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

    @property
    def order_(self) -> list[int]:
        """Places of the selectors, the best mean rank first."""
        ranks = self.picture.ranks
        return sorted(range(len(ranks)), key=lambda i: float(ranks[i]))

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
        panel, picture = _of_method(record, Ranks, method)
        title = f"{panel.title}: critical difference {picture.critical:.2f}"
        return cls(picture, title).plot(ax=ax, **kwargs)


class AuditDisplay(_Display):
    """Accuracies on the true labels, and on labels in random order.

    Parameters
    ----------
    picture : tuple of Distribution
        One for each protocol, as a view has them.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    kind = Distribution
    from_audit = _from_record


class EstimatesDisplay(_Display):
    """Estimates of one estimator, with intervals, the majority class and the truth.

    An open mark is an estimate with a note: there is a reason to doubt it.

    Parameters
    ----------
    picture : Intervals
        What to draw, as a view has it.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    kind = Intervals
    from_estimates = _from_record


class SelectionDisplay(_Display):
    """The accuracy of selecting and learning, and that of each class.

    Parameters
    ----------
    picture : Intervals
        What to draw, as a view has it.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    kind = Intervals
    from_selection = _from_record


class SensitivityDisplay(_Display):
    """How often IN and OUT find the truth, on sources like a data set.

    Parameters
    ----------
    picture : Intervals
        IN (disc) and OUT (ring) for each source.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    kind = Intervals
    from_sensitivity = _from_record


class CurvesDisplay(_Display):
    """Curves with intervals over an axis of named places.

    Parameters
    ----------
    picture : Curves
        What to draw, as a view has it.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

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
        drawn = [curves_of_study(picture) for picture in report.pictures]
        return cls(_one(drawn, which)).plot(ax=ax, **kw)

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
        return cls(_one(curves_of_selection(record), which)).plot(ax=ax, **kw)


def _one(pictures: Sequence[Curves], which: int) -> Curves:
    if not 0 <= which < len(pictures):
        raise InputError(
            f"There is no picture {which}; there are {len(pictures)}, counted from 0."
        )
    return pictures[which]


class FindingsDisplay(_Display):
    """A box for each finding of a paper: reproduced, not reproduced, or open.

    Parameters
    ----------
    picture : Outcomes
        What to draw, as a view has it.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

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
        _, picture = _panels(report, Outcomes)[0]
        counts = ", ".join(
            f"{report.count(outcome)} {outcome}"
            for outcome in ("reproduced", "not reproduced", "open")
        )
        return cls(picture, f"Findings: {counts}").plot(ax=ax, **kwargs)

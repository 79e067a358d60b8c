"""Pictures on matplotlib, for notebooks and papers.

As in scikit-learn, a display is made by ``from_…`` of what it shows, draws with
``plot(ax=...)``, and keeps ``ax_`` and ``figure_``. Pictures of a record are those of
its view, so they have the numbers of its page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.records import SIDES
from veridical.comparison.records import Comparison
from veridical.evaluation import calibration_table, calibration_tables
from veridical.evaluation.records import CalibrationTable, Correction, Selection
from veridical.experiments.findings import StudyReport
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
    Reliability,
    Waterfall,
    view,
)
from veridical.report.views.comparison import summarize_pair
from veridical.report.views.correction import shares
from veridical.selection import best_alpha

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
    "DecompositionDisplay",
    "EstimatesDisplay",
    "FeaturesDisplay",
    "FigureDisplay",
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
        self.ax_ = renderer.plot(self.picture, ax, self.title, **kwargs)
        self.figure_ = self.ax_.figure
        return self


class FigureDisplay:
    """A figure of any record's page, with all its panels; what ``plot()`` returns.

    Parameters
    ----------
    figure : Figure
        What to draw, as a view has it.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        Where it was drawn, from top to bottom.
    ax_, figure_ : matplotlib Axes and Figure
        The first of these axes, and their figure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from veridical import estimate
    >>> shown = estimate("nb", *load_iris(return_X_y=True), random_state=0).plot()
    >>> shown.ax_.get_xlabel()
    'accuracy'
    """

    axes_: list[Axes]
    ax_: Axes
    figure_: Any

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    @classmethod
    def from_record(
        cls, record: Any, *, which: int = 0, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """Draw a figure of a record.

        Parameters
        ----------
        record : record
            What a verb returned.
        which : int, default=0
            The place of the figure on the page.
        ax : matplotlib Axes, optional
            Where to draw, for a figure of one picture; a new figure if not given.
        **kwargs
            For the marks, as ``Axes.errorbar`` or ``Axes.plot`` take them.

        Raises
        ------
        InputError
            If there is no such figure.
        """
        return cls(_pick_picture(view(record).figures, which)).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw, for a figure of one picture; a new figure if not given.
        **kwargs
            For the marks, as ``Axes.errorbar`` or ``Axes.plot`` take them.
        """
        if ax is None:
            self.figure_ = plt.figure(layout="constrained")
            self.axes_ = renderer.draw_figure(self.figure_, self.figure, **kwargs)
        else:
            self.axes_ = [renderer.draw_into(ax, self.figure, **kwargs)]
            self.figure_ = ax.figure
        self.ax_ = self.axes_[0]
        return self


def _panels(record: Any, kind: type[T]) -> list[tuple[Panel, T]]:
    """Find the panels of a record's view that show a kind of picture."""
    return [
        (panel, panel.picture)
        for figure in view(record).figures
        for panel in figure.panels
        if isinstance(panel.picture, kind)
    ]


def _one_of(known: Sequence[str], method: str | None, message: str) -> str:
    """Return the wanted method, the first by default."""
    if method is not None and method not in known:
        raise InputError(f"{message.format(method)} {', '.join(known)}.")
    return known[0] if method is None else method


def _check_number(record: Comparison, several: bool) -> None:
    """Raise if a picture is for another number of selectors."""
    n = len(record.names)
    if n > 2 and not several:
        raise InputError(
            f"This picture shows two selectors, and {n} were compared; "
            "CriticalDifferenceDisplay shows more."
        )
    if n == 2 and several:
        raise InputError(
            "Mean ranks are for three selectors or more; ComparisonDisplay shows two."
        )


class _OfComparison(_Display):
    """A picture of one method of a comparison."""

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
        _check_number(record, several=cls.kind is Ranks)
        panels = {str(one[0].protocol): one for one in _panels(record, cls.kind)}
        message = "The comparison has no method {!r}; it has"
        panel, picture = panels[_one_of(list(panels), method, message)]
        return cls(picture, panel.title).plot(ax=ax, **kwargs)


class ComparisonDisplay(_OfComparison):
    """Both selectors on every fold or data set, joined, with their means.

    The picture of a comparison's page for one method: each line is a fold and joins
    the accuracies of both selectors.

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

    kind = Pairs


class FeaturesDisplay(_Display):
    """How often each selector chose a feature, the most frequent first.

    Parameters
    ----------
    picture : Bars
        What to draw.

    Attributes
    ----------
    features : list of FeatureCounts
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
        _check_number(record, several=False)
        summary = summarize_pair(record)
        counted = summary["n_selections"]
        message = "No selections by the method {!r}; there are"
        wanted = _one_of(list(counted), method, message)

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


class CriticalDifferenceDisplay(_OfComparison):
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

    kind = Ranks

    @property
    def order_(self) -> list[int]:
        """Places of the selectors, the best mean rank first."""
        ranks = self.picture.ranks
        return sorted(range(len(ranks)), key=lambda i: float(ranks[i]))


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
        return cls(_one(report, which)).plot(ax=ax, **kw)

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
        return cls(_one(record, which)).plot(ax=ax, **kw)


def _one(record: Any, which: int) -> Curves:
    return _pick_picture([picture for _, picture in _panels(record, Curves)], which)


def _pick_picture(pictures: Sequence[T], which: int) -> T:
    """Return one of several pictures, or say how many there are."""
    if not 0 <= which < len(pictures):
        raise InputError(
            f"There is no picture {which}; there are {len(pictures)}, counted from 0."
        )
    return pictures[which]


class DecompositionDisplay(_Display):
    """The reported score of an audit taken apart, as a waterfall.

    Parameters
    ----------
    picture : Waterfall
        What to draw, as a view has it.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    @classmethod
    def from_audit(cls, record: Any, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the parts of the score.

        Parameters
        ----------
        record : Audit
            What `veridical.audit` returned, with its decomposition.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For the bars, as ``Axes.barh`` takes them.
        """
        _, picture = _panels(record, Waterfall)[0]
        return cls(picture, "The reported score taken apart").plot(ax=ax, **kwargs)


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


# -- probabilities ---------------------------------------------------------------------


class CalibrationDisplay(_Display):
    """Predicted probabilities beside what happened, with the number of samples.

    Like scikit-learn's display of the same name, with what that lacks: how many samples
    are behind each point, and how far chance alone may move it.

    Parameters
    ----------
    tables : sequence of CalibrationTable
        One for each model.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where shares are drawn.
    counts_ax_ : matplotlib Axes
        Where counts are drawn.
    figure_ : matplotlib Figure
        The figure of these axes.

    See Also
    --------
    veridical.evaluation.calibration_table : The numbers.

    Examples
    --------
    >>> from veridical.report.displays import CalibrationDisplay
    >>> shown = CalibrationDisplay.from_predictions([0, 1, 1], [0.2, 0.7, 0.9])
    >>> shown.tables[0].n
    3
    """

    def __init__(self, tables: Sequence[CalibrationTable]) -> None:
        self.tables = tuple(tables)
        models = tuple((table.label, shares(table)) for table in self.tables)
        super().__init__(Reliability("", models))

    @classmethod
    def from_correction(cls, record: Correction, *, axes: Any = None) -> Self:
        """Draw what correcting for feature selection changes.

        The model with null features is drawn in place of the published correction
        where it is the one to believe.

        Parameters
        ----------
        record : Correction
            What `veridical.evaluation.correction` returned.
        axes : two matplotlib Axes, optional
            Where to draw shares and counts; a new figure if not given.

        Returns
        -------
        CalibrationDisplay
            The drawn display.
        """
        shown = record.tables["sparse" if record.believed == "sparse" else "corrected"]
        return cls([shown, record.uncorrected]).plot(axes=axes)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        probability: Any,
        *,
        n_bins: int = 10,
        label: str = "model",
        axes: Any = None,
    ) -> Self:
        """Draw given probabilities.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The true classes, two of them.
        probability : array-like of shape (n_samples,)
            Probability of the last of the sorted classes.
        n_bins : int, default=10
            Number of equal intervals.
        label : str, default="model"
            Who predicted.
        axes : two matplotlib Axes, optional
            Where to draw shares and counts; a new figure if not given.

        Returns
        -------
        CalibrationDisplay
            The drawn display.
        """
        table = calibration_table(y, probability, n_bins=n_bins, label=label)
        return cls([table]).plot(axes=axes)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        name: str | None = None,
        n_bins: int = 10,
        axes: Any = None,
    ) -> Self:
        """Draw one fitted classifier, on samples it has not seen.

        Parameters
        ----------
        estimator : classifier
            Fitted.
        X, y : array-like
            Test samples, of two classes.
        name : str, optional
            The name to show, by default that of its class.
        n_bins : int, default=10
            Number of equal intervals.
        axes : two matplotlib Axes, optional
            Where to draw shares and counts; a new figure if not given.

        Returns
        -------
        CalibrationDisplay
            The drawn display.
        """
        one = {name or type(estimator).__name__: estimator}
        return cls.from_estimators(one, X, y, n_bins=n_bins, axes=axes)

    @classmethod
    def from_estimators(
        cls, estimators: Any, X: Any, y: Any, *, n_bins: int = 10, axes: Any = None
    ) -> Self:
        """Draw fitted classifiers side by side, on samples they have not seen.

        Parameters
        ----------
        estimators : mapping of str to classifier
            Fitted, by the name to show.
        X, y : array-like
            Test samples, of two classes.
        n_bins : int, default=10
            Number of equal intervals.
        axes : two matplotlib Axes, optional
            Where to draw shares and counts; a new figure if not given.

        Returns
        -------
        CalibrationDisplay
            The drawn display.
        """
        tables = calibration_tables(estimators, X, y, n_bins=n_bins)
        return cls(tables).plot(axes=axes)

    def plot(self, *, axes: Any = None, **kwargs: Any) -> Self:
        """Draw the tables.

        Parameters
        ----------
        axes : two matplotlib Axes, optional
            Where to draw shares and counts; a new figure if not given.
        **kwargs
            For the shares, as ``Axes.errorbar`` takes them.

        Returns
        -------
        CalibrationDisplay
            The display itself.
        """
        given = None if axes is None else tuple(axes)
        self.ax_, self.counts_ax_ = renderer.plot(self.picture, given, **kwargs)
        self.figure_ = self.ax_.figure
        return self


# -- nested predictor sets -------------------------------------------------------------


@dataclass(frozen=True)
class _Lines:
    """Lines over numbers; one without a name is drawn as dots that are not joined."""

    lines: Mapping[str, tuple[FloatArray, FloatArray]]
    x_axis: str
    y_axis: str
    marker: str = "."
    names: tuple[tuple[str, float, float], ...] = ()
    shift: tuple[int, int] = (4, 4)  # points between a dot and its name
    rings: Mapping[str, float] = field(default_factory=dict)


@renderer.draw.register
def _draw_lines(picture: _Lines, ax: Axes, **kwargs: Any) -> None:
    for label, (x, y) in picture.lines.items():
        if not label:
            ax.scatter(x, y, **kwargs)
            continue
        look = {"marker": picture.marker, **kwargs}
        (line,) = ax.plot(x, y, label=label, **look)
        if label in picture.rings:
            best, colour = (picture.rings[label], y.max()), line.get_color()
            ax.plot(*best, "o", ms=10, mfc="none", mec=colour)
    for name, across, up in picture.names:
        ax.annotate(
            name,
            (across, up),
            xytext=picture.shift,
            textcoords="offset points",
            fontsize="small",
            parse_math=False,
        )
    ax.set_xlabel(picture.x_axis)
    ax.set_ylabel(picture.y_axis)
    if any(picture.lines):
        ax.legend()


def _names(names: Any, x: FloatArray, y: FloatArray) -> tuple[Any, ...]:
    return () if names is None else tuple(zip(names, x, 100 * y, strict=False))


def _vector(values: ArrayLike, length: int, name: str) -> FloatArray:
    found = np.asarray(values, dtype=np.float64)
    if found.shape != (length,):
        raise InputError(f"{name} has shape {found.shape}; give {length} values.")
    return found


class AlphaDisplay(_Display):
    """Size-averaged accuracy against alpha, the best one marked (figure 1).

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,)
        Exponents.
    accuracy : mapping of str to array-like of shape (n_alphas,)
        Size-averaged accuracy, as a share, of each data set or method.

    Attributes
    ----------
    best_ : dict of str to float
        The best alpha of each, tied ones averaged.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.

    Examples
    --------
    >>> from veridical.report.displays import AlphaDisplay
    >>> display = AlphaDisplay([0.2, 0.5, 0.8], {"GCM": [0.7, 0.6, 0.5]}).plot()
    >>> display.best_
    {'GCM': 0.2}
    """

    def __init__(self, alphas: ArrayLike, accuracy: Mapping[str, ArrayLike]) -> None:
        self.alphas = np.asarray(alphas, dtype=np.float64)
        self.accuracy = {
            name: _vector(values, self.alphas.size, f"accuracy of {name}")
            for name, values in accuracy.items()
        }
        self.best_ = {
            name: best_alpha(self.alphas, values)
            for name, values in self.accuracy.items()
        }
        super().__init__(
            _Lines(
                {name: (self.alphas, 100 * y) for name, y in self.accuracy.items()},
                "alpha (weight of relevance)",
                "size-averaged accuracy, %",
                rings=self.best_,
            )
        )

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str = "training data", ax: Axes | None = None
    ) -> Self:
        """Draw how a selector with ``alpha="auto"`` chose its alpha.

        Parameters
        ----------
        estimator : DifferentialPrioritization
            Fitted with ``alpha="auto"``.
        name : str
            What the curve is called.
        ax : matplotlib Axes, optional
            Where to draw.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "alpha_accuracy_"):
            raise InputError("alpha was given, not chosen; fit with alpha='auto'.")
        return cls(estimator.alphas_, {name: estimator.alpha_accuracy_}).plot(ax=ax)


class ClassesDisplay(_Display):
    """What changes with the number of classes: accuracy and its range (figure 2).

    Parameters
    ----------
    n_classes : array-like of shape (n_data,)
        Number of classes of each data set.
    values : mapping of str to array-like of shape (n_data,)
        Such as the highest accuracy and the range of class accuracies, as shares.
    names : sequence of str, optional
        What the data sets are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    def __init__(
        self,
        n_classes: ArrayLike,
        values: Mapping[str, ArrayLike],
        names: Any = None,
    ) -> None:
        self.n_classes = np.asarray(n_classes, dtype=np.float64)
        self.values = {
            label: _vector(column, self.n_classes.size, label)
            for label, column in values.items()
        }
        self.names = None if names is None else [str(name) for name in names]
        order = np.argsort(self.n_classes, kind="stable")
        first = next(iter(self.values.values()), None)
        x = self.n_classes
        super().__init__(
            _Lines(
                {label: (x[order], 100 * y[order]) for label, y in self.values.items()},
                "number of classes",
                "%",
                "o",
                () if first is None else _names(self.names, x, first),
                (0, 6),
            )
        )


class ClassFeaturesDisplay(_Display):
    """How well predictor sets serve the classes, against alpha (figure 4).

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,)
        Exponents.
    counts : array-like of shape (n_alphas, n_classes)
        Of each predictor set, how many features are among the most relevant of each
        class: see `veridical.selection.count_class_features`.

    Attributes
    ----------
    most_, median_, least_ : arrays of shape (n_alphas,)
        Counts of the classes with the largest, median and smallest mean over alphas;
        with an even number of classes the two in the middle are averaged.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    def __init__(self, alphas: ArrayLike, counts: ArrayLike) -> None:
        self.alphas = np.asarray(alphas, dtype=np.float64)
        self.counts = np.asarray(counts, dtype=np.float64)
        if self.counts.ndim != 2 or len(self.counts) != self.alphas.size:
            raise InputError(
                f"counts has shape {self.counts.shape}; give a row for each of the "
                f"{self.alphas.size} alphas and a column for each class."
            )
        order = np.argsort(self.counts.mean(axis=0), kind="stable")
        middle = order[[(order.size - 1) // 2, order.size // 2]]
        self.most_ = self.counts[:, order[-1]]
        self.median_ = self.counts[:, middle].mean(axis=1)
        self.least_ = self.counts[:, order[0]]
        served = {
            "most served class": self.most_,
            "median class": self.median_,
            "least served class": self.least_,
        }
        super().__init__(
            _Lines(
                {label: (self.alphas, values) for label, values in served.items()},
                "alpha (weight of relevance)",
                "features among the class's most relevant",
            )
        )


class ClassAccuracyDisplay(_Display):
    """Accuracy of each class against the features that serve it (figure 5).

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Features among the most relevant of each class.
    accuracy : array-like of shape (n_classes,)
        Share of each class that was classified correctly.
    classes : sequence of str, optional
        What the classes are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    """

    def __init__(
        self, counts: ArrayLike, accuracy: ArrayLike, classes: Any = None
    ) -> None:
        self.counts = np.asarray(counts, dtype=np.float64)
        self.accuracy = _vector(accuracy, self.counts.size, "accuracy")
        self.classes = None if classes is None else [str(name) for name in classes]
        super().__init__(
            _Lines(
                {"": (self.counts, 100 * self.accuracy)},
                "features among the class's most relevant",
                "class accuracy, %",
                names=_names(self.classes, self.counts, self.accuracy),
            )
        )

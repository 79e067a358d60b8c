"""Draw calibration with matplotlib: shares over probabilities, and counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import matplotlib.pyplot as plt
import numpy as np
from sklearn.utils.validation import check_is_fitted

from veridical._core.errors import InputError
from veridical.evaluation import calibration_table
from veridical.evaluation.records import CalibrationTable, Correction
from veridical.report.views.correction import observed_bounds


class CalibrationDisplay:
    """Predicted probabilities beside what happened, with the number of cases.

    Like scikit-learn's display of the same name, with what that lacks: how many cases
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
    >>> from veridical.report.calibration import CalibrationDisplay
    >>> shown = CalibrationDisplay.from_predictions([0, 1, 1], [0.2, 0.7, 0.9])
    >>> shown.tables[0].n
    3
    """

    def __init__(self, tables: Sequence[CalibrationTable]) -> None:
        self.tables = tuple(tables)

    @classmethod
    def from_correction(cls, record: Correction, *, axes: Any = None) -> Self:
        """Draw what correcting for feature selection changes.

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
        return cls([record.corrected, record.uncorrected]).plot(axes=axes)

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
        """Draw one fitted classifier, on cases it has not seen.

        Parameters
        ----------
        estimator : classifier
            Fitted.
        X, y : array-like
            Test cases, of two classes.
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
        """Draw fitted classifiers side by side, on cases they have not seen.

        Parameters
        ----------
        estimators : mapping of str to classifier
            Fitted, by the name to show.
        X, y : array-like
            Test cases, of two classes.
        n_bins : int, default=10
            Number of equal intervals.
        axes : two matplotlib Axes, optional
            Where to draw shares and counts; a new figure if not given.

        Returns
        -------
        CalibrationDisplay
            The drawn display.
        """
        tables = []
        for name, estimator in estimators.items():
            check_is_fitted(estimator)
            if len(estimator.classes_) != 2:
                raise InputError(
                    f"{name} knows {len(estimator.classes_)} classes; calibration is "
                    "drawn for two."
                )
            p = estimator.predict_proba(X)[:, 1]
            tables.append(
                calibration_table(
                    y,
                    p,
                    positive=estimator.classes_[1],
                    n_bins=n_bins,
                    label=name,
                )
            )
        return cls(tables).plot(axes=axes)

    def plot(self, *, axes: Any = None) -> Self:
        """Draw the tables.

        Parameters
        ----------
        axes : two matplotlib Axes, optional
            Where to draw shares and counts; a new figure if not given.

        Returns
        -------
        CalibrationDisplay
            The display itself.
        """
        if axes is None:
            _, axes = plt.subplots(
                2,
                1,
                sharex=True,
                height_ratios=(3, 1),
                figsize=(5.5, 6.5),
                layout="constrained",
            )
        upper, lower = axes
        upper.plot([0, 1], [0, 1], color="0.6", linestyle="--", label="honest")
        width = 0.8 / max(len(self.tables), 1)
        for i, table in enumerate(self.tables):
            _draw_shares(upper, table)
            bars = lower.bar(
                [
                    b.low + (b.high - b.low) * (0.1 + width * (i + 0.5))
                    for b in table.bins
                ],
                [b.n for b in table.bins],
                [width * (b.high - b.low) for b in table.bins],
                label=table.label,
            )
            lower.bar_label(bars, fontsize="x-small")
        upper.set_xlim(-0.02, 1.02)
        upper.set_ylim(-0.02, 1.02)
        upper.set_ylabel("share observed")
        lower.set_xlabel("probability predicted")
        lower.set_ylabel("cases")
        lower.margins(y=0.2)
        for text in upper.legend(loc="upper left").get_texts():
            text.set_parse_math(False)  # a dollar sign is no mathematics
        self.ax_, self.counts_ax_, self.figure_ = upper, lower, upper.figure
        return self


def _draw_shares(ax: Any, table: CalibrationTable) -> None:
    seen = [b for b in table.bins if b.n]
    shares = np.array([b.observed for b in seen], dtype=float)
    bounds = np.array([observed_bounds(b) for b in seen], dtype=float).reshape(-1, 2)
    spans = np.abs(bounds - shares[:, None]).T
    ax.errorbar(
        [b.predicted for b in seen],
        shares,
        yerr=spans,
        marker="o",
        capsize=2,
        label=f"\N{ZERO WIDTH SPACE}{table.label}",  # "_" would hide it
    )

"""Pictures of nested predictor sets: exponents, classes, and what serves them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical.selection import best_alpha


class _Display:
    """Axes to draw in, kept as ``ax_`` and ``figure_``."""

    ax_: Axes
    figure_: Any

    def _axes(self, ax: Axes | None) -> Axes:
        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


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
    >>> from veridical.report.predictor_sets import AlphaDisplay
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

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw a curve for each, with a ring at its best alpha.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        """
        ax = self._axes(ax)
        for name, values in self.accuracy.items():
            (line,) = ax.plot(self.alphas, 100 * values, marker=".", label=name)
            top = 100 * values.max()
            ax.plot(self.best_[name], top, "o", ms=10, mfc="none", mec=line.get_color())
        ax.set_xlabel("alpha (weight of relevance)")
        ax.set_ylabel("size-averaged accuracy, %")
        ax.legend()
        return self


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

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw one curve for each kind of value, over the number of classes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        """
        ax = self._axes(ax)
        order = np.argsort(self.n_classes, kind="stable")
        for label, column in self.values.items():
            ax.plot(self.n_classes[order], 100 * column[order], marker="o", label=label)
        if self.names is not None and self.values:
            first = next(iter(self.values.values()))
            for i, name in enumerate(self.names):
                ax.annotate(
                    name,
                    (self.n_classes[i], 100 * first[i]),
                    textcoords="offset points",
                    xytext=(0, 6),
                    fontsize="small",
                    parse_math=False,
                )
        ax.set_xlabel("number of classes")
        ax.set_ylabel("%")
        ax.legend()
        return self


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

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the three curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        """
        ax = self._axes(ax)
        for label, values in (
            ("most served class", self.most_),
            ("median class", self.median_),
            ("least served class", self.least_),
        ):
            ax.plot(self.alphas, values, marker=".", label=label)
        ax.set_xlabel("alpha (weight of relevance)")
        ax.set_ylabel("features among the class's most relevant")
        ax.legend()
        return self


class ClassAccuracyDisplay(_Display):
    """Accuracy of each class against the features that serve it (figure 5).

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Features among the most relevant of each class.
    accuracy : array-like of shape (n_classes,)
        Share of each class that was named rightly.
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

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw a dot for each class.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        """
        ax = self._axes(ax)
        ax.scatter(self.counts, 100 * self.accuracy)
        for i, name in enumerate(self.classes or ()):
            ax.annotate(
                name,
                (self.counts[i], 100 * self.accuracy[i]),
                textcoords="offset points",
                xytext=(4, 4),
                fontsize="small",
                parse_math=False,
            )
        ax.set_xlabel("features among the class's most relevant")
        ax.set_ylabel("class accuracy, %")
        return self

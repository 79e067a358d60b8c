"""Results of the prioritization study, tables and pictures.

Accuracies are in per cent, ranges in percentage points, class features are counts.

======  =============================================================  =========
symbol  meaning                                                        shape
======  =============================================================  =========
A       size-averaged accuracy by alpha and split                      (a, f)
classA  the same by class; NaN where a class was not tested            (a, f, K)
TC      class features by alpha and split                              (a, f, K)
======  =============================================================  =========
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from veridical.comparison import corrected_resampled_t
from veridical.experiments import Curve, InputError, Interval, Picture, StudyTable
from veridical.papers.expression import DATA, get_arrays
from veridical.selection import best_alpha

FloatArray = NDArray[np.float64]

# Number of bootstrap resamples of the splits.
_RESAMPLES = 500


@dataclass(frozen=True, eq=False)
class DataSetResult:
    """Results of one data set with one kind of relevance.

    Parameters
    ----------
    data : str
        Its name.
    alphas : array of shape (a,)
        Exponents.
    A, classA, TC : arrays
        As in the table of this module.
    relevance, correlation : arrays of shape (a, f)
        Means of the largest predictor set.
    """

    data: str
    alphas: FloatArray
    A: FloatArray
    classA: FloatArray
    TC: FloatArray
    relevance: FloatArray
    correlation: FloatArray

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.TC.shape[2])

    @property
    def n_splits(self) -> int:
        """Number of splits that have every alpha."""
        return int(self.A.shape[1])

    @property
    def title(self) -> str:
        """Title of the data set."""
        return DATA[self.data].title

    def take(self, splits: Any) -> DataSetResult:
        """Return the results on some splits, which may be repeated."""
        return DataSetResult(
            self.data,
            self.alphas,
            self.A[:, splits],
            self.classA[:, splits],
            self.TC[:, splits],
            self.relevance[:, splits],
            self.correlation[:, splits],
        )

    @property
    def best_alpha(self) -> float:
        """The alpha of the highest accuracy; tied ones are averaged."""
        return best_alpha(self.alphas, self.A.mean(axis=1) / 100)

    @property
    def at_best(self) -> int:
        """Index of the alpha nearest to the best."""
        return int(np.argmin(np.abs(self.alphas - self.best_alpha)))

    @property
    def highest(self) -> float:
        """Accuracy at the best alpha."""
        return float(self.A.mean(axis=1).max())

    @property
    def class_accuracy(self) -> FloatArray:
        """Accuracy of each class at the best alpha; NaN if it was never tested."""
        found = self.classA[self.at_best]
        tested = np.count_nonzero(~np.isnan(found), axis=0)
        total = np.nansum(found, axis=0)
        return np.where(tested > 0, total / np.maximum(tested, 1), np.nan)

    @property
    def spread(self) -> float:
        """Accuracy of the best class minus that of the worst, at the best alpha."""
        return float(np.nanmax(self.class_accuracy) - np.nanmin(self.class_accuracy))

    @property
    def counts(self) -> FloatArray:
        """Class features, averaged over splits, shape (a, K)."""
        return self.TC.mean(axis=1)

    @property
    def imbalance(self) -> FloatArray:
        """Largest minus smallest number of class features, by alpha."""
        return np.ptp(self.counts, axis=1)

    def class_feature_range(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the class features of the highest, median and lowest class, by alpha.

        Classes are ranked by their mean over all alphas; with an even number of them
        the median is the average of the two in the middle.
        """
        order = np.argsort(self.counts.mean(axis=0), kind="stable")
        middle = order[[(len(order) - 1) // 2, len(order) // 2]]
        counts = self.counts
        return counts[:, order[-1]], counts[:, middle].mean(axis=1), counts[:, order[0]]


@dataclass(frozen=True, eq=False)
class PredictorSetResults:
    """All results, by kind of relevance and data set."""

    results: dict[tuple[str, str], DataSetResult]

    @classmethod
    def from_cells(cls, frame: pd.DataFrame) -> PredictorSetResults:
        """Sort the cells of a store; failed cells are left out."""
        good = frame[frame["status"] == "ok"]
        results = {}
        for key, group in good.groupby(["relevance", "data"]):
            relevance, data = (str(part) for part in key)
            found = _arrange(data, group)
            if found is not None:
                results[relevance, data] = found
        return cls(results)

    def with_relevance(self, relevance: str) -> list[DataSetResult]:
        """Return the results with one kind of relevance, the most classes first."""
        return [
            self.results[relevance, name]
            for name in DATA
            if (relevance, name) in self.results
        ]

    def pairs(self) -> list[tuple[DataSetResult, DataSetResult]]:
        """Return the results of data sets with both kinds of relevance."""
        return [
            (one, self.results["one-vs-all", one.data])
            for one in self.with_relevance("all-classes")
            if ("one-vs-all", one.data) in self.results
        ]


def _arrange(data: str, group: pd.DataFrame) -> DataSetResult | None:
    """Arrange the cells of one data set in arrays; only splits with every alpha."""
    alphas = np.sort(group["alpha"].unique())
    per_split = group.groupby("split")["alpha"].nunique()
    splits = per_split.index[per_split == alphas.size]
    if not len(splits):
        return None
    K = DATA[data].n_classes
    ordered = group[group["split"].isin(splits)].sort_values(["alpha", "split"])
    shape = (alphas.size, len(splits))

    def block(*names: str) -> FloatArray:
        values = ordered[list(names)].to_numpy(dtype=np.float64)
        return values.reshape(*shape, len(names))

    def by_class(name: str) -> FloatArray:
        return block(*(f"{name}_{k}" for k in range(K)))

    tested = by_class("class_tested")
    return DataSetResult(
        data,
        alphas.astype(np.float64),
        100 * block("accuracy")[..., 0],
        np.where(tested > 0, 100 * by_class("class_accuracy"), np.nan),
        by_class("class_features"),
        block("mean_relevance")[..., 0],
        block("mean_correlation")[..., 0],
    )


def correlate_with_classes(
    results: list[DataSetResult], statistic: Callable[[DataSetResult], float]
) -> Interval:
    """Return the Spearman correlation of a statistic with the number of classes.

    The interval contains 95 % of the values on resampled splits: it measures the
    variation over splits, not over data sets.
    """

    def correlate(given: list[DataSetResult]) -> float:
        values = [statistic(one) for one in given]
        if np.ptp(values) == 0:
            return 0.0
        return float(np.corrcoef(classes, stats.rankdata(values))[0, 1])

    classes = stats.rankdata([one.n_classes for one in results])

    rng = np.random.default_rng(0)
    drawn = [
        correlate(
            [one.take(rng.integers(one.n_splits, size=one.n_splits)) for one in results]
        )
        for _ in range(_RESAMPLES)
    ]
    low, high = np.percentile(drawn, (2.5, 97.5))
    return Interval(correlate(results), float(low), float(high))


def over_splits(values: FloatArray, data: str) -> Interval:
    """Return the mean over splits with a 95 % t interval for overlapping splits.

    The variance of the mean is that of Nadeau and Bengio (2003).
    """
    mean = float(values.mean())
    if values.size < 2:
        return Interval(mean, -np.inf, np.inf)
    row = DATA[data]
    sizes = {"n_train": row.n_train, "n_test": row.n_test}
    test = corrected_resampled_t(values, np.zeros_like(values), **sizes)
    return Interval(mean, *test.interval)


# -- tables and pictures -------------------------------------------------------------

#: Display names of the kinds of relevance.
RELEVANCE_NAMES = {"all-classes": "all classes", "one-vs-all": "one-vs-all"}


def make_tables(figures: PredictorSetResults) -> Iterator[StudyTable]:
    """Tabulate best alpha, highest accuracy and class accuracies by data set."""
    header = (
        "Data set",
        "Classes",
        "Relevance",
        "Best alpha",
        "Highest accuracy, %",
        "Best class, %",
        "Worst class, %",
        "Range, points",
        "Most to least class features at the best alpha",
        "Splits",
    )
    rows = []
    for one in figures.with_relevance("all-classes"):
        other = figures.results.get(("one-vs-all", one.data))
        for kind, found in (("all-classes", one), ("one-vs-all", other)):
            if found is not None:
                rows.append(_row(kind, found))
    if rows:
        yield StudyTable(
            "Predictor sets on each data set",
            header,
            tuple(rows),
            (
                "Accuracies are size-averaged; the interval is for the mean over "
                "splits, corrected for the overlap of splits.",
            ),
        )


def _row(kind: str, one: DataSetResult) -> tuple[str, ...]:
    names = _class_names(one)
    accuracy = one.class_accuracy
    best, worst = int(np.nanargmax(accuracy)), int(np.nanargmin(accuracy))
    mean = over_splits(one.A[one.at_best], one.data)
    low, high = max(mean.low, 0.0), min(mean.high, 100.0)
    spread = f" ({low:.1f} to {high:.1f})" if one.n_splits > 1 else ""
    features = one.counts[one.at_best]
    return (
        one.title,
        str(one.n_classes),
        RELEVANCE_NAMES[kind],
        f"{one.best_alpha:.2g}",
        f"{one.highest:.1f}{spread}",
        f"{accuracy[best]:.1f} ({names[best]})",
        f"{accuracy[worst]:.1f} ({names[worst]})",
        f"{one.spread:.1f}",
        f"{features.max():.1f} to {features.min():.1f}",
        str(one.n_splits),
    )


def _class_names(one: DataSetResult) -> tuple[str, ...]:
    try:
        return get_arrays(one.data).classes
    except InputError:  # the report does not need the data
        return tuple(f"class {k + 1}" for k in range(one.n_classes))


def draw_pictures(figures: PredictorSetResults) -> Iterator[Picture]:
    """Draw the paper's figures 1, 2, 4 and 5."""
    results = figures.with_relevance("all-classes")
    yield from _accuracy_by_alpha(figures)
    if results:
        yield from _by_classes(figures)
    for one in results:
        yield _class_features(one)
    for one in results:
        yield _accuracy_by_features(one)


def _accuracy_by_alpha(figures: PredictorSetResults) -> Iterator[Picture]:
    for one in figures.with_relevance("all-classes"):
        curves = []
        for kind, label in RELEVANCE_NAMES.items():
            found = figures.results.get((kind, one.data))
            if found is not None:
                values = tuple(over_splits(row, one.data) for row in found.A)
                curves.append(Curve(label, tuple(range(len(values))), values))
        yield Picture(
            "Size-averaged accuracy by alpha (figure 1)",
            f"{one.title}, {one.n_classes} classes",
            "accuracy, %",
            (("alpha", tuple(f"{alpha:g}" for alpha in one.alphas)),),
            tuple(curves),
        )


def _by_classes(figures: PredictorSetResults) -> Iterator[Picture]:
    group = "Data sets by their number of classes (figures 1 and 2)"
    results = figures.with_relevance("all-classes")
    places = tuple(f"{one.title} ({one.n_classes})" for one in reversed(results))
    titles: dict[str, tuple[str, Callable[[DataSetResult], float]]] = {
        "Best alpha": ("alpha", lambda one: one.best_alpha),
        "Highest size-averaged accuracy": ("accuracy, %", lambda one: one.highest),
        "Range of class accuracies": ("points", lambda one: one.spread),
    }
    for title, (unit, statistic) in titles.items():
        curves = []
        for kind, label in RELEVANCE_NAMES.items():
            found = {
                i: figures.results[kind, one.data]
                for i, one in enumerate(reversed(results))
                if (kind, one.data) in figures.results
            }
            values = tuple(_point(statistic(one)) for one in found.values())
            if found:
                curves.append(Curve(label, tuple(found), values))
        yield Picture(group, title, unit, (("data (classes)", places),), tuple(curves))


def _class_features(one: DataSetResult) -> Picture:
    places = tuple(range(one.alphas.size))
    labels = ("class with the most", "median class", "class with the least")
    return Picture(
        "Class features by alpha (figure 4)",
        f"{one.title}, {one.n_classes} classes",
        "class features",
        (("alpha", tuple(f"{alpha:g}" for alpha in one.alphas)),),
        tuple(
            Curve(label, places, _points(values))
            for label, values in zip(labels, one.class_feature_range(), strict=True)
        ),
    )


def _accuracy_by_features(one: DataSetResult) -> Picture:
    features, accuracy = one.counts[one.at_best], one.class_accuracy
    order = [k for k in np.argsort(features, kind="stable") if accuracy[k] >= 0]
    names = _class_names(one)
    return Picture(
        "Class accuracy, classes in the order of their class features (figure 5)",
        f"{one.title}, alpha {one.best_alpha:.2g}",
        "accuracy, %",
        (
            (
                "class (class features)",
                tuple(f"{names[k]} ({features[k]:.0f})" for k in order),
            ),
        ),
        (Curve("class", tuple(range(len(order))), _points(accuracy[order])),),
    )


def _point(value: float) -> Interval:
    return Interval(float(value), float(value), float(value))


def _points(values: FloatArray) -> tuple[Interval, ...]:
    return tuple(_point(value) for value in values)

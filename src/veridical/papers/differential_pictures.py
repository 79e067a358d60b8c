"""The prioritization paper's tables and figures, from ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.records import Interval
from veridical.experiments.findings import Curve, Picture, StudyTable
from veridical.papers.differential_data import DATA, get_arrays
from veridical.papers.differential_figures import Figures, Result, over_splits

#: What the two kinds of relevance are called.
KINDS = {"all-classes": "all classes", "one-vs-all": "one-vs-all"}


def make_tables(figures: Figures) -> Iterator[StudyTable]:
    """Best alpha, highest accuracy and class accuracies of every data set."""
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
    for one in figures.of_kind("all-classes"):
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
                "splits, corrected for what splits have in common.",
            ),
        )


def _row(kind: str, one: Result) -> tuple[str, ...]:
    names = _class_names(one)
    accuracy = one.class_accuracy
    best, worst = int(np.nanargmax(accuracy)), int(np.nanargmin(accuracy))
    mean = over_splits(one.A[one.at_best], DATA[one.data].test_share)
    low, high = max(mean.low, 0.0), min(mean.high, 100.0)
    spread = f" ({low:.1f} to {high:.1f})" if one.n_splits > 1 else ""
    features = one.counts[one.at_best]
    return (
        one.title,
        str(one.n_classes),
        KINDS[kind],
        f"{one.best_alpha:.2g}",
        f"{one.highest:.1f}{spread}",
        f"{accuracy[best]:.1f} ({names[best]})",
        f"{accuracy[worst]:.1f} ({names[worst]})",
        f"{one.spread:.1f}",
        f"{features.max():.1f} to {features.min():.1f}",
        str(one.n_splits),
    )


def _class_names(one: Result) -> tuple[str, ...]:
    try:
        return get_arrays(one.data).classes
    except ValueError:  # the report may be made where the data are not
        return tuple(f"class {k + 1}" for k in range(one.n_classes))


def draw_pictures(figures: Figures) -> Iterator[Picture]:
    """The paper's figures 1, 2, 4 and 5."""
    results = figures.of_kind("all-classes")
    yield from _accuracy_by_alpha(figures)
    if results:
        yield from _by_classes(figures)
    for one in results:
        yield _class_features(one)
    for one in results:
        yield _accuracy_by_features(one)


def _accuracy_by_alpha(figures: Figures) -> Iterator[Picture]:
    for one in figures.of_kind("all-classes"):
        curves = []
        for kind, label in KINDS.items():
            found = figures.results.get((kind, one.data))
            if found is not None:
                share = DATA[one.data].test_share
                values = tuple(over_splits(row, share) for row in found.A)
                curves.append(Curve(label, tuple(range(len(values))), values))
        yield Picture(
            "Size-averaged accuracy by alpha (figure 1)",
            f"{one.title}, {one.n_classes} classes",
            "accuracy, %",
            (("alpha", tuple(f"{alpha:g}" for alpha in one.alphas)),),
            tuple(curves),
        )


def _by_classes(figures: Figures) -> Iterator[Picture]:
    group = "Data sets by their number of classes (figures 1 and 2)"
    results = figures.of_kind("all-classes")
    places = tuple(f"{one.title} ({one.n_classes})" for one in reversed(results))
    titles: dict[str, tuple[str, Callable[[Result], float]]] = {
        "Best alpha": ("alpha", lambda one: one.best_alpha),
        "Highest size-averaged accuracy": ("accuracy, %", lambda one: one.highest),
        "Range of class accuracies": ("points", lambda one: one.spread),
    }
    for title, (unit, statistic) in titles.items():
        curves = []
        for kind, label in KINDS.items():
            found = {
                i: figures.results[kind, one.data]
                for i, one in enumerate(reversed(results))
                if (kind, one.data) in figures.results
            }
            values = tuple(_point(statistic(one)) for one in found.values())
            if found:
                curves.append(Curve(label, tuple(found), values))
        yield Picture(group, title, unit, (("data (classes)", places),), tuple(curves))


def _class_features(one: Result) -> Picture:
    places = tuple(range(one.alphas.size))
    labels = ("most served class", "median class", "least served class")
    return Picture(
        "Class features by alpha (figure 4)",
        f"{one.title}, {one.n_classes} classes",
        "class features",
        (("alpha", tuple(f"{alpha:g}" for alpha in one.alphas)),),
        tuple(
            Curve(label, places, _points(values))
            for label, values in zip(labels, one.served(), strict=True)
        ),
    )


def _accuracy_by_features(one: Result) -> Picture:
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

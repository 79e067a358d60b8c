"""The page of a selection: the accuracy of doing it, the features, the classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from veridical._core.numbers import count, percent, percent_range
from veridical._core.records import Interval
from veridical.evaluation.intervals import wilson
from veridical.evaluation.records import Selection
from veridical.experiments.findings import Curve, Picture
from veridical.report import render, studies
from veridical.report.draw import bar
from veridical.report.rows_draw import Row, rows
from veridical.report.schema import DataInfo
from veridical.report.summarize import clean, clean_settings, data_info, finite

SCHEMA = "veridical/selection/1"
CONFIDENCE = 0.95
#: More places than this on an axis are too many to name.
MOST_PLACES = 12
#: More classes than this are too many rows for a picture.
MOST_CLASSES = 20


#: Kinds of intervals of an accuracy, in words.
_INTERVALS = {
    "wilson": "Wilson's 95 % interval for independent cases; that training folds "
    "overlap is not in it",
    "corrected-t": "the corrected 95 % t interval over folds, which knows that "
    "training folds overlap (Nadeau and Bengio)",
    "": "not defined for these splits",
}


class FeatureInfo(TypedDict):
    """A selected feature; ``n_folds`` is in how many folds it was selected too."""

    rank: int
    index: int
    name: str
    score: float | None
    n_folds: int


class ClassInfo(TypedDict):
    """One class: cases tested, and the share of them named rightly."""

    name: str
    n_test: int
    accuracy: float


class SizeInfo(TypedDict):
    """Accuracy with so many of the leading features, on the same folds."""

    size: int
    accuracy: float


class AlphaInfo(TypedDict):
    """Size-averaged accuracy of one exponent, on splits of all cases."""

    alpha: float
    accuracy: float


class SelectionWords(TypedDict):
    """The selection in sentences; ``belief`` is "yes", "open" or "no"."""

    headline: str
    belief: str
    evidence: str
    notes: list[str]


class SelectionSummary(TypedDict):
    """Everything the page of a selection shows, as plain numbers and strings."""

    schema: str
    kind: str
    selector: str
    estimator: str
    n_features_to_select: int
    data: DataInfo
    accuracy: float
    low: float | None
    high: float | None
    interval: str
    n_test: int
    n_folds: int
    features: list[FeatureInfo]
    classes: list[ClassInfo]
    sizes: list[SizeInfo]
    paths: dict[str, list[float]]
    alpha: float | None
    alphas: list[AlphaInfo]
    fold_alphas: list[float]
    settings: dict[str, str]
    words: SelectionWords


def save(record: Selection, path: str | Path) -> Path:
    """Write a selection as one self-contained HTML page.

    Parameters
    ----------
    record : Selection
        What `veridical.select` returned.
    path : str or Path
        Where to write it; an older page is replaced in a single step.

    Raises
    ------
    InputError
        Where the page cannot be written there.
    """
    return render.write(page(record), path)


def page(record: Selection) -> str:
    """Write a selection as HTML."""
    summary = to_json(record)
    return render.whole("selection", summary, _drawings(record, summary))


def fragment(record: Selection) -> str:
    """Show a selection in a notebook: its answer, its picture and its features."""
    summary = to_json(record)
    return render.part("selection", summary, _drawings(record, summary))


def _drawings(record: Selection, summary: SelectionSummary) -> dict[str, Any]:
    """Draw the accuracy and that of each class, the worst first where they are many."""
    together = Row("All cases", *drawn_interval(record))
    bounds = [
        wilson(one["accuracy"], one["n_test"]) if one["n_test"] else (None, None)
        for one in summary["classes"]
    ]
    classes = [
        Row(one["name"], one["accuracy"], low, high, "b")
        for one, (low, high) in zip(summary["classes"], bounds, strict=True)
        if low is not None and high is not None
    ]
    drawn = classes
    if len(classes) > MOST_CLASSES:
        drawn = sorted(classes, key=lambda row: row.value)[:MOST_CLASSES]
    chance = summary["data"]["chance"]
    return {
        "accuracy": rows([together, *drawn], chance=chance),
        "bounds": bounds,
        "left_out": len(classes) - len(drawn),
        "paths": [_drawn(picture) for picture in pictures(record)],
        "bar": bar,
    }


def drawn_interval(record: Selection) -> Interval:
    """Return the accuracy with what to draw around it: nothing without an interval."""
    found = record.accuracy
    return found if record.interval else Interval(found.value, found.value, found.value)


def _drawn(picture: Picture) -> dict[str, Any]:
    return {
        "title": clean(picture.title),
        "unit": clean(picture.unit),
        "key": [
            {"label": clean(curve.label), "look": studies.LOOKS[i]}
            for i, curve in enumerate(picture.curves)
        ],
        "svg": studies.draw(picture),
    }


# -- plain numbers and strings -------------------------------------------------------


def to_json(record: Selection) -> SelectionSummary:
    """Turn a selection into plain numbers, strings, lists and dicts, safe to show."""
    return {
        "schema": SCHEMA,
        "kind": "selection",
        "selector": clean(record.selector),
        "estimator": clean(record.estimator),
        "n_features_to_select": len(record.features),
        "data": data_info(record.data),
        "accuracy": float(record.accuracy.value),
        "low": finite(record.accuracy.low),
        "high": finite(record.accuracy.high),
        "interval": record.interval,
        "n_test": record.n_test,
        "n_folds": record.n_folds,
        "features": [
            {
                "rank": rank,
                "index": feature.index,
                "name": clean(feature.name),
                "score": None if feature.score is None else finite(feature.score),
                "n_folds": feature.n_folds,
            }
            for rank, feature in enumerate(record.features, 1)
        ],
        "classes": [
            {"name": clean(one.name), "n_test": one.n_test, "accuracy": one.accuracy}
            for one in record.classes
        ],
        "sizes": [
            {"size": size, "accuracy": accuracy}
            for size, accuracy in zip(record.sizes, record.size_accuracy, strict=True)
        ],
        "paths": {clean(name): list(values) for name, values in record.paths.items()},
        "alpha": record.alpha,
        "alphas": [
            {"alpha": alpha, "accuracy": accuracy}
            for alpha, accuracy in zip(
                record.alphas, record.alpha_accuracy, strict=True
            )
        ],
        "fold_alphas": list(record.fold_alphas),
        "settings": clean_settings(record.settings),
        "words": _words(record),
    }


def _words(record: Selection) -> SelectionWords:
    found, chance = record.accuracy, record.data.majority_share
    belief = "yes" if found.low > chance else "no" if found.high < chance else "open"
    what = f"{count(len(record.features), 'feature')} by {clean(record.selector)}"
    verdict = {
        "yes": "clearly more than",
        "open": "not shown to be more than",
        "no": "less than",
    }[belief]
    bounds = "no interval"
    if record.interval:
        bounds = percent_range(found.low, found.high)
    worst = min(record.classes, key=lambda one: one.accuracy)
    best = max(record.classes, key=lambda one: one.accuracy)
    return {
        "headline": (
            f"With {what}, {clean(record.estimator)} names {percent(found.value)} of "
            f"new cases rightly ({bounds}), {verdict} "
            f"the {percent(chance)} of always naming the most frequent class."
        ),
        "belief": belief,
        "evidence": (
            f"Measured on {count(record.n_test, 'case')} in "
            f"{count(record.n_folds, 'split')} "
            f"({clean(record.settings.get('cross-validation', 'cross-validation'))}); "
            "in every training set features were selected"
            + (", the exponent chosen" if record.fold_alphas else "")
            + " and the estimator trained anew. "
            + (
                f"Best class {clean(best.name)} ({percent(best.accuracy)}), worst "
                f"{clean(worst.name)} ({percent(worst.accuracy)})."
                if worst.accuracy < best.accuracy
                else f"The same {percent(best.accuracy)} in every class."
            )
        ),
        "notes": [*(clean(note, 2000) for note in record.notes), *_remarks(record)],
    }


def _remarks(record: Selection) -> list[str]:
    remarks = [
        f"The interval is {_INTERVALS[record.interval]}; those of classes are Wilson's "
        "for independent cases.",
        "The features listed were selected on all cases; the accuracy is that of "
        "selecting them this way, not of this very list.",
    ]
    if len(record.sizes) > 1:
        remarks.append(
            "To choose a size by its accuracy in the picture, and then to claim that "
            "accuracy, flatters: decide the size beforehand, or choose it inside the "
            "folds."
        )
    if record.fold_alphas:
        low, high = min(record.fold_alphas), max(record.fold_alphas)
        remarks.append(
            f"On all cases the exponent alpha is {record.alpha:.2g}; the folds chose "
            f"{low:.2g} to {high:.2g}."
        )
    return remarks


# -- pictures ------------------------------------------------------------------------


def pictures(record: Selection) -> list[Picture]:
    """Accuracy by size, what the selector says of its path, and the exponents."""
    drawn = []
    if len(record.sizes) > 1:
        drawn.append(
            _picture(
                "Accuracy with the first features",
                "accuracy, %",
                "features",
                [str(size) for size in record.sizes],
                {"cross-validated": [100 * v for v in record.size_accuracy]},
            )
        )
    for name, values in record.paths.items():
        if len(values) > 1:
            places = [str(k) for k in range(1, len(values) + 1)]
            title = f"{name[:1].upper()}{name[1:]} of the first features"
            drawn.append(
                _picture(title, name, "features", places, {name: list(values)})
            )
    if record.alphas:
        drawn.append(
            _picture(
                "Size-averaged accuracy by alpha, on splits of all cases",
                "accuracy, %",
                "alpha",
                [f"{alpha:g}" for alpha in record.alphas],
                {"size-averaged": [100 * v for v in record.alpha_accuracy]},
            )
        )
    return drawn


def _picture(
    title: str,
    unit: str,
    axis: str,
    places: list[str],
    curves: dict[str, list[float]],
) -> Picture:
    step = -(-len(places) // MOST_PLACES)
    last = len(places) - 1
    named = tuple(
        name if i == last or (i % step == 0 and last - i >= step) else ""
        for i, name in enumerate(places)
    )
    return Picture(
        "path",
        title,
        unit,
        ((axis, named),),
        tuple(
            Curve(
                label,
                tuple(range(len(values))),
                tuple(Interval(value, value, value) for value in values),
            )
            for label, values in curves.items()
        ),
    )

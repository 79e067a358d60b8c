"""A selection: which features, how good is selecting them, and do folds repeat them?"""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from veridical._core.numbers import MINUS, MISSING, count, percent, percent_range
from veridical._core.records import Interval
from veridical._core.text import names as listing
from veridical.evaluation.intervals import wilson
from veridical.evaluation.records import SelectedFeature, Selection
from veridical.report.plain import (
    LONGEST_TEXT,
    DataInfo,
    IntervalSummary,
    clean,
    clean_settings,
    data_info,
    finite,
    interval,
    to_json,
)
from veridical.report.view import (
    Badge,
    Block,
    Bounds,
    Cell,
    Curve,
    Curves,
    Fact,
    Figure,
    Intervals,
    Mark,
    Notes,
    Panel,
    Rows,
    Section,
    Text,
    View,
    Warn,
    bounded,
    in_full,
    majority,
    on_majority,
    paragraph,
    provenance,
    said_data,
    size_of,
    table,
    view,
)

SCHEMA = "veridical/selection/1"
#: More places than this on an axis are too many to name.
MOST_PLACES = 12
#: More classes than this are too many rows for a picture.
MOST_CLASSES = 20
#: More features beside the list than this are left to the JSON.
MOST_OTHERS = 200
#: Kinds of intervals of an accuracy, in words.
_INTERVALS = {
    "wilson": "Wilson's 95 % interval for independent cases; it does not account for "
    "the overlap of training folds",
    "corrected-t": "the corrected 95 % t interval over folds, which accounts for the "
    "overlap of training folds (Nadeau and Bengio 2003)",
    "": "none is valid for this way of splitting",
}
BADGES = {
    "yes": "Better than the majority class",
    "care": "Accurate, but the list is not stable",
    "open": "Not shown to be better than the majority class",
    "no": "Worse than the majority class",
}


class FeatureInfo(TypedDict):
    """A selected feature; ``n_folds`` is in how many folds it was selected too."""

    rank: int
    index: int
    name: str
    score: float | None
    n_folds: int


class OtherFeature(TypedDict):
    """A feature that folds selected and the list lacks."""

    index: int
    name: str
    score: float | None
    n_folds: int


class ClassInfo(TypedDict):
    """One class: cases tested, and the share of them classified correctly."""

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
    """The selection in sentences.

    ``belief`` is "yes", "care" (accurate, but folds do not repeat the list), "open" or
    "no".
    """

    headline: str
    belief: str
    evidence: str
    notes: list[str]


class SelectionSummary(TypedDict):
    """Everything the page of a selection shows, as plain numbers and strings.

    ``other_features`` are those that folds selected and the list lacks; ``consensus``
    names the features that at least half of the folds selected.
    """

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
    other_features: list[OtherFeature]
    consensus: list[str]
    stability: IntervalSummary | None
    classes: list[ClassInfo]
    sizes: list[SizeInfo]
    size_intervals: list[IntervalSummary]
    paths: dict[str, list[float]]
    alpha: float | None
    alphas: list[AlphaInfo]
    fold_alphas: list[float]
    settings: dict[str, str]
    words: SelectionWords


# -- plain numbers ---------------------------------------------------------------------


@to_json.register
def summarize(record: Selection) -> Any:
    """Turn a selection into plain numbers and strings."""
    belief, headline = record.conclusion
    summary: SelectionSummary = {
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
            {"rank": rank, **_feature(feature)}
            for rank, feature in enumerate(record.features, 1)
        ],
        "other_features": [_feature(feature) for feature in record.other_features],
        "consensus": [clean(feature.name) for feature in record.consensus],
        "stability": None if record.stability is None else interval(record.stability),
        "classes": [
            {"name": clean(one.name), "n_test": one.n_test, "accuracy": one.accuracy}
            for one in record.classes
        ],
        "sizes": [
            {"size": size, "accuracy": accuracy}
            for size, accuracy in zip(record.sizes, record.size_accuracy, strict=True)
        ],
        "size_intervals": [interval(one) for one in record.size_intervals],
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
        "words": {
            "headline": clean(headline, LONGEST_TEXT),
            "belief": belief,
            "evidence": clean(_evidence(record), LONGEST_TEXT),
            "notes": [*(clean(note, 2000) for note in record.notes), *_remarks(record)],
        },
    }
    return summary


def _feature(feature: SelectedFeature) -> OtherFeature:
    return {
        "index": feature.index,
        "name": clean(feature.name),
        "score": None if feature.score is None else finite(feature.score),
        "n_folds": feature.n_folds,
    }


def _evidence(record: Selection) -> str:
    worst = min(record.classes, key=lambda one: one.accuracy)
    best = max(record.classes, key=lambda one: one.accuracy)
    said = (
        f"Measured on {count(record.n_test, 'case')} in "
        f"{count(record.n_folds, 'split')} "
        f"({record.settings.get('cross-validation', 'cross-validation')}); in every "
        "training set features were selected"
        + (", the exponent chosen" if record.fold_alphas else "")
        + " and the estimator trained anew. "
    )
    if worst.accuracy < best.accuracy:
        said += (
            f"Best class {best.name} ({percent(best.accuracy)}), worst "
            f"{worst.name} ({percent(worst.accuracy)})."
        )
    else:
        said += f"The same {percent(best.accuracy)} in every class."
    if record.stability is not None:
        said += f" {_on_stability(record.stability)}"
    return said


def _on_stability(found: Interval) -> str:
    value = f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"
    return (
        f"Stability of the selection over the folds {value.replace('-', MINUS)}: 1 is "
        "always the same features, 0 is agreement as by chance."
    )


def _remarks(record: Selection) -> list[str]:
    said = [
        f"The interval of the accuracy: {_INTERVALS[record.interval]}. The intervals "
        "of classes are Wilson's for independent cases.",
        "The features listed were selected on all cases; the accuracy is that of "
        "selecting features this way, not of this very list.",
    ]
    if len(record.sizes) > 1:
        said.append(
            "Do not choose the number of features by the accuracies in the picture and "
            "then report the accuracy at that number: it is too high. Decide the "
            "number beforehand, or choose it inside the folds."
        )
    if record.fold_alphas:
        low, high = min(record.fold_alphas), max(record.fold_alphas)
        said.append(
            f"On all cases the exponent alpha is {record.alpha:.2g}; the folds chose "
            f"{low:.2g} to {high:.2g}."
        )
    return said


# -- the view --------------------------------------------------------------------------


@view.register
def show(record: Selection) -> View:
    """Show the accuracy, the features and their support, the classes and the path."""
    s: SelectionSummary = summarize(record)
    words = s["words"]
    facts = [
        Fact("Data", s["data"]["name"]),
        Fact("Size", size_of(s["data"])),
        Fact("Selector", s["selector"]),
        Fact("Estimator", s["estimator"]),
    ]
    if s["stability"] is not None:
        value = f"{s['stability']['value']:.2f}".replace("-", MINUS)
        facts.append(Fact("Stability", f"{value}, of at most 1"))
    if s["alpha"] is not None:
        chosen = ", chosen" if s["alphas"] else ""
        facts.append(Fact("Alpha", f"{s['alpha']:.2g}{chosen}"))
    bounds = [
        wilson(one["accuracy"], one["n_test"]) if one["n_test"] else None
        for one in s["classes"]
    ]
    features, classes = _features(s), _classes(s, bounds)
    sections = [
        Section("How good they are", (_figure(s, bounds),), first=True),
        Section("The selected features", _feature_blocks(s, features), first=True),
        Section("Class by class", (classes,)),
    ]
    drawn = curves(record)
    if drawn:
        blocks: list[Block] = [
            Figure(
                (Panel(one),),
                "",
                tuple((curve.label, "a") for curve in one.curves),
                title=f"{one.title} ({one.unit})",
            )
            for one in drawn
        ]
        if len(s["sizes"]) > 1:
            blocks.append(_sizes(s))
        sections.append(Section("The path", tuple(blocks)))
    accuracy = f"{percent(s['accuracy'])} ({percent_range(s['low'], s['high'])})"
    caption = (
        f"Features selected by {s['selector']} ({said_data(s['data'])}). "
        f"{s['estimator']} classifies {accuracy} of new cases correctly where they are "
        "selected anew in every training set."
    )
    return View(
        title=f"Which features, and how good are they? {s['data']['name']}",
        question="Which features, and how good are they?",
        badge=Badge(words["belief"], BADGES[words["belief"]]),  # type: ignore[arg-type]
        headline=words["headline"],
        lead=words["evidence"],
        facts=tuple(facts),
        sections=tuple(sections),
        provenance=provenance(
            s, (), [Fact("Selector", s["selector"]), Fact("Estimator", s["estimator"])]
        ),
        tables=(Rows(caption, features.columns, features.rows), classes),
        method=paragraph(s["settings"], _method(s)),
        remarks=(words["evidence"], *_support(s), *words["notes"]),
    )


def _figure(s: SelectionSummary, bounds: list[Any]) -> Figure:
    """Draw the accuracy and that of each class, the worst where they are many."""
    classes = [
        Mark(one["name"], one["accuracy"], (Bounds(*span),), "b")
        for one, span in zip(s["classes"], bounds, strict=True)
        if span is not None
    ]
    drawn = classes
    if len(classes) > MOST_CLASSES:
        drawn = sorted(classes, key=lambda mark: mark.value)[:MOST_CLASSES]
    worst = ""
    if len(drawn) < len(classes):
        worst = f" (the {len(drawn)} worst of {len(s['classes'])})"
    marks = (Mark("All cases", s["accuracy"], bounded(s["low"], s["high"])), *drawn)
    said = "; ".join(mark.words() for mark in marks)
    alt = f"Accuracy: {said}; majority class {percent(s['data']['chance'])}."
    caption = (
        "Share of test cases classified correctly: disc, all cases, with the 95 % "
        f"interval that the notes name; rings, the cases of each class{worst}, each "
        f"with Wilson's. {on_majority(s['data'])}"
    )
    picture = Intervals(alt, marks, majority(s["data"]), axis="cases classified right")
    return Figure((Panel(picture),), caption)


def _features(s: SelectionSummary) -> Rows:
    rows = [
        (
            str(f["rank"]),
            f["name"],
            str(f["index"]),
            _score(f["score"]),
            _in_folds(f["n_folds"], s),
            _supported(f["n_folds"], s["n_folds"]),
        )
        for f in s["features"]
    ]
    heads = "Rank# | Feature! | Column#^ | Score by itself# | Selected in folds# | "
    return table("Features selected on all cases, best first", f"{heads}Support", rows)


def _in_folds(n: int, s: SelectionSummary) -> Cell:
    return Cell(f"{n} of {s['n_folds']}", share=n / s["n_folds"])


def _supported(n: int, total: int) -> Cell:
    """Mark a feature that folds do not support."""
    if n == 0:
        return Cell("in no fold", tone="no")
    if 2 * n < total:
        return Cell("weak", tone="care")
    return Cell("")


def _score(score: float | None) -> str:
    return MISSING if score is None else f"{score:.4g}".replace("-", MINUS)


def _support(s: SelectionSummary) -> list[str]:
    """Say how far the folds support the list."""
    n, total = len(s["features"]), s["n_folds"]
    supported = sum(2 * f["n_folds"] >= total for f in s["features"])
    never = [f["name"] for f in s["features"] if f["n_folds"] == 0]
    said = [
        f"{supported} of the {n} listed features were selected in at least half of the "
        f"{total} folds" + (f"; {listing(never)} in none." if never else ".")
    ]
    if s["other_features"]:
        often = [f for f in s["other_features"] if 2 * f["n_folds"] >= total]
        more = f"Folds selected {count(len(s['other_features']), 'feature')} that the "
        more += "list lacks"
        if often:
            names = listing(f["name"] for f in often[:5])
            more += f"; in at least half of the folds: {names}"
            more += f" and {len(often) - 5} more" if len(often) > 5 else ""
        said.append(f"{more}.")
    return said


def _feature_blocks(s: SelectionSummary, listed: Rows) -> tuple[Block, ...]:
    said = _support(s)
    blocks: list[Block] = [Text(text) for text in said]
    if any(f["n_folds"] == 0 for f in s["features"]):
        blocks = [Warn("Folds do not support the whole list.", tuple(said))]
    blocks.append(listed)
    if s["consensus"]:
        n = len(s["consensus"])
        blocks.append(
            Text(
                f"Consensus list, selected in at least half of the folds "
                f"({count(n, 'feature')}, the most often selected first): "
                f"{listing(s['consensus'])}."
            )
        )
    else:
        blocks.append(
            Text("Consensus list: no feature was selected in half of the folds.")
        )
    others = s["other_features"]
    if others:
        rows = [
            (f["name"], str(f["index"]), _score(f["score"]), _in_folds(f["n_folds"], s))
            for f in others[:MOST_OTHERS]
        ]
        caption = "Features that folds selected and the list lacks"
        heads = "Feature! | Column# | Score by itself# | Selected in folds#"
        blocks.append(table(caption, heads, rows))
        if len(others) > MOST_OTHERS:
            more = len(others) - MOST_OTHERS
            blocks.append(Text(f"{more} more are listed by --json.", "note"))
    return (*blocks, Notes(tuple(s["words"]["notes"])))


def _classes(s: SelectionSummary, bounds: list[Any]) -> Rows:
    rows = [
        (
            one["name"],
            percent(one["accuracy"]),
            percent_range(*(span or (None, None))),
            str(one["n_test"]),
        )
        for one, span in zip(s["classes"], bounds, strict=True)
    ]
    caption = "Share of the cases of each class classified correctly, in "
    heads = "Class! | Accuracy#* | 95 % interval# | Cases#"
    return table(f"{caption}cross-validation", heads, rows)


def _sizes(s: SelectionSummary) -> Rows:
    spans: list[Any] = list(s["size_intervals"]) or [None for _ in s["sizes"]]
    rows = []
    for one, span in zip(s["sizes"], spans, strict=True):
        bounds = (None, None) if span is None else (span["low"], span["high"])
        row = (str(one["size"]), percent(one["accuracy"]), percent_range(*bounds))
        rows.append(row)
    caption = "Cross-validated accuracy with the first features"
    heads = "Features#! | Accuracy#* | 95 % interval#"
    return table(caption, heads, rows, "The figures behind the first picture")


def _method(s: SelectionSummary) -> list[str]:
    splits = s["settings"].get("cross-validation", f"{s['n_folds']} folds")
    chosen = ""
    if s["fold_alphas"]:
        chosen = " The exponent alpha was chosen inside every training set."
    said = [
        f"From {said_data(s['data'])}, {s['selector']} selected "
        f"{count(s['n_features_to_select'], 'feature')} on all cases.",
        f"The accuracy is that of the whole procedure, by {splits}: in each training "
        f"set the features were selected anew and {in_full([s['estimator']])} was "
        f"trained anew.{chosen}",
        f"It is {percent(s['accuracy'])} on {count(s['n_test'], 'case')} "
        f"({percent_range(s['low'], s['high'])}; {_INTERVALS[s['interval']]}).",
    ]
    if s["stability"] is not None:
        steady = f"{s['stability']['value']:.2f}".replace("-", MINUS)
        said.append(
            f"The stability of the selection over the folds is {steady} (Nogueira, "
            "Sechidis and Brown 2018)."
        )
    return said


# -- curves ----------------------------------------------------------------------------


def curves(record: Selection) -> list[Curves]:
    """Draw accuracy by size, what the selector says of its path, and the exponents.

    Parameters
    ----------
    record : Selection
        What `veridical.select` returned.
    """
    drawn = []
    if len(record.sizes) > 1:
        spans = record.size_intervals or tuple(
            Interval(v, v, v) for v in record.size_accuracy
        )
        values = [Interval(*(100 * bound for bound in span)) for span in spans]
        title = "Accuracy with the first features"
        if record.size_intervals:
            title += ", with 95 % intervals as a band"
        places = [str(size) for size in record.sizes]
        drawn.append(
            _drawn(title, "accuracy, %", "features", places, "cross-validated", values)
        )
    for name, path in record.paths.items():
        if len(path) > 1:
            label = clean(name)
            places = [str(k) for k in range(1, len(path) + 1)]
            title = f"{label[:1].upper()}{label[1:]} of the first features"
            values = [Interval(v, v, v) for v in path]
            drawn.append(_drawn(title, label, "features", places, label, values))
    if record.alphas:
        values = [Interval(*[100 * v] * 3) for v in record.alpha_accuracy]
        places = [f"{alpha:g}" for alpha in record.alphas]
        title = "Size-averaged accuracy by alpha, on splits of all cases"
        drawn.append(
            _drawn(title, "accuracy, %", "alpha", places, "size-averaged", values)
        )
    return drawn


def _drawn(
    title: str,
    unit: str,
    axis: str,
    places: list[str],
    label: str,
    values: list[Interval],
) -> Curves:
    step, last = -(-len(places) // MOST_PLACES), len(places) - 1
    named = tuple(
        name if i == last or (i % step == 0 and last - i >= step) else ""
        for i, name in enumerate(places)
    )
    said = ", ".join(
        f"{place} {value.value:.1f}"
        for place, value in zip(places, values, strict=True)
    )
    return Curves(
        clean(f"{title}; {unit}. {label}: {said}.", 2000),
        title,
        unit,
        ((axis, named),),
        (Curve(label, tuple(range(len(values))), tuple(values)),),
        ribbon=True,
        from_zero=False,
    )

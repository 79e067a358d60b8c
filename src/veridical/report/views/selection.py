"""A selection: which features, how good is selecting them, and do folds repeat them?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from typing_extensions import TypedDict

from veridical._core.numbers import MISSING, count, number, percent, percent_range
from veridical._core.records import Curve, Interval, Setting
from veridical._core.text import capitalized, listing
from veridical.evaluation.arguments import name_of
from veridical.evaluation.conclusions import (
    add_coverage,
    explain_interval,
    say_coverage,
    write_plain,
)
from veridical.evaluation.records import SelectedFeature, Selection, Support
from veridical.report.plain import (
    CoverageSummary,
    DataInfo,
    IntervalSummary,
    ScoreResultSummary,
    ScoreSummary,
    clean,
    concluded,
    fill,
    finite,
    plain,
    to_json,
)
from veridical.report.view import (
    Block,
    Curves,
    Fact,
    Figure,
    Intervals,
    Mark,
    Notes,
    Rows,
    Section,
    TableCell,
    Text,
    View,
    Warn,
    answer,
    bounded,
    chance_level,
    data_facts,
    list_score,
    majority,
    on_chance,
    on_majority,
    paragraph,
    provenance,
    read_info,
    said_data,
    sized_data,
    table,
    tabulate_scores,
    view,
)
from veridical.report.views.predictions import (
    CurvesSummary,
    prediction_section,
    summarize_curves,
)

SCHEMA = "veridical/selection/1"
#: More places than this on an axis are too many to name.
MOST_PLACES = 12
#: More classes than this are too many rows for a picture.
MOST_CLASSES = 20
#: More features beside the list than this are left to the JSON.
MOST_OTHERS = 200
#: What the badge of an accuracy says, by what may be believed.
BADGES = {
    "yes": "Better than the majority class",
    "care": "With care",
    "open": "Not shown to be better than the majority class",
    "no": "Worse than the majority class",
}
#: The same for other scores than accuracy.
BADGES_OF_SCORES = {
    "yes": "Better than guessing",
    "care": "With care",
    "open": "Not shown to be better than guessing",
    "no": "Worse than guessing",
}

#: The badge where the folds do not support the list of features.
UNSTABLE = "The list is not stable"

ON_WEAK = "Support is weak where fewer than half of the folds selected the feature."
#: Marks of a feature that folds do not support.
SUPPORT: dict[Support, TableCell] = {
    "half": TableCell(""),
    "weak": TableCell("weak", tone="care"),
    "none": TableCell("in no fold", tone="no"),
}


class FeatureInfo(TypedDict):
    """A feature that was selected, on all samples or by folds.

    ``n_folds`` is in how many folds it was selected; ``support`` is "half" (in at least
    half of them), "weak" (in fewer) or "none".
    """

    index: int
    name: str
    score: float | None
    n_folds: int
    support: Support


class RankedFeature(FeatureInfo):
    """A feature selected on all samples, with its rank."""

    rank: int


class ClassInfo(TypedDict):
    """One class: samples tested, and the share of them classified correctly.

    ``low`` and ``high`` are Wilson's 95 % bounds, as if samples were independent; with
    groups, weights or repeats, for the ``n_effective`` samples that its ``n_units``
    groups or samples are worth.
    """

    name: str
    n_test: int
    accuracy: float
    n_units: int
    n_effective: float
    low: float | None
    high: float | None


class SizeInfo(TypedDict):
    """Accuracy with this many of the leading features, on the same folds."""

    size: int
    accuracy: float


class AlphaInfo(TypedDict):
    """Size-averaged accuracy of one exponent, on splits of all samples."""

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
    names the features that at least half of the folds selected, ``n_supported`` of
    which are in the list.
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
    coverage: CoverageSummary | None
    n_test: int
    n_folds: int
    features: list[RankedFeature]
    other_features: list[FeatureInfo]
    consensus: list[str]
    n_supported: int
    stability: IntervalSummary | None
    scoring: ScoreSummary
    scores: list[ScoreResultSummary]
    size_scores: list[IntervalSummary]
    class_predictions: CurvesSummary | None
    best_size: int
    classes: list[ClassInfo]
    sizes: list[SizeInfo]
    size_intervals: list[IntervalSummary]
    paths: dict[str, list[float]]
    alpha: float | None
    alphas: list[AlphaInfo]
    fold_alphas: list[float]
    is_validated: bool
    settings: dict[str, Setting]
    words: SelectionWords


# -- plain numbers ---------------------------------------------------------------------


@to_json.register
def summarize(record: Selection) -> Any:
    """Turn a selection into plain numbers and strings."""
    notes = [*record.notes, *_remarks(record)]
    sizes = zip(record.sizes, record.size_accuracy, strict=True)
    alphas = zip(record.alphas, record.alpha_accuracy, strict=True)
    return fill(
        SelectionSummary,
        record,
        class_predictions=summarize_curves(record.class_predictions),
        schema=SCHEMA,
        kind="selection",
        n_features_to_select=len(record.features),
        **record.accuracy._asdict() | {"accuracy": record.accuracy.value},
        features=[
            {"rank": rank, **summarize_feature(one, record.n_folds)}
            for rank, one in enumerate(record.features, 1)
        ],
        other_features=[
            summarize_feature(one, record.n_folds) for one in record.other_features
        ],
        classes=[
            {**plain(one), "low": one.interval.low, "high": one.interval.high}
            for one in record.classes
        ],
        consensus=[clean(feature.name) for feature in record.consensus],
        sizes=[SizeInfo(size=size, accuracy=share) for size, share in sizes],
        alphas=[AlphaInfo(alpha=alpha, accuracy=share) for alpha, share in alphas],
        words=concluded(record, evidence=_evidence(record), notes=notes),
    )


def summarize_feature(feature: SelectedFeature, n_folds: int) -> dict[str, Any]:
    """Turn a feature into plain values, with its support by the folds."""
    return {**plain(feature), "support": feature.support(n_folds)}


def _evidence(record: Selection) -> str:
    said = (
        f"Measured on {count(record.n_test, 'sample')} in "
        f"{count(record.n_folds, 'split')} "
        f"({record.settings.get('cross-validation', 'cross-validation')}); in every "
        "training set features were selected"
        + (", the exponent chosen" if record.fold_alphas else "")
        + " and the estimator trained anew. "
    )
    if record.is_validated:
        said = (
            f"Measured on {count(record.n_test, 'sample')}, by "
            f"{record.settings['cross-validation']}: features were selected and the "
            "estimator trained without the test samples. "
        )
    said += _say_extreme_classes(record)
    if record.stability is not None:
        said += (
            " The stability of the selection over the folds is "
            f"{number(record.stability.value, 2)}: 1 means that all folds select the "
            "same features, 0 that they agree only as by chance. It has no interval, "
            "because folds share samples."
        )
    return said


def _say_extreme_classes(record: Selection) -> str:
    """Say in which class most and fewest are right; nothing without classes."""
    if not record.classes:
        return ""
    accuracies = [one.accuracy for one in record.classes]
    worst, best = min(accuracies), max(accuracies)
    if worst == best:
        return f"Every class has the same accuracy, {percent(best)}."
    said = []
    for word, accuracy in (("highest", best), ("lowest", worst)):
        names = [one.name for one in record.classes if one.accuracy == accuracy]
        which = f"{'class' if len(names) == 1 else 'classes'} {listing(names)}"
        if len(names) > 3:
            which = f"{len(names)} classes"
        said.append(f"{word} for {which} ({percent(accuracy)})")
    return f"The accuracy is {listing(said)}."


def _coverage(record: Selection) -> str:
    """Say how often such intervals cover the truth."""
    return say_coverage(record.score_coverage)


def _what_is_independent(record: Selection) -> str:
    if any(one.n_units for one in record.classes):
        return "the effective number of independent samples"
    return "independent samples"


def _remarks(record: Selection) -> list[str]:
    what = record.scoring.label
    kind = explain_interval(
        record.score_interval, record.scoring, one_test_set=record.n_folds == 1
    )
    on_list = (
        f"The features listed were selected on all samples; the {what} is that of the "
        "selection procedure, not of this list itself."
    )
    if record.is_validated:
        on_list = (
            f"The features listed were selected on the training samples; the {what} "
            "is that of the estimator trained on these features, on the test samples."
        )
    classes_in_words = (
        f" The intervals of classes are Wilson's for {_what_is_independent(record)}; "
        "how often these cover the truth has not been measured."
    )
    said = [
        f"The interval of the {what}: {kind}. {_coverage(record)}"
        f"{classes_in_words if record.classes else ''}",
        on_list,
    ]
    if len(record.sizes) > 1:
        inside = (
            "on the training samples" if record.is_validated else "inside the folds"
        )
        said.append(
            f"Do not choose the number of features by the {_plural(record)} in the "
            f"picture and then report the {record.scoring.label} at that number: it is "
            f"too {'high' if record.scoring.greater_is_better else 'low'}. "
            f"Decide the number beforehand, or choose it {inside}."
        )
    if record.fold_alphas:
        low, high = min(record.fold_alphas), max(record.fold_alphas)
        chosen = f"the folds chose {low:.2g} to {high:.2g}"
        if low == high:
            chosen = f"all folds chose {low:.2g}"
        said.append(
            f"On all samples the exponent alpha is {record.alpha:.2g}; {chosen}."
        )
    return said


def _plural(record: Selection) -> str:
    return "accuracies" if record.scoring.is_accuracy else "scores"


# -- the view --------------------------------------------------------------------------


@view.register
def show(record: Selection) -> View:
    """Show the accuracy, the features and their support, the classes and the path."""
    s: SelectionSummary = summarize(record)
    words = s["words"]
    selector, estimator = name_of(s["selector"]), name_of(s["estimator"])
    models = [Fact("Selector", selector), Fact("Estimator", estimator)]
    facts = [*data_facts(s["data"]), *models]
    if s["stability"] is not None:
        value = number(s["stability"]["value"], 2)
        facts.append(Fact("Stability", f"{value} (1 is perfect)"))
    if s["alpha"] is not None:
        chosen = ", chosen by accuracy" if s["alphas"] else ""
        facts.append(Fact("Alpha", f"{s['alpha']:.2g}{chosen}"))
    features, classes = _features(s), _classes(s)
    scoring = read_info(s["scoring"])
    what = capitalized(scoring.label)
    sections = [
        Section(f"{what} of the selection", (*_scores(s), _figure(s)), first=True),
        Section("The selected features", _feature_blocks(s, features), first=True),
    ]
    if s["classes"]:
        sections.append(Section("Accuracy by class", (classes,)))
    sections += prediction_section(s["class_predictions"])
    drawn = make_curves(record)
    if drawn:
        blocks: list[Block] = [Figure.from_curves(one) for one in drawn]
        if len(s["sizes"]) > 1:
            blocks.append(_sizes(s))
        sections.append(Section(f"{what} by number of features", tuple(blocks)))
    found = record.score
    span = scoring.write_range(*(finite(bound) for bound in found[1:]))
    behind = add_coverage(record.score_coverage)
    reached = f"{scoring.write(found.value)} (95 % interval {span}, {behind})"
    does = f"has {scoring.full_label} {reached} on new samples"
    if scoring.is_accuracy:
        does = f"classifies {reached} of new samples correctly"
    where = " where features are selected anew in every training set"
    if s["is_validated"]:
        where = f", by {s['settings']['cross-validation']}"
    data = f" ({said_data(s['data'])})" if " where" in where else ""
    claim = f"{capitalized(estimator)} {does}{where}."
    caption = f"Features selected by {selector}{data}. {claim}"
    badges = BADGES if scoring.is_accuracy else BADGES_OF_SCORES
    if not record.is_stable:
        badges = {**badges, "care": UNSTABLE}
    return View(
        title=f"Which features, and how good are they? {s['data']['name']}",
        question="Which features, and how good are they?",
        **answer(words, badges),
        facts=tuple(facts),
        sections=tuple(sections),
        provenance=provenance(s, (), models),
        tables=(
            replace(features, caption=caption),
            *_scores(s),
            *([classes] if s["classes"] else []),
        ),
        method=paragraph(s["settings"], _method(s)),
        remarks=(words["evidence"], *_support(s), *words["notes"]),
    )


def _scores(s: SelectionSummary) -> list[Rows]:
    """List all scores, where there are others than accuracy."""
    rows = [list_score(one, one["score"]) for one in s["scores"]]
    caption = "Scores of the whole procedure, from the same predictions"
    return tabulate_scores(caption, rows)


def _figure(s: SelectionSummary) -> Figure:
    """Draw the accuracy and that of each class, the worst where they are many.

    Without classes, draw the leading score.
    """
    if not s["classes"]:
        return _score_figure(s)
    classes = [
        Mark(one["name"], one["accuracy"], bounded(one["low"], one["high"]), "b")
        for one in s["classes"]
        if one["n_test"]
    ]
    drawn = classes
    if len(classes) > MOST_CLASSES:
        drawn = sorted(classes, key=lambda mark: mark.value)[:MOST_CLASSES]
    worst = ""
    if len(drawn) < len(classes):
        worst = f" (the {len(drawn)} worst of {len(s['classes'])})"
    marks = (Mark("All samples", s["accuracy"], bounded(s["low"], s["high"])), *drawn)
    said = "; ".join(mark.words() for mark in marks)
    alt = f"Accuracy: {said}; majority class {percent(s['data']['chance'])}."
    caption = (
        "Share of test samples classified correctly. Disc: all samples, with the 95 % "
        f"interval that the notes name. Rings: the samples of each class{worst}, each "
        f"with Wilson's 95 % interval. {on_majority(s['data'])}"
    )
    picture = Intervals(alt, marks, majority(s["data"]), axis="accuracy")
    return Figure.from_picture(picture, caption)


def _score_figure(s: SelectionSummary) -> Figure:
    """Draw the leading score with its interval."""
    scoring, found = read_info(s["scoring"]), s["scores"][0]["score"]
    mark = Mark("All samples", found["value"], bounded(found["low"], found["high"]))
    said = f"{capitalized(scoring.label)} {scoring.write(found['value'])}"
    caption = (
        f"{capitalized(scoring.full_label)} on test samples, with the 95 % interval "
        f"that the notes name. {on_chance(scoring, s['data'])}"
    )
    picture = Intervals(
        f"{said}.",
        (mark,),
        chance_level(scoring),
        axis=scoring.label,
        unit=scoring.unit,
    )
    return Figure.from_picture(picture, caption.strip())


def _features(s: SelectionSummary) -> Rows:
    if s["is_validated"]:  # there are no folds
        scored = has_scores(s["features"])
        heads = f"Rank# | Feature! | Index#^{' | Score#' if scored else ''}"
        rows = [[str(f["rank"]), *_describe_feature(f, scored)] for f in s["features"]]
        caption = "Features selected on the training samples, best first"
        return table(caption, heads, rows)
    return list_supported(s["features"], s["n_folds"])


def list_supported(features: Sequence[FeatureInfo], n_folds: int) -> Rows:
    """List features that were selected on all samples; weak support is marked."""
    scored = has_scores(features)
    heads = "Rank# | Feature! | Index#^ | "
    heads += f"{'Score# | ' if scored else ''}Selected in folds#"
    rows: list[list[str | TableCell]] = [
        [str(rank), *_describe_feature(f, scored), _times(f, n_folds)]
        for rank, f in enumerate(features, 1)
    ]
    if any(f["support"] != "half" for f in features):
        heads += " | Support"
        for row, f in zip(rows, features, strict=True):
            row.append(SUPPORT[f["support"]])
    return table("Features selected on all samples, best first", heads, rows)


def has_scores(features: Sequence[FeatureInfo]) -> bool:
    """Return whether any feature has a score; not every selector gives one."""
    return any(f["score"] is not None for f in features)


def _describe_feature(f: FeatureInfo, scored: bool) -> list[str | TableCell]:
    own = MISSING if f["score"] is None else write_plain(f["score"])
    return [f["name"], str(f["index"]), *([own] if scored else [])]


def _times(f: FeatureInfo, n_folds: int) -> TableCell:
    return TableCell(f"{f['n_folds']} of {n_folds}", share=f["n_folds"] / n_folds)


def _support(s: SelectionSummary) -> list[str]:
    """Say how far the folds support the list."""
    if s["is_validated"]:
        return []
    said = [say_support(s["features"], s["n_folds"])]
    if s["other_features"]:
        often = [f for f in s["other_features"] if f["support"] == "half"]
        more = "The folds also selected "
        more += f"{count(len(s['other_features']), 'feature')} outside the list"
        if often:
            names = listing(f["name"] for f in often[:5])
            more += f"; in at least half of the folds: {names}"
            more += f" and {len(often) - 5} more" if len(often) > 5 else ""
        said.append(f"{more}.")
    return said


def say_support(features: Sequence[FeatureInfo], n_folds: int) -> str:
    """Say how many features the folds support, and name those that no fold selected."""
    n_supported = sum(f["support"] == "half" for f in features)
    never = [f["name"] for f in features if f["support"] == "none"]
    which = f"{n_supported} of the {len(features)}"
    if n_supported == len(features) > 1:
        which = "All"
    return (
        f"{which} listed features were selected in at least half of the {n_folds} folds"
        + (f"; {listing(never)} in none." if never else ".")
    )


def show_supported(
    features: Sequence[FeatureInfo], said: Sequence[str], listed: Rows
) -> list[Block]:
    """Show a list of features below what is said about their support by the folds."""
    blocks: list[Block] = [Text(text) for text in said]
    if any(f["support"] == "none" for f in features):
        blocks = [Warn("Some listed features were selected in no fold.", tuple(said))]
    blocks.append(listed)
    if any(f["support"] == "weak" for f in features):
        blocks.append(Text(ON_WEAK, "note"))
    return blocks


def _feature_blocks(s: SelectionSummary, listed: Rows) -> tuple[Block, ...]:
    blocks = show_supported(s["features"], _support(s), listed)
    if s["is_validated"]:
        return (*blocks, Notes(tuple(s["words"]["notes"])))
    agreed = "Consensus list: no feature was selected in half of the folds."
    if s["consensus"]:
        agreed = (
            "Consensus list, selected in at least half of the folds "
            f"({count(len(s['consensus']), 'feature')}, the most often selected "
            f"first): {listing(s['consensus'])}."
        )
    blocks.append(Text(agreed))
    others = s["other_features"]
    if others:
        scored = has_scores(others[:MOST_OTHERS])
        rows = [
            [*_describe_feature(f, scored), _times(f, s["n_folds"])]
            for f in others[:MOST_OTHERS]
        ]
        caption = "Features outside the list that folds selected"
        heads = f"Feature! | Index# | {'Score# | ' if scored else ''}Selected in folds#"
        blocks.append(table(caption, heads, rows))
        if len(others) > MOST_OTHERS:
            more = len(others) - MOST_OTHERS
            blocks.append(Text(f"{more} more are listed by --json.", "note"))
    return (*blocks, Notes(tuple(s["words"]["notes"])))


def _classes(s: SelectionSummary) -> Rows:
    rows = [
        (
            one["name"],
            percent(one["accuracy"]),
            percent_range(one["low"], one["high"]),
            str(one["n_test"]),
        )
        for one in s["classes"]
    ]
    caption = "Share of the samples of each class classified correctly, in "
    tested = "validation" if s["is_validated"] else "cross-validation"
    heads = "Class! | Accuracy#* | 95 % interval# | Samples#"
    return table(f"{caption}{tested}", heads, rows)


def _sizes(s: SelectionSummary) -> Rows:
    scoring = read_info(s["scoring"])
    if s["size_scores"]:
        pairs = zip(s["sizes"], s["size_scores"], strict=True)
        rows = [
            (
                str(one["size"]) + (" (best)" if one["size"] == s["best_size"] else ""),
                scoring.write(span["value"]),
                scoring.write_range(span["low"], span["high"]),
            )
            for one, span in pairs
        ]
        heads = f"Features#! | {capitalized(scoring.label)}#* | 95 % interval#"
        caption = _caption_of_sizes(s, scoring.full_label)
        return table(caption, heads, rows, "The numbers behind the first picture")
    none: IntervalSummary = {"value": 0.0, "low": None, "high": None}
    spans = s["size_intervals"] or [none] * len(s["sizes"])
    rows = [
        (
            str(one["size"]),
            percent(one["accuracy"]),
            percent_range(span["low"], span["high"]),
        )
        for one, span in zip(s["sizes"], spans, strict=True)
    ]
    caption = _caption_of_sizes(s, "accuracy")
    heads = "Features#! | Accuracy#* | 95 % interval#"
    return table(caption, heads, rows, "The numbers behind the first picture")


def _caption_of_sizes(s: SelectionSummary, what: str) -> str:
    if s["is_validated"]:
        return f"{capitalized(what)} on the test samples with the first features"
    return f"Cross-validated {what} with the first features"


def _method(s: SelectionSummary) -> list[str]:
    splits = s["settings"].get("cross-validation", f"{s['n_folds']} folds")
    scoring = read_info(s["scoring"])
    what, kind = scoring.full_label, s["interval"]
    found: Any = {"value": s["accuracy"], "low": s["low"], "high": s["high"]}
    if s["scores"]:
        found, kind = s["scores"][0]["score"], s["scores"][0]["interval"]
    interval = explain_interval(kind, scoring, one_test_set=s["n_folds"] == 1)
    chosen = ""
    if s["fold_alphas"]:
        chosen = " The exponent alpha was chosen inside every training set."
    said = [
        f"From {sized_data(s['data'])} {name_of(s['selector'])} selected "
        f"{count(s['n_features_to_select'], 'feature')} on all samples.",
        f"The {what} is that of the whole procedure, by {splits}: in each training "
        f"set the features were selected anew and {name_of(s['estimator'])} was "
        f"trained anew.{chosen}",
        f"The {what} is {scoring.write(found['value'])} on "
        f"{count(s['n_test'], 'sample')} "
        f"({scoring.write_range(found['low'], found['high'])}).",
        f"Its interval: {interval}.",
    ]
    if s["is_validated"]:
        said = [
            f"{name_of(s['selector'])} selected "
            f"{count(s['n_features_to_select'], 'feature')}, and "
            f"{name_of(s['estimator'])} was trained on them, without the test samples "
            f"({splits}).{chosen}",
            f"The {what} on {sized_data(s['data'])} is {scoring.write(found['value'])} "
            f"({scoring.write_range(found['low'], found['high'])}).",
            f"Its interval: {interval}.",
        ]
    if s["stability"] is not None:
        said.append(
            "The stability of the selection over the folds is "
            f"{number(s['stability']['value'], 2)} (Nogueira, Sechidis and Brown 2018)."
        )
    return said


# -- curves ----------------------------------------------------------------------------


def make_curves(record: Selection) -> list[Curves]:
    """Draw accuracy by size, what the selector says of its path, and the exponents.

    Parameters
    ----------
    record : Selection
        What `veridical.select` returned.
    """
    drawn = []
    if len(record.sizes) > 1:
        scoring = record.scoring
        factor = 100 if scoring.percent else 1
        values = [
            Interval(*(factor * bound for bound in one)) for one in record.by_size
        ]
        title = f"{capitalized(scoring.label)} with the first features"
        if record.size_intervals or record.size_scores:
            title += ", with 95 % intervals as a band"
        if not scoring.greater_is_better:
            title += "; less is better"
        places = [str(size) for size in record.sizes]
        unit = f"{scoring.label}, %" if scoring.percent else scoring.label
        label = "test samples" if record.is_validated else "cross-validated"
        drawn.append(_drawn(title, unit, "features", places, label, values))
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
        title = "Size-averaged accuracy by alpha, on splits of all samples"
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
    return Curves(
        "",
        title,
        unit,
        ((axis, named),),
        (Curve(label, tuple(range(len(values))), tuple(values)),),
        ribbon=True,
        from_zero=False,
    ).described(places)

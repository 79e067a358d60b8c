"""One estimator's accuracy by several methods: how accurate is it?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

from typing_extensions import TypedDict

from veridical._core.defaults import CONFIDENCE
from veridical._core.errors import InputError
from veridical._core.numbers import (
    MINUS,
    MISSING,
    count,
    number,
    percent,
    percent_range,
    points,
)
from veridical._core.records import Setting
from veridical._core.scoring import ScoreInfo
from veridical._core.text import listing, shortened
from veridical.evaluation import NestedCV
from veridical.evaluation.arguments import name_of
from veridical.evaluation.conclusions import (
    INTERVAL_NAMES,
    leading,
    say_coverage,
    write_interval,
)
from veridical.evaluation.records import Estimate, Estimates
from veridical.report.plain import (
    CoverageSummary,
    DataInfo,
    ScoreSummary,
    clean,
    concluded,
    covered,
    fill,
    plain,
    to_json,
)
from veridical.report.view import (
    Badge,
    Block,
    Curves,
    DrawnInterval,
    Fact,
    Figure,
    Intervals,
    Level,
    Mark,
    Notes,
    Row,
    Rows,
    Section,
    TableCell,
    ValueUnit,
    View,
    Warn,
    answer,
    bounded,
    brief,
    chance_level,
    confidence,
    data_facts,
    interval_cells,
    list_score,
    on_chance,
    on_direction,
    paragraph,
    provenance,
    read_info,
    said_data,
    sentence,
    sized_data,
    table,
    tabulate_scores,
    view,
    write_chance,
    write_score,
    write_score_range,
)
from veridical.report.views.predictions import (
    CurvesSummary,
    prediction_section,
    summarize_curves,
)

SCHEMA = "veridical/estimates/1"
BADGES = {
    "yes": "Better than the majority class",
    "care": "With care",
    "open": "Not shown to be better than the majority class",
    "no": "Do not believe it",
    "known": "The truth is known",
}
#: Of other scores than accuracy.
BADGES_OF_SCORES = {
    **BADGES,
    "yes": "Better than guessing",
    "open": "Not shown to be better than guessing",
}
#: Of an estimate that is compared with nothing.
AN_ESTIMATE = {**BADGES, "open": "An estimate"}
# What a method does, by a word of its name; the first that fits is taken.
EXPLAIN = {
    "resubstitution": (
        "Resubstitution tests on the training samples; it measures how well the "
        "estimator remembers them."
    ),
    "holdout": (
        "A holdout trains on part of the samples and tests on the rest, once. It "
        "trains on fewer samples than there are, so the estimate is pessimistic on "
        "average; it also depends on which samples are held out."
    ),
    "subsampling": (
        "Random subsampling averages several holdouts, each with a random test set of "
        "its own; the estimate is pessimistic on average, as that of a holdout is."
    ),
    "complete": (
        "Complete cross-validation tests every possible test set of a given size by a "
        "model trained on all other samples."
    ),
    "purged": (
        "Purged cross-validation tests stretches of consecutive samples, each by a "
        "model trained on the samples before and after it. Samples near it in time are "
        "left out of training, because they contain part of the answer."
    ),
    "cross-validation": (
        "Cross-validation tests each sample by a model trained without the fold "
        "that the sample is in. Training sets are smaller than the data, so the "
        "estimate is slightly pessimistic on average; with more folds this bias is "
        "smaller."
    ),
    "leave-": (
        "Leaving out few samples at a time trains on nearly all of them, so the "
        "estimate has almost no bias, but it misleads where a single sample changes "
        "what the estimator predicts."
    ),
    ".632+": (
        "The .632+ bootstrap works like .632; the more the estimator overfits, the "
        "less weight it gives to the score on the training samples."
    ),
    ".632": (
        "The .632 bootstrap trains on samples drawn with replacement and adds 0.632 of "
        "the score on the samples not drawn to 0.368 of the score on the training "
        "samples. The estimate varies little, and is optimistic for an estimator that "
        "memorises the training samples."
    ),
}
#: What the entries of ``Estimate.details`` are.
DETAILS = {
    "mean_of_splits": "mean of the splits",
    "resubstitution": "on the training samples",
    "outside": "outside the bootstrap samples",
    "outside_by_sample": "outside the bootstrap samples, averaged by sample",
    "no_information_rate": "no-information error rate",
    "cut_in_part": ".632+ if the error is cut only in its difference from .632",
    "standard_error": "standard error by the jackknife",
    "blocks": "blocks of test samples left out, one at a time",
    "overfitting_rate": "relative overfitting rate",
    "weight": "weight of the accuracy outside the bootstrap samples",
}
NOT_SCORES = {
    "overfitting_rate",
    "weight",
    "standard_error",
    "blocks",
}  # not accuracies


class BoundsSummary(TypedDict):
    """One interval of an estimate; ``kind`` is "wilson", "corrected-t" or "nested".

    ``coverage`` is None where nothing was measured near.
    """

    kind: str
    low: float
    high: float
    assumes: str
    coverage: CoverageSummary | None


class EstimateSummary(TypedDict):
    """The accuracy by one method.

    ``intervals`` has the one to believe first and is empty where none is valid. ``std``
    is that of the splits, not the error of ``value``. ``off`` is ``value`` minus the
    truth, where that is known. ``notes`` are the reasons to doubt the estimate.
    """

    method: str
    value: float
    intervals: list[BoundsSummary]
    std: float | None
    n_splits: int
    n_test: int
    details: dict[str, float]
    off: float | None
    notes: list[str]
    class_predictions: CurvesSummary | None


class OtherSummary(TypedDict):
    """Another score of the same predictions, with its first interval."""

    method: str
    scoring: ScoreSummary
    value: float
    low: float | None
    high: float | None
    interval: str | None
    coverage: CoverageSummary | None


class NoteSummary(TypedDict):
    """A note, and the methods that it is about."""

    text: str
    methods: list[str]


class EstimatesWords(TypedDict):
    """The estimates in sentences.

    ``belief`` is "yes" (all intervals lie above the share of the largest class), "open"
    (the first one does not), "care" (intervals disagree, there is none, or the estimate
    is doubtful), "no" (tested on the training samples only) or "known" (the truth is).
    ``intervals`` says what each kind of interval assumes, ``notes`` what is doubtful,
    ``methods`` what the methods do.
    """

    headline: str
    belief: str
    evidence: str
    intervals: list[NoteSummary]
    notes: list[NoteSummary]
    methods: list[str]


class EstimatesSummary(TypedDict):
    """Everything the page of one estimator's estimates shows, as plain numbers."""

    schema: str
    kind: Literal["estimates"]
    estimator: str
    metric: str
    scoring: ScoreSummary
    confidence: float
    data: DataInfo | None
    estimates: list[EstimateSummary]
    others: list[OtherSummary]
    truth: EstimateSummary | None
    settings: dict[str, Setting]
    words: EstimatesWords


# -- plain numbers ---------------------------------------------------------------------


@to_json.register
def summarize(record: Estimates) -> Any:
    """Turn estimates into plain numbers and strings."""
    metrics = dict.fromkeys(clean(e.metric) for e in record.estimates)
    if len(metrics) > 1:
        raise InputError(
            f"The estimates are of {' and '.join(metrics)}, which no page can show on "
            "one axis; save one record for each score."
        )
    truth = None if record.truth is None else _estimate(record.truth, None)
    known = None if truth is None else truth["value"]
    found = [_estimate(e, known) for e in record.estimates]
    metric = next(iter(metrics))
    summary: EstimatesSummary = fill(
        EstimatesSummary,
        record,
        schema=SCHEMA,
        kind="estimates",
        metric=metric,
        scoring=_scoring(record),
        confidence=CONFIDENCE,
        estimates=found,
        others=[
            _other(lead.method, other)
            for lead in record.estimates
            for other in lead.others
        ],
        truth=truth,
        words=concluded(
            record,
            evidence=" ".join(_evidence(record)),
            intervals=_gathered(found, _assumptions),
            notes=_gathered(found, lambda e: e["notes"]),
            methods=_methods(found),
        ),
    )
    return summary


@to_json.register
def summarize_one(record: Estimate) -> Any:
    """Turn one estimate into plain numbers and strings, with its scores."""
    more = ("estimator", "metric", "scoring", "data", "scores", "random_state")
    return {
        "kind": "estimate",
        "confidence": CONFIDENCE,
        **_estimate(record, None),
        **plain({key: getattr(record, key) for key in (*more, "settings")}),
        "others": [
            {**_other(record.method, one), "scores": plain(one.scores)}
            for one in record.others
        ],
        "words": summarize(record.alone)["words"],
    }


@to_json.register
def summarize_nested(record: NestedCV) -> Any:
    """Turn nested cross-validation into plain numbers."""
    interval = plain(record.interval())
    return {"kind": "nested-cv", **plain(record), "interval": interval}


def _estimate(estimate: Estimate, truth: float | None) -> EstimateSummary:
    found: EstimateSummary = fill(
        EstimateSummary,
        estimate,
        intervals=[
            {
                "kind": kind,
                "low": low,
                "high": high,
                "assumes": estimate.assumes[kind],
                "coverage": estimate.coverage.get(kind),
            }
            for kind, (low, high) in estimate.intervals.items()
        ],
        n_splits=len(estimate.scores),
        class_predictions=summarize_curves(estimate.class_predictions),
        off=None if truth is None else estimate.value - truth,
    )
    return found


def _scoring(record: Estimates) -> ScoreInfo:
    """Return the score; of an accuracy, guessing is the share of the largest class."""
    scoring = record.estimates[0].scoring
    if scoring.is_accuracy and record.data is not None:
        return replace(scoring, chance=record.data.majority_share)
    return scoring


def _other(method: str, estimate: Estimate) -> OtherSummary:
    """Write another score with its first interval."""
    kind, (low, high) = next(iter(estimate.intervals.items()), (None, (None, None)))
    found: OtherSummary = fill(
        OtherSummary,
        estimate,
        method=method,
        low=low,
        high=high,
        interval=kind,
        coverage=estimate.coverage.get(kind or ""),
    )
    return found


def _evidence(record: Estimates) -> list[str]:
    """Say what the headline rests on."""
    lead = leading(record.estimates)
    shown = _estimate(lead, None)
    unit = lead.scoring.unit
    tested, splits = count(lead.n_test, "sample"), count(len(lead.scores), "split")
    said = [f"{tested} were tested in {splits}, by {lead.method}."]
    if not lead.scoring.is_accuracy:
        said.append(_averaged(lead.scoring))
    if shown["intervals"]:
        first = shown["intervals"][0]
        named = INTERVAL_NAMES.get(first["kind"], first["kind"])
        said.append(f"The {named} interval assumes that {first['assumes']}.")
        said.append(say_coverage(covered(first["coverage"])))
    values = [e.value for e in record.estimates]
    if len(values) > 1:
        spread = f"The estimates of the {len(values)} methods range from "
        spread += write_score_range(min(values), max(values), unit)
        if record.data is not None and lead.scoring.is_accuracy:
            share = percent(record.data.majority_share)
            spread += "; always predicting the most frequent class is correct for "
            spread += share
        said.append(f"{spread}.")
    truth = record.truth
    if truth is not None and truth.intervals:
        samples = "samples"
        if record.data is not None:
            samples = count(record.data.n_samples, "sample")
        said.append(
            f"The truth is the {truth.scoring.label} of the model that is "
            f"trained on all {samples}, on {count(truth.n_test, 'fresh sample')} "
            f"({write_interval(truth)})."
        )
    return said


def _assumptions(estimate: EstimateSummary) -> list[str]:
    if not estimate["intervals"]:
        return ["no interval is valid."]
    return [
        f"the {INTERVAL_NAMES.get(b['kind'], b['kind'])} interval assumes that "
        f"{b['assumes']}. {say_coverage(covered(b['coverage']))}"
        for b in estimate["intervals"]
    ]


def _gathered(
    estimates: list[EstimateSummary], said: Callable[[EstimateSummary], list[str]]
) -> list[NoteSummary]:
    """Collect the notes on the estimates, each once with all its methods."""
    about: dict[str, list[str]] = {}
    for estimate in estimates:
        for text in said(estimate):
            about.setdefault(text, []).append(estimate["method"])
    return [{"text": text, "methods": methods} for text, methods in about.items()]


def _methods(estimates: list[EstimateSummary]) -> list[str]:
    """Say what each kind of method does."""
    kinds = (
        next((text for word, text in EXPLAIN.items() if word in e["method"]), "")
        for e in estimates
    )
    return [text for text in dict.fromkeys(kinds) if text]


def _averaged(scoring: ScoreInfo) -> str:
    """Say how the score was put together from the splits, and which way is better."""
    how = "the mean over the splits"
    if scoring.averaging == "pooled":
        how = "computed from the test samples of all splits together"
    said = f"The {scoring.full_label} is {how}. {on_direction(scoring)}".strip()
    if scoring.positive is not None:
        said += f" The positive class is {scoring.positive}."
    return said


# -- the view --------------------------------------------------------------------------


@view.register
def show_one(record: Estimate) -> View:
    """Show one estimate, as the page of several does."""
    return show(record.alone)


@view.register
def show(record: Estimates) -> View:
    """Show estimates side by side, with their intervals, and what is doubtful."""
    s: EstimatesSummary = summarize(record)
    words, data, metric = s["words"], s["data"], s["scoring"]["label"]
    against = data is not None and s["scoring"]["chance"] is not None
    badges = BADGES if s["scoring"]["name"] == "accuracy" else BADGES_OF_SCORES
    badges = badges if against else AN_ESTIMATE
    facts = [] if data is None else [*data_facts(data)]
    estimator = name_of(s["estimator"])
    facts.append(Fact("Estimator", estimator))
    figures, notes = _table(s), (*_remarks(s), *_possible(record))
    several = len(s["estimates"]) > 1
    heading = "The estimates side by side" if several else "The estimate"
    sections = [
        Section(heading, (_figure(s),), first=True),
        Section(
            "The numbers",
            (figures, *_others(s), *_details(s), Notes(notes)),
            first=True,
        ),
    ]
    for estimate in s["estimates"]:
        if estimate["class_predictions"] is not None:
            sections += prediction_section(
                estimate["class_predictions"], f", by {estimate['method']}"
            )
            break
    drawn = _curves(record)
    if drawn:
        sections.append(Section("What was observed, and what was predicted", drawn))
    if words["notes"]:
        doubts = tuple(
            Warn("; ".join(note["methods"]), (note["text"],)) for note in words["notes"]
        )
        sections.append(Section("What is doubtful, and why", doubts, first=True))
    where = "" if data is None else f" on {sized_data(data)}"
    title = f"How accurate is {estimator}?"
    return View(
        title=title if data is None else f"{title} {data['name']}",
        question="How accurate is the estimator?",
        **answer(words, badges),
        facts=tuple(facts),
        sections=tuple(sections),
        provenance=provenance(s, words["methods"], facts[-1:]),
        tables=(_for_paper(s, figures), *_others(s)),
        method=paragraph(
            s["settings"],
            [
                f"The {metric} of {name_of(s['estimator'])}{where} was estimated by "
                f"{listing(each['method'] for each in s['estimates'])}.",
                *_assumed(s),
            ],
        ),
        remarks=(
            *_about(words["notes"]),
            *_about(words["intervals"]),
            *_possible(record),
        ),
    )


def _curves(record: Estimates) -> tuple[Block, ...]:
    """Draw the predictions of the leading estimate against what was observed."""
    first = next((one for one in record.estimates if one.curves), None)
    if first is None:
        return ()
    return tuple(
        Figure.from_curves(
            Curves(
                "",
                one.title,
                one.unit,
                ((one.axis, one.places),),
                one.curves,
                ribbon=True,
                from_zero=one.unit.endswith("%"),  # shares, as of Kaplan and Meier
                steps=one.steps,
            ).described()
        )
        for one in first.curves
    )


def _about(notes: list[NoteSummary]) -> list[str]:
    return [f"{'; '.join(note['methods'])}: {note['text']}" for note in notes]


def _assumed(s: EstimatesSummary) -> list[str]:
    """Say what each kind of interval assumes, once."""
    told = {
        bounds["kind"]: bounds["assumes"]
        for each in s["estimates"]
        for bounds in each["intervals"][:1]
    }
    return [
        f"The {INTERVAL_NAMES.get(kind, kind)} interval assumes that {text}."
        for kind, text in told.items()
    ]


def _figure(s: EstimatesSummary) -> Figure:
    scoring = read_info(s["scoring"])
    unit, data, truth, metric = scoring.unit, s["data"], s["truth"], scoring.label
    against = data is not None and scoring.chance is not None
    marks = tuple(
        Mark(
            e["method"],
            e["value"],
            tuple(
                DrawnInterval(b["low"], b["high"], b["kind"]) for b in e["intervals"]
            ),
            # A ring where there is a note, so that it is visible without colour.
            "b" if e["notes"] else "a",
        )
        for e in s["estimates"]
    )
    said = [
        f"{shortened(e['method'])} {write_score(e['value'], unit)}"
        + "".join(
            f", {write_score_range(b['low'], b['high'], unit)}"
            for b in e["intervals"][:1]
        )
        for e in s["estimates"]
    ]
    levels: tuple[Level, ...] = chance_level(scoring) if against else ()
    if truth is not None:
        levels += (Level("truth", truth["value"], solid=True),)
        said.append(f"the truth is {write_score(truth['value'], unit)}")
    said += [
        f"{level.name} {write_score(level.value, unit)}" for level in levels[:against]
    ]
    what = "Share of new samples classified correctly"
    caption = (
        f"{what if scoring.is_accuracy else f'The {metric} on new samples'}, as each "
        f"method estimates it, with its {confidence(s['confidence'])} where one is "
        "valid; thinner lines are further intervals, named in the table."
    )
    if s["words"]["notes"]:
        caption += " A ring marks an estimate about which a note below warns."
    if against:
        caption += f" {on_chance(scoring, data)}"
    if not scoring.greater_is_better:
        caption += f" {on_direction(scoring)}"
    if truth is not None:
        fresh = count(truth["n_test"], "fresh sample")
        caption += f" The solid line is the truth, from {fresh}."
    alt = f"{sentence(metric)[:-1]} by method: {'; '.join(said)}."
    return Figure.from_picture(Intervals(alt, marks, levels, unit, metric), caption)


def _table(s: EstimatesSummary) -> Rows:
    scoring = read_info(s["scoring"])
    unit, truth = scoring.unit, s["truth"]
    in_points = " (points)" if unit == "percent" else ""
    off = f"Estimate {MINUS} truth{in_points}# | " if truth is not None else ""
    heads = f"Method!~ | {sentence(scoring.label)[:-1]}# | {off}"
    heads += f"{confidence(s['confidence'])}# | Kind | Measured coverage# | "
    heads += f"Standard deviation of splits{in_points}#^ | Samples# | Splits#^"
    rows = [row for e in s["estimates"] for row in _rows(e, s, unit)]
    if truth is not None:
        lone: EstimateSummary = {**truth, "method": "the truth", "std": None}
        lone["intervals"] = truth["intervals"][:1]
        rows += _rows(lone, s, unit)
    caption = f"Estimated {scoring.full_label} by each method, with its intervals"
    return table(caption, heads, rows)


def _others(s: EstimatesSummary) -> list[Rows]:
    """List the other scores of the same predictions, where there are any."""
    several = len(s["estimates"]) > 1
    rows = [
        (*([one["method"]] if several else []), *list_score(one, one))
        for one in s["others"]
    ]
    return tabulate_scores(
        "Other scores of the same predictions",
        rows,
        level=s["confidence"],
        first="Method!~ | " if several else "",
    )


def _rows(e: EstimateSummary, s: EstimatesSummary, unit: ValueUnit) -> list[Row]:
    n = max(1, len(e["intervals"]))

    def spread(value: float | None, signed: bool) -> str:
        if unit == "percent":
            return points(value, signed=signed, unit=False)
        return write_score(value, unit)

    first = [
        TableCell(e["method"], span=n),
        TableCell(write_score(e["value"], unit), True, span=n),
    ]
    if s["truth"] is not None:
        first.append(TableCell(spread(e["off"], True), span=n))
    last = (
        # One split has no spread; of one accuracy, "std" is the binomial deviation.
        TableCell(spread(e["std"] if e["n_splits"] > 1 else None, False), span=n),
        TableCell(str(e["n_test"]), span=n),
        TableCell(str(e["n_splits"]), span=n),
    )
    bounds = [
        (
            write_score_range(b["low"], b["high"], unit),
            *interval_cells(b["kind"], b["coverage"]),
        )
        for b in e["intervals"]
    ] or [(MISSING, "none valid", MISSING)]
    lead, *more = (tuple(map(TableCell, one)) for one in bounds)
    return [Row((*first, *lead, *last)), *map(Row, more)]


def _details(s: EstimatesSummary) -> list[Rows]:
    """List the intermediate results of the methods, where there are any."""
    unit = read_info(s["scoring"]).unit
    rows = [
        (e["method"], DETAILS.get(key, key), _detail(key, value, unit))
        for e in s["estimates"]
        for key, value in e["details"].items()
    ]
    caption = "What each method computed on the way to its estimate"
    heads = "Method!~ | Intermediate result~ | Value#"
    folded = "The intermediate results"
    return [table(caption, heads, rows, folded)] if rows else []


def _detail(key: str, value: float, unit: ValueUnit) -> str:
    return number(value, 3) if key in NOT_SCORES else write_score(value, unit)


def _for_paper(s: EstimatesSummary, figures: Rows) -> Rows:
    known = [] if s["data"] is None else [said_data(s["data"])]
    scoring = read_info(s["scoring"])
    if s["data"] is not None:
        known += write_chance(scoring)
    where = f" ({'; '.join(known)})" if known else ""
    metric = sentence(scoring.full_label)[:-1]
    caption = f"{metric} of {name_of(s['estimator'])}{where}."
    return replace(figures, caption=caption)


def _remarks(s: EstimatesSummary) -> list[str]:
    return [
        *_about(s["words"]["intervals"]),
        "Measured coverage: share of data sets with a known truth on which the 95 % "
        "interval of that kind covered the truth. It should be 95 %; if it is smaller, "
        "the intervals are too narrow, and if it is larger, too wide.",
        "Splits share samples, so their standard deviation is not the standard error "
        "of the estimate.",
    ]


def _possible(record: Estimates) -> list[str]:
    """Name the interval that is computed on request only."""
    kinds = [set(e.intervals) for e in record.estimates]
    pairs = zip(record.estimates, kinds, strict=True)
    if not any("nested" in e.assumes and "nested" not in shown for e, shown in pairs):
        return []
    return [
        "Nested cross-validation gives an interval with weaker assumptions, and takes "
        'many more fits: interval(kind="nested"), on the command line --nested.'
    ]


@view.register
def show_nested(record: NestedCV) -> View:
    """Show what nested cross-validation found."""
    s = summarize_nested(record)
    value, span = percent(s["value"]), percent_range(*s["interval"])
    folds, repeats = count(s["n_folds"], "fold"), count(s["n_repeats"], "repeat")
    samples = count(s["n_samples"], "sample")
    marks = (
        Mark("nested cross-validation", s["value"], bounded(*s["interval"])),
        Mark("ordinary cross-validation", s["cv_value"], side="b"),
    )
    said = "; ".join(mark.words() for mark in marks)
    caption = (
        "Share of new samples classified correctly; the line is the 95 % interval of "
        "nested cross-validation."
    )
    errors = [
        points(s[key], signed=False)
        for key in ("standard_error", "naive_standard_error")
    ]
    heads = "Method! | Accuracy#* | 95 % interval# | Standard error# | "
    figures = table(
        f"Accuracy by nested cross-validation ({samples}, {folds}, {repeats}).",
        f"{heads}Naive standard error#",
        [("nested cross-validation", value, span, *errors)],
    )
    return brief(
        s,
        Badge(s["belief"], AN_ESTIMATE[s["belief"]]),
        s["headline"],
        f"Measured on {samples}, {folds}, {repeats}.",
        "The estimate",
        Figure.from_picture(Intervals(f"Accuracy: {said}.", marks), caption),
        figures,
        title="Nested cross-validation",
        question="How accurate is the estimator?",
        method="The standard error of cross-validation was estimated by nested "
        f"cross-validation (Bates, Hastie and Tibshirani 2024) with {folds} and "
        f"{repeats} on {samples}: the accuracy is {value} with a 95 % interval of "
        f"{span}.",
    )

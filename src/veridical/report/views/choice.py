"""A choice among many: which candidate, how good is it, what would have been said?"""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from veridical._core.numbers import MISSING, count, number, percent
from veridical._core.records import Curve, Interval, Setting, write_setting
from veridical._core.text import capitalized, listing
from veridical.evaluation.choices import Candidate, Choice
from veridical.evaluation.conclusions import say_coverage
from veridical.report.plain import (
    CoverageSummary,
    DataInfo,
    IntervalSummary,
    ScoreSummary,
    concluded,
    fill,
    plain,
    to_json,
)
from veridical.report.view import (
    Bars,
    Block,
    Curves,
    DrawnInterval,
    Fact,
    Figure,
    Intervals,
    Mark,
    Notes,
    Rows,
    Section,
    Text,
    View,
    Warn,
    answer,
    bare_pvalue,
    chance_level,
    data_facts,
    on_chance,
    on_direction,
    paragraph,
    provenance,
    read_info,
    said_data,
    sized_data,
    table,
    view,
)
from veridical.report.views.selection import (
    FeatureInfo,
    list_supported,
    say_support,
    show_supported,
    summarize_feature,
)

SCHEMA = "veridical/choice/1"
#: Candidates in the table of a page; all are in the JSON.
MOST_LISTED = 60
#: Candidates in the pictures.
MOST_DRAWN = 12
#: Curves that can be told apart without colours.
MOST_CURVES = 3
#: Stand-ins in the table of a page.
MOST_STAND_INS = 60
BADGES = {
    "yes": "Better than guessing",
    "care": "Partial answer",
    "open": "Not shown to be better than guessing",
    "no": "Do not believe",
}
#: What the columns and remarks of the table of candidates mean.
KEY = (
    "p-value: of the hypothesis that the candidate is the best of all, adjusted for "
    "the number of candidates. Like the best: not distinguishable from it. 1 SE: its "
    "score is within one standard error of the best. Front: no other candidate has "
    "as few features, as good a score and as stable a selection. Wins: how often it "
    "was the best of a bootstrap draw"
)
#: What the corrected score estimates.
MEANING = {
    "bbc": "The corrected score is the mean score of the winner of a bootstrap draw on "
    "the samples outside the draw (Tsamardinos, Greasidou and Borboudakis 2018). It "
    "estimates the score, on new samples, of the best candidate chosen in this way. "
    "The models behind it were trained on the training sets of the folds, which are "
    "smaller than the data.",
    "nested": "The corrected score is that of nested cross-validation: in every outer "
    "training set the whole choice was repeated, and its winner was tested on samples "
    "that the choice did not see. It estimates the score of the procedure of choosing, "
    "with training sets that are smaller than the data.",
}


#: What the interval of the corrected score is.
INTERVAL_NOTES = {
    "bbc": "The interval reaches at least as far as the sampling error of the score, "
    "and from the 2.5 to the 97.5 percentile of the scores of the winners outside "
    "their draws, which are few samples: it is wide",
    "nested": "The interval follows from the sampling error of the score, and is wider "
    "because models of different folds share training samples (Nadeau and Bengio 2003)",
}


class CandidateInfo(TypedDict):
    """A candidate; see ``veridical.evaluation.Candidate``."""

    selector: str
    estimator: str
    n_features: int
    score: IntervalSummary
    standard_error: float | None
    pvalue: float
    is_like_winner: bool
    within_one_se: bool
    wins: float
    stability: float | None
    on_front: bool
    is_baseline: bool
    dropped_after: int | None


class StandInInfo(TypedDict):
    """A feature that can stand in for a selected one."""

    feature: str
    other: str
    index: int
    other_index: int
    correlation: float


class SignatureInfo(TypedDict):
    """The winner with stand-ins in place of its features."""

    n_replaced: int
    score: float
    is_equivalent: bool


class ChoiceWords(TypedDict):
    """The choice in sentences; ``belief`` is "yes", "care" (partial) or "open"."""

    headline: str
    belief: str
    evidence: str
    notes: list[str]


class ChoiceSummary(TypedDict):
    """Everything the page of a choice shows, as plain numbers and strings.

    ``score`` is corrected for the choice, ``naive_score`` is not; ``optimism`` is the
    difference. ``candidates`` are the best first; ``n_like_winner`` of them are not
    distinguishable from the winner.
    """

    schema: str
    kind: str
    data: DataInfo
    correction: str
    scoring: ScoreSummary
    score: float
    low: float
    high: float
    naive_score: float
    optimism: float
    coverage: CoverageSummary | None
    winner: CandidateInfo
    smallest: CandidateInfo
    knee: CandidateInfo
    n_like_winner: int
    n_planned: int
    is_partial: bool
    candidates: list[CandidateInfo]
    features: list[FeatureInfo]
    stand_ins: list[StandInInfo]
    signature: SignatureInfo | None
    other_scores: dict[str, IntervalSummary]
    by_bbc: IntervalSummary | None
    fold_winners: list[str]
    n_folds: int
    n_test: int
    n_units: int
    n_bootstrap: int
    settings: dict[str, Setting]
    words: ChoiceWords


# -- plain numbers ---------------------------------------------------------------------


@to_json.register
def summarize(record: Choice) -> Any:
    """Turn a choice into plain numbers and strings."""
    low, high = record.interval()
    return fill(
        ChoiceSummary,
        record,
        schema=SCHEMA,
        kind="choice",
        low=low,
        high=high,
        winner=_candidate(record.winner),
        smallest=_candidate(record.smallest),
        knee=_candidate(record.knee),
        n_like_winner=len(record.like_winner),
        candidates=[_candidate(one) for one in record.found],
        features=[summarize_feature(one, record.n_folds) for one in record.features],
        words=concluded(
            record, evidence=_evidence(record), notes=[*record.notes, *_remarks(record)]
        ),
    )


def _candidate(one: Candidate) -> dict[str, Any]:
    return {**plain(one), "is_like_winner": one.is_like_winner}


def _evidence(record: Choice) -> str:
    info = record.scoring
    gap = info.write_gap(abs(record.optimism), signed=False)
    better = "better" if record.optimism < 0 else "worse"
    before, after = info.write(record.naive_score), info.write(record.score)
    corrected = f"it is {after}" if after != before else "it is the same"
    if after != before and gap != info.write_gap(0.0, signed=False):
        corrected += f", {better} by {gap}"
    said = (
        f"{count(len(record.found), 'candidate')} predicted the same "
        f"{count(record.n_test, 'sample')} by "
        f"{record.settings.get('cross-validation', 'cross-validation')}, with "
        "selection inside the training sets. The best of them has "
        f"{info.full_label} {before}; corrected for the choice {corrected}. "
    )
    if len(record.found) == 1:
        return f"{said}There was no other candidate."
    alike = len(record.like_winner) - 1
    if alike:
        said += (
            f"{count(alike, 'other candidate')} {'are' if alike > 1 else 'is'} not "
            "distinguishable from the best; of those within one standard error of it, "
        )
        said += (
            "none has fewer features. "
            if record.smallest.n_features >= record.winner.n_features
            else f"the one with the fewest features is {record.smallest.label}. "
        )
    else:
        said += "All other candidates are distinguishably worse than the best. "
    return f"{said}The best won {percent(record.winner.wins)} of the bootstrap draws."


def _remarks(record: Choice) -> list[str]:
    info = record.scoring
    unit = "group" if record.n_units < record.n_test else "sample"
    said = [
        MEANING[record.correction],
        f"{INTERVAL_NOTES[record.correction]} ({count(record.n_units, unit)} drawn, "
        f"{record.n_bootstrap} draws). {say_coverage(record.coverage)}",
        "A candidate is not distinguishable from the best if its p-value is 0.05 or "
        "more: the gap between them is no larger than the largest gap between equally "
        "good candidates in 95 % of bootstrap draws (multiple comparisons with the "
        "best).",
        f"The {info.label} of a candidate is computed from the predictions of all "
        "folds together. Its interval is for this candidate alone and does not account "
        "for the choice.",
    ]
    if any(one.score.low == one.score.high for one in record.found):
        said.append(
            "A candidate has no interval where every bootstrap draw gives it the same "
            f"{info.label}, as it does where no sample is classified wrongly; this "
            "does not mean that the value is certain."
            if info.is_accuracy
            else "A candidate has no interval where every bootstrap draw gives it the "
            f"same {info.label}; this does not mean that the value is certain."
        )
    if record.by_bbc is not None:
        span = info.write_range(record.by_bbc.low, record.by_bbc.high)
        said.append(
            "By the bootstrap of the predictions the corrected score is "
            f"{info.write(record.by_bbc.value)} ({span})."
        )
    if record.features:
        said.append(
            "The features listed were selected on all samples; stand-ins are features "
            "whose correlation with a selected one is 0.9 or more in absolute value."
        )
    return said


# -- the view --------------------------------------------------------------------------


@view.register
def show(record: Choice) -> View:
    """Show the score before and after correction, and all candidates."""
    s: ChoiceSummary = summarize(record)
    words, info = s["words"], read_info(s["scoring"])
    winner = record.winner
    facts = [
        *data_facts(s["data"]),
        Fact("Winner", winner.label),
        Fact("Smallest", record.smallest.label),
        Fact("Candidates", str(len(record.found))),
    ]
    listed = _candidates(s, MOST_LISTED)
    what = capitalized(info.label)
    sections = [
        Section(
            "What is often reported, and what to report",
            (_report_figure(s),),
            first=True,
        ),
        Section("The candidates", (_best_figure(s), listed), first=True),
    ]
    drawn = _curve(record)
    if drawn is not None:
        front: list[Block] = [Figure.from_curves(drawn), _front(s, record)]
        sections.append(Section(f"{what} by number of features", tuple(front)))
    sections.append(Section("Is the choice itself stable?", (_wins(s),)))
    if s["features"]:
        sections.append(Section("The features of the winner", _features(s)))
    sections.append(Section("How to read this", (Notes(tuple(words["notes"])),)))
    caption = (
        f"Candidates ({said_data(s['data'])}), the best first. "
        f"{what} {info.write(s['score'])} "
        f"({info.write_range(s['low'], s['high'])}) after correction for the choice, "
        f"{info.write(s['naive_score'])} before. {KEY}."
    )
    short = _candidates(s, 15)
    warnings: tuple[Warn, ...] = ()
    if s["is_partial"]:
        said = f"{len(s['candidates'])} of {s['n_planned']} candidates were evaluated."
        warnings = (Warn("This is a partial answer: the search was stopped.", (said,)),)
    return View(
        title=f"Which of many, and how good is it? {s['data']['name']}",
        question="Which of many, and how good is it?",
        **answer(words, BADGES),
        facts=tuple(facts),
        sections=tuple(sections),
        provenance=provenance(s, ()),
        tables=(Rows(caption, short.columns, short.rows),),
        method=paragraph(s["settings"], _method(s)),
        remarks=(words["evidence"], *words["notes"][:1]),
        warnings=warnings,
    )


def _name(one: Any) -> str:
    if not one["n_features"]:
        return str(one["estimator"])
    features = count(one["n_features"], "feature")
    return f"{one['estimator']}, {one['selector']}, {features}"


def _report_figure(s: ChoiceSummary) -> Figure:
    """Draw the naive and the corrected score, and the baselines."""
    info = read_info(s["scoring"])
    winner = s["winner"]["score"]
    own = _bounds(winner)
    marks = [
        Mark("Often reported: the best", s["naive_score"], own, "b"),
        Mark(
            "Corrected for the choice",
            s["score"],
            (DrawnInterval(s["low"], s["high"]),),
        ),
    ]
    for one in s["candidates"]:
        if one["is_baseline"] and one != s["winner"]:
            marks.append(
                Mark(
                    f"Baseline: {one['estimator']}, {one['selector']}",
                    one["score"]["value"],
                    _bounds(one["score"]),
                    "b",
                )
            )
    alt = "; ".join(mark.words(info.unit) for mark in marks)
    caption = (
        f"{capitalized(info.full_label)} with 95 % intervals. Ring above: the best "
        "candidate, whose interval does not account for the choice. Disc: the score "
        "to report. Rings below: baselines that were not chosen. "
        f"{on_direction(info)} {on_chance(info, s['data'])}"
    )
    picture = Intervals(
        f"{alt}.", tuple(marks), chance_level(info), info.unit, info.label
    )
    return Figure.from_picture(picture, " ".join(caption.split()))


def _bounds(found: IntervalSummary) -> tuple[DrawnInterval, ...]:
    if found["low"] is None or found["high"] is None or _has_no_width(found):
        return ()
    return (DrawnInterval(found["low"], found["high"]),)


def _has_no_width(found: IntervalSummary) -> bool:
    """Return whether all bootstrap draws agree, as they do where none has an error."""
    return found["low"] is not None and found["low"] == found["high"]


def _best_figure(s: ChoiceSummary) -> Figure:
    info = read_info(s["scoring"])
    marks = tuple(
        Mark(
            _name(one),
            one["score"]["value"],
            _bounds(one["score"]),
            "a" if one["is_like_winner"] else "b",
        )
        for one in s["candidates"][:MOST_DRAWN]
    )
    alt = "; ".join(mark.words(info.unit) for mark in marks)
    caption = (
        f"The {len(marks)} best candidates: estimator, selector and number of "
        "features. Discs: not distinguishable from the best; rings: shown to be worse. "
        "The intervals do not account for the choice."
    )
    picture = Intervals(f"{alt}.", marks, chance_level(info), info.unit, info.label)
    return Figure.from_picture(picture, caption)


def _candidates(s: ChoiceSummary, most: int) -> Rows:
    info = read_info(s["scoring"])
    rows = []
    for one in s["candidates"][:most]:
        agreed = one["stability"]
        rows.append(
            (
                one["estimator"],
                one["selector"],
                str(one["n_features"]),
                info.write(one["score"]["value"]),
                MISSING
                if _has_no_width(one["score"])
                else info.write_range(one["score"]["low"], one["score"]["high"]),
                bare_pvalue(one["pvalue"]),
                MISSING if agreed is None else number(agreed, 2),
                percent(one["wins"]),  # drawn in a figure of their own
                _marks(one),
            )
        )
    more = len(s["candidates"]) - most
    caption = f"Cross-validated with selection inside the folds, the best first. {KEY}"
    caption += f"; {more} more are listed by --json" if more > 0 else ""
    heads = "Estimator! | Selector! | Features# | "
    heads += (
        f"{capitalized(info.label)}#* | 95 % interval#^ | p-value# | Stability#^ | "
    )
    return table(caption, f"{heads}Wins#^ | Remarks", rows)


def _marks(one: CandidateInfo) -> str:
    said = []
    if one["dropped_after"] is not None:
        said.append(f"dropped after {count(one['dropped_after'], 'fold')}")
    elif one["is_like_winner"]:
        said.append("like the best")
    if one["within_one_se"]:
        said.append("1 SE")
    if one["on_front"]:
        said.append("front")
    if one["is_baseline"]:
        said.append("baseline")
    return ", ".join(said)


def _curve(record: Choice) -> Curves | None:
    """Draw the best score at every number of features, for each selector."""
    info = record.scoring
    chosen = [
        one for one in record.found if not one.is_baseline and one.dropped_after is None
    ]
    sizes = sorted({one.n_features for one in chosen})
    if len(sizes) < 2:
        return None
    factor = 100 if info.percent else 1
    best: dict[tuple[str, int], Interval] = {}
    for one in chosen:  # the best first
        best.setdefault((one.selector, one.n_features), one.score)
    curves = []
    selectors = list(dict.fromkeys(one.selector for one in chosen))
    for selector in selectors[:MOST_CURVES]:
        own = [(sizes.index(n), v) for (name, n), v in best.items() if name == selector]
        own.sort()
        values = tuple(Interval(*[factor * v.value] * 3) for _, v in own)
        curves.append(Curve(selector, tuple(place for place, _ in own), values))
    unit = f"{info.label}, %" if info.percent else info.label
    which = "each selector"
    if len(selectors) > MOST_CURVES:
        which = f"the {MOST_CURVES} best of {len(selectors)} selectors"
    title = f"Best {info.label} of {which}, over the estimators"
    places = tuple(map(str, sizes))
    return Curves(
        "", title, unit, (("features", places),), tuple(curves), from_zero=False
    ).described()


def _front(s: ChoiceSummary, record: Choice) -> Rows:
    info = read_info(s["scoring"])
    rows = []
    for one in record.front:
        agreed = one.stability
        what = []
        if one is record.winner:
            what.append("winner")
        if one == record.smallest:
            what.append("smallest")
        if one == record.knee:
            what.append("knee")
        rows.append(
            (
                str(one.n_features),
                one.selector,
                one.estimator,
                info.write(one.score.value),
                MISSING if agreed is None else number(agreed, 2),
                ", ".join(what),
            )
        )
    caption = (
        "Pareto front: no other candidate has as few features, as good a score and "
        "as stable a selection, and is better in one of them. Smallest: the fewest "
        "features of all candidates that are like the best and within one standard "
        "error of it. Knee: beyond it, more features gain little"
    )
    heads = f"Features#! | Selector | Estimator | {capitalized(info.label)}#* | "
    return table(caption, f"{heads}Stability# | Remarks", rows)


def _wins(s: ChoiceSummary) -> Block:
    """Draw how often each candidate won."""
    chosen = sorted(s["candidates"], key=lambda one: -one["wins"])[:MOST_DRAWN]
    chosen = [one for one in chosen if one["wins"] > 0]
    total = s["n_bootstrap"]
    counts = tuple(round(one["wins"] * total) for one in chosen)
    labels = tuple(_name(one) for one in chosen)
    pairs = zip(labels, counts, strict=True)
    alt = ", ".join(f"{label}: {n} of {total}" for label, n in pairs)
    picture = Bars(
        f"Bootstrap draws won: {alt}.",
        labels,
        (("wins", counts),),
        total,
        "bootstrap draws won",
    )
    caption = (
        "How often each candidate was the best of a bootstrap draw. If one wins nearly "
        "always, the choice is stable; if many win, the data do not say which is best."
    )
    return Figure.from_picture(picture, caption)


def _features(s: ChoiceSummary) -> tuple[Block, ...]:
    features, n_folds = s["features"], s["n_folds"]
    said = (say_support(features, n_folds),)
    blocks = show_supported(features, said, list_supported(features, n_folds))
    if s["stand_ins"]:
        pairs = [
            (one["feature"], one["other"], number(one["correlation"], 2))
            for one in s["stand_ins"][:MOST_STAND_INS]
        ]
        caption = "Features outside the list that can stand in for a selected one"
        blocks.append(
            table(caption, "Selected feature! | Stand-in! | Correlation#", pairs)
        )
    if s["signature"] is not None:
        blocks.append(Text(_say_signature(s)))
    return tuple(blocks)


def _say_signature(s: ChoiceSummary) -> str:
    signature, info = s["signature"], read_info(s["scoring"])
    assert signature is not None
    end = (
        "within one standard error: the list is one of several that predict equally "
        "well."
        if signature["is_equivalent"]
        else "more than one standard error worse: the stand-ins do not carry the same "
        "information."
    )
    before, after = info.write(s["naive_score"]), info.write(signature["score"])
    instead = f"{after} as before"
    if after != before:
        instead = f"{after} instead of {before}"
    return (
        f"With {count(signature['n_replaced'], 'selected feature')} replaced by "
        f"stand-ins inside the folds, the {info.label} is {instead}, {end}"
    )


def _method(s: ChoiceSummary) -> list[str]:
    info, settings = read_info(s["scoring"]), s["settings"]
    n = len(s["candidates"])
    selectors = {one["selector"] for one in s["candidates"] if not one["is_baseline"]}
    estimators = {one["estimator"] for one in s["candidates"] if one["n_features"]}
    sizes = settings.get("sizes")
    sizes = (
        f"{listing(map(write_setting, sizes))} features"
        if isinstance(sizes, (list, tuple))
        else "as many features as each selector keeps"
    )
    if s["correction"] == "bbc":
        how = (
            "The score of the winner was corrected for the choice by bootstrap "
            "bias-corrected cross-validation (Tsamardinos, Greasidou and Borboudakis "
            f"2018; {s['n_bootstrap']} draws)"
        )
    else:
        how, _, inner = str(settings.get("correction")).partition("; ")
        how = f"The score of the choice was estimated by {how}"
        how += f" ({inner})" if inner else ""
    return [
        f"On {sized_data(s['data'])}, {count(n, 'candidate')} were compared by "
        f"{settings.get('cross-validation', 'cross-validation')}: selectors "
        f"{listing(sorted(selectors))}; {sizes}; estimators "
        f"{listing(sorted(estimators))}.",
        "Features were selected, and estimators trained, inside every training set.",
        f"{how}: {info.full_label} {info.write(s['score'])} (95 % interval "
        f"{info.write_range(s['low'], s['high'])}), before the correction "
        f"{info.write(s['naive_score'])}.",
        f"The winner ({_name(s['winner'])}) was fitted on all samples.",
    ]

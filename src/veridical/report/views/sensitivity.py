"""IN, OUT and TRUTH on sources like the data: which reaches the true verdict?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from typing_extensions import TypedDict

from veridical._core.numbers import MISSING, count, percent, pvalue
from veridical._core.records import SIDES, Interval, Setting, Side
from veridical._core.text import listing
from veridical.comparison.records import Comparison, Sensitivity, Winner
from veridical.evaluation.arguments import name_of
from veridical.report.plain import (
    DataInfo,
    IntervalSummary,
    ScoreSummary,
    concluded,
    fill,
    to_json,
)
from veridical.report.view import (
    Column,
    Figure,
    Heads,
    Intervals,
    Mark,
    Rows,
    Section,
    Text,
    View,
    answer,
    bold,
    bounded,
    confidence,
    in_points_or_not,
    paragraph,
    provenance,
    read_info,
    sentence,
    sized_data,
    table,
    view,
)
from veridical.report.views.comparison import compared, origin

SCHEMA = "veridical/sensitivity/1"
BADGES = {"yes": "Use IN", "care": "With care", "open": "No difference shown"}
METHOD_SIDES: dict[str, Side] = {"in": "a", "out": "b"}


class SourceSummary(TypedDict):
    """One source: mean accuracies by method and side, and how often each was right.

    ``right`` counts the data sets on which a method reached the true verdict, ``only``
    those on which it alone did; ``share_right`` is their share, with Wilson's 95 %
    bounds.
    """

    strength: float
    n_relevant: int
    means: dict[str, dict[str, float]]
    difference: IntervalSummary
    pvalue: float
    winner: Winner
    n_sets: int
    right: dict[str, int]
    share_right: dict[str, IntervalSummary]
    only: dict[str, int]
    truthful_pvalue: float
    more_truthful: str


class SensitivityWords(TypedDict):
    """The summary in sentences."""

    headline: str
    belief: str
    evidence: str
    recommendation: str
    recipe: str


class SensitivitySummary(TypedDict):
    """Everything the page of a sensitivity analysis shows."""

    schema: str
    kind: Literal["sensitivity"]
    names: dict[Side, str]
    estimators: list[str]
    n_features_to_select: int
    alpha: float
    data: DataInfo
    scoring: ScoreSummary
    observed: dict[str, dict[str, float]]
    sources: list[SourceSummary]
    settings: dict[str, Setting]
    words: SensitivityWords


@to_json.register
def summarize(record: Sensitivity) -> Any:
    """Turn a sensitivity analysis into plain numbers and strings."""
    sources = [_source(record, i) for i in range(len(record.sources))]
    observed = record.observed
    return fill(
        SensitivitySummary,
        observed,
        schema=SCHEMA,
        kind="sensitivity",
        names=dict(zip(SIDES, record.names, strict=True)),
        data=record.data,
        observed=_means(observed, ("in", "out")),
        sources=sources,
        settings=record.settings,
        words=concluded(
            record,
            evidence=_evidence(sources),
            recommendation=record.recommendation,
            recipe=record.recipe,
        ),
    )


def _means(record: Comparison, methods: tuple[str, ...]) -> dict[str, dict[str, float]]:
    return {
        method: {
            side: mean.value
            for side, mean in zip(SIDES, record.means[method], strict=True)
        }
        for method in methods
    }


def _source(record: Sensitivity, i: int) -> SourceSummary:
    found = record.sources[i]
    verdict, outcome = found.verdicts["truth"], found.truthfulness
    assert outcome is not None
    found_truth: SourceSummary = fill(
        SourceSummary,
        verdict,
        strength=record.strengths[i],
        n_relevant=record.n_relevant[i],
        means=_means(found, ("truth", "in", "out")),
        difference=Interval(verdict.mean_difference, *verdict.interval),
        n_sets=len(found.set_verdicts["in"]),
        right=found.n_right,
        share_right=found.share_right,
        only={"in": outcome.only_in, "out": outcome.only_out},
        truthful_pvalue=outcome.pvalue,
        more_truthful=outcome.better,
    )
    return found_truth


def _evidence(sources: list[SourceSummary]) -> str:
    said = [
        f"at strength {source['strength']:g}, IN on "
        f"{percent(source['share_right']['in']['value'], 0)} and OUT on "
        f"{percent(source['share_right']['out']['value'], 0)}"
        for source in sources
    ]
    n_sets = count(sources[0]["n_sets"], "data set")
    return f"Right verdicts, of {n_sets} from each source: {'; '.join(said)}."


# -- the view --------------------------------------------------------------------------


@view.register
def show(record: Sensitivity) -> View:
    """Show how often each method found the truth, and whether sources are alike."""
    s: SensitivitySummary = summarize(record)
    words, names, data = s["words"], s["names"], s["data"]
    found = _table(s)
    tests = (
        record.sources[0].verdicts["truth"].test.name,
        record.observed.verdicts["in"].test.name,
    )
    note = (
        f"The true verdict is that of the {tests[0]} test over the data sets, each "
        f"with a test set of its own. IN and OUT apply the {tests[1]} test to the "
        "folds of each data set. The p-value is that of the exact one-tailed binomial "
        "test on the data sets where only IN or only OUT was right, significant below "
        f"{s['alpha'] / 2:g}."
    )
    info, estimators = read_info(s["scoring"]), map(name_of, s["estimators"])
    splits = s["settings"].get("cross-validation", "cross-validation")
    caption = (
        f"{names['a']} against {names['b']} on sources like {sized_data(data)}: true "
        "difference, and on how many data sets IN and OUT reached the true verdict."
    )
    return View(
        title=f"IN or OUT for {names['a']} and {names['b']}? {data['name']}",
        question="Which method reaches the true verdict?",
        **answer(words, BADGES),
        facts=compared(s, "by each"),
        sections=(
            Section("How often the true verdict is reached", (_figure(s),), first=True),
            Section("The numbers", (found, Text(note, "note")), first=True),
            Section(
                "What follows", (Text(words["recommendation"], "claim"),), first=True
            ),
            Section("Do the sources look like the data?", _likeness(s)),
        ),
        provenance=provenance(s, [words["recipe"]], origin(s)[:1]),
        tables=(replace(found, caption=caption),),
        method=paragraph(
            s["settings"],
            [
                "To see whether selection inside (IN) or outside (OUT) "
                f"cross-validation distinguishes {names['a']} and {names['b']} on data "
                f"like {sized_data(data)}, {count(len(s['sources']), 'source')} were "
                f"made. {sentence(words['recipe'])}",
                f"On each, both selectors, with {s['n_features_to_select']} features, "
                f"were compared by the {info.full_label} of {listing(estimators)}: by "
                f"IN and by OUT in {splits}, and on fresh samples. IN and OUT were "
                "compared by a binomial test over the data sets on which one alone "
                "reached the true verdict.",
            ],
        ),
        remarks=(words["recommendation"],),
    )


def _figure(s: SensitivitySummary) -> Figure:
    marks = []
    for source in s["sources"]:
        n = source["n_sets"]
        for method, side in METHOD_SIDES.items():
            right, share = source["right"][method], source["share_right"][method]
            label = f"Strength {source['strength']:g}, {method.upper()}"
            bounds, note = bounded(share["low"], share["high"]), f"{right} of {n}"
            marks.append(Mark(label, share["value"], bounds, side, note))
    said = "; ".join(mark.words() for mark in marks)
    alt = f"Data sets on which the true verdict was reached: {said}."
    picture = Intervals(alt, tuple(marks), axis="data sets with the true verdict")
    caption = (
        "Share of data sets from each source on which a method reached the true "
        "verdict, with Wilson's 95 % interval. At strength 1, features are as strong "
        "as in the data."
    )
    key = (("IN", METHOD_SIDES["in"]), ("OUT", METHOD_SIDES["out"]))
    note = "IN selects inside every fold, OUT once on all samples"
    return Figure.from_picture(picture, caption, key=key, keynote=note)


def _table(s: SensitivitySummary) -> Rows:
    info, points = read_info(s["scoring"]), in_points_or_not(s)
    rows = []
    for one in s["sources"]:
        verdict = "no difference shown"
        if one["winner"] != "draw":
            verdict = f"{s['names'][one['winner']]} better"
        n = one["n_sets"]
        row = (
            f"{one['strength']:g}",
            verdict,
            info.write_gap(one["difference"]["value"], unit=False),
            info.write_gap_range(
                one["difference"]["low"], one["difference"]["high"], unit=False
            ),
            f"{one['right']['in']} of {n}",
            f"{one['right']['out']} of {n}",
            str(one["only"]["in"]),
            str(one["only"]["out"]),
            pvalue(one["truthful_pvalue"]),
        )
        rows.append(row)
    gap_of = Column(f"{s['names']['a']} minus {s['names']['b']}{points}", number=True)
    level = f"{confidence(1 - s['alpha'])}{points}#"
    heads: Heads = [
        "Strength#!",
        "True verdict~",
        gap_of,
        level,
        "IN right#*",
        "OUT right#*",
    ]
    caption = "On each source: the true verdict, and on how many data sets IN and OUT "
    return table(
        f"{caption}reached it", [*heads, "Only IN#^", "Only OUT#^", "p-value#"], rows
    )


def _likeness(s: SensitivitySummary) -> tuple[Rows, Text]:
    info, methods = read_info(s["scoring"]), ("in", "out", "truth")
    heads = ["Where!", "Features that carry information#"]
    named = [
        Column(f"{method.upper()}, {s['names'][side]}", number=True)
        for method in methods
        for side in SIDES
    ]
    found = [bold(info.write(s["observed"][m][k])) for m in methods[:2] for k in SIDES]
    rows: list[Any] = [("The data", MISSING, *found, MISSING, MISSING)]
    for one in s["sources"]:
        means = [info.write(one["means"][m][side]) for m in methods for side in SIDES]
        relevant = f"{one['n_relevant']} of {s['data']['n_features']}"
        rows.append((f"Strength {one['strength']:g}", relevant, *means))
    note = (
        f"Where the {'accuracies' if info.is_accuracy else 'scores'} of a source are "
        "far from those on the data, the source is not like the data, and the counts "
        "of IN and OUT on this source say little about the data."
    )
    caption = f"Mean {info.full_label} on the data and on each source"
    return table(caption, [*heads, *named], rows), Text(note, "note")

"""IN, OUT and TRUTH on sources like the data: which protocol would tell the truth?"""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

from veridical._core.numbers import (
    MISSING,
    count,
    percent,
    points,
    points_range,
    pvalue,
)
from veridical._core.text import names as listing
from veridical.comparison.records import SIDES, Comparison, Sensitivity, Side, Winner
from veridical.evaluation.intervals import wilson
from veridical.report.plain import (
    LONGEST_TEXT,
    DataInfo,
    IntervalSummary,
    clean,
    clean_settings,
    data_info,
    interval,
    to_json,
)
from veridical.report.view import (
    Badge,
    Bounds,
    Column,
    Fact,
    Figure,
    Heads,
    Intervals,
    Mark,
    Panel,
    Rows,
    Section,
    Text,
    View,
    bold,
    confidence,
    paragraph,
    provenance,
    said_data,
    sentence,
    size_of,
    table,
    view,
)

SCHEMA = "veridical/sensitivity/1"
PROTOCOLS: dict[str, Side] = {"in": "a", "out": "b"}


class SourceSummary(TypedDict):
    """One source: mean accuracies by method and side, and who found the truth.

    ``right`` counts the data sets on which a method reached the true verdict, ``only``
    those on which it alone did.
    """

    strength: float
    n_relevant: int
    means: dict[str, dict[str, float]]
    difference: IntervalSummary
    pvalue: float
    winner: Winner
    n_sets: int
    right: dict[str, int]
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
    observed: dict[str, dict[str, float]]
    sources: list[SourceSummary]
    settings: dict[str, str]
    words: SensitivityWords


@to_json.register
def summarize(record: Sensitivity) -> Any:
    """Turn a sensitivity analysis into plain numbers and strings."""
    sources = [_source(record, i) for i in range(len(record.sources))]
    belief, headline = record.conclusion
    observed = record.observed
    summary: SensitivitySummary = {
        "schema": SCHEMA,
        "kind": "sensitivity",
        "names": {
            side: clean(name) for side, name in zip(SIDES, record.names, strict=True)
        },
        "estimators": [clean(name) for name in observed.estimators],
        "n_features_to_select": int(observed.n_features_to_select),
        "alpha": float(observed.alpha),
        "data": data_info(record.data),
        "observed": _means(observed, ("in", "out")),
        "sources": sources,
        "settings": clean_settings(record.settings),
        "words": {
            "headline": clean(headline, LONGEST_TEXT),
            "belief": belief,
            "evidence": _evidence(sources),
            "recommendation": clean(record.recommendation, LONGEST_TEXT),
            "recipe": clean(record.recipe, LONGEST_TEXT),
        },
    }
    return summary


def _means(record: Comparison, methods: tuple[str, ...]) -> dict[str, dict[str, float]]:
    return {
        method: {
            side: float(record.accuracy[method][i].mean())
            for i, side in enumerate(SIDES)
        }
        for method in methods
    }


def _source(record: Sensitivity, i: int) -> SourceSummary:
    found = record.sources[i]
    verdict, outcome = found.verdicts["truth"], found.truthfulness
    assert outcome is not None
    true = verdict.winner
    return {
        "strength": float(record.strengths[i]),
        "n_relevant": int(record.n_relevant[i]),
        "means": _means(found, ("truth", "in", "out")),
        "difference": interval((verdict.mean_difference, *verdict.interval)),
        "pvalue": float(verdict.pvalue),
        "winner": true,
        "n_sets": len(found.set_verdicts["in"]),
        "right": {
            method: sum(winner == true for winner in winners)
            for method, winners in found.set_verdicts.items()
        },
        "only": {"in": outcome.only_in, "out": outcome.only_out},
        "truthful_pvalue": float(outcome.pvalue),
        "more_truthful": outcome.better,
    }


def _evidence(sources: list[SourceSummary]) -> str:
    said = [
        f"at strength {source['strength']:g}, IN on "
        f"{percent(source['right']['in'] / source['n_sets'], 0)} and OUT on "
        f"{percent(source['right']['out'] / source['n_sets'], 0)}"
        for source in sources
    ]
    n_sets = count(sources[0]["n_sets"], "data set")
    return f"Right verdicts, of {n_sets} from each source: {listing(said)}."


# -- the view --------------------------------------------------------------------------


@view.register
def show(record: Sensitivity) -> View:
    """Show how often each protocol found the truth, and whether sources are alike."""
    s: SensitivitySummary = summarize(record)
    words, names, data = s["words"], s["names"], s["data"]
    found = _table(s)
    test = s["settings"].get("test", "")
    note = (
        "The true verdict is that of a paired t-test over the data sets, each tested "
        f"on cases of its own. IN and OUT test the folds of each data set ({test}). "
        "The p-value is that of the exact one-tailed binomial test on the data sets "
        "where only one of them was right, significant below "
        f"{s['alpha'] / 2:g}."
    )
    badges = {"yes": "Use IN", "care": "With care", "open": "No difference shown"}
    caption = (
        f"{names['a']} against {names['b']} on sources like {said_data(data)}: true "
        "difference, and on how many data sets IN and OUT reached the true verdict."
    )
    estimators = s["estimators"]
    return View(
        title=f"IN or OUT for {names['a']} and {names['b']}? {data['name']}",
        question="Which protocol would have told the truth?",
        badge=Badge(words["belief"], badges[words["belief"]]),  # type: ignore[arg-type]
        headline=words["headline"],
        lead=words["evidence"],
        facts=(
            Fact("Data", data["name"]),
            Fact("Size", size_of(data)),
            Fact("Selected", f"{count(s['n_features_to_select'], 'feature')} by each"),
            Fact(
                "Estimators" if estimators[1:] else "Estimator", ", ".join(estimators)
            ),
        ),
        sections=(
            Section("Which protocol finds the truth", (_figure(s),), first=True),
            Section("The figures", (found, Text(note, "note")), first=True),
            Section(
                "What follows", (Text(words["recommendation"], "claim"),), first=True
            ),
            Section("Do the sources look like the data?", _likeness(s)),
        ),
        provenance=provenance(
            s,
            [words["recipe"]],
            [
                Fact(
                    "Features selected", f"{s['n_features_to_select']} by each selector"
                )
            ],
        ),
        tables=(Rows(caption, found.columns, found.rows),),
        method=paragraph(
            s["settings"],
            [
                "To see whether selection inside (IN) or outside (OUT) "
                f"cross-validation tells {names['a']} and {names['b']} apart on data "
                f"like {said_data(data)}, {count(len(s['sources']), 'source')} were "
                f"made. {sentence(words['recipe'])}",
                "On each, both selectors were compared by IN, by OUT and on fresh "
                "cases; IN and OUT were compared by a binomial test over the data sets "
                "on which one alone reached the true verdict.",
            ],
        ),
        remarks=(words["recommendation"],),
    )


def _figure(s: SensitivitySummary) -> Figure:
    marks = []
    for source in s["sources"]:
        n = source["n_sets"]
        for method, side in PROTOCOLS.items():
            right = source["right"][method]
            label = f"Strength {source['strength']:g}, {method.upper()}"
            bounds = (Bounds(*wilson(right / n, n)),)
            marks.append(Mark(label, right / n, bounds, side, f"{right} of {n}"))
    said = "; ".join(mark.words() for mark in marks)
    alt = f"Data sets on which the true verdict was reached: {said}."
    picture = Intervals(alt, tuple(marks), axis="data sets with the true verdict")
    caption = (
        "Share of data sets from each source on which a method reached the true "
        "verdict, with Wilson's 95 % interval. Strength 1 is what was found in the "
        "data."
    )
    key = (("IN", PROTOCOLS["in"]), ("OUT", PROTOCOLS["out"]))
    note = "selected inside every fold, or once on all cases"
    return Figure((Panel(picture),), caption, key, note)


def _table(s: SensitivitySummary) -> Rows:
    rows = []
    for one in s["sources"]:
        verdict = "no difference shown"
        if one["winner"] != "draw":
            verdict = f"{s['names'][one['winner']]} better"
        gap, n = one["difference"], one["n_sets"]
        row = (
            f"{one['strength']:g}",
            verdict,
            points(gap["value"], unit=False),
            points_range(gap["low"], gap["high"], unit=False),
            f"{one['right']['in']} of {n}",
            f"{one['right']['out']} of {n}",
            str(one["only"]["in"]),
            str(one["only"]["out"]),
            pvalue(one["truthful_pvalue"]),
        )
        rows.append(row)
    gap_of = Column(f"{s['names']['a']} minus {s['names']['b']} (points)", number=True)
    level = f"{confidence(1 - s['alpha'])} (points)#"
    heads: Heads = [
        "Strength#!",
        "True verdict~",
        gap_of,
        level,
        "IN right#*",
        "OUT right#*",
    ]
    caption = "On each source: the truth, and the data sets on which a method reached "
    return table(f"{caption}it", [*heads, "Only IN#^", "Only OUT#^", "p-value#"], rows)


def _likeness(s: SensitivitySummary) -> tuple[Rows, Text]:
    methods = ("in", "out", "truth")
    heads = ["Where!", "Features that carry information#"]
    named = [
        Column(f"{method.upper()}, {s['names'][side]}", number=True)
        for method in methods
        for side in SIDES
    ]
    found = [bold(percent(s["observed"][m][k])) for m in methods[:2] for k in SIDES]
    rows: list[Any] = [("The data", MISSING, *found, MISSING, MISSING)]
    for one in s["sources"]:
        means = [percent(one["means"][m][side]) for m in methods for side in SIDES]
        relevant = f"{one['n_relevant']} of {s['data']['n_features']}"
        rows.append((f"Strength {one['strength']:g}", relevant, *means))
    note = (
        "Where the accuracies of a source are far from those on the data, the source "
        "is not like the data, and its result for IN and OUT says little about them."
    )
    caption = "Mean accuracy on the data and on each source"
    return table(caption, [*heads, *named], rows), Text(note, "note")

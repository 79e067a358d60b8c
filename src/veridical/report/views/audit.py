"""An audit: may this accuracy be believed, and what is it really?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from typing_extensions import TypedDict

from veridical._core.numbers import (
    MINUS,
    MISSING,
    count,
    percent,
    pvalue,
)
from veridical._core.records import Setting
from veridical._core.scoring import ScoreInfo
from veridical._core.text import capitalized, listing
from veridical.auditing.records import PARTS, Audit
from veridical.evaluation.arguments import name_of
from veridical.evaluation.conclusions import (
    add_coverage,
    explain_interval,
    say_coverage,
)
from veridical.report.plain import (
    CoverageSummary,
    DataInfo,
    IntervalSummary,
    ScoreResultSummary,
    ScoreSummary,
    clean,
    concluded,
    covered,
    fill,
    to_json,
)
from veridical.report.view import (
    Block,
    Distribution,
    Fact,
    Facts,
    Figure,
    FindingBlock,
    Folded,
    Level,
    Mark,
    Panel,
    Rows,
    Section,
    Step,
    Text,
    View,
    Waterfall,
    answer,
    bounded,
    chance_level,
    confidence,
    data_facts,
    gap_written,
    in_numbers,
    in_unit,
    list_score,
    on_chance,
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
    written,
)

SCHEMA = "veridical/audit/1"
LABELS = {"in": "IN", "out": "OUT"}
BADGES = {
    "yes": "No finding against it",
    "care": "With care",
    "open": "Not shown to be better than on random labels",
    "no": "Do not believe it",
}


class LaneSummary(TypedDict):
    """One protocol of an audit: what it reached, and what it reaches on random labels.

    ``protocol`` is "in" or "out"; ``score`` is the leading score, ``null`` has it for
    each random order of the labels and is empty where none was run.
    """

    protocol: str
    label: str
    accuracy: IntervalSummary
    score: IntervalSummary
    null: list[float]
    null_mean: float | None
    null_low: float | None
    null_high: float | None
    pvalue: float | None


class FindingSummary(TypedDict):
    """One finding; ``features`` are the indices of those that it is about."""

    code: str
    title: str
    severity: Literal["error", "warning", "note"]
    evidence: str
    cure: str
    details: dict[str, float]
    features: list[int]


class UntestedSummary(TypedDict):
    """One check that could not decide, and the argument that it needs."""

    code: str
    title: str
    needs: str
    what: str


class PartSummary(TypedDict):
    """One part of a score with its interval."""

    name: str
    value: float
    low: float
    high: float


class DecompositionSummary(TypedDict):
    """A reported score as a sum of parts."""

    reported: float
    parts: list[PartSummary]


class PreselectionSummary(TypedDict):
    """Features that were selected beforehand, and the selector probably used."""

    columns: list[str]
    selector: str
    given: bool
    overlap: dict[str, int]
    pvalue: float


class AuditWords(TypedDict):
    """The audit in sentences.

    ``belief`` is "yes" (measured honestly and better than on random labels), "open"
    (honestly, but not better), "care" (there are warnings) or "no" (there are errors).
    """

    headline: str
    belief: str
    evidence: str
    verdict: str
    methods: list[str]


class AuditSummary(TypedDict):
    """Everything an audit's page shows, as plain numbers and strings."""

    schema: str
    kind: Literal["audit"]
    estimator: str
    data: DataInfo
    alpha: float
    reported: str
    lanes: list[LaneSummary]
    scoring: ScoreSummary
    others: list[ScoreResultSummary]
    interval: str
    coverage: CoverageSummary | None
    optimism_coverage: CoverageSummary | None
    optimism: IntervalSummary | None
    balanced_accuracy: float | None
    stability: IntervalSummary | None
    n_selected: float | None
    findings: list[FindingSummary]
    muted: list[FindingSummary]
    untested: list[UntestedSummary]
    decomposition: DecompositionSummary | None
    preselection: PreselectionSummary | None
    settings: dict[str, Setting]
    words: AuditWords


# -- plain numbers ---------------------------------------------------------------------


@to_json.register
def summarize(record: Audit) -> Any:
    """Turn an audit into plain numbers and strings."""
    chosen = record.preselection
    if chosen is not None:
        names = [clean(record.data.feature_names[j]) for j in chosen.features]
        chosen = fill(PreselectionSummary, chosen, columns=names)
    summary: AuditSummary = fill(
        AuditSummary,
        record,
        schema=SCHEMA,
        kind="audit",
        lanes=[_lane(record, p) for p in ("out", "in") if p in record.score],
        scoring=_scoring(record),
        preselection=chosen,
        decomposition=_decomposition(record),
        words=concluded(record, evidence="", verdict="", methods=[]),
    )
    summary["estimator"] = clean(record.estimator, 400)  # may be a whole pipeline
    words = summary["words"]
    words["evidence"] = " ".join(_evidence(summary))
    words["verdict"] = _verdict(summary)
    words["methods"] = _methods(summary)
    return summary


def _decomposition(record: Audit) -> DecompositionSummary | None:
    found = record.decomposition
    if found is None:
        return None
    parts: list[PartSummary] = [
        {"name": one.name, "value": one.value, "low": one.low, "high": one.high}
        for one in found.parts
    ]
    return {"reported": found.reported, "parts": parts}


def _scoring(record: Audit) -> ScoreInfo:
    """Return the score; of an accuracy, guessing is the share of the largest class."""
    if record.scoring.is_accuracy:
        return replace(record.scoring, chance=record.data.majority_share)
    return record.scoring


def _lane(record: Audit, protocol: str) -> Any:
    null = record.null.get(protocol)
    known = {key: getattr(null, key, None) for key in ("mean", "low", "high", "pvalue")}
    return {
        "protocol": protocol,
        "label": LABELS[protocol],
        "accuracy": record.accuracy[protocol],
        "score": record.score[protocol],
        "null": [] if null is None else sorted(null.accuracies),
        "null_mean": known["mean"],
        "null_low": known["low"],
        "null_high": known["high"],
        "pvalue": known["pvalue"],
    }


# -- sentences -------------------------------------------------------------------------


def _evidence(s: AuditSummary) -> list[str]:
    """Say what the headline rests on."""
    lanes = {lane["protocol"]: lane for lane in s["lanes"]}
    inside, outside = lanes["in"], lanes.get("out")
    said = []
    if outside is not None and outside["null_mean"] is not None:
        said.append(
            "With labels in random order, where there is nothing to find, selecting "
            f"before the folds still reports {written(s, outside['null_mean'])} on "
            "average."
        )
    if inside["null_mean"] is not None:
        n = count(len(inside["null"]), "random order")
        said.append(
            f"With everything done inside the folds, {n} of the labels give "
            f"{written(s, inside['null_mean'])} on average "
            f"({pvalue(inside['pvalue'])}){_on_guessing(s)}."
        )
    if s["scoring"]["name"] != "accuracy":
        how = "pooled over all test samples"
        if s["scoring"]["averaging"] == "mean of folds":
            how = "the mean of the folds"
        said.append(f"The {read_info(s['scoring']).full_label} is {how}.")
    parts = [
        count(n_such, kind)
        for kind in ("error", "warning", "note")
        if (n_such := sum(f["severity"] == kind for f in s["findings"]))
    ]
    said.append(f"Findings: {listing(parts)}." if parts else "No finding.")
    return said


def _on_guessing(s: AuditSummary) -> str:
    """Say what guessing reaches, after a semicolon; nothing where it is not known."""
    scoring = read_info(s["scoring"])
    if scoring.is_accuracy:
        return (
            "; always predicting the most frequent class is correct for "
            f"{percent(scoring.chance)}"
        )
    if scoring.chance is None:
        return ""
    return f"; guessing reaches {scoring.write(scoring.chance)}"


def _verdict(s: AuditSummary) -> str:
    """Say what the optimism is."""
    gap = s["optimism"]
    if gap is None:
        return ""
    size = f"{gap_written(s, gap['value'])} ({_bounds(s, gap)})"
    what = s["scoring"]["label"]
    if s["reported"] == "out":
        return f"Selecting before the folds changes the {what} by {size}."
    return (
        "If everything before the estimator were done once, on all samples, the "
        f"{what} would differ by {size}."
    )


def _bounds(s: AuditSummary, gap: IntervalSummary) -> str:
    """Write the interval of a difference, or that there is none."""
    if gap["low"] is None:
        return "no interval"
    span = read_info(s["scoring"]).write_gap_range(gap["low"], gap["high"])
    return f"{confidence(1 - s['alpha'])} {span}"


def _methods(s: AuditSummary) -> list[str]:
    """Say how it was done."""
    what = s["scoring"]["label"]
    better = f"at least the {what}"
    if not s["scoring"]["greater_is_better"]:
        better = f"at most the {what}"
    inside = (
        "IN repeats everything that uses labels inside each training fold, so that "
        "test samples take no part in these steps."
    )
    kind = explain_interval(s["interval"], read_info(s["scoring"]))
    interval = f"The interval of IN: {kind}."
    if s["interval"]:
        interval += f" {say_coverage(covered(s['coverage']))}"
    if len(s["lanes"]) > 1:
        inside += (
            " OUT does them once, on all samples, before the folds, so that the test "
            "samples have helped to choose the features that they are tested with."
        )
        interval += " OUT has no interval, because no interval corrects its bias."
    n_orders = max(len(lane["null"]) for lane in s["lanes"])
    orders = f"{n_orders} random orders" if n_orders > 1 else "random order"
    said = [
        inside,
        "On random labels the whole procedure, selection included, is run with the "
        f"labels in {orders}: its {what} there is the {what} that it reports where "
        "there is nothing to find. The p-value is the share of orders, the true one "
        f"included, with {better} of the true labels.",
        interval,
    ]
    if s["optimism"] is not None:
        said.append(
            "The interval of the difference is that of the corrected resampled t test "
            "over folds (Nadeau and Bengio 2003). "
            f"{say_coverage(covered(s['optimism_coverage']))}"
        )
    chosen = s["preselection"]
    if chosen is not None and not chosen["given"]:
        said.append(
            "The selector of the features was not named. Of the selectors tried on "
            f"all samples, {name_of(chosen['selector'])} agrees best with the "
            "selection and is used inside the folds."
        )
    return said


# -- the view --------------------------------------------------------------------------


@view.register
def show(record: Audit) -> View:
    """Show what was reached, what random labels reach, and every finding."""
    s: AuditSummary = summarize(record)
    words, data, chosen = s["words"], s["data"], s["preselection"]
    audited = name_of(s["estimator"])
    if chosen is not None:
        audited += f" on {count(len(chosen['columns']), 'feature')} selected beforehand"
    both = len(s["lanes"]) > 1
    where = "Selection before and inside the folds" if both else "Against random labels"
    accuracies = _table(s)
    figures: list[Block] = [Text(words["verdict"])] if words["verdict"] else []
    sections = [
        Section(where, (_figure(s),), first=True),
        Section("Findings", _findings(s), first=True),
        Section(
            "The numbers", (*figures, accuracies, *_others(s), _facts(s)), first=True
        ),
    ]
    if s["decomposition"] is not None:
        sections.append(Section("The score taken apart", _taken_apart(s)))
    if chosen is not None:
        sections.append(Section("The features selected beforehand", _chosen(chosen)))
    return View(
        title=f"May this {s['scoring']['label']} be believed? {data['name']}",
        question=f"May this {s['scoring']['label']} be believed?",
        **answer(words, BADGES),
        facts=(*data_facts(data), Fact("Audited", audited)),
        sections=tuple(sections),
        provenance=provenance(
            s, words["methods"], [Fact("Audited", name_of(s["estimator"]))]
        ),
        tables=(_for_paper(s, accuracies),),
        method=paragraph(s["settings"], _method(s)),
        remarks=_remarks(s),
    )


def _figure(s: AuditSummary) -> Figure:
    panels = []
    scoring = read_info(s["scoring"])
    for lane in s["lanes"]:
        a = lane["score"]
        bounds = bounded(a["low"], a["high"])
        said = [f"{lane['label']}: {scoring.label} {scoring.write(a['value'])}"]
        if bounds:
            said.append(f"interval {scoring.write_range(a['low'], a['high'])}")
        levels = chance_level(scoring)
        if lane["null_mean"] is not None:
            levels += (Level("random labels, mean", lane["null_mean"]),)
            said.append(
                f"on {len(lane['null'])} random orders of the labels "
                f"{scoring.write(lane['null_mean'])} on average, 95 % of them "
                f"{scoring.write_range(lane['null_low'], lane['null_high'])}"
            )
        said += write_chance(scoring)
        side: Literal["a", "b"] = "a" if lane["protocol"] == "in" else "b"
        mark = Mark(lane["label"], a["value"], bounds, side, "true labels")
        picture = Distribution(
            f"{', '.join(said)}.",
            mark,
            tuple(lane["null"]),
            "labels in random order",
            levels,
            f"{scoring.label}; grey: labels in random order",
            scoring.unit,
        )
        detail = "the selected features as given, then cross-validation"
        if lane["protocol"] == "in":
            detail = "everything that uses labels is done inside each training fold"
        elif s["reported"] != "out":
            detail = "what comes before the estimator is done once, on all samples"
        panels.append(Panel(picture, lane["label"], detail, protocol=lane["protocol"]))
    shown, plural = f"{capitalized(scoring.full_label)} on test samples.", "scores"
    if scoring.is_accuracy:
        shown, plural = "Share of test samples classified correctly.", "accuracies"
    elif not scoring.greater_is_better:
        shown += " Less is better."
    caption = (
        f"{shown} Each grey dot is the same "
        "procedure with the labels in random order, where there is nothing to find; a "
        'dashed line named "random labels" marks the mean of these dots. Large marks '
        f"are the {plural} with the true labels, IN with its "
        f"{confidence(1 - s['alpha'])}. {on_chance(scoring, s['data'])}".strip()
    )
    return Figure(tuple(panels), caption)


def _taken_apart(s: AuditSummary) -> tuple[Block, ...]:
    """Show the parts of the reported score as a waterfall and as a table."""
    found, info = s["decomposition"], read_info(s["scoring"])
    assert found is not None
    sure = confidence(1 - s["alpha"])
    steps, rows, unmoved = [], [], []
    for one in found["parts"]:
        value, low, high = one["value"], one["low"], one["high"]
        none = one["name"] not in ("chance", "signal") and value == low == high == 0
        if one["name"] == "chance":
            shown, span = info.write(value), info.write_range(low, high)
            inside = span
        else:
            shown, span = info.write_gap(value), info.write_gap_range(low, high)
            inside = info.write_gap_range(low, high, unit=False)
        if none:
            unmoved.append(PARTS[one["name"]])
        else:
            words = f"{shown} ({inside})"  # short, to fit the width of a phone
            if low == high:  # the scores did not vary: an interval has no width
                words, span = shown, "–"
            rows.append((PARTS[one["name"]], shown, span))
            steps.append(Step(PARTS[one["name"]], value, low, high, words))
    reported = info.write(found["reported"])
    said = "; ".join(f"{step.label} {step.words}" for step in steps)
    picture = Waterfall(
        f"The reported {info.label} of {reported} is the sum of: {said}.",
        tuple(steps), found["reported"], f"reported {info.label}", reported,
        info.label, info.unit,
    )  # fmt: skip
    caption = (
        f"The reported {info.label} as a sum. The procedure was run again with one "
        "influence removed at a time; the signal is what remains. In brackets: "
        f"{sure}; how often such intervals cover is in the documentation, in the "
        'table of parts on the page "LeakBench".'
    )
    rest = f"Nothing to remove: {'; '.join(unmoved)}."
    heads = f"Part!~ | {capitalized(info.label)}# | {sure}#"
    return (
        Figure((Panel(picture),), caption),
        table("Parts of the reported score", heads, rows),
        *([Text(rest, "note")] if unmoved else []),
    )


def _findings(s: AuditSummary) -> tuple[Block, ...]:
    found: list[Block] = [
        FindingBlock(f["severity"], f["code"], f["title"], f["evidence"], f["cure"])
        for f in s["findings"]
    ]
    if not found:
        found = [Text("None: nothing that an audit looks for was found.")]
    if s["muted"]:
        listed = ", ".join(
            f"{f['code']} ({f['title'][:1].lower()}{f['title'][1:]})"
            for f in s["muted"]
        )
        found.append(Text(f"Found but ignored on request: {listed}.", "note"))
    if s["untested"]:
        open_checks = " ".join(_say_untested(one) for one in s["untested"])
        found.append(
            Folded(f"Not testable: {count(len(s['untested']), 'check')}", open_checks)
        )
    return tuple(found)


def _say_untested(one: UntestedSummary) -> str:
    """Say what a check needs; the sentence of `Untested`."""
    return f"{one['code']} not testable without {one['needs']}: {one['what']}."


def _others(s: AuditSummary) -> list[Rows]:
    """List further scores under IN, where there are any."""
    rows = [list_score(one, one["score"]) for one in s["others"]]
    caption = "Further scores of the same predictions, under IN"
    return tabulate_scores(caption, rows, "IN", 1 - s["alpha"])


def _table(s: AuditSummary) -> Rows:
    rows = []
    scoring = read_info(s["scoring"])
    for lane in s["lanes"]:
        a, p = lane["score"], lane["pvalue"]
        row = (
            lane["label"],
            *in_unit(s, a),
            scoring.write(lane["null_mean"]),
            scoring.write_range(lane["null_low"], lane["null_high"]),
            MISSING if p is None else pvalue(p),
        )
        rows.append((row, lane["protocol"]))
    what = capitalized(scoring.label)
    caption = f"{what} on the true labels and on labels in random order"
    heads = f"Method!~ | {what}#* | {confidence(1 - s['alpha'])}# | "
    heads += "Random labels, mean# | Random labels, central 95 %# | p-value#"
    return table(caption, heads, rows)


def _for_paper(s: AuditSummary, found: Rows) -> Rows:
    codes = listing(each["code"] for each in s["findings"]) or "none"
    scoring = read_info(s["scoring"])
    guess = "".join(f"; {level}" for level in write_chance(scoring))
    behind = add_coverage(covered(s["coverage"]))
    caption = (
        f"{capitalized(scoring.full_label)} of {name_of(s['estimator'])} on "
        f"{said_data(s['data'])}{guess}. Interval under IN: {behind}. Findings: "
        f"{codes}."
    )
    return replace(found, caption=caption)


def _facts(s: AuditSummary) -> Facts:
    items = []
    gap, stability = s["optimism"], s["stability"]
    if gap is not None:
        text = gap_written(s, gap["value"])
        if gap["low"] is not None:
            text += f" ({_bounds(s, gap)})"
        items.append(Fact(f"Optimism, OUT {MINUS} IN", text))
    if s["data"]["classes"]:
        guess = percent(1 / len(s["data"]["classes"]))
        balanced = (
            f"{percent(s['balanced_accuracy'])}; always predicting one class {guess}"
        )
        items.append(Fact("Balanced accuracy, IN", balanced))
    if stability is not None:
        said = f"{in_numbers(stability)[0]} (Nogueira's measure: 1 where the training "
        said += "folds select the same features, 0 where they agree as by chance; no "
        said += f"interval, because folds share samples), {s['n_selected']:g} of "
        said += f"{count(s['data']['n_features'], 'feature')} selected"
        items.append(Fact("Stability of the selection", said))
    return Facts(tuple(items))


def _chosen(chosen: PreselectionSummary) -> tuple[Block, ...]:
    n, selector = len(chosen["columns"]), name_of(chosen["selector"])
    said = (
        f"The features were selected by {selector}, as named by the user."
        if chosen["given"]
        else "Which selector may have selected these features? For each selector that "
        f"was tried, how many of the {n} features are among its {n} best on all "
        "samples."
    )
    repeats = " (used inside the folds)"
    rows = [
        (
            f"{name_of(name)}{repeats if name == chosen['selector'] else ''}",
            f"{common} of {n}",
        )
        for name, common in chosen["overlap"].items()
    ]
    caption = "Agreement of selectors with the features, on all samples"
    return (
        Text(said),
        table(caption, "Selector! | Features in common#", rows),
        Folded(f"The {n} features", ", ".join(chosen["columns"])),
    )


def _method(s: AuditSummary) -> list[str]:
    splits = s["settings"].get("cross-validation")
    said = [
        f"The {read_info(s['scoring']).full_label} of {name_of(s['estimator'])} on "
        f"{sized_data(s['data'])} was audited" + (f" by {splits}." if splits else "."),
        *s["words"]["methods"],
    ]
    if s["optimism"] is not None:
        gap = s["optimism"]
        said.append(
            f"Selecting on all samples changed the {s['scoring']['label']} by "
            f"{gap_written(s, gap['value'])} ({_bounds(s, gap)})."
        )
    said += [f"{each['code']}: {sentence(each['title'])}" for each in s["findings"]]
    return said


def _remarks(s: AuditSummary) -> tuple[str, ...]:
    """Say what the optimism is, and every finding with its cure."""
    said = [s["words"]["verdict"]] if s["words"]["verdict"] else []
    for f in s["findings"]:
        said.append(
            f"\n{f['code']} {f['severity']}: {f['title']}. {f['evidence']}\n"
            f"  Cure: {f['cure']}"
        )
    if s["muted"]:
        codes = ", ".join(f["code"] for f in s["muted"])
        said.append(f"\nFound but ignored: {codes}.")
    if s["untested"]:
        open_checks = ", ".join(
            f"{one['code']} without {one['needs']}" for one in s["untested"]
        )
        said.append(f"\nNot testable: {open_checks}.")
    return tuple(said)

"""A study: what the paper says, what was found here, and how far a run is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Literal

from typing_extensions import TypedDict

from veridical._core.numbers import MINUS, MISSING, count, duration
from veridical._core.records import Curve, Setting
from veridical.experiments.findings import Picture, StudyReport, StudyReports
from veridical.report.plain import clean, fill, finite, plain, to_json
from veridical.report.view import (
    Badge,
    Block,
    Column,
    Curves,
    Fact,
    Figure,
    Link,
    Live,
    Notes,
    OutcomeBox,
    Outcomes,
    Rows,
    Section,
    TableCell,
    Text,
    Tone,
    View,
    Warn,
    paragraph,
    provenance,
    sentence,
    table,
    view,
)

SCHEMA = "veridical/study/1"
SEVERAL_SCHEMA = "veridical/studies/1"
WATCH_SCHEMA = "veridical/watch/1"
REFRESH = 3  # seconds until a page of a running study asks for itself again
LONGEST_STATEMENT = 400  # characters of a statement
#: How an outcome is told: its tone, and a sign.
SIGNS: dict[str, tuple[Tone, str]] = {
    "reproduced": ("yes", "\N{CHECK MARK}"),
    "not reproduced": ("no", "\N{MULTIPLICATION X}"),
    "open": ("open", "?"),
}
BADGES = {"care": "Not all reproduced", "open": "Some open", "yes": "All reproduced"}


class StudyBelief(TypedDict):
    """The badge of a study; ``kind`` is "yes", "care" or "open"."""

    kind: str
    badge: str


class CheckSummary(TypedDict):
    """A statement of the paper, its figures and ours.

    ``outcome`` is "reproduced", "not reproduced" or "open"; ``rule`` says when it
    counts as reproduced.
    """

    statement: str
    outcome: str
    belief: str
    published: str
    ours: str
    rule: str


class StudyTableSummary(TypedDict):
    """A table of texts and numbers."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str]


class PointSummary(TypedDict):
    """One point of a curve, with its interval where there is one."""

    curve: str
    section: str
    place: str
    value: float | None
    low: float | None
    high: float | None


class PictureSummary(TypedDict):
    """The points of a picture; ``unit`` says what the vertical axis counts."""

    group: str
    title: str
    unit: str
    points: list[PointSummary]


class StudySummary(TypedDict):
    """Everything the page of a study shows, as plain numbers and strings."""

    schema: str
    kind: Literal["study"]
    study: str
    question: str
    paper: str
    headline: str
    belief: StudyBelief
    checks: list[CheckSummary]
    tables: list[StudyTableSummary]
    pictures: list[PictureSummary]
    notes: list[str]
    settings: dict[str, Setting]


class StudiesSummary(TypedDict):
    """Everything the page of several studies shows, as plain numbers and strings."""

    schema: str
    kind: Literal["studies"]
    headline: str
    belief: StudyBelief
    studies: list[StudySummary]
    missing: list[str]
    settings: dict[str, Setting]


# -- plain numbers ---------------------------------------------------------------------


@to_json.register
def summarize(report: StudyReport) -> Any:
    """Turn a study's report into plain numbers and strings."""
    return fill(
        StudySummary,
        report,
        schema=SCHEMA,
        kind="study",
        **_conclusion(report),
        checks=[
            {**plain(check), "belief": SIGNS[check.outcome][0]}
            for check in report.checks
        ],
        pictures=[_picture(picture) for picture in report.pictures],
    )


@to_json.register
def summarize_several(record: StudyReports) -> Any:
    """Turn the reports of several studies into plain numbers and strings."""
    return fill(
        StudiesSummary,
        record,
        schema=SEVERAL_SCHEMA,
        kind="studies",
        **_conclusion(record),
        studies=[summarize(report) for report in record.reports],
    )


def _conclusion(record: StudyReport | StudyReports) -> dict[str, Any]:
    belief, headline = record.conclusion
    return {"headline": headline, "belief": {"kind": belief, "badge": BADGES[belief]}}


def _picture(picture: Picture) -> PictureSummary:
    names = [name for _, places in picture.sections for name in places]
    sections = [title for title, places in picture.sections for _ in places]
    return {
        "group": clean(picture.group),
        "title": clean(picture.title, LONGEST_STATEMENT),
        "unit": clean(picture.unit),
        "points": [
            {
                "curve": clean(curve.label),
                "section": clean(sections[place]),
                "place": clean(names[place]),
                "value": finite(value.value),
                "low": finite(value.low),
                "high": finite(value.high),
            }
            for curve in picture.curves
            for place, value in zip(curve.places, curve.values, strict=True)
        ],
    }


def convert_picture(picture: Picture) -> Curves:
    """Turn a picture of a study into the data of a figure, safe to show."""
    drawn = tuple(
        Curve(clean(curve.label), curve.places, curve.values)
        for curve in picture.curves
    )
    sections = tuple(
        (clean(title), tuple(map(clean, places))) for title, places in picture.sections
    )
    title, unit = clean(picture.title, LONGEST_STATEMENT), clean(picture.unit)
    return Curves("", title, unit, sections, drawn, picture.band).described()


# -- the view --------------------------------------------------------------------------


@view.register
def show(report: StudyReport) -> View:
    """Show the paper's findings first, then the curves and tables behind them."""
    s: StudySummary = summarize(report)
    checks = _checks(s["checks"])
    findings: list[Block] = [_strip(s["checks"])] if s["checks"] else []
    sections = [
        Section(
            "The paper's findings", (*findings, checks, Notes(tuple(s["notes"]))), True
        ),
        *_groups(report),
        *(_table(one) for one in s["tables"]),
    ]
    rules = dict.fromkeys(check["rule"] for check in s["checks"])
    said = [
        f"We repeated the study {s['study']} ({sentence(s['paper'])[:-1]}), which "
        f"asks: {s['question']}",
        s["headline"],
    ]
    if rules:
        rule = "A finding counts as reproduced by a rule stated beforehand: "
        said.insert(1, f"{rule}{'; '.join(rules)}.")
    return View(
        title=f"{s['study']}: {s['question']}",
        question=s["question"],
        badge=Badge(s["belief"]["kind"], s["belief"]["badge"]),  # type: ignore[arg-type]
        headline=s["headline"],
        lead=s["paper"],
        facts=(),
        sections=tuple(sections),
        provenance=provenance(
            s, (), [Fact("Study", s["study"]), Fact("Paper", s["paper"])]
        ),
        tables=(replace(checks, caption=f"{s['paper']} {s['headline']}"),),
        method=paragraph(s["settings"], said),
        remarks=tuple(s["notes"]),
    )


@view.register
def show_several(record: StudyReports) -> View:
    """Count the findings of every paper, then show them study by study."""
    s: StudiesSummary = summarize_several(record)
    counts = _outcome_counts(s["studies"], s["missing"])
    everything = [check for study in s["studies"] for check in study["checks"]]
    named = [f"{one['study']} ({sentence(one['paper'])[:-1]})" for one in s["studies"]]
    said = [
        f"We repeated the studies {'; '.join(named)}.",
        s["headline"],
    ]
    return View(
        title="What was reproduced of the papers",
        question="Which findings of the papers were reproduced?",
        badge=Badge(s["belief"]["kind"], s["belief"]["badge"]),  # type: ignore[arg-type]
        headline=s["headline"],
        lead="Finding by finding, the published figure beside ours.",
        facts=(),
        sections=(
            Section(
                "All papers",
                (_strip(everything, tables="tables below"), counts),
                first=True,
            ),
            *(_one_of_several(study) for study in s["studies"]),
        ),
        provenance=provenance(s),
        tables=(counts,),
        method=paragraph(s["settings"], said),
    )


def _outcome_counts(studies: Sequence[StudySummary], missing: Sequence[str]) -> Rows:
    """Count the findings of each study by outcome, and its cells."""
    rows = []
    for study in studies:
        outcomes = Counter(check["outcome"] for check in study["checks"])
        numbers = [str(outcomes[outcome]) for outcome in SIGNS]
        rows.append((study["study"], *numbers, _count_computed(study["settings"])))
    rows += [(name, *[MISSING] * len(SIGNS), "not run") for name in missing]
    heads = "Study! | Reproduced# | Not reproduced# | Open# | Cells computed#"
    return table("Findings of each paper by outcome", heads, rows)


def _count_computed(settings: Mapping[str, Setting]) -> str:
    cells = settings.get("cells")
    if not isinstance(cells, Mapping):
        return MISSING
    return f"{cells['ok']} of {cells['planned']}"


def _one_of_several(study: StudySummary) -> Section:
    blocks: list[Block] = [Text(f"{sentence(study['paper'])} {study['question']}")]
    if study["checks"]:
        blocks.append(_checks(study["checks"]))
    return Section(study["study"], (*blocks, Notes(tuple(study["notes"]))))


def _strip(
    checks: Sequence[CheckSummary], more: str = "", tables: str = "table"
) -> Figure:
    said = "; ".join(f"{c['statement']}: {c['outcome']}" for c in checks)
    outcomes = tuple(
        OutcomeBox(*SIGNS[c["outcome"]], f"{c['outcome']}: {c['statement']}")
        for c in checks
    )
    caption = (
        f"One box for each finding, in the order of the {tables}: ✓ reproduced, ✕ not "
        f"reproduced, ? open.{more}"
    )
    return Figure.from_picture(Outcomes(f"Findings. {said}.", outcomes), caption)


def _checks(checks: Sequence[CheckSummary]) -> Rows:
    rows = [
        (
            c["statement"],
            TableCell(c["outcome"], tone=SIGNS[c["outcome"]][0]),
            c["published"],
            c["ours"],
            c["rule"],
        )
        for c in checks
    ]
    caption = "What the paper says, and what was found here, with its 95 % interval "
    heads = "Finding! | Outcome | Published~ | Here~* | Reproduced where~^"
    return table(f"{caption}and n", heads, rows)


def _groups(report: StudyReport) -> list[Section]:
    sections = []
    for group, pictures in groupby(report.pictures, lambda p: p.group):
        blocks: list[Block] = []
        for picture in pictures:
            blocks.append(Figure.from_curves(convert_picture(picture)))
            blocks.append(_behind(_picture(picture)))
        sections.append(Section(clean(group), tuple(blocks)))
    return sections


def _behind(picture: PictureSummary) -> Rows:
    def written(*values: float | None) -> str:
        if None in values:
            return MISSING
        return " to ".join(f"{value:.2f}" for value in values).replace("-", MINUS)

    # The same setting may occur in two sections of the axis: 10 folds, 10 samples.
    several = len({p["section"] for p in picture["points"]}) > 1
    rows = [
        (
            p["curve"],
            *([p["section"]] if several else []),
            p["place"],
            written(p["value"]),
            written(p["low"], p["high"]),
        )
        for p in picture["points"]
    ]
    caption = f"{picture['title']}, {picture['unit']}"
    heads = f"Estimate! |{' Axis |' * several} Setting# | Value#* | 95 % interval#"
    return table(caption, heads, rows, "The numbers behind the picture")


def _table(one: StudyTableSummary) -> Section:
    heads = [
        Column(cell, number=i > 0, head=i == 0) for i, cell in enumerate(one["header"])
    ]
    notes = (Notes(tuple(one["notes"])),) if one["notes"] else ()
    return Section(one["title"], (table(one["title"], heads, one["rows"]), *notes))


# -- a study that is still running -----------------------------------------------------


def watch(state: Mapping[str, Any]) -> View:
    """Show the progress of a study; the page reloads itself.

    Parameters
    ----------
    state : mapping
        ``study``, ``store``, ``planned``, ``ok``, ``failed``, ``pending``,
        ``cells_per_second`` and ``seconds_left`` (None without progress),
        ``failures``, ``looked`` (a time of day), ``trouble`` (a sentence or None),
        ``findings`` (the JSON of a `StudyReport`, or None) and ``unchanged`` (for how
        many cells each finding has had its outcome).
    """
    findings = state["findings"]
    unchanged = state.get("unchanged") or [0] * len(
        findings["checks"] if findings else ()
    )
    study, store = clean(state["study"]), clean(state["store"], 2000)
    pace = state["cells_per_second"]
    headline = progress(state)
    warnings: tuple[Warn, ...] = ()
    if state["trouble"] is not None:
        trouble = (clean(state["trouble"], 2000),)
        warnings = (Warn("The store cannot be read at the moment.", trouble),)
    return View(
        title=headline,
        question=f"How far is the study {study}?",
        badge=_badge(state),
        headline=headline,
        lead=findings["headline"] if findings else "",
        facts=(
            Fact("Done", count(state["ok"], "cell")),
            Fact("Failed", count(state["failed"], "cell")),
            Fact("Left", count(state["pending"], "cell")),
            Fact(
                "Pace",
                MISSING if pace is None else f"{pace:.3g} cells per second",
            ),
        ),
        sections=(
            Section(
                "Findings so far" if state["pending"] else "Findings",
                _so_far(findings, unchanged, state["pending"]),
            ),
            Section("Failures", _failures(state["failures"])),
        ),
        provenance=provenance(
            {
                "kind": "watch",
                "schema": WATCH_SCHEMA,
                "settings": findings["settings"] if findings else {},
            },
            (),
            [
                Fact("Study", study),
                Fact("Store", store),
                Fact("Last read", str(state["looked"])),
            ],
        ),
        tables=(),
        method="",
        warnings=warnings,
        live=Live(
            state["planned"] - state["pending"],
            state["planned"],
            REFRESH if state["pending"] else None,
        ),
    )


def _so_far(findings: Any, unchanged: Sequence[int], left: int) -> tuple[Block, ...]:
    if not findings:
        return (Text("None yet: the study has no finished cells, or no findings."),)
    more = " While cells are left, every outcome may still change." if left else ""
    rows = [
        (
            c["statement"],
            TableCell(c["outcome"], tone=c["belief"]),
            count(since, "cell"),
            c["published"],
            c["ours"],
        )
        for c, since in zip(findings["checks"], unchanged, strict=True)
    ]
    caption = "What the paper says, and what the cells say"
    caption += " so far" if left else ""
    heads = "Finding! | Outcome | Unchanged for# | Published~ | Here~*"
    note = "Unchanged for: cells finished since the outcome last changed, or since the "
    return (
        _strip(findings["checks"], more),
        table(caption, heads, rows),
        Text(f"{note}page was opened.", "note"),
        Link("The whole report so far" if left else "The whole report", "/report"),
    )


def _failures(failures: Sequence[Mapping[str, Any]]) -> tuple[Rows, ...]:
    """List failures; their texts come from outside and are cleaned."""
    rows = []
    for one in failures:
        cell = ", ".join(f"{clean(k)} {clean(v)}" for k, v in one["cell"].items())
        detail = "" if one["detail"] is None else clean(one["detail"], 2000)
        rows.append((clean(one["status"]), cell, detail))
    caption = "The last failures, the most recent first"
    found = table(caption, "Status! | Cell~ | What happened~", rows)
    return (found,) if rows else ()


def _badge(state: Mapping[str, Any]) -> Badge:
    if not state["pending"]:
        if state["failed"]:
            return Badge("care", "Complete, with failures")
        return Badge("yes", "Complete")
    if state["trouble"]:
        return Badge("care", "Trouble")
    if state["seconds_left"] is None:
        none = state["pending"] == state["planned"]
        return Badge("open", "Nothing saved yet" if none else "No progress")
    return Badge("note", "Running")


def progress(state: Mapping[str, Any]) -> str:
    """Say in a sentence how far a study is."""
    name, done = clean(state["study"]), state["planned"] - state["pending"]
    if not state["pending"]:
        failed = f"; {state['failed']} failed" if state["failed"] else ""
        return f"{name} is complete: all {state['planned']} cells{failed}."
    share = min(99, round(100 * done / state["planned"]))  # 100 is for the end
    words = f"{name} is at {share} %: {done} of {state['planned']} cells"
    if not done:
        return f"{words}; nothing has been saved yet."
    if state["seconds_left"] is None:
        return f"{words}; nothing has been saved in the last two minutes."
    return f"{words}, about {duration(state['seconds_left'])} left."

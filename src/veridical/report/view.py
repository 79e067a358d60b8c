"""What a page shows of a record: headline, tables, figures as data, notes, provenance.

A `View` is plain text and numbers. It says what is shown and in which order; positions,
colours and rules of tables are up to the renderers in `veridical.report.render`, which
know views and no kinds of records.

Every renderer distinguishes two sides "a" and "b" by colour and by shape.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any, Literal, NamedTuple

from veridical._core.numbers import (
    MISSING,
    count,
    number,
    percent,
    percent_range,
    points,
    points_range,
    pvalue,
)
from veridical._core.records import SIDES, Curve, Interval, Side, write_setting
from veridical._core.scoring import ScoreInfo, write_number
from veridical._core.targets import TARGET_NAMES
from veridical._core.text import capitalized
from veridical._core.version import __version__
from veridical.evaluation.conclusions import INTERVAL_NAMES, write_coverage
from veridical.report.plain import CoverageSummary, clean, covered, unknown

Tone = Literal["yes", "care", "open", "no", "known", "note"]
ValueUnit = Literal["percent", "number"]

# -- figures: data, labels and units ---------------------------------------------------


class Level(NamedTuple):
    """A reference value, drawn as a line through a figure."""

    name: str
    value: float
    solid: bool = False


class DrawnInterval(NamedTuple):
    """An interval, with its kind where there are several."""

    low: float
    high: float
    kind: str = ""


def bounded(low: float | None, high: float | None) -> tuple[DrawnInterval, ...]:
    """Return an interval as the only one of a mark; none where it is not known."""
    return () if low is None or high is None else (DrawnInterval(low, high),)


@dataclass(frozen=True)
class Mark:
    """A named value with its intervals, the one to believe first."""

    label: str
    value: float
    bounds: tuple[DrawnInterval, ...] = ()
    side: Side = "a"
    note: str = ""

    @property
    def values(self) -> list[float]:
        """The value and all bounds."""
        return [self.value, *(end for one in self.bounds for end in one[:2])]

    def words(self, unit: ValueUnit = "percent") -> str:
        """Write the mark as text."""
        said = f"{self.label}: {write_score(self.value, unit)}"
        if self.bounds:
            low, high, _ = self.bounds[0]
            said += f" ({write_score_range(low, high, unit)})"
        return f"{said}, {self.note}" if self.note else said


@dataclass(frozen=True)
class Intervals:
    """Values one below the other, each with its intervals, on one axis."""

    alt: str
    marks: tuple[Mark, ...]
    levels: tuple[Level, ...] = ()
    unit: ValueUnit = "percent"
    axis: str = "accuracy"

    @property
    def values(self) -> list[float]:
        """All values that are drawn; levels only where their lines are solid."""
        found = [value for mark in self.marks for value in mark.values]
        return found + [level.value for level in self.levels if level.solid]


class Pair(NamedTuple):
    """Both sides on the same fold or data set."""

    label: str
    a: float
    b: float


@dataclass(frozen=True)
class Pairs:
    """Two sides on the same folds, pair by pair, with their means."""

    alt: str
    a: Mark
    b: Mark
    pairs: tuple[Pair, ...]
    levels: tuple[Level, ...] = ()
    axis: str = "accuracy"
    unit: ValueUnit = "percent"
    greater_is_better: bool = True

    @property
    def values(self) -> list[float]:
        """Everything that is drawn, except the levels."""
        found = [value for pair in self.pairs for value in pair[1:]]
        return found + self.a.values + self.b.values


@dataclass(frozen=True)
class Distribution:
    """A value above those that arise on data without any signal."""

    alt: str
    mark: Mark
    values_below: tuple[float, ...]
    what: str
    levels: tuple[Level, ...] = ()
    axis: str = "accuracy"
    unit: ValueUnit = "percent"

    @property
    def values(self) -> list[float]:
        """Everything that is drawn, except the levels."""
        return [*self.mark.values, *self.values_below]


@dataclass(frozen=True)
class Ranks:
    """Mean ranks, and groups of those that do not differ significantly."""

    alt: str
    names: tuple[str, ...]
    ranks: tuple[float, ...]
    notes: tuple[str, ...]
    critical: float
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Curves:
    """Curves over an axis of named places.

    ``sections`` are the parts of the horizontal axis: what is counted, and the names of
    its places; names may be empty. ``band`` is what curves should meet. With
    ``ribbon``, intervals are drawn as a band along the curve. With ``steps``, a value
    holds until the next place, and only places with names are marked.
    """

    alt: str
    title: str
    unit: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]
    curves: tuple[Curve, ...]
    band: Interval | None = None
    ribbon: bool = False
    from_zero: bool = True
    steps: bool = False

    @property
    def places(self) -> list[str]:
        """Names of all places, in order."""
        return [name for _, names in self.sections for name in names]

    def described(self, places: Sequence[str] = ()) -> Curves:
        """Return the same curves with a description for screen readers.

        Parameters
        ----------
        places : sequence of str
            Names of all places, where not all of them stand on the axis.
        """
        named = list(places or self.places)
        if len(self.sections) > 1:  # a place may occur in two of them
            titles = [title for title, names in self.sections for _ in names]
            named = [" ".join(pair) for pair in zip(titles, named, strict=True)]
        said = [
            f"{curve.label}: "
            + ", ".join(
                f"{named[i]} {number(one.value)}"
                for i, one in curve.known()
                if named[i] or not self.steps
            )
            for curve in self.curves
        ]
        alt = f"{self.title}; {self.unit}. {'. '.join(said)}."
        return replace(self, alt=clean(alt, 2000))


class Share(NamedTuple):
    """What was predicted and observed between two probabilities."""

    low: float
    high: float
    n: int
    predicted: float | None
    observed: float | None
    observed_low: float | None
    observed_high: float | None


@dataclass(frozen=True)
class Reliability:
    """Observed shares over predicted probabilities, with the numbers of samples."""

    alt: str
    models: tuple[tuple[str, tuple[Share, ...]], ...]


class OutcomeBox(NamedTuple):
    """A statement of a paper, and whether it was reproduced."""

    tone: Tone
    sign: str
    words: str


@dataclass(frozen=True)
class Outcomes:
    """One box for each outcome, in their order."""

    alt: str
    outcomes: tuple[OutcomeBox, ...]


@dataclass(frozen=True)
class Bars:
    """How often something happened, of ``total``, for each label and side."""

    alt: str
    labels: tuple[str, ...]
    series: tuple[tuple[str, tuple[int, ...]], ...]
    total: int
    axis: str


class Spot(NamedTuple):
    """A named point of a cloud; the others of a cloud have no side."""

    label: str
    x: float
    y: float
    side: Side | None = None


@dataclass(frozen=True)
class Cloud:
    """Many points over two axes of numbers, with a level of the vertical axis."""

    alt: str
    spots: tuple[Spot, ...]
    across: str
    upward: str
    levels: tuple[Level, ...] = ()


class Step(NamedTuple):
    """One part of a sum: its name, its value, its interval, and words beside it."""

    label: str
    value: float
    low: float
    high: float
    words: str


@dataclass(frozen=True)
class Waterfall:
    """Parts that sum up to a value, each drawn from where the one before it ends.

    The first part begins at 0, so that bars are as long as their values are large.
    """

    alt: str
    steps: tuple[Step, ...]
    total: float
    total_label: str
    total_words: str
    axis: str = "accuracy"
    unit: ValueUnit = "percent"

    @property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """Where each part begins and ends."""
        found, at = [], 0.0
        for step in self.steps:
            found.append((at, at + step.value))
            at += step.value
        return tuple(found)


Chart = (
    Intervals
    | Pairs
    | Distribution
    | Ranks
    | Curves
    | Reliability
    | Outcomes
    | Bars
    | Cloud
    | Waterfall
)


@dataclass(frozen=True)
class Panel:
    """One picture of a figure, with its title."""

    picture: Chart
    title: str = ""
    detail: str = ""
    verdict: str = ""
    protocol: str | None = None


# -- blocks ----------------------------------------------------------------------------

Key = tuple[tuple[str, Side | None], ...]


@dataclass(frozen=True)
class Figure:
    """Pictures that belong together; those of one kind share their axis."""

    panels: tuple[Panel, ...]
    caption: str
    key: Key = ()
    keynote: str = ""
    title: str = ""

    @property
    def protocols(self) -> set[str]:
        """Protocols that its pictures belong to."""
        return {panel.protocol for panel in self.panels if panel.protocol}

    @classmethod
    def from_picture(cls, picture: Chart, caption: str, **more: Any) -> Figure:
        """Make a figure of one picture."""
        return cls((Panel(picture),), caption, **more)

    @classmethod
    def from_curves(cls, picture: Curves) -> Figure:
        """Make a figure of curves, with their title above and a key to them.

        Renderers draw the curves in the looks of the key: those of the two sides, a
        third one, and again from the first.
        """
        looks: tuple[Side | None, ...] = (*SIDES, None)
        key = ((one.label, looks[i % 3]) for i, one in enumerate(picture.curves))
        title = picture.title
        subject = title.split(" of ")[0].split(" with ")[0]
        if subject.lower() != picture.unit.lower():  # else it would be said twice
            title += f" ({picture.unit})"
        return cls.from_picture(picture, "", key=tuple(key), title=title)


@dataclass(frozen=True)
class TableCell:
    """A cell of a table; ``share`` is drawn as a bar, ``span`` counts rows."""

    text: str
    strong: bool = False
    side: Side | None = None
    share: float | None = None
    tone: Tone | None = None
    span: int = 1


@dataclass(frozen=True)
class Column:
    """A column: its header, what its cells are, and where it is left out.

    A ``head`` names the row. ``words`` are sentences. A ``wide`` column is left out
    where there is little room: in a terminal. The header is our ``own``,
    or else one that a user may have chosen.
    """

    header: str
    number: bool = False
    head: bool = False
    words: bool = False
    side: Side | None = None
    protocol: str | None = None
    wide: bool = False
    own: bool = False


@dataclass(frozen=True)
class Row:
    """Cells, without those that a cell above spans."""

    cells: tuple[TableCell, ...]
    protocol: str | None = None


@dataclass(frozen=True)
class Rows:
    """A table; ``folded`` is the summary under which it is folded away."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    folded: str = ""
    protocol: str | None = None

    def grid(self) -> list[list[TableCell | None]]:
        """Fill the places of spanning cells with None, so that all rows are equal."""
        filled: list[list[TableCell | None]] = []
        left = [0] * len(self.columns)
        for row in self.rows:
            cells = iter(row.cells)
            line: list[TableCell | None] = []
            for place in range(len(self.columns)):
                if left[place]:
                    left[place] -= 1
                    line.append(None)
                else:
                    cell = next(cells)
                    left[place] = cell.span - 1
                    line.append(cell)
            filled.append(line)
        return filled

    def flat(self, *, narrow: bool = False) -> Rows:
        """Write every cell of a spanned row, and leave out wide columns if asked."""
        keep = [i for i, c in enumerate(self.columns) if not (narrow and c.wide)]
        rows = tuple(
            Row(tuple(replace(line[i] or TableCell(""), span=1) for i in keep))
            for line in self.grid()
        )
        return replace(self, columns=tuple(self.columns[i] for i in keep), rows=rows)


@dataclass(frozen=True)
class Text:
    """A paragraph; a claim stands out, a note is small."""

    text: str
    kind: Literal["plain", "claim", "note"] = "plain"


@dataclass(frozen=True)
class Notes:
    """Short remarks on what stands above them."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Warn:
    """What a reader must not overlook."""

    title: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class FindingBlock:
    """Something an audit found, its evidence and its cure."""

    severity: Literal["error", "warning", "note"]
    code: str
    title: str
    evidence: str
    cure: str


class Fact(NamedTuple):
    """A name and its value."""

    name: str
    value: str


@dataclass(frozen=True)
class Facts:
    """Names and values, one below the other."""

    items: tuple[Fact, ...]


@dataclass(frozen=True)
class Folded:
    """A long text, folded on a screen and whole in print."""

    summary: str
    text: str


@dataclass(frozen=True)
class Link:
    """A link to another page of the same server."""

    text: str
    address: str


Block = Figure | Rows | Text | Notes | Warn | FindingBlock | Facts | Folded | Link


@dataclass(frozen=True)
class Section:
    """A title and what stands below it; a ``first`` one is shown in a notebook too."""

    title: str
    blocks: tuple[Block, ...]
    first: bool = False


@dataclass(frozen=True)
class Provenance:
    """Where the figures come from, and how to get them again."""

    sentences: tuple[str, ...]
    facts: tuple[Fact, ...]
    repeat: str = ""
    repeat_note: str = ""


class Badge(NamedTuple):
    """Whether the answer may be believed, in a word or two."""

    tone: Tone
    text: str


@dataclass(frozen=True)
class Live:
    """Progress of a running study: cells done, of how many, and the seconds to wait."""

    done: int
    total: int
    every: float | None


@dataclass(frozen=True)
class View:
    """Everything that a record shows.

    Parameters
    ----------
    title : str
        What a browser writes on the tab.
    question : str
        The question that is answered.
    badge : Badge
        Whether the answer may be believed.
    headline, lead : str
        The answer, and what it rests on.
    facts : tuple of Fact
        Data, size, selectors and estimators.
    sections : tuple of Section
        Figures, tables and remarks in reading order.
    provenance : Provenance
        How the figures came about.
    tables : tuple of Rows
        What a terminal shows; the first is that of a paper.
    method : str
        How the figures came about, as a paragraph of a method section.
    remarks : tuple of str
        What a terminal says below the tables, besides the headline.
    warnings : tuple of Warn
        What must not be overlooked.
    live : Live or None
        For a page that renews itself.
    """

    title: str
    question: str
    badge: Badge
    headline: str
    lead: str
    facts: tuple[Fact, ...]
    sections: tuple[Section, ...]
    provenance: Provenance
    tables: tuple[Rows, ...]
    method: str
    remarks: tuple[str, ...] = ()
    warnings: tuple[Warn, ...] = ()
    live: Live | None = None

    @property
    def figures(self) -> list[Figure]:
        """All figures, in reading order."""
        blocks = [block for section in self.sections for block in section.blocks]
        return [block for block in blocks if isinstance(block, Figure)]


@singledispatch
def view(record: Any) -> View:
    """Say what a record shows; each kind has a file in `veridical.report.views`.

    Parameters
    ----------
    record : record
        What a verb returned.

    Raises
    ------
    InputError
        If nothing is known about such an object.
    """
    raise unknown(record)


# -- numbers and words that all views share --------------------------------------------

_SETTINGS = {
    "n_train": "Samples in a training set, mean",
    "n_test": "Samples in a test set, mean",
    "n_sets": "Data sets",
    "alpha": "Significance level",
    "cross-validation": "How samples were split",
    "scoring": "Scores",
    "calibration pairs": "Pairs of data sets for the calibration",
    "own features of selectors": "Features that the selectors were made for",
    "truth": "TRUTH",
    "random_state": "Seed",
    "data sha256": "Data file, SHA-256",
    "table sha256": "Table, SHA-256",
    "cells sha256": "Cells and their data, SHA-256",
    "veridical": "Version of veridical",
    "n_repeats": "Repeats",
    "n_folds": "Folds",
    "n_samples": "Samples",
    "n_classes": "Classes",
    "minority": "Share of the smallest class",
    "n_columns": "Features",
    "n_relevant": "Relevant features",
    "n_features_to_select": "Features selected",
    "effect": "Effect of a relevant feature, in standard deviations",
    "tail_df": "Features follow Student's t, degrees of freedom",
    "rope": "Region of practical equivalence, half its width",
}
MAJORITY = "majority class"


def write_score(value: float | None, unit: ValueUnit = "percent") -> str:
    """Write a share as a percentage, any other score as a number.

    Examples
    --------
    >>> write_score(0.8125), write_score(0.8125, "number")
    ('81.2 %', '0.812')
    """
    if unit == "percent" or value is None:
        return percent(value)
    return write_number(value)


def write_score_range(
    low: float | None, high: float | None, unit: ValueUnit = "percent"
) -> str:
    """Write an interval of shares in percent, of other scores in numbers."""
    if unit == "percent" or low is None or high is None:
        return percent_range(low, high)
    return f"{write_score(low, unit)} to {write_score(high, unit)}"


def bare_pvalue(value: float | None) -> str:
    """Write a p-value without "p =", for a column of p-values.

    Examples
    --------
    >>> bare_pvalue(0.02), bare_pvalue(0.0001)
    ('0.020', '< 0.001')
    """
    return pvalue(value).removeprefix("p ").removeprefix("= ")


def in_points(found: Mapping[str, Any]) -> tuple[str, str]:
    """Write a difference and its interval for two columns in percentage points."""
    span = points_range(found["low"], found["high"], unit=False)
    return points(found["value"], unit=False), span


def in_numbers(found: Mapping[str, Any] | None) -> tuple[str, str]:
    """Write a number and its interval for two columns, with two decimals."""
    if found is None:
        return MISSING, MISSING
    ends = [found["low"], found["high"]]
    span = MISSING if None in ends else " to ".join(number(end, 2) for end in ends)
    return number(found["value"], 2), span


def written(s: Mapping[str, Any], value: float | None) -> str:
    """Write a value of the score of a summary, with its unit."""
    return read_info(s["scoring"]).write(value)


def gap_written(s: Mapping[str, Any], value: float | None, **how: bool) -> str:
    """Write a difference of the score of a summary."""
    return read_info(s["scoring"]).write_gap(value, **how)


def in_unit(s: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[str, str]:
    """Write a score and its interval for two columns of a table."""
    info = read_info(s["scoring"])
    return info.write(found["value"]), info.write_range(found["low"], found["high"])


def gap_in_unit(s: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[str, str]:
    """Write a difference and its interval for two columns of a table."""
    info = read_info(s["scoring"])
    span = info.write_gap_range(found["low"], found["high"], unit=False)
    return info.write_gap(found["value"], unit=False), span


def in_points_or_not(s: Mapping[str, Any]) -> str:
    """Return " (points)" for the header of a column of differences of shares."""
    return " (points)" if s["scoring"]["percent"] else ""


def confidence(level: float) -> str:
    """Name an interval by its confidence."""
    return f"{100 * level:g} % interval"


def sentence(text: str) -> str:
    """Begin with a capital and end with a full stop."""
    text = capitalized(text)
    return text if text.endswith((".", "?")) else f"{text}."


def size_of(data: Any) -> str:
    """Say how large the data are."""
    target = count(len(data["classes"]), "class")
    if data["target"] != "classes":
        target = f"a target of {TARGET_NAMES[data['target']]}"
    return (
        f"{count(data['n_samples'], 'sample')}, "
        f"{count(data['n_features'], 'feature')}, {target}"
    )


def said_data(data: Any) -> str:
    """Name the data and their size."""
    return f"{data['name']}: {size_of(data)}"


def sized_data(data: Any) -> str:
    """Name the data, with their size in brackets, inside a sentence."""
    return f"{data['name']} ({size_of(data)})"


def data_facts(data: Any) -> tuple[Fact, Fact]:
    """Name the data and their size, as the first facts of a page."""
    return Fact("Data", data["name"]), Fact("Size", size_of(data))


def on_majority(data: Any) -> str:
    """Say what the dashed line of a figure of accuracies is."""
    return (
        'The dashed line "majority class", or an arrow where the line would lie '
        "outside the axis, is the accuracy of always predicting the most frequent "
        f"class: {percent(data['chance'])} of {count(data['n_samples'], 'sample')}."
    )


def majority(data: Any) -> tuple[Level, ...]:
    """Return the share of the largest class as a level."""
    return (Level(MAJORITY, data["chance"]),)


def read_info(found: Mapping[str, Any]) -> ScoreInfo:
    """Read a score back from plain numbers, where an infinite bound is None."""
    low, high = found["low"], found["high"]
    return ScoreInfo(
        **{
            **found,
            "low": -math.inf if low is None else low,
            "high": math.inf if high is None else high,
        }
    )


def list_score(one: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[str, ...]:
    """List a score for `tabulate_scores`; `found` has its value and its interval."""
    info = read_info(one["scoring"])
    return (
        info.full_label,
        info.write(found["value"]),
        info.write_range(found["low"], found["high"]),
        *interval_cells(one["interval"], one["coverage"]),
        info.averaging,
        info.write(info.chance),
        "more" if info.greater_is_better else "less",
    )


def tabulate_scores(
    caption: str,
    rows: Sequence[Sequence[str]],
    value: str = "Estimate",
    level: float = 0.95,
    first: str = "",
) -> list[Rows]:
    """Tabulate scores of the same predictions; nothing where there are none.

    Parameters
    ----------
    caption : str
        What the table shows.
    rows : sequence of sequences of str
        As `list_score` makes them, after what belongs to `first`.
    value, level : str and float
        Header of the scores, and the confidence of their intervals.
    first : str, optional
        Headers of the columns before the scores.
    """
    heads = f"{first}Score!~ | {value}#* | {confidence(level)}# | Kind | "
    heads += "Measured coverage# | Over splits | Guessing# | Better^"
    return [table(caption, heads, rows)] if rows else []


def interval_cells(
    kind: str | None, coverage: CoverageSummary | None
) -> tuple[str, str]:
    """Write the kind of an interval and its measured coverage."""
    if not kind:
        return "none valid", MISSING
    return INTERVAL_NAMES.get(kind, kind), write_coverage(covered(coverage))


def chance_level(scoring: ScoreInfo) -> tuple[Level, ...]:
    """Return what guessing reaches as a level; nothing where that is not known."""
    if scoring.chance is None:
        return ()
    name = MAJORITY if scoring.is_accuracy else "guessing"
    return (Level(name, scoring.chance),)


def write_chance(scoring: ScoreInfo) -> list[str]:
    """Name what guessing reaches, with its value; nothing where that is not known."""
    return [
        f"{level.name} {scoring.write(level.value)}" for level in chance_level(scoring)
    ]


def on_chance(scoring: ScoreInfo, data: Any) -> str:
    """Say what the dashed line of a figure of scores is."""
    if scoring.is_accuracy:
        return on_majority(data)
    if scoring.chance is None:
        return ""
    return (
        'The dashed line "guessing", or an arrow where the line would lie outside the '
        f"axis, is the {scoring.label} of predicting {scoring.guessing} for every "
        f"sample: {scoring.write(scoring.chance)}."
    )


def on_direction(scoring: ScoreInfo) -> str:
    """Say that less is better, where it is."""
    return "" if scoring.greater_is_better else "Less is better."


def provenance(
    summary: Mapping[str, Any],
    sentences: Sequence[str] = (),
    facts: Sequence[Fact] = (),
) -> Provenance:
    """Collect what is known of the data, the settings, and how to repeat it.

    Parameters
    ----------
    summary : mapping
        With ``settings`` and, where they are known, ``data`` and ``schema``.
    sentences : sequence of str
        How the figures came about.
    facts : sequence of Fact
        What is known of the models.
    """
    settings = summary.get("settings") or {}
    data = summary.get("data")
    listed = []
    if data:
        size = f"{count(data['n_samples'], 'sample')}, "
        size += count(data["n_features"], "feature")
        classes = ", ".join(
            f"{c['name']} {c['count']} ({percent(c['share'])})" for c in data["classes"]
        )
        target = Fact("Classes", classes)
        if data["target"] != "classes":
            target = Fact(
                "Target", f"{TARGET_NAMES[data['target']]}: {data['outcome']}"
            )
        listed = [Fact("Data", f"{data['name']}: {size}"), target]
    named = {fact.name: fact.value for fact in facts}
    for key, label, value in _list_settings(settings):
        if key not in ("command", "call"):
            text = write_setting(value)
            before = named.get(label, text)
            # The name of a model, and how it was made, on one line; equal values once.
            named[label] = text if before == text else f"{before}: {text}"
    listed += [Fact(label, value) for label, value in named.items()]
    listed.append(Fact("Record", str(summary.get("schema", summary["kind"]))))
    repeat, note = settings.get("command", ""), ""
    if not repeat and "call" in settings:
        repeat = settings["call"].replace("; ", "\n", 1)
        note = "For the same table, veridical.datasets.table_hash(X, y) returns the "
        note += "hash above."
    return Provenance(tuple(sentences), tuple(listed), repeat, note)


def _list_settings(settings: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """List settings as key, label and value; those inside a setting are listed too."""
    found = []
    for key, value in settings.items():
        label = _SETTINGS.get(key, capitalized(key.replace("_", " ")))
        if isinstance(value, Mapping):
            inside = [(k, f"{label}: {own}", v) for k, own, v in _list_settings(value)]
            found += inside
        elif value is not None:
            found.append((key, label, value))
    return found


def paragraph(record_settings: Mapping[str, Any], sentences: Sequence[str]) -> str:
    """Join the sentences of a method section, and say what computed them."""
    seed = record_settings.get("random_state")
    last = f"Computed with veridical {__version__}"
    last += f", random state {seed}." if seed is not None else "."
    before = [
        f"{what}: {record_settings[key]}."
        for key, what in (("batch", "Batches"), ("covariates", "Covariates"))
        if key in record_settings
    ]
    return " ".join(filter(None, [*sentences, *before, last]))


def answer(words: Any, badges: Mapping[str, str]) -> dict[str, Any]:
    """Return badge, headline and lead of a view, from the sentences of a summary."""
    belief = words["belief"]
    return {
        "badge": Badge(belief, badges[belief]),
        "headline": words["headline"],
        "lead": words["evidence"],
    }


def brief(
    summary: Mapping[str, Any],
    badge: Badge,
    headline: str,
    lead: str,
    heading: str,
    figure: Figure,
    rows: Rows,
    *notes: Block,
    title: str,
    question: str,
    method: str,
) -> View:
    """Show a record of one picture and one table.

    Parameters
    ----------
    summary : mapping
        The record as plain numbers.
    badge, headline, lead, title, question, method
        As in `View`.
    heading : str
        The title above the figure.
    figure : Figure
        The figure.
    rows : Rows
        The table.
    *notes : block
        What stands below the table.
    """
    return View(
        title=title,
        question=question,
        badge=badge,
        headline=headline,
        lead=lead,
        facts=(),
        sections=(
            Section(heading, (figure,), first=True),
            Section("The numbers", (rows, *notes), first=True),
        ),
        provenance=provenance(summary),
        tables=(rows,),
        method=paragraph({}, [method]),
    )


Heads = list[str | Column]


def table(
    caption: str,
    heads: str | Sequence[str | Column],
    rows: Iterable[Any],
    folded: str = "",
    protocol: str | None = None,
) -> Rows:
    """Make a table of texts.

    Parameters
    ----------
    caption : str
        What it shows.
    heads : str or sequence of str and Column
        Headers of our own, separated by " | "; signs at the end of one say what its
        column holds: ! names of the rows, # numbers, ~ sentences, * what stands out,
        ^ what is left out where there is little room. Names that a user chose are given
        as `Column`.
    rows : iterable of Row, or of sequences of str and TableCell
        From top to bottom; a row that belongs to a protocol is a pair of its cells and
        the protocol.
    folded, protocol : str, optional
        As in `Rows`.

    Examples
    --------
    >>> made = table("Two", "Name! | Mean#*", [("x", "80.0 %")])
    >>> made.columns[1].number, made.rows[0].cells[1].strong
    (True, True)
    """
    given = heads.split(" | ") if isinstance(heads, str) else heads
    made = [
        _read_header(head) if isinstance(head, str) else (head, False) for head in given
    ]
    strong = [stands_out for _, stands_out in made]

    def filled(row: Any) -> Row:
        if isinstance(row, Row):
            return row
        cells, own = row if isinstance(row[0], (tuple, list)) else (row, None)
        pairs = zip(cells, strong[-len(cells) :], strict=True)
        return Row(
            tuple(
                TableCell(c, strong=s) if isinstance(c, str) else c for c, s in pairs
            ),
            own,
        )

    columns = tuple(column for column, _ in made)
    return Rows(caption, columns, tuple(map(filled, rows)), folded, protocol)


TableColumns = list[tuple[str | Column, Sequence[str | TableCell]]]


def by_columns(caption: str, columns: TableColumns) -> Rows:
    """Make a table of columns, each a header as in `table` and its cells.

    Examples
    --------
    >>> by_columns("Two", [("Name!", ["x"]), ("Mean#", ["80.0 %"])]).rows[0].cells[1]
    TableCell(text='80.0 %', strong=False, side=None, share=None, tone=None, span=1)
    """
    rows = zip(*(cells for _, cells in columns), strict=True)
    return table(caption, [head for head, _ in columns], rows)


def _read_header(head: str) -> tuple[Column, bool]:
    """Read a header and the signs at its end; the second tells what stands out."""
    text = head.rstrip("!#~*^")
    signs = head[len(text) :]
    column = Column(
        text,
        number="#" in signs,
        head="!" in signs,
        words="~" in signs,
        wide="^" in signs,
        own=True,
    )
    return column, "*" in signs


def bold(text: str) -> TableCell:
    """Make a cell that stands out."""
    return TableCell(text, strong=True)

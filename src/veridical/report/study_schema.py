"""What the summary of a study's report holds; see `veridical.report.schema`."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict


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
    """A table of words and figures to be read."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str]


class PointSummary(TypedDict):
    """One point of a curve, with its interval where there is one."""

    curve: str
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
    settings: dict[str, str]

"""What a study found, beside what its paper says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from veridical._core.numbers import count
from veridical._core.records import Conclusion, Interval, Record, frame

if TYPE_CHECKING:
    import pandas as pd

Outcome = Literal["reproduced", "not reproduced", "open"]


@dataclass(frozen=True)
class Check:
    """A statement of a paper, and what became of it here.

    Parameters
    ----------
    statement : str
        What the paper says.
    outcome : {"reproduced", "not reproduced", "open"}
        Open where there are too few runs, or no data, to tell.
    published, ours : str
        The figures, with unit and, for ours, interval and n.
    rule : str
        When the statement counts as reproduced.
    """

    statement: str
    outcome: Outcome
    published: str
    ours: str
    rule: str


@dataclass(frozen=True)
class StudyTable:
    """A table of a study's report: its cells are words and figures to be read."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Curve:
    """Values with intervals at some of a picture's places."""

    label: str
    places: tuple[int, ...]
    values: tuple[Interval, ...]


@dataclass(frozen=True)
class Picture:
    """Curves over an axis of named places.

    Parameters
    ----------
    group, title : str
        Pictures of a group are shown together; the title tells them apart.
    unit : str
        What the vertical axis counts.
    sections : tuple of (str, tuple of str)
        The horizontal axis: what is counted, and the names of its places in order.
    curves : tuple of Curve
        At most three.
    band : Interval or None
        What the curves should meet, with its interval.
    """

    group: str
    title: str
    unit: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]
    curves: tuple[Curve, ...]
    band: Interval | None = None


@dataclass(frozen=True, repr=False)
class StudyReport(Record):
    """What a study found, beside what its paper says.

    Parameters
    ----------
    study, question, paper : str
        Its name, what it asks, and where that was asked first.
    checks : tuple of Check
        The findings, the most important first.
    tables, pictures : tuple
        The figures behind them.
    notes : tuple of str
        What a reader must know to read the figures rightly, in sentences.
    settings : mapping of str to str
        How they came about.
    """

    study: str
    question: str
    paper: str
    checks: tuple[Check, ...]
    tables: tuple[StudyTable, ...] = ()
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        held = f"{self.count('reproduced')} of {len(self.checks)} findings reproduced"
        return f"StudyReport({self.study}: {held})"

    @property
    def conclusion(self) -> Conclusion:
        """How many of the paper's findings came out.

        Examples
        --------
        >>> check = Check("More is better", "open", "yes", "no data", "more > less")
        >>> StudyReport("s", "Is more better?", "Anon 1995", (check,)).conclusion[1]
        'Of 1 finding of the paper, 0 are reproduced, 0 are not, 1 is open.'
        """
        parts = [
            (self.count("reproduced"), "reproduced"),
            (self.count("not reproduced"), "not"),
            (self.count("open"), "open"),
        ]
        said = ", ".join(f"{n} {'is' if n == 1 else 'are'} {what}" for n, what in parts)
        sentence = f"Of {count(len(self.checks), 'finding')} of the paper, {said}."
        if self.count("not reproduced"):
            return Conclusion("care", sentence)
        if self.count("open") or not self.checks:
            return Conclusion("open", sentence)
        return Conclusion("yes", sentence)

    def to_frame(self) -> pd.DataFrame:
        """Every finding in a row of its own, the most important first.

        Returns
        -------
        DataFrame
            Columns statement, outcome, published, ours, rule.
        """
        columns = ("statement", "outcome", "published", "ours", "rule")
        return frame(self.checks, *columns)

    def count(self, outcome: Outcome) -> int:
        """Count the findings that came out so."""
        return sum(check.outcome == outcome for check in self.checks)

"""What an audit found: may an accuracy be published, and what is wrong with it?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from veridical._core.arrays import FloatArray
from veridical._core.records import Conclusion, DataSummary, Interval, Record, frame

if TYPE_CHECKING:
    import pandas as pd

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """Something that an audit found, by a code that can be looked up and muted.

    Parameters
    ----------
    code : str
        "VD001" and so on; the documentation has a page for each.
    title : str
        What is wrong, in a few words.
    severity : {"error", "warning", "note"}
        "error": the accuracy is not to be believed. "warning": it may be off. "note":
        it stands, but there is something to know before it is read.
    evidence : str
        What was seen in these data, with figures.
    cure : str
        What to do about it.
    details : mapping of str to float
        The figures behind the evidence.
    """

    code: str
    title: str
    severity: Severity
    evidence: str
    cure: str
    details: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.code} {self.severity}: {self.title}. {self.evidence}"


@dataclass(frozen=True, eq=False)
class Null:
    """What a procedure reports where there is nothing to find.

    Parameters
    ----------
    accuracies : array of shape (n_permutations,)
        The accuracy that the whole procedure reports on labels in random order.
    mean, low, high : float
        Their mean, and the range that holds the middle 95 % of them.
    pvalue : float
        How often random labels do as well as the true ones, the true ones counted in.
    """

    accuracies: FloatArray
    mean: float
    low: float
    high: float
    pvalue: float


@dataclass(frozen=True)
class Preselection:
    """Columns that were chosen before the audit, and who may have chosen them.

    Parameters
    ----------
    columns : tuple of int
        The columns, in ascending order.
    selector : str
        The selector that repeats the choice inside the folds.
    given : bool
        Whether the user named that selector; otherwise it is the one, of those tried,
        that agrees best with the columns on all cases.
    overlap : mapping of str to int
        For every selector tried, how many of the columns are among its own best.
    pvalue : float
        How often columns chosen without a look at the labels would be as closely tied
        to them, from random orders of the labels.
    """

    columns: tuple[int, ...]
    selector: str
    given: bool
    overlap: Mapping[str, int]
    pvalue: float


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Record):
    """Whether an accuracy may be believed.

    "in" is the honest procedure: all that looks at labels is done anew inside each
    training fold. "out" is the other: done once, on all cases, before the folds.

    Parameters
    ----------
    data : DataSummary
        The data set.
    estimator : str
        Display name of what was audited.
    accuracy : mapping of "in" and "out" to Interval
        Accuracies, with intervals for "in" alone: no interval makes the other honest.
        "out" is missing where there is nothing to do before the folds.
    reported : {"in", "out"}
        Which of the two is the accuracy that the audited procedure would report.
    optimism : Interval or None
        "out" minus "in", where both are there.
    null : mapping of "in" and "out" to Null
        What each reports on labels in random order, selection included.
    balanced_accuracy : float
        Mean over the classes of the share of their cases that "in" gets right.
    findings : tuple of Finding
        The most severe first.
    muted : tuple of Finding
        Found, but not wanted: their codes were to be ignored.
    preselection : Preselection or None
        Columns that were chosen beforehand.
    stability : Interval or None
        Agreement of the sets that the folds select, by Nogueira's measure; None where
        nothing is selected.
    n_selected : int or None
        How many columns each fold selects, on average.
    settings : mapping of str to str
        Everything else a reader needs to repeat the run.
    alpha : float
        Significance level; intervals have confidence ``1 - alpha``.
    """

    data: DataSummary
    estimator: str
    accuracy: Mapping[str, Interval]
    reported: Literal["in", "out"]
    optimism: Interval | None
    null: Mapping[str, Null]
    balanced_accuracy: float
    findings: tuple[Finding, ...]
    muted: tuple[Finding, ...] = ()
    preselection: Preselection | None = None
    stability: Interval | None = None
    n_selected: float | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    alpha: float = 0.05

    @property
    def conclusion(self) -> Conclusion:
        """Whether the accuracy may be believed."""
        room = import_module("veridical.auditing.conclusions")
        found: Conclusion = room.conclude(self)
        return found

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of the findings, the most severe first."""
        return tuple(finding.code for finding in self.findings)

    @property
    def score(self) -> Mapping[str, Interval]:
        """The same as `accuracy`: what was measured under "in" and "out"."""
        return self.accuracy

    @property
    def worst(self) -> Severity | None:
        """Severity of the worst finding; None where there is none."""
        return self.findings[0].severity if self.findings else None

    @property
    def clean(self) -> bool:
        """Whether nothing speaks against the accuracy; notes do not."""
        return self.worst in (None, "note")

    def __repr__(self) -> str:
        low, high = self.accuracy["in"][1:]
        parts = [f"IN {self.accuracy['in'].value:.3f} ({low:.3f} to {high:.3f})"]
        if "out" in self.accuracy:
            parts.append(f"OUT {self.accuracy['out'].value:.3f}")
        found = ", ".join(f"{f.code} {f.severity}" for f in self.findings)
        return f"Audit({', '.join(parts)}; {found or 'no finding'})"

    def to_frame(self) -> pd.DataFrame:
        """Every finding in a row of its own.

        Returns
        -------
        DataFrame
            Columns code, severity, title, evidence, cure.
        """
        return frame(self.findings, "code", "severity", "title", "evidence", "cure")

"""The record of an audit: accuracies, and findings that put them in doubt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

from veridical._core.arrays import FloatArray
from veridical._core.records import (
    Conclusion,
    DataSummary,
    Interval,
    Record,
    Setting,
    frame,
)
from veridical._core.scoring import ACCURACY, ScoreInfo
from veridical.evaluation.records import Coverage, ScoreResult

if TYPE_CHECKING:
    import pandas as pd

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
#: Smallest share of the features that a selector chooses, at which it is named as
#: having chosen them.
LEAST_AGREEMENT = 0.8
#: p-value up to which features count as chosen by the labels.
LEVEL = 0.01
#: p-value up to which the labels are shown to have something to do with the features:
#: if a selector chooses all features in question, and if it chooses only most of them,
#: so that it did not choose them alone. The first is what a leak on noise looks like;
#: one in a hundred may be called a note.
SIGNAL_LEVEL, SIGNAL_LEVEL_OF_MOST = 0.004, 0.1
#: Features in question, and features of the table for each of them, with fewer of both
#: of which a selector often chooses features that were known to be weakly useful.
FEWEST_TELLING, FEWEST_PER_FEATURE = 10, 100


@dataclass(frozen=True)
class Finding:
    """A finding of an audit, with a code that can be looked up and ignored.

    Parameters
    ----------
    code : str
        "VD001" and so on; the documentation has a page for each.
    title : str
        What is wrong, in a few words.
    severity : {"error", "warning", "note"}
        "error": do not believe the accuracy. "warning": it may be wrong. "note": it is
        valid, but a reader must know this.
    evidence : str
        What was measured on these data, with numbers.
    cure : str
        What to do about it.
    details : mapping of str to float
        The numbers in the evidence.
    features : tuple of int
        The features that it is about, where it is about some.
    """

    code: str
    title: str
    severity: Severity
    evidence: str
    cure: str
    details: Mapping[str, float] = field(default_factory=dict)
    features: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.code} {self.severity}: {self.title}. {self.evidence}"


@dataclass(frozen=True)
class Untested:
    """A check that could not decide, and what it needs.

    Parameters
    ----------
    code, title : str
        The finding that was looked for.
    needs : str
        What is missing: an argument of `audit`, such as "batch=", or "classes" where
        the target is numbers or survival times.
    what : str
        What stays open.
    """

    code: str
    title: str
    needs: str
    what: str

    def __str__(self) -> str:
        return f"{self.code} not testable without {self.needs}: {self.what}."


class Part(NamedTuple):
    """A part of a score, with its interval.

    Parameters
    ----------
    name : str
        "chance", "signal", "selection", "choice", "removed", "fitted", "overlap",
        "luck", "features", "duplicates", "groups", "order" or "batch".
    value, low, high : float
        The part, and its interval; 0 where there was nothing to remove.
    """

    name: str
    value: float
    low: float
    high: float


#: What each part of a score is, in words.
PARTS = {
    "chance": "what random labels reach",
    "signal": "what remains",
    "selection": "selecting on all samples",
    "choice": "choice among tries",
    "removed": "samples removed",
    "fitted": "fitted on tested samples",
    "overlap": "tested on training samples",
    "luck": "luck of folds and seeds",
    "features": "features that reveal the class",
    "duplicates": "copies of samples",
    "groups": "near relatives",
    "order": "order in time",
    "batch": "batch and covariates",
}


@dataclass(frozen=True)
class Decomposition:
    """A reported score as a sum of parts.

    Parameters
    ----------
    reported : float
        The reported score.
    parts : tuple of Part
        Chance, signal and what the way of measuring added; they sum to `reported`.
    scoring : ScoreInfo
        The score.
    alpha : float
        Intervals have confidence ``1 - alpha``.
    """

    reported: float
    parts: tuple[Part, ...]
    scoring: ScoreInfo = ACCURACY
    alpha: float = 0.05

    @property
    def largest(self) -> Part | None:
        """The largest part beside chance and signal; None where all are 0."""
        added = [one for one in self.parts if one.name not in ("chance", "signal")]
        best = max(added, key=lambda one: self.scoring.sign * one.value, default=None)
        return best if best is not None and self.scoring.sign * best.value > 0 else None

    def __getitem__(self, name: str) -> Part:
        return {one.name: one for one in self.parts}[name]

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row per part: part, value, low, high."""
        import pandas as pd

        return pd.DataFrame(self.parts, columns=["part", "value", "low", "high"])


@dataclass(frozen=True, eq=False)
class Null:
    """Scores of a procedure on permuted labels, where nothing can be learned.

    Parameters
    ----------
    accuracies : array of shape (n_permutations,)
        The leading score, by default the accuracy, of the whole procedure on each
        permutation of the labels.
    mean, low, high : float
        Their mean, and the range of the middle 95 % of them.
    pvalue : float
        Share of permutations with a score at least as good as that of the true labels;
        the true labels are counted as one of them.
    """

    accuracies: FloatArray
    mean: float
    low: float
    high: float
    pvalue: float


@dataclass(frozen=True)
class Preselection:
    """Features selected before the audit, and the selector that may have chosen them.

    Parameters
    ----------
    features : tuple of int
        Indices of the features, in ascending order.
    selector : str
        The selector that repeats the selection inside the folds.
    given : bool
        Whether the user named that selector; otherwise it is the one, of the fast ones,
        that agrees best with the features on all samples.
    overlap : mapping of str to int
        For every selector tried, how many of the features are among its best.
    pvalue : float
        p-value of the agreement with the selector that agrees best, if the features had
        nothing to do with the labels.
    association_pvalue : float
        p-value of the association between features and labels, if the features had
        been taken without regard to the class. Features known to be useful have a
        small one, too.
    permuted : tuple of int
        How many of the features the selector which agrees best chooses for each
        permutation of the labels.
    signal_pvalue : float
        p-value of the association between the labels and as many features, the best of
        the table, if the labels had nothing to do with any feature.
    """

    features: tuple[int, ...]
    selector: str
    given: bool
    overlap: Mapping[str, int]
    pvalue: float
    association_pvalue: float = 1.0
    permuted: tuple[int, ...] = ()
    signal_pvalue: float = 1.0

    @property
    def best(self) -> str:
        """The selector that agrees best, the first of equals."""
        return max(self.overlap, key=lambda name: self.overlap[name])

    @property
    def signal_level(self) -> float:
        """p-value up to which the labels have something to do with the features."""
        if self.overlap[self.best] == len(self.features):
            return SIGNAL_LEVEL
        return SIGNAL_LEVEL_OF_MOST

    @property
    def agrees(self) -> bool:
        """Whether a selector chooses most of the features, and not by chance.

        Of a selector that the user named it is enough that the features are associated
        with the labels.
        """
        most = self.overlap[self.best] >= LEAST_AGREEMENT * len(self.features)
        named = self.given and self.association_pvalue <= LEVEL
        return most and (self.pvalue <= LEVEL or named)


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Record):
    """Whether an accuracy may be believed.

    Under "in" every step that uses labels is repeated inside each training fold, which
    is honest. Under "out" these steps are done once, on all samples, before the folds.

    Parameters
    ----------
    data : DataSummary
        The data set.
    estimator : str
        Display name of what was audited.
    accuracy : mapping of "in" and "out" to Interval
        Accuracies, with an interval for "in" only, because "out" is biased. "out" is
        missing where no step before the estimator learns from data.
    interval : str
        The kind of interval: "corrected-t", "wilson", or "" where none is valid.
    coverage : Coverage or None
        How often such 95 % intervals have covered the truth in the measured designs
        nearest to this one; None where nothing was measured near.
    optimism_coverage : Coverage or None
        The same for intervals of the optimism, whose truth is the mean over data sets.
    reported : {"in", "out"}
        Which of the two accuracies the audited procedure would report.
    optimism : Interval or None
        "out" minus "in", where both exist.
    null : mapping of "in" and "out" to Null
        Accuracies on permuted labels, selection included.
    balanced_accuracy : float
        Mean over the classes of the share of samples predicted correctly under "in".
    findings : tuple of Finding
        The most severe first.
    muted : tuple of Finding
        Findings whose codes were to be ignored.
    preselection : Preselection or None
        Features that were selected beforehand.
    stability : Interval or None
        Agreement of the feature sets of the folds, by Nogueira's measure; None where
        nothing is selected.
    n_selected : int or None
        Mean number of features that a fold selects.
    settings : mapping of str to str, number, tuple or mapping
        Everything else a reader needs to repeat the run.
    alpha : float
        Significance level; intervals have confidence ``1 - alpha``.
    scoring : ScoreInfo
        The leading score, which optimism, null and verdict are about.
    scores : mapping of "in" and "out" to Interval
        The leading score, where other scores than accuracy were asked for.
    others : tuple of ScoreResult
        Further scores under "in".
    untested : tuple of Untested
        Checks that could not decide, and what they need.
    decomposition : Decomposition or None
        The reported score taken apart; None where only some checks were run.
    seconds : mapping of str to float
        Time that each check took, by its code; not a part of what is saved.
    """

    data: DataSummary
    estimator: str
    accuracy: Mapping[str, Interval]
    reported: Literal["in", "out"]
    optimism: Interval | None
    null: Mapping[str, Null]
    balanced_accuracy: float
    findings: tuple[Finding, ...]
    interval: str = ""
    coverage: Coverage | None = None
    optimism_coverage: Coverage | None = None
    muted: tuple[Finding, ...] = ()
    preselection: Preselection | None = None
    stability: Interval | None = None
    n_selected: float | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)
    alpha: float = 0.05
    scoring: ScoreInfo = ACCURACY
    scores: Mapping[str, Interval] = field(default_factory=dict)
    others: tuple[ScoreResult, ...] = ()
    untested: tuple[Untested, ...] = ()
    decomposition: Decomposition | None = None
    seconds: Mapping[str, float] = field(default_factory=dict, compare=False)

    def _conclude(self) -> Conclusion:
        """Decide whether the accuracy may be believed."""
        room = import_module("veridical.auditing.conclusions")
        found: Conclusion = room.conclude(self)
        return found

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of the findings, the most severe first."""
        return tuple(finding.code for finding in self.findings)

    @property
    def score(self) -> Mapping[str, Interval]:
        """The leading score under "in" and "out"; by default the accuracy."""
        return self.scores or self.accuracy

    @property
    def worst(self) -> Severity | None:
        """Severity of the worst finding; None where there is none."""
        return self.findings[0].severity if self.findings else None

    @property
    def clean(self) -> bool:
        """Whether there are no errors and no warnings."""
        return self.worst in (None, "note")

    def __repr__(self) -> str:
        low, high = self.score["in"][1:]
        parts = [f"IN {self.score['in'].value:.3f} ({low:.3f} to {high:.3f})"]
        if "out" in self.score:
            parts.append(f"OUT {self.score['out'].value:.3f}")
        found = ", ".join(f"{f.code} {f.severity}" for f in self.findings)
        return f"Audit({', '.join(parts)}; {found or 'no finding'})"

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row per finding.

        Returns
        -------
        DataFrame
            Columns code, severity, title, evidence, cure.
        """
        return frame(self.findings, "code", "severity", "title", "evidence", "cure")

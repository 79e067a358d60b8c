"""What crosses from room to room: small frozen records, no behaviour of their own.

Two selectors under comparison are called ``"a"`` and ``"b"`` everywhere; a record
carries their display names beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Side = Literal["a", "b"]
Winner = Literal["a", "b", "draw"]
SIDES: tuple[Side, Side] = ("a", "b")

IntArray = NDArray[np.intp]
FloatArray = NDArray[np.float64]


class InputError(ValueError):
    """Bad input, said in words: what is wrong, where, and what to do about it.

    The command line prints the message alone and exits with status 2.
    """


@dataclass(frozen=True, eq=False)
class Labelled:
    """A classification problem as arrays, the form in which criteria see it.

    Parameters
    ----------
    values : array or CSC matrix of shape (n_samples, n_features)
        float64 or float32; NaN is a missing value; nominal columns hold codes.
    nominal : bool array of shape (n_features,)
        Which columns hold codes ``0..v-1`` rather than numbers.
    y : int array of shape (n_samples,)
        Classes ``0..n_classes-1``.
    n_classes : int
        Number of classes in `y`.
    """

    values: Any
    nominal: NDArray[np.bool_]
    y: IntArray
    n_classes: int


@dataclass(frozen=True)
class Ranking:
    """Features from best to worst, as one training set sees them.

    Parameters
    ----------
    order : array of shape (n_features,)
        Every feature index once, best first.
    scores : array of shape (n_features,) or None
        Score per column, larger is better; None where the method has no score.
    n_kept : int
        How many leading features the method itself would keep.
    """

    order: IntArray
    scores: FloatArray | None
    n_kept: int


@dataclass(frozen=True)
class TestResult:
    """The outcome of one significance test on paired scores.

    Positive differences favour ``a``. ``interval`` is for the mean difference, at
    confidence ``1 - alpha``, and rests on the same assumptions as the p-value.
    """

    __test__ = False  # the name is the field's own; it is not a pytest class

    name: str
    statistic: float
    p_value: float
    df: float
    mean_difference: float
    interval: tuple[float, float]
    n: int
    alpha: float
    assumptions: str

    @property
    def winner(self) -> Winner:
        """``"a"`` or ``"b"`` where the difference is significant, else ``"draw"``."""
        if self.p_value < self.alpha and self.mean_difference != 0:
            return "a" if self.mean_difference > 0 else "b"
        return "draw"


class Verdict(NamedTuple):
    """Who wins under one method, and on what evidence."""

    winner: Winner
    p_value: float
    mean_difference: float
    interval: tuple[float, float]
    test: TestResult

    @classmethod
    def of(cls, test: TestResult) -> Verdict:
        """Read the verdict off a test result."""
        return cls(test.winner, test.p_value, test.mean_difference, test.interval, test)


class Interval(NamedTuple):
    """A value with its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Truthfulness:
    """How often IN and OUT reached the true verdict, over many data sets.

    ``only_in`` counts data sets where IN was right and OUT wrong, ``only_out`` the
    reverse; the others say nothing about which protocol is better.
    """

    only_in: int
    only_out: int
    both_right: int
    both_wrong: int
    p_value: float
    better: Literal["in", "out", "same"]


@dataclass(frozen=True)
class DataSummary:
    """What a report needs to know of the data: its name, size, classes and columns."""

    name: str
    n_samples: int
    n_features: int
    classes: Mapping[str, int]
    feature_names: tuple[str, ...]

    @property
    def majority_share(self) -> float:
        """Accuracy of always naming the most frequent class: chance level."""
        return max(self.classes.values()) / sum(self.classes.values())


@dataclass(frozen=True)
class Comparison:
    """Two selectors, one classifier or several, judged by one method or several.

    Parameters
    ----------
    names : mapping of "a" and "b" to str
        Display names of the selectors, always different.
    classifiers : tuple of str
        Display names of the classifiers.
    n_features : int
        How many features each selector had to return.
    data : DataSummary
        The data set or the source.
    accuracy : mapping of method to array (2, n_classifiers, n_repeats, n_folds)
        Method is "in", "out" or "truth"; for "truth" a repeat is a data set of its
        own and there is one fold, the independent test set.
    selected : mapping of method to array (2, n_repeats, n_folds, n_features)
        Column indices chosen, best first; OUT has one fold, because it selects once.
    verdicts : mapping of method to Verdict
        On the accuracies averaged over the classifiers.
    by_classifier : mapping of classifier name to (mapping of method to Verdict)
        The same question put to each classifier alone.
    optimism : mapping of "a" and "b" to Interval
        Accuracy under OUT minus accuracy under IN; empty unless both were run.
    bias_imbalance : mapping of method to float
        ``|bias(a) - bias(b)|``, against TRUTH where it is known, else against IN.
    recommendation : str
        What may be claimed, in a sentence or two.
    set_verdicts : mapping of method to tuple of Winner
        On a source: the verdict of IN and OUT on each data set.
    truthfulness : Truthfulness or None
        On a source: which of IN and OUT found the truth more often.
    settings : mapping of str to str
        Everything else a reader needs to repeat the run.
    """

    names: Mapping[Side, str]
    classifiers: tuple[str, ...]
    n_features: int
    data: DataSummary
    accuracy: Mapping[str, FloatArray]
    selected: Mapping[str, IntArray]
    verdicts: Mapping[str, Verdict]
    by_classifier: Mapping[str, Mapping[str, Verdict]]
    optimism: Mapping[Side, Interval]
    bias_imbalance: Mapping[str, float]
    recommendation: str
    set_verdicts: Mapping[str, tuple[Winner, ...]] = field(default_factory=dict)
    truthfulness: Truthfulness | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def scores(self) -> dict[str, dict[Side, FloatArray]]:
        """Accuracies per method and side, averaged over classifiers, one per fold."""
        return {
            method: {
                side: values[i].mean(axis=0).ravel() for i, side in enumerate(SIDES)
            }
            for method, values in self.accuracy.items()
        }

    def to_frame(self) -> pd.DataFrame:
        """Every accuracy in a row of its own.

        Returns
        -------
        DataFrame
            Columns method, selector, classifier, repeat, fold, accuracy, n_features.
        """
        import pandas as pd

        columns = ("method", "selector", "classifier", "repeat", "fold", "accuracy")
        rows = [
            (method, self.names[SIDES[s]], self.classifiers[c], r, f, float(value))
            for method, values in self.accuracy.items()
            for (s, c, r, f), value in np.ndenumerate(values)
        ]
        frame = pd.DataFrame.from_records(rows, columns=columns)
        return frame.assign(n_features=self.n_features)

    def save(self, path: str | Path) -> Path:
        """Write the comparison as one self-contained HTML page.

        Parameters
        ----------
        path : str or Path
            Where to write it; an existing file is replaced in one step.
        """
        return _report().save(self, path)

    def _repr_html_(self) -> str:
        return _report().fragment(self)


def _report() -> Any:
    """Find the room that draws.

    Records lie below every room, so they may not import one; they ask for the report
    by name, and only when somebody wants to look.
    """
    return import_module("veridical.report")


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """How accurate a learner is on some data, by one method.

    Parameters
    ----------
    value : float
        The estimate: accuracy pooled over all test cases, or the mean score.
    std : float
        Standard deviation of `scores`; with a single split, the binomial one of an
        accuracy. It is not the standard error of `value`: splits share cases.
    scores : array of shape (n_splits,)
        One score per split; for the bootstrap, each sample's term of the estimate.
    n_test : int
        How many different cases were tested.
    metric, method, learner : str
        What was measured, how, and of what.
    random_state : int
        The seed that gives the same splits again.
    assumes : mapping of str to str
        The valid kinds of interval, the usual one first, and what each takes for
        granted; empty where none is valid.
    details : mapping of str to float
        What the method computed on its way.
    notes : tuple of str
        What is doubtful about this estimate, in sentences.
    test_share : float
        Cases in a test set over cases in a training set.
    nested : object or None
        Runs nested cross-validation when its interval is asked for.
    """

    value: float
    std: float
    scores: FloatArray
    n_test: int
    metric: str
    method: str
    learner: str
    random_state: int
    assumes: Mapping[str, str]
    details: Mapping[str, float]
    notes: tuple[str, ...] = ()
    test_share: float = 0.0
    nested: Any = None

    @property
    def std_of_mean(self) -> float:
        """Standard deviation of the mean of the scores, were they independent."""
        return self.std / float(np.sqrt(len(self.scores)))

    def interval(
        self, confidence: float = 0.95, kind: str | None = None
    ) -> tuple[float, float]:
        """Compute a confidence interval.

        Parameters
        ----------
        confidence : float, default=0.95
            How often such intervals should cover the truth.
        kind : str, optional
            A key of `assumes`, by default the first: ``"wilson"``, ``"nested"``,
            ``"corrected-t"``. ``"nested"`` fits many more models when first asked for.

        Returns
        -------
        low, high : float
            The bounds.

        Raises
        ------
        InputError
            If no such interval is valid for this metric and method.
        """
        room = import_module("veridical.estimation")
        low, high = room.interval_of(self, confidence, kind)
        return low, high

    def __repr__(self) -> str:
        return _display().one_line(self)

    def __rich__(self) -> Any:
        return _display().table(self)

    def _repr_html_(self) -> str:
        return _display().html(self)


@dataclass(frozen=True, eq=False)
class Estimates:
    """How accurate one learner is on one data set, by several methods.

    Parameters
    ----------
    data : DataSummary
        The data set or the source.
    learner : str
        Display name of what learned.
    estimates : tuple of Estimate
        At least one, all of the same metric.
    truth : Estimate or None
        On a source: the accuracy of the classifier built on all cases, measured on
        many fresh ones.
    settings : mapping of str to str
        Everything else a reader needs to repeat the run.
    """

    data: DataSummary
    learner: str
    estimates: tuple[Estimate, ...]
    truth: Estimate | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def save(self, path: str | Path) -> Path:
        """Write the estimates as one self-contained HTML page.

        Parameters
        ----------
        path : str or Path
            Where to write it; an existing file is replaced in one step.
        """
        return _report().save(self, path)

    def _repr_html_(self) -> str:
        return _report().fragment(self)


def _display() -> Any:
    """Find the part of the estimation room that shows; see `_report`."""
    return import_module("veridical.estimation.display")


# -- what a study found --------------------------------------------------------------

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


@dataclass(frozen=True)
class StudyReport:
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

    def count(self, outcome: Outcome) -> int:
        """Count the findings that came out so."""
        return sum(check.outcome == outcome for check in self.checks)

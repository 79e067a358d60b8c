"""The findings of a study, compared with its paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit
from scipy.stats import hypergeom, rankdata

from veridical._core.arrays import FloatArray
from veridical._core.defaults import CONFIDENCE
from veridical._core.numbers import count, with_range
from veridical._core.records import Conclusion, Curve, Interval, Record, Setting, frame

if TYPE_CHECKING:
    import pandas as pd

Outcome = Literal["reproduced", "not reproduced", "open"]


@dataclass(frozen=True)
class Check:
    """A statement of a paper, and whether it was reproduced.

    Parameters
    ----------
    statement : str
        What the paper says.
    outcome : {"reproduced", "not reproduced", "open"}
        Open where there are too few runs, or no data, to decide.
    published, ours : str
        The numbers, with unit and, for ours, interval and n.
    rule : str
        Condition under which the statement counts as reproduced.
    """

    statement: str
    outcome: Outcome
    published: str
    ours: str
    rule: str

    @classmethod
    def without_data(cls, statement: str, published: str, rule: str) -> Check:
        """Make an open check of a statement for which there are no data."""
        return cls(statement, "open", published, "no data", rule)


@dataclass(frozen=True)
class StudyTable:
    """A table in the report of a study; its cells are texts."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Picture:
    """Curves over an axis of named places.

    Parameters
    ----------
    group, title : str
        Pictures of a group are shown together; the title tells them apart.
    unit : str
        Quantity and unit of the vertical axis.
    sections : tuple of (str, tuple of str)
        The horizontal axis: quantity, and the names of its places in order.
    curves : tuple of Curve
        At most three.
    band : Interval or None
        True value that the curves estimate, with its interval.
    """

    group: str
    title: str
    unit: str
    sections: tuple[tuple[str, tuple[str, ...]], ...]
    curves: tuple[Curve, ...]
    band: Interval | None = None


@dataclass(frozen=True, repr=False)
class StudyReport(Record):
    """The findings of a study, compared with its paper.

    Parameters
    ----------
    study, question, paper : str
        Name, research question, and the paper that asked it.
    checks : tuple of Check
        The findings, the most important first.
    tables, pictures : tuple
        The numbers behind them.
    notes : tuple of str
        Sentences that a reader needs to understand the numbers.
    settings : mapping of str to str, number, tuple or mapping
        Settings of the study.

    Attributes
    ----------
    conclusion : Conclusion
        How many findings of the paper were reproduced.

    Examples
    --------
    >>> check = Check("More is better", "open", "yes", "no data", "more > less")
    >>> StudyReport("s", "Is more better?", "Anon 1995", (check,)).conclusion[1]
    'Of 1 finding of the paper, 0 are reproduced, 0 are not, 1 is open.'
    """

    study: str
    question: str
    paper: str
    checks: tuple[Check, ...]
    tables: tuple[StudyTable, ...] = ()
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def __repr__(self) -> str:
        held = f"{self.count('reproduced')} of {len(self.checks)} findings reproduced"
        return f"StudyReport({self.study}: {held})"

    def _conclude(self) -> Conclusion:
        """Count the findings of the paper that were reproduced."""
        return _conclude(self.checks, "the paper")

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row per finding, the most important first.

        Returns
        -------
        DataFrame
            Columns statement, outcome, published, ours, rule.
        """
        columns = ("statement", "outcome", "published", "ours", "rule")
        return frame(self.checks, *columns)

    def count(self, outcome: Outcome) -> int:
        """Return the number of findings with this outcome."""
        return sum(check.outcome == outcome for check in self.checks)


@dataclass(frozen=True, repr=False)
class StudyReports(Record):
    """The findings of several studies, study by study.

    Parameters
    ----------
    reports : tuple of StudyReport
        The studies, each with its findings and its settings.
    missing : tuple of str
        Names of studies that have no findings, as they could not be run.
    settings : mapping of str to str, number or tuple
        Settings of the runs of all studies.

    Attributes
    ----------
    conclusion : Conclusion
        How many findings of all papers were reproduced.

    Examples
    --------
    >>> check = Check("More is better", "open", "yes", "no data", "more > less")
    >>> one = StudyReport("s", "Is more better?", "Anon 1995", (check,))
    >>> StudyReports((one, one)).conclusion.sentence
    'Of 2 findings of 2 papers, 0 are reproduced, 0 are not, 2 are open.'
    """

    reports: tuple[StudyReport, ...]
    missing: tuple[str, ...] = ()
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def __repr__(self) -> str:
        names = ", ".join(report.study for report in self.reports)
        return f"StudyReports({names}: {self.conclusion.sentence})"

    @property
    def checks(self) -> tuple[Check, ...]:
        """The findings of all studies, in their order."""
        return tuple(check for report in self.reports for check in report.checks)

    def _conclude(self) -> Conclusion:
        """Count the findings of all papers that were reproduced."""
        found = _conclude(self.checks, count(len(self.reports), "paper"))
        if not self.missing:
            return found
        said = f"{found.sentence} Not run: {', '.join(self.missing)}."
        return Conclusion("open" if found.belief == "yes" else found.belief, said)

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row per finding, study by study.

        Returns
        -------
        DataFrame
            Columns study, statement, outcome, published, ours, rule.
        """
        import pandas as pd

        columns = ["study", "statement", "outcome", "published", "ours", "rule"]
        frames = [report.to_frame() for report in self.reports]
        if not frames:
            return pd.DataFrame(columns=columns)
        for report, one in zip(self.reports, frames, strict=True):
            one.insert(0, "study", report.study)
        return pd.concat(frames, ignore_index=True)


def _conclude(checks: Sequence[Check], papers: str) -> Conclusion:
    """Count the findings that were reproduced, were not, and are open."""
    outcomes = Counter(check.outcome for check in checks)
    parts = [
        (outcomes["reproduced"], "reproduced"),
        (outcomes["not reproduced"], "not"),
        (outcomes["open"], "open"),
    ]
    said = ", ".join(f"{n} {'is' if n == 1 else 'are'} {what}" for n, what in parts)
    sentence = f"Of {count(len(checks), 'finding')} of {papers}, {said}."
    if outcomes["not reproduced"]:
        return Conclusion("care", sentence)
    if outcomes["open"] or not checks:
        return Conclusion("open", sentence)
    return Conclusion("yes", sentence)


# -- from numbers to outcomes --------------------------------------------------------


class Mean(NamedTuple):
    """A mean, its standard error, its degrees of freedom and the runs behind it."""

    value: float
    error: float
    df: float
    n: int

    @classmethod
    def from_values(cls, values: FloatArray) -> Mean:
        """Average independent values; a single value has an infinite standard error."""
        n = len(values)
        error = float(np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else np.inf
        return cls(float(np.mean(values)), error, max(n - 1, 1), n)

    def minus(self, other: Mean) -> Mean:
        """Subtract an independent mean; degrees of freedom by Welch's formula."""
        a, b = self.error**2, other.error**2
        error, df = float(np.sqrt(a + b)), float(min(self.df, other.df))
        if 0 < error < np.inf:
            df = (a + b) ** 2 / (a**2 / self.df + b**2 / other.df)
        return Mean(self.value - other.value, error, df, min(self.n, other.n))

    @property
    def interval(self) -> Interval:
        """The mean with its 95 % t interval."""
        width = 0.0
        if self.error > 0:
            width = float(stdtrit(self.df, (1 + CONFIDENCE) / 2) * self.error)
        return Interval(self.value, self.value - width, self.value + width)

    def pvalue_below(self) -> float:
        """Compute the p-value of the one-sided t-test that it is below 0.

        It is 1 where nothing varies, because nothing is shown then.
        """
        if not self.error > 0:
            return 1.0
        return float(stdtr(self.df, self.value / self.error))

    def words(self, signed: bool = True, noun: str = "run") -> str:
        """Write the mean with unit, interval and n; signed for differences."""
        text = with_range(*self.interval, signed=signed)
        return f"{text} {'points' if signed else '%'}, {count(self.n, noun)}"


def fit_slope(x: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Mean:
    """Fit y by a line in x, by least squares; return the slope with its standard error.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Values.
    groups : array-like of shape (n,), optional
        Each of these groups has a level of its own, and all have the same slope.

    Returns
    -------
    Mean
        The slope; its degrees of freedom are n minus the number of levels minus 1.
        The slope is NaN where x does not vary within groups, or there are too few
        values.

    Examples
    --------
    >>> from veridical.experiments import fit_slope
    >>> fit_slope([0.0, 1, 2, 3], [0.0, 2, 1, 3]).value
    0.8
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    level = np.zeros(x.size, dtype=np.intp)
    if groups is not None:
        level = np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(level)
    x = x - (np.bincount(level, x) / sizes)[level]
    y = y - (np.bincount(level, y) / sizes)[level]
    df, spread = x.size - sizes.size - 1, float(x @ x)
    if df < 1 or spread == 0:
        return Mean(np.nan, np.nan, max(df, 0), x.size)
    slope = float(x @ y) / spread
    rest = y - slope * x
    return Mean(slope, float(np.sqrt(rest @ rest / df / spread)), df, x.size)


def rank_correlation(x: ArrayLike, y: ArrayLike) -> Interval:
    """Return Spearman's correlation with the 95 % interval of Fisher's transformation.

    The variance of the transformed correlation is 1.06 / (n - 3) [1]_; up to three
    values say nothing, and the interval is that of all correlations.

    References
    ----------
    .. [1] E. C. Fieller, H. O. Hartley and E. S. Pearson, "Tests for rank correlation
       coefficients", Biometrika 44 (1957).

    Examples
    --------
    >>> from veridical.experiments import rank_correlation
    >>> found = rank_correlation(range(8), [1, 0, 2, 3, 5, 4, 6, 7])
    >>> [round(bound, 3) for bound in found]
    [0.952, 0.742, 0.992]
    """
    ranks = rankdata(x), rankdata(y)
    rho, n = float(np.corrcoef(*ranks)[0, 1]), ranks[0].size
    if n <= 3:
        return Interval(rho, -1.0, 1.0)
    half = 1.96 * np.sqrt(1.06 / (n - 3))
    z = np.arctanh(np.clip(rho, -0.999999, 0.999999))
    return Interval(rho, float(np.tanh(z - half)), float(np.tanh(z + half)))


def fisher_pvalue(counts: Any) -> Any:
    """Compute the p-value of Fisher's exact test that the first row has a larger share.

    Parameters
    ----------
    counts : int array of shape (..., 2, 2)
        Counts of two rows in two columns; leading axes count tests. The share is that
        of the first column.

    Returns
    -------
    float, or array of shape (...)
        One-sided.

    Examples
    --------
    >>> from veridical.experiments import fisher_pvalue
    >>> round(fisher_pvalue([[3, 0], [0, 3]]), 6)  # one table of the 20 with these sums
    0.05
    """
    given = np.asarray(counts, dtype=np.int64)
    hits, rows, columns = given[..., 0, 0], given.sum(axis=-1), given.sum(axis=-2)
    n = rows.sum(axis=-1)
    found = hypergeom.sf(hits - 1, n, rows[..., 0], columns[..., 0])
    return found if np.ndim(found) else float(found)


def average_means(means: Iterable[Mean]) -> Mean:
    """Average independent means, each with the same weight."""
    given = list(means)
    error = float(np.sqrt(sum(mean.error**2 for mean in given))) / len(given)
    df = sum(mean.df for mean in given)
    value = float(np.mean([mean.value for mean in given]))
    return Mean(value, error, df, min(mean.n for mean in given))


def decide(found: Interval, low: float = -np.inf, high: float = np.inf) -> Outcome:
    """Decide whether an interval lies in the range that reproduces a statement.

    Inside: reproduced. Outside: not reproduced. Across a bound: open, and so is an
    interval without width that lies on a bound: values that do not vary decide nothing
    there.

    Examples
    --------
    >>> from veridical.experiments import Mean, decide
    >>> decide(Mean(9.0, 0.5, 49, 50).interval, low=5, high=14)
    'reproduced'
    >>> decide(Mean(9.0, 5.0, 2, 3).interval, low=5, high=14)
    'open'
    """
    if found.low == found.high and found.low in (low, high):
        return "open"
    if low <= found.low and found.high <= high:
        return "reproduced"
    if found.high < low or found.low > high:
        return "not reproduced"
    return "open"


def decide_if_enough(holds: bool, n: int, least: int) -> Outcome:
    """Decide about a number without an interval; open until there are enough runs.

    Examples
    --------
    >>> from veridical.experiments import decide_if_enough
    >>> decide_if_enough(True, 50, 40), decide_if_enough(True, 3, 40)
    ('reproduced', 'open')
    """
    if n < least:
        return "open"
    return "reproduced" if holds else "not reproduced"


def decide_all(outcomes: Iterable[Outcome]) -> Outcome:
    """Decide about a statement of several parts, all of which must hold.

    Examples
    --------
    >>> from veridical.experiments import decide_all
    >>> decide_all(["reproduced", "open"]), decide_all(["open", "not reproduced"])
    ('open', 'not reproduced')
    """
    given = list(outcomes)
    if "not reproduced" in given:
        return "not reproduced"
    return "open" if "open" in given or not given else "reproduced"

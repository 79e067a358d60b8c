"""What the accuracy paper's findings are made of: means, spreads and their intervals.

All figures are in per cent, or points of it. A bias is the mean estimate minus the true
accuracy; both are means over independent samples, so their variances add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from veridical._core.arrays import FloatArray
from veridical._core.numbers import count, with_range
from veridical._core.records import Interval
from veridical._core.seeds import as_generator
from veridical.experiments.findings import Outcome
from veridical.papers.accuracy_data import TABLE_1

CONFIDENCE = 0.95
_RESAMPLES = 1000

#: What the learners are called.
TITLES = {"c45": "C4.5", "nb": "Naive Bayes"}


class Mean(NamedTuple):
    """A mean, its standard error, its degrees of freedom and the runs behind it."""

    value: float
    error: float
    df: float
    n: int

    @classmethod
    def of(cls, values: FloatArray) -> Mean:
        """Average independent values; one alone has no error that could be known."""
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
            width = float(stats.t.ppf((1 + CONFIDENCE) / 2, self.df) * self.error)
        return Interval(self.value, self.value - width, self.value + width)

    def words(self, signed: bool = True, noun: str = "run") -> str:
        """Write it with its unit, interval and n; signed for differences."""
        text = with_range(*self.interval, signed=signed)
        return f"{text} {'points' if signed else '%'}, {count(self.n, noun)}"


def average(means: Iterable[Mean]) -> Mean:
    """Average independent means, each with the same weight."""
    given = list(means)
    error = float(np.sqrt(sum(mean.error**2 for mean in given))) / len(given)
    df = sum(mean.df for mean in given)
    value = float(np.mean([mean.value for mean in given]))
    return Mean(value, error, df, min(mean.n for mean in given))


def spread(values: FloatArray) -> Interval:
    """Standard deviation of single runs, with its 95 % interval for normal values."""
    n = len(values)
    sd = float(np.std(values, ddof=1))
    tail = (1 - CONFIDENCE) / 2
    low, high = (
        sd * float(np.sqrt((n - 1) / stats.chi2.ppf(q, n - 1)))
        for q in (1 - tail, tail)
    )
    return Interval(sd, low, high)


def judge(found: Interval, low: float = -np.inf, high: float = np.inf) -> Outcome:
    """Compare an interval with the range in which the paper's figure would be met.

    Inside: reproduced. Outside: not reproduced. Across a bound: open.

    Examples
    --------
    >>> from veridical.papers.accuracy_figures import Mean, judge
    >>> judge(Mean(9.0, 0.5, 49, 50).interval, low=5, high=14)
    'reproduced'
    >>> judge(Mean(9.0, 5.0, 2, 3).interval, low=5, high=14)
    'open'
    """
    if low <= found.low and found.high <= high:
        return "reproduced"
    if found.high < low or found.low > high:
        return "not reproduced"
    return "open"


def resample_spreads(
    blocks: Sequence[FloatArray], statistic: Callable[[list[FloatArray]], FloatArray]
) -> Interval:
    """Find a 95 % percentile interval for a function of standard deviations.

    Parameters
    ----------
    blocks : sequence of arrays of shape (n_runs, n_estimates)
        One per data set; the estimates of a run belong together.
    statistic : callable
        From the standard deviations of all blocks, each of shape (draws, n_estimates),
        to an array of shape (draws,).
    """
    rng = as_generator(0)
    ours = statistic([np.std(block, axis=0, ddof=1)[None] for block in blocks])
    drawn = []
    for block in blocks:
        rows = rng.integers(len(block), size=(_RESAMPLES, len(block)))
        drawn.append(np.std(block[rows], axis=1, ddof=1))
    low, high = np.percentile(statistic(drawn), (2.5, 97.5))
    return Interval(float(ours[0]), float(low), float(high))


@dataclass(frozen=True, eq=False)
class Figures:
    """The accuracies of a study's cells, in per cent, by where they belong.

    Parameters
    ----------
    cells : mapping of (data, learner, method, setting) to Series
        Accuracies by run.
    facts : mapping of data to Series
        What was counted in the data.
    """

    cells: dict[tuple[str, str, str, int], pd.Series]
    facts: dict[str, pd.Series]

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Figures:
        """Sort the cells of a store; those that failed are left out."""
        good = frame[frame["status"] == "ok"]
        counted = good["method"] == "data"
        facts = {row["data"]: row for _, row in good[counted].iterrows()}
        where = ["data", "learner", "method", "setting"]
        cells = {}
        for key, group in good[~counted].groupby(where):
            data, learner, method, setting = (str(part) for part in key)
            values = group.set_index("run")["accuracy"].astype(float).sort_index()
            cells[data, learner, method, int(setting)] = 100 * values
        return cls(cells, facts)

    def data(self) -> list[str]:
        """Name the data sets that there are accuracies of, in the paper's order."""
        found = {key[0] for key in self.cells}
        return [name for name in TABLE_1 if name in found]

    def pairs(self) -> list[tuple[str, str]]:
        """List data sets and learners."""
        return [(data, learner) for data in self.data() for learner in TITLES]

    def settings(self, *methods: str) -> list[int]:
        """List the settings of methods, folds before cases left out."""
        found = {key[3] for key in self.cells if key[2] in methods}
        return sorted(found, key=lambda k: (k < 0, k))

    def get(
        self, data: str, learner: str, method: str, setting: int
    ) -> FloatArray | None:
        """Accuracies of all runs; None where there are none."""
        found = self.cells.get((data, learner, method, setting))
        return None if found is None else found.to_numpy()

    def truth(self, data: str, learner: str) -> Mean | None:
        """The true accuracy."""
        for key, values in self.cells.items():
            if key[:3] == (data, learner, "truth"):
                return Mean.of(values.to_numpy())
        return None

    def bias(self, data: str, learner: str, method: str, setting: int) -> Mean | None:
        """Mean estimate minus true accuracy."""
        truth = self.truth(data, learner)
        found = self.get(data, learner, method, setting)
        return None if truth is None or found is None else Mean.of(found).minus(truth)

    def mean_bias(self, method: str, setting: int) -> Mean | None:
        """Average the bias over data sets and learners.

        Learners see the same samples, so they are averaged run by run first; data sets
        are independent.
        """
        biases = []
        for data in self.data():
            size = next((k[3] for k in self.cells if k[::2] == (data, "truth")), 0)
            estimates, truths = (
                self._over_learners(data, *what)
                for what in ((method, setting), ("truth", size))
            )
            if len(estimates) and len(truths):
                biases.append(Mean.of(estimates).minus(Mean.of(truths)))
        return average(biases) if biases else None

    def _over_learners(self, data: str, method: str, setting: int) -> FloatArray:
        """Average the learners run by run; only runs that all of them have."""
        found = [
            values
            for (d, _, m, s), values in self.cells.items()
            if (d, m, s) == (data, method, setting)
        ]
        if not found:
            return np.empty(0)
        together = pd.concat(found, axis=1).dropna()
        return together.mean(axis=1).to_numpy(dtype=np.float64)

    def gain(self, data: str, learner: str, folds: int) -> Mean | None:
        """Stratified minus plain cross-validation, run by run."""
        pair = [
            self.cells.get((data, learner, kind, folds))
            for kind in ("stratified", "plain")
        ]
        if pair[0] is None or pair[1] is None:
            return None
        difference = (pair[0] - pair[1]).dropna().to_numpy()
        return Mean.of(difference) if len(difference) else None

    def runs(self, data: str, learner: str, which: Sequence[tuple[str, int]]) -> Any:
        """Accuracies of several estimates side by side, of runs that have them all.

        Returns
        -------
        array of shape (n_runs, len(which)) or None
        """
        found = [self.cells.get((data, learner, *one)) for one in which]
        if not found or any(values is None for values in found):
            return None
        together = pd.concat([v for v in found if v is not None], axis=1).dropna()
        return together.to_numpy(dtype=np.float64)

    def sd(self, data: str, learner: str, method: str, setting: int) -> float | None:
        """Standard deviation of a single run."""
        found = self.get(data, learner, method, setting)
        return None if found is None or len(found) < 2 else float(np.std(found, ddof=1))

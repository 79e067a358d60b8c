"""Results of the accuracy study: means, standard deviations, tables and pictures.

All values are in per cent, or percentage points. A bias is the mean estimate minus the
true accuracy; both are means over independent samples, so their variances add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from veridical.experiments import (
    Curve,
    Interval,
    Mean,
    Picture,
    StudyTable,
    average_means,
    format_number,
)

# Number of bootstrap resamples of the runs.
_RESAMPLES = 1000

#: Display names of the learners.
LEARNER_TITLES = {"c45": "C4.5", "nb": "Naive Bayes"}


@dataclass(frozen=True)
class Table1Row:
    """A row of table 1; accuracies in per cent, as mean and its standard deviation.

    Parameters
    ----------
    title : str
        Name in the table.
    file : str or None
        Name for `veridical.datasets.load`; None for data that are drawn.
    n_attributes, n_sample, n_cases, n_classes, duplicates : int
        The columns of the table.
    c45, nb : tuple of float
        Accuracy of each learner with `n_sample` training samples.
    """

    title: str
    file: str | None
    n_attributes: int
    n_sample: int
    n_cases: int
    n_classes: int
    duplicates: int
    c45: tuple[float, float]
    nb: tuple[float, float]

    def accuracy(self, learner: str) -> tuple[float, float]:
        """Return the published accuracy of a learner, and the error of the mean."""
        return {"c45": self.c45, "nb": self.nb}[learner]


#: Data sets by the names that the study uses, in the order of the table.
TABLE_1 = {
    "breast": Table1Row(
        "Breast cancer", "breast_cancer_wisconsin", 10, 50, 699, 2, 8,
        (91.37, 0.10), (94.22, 0.10),
    ),
    "chess": Table1Row(
        "Chess", "kr_vs_kp", 36, 900, 3196, 2, 0, (98.19, 0.03), (86.80, 0.07)
    ),
    "hypothyroid": Table1Row(
        "Hypothyroid", "hypothyroid", 25, 400, 3163, 2, 77,
        (98.52, 0.03), (97.63, 0.02),
    ),
    "mushroom": Table1Row(
        "Mushroom", "mushroom", 22, 800, 8124, 2, 0, (99.36, 0.02), (94.54, 0.03)
    ),
    "soybean": Table1Row(
        "Soybean large", "soybean_large", 35, 100, 683, 19, 52,
        (70.49, 0.22), (79.76, 0.14),
    ),
    "vehicle": Table1Row(
        "Vehicle", "vehicle", 18, 100, 846, 4, 0, (60.11, 0.16), (46.80, 0.16)
    ),
    "rand": Table1Row(
        "Rand", None, 20, 100, 3000, 2, 9, (49.96, 0.04), (49.90, 0.04)
    ),
}  # fmt: skip


# -- our results ---------------------------------------------------------------------


def spread(values: NDArray[np.float64]) -> Interval:
    """Return the standard deviation of runs, with its 95 % interval if normal."""
    n = len(values)
    sd = float(np.std(values, ddof=1))
    tail = (1 - 0.95) / 2
    low, high = (
        sd * float(np.sqrt((n - 1) / stats.chi2.ppf(q, n - 1)))
        for q in (1 - tail, tail)
    )
    return Interval(sd, low, high)


def resample_spreads(
    blocks: Sequence[NDArray[np.float64]],
    statistic: Callable[[list[NDArray[np.float64]]], NDArray[np.float64]],
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
    rng = np.random.default_rng(0)
    ours = statistic([np.std(block, axis=0, ddof=1)[None] for block in blocks])
    drawn = []
    for block in blocks:
        rows = rng.integers(len(block), size=(_RESAMPLES, len(block)))
        drawn.append(np.std(block[rows], axis=1, ddof=1))
    low, high = np.percentile(statistic(drawn), (2.5, 97.5))
    return Interval(float(ours[0]), float(low), float(high))


@dataclass(frozen=True, eq=False)
class AccuracyRuns:
    """The accuracies of the cells, in per cent, by data set, learner and method.

    Parameters
    ----------
    cells : mapping of (data, learner, method, setting) to Series
        Accuracies by run.
    facts : mapping of data to Series
        Counts of the data.
    """

    cells: dict[tuple[str, str, str, int], pd.Series]
    facts: dict[str, pd.Series]

    @classmethod
    def from_cells(cls, frame: pd.DataFrame) -> AccuracyRuns:
        """Sort the cells of a store; failed cells are left out."""
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
        """Return the data sets with results, in the order of the paper."""
        found = {key[0] for key in self.cells}
        return [name for name in TABLE_1 if name in found]

    def pairs(self) -> list[tuple[str, str]]:
        """Return all pairs of data set and learner."""
        return [(data, learner) for data in self.data() for learner in LEARNER_TITLES]

    def settings(self, *methods: str) -> list[int]:
        """Return the settings of methods, numbers of folds before leave-k-out."""
        found = {key[3] for key in self.cells if key[2] in methods}
        return sorted(found, key=lambda k: (k < 0, k))

    def get(
        self, data: str, learner: str, method: str, setting: int
    ) -> NDArray[np.float64] | None:
        """Return the accuracies of all runs; None where there are none."""
        found = self.cells.get((data, learner, method, setting))
        return None if found is None else found.to_numpy()

    def truth(self, data: str, learner: str) -> Mean | None:
        """Return the true accuracy."""
        for key, values in self.cells.items():
            if key[:3] == (data, learner, "truth"):
                return Mean.from_values(values.to_numpy())
        return None

    def bias(self, data: str, learner: str, method: str, setting: int) -> Mean | None:
        """Return the mean estimate minus the true accuracy."""
        truth = self.truth(data, learner)
        found = self.get(data, learner, method, setting)
        return (
            None
            if truth is None or found is None
            else Mean.from_values(found).minus(truth)
        )

    def mean_bias(self, method: str, setting: int) -> Mean | None:
        """Average the bias over data sets and learners.

        Learners use the same samples, so they are averaged run by run first; data sets
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
                biases.append(
                    Mean.from_values(estimates).minus(Mean.from_values(truths))
                )
        return average_means(biases) if biases else None

    def _over_learners(
        self, data: str, method: str, setting: int
    ) -> NDArray[np.float64]:
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
        """Return stratified minus plain cross-validation, run by run."""
        pair = [
            self.cells.get((data, learner, kind, folds))
            for kind in ("stratified", "plain")
        ]
        if pair[0] is None or pair[1] is None:
            return None
        difference = (pair[0] - pair[1]).dropna().to_numpy()
        return Mean.from_values(difference) if len(difference) else None

    def runs(self, data: str, learner: str, which: Sequence[tuple[str, int]]) -> Any:
        """Return the accuracies of several estimates, for runs that have all of them.

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
        """Return the standard deviation of a single run."""
        found = self.get(data, learner, method, setting)
        return None if found is None or len(found) < 2 else float(np.std(found, ddof=1))


# -- table 1 -------------------------------------------------------------------------


def make_table_1(figures: AccuracyRuns) -> tuple[StudyTable, StudyTable]:
    """Compare our counts and true accuracies with the published ones."""
    counts, accuracies = [], []
    for data in figures.data():
        row, facts = TABLE_1[data], figures.facts.get(data)
        counts.append(
            (
                row.title,
                _ours_and_published(facts, row, "n_attributes"),
                f"{row.n_sample} of {_ours_and_published(facts, row, 'n_cases')}",
                _ours_and_published(facts, row, "n_classes"),
                _ours_and_published(facts, row, "duplicates"),
            )
        )
        of_learners = []
        for learner in LEARNER_TITLES:
            truth = figures.truth(data, learner)
            of_learners.append("–" if truth is None else _plus_minus(truth))
            of_learners.append("{:.2f} ± {:.2f}".format(*row.accuracy(learner)))
        accuracies.append((row.title, *of_learners))
    return (
        StudyTable(
            "Table 1: the true accuracies",
            ("Data set", "C4.5, %", "published, %", "Naive Bayes, %", "published, %"),
            tuple(accuracies),
            (
                "True accuracy: fit on a random sample, test on all other samples; "
                "mean over the holdouts ± standard deviation of that mean.",
            ),
        ),
        StudyTable(
            "Table 1: the data",
            ("Data set", "Attributes", "Sample of all rows", "Classes", "Duplicates"),
            tuple(counts),
            (
                "The numbers of the paper are in parentheses where they differ.",
                "A duplicate agrees with an earlier row in all features and the class.",
            ),
        ),
    )


def _ours_and_published(facts: pd.Series | None, row: Table1Row, name: str) -> str:
    published = getattr(row, name)
    if facts is None:
        return f"– ({published})"
    ours = int(facts[name])
    return str(ours) if ours == published else f"{ours} ({published})"


def _plus_minus(mean: Mean) -> str:
    if not np.isfinite(mean.error):
        return f"{mean.value:.2f}"
    return f"{mean.value:.2f} ± {mean.error:.2f}"


# -- pictures ------------------------------------------------------------------------

_CURVES = {
    "plain": "Cross-validation",
    "stratified": "Stratified cross-validation",
    "bootstrap": ".632 bootstrap",
}


def draw_pictures(figures: AccuracyRuns) -> Iterator[Picture]:
    """Draw bias and standard deviation of each estimate, per data set and learner."""
    folds = figures.settings("plain", "stratified")
    samples = figures.settings("bootstrap")
    sections = (
        ("folds (−k: k samples left out)", tuple(_label(k) for k in folds)),
        ("bootstrap samples", tuple(str(b) for b in samples)),
    )
    for data, learner in figures.pairs():
        truth = figures.truth(data, learner)
        if truth is None:
            continue
        group = TABLE_1[data].title
        _, low, high = truth.interval
        biases, sds = [], []
        for method, label in _CURVES.items():
            axis = [None] * len(folds) + samples if method == "bootstrap" else folds
            places, bias, sd = _curve(figures, (data, learner, method), axis, truth)
            if places:
                biases.append(Curve(label, places, bias))
                sds.append(Curve(label, places, sd))
        if not biases:
            continue
        yield Picture(
            group,
            f"{LEARNER_TITLES[learner]}: bias; true accuracy "
            f"{truth.words(False, 'holdout')}",
            "bias, points",
            sections,
            tuple(biases),
            Interval(0.0, low - truth.value, high - truth.value),
        )
        yield Picture(
            group,
            f"{LEARNER_TITLES[learner]}: standard deviation of a single run",
            "standard deviation, points",
            sections,
            tuple(sds),
        )


def _curve(
    figures: AccuracyRuns,
    which: tuple[str, str, str],
    axis: Sequence[int | None],
    truth: Mean,
) -> tuple[tuple[int, ...], tuple[Interval, ...], tuple[Interval, ...]]:
    """Return places on the axis, biases and standard deviations of a curve."""
    places, biases, sds = [], [], []
    for place, setting in enumerate(axis):
        found = None if setting is None else figures.get(*which, setting)
        if found is None or len(found) < 2:
            continue
        places.append(place)
        mean = Mean.from_values(found).interval
        biases.append(Interval(*(value - truth.value for value in mean)))
        sds.append(spread(found))
    return tuple(places), tuple(biases), tuple(sds)


def _label(folds: int) -> str:
    return format_number(folds, 0)

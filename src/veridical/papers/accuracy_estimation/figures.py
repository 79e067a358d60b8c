"""What the accuracy paper's findings are made of: means, spreads and their intervals.

All figures are in per cent, or points of it. A bias is the mean estimate minus the true
accuracy; both are means over independent samples, so their variances add up.
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
    average,
    format_number,
)

_RESAMPLES = 1000

#: What the learners are called.
TITLES = {"c45": "C4.5", "nb": "Naive Bayes"}


@dataclass(frozen=True)
class Published:
    """A row of table 1; accuracies in per cent, as mean and its standard deviation.

    Parameters
    ----------
    title : str
        The name in the table.
    file : str or None
        What `veridical.datasets.load` knows it by; None for what is drawn here.
    n_attributes, n_sample, n_cases, n_classes, duplicates : int
        The columns of the table.
    c45, nb : tuple of float
        Accuracy of each learner after `n_sample` cases.
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
        """Published accuracy of a learner, and the standard deviation of the mean."""
        return {"c45": self.c45, "nb": self.nb}[learner]


#: Data sets by the names that the study uses, in the order of the table.
TABLE_1 = {
    "breast": Published(
        "Breast cancer", "breast_cancer_wisconsin", 10, 50, 699, 2, 8,
        (91.37, 0.10), (94.22, 0.10),
    ),
    "chess": Published(
        "Chess", "kr_vs_kp", 36, 900, 3196, 2, 0, (98.19, 0.03), (86.80, 0.07)
    ),
    "hypothyroid": Published(
        "Hypothyroid", "hypothyroid", 25, 400, 3163, 2, 77,
        (98.52, 0.03), (97.63, 0.02),
    ),
    "mushroom": Published(
        "Mushroom", "mushroom", 22, 800, 8124, 2, 0, (99.36, 0.02), (94.54, 0.03)
    ),
    "soybean": Published(
        "Soybean large", "soybean_large", 35, 100, 683, 19, 52,
        (70.49, 0.22), (79.76, 0.14),
    ),
    "vehicle": Published(
        "Vehicle", "vehicle", 18, 100, 846, 4, 0, (60.11, 0.16), (46.80, 0.16)
    ),
    "rand": Published(
        "Rand", None, 20, 100, 3000, 2, 9, (49.96, 0.04), (49.90, 0.04)
    ),
}  # fmt: skip


# -- ours ----------------------------------------------------------------------------


def spread(values: NDArray[np.float64]) -> Interval:
    """Standard deviation of single runs, with its 95 % interval for normal values."""
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
    ) -> NDArray[np.float64] | None:
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


# -- table 1 -------------------------------------------------------------------------


def make_table_1(figures: Figures) -> tuple[StudyTable, StudyTable]:
    """Put our counts, and our true accuracies, beside the published ones."""
    counts, accuracies = [], []
    for data in figures.data():
        row, facts = TABLE_1[data], figures.facts.get(data)
        counts.append(
            (
                row.title,
                _beside(facts, row, "n_attributes"),
                f"{row.n_sample} of {_beside(facts, row, 'n_cases')}",
                _beside(facts, row, "n_classes"),
                _beside(facts, row, "duplicates"),
            )
        )
        of_learners = []
        for learner in TITLES:
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
                "True accuracy: learn from a random sample, test on all other cases; "
                "mean over the holdouts ± standard deviation of that mean.",
            ),
        ),
        StudyTable(
            "Table 1: the data",
            ("Data set", "Attributes", "Sample of all cases", "Classes", "Duplicates"),
            tuple(counts),
            (
                "In parentheses stands what the paper has instead.",
                "A duplicate agrees with an earlier case in all columns and the class.",
            ),
        ),
    )


def _beside(facts: pd.Series | None, row: Published, name: str) -> str:
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


def draw_pictures(figures: Figures) -> Iterator[Picture]:
    """Bias and standard deviation of each estimate, per data set and learner."""
    folds = figures.settings("plain", "stratified")
    samples = figures.settings("bootstrap")
    sections = (
        ("folds (−k: k cases left out)", tuple(_label(k) for k in folds)),
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
            f"{TITLES[learner]}: bias; true accuracy {truth.words(False, 'holdout')}",
            "bias, points",
            sections,
            tuple(biases),
            Interval(0.0, low - truth.value, high - truth.value),
        )
        yield Picture(
            group,
            f"{TITLES[learner]}: standard deviation of a single run",
            "standard deviation, points",
            sections,
            tuple(sds),
        )


def _curve(
    figures: Figures,
    which: tuple[str, str, str],
    axis: Sequence[int | None],
    truth: Mean,
) -> tuple[tuple[int, ...], tuple[Interval, ...], tuple[Interval, ...]]:
    """Where on the axis a curve has points, their biases and standard deviations."""
    places, biases, sds = [], [], []
    for place, setting in enumerate(axis):
        found = None if setting is None else figures.get(*which, setting)
        if found is None or len(found) < 2:
            continue
        places.append(place)
        mean = Mean.of(found).interval
        biases.append(Interval(*(value - truth.value for value in mean)))
        sds.append(spread(found))
    return tuple(places), tuple(biases), tuple(sds)


def _label(folds: int) -> str:
    return format_number(folds, 0)

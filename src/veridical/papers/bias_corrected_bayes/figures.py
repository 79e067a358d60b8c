"""Published numbers of the paper on bias from feature selection, and our results.

From the authors' slides *Avoiding Bias from Feature Selection*; the error rates are
those that the printed calibration table implies.

References
----------
.. [1] L. Li, J. Zhang and R. M. Neal, "A method for avoiding bias from feature
   selection with application to naive Bayes classification models", Bayesian Analysis
   3(1), 2008, 171-196.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical.experiments import (
    Curve,
    Interval,
    Mean,
    Picture,
    StudyTable,
    format_interval,
)

#: Numbers of features retained of 10000.
KS = (1, 10, 100, 1000)

#: Absolute correlation of the last feature retained.
CUT_OFFS = {1: 0.36, 10: 0.27, 100: 0.21, 1000: 0.13}

#: The calibration table for 1000 features: samples, mean probability, share of ones.
TABLE: dict[bool, tuple[tuple[int, float, float], ...]] = {
    True: (
        (774, 0.018, 0.027),
        (97, 0.143, 0.165),
        (63, 0.243, 0.302),
        (48, 0.346, 0.438),
        (45, 0.446, 0.600),
        (44, 0.547, 0.614),
        (53, 0.647, 0.698),
        (81, 0.755, 0.815),
        (124, 0.854, 0.863),
        (671, 0.977, 0.982),
    ),
    False: (
        (954, 0.004, 0.066),
        (28, 0.149, 0.500),
        (13, 0.248, 0.846),
        (17, 0.349, 0.412),
        (14, 0.449, 0.786),
        (16, 0.546, 0.375),
        (16, 0.667, 0.812),
        (22, 0.751, 0.636),
        (25, 0.865, 0.560),
        (895, 0.995, 0.946),
    ),
}

#: Error rate and expected error rate that the table implies.
IMPLIED = {True: (0.0905, 0.0859), False: (0.0932, 0.0247)}

#: Time by number of features; the unit is not printed, presumably seconds.
TIMES: dict[bool, dict[int, float]] = {
    True: {1: 12.72, 10: 29.55, 100: 204.54, 1000: 2076.21},
    False: {1: 12.66, 10: 28.80, 100: 203.60, 1000: 2065.73, 10000: 20627.71},
}

MODEL_NAMES = {True: "corrected", False: "uncorrected"}
#: Bins of predicted probabilities in the calibration curves.
_N_BINS = 10
_COLON_MODELS = ("corrected", "uncorrected", "gaussian", "gaussian-un")


@dataclass(frozen=True, eq=False)
class ModelCells:
    """Finished cells of both experiments.

    Parameters
    ----------
    simulation, colon : DataFrame
        Cells, sorted by set.
    seconds : Series
        Computing times, by the index of the cells.
    """

    simulation: pd.DataFrame
    colon: pd.DataFrame
    seconds: pd.Series

    @classmethod
    def from_cells(cls, frame: pd.DataFrame) -> ModelCells:
        """Sort the cells of a store; failed cells are left out."""
        took = frame.attrs.get("seconds")
        seconds = pd.Series(
            took if took is not None else np.full(len(frame), np.nan),
            index=frame.index,
            dtype=np.float64,
        )
        good = frame[frame["status"] == "ok"].sort_values("set", kind="stable")
        learned = good[good["model"] != "data"]
        return cls(
            learned[learned["experiment"] == "simulation"],
            learned[learned["experiment"] == "colon"],
            seconds,
        )

    def cells(self, k: int, correct: bool) -> pd.DataFrame:
        """Return the cells of the simulation with k features, indexed by data set."""
        return self._select(k, correct).set_index("set", drop=False)

    def _select(self, k: int, correct: bool) -> pd.DataFrame:
        cells = self.simulation
        return cells[
            (cells["n_features"] == k) & (cells["model"] == MODEL_NAMES[correct])
        ]

    def get(self, k: int, correct: bool, what: str) -> NDArray[np.float64]:
        """Return one value of every data set."""
        cells = self.cells(k, correct)
        return cells[what].to_numpy(dtype=np.float64) if len(cells) else np.empty(0)

    def features(self) -> list[int]:
        """Return the numbers of retained features."""
        with_both = self.simulation[self.simulation["model"] == "corrected"]
        return sorted(int(k) for k in with_both["n_features"].unique())

    def bins(self, k: int, correct: bool) -> NDArray[np.float64]:
        """Return counts, summed probabilities and ones, of shape (n_sets, 3, 10)."""
        cells = self.cells(k, correct)
        return np.stack(
            [
                cells[[f"bin_{what}_{i}" for i in range(_N_BINS)]].to_numpy(float)
                for what in "npy"
            ],
            axis=1,
        )

    def time(self, k: int, correct: bool) -> float | None:
        """Return the median time to fit and predict, in seconds."""
        times = self.seconds.loc[self._select(k, correct).index].dropna()
        return float(times.median()) if len(times) else None


def mean_interval(values: NDArray[np.float64]) -> Interval:
    """Return a mean with its 95 % interval."""
    return Mean.from_values(values).interval


def words(values: NDArray[np.float64], digits: int = 4) -> str:
    """Write a mean with its interval."""
    return format_interval(*mean_interval(values), digits)


# -- tables --------------------------------------------------------------------------


def make_calibration(figures: ModelCells, k: int) -> StudyTable:
    """Tabulate our calibration over all data sets beside that of the slides."""
    header = ["Probability"]
    for correct in (True, False):
        name = MODEL_NAMES[correct]
        header += [
            f"{name}: samples per set",
            "predicted",
            "actual",
            "published: samples",
            "predicted",
            "actual",
        ]
    sums = {c: figures.bins(k, c).sum(axis=0) for c in (True, False)}
    n_sets = len(figures.cells(k, True))
    rows = []
    for i in range(_N_BINS):
        row = [f"{i / 10:.1f} to {(i + 1) / 10:.1f}"]
        for correct in (True, False):
            n, p, y = sums[correct][:, i]
            row.append(f"{n / n_sets:.1f}")
            row += [f"{p / n:.3f}", f"{y / n:.3f}"] if n else ["–", "–"]
            n_published, predicted, actual = TABLE[correct][i]
            row += [f"{n_published}", f"{predicted:.3f}", f"{actual:.3f}"]
        rows.append(tuple(row))
    notes = (
        f"Samples of {n_sets} simulated data sets together; the published columns are "
        "of one data set.",
        "An interval includes its upper bound; the first one also 0.",
    )
    title = f"Calibration with {k} features of 10000"
    return StudyTable(title, tuple(header), tuple(rows), notes)


def make_measures(figures: ModelCells) -> StudyTable:
    """Tabulate error rates, scores and α by number of features."""
    header = (
        "Features, model",
        "Cut-off (published)",
        "Error rate",
        "Expected error rate",
        "Minus log probability",
        "Squared error",
        "α, geometric mean",
        "95 % of its posterior",
    )
    rows = []
    for k in figures.features():
        for correct in (True, False):
            cells = figures.cells(k, correct)
            low, high = (
                np.exp(np.log(cells[f"alpha_{end}"].astype(float)).mean())
                for end in ("low", "high")
            )
            rows.append(
                (
                    f"{k}, {MODEL_NAMES[correct]}",
                    f"{cells['gamma'].mean():.3f} ({CUT_OFFS.get(k, '–')})",
                    *(
                        words(figures.get(k, correct, what))
                        for what in ("error", "expected", "amlp", "mse")
                    ),
                    f"{np.exp(np.log(figures.get(k, correct, 'alpha')).mean()):.0f}",
                    f"{low:.0f} to {high:.0f}",
                )
            )
    notes = (
        "Means over simulated data sets with 95 % t intervals; log probability in "
        "nats. The data were drawn with α = 300.",
        "The posterior's bounds are geometric means over the data sets.",
    )
    return StudyTable("The simulation", header, tuple(rows), notes)


def make_times(figures: ModelCells) -> StudyTable | None:
    """Tabulate our times beside the published ones."""
    ks = [*figures.features(), *(k for k in TIMES[False] if k not in TIMES[True])]
    rows = []
    for k in ks:
        row = [str(k)]
        for correct in (False, True):
            ours, published = figures.time(k, correct), TIMES[correct].get(k)
            row.append("–" if ours is None else f"{ours:.3f}")
            row.append("–" if published is None else f"{published:.2f}")
            both = ours is not None and published is not None and ours > 0
            row.append(f"{(published or 0) / (ours or 1):.0f}" if both else "–")
        rows.append(tuple(row))
    if all(row[1] == "–" for row in rows):
        return None
    header = (
        "Features",
        "uncorrected, s",
        "published",
        "times faster",
        "corrected, s",
        "published",
        "times faster",
    )
    notes = (
        "Median time of a cell here: fit, predict 2000 samples and measure. The unit "
        "of the published times is not printed; presumably seconds, on a machine of "
        "2007.",
    )
    return StudyTable("Time", header, tuple(rows), notes)


def make_colon(figures: ModelCells) -> StudyTable | None:
    """Tabulate means over the subsets of genes for all models."""
    if figures.colon.empty:
        return None
    found = set(figures.colon["model"])
    models = [model for model in _COLON_MODELS if model in found]
    header = (
        "Model",
        "Error rate",
        "Expected error rate",
        "Minus log probability",
        "Squared error",
        "α",
        "Subsets",
    )
    rows = []
    for model in models:
        cells = figures.colon[figures.colon["model"] == model]
        rows.append(
            (
                model,
                *(
                    words(cells[what].to_numpy(float), 3)
                    for what in ("error", "expected", "amlp", "mse")
                ),
                f"{np.exp(np.log(cells['alpha'].astype(float)).mean()):.1f}",
                str(len(cells)),
            )
        )
    notes = (
        "Leave-one-out over 62 samples, 5 of 200 genes retained each time, genes cut "
        "at the median of the other 61. Means over disjoint random subsets of genes "
        "with 95 % t intervals, which are for these 62 samples and say nothing of "
        "others.",
        "gaussian: log-intensities, not cut; gaussian-un: the same, not corrected.",
    )
    return StudyTable("The colon data", header, tuple(rows), notes)


# -- pictures ------------------------------------------------------------------------


def draw_pictures(figures: ModelCells) -> Iterator[Picture]:
    """Draw error rates and scores over the number of features."""
    ks = figures.features()
    if not ks:
        return
    sections = (("features retained", tuple(map(str, ks))),)
    places = tuple(range(len(ks)))

    def curve(label: str, correct: bool, what: str, scale: float) -> Curve:
        values = [mean_interval(scale * figures.get(k, correct, what)) for k in ks]
        return Curve(label, places, tuple(values))

    yield Picture(
        "Error rates in the simulation",
        "What the models expect, and what happens",
        "error rate, %",
        sections,
        (
            curve("actual", True, "error", 100),
            curve("expected, corrected", True, "expected", 100),
            curve("expected, uncorrected", False, "expected", 100),
        ),
    )
    for what, title, unit in (
        ("amlp", "Average minus log probability", "nats"),
        ("mse", "Average squared error", "squared error"),
    ):
        yield Picture(
            "Scores in the simulation",
            title,
            unit,
            sections,
            tuple(curve(MODEL_NAMES[c], c, what, 1.0) for c in (True, False)),
        )
    yield Picture(
        "The posterior of α",
        "log10 α: geometric posterior mean; the data were drawn with 2.48",
        "log10 α",
        sections,
        tuple(
            Curve(
                MODEL_NAMES[c],
                places,
                tuple(mean_interval(np.log10(figures.get(k, c, "alpha"))) for k in ks),
            )
            for c in (True, False)
        ),
    )

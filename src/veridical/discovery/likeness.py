"""What the features look like, and the rate that was measured where they look alike.

``rates.csv`` was made by ``benchmarks/truth/discoveries.py``: data sets of many
designs, in which it is known which claims are false. No design is exactly the user's,
so the range over the nearest ones is given.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.numbers import percent
from veridical._core.table import Table
from veridical.discovery.records import MeasuredRate

#: Features that are looked at, at most; they are spread over the table.
_MOST_FEATURES = 200
#: A median excess kurtosis above it means heavy tails; normal features have 0.
_HEAVY = 2.0
#: Features are correlated if the largest correlation of the median feature is above
#: this, and this many times what independent features have by chance.
_CORRELATED, _BEYOND_CHANCE = 0.35, 1.25
#: A smaller class with a smaller share is rare.
_RARE = 0.25
#: Number of designs that a range is taken from, and the largest difference of
#: log10(p/n), and of log10(n), to a near one.
_N_NEAR, _NEAR = 4, 0.6
#: Names of scores in the table of measured rates.
_SCORES = {
    ("permutation", "AnovaF"): "anova",
    ("permutation", "InformationGain"): "gain",
    ("permutation", "ReliefF"): "relieff",
    ("dcrt", "lasso"): "dcrt",
    ("knockoffs", "lasso"): "knockoffs",
    ("pairs", "AnovaF"): "pairs",
    ("decoys", "AnovaF"): "decoys",
    ("permutation", "CoxScore"): "cox",
    ("pairs", "CoxScore"): "cox-pairs",
}
#: Nominal rates in the table.
_NOMINAL = {"fdr": 0.1, "fwer": 0.05, "pfer": 1.0}
#: Features that a Gaussian model describes, if their ranks are turned into scores.
_GAUSSIAN = ("independent", "blocks", "heavy")

#: Kinds of features in words.
FEATURE_KINDS = {
    "independent": "nearly uncorrelated numbers",
    "blocks": "correlated numbers",
    "heavy": "numbers with heavy tails",
    "binary": "binary features",
    "binary blocks": "correlated binary features",
    "categorical": "categorical features",
}
#: Kinds of targets in words.
TARGETS = {
    "classes": "",
    "numbers": " and an outcome of numbers",
    "survival": " and survival times",
}


@dataclass(frozen=True)
class Look:
    """Properties of a table that error rates depend on.

    Parameters
    ----------
    features : str
        A key of `FEATURE_KINDS`.
    n_samples, n_features : int
        Size.
    minority : float
        Share of the smallest class; 0.5 where there are no classes.
    n_categorical : int
        Number of categorical features.
    target : str
        Kind of the target: classes, numbers or survival.
    """

    features: str
    n_samples: int
    n_features: int
    minority: float
    n_categorical: int = 0
    target: str = "classes"

    @property
    def ratio(self) -> float:
        """log10 of features per sample."""
        return math.log10(max(self.n_features, 1) / max(self.n_samples, 1))

    @property
    def strains_neighbours(self) -> bool:
        """Whether neighbours are sensitive: categorical features, or a rare class."""
        has_categories = self.features == "categorical" or self.n_categorical > 0
        return has_categories or self.minority < _RARE

    def warnings(self, method: str, *, own_null: bool = False) -> list[str]:
        """Name the assumptions of a method that these data seem to violate.

        Parameters
        ----------
        method : str
            How claims are made.
        own_null : bool
            Whether the values of features are exchanged among fixed neighbours.
        """
        said = []
        if own_null and self.strains_neighbours:
            seen, other = "categorical features", "'information-gain'"
            if self.target == "survival":
                other = "'cox-score', with the categories encoded as numbers"
            if self.minority < _RARE:
                few = self.features != "categorical" and not self.n_categorical
                seen = "a rare class" if few else f"{seen} and a rare class"
                other = "'anova' or 'information-gain'" if few else other
            said.append(
                "Neighbours are found with the true values of a feature and kept when "
                f"its values are exchanged. With {seen}, more than twice the nominal "
                f"rate of false claims was measured. Use {other}."
            )
        if method in ("dcrt", "knockoffs") and self.features not in _GAUSSIAN:
            said.append(
                f"The data look like {FEATURE_KINDS[self.features]}, which a Gaussian "
                "model describes only roughly; the stated rate is not guaranteed for "
                "them. Claims of association need no model."
            )
        elif method in ("dcrt", "knockoffs") and self.n_categorical:
            said.append(
                f"{self.n_categorical} of the features are categorical: the numbers "
                "of their categories enter a Gaussian model, which describes them only "
                "roughly. Claims of association need no model."
            )
        if method in ("dcrt", "knockoffs") and self.ratio > 1:
            said.append(
                f"There are {self.n_features / self.n_samples:.0f} features per "
                "sample: the model of the features is estimated roughly, and "
                "conditional claims have little power."
            )
        if method == "decoys":
            said.append(
                "The threshold is a heuristic; the rate is not guaranteed. Use pfer "
                "for a bound that is proven."
            )
        return said


def look_at(table: Table) -> Look:
    """Look at the features of a table.

    Parameters
    ----------
    table : Table
        The samples.
    """
    n, p = table.n_samples, table.n_features
    step = max(1, p // _most_at_once(table, _MOST_FEATURES))
    columns = np.arange(0, p, step)
    values = table.take(np.arange(n), columns)
    values = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
    kind = "independent"
    if table.categorical[columns].mean() > 0.5:
        kind = "categorical"
    else:
        ranked = np.sort(values, axis=0)
        n_values = 1 + np.count_nonzero(np.diff(ranked, axis=0), axis=0)
        binary = float((n_values <= 2).mean()) > 0.5
        if _is_correlated(table, values):
            kind = "binary blocks" if binary else "blocks"
        elif binary:
            kind = "binary"
        elif _kurtosis(values) > _HEAVY:
            kind = "heavy"
    counts = [count for count in table.target.counts().values() if count]
    minority = min(counts) / sum(counts) if counts else 0.5
    return Look(kind, n, p, minority, int(table.categorical.sum()), table.kind)


def _most_at_once(table: Table, wanted: int) -> int:
    """Return how many features may be in memory, `wanted` at most."""
    if not table.is_lazy:
        return wanted
    return max(1, min(wanted, table.values.n_loadable // 4))


def _is_correlated(table: Table, values: FloatArray) -> bool:
    """Compare the largest correlation of features with that of independent ones."""
    n, p = table.n_samples, table.n_features
    if p < 2:
        return False
    own = _standardise(values)
    largest = np.zeros(own.shape[1])
    step = max(1, p // _most_at_once(table, _MOST_FEATURES))
    width = _most_at_once(table, 2000)
    for lo in range(0, p, width):
        part = np.arange(lo, min(lo + width, p))
        others = table.take(np.arange(n), part)
        size = np.abs(own.T @ _standardise(others)) / n
        for i, j in enumerate(range(0, p, step)):
            if lo <= j < lo + part.size:
                size[i, j - lo] = 0.0
        largest = np.maximum(largest, size.max(axis=1))
    chance = math.sqrt(2 * math.log(max(p, 2)) / n)
    return bool(np.median(largest) > max(_CORRELATED, _BEYOND_CHANCE * chance))


def _standardise(values: FloatArray) -> FloatArray:
    values = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
    values = values - values.mean(axis=0)
    deviation = values.std(axis=0)
    return values / np.where(deviation > 0, deviation, 1.0)


def _kurtosis(values: FloatArray) -> float:
    """Return the median excess kurtosis."""
    return float(np.median((_standardise(values) ** 4).mean(axis=0)) - 3.0)


# -- the table of measured rates -------------------------------------------------------


@dataclass(frozen=True)
class RateRow:
    """The rate of a method in a design.

    Parameters
    ----------
    look : Look
        The design.
    outcome : str
        null, linear or xor.
    n_relevant : int
        Relevant features.
    method, rate : str
        Name of the method, and the rate that it controls.
    n_sets : int
        Data sets.
    error, deviation : float
        Mean error over the data sets, and its standard error.
    power : float
        Mean share of the true claims that were made; NaN without any.
    """

    look: Look
    outcome: str
    n_relevant: int
    method: str
    rate: str
    n_sets: int
    error: float
    deviation: float
    power: float

    @property
    def holds(self) -> bool:
        """Whether the assumptions of the method hold in this design."""
        if self.method == "decoys":
            return False
        if self.method == "relieff":
            return not self.look.strains_neighbours
        modelled = self.method in ("dcrt", "knockoffs")
        return not modelled or self.look.features in _GAUSSIAN

    @property
    def nominal(self) -> float:
        """The nominal rate."""
        return _NOMINAL[self.rate]


@cache
def rate_table() -> tuple[RateRow, ...]:
    """Read the table of measured rates that ships with the package."""
    path = files("veridical.discovery").joinpath("rates.csv")
    with path.open() as file:
        return tuple(_read_row(row) for row in csv.DictReader(file))


def _read_row(row: dict[str, Any]) -> RateRow:
    method, rate = row["method"].split()
    n, mean = float(row["n_sets"]), float(row["error"]) / float(row["n_sets"])
    variance = max(float(row["squared"]) / n - mean**2, 0.0)
    powered = float(row["n_powered"])
    return RateRow(
        Look(
            row["features"],
            int(row["n"]),
            int(row["p"]),
            float(row["minority"]),
            target=row["target"],
        ),
        row["outcome"],
        int(row["k"]),
        method,
        rate,
        int(n),
        mean,
        math.sqrt(variance / n),
        float(row["power"]) / powered if powered else math.nan,
    )


def find_rate(
    look: Look, method: str, score: str, rate: str, level: float
) -> MeasuredRate | None:
    """Find the rate that was measured in designs like these data.

    Parameters
    ----------
    look : Look
        The data.
    method, score : str
        How claims are made, and by which score.
    rate : str
        fdr, fwer or pfer.
    level : float
        Nominal rate that was asked for.

    Returns
    -------
    MeasuredRate or None
        None where nothing was measured for this method and rate.
    """
    name = _SCORES.get((method, score))
    rows = [row for row in rate_table() if (row.method, row.rate) == (name, rate)]
    kinds = (look.features, look.target)
    alike = [row for row in rows if (row.look.features, row.look.target) == kinds]
    if not alike:
        return None
    rare = look.minority < _RARE
    alike.sort(
        key=lambda row: (
            abs(row.look.ratio - look.ratio)
            + 0.3 * ((row.look.minority < _RARE) != rare)
        )
    )
    near = alike[:_N_NEAR]
    errors = [row.error for row in near]
    nominal = _NOMINAL[rate]
    samples = math.log10(near[0].look.n_samples / look.n_samples)
    close = abs(near[0].look.ratio - look.ratio) <= _NEAR >= abs(samples)
    sizes = sorted({(row.look.n_samples, row.look.n_features) for row in near})
    said = ", ".join(f"{n} samples × {p} features" for n, p in sizes)
    return MeasuredRate(
        nominal=nominal,
        rate=float(np.median(errors)),
        low=min(errors),
        high=max(errors),
        n_designs=len(near),
        n_sets=min(row.n_sets for row in near),
        design=f"{FEATURE_KINDS[look.features]}{TARGETS[look.target]}, {said}",
        holds=all(row.holds for row in near),
        near=close and 0.5 <= level / nominal <= 2.0,
    )


def write_rate(measured: MeasuredRate, rate: str) -> str:
    """Write a measured rate as a sentence."""
    if rate == "pfer":
        shown = f"{measured.rate:.2f} (range {measured.low:.2f} to {measured.high:.2f})"
        nominal = f"{measured.nominal:g}"
    else:
        spread = f"{percent(measured.low)} to {percent(measured.high)}"
        shown = f"{percent(measured.rate)} (range {spread})"
        nominal = percent(measured.nominal, 0)
    return (
        f"Measured in {measured.n_designs} simulated designs ({measured.design}; at "
        f"least {measured.n_sets} data sets each) at a nominal rate of {nominal}: "
        f"the measured rate was {shown}."
    )

"""Measure the size of calibrated tests: ``compare(..., calibrated=20)``.

    python -m benchmarks.truth.calibrated [--jobs 1] [--minutes 20]
    python -m benchmarks.truth.calibrated --table

Data sets have two blocks of features with the same distribution given the outcome, and
each selector may select from one block only, so that neither is better. Counted is how
often the calibrated test rejects at 5 %; its null distribution is made from the data
set itself, as a user's is. The first command writes
``benchmarks/truth/calibrated.csv``, a design at a time; designs that are in the table
already are left out. The second prints the table of docs/which-test.md.
"""

from __future__ import annotations

import argparse
import csv
import warnings
import zlib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

import veridical
from benchmarks.truth.designs import Row, add_rows, measure_all
from veridical._core.arrays import FloatArray
from veridical.datasets.synthetic_targets import censoring_rate
from veridical.kernels.statistics import wilson_bounds
from veridical.selection import Correlation, CoxScore

TABLE = Path(__file__).with_name("calibrated.csv")
#: Data sets of a design, and pairs of data sets in each null distribution.
N_SETS, N_PAIRS = 120, 20
#: Features of a block, those that depend on the outcome, and those selected.
N_COLUMNS, N_RELEVANT, N_SELECTED = 20, 5, 5
#: Standard errors on either side of a measured share.
_NORMAL = 1.96


@dataclass(frozen=True)
class Design:
    """An outcome, its strength, and the resampling."""

    target: str  #: "numbers" or "survival"
    n_samples: int
    effect: float  #: of a relevant feature, in its own standard deviations
    tail_df: float = np.inf  #: of the outcome's t distribution, for numbers
    censored: float = 0.0  #: share of censored times
    group_size: int = 1  #: half of the variance of outcome and features is shared
    n_folds: int = 5
    method: str = "in"


COLUMNS = (*(one.name for one in fields(Design)), "n_simulations", "rejected")


def designs() -> list[Design]:
    """List the designs."""
    return [
        Design("numbers", 60, 0.0),
        Design("numbers", 60, 0.7),
        Design("numbers", 60, 0.7, tail_df=3.0),
        Design("numbers", 120, 0.4),
        Design("numbers", 120, 0.4, group_size=4),
        Design("survival", 80, 0.0, censored=0.3),
        Design("survival", 80, 0.7, censored=0.3),
        Design("survival", 80, 0.7, censored=0.7),
        Design("survival", 120, 0.4, censored=0.3, group_size=4),
        Design("survival", 80, 0.7, censored=0.3, method="out"),
    ]


class _InBlock:
    """Makes a selector prefer one half of the features to the other."""

    _block = 0
    #: Parameters that hold indices keep `compare` from changing the order of features.
    categorical_features = ()

    def _rank_by(self, relevance: Any, scores: FloatArray) -> Any:
        in_half = np.arange(scores.shape[-1]) // (scores.shape[-1] // 2) == self._block
        found = np.where(in_half, scores, -1.0)
        return super()._rank_by(relevance, found)  # type: ignore[misc]


class CorrelationInBlock(_InBlock, Correlation):
    """Select by correlation from the first half of the features."""


class CorrelationInSecondBlock(CorrelationInBlock):
    """Select from the second half."""

    _block = 1


class CoxInBlock(_InBlock, CoxScore):
    """Select by the score test from the first half of the features."""


class CoxInSecondBlock(CoxInBlock):
    """Select from the second half."""

    _block = 1


SELECTORS: dict[str, tuple[type[Any], type[Any]]] = {
    "numbers": (CorrelationInBlock, CorrelationInSecondBlock),
    "survival": (CoxInBlock, CoxInSecondBlock),
}


def draw(design: Design, rng: np.random.Generator) -> tuple[FloatArray, Any, Any]:
    """Draw the features of both blocks, the outcome and the groups."""
    n, m = design.n_samples, design.group_size
    groups = np.arange(n) // m

    def normal(*shape: int) -> FloatArray:
        """Draw standard normals, correlated within groups."""
        own = rng.standard_normal((n, *shape))
        if m == 1:
            return own
        shared = rng.standard_normal((int(groups[-1]) + 1, *shape))[groups]
        return (own + shared) / np.sqrt(2)

    z = normal()
    y: Any = z
    if np.isfinite(design.tail_df):
        y = z / np.sqrt(rng.chisquare(design.tail_df, n) / design.tail_df)
    effects = np.tile(np.arange(N_COLUMNS) < N_RELEVANT, 2) * design.effect
    X = normal(2 * N_COLUMNS) + effects * np.clip(y, -6, 6)[:, None]
    if design.target == "survival":
        hazard = rng.exponential(size=n) / np.exp(z)
        limit = rng.exponential(size=n) / censoring_rate(1.0, design.censored)
        y = np.empty(n, dtype=[("event", bool), ("time", float)])
        y["event"], y["time"] = hazard <= limit, np.minimum(hazard, limit)
    return X, y, None if m == 1 else groups


def measure_design(design: Design) -> list[Row]:
    """Count the rejections in one design."""
    warnings.simplefilter("ignore")
    selectors = [one(N_SELECTED) for one in SELECTORS[design.target]]
    rejected = 0
    for run in range(N_SETS):
        rng = np.random.default_rng([zlib.crc32(repr(design).encode()), run])
        X, y, groups = draw(design, rng)
        found = veridical.compare(
            selectors,
            X,
            y,
            groups=groups,
            n_features_to_select=N_SELECTED,
            cv=design.n_folds,
            methods=(design.method,),
            calibrated=N_PAIRS,
            random_state=run,
            progress=False,
        )
        rejected += found.verdicts[design.method].test.pvalue <= 0.05
    return [{**asdict(design), "n_simulations": N_SETS, "rejected": int(rejected)}]


def print_table() -> None:
    """Print the sizes with their errors of measurement."""
    print("| target | samples | effect | rejected at 5 % |")
    print("|---|---|---|---|")
    with TABLE.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            n, k = int(row["n_simulations"]), int(row["rejected"])
            low, high = wilson_bounds(k / n, n, _NORMAL)
            what = row["target"]
            what += ", heavy tails" if row["tail_df"] != "inf" else ""
            if row["target"] == "survival":
                what += f", {float(row['censored']):.0%} censored"
            size = row["group_size"]
            what += f", groups of {size}" if size != "1" else ""
            print(
                f"| {what}, {row['n_folds']} folds, {row['method'].upper()} | "
                f"{row['n_samples']} | {row['effect']} | {100 * k / n:.1f} % "
                f"({100 * low:.1f} to {100 * high:.1f}) |"
            )


def main() -> None:
    """Measure what is not in the table yet, or print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.table:
        print_table()
        return
    done = set()
    names = [one.name for one in fields(Design)]
    if TABLE.exists():
        with TABLE.open(newline="", encoding="utf-8") as file:
            done = {tuple(row[name] for name in names) for row in csv.DictReader(file)}
    todo = [
        (one,)
        for one in designs()
        if tuple(str(value) for value in asdict(one).values()) not in done
    ]
    measure_all(
        todo,
        measure_design,
        lambda rows: add_rows(TABLE, COLUMNS, rows),
        jobs=asked.jobs,
        minutes=asked.minutes,
    )


if __name__ == "__main__":
    main()

"""Measured sizes of the tests: how often each rejects where neither side is better.

``sizes.csv`` was made by ``benchmarks/truth/sizes.py`` on the exact null of
`veridical.comparison.null_designs`, in designs drawn at random. No design is exactly
the user's, and sizes differ between designs, so a range is given: that of the measured
designs which are nearest to the user's, each with the error of its measurement.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from veridical._core.text import listing
from veridical.comparison.calibration import measure_rate
from veridical.comparison.null_designs import NullDesign
from veridical.comparison.records import MeasuredSize
from veridical.evaluation import structured
from veridical.evaluation.situations import (
    HEAVY_TAILS,
    Situation,
    bracketing,
    claim_level,
    describe_designs,
    find_near,
    tails_of_student,
)
from veridical.evaluation.structured import StructuredRow, rate_of

#: Levels at which rejections were counted.
ALPHAS = (0.01, 0.05, 0.1)

#: Columns of ``sizes.csv``.
COLUMNS = (
    "kind",
    "test",
    "n_selectors",
    *(field.name for field in fields(NullDesign)),
    "accuracy",
    "n_simulations",
    *(f"rejected_{alpha:g}" for alpha in ALPHAS),
)


class SizeRow(NamedTuple):
    """How often one test rejected in one design, at each level of `ALPHAS`."""

    kind: str
    test: str
    n_selectors: int
    design: NullDesign
    accuracy: float
    n_simulations: int
    rejected: tuple[int, ...]

    @property
    def situation(self) -> Situation:
        """The design in the words of a comparison."""
        one = self.design
        return Situation(
            one.n_samples,
            one.n_columns,
            one.n_features_to_select,
            one.n_classes,
            one.minority,
            one.estimator,
            self.accuracy,
        )

    @property
    def tails(self) -> float:
        """How heavy the tails of the features are."""
        return tails_of_student(self.design.tail_df)

    def size(self, alpha: float) -> MeasuredSize:
        """Return how often it rejected at a level of `ALPHAS`."""
        words = self.design.describe(self.accuracy)
        if self.n_selectors > 2:
            words = f"{self.n_selectors} selectors, {words}"
        return measure_rate(
            self.rejected[ALPHAS.index(alpha)], self.n_simulations, alpha, words
        )


@cache
def size_table() -> tuple[SizeRow, ...]:
    """Read the table of measured sizes that ships with the package."""
    return read_sizes(files("veridical.comparison").joinpath("sizes.csv"))


def read_sizes(path: Path | Any) -> tuple[SizeRow, ...]:
    """Read a table of measured sizes."""
    with path.open("r") as file:
        return tuple(_row(record) for record in csv.DictReader(file))


def _row(record: dict[str, str]) -> SizeRow:
    kinds = {"int": int, "float": float}
    design = {
        field.name: kinds.get(str(field.type), str)(record[field.name])
        for field in fields(NullDesign)
    }
    return SizeRow(
        record["kind"],
        record["test"],
        int(record["n_selectors"]),
        NullDesign(**design),
        float(record["accuracy"]),
        int(record["n_simulations"]),
        tuple(int(record[f"rejected_{alpha:g}"]) for alpha in ALPHAS),
    )


def measured_size(
    test: str,
    method: str,
    shape: tuple[int, int] | None,
    situation: Situation,
    *,
    alpha: float,
    n_selectors: int = 2,
    tails: float = math.nan,
) -> MeasuredSize | None:
    """Return the range of the sizes that were measured in designs near this one.

    Parameters
    ----------
    test : str
        Its name in ``compare(test=...)``, or "friedman".
    method : str
        "in" or "out"; nothing was measured for others.
    shape : tuple of int or None
        Repeats and folds; None where the test sets are no folds, for which nothing was
        measured.
    situation : Situation
        Samples, features, classes, estimator and accuracy.
    alpha : float
        Nominal size.
    n_selectors : int, default=2
        Number of selectors compared; the nearest number is taken.
    tails : float, default=nan
        How heavy the tails of the features are, see `tail_weight`.

    Returns
    -------
    MeasuredSize or None
        The range over the nearest designs, with these splits or with fewer and with
        more folds. If none is near, or nothing was measured with such splits or at such
        a level, over all designs with the nearest splits at the nearest level. Where
        tails are heavier than `HEAVY_TAILS`, sizes differ too much for any design to be
        near, and the range is that of designs with such tails. None where the test was
        not measured.
    """
    rows = [
        row
        for row in size_table()
        if row.kind != "calibrated" and (row.test, row.design.method) == (test, method)
    ]
    if not rows or shape is None:
        return None
    fewest = min(abs(row.n_selectors - n_selectors) for row in rows)
    rows = [row for row in rows if abs(row.n_selectors - n_selectors) == fewest]
    level = min(ALPHAS, key=lambda one: abs(math.log(one / alpha)))
    shapes = bracketing({_shape(row) for row in rows}, shape)
    near = []
    heavy = [row for row in rows if row.tails > HEAVY_TAILS]
    if tails > HEAVY_TAILS:
        rows = heavy or rows
    elif shapes and math.isclose(level, alpha):
        near = find_near([row for row in rows if _shape(row) in shapes], situation)
    if near:
        return size_range(near, level)
    like = min({_shape(row) for row in rows}, key=lambda one: _distance(one, shape))
    rows = [row for row in rows if _shape(row) == like]
    return size_range(rows, level, alpha=alpha, near=False)


def _shape(row: SizeRow) -> tuple[int, int]:
    return row.design.n_repeats, row.design.n_folds


def _distance(one: tuple[int, int], other: tuple[int, int]) -> tuple[float, float]:
    """Return how far repeats and folds are; one cross-validation is not several."""
    steps = [abs(math.log(a / b)) for a, b in zip(one, other, strict=True)]
    return float((one[0] > 1) != (other[0] > 1)), sum(steps)


def size_range(
    rows: Sequence[SizeRow],
    level: float,
    *,
    alpha: float | None = None,
    near: bool = True,
) -> MeasuredSize:
    """Return the range of sizes over some designs, with the median as rate.

    `level` is one of `ALPHAS`; `alpha` is that of the comparison, if it is another.
    """
    sizes = [row.size(level) for row in rows]
    rates = [np.array(row.rejected) / row.n_simulations for row in rows]
    first = rows[0].design
    numbers = sorted({row.design.n_folds for row in rows})
    folds = f"{listing(map(str, numbers), 'or')} folds"
    if first.n_repeats > 1:
        folds = f"{first.n_repeats} x {folds}"
    designs = describe_designs([row.situation for row in rows])
    return MeasuredSize(
        nominal=level,
        rate=float(np.median([size.rate for size in sizes])),
        low=min(size.low for size in sizes),
        high=max(size.high for size in sizes),
        n_simulations=sum(size.n_simulations for size in sizes),
        design=f"{folds} under {first.method.upper()}, {designs}",
        n_designs=len(rows),
        near=near,
        claim_level=claim_level(rates, ALPHAS, alpha or level),
    )


def structured_size(
    rows: Sequence[StructuredRow], alpha: float, added: str = ""
) -> MeasuredSize | None:
    """Return the range of sizes over designs with groups or for other scores.

    None where there are no designs, or none was measured at the level `alpha`. `added`
    ends the description of the designs.
    """
    found = rate_of(rows, alpha) if alpha in structured.ALPHAS else None
    if found is None:
        return None
    rates = [np.array(row.rejected) / row.n_simulations for row in rows]
    return MeasuredSize(
        alpha,
        found.rate,
        found.low,
        found.high,
        found.n_simulations,
        f"{found.design}{added}",
        found.n_designs,
        claim_level=claim_level(rates, structured.ALPHAS, alpha),
    )

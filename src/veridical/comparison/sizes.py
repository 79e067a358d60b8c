"""The table of measured sizes: how often each test rejects in a null design.

``sizes.csv`` was made by ``benchmarks/sizes.py``, 2000 data sets per design, on the
exact null of `veridical.comparison.null_designs`.
"""

from __future__ import annotations

import csv
import math
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from veridical.comparison.calibration import measure_rate
from veridical.comparison.null_designs import describe
from veridical.comparison.records import MeasuredSize

#: Levels at which rejections were counted.
ALPHAS = (0.01, 0.05, 0.1)

#: Columns of ``sizes.csv``.
COLUMNS = (
    "kind",
    "test",
    "n_selectors",
    "method",
    "n_repeats",
    "n_folds",
    "n_samples",
    "estimator",
    "effect",
    "accuracy",
    "n_simulations",
    *(f"rejected_{alpha:g}" for alpha in ALPHAS),
)

#: The simulated estimator that is most similar to a named one; any other estimator is
#: compared with all three.
_LIKE = {"svm": "centroid", "logistic": "centroid", "nb": "nb", "1nn": "1nn"}


class SizeRow(NamedTuple):
    """The measured sizes of one test in one design."""

    kind: str
    test: str
    n_selectors: int
    method: str
    n_repeats: int
    n_folds: int
    n_samples: int
    estimator: str
    effect: float
    accuracy: float
    n_simulations: int
    rejected: tuple[int, ...]

    def size(self, alpha: float) -> MeasuredSize:
        """Return how often it rejected at a level of `ALPHAS`."""
        words = describe(
            self.n_repeats,
            self.n_folds,
            self.n_samples,
            self.estimator,
            self.accuracy,
            self.method,
        )
        if self.n_selectors > 2:
            words = f"{self.n_selectors} selectors, {words}"
        return measure_rate(
            self.rejected[ALPHAS.index(alpha)], self.n_simulations, alpha, words
        )


@cache
def size_table() -> tuple[SizeRow, ...]:
    """Read the table of measured sizes."""
    with files("veridical.comparison").joinpath("sizes.csv").open("r") as file:
        return tuple(_row(record) for record in csv.DictReader(file))


def _row(record: dict[str, str]) -> SizeRow:
    return SizeRow(
        record["kind"],
        record["test"],
        int(record["n_selectors"]),
        record["method"],
        int(record["n_repeats"]),
        int(record["n_folds"]),
        int(record["n_samples"]),
        record["estimator"],
        float(record["effect"]),
        float(record["accuracy"]),
        int(record["n_simulations"]),
        tuple(int(record[f"rejected_{alpha:g}"]) for alpha in ALPHAS),
    )


def measured_size(
    test: str,
    method: str,
    shape: tuple[int, int] | None,
    *,
    n_samples: int,
    estimator: str,
    accuracy: float,
    alpha: float,
    n_selectors: int = 2,
) -> MeasuredSize | None:
    """Look up the size that was measured in the design nearest to this one.

    Parameters
    ----------
    test : str
        Its name in ``compare(test=...)``, or "friedman".
    method : str
        "in" or "out"; nothing was measured for others.
    shape : tuple of int or None
        Repeats and folds, which must be those of the design; None where the test sets
        are no folds, for which nothing was measured.
    n_samples : int
        Number of samples; the design with the nearest number, by ratio, is taken.
    estimator : str
        Name of the estimator; designs with the most similar one are taken.
    accuracy : float
        Mean accuracy; of the designs left, the one with the nearest is taken.
    alpha : float
        Nominal size, one of `ALPHAS`.
    n_selectors : int, default=2
        Number of selectors compared; the nearest number is taken.

    Returns
    -------
    MeasuredSize or None
        None where nothing was measured for this test and shape.
    """
    if alpha not in ALPHAS:
        return None
    rows = [
        row
        for row in size_table()
        if row.kind != "calibrated"
        and (row.test, row.method) == (test, method)
        and (row.n_repeats, row.n_folds) == shape
    ]
    alike = [row for row in rows if row.estimator == _LIKE.get(estimator)]
    if not rows:
        return None

    def distance(row: SizeRow) -> tuple[float, float, float]:
        return (
            abs(row.n_selectors - n_selectors),
            abs(math.log(row.n_samples / n_samples)),
            abs(row.accuracy - accuracy),
        )

    return min(alike or rows, key=distance).size(alpha)

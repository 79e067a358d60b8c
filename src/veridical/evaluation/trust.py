"""Which interval is the default, and how often each kind has covered the truth.

``coverages.csv`` was made by ``benchmarks/truth/coverages.py``: in designs drawn at
random, how often 95 % intervals covered the accuracy of the model fitted on all samples
(of a holdout: on its training samples; of the optimism: its mean over data sets).
Beside an interval stands the range of the measured designs nearest to the user's.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from veridical._core.defaults import CONFIDENCE
from veridical._core.splits import Split, trains_on_the_rest
from veridical.evaluation.records import Coverage, Estimate
from veridical.evaluation.situations import Situation, describe_designs, find_near
from veridical.kernels.statistics import wilson_bounds

#: Splits; with fewer the corrected t interval is not the default.
_FEWEST_SPLITS = 3

#: Kinds of interval in the order of preference: the nested one where it was asked for,
#: then the one with the best coverage over all measured designs (docs/estimating.md).
_BEST_FIRST = ("nested", "corrected-t", "cluster-wilson", "wilson", "exact")

#: Name of the interval of OUT minus IN, whose truth is the mean over data sets.
OPTIMISM = "optimism"

#: Splits have as many folds as measured ones if the ratio is smaller than this.
_LIKE_FOLDS = 1.5

#: Holdouts that are like the twenty that were measured, which test a third: their
#: number, and the share of samples that each tests.
_FEWEST_HOLDOUTS, _MOST_HOLDOUTS = 13, 30
_SMALLEST_TEST, _LARGEST_TEST = 0.2, 0.45

#: Methods that were measured, as ``cv=`` takes them, and their names.
MEASURED = {
    "holdout": "one holdout",
    "5": "5 folds",
    "10": "10 folds",
    "10x10": "10 x 10 folds",
    "5x2": "5 x 2 folds",
    "loo": "leave-one-out",
    "subsampling": "20 random holdouts",
}

#: Data sets with an interval; with fewer, a design says too little.
_FEWEST_DATA_SETS = 40

#: Standard errors on either side of a measured share.
_NORMAL = 1.96

#: Columns of ``coverages.csv``.
COLUMNS = ("method", "kind", *Situation._fields, "n_simulations", "covered")


class CoverageRow(NamedTuple):
    """How often intervals of one kind covered the truth in one design."""

    method: str
    kind: str
    situation: Situation
    n_simulations: int
    covered: int


@cache
def coverage_table() -> tuple[CoverageRow, ...]:
    """Read the table of measured coverages that ships with the package.

    Designs in which there hardly ever is an interval are left out.
    """
    rows = read_coverages(files("veridical.evaluation").joinpath("coverages.csv"))
    return tuple(row for row in rows if row.n_simulations >= _FEWEST_DATA_SETS)


@cache
def _rows_by_method() -> dict[tuple[str | None, str], list[CoverageRow]]:
    """Return the rows of the table by method and kind of interval."""
    found: dict[tuple[str | None, str], list[CoverageRow]] = {}
    for row in coverage_table():
        found.setdefault((row.method, row.kind), []).append(row)
    return found


def read_coverages(path: Any) -> tuple[CoverageRow, ...]:
    """Read a table of measured coverages."""
    with path.open("r") as file:
        return tuple(_row(record) for record in csv.DictReader(file))


def _row(record: dict[str, str]) -> CoverageRow:
    where = Situation(
        int(record["n_samples"]),
        int(record["n_features"]),
        int(record["n_selected"]),
        int(record["n_classes"]),
        float(record["minority"]),
        record["estimator"],
        float(record["accuracy"]),
    )
    n, covered = int(record["n_simulations"]), int(record["covered"])
    return CoverageRow(record["method"], record["kind"], where, n, covered)


def coverage_of(
    splits: Sequence[Split], situation: Situation, confidence: float = CONFIDENCE
) -> dict[str, Coverage]:
    """Look up the coverages measured with such splits in the nearest designs.

    Parameters
    ----------
    splits : sequence of Split
        Training and test rows.
    situation : Situation
        The table, the estimator and its accuracy.
    confidence : float, default=0.95
        Confidence of the intervals; nothing was measured for another.

    Returns
    -------
    mapping of str to Coverage
        By kind of interval; without those that were not measured near.
    """
    found: dict[str, Coverage] = {}
    if not math.isclose(confidence, CONFIDENCE):
        return found
    name = _measured_method(splits)
    for kind in (*_BEST_FIRST, OPTIMISM):
        near = find_near(_rows_by_method().get((name, kind), ()), situation)
        if near:
            found[kind] = coverage_range(near)
    return found


def coverage_range(rows: Sequence[CoverageRow]) -> Coverage:
    """Return the range of coverages over some designs, with the error of measuring."""
    bounds = [
        wilson_bounds(row.covered / row.n_simulations, row.n_simulations, _NORMAL)
        for row in rows
    ]
    designs = describe_designs([row.situation for row in rows])
    n = min(row.n_simulations for row in rows)
    return Coverage(
        min(low for low, _ in bounds),
        max(high for _, high in bounds),
        f"{MEASURED[rows[0].method]}, {designs}; {len(rows)} designs, {n} data sets or "
        "more in each",
    )


def _measured_method(splits: Sequence[Split]) -> str | None:
    """Return the measured method whose splits are like these, if there is one.

    Splits that test every sample equally often, and train on all others, are folds,
    whatever made them. Where samples between training and test set are left out, as in
    purged folds, the samples depend on each other; nothing was measured for these.
    """
    if not trains_on_the_rest(splits):
        return None
    if len(splits) == 1:
        return "holdout"
    times = np.bincount(np.concatenate([split.test for split in splits]))
    if times.size < splits[0].n_rows or times.min() < times.max():
        return "subsampling" if _are_random_holdouts(splits) else None
    n_folds = len(splits) // times[0]
    if n_folds == splits[0].n_rows:
        return "loo"
    measured = {True: {2: "5x2", 10: "10x10"}, False: {5: "5", 10: "10"}}
    return next(
        (
            name
            for other, name in measured[bool(times[0] > 1)].items()
            if other / _LIKE_FOLDS < n_folds < other * _LIKE_FOLDS
        ),
        None,
    )


def _are_random_holdouts(splits: Sequence[Split]) -> bool:
    """Return whether splits are like twenty holdouts of a third of the samples."""
    sizes = [len(split.test) for split in splits]
    share = sizes[0] / splits[0].n_rows
    return (
        _FEWEST_HOLDOUTS <= len(splits) <= _MOST_HOLDOUTS
        and max(sizes) - min(sizes) <= 1
        and _SMALLEST_TEST <= share <= _LARGEST_TEST
        and all(len(np.unique(split.train)) == split.n_train for split in splits)
    )


def default_interval(estimate: Estimate) -> str | None:
    """Return the kind of interval whose measured coverage is best.

    ``Estimate.interval()`` returns this kind, and every display of an estimate shows it
    first. It was chosen when the estimate was made.

    Parameters
    ----------
    estimate : Estimate
        What `estimate` returned.

    Returns
    -------
    str or None
        A key of ``estimate.assumes``; None where no interval is valid. ``"nested"``
        only of `Estimate.with_nested`, because it takes many more fits; not
        ``"corrected-t"`` with fewer than three splits.
    """
    return next(iter(estimate.intervals), None)


def choose_interval(estimate: Estimate) -> str | None:
    """Choose the default kind of interval while an estimate is made."""
    offered = [kind for kind in _BEST_FIRST if kind in estimate.assumes]
    ready = [kind for kind in offered if _is_ready(estimate, kind)] or offered
    return ready[0] if ready else None


def _is_ready(estimate: Estimate, kind: str) -> bool:
    if kind == "nested":
        return estimate.nested is not None and bool(estimate.nested.ready)
    if kind == "corrected-t":
        return len(estimate.scores) >= _FEWEST_SPLITS
    return True

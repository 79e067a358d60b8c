"""Which interval is the default, and how often each kind has covered the truth.

``coverages.csv`` was made by ``benchmarks/truth/coverages.py``: in designs drawn at
random, how often 95 % intervals covered the accuracy of the model fitted on all samples
(of a holdout: on its training samples; of the optimism: its mean over data sets).
Beside an interval stands the range of the measured designs nearest to the user's, and a
claim rests only on intervals that cover often enough there.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from veridical._core.defaults import CONFIDENCE
from veridical._core.splits import Split, trains_on_the_rest
from veridical._core.text import listing
from veridical.evaluation.records import Coverage, Estimate
from veridical.evaluation.situations import (
    MOST_DESIGNS,
    Situation,
    bracketing,
    describe_designs,
    find_near,
)
from veridical.kernels.statistics import NORMAL_95, wilson_bounds

#: Splits; with fewer the corrected t interval is not the default.
_FEWEST_SPLITS = 3

#: Kinds of interval in the order of preference: the nested one where it was asked for,
#: then the one with the best coverage over all measured designs (docs/estimating.md).
_BEST_FIRST = (
    "nested",
    "corrected-t",
    "cluster-wilson",
    "wilson",
    "exact",
    "jackknife",
)

#: Name of the interval of OUT minus IN, whose truth is the mean over data sets.
OPTIMISM = "optimism"

#: Name of the default interval, whatever its kind: in one design it is the corrected t
#: interval of some data sets, and Wilson's of those whose folds have equal accuracies.
DEFAULT = "default"

#: Share of intervals that must cover, in nine of ten designs near to the user's, for a
#: claim: then an end of the interval, which is half of what it may miss, is wrong in at
#: most 5 %.
_ADEQUATE = 0.9

#: Splits have as many folds, or repeats, as measured ones if the ratio is smaller.
_LIKE_FOLDS = 1.5

#: Measured folds and repeats.
_FOLDS = {
    "2": (2, 1),
    "5": (5, 1),
    "10": (10, 1),
    "10x10": (10, 10),
    "5x2": (2, 5),
}

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
    "2": "2 folds",
}

#: Data sets with an interval; with fewer, the coverage of a design is not shown.
_FEWEST_DATA_SETS = 40


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
    splits: Sequence[Split],
    situation: Situation,
    confidence: float = CONFIDENCE,
    lead: str = "",
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
    lead : str, default=""
        Kind of the default interval. Its coverage is that of default intervals, which
        are of another kind in some data sets of a design. Splits between two measured
        numbers of folds or repeats have the coverage of their own kind of interval,
        because the default of one of the two may be another.

    Returns
    -------
    mapping of str to Coverage
        By kind of interval; without those that were not measured near.
    """
    found: dict[str, Coverage] = {}
    if not math.isclose(confidence, CONFIDENCE):
        return found
    names, are_alike = _measured_methods(splits)
    for kind in (*_BEST_FIRST, OPTIMISM):
        measured = DEFAULT if are_alike and kind == lead != "nested" else kind
        near = [
            find_near(_rows_by_method().get((name, measured), ()), situation)
            for name in names
        ]
        if near and all(near):
            found[kind] = coverage_range([row for rows in near for row in rows])
    return found


def coverage_range(rows: Sequence[CoverageRow]) -> Coverage:
    """Return the range of coverages over some designs, with the error of measuring."""
    methods = listing(dict.fromkeys(MEASURED[row.method] for row in rows), "or")
    designs = describe_designs([row.situation for row in rows])
    n = min(row.n_simulations for row in rows)
    return range_of_shares(
        [row.covered for row in rows],
        [row.n_simulations for row in rows],
        f"{methods}, {designs}; {len(rows)} designs, {n} data sets or more in each",
    )


def range_of_shares(
    covered: Sequence[int], numbers: Sequence[int], conditions: str
) -> Coverage:
    """Return the range of the shares that were counted in some designs.

    Parameters
    ----------
    covered, numbers : sequence of int
        Of every design, the intervals that covered, and all of them.
    conditions : str
        The designs, in words.
    """
    shares = np.array(covered) / np.array(numbers)
    bounds = [
        wilson_bounds(float(share), n, NORMAL_95)
        for share, n in zip(shares, numbers, strict=True)
    ]
    return Coverage(
        min(low for low, _ in bounds),
        max(high for _, high in bounds),
        conditions,
        float(np.quantile(shares, 1 - MOST_DESIGNS)),
    )


def allows_claims(measured: Coverage | None) -> bool:
    """Return whether intervals cover often enough for a claim to rest on one.

    They do where 90 % of them cover in nine of ten designs near to the user's: then one
    of the two ends is wrong in about 5 %. Where nothing was measured near, they do not.
    """
    return measured is not None and measured.reached >= _ADEQUATE


def _measured_methods(splits: Sequence[Split]) -> tuple[tuple[str, ...], bool]:
    """Return the measured methods whose splits are like these, or on either side.

    The second value is whether they are alike.

    Splits that test every sample equally often, and train on all others, are folds,
    whatever made them. Where samples between training and test set are left out, as in
    purged folds, the samples depend on each other; nothing was measured for these. Few
    repeats of ten folds lie between one and ten repeats, and other numbers of folds
    between two measured ones; leave-one-out has the most, and no corrected t interval.
    """
    if not trains_on_the_rest(splits):
        return (), True
    n_samples = splits[0].n_rows
    if len(splits) == 1:
        share = len(splits[0].test) / n_samples
        like_one = _SMALLEST_TEST <= share <= _LARGEST_TEST
        return ("holdout",) if like_one else (), True
    times = np.bincount(np.concatenate([split.test for split in splits]))
    if times.size < n_samples or times.min() < times.max():
        return ("subsampling",) if _are_random_holdouts(splits) else (), True
    n_repeats = int(times[0])
    n_folds = len(splits) // n_repeats
    if n_folds == n_samples:
        return ("loo",) if n_repeats == 1 else (), True
    like = {
        name: repeats
        for name, (folds, repeats) in _FOLDS.items()
        if _is_like(n_folds, folds)
    }
    exact = tuple(n for n, repeats in like.items() if _is_like(n_repeats, repeats))
    between = min(like.values(), default=0) < n_repeats < max(like.values(), default=0)
    if exact or between:
        return exact or tuple(like), bool(exact)
    names = {(repeats, folds): name for name, (folds, repeats) in _FOLDS.items()}
    names[1, n_samples] = "loo"
    either = bracketing(names, (n_repeats, n_folds))
    return tuple(names[one] for one in either), False


def _is_like(number: int, measured: int) -> bool:
    if 1 in (number, measured):
        return number == measured
    return 1 / _LIKE_FOLDS < number / measured < _LIKE_FOLDS


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


def choose_interval(
    assumes: Iterable[str], n_splits: int, nested: Any = None
) -> str | None:
    """Choose the default kind of interval while an estimate is made.

    Parameters
    ----------
    assumes : iterable of str
        The valid kinds.
    n_splits : int
        Number of splits.
    nested : object, optional
        Nested cross-validation, as `Estimate.nested`.
    """
    ready = {
        "nested": nested is not None and bool(nested.ready),
        "corrected-t": n_splits >= _FEWEST_SPLITS,
    }
    valid = set(assumes)
    offered = [kind for kind in _BEST_FIRST if kind in valid]
    return next((k for k in offered if ready.get(k, True)), next(iter(offered), None))

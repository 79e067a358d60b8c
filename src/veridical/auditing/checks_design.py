"""Checks of how accuracy is measured and read: VD004–VD006, VD008–VD010, VD012."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from veridical._core.arrays import IntArray
from veridical._core.numbers import percent, percent_range
from veridical._core.table import Table
from veridical._core.text import show
from veridical.auditing.codes import finding
from veridical.auditing.evidence import Evidence
from veridical.auditing.records import Finding, Severity
from veridical.comparison.records import MeasuredSize
from veridical.comparison.sizes import measured_size
from veridical.evaluation import Bootstrap632, CrossValidation, estimate

#: Fewer cases than this in a fold, and its accuracy has hardly any values to take.
SMALLEST_FOLD = 5
#: A largest class of this share makes accuracy misleading.
IMBALANCED = 0.7
#: Below this, agreement is poor by the scale that Nogueira and others take from Fleiss.
POOR = 0.4
#: So large a share of leave-one-out predictions follows the majority.
FOLLOWS = 0.9
#: So surprising is a column that tells all classes apart, at least.
_SURPRISING = 1e-3


def folds_too_small(e: Evidence) -> Finding | None:
    """VD004: a fold's accuracy is too coarse for a test over folds."""
    if e.leaves_one_out and e.test is None:
        return None
    sizes = np.array([len(split.test) for split in e.splits])
    smallest = int(sizes.min())
    if smallest >= SMALLEST_FOLD:
        return None
    severity: Severity = "note" if e.test is None else "warning"
    used = "a test over folds takes" if e.test is None else f"the test {e.test!r} takes"
    return finding(
        "VD004",
        severity,
        f"The smallest of {len(sizes)} test folds holds {smallest} "
        f"{'case' if smallest == 1 else 'cases'}, so its accuracy moves in steps of "
        f"{100 / smallest:.0f} points, and {used} such accuracies for normal.",
        {"smallest_fold": smallest, "n_folds": len(sizes)},
    )


def follows_the_majority(e: Evidence) -> Finding | None:
    """VD005: leaving a case out makes the estimator name another class."""
    if not e.leaves_one_out or len(e.splits) < e.n_cases:
        return None
    codes, sizes = e.procedure.table.y, e.class_sizes
    tested = np.array([split.test[0] for split in e.splits])
    named = np.array([guess[0] for guess in e.inside.predicted])
    left = sizes - np.eye(sizes.size, dtype=int)[codes[tested]]
    follows = left[np.arange(len(tested)), named] == left.max(axis=1)
    share = float(follows.mean())
    close = sizes.max() - np.sort(sizes)[-2] <= 1
    accuracy = e.accuracy["in"].value
    if not close or share < FOLLOWS or accuracy >= e.majority:
        return None
    return finding(
        "VD005",
        "error",
        f"In {percent(share)} of the cases the estimator names the most frequent class "
        "of the others, and leaving a case out makes its own class the rarer one. So "
        f"leave-one-out says {percent(accuracy)} where naming the largest class is "
        f"right about {percent(e.majority)} of new cases.",
        {"follows": share, "accuracy": accuracy, "majority": e.majority},
    )


def memoriser_in_632(e: Evidence) -> Finding | None:
    """VD006: 36.8 % of the estimate is 1, whatever the data."""
    if not isinstance(e.method, Bootstrap632) or e.method.plus:
        return None
    p = e.procedure
    table: Any = p.table if p.columns is None else p.table.take_columns(p.columns)
    found = estimate(p.whole, table, table.labels, cv=e.method, random_state=e.seed)
    remembered, outside = found.details["resubstitution"], found.details["outside"]
    if remembered < 1 or outside >= 1:
        return None
    return finding(
        "VD006",
        "error",
        "The estimator gets every case right that it has learned from, so 0.368 of the "
        f".632 estimate is 1 whatever the data. It says {percent(found.value)}; on "
        f"cases outside the samples the estimator reaches {percent(outside)}.",
        {"estimate": found.value, "outside": outside},
    )


def unstable_selection(e: Evidence) -> Finding | None:
    """VD008: the folds do not agree on what to select."""
    if e.stability is None or e.n_selected is None or e.stability.value >= POOR:
        return None
    d = e.procedure.table.n_features
    s = e.stability
    return finding(
        "VD008",
        "note",
        f"The {len(e.splits)} training sets select {e.n_selected:.0f} of {d} columns "
        f"each, and their choices agree with a stability of {s.value:.2f} (95 % "
        f"interval {s.low:.2f} to {s.high:.2f}; 1 is perfect, 0 is chance, below "
        f"{POOR} is poor), although they share most of their cases.",
        {"stability": s.value},
    )


def imbalance(e: Evidence) -> Finding | None:
    """VD009: naming the largest class is right most of the time."""
    if e.majority < IMBALANCED:
        return None
    worst = min(e.recalls, key=lambda k: e.recalls[k])
    classes = e.procedure.table.target.classes
    accuracy = e.accuracy["in"]
    hits = round(accuracy.value * e.n_cases)
    by_luck = float(stats.binom.sf(hits - 1, e.n_cases, e.majority))
    beaten = e.above_chance and by_luck <= e.alpha
    said = (
        f"Naming the largest class every time is right about {percent(e.majority)} of "
        f"the cases; the accuracy is {percent(accuracy.value)} "
        f"({percent_range(accuracy.low, accuracy.high)}), "
        f"{'above that' if beaten else 'which is not shown to beat it'}. Balanced "
        f"accuracy is {percent(e.balanced)}, where chance is "
        f"{percent(1 / len(e.recalls))}; of class {show(classes[worst])} "
        f"{percent(e.recalls[worst])} are recognised."
    )
    details = {"majority": e.majority, "balanced_accuracy": e.balanced}
    return finding("VD009", "note" if beaten else "warning", said, details)


def uncorrected_test(e: Evidence) -> Finding | None:
    """VD010: a t-test that takes resamples for independent."""
    if e.test != "paired-t" or len(e.splits) < 2:
        return None
    counts = np.zeros(e.n_cases)
    for train, _ in e.splits:
        counts[train] += 1
    if counts.max() < 2:
        return None
    shared = float((counts * (counts - 1)).sum() / max(counts.sum(), 1)) / (
        len(e.splits) - 1
    )
    ratio = np.mean([len(s.test) for s in e.splits]) / np.mean(
        [s.n_train for s in e.splits]
    )
    factor = math.sqrt(1 + len(e.splits) * float(ratio))
    said = (
        f"Any two of the {len(e.splits)} training sets share {percent(shared)} of "
        "their cases, and the paired t-test takes their scores for independent. By "
        "Nadeau and Bengio's correction its standard error should be "
        f"{factor:.2f} times as large."
    )
    details = {"shared": shared, "factor": factor}
    measured = _measured_size(e)
    if measured is not None:
        details["measured_size"] = measured.rate
        said += (
            f" Where there is nothing to find it rejects in {percent(measured.rate)} "
            f"of data sets, not in {100 * measured.nominal:g} % (measured on "
            f"{measured.n_simulations}: {measured.design})."
        )
    return finding("VD010", "warning", said, details)


def _measured_size(e: Evidence) -> MeasuredSize | None:
    """Look up how often the paired t-test rejects in a design like this one."""
    if not isinstance(e.method, CrossValidation):
        return None
    return measured_size(
        "paired-t",
        "in",
        (e.method.n_repeats, e.method.n_folds),
        n_samples=e.n_cases,
        estimator=type(e.procedure.procedure.estimator).__name__,
        accuracy=e.accuracy["in"].value,
        alpha=e.alpha,
    )


def column_gives_class_away(e: Evidence) -> Finding | None:
    """VD012: a single column tells all classes apart."""
    data, codes = e.procedure.table, e.procedure.table.y
    if sparse.issparse(data.values):
        return None
    columns = np.arange(data.n_features)
    if e.procedure.columns is not None:
        columns = e.procedure.columns
    sizes = e.class_sizes
    # Orders of the cases in which every class is in one piece, among all orders.
    log_chance = (
        math.lgamma(sizes.size + 1)
        + sum(math.lgamma(size + 1) for size in sizes)
        - math.lgamma(e.n_cases + 1)
    )
    if log_chance + math.log(data.n_features) > math.log(_SURPRISING):
        return None
    telling = columns[_tells(data, codes, columns)].tolist()
    if not telling:
        return None
    names = ", ".join(show(data.feature_names[j]) for j in telling[:5])
    more = f" and {len(telling) - 5} more" if len(telling) > 5 else ""
    return finding(
        "VD012",
        "warning",
        f"Column {names}{more} alone tells the classes apart without an error in "
        f"{e.n_cases} cases. A measurement seldom does; a copy of the class, a code "
        "made from it, or something that follows from it does.",
        {"n_columns": len(telling), "first": telling[0]},
    )


def _tells(data: Table, codes: IntArray, columns: IntArray) -> NDArray[np.bool_]:
    """Which columns tell all classes apart: by ranges, or category by category."""
    tells = np.zeros(columns.size, dtype=bool)
    numeric = ~data.categorical[columns]
    values = data.values[:, columns[numeric]]
    classes = np.unique(codes)
    low = np.stack([values[codes == k].min(axis=0) for k in classes])
    high = np.stack([values[codes == k].max(axis=0) for k in classes])
    order = np.argsort(low, axis=0, kind="stable")
    low, high = (np.take_along_axis(ends, order, axis=0) for ends in (low, high))
    tells[numeric] = (high[:-1] < low[1:]).all(axis=0)  # never with a missing value
    for i in np.flatnonzero(~numeric):
        column = data.values[:, columns[i]]
        if np.isnan(column).any():
            continue
        seen = np.unique(np.column_stack([column, codes]), axis=0)
        n_values = np.unique(column).size
        few = n_values <= len(codes) / SMALLEST_FOLD
        tells[i] = len(seen) == n_values and few
    return tells

"""Checks of samples that are not independent: VD021–VD023, VD027."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse, stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.numbers import count, percent
from veridical._core.seeds import Purpose, seed_for
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.auditing.association import outcome_values
from veridical.auditing.clusters import MOST_CLUSTERED
from veridical.auditing.codes import finding, untested
from veridical.auditing.duplicates import sample_distances
from veridical.auditing.evidence import AuditEvidence
from veridical.auditing.kinship import units_in_order
from veridical.auditing.records import Finding, Severity, Untested


def compare_splits(
    e: AuditEvidence, splits: list[Split], least: Severity
) -> tuple[float, str, Severity]:
    """Measure the accuracy, or the score, with other splits: value, words, severity."""
    other = e.procedure.inside(e.procedure.unpermuted, splits).accuracy
    if math.isnan(other):
        return other, f"the {e.measure.label} is not defined.", least
    said = f"the {e.measure.label} is {e.compare_with(other)}."
    return other, said, "error" if e.is_worse(other) else least


def whole_group_splits(
    e: AuditEvidence, groups: IntArray, number: int = 0
) -> list[Split] | None:
    """Return stratified folds that keep groups whole; None with too few groups."""
    n_folds = min(10, len(e.splits), np.unique(groups).size)
    codes = e.codes
    if n_folds < 2 or np.bincount(codes).min() < 2:
        return None
    folds = StratifiedGroupKFold(
        n_folds, shuffle=True, random_state=seed_for(e.seed, Purpose.FOLDS, 1 + number)
    )
    made = [
        Split(test.astype(np.intp), e.n_samples)
        for _, test in folds.split(np.zeros((e.n_samples, 1)), codes, groups)
        if test.size
    ]
    return made if all(_has_all_classes(s, codes) for s in made) else None


def _has_all_classes(split: Split, codes: IntArray) -> bool:
    return bool(np.unique(codes[split.train]).size == np.unique(codes).size)


# -- VD021 ---------------------------------------------------------------------------


def relatives_across_folds(e: AuditEvidence) -> Finding | Untested | None:
    """VD021: samples form groups of near relatives that folds divide."""
    data = e.procedure.table
    if data.groups is not None:
        return None
    if data.categorical.any() or e.n_samples > MOST_CLUSTERED:
        return untested(
            "VD021",
            f"numeric features alone and at most {MOST_CLUSTERED} samples",
            "distances between samples are not computed",
        )
    found = e.clusters
    if found is None:
        return None
    sizes = np.bincount(found.groups)
    grouped = int(sizes[sizes > 1].sum())
    divided = sum(
        np.intersect1d(found.groups[split.test], found.groups[split.train]).size > 0
        for split in e.splits
    )
    if (
        not divided
        or grouped < 4
        or 2 * len(e.copies.pairs) >= grouped - np.sum(sizes > 1)
    ):
        return None
    said = (
        f"For {percent(found.share)} of the samples the distances to their neighbours "
        f"jump behind the {_ordinal(found.n_relatives)} neighbour, where chance gives "
        f"13 % (z = {found.z:.1f}): {grouped} samples form {int((sizes > 1).sum())} "
        f"groups of {_range(sizes[sizes > 1])}, which look like several samples of one "
        "patient, plate or other source."
    )
    severity: Severity = "warning"
    details = {
        "n_groups": float((sizes > 1).sum()),
        "n_relatives": float(found.n_relatives),
        "z": found.z,
    }
    splits = whole_group_splits(e, found.groups)
    if splits is not None:
        other, text, severity = compare_splits(e, splits, "warning")
        said += f" With these groups kept whole, {text}"
        details[f"{e.measure.name}_whole"] = other
    return finding("VD021", severity, said, details)


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")


def _range(sizes: IntArray) -> str:
    low, high = int(sizes.min()), int(sizes.max())
    return f"{low}" if low == high else f"{low} to {high}"


# -- VD022 ---------------------------------------------------------------------------

#: z of the likeness of neighbours in the order from which it is reported.
ORDER_Z = 5.0
# Difference of the accuracy from which it is a warning: with consecutive folds, or on
# shifted outcomes.
_LOWER = 0.05
# Number of shifts of the outcomes along the order, and how many of them count as
# independent: shifted outcomes have runs in common.
_SHIFTS, _INDEPENDENT = 15, 5
# Standard errors by which shifted outcomes must be predicted better than permuted ones.
_SHIFTED = 3.0


def neighbours_in_time(e: AuditEvidence) -> Finding | Untested | None:
    """VD022: samples that follow each other are alike, and folds are random."""
    data = e.procedure.table
    units = units_in_order(data, e.order)
    if len(units) < 20:
        return None
    time, z = e.known.time, e.likeness_in_order
    if time is None and (z < ORDER_Z or is_sorted_outcome(e)):
        return untested(
            "VD022",
            "time=",
            "whether samples that were taken one after another are alike, as the order "
            "of the rows does not show it",
        )
    if z < ORDER_Z:
        return None
    splits, how = blocked_splits(e.codes, units, min(10, max(2, len(e.splits))))
    if _are_blocks(e.splits, units):
        return None
    what = "in time" if time is not None else "in the table"
    which, others = "Samples", "samples"
    if data.groups is not None:
        which, others = "Groups", "groups"
    like = ("the same class", "the classes")
    if not e.has_classes:
        like = ("a similar outcome", "similar outcomes")
    said = (
        f"{which} that follow each other {what} are more alike than other {others} of "
        f"{like[0]} (z = {z:.1f} against random orders within {like[1]}), and the "
        "folds divide them at random."
    )
    severity: Severity = "note"
    details = {"z": z}
    if all(_has_all_classes(split, e.codes) for split in splits):
        other, text, severity = compare_splits(e, splits, "note")
        fall = e.measure.sign * (e.accuracy["in"].value - other)
        if severity == "note" and e.measure.high <= 1 and fall >= _LOWER:
            severity = "warning"
        said += f" With folds of {how}, {text}"
        details[f"{e.measure.name}_blocked"] = other
    if severity == "note" and not _sorts(e, data.values[:, ~data.categorical]):
        found = _shifted_outcomes(e)
        if found is not None:
            shifted, text = found
            severity, said = "warning", f"{said} {text}"
            details["shifted"] = shifted
    return finding("VD022", severity, said, details)


def is_sorted_outcome(e: AuditEvidence) -> bool:
    """Return whether a table without times is sorted by a feature or by its outcome.

    Only for numbers and survival times: consecutive folds of such a table are hard to
    predict, because the training samples have other outcomes, and this is no leak.
    """
    if e.has_classes or e.known.time is not None:
        return False
    data = e.procedure.table
    outcome = outcome_values(data)[:, None]
    return _sorts(e, outcome) or _sorts(e, data.values[:, ~data.categorical])


def _sorts(e: AuditEvidence, columns: FloatArray) -> bool:
    """Return whether a table without times is sorted by one of these columns.

    The order of such a table is that of a feature, whatever the outcome is, so outcomes
    that are shifted along it depend on this feature.
    """
    if e.known.time is not None:
        return False
    steps = np.diff(columns[e.order], axis=0)
    one_way = (steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)
    return bool((one_way & (steps != 0).any(axis=0)).any())


def _shifted_outcomes(e: AuditEvidence) -> tuple[float, str] | None:
    """Return the score of outcomes that are shifted along the order, and a sentence.

    Where features and outcome have runs, folds of consecutive samples may still learn
    the one from the other, though they have nothing to do with each other; permuted
    outcomes have no runs. None if shifted outcomes are not predicted better than those,
    and for groups, whose outcomes cannot be shifted by samples.
    """
    if e.procedure.table.groups is not None:
        return None
    null, sign, write = e.null["in"], e.scoring.sign, e.scoring.write
    shifted = e.scores_shifted(_SHIFTS, seed_for(e.seed, Purpose.PERMUTATIONS, 4))
    if shifted.size < 2 or e.scoring.high > 1:
        return None
    mean = float(shifted.mean())
    error = math.sqrt(
        shifted.var(ddof=1) / _INDEPENDENT
        + null.accuracies.var(ddof=1) / null.accuracies.size
    )
    if sign * (mean - null.mean) < max(_LOWER, _SHIFTED * error):
        return None
    return mean, (
        f"With outcomes shifted along this order, which keep their runs but belong to "
        f"other samples, the {e.scoring.label} is {write(mean)} on average, with "
        f"outcomes permuted freely {write(null.mean)}: the order alone is predicted, "
        "and p-values against permuted outcomes do not count."
    )


# Smallest share of every class that each training set must have.
_ENOUGH_LEFT = 0.5


def blocked_splits(
    codes: IntArray, units: Sequence[IntArray], n_folds: int
) -> tuple[list[Split], str]:
    """Return folds of consecutive units, samples or groups, and their name.

    Where a training set would have too few samples of a class, as in a table that is
    sorted by class, the folds have consecutive units of each class. For numbers and
    survival times the classes are thirds of the samples.
    """
    what = "groups" if len(units) < len(codes) else "samples"
    places = np.array_split(np.arange(len(units)), n_folds)
    plain = [
        _split_of([units[i] for i in some], len(codes)) for some in places if some.size
    ]
    left = [np.bincount(codes[one.train], minlength=codes.max() + 1) for one in plain]
    if (np.stack(left) >= _ENOUGH_LEFT * np.bincount(codes)).all():
        return plain, f"consecutive {what}"
    tests: list[list[IntArray]] = [[] for _ in range(n_folds)]
    class_of = codes[[rows[0] for rows in units]]
    for k in np.unique(class_of):
        own = np.flatnonzero(class_of == k)
        for fold, some in enumerate(np.array_split(own, n_folds)):
            tests[fold] += [units[i] for i in some]
    splits = [_split_of(rows, len(codes)) for rows in tests if rows]
    return splits, f"consecutive {what} of each class"


def _split_of(units: Sequence[IntArray], n_samples: int) -> Split:
    return Split(np.sort(np.concatenate(units)).astype(np.intp), n_samples)


def _are_blocks(splits: Any, units: Sequence[IntArray]) -> bool:
    """Return whether few neighbours in the order are divided by the splits."""
    first = np.array([rows[0] for rows in units])
    divided, tested = 0, 0
    for split in splits:
        along = np.isin(first, split.test)
        divided += int(np.count_nonzero(along[1:] != along[:-1]))
        tested += int(np.count_nonzero(along))
    return divided < 0.3 * tested


# -- VD023 ---------------------------------------------------------------------------

#: p-value up to which a batch is associated with the class. Where three quarters of 55
#: samples are in the batch of their class, it finds 90 % (with 0.01: 84 %).
BATCH_LEVEL = 0.02
#: Number of permutations of the labels within batches.
WITHIN = 40
# Standard errors by which labels permuted within batches must be predicted better than
# labels permuted freely: 5 % on one side.
_LEARNED = 1.645
# Number of strata of covariates.
_STRATA = 5


def explained_by_batch(e: AuditEvidence) -> Finding | Untested | None:
    """VD023: the batch or covariates predict the outcome, and the estimator uses it."""
    strata, what = find_strata(e)
    if strata is None:
        return untested(
            "VD023",
            "batch= or covariates=",
            f"whether a batch, site or covariate that is associated with the "
            f"{e.outcome} explains the {e.measure.label}",
        )
    seed = seed_for(e.seed, Purpose.PERMUTATIONS, 2)
    pvalue = associate(strata, e.codes)
    if pvalue > BATCH_LEVEL:
        return None
    within = e.scores_within(strata, WITHIN, seed)
    null, true = e.null["in"], e.score["in"]
    sign = e.scoring.sign
    part = sign * (float(within.mean()) - null.mean)
    error = math.sqrt(
        within.var(ddof=1) / within.size
        + null.accuracies.var(ddof=1) / null.accuracies.size
    )
    as_good = np.count_nonzero(sign * within >= sign * true.value - 1e-12)
    p_within = (1 + as_good) / (1 + within.size)
    write = e.scoring.write
    said = (
        f"The {what} is associated with the {e.outcome} (p = {pvalue:.2g}). With "
        f"labels permuted within {what} only, where nothing except the {what} is left "
        f"to learn, the {e.scoring.label} is {write(float(within.mean()))} on average; "
        f"with labels permuted freely it is {write(null.mean)}."
    )
    details = {"pvalue": pvalue, "part": part, "pvalue_within": p_within}
    if part < _LEARNED * error:
        return finding("VD023", "note", said, details)
    if p_within > max(e.alpha, 1 / within.size):
        said += (
            f" The reported {write(true.value)} is not better than that (p = "
            f"{p_within:.2g}): the {what} explains it."
        )
        return finding("VD023", "error", said, details)
    return finding("VD023", "warning", said, details)


def find_strata(e: AuditEvidence) -> tuple[IntArray | None, str]:
    """Return strata of samples that are alike in batch and covariates, and a name."""
    batch, covariates = e.known.batch, e.known.covariates
    if covariates is None:
        return batch, "batch"
    scaled = covariates - covariates.mean(axis=0)
    spread = scaled.std(axis=0)
    scaled = scaled[:, spread > 0] / spread[spread > 0]
    if batch is not None:
        scaled = np.hstack([scaled, np.eye(batch.max() + 1)[batch]])
    if not scaled.shape[1]:
        return batch, "batch"
    model = LogisticRegression(C=1.0, max_iter=500).fit(scaled, e.codes)
    score = np.atleast_2d(model.decision_function(scaled).T)[0]
    cuts = np.quantile(score, np.arange(1, _STRATA) / _STRATA)
    name = "covariates" if batch is None else "batch and the covariates"
    return np.searchsorted(cuts, score).astype(np.intp), f"stratum of the {name}"


def associate(strata: IntArray, codes: IntArray) -> float:
    """Return the p-value of the association of strata and classes."""
    counts = np.zeros((strata.max() + 1, codes.max() + 1))
    np.add.at(counts, (strata, codes), 1)
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(counts.shape) < 2:
        return 1.0
    if counts.shape == (2, 2):
        return float(stats.fisher_exact(counts)[1])
    return float(stats.chi2_contingency(counts)[1])


# -- VD027 ---------------------------------------------------------------------------

# Number of nearest neighbours between which a sample may lie.
_BETWEEN = 20
# Smallest number of features in which the three samples must differ.
_FEWEST_DIFFERENT = 4
# Largest denominator of a position that rounded values may give by chance.
_LARGEST_DENOMINATOR = 60
# Smallest number of samples that are reported.
_FEWEST_SYNTHETIC = 2


def synthetic_samples(e: AuditEvidence) -> Finding | None:
    """VD027: samples lie exactly between two others, as SMOTE makes them."""
    found = find_interpolated(e.procedure.table)
    if len(found) < _FEWEST_SYNTHETIC:
        return None
    divided = 0
    for split in e.splits:
        is_test = np.zeros(e.n_samples, dtype=bool)
        is_test[split.test] = True
        divided += int(np.any(is_test[found] != is_test[found[:, :1]]))
    if not divided:
        return None
    shown = ", ".join(
        f"row {i} between rows {a} and {b}" for i, a, b in found[:3].tolist()
    )
    n = len(found)
    return finding(
        "VD027",
        "warning",
        f"{count(n, 'sample')} {'lies' if n == 1 else 'lie'} exactly between two "
        f"others, counting rows from 0: {shown}. They look made from other samples, by "
        f"SMOTE or mixup, before the folds; {divided} of {len(e.splits)} splits train "
        "on a sample that was made from a test sample, or the other way round.",
        {"n_samples": n, "first": int(found[0, 0])},
    )


def find_interpolated(data: Table) -> IntArray:
    """Return samples that lie exactly between two others: rows i, a, b."""
    nothing = np.empty((0, 3), dtype=np.intp)
    numeric = np.flatnonzero(~data.categorical)
    if sparse.issparse(data.values) or data.has_missing:
        return nothing
    if numeric.size < _FEWEST_DIFFERENT or not 10 <= data.n_samples <= 2000:
        return nothing
    values = data.values[:, numeric]
    distance = sample_distances(data, numeric)
    near = np.argsort(distance, axis=1, kind="stable")[:, :_BETWEEN]
    found = []
    for i, rows in enumerate(near):
        apart = distance[i, rows]
        length = distance[np.ix_(rows, rows)]
        with np.errstate(invalid="ignore"):
            excess = apart[:, None] + apart[None, :] - length
        # Between a and b; distances have half the digits of the values.
        close = np.triu(excess <= 1e-5 * length, 1) & np.isfinite(length)
        for a, b in np.argwhere(close):
            if _is_between(values[i], values[rows[a]], values[rows[b]]):
                found.append((i, rows[a], rows[b]))
                break
    return np.array(found, dtype=np.intp).reshape(-1, 3)


def _is_between(x: FloatArray, a: FloatArray, b: FloatArray) -> bool:
    """Return whether x = a + u (b − a), with a position u that is not a fraction."""
    step = b - a
    length = float(step @ step)
    if length == 0:
        return False
    u = float((x - a) @ step) / length
    scale = np.abs(np.stack([a, b])).max(axis=0) + np.abs(step)
    if not 0.001 < u < 0.999 or np.abs(x - a - u * step).max() > 1e-6 * scale.max():
        return False
    if np.any(np.abs(x - a - u * step) > 1e-5 * scale):
        return False
    if np.count_nonzero(np.abs(step) > 1e-9 * scale) < _FEWEST_DIFFERENT:
        return False
    parts = u * np.arange(1, _LARGEST_DENOMINATOR + 1)
    return bool(np.abs(parts - np.round(parts)).min() > 1e-6)

"""Checks of the design and the reading: VD004–VD006, VD008–VD010, VD012."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from sklearn.tree import DecisionTreeClassifier

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.numbers import percent, percent_range
from veridical._core.table import Table
from veridical._core.text import quote
from veridical.auditing.association import outcome_values
from veridical.auditing.codes import finding
from veridical.auditing.evidence import AuditEvidence
from veridical.auditing.records import Finding, Severity
from veridical.comparison.records import MeasuredSize
from veridical.comparison.sizes import measured_size
from veridical.criteria.survival import concordances
from veridical.evaluation import Bootstrap632, CrossValidation, estimate
from veridical.evaluation.structured import is_structured
from veridical.kernels.trainsets import TrainSets

#: Samples in a test fold; with fewer its accuracy has too few possible values.
SMALLEST_FOLD = 5
#: Share of the largest class; from it on accuracy is misleading.
IMBALANCED = 0.7
#: Stability; below it agreement is poor, by the scale that Nogueira et al. adopt.
POOR_STABILITY = 0.4
#: Share of leave-one-out predictions that name the majority of the training set; from
#: it on the estimator counts as following the majority.
FOLLOWS_MAJORITY = 0.9
# Expected number of features that separate all classes by chance; above it nothing is
# reported.
_MOST_BY_CHANCE = 1e-3
# Smallest ratio of the F ratios of the best and the second feature, and smallest share
# of correctly classified samples, at which one feature carries the accuracy.
_CARRIES, _NEARLY = 3.0, 0.9
# Smallest number of samples of numbers or survival times of which this is said.
_ENOUGH_FOR_ONE = 20
# Largest share of the features that have no more values than there are classes, in a
# table in which such a feature is taken for a code of the class.
_FEW_CODES = 0.1
# Smallest sum of squares between classes, relative to that within, of such a feature.
_CODE_RATIO = 0.5


def folds_too_small(e: AuditEvidence) -> Finding | None:
    """VD004: folds have too few samples for a test over folds."""
    if e.leaves_one_out and e.test is None:
        return None
    sizes = np.array([len(split.test) for split in e.splits])
    smallest = int(sizes.min())
    if smallest >= SMALLEST_FOLD:
        return None
    severity: Severity = "note" if e.test is None else "warning"
    used = "a test over folds" if e.test is None else f"the test {e.test!r}"
    steps = f"its accuracy changes in steps of {100 / smallest:.0f} points"
    if not e.has_classes:
        steps = f"its {e.measure.label} varies much and is skewed, if it is defined"
    return finding(
        "VD004",
        severity,
        f"The smallest of {len(sizes)} test folds has {smallest} "
        f"{'sample' if smallest == 1 else 'samples'}, so {steps}, but {used} assumes a "
        "normal distribution.",
        {"smallest_fold": smallest, "n_folds": len(sizes)},
    )


def follows_the_majority(e: AuditEvidence) -> Finding | None:
    """VD005: leaving a sample out makes the estimator predict another class."""
    if not e.leaves_one_out or len(e.splits) < e.n_samples:
        return None
    codes, sizes = e.procedure.table.y, e.class_sizes
    tested = np.array([split.test[0] for split in e.splits])
    named = np.array([guess[0] for guess in e.inside.predicted])
    left = sizes - np.eye(sizes.size, dtype=int)[codes[tested]]
    follows = left[np.arange(len(tested)), named] == left.max(axis=1)
    share = float(follows.mean())
    close = sizes.max() - np.sort(sizes)[-2] <= 1
    accuracy = e.accuracy["in"].value
    if not close or share < FOLLOWS_MAJORITY or accuracy >= e.majority:
        return None
    return finding(
        "VD005",
        "error",
        f"For {percent(share)} of the samples the estimator predicts the most frequent "
        "class of the others, and leaving a sample out makes its own class rarer. So "
        f"leave-one-out reports {percent(accuracy)}, although always predicting the "
        f"largest class is correct for {percent(e.majority)} of new samples.",
        {"follows": share, "accuracy": accuracy, "majority": e.majority},
    )


def memoriser_in_632(e: AuditEvidence) -> Finding | None:
    """VD006: the estimator memorises, so 36.8 % of the .632 estimate is constant."""
    if not isinstance(e.method, Bootstrap632) or e.method.plus:
        return None
    p = e.procedure
    table: Any = p.table if p.features is None else p.table.take_columns(p.features)
    found = estimate(p.whole, table, table.labels, cv=e.method, random_state=e.seed)
    remembered, outside = found.details["resubstitution"], found.details["outside"]
    if remembered < 1 or outside >= 1:
        return None
    return finding(
        "VD006",
        "error",
        "The estimator predicts all its training samples correctly, so 0.368 of the "
        f".632 estimate is 1 whatever the data. Its {found.scoring.label} is "
        f"{found.scoring.write(found.value)}; on samples outside the bootstrap samples "
        f"it is {found.scoring.write(outside)}.",
        {"estimate": found.value, "outside": outside},
        cure=None if e.has_classes else "Use CrossValidation(10).",
    )


def unstable_selection(e: AuditEvidence) -> Finding | None:
    """VD008: the folds select different features."""
    if (
        e.stability is None
        or e.n_selected is None
        or e.stability.value >= POOR_STABILITY
    ):
        return None
    d = e.procedure.table.n_features
    s = e.stability
    shared = ", although they share most of their samples" if len(e.splits) > 2 else ""
    return finding(
        "VD008",
        "note",
        f"The {len(e.splits)} training sets select {e.n_selected:.0f} of {d} features "
        f"each, and their feature sets agree with a stability of {s.value:.2f} "
        f"(1 is perfect, 0 is that of random selections, below "
        f"{POOR_STABILITY} is poor){shared}.",
        {"stability": s.value},
    )


def class_imbalance(e: AuditEvidence) -> Finding | None:
    """VD009: always predicting the largest class is right most of the time."""
    if e.majority < IMBALANCED:
        return None
    worst = min(e.recalls, key=lambda k: e.recalls[k])
    classes = e.procedure.table.classes
    accuracy = e.accuracy["in"]
    hits = round(accuracy.value * e.n_samples)
    by_luck = float(stats.binom.sf(hits - 1, e.n_samples, e.majority))
    beaten = e.above_chance and by_luck <= e.alpha
    said = (
        f"Always predicting the largest class is correct for {percent(e.majority)} of "
        f"the samples; the accuracy is {percent(accuracy.value)} "
        f"({percent_range(accuracy.low, accuracy.high)}), "
        f"{'above that' if beaten else 'which is not shown to beat it'}. Balanced "
        f"accuracy is {percent(e.balanced)}, and {percent(1 / len(e.recalls))} where "
        f"one class is predicted for all samples; the recall of class "
        f"{quote(classes[worst])} is {percent(e.recalls[worst])}."
    )
    details = {"majority": e.majority, "balanced_accuracy": e.balanced}
    return finding("VD009", "note" if beaten else "warning", said, details)


def uncorrected_test(e: AuditEvidence) -> Finding | None:
    """VD010: a t-test that treats resamples as independent."""
    if e.test != "paired-t" or len(e.splits) < 2:
        return None
    counts = np.zeros(e.n_samples)
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
        "their samples, and the paired t-test assumes that their scores are "
        "independent. By Nadeau and Bengio's correction its standard error should be "
        f"{factor:.2f} times as large."
    )
    details = {"shared": shared, "factor": factor}
    measured = _measured_size(e)
    if measured is not None:
        details["measured_size"] = measured.rate
        said += (
            f" Where nothing differs it rejects in "
            f"{percent_range(measured.low, measured.high)} of data sets, not in "
            f"{100 * measured.nominal:g} % (measured in {measured.n_designs} designs "
            f"{'near this one' if measured.near else 'with such or similar splits'}: "
            f"{measured.design})."
        )
    return finding("VD010", "warning", said, details)


def _measured_size(e: AuditEvidence) -> MeasuredSize | None:
    """Look up how often the paired t-test rejects in a design like this one."""
    if not isinstance(e.method, CrossValidation):
        return None
    if is_structured(e.scoring, e.procedure.table):
        return None  # it was measured for the accuracy of samples
    situation = e.procedure.situation(e.accuracy["in"].value)
    shape = (e.method.n_repeats, e.method.n_folds)
    return measured_size("paired-t", "in", shape, situation, alpha=e.alpha)


def feature_gives_class_away(e: AuditEvidence) -> Finding | None:
    """VD012: a single feature separates all classes, or carries the score."""
    data = e.procedure.table
    if sparse.issparse(data.values):
        return None
    features = np.arange(data.n_features)
    if e.procedure.features is not None:
        features = e.procedure.features
    if not e.has_classes:
        enough = e.n_samples >= _ENOUGH_FOR_ONE
        return _one_feature_carries(e, features) if enough else None
    codes = data.y
    sizes = e.class_sizes
    # Share of the orders of the samples in which every class is contiguous.
    log_chance = (
        math.lgamma(sizes.size + 1)
        + sum(math.lgamma(size + 1) for size in sizes)
        - math.lgamma(e.n_samples + 1)
    )
    if log_chance + math.log(data.n_features) > math.log(_MOST_BY_CHANCE):
        return None
    separating = features[_separates(data, codes, features)].tolist()
    if not separating:
        return _one_feature_carries(e, features)
    coded = [j for j in separating if _is_code(data, j)]
    carries = None if coded else _one_feature_carries(e, features)
    if carries is not None:
        return carries
    shown = coded or separating
    names = ", ".join(quote(data.feature_names[j]) for j in shown[:5])
    more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
    said = (
        f"Feature {names}{more} alone separates the classes without an error in "
        f"{e.n_samples} samples"
    )
    if coded:
        said += ", and has no other values than the classes: it is a code of the class."
    else:
        said += (
            ". A strong measurement may, and so may a consequence of the class; the "
            "values cannot tell which."
        )
    return finding(
        "VD012",
        "warning" if coded else "note",
        said,
        {"n_features": len(separating), "n_codes": len(coded), "first": shown[0]},
        features=coded,
    )


def _one_feature_carries(e: AuditEvidence, features: IntArray) -> Finding | None:
    """Report a feature that nearly determines the class, as no other feature does.

    A warning if the accuracy without it, or the balanced accuracy, falls by more than
    the interval of that with it allows, or if it has as many values as there are
    classes, unlike the others. Without classes the leading score must fall so.
    """
    data = e.procedure.table
    numeric = features[~data.categorical[features]]
    values = data.values[:, numeric]
    if numeric.size < 3 or np.isnan(values).any():
        return None
    explained = _explained(data.take_columns(numeric), values)
    ratio = explained / np.maximum(1 - explained, 1e-12)
    coded = _nearly_code(values, ratio, data.y) if e.has_classes else None
    if coded is not None:
        return _report_code(e, int(numeric[coded[0]]), coded[1])
    best, second = np.argsort(-ratio, kind="stable")[:2]
    if ratio[best] < _CARRIES * ratio[second]:
        return None
    if e.has_classes:
        share, least = _share_right(values[:, best], data.y), _NEARLY
        does = "classifies {} of the samples correctly (mean over the classes)"
    elif data.kind == "numbers":
        share, least = float(explained[best]), _NEARLY**2
        does = "explains {} of the variance of the outcome"
    else:
        share, least = (1 + math.sqrt(explained[best])) / 2, _NEARLY
        does = "puts {} of the pairs of survival times that can be compared in order"
    run = e.run_without(numeric[[best]]) if share >= least else None
    if run is None:
        return None
    without, accuracy = run.accuracy, e.accuracy["in"]
    falls = e.is_worse(without)
    if e.has_classes:
        fall = max(accuracy.value - without, e.balanced - e.balanced_of(run))
        falls = fall > accuracy.value - accuracy.low
    if not falls:
        return None
    j = int(numeric[best])
    write = e.measure.write
    return finding(
        "VD012",
        "warning",
        f"Feature {quote(data.feature_names[j])} alone {does.format(percent(share))}, "
        f"and explains {ratio[best] / max(ratio[second], 1e-12):.0f} times as much as "
        f"any other feature. Without it the {e.measure.label} is {write(without)} "
        f"instead of {write(accuracy.value)}. A strong measurement may do this, and so "
        f"may a consequence of the {e.outcome}; the values cannot tell which.",
        {"n_features": 1, "first": j, f"{e.measure.name}_without": without},
        features=(j,),
    )


def _explained(data: Table, values: FloatArray) -> FloatArray:
    """Return how far the outcome and each feature explain each other, from 0 to 1.

    For classes 1 less the share within them, for numbers r², for survival times Somers'
    D², where D is twice the distance of the concordance from one half.
    """
    if data.kind == "survival":
        C = concordances(data, TrainSets.all_rows(data.n_samples), 1)[0]
        return np.asarray((2 * np.nan_to_num(C, nan=0.5) - 1) ** 2)
    total = ((values - values.mean(axis=0)) ** 2).sum(axis=0)
    if data.kind == "numbers":
        y = outcome_values(data)
        y = y - y.mean()
        part = (y @ values) ** 2 / (y @ y)
    else:
        within = np.zeros(len(total))
        for k in np.unique(data.y):
            own = values[data.y == k]
            within += ((own - own.mean(axis=0)) ** 2).sum(axis=0)
        part = total - within
    return np.clip(part / np.where(total > 0, total, np.inf), 0.0, 1.0)


def _nearly_code(
    values: FloatArray, ratio: FloatArray, codes: IntArray
) -> tuple[int, float] | None:
    """Return a feature that is nearly a code of the class, and how often it is right.

    It has as many values as there are classes, which few of the other features have.
    """
    n_classes = np.unique(codes).size
    strong = np.flatnonzero(ratio >= _CODE_RATIO)
    if not strong.size:
        return None
    ordered = np.sort(values, axis=0)
    n_values = 1 + np.count_nonzero(np.diff(ordered, axis=0), axis=0)
    if np.count_nonzero(n_values <= n_classes) > max(1, _FEW_CODES * len(ratio)):
        return None
    for place in strong[n_values[strong] == n_classes].tolist():
        share = _share_right(values[:, place], codes)
        if share >= _NEARLY:
            return place, share
    return None


def _report_code(e: AuditEvidence, feature: int, share: float) -> Finding:
    data = e.procedure.table
    said = (
        f"Feature {quote(data.feature_names[feature])} has as many values as there are "
        "classes, which few of the other features have, and agrees with the class in "
        f"{percent(share)} of the samples (mean over the classes): it looks like a "
        "code of the class with some errors."
    )
    details = {"n_features": 1.0, "first": float(feature), "share": share}
    without = e.accuracy_without(np.array([feature]))
    if without is not None:
        details["accuracy_without"] = without
        said += (
            f" Without it the accuracy is {percent(without)} instead of "
            f"{percent(e.accuracy['in'].value)}."
        )
    return finding("VD012", "warning", said, details, features=(feature,))


def _share_right(feature: FloatArray, codes: IntArray) -> float:
    """Return the share of samples that one feature classifies, mean over classes."""
    n_classes = np.unique(codes).size
    tree = DecisionTreeClassifier(max_leaf_nodes=n_classes, random_state=0)
    right = tree.fit(feature[:, None], codes).predict(feature[:, None]) == codes
    return float(np.mean([right[codes == k].mean() for k in np.unique(codes)]))


def _is_code(data: Table, feature: int) -> bool:
    """Return whether a feature that separates the classes does not vary within them.

    A category of a categorical feature counts as such a value, also where a class has
    several.
    """
    n_values = np.unique(data.values[:, feature]).size
    return bool(data.categorical[feature]) or n_values == data.n_classes


def _separates(data: Table, codes: IntArray, features: IntArray) -> NDArray[np.bool_]:
    """Return which features separate all classes: by ranges, or by categories."""
    separates = np.zeros(features.size, dtype=bool)
    numeric = ~data.categorical[features]
    values = data.values[:, features[numeric]]
    classes = np.unique(codes)
    low = np.stack([values[codes == k].min(axis=0) for k in classes])
    high = np.stack([values[codes == k].max(axis=0) for k in classes])
    order = np.argsort(low, axis=0, kind="stable")
    low, high = (np.take_along_axis(ends, order, axis=0) for ends in (low, high))
    separates[numeric] = (high[:-1] < low[1:]).all(axis=0)  # never with a missing value
    for i in np.flatnonzero(~numeric):
        feature = data.values[:, features[i]]
        if np.isnan(feature).any():
            continue
        seen = np.unique(np.column_stack([feature, codes]), axis=0)
        n_values = np.unique(feature).size
        few = n_values <= len(codes) / SMALLEST_FOLD
        separates[i] = len(seen) == n_values and few
    return separates

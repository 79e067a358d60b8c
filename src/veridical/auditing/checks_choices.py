"""Checks of choices that were made by looking at scores: VD028, VD029, VD031, VD032."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline

from veridical._core.arrays import BoolArray, FloatArray
from veridical._core.numbers import count, percent, points
from veridical._core.parallel import serial
from veridical._core.seeds import Purpose, seed_for
from veridical.auditing.codes import finding, untested
from veridical.auditing.evidence import AuditEvidence
from veridical.auditing.records import Finding, Severity, Untested
from veridical.evaluation.engine import Procedure, evaluate_table

#: Optimism, as a share of the range of the score; from it on the best of several tries
#: is a warning.
WORTH_A_WARNING = 0.02
# Number of permutations where the reported features were given.
_PERMUTATIONS = 30


# -- VD028 ---------------------------------------------------------------------------


def best_of_several(e: AuditEvidence) -> Finding | Untested | None:
    """VD028: the reported score is the best of several tries."""
    n_tried = e.known.n_tried
    if n_tried is None:
        return untested(
            "VD028",
            "n_tried=",
            "how many settings, seeds or subsets were tried before this one",
        )
    if n_tried == 1:
        return None
    reported, null = reported_null(e)
    spread = float(null.std(ddof=1))
    sign, width = e.scoring.sign, e.scoring.high - e.scoring.low
    if spread == 0:
        return None
    one = float(stats.norm.sf(sign * (reported - null.mean()) / spread))
    several = -math.expm1(n_tried * math.log1p(-min(one, 1 - 1e-16)))
    gain = spread * expected_maximum(n_tried)
    write = e.scoring.write
    said = (
        f"The reported {e.scoring.label} of {write(reported)} is the best of {n_tried} "
        f"tries. On permuted labels one try gives {write(float(null.mean()))} on "
        f"average, and the best of {n_tried} would give up to "
        f"{write(float(null.mean() + sign * gain))}, "
        f"{e.scoring.write_gap(sign * gain)} more (less if the tries are alike). The "
        f"p-value of one try is {one:.2g}; that of the best of {n_tried} is "
        f"{several:.2g}."
    )
    severity: Severity = "note"
    if several > e.alpha:
        severity = "error"
    elif not math.isfinite(width) or gain >= WORTH_A_WARNING * width:
        severity = "warning"
    details = {"n_tried": n_tried, "pvalue": several, "gain": gain}
    return finding("VD028", severity, said, details)


def reported_null(e: AuditEvidence) -> tuple[float, FloatArray]:
    """Return the reported score, and scores of one try on permuted labels."""
    if e.procedure.features is None:
        return e.score["in"].value, e.null["in"].accuracies
    strata = np.zeros(e.n_samples, dtype=np.intp)
    seed = seed_for(e.seed, Purpose.PERMUTATIONS, 3)
    return e.score["out"].value, e.scores_within(strata, _PERMUTATIONS, seed)


def expected_maximum(n: int) -> float:
    """Return the expected largest of n standard normal values, by Blom's formula.

    Examples
    --------
    >>> round(expected_maximum(10), 2)
    1.55
    """
    return float(stats.norm.ppf((n - 0.375) / (n + 0.25)))


# -- VD029 ---------------------------------------------------------------------------


def fitted_on_tested_samples(e: AuditEvidence) -> Finding | Untested | None:
    """VD029: something was fitted or tuned on samples that are tested here."""
    fitted = e.known.fitted_on
    if fitted is None:
        return untested(
            "VD029",
            "fitted_on=",
            "whether settings, features or preprocessing were fitted on test samples",
        )
    tested = np.unique(np.concatenate([split.test for split in e.splits]))
    shared = tested[fitted[tested]]
    if not shared.size:
        return None
    share = shared.size / tested.size
    other = np.zeros(e.n_samples, dtype=bool)
    other[shared] = True
    said = (
        f"{shared.size} of {tested.size} tested samples ({percent(share)}) are among "
        "those on which something was fitted or tuned before."
    )
    severity: Severity = "warning"
    details = {"n_samples": shared.size, "share": share}
    unseen = [~other[split.test] for split in e.splits]
    if e.has_classes and sum(map(np.count_nonzero, unseen)) >= 10:
        codes = e.procedure.table.y
        right = np.concatenate(
            [
                (predicted == codes[split.test])[keep]
                for predicted, split, keep in zip(
                    e.inside.predicted, e.splits, unseen, strict=True
                )
            ]
        )
        value = float(right.mean())
        said += (
            f" On the {right.size} predictions of other samples the accuracy is "
            f"{percent(value)} instead of {percent(e.accuracy['in'].value)}."
        )
        details["accuracy_unseen"] = value
    return finding("VD029", severity, said, details)


# -- VD031 ---------------------------------------------------------------------------

# Largest share of the possible values that are as good as the given one, for it to
# count as chosen on these samples: for a warning, and for a note. A value that was
# decided before is as good by chance about as often.
_CHOSEN_SHARE, _RARE_SHARE = 0.01, 0.05
# The same, for a warning, for a threshold that is exactly a score of a test sample or
# between two.
_RARE_WITH_TRACE = 0.2


def tuned_to_the_test_samples(e: AuditEvidence) -> Finding | None:
    """VD031: a threshold or number of iterations is the best for the test samples."""
    p = e.procedure
    if p.features is not None or e.procedure.table.n_classes != 2:
        return None
    whole = p.whole
    last = whole.steps[-1][1] if type(whole) is Pipeline else whole
    if isinstance(last, FixedThresholdClassifier):
        return _threshold(e, whole, last)
    if hasattr(last, "staged_predict") and hasattr(last, "n_estimators"):
        return _iterations(e, whole, int(last.n_estimators))
    return None


def _threshold(
    e: AuditEvidence, whole: Any, last: FixedThresholdClassifier
) -> Finding | None:
    if last.threshold == "auto":
        return None
    table = e.procedure.table
    base = _with_last(whole, last.estimator)
    (found,) = evaluate_table(
        [Procedure(base)], table, e.splits, run=serial, apply=_second_probability
    )
    if any(one is None for one in found.applied):
        return None
    scores = np.concatenate(found.applied)
    is_second = table.y[np.concatenate([split.test for split in e.splits])] == 1
    places = np.unique(scores)
    possible = (places[1:] + places[:-1]) / 2
    if last.threshold == 0.5 or not possible.size:  # the usual one was not tuned
        return None
    share, rank = _compare_thresholds(scores, is_second, possible, last.threshold)
    seen = np.concatenate([places, possible])
    exact = np.abs(seen - last.threshold).min() <= 1e-12 * np.abs(seen).max()
    severity = _severity_of(share)
    if exact and rank <= _RARE_WITH_TRACE:
        severity = "warning"
    if severity is None:
        return None
    given, usual = (
        float(np.mean((scores >= t) == is_second)) for t in (last.threshold, 0.5)
    )
    tuned = TunedThresholdClassifierCV(
        clone(last.estimator), scoring=_ACCURACY_SCORER, cv=3
    )
    procedure = e.procedure_of(_with_last(whole, tuned))
    again = procedure.inside(procedure.unpermuted, e.splits).accuracy
    said = (
        f"With the threshold {last.threshold:.4g} the accuracy is {percent(given)}. Of "
        f"{possible.size} possible thresholds {percent(rank)} are as good or better on "
        "these test samples"
        f"{', and it is exactly a score of them or between two' if exact else ''}: it "
        f"{_LOOKS[severity]}. Chosen "
        f"inside each training fold, the threshold gives {percent(again)} "
        f"({points(again - given)}); a threshold of 0.5 gives {percent(usual)}."
    )
    details = {"share": share, "optimism": given - again}
    return finding("VD031", severity, said, details)


_LOOKS: dict[Severity, str] = {
    "warning": "looks chosen on them",
    "note": "may have been chosen on them, or decided before and as good by chance",
}


def _severity_of(share: float) -> Severity | None:
    """Return how sure it is that a value was chosen, by the share that is as good."""
    if share > _RARE_SHARE:
        return None
    return "warning" if share <= _CHOSEN_SHARE else "note"


def _compare_thresholds(
    scores: FloatArray, is_second: BoolArray, possible: FloatArray, threshold: float
) -> tuple[float, float]:
    """Compare a threshold with all others, by accuracy and by balanced accuracy.

    Returns
    -------
    float
        Share of the possible thresholds that are as good, by the measure by which the
        threshold is the best; 1 where it is not the best by either.
    float
        Share of those that are as good or better, by the measure by which it is best.
    """
    best, rank = 1.0, 1.0
    sizes = np.where(is_second, is_second.sum(), (~is_second).sum())
    for weights in (np.ones(len(scores)), 1 / sizes):
        right = np.array(
            [
                ((scores >= t) == is_second) @ weights
                for t in (threshold, *possible.tolist())
            ]
        )
        as_good = float(np.mean(right[1:] >= right[0] * (1 - 1e-12)))
        rank = min(rank, as_good)
        if right[0] >= right.max() * (1 - 1e-12):
            best = min(best, as_good)
    return best, rank


def _iterations(e: AuditEvidence, whole: Any, n: int) -> Finding | None:
    if n < 2:
        return None
    table = e.procedure.table
    longer = clone(whole)
    last = longer.steps[-1][1] if type(longer) is Pipeline else longer
    last.set_params(n_estimators=2 * n)
    (found,) = evaluate_table(
        [Procedure(longer)], table, e.splits, run=serial, apply=_staged_hits
    )
    if any(one is None for one in found.applied):
        return None
    longest = max(len(hits) for hits in found.applied)
    right = sum(
        np.pad(hits, (0, longest - len(hits)), mode="edge") for hits in found.applied
    )
    right = np.asarray(right) / sum(len(split.test) for split in e.splits)
    if longest < n:
        return None
    given = float(right[n - 1])
    share = float(np.mean(right >= given - 1e-12))
    severity = _severity_of(share)
    if given < right.max() - 1e-12 or severity is None:
        return None
    said = (
        f"With {n} iterations the accuracy is {percent(given)}, and no other number up "
        f"to {longest} is better on these test samples ({percent(share)} are as good): "
        f"it {_LOOKS[severity]}. The mean over all numbers is "
        f"{percent(float(right.mean()))}."
    )
    details = {"share": share, "optimism": given - float(right.mean())}
    return finding("VD031", severity, said, details)


def _with_last(whole: Any, last: Any) -> Any:
    """Return a pipeline with another last step."""
    if type(whole) is not Pipeline:
        return clone(last)
    return Pipeline([*clone(whole).steps[:-1], (whole.steps[-1][0], clone(last))])


def _second_probability(model: Any, X: Any, y: NDArray[Any]) -> FloatArray | None:
    """Return the probability, or the decision value, of the second class."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X)[:, 1], dtype=np.float64)
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    return None


def _staged_hits(model: Any, X: Any, y: NDArray[Any]) -> FloatArray | None:
    """Return the number of right predictions after each iteration."""
    if type(model) is Pipeline:
        X, model = model[:-1].transform(X), model.steps[-1][1]
    if not hasattr(model, "staged_predict"):
        return None
    return np.array([np.count_nonzero(p == y) for p in model.staged_predict(X)], float)


def _share_right(y: NDArray[Any], predicted: NDArray[Any]) -> float:
    return float(np.mean(y == predicted))


# The accuracy of many thresholds; scikit-learn's own scorer checks both arrays each
# time, which takes longer than to compare them.
_ACCURACY_SCORER = make_scorer(_share_right)


# -- VD032 ---------------------------------------------------------------------------


def removed_by_their_predictions(e: AuditEvidence) -> Finding | Untested | None:
    """VD032: samples were removed after their predictions had been seen."""
    n_removed = e.known.n_removed
    if n_removed is None:
        return untested(
            "VD032",
            "n_removed=",
            "whether samples were removed after their predictions were seen",
        )
    if not n_removed:
        return None
    if not e.has_classes:
        return finding(
            "VD032",
            "warning",
            f"{count(n_removed, 'sample')} of {e.n_samples + n_removed} "
            f"{'was' if n_removed == 1 else 'were'} removed after the predictions were "
            f"seen. How much this changes the {e.measure.label} cannot be computed "
            "from the samples that are left.",
            {"n_removed": n_removed},
        )
    given, low = e.accuracy["in"].value, e.accuracy["in"].low
    least = accuracy_with_removed(e)
    all_samples = e.n_samples + n_removed
    said = (
        f"{count(n_removed, 'sample')} of {all_samples} "
        f"{'was' if n_removed == 1 else 'were'} removed after the predictions were "
        f"seen. If these were wrong, as those that catch the eye are, the accuracy on "
        f"all {all_samples} is {percent(least)} instead of {percent(given)} "
        f"({points(least - given)})."
    )
    severity: Severity = "note"
    if least < low or (math.isnan(low) and least < given):
        severity = "error"
    elif given - least >= WORTH_A_WARNING:
        severity = "warning"
    details = {"n_removed": n_removed, "accuracy_with_removed": least}
    return finding("VD032", severity, said, details)


def accuracy_with_removed(e: AuditEvidence) -> float:
    """Return the accuracy if all samples that were removed were predicted wrongly."""
    n_removed = e.known.n_removed or 0
    return e.accuracy["in"].value * e.n_samples / (e.n_samples + n_removed)

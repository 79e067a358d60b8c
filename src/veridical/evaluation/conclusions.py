"""From an estimate or a selection to a sentence, and whether it may be believed."""

from __future__ import annotations

import math

from veridical._core.defaults import CONFIDENCE
from veridical._core.numbers import MINUS, count, percent, percent_range
from veridical._core.records import Conclusion
from veridical._core.scoring import ScoreInfo
from veridical._core.text import capitalized, shortened
from veridical.evaluation.arguments import name_of
from veridical.evaluation.choices import Choice
from veridical.evaluation.records import (
    CalibrationTable,
    Correction,
    Coverage,
    Estimate,
    Estimates,
    Selection,
)
from veridical.evaluation.trust import allows_claims, default_interval

#: Kinds of intervals, as they are called in sentences.
INTERVAL_NAMES = {
    "exact": "exact",
    "jackknife": "jackknife",
    "corrected-t": "corrected t",
    "nested": "nested cross-validation",
    "wilson": "Wilson",
    "cluster-wilson": "Wilson (groups)",
}
#: What the interval of an accuracy is, by its kind; "" where there is none.
_INTERVALS = {
    "wilson": "Wilson's 95 % interval for independent samples",
    "cluster-wilson": "Wilson's 95 % interval for the effective number of samples",
    "corrected-t": "the corrected 95 % t interval over folds; it assumes that the "
    "scores of folds are normally distributed, and that the correlation of two of them "
    "is the share of samples that each fold tests (Nadeau and Bengio 2003)",
    "jackknife": "the 95 % interval of the jackknife for one test set, on a scale "
    "without limits (logits of a score between 0 and 1); it assumes that test samples, "
    "or groups of them, are independent and many",
    "exact": "Clopper and Pearson's exact 95 % interval for independent samples of the "
    "class, because all folds have the same score",
    "": "none is valid for this way of splitting",
}
#: What is said of Wilson's intervals, unless there is one training set.
_OVERLAP = "; it does not account for the overlap of training folds"
#: Name of the method that is never believed.
RESUBSTITUTION = "resubstitution"
#: What stands in place of a rate where no measured design is near.
NOT_NEAR = "not measured in designs like this one"
#: Why no claim may rest on an interval whose coverage was not measured.
NOT_KNOWN = "how often such intervals cover the truth is not known"
ALWAYS_MAJORITY = "always predicting the most frequent class"
#: What a score is compared with; always predicting the shares of the classes.
GUESSING = "guessing"


def explain_interval(
    kind: str, scoring: ScoreInfo, *, one_test_set: bool = False
) -> str:
    """Write what a kind of interval is, and what it assumes.

    Examples
    --------
    >>> explain_interval("", ScoreInfo())
    'none is valid for this way of splitting'
    """
    said = _INTERVALS[kind]
    if kind in ("wilson", "cluster-wilson") and not one_test_set:
        said += _OVERLAP
    if kind == "corrected-t" and scoring.is_accuracy:
        said += "; it is made at least as wide as Wilson's interval"
    return said


# -- estimates -------------------------------------------------------------------------


def leading(estimates: tuple[Estimate, ...]) -> Estimate:
    """Return the estimate that the conclusion rests on.

    An estimate without doubts is preferred, then one with an interval, then one whose
    intervals cover often enough, then the one that tested more samples, then the first.
    """
    return min(
        estimates,
        key=lambda e: (
            e.method == RESUBSTITUTION,
            e.is_doubtful,
            not e.intervals,
            bool(_doubt_of(e)),
            -e.n_test,
        ),
    )


def conclude_estimates(record: Estimates) -> Conclusion:
    """Write how accurate an estimator is, and decide whether it may be believed."""
    lead = leading(record.estimates)
    who = shortened(name_of(record.estimator))
    be, does, reached = _reached(lead)
    if record.truth is not None:
        return Conclusion("known", _on_known_truth(record, record.truth, lead))
    if lead.method == RESUBSTITUTION:
        return Conclusion(
            "no",
            f"The accuracy of {who} on new samples cannot be estimated from the "
            "samples that it was trained on.",
        )
    if lead.is_doubtful:
        return Conclusion(
            "care",
            f"{capitalized(who)} may {be} {reached}, but every estimate here is "
            "doubtful; read the notes first.",
        )
    if not lead.intervals:
        return Conclusion(
            "care",
            f"{capitalized(who)} {does} an estimated {reached}, by {lead.method}, "
            "which has no valid interval.",
        )
    claim = f"{capitalized(who)} {does} {reached} ({write_interval(lead)}, by "
    claim += f"{lead.method})"
    if record.data is None or not lead.scoring.is_accuracy:
        return _against_chance(lead, claim)
    # No interval is valid for every estimator, least for those that select features: on
    # random labels (60 samples, 10 of 1000 features by anova, naive Bayes, ten
    # folds) Wilson's lay above the majority share in 10 of 150 data sets, and all
    # intervals did in 1. So only all of them together support the claim.
    share = record.data.majority_share
    above = [low > share for low, _ in lead.intervals.values()]
    if all(above):
        better = f"it is better than {ALWAYS_MAJORITY} ({percent(share)})"
        if doubt := _doubt_of(lead):
            return claim_with_care(claim, doubt, better)
        return Conclusion("yes", f"{claim}.")
    if above[0]:
        return Conclusion(
            "care",
            f"{claim}, but whether that is better than {ALWAYS_MAJORITY} "
            f"({percent(share)}) depends on which interval you believe.",
        )
    return Conclusion(
        "open",
        f"{claim}, which is not shown to be better than {ALWAYS_MAJORITY} "
        f"({percent(share)}).",
    )


def _against_chance(lead: Estimate, claim: str) -> Conclusion:
    """Compare any score with what guessing reaches, where that is known."""
    scoring = lead.scoring
    if scoring.chance is None or scoring.is_accuracy:
        return Conclusion("open", f"{claim}.")
    end = 0 if scoring.greater_is_better else 1
    nearest = [bounds[end] for bounds in lead.intervals.values()]
    if all(scoring.is_better(bound, scoring.chance) for bound in nearest):
        better = f"it is better than {GUESSING} ({scoring.write(scoring.chance)})"
        if doubt := _doubt_of(lead):
            return claim_with_care(claim, doubt, better)
        return Conclusion("yes", f"{claim}.")
    return Conclusion(
        "open",
        f"{claim}, which is not shown to be better than {GUESSING} "
        f"({scoring.write(scoring.chance)}).",
    )


def _doubt_of(estimate: Estimate) -> str:
    """Write why no claim may rest on the default interval; "" where one may."""
    kind = default_interval(estimate)
    return "" if kind is None else doubt_interval(estimate.coverage.get(kind))


def doubt_interval(measured: Coverage | None) -> str:
    """Write why no claim may rest on an interval; "" where one may.

    Headlines ask this function before they say "yes".
    """
    if allows_claims(measured):
        return ""
    if measured is None:
        return NOT_KNOWN
    return "such intervals miss the truth too often in designs like this one"


def claim_with_care(claim: str, doubt: str, what: str) -> Conclusion:
    """Conclude that what an interval shows is to be claimed with care, and why."""
    if doubt == NOT_KNOWN and NOT_NEAR in claim:  # said already, with the interval
        return Conclusion("care", f"{claim}. So claim only with care that {what}.")
    return Conclusion("care", f"{claim}. Claim only with care that {what}: {doubt}.")


def _reached(estimate: Estimate) -> tuple[str, str, str]:
    """Return the parts of a sentence: the verb after "may", the verb, and the rest."""
    if estimate.metric == "accuracy":
        value = percent(estimate.value)
        return "classify", "classifies", f"{value} of new samples correctly"
    scoring = estimate.scoring
    value = scoring.write(estimate.value)
    return "have", "has", f"{scoring.full_label} {value} on new samples"


def _on_known_truth(record: Estimates, truth: Estimate, lead: Estimate) -> str:
    _, does, reached = _reached(truth)
    who = capitalized(shortened(name_of(record.estimator)))
    fact = (
        f"{who} {does} {reached} from this source; "
        f"{lead.method} says {lead.scoring.write(lead.value)}"
    )
    if not lead.intervals:
        return f"{fact}."
    low, high = next(iter(lead.intervals.values()))
    verb = "covers" if low <= truth.value <= high else "misses"
    return f"{fact}, and its interval {verb} the truth ({write_interval(lead)})."


def write_interval(estimate: Estimate) -> str:
    """Write the first interval: its confidence, its kind and its measured coverage."""
    kind, (low, high) = next(iter(estimate.intervals.items()))
    bounds = estimate.scoring.write_range(low, high)
    named = INTERVAL_NAMES.get(kind, kind)
    covered = add_coverage(estimate.coverage.get(kind))
    return f"{100 * CONFIDENCE:g} % {named} interval {bounds}, {covered}"


def add_coverage(measured: Coverage | None) -> str:
    """Write what stands behind an interval: how often such intervals cover."""
    if measured is None:
        return f"coverage {NOT_NEAR}"
    return f"measured coverage {write_coverage(measured)}"


def write_coverage(measured: Coverage | None) -> str:
    """Write the measured coverage of a kind of interval, without its conditions.

    Examples
    --------
    >>> write_coverage(Coverage(0.972, 0.986, "10 folds"))
    '97.2 to 98.6 %'
    >>> write_coverage(None)
    'not measured in designs like this one'
    """
    if measured is None:
        return NOT_NEAR
    low, high = measured.low, measured.high
    return percent(low) if low == high else percent_range(low, high)


def say_coverage(measured: Coverage | None) -> str:
    """Say how often such intervals have covered the truth, and where."""
    if measured is None:
        return (
            "How often such intervals cover the truth has not been measured in "
            "designs like this one."
        )
    return (
        f"Such 95 % intervals covered the truth in {write_coverage(measured)} of data "
        f"sets ({measured.conditions})."
    )


def write_plain(value: float) -> str:
    """Write a number with four figures, whatever it is."""
    return f"{value:.4g}".replace("-", MINUS)


def estimate_line(estimate: Estimate) -> str:
    """Write an estimate in one line: its value, its interval and its method."""
    scoring = estimate.scoring
    parts = [f"{estimate.metric} {scoring.write(estimate.value)}"]
    kind = default_interval(estimate)
    if kind is not None:
        bounds = scoring.write_range(*estimate.interval())
        parts.append(f"95 % interval {bounds} ({kind})")
    parts.append(f"by {estimate.method}")
    parts += [f"{one.metric} {one.scoring.write(one.value)}" for one in estimate.others]
    if estimate.notes:
        parts.append(count(len(estimate.notes), "note"))
    return f"<Estimate: {', '.join(parts)}>"


# -- a selection -----------------------------------------------------------------------


def conclude_selection(record: Selection) -> Conclusion:
    """Write how accurate the selection is, and decide whether it may be believed.

    If the folds do not support the list of features, the conclusion has a reservation
    even where the accuracy is well above the majority share.
    """
    found, scoring, share = record.score, record.scoring, record.scoring.chance
    n_features = count(len(record.features), "feature")
    bounds = " (no interval)"
    if math.isfinite(found.low):
        bounds = f" ({100 * CONFIDENCE:g} % interval "
        bounds += f"{scoring.write_range(found.low, found.high)}, "
        bounds += f"{add_coverage(record.score_coverage)})"
    reached = f"has {scoring.full_label} {scoring.write(found.value)} on new samples"
    rest = f"the {scoring.write(share)} of {GUESSING}"
    if scoring.is_accuracy:
        reached = f"classifies {percent(found.value)} of new samples correctly"
        rest = f"the {percent(share)} of {ALWAYS_MAJORITY}"
    start = (
        f"With {n_features} by {shortened(name_of(record.selector))}, "
        f"{shortened(name_of(record.estimator))} {reached}{bounds}"
    )
    if share is None:
        return Conclusion("open", f"{start}.")
    more, less = ("more", "less") if scoring.greater_is_better else ("less", "more")
    nearest, farthest = found.low, found.high
    if not scoring.greater_is_better:
        nearest, farthest = found.high, found.low
    if scoring.is_better(share, farthest):
        return Conclusion("no", f"{start}, {less} than {rest}.")
    if not scoring.is_better(nearest, share):
        return Conclusion("open", f"{start}, not shown to be {more} than {rest}.")
    doubt = doubt_interval(record.score_coverage)
    shown = Conclusion("yes", f"{start}, clearly {more} than {rest}.")
    if doubt:
        shown = claim_with_care(start, doubt, f"this is {more} than {rest}")
    if record.is_stable:
        return shown
    n_weak = len(record.features) - record.n_supported
    how = "fewer than half of the folds"
    if 2 * record.n_supported >= len(record.features):
        n_weak = sum(feature.n_folds == 0 for feature in record.features)
        how = "no fold"
    verb = "was" if n_weak == 1 else "were"
    the = "The" if doubt else "But the"
    return Conclusion(
        "care",
        f"{shown.sentence} {the} list of features is not stable: "
        f"{n_weak} of {len(record.features)} {verb} selected in {how}.",
    )


# -- probabilities ---------------------------------------------------------------------


def conclude_correction(record: Correction) -> Conclusion:
    """Write which model's probabilities may be believed."""
    corrected, sparse = record.corrected, record.sparse
    sentence = (
        f"Naive Bayes misclassifies {percent(record.uncorrected.error)} of new samples "
        f"and expects to misclassify {percent(record.uncorrected.expected_error)}; "
        f"with the correction it expects {percent(corrected.expected_error)}"
    )
    if record.believed == "sparse":
        sentence += (
            f"; the model with null features misclassifies "
            f"{percent(sparse.error)} and expects {percent(sparse.expected_error)}"
        )
    if record.does_harm:
        sentence += "; the published correction makes the probabilities worse"
    if record.believed is not None:
        return Conclusion("yes", f"{sentence}.")
    if predicts_its_error(min(record.tables.values(), key=lambda one: one.log_loss)):
        return Conclusion("care", f"{sentence}.")
    return Conclusion("no", f"{sentence}. Believe none of these probabilities.")


def conclude_table(record: CalibrationTable) -> Conclusion:
    """Write the measured and the expected error rate, and whether they agree."""
    who = f'The model "{record.label}"' if record.label else "The classifier"
    return Conclusion(
        "yes" if predicts_its_error(record) else "care",
        f"{who} misclassifies {percent(record.error)} of "
        f"{count(record.n, 'sample')} and expects to misclassify "
        f"{percent(record.expected_error)}.",
    )


def predicts_its_error(table: CalibrationTable) -> bool:
    """Return whether a model expects its error rate, within two standard errors."""
    return abs(table.error - table.expected_error) <= two_standard_errors(table)


def two_standard_errors(table: CalibrationTable) -> float:
    """Return two standard errors of the error rate, which is taken as 1 % at least."""
    return 2 * math.sqrt(max(table.error * (1 - table.error), 0.01) / table.n)


# -- choices ---------------------------------------------------------------------------


def conclude_choice(record: Choice) -> Conclusion:
    """Write how good the chosen candidate is, and whether it beats guessing."""
    scoring, winner = record.scoring, record.winner
    low, high = record.interval()
    reached = f"{scoring.full_label} {scoring.write(record.score)}"
    before = scoring.write(record.naive_score)
    claim = (
        f"{capitalized(shortened(winner.label))} is the best of "
        f"{count(len(record.found), 'candidate')}; expect {reached} on new samples "
        f"(95 % interval {scoring.write_range(low, high)})"
    )
    if record.optimism > 0 and before != scoring.write(record.score):
        claim += f", not the {before} of its cross-validation"
    else:
        claim += f"; its cross-validation gave {before}"
    if record.is_partial:
        return Conclusion(
            "care",
            f"{claim}. This is a partial answer: the search was stopped after "
            f"{len(record.found)} of {record.n_planned} candidates.",
        )
    chance = scoring.chance
    if chance is None:
        return Conclusion("open", f"{claim}.")
    nearest = low if scoring.greater_is_better else high
    if winner.n_features and scoring.is_better(nearest, chance):
        return Conclusion("yes", f"{claim}.")
    what = ALWAYS_MAJORITY if scoring.is_accuracy else GUESSING
    return Conclusion(
        "open",
        f"{claim}. That is not shown to be better than {what} "
        f"({scoring.write(chance)}).",
    )

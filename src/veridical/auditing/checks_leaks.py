"""Checks for leakage of test samples into training: VD001–VD003, 7, 11, 13, 14."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import clone

from veridical._core.numbers import percent
from veridical._core.scoring import DEFAULTS
from veridical._core.seeds import Purpose, seed_for
from veridical._core.sklearn_private import is_search
from veridical._core.splits import Splitter
from veridical._core.text import quote
from veridical.auditing.agreement import student_pvalue
from veridical.auditing.association import find_selection_trace
from veridical.auditing.batches import find_batch_trace
from veridical.auditing.codes import finding, untested
from veridical.auditing.duplicates import across_folds
from veridical.auditing.evidence import AuditEvidence
from veridical.auditing.kinship import by_folds, name_subjects
from veridical.auditing.preprocessing import find_traces, score_inside_folds
from veridical.auditing.records import (
    FEWEST_PER_FEATURE,
    FEWEST_TELLING,
    LEVEL,
    Finding,
    Severity,
    Untested,
)
from veridical.evaluation.arguments import name_of

#: Pairs of samples that a finding names; more are only counted.
_MOST_PAIRS_SHOWN = 5


# -- VD001 ---------------------------------------------------------------------------


def selection_saw_the_test_fold(e: AuditEvidence) -> Finding | Untested | None:
    """VD001: features were selected with the labels of all samples."""
    if e.preselection is None:
        return _selection_trace(e)
    assert e.optimism is not None
    details = {
        "optimism": e.optimism.value,
        f"{e.scoring.name}_out": e.score["out"].value,
        f"{e.scoring.name}_in": e.score["in"].value,
        "pvalue": e.preselection.pvalue,
        "association_pvalue": e.preselection.association_pvalue,
        "signal_pvalue": e.preselection.signal_pvalue,
    }
    if not e.preselection.agrees and e.preselection.association_pvalue > LEVEL:
        return None
    known = has_signal(e) or not is_telling(e)
    if not e.preselection.agrees or (known and not e.preselection.given):
        return _undecided(e, details)
    severity: Severity = "error"
    # Never where there is no interval.
    shown = e.optimism.low > 0 if e.scoring.greater_is_better else e.optimism.high < 0
    if not shown and has_signal(e):
        severity = "warning"  # there is a leak, but the signal remains without it
    said = [_describe_selection(e), _optimism(e), _on_random_labels(e)]
    if severity == "warning":
        said.append(
            f"Selected inside the folds, the {e.scoring.label} is still "
            f"{'above' if e.scoring.greater_is_better else 'below'} that on random "
            "labels, and the leak is not shown to change it."
        )
    return finding("VD001", severity, " ".join(said), details)


def has_signal(e: AuditEvidence) -> bool:
    """Return whether the labels are shown to have something to do with the features.

    Then features may agree with a selector because they were known to be useful. It is
    shown if a selection inside the folds predicts the labels, or if the best features
    of the table are associated with the labels more strongly than the best for permuted
    labels.
    """
    assert e.preselection is not None
    sign, null = e.scoring.sign, e.null["in"].accuracies
    predicted = student_pvalue(sign * e.inside.score, sign * null)
    pvalue = min(predicted, e.preselection.signal_pvalue)
    return pvalue <= e.preselection.signal_level


def is_telling(e: AuditEvidence) -> bool:
    """Return whether agreement with a selector shows that these labels were used.

    Of a few features in a table with few others, a selector often chooses those that
    are known to be weakly useful, and no test shows the signal.
    """
    assert e.preselection is not None
    k = len(e.preselection.features)
    return k >= FEWEST_TELLING or e.procedure.table.n_features >= FEWEST_PER_FEATURE * k


def _undecided(e: AuditEvidence, details: dict[str, float]) -> Finding:
    """Report features that were either selected by the labels or known to be useful."""
    chosen = e.preselection
    assert chosen is not None
    k, p = len(chosen.features), e.procedure.table.n_features
    features = f"The {k} features are" if k > 1 else "The feature is"
    others = f"{k} others" if k > 1 else "another"
    said = []
    if chosen.association_pvalue <= LEVEL:
        said.append(
            f"{features} associated with the labels more strongly than {others} of the "
            f"{p} would be (p = {chosen.association_pvalue:.3f})."
        )
    said += [
        f"{_write_agreement(e)}. Features that were selected by these labels look like "
        "this, and so do features that were known to be useful; these samples cannot "
        "show which it is.",
        _optimism(e),
    ]
    return finding(
        "VD001",
        "note",
        " ".join(said),
        details,
        cure="If the features were selected on these samples, report the accuracy "
        "under IN, and name the selector (selector=) to measure the optimism. If they "
        "were known before these samples were seen, ignore this code.",
    )


def _describe_selection(e: AuditEvidence) -> str:
    chosen = e.preselection
    assert chosen is not None
    said = f"{_write_agreement(e)}: the features were selected by these labels."
    if chosen.given:
        return (
            f"{said} {name_of(chosen.selector)} repeats the selection inside the folds."
        )
    if chosen.selector == chosen.best:
        return said
    k, shared = len(chosen.features), chosen.overlap[chosen.selector]
    return (
        f"{said} Inside the folds {name_of(chosen.selector)} is used, which is faster "
        f"and shares {shared} of {k}, so the optimism is an approximation; name the "
        "selector (selector=) to be exact."
    )


def _write_agreement(e: AuditEvidence) -> str:
    """Write how the best selector agrees with the features, and by chance."""
    chosen = e.preselection
    assert chosen is not None
    k, common = len(chosen.features), chosen.overlap[chosen.best]
    which = "the best" if common == k else "among the best"
    verb = "is" if common == 1 else "are"
    said = f"{common} of the {k} features {verb} {which} {k}"
    if common == k == 1:
        said = "The feature is the best"
    said += f" by {name_of(chosen.best)}"
    if not chosen.permuted:
        return said
    low, high = min(chosen.permuted), max(chosen.permuted)
    span = f"{low}" if low == high else f"{low} to {high}"
    return f"{said} on all samples (with permuted labels: {span})"


def _optimism(e: AuditEvidence) -> str:
    assert e.optimism is not None
    scoring = e.scoring
    size = scoring.write_gap(e.optimism.value)
    if math.isfinite(e.optimism.low):  # a single split has no interval
        span = scoring.write_gap_range(e.optimism.low, e.optimism.high)
        size += f" ({100 * (1 - e.alpha):g} % interval {span})"
    return (
        f"Selected beforehand, {scoring.label} is "
        f"{scoring.write(e.score['out'].value)}; selected in each training fold, "
        f"{scoring.write(e.score['in'].value)}: an optimism of {size}."
    )


def _on_random_labels(e: AuditEvidence) -> str:
    null = e.null["out"]
    usual = e.scoring.write_range(null.low, null.high)
    return (
        "On permuted labels, which cannot be predicted, selecting beforehand reports "
        f"{e.scoring.write(null.mean)} on average (95 % of the time {usual})."
    )


def _selection_trace(e: AuditEvidence) -> Finding | Untested | None:
    """Report a table that contains only selected features."""
    seed = seed_for(e.seed, Purpose.ASSOCIATION, 2)
    found = find_selection_trace(e.procedure.table, seed)
    if found is None:
        return None
    if not found.is_shown:
        return untested(
            "VD001",
            "selected=",
            f"whether the {found.n_features} features, which are all associated with "
            "the outcome, were selected on these samples",
        )
    between = "the classes"
    if e.procedure.table.kind != "classes":
        between = "the thirds of the samples by their outcome"
    return finding(
        "VD001",
        "warning",
        f"Each of the {found.n_features} features differs between {between} (p at most "
        f"{found.largest:.2g}), and the differences are more alike than chance makes "
        f"those of features that were not selected (p = {found.pvalue:.2g}). The "
        "features look as if they had been selected on these samples.",
        {
            "n_features": found.n_features,
            "largest_pvalue": found.largest,
            "pvalue": found.pvalue,
        },
        cure="Pass all features and name the selected ones (selected=), to measure the "
        "effect of the selection. If nothing was selected, ignore this code.",
    )


# -- VD002 ---------------------------------------------------------------------------


def preprocessing_saw_all_data(e: AuditEvidence) -> Finding | None:
    """VD002: features show that a step was fitted on all samples."""
    traces = find_traces(e.procedure.table)
    if not traces:
        return None
    said = [trace.sentence for trace in traces]
    details: dict[str, float] = {
        trace.kind: float(trace.n_features) for trace in traces
    }
    severity: Severity = "note"
    honest = score_inside_folds(e, traces)
    scoring, before = e.scoring, e.score["in"]
    if honest is None:
        said.append(f"Its effect on the {scoring.label} cannot be measured.")
        severity = "warning"
    else:
        change = honest - before.value
        details[f"{scoring.name}_when_redone"] = honest
        said.append(
            f"Repeated inside each training fold, it gives {scoring.write(honest)} "
            f"instead of {scoring.write(before.value)} ({scoring.write_gap(change)})."
        )
        if not before.low <= honest <= before.high:
            severity = "error"
        elif scoring.sign * change < -1 / e.n_samples:
            severity = "warning"
    return finding("VD002", severity, " ".join(said), details)


# -- VD003 ---------------------------------------------------------------------------


def copies_across_folds(e: AuditEvidence) -> Finding | None:
    """VD003: copies or near-copies of training samples are tested."""
    copies = e.copies
    if not len(copies.pairs):
        return None
    apart = across_folds(copies.pairs, e.splits) > 0
    if copies.explained:
        apart &= copies.nearness > 0
    if not apart.any():
        return None
    pairs, exact = copies.pairs[apart], copies.exact[apart]
    labels = e.procedure.table.labels
    differ = int(np.count_nonzero(labels[pairs[:, 0]] != labels[pairs[:, 1]]))
    n_samples = np.unique(pairs).size
    said = [_list_pairs(pairs, exact, copies.nearness[apart])]
    if differ:
        what = "class" if e.procedure.table.kind == "classes" else "outcome"
        said.append(f"{differ} of the pairs differ in their {what}.")
    said.append(
        f"Of {e.n_samples} samples, {n_samples} ({percent(n_samples / e.n_samples)}) "
        "have a copy in a training set while they are tested."
    )
    n_exact = int(exact.sum())
    details = {
        "n_pairs": len(pairs),
        "n_exact": n_exact,
        "n_samples": n_samples,
        "first": int(pairs[0, 0]),
        "second": int(pairs[0, 1]),
    }
    return finding("VD003", "warning", " ".join(said), details)


def _list_pairs(pairs: Any, exact: Any, nearness: Any) -> str:
    shown = []
    for (a, b), same, r in zip(pairs.tolist(), exact, nearness, strict=True):
        how = "equal" if same else f"{1 / r:.0f} times nearer than their neighbours"
        shown.append(f"rows {a} and {b} ({how})")
    text = ", ".join(shown[:_MOST_PAIRS_SHOWN])
    more = len(shown) - _MOST_PAIRS_SHOWN
    others = f" and {more} more pairs" if more > 0 else ""
    noun = "pair is" if len(shown) == 1 else "pairs are"
    return (
        f"{len(shown)} {noun} copies or near-copies in different folds, counting rows "
        f"from 0: {text}{others}."
    )


# -- VD007 ---------------------------------------------------------------------------


def tuned_on_the_reported_score(e: AuditEvidence) -> Finding | None:
    """VD007: the reported score of a search is the best of many."""
    search = e.procedure.whole
    if not is_search(search) or search.scoring not in (None, e.scoring.name):
        return None
    if search.scoring is None and e.scoring.name not in DEFAULTS.values():
        return None
    p = e.procedure
    table = p.table.corrected(np.arange(e.n_samples))
    fitted = clone(search).fit(table.source, table.labels)
    if not hasattr(fitted, "best_score_"):
        return None
    best, honest, scoring = float(fitted.best_score_), e.score["in"], e.scoring
    if best <= honest.value:
        return None
    tried = len(fitted.cv_results_["params"])
    return finding(
        "VD007",
        "error" if best > honest.high else "note",
        f"The best of {tried} settings scores {scoring.write(best)} in the search's "
        "own cross-validation, and was chosen for that. Tested on samples that the "
        f"search has not seen, it reaches {scoring.write(honest.value)} "
        f"({scoring.write_gap(best - honest.value)} of optimism; "
        f"{100 * (1 - e.alpha):g} % interval of the latter "
        f"{scoring.write_range(honest.low, honest.high)}).",
        {"best_score": best, "nested": honest.value, "n_settings": tried},
    )


# -- VD011 ---------------------------------------------------------------------------


def tested_on_training_samples(e: AuditEvidence) -> Finding | None:
    """VD011: test sets share samples with training sets."""
    shared = [
        np.isin(split.test, split.train).sum()
        for split in e.splits
        if not split.leaves_out
    ]
    n_shared = int(np.sum(shared))
    if not n_shared:
        return None
    n_tested = sum(len(split.test) for split in e.splits)
    return finding(
        "VD011",
        "error",
        f"{n_shared} of {n_tested} predictions are of samples that were in the "
        f"training set, in {np.count_nonzero(shared)} of {len(e.splits)} splits.",
        {"n_predictions": n_shared, "n_tested": n_tested},
    )


# -- VD013 ---------------------------------------------------------------------------


def batches_corrected_on_all(e: AuditEvidence) -> Finding | Untested | None:
    """VD013: the means of batches agree better than chance allows."""
    if e.known.batch is None:
        return untested(
            "VD013", "batch=", "whether batches were corrected on all samples"
        )
    seed = seed_for(e.seed, Purpose.ASSOCIATION, 3)
    found = find_batch_trace(e.procedure.table, e.known.batch, seed)
    if found is None:
        return None
    classes = "classes" if e.has_classes else "outcome"
    within = "within classes" if e.has_classes else "given the outcome"
    details = {
        "plain": found.plain,
        f"within_{classes}": found.within,
        "plain_pvalue": found.plain_pvalue,
        "within_pvalue": found.within_pvalue,
        "association": found.association,
    }
    said = [
        f"Batches explain {percent(found.plain)} as much of the variance of the "
        f"{found.n_features} features as random groups of these sizes do "
        f"(p = {found.plain_pvalue:.3f}), and {within} {percent(found.within)} "
        f"(p = {found.within_pvalue:.3f})."
    ]
    if found.how == "with the class":
        said.append(
            f"Means of batches agree {within}, so the batches were corrected on all "
            f"samples with the {e.outcome} protected: the "
            f"{'classes' if e.has_classes else 'outcomes'} of test samples shaped "
            f"their features. How much this adds to the {e.measure.label} cannot be "
            "computed from the corrected features."
        )
        return finding("VD013", "error", " ".join(said), details)
    if found.how == "without the class":
        said.append(
            "The plain means of batches agree, so the batches were corrected on all "
            f"samples without the {e.outcome}. Where batch and {e.outcome} go "
            f"together, as here (Cramér's V {found.association:.2f}), the "
            f"{e.measure.label} is too {'low' if e.measure.sign > 0 else 'high'}: a "
            "test sample has taken part in the mean that was subtracted from it."
        )
        return finding("VD013", "warning", " ".join(said), details)
    said.append(
        f"The batches were corrected on all samples. Batch and {e.outcome} go together "
        f"too little here (Cramér's V {found.association:.2f}) to see whether the "
        f"{e.outcome} was protected, and for it to change the {e.measure.label} much."
    )
    return finding("VD013", "note", " ".join(said), details)


# -- VD014 ---------------------------------------------------------------------------


def samples_belong_together(e: AuditEvidence) -> Finding | Untested | None:
    """VD014: several samples of one subject, and no groups."""
    data = e.procedure.table
    if data.groups is not None:
        return None
    named = name_subjects(data)
    if named is not None:
        said = (
            f"Column {quote(named.column)} looks like {named.description}, of which "
            "most have "
            "several samples. These resemble each other, so that a test sample is "
            "easier to predict from its own subject than from others."
        )
        return finding("VD014", "warning", said)
    seed = seed_for(e.seed, Purpose.ASSOCIATION, 14)
    if isinstance(e.method, Splitter):
        found = by_folds(data, e.splits, seed)
        if found is not None and found.is_shown:
            like = "the same class" if e.has_classes else "a similar outcome"
            said = (
                f"{percent(found.observed)} of the samples are in one fold with their "
                f"nearest neighbour of {like}, where folds drawn at random have "
                f"{percent(found.expected)} (p-value {found.pvalue:.3f}): the splits "
                "seem to keep groups together. Labels were permuted, and the interval "
                "was computed, as if samples were independent."
            )
            return finding("VD014", "warning", said, found._asdict())
    if e.known.grouped:
        return None
    return untested(
        "VD014",
        "groups=",
        "whether samples of one subject or source, which need not be alike, lie in "
        "different folds",
    )

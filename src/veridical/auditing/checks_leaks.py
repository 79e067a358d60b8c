"""Checks for what test cases were part of: VD001–VD003, VD007, VD011."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import clone

from veridical._core.numbers import percent, percent_range, points
from veridical._core.sklearn_private import is_search
from veridical.auditing.association import LEVEL, selection_scar
from veridical.auditing.codes import finding
from veridical.auditing.duplicates import across_folds, find_copies
from veridical.auditing.evidence import Evidence
from veridical.auditing.fingerprints import find_marks, redo
from veridical.auditing.records import Finding, Severity

#: A stand-in that agrees on this share of the columns has most likely chosen them.
AGREES = 0.8
_MOST_PAIRS_SHOWN = 5


# -- VD001 ---------------------------------------------------------------------------


def selection_saw_the_test_fold(e: Evidence) -> Finding | None:
    """VD001: columns were chosen by the labels of all cases."""
    if e.preselection is None:
        return _scar(e)
    if e.preselection.pvalue > LEVEL:
        return None
    assert e.optimism is not None
    severity: Severity = "error"
    if e.above_chance and e.optimism.low <= 0:
        severity = "warning"  # it leaked, but the signal holds without it
    said = [_who(e), _optimism(e), _on_random_labels(e)]
    if severity == "warning":
        said.append(
            "Selected inside the folds, the accuracy is still above that on random "
            "labels, and the difference is within its interval; so the leak changes "
            "little here."
        )
    details = {
        "optimism": e.optimism.value,
        "accuracy_out": e.accuracy["out"].value,
        "accuracy_in": e.accuracy["in"].value,
        "pvalue": e.preselection.pvalue,
    }
    return finding("VD001", severity, " ".join(said), details)


def _who(e: Evidence) -> str:
    chosen = e.preselection
    assert chosen is not None
    k = len(chosen.columns)
    data = e.procedure.table
    who = f"The {k} columns are" if k > 1 else "The column is"
    others = f"{k} others" if k > 1 else "another"
    tied = (
        f"{who} tied to the labels more closely than {others} of the "
        f"{data.n_features} would be (p = {chosen.pvalue:.3f})"
    )
    if chosen.given:
        return f"{tied}. {chosen.selector} repeats the choice inside the folds."
    best = chosen.overlap[chosen.selector]
    if best >= AGREES * k:
        which = "the best" if best == k else "among the best"
        return f"{tied}; {best} of {k} are {which} {k} by {chosen.selector}."
    return (
        f"{tied}. No selector tried agrees with the choice: the nearest, "
        f"{chosen.selector}, shares {best} of {k} and stands in for it inside the "
        "folds, so the optimism is an approximation; name the selector (selector=) to "
        "be exact."
    )


def _optimism(e: Evidence) -> str:
    assert e.optimism is not None
    size = points(e.optimism.value)
    if math.isfinite(e.optimism.low):  # a single split has no interval
        low = points(e.optimism.low).removesuffix(" points")
        confidence = f"{100 * (1 - e.alpha):g} %"
        size += f" ({confidence} interval {low} to {points(e.optimism.high)})"
    return (
        f"Chosen beforehand, accuracy is {percent(e.accuracy['out'].value)}; chosen "
        f"anew in each training fold, {percent(e.accuracy['in'].value)}: an optimism "
        f"of {size}."
    )


def _on_random_labels(e: Evidence) -> str:
    null = e.null["out"]
    usual = percent_range(null.low, null.high)
    return (
        "On labels in random order, which cannot be predicted, choosing beforehand "
        f"reports {percent(null.mean)} on average (95 % of the time {usual})."
    )


def _scar(e: Evidence) -> Finding | None:
    """A table of selected columns alone, with the mark that selection leaves."""
    found = selection_scar(e.procedure.table)
    if found is None:
        return None
    k, edge, _ = found
    return finding(
        "VD001",
        "warning",
        f"Each of the {k} columns differs between the classes (p at most {edge:.2g}), "
        "and their p-values are spread evenly below that, as those of the best of many "
        "noise columns are. The columns look as if they had been selected on these "
        "very cases.",
        {"n_columns": k, "largest_pvalue": edge},
        cure="Pass all columns and name the chosen ones (selected=), to see what the "
        "selection is worth. If nothing was selected, ignore this code.",
    )


# -- VD002 ---------------------------------------------------------------------------


def preprocessing_saw_all_data(e: Evidence) -> Finding | None:
    """VD002: columns carry the mark of a step that was fitted on all rows."""
    marks = find_marks(e.procedure.table)
    if not marks:
        return None
    said = [mark.words for mark in marks]
    details: dict[str, float] = {mark.kind: float(mark.n_columns) for mark in marks}
    severity: Severity = "note"
    honest = redo(e, marks)
    if honest is None:
        said.append("What that does to the accuracy cannot be undone and measured.")
        severity = "warning"
    else:
        change = honest - e.accuracy["in"].value
        details["accuracy_when_redone"] = honest
        said.append(
            f"Done again inside each training fold, it gives {percent(honest)} instead "
            f"of {percent(e.accuracy['in'].value)} ({points(change)})."
        )
        if not e.accuracy["in"].low <= honest <= e.accuracy["in"].high:
            severity = "error"
        elif change < -1 / e.n_cases:
            severity = "warning"
    return finding("VD002", severity, " ".join(said), details)


# -- VD003 ---------------------------------------------------------------------------


def copies_across_folds(e: Evidence) -> Finding | None:
    """VD003: copies and near-copies of a case to learn from are tested."""
    copies = find_copies(e.procedure.table)
    if not len(copies.pairs):
        return None
    parted = across_folds(copies.pairs, e.splits)
    apart = parted > 0
    if not apart.any():
        return None
    pairs, exact = copies.pairs[apart], copies.exact[apart]
    codes = e.procedure.table.y
    differ = int(np.count_nonzero(codes[pairs[:, 0]] != codes[pairs[:, 1]]))
    n_cases = np.unique(pairs).size
    said = [_pairs(pairs, exact, copies.nearness[apart])]
    if differ:
        said.append(f"{differ} of the pairs differ in their class.")
    said.append(
        f"Of {e.n_cases} cases, {n_cases} ({percent(n_cases / e.n_cases)}) have a copy "
        "to learn from while they are tested."
    )
    n_exact = int(exact.sum())
    severity: Severity = "warning"
    if n_exact == len(pairs) and copies.expected >= n_exact / 2:
        severity = "note"
        said.append(
            f"With columns of so few values, about {copies.expected:.0f} such pairs "
            "are to be expected among different cases."
        )
    details = {
        "n_pairs": len(pairs),
        "n_exact": n_exact,
        "n_cases": n_cases,
        "first": int(pairs[0, 0]),
        "second": int(pairs[0, 1]),
    }
    return finding("VD003", severity, " ".join(said), details)


def _pairs(pairs: Any, exact: Any, nearness: Any) -> str:
    shown = []
    for (a, b), same, r in zip(pairs.tolist(), exact, nearness, strict=True):
        how = "equal" if same else f"{1 / r:.0f} times nearer than their surroundings"
        shown.append(f"rows {a} and {b} ({how})")
    text = ", ".join(shown[:_MOST_PAIRS_SHOWN])
    more = len(shown) - _MOST_PAIRS_SHOWN
    others = f" and {more} more pairs" if more > 0 else ""
    noun = "pair is" if len(shown) == 1 else "pairs are"
    return (
        f"{len(shown)} {noun} copies or near-copies parted by the folds, counting rows "
        f"from 0: {text}{others}."
    )


# -- VD007 ---------------------------------------------------------------------------


def tuned_on_the_reported_score(e: Evidence) -> Finding | None:
    """VD007: the score of a search is the best of many."""
    search = e.procedure.whole
    if not is_search(search) or search.scoring not in (None, "accuracy"):
        return None
    p = e.procedure
    fitted = clone(search).fit(p.table.source, p.table.labels)
    if not hasattr(fitted, "best_score_"):
        return None
    best, honest = float(fitted.best_score_), e.accuracy["in"]
    if best <= honest.value:
        return None
    tried = len(fitted.cv_results_["params"])
    return finding(
        "VD007",
        "error" if best > honest.high else "note",
        f"The best of {tried} settings scores {percent(best)} in the search's own "
        f"cross-validation, and was chosen because of it. Tested on cases that the "
        f"search has not seen, it reaches {percent(honest.value)} "
        f"({points(best - honest.value)} of optimism; {100 * (1 - e.alpha):g} % "
        f"interval of the latter {percent_range(honest.low, honest.high)}).",
        {"best_score": best, "nested": honest.value, "n_settings": tried},
    )


# -- VD011 ---------------------------------------------------------------------------


def tested_on_training_cases(e: Evidence) -> Finding | None:
    """VD011: test sets share rows with training sets."""
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
        f"{n_shared} of {n_tested} predictions are of cases that were in the training "
        f"set, in {np.count_nonzero(shared)} of {len(e.splits)} splits.",
        {"n_predictions": n_shared, "n_tested": n_tested},
    )

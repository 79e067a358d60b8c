"""The conclusion of an audit: whether the accuracy may be believed."""

from __future__ import annotations

import math

from veridical._core.numbers import count
from veridical._core.records import Conclusion
from veridical.auditing.records import Audit
from veridical.evaluation.conclusions import add_coverage, doubt_interval

LEAK = "VD001"


def conclude(record: Audit) -> Conclusion:
    """Say whether the accuracy may be believed, and which one to report.

    Parameters
    ----------
    record : Audit
        Accuracies, accuracies on permuted labels, and findings.
    """
    if record.reported == "out" and "out" in record.score:
        return _conclude_preselected(record)
    severities = {finding.severity for finding in record.findings}
    honest = write_honest(record)
    if "error" in severities:
        return Conclusion("no", f"Do not believe the {honest}: {_first(record)}.")
    if not beats_random_labels(record):
        return Conclusion(
            "open",
            "Measured honestly, but nothing is shown: the "
            f"{record.scoring.label} of {write_value(record)} is "
            f"{_not_better(record)}.",
        )
    if "warning" in severities:
        return Conclusion("care", f"Read {honest} with care: {_first(record)}.")
    if doubt := _doubt(record):
        return Conclusion(
            "care",
            f"Read {honest} with care: no check found a reason against it, but "
            f"{doubt}.",
        )
    return Conclusion(
        "yes", f"You may report {honest}; no check found a reason against it."
    )


def _doubt(record: Audit) -> str:
    """Write why the interval may not be believed; "" where it may."""
    if math.isnan(record.score["in"].low):
        return "no interval is valid for this way of splitting"
    return doubt_interval(record.coverage)


def _conclude_preselected(record: Audit) -> Conclusion:
    """Conclude where features were selected before the folds."""
    severities = {finding.severity for finding in record.findings}
    scoring = record.scoring
    reported, honest = scoring.write(record.score["out"].value), write_honest(record)
    beats = beats_random_labels(record)
    found = {finding.code: finding.severity for finding in record.findings}
    leaks = found.get(LEAK) in ("error", "warning")
    if found.get(LEAK) == "note":
        return _conclude_undecided(record, reported, honest, beats)
    if leaks and not beats:
        return Conclusion(
            "no",
            f"Do not believe the {reported}: with the features selected inside each "
            f"training fold the {scoring.label} is {write_value(record)}, "
            f"{_not_better(record)}.",
        )
    if leaks and scoring.write(record.score["in"].value) == reported:
        return Conclusion(
            "care",
            "The test samples were used to select the features, but this made no "
            "difference here: features selected inside each training fold give "
            f"{honest}.",
        )
    if leaks:
        return Conclusion(
            "no" if "error" in severities else "care",
            f"Report {honest}, not {reported}: the test samples were used to select "
            "the features.",
        )
    if not beats:
        return Conclusion(
            "open",
            "The features do not look selected by these labels, but with a selection "
            f"inside the folds the {scoring.label} is {write_value(record)}, "
            f"{_not_better(record)}.",
        )
    doubt = _doubt(record)
    return Conclusion(
        "care" if doubt or severities & {"error", "warning"} else "yes",
        "The features do not look selected by these labels; these features give "
        f"{reported}, and features selected inside the folds give {honest}"
        f"{'; but ' if doubt else ''}{doubt}.",
    )


def _conclude_undecided(
    record: Audit, reported: str, honest: str, beats: bool
) -> Conclusion:
    """Conclude where the features may have been known before, or selected here."""
    inside = f"features selected inside the folds give {honest}"
    if not beats:
        inside += f", {_not_better(record)}"
    return Conclusion(
        "care" if beats else "open",
        f"The {reported} may be believed only if the features were known before these "
        f"samples were seen; {inside}.",
    )


def beats_random_labels(record: Audit) -> bool:
    """Return whether the accuracy under IN is better than on permuted labels."""
    null = record.null.get("in")
    return null is not None and null.pvalue <= record.alpha


def _not_better(record: Audit) -> str:
    """Write that the accuracy is not better than on permuted labels, or not testable.

    The least p-value of n permutations is 1 / (n + 1).
    """
    null = record.null.get("in")
    if null is None or 1 / (null.accuracies.size + 1) <= record.alpha:
        return "not shown to be better than on random labels"
    enough = math.ceil(1 / record.alpha) - 1
    return (
        "not tested against random labels: "
        f"{count(null.accuracies.size, 'permutation')} cannot give a p-value of "
        f"{record.alpha:g} or less; use n_permutations={enough} or more"
    )


def write_honest(record: Audit) -> str:
    """Write the score under IN with its interval, named unless it is the accuracy."""
    value = write_value(record)
    scoring = record.scoring
    return value if scoring.is_accuracy else f"{scoring.full_label} {value}"


def write_value(record: Audit) -> str:
    """Write the honest score with its interval, without its name."""
    value, low, high = record.score["in"]
    scoring = record.scoring
    shown = scoring.write(value)
    if math.isnan(low):
        return f"{shown} (no interval)"
    said = f"{100 * (1 - record.alpha):g} % interval {scoring.write_range(low, high)}"
    return f"{shown} ({said}, {add_coverage(record.coverage)})"


def _first(record: Audit) -> str:
    title = record.findings[0].title
    return title[:1].lower() + title[1:]

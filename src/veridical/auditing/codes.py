"""The codes of an audit: what each is called and what cures it.

A code never changes its meaning and is never used again; ``docs/findings`` has a page
for each. Evidence and severity are for the checks to say, since they depend on the
data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from veridical._core.errors import InputError
from veridical._core.text import did_you_mean
from veridical.auditing.records import Finding, Severity


@dataclass(frozen=True)
class Code:
    """What a finding is called, and what to do about it."""

    title: str
    cure: str


CODES: dict[str, Code] = {
    "VD001": Code(
        "Selection saw the test fold",
        "Select inside each training fold: put the selector and the classifier into "
        "one pipeline and cross-validate that, or report the accuracy under IN here.",
    ),
    "VD002": Code(
        "Preprocessing was fitted on all data",
        "Make the preprocessing a step of the pipeline that is cross-validated, and "
        "give it the raw columns.",
    ),
    "VD003": Code(
        "Copies of a case lie in different folds",
        "Find out whether the rows are one case. Keep one row of each, or keep them in "
        "the same fold (GroupKFold).",
    ),
    "VD004": Code(
        "Folds are too small for a test over folds",
        "Use fewer folds, or a test on the single predictions; do not read a t-test "
        "over these folds.",
    ),
    "VD005": Code(
        "Leave-one-out with an estimator that follows the majority",
        "Use stratified folds (CrossValidation(10)), which keep the class shares of "
        "every training set.",
    ),
    "VD006": Code(
        "The .632 bootstrap of an estimator that knows its cases by heart",
        "Use Bootstrap632(plus=True) or CrossValidation(10).",
    ),
    "VD007": Code(
        "Tuned on the score that is reported",
        "Report nested cross-validation: cross-validate the whole search, as the "
        "accuracy under IN does here.",
    ),
    "VD008": Code(
        "The selection is unstable",
        "Do not present the selected features as the answer; report how often each is "
        "selected over folds, select more of them, or collect more cases.",
    ),
    "VD009": Code(
        "Class imbalance makes accuracy misleading",
        "Report balanced accuracy or the recall of each class beside accuracy, and "
        "hold accuracy against the share of the largest class.",
    ),
    "VD010": Code(
        "A p-value from overlapping resamples without correction",
        "Use a test made for resamples that share training cases: "
        'test="corrected-t" (Nadeau and Bengio).',
    ),
    "VD011": Code(
        "Tested on cases that were learned from",
        "Use splits whose test cases are not in their training sets.",
    ),
    "VD012": Code(
        "One column gives the class away",
        "Find out how the column came about. If it was made from the class, or would "
        "not be known for a new case, drop it.",
    ),
}


def finding(
    code: str,
    severity: Severity,
    evidence: str,
    details: Mapping[str, float] | None = None,
    *,
    cure: str | None = None,
) -> Finding:
    """Make a finding; its title, and its cure unless told otherwise, are the code's."""
    known = CODES[code]
    return Finding(
        code, known.title, severity, evidence, cure or known.cure, dict(details or {})
    )


def check_codes(given: str | Iterable[str]) -> frozenset[str]:
    """Check the codes that are to be ignored."""
    codes = (given,) if isinstance(given, str) else tuple(given)
    for code in codes:
        if code not in CODES:
            raise InputError(
                f"There is no finding {code!r}{did_you_mean(str(code), CODES)} The "
                f"codes are {', '.join(CODES)}."
            )
    return frozenset(codes)

"""The codes of an audit: what each is called and what cures it.

A code never changes its meaning and is never reused; ``docs/findings`` has a page for
each. AuditEvidence and severity come from the checks, because they depend on the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from veridical._core.errors import InputError
from veridical._core.text import did_you_mean
from veridical.auditing.records import Finding, Severity, Untested


@dataclass(frozen=True)
class Code:
    """Title of a finding, and what to do about it."""

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
        "give it the raw features.",
    ),
    "VD003": Code(
        "Copies of a sample lie in different folds",
        "Find out whether the rows are the same sample. Keep one of them, or keep all "
        "in the same fold (GroupKFold).",
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
        "The .632 bootstrap of an estimator that memorises its training samples",
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
        "selected over folds, select more of them, or collect more samples.",
    ),
    "VD009": Code(
        "Class imbalance makes accuracy misleading",
        "Report balanced accuracy or the recall of each class beside accuracy, and "
        "compare accuracy with the share of the largest class.",
    ),
    "VD010": Code(
        "A p-value from overlapping resamples without correction",
        "Use a test for resamples that share training samples: "
        'test="corrected-t" (Nadeau and Bengio).',
    ),
    "VD011": Code(
        "Tested on training samples",
        "Use splits whose test samples are not in their training sets.",
    ),
    "VD012": Code(
        "One feature alone determines the class",
        "Find out how the feature was made. If it was made from the class, or would "
        "not be known for a new sample, drop it.",
    ),
    "VD013": Code(
        "Batches were corrected on all samples",
        "Give the features as they were before the correction, and the batch (batch=, "
        "--batch), so that it is learned on the training samples of every fold.",
    ),
    "VD014": Code(
        "Samples seem to belong together, but no groups were given",
        "If several samples come from one patient, site or plate, pass groups=: they "
        "then stay on one side of every split, and permutations and intervals count "
        "groups. If samples are independent, ignore VD014.",
    ),
    "VD020": Code(
        "A feature was encoded by the class of all samples",
        "Give the categories as they are, and make the target encoder a step of the "
        "pipeline, so that it is fitted on the training samples only.",
    ),
    "VD021": Code(
        "Near relatives of a sample lie in different folds",
        "Find out what the samples have in common. Keep samples of one patient, plate "
        "or other source in the same fold (groups=).",
    ),
    "VD022": Code(
        "Samples that follow each other lie in different folds",
        "If the model will predict later samples, train on earlier ones "
        "(cv=TimeSeriesSplit()); otherwise keep consecutive samples in the same fold.",
    ),
    "VD023": Code(
        "A batch or covariate is associated with the class",
        "Report the score on labels permuted within batches beside the accuracy; "
        "correct for the batch inside the folds; measure both classes in every batch.",
    ),
    "VD024": Code(
        "Missing values reveal the class",
        "Find out why the values are missing. If they are missing because the class "
        "was known, drop the features.",
    ),
    "VD025": Code(
        "A number, date or position of the sample reveals the class",
        "Drop the feature: it says when or where a sample was taken, which is not so "
        "for new samples. If it stands for a site or batch, pass that as batch=.",
    ),
    "VD026": Code(
        "Missing values were imputed with the class",
        "Give the missing values as they are, and make an imputer without the class a "
        "step of the pipeline.",
    ),
    "VD027": Code(
        "Samples were made from other samples before the folds",
        "Make synthetic samples inside the training folds only, by a pipeline of "
        "imbalanced-learn; give the measured samples alone.",
    ),
    "VD028": Code(
        "The best of several tries",
        "Choose among the variants inside the folds (nested cross-validation), report "
        "the mean over seeds, or test the chosen variant on new samples.",
    ),
    "VD029": Code(
        "Something was fitted on samples that are tested",
        "Fit and tune inside the training folds: make every such step a part of the "
        "pipeline.",
    ),
    "VD030": Code(
        "Each class was normalised by itself",
        "Normalise all samples together without the class, or each sample by itself.",
    ),
    "VD031": Code(
        "A setting is the best one for these test samples",
        "Tune it inside the training folds (TunedThresholdClassifierCV, early stopping "
        "on a part of the training samples).",
    ),
    "VD032": Code(
        "Samples were removed after their predictions were seen",
        "Decide which samples to leave out without looking at predictions, or report "
        "the score with the removed samples.",
    ),
}


def finding(
    code: str,
    severity: Severity,
    evidence: str,
    details: Mapping[str, float] | None = None,
    *,
    cure: str | None = None,
    features: Iterable[int] = (),
) -> Finding:
    """Make a finding with the title, and by default the cure, of its code."""
    known = CODES[code]
    return Finding(
        code,
        known.title,
        severity,
        evidence,
        cure or known.cure,
        dict(details or {}),
        tuple(int(j) for j in features),
    )


def in_words_of_outcomes(one: Finding | Untested) -> Finding | Untested:
    """Write title and cure for a target that is no classes."""
    title = _without_classes(one.title)
    if isinstance(one, Untested):
        return replace(one, title=title)
    return replace(one, title=title, cure=_without_classes(one.cure))


def _without_classes(text: str) -> str:
    for word, other in _WITHOUT_CLASSES.items():
        text = text.replace(word, other)
    return text


#: What the titles and cures say where there are no classes.
_WITHOUT_CLASSES = {
    "both classes": "the whole range of outcomes",
    "accuracy": "score",
    "classifier": "estimator",
    "classes": "outcomes",
    "class": "outcome",
}


def untested(code: str, needs: str, what: str) -> Untested:
    """Say that a check cannot decide without something that the user knows."""
    return Untested(code, CODES[code].title, needs, what)


def check_codes(given: str | Iterable[str]) -> frozenset[str]:
    """Return the codes that are to be ignored; raise if one is unknown."""
    codes = (given,) if isinstance(given, str) else tuple(given)
    for code in codes:
        if code not in CODES:
            raise InputError(
                f"There is no finding {code!r}{did_you_mean(str(code), CODES)} The "
                f"codes are {', '.join(CODES)}."
            )
    return frozenset(codes)

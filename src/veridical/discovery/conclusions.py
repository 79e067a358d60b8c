"""What may be claimed, in sentences."""

from __future__ import annotations

import math

import numpy as np

from veridical._core.numbers import count, percent, pvalue
from veridical._core.records import Conclusion
from veridical._core.text import listing
from veridical.discovery.records import Discoveries

#: More names than this are counted in a headline.
_MOST_NAMES = 4
#: Measured rates this far above the nominal one make a claim doubtful.
TOLERATED = 0.02

#: The error rates in words.
RATES = {
    "fdr": "false discovery rate",
    "fwer": "probability of any false claim",
    "pfer": "expected number of false claims",
}
#: What a claim says of a feature.
SAYS = {
    "association": "depend on the outcome",
    "own": "depend on the outcome or on other features",
    "conditional": "contain information about the outcome beyond the other features",
    "stable": "are selected again and again",
}
#: The hypothesis, and what a claim does not say.
HYPOTHESES = {
    "association": (
        "Tested for each feature: the feature and the outcome are independent.",
        "A claim does not say that the feature adds anything to the other features, "
        "nor that it is a cause.",
    ),
    "own": (
        "Tested for each feature: the feature is independent of the outcome and of all "
        "other features.",
        "A claim does not say that the feature by itself depends on the outcome: it "
        "may matter only together with others.",
    ),
    "conditional": (
        "Tested for each feature: given all other features, the feature and the "
        "outcome are independent.",
        "A claim does not say that the feature is a cause; and a feature whose "
        "information other features carry too is not claimed, although it depends on "
        "the outcome.",
    ),
    "stable": (
        "Tested for each feature: the procedure selects it on half of the samples no "
        "more often than the average feature.",
        "A claim does not say that the feature depends on the outcome given the "
        "others, nor that a model needs it; it says that the procedure selects it "
        "again and again.",
    ),
}


def exchanges_values(record: Discoveries) -> bool:
    """Return whether values of features were exchanged instead of outcomes."""
    own = HYPOTHESES["own"][1]
    return record.method == "permutation" and record.not_said == own


def write_level(record: Discoveries, *, nominal: bool = False) -> str:
    """Write the rate that was asked for, with its name; on request, call it nominal."""
    level = f"{record.level:g}"
    if record.rate != "pfer":
        level = percent(record.level, 0 if record.level >= 0.01 else 2)
    article = "a nominal" if nominal else "an" if record.rate == "pfer" else "a"
    return f"{article} {RATES[record.rate]} of {level}"


def exceeds(record: Discoveries) -> bool:
    """Return whether the rate was measured to be above the nominal one.

    Above means by more than is tolerated, and than two standard errors of the
    measurement. The error of a data set lies between 0 and 1, or is a count: its
    variance is at most that of a coin, or about that of a Poisson number.
    """
    measured = record.measured
    if measured is None or not measured.near:
        return False
    nominal = measured.nominal
    variance = nominal if record.rate == "pfer" else nominal * (1 - nominal)
    chance = 2 * math.sqrt(variance / (measured.n_designs * measured.n_sets))
    return measured.rate > nominal + TOLERATED * max(1.0, nominal) + chance


def conclude(record: Discoveries) -> Conclusion:
    """Say which features may be claimed.

    Parameters
    ----------
    record : Discoveries
        All features with their evidence.
    """
    claimed = record.claimed
    if not claimed.size:
        close = record.close.size
        near = f"; {count(close, 'feature')} come close" if close > 1 else ""
        near = "; one feature comes close" if close == 1 else near
        return Conclusion(
            "open",
            f"No feature may be claimed at {write_level(record)}{near}.",
        )
    names = [record.data.feature_names[j] for j in record.ranked[: claimed.size]]
    said = listing(names) if len(names) <= _MOST_NAMES else f"{len(names)} features"
    does = SAYS["own" if exchanges_values(record) else record.claim]
    if len(names) == 1:
        does = does.replace("depend on", "depends on")
        does = does.replace("contain ", "contains ")
        does = does.replace("are selected", "is selected")
    said = f"{said} {does}, at {write_level(record)}"
    if record.method == "decoys":
        return Conclusion("care", f"By a heuristic threshold: {said}.")
    if exceeds(record):
        return Conclusion(
            "care",
            f"Claim with care: {said}; in designs like these data the rate was higher.",
        )
    if record.warnings:
        return Conclusion("care", f"Claim with care: {said}.")
    return Conclusion("yes", f"You may claim: {said}.")


def say_evidence(record: Discoveries, feature: int) -> str:
    """Write the evidence for a feature: its p-value, and how often it is selected."""
    parts = []
    if np.isfinite(record.pvalue[feature]):
        parts.append(pvalue(float(record.pvalue[feature])))
    share = record.frequency[feature]
    if np.isfinite(share):
        what = "draws of knockoffs" if record.method == "knockoffs" else "half samples"
        parts.append(f"selected in {percent(float(share), 0)} of the {what}")
    value = float(record.qvalue[feature])
    if record.rate == "pfer" and value >= record.data.n_features:
        parts.append("not claimed at any rate")
    elif record.rate == "pfer":
        parts.append(f"claimed if {value:.2g} expected false claims are accepted")
    elif value < 1:
        parts.append(f"claimed at a {RATES[record.rate]} of {value:.2g} or more")
    else:
        parts.append("not claimed at any rate")
    return ", ".join(parts)

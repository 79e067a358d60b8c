"""Estimates in sentences: how accurate is it, and what is doubtful about that?"""

from __future__ import annotations

from collections.abc import Callable

from veridical._core.numbers import MINUS, MISSING, count, percent, percent_range
from veridical.evaluation.notes import is_doubt
from veridical.report.schema import (
    BoundsSummary,
    CoverageSummary,
    EstimatesSummary,
    EstimateSummary,
    EstimatesWords,
    NoteSummary,
)
from veridical.report.words import shortened

RESUBSTITUTION = "resubstitution"
# What a method does, by a word of its name; the first that fits is taken.
EXPLAIN = {
    RESUBSTITUTION: (
        "Resubstitution tests on the cases that were learned from; it says how well "
        "they are remembered."
    ),
    "holdout": (
        "A holdout learns from part of the cases and tests on the rest, once. It has "
        "fewer cases to learn from than there are, so it leans downwards, and it "
        "depends on which are held out."
    ),
    "subsampling": (
        "Random subsampling averages several holdouts, each with a random test set of "
        "its own; it leans downwards as they do."
    ),
    "complete": (
        "Complete cross-validation tests every set of so many cases by a classifier "
        "built on all others."
    ),
    "cross-validation": (
        "Cross-validation tests each case by a classifier built without the fold that "
        "the case is in. It leans downwards a little, the less the more folds there "
        "are."
    ),
    "leave-": (
        "Leaving out few cases at a time learns from nearly all of them and so hardly "
        "leans at all, but it misleads where an estimator reacts to a single case."
    ),
    ".632+": (
        "The .632+ bootstrap does as .632, but gives the accuracy on the training "
        "cases the less weight the more the estimator overfits."
    ),
    ".632": (
        "The .632 bootstrap learns from cases drawn with replacement and adds 0.632 of "
        "the accuracy on the cases not drawn to 0.368 of that on the training cases. "
        "It varies little, and is too high where those are known by heart."
    ),
}


def figure(value: float | None, metric: str = "accuracy") -> str:
    """Write an accuracy as a percentage, any other score as a number.

    Examples
    --------
    >>> figure(0.8125, "r2")
    '0.8125'
    """
    if metric == "accuracy" or value is None:
        return percent(value)
    return f"{value:.4g}".replace("-", MINUS)


def figure_range(
    low: float | None, high: float | None, metric: str = "accuracy"
) -> str:
    """Write an interval of an accuracy in percent, of another score in numbers."""
    if metric == "accuracy" or low is None or high is None:
        return percent_range(low, high)
    return f"{figure(low, metric)} to {figure(high, metric)}"


def chance_of(summary: EstimatesSummary) -> float | None:
    """Find the accuracy of always naming the most frequent class, where it is known."""
    data = summary["data"]
    return None if data is None or summary["metric"] != "accuracy" else data["chance"]


def silence() -> EstimatesWords:
    """Leave every sentence blank."""
    return {
        "headline": "",
        "belief": "open",
        "evidence": "",
        "intervals": [],
        "notes": [],
        "methods": [],
    }


def of(summary: EstimatesSummary) -> EstimatesWords:
    """Put the estimates into sentences."""
    lead = leading(summary["estimates"])
    belief, headline = _headline(summary, lead)
    return {
        "headline": headline,
        "belief": belief,
        "evidence": " ".join(_evidence(summary, lead)),
        "intervals": _gathered(summary["estimates"], _assumptions),
        "notes": _gathered(summary["estimates"], lambda e: e["notes"]),
        "methods": _methods(summary["estimates"]),
    }


def leading(estimates: list[EstimateSummary]) -> EstimateSummary:
    """Choose the estimate to answer with.

    One without doubts rather than one with, one with an interval rather than one
    without, the one that tested more cases, the one that was asked for first.
    """
    return min(
        estimates,
        key=lambda e: (
            e["method"] == RESUBSTITUTION,
            _has_doubts(e),
            not e["intervals"],
            -e["n_test"],
        ),
    )


def _has_doubts(estimate: EstimateSummary) -> bool:
    return any(map(is_doubt, estimate["notes"]))


def interval(summary: EstimatesSummary, estimate: EstimateSummary) -> str:
    """Write the first interval: its confidence, its kind and its measured coverage."""
    first = estimate["intervals"][0]
    bounds = figure_range(first["low"], first["high"], summary["metric"])
    known = first["coverage"]
    measured = f", measured coverage {covered(known)}" if known else ""
    confidence = f"{100 * summary['confidence']:g} %"
    return f"{confidence} {first['kind']} interval {bounds}{measured}"


def covered(measured: CoverageSummary | None) -> str:
    """Write the measured coverage of a kind of interval, without its conditions.

    Examples
    --------
    >>> covered({"low": 0.972, "high": 0.986, "conditions": "10 folds"})
    '97.2 to 98.6 %'
    """
    if measured is None:
        return MISSING
    low, high = measured["low"], measured["high"]
    return percent(low) if low == high else percent_range(low, high)


def _headline(summary: EstimatesSummary, lead: EstimateSummary) -> tuple[str, str]:
    who, chance = shortened(summary["estimator"]), chance_of(summary)
    be, does, told = _reached(summary, lead)
    if summary["truth"] is not None:
        return "known", _headline_truth(summary, summary["truth"], lead)
    if lead["method"] == RESUBSTITUTION:
        return "no", (
            f"How accurate {who} is on new cases cannot be told from the cases it "
            "has learned from."
        )
    if _has_doubts(lead):
        return "care", (
            f"{who} may {be} {told}, but there is a doubt about every estimate here; "
            "read the notes first."
        )
    if not lead["intervals"]:
        return "care", (
            f"{who} {does} an estimated {told}, by {lead['method']}, which has no "
            "valid interval."
        )
    claim = f"{who} {does} {told} ({interval(summary, lead)}, by {lead['method']})"
    if chance is None:
        return "open", f"{claim}."
    # No interval is right for every estimator, least for those that select features: on
    # labels without meaning (60 cases, 10 of 1000 features by anova, naive Bayes, ten
    # folds) Wilson's lay above chance in 10 of 150 samples, and all intervals did in 1.
    # So only all of them together support the claim.
    above = [bounds["low"] > chance for bounds in lead["intervals"]]
    if all(above):
        return "yes", f"{claim}."
    if above[0]:
        return "care", (
            f"{claim}, but whether that beats always naming the most frequent class "
            f"({percent(chance)}) depends on which interval you believe."
        )
    return "open", (
        f"{claim}, which is not shown to beat always naming the most frequent class "
        f"({percent(chance)})."
    )


def _reached(
    summary: EstimatesSummary, estimate: EstimateSummary
) -> tuple[str, str, str]:
    """Say how good the estimator is: the verb after "may", the verb, and the rest."""
    value = figure(estimate["value"], summary["metric"])
    if summary["metric"] == "accuracy":
        return "be right about", "is right about", f"{value} of new cases"
    return "have", "has", f"{summary['metric']} {value} on new cases"


def _headline_truth(
    summary: EstimatesSummary, truth: EstimateSummary, lead: EstimateSummary
) -> str:
    _, does, told = _reached(summary, truth)
    said = figure(lead["value"], summary["metric"])
    fact = (
        f"{shortened(summary['estimator'])} {does} {told} from this source; "
        f"{lead['method']} says {said}"
    )
    if not lead["intervals"]:
        return f"{fact}."
    first = lead["intervals"][0]
    covers = first["low"] <= truth["value"] <= first["high"]
    return (
        f"{fact}, and {'covers' if covers else 'misses'} the truth "
        f"({interval(summary, lead)})."
    )


def _evidence(summary: EstimatesSummary, lead: EstimateSummary) -> list[str]:
    """Say what the headline rests on."""
    said = [
        f"{_capital(lead['method'])} tested {count(lead['n_test'], 'case')} in "
        f"{count(lead['n_splits'], 'split')}."
    ]
    if lead["intervals"]:
        first = lead["intervals"][0]
        said.append(f"Its {first['kind']} interval assumes {first['assumes']}.")
        said += _covered(first)
    values = [e["value"] for e in summary["estimates"]]
    if len(values) > 1:
        chance = chance_of(summary)
        said.append(
            f"The {len(values)} methods range over "
            f"{figure_range(min(values), max(values), summary['metric'])}"
            + (
                "."
                if chance is None
                else "; always naming the most frequent class is right about "
                f"{percent(chance)}."
            )
        )
    truth = summary["truth"]
    data = summary["data"]
    if truth is not None and truth["intervals"]:
        cases = "cases" if data is None else count(data["n_samples"], "case")
        said.append(
            f"The truth is that of the classifier built on all {cases}, tested on "
            f"{count(truth['n_test'], 'fresh one')} ({interval(summary, truth)})."
        )
    return said


def _covered(bounds: BoundsSummary) -> list[str]:
    """Say how often intervals of this kind have covered the truth."""
    measured = bounds["coverage"]
    if measured is None:
        return []
    return [
        f"Measured: 95 % intervals of this kind covered the truth in "
        f"{covered(measured)} of data sets ({measured['conditions']})."
    ]


def _assumptions(estimate: EstimateSummary) -> list[str]:
    if not estimate["intervals"]:
        return ["no interval is valid."]
    return [
        " ".join([f"the {b['kind']} interval assumes {b['assumes']}.", *_covered(b)])
        for b in estimate["intervals"]
    ]


def _gathered(
    estimates: list[EstimateSummary], said: Callable[[EstimateSummary], list[str]]
) -> list[NoteSummary]:
    """Collect what is said of the estimates, once, with the methods it is about."""
    about: dict[str, list[str]] = {}
    for estimate in estimates:
        for text in said(estimate):
            about.setdefault(text, []).append(estimate["method"])
    return [{"text": text, "methods": methods} for text, methods in about.items()]


def _methods(estimates: list[EstimateSummary]) -> list[str]:
    """Say what each kind of method does."""
    kinds = (
        next((text for word, text in EXPLAIN.items() if word in e["method"]), "")
        for e in estimates
    )
    return [text for text in dict.fromkeys(kinds) if text]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

"""An audit in sentences: may the accuracy be believed, and what is it really?"""

from __future__ import annotations

from veridical._core.numbers import (
    count,
    percent,
    percent_range,
    points,
    points_range,
    pvalue,
)
from veridical._core.text import names
from veridical.report.schema import AuditSummary, AuditWords, LaneSummary

LEAK = "VD001"


def silence() -> AuditWords:
    """Leave every sentence blank."""
    return {"headline": "", "belief": "", "evidence": "", "verdict": "", "methods": []}


def of(summary: AuditSummary) -> AuditWords:
    """Put an audit into sentences.

    Parameters
    ----------
    summary : AuditSummary
        Everything but its words.
    """
    belief, headline = _headline(summary)
    return {
        "headline": headline,
        "belief": belief,
        "evidence": " ".join(_evidence(summary)),
        "verdict": _verdict(summary),
        "methods": _methods(summary),
    }


def lane(summary: AuditSummary, protocol: str) -> LaneSummary | None:
    """Find a protocol."""
    return next((x for x in summary["lanes"] if x["protocol"] == protocol), None)


def lane_value(summary: AuditSummary, protocol: str) -> float | None:
    """Find the accuracy under a protocol."""
    found = lane(summary, protocol)
    return None if found is None else found["accuracy"]["value"]


def above_chance(summary: AuditSummary) -> bool:
    """Whether the honest accuracy beats labels in random order."""
    inside = lane(summary, "in")
    assert inside is not None
    p = inside["pvalue"]
    return p is not None and p <= summary["alpha"]


def interval(summary: AuditSummary) -> str:
    """Write the honest accuracy with its interval."""
    inside = lane(summary, "in")
    assert inside is not None
    a = inside["accuracy"]
    bounds = percent_range(a["low"], a["high"])
    return (
        f"{percent(a['value'])} ({100 * (1 - summary['alpha']):g} % interval {bounds})"
    )


def _headline(summary: AuditSummary) -> tuple[str, str]:
    severities = {finding["severity"] for finding in summary["findings"]}
    outside = lane(summary, "out")
    beats = above_chance(summary)
    if summary["reported"] == "out" and outside is not None:
        reported, honest = percent(outside["accuracy"]["value"]), interval(summary)
        leaks = any(f["code"] == LEAK for f in summary["findings"])
        if leaks and not beats:
            return "no", (
                f"Do not believe the {reported}: with the columns selected inside each "
                f"training fold it is {honest}, no better than on random labels."
            )
        if leaks and percent(lane_value(summary, "in")) == reported:
            return "care", (
                "The columns were selected with the test cases in view, but it made no "
                "difference here: selected inside each training fold they give "
                f"{honest}."
            )
        if leaks:
            return "no" if "error" in severities else "care", (
                f"Report {honest}, not {reported}: the columns were selected with the "
                "test cases in view."
            )
        if not beats:
            return "open", (
                "The columns do not look selected by these labels, but with a "
                f"selection inside the folds accuracy is {honest}, no better than on "
                "random labels."
            )
        return "care" if severities & {"error", "warning"} else "yes", (
            f"The columns do not look selected by these labels; they give {reported}, "
            f"and columns selected inside the folds give {honest}."
        )
    honest = interval(summary)
    if "error" in severities:
        return "no", f"Do not believe the {honest}: {_first(summary)}."
    if not beats:
        return "open", (
            f"Measured honestly, but nothing is shown: the accuracy of {honest} is no "
            "better than on random labels."
        )
    if "warning" in severities:
        return "care", f"Read {honest} with care: {_first(summary)}."
    return "yes", f"You may report {honest}; nothing here speaks against it."


def _first(summary: AuditSummary) -> str:
    title = summary["findings"][0]["title"]
    return title[:1].lower() + title[1:]


def _evidence(summary: AuditSummary) -> list[str]:
    """Say what the headline rests on."""
    inside, outside = lane(summary, "in"), lane(summary, "out")
    assert inside is not None
    said = []
    if outside is not None and outside["null_mean"] is not None:
        said.append(
            "With labels in random order, where there is nothing to find, selecting "
            f"first still reports {percent(outside['null_mean'])} on average."
        )
    if inside["null_mean"] is not None:
        n = count(len(inside["null"]), "random order")
        said.append(
            f"Everything done inside the folds, {n} of the labels give "
            f"{percent(inside['null_mean'])} on average "
            f"({pvalue(inside['pvalue'])}); always naming the largest class is right "
            f"about {percent(summary['data']['chance'])}."
        )
    said.append(_tally(summary))
    return said


def _tally(summary: AuditSummary) -> str:
    found = summary["findings"]
    if not found:
        return "No finding."
    parts = [
        count(n, kind)
        for kind in ("error", "warning", "note")
        if (n := sum(f["severity"] == kind for f in found))
    ]
    return f"Findings: {names(parts)}."


def _verdict(summary: AuditSummary) -> str:
    """Say what the optimism is."""
    gap = summary["optimism"]
    if gap is None:
        return ""
    size = f"{points(gap['value'])} ({100 * (1 - summary['alpha']):g} % interval "
    size += f"{points_range(gap['low'], gap['high'])})"
    if summary["reported"] == "out":
        return f"Selecting first changes the accuracy by {size}."
    return (
        "Had everything before the classifier been done once, on all cases, the "
        f"accuracy would differ by {size}."
    )


def _methods(summary: AuditSummary) -> list[str]:
    """Say how it was done."""
    said = [
        "IN repeats everything that looks at labels inside each training fold, so that "
        "test cases take no part in it. OUT does it once, on all cases, before the "
        "folds; the test cases have then helped to choose what they are tested with.",
        "On random labels the whole procedure, selection included, is run with the "
        "labels in random order. What it reports there is what it reports where there "
        "is nothing to find; p is the share of orders, the true one counted in, that "
        "do as well.",
        "The interval of IN is Wilson's for fewer cases than were tested: as many as "
        "would make independent cases vary as much as the accuracies on random labels "
        "do. Training sets overlap, so that a selector misled in one of them is misled "
        "in all. On noise its coverage is right by construction; with a signal it is "
        "wide rather than narrow. OUT has no interval, because none would make it "
        "honest.",
    ]
    if summary["optimism"] is not None:
        said.append(
            "The interval of the difference is that of the corrected resampled t over "
            "folds (Nadeau and Bengio)."
        )
    chosen = summary["preselection"]
    if chosen is not None and not chosen["given"]:
        said.append(
            "Who chose the columns was not said. Of the selectors tried on all cases, "
            f"{chosen['selector']} agrees best with the choice and repeats it inside "
            "the folds."
        )
    return said

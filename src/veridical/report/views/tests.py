"""Significance tests, ranks and measured false-positive rates as pages."""

from __future__ import annotations

from typing import Any

from veridical._core.numbers import (
    MINUS,
    MISSING,
    count,
    percent,
    percent_range,
    pvalue,
)
from veridical.comparison.records import Calibration, Friedman, TestResult
from veridical.report.plain import plain, to_json
from veridical.report.view import (
    Badge,
    Bounds,
    Figure,
    Intervals,
    Level,
    Mark,
    Panel,
    Ranks,
    Section,
    Text,
    View,
    confidence,
    paragraph,
    provenance,
    table,
    view,
)
from veridical.report.views.comparison import assumed, describe_ranks


@to_json.register
def summarize_test(record: TestResult) -> Any:
    """Turn a significance test into plain numbers."""
    return {"kind": "test", **plain(record), "winner": record.winner}


@to_json.register
def summarize_ranks(record: Friedman) -> Any:
    """Turn Friedman's test into plain numbers."""
    return {"kind": "friedman", **plain(record)}


@to_json.register
def summarize_size(record: Calibration) -> Any:
    """Turn a measured false-positive rate into plain numbers."""
    return {"kind": "calibration", **plain(record)}


@view.register
def show_test(record: TestResult) -> View:
    """Show the difference that a test looked at, with its interval."""
    s = summarize_test(record)
    low, high = s["interval"]
    better = {"draw": "neither"}.get(s["winner"], s["winner"])
    bounds = () if low is None or high is None else (Bounds(low, high),)
    mark = Mark(f"a minus b, {s['name']}", s["mean_difference"], bounds)
    levels = (Level("no difference", 0.0, solid=True),)
    picture = Intervals(
        f"Mean difference of a and b: {mark.words('number')}; no difference is 0.",
        (mark,),
        levels,
        "number",
        "difference",
    )
    level = f"{100 * s['alpha']:g} %"
    n = count(s["n"], "difference")
    row = (
        s["name"],
        _number(s["mean_difference"]),
        " to ".join(map(_number, s["interval"])),
        _number(s["statistic"]),
        pvalue(s["pvalue"]).removeprefix("p ").removeprefix("= "),
        better,
    )
    figures = table(
        f"Difference of a and b, positive where a is better ({n}, level {level}).",
        "Test! | Difference#* | Interval# | Statistic# | p# | Better",
        [row],
    )
    found = "The difference is not significant"
    if s["winner"] != "draw":
        found = f"{better} is significantly better"
    gap = _number(s["mean_difference"])
    caption = f"Mean of a minus b, with its {confidence(1 - s['alpha'])}; the solid "
    return View(
        title=f"Do a and b differ? {s['name']}",
        question="Do a and b differ?",
        badge=Badge("open", "Not shown")
        if s["winner"] == "draw"
        else Badge("yes", "Significant"),
        headline=f"{found}: the mean difference is {gap} ({pvalue(s['pvalue'])}).",
        lead=f"{s['name']} test on {n}, at the level {level}.",
        facts=(),
        sections=(
            Section(
                "The difference",
                (Figure((Panel(picture),), f"{caption}line is no difference."),),
                first=True,
            ),
            Section(
                "The figures", (figures, Text(assumed(s["assumptions"]))), first=True
            ),
        ),
        provenance=provenance(s),
        tables=(figures,),
        method=paragraph(
            {},
            [
                f"The difference of the scores of a and b was tested by the "
                f"{s['name']} test on {n}, at the level {level}. "
                f"{assumed(s['assumptions'])}",
                f"The mean difference is {gap} ({pvalue(s['pvalue'])}).",
            ],
        ),
    )


@view.register
def show_ranks(record: Friedman) -> View:
    """Show mean ranks, and which are not distinguished."""
    s = summarize_ranks(record)
    names = [f"selector {i}" for i in range(len(s["mean_ranks"]))]
    critical = f"{s['critical_difference']:.2f}"
    picture = Ranks(
        describe_ranks("", names, s),
        tuple(names),
        tuple(s["mean_ranks"]),
        tuple(f"mean rank {rank:.2f}" for rank in s["mean_ranks"]),
        s["critical_difference"],
        tuple(tuple(group) for group in s["groups"]),
    )
    splits = count(s["n"], "split")
    figures = table(
        f"Mean ranks over {splits}, 1 is best; Iman and Davenport's F "
        f"= {_number(s['statistic'])}, {pvalue(s['pvalue'])}, Nemenyi's critical "
        f"difference {critical}.",
        "Selector! | Mean rank#*",
        [(str(i), f"{rank:.2f}") for i, rank in enumerate(s["mean_ranks"])],
    )
    n = count(len(names), "selector")
    significant = s["pvalue"] < s["alpha"]
    caption = (
        "Dots are mean ranks, 1 is best. A thick line joins selectors whose mean ranks "
        "lie within Nemenyi's critical difference of each other."
    )
    said = "differ" if significant else "are not shown to differ"
    return View(
        title=f"Do {n} differ?",
        question="Do the selectors differ?",
        badge=Badge("yes", "Significant")
        if significant
        else Badge("open", "Not shown"),
        headline=f"{n} {said} in their ranks on {splits} ({pvalue(s['pvalue'])}).",
        lead=f"Mean ranks further apart than {critical} differ at the level "
        f"{100 * s['alpha']:g} % (Nemenyi).",
        facts=(),
        sections=(
            Section(
                "Mean ranks and the critical difference",
                (Figure((Panel(picture),), caption),),
                first=True,
            ),
            Section("The figures", (figures,), first=True),
        ),
        provenance=provenance(s),
        tables=(figures,),
        method=paragraph(
            {},
            [
                f"{n} were ranked on each of {splits} and the mean ranks compared by "
                "Friedman's test in the form of Iman and Davenport "
                f"({pvalue(s['pvalue'])}), which assumes independent splits. Mean "
                f"ranks further apart than {critical} differ at the level "
                f"{100 * s['alpha']:g} % (Nemenyi)."
            ],
        ),
    )


@view.register
def show_size(record: Calibration) -> View:
    """Show how often a test rejects where there is nothing to find."""
    s = summarize_size(record)
    size = s["size"]
    rate, nominal = percent(size["rate"]), percent(size["nominal"])
    span = percent_range(size["low"], size["high"])
    mark = Mark(s["test"], size["rate"], (Bounds(size["low"], size["high"]),))
    picture = Intervals(
        f"False-positive rate: {mark.words()}; nominal {nominal}.",
        (mark,),
        (Level("nominal", size["nominal"]),),
        axis="false-positive rate",
    )
    n = count(size["n_simulations"], "data set")
    figures = table(
        f"False-positive rate of the test: how often it rejects where neither side is "
        f"better ({size['design']}).",
        "Test! | Nominal# | Measured#* | 95 % interval# | Data sets#",
        [(s["test"], nominal, rate, span, str(size["n_simulations"]))],
    )
    too_often = size["low"] > size["nominal"]
    return View(
        title=f"How often does {s['test']} err?",
        question="How often does the test err where there is nothing to find?",
        badge=Badge("care", "More often than it should")
        if too_often
        else Badge("yes", "As it should, or less"),
        headline=f"{s['test']} rejects in {rate} of {n} on which neither side is "
        f"better (95 % interval {span}; nominal {nominal}).",
        lead=f"Simulated: {size['design']}.",
        facts=(),
        sections=(
            Section(
                "The false-positive rate",
                (
                    Figure(
                        (Panel(picture),),
                        "Share of data sets on which the test rejects, with its 95 % "
                        "interval; the dashed line is the nominal level.",
                    ),
                ),
                first=True,
            ),
            Section("The figures", (figures,), first=True),
        ),
        provenance=provenance(s),
        tables=(figures,),
        method=paragraph(
            {},
            [
                f"The test {s['test']} was run on {n} in which neither side is better "
                f"({size['design']}); at the nominal level {nominal} it rejected in "
                f"{rate} (95 % interval {span})."
            ],
        ),
    )


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:.4g}".replace("-", MINUS)

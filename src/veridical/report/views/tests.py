"""Significance tests, ranks and measured false-positive rates as pages."""

from __future__ import annotations

from typing import Any

from veridical._core.numbers import count, percent, percent_range, pvalue
from veridical.comparison.records import Calibration, Friedman, TestResult
from veridical.report.plain import concluded, plain, to_json
from veridical.report.view import (
    Badge,
    Figure,
    Intervals,
    Level,
    Mark,
    Text,
    View,
    bare_pvalue,
    bounded,
    brief,
    confidence,
    score,
    score_range,
    table,
    view,
)
from veridical.report.views.comparison import assumed, ranks_of

BADGES = {"yes": "Significant", "open": "Not shown"}
SIZE_BADGES = {
    "yes": "Not shown to exceed the nominal level",
    "care": "Above the nominal level",
}


@to_json.register
def summarize_test(record: TestResult) -> Any:
    """Turn a significance test into plain numbers."""
    winner = record.winner
    return {"kind": "test", **plain(record), "winner": winner, **concluded(record)}


@to_json.register
def summarize_ranks(record: Friedman) -> Any:
    """Turn Friedman's test into plain numbers."""
    return {"kind": "friedman", **plain(record), **concluded(record)}


@to_json.register
def summarize_size(record: Calibration) -> Any:
    """Turn a measured false-positive rate into plain numbers."""
    return {"kind": "calibration", **plain(record), **concluded(record)}


@view.register
def show_test(record: TestResult) -> View:
    """Show the difference that a test looked at, with its interval."""
    s = summarize_test(record)
    low, high = s["interval"]
    mark = Mark(f"a minus b, {s['name']}", s["mean_difference"], bounded(low, high))
    picture = Intervals(
        f"Mean difference of a and b: {mark.words('number')}; no difference is 0.",
        (mark,),
        (Level("no difference", 0.0, solid=True),),
        "number",
        "difference",
    )
    level, n = f"{100 * s['alpha']:g} %", count(s["n"], "difference")
    gap, p = score(s["mean_difference"], "number"), pvalue(s["pvalue"])
    row = (
        s["name"],
        gap,
        score_range(low, high, "number"),
        score(s["statistic"], "number"),
        bare_pvalue(s["pvalue"]),
        "neither" if s["winner"] == "draw" else s["winner"],
    )
    figures = table(
        f"Difference of a and b, positive where a is better ({n}, level {level}).",
        f"Test! | Difference#* | {confidence(1 - s['alpha'])}# | Statistic# | p-value# "
        "| Better",
        [row],
    )
    caption = f"Mean of a minus b, with its {confidence(1 - s['alpha'])}; the solid "
    return brief(
        s,
        Badge(s["belief"], BADGES[s["belief"]]),
        s["headline"],
        f"{s['name']} test on {n}, at the significance level {level}.",
        "The difference",
        Figure.from_picture(picture, f"{caption}line is no difference."),
        figures,
        *([Text(s["note"])] if s["note"] else []),
        Text(assumed(s["assumptions"])),
        title=f"Do a and b differ? {s['name']}",
        question="Do a and b differ?",
        method=f"The difference of the scores of a and b was tested by the {s['name']} "
        f"test on {n}, at the level {level}. {assumed(s['assumptions'])} The mean "
        f"difference is {gap} ({p}).",
    )


@view.register
def show_ranks(record: Friedman) -> View:
    """Show mean ranks, and which are not distinguished."""
    s = summarize_ranks(record)
    names = [f"selector {i}" for i in range(len(s["mean_ranks"]))]
    critical, level = f"{s['critical_difference']:.2f}", f"{100 * s['alpha']:g} %"
    splits, n = count(s["n"], "split"), count(len(names), "selector")
    figures = table(
        f"Mean ranks over {splits}, 1 is best; Iman and Davenport's F "
        f"= {score(s['statistic'], 'number')}, {pvalue(s['pvalue'])}, Nemenyi's "
        f"critical difference {critical}.",
        "Selector! | Mean rank#*",
        [(name, f"{r:.2f}") for name, r in zip(names, s["mean_ranks"], strict=True)],
    )
    caption = (
        "Dots are mean ranks, 1 is best. A thick line joins selectors whose mean ranks "
        "lie within Nemenyi's critical difference of each other."
    )
    apart = (
        f"ranks that are further apart than {critical} differ significantly at the "
        f"level {level} (Nemenyi)."
    )
    return brief(
        s,
        Badge(s["belief"], BADGES[s["belief"]]),
        s["headline"],
        f"Mean {apart}",
        "Mean ranks and the critical difference",
        Figure.from_picture(ranks_of(s, names, unit="split"), caption),
        figures,
        title=f"Do {n} differ?",
        question="Do the selectors differ?",
        method=f"{n} were ranked on each of {splits} and the mean ranks compared by "
        f"Friedman's test in the form of Iman and Davenport ({pvalue(s['pvalue'])}), "
        f"which assumes independent splits. Mean {apart}",
    )


@view.register
def show_size(record: Calibration) -> View:
    """Show how often a test rejects where there is nothing to find."""
    s = summarize_size(record)
    size = s["size"]
    rate, nominal = percent(size["rate"]), percent(size["nominal"])
    span = percent_range(size["low"], size["high"])
    mark = Mark(s["test"], size["rate"], bounded(size["low"], size["high"]))
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
    caption = "Share of data sets on which the test rejects, with its 95 % interval; "
    caption += "the dashed line is the nominal level."
    return brief(
        s,
        Badge(s["belief"], SIZE_BADGES[s["belief"]]),
        s["headline"],
        f"Simulated: {size['design']}.",
        "The false-positive rate",
        Figure.from_picture(picture, caption),
        figures,
        title=f"False-positive rate of {s['test']}",
        question="How often does the test reject where there is no difference?",
        method=f"The test {s['test']} was run on {n} in which neither side is better "
        f"({size['design']}); at the nominal level {nominal} it rejected in {rate} "
        f"(95 % interval {span}).",
    )

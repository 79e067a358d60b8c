"""Significance tests, ranks and measured false-positive rates as pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from veridical._core.numbers import count, percent, percent_range, pvalue
from veridical._core.text import capitalized
from veridical.comparison.records import (
    Bias,
    Calibration,
    Friedman,
    TestResult,
    Truthfulness,
)
from veridical.report.plain import plain, to_json
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
    table,
    view,
    write_score,
    write_score_range,
)
from veridical.report.views.comparison import assumed, ranks_of

MOST_MARKS = 30  # tests in a figure; the table has all
MOST_RANKS = 15  # mean ranks in a figure of many tests; the table has all
BADGES = {"yes": "Significant", "care": "Not corrected", "open": "Not shown"}
BIAS_BADGES = {"care": "Biased", "open": "Not shown"}
SIZE_BADGES = {
    "yes": "Not shown to exceed the nominal level",
    "care": "Above the nominal level",
}


@to_json.register
def summarize_test(record: TestResult) -> Any:
    """Turn a significance test into plain numbers."""
    winner = plain(record.winner)
    return {"kind": "test", **plain(record), "winner": winner}


@to_json.register
def summarize_ranks(record: Friedman) -> Any:
    """Turn Friedman's test into plain numbers."""
    return {"kind": "friedman", **plain(record)}


@to_json.register
def summarize_size(record: Calibration) -> Any:
    """Turn a measured false-positive rate into plain numbers."""
    return {"kind": "calibration", **plain(record)}


class Sides(NamedTuple):
    """What a kind of test calls its two sides, and how it words what it found."""

    a: str
    b: str
    question: str
    caption: str
    scores: str
    unit: str
    which: str
    head: str
    badges: Mapping[str, str]


def sides_of(record: TestResult) -> Sides:
    """Return the words for a kind of test."""
    if isinstance(record, Truthfulness):
        return Sides(
            "IN",
            "OUT",
            "Does IN or OUT reach the true verdict more often?",
            "How much more often IN than OUT reaches the true verdict, as a share of "
            "the data sets",
            "How often IN and OUT reach the true verdict was",
            "data set",
            " where one alone was right",
            "More often right",
            BADGES,
        )
    if isinstance(record, Bias):
        return Sides(
            "the method",
            "TRUTH",
            "Is the accuracy too high or too low?",
            "Accuracy of the method minus the true one, positive where it is too high",
            "The accuracy of a method and the true one were",
            "score",
            "",
            "Higher",
            BIAS_BADGES,
        )
    return Sides(
        "a",
        "b",
        "Do a and b differ?",
        "Difference of a and b, positive where a is better",
        "The scores of a and b were",
        "difference",
        "",
        "Better",
        BADGES,
    )


@view.register
def show_test(record: TestResult) -> View:
    """Show the difference that a test looked at, or many tests, with intervals."""
    s = summarize_test(record)
    sides = sides_of(record)
    many = bool(np.ndim(record.pvalue))
    # The name is made safe to show first: a data frame does not take every text.
    tests = plain(replace(record, name=s["name"]).to_frame().to_dict("records"))
    names = {"a": sides.a, "b": sides.b, "draw": "neither"}
    labels = [f"test {i}" for i in range(len(tests))] if many else [s["name"]]
    sizes = sorted({test["n"] for test in tests})
    n = f"{count(sizes[-1], sides.unit)}{sides.which}"
    if len(sizes) > 1:
        n = f"{sizes[0]} to {n}"
    if isinstance(record, Truthfulness) and not many:
        # The difference is a share of all data sets, not of those that the test uses.
        used = ("only_in", "only_out", "both_right", "both_wrong")
        n += f", of {sum(s[key] for key in used)} in all"
    level = f"{100 * s['alpha']:g} %"
    marks = tuple(
        Mark(
            label if many else f"{sides.a} minus {sides.b}, {label}",
            test["mean_difference"],
            bounded(test["low"], test["high"]),
        )
        for label, test in zip(labels[:MOST_MARKS], tests, strict=False)
    )
    said = "; ".join(mark.words("number") for mark in marks)
    picture = Intervals(
        f"Mean difference of {sides.a} and {sides.b}: {said}; no difference is 0.",
        marks,
        (Level("no difference", 0.0, solid=True),),
        "number",
        "difference",
    )
    rows = [
        (
            label,
            write_score(test["mean_difference"], "number"),
            write_score_range(test["low"], test["high"], "number"),
            write_score(test["statistic"], "number"),
            bare_pvalue(test["pvalue"]),
            names[test["winner"]],
        )
        for label, test in zip(labels, tests, strict=True)
    ]
    who = f"{s['name']}, " if many else ""
    figures = table(
        f"{sides.caption} ({who}{n}, level {level}).",
        f"Test! | Difference#* | {confidence(1 - s['alpha'])}# | Statistic# | p-value# "
        f"| {sides.head}",
        rows,
    )
    caption = f"Mean of {sides.a} minus {sides.b}, with its "
    caption += f"{confidence(1 - s['alpha'])}; the solid line is no difference."
    if len(tests) > len(marks):
        caption += f" The first {len(marks)} of {len(tests)} tests."
    how = f"the {s['name']} test on {n}"
    lead = capitalized(f"{s['name']} test on {n}")
    if many:
        how = f"{count(len(tests), 'test')} ({s['name']}) on {n} each"
        lead = how
    return brief(
        s,
        Badge(s["belief"], sides.badges[s["belief"]]),
        s["headline"],
        f"{lead}, at the significance level {level}.",
        "The differences" if many else "The difference",
        Figure.from_picture(picture, caption),
        figures,
        *([Text(s["note"])] if s["note"] else []),
        Text(assumed(s["assumptions"])),
        title=f"{sides.question} {s['name']}",
        question=sides.question,
        method=f"{sides.scores} compared by {how}, at the level {level}. "
        f"{assumed(s['assumptions'])} {s['headline']}",
    )


@view.register
def show_ranks(record: Friedman) -> View:
    """Show mean ranks, and which are not distinguished."""
    s = summarize_ranks(record)
    n_selectors = np.shape(record.mean_ranks)[-1]
    names = [f"selector {i}" for i in range(n_selectors)]
    critical, level = f"{s['critical_difference']:.2f}", f"{100 * s['alpha']:g} %"
    splits, n = count(s["n"], "split"), count(len(names), "selector")
    apart = (
        f"ranks that are further apart than {critical} differ significantly at the "
        f"level {level} (Nemenyi)."
    )
    if np.ndim(record.pvalue):
        return _show_many_ranks(record, s, names, splits, apart)
    figures = table(
        f"Mean ranks over {splits}, 1 is best; Iman and Davenport's F "
        f"= {write_score(s['statistic'], 'number')}, {pvalue(s['pvalue'])}, Nemenyi's "
        f"critical difference {critical}.",
        "Selector! | Mean rank#*",
        [(name, f"{r:.2f}") for name, r in zip(names, s["mean_ranks"], strict=True)],
    )
    caption = (
        "Dots are mean ranks, 1 is best. A thick line joins selectors whose mean ranks "
        "lie within Nemenyi's critical difference of each other."
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


def _show_many_ranks(
    record: Friedman, s: Any, names: list[str], splits: str, apart: str
) -> View:
    """Show the mean ranks of many tests, a row and a p-value for each."""
    ranks = np.reshape(record.mean_ranks, (-1, len(names))).tolist()
    statistics, pvalues = (
        np.ravel(values).tolist() for values in (record.statistic, record.pvalue)
    )
    rows = [
        (
            f"test {i}",
            *(f"{rank:.2f}" for rank in of_test),
            write_score(plain(statistic), "number"),
            bare_pvalue(p),
        )
        for i, (of_test, statistic, p) in enumerate(
            zip(ranks, statistics, pvalues, strict=True)
        )
    ]
    heads = [f"{name.capitalize()}#" for name in names]
    marks = [
        Mark(f"test {i}, {name}", rank)
        for i, of_test in enumerate(ranks)
        for name, rank in zip(names, of_test, strict=True)
    ][:MOST_RANKS]
    picture = Intervals(
        f"Mean ranks: {'; '.join(mark.words('number') for mark in marks)}.",
        tuple(marks),
        unit="number",
        axis="mean rank",
    )
    caption = "Mean ranks, 1 is best."
    if len(marks) < len(ranks) * len(names):
        caption += f" The first {len(marks)} of {len(ranks) * len(names)}."
    tests, n = count(len(ranks), "test"), count(len(names), "selector")
    how = f"{tests} of {n} on {splits} each"
    return brief(
        s,
        Badge(s["belief"], BADGES[s["belief"]]),
        s["headline"],
        f"{capitalized(how)}. Mean {apart}",
        "Mean ranks",
        Figure.from_picture(picture, caption),
        table(
            f"Mean ranks over {splits}, 1 is best, and Iman and Davenport's F.",
            " | ".join(["Test!", *heads, "F#", "p-value#"]),
            rows,
        ),
        title=f"Do {n} differ?",
        question="Do the selectors differ?",
        method=f"{n} were ranked on each of {splits} and the mean ranks compared by "
        f"Friedman's test in the form of Iman and Davenport, in {tests}; it assumes "
        f"independent splits. Mean {apart}",
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

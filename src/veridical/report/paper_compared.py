"""The tables and method sections of comparisons; see `veridical.report.paper`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from veridical._core.numbers import (
    MINUS,
    MISSING,
    count,
    percent,
    percent_range,
    points,
    points_range,
    pvalue,
)
from veridical._core.text import names
from veridical.comparison.records import SIDES
from veridical.report.size_words import short


@dataclass(frozen=True)
class Table:
    """Words in rows; the first column names the row."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def data(s: Any) -> str:
    """Say what the data are."""
    known = s["data"]
    return (
        f"{known['name']}: {count(known['n_samples'], 'case')}, "
        f"{count(known['n_features'], 'feature')}, "
        f"{count(len(known['classes']), 'class')}"
    )


def p(value: float | None) -> str:
    """Write a p-value for a table."""
    return pvalue(value).removeprefix("p ").removeprefix("= ")


# -- two selectors -------------------------------------------------------------------


def compared(s: Any) -> Table:
    """Tabulate two selectors, method by method."""
    header = ("Selection", *(s["names"][side] for side in SIDES))
    header += ("Difference", f"{100 * (1 - s['alpha']):g} % interval", "p", "Test size")
    rows = []
    for method in s["methods"]:
        gap = method["difference"]
        row = [method["label"], *(percent(method[side]["value"]) for side in SIDES)]
        if gap is None:
            row += ["", "", "", ""]
        else:
            row += [
                points(gap["value"]),
                points_range(gap["low"], gap["high"]),
                p(gap["pvalue"]),
                short(gap["size"]),
            ]
        rows.append(tuple(row))
    return Table(
        f"Mean accuracy with {s['n_features_to_select']} features selected "
        f"({names(s['estimators'])}; {data(s)}; chance "
        f"{percent(s['data']['chance'])})."
        " IN: selected anew in each training fold. OUT: selected once, on all cases.",
        header,
        tuple(rows),
    )


def compared_words(s: Any) -> list[str]:
    """Say how two selectors were compared."""
    first = s["methods"][0]
    gap = first["difference"]
    said = [
        f"We compared {s['names']['a']} and {s['names']['b']}, each selecting "
        f"{s['n_features_to_select']} of "
        f"{count(s['data']['n_features'], 'feature')}, by the "
        f"accuracy of {names(s['estimators'])} on {data(s)}.",
        *_resampling(s),
    ]
    if gap is not None:
        said += _tested(gap)
    return said


def _resampling(s: Any) -> list[str]:
    methods = {method["method"]: method for method in s["methods"]}
    said = []
    if "in" in methods:
        splits = s["settings"].get("cross-validation", "cross-validation")
        said.append(
            f"Features were selected anew in each training set (IN) of {splits}, the "
            "same splits for all selectors."
        )
    if "out" in methods:
        said.append(
            "For comparison, features were also selected once on all cases (OUT), "
            "which lets the selection see the test cases."
        )
    if "truth" in methods:
        said.append(
            f"The true accuracy was taken on {methods['truth']['n_repeats']} training "
            "sets drawn from the source, each tested on fresh cases (TRUTH)."
        )
    return said


def _tested(gap: Any) -> list[str]:
    said = [
        f"Differences were tested by {gap['test']} at the level "
        f"{100 * gap['alpha']:g} %. {sentence(gap['assumptions'])}"
    ]
    if gap["size"] is not None:
        size = gap["size"]
        said.append(
            f"On {size['n_simulations']} simulated data sets in which neither selector "
            f"is better ({size['design']}), the nominal {100 * size['nominal']:g} % "
            f"test rejected in {percent(size['rate'])} (95 % interval "
            f"{percent_range(size['low'], size['high'])})"
            + ("; p-values are calibrated to that." if size["calibrated"] else ".")
        )
    else:
        said.append("The size of this test has not been measured for this design.")
    return said


def sentence(text: str) -> str:
    """Begin with a capital and end with a full stop."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."


# -- several selectors ---------------------------------------------------------------


def ranked(s: Any) -> Table:
    """Tabulate several selectors."""
    labels = [method["label"] for method in s["methods"]]
    header = ["Selector"]
    for label in labels:
        header += [f"{label}", f"{label}, mean rank"]
    header += ["Stability", "Features"]
    rows = []
    for each in s["selectors"]:
        row = [each["name"]]
        for method in s["methods"]:
            row += [
                percent(each["means"][method["method"]]["value"]),
                f"{each['ranks'][method['method']]:.2f}",
            ]
        steady = each["stability"]
        row += ["" if steady is None else f"{steady['value']:.2f}"]
        row += [str(each["n_distinct"])]
        rows.append(tuple(row))
    return Table(
        "Mean accuracy and mean rank over folds with "
        f"{s['n_features_to_select']} features selected "
        f"({names(s['estimators'])}; {data(s)}); Nogueira's stability, and "
        "how many different features the folds selected.",
        tuple(header),
        tuple(rows),
    )


def ranked_words(s: Any) -> list[str]:
    """Say how several selectors were compared."""
    first = s["methods"][0]
    ranks = first["friedman"]
    said = [
        f"We compared {names(s['names'])}, each selecting "
        f"{s['n_features_to_select']} of "
        f"{count(s['data']['n_features'], 'feature')}, by the accuracy of "
        f"{names(s['estimators'])} on {data(s)}.",
        *_resampling(s),
        f"All pairs were tested, and p-values corrected by the method of "
        f"{s['correction'].capitalize()}; Friedman's test on the ranks gave "
        f"{pvalue(ranks['pvalue'])}, with a critical difference of "
        f"{ranks['critical_difference']:.2f} mean ranks (Nemenyi).",
    ]
    if first["pairs"]:
        said += _tested(first["pairs"][0]["difference"])
    return said


# -- tests on scores -----------------------------------------------------------------


def tested(s: Any) -> Table:
    """Tabulate one significance test."""
    return Table(
        "Difference of a and b, positive where a is better "
        f"({count(s['n'], 'difference')}, level {100 * s['alpha']:g} %).",
        ("Test", "Difference", "Interval", "Statistic", "p", "Better"),
        (
            (
                s["name"],
                _number(s["mean_difference"]),
                " to ".join(map(_number, s["interval"])),
                _number(s["statistic"]),
                p(s["pvalue"]),
                {"draw": "neither"}.get(s["winner"], s["winner"]),
            ),
        ),
    )


def tested_words(s: Any) -> list[str]:
    """Say what was tested, and what that rests on."""
    return [
        f"The difference of the scores of a and b was tested by {s['name']} on "
        f"{count(s['n'], 'difference')}, at the level {100 * s['alpha']:g} %. "
        f"{sentence(s['assumptions'])}",
        f"The mean difference is {_number(s['mean_difference'])} "
        f"({pvalue(s['pvalue'])}).",
    ]


def mean_ranked(s: Any) -> Table:
    """Tabulate the mean ranks of Friedman's test."""
    return Table(
        f"Mean ranks over {count(s['n'], 'split')}, 1 is best; Iman and Davenport's F "
        f"= {_number(s['statistic'])}, {pvalue(s['pvalue'])}, Nemenyi's critical "
        f"difference {s['critical_difference']:.2f}.",
        ("Selector", "Mean rank"),
        tuple((str(i), f"{rank:.2f}") for i, rank in enumerate(s["mean_ranks"])),
    )


def mean_ranked_words(s: Any) -> list[str]:
    """Say how selectors were ranked and tested."""
    return [
        f"{count(len(s['mean_ranks']), 'selector')} were ranked on each of "
        f"{count(s['n'], 'split')} and the mean ranks compared by Friedman's test in "
        f"the form of Iman and Davenport ({pvalue(s['pvalue'])}). Mean ranks further "
        f"apart than {s['critical_difference']:.2f} differ at the level "
        f"{100 * s['alpha']:g} % (Nemenyi)."
    ]


def rejecting(s: Any) -> Table:
    """Tabulate how often a test rejects where there is nothing to find."""
    size = s["size"]
    return Table(
        f"How often the test rejects where neither side is better ({size['design']}).",
        ("Test", "Nominal", "Rejected", "95 % interval", "Data sets"),
        (
            (
                s["test"],
                percent(size["nominal"]),
                percent(size["rate"]),
                percent_range(size["low"], size["high"]),
                str(size["n_simulations"]),
            ),
        ),
    )


def rejecting_words(s: Any) -> list[str]:
    """Say how the size of a test was measured."""
    size = s["size"]
    return [
        f"The test {s['test']} was run on {count(size['n_simulations'], 'data set')} "
        f"in which neither side is better ({size['design']}); at the nominal level "
        f"{percent(size['nominal'])} it rejected in {percent(size['rate'])} (95 % "
        f"interval {percent_range(size['low'], size['high'])})."
    ]


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:.4g}".replace("-", MINUS)

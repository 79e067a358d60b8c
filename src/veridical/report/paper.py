"""For a paper: the table of a record in Markdown or LaTeX, and its method in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from veridical import __version__
from veridical._records import SIDES, InputError
from veridical.report.numbers import (
    count,
    names,
    p_value,
    percent,
    percent_range,
    points,
    points_range,
)
from veridical.report.size_words import short
from veridical.report.summarize import summarize


@dataclass(frozen=True)
class Table:
    """Words in rows; the first column names the row."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def to_markdown(record: Any) -> str:
    """Write the main table of a record as Markdown, its caption below.

    Parameters
    ----------
    record : Comparison, ManyComparison, Estimates or Audit
        What is to be reported.
    """
    table = table_of(record)
    rules = ["---", *["---:"] * (len(table.header) - 1)]
    lines = [
        "| " + " | ".join(_markdown(cell) for cell in row) + " |"
        for row in (table.header, tuple(rules), *table.rows)
    ]
    return "\n".join([*lines, "", _markdown(table.caption), ""])


def to_latex(record: Any) -> str:
    """Write the main table of a record as LaTeX, with rules of ``booktabs``.

    Parameters
    ----------
    record : Comparison, ManyComparison, Estimates or Audit
        What is to be reported.
    """
    table = table_of(record)
    columns = "l" + "r" * (len(table.header) - 1)

    def line(cells: tuple[str, ...]) -> str:
        return " & ".join(map(_latex, cells)) + r" \\"

    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_latex(table.caption)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            line(table.header),
            r"\midrule",
            *map(line, table.rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def method_section(record: Any) -> str:
    """Say how the figures came about, in a paragraph for a method section.

    Protocol, resampling, test, its correction and its measured size are stated.

    Parameters
    ----------
    record : Comparison, ManyComparison, Estimates or Audit
        What is to be reported.
    """
    summary: Any = summarize(record)
    _, write = _of(summary)
    return " ".join(
        [
            *write(summary),
            f"Computed with veridical {__version__}"
            + (
                f", random state {summary['settings']['random_state']}."
                if "random_state" in summary["settings"]
                else "."
            ),
        ]
    )


def table_of(record: Any) -> Table:
    """Put together the table that answers a record's question."""
    summary: Any = summarize(record)
    make, _ = _of(summary)
    return make(summary)


def _data(s: Any) -> str:
    data = s["data"]
    return (
        f"{data['name']}: {count(data['n_samples'], 'case')}, "
        f"{count(data['n_features'], 'feature')}, "
        f"{count(len(data['classes']), 'class')}"
    )


def _p(value: float | None) -> str:
    return p_value(value).removeprefix("p ").removeprefix("= ")


# -- two selectors -------------------------------------------------------------------


def _compared(s: Any) -> Table:
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
                _p(gap["p_value"]),
                short(gap["size"]),
            ]
        rows.append(tuple(row))
    return Table(
        f"Mean accuracy with {s['n_features']} features selected "
        f"({names(s['classifiers'])}; {_data(s)}; chance "
        f"{percent(s['data']['chance'])})."
        " IN: selected anew in each training fold. OUT: selected once, on all cases.",
        header,
        tuple(rows),
    )


def _compared_words(s: Any) -> list[str]:
    first = s["methods"][0]
    gap = first["difference"]
    said = [
        f"We compared {s['names']['a']} and {s['names']['b']}, each selecting "
        f"{s['n_features']} of {count(s['data']['n_features'], 'feature')}, by the "
        f"accuracy of {names(s['classifiers'])} on {_data(s)}.",
        *_resampling(s),
    ]
    if gap is not None:
        said += _tested(s, gap)
    return said


def _resampling(s: Any) -> list[str]:
    methods = {method["method"]: method for method in s["methods"]}
    said = []
    if "in" in methods:
        m = methods["in"]
        repeats = f", repeated {m['n_repeats']} times" if m["n_repeats"] > 1 else ""
        said.append(
            f"Features were selected anew in each training set (IN) of {m['n_folds']}-"
            f"fold cross-validation{repeats}, the same folds for all selectors."
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


def _tested(s: Any, gap: Any) -> list[str]:
    said = [
        f"Differences were tested by {gap['test']} at the level "
        f"{100 * gap['alpha']:g} %. {_sentence(gap['assumptions'])}"
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


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."


# -- several selectors ---------------------------------------------------------------


def _ranked(s: Any) -> Table:
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
        f"Mean accuracy and mean rank over folds with {s['n_features']} features "
        f"selected ({names(s['classifiers'])}; {_data(s)}); Nogueira's stability, and "
        "how many different features the folds selected.",
        tuple(header),
        tuple(rows),
    )


def _ranked_words(s: Any) -> list[str]:
    first = s["methods"][0]
    ranks = first["friedman"]
    said = [
        f"We compared {names(s['names'])}, each selecting {s['n_features']} of "
        f"{count(s['data']['n_features'], 'feature')}, by the accuracy of "
        f"{names(s['classifiers'])} on {_data(s)}.",
        *_resampling(s),
        f"All pairs were tested, and p-values corrected by the method of "
        f"{s['correction'].capitalize()}; Friedman's test on the ranks gave "
        f"{p_value(ranks['p_value'])}, with a critical difference of "
        f"{ranks['critical_difference']:.2f} mean ranks (Nemenyi).",
    ]
    if first["pairs"]:
        said += _tested(s, first["pairs"][0]["difference"])
    return said


# -- one learner ---------------------------------------------------------------------


def _estimated(s: Any) -> Table:
    rows = []
    for each in s["estimates"]:
        best = each["intervals"][0] if each["intervals"] else None
        rows.append(
            (
                each["method"],
                percent(each["value"]),
                "none valid"
                if best is None
                else percent_range(best["low"], best["high"]),
                "" if best is None else best["kind"],
                str(each["n_test"]),
            )
        )
    return Table(
        f"{s['metric'].capitalize()} of {s['learner']} ({_data(s)}; chance "
        f"{percent(s['data']['chance'])}).",
        (
            "Method",
            "Estimate",
            f"{100 * s['confidence']:g} % interval",
            "Kind",
            "Cases",
        ),
        tuple(rows),
    )


def _estimated_words(s: Any) -> list[str]:
    said = [
        f"The {s['metric']} of {s['learner']} on {_data(s)} was estimated by "
        f"{names([each['method'] for each in s['estimates']])}."
    ]
    told = set()
    for each in s["estimates"]:
        for bounds in each["intervals"][:1]:
            if bounds["kind"] not in told:
                told.add(bounds["kind"])
                said.append(
                    f"Intervals marked {bounds['kind']} assume the following: "
                    f"{_sentence(bounds['assumes'])}"
                )
    return said


# -- an audit ------------------------------------------------------------------------


def _audited(s: Any) -> Table:
    rows = [
        (
            lane["label"],
            percent(lane["accuracy"]["value"]),
            percent_range(lane["accuracy"]["low"], lane["accuracy"]["high"]),
            "" if lane["null_mean"] is None else percent(lane["null_mean"]),
            "" if lane["p_value"] is None else _p(lane["p_value"]),
        )
        for lane in s["lanes"]
    ]
    found = names([each["code"] for each in s["findings"]]) or "none"
    return Table(
        f"Accuracy of {s['learner']} as reported and as measured honestly ({_data(s)}; "
        f"chance {percent(s['data']['chance'])}). Findings: {found}.",
        ("Protocol", "Accuracy", "95 % interval", "On random labels", "p"),
        tuple(rows),
    )


def _audited_words(s: Any) -> list[str]:
    said = [
        f"The accuracy of {s['learner']} on {_data(s)} was audited.",
        *(_sentence(sentence) for sentence in s["words"]["methods"]),
    ]
    if s["optimism"] is not None:
        gap = s["optimism"]
        said.append(
            f"Selecting on all cases was worth {points(gap['value'])} "
            f"({points_range(gap['low'], gap['high'])})."
        )
    said += [f"{each['code']}: {_sentence(each['title'])}" for each in s["findings"]]
    return said


_Maker = tuple[Callable[[Any], Table], Callable[[Any], list[str]]]
_MAKERS: dict[str, _Maker] = {
    "comparison": (_compared, _compared_words),
    "many": (_ranked, _ranked_words),
    "estimates": (_estimated, _estimated_words),
    "audit": (_audited, _audited_words),
}


def _of(summary: Any) -> _Maker:
    if summary["kind"] not in _MAKERS:
        raise InputError(
            f"There is no table for a record of the kind {summary['kind']!r}; its page "
            "shows what there is."
        )
    return _MAKERS[summary["kind"]]


# -- two alphabets -------------------------------------------------------------------

_LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "\N{MINUS SIGN}": "$-$",
    "\N{NO-BREAK SPACE}": "~",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in " ".join(text.split(" ")))


def _markdown(text: str) -> str:
    for sign in "\\|<*`[":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split("\n"))

"""For a paper: the table of a record in Markdown or LaTeX, and its method in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any

from veridical._core.errors import InputError
from veridical._core.version import __version__
from veridical.comparison.records import Calibration, Friedman, TestResult
from veridical.evaluation import NestedCV
from veridical.evaluation.records import CalibrationTable, Estimate
from veridical.report import paper_measured as measured
from veridical.report.estimates import to_dict as one_estimate
from veridical.report.paper_compared import (
    Table,
    compared,
    compared_words,
    mean_ranked,
    mean_ranked_words,
    ranked,
    ranked_words,
    rejecting,
    rejecting_words,
    tested,
    tested_words,
)
from veridical.report.summarize import clean, finite, summarize


def to_dict(record: Any) -> dict[str, Any]:
    """Turn a record into plain numbers, strings, lists and dicts, ready for JSON.

    Parameters
    ----------
    record : Comparison, Estimates, Audit or any other record
        What is to be told to a program.
    """
    told = one_estimate(record) if isinstance(record, Estimate) else _summary(record)
    return {key: _plain(value, False) for key, value in told.items()}


def _plain(value: Any, make_safe: bool = True) -> Any:
    """Write records as dicts, arrays as lists, and what is not finite as None."""
    if is_dataclass(value):
        value = {one.name: getattr(value, one.name) for one in fields(value)}
    if hasattr(value, "_asdict"):  # a named tuple
        value = value._asdict()
    if isinstance(value, Mapping):
        return {
            clean(key) if make_safe else str(key): _plain(one, make_safe)
            for key, one in value.items()
        }
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(one, make_safe) for one in value]
    if isinstance(value, float):
        return finite(value)
    return clean(value, 2000) if make_safe and isinstance(value, str) else value


def to_markdown(record: Any) -> str:
    """Write the main table of a record as Markdown, its caption below.

    Parameters
    ----------
    record : Comparison, Estimates, Audit or any other record
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
    record : Comparison, Estimates, Audit or any other record
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


def to_html(record: Any) -> str:
    """Write the main table of a record as HTML, without style or script.

    Parameters
    ----------
    record : Comparison, Estimates, Audit or any other record
        What is to be reported.
    """
    table = table_of(record)
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.header)
    rows = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in table.rows
    )
    return (
        f"<table><caption>{escape(table.caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def to_rich(record: Any) -> Any:
    """Lay a record out for a terminal: what was found, and the main table.

    Parameters
    ----------
    record : Comparison, Estimates, Audit or any other record
        What is to be shown.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Group
    from rich.table import Table as Grid
    from rich.text import Text

    summary, table = _summary(record), table_of(record)
    grid = Grid(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for i, name in enumerate(table.header):
        grid.add_column(Text(name), justify="right" if i else "left", overflow="fold")
    for row in table.rows:
        # Text, not strings: a name in brackets is a name and no markup.
        grid.add_row(*map(Text, row))
    words = summary.get("words", summary)
    said = [words["headline"]] if "headline" in words else []
    return Group(*map(Text, said), Text(table.caption, style="dim"), grid)


def method_section(record: Any) -> str:
    """Say how the figures came about, in a paragraph for a method section.

    Protocol, resampling, test, its correction and its measured size are stated.

    Parameters
    ----------
    record : Comparison, Estimates, Audit or any other record
        What is to be reported.
    """
    summary = _summary(record)
    _, write = _of(summary)
    settings = summary.get("settings", {})
    seed = ""
    if "random_state" in settings:
        seed = f", random state {settings['random_state']}"
    said = [*write(summary), f"Computed with veridical {__version__}{seed}."]
    return " ".join(filter(None, said))


def table_of(record: Any) -> Table:
    """Put together the table that answers a record's question."""
    summary = _summary(record)
    make, _ = _of(summary)
    return make(summary)


def _summary(record: Any) -> dict[str, Any]:
    """Turn a record into plain numbers and strings, safe to show."""
    for known, (kind, more) in _BARE.items():
        if isinstance(record, known):
            return {"kind": kind, **_plain(record), **_plain(more(record))}
    return dict(summarize(record))


#: Records without a page: their kind, and what is told besides their fields.
_BARE: dict[type, tuple[str, Callable[[Any], dict[str, Any]]]] = {
    TestResult: ("test", lambda record: {"winner": record.winner}),
    NestedCV: ("nested-cv", lambda record: {"interval": record.interval()}),
    Friedman: ("friedman", lambda _: {}),
    Calibration: ("calibration", lambda _: {}),
    CalibrationTable: ("calibration-table", lambda _: {}),
}


_Maker = tuple[Callable[[Any], Table], Callable[[Any], list[str]]]
_MAKERS: dict[str, _Maker] = {
    "comparison": (compared, compared_words),
    "many": (ranked, ranked_words),
    "estimates": (measured.estimated, measured.estimated_words),
    "audit": (measured.audited, measured.audited_words),
    "selection": (measured.selected, measured.selected_words),
    "correction": (measured.corrected, measured.corrected_words),
    "calibration-table": (measured.calibrated, measured.calibrated_words),
    "calibration": (rejecting, rejecting_words),
    "test": (tested, tested_words),
    "friedman": (mean_ranked, mean_ranked_words),
    "nested-cv": (measured.nested, measured.nested_words),
    "sensitivity": (measured.sensitive, measured.sensitive_words),
    "study": (measured.studied, measured.studied_words),
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

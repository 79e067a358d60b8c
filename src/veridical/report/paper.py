"""For a paper: the table of a record in Markdown or LaTeX, and its method in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from html import escape
from typing import Any

from veridical._core.errors import InputError
from veridical._core.version import __version__
from veridical.evaluation import display
from veridical.evaluation.records import CalibrationTable, Estimate, Selection
from veridical.experiments.findings import StudyReport
from veridical.report import paper_measured as measured
from veridical.report import selection, studies
from veridical.report.paper_compared import (
    Table,
    compared,
    compared_words,
    ranked,
    ranked_words,
)
from veridical.report.summarize import clean, finite, summarize


def to_dict(record: Any) -> dict[str, Any]:
    """Turn a record into plain numbers, strings, lists and dicts, ready for JSON.

    Parameters
    ----------
    record : Comparison, Estimates, Audit or any other record
        What is to be told to a program.
    """
    return {key: _plain(value) for key, value in _summary(record).items()}


def _plain(value: Any) -> Any:
    """Write tuples and arrays as lists, and what is not finite as None."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return finite(value)
    return value


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
    if isinstance(record, Selection):
        return dict(selection.to_json(record))
    if isinstance(record, StudyReport):
        return studies.to_json(record)
    if isinstance(record, Estimate):
        return _of_estimate(record)
    if isinstance(record, CalibrationTable):
        known = asdict(record)
        named = {key: clean(known[key]) for key in ("label", "positive")}
        return {**known, **named, "kind": "calibration"}
    return dict(summarize(record))


def _of_estimate(record: Estimate) -> dict[str, Any]:
    return {
        "kind": "estimate",
        "metric": clean(record.metric),
        "estimator": clean(record.estimator),
        "method": clean(record.method),
        "n_test": record.n_test,
        "n_splits": len(record.scores),
        "rows": [(clean(n), clean(text, 2000)) for n, text in display.rows(record)],
        "assumes": {clean(k): clean(v, 2000) for k, v in record.assumes.items()},
        "notes": [clean(note, 2000) for note in record.notes],
        "settings": {"random_state": str(record.random_state)},
    }


_Maker = tuple[Callable[[Any], Table], Callable[[Any], list[str]]]
_MAKERS: dict[str, _Maker] = {
    "comparison": (compared, compared_words),
    "many": (ranked, ranked_words),
    "estimates": (measured.estimated, measured.estimated_words),
    "estimate": (measured.single, measured.single_words),
    "audit": (measured.audited, measured.audited_words),
    "selection": (measured.selected, measured.selected_words),
    "correction": (measured.corrected, measured.corrected_words),
    "calibration": (measured.calibrated, measured.calibrated_words),
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

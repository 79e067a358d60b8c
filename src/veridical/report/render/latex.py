"""From a table of a view to LaTeX, for a paper."""

from __future__ import annotations

from veridical.report.view import Rows

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


def to_latex(rows: Rows) -> str:
    """Write a table as LaTeX, with rules of ``booktabs``.

    Parameters
    ----------
    rows : Rows
        The table.
    """
    rows = rows.flat()
    columns = "".join("r" if column.number else "l" for column in rows.columns)
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_latex(rows.caption)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            _line([column.header for column in rows.columns]),
            r"\midrule",
            *(_line([cell.text for cell in row.cells]) for row in rows.rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _line(texts: list[str]) -> str:
    return " & ".join(map(_latex, texts)) + r" \\"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)

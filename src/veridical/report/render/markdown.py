"""From a table of a view to Markdown."""

from __future__ import annotations

from veridical.report.view import Rows


def to_markdown(rows: Rows) -> str:
    """Write a table as Markdown, its caption below.

    Parameters
    ----------
    rows : Rows
        The table.
    """
    rows = rows.flat()
    rules = ["---:" if column.number else "---" for column in rows.columns]
    lines = [
        [_escaped(column.header) for column in rows.columns],
        rules,
        *([_escaped(cell.text) for cell in row.cells] for row in rows.rows),
    ]
    written = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([*written, "", _escaped(rows.caption), ""])


def _escaped(text: str) -> str:
    for sign in "\\|<*`[":
        text = text.replace(sign, f"\\{sign}")
    return text

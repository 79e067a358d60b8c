"""From a view to a terminal: its tables, its answer, and remarks below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veridical.report.view import Rows, View

MOST_ROWS = 20  # of a table; the rest is on the page and in the JSON
SHORT = 12  # characters of a name that are not folded


def grid(rows: Rows, *, title: bool = True) -> Any:
    """Lay a table out for rich.

    Parameters
    ----------
    rows : Rows
        The table; its wide columns are left out.
    title : bool
        Whether the caption stands above it.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    rows = rows.flat(narrow=True)
    table = Table(
        title=Text(rows.caption) if title else None,
        title_justify="left",
        title_style="",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    shown = rows.rows[:MOST_ROWS]
    for i, column in enumerate(rows.columns):
        # Numbers stay on one line, their headers need not; a long name may be folded.
        longest = max((len(row.cells[i].text) for row in shown), default=1)
        table.add_column(
            Text(column.header),
            justify="right" if column.number else "left",
            min_width=longest if column.number else min(longest, SHORT),
            overflow="fold",
        )
    for row in shown:
        # Text, not strings: a name in brackets is a name and no markup.
        table.add_row(*(Text(cell.text) for cell in row.cells))
    return table


def to_rich(view: View) -> Any:
    """Lay a view out for a terminal: what was found, the main table, remarks."""
    from rich.console import Group
    from rich.text import Text

    table = view.tables[0]
    caption = Text(table.caption, style="dim")
    below = [*_left_out(table), *map(Text, view.remarks)]
    return Group(Text(view.headline), caption, grid(table, title=False), *below)


def show(view: View) -> None:
    """Print the tables of a view, its headline and its remarks."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for table in view.tables:
        console.print(grid(table))
        for line in _left_out(table):
            console.print(line)
        console.print()
    for sentence in (view.headline, *view.remarks):
        console.print(Text(sentence))


def _left_out(table: Rows) -> list[Any]:
    from rich.text import Text

    more = len(table.rows) - MOST_ROWS
    return [Text(f"and {more} more; --out and --json list all")] if more > 0 else []

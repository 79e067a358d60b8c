"""From a view to a terminal: its tables, its answer, and remarks below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veridical.report.view import Rows, View

MOST_ROWS = 20  # of a table; the rest is on the page and in the JSON
SHORT_WORD = 12  # characters of a word that are folded last


@dataclass(frozen=True)
class TextTable:
    """A table that fits the width of the terminal, without losing text.

    Parameters
    ----------
    rows : Rows
        The table; its wide columns are left out.
    title : bool
        Whether the caption stands above it.
    """

    rows: Rows
    title: bool = True

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """Lay the table out in the width that there is."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        rows = self.rows.flat(narrow=True)
        shown = rows.rows[:MOST_ROWS]
        widths, gap = fit_widths(rows, options.max_width)
        if self.title:
            yield Text(rows.caption)
        table = Table(
            box=SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
            padding=(0, gap - 1, 0, 0),
        )
        for column, width in zip(rows.columns, widths, strict=True):
            table.add_column(
                Text(column.header),
                justify="right" if column.number else "left",
                width=width,
                overflow="fold",
            )
        for row in shown:
            # Text, not strings: a name in brackets is a name and no markup.
            table.add_row(*(Text(cell.text) for cell in row.cells))
        yield table


def fit_widths(rows: Rows, room: int) -> tuple[list[int], int]:
    """Find the widths of the columns and of the gaps between them.

    Where a table is too wide, what matters least is folded first: headers between their
    words, then texts, then the gaps, then long words, and numbers last. Within a step
    the widest column is folded first.

    Parameters
    ----------
    rows : Rows
        A table without spanning cells.
    room : int
        Number of characters of a line.

    Returns
    -------
    widths : list of int
        One for each column.
    gap : int
        Characters between two columns.
    """
    from rich.cells import cell_len

    def longest(texts: Iterable[str]) -> int:
        return max(map(cell_len, texts), default=1)

    cells = [
        [row.cells[i].text for row in rows.rows[:MOST_ROWS]]
        for i in range(len(rows.columns))
    ]
    words = [longest(" ".join(own).split()) for own in cells]
    whole = [longest(own) for own in cells]
    heads = [longest(column.header.split()) for column in rows.columns]
    numbers = [column.number for column in rows.columns]
    # A number and its unit stay together; the words of "not measured" need not.
    apart = [longest(filter(_has_digit, own)) for own in cells]
    texts = [
        max(a, w) if n else w for a, w, n in zip(apart, words, numbers, strict=True)
    ]
    natural = [
        max(own, cell_len(column.header))
        for own, column in zip(whole, rows.columns, strict=True)
    ]

    def both(one: Sequence[int], other: Sequence[int]) -> list[int]:
        return [max(pair) for pair in zip(one, other, strict=True)]

    short_heads = [min(head, SHORT_WORD) for head in heads]
    short = [
        w if n else min(w, SHORT_WORD) for w, n in zip(texts, numbers, strict=True)
    ]
    split = [min(w, SHORT_WORD) for w in words]
    # Widths to start from, the least that they may become, and the gap.
    one_head, one_word = both(whole, heads), both(texts, heads)
    no_long, in_parts = both(short, short_heads), both(split, short_heads)
    steps = [
        (natural, one_head, 2),
        (one_head, one_word, 2),
        (one_head, one_word, 1),
        (one_word, no_long, 1),
        (no_long, in_parts, 1),
        (in_parts, [1] * len(natural), 1),
    ]
    for start, least, gap in steps:
        widths = list(start)
        over = sum(widths) + gap * (len(widths) - 1) - room
        while over > 0:
            spare = [w - m for w, m in zip(widths, least, strict=True)]
            free = [i for i, left in enumerate(spare) if left > 0]
            if not free:
                break
            widest = max(free, key=lambda i: widths[i])
            widths[widest] -= 1
            over -= 1
        if over <= 0:
            break
    return widths, gap


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def to_rich(view: View) -> Any:
    """Lay a view out for a terminal: what was found, the main table, remarks."""
    from rich.console import Group
    from rich.text import Text

    table = view.tables[0]
    caption = Text(table.caption, style="dim")
    below = [*_left_out(table), *map(Text, view.remarks)]
    return Group(Text(view.headline), caption, TextTable(table, title=False), *below)


def show(view: View) -> None:
    """Print the tables of a view, its headline and its remarks."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for table in view.tables:
        console.print(TextTable(table))
        for line in _left_out(table):
            console.print(line)
        console.print()
    for sentence in (view.headline, *view.remarks):
        console.print(Text(sentence))


def _left_out(table: Rows) -> list[Any]:
    from rich.text import Text

    more = len(table.rows) - MOST_ROWS
    return [Text(f"and {more} more; --out and --json list all")] if more > 0 else []

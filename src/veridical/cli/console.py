"""What verbs show while they work, and when they are done."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from veridical.report.schema import Summary


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show a bar on a terminal's stderr; elsewhere nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(label, total=None)

        def update(done: int, total: int) -> None:
            bars.update(bar, completed=done, total=total)

        yield update


def show(summary: Summary, page: Path | None, *, as_json: bool) -> None:
    """Print a comparison: as JSON, or the table, its meaning and where the page is."""
    if as_json:
        where = None if page is None else str(page)
        typer.echo(json.dumps({**summary, "page": where}, indent=2, allow_nan=False))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.print(_table(summary))
    console.print()
    words = summary["words"]
    for sentence in (words["headline"], *words["artefacts"]):
        # Text, not a string: a name in brackets is a name and no markup.
        console.print(Text(sentence))
    if page is not None:
        typer.echo(f"The report is in {page}")


def _table(summary: Summary) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from veridical._records import SIDES
    from veridical.report.numbers import count, p_value, percent, points, points_range

    names, data = summary["names"], summary["data"]
    table = Table(
        title=Text(
            f"Mean accuracy on {data['name']}: {count(data['n_samples'], 'case')}, "
            f"{summary['n_features']} of {count(data['n_features'], 'feature')}, "
            f"chance {percent(data['chance'])}; differences in points"
        ),
        title_justify="left",
        title_style="",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    table.add_column("")
    for side in SIDES:
        table.add_column(Text(names[side]), justify="right", overflow="fold")
    confidence = f"{100 * (1 - summary['alpha']):g} % interval"
    for header in ("Diff.", confidence, "p-value"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("Better", overflow="fold")
    table.add_column("n", no_wrap=True)
    for method in summary["methods"]:
        row = [method["label"], *(percent(method[side]["value"]) for side in SIDES)]
        gap = method["difference"]
        if gap is None:
            row += [""] * 4
        else:
            row += [
                points(gap["value"], unit=False),
                points_range(gap["low"], gap["high"], unit=False),
                p_value(gap["p_value"]).removeprefix("p ").removeprefix("= "),
                "neither" if gap["winner"] == "draw" else names[gap["winner"]],
            ]
        row.append(count(method["a"]["n"], method["unit"]))
        table.add_row(*map(Text, row))
    return table

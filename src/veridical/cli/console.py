"""What verbs show while they work, and when they are done."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from veridical._core.progress import Reporter
    from veridical.report.schema import AnySummary, EstimatesSummary, Summary


_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


def be(*, quiet: bool) -> None:
    """Show no progress and no notes for the rest of this command, or do."""
    _QUIET.set(quiet)


def is_quiet() -> bool:
    """Tell whether progress and notes are unwanted."""
    return _QUIET.get()


def tell(text: str, *, aside: bool) -> None:
    """Say something besides the answer; aside, on stderr, where only JSON may be out.

    Unwanted notes are not told.
    """
    if not (aside and is_quiet()):
        typer.echo(text, err=aside)


def dump(content: Mapping[str, Any]) -> None:
    """Print an answer for programs."""
    typer.echo(json.dumps(content, indent=2, allow_nan=False))


def print_json(summary: Mapping[str, Any], page: Path | None) -> None:
    """Print a summary for programs, and where its page was written."""
    dump({**summary, "page": None if page is None else str(page)})


@contextmanager
def progress_bar(label: str) -> Iterator[Reporter | None]:
    """Report progress on stderr: a bar on a terminal, else a line now and then."""
    if is_quiet():
        yield None
        return
    from veridical._core.progress import Reporter

    with Reporter(label) as reporter:
        yield reporter


def show(summary: AnySummary, page: Path | None, *, as_json: bool) -> None:
    """Print a summary: as JSON, or the table, its meaning and where the page is."""
    if as_json:
        print_json(summary, page)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    if summary["kind"] == "comparison":
        console.print(_compared(summary))
        remarks = [*summary["words"]["artefacts"], *summary["words"]["sizes"]]
    elif summary["kind"] == "many":
        from veridical.cli.compared import pairs, ranked

        console.print(ranked(summary, _new_table))
        console.print()
        console.print(pairs(summary, _new_table))
        remarks = [summary["words"]["recommendation"], *summary["words"]["sizes"]]
    elif summary["kind"] == "audit":
        from veridical.cli.audited import figures, remarks_on

        console.print(figures(summary, _new_table))
        remarks = remarks_on(summary)
    elif summary["kind"] == "estimates":
        console.print(_estimated(summary))
        remarks = [
            f"{'; '.join(note['methods'])}: {note['text']}"
            for part in ("notes", "intervals")
            for note in summary["words"][part]
        ]
    else:
        raise TypeError(f"no verb prints a summary of kind {summary['kind']}")
    console.print()
    for sentence in (summary["words"]["headline"], *remarks):
        # Text, not a string: a name in brackets is a name and no markup.
        console.print(Text(sentence))
    if page is not None:
        typer.echo(f"The report is in {page}")


def _new_table(title: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    return Table(
        title=Text(title),
        title_justify="left",
        title_style="",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )


def _compared(summary: Summary) -> Table:
    from rich.text import Text

    from veridical._core.numbers import count, percent, points, points_range, pvalue
    from veridical.comparison.records import SIDES

    names, data = summary["names"], summary["data"]
    table = _new_table(
        f"Mean accuracy on {data['name']}: {count(data['n_samples'], 'case')}, "
        f"{summary['n_features_to_select']} of {count(data['n_features'], 'feature')}, "
        f"chance {percent(data['chance'])}; differences in points"
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
                pvalue(gap["pvalue"]).removeprefix("p ").removeprefix("= "),
                "neither" if gap["winner"] == "draw" else names[gap["winner"]],
            ]
        row.append(count(method["a"]["n"], method["unit"]))
        table.add_row(*map(Text, row))
    return table


def _estimated(summary: EstimatesSummary) -> Table:
    from rich.text import Text

    from veridical._core.numbers import count, percent, percent_range, points
    from veridical.report.estimates_words import covered

    data, truth = summary["data"], summary["truth"]
    assert data is not None  # the verb knows its data
    table = _new_table(
        f"Accuracy of {summary['estimator']} on {data['name']}: "
        f"{count(data['n_samples'], 'case')}, {count(data['n_features'], 'feature')}, "
        f"chance {percent(data['chance'])}"
        + ("" if truth is None else "; off the truth in points")
    )
    table.add_column("Method", overflow="fold")
    headers = ["Accuracy", f"{100 * summary['confidence']:g} % interval"]
    for header in headers + ["Off"] * (truth is not None):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("Kind", no_wrap=True)
    table.add_column("Measured coverage", justify="right")
    table.add_column("Cases", justify="right", no_wrap=True)
    rows = [(e["method"], e) for e in summary["estimates"]]
    if truth is not None:
        rows.append(("the truth", truth))
    for name, estimate in rows:
        first = [name, percent(estimate["value"])]
        off = [] if truth is None else [points(estimate["off"], unit=False)]
        n = str(estimate["n_test"])
        for bounds in estimate["intervals"]:
            shown = percent_range(bounds["low"], bounds["high"])
            kind = [bounds["kind"], covered(bounds["coverage"])]
            table.add_row(*map(Text, [*first, shown, *off, *kind, n]))
            first, off, n = ["", ""], [""] * len(off), ""
        if not estimate["intervals"]:
            shown = percent_range(None, None)
            table.add_row(*map(Text, [*first, shown, *off, "none valid", "", n]))
    return table

"""``veridical data``: list, describe and fetch data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from veridical._core.advice import for_the_command_line
from veridical.cli import console, options
from veridical.cli.commands import Group, Verb
from veridical.cli.requests import read_data

if TYPE_CHECKING:
    from rich.table import Table

    from veridical.cli.answers import DataDescription, FeatureDescription, Fetched

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="List data sets, describe one, or fetch one from OpenML.",
)

# Columns that are shown; --json lists all.
_COLUMNS_SHOWN = 20


@app.command("list", cls=Verb)
def list_data(
    as_json: Annotated[bool, options.json_option("data list")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """List the data sets that can be named."""
    console.set_quiet(quiet)
    from veridical.datasets import EMBEDDED, SOURCES, available

    made = dict.fromkeys(SOURCES, "source") | dict.fromkeys(EMBEDDED, "embedded")
    found = {name: made.get(name, "file") for name in sorted(available())}
    if as_json:
        console.dump(found)
        return
    titles = {"source": "Sources", "embedded": "Real data sets"}
    for kind, title in {**titles, "file": "Files in your folders"}.items():
        names = [name for name, its in found.items() if its == kind]
        if names:
            typer.echo(f"{title}: {', '.join(names)}")
    if "file" not in found.values():
        typer.echo(
            "Set VERIDICAL_DATA to a folder with files to name them here; fetch more "
            "with: veridical data fetch openml:NAME"
        )


@app.command(
    cls=Verb,
    epilog=options.examples("data show genes.csv --target tumour", "data show monks-1"),
)
def show(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="A file, or a name from veridical data list."
        ),
    ],
    target: options.TargetOption = None,
    drop: options.DropOption = None,
    header: options.HeaderOption = None,
    classes: options.ClassesOption = False,
    numbers: options.NumbersOption = False,
    time: options.TimeOption = None,
    event: options.EventOption = None,
    as_json: Annotated[bool, options.json_option("data show")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Count samples, features, classes and missing values."""
    console.set_quiet(quiet)
    with for_the_command_line():
        X, y, name = read_data(
            data, target, drop or [],
            header=options.read_header(header), time=time, event=event,
        )  # fmt: skip
        y = y.astype(str) if classes and time is None else y
        summary = _describe(X, y, name, "numbers" if numbers else "auto")
    if as_json:
        console.dump(summary)
        return
    from rich.console import Console
    from rich.text import Text

    from veridical.report.plain import clean

    terminal = Console(highlight=False)
    terminal.print(
        f"{summary['n_samples']} samples, {summary['n_features']} features "
        f"({summary['n_categorical']} of them categorical), {summary['n_missing']} "
        "missing values."
    )
    total = summary["n_samples"]
    shares = ", ".join(
        f"{clean(name)} {count} ({100 * count / total:.0f} %)"
        for name, count in summary["classes"].items()
    )
    shares = shares or clean(summary["outcome"])
    noun = {"classes": "Classes", "numbers": "Target of numbers"}
    said = noun.get(summary["target"], "Target of survival times")
    terminal.print(Text(f"{said}: {shares}."))
    if summary["columns"]:
        terminal.print(_columns(summary["columns"]))
    left = summary["n_features"] - _COLUMNS_SHOWN
    if summary["columns"] and left > 0:
        terminal.print(f"… and {left} more; --json lists all.")


@app.command(
    cls=Verb,
    epilog=options.examples("data fetch openml:credit-g", "data fetch openml:31"),
)
def fetch(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="openml:NAME, or openml:NUMBER, as on openml.org."
        ),
    ],
    again: Annotated[
        bool, options.flag("--again", "Fetch it even if it was fetched before.")
    ] = False,
    as_json: Annotated[bool, options.json_option("data fetch")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Fetch a data set from OpenML and keep it, with a checksum."""
    console.set_quiet(quiet)
    import hashlib

    from veridical.datasets import fetch as fetch_set
    from veridical.datasets.fetching import TARGET

    path = fetch_set(name, again=again)
    if as_json:
        content: Fetched = {
            "schema": "veridical/fetched/1",
            "name": name,
            "path": str(path),
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "target": TARGET,
        }
        console.dump(content)
        return
    typer.echo(f"{path}\nThe class is in the column {TARGET}: --target {TARGET}")


def _describe(
    X: Any, y: Any, name: str, kind: Literal["auto", "numbers"]
) -> DataDescription:
    import numpy as np
    from scipy.sparse import issparse

    from veridical._core.encoding import encode
    from veridical._core.reading import read_target

    target = read_target(y, int(X.shape[0]), name, kind=kind)
    summary: DataDescription = {
        "schema": "veridical/data/1",
        "name": name,
        "n_samples": int(X.shape[0]),
        "n_features": int(X.shape[1]),
        "n_categorical": 0,
        "n_missing": 0,
        "n_stored": None,
        "target": target.kind,
        "outcome": target.describe(),
        "classes": target.counts(),
        "columns": [],
    }
    if issparse(X):
        return {**summary, "n_stored": int(X.nnz)}
    table = encode(X)
    missing = np.isnan(table.values).sum(axis=0)
    if table.names is not None:
        summary["columns"] = [
            _column(str(column), table, j, int(missing[j]))
            for j, column in enumerate(table.names)
        ]
    return {
        **summary,
        "n_categorical": int(table.categorical.sum()),
        "n_missing": int(missing.sum()),
    }


def _column(name: str, table: Any, j: int, missing: int) -> FeatureDescription:
    import numpy as np

    column: FeatureDescription = {
        "name": name,
        "kind": "numeric",
        "missing": missing,
        "values": None,
        "least": None,
        "most": None,
    }
    if table.categorical[j]:
        values = [str(value) for value in table.categories[j]]
        return {**column, "kind": "categorical", "values": values}
    known = table.values[:, j][~np.isnan(table.values[:, j])]
    if known.size:
        column["least"], column["most"] = float(known.min()), float(known.max())
    return column


def _columns(columns: list[FeatureDescription]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from veridical.report.plain import clean

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for header in ("Feature", "Kind", "Values"):
        table.add_column(header, overflow="fold")
    table.add_column("Missing", justify="right")
    for column in columns[:_COLUMNS_SHOWN]:
        values = column["values"]
        if values is not None:
            more = f" and {len(values) - 6} more" if len(values) > 6 else ""
            shown = ", ".join(map(clean, values[:6])) + more
        elif column["least"] is None:
            shown = ""
        else:
            shown = f"{column['least']:g} to {column['most']:g}"
        name, missing = clean(column["name"]), str(column["missing"] or "")
        words = (name, column["kind"], shown, missing)
        table.add_row(*map(Text, words))
    return table

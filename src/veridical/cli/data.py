"""``veridical data``: what data sets are there, and what is in them?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veridical.cli.options import Target

if TYPE_CHECKING:
    from rich.table import Table

app = typer.Typer(
    no_args_is_help=True,
    help="List data sets, look at one, or fetch one from OpenML.",
)

_Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
_SHOWN = 20


@app.command("list")
def list_data(as_json: _Json = False) -> None:
    """Which data sets can be named?"""
    from veridical.datasets import SOURCES, available

    found = {
        name: "source" if name in SOURCES else "file" for name in sorted(available())
    }
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    for kind, title in (("source", "Made here"), ("file", "In your folders")):
        names = [name for name, its in found.items() if its == kind]
        if names:
            typer.echo(f"{title}: {', '.join(names)}")
    if "file" not in found.values():
        typer.echo(
            "Set VERIDICAL_DATA to a folder with files to name them here; fetch more "
            "with: veridical data fetch openml:NAME"
        )


@app.command()
def show(
    data: Annotated[
        str, typer.Argument(help="A file, or the name of a data set, see list.")
    ],
    target: Target = None,
    as_json: _Json = False,
) -> None:
    """How many cases, features and classes; what is missing?"""
    summary = _describe(data, target)
    if as_json:
        typer.echo(json.dumps(summary, indent=2, allow_nan=False))
        return
    from rich.console import Console

    console = Console(highlight=False)
    console.print(
        f"{summary['n_samples']} cases, {summary['n_features']} features "
        f"({summary['n_nominal']} of them nominal), {summary['n_missing']} values "
        "missing."
    )
    total = summary["n_samples"]
    shares = ", ".join(
        f"{name} {count} ({100 * count / total:.0f} %)"
        for name, count in summary["classes"].items()
    )
    console.print(f"Classes: {shares}.", markup=False)
    if summary["columns"]:
        console.print(_columns(summary["columns"]))
    left = summary["n_features"] - _SHOWN
    if summary["columns"] and left > 0:
        console.print(f"… and {left} more; --json lists all.")


@app.command()
def fetch(
    name: Annotated[
        str, typer.Argument(help="openml:NAME, or openml:NUMBER, as on openml.org.")
    ],
    again: Annotated[
        bool, typer.Option("--again", help="Fetch it even if it is there.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Fetch a data set from OpenML and keep it, with a checksum."""
    from veridical.datasets import fetch as fetch_set

    path = fetch_set(name, again=again)
    if as_json:
        typer.echo(json.dumps({"path": str(path), "target": "class"}, indent=2))
        return
    typer.echo(f"{path}\nIts class is in the column class: --target class")


def _describe(data: str, target: str | None) -> dict[str, Any]:
    import numpy as np
    from scipy.sparse import issparse

    from veridical._records import InputError
    from veridical.datasets import available, encode, load, read

    path = Path(data)
    if path.expanduser().is_file():
        X, y = read(path, target)
    elif target is None and (data in available() or data.startswith("openml:")):
        X, y = load(data)
    elif data in available():
        raise InputError(
            f"--target {target} is for files; the data set {data} knows its class. "
            "Leave it out."
        )
    else:
        X, y = read(path, target)  # says what it does not find, and what is near
    classes, counts = np.unique(y, return_counts=True)
    summary: dict[str, Any] = {
        "n_samples": int(X.shape[0]),
        "n_features": int(X.shape[1]),
        "classes": {
            str(name): int(count) for name, count in zip(classes, counts, strict=True)
        },
        "columns": [],
    }
    if issparse(X):
        return {**summary, "n_nominal": 0, "n_missing": 0, "n_stored": int(X.nnz)}
    table = encode(X)
    missing = np.isnan(table.values).sum(axis=0)
    names = table.feature_names
    if names is not None:
        summary["columns"] = [
            _column(str(name), table, j, int(missing[j]))
            for j, name in enumerate(names)
        ]
    return {
        **summary,
        "n_nominal": int(table.nominal.sum()),
        "n_missing": int(missing.sum()),
    }


def _column(name: str, table: Any, j: int, missing: int) -> dict[str, Any]:
    import numpy as np

    if table.nominal[j]:
        values = [str(value) for value in table.categories[j]]
        return {"name": name, "kind": "nominal", "missing": missing, "values": values}
    values = table.values[:, j]
    return {
        "name": name,
        "kind": "numeric",
        "missing": missing,
        "least": float(np.nanmin(values)),
        "most": float(np.nanmax(values)),
    }


def _columns(columns: list[dict[str, Any]]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for header in ("Column", "Kind", "Values"):
        table.add_column(header, overflow="fold")
    table.add_column("Missing", justify="right")
    for column in columns[:_SHOWN]:
        if column["kind"] == "nominal":
            values = column["values"]
            more = f" and {len(values) - 6} more" if len(values) > 6 else ""
            shown = ", ".join(values[:6]) + more
        else:
            shown = f"{column['least']:g} to {column['most']:g}"
        words = (column["name"], column["kind"], shown, str(column["missing"] or ""))
        table.add_row(*map(Text, words))
    return table

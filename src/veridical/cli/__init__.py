"""The command line: one thin file per verb, each parse, call, print.

Only typer is imported here; a verb imports the rooms it needs when it runs, so that
``veridical --help`` answers at once.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from veridical.cli import audit, compare, data, estimate, select, study
from veridical.cli.failures import Verbs
from veridical.cli.options import TakesLists

app = typer.Typer(
    name="veridical",
    cls=Verbs,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("select")(select.select)
app.command("estimate", cls=TakesLists)(estimate.estimate)
app.command("compare", cls=TakesLists)(compare.compare)
app.command("audit", cls=TakesLists)(audit.audit)
app.add_typer(study.app, name="study")
app.add_typer(data.app, name="data")


def _show_version(asked: bool) -> None:
    if asked:
        from veridical import __version__

        typer.echo(f"veridical {__version__}")
        raise typer.Exit


@app.callback()
def veridical(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Say which it is."
        ),
    ] = False,
) -> None:
    """Feature selection you can believe."""


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a sign shows a question mark; it is no reason to stop.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app()

"""The command line: one file per verb, which parses options, calls and prints.

Only typer is imported here; a verb imports what it needs when it runs, so that
``veridical --help`` is fast.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from veridical.cli import (
    audit,
    choose,
    compare,
    data,
    discover,
    estimate,
    probabilities,
    schema,
    select,
    study,
)
from veridical.cli.commands import Verb
from veridical.cli.failures import Verbs
from veridical.cli.options import examples

app = typer.Typer(
    name="veridical",
    cls=Verbs,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "compare",
        "compare genes.csv --target tumour --out report.html",
    )
    + "\n\nExit status: 0 success, 1 a finding or a failure, 2 wrong options or bad "
    "data, 130 stopped by Ctrl-C.",
)
app.command(
    "select",
    cls=Verb,
    epilog=examples(
        "select genes.csv --target tumour --out report.html",
        "select genes.csv --target tumour --selector ddp --alpha auto",
    ),
)(select.select)
app.command(
    "estimate",
    cls=Verb,
    epilog=examples(
        "estimate genes.csv --target tumour --estimator nb",
        "estimate genes.csv --target tumour --cv 10x5,boot632+",
    ),
)(estimate.estimate)
app.command(
    "compare",
    cls=Verb,
    epilog=examples(
        "compare genes.csv --target tumour --selectors relieff,mrmr",
        "compare genes.csv --target tumour --cv 10x10 --out report.html",
    ),
)(compare.compare)
app.command(
    "choose",
    cls=Verb,
    epilog=examples(
        "choose genes.csv --target tumour --out report.html",
        "choose genes.csv --target tumour --features 10,50 --correction bbc",
    ),
)(choose.choose)
app.command(
    "discover",
    cls=Verb,
    epilog=examples(
        "discover genes.csv --target tumour --fdr 0.1 --out report.html",
        "discover genes.csv --target tumour --claim stable --pfer 1",
    ),
)(discover.discover)
app.command(
    "audit",
    cls=Verb,
    epilog=examples(
        "audit genes.csv --target tumour --selected columns.txt",
        "audit genes.csv --target tumour --selector anova --out report.html",
    ),
)(audit.audit)
app.command(
    "probabilities",
    cls=Verb,
    epilog=examples(
        "probabilities genes.csv --target tumour --out report.html",
    ),
)(probabilities.probabilities)
app.add_typer(study.app, name="study")
app.add_typer(data.app, name="data")
app.command("schema", cls=Verb)(schema.schema)


def _show_version(asked: bool) -> None:
    if asked:
        from veridical._core.version import __version__

        typer.echo(f"veridical {__version__}")
        raise typer.Exit


@app.callback()
def veridical(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the version.",
        ),
    ] = False,
) -> None:
    """Feature selection you can believe."""


def main() -> None:
    """Run the command line; `veridical.__main__` handles Ctrl-C around it."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character shows a question mark instead.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app()

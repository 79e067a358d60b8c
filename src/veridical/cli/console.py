"""What verbs show while they work, and when they are done."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

if TYPE_CHECKING:
    from veridical._core.progress import Reporter


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
def progress_bar(label: str) -> Iterator[Reporter | Literal[False]]:
    """Report progress on stderr: a bar on a terminal, else a line now and then."""
    if is_quiet():
        yield False
        return
    from veridical._core.progress import Reporter

    with Reporter(label) as reporter:
        yield reporter


def show(record: Any, page: Path | None, *, as_json: bool) -> None:
    """Print a record: as JSON, or its tables, its answer and where the page is."""
    from veridical import report

    if as_json:
        print_json(report.to_json(record), page)
        return
    from veridical.report.render import terminal

    terminal.show(report.view(record))
    if page is not None:
        typer.echo(f"The report is in {page}")

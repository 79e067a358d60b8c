"""Progress, notes and results on the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import typer

if TYPE_CHECKING:
    from veridical._core.progress import Reporter


Made = TypeVar("Made")

_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


def set_quiet(quiet: bool) -> None:
    """Turn progress and notes off, or on, for the rest of this command."""
    _QUIET.set(quiet)


def is_quiet() -> bool:
    """Return whether progress and notes are turned off."""
    return _QUIET.get()


def note(text: str, *, on_stderr: bool) -> None:
    """Print a note; on stderr, where JSON is printed, unless notes are turned off."""
    if not (on_stderr and is_quiet()):
        typer.echo(text, err=on_stderr)


def dump(content: Mapping[str, Any]) -> None:
    """Print a result as JSON."""
    typer.echo(json.dumps(content, indent=2, allow_nan=False))


@contextmanager
def progress_bar(label: str) -> Iterator[Reporter | Literal[False]]:
    """Report progress on stderr: a bar on a terminal, else a line now and then."""
    if is_quiet():
        yield False
        return
    from veridical._core.progress import Reporter

    with Reporter(label) as reporter:
        yield reporter


def check_page(out: Path | None) -> None:
    """Raise if the report cannot be written, before the work starts."""
    if out is not None:
        from veridical import report

        report.check_writable(out)


def print_answer(
    make: Callable[[], Made],
    out: Path | None,
    *,
    as_json: bool,
    notice: str | None,
    show: Callable[[Made], None] | None = None,
) -> Made:
    """Make a record, write its report and print it.

    Parameters
    ----------
    make : callable
        Does the work.
    out : Path or None
        Where to write the report.
    as_json : bool
        Print JSON instead of tables.
    notice : str or None
        Note to print before the work.
    show : callable, optional
        Prints the record in place of tables.
    """
    from veridical import report
    from veridical._core.advice import for_the_command_line

    check_page(out)
    if notice is not None:
        note(notice, on_stderr=as_json)
    with for_the_command_line():
        record = make()
    page = None if out is None else report.save(record, out)
    if show is None or as_json:
        _show(record, page, as_json=as_json)
    else:
        show(record)
    return record


def _show(record: Any, page: Path | None, *, as_json: bool) -> None:
    """Print a record: as JSON, or as tables, conclusion and path of the report."""
    from veridical import report

    if as_json:
        place = None if page is None else str(page)
        dump({**report.to_json(record), "page": place})
        return
    from veridical.report.render import terminal

    terminal.show(report.view(record))
    if page is not None:
        typer.echo(f"The report is in {page}")

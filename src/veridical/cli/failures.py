"""Errors of the command line: one sentence, an exit status, no traceback.

======  ===========================================
status  meaning
======  ===========================================
0       done
1       an unexpected error
2       usage or bad input
130     stopped by Ctrl-C
======  ===========================================
"""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from veridical._core import interrupts
from veridical.cli import console
from veridical.cli.commands import Group

DEBUG = "VERIDICAL_DEBUG"

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Verbs(Group):
    """A group of commands whose errors are printed as one sentence."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the verbs; schema comes last."""
        return sorted(super().list_commands(ctx), key=lambda name: name == "schema")

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; print what it raises and exit with its status."""
        console.set_quiet(False)
        with _plain_warnings():
            try:
                with interrupts.working():
                    return super().invoke(ctx)
            except KeyboardInterrupt:
                typer.echo(interrupts.message_of_stop(), err=True)
                raise typer.Exit(interrupts.STATUS) from None
            except Exception as error:
                if getattr(error, "exit_code", None) in (0, interrupts.STATUS):
                    raise  # nothing is left to print
                if interrupts.was_interrupted() or _was_interrupted(error):
                    typer.echo(interrupts.message_of_stop(), err=True)
                    raise typer.Exit(interrupts.STATUS) from None
                if _is_about_usage(error) or os.environ.get(DEBUG):
                    raise
                raise typer.Exit(_report(error)) from None


def _was_interrupted(error: BaseException | None) -> bool:
    """Return whether Ctrl-C is the cause of an exception of a library."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_about_usage(error: Exception) -> bool:
    """Return whether typer itself prints an exception; these have a status."""
    return isinstance(error, (typer.Exit, typer.Abort, BrokenPipeError)) or hasattr(
        error, "exit_code"
    )


def _report(error: Exception) -> int:
    from veridical._core.errors import InputError

    if isinstance(error, InputError):
        typer.echo(f"veridical: {in_one_line(error)}", err=True)
        return 2
    if isinstance(error, OSError) and error.errno in _NO_SPACE:
        where = f" {error.filename}" if error.filename else ""
        typer.echo(
            f"veridical: cannot write{where}: {error.strerror}; free some space, or "
            "write elsewhere.",
            err=True,
        )
        return 1
    kind = type(error).__name__
    typer.echo(
        f"veridical: unexpected error: {kind}: {in_one_line(error)}\nSet {DEBUG}=1 and "
        "run the command again for a traceback; please report it.",
        err=True,
    )
    return 1


def in_one_line(text: object) -> str:
    """Return a message in one line, without control characters."""
    words = " ".join(str(text).split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show a warning as a note, without the line of code that raised it."""

    def show(
        message: Warning | str, category: type[Warning], *_: Any, **__: Any
    ) -> None:
        # Other warnings are for programmers.
        if issubclass(category, UserWarning) and not console.is_quiet():
            typer.echo(f"Note: {in_one_line(message)}", err=True)

    with warnings.catch_warnings():
        if not os.environ.get(DEBUG):
            warnings.showwarning = show
        yield

"""What can go wrong, told in one place: a sentence, an exit status, no traceback.

======  ===========================================
status  meaning
======  ===========================================
0       done
1       something that should not have happened
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

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Verbs(Group):
    """A group of commands whose failures are sentences."""

    def list_commands(self, ctx: Any) -> list[str]:
        """List the verbs; what describes them comes last."""
        return sorted(super().list_commands(ctx), key=lambda name: name == "schema")

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; turn what it raises into words and an exit status."""
        console.be(quiet=False)
        with _plain_warnings():
            try:
                with interrupts.working():
                    return super().invoke(ctx)
            except KeyboardInterrupt:
                typer.echo(interrupts.STOP_MESSAGE, err=True)
                raise typer.Exit(interrupts.STATUS) from None
            except Exception as error:
                if getattr(error, "exit_code", None) in (0, interrupts.STATUS):
                    raise  # all is said
                if interrupts.was_interrupted() or _was_interrupted(error):
                    typer.echo(interrupts.STOP_MESSAGE, err=True)
                    raise typer.Exit(interrupts.STATUS) from None
                if _is_about_usage(error) or os.environ.get(DEBUG):
                    raise
                raise typer.Exit(_report(error)) from None


def _was_interrupted(error: BaseException | None) -> bool:
    """Tell whether a Ctrl-C lies behind what some library made of it."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_about_usage(error: Exception) -> bool:
    """Tell typer's own exceptions, which it prints itself; all carry a status."""
    return isinstance(error, (typer.Exit, typer.Abort, BrokenPipeError)) or hasattr(
        error, "exit_code"
    )


def _report(error: Exception) -> int:
    from veridical._core.errors import InputError

    if isinstance(error, InputError):
        typer.echo(f"veridical: {in_one_line(error)}", err=True)
        return 2
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        where = f" {error.filename}" if error.filename else ""
        typer.echo(
            f"veridical: cannot write{where}: {error.strerror}; make room, or write "
            "elsewhere.",
            err=True,
        )
        return 1
    kind = type(error).__name__
    typer.echo(
        f"veridical: something went wrong that should not have: {kind}: "
        f"{in_one_line(error)}\nSet {DEBUG}=1 and run it again to see where; please "
        "report that.",
        err=True,
    )
    return 1


def in_one_line(text: object) -> str:
    """Show a message without the signs that could move a terminal's cursor."""
    words = " ".join(str(text).split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show a warning as a note, without the line of code that raised it."""

    def show(
        message: Warning | str, category: type[Warning], *_: Any, **__: Any
    ) -> None:
        # Others than UserWarning speak to programmers.
        if issubclass(category, UserWarning) and not console.is_quiet():
            typer.echo(f"Note: {in_one_line(message)}", err=True)

    with warnings.catch_warnings():
        if not os.environ.get(DEBUG):
            warnings.showwarning = show
        yield

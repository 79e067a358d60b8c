"""Advice in Python code or in options of the command line.

Notes and errors say what to do instead. A user of the command line cannot type
``CrossValidation(10)``; there the same method is called ``--cv 10``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_AT_THE_COMMAND_LINE: ContextVar[bool] = ContextVar("command_line", default=False)


@contextmanager
def for_the_command_line() -> Iterator[None]:
    """Give advice in options of the command line within this block."""
    token = _AT_THE_COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _AT_THE_COMMAND_LINE.reset(token)


def for_users(python: str, command_line: str) -> str:
    """Return advice as users of Python, or of the command line, can follow it.

    Examples
    --------
    >>> for_users("use StandardScaler", "add --scale standard")
    'use StandardScaler'
    >>> with for_the_command_line():
    ...     for_users("use StandardScaler", "add --scale standard")
    'add --scale standard'
    """
    return command_line if _AT_THE_COMMAND_LINE.get() else python


def advise(python: str, *names: str) -> str:
    """Name methods to use.

    Parameters
    ----------
    python : str
        As they are written in Python.
    *names : str
        As `veridical.evaluation.naming.make_method` knows them.

    Examples
    --------
    >>> advise("CrossValidation(10)", "10")
    'CrossValidation(10)'
    >>> with for_the_command_line():
    ...     advise("Bootstrap632(plus=True) or LeaveOut(1)", "boot632+", "loo")
    '--cv boot632+ or --cv loo'
    """
    return for_users(python, " or ".join(f"--cv {name}" for name in names))

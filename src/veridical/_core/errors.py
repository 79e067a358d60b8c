"""The error for bad input."""

from __future__ import annotations


class InputError(ValueError):
    """Bad input; the message says what is wrong, where, and what to do about it.

    The command line prints the message alone and exits with status 2.
    """


InputError.__module__ = "veridical"  # where users import it from

"""Checks of single parameters, and what their messages say."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from veridical._core.errors import InputError


def check_count(name: str, value: Any, least: int = 1) -> int:
    """Check a number of things.

    Parameters
    ----------
    name : str
        What the message calls it.
    value : object
        As the user gave it.
    least : int, default=1
        The smallest number that makes sense.

    Examples
    --------
    >>> check_count("n_repeats", 5)
    5
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name}={value!r} must be a whole number, {least} or more.")
    return int(value)

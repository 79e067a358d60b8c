"""Checks of single parameters, and what their messages say."""

from __future__ import annotations

from numbers import Integral, Real
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


def check_n_features(n_features_to_select: Any, available: int) -> int:
    """Check how many features to select, and turn a share of them into a number.

    Parameters
    ----------
    n_features_to_select : int or float
        A number, or a share in (0, 1].
    available : int
        Number of features in the data.

    Examples
    --------
    >>> check_n_features(3, 20), check_n_features(0.29, 100)
    (3, 29)
    """
    asked = n_features_to_select
    if isinstance(asked, bool) or not isinstance(asked, Real):
        raise InputError(
            f"n_features_to_select={asked!r} is neither a whole number nor a share in "
            f"(0, 1]; use 1 to {available}."
        )
    if not isinstance(asked, Integral):
        if not 0 < float(asked) <= 1:
            raise InputError(
                f"n_features_to_select={asked} is not a share in (0, 1]; for a number "
                f"of features give a whole number, 1 to {available}."
            )
        # 0.29 of 100 is 29, though in binary the product falls short of it.
        return max(1, int(float(asked) * available + 1e-9))
    if not 1 <= int(asked) <= available:
        raise InputError(
            f"n_features_to_select={asked} is not possible: the data has {available} "
            f"column(s); use 1 to {available}."
        )
    return int(asked)

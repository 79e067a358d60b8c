"""Checks of single parameters, with their messages."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

from veridical._core.errors import InputError


def check_count(name: str, value: Any, least: int = 1) -> int:
    """Check a number of things.

    Parameters
    ----------
    name : str
        Its name in the message.
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


def count_features(
    wanted: Any,
    n_features: int,
    *,
    otherwise: int | None = None,
    name: str = "n_features_to_select",
    strict: bool = False,
    warn: bool = False,
    stacklevel: int = 2,
    what: str = "features of X",
) -> int:
    """Read how many of the features are wanted.

    Parameters
    ----------
    wanted : int, float or None
        A number of features, a share of them in (0, 1], or None.
    n_features : int
        How many features there are; a larger number means all of them.
    otherwise : int, optional
        What None means; all features by default.
    name : str, default="n_features_to_select"
        Name of the parameter in messages.
    strict : bool, default=False
        Whether to refuse more features than there are.
    warn : bool, default=False
        Whether to warn where more features are wanted than there are.
    stacklevel : int, default=2
        Stack level of the warning, counted from here.
    what : str, default="features of X"
        What is counted, for the warning.

    Returns
    -------
    int
        From 1 to `n_features`. A share is rounded down, but to 1 at least.

    Raises
    ------
    InputError
        If it is neither a number nor None, less than 1, or no share.

    Examples
    --------
    >>> [count_features(wanted, 100) for wanted in (7, 0.29, 0.001, None)]
    [7, 29, 1, 100]
    """
    if wanted is None:
        return n_features if otherwise is None else otherwise
    if isinstance(wanted, bool) or not isinstance(wanted, Real):
        raise InputError(
            f"{name}={wanted!r} is neither a number nor None; give a whole number, a "
            "share in (0, 1], or None."
        )
    number: Any = wanted
    if isinstance(wanted, Integral):
        if number < 1:
            raise InputError(f"{name}={wanted} selects nothing; use 1 to {n_features}.")
        if strict and number > n_features:
            raise InputError(
                f"{name}={wanted} is not possible: the data has {n_features} "
                f"feature(s); use 1 to {n_features}."
            )
        if warn and number > n_features:
            warnings.warn(
                f"{name}={wanted} is more than the {n_features} {what}; all of them "
                "are selected.",
                UserWarning,
                stacklevel=stacklevel + 1,
            )
        return min(int(number), n_features)
    if not 0 < number <= 1:
        raise InputError(
            f"{name}={wanted} is not a share in (0, 1]; for a number of features give "
            "a whole number."
        )
    # 0.29 of 100 is 29, although in binary the product is slightly less.
    return max(1, int(number * n_features + 1e-9))

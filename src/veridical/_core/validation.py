"""Checks of single parameters, and what their messages say."""

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


def count_features(
    wanted: Any,
    n_features: int,
    n_kept: int | None = None,
    *,
    warn: bool = False,
    stacklevel: int = 2,
) -> int:
    """Read ``n_features_to_select``: a number, a share, or None.

    Parameters
    ----------
    wanted : int, float or None
        As the user gave it.
    n_features : int
        How many features there are.
    n_kept : int, optional
        How many None stands for; all by default.
    warn : bool, default=False
        Whether to warn where more are wanted than there are.
    stacklevel : int, default=2
        Of the warning.

    Examples
    --------
    >>> count_features(5, 100), count_features(0.29, 100), count_features(None, 100)
    (5, 29, 100)
    """
    if wanted is None:
        return n_features if n_kept is None else n_kept
    if isinstance(wanted, bool) or not isinstance(wanted, Real):
        raise InputError(
            f"n_features_to_select={wanted!r} is neither a number nor None; give a "
            "whole number, a share in (0, 1], or None."
        )
    if isinstance(wanted, Integral):
        if int(wanted) < 1:
            raise InputError(
                f"n_features_to_select={wanted} selects nothing; give 1 or more."
            )
        if warn and int(wanted) > n_features:
            warnings.warn(
                f"n_features_to_select={wanted} is more than the {n_features} features "
                "of X; all of them are selected.",
                UserWarning,
                stacklevel=stacklevel,
            )
        return min(int(wanted), n_features)
    share = float(wanted)
    if not 0 < share <= 1:
        raise InputError(
            f"n_features_to_select={wanted} is not a share in (0, 1]; for a number of "
            "features give a whole number."
        )
    # 0.29 of 100 is 29, though in binary the product falls short of it.
    return max(1, int(share * n_features + 1e-9))

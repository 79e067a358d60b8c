"""Which columns of a table are nominal: what the user may say, and what it means."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.errors import InputError
from veridical._core.text import did_you_mean

BoolArray = NDArray[np.bool_]
Categories = tuple[NDArray[Any] | None, ...]


def mask_of_known(known: Categories, n_features: int) -> BoolArray:
    """Mark the columns for which an earlier call found categories."""
    if len(known) != n_features:
        raise InputError(
            f"X has {n_features} columns, but categories are given for {len(known)}; "
            "pass the columns of the earlier call."
        )
    return np.array([values is not None for values in known], dtype=bool)


def choose_nominal(
    wanted: Any,
    n_features: int,
    names: Sequence[Hashable] | None,
    by_dtype: BoolArray,
) -> BoolArray:
    """Mark the nominal columns.

    Parameters
    ----------
    wanted : "from_dtype", None, bool mask, integer indices or names
        What the user asked for.
    n_features : int
        How many columns there are.
    names : sequence or None
        Their names, where they have any.
    by_dtype : bool array
        The columns whose dtype is nominal.

    Returns
    -------
    bool array of shape (n_features,)
        True where the column is nominal.
    """
    if isinstance(wanted, str):
        if wanted == "from_dtype":
            return by_dtype
        raise InputError(
            f"categorical_features={wanted!r} is not known; use 'from_dtype', None, "
            "a boolean mask, or a list of column indices or names."
        )
    mask = np.zeros(n_features, dtype=bool)
    if wanted is None or len(wanted) == 0:
        return mask
    wanted = list(wanted)
    if all(isinstance(item, (bool, np.bool_)) for item in wanted):
        if len(wanted) != n_features:
            raise InputError(
                f"categorical_features is a mask of {len(wanted)} values, but X has "
                f"{n_features} columns; give one value per column."
            )
        return np.array(wanted, dtype=bool)
    for item in wanted:
        mask[_position(item, n_features, names)] = True
    return mask


def _position(item: Any, n_features: int, names: Sequence[Hashable] | None) -> int:
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
        if not 0 <= item < n_features:
            raise InputError(
                f"categorical_features names column {item}, but X has {n_features} "
                f"columns; use 0 to {n_features - 1}."
            )
        return int(item)
    if isinstance(item, str):
        if names is None:
            raise InputError(
                f"categorical_features names the column {item!r}, but X is an array "
                "without column names; use indices or pass a data frame."
            )
        if item in names:
            return names.index(item)
        raise InputError(
            f"categorical_features names {item!r}, which is no column of X"
            f"{did_you_mean(item, names)}"
        )
    raise InputError(
        f"categorical_features holds {item!r}; use a boolean mask, or a list of "
        "column indices or names."
    )

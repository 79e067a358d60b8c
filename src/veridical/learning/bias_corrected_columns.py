"""Read columns of zeros and ones, and make them where they are not."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.reading import refuse_missing_or_infinite
from veridical._core.text import show

#: Who needs every feature counted over the same samples, as messages say.
WHO = "The correction for selection bias"

#: The cut of a column that holds zeros and ones already.
PLAIN_CUT = 0.5


def median_cuts(values: NDArray[Any]) -> FloatArray:
    """Cut each column at its median; one of two values only, between them.

    A value is a one where it is above the cut, so that a value equal to the median is
    a zero. A column that is a copy of the class, of two values, keeps both.
    """
    cuts = np.median(values, axis=0).astype(np.float64)
    low, high = values.min(axis=0), values.max(axis=0)
    two = (((values == low) | (values == high)).all(axis=0)) & (low < high)
    # Halved before they are added: the sum of two large numbers may be infinite.
    cuts[two] = low[two] / 2.0 + high[two] / 2.0
    return cuts


def find_cuts(
    values: NDArray[Any], plain: NDArray[np.bool_], binarize: Any, names: Any
) -> FloatArray:
    """Find the cut of every column; those of zeros and ones are plain.

    Parameters
    ----------
    values : array of shape (n, p)
        All columns.
    plain : bool array of shape (p,)
        Columns that hold nothing but 0 and 1.
    binarize : "median", number or None
        How to cut the others; None refuses them.
    names : array of str or None
        What the columns are called.
    """
    cuts = np.full(values.shape[1], PLAIN_CUT)
    rest = np.flatnonzero(~plain)
    if rest.size == 0:
        return cuts
    refuse_missing_or_infinite(values[:, rest], names_of(rest, names), WHO)
    if binarize is None:
        name = show(names_of(rest[:1], names)[0])
        raise InputError(
            f"column {name} holds other values than 0 and 1; use binarize='median' or "
            "cut it yourself."
        )
    if isinstance(binarize, str) and binarize == "median":
        cuts[rest] = median_cuts(values[:, rest].astype(np.float64, copy=False))
    elif isinstance(binarize, Real) and not isinstance(binarize, bool):
        cuts[rest] = float(binarize)
    else:
        raise InputError(
            f"binarize={binarize!r} is not known; use 'median', a number, or None."
        )
    return cuts


def names_of(columns: Any, names: Any) -> list[Any]:
    """Call columns by their names, or by their numbers."""
    return [int(j) if names is None else names[j] for j in columns]


def check_threshold(threshold: Any) -> float:
    """Read ``threshold``: an absolute correlation."""
    real = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not real or not 0 <= threshold <= 1:
        raise InputError(
            f"threshold={threshold!r} is no absolute correlation; give a number from 0 "
            "to 1, or None."
        )
    return float(threshold)

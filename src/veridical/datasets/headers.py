"""Whether the first row of a table holds names or data.

The first row is compared with the rows below it, column by column. A word above numbers
is a name. A number above numbers, or a category that occurs below, is a value. Numbers
may also be names (years, wavelengths, numbers of genes); where the first row could be
either, the user is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from veridical._core.advice import for_users
from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.text import listed

#: Cells that are missing values.
MISSING_WORDS = ("", "NA", "NaN", "nan", "?")
#: Share of numeric columns in which the first value is outside the range of the others;
#: above it the first row may hold names. A row of data is outside in 2 of n columns.
_MOST_OUTSIDE = 0.5
#: Numbers; as many in equal steps are no coincidence.
_FEWEST_STEPS = 3


def has_header(
    first: Sequence[str], below: pd.DataFrame, target: str | None, name: str
) -> bool:
    """Return whether the first row holds the names of the columns.

    Parameters
    ----------
    first : sequence of str
        The cells of the first row.
    below : DataFrame
        The other rows, columns of numbers or text.
    target : str or None
        The column with the class, as the user named it.
    name : str
        Name of the table in messages.

    Raises
    ------
    InputError
        If the first row may hold names or data.

    Examples
    --------
    >>> below = pd.DataFrame({0: [4.9, 4.7, 5.3], 1: ["a", "b", "a"]})
    >>> has_header(["length", "kind"], below, None, "x.csv")
    True
    >>> has_header(["5.1", "a"], below, None, "x.csv")
    False
    >>> has_header(["2019", "kind"], below, None, "x.csv")
    Traceback (most recent call last):
        ...
    veridical.InputError: The first row of x.csv holds numbers ('2019')...
    """
    cells = ["" if cell.strip() in MISSING_WORDS else cell.strip() for cell in first]
    numbers = [_as_number(cell) for cell in cells]
    if target is not None and _as_number(target) is None and target in first:
        return True  # only names can be known
    numeric = [dtype.kind in "iuf" for dtype in below.dtypes]
    if any(
        is_number and cell and value is None
        for is_number, cell, value in zip(numeric, cells, numbers, strict=True)
    ):
        return True  # a word above numbers
    named = [cell for cell in cells if cell]
    if len(set(named)) < len(named):
        return False  # names differ
    words = [j for j, is_number in enumerate(numeric) if not is_number]
    values = sum(_occurs(cells[j], below.iloc[:, j]) is True for j in words)
    others = sum(_occurs(cells[j], below.iloc[:, j]) is False for j in words)
    places = [j for j, is_number in enumerate(numeric) if is_number and cells[j]]
    if not places:  # all columns hold text
        if values and others and values >= others:
            raise _ask(f"words that also occur below it ({_some(cells)})", name)
        return not values or values < others
    above = np.array([numbers[j] for j in places], dtype=np.float64)
    may_be_names = (
        bool(others)
        or (target is not None and target in cells)
        or _are_steps(above)
        or _share_outside(above, below.iloc[:, places]) > _MOST_OUTSIDE
    )
    if may_be_names:
        raise _ask(f"numbers ({_some([cells[j] for j in places])})", name)
    return False


def _as_number(cell: str) -> float | None:
    """Return a cell as a number, also with a decimal comma; None if it is a word."""
    for text in (cell, cell.replace(",", ".", 1)):
        try:
            value = float(text)
        except ValueError:
            continue
        return None if np.isnan(value) else value
    return None


def _occurs(cell: str, column: pd.Series[Any]) -> bool | None:
    """Return whether a cell is a value of a column; None if that says nothing.

    A value that is missing, or a column in which hardly any value repeats, say nothing.
    """
    # Booleans are written in several ways, such as TRUE.
    values = column.dropna().astype(str).str.strip().str.casefold()
    if not cell or 2 * values.nunique() > len(values):
        return None
    return bool((values == cell.casefold()).any())


def _are_steps(above: FloatArray) -> bool:
    """Return whether numbers increase or decrease in equal steps, as years do."""
    steps = np.diff(above)
    if len(above) < _FEWEST_STEPS or steps[0] == 0:
        return False
    return bool(np.allclose(steps, steps[0], rtol=1e-6, atol=0))


def _share_outside(above: FloatArray, below: pd.DataFrame) -> float:
    """Return in which share of columns the first value is beyond all others."""
    low, high = below.min().to_numpy(), below.max().to_numpy()
    return float(np.mean((above < low) | (above > high)))


def _some(cells: Sequence[str]) -> str:
    return listed([cell for cell in cells if cell][:6])


def _ask(what: str, name: str) -> InputError:
    yes = for_users("header=True", "--header yes")
    no = for_users("header=False", "--header no")
    return InputError(
        f"The first row of {name} holds {what}, which may be names of columns or a "
        f"sample; give {yes} if they are names, or {no} if the file has no names."
    )

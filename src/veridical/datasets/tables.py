"""What all readers share: the target, the types of columns, and checks."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical._core.errors import InputError
from veridical._core.reading import refuse_empty, refuse_missing_labels
from veridical._core.text import did_you_mean, listed, quote

#: Returns the place of row i of a table in its file, such as "line 7".
RowPlace = Callable[[int], str]

#: Share of numbers in a text column; from this on, the other values are errors.
_MOSTLY_NUMBERS = 0.9
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d[\d.]*,\d+\s*")


def split_target(
    frame: pd.DataFrame, target: str | None, name: str, where: RowPlace
) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Divide a table into features, with their types, and labels.

    Parameters
    ----------
    frame : DataFrame
        The table as it was read.
    target : str or None
        The column with the class; None raises an error that lists the columns.
    name : str
        Name of the table in messages.
    where : callable
        Returns the place of row i in the file.

    Returns
    -------
    X : DataFrame
        The other columns, each numeric or categorical.
    y : array
        The labels.
    """
    repeated = frame.columns[frame.columns.duplicated()].unique()
    if len(repeated):
        raise InputError(
            f"{name} has more than one column named {listed(repeated)}; rename all "
            "but one."
        )
    if target is None:
        raise InputError(
            f"Which column of {name} holds the class? Name it as the target "
            f"(--target); the columns are {listed(frame.columns)}."
        )
    if target not in frame.columns:
        raise InputError(
            f"{name} has no column {target!r}{did_you_mean(target, frame.columns)} "
            f"The columns are {listed(frame.columns)}."
        )
    if frame.shape[1] == 1:
        raise InputError(
            f"{name} has no column except the target {target!r}; there is nothing to "
            "learn from."
        )
    y = as_labels(frame[target], f"column {target!r} of {name}", where)
    X = set_types(frame.drop(columns=target), name, where)
    _refuse_columns_without_values(X, name)
    return X, y


def _refuse_columns_without_values(X: pd.DataFrame, name: str) -> None:
    """Raise for columns without any value; the table is encoded later, once."""
    # Only a column that is missing in the first row can be missing in all.
    first = X.columns[X.iloc[0].isna().to_numpy()]
    refuse_empty([c for c in first if X[c].isna().all()], name)


def as_labels(
    column: pd.Series[Any], label: str, where: RowPlace | None = None
) -> NDArray[Any]:
    """Return a column as labels; raise if some are missing."""
    refuse_missing_labels(column, label, where)
    values = column.to_numpy()
    return np.array(values.tolist()) if values.dtype == object else values


def set_types(frame: pd.DataFrame, name: str, where: RowPlace) -> pd.DataFrame:
    """Make every column numeric or categorical, or raise.

    Numbers stay, with NaN for missing values; text and booleans become categories.

    Warns
    -----
    UserWarning
        For text that differs in every row, and for row numbers saved as a column.
    """
    numbers = frame.select_dtypes(include="number", exclude="timedelta")
    others = frame.columns.difference(numbers.columns, sort=False)
    if len(others):
        kinds = {
            c: _set_type(frame[c], f"column {quote(c)} of {name}", where)
            for c in others
        }
        frame = pd.DataFrame({c: kinds.get(c, frame[c]) for c in frame.columns})
    floats = frame.select_dtypes(include=[np.floating])
    infinite = np.isinf(floats.to_numpy(dtype=np.float64, na_value=np.nan))
    if infinite.any():
        row, j = np.argwhere(infinite)[0]
        raise InputError(
            f"{where(int(row)).capitalize()} of {name} holds an infinite value in "
            f"column {quote(floats.columns[j])}; replace it by a finite number, or "
            "leave it empty for missing."
        )
    _warn_of_row_numbers(frame, name)
    return frame


def _set_type(column: pd.Series[Any], label: str, where: RowPlace) -> pd.Series[Any]:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return column
    if pd.api.types.is_bool_dtype(dtype):
        return column.astype("category")
    if not (dtype.kind == "O"):
        raise InputError(
            f"The values of {label} are of type {dtype}, neither numbers nor text; "
            "convert them to numbers or categories, or remove the column."
        )
    if not isinstance(dtype, pd.StringDtype):
        kinds = set(map(type, column.dropna()))
        if kinds <= {bool}:
            return column.astype("category")
        if kinds <= {Decimal}:
            return column.astype(np.float64)
        if not kinds <= {str, int}:
            raise InputError(
                f"The values of {label} are neither numbers nor text (one is "
                f"{quote(column.dropna().iloc[0])}); remove the column."
            )
        # Integers too long for 64 bits may come as such.
        column = column.astype("str").where(column.notna())
    categorical = column.astype("category")
    values = categorical.cat.categories
    is_number = ~np.isnan(pd.to_numeric(values.to_numpy(dtype=object), "coerce"))
    if is_number.all():
        return column.astype(np.float64)
    _refuse_typing_errors(categorical, is_number, label, where)
    if categorical.count() == len(values) > 1:
        warnings.warn(
            f"Every value of {label} is different, as in an identifier, so it carries "
            "no information about new samples; it is kept as categorical. Better "
            "remove it.",
            stacklevel=2,
        )
    return categorical


def _refuse_typing_errors(
    categorical: pd.Series[Any],
    is_number: NDArray[np.bool_],
    label: str,
    where: RowPlace,
) -> None:
    """Raise for a column of numbers in which a few values are text."""
    values = categorical.cat.categories
    codes = categorical.cat.codes.to_numpy()
    has_comma = np.array([bool(_DECIMAL_COMMA.fullmatch(v)) for v in values])
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    if counts[is_number | has_comma].sum() < _MOSTLY_NUMBERS * counts.sum():
        return
    wrong = has_comma if has_comma.any() else ~is_number
    row = int(np.flatnonzero((codes >= 0) & wrong[codes])[0])
    if has_comma.any():
        cure = "write numbers with a decimal point and without thousands separators"
    else:
        cure = (
            "correct the value, leave it empty if it is missing, or, if these are "
            "codes, begin each with a letter"
        )
    raise InputError(
        f"{where(row).capitalize()} holds {quote(values[codes[row]])} where other "
        f"values of {label} are numbers; {cure}."
    )


def _warn_of_row_numbers(frame: pd.DataFrame, name: str) -> None:
    """Warn of the index that ``DataFrame.to_csv`` writes unless told not to.

    Where rows are sorted by class, such a column reveals the class.
    """
    first = frame.columns[0]
    if str(first).strip() not in ("", "Unnamed: 0"):
        return
    values = frame[first]
    if values.dtype.kind == "i" and (values.diff().dropna() == 1).all():
        warnings.warn(
            f"The first column of {name} has no name and counts the rows; it may "
            "reveal the class. Better remove it (in pandas: to_csv(..., index=False)).",
            stacklevel=2,
        )

"""One column at a time: names become codes, and numbers floats."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical._core.codes import count_seen, seen_by_column, seen_by_row
from veridical._core.columns import BoolArray
from veridical._core.errors import InputError
from veridical._core.text import show

#: Whole numbers below it are small: they are coded by counting.
_SMALL = 256
#: Kinds of numbers that the count is compiled for; others are read as floats.
_READ_AS_IS = frozenset(np.dtype(kind).str for kind in ("f8", "f4", "i8", "i4", "u1"))
#: What to do about text where nominal columns are welcome.
_NOMINAL = (
    "name the column in categorical_features, give it a category dtype, or mend the "
    "value."
)


def code_column(
    column: NDArray[Any] | pd.Series[Any], categories: NDArray[Any] | None, label: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Positions among the categories; NaN where missing or not among them."""
    try:
        # Only the different values are sorted and looked up, not every row.
        codes, found = pd.factorize(column)  # −1 where missing
        uniques = object_if_text(np.asarray(found))
        if categories is None:
            categories = _sorted_unique(uniques)
        places = pd.Index(categories).get_indexer(pd.Index(uniques))
    except TypeError as error:
        raise InputError(
            f"{label} holds something that is neither text nor a number nor missing "
            f"({error}); turn it into text."
        ) from error
    places = np.where(places < 0, np.nan, places)
    return np.append(places, np.nan)[codes], categories


def _sorted_unique(values: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.unique(values)
    except TypeError:  # text beside numbers: group by kind, then sort
        unique = sorted(set(values.tolist()), key=lambda v: (type(v).__name__, v))
        result = np.empty(len(unique), dtype=object)
        result[:] = unique
        return result


def code_series(
    series: Any, known: NDArray[Any] | None, label: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Encode a nominal column of a data frame.

    A polars Categorical declares no categories: what it lists grows as other columns
    are read, so its observed values must do.
    """
    if not isinstance(series, pd.Series):
        if known is None and isinstance(series.dtype, nw.Enum):
            known = np.array(series.dtype.categories, dtype=object)
        if isinstance(series.dtype, nw.String):
            # By way of a list: arrays of text lose a zero byte at the end.
            return code_column(np.array([*series.to_list(), None])[:-1], known, label)
        return code_column(object_if_text(series.to_numpy()), known, label)
    if isinstance(series.dtype, pd.CategoricalDtype):
        # It holds codes already; only its few categories need to be looked up.
        kept: Any = series.array
        codes = kept.codes
        declared = object_if_text(series.dtype.categories.to_numpy())
        if known is None:
            if codes.min(initial=0) >= 0:
                return codes, declared
            return np.where(codes < 0, np.nan, codes), declared
        places, categories = code_column(declared, known, label)
        return np.append(places, np.nan)[codes], categories
    if isinstance(series.dtype, pd.StringDtype):
        return code_column(
            series, known, label
        )  # its own hashing beats that of objects
    column = nw.from_native(series, series_only=True).to_numpy()
    return code_column(object_if_text(column), known, label)


def code_small_integers(
    X: NDArray[Any],
    values: NDArray[Any],
    nominal: BoolArray,
    categories: list[NDArray[Any] | None],
) -> tuple[NDArray[Any], BoolArray]:
    """Code nominal columns of whole numbers 0 to 255, many at a time.

    Binned data have thousands of such columns; looking each up among its sorted values
    would cost more than scoring it.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The table, of numbers.
    values : array of shape (n_samples, n_features)
        The same as floats; X itself, if it is of these. X is not written to.
    nominal : bool array of shape (n_features,)
        Which columns to code.
    categories : list of n_features arrays or None
        The categories of the columns coded are put here.

    Returns
    -------
    values : array of shape (n_samples, n_features)
        With codes in the columns coded; a copy, if X would have been written to.
    rest : bool array of shape (n_features,)
        Which columns are left to code.
    """
    columns = np.flatnonzero(nominal)
    seen = np.zeros((columns.size, _SMALL), dtype=bool)
    good = np.ones(columns.size, dtype=bool)
    source = X if X.dtype.str in _READ_AS_IS else values
    if source.flags.f_contiguous:
        seen_by_column(source.T, columns, seen, good)
    else:
        seen_by_row(source, columns, seen, good)
    n_values, largest = count_seen(seen)
    whole = np.arange(_SMALL).astype(X.dtype)
    for k in np.flatnonzero(good).tolist():
        j = columns[k]
        if n_values[k] == largest[k] + 1:  # it holds its own codes already
            categories[j] = whole[: n_values[k]].copy()
            continue
        categories[j] = whole[seen[k]]
        places = np.append(np.cumsum(seen[k]) - 1.0, np.nan)
        number = np.where(np.isnan(source[:, j]), _SMALL, source[:, j])
        if values is X:
            values = X.copy(order="K")
        values[:, j] = places[number.astype(np.intp)]
    rest = nominal.copy()
    rest[columns[good]] = False
    return values, rest


def read_numbers(
    column: NDArray[Any], label: str, *, cure: str = _NOMINAL
) -> NDArray[Any]:
    """Read a column as floats; the error shows the first value that is no number."""
    kind = column.dtype.kind
    if kind in "fiub":
        return column.astype(np.float64)
    if kind in "mM":
        raise InputError(
            f"{label} holds dates or times; turn it into a number (days since "
            "some day, say) or into a category."
        )
    missing = np.asarray(pd.isna(column))
    result = np.full(column.shape, np.nan)
    try:
        result[~missing] = column[~missing].astype(np.float64)
    except (TypeError, ValueError):
        value = next(v for v in column[~missing] if not _is_number(v))
        raise InputError(
            f"{label} holds {show(value)}, which is not a number; {cure}"
        ) from None
    return result


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def object_if_text(values: NDArray[Any]) -> NDArray[Any]:
    """Text as Python strings, so that width-limited dtypes cannot cut a category."""
    return values.astype(object) if values.dtype.kind in "UST" else values

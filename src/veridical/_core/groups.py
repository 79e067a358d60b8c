"""Groups of samples: the one place that reads and checks ``groups=``.

Samples of one patient, site or plate belong together. Splits never divide a group, and
groups are the units of permutations, bootstraps and intervals.

Groups may be nested, as patients within sites: several columns, the outermost first.
The outermost groups are kept whole, and with them all others; the innermost ones move
as a whole where the outcome is permuted within the outermost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from veridical._core.arrays import IntArray
from veridical._core.errors import InputError
from veridical._core.lazy import is_lazy
from veridical._core.text import did_you_mean, listed, quote, write_rows


class Groups(NamedTuple):
    """Groups as numbers.

    Parameters
    ----------
    codes : int array of shape (n_samples,)
        The number of the outermost group of each sample, from 0 on in order of first
        occurrence, so that splits do not depend on what groups are called.
    names : array of shape (n_groups,)
        The outermost groups as they were given.
    inner : int array of shape (n_samples,) or None
        The innermost groups; None where there is one level.
    """

    codes: IntArray
    names: NDArray[Any]
    inner: IntArray | None = None


def read_groups(groups: Any, n_samples: int, name: str = "groups") -> Groups | None:
    """Check groups, and number them.

    Parameters
    ----------
    groups : array-like of shape (n_samples,) or (n_samples, n_levels)
        A label for every sample, text or numbers; of nested groups a column for each
        level, the outermost first.
    n_samples : int
        Number of samples.
    name : str, default="groups"
        What messages call them.

    Returns
    -------
    Groups or None
        None where every sample is a group of its own.

    Raises
    ------
    InputError
        If there is not one label per sample, one is missing, or there is one group.

    Examples
    --------
    >>> found = read_groups(["b", "a", "b"], 3)
    >>> found.codes.tolist(), found.names.tolist()
    ([0, 1, 0], ['b', 'a'])
    """
    columns = _columns_of(groups, n_samples, name)
    coded = [_number_groups(column, name) for column in columns]
    codes, names = coded[0]
    if len(names) == 1:
        cure = (
            "give the patient, site or plate of every sample, or leave "
            f"{name} out if samples are independent."
        )
        if len(coded) > 1:
            cure = "give the inner groups alone."
        raise InputError(
            f"{name} holds one group only, {quote(names[0])}, so that no split can "
            f"leave a group out; {cure}"
        )
    if len(names) == n_samples:
        return None
    inner = codes
    for level, _ in coded[1:]:  # labels may begin anew in every outer group
        pairs = np.column_stack([inner, level])
        inner = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1)
    return Groups(codes, names, inner.astype(np.intp) if len(coded) > 1 else None)


def read_strata(strata: Any, n_samples: int) -> tuple[IntArray, NDArray[Any]]:
    """Check strata, number them from 0 on, and return how they are called.

    Parameters
    ----------
    strata : array-like of shape (n_samples,)
        A label for every sample, text or numbers.
    n_samples : int
        Number of samples.

    Examples
    --------
    >>> codes, names = read_strata(["b", "a", "b"], 3)
    >>> codes.tolist(), names.tolist()
    ([0, 1, 0], ['b', 'a'])
    """
    columns = _columns_of(strata, n_samples, "strata")
    if len(columns) > 1:
        raise InputError(
            f"strata has {len(columns)} columns; give one label for each sample, such "
            "as site and sex in one text."
        )
    return _number_groups(columns[0], "strata")


def _columns_of(groups: Any, n_samples: int, name: str) -> list[Any]:
    if hasattr(groups, "__dataframe__") or hasattr(groups, "columns"):
        frame = nw.from_native(groups, eager_only=True)
        columns = [frame[one].to_numpy() for one in frame.columns]
        length = len(frame)
    else:
        values = np.asarray(groups, dtype=None if hasattr(groups, "dtype") else object)
        if values.ndim not in (1, 2):
            raise InputError(
                f"{name} must hold one label for each sample, but is "
                f"{quote(groups)}; give a list, or the name of a column of X."
            )
        columns = [values] if values.ndim == 1 else list(values.T)
        length = len(values)
    if length != n_samples or not columns:
        raise InputError(
            f"{name} has {length} labels, but X has {n_samples} samples; give one for "
            "each sample."
        )
    return columns


def _number_groups(labels: Any, name: str) -> tuple[IntArray, NDArray[Any]]:
    missing = np.flatnonzero(pd.isna(labels))
    if missing.size:
        raise InputError(
            f"{name} has no label in {write_rows(missing)}, counted from 0; fill it "
            "in, with a label of its own for a sample that belongs to no other, or "
            "remove the row."
        )
    codes, names = pd.factorize(np.asarray(labels))
    return codes.astype(np.intp), np.asarray(names)


# -- columns of the features -----------------------------------------------------------


def take_named(X: Any, given: Any, parameter: str) -> tuple[Any, Any]:
    """Take columns that are given by name out of the features.

    Parameters
    ----------
    X : data frame or anything else
        The features.
    given : str, list of str, or anything else
        A column of X, or several; anything else is returned as it is.
    parameter : str
        The parameter that names them, for messages.

    Returns
    -------
    values, X
        The columns (one as an array, several as a data frame) and the others.

    Raises
    ------
    InputError
        If X has no such column, or no names.

    Examples
    --------
    >>> X = pd.DataFrame({"age": [50, 60], "patient": ["a", "b"]})
    >>> values, rest = take_named(X, "patient", "groups")
    >>> values.tolist(), list(rest.columns)
    (['a', 'b'], ['age'])
    """
    names = _names_in(given, X)
    if names is None:
        return given, X
    if is_lazy(X) and (X.names is not None or X.side_columns):
        _refuse_absent(
            names, [*X.side_columns, *(() if X.side_columns else X.columns)], parameter
        )
        values = [X.column(one) for one in names]
        if isinstance(given, str):
            return values[0], X.drop(names)
        return pd.DataFrame(dict(zip(names, values, strict=True))), X.drop(names)
    if sparse.issparse(X) or not nw.dependencies.is_into_dataframe(X):
        raise InputError(
            f"{parameter}={given!r} names a column, but X has no column names; pass a "
            "data frame, or one value for each sample."
        )
    frame = nw.from_native(X, eager_only=True)
    _refuse_absent(names, frame.columns, parameter)
    rest = frame.drop(names).to_native()
    if isinstance(given, str):
        return frame[given].to_numpy(), rest
    return frame.select(names).to_native(), rest


def _refuse_absent(names: Sequence[str], known: Sequence[str], parameter: str) -> None:
    absent = [one for one in names if one not in known]
    if absent:
        raise InputError(
            f"{parameter}={absent[0]!r} is not a column of X"
            f"{did_you_mean(absent[0], known)} The columns are {listed(known)}."
        )


def _names_in(given: Any, X: Any) -> Sequence[str] | None:
    """Return the names of columns; None where values were given."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, (list, tuple)) or not given:
        return None
    columns: Iterable[Any] = getattr(X, "columns", getattr(X, "column_names", ()))
    columns = [*columns, *getattr(X, "beside", ())]
    known = {one for one in columns if isinstance(one, str)}
    if all(isinstance(one, str) and one in known for one in given):
        return list(given)
    return None

"""Tables for machines that compute with numbers alone: what they refuse, in words.

scikit-learn turns a frame into an array first and complains afterwards, when the name
of the column is gone; dates may even pass for numbers. So columns are looked at before.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length, validate_data

from veridical._core.encoding import (
    object_if_text,
    read_numbers,
    refuse_lazy,
    refuse_repeated,
)
from veridical._core.errors import InputError
from veridical._core.text import show
from veridical.learning.reading import read_labels

_CURE = "encode it as numbers (OneHotEncoder, say), or leave the column out."


def read_numeric(
    estimator: Any,
    X: Any,
    *,
    reset: bool = True,
    accept_sparse: bool = False,
    min_samples: int = 1,
) -> Any:
    """Read a table of numbers, none missing.

    Parameters
    ----------
    estimator : estimator
        Who computes; it is told, or asked for, number and names of the columns.
    X : array-like, sparse matrix or data frame
        What was given.
    reset : bool, default=True
        Whether the table is the first, rather than one that must fit it.
    accept_sparse : bool, default=False
        Whether sparse matrices stay sparse, in CSR form, or are refused.
    min_samples : int, default=1
        Least number of rows.

    Returns
    -------
    array or CSR matrix of shape (n_samples, n_features)
        float64.

    Raises
    ------
    InputError
        For text, dates, repeated names, missing or infinite values; it names the
        column.
    """
    refuse_other_than_numbers(X, "X")
    values = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=np.float64,
        accept_sparse="csr" if accept_sparse else False,
        ensure_min_samples=min_samples,
        ensure_all_finite=False,
    )
    names = getattr(estimator, "feature_names_in_", None)
    refuse_holes(values, names, type(estimator).__name__, "X")
    return values


def read_numeric_training(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    accept_sparse: bool = False,
    min_samples: int = 1,
) -> tuple[Any, NDArray[Any]]:
    """Read a table of numbers and the labels of its rows."""
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None; pass the class labels."
        )
    values = read_numeric(
        estimator, X, accept_sparse=accept_sparse, min_samples=min_samples
    )
    labels = read_labels(y)
    check_consistent_length(values, labels)
    return values, labels


def read_numeric_beside(estimator: Any, X: Any, y: NDArray[Any], name: str) -> Any:
    """Read a second table of the same cases, sparse ones too."""
    values = read_part(estimator, X, None, name)
    if values.shape[0] != len(y):
        raise InputError(
            f"{name} has {values.shape[0]} rows, but X and y have {len(y)}: found "
            "input variables with inconsistent numbers of samples. Give one row per "
            "case."
        )
    return values


def read_part(estimator: Any, X: Any, names: Any, name: str = "X") -> Any:
    """Read columns of numbers; of an array, messages call them by these names."""
    refuse_other_than_numbers(X, name, names)
    if is_frame(X):
        names = nw.from_native(X, eager_only=True).columns
    values = check_array(
        X,
        accept_sparse="csr",
        dtype=np.float64,
        input_name=name,
        ensure_all_finite=False,
    )
    refuse_holes(values, names, type(estimator).__name__, name)
    return values


# -- what is refused -----------------------------------------------------------------


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of any library."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return False
    return bool(nw.dependencies.is_into_dataframe(X))


def refuse_other_than_numbers(X: Any, name: str, names: Any = None) -> None:
    """Name the first column that holds dates, or text that is no number."""
    refuse_lazy(X, name)
    if is_frame(X):
        refuse_repeated(X, name)
        if _plainly_numbers(X):
            return
        frame = nw.from_native(X, eager_only=True)
        for j, (column, dtype) in enumerate(frame.schema.items()):
            if not (dtype.is_numeric() or isinstance(dtype, nw.Boolean)):
                label = f"Column {show(column)} of {name}"
                _refuse_words(frame[:, j].to_numpy(), label)
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUSTmM":
        for j in range(X.shape[1]):
            told = j if names is None else names[j]
            _refuse_words(X[:, j], f"Column {show(told)} of {name}")


def _plainly_numbers(X: Any) -> bool:
    """Look at the kinds of pandas at once; narwhals takes its time over each column."""
    if not isinstance(X, pd.DataFrame):
        return False
    return all(getattr(dtype, "kind", "O") in "fiub" for dtype in set(X.dtypes))


def _refuse_words(column: NDArray[Any], label: str) -> None:
    if column.dtype.kind == "O" and not any(isinstance(v, str) for v in column):
        return  # numbers and None, or things of which scikit-learn says what they are
    read_numbers(object_if_text(column), label, cure=_CURE)


def refuse_holes(values: Any, names: Any, who: str, name: str) -> None:
    """Refuse missing and infinite values, by column and row."""
    entries = values.data if sparse.issparse(values) else values
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(entries.sum()) or np.isfinite(entries).all():
            return
    if sparse.issparse(values):
        k = int(np.flatnonzero(~np.isfinite(entries))[0])
        row = int(np.searchsorted(values.indptr, k, side="right")) - 1
        j, value = int(values.indices[k]), float(entries[k])
    else:
        row, j = (int(place[0]) for place in np.nonzero(~np.isfinite(values)))
        value = float(values[row, j])
    column = f"column {show(j if names is None else names[j])}"
    if np.isnan(value):
        raise InputError(
            f"Input {name} contains NaN: {column}, row {row}, is missing. {who} does "
            "not accept missing values; impute them (SimpleImputer in a pipeline, say) "
            "or drop the row."
        )
    raise InputError(
        f"Input {name} contains inf: {column}, row {row}, is infinite; replace it by a "
        "finite number or drop the row."
    )

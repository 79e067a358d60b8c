"""From what users hand over to a table: every check of data, and its message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from veridical._core.encoding import Features, encode, refuse_lazy
from veridical._core.errors import InputError
from veridical._core.table import Classes, Table
from veridical._core.text import listed, plural, show

#: Sparse formats whose rows and columns can be indexed.
_INDEXED = ("csr", "csc")


def read_table(
    X: Any,
    y: Any,
    *,
    categorical_features: Any = "from_dtype",
    name: str | None = None,
    encoded: bool = True,
) -> Table:
    """Read features and classes, and refuse a table from which nothing can be learned.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        numpy, pandas, polars, pyarrow, scipy, or a list of rows.
    y : array-like of shape (n_samples,)
        Class labels, numbers or text.
    categorical_features : optional
        Which features are categorical, as in :func:`encode`.
    name : str, optional
        What messages and records call the table.
    encoded : bool, default=True
        Whether to encode and check the features now. Otherwise that is done when they
        are first asked for; an estimator that is not ours may take what we cannot.

    Returns
    -------
    Table
        The table.

    Raises
    ------
    InputError
        If X and y differ in length, a label is missing, there are fewer than two
        classes or the labels are measurements, a feature is wholly missing, or a value
        is infinite.

    Examples
    --------
    >>> read_table([[1.0], [2.0]], ["a", "a"], name="toy.csv")
    Traceback (most recent call last):
        ...
    veridical._core.errors.InputError: toy.csv has only one class, 'a', ...
    """
    shown = "X" if name is None else name
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    refuse_lazy(X, shown)
    X = _as_array(X)
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    check_labels(labels, n_samples, shown)
    features = None
    if encoded:
        features = encode(X, categorical_features, name=shown)
        _check_features(features, shown)
    target = Classes.of(labels)
    # Not every sparse format can be indexed by rows; scikit-learn does the same.
    source = X.tocsr() if sparse.issparse(X) and X.format not in _INDEXED else X
    return Table(features, target, source=source, name="data" if name is None else name)


def check_table(
    X: Any, y: Any, name: str = "X", *, categorical_features: Any = "from_dtype"
) -> None:
    """Refuse a table from which nothing can be learned; see `read_table`."""
    read_table(X, y, name=name, categorical_features=categorical_features)


def _as_array(X: Any) -> Any:
    """Turn a list of rows into an array, of which columns can be taken."""
    if hasattr(X, "shape"):
        return X
    try:
        array = np.asarray(X)
    except ValueError:  # rows that differ in length: `encode` refuses them
        return X
    return array if array.ndim == 2 else X


def check_labels(labels: NDArray[Any], n_samples: int, name: str) -> None:
    """Refuse labels that are no classes: missing, measurements, or all the same."""
    if labels.ndim != 1:
        raise InputError(
            f"The labels of {name} have {labels.ndim} dimensions; give a plain list, "
            "one label per row."
        )
    if n_samples != len(labels):
        raise InputError(
            f"{name} has {n_samples} rows but {len(labels)} labels; give one per row."
        )
    missing = np.flatnonzero(pd.isna(labels))
    if missing.size:
        raise InputError(
            f"The class is missing in {plural('row', missing)} {listed(missing)} of "
            f"{name}, counted from 0; fill it in or remove these rows."
        )
    if labels.dtype.kind == "f":
        broken = labels[labels != np.round(labels)]
        if broken.size:
            raise InputError(
                f"The labels of {name} are measurements such as {show(broken[0])}, not "
                "classes; choose another target, or cut it into classes first."
            )
    classes = pd.unique(labels)
    if len(classes) == 1:
        raise InputError(
            f"{name} has only one class, {show(classes[0])}, in all {len(labels)} "
            "rows; at least two classes are needed. Is it the right target?"
        )


def _check_features(features: Features, name: str) -> None:
    values = features.values
    if sparse.issparse(values):
        if not np.isfinite(values.data).all():
            raise InputError(
                f"{name} holds a NaN or infinite value; a sparse matrix may hold "
                "neither. Replace it by a number."
            )
        return
    # Only a feature that is missing in the first row can be missing in all.
    empty = np.flatnonzero(np.isnan(values[0]))
    empty = empty[np.isnan(values[:, empty]).all(axis=0)]
    names = features.names
    refuse_empty([j if names is None else names[j] for j in empty.tolist()], name)


def refuse_empty(columns: Sequence[Any], name: str) -> None:
    """Refuse columns that have no value at all; none is fine."""
    if columns:
        raise InputError(
            f"{name} has no value at all in {plural('column', columns)} "
            f"{listed(columns)}; remove {'it' if len(columns) == 1 else 'them'}."
        )

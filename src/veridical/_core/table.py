"""A table with its target, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import issparse

from veridical._core.arrays import IntArray
from veridical._core.encoding import encode
from veridical._core.errors import InputError
from veridical._core.text import listed, plural, show


@dataclass(frozen=True, eq=False)
class Labelled:
    """A classification problem as arrays, the form in which criteria see it.

    Parameters
    ----------
    values : array or CSC matrix of shape (n_samples, n_features)
        float64 or float32; NaN is a missing value; nominal columns hold codes.
    nominal : bool array of shape (n_features,)
        Which columns hold codes ``0..v-1`` rather than numbers.
    y : int array of shape (n_samples,)
        Classes ``0..n_classes-1``.
    n_classes : int
        Number of classes in `y`.
    """

    values: Any
    nominal: NDArray[np.bool_]
    y: IntArray
    n_classes: int


def check_table(
    X: Any, y: Any, name: str = "X", *, categorical_features: Any = "from_dtype"
) -> None:
    """Refuse a table from which nothing can be learned, saying why.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,)
        The class labels.
    name : str, default="X"
        What the message calls the table; a file name, say.
    categorical_features : optional
        Which columns are nominal, as in :func:`encode`.

    Raises
    ------
    InputError
        If X and y differ in length, a label is missing, there are fewer than two
        classes or the labels are measurements, a column is wholly missing, or a value
        is infinite.

    Examples
    --------
    >>> from veridical.datasets import check_table
    >>> check_table([[1.0], [2.0]], ["a", "a"], "toy.csv")
    Traceback (most recent call last):
        ...
    veridical._records.base.InputError: toy.csv has only one class, 'a', ...
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InputError(
            f"The labels of {name} have {labels.ndim} dimensions; give a plain list, "
            "one label per row."
        )
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_samples != len(labels):
        raise InputError(
            f"{name} has {n_samples} rows but {len(labels)} labels; give one per row."
        )
    _check_labels(labels, name)
    if issparse(X):
        sparse: Any = X
        if not np.isfinite(sparse.tocsr().data).all():
            raise InputError(
                f"{name} holds a NaN or infinite value; a sparse matrix may hold "
                "neither. Replace it by a number."
            )
        return
    table = encode(X, categorical_features, name=name)
    # Only a column that is missing in the first row can be missing in all.
    empty = np.flatnonzero(np.isnan(table.values[0]))
    empty = empty[np.isnan(table.values[:, empty]).all(axis=0)]
    if empty.size:
        names = table.feature_names
        columns = empty if names is None else names[empty]
        raise InputError(
            f"{name} has no value at all in {plural('column', columns)} "
            f"{listed(columns)}; remove {'it' if empty.size == 1 else 'them'}."
        )


def _check_labels(labels: NDArray[Any], name: str) -> None:
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

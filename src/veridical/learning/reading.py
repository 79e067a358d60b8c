"""What a learner checks before it learns: the table, the labels, the weights."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    validate_data,
)

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.encoding import refuse_lazy, refuse_repeated
from veridical._core.errors import InputError

#: Labels below this number are counted rather than sorted.
_FEW = 1 << 12


def read_table(estimator: Any, X: Any, *, reset: bool, nominal: bool) -> Any:
    """Check names and shape; leave the columns of a frame and nominal ones as are."""
    refuse_lazy(X)
    if not isinstance(X, np.ndarray) and nw.dependencies.is_into_dataframe(X):
        refuse_repeated(X)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    plain = type(X) is np.ndarray and X.dtype.kind in "fiub" and X.ndim == 2
    if plain and X.size:  # nothing to convert, nothing to refuse
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    X = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
    if X.dtype == object and not nominal:
        # Things that are neither numbers nor text end here, as a TypeError; for text,
        # `encode` has a message that names the column.
        with suppress(ValueError):
            X = np.where(pd.isna(X), np.nan, X).astype(np.float64)
    return X


def read_training(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    chosen: Any,
    *,
    reset: bool = True,
) -> tuple[Any, NDArray[Any], FloatArray]:
    """Check what is to be learned from; cases without weight are left out.

    Parameters
    ----------
    estimator : classifier
        Who learns; it is told the number and the names of the columns.
    X, y, sample_weight : array-like
        What was given to ``fit``.
    chosen : "from_dtype", None, bool mask, integer indices or names
        Which columns are nominal.
    reset : bool, default=True
        Whether this is the first batch, rather than one that must fit the first.

    Returns
    -------
    X : array or data frame
        The features, ready for `veridical._core.encoding.encode`.
    y : array of shape (n_samples,)
        The labels.
    weights : array of shape (n_samples,)
        All positive.

    Raises
    ------
    InputError
        If there are no labels, or one is missing.
    """
    by_dtype = chosen is None or (isinstance(chosen, str) and chosen == "from_dtype")
    X = read_table(estimator, X, reset=reset, nominal=not by_dtype)
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None; pass the class labels."
        )
    y = read_labels(y)
    check_consistent_length(X, y)
    if sample_weight is None:
        return X, y, np.ones(len(y))
    weights = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weights.all():  # a case without weight is as good as absent
        kept = np.flatnonzero(weights)
        X, y, weights = _safe_indexing(X, kept), y[kept], weights[kept]
    return X, y, weights


def read_labels(y: Any) -> NDArray[Any]:
    """Check that y is a list of classes, none of them missing."""
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biuUS":
        return y  # such are classes; others have to be looked at
    y = column_or_1d(y, warn=True)
    missing = np.asarray(pd.isna(y))
    if missing.any():
        raise InputError(
            f"y has no label in row {int(np.flatnonzero(missing)[0])} (NaN or None); "
            "drop or label the rows without a class."
        )
    if y.dtype.kind not in "biuUS":
        check_classification_targets(y)
    return y


def number_classes(y: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    """Sort the classes, and number every label by its place among them.

    Small whole numbers are counted, which is several times as fast as sorting.

    Examples
    --------
    >>> classes, codes = number_classes(np.array([7, 3, 7]))
    >>> classes.tolist(), codes.tolist()
    ([3, 7], [1, 0, 1])
    """
    if y.dtype.kind == "i" and y.size and y.min() >= 0 and y.max() < _FEW:
        there = np.bincount(y) > 0
        if there.all():
            return np.arange(there.size, dtype=y.dtype), y.astype(np.intp)
        return np.flatnonzero(there).astype(y.dtype), (np.cumsum(there) - 1)[y]
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes

"""What a learner checks before it learns: the table, the labels, the weights."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    validate_data,
)

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.encoding import Features, encode, refuse_lazy, refuse_repeated
from veridical._core.errors import InputError
from veridical._core.sklearn_private import read_sample_weight, take
from veridical._core.table import Table

#: Labels below this number are counted rather than sorted.
_FEW = 1 << 12


def read_table(estimator: Any, X: Any, *, reset: bool, categorical: bool) -> Any:
    """Check names and shape; leave frames and categorical features as they are."""
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
    if X.dtype == object and not categorical:
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
    X = read_table(estimator, X, reset=reset, categorical=not by_dtype)
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None; pass the class labels."
        )
    y = read_labels(y)
    check_consistent_length(X, y)
    if sample_weight is None:
        return X, y, np.ones(len(y))
    weights = read_sample_weight(sample_weight, X)
    if not weights.all():  # a case without weight is as good as absent
        kept = np.flatnonzero(weights)
        X, y, weights = take(X, kept), y[kept], weights[kept]
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


def number_by_frequency(
    y: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any], IntArray]:
    """Number the classes, the most frequent first, then as they occur.

    Returns
    -------
    classes : array
        The labels, sorted.
    labels : array
        The labels by number.
    codes : int array
        The number of every label of `y`.

    Examples
    --------
    >>> _, labels, codes = number_by_frequency(np.array(["b", "a", "c", "c"]))
    >>> labels.tolist(), codes.tolist()
    (['c', 'b', 'a'], [1, 2, 0, 0])
    """
    classes, start, inverse, counts = np.unique(
        y, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((start, -counts))
    number = np.empty(order.size, dtype=np.intp)
    number[order] = np.arange(order.size)
    return classes, classes[order], number[inverse]


def read_features(
    estimator: Any, table: Table, orders: Any
) -> tuple[Features, BoolArray] | None:
    """Give the features as an estimator would encode them, subset by subset.

    Parameters
    ----------
    estimator : classifier
        Has the parameter ``categorical_features``.
    table : Table
        All samples.
    orders : sequence or None
        Whether there are subsets of features.

    Returns
    -------
    features : Features
        The encoded features; codes may number more categories than a training set has.
    declared : bool array of shape (n_features,)
        Which features declare their categories. The others have those that occur in
        the training set.

    Returns None altogether where the encoding depends on the subset.
    """
    chosen = estimator.categorical_features
    by_dtype = isinstance(chosen, str) and chosen == "from_dtype"
    if table.source is None or sparse.issparse(table.source):
        if by_dtype or (chosen is None and not table.categorical.any()):
            return table.features, table.categorical
    elif by_dtype and not table.categorical.any():
        return table.features, table.categorical
    elif by_dtype:
        one = table.one_sample
        assert one is not None
        features = table.features
        if not np.array_equal(one.categorical, features.categorical):
            features = encode(table.source, name=table.name)
        return features, _declared(features, one)
    if orders is not None:
        return None
    features = encode(table.frame(), chosen, name=table.name)
    one = encode(table.frame([0]), chosen, name=table.name)
    return features, _declared(features, one)


def _declared(features: Features, one: Features) -> BoolArray:
    """Mark the features that have all categories in a single sample already."""
    return np.array(
        [
            full is not None and first is not None and len(full) == len(first)
            for full, first in zip(features.categories, one.categories, strict=True)
        ],
        dtype=bool,
    )


def finite_matrix(X: Any) -> FloatArray | None:
    """Read X as finite numbers in double precision; None where it is anything else."""
    if sparse.issparse(X):
        return None
    try:
        values = np.asarray(X)
    except ValueError:
        return None
    is_number = values.dtype == np.float64 or values.dtype.kind in "iu"
    if values.ndim != 2 or not is_number or not np.isfinite(values).all():
        return None
    return values.astype(np.float64)

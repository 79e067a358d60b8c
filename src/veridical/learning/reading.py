"""How the estimators with names see a table: classes by frequency, features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.encoding import Features, encode
from veridical._core.table import Table


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

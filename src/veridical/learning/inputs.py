"""What estimators make of their input: numbered classes, features, matrices."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.encoding import Features, encode
from veridical._core.errors import InputError
from veridical._core.table import Table


def is_positive(value: Any) -> bool:
    """Return whether a value is a positive, finite number."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and 0 < float(value) < np.inf


def check_positive(name: str, value: Any) -> None:
    """Raise unless a parameter is a positive, finite number."""
    if not is_positive(value):
        raise InputError(f"{name}={value!r} must be a positive number.")


def number_by_frequency(
    y: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any], IntArray]:
    """Assign numbers to the classes, by falling frequency, then in order of occurrence.

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


class MixedFeatures:
    """An estimator of numeric and categorical features, with missing values."""

    categorical_features: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _read_features(
        self, table: Table, orders: Any
    ) -> tuple[Features, BoolArray] | None:
        """Return the features as this estimator would encode every subset of them.

        Parameters
        ----------
        table : Table
            All samples.
        orders : sequence or None
            Whether there are subsets of features.

        Returns
        -------
        (features, declared) or None
            The encoded features; codes may number more categories than a training set
            has. `declared`, a bool array of shape (n_features,), marks the features
            that declare their categories; the others have those that occur in the
            training set. None where the encoding depends on the subset.
        """
        chosen = self.categorical_features
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
            return features, _declares_categories(features, one)
        if orders is not None:
            return None
        features = encode(table.frame(), chosen, name=table.name)
        one = encode(table.frame([0]), chosen, name=table.name)
        return features, _declares_categories(features, one)


def _declares_categories(features: Features, one: Features) -> BoolArray:
    """Return which features have all their categories already in a single sample."""
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

"""Hash a table: values, names of features, categories and labels."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from veridical._core.arrays import BoolArray
from veridical._core.encoding import encode
from veridical._core.lazy import is_lazy
from veridical._core.lazy_readers import as_lazy

#: Rows hashed at a time; bounds the memory of the copy.
_ROWS = 256


def table_hash(X: Any, y: Any) -> str:
    """Hash a table, to check whether it is the one that a page describes.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        As it was passed to :func:`veridical.comparison.compare` and its like.
    y : array-like of shape (n_samples,)
        The labels.

    Returns
    -------
    str
        SHA-256, in 64 hexadecimal digits, of a line of JSON with the number of samples,
        the names of the features, the categories that occur in alphabetical order and
        the labels, all as text; then of the values as doubles, row by row, where
        categorical features hold places in those orders and NaN is missing. pandas,
        polars and numpy give the same. A sparse matrix is hashed as what it stores,
        column by column. Of a table that is read by blocks (`by_blocks`) and too large
        to be read as a whole, the values are hashed column by column, and the result
        begins with "columns:".

    Examples
    --------
    >>> import pandas as pd
    >>> from veridical.datasets import table_hash
    >>> frame = pd.DataFrame({"x0": [1, 2], "x1": [3, 4]})
    >>> table_hash(frame, ["u", "v"])[:16]
    'ec7da817e18c4729'
    >>> table_hash([[1.0, 3.0], [2.0, 4.0]], ["u", "v"])[:16]
    'ec7da817e18c4729'
    """
    labels = np.asarray(y).ravel()
    if sparse.issparse(X):
        X = sparse.csc_array(X, dtype=np.float64)
    table = encode(as_lazy(X))
    return hash_columns(
        table.values, table.categorical, table.categories, table.names, labels
    )


def hash_columns(
    values: Any,
    categorical: BoolArray,
    categories: Sequence[Any],
    names: Any,
    labels: NDArray[Any],
) -> str:
    """Hash a table whose categorical features are codes, see `table_hash`."""
    n_samples, n_features = values.shape
    orders, places = {}, {}
    for j in map(int, np.flatnonzero(categorical)):
        codes = values.read(np.array([j]))[:, 0] if is_lazy(values) else values[:, j]
        orders[j], places[j] = _sort_categories(codes, categories[j])
    made_up = [f"x{j}" for j in range(n_features)]
    head = {
        "n_samples": int(n_samples),
        "columns": made_up if names is None else [str(name) for name in names],
        "nominal": orders,
        "labels": [str(label) for label in labels.tolist()],
    }
    digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode() + b"\n")
    if sparse.issparse(values):
        if not values.has_canonical_format:
            values = values.copy()
            values.sum_duplicates()  # sorts too
        for stored in (values.indptr, values.indices):
            digest.update(np.ascontiguousarray(stored, dtype="<i8").data)
        digest.update(np.ascontiguousarray(values.data, dtype="<f8").data)
        return digest.hexdigest()
    if is_lazy(values):
        for first, block in values.parts():
            dense = block.toarray() if sparse.issparse(block) else block
            for k, column in enumerate(dense.T):
                numbers = np.array(column, dtype="<f8")
                if first + k in places:
                    known = ~np.isnan(numbers)
                    place = places[first + k]
                    numbers[known] = place[numbers[known].astype(int)]
                digest.update(numbers.data)
        return f"columns:{digest.hexdigest()}"
    for start in range(0, n_samples, _ROWS):
        rows = np.array(values[start : start + _ROWS], dtype="<f8", order="C")
        for j, place in places.items():
            known = ~np.isnan(rows[:, j])
            rows[known, j] = place[rows[known, j].astype(int)]
        digest.update(rows.data)
    return digest.hexdigest()


def _sort_categories(
    codes: NDArray[Any], categories: Sequence[Any]
) -> tuple[list[str], NDArray[Any]]:
    """Sort the categories that occur in a feature; return the place of each."""
    texts = [str(value) for value in categories]
    occurring = np.unique(codes[~np.isnan(codes)]).astype(int)
    order = sorted(texts[code] for code in occurring)
    return order, np.searchsorted(order, texts)

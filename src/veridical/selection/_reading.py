"""From what users hand over to arrays: columns, labels, training sets.

Whatever a method cannot use is refused here, in words that name the place and the cure.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any

import narwhals as nw
import narwhals.selectors as ncs
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from veridical._records import InputError, IntArray, Labelled
from veridical.datasets import encode
from veridical.datasets.encoding import refuse_lazy, refuse_repeated


@dataclass(frozen=True)
class Abilities:
    """What a method can read; the error for anything else names the missing one."""

    nominal: bool = False
    missing: bool = False
    sparse: bool = False

    def check(self, data: Labelled, name: str, columns: Any = None) -> None:
        """Refuse data that needs an ability the method lacks."""
        needs = {
            "nominal": data.nominal.any(),
            "missing": not self.missing and _has_nan(data.values),
            "sparse": sparse.issparse(data.values),
        }
        cures = {
            "nominal": "nominal columns; encode them as numbers, or use a selector "
            "that reads them (InformationGain, ReliefF, FCBF)",
            "missing": "missing values (X contains NaN); impute them, or use a "
            "selector that reads them (InformationGain, ReliefF, FCBF)",
            "sparse": "sparse data; use X.toarray(), or a selector that reads it "
            "(AnovaF, Correlation, InformationGain, MRMR, SVMRFE)",
        }
        for ability in fields(self):
            if needs[ability.name] and not getattr(self, ability.name):
                words = cures[ability.name]
                j = _first_column(data, ability.name)
                if j is not None:
                    place = j if columns is None else repr(columns[j])
                    words = words.replace(";", f", such as column {place};", 1)
                raise InputError(f"{name} cannot use {words}.")


def read(
    estimator: Any, X: Any, y: Any, abilities: Abilities, chosen: Any = "from_dtype"
) -> tuple[Labelled, Any]:
    """Check what is handed to ``fit`` and turn it into arrays; also give the classes.

    Parameters
    ----------
    estimator : estimator
        Whose names of features are taken down.
    X, y : array-like or data frame
        As the user gave them.
    abilities : Abilities
        What the estimator can read.
    chosen : object
        The parameter ``categorical_features``.
    """
    name = type(estimator).__name__
    if y is None:
        raise InputError(
            f"{name} requires y to be passed, but the target y is None; pass the class "
            "labels."
        )
    refuse_lazy(X)
    if sparse.issparse(X) or not hasattr(X, "columns"):
        # What cannot be used is refused below, in words that name the cure.
        X = validate_data(
            estimator,
            X,
            accept_sparse=["csc", "csr"],
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=2,
        )
        values, nominal = read_values(X, abilities, chosen)
    else:
        values, nominal = read_values(X, abilities, chosen)
        validate_data(estimator, X, skip_check_array=True)
    classes, codes = read_labels(y, values.shape[0])
    data = Labelled(values, nominal, codes, classes.size)
    abilities.check(data, name, getattr(estimator, "feature_names_in_", None))
    return data, classes


def read_again(estimator: Any, X: Any) -> Any:
    """Check that a table has the columns seen in ``fit``; its values are not read."""
    refuse_lazy(X)
    if sparse.issparse(X) or not hasattr(X, "columns"):
        return validate_data(
            estimator, X, dtype=None, ensure_all_finite=False, reset=False
        )
    refuse_repeated(X)
    validate_data(estimator, X, skip_check_array=True, reset=False)
    return X


# -- columns -------------------------------------------------------------------------


def read_values(X: Any, abilities: Abilities, chosen: Any) -> tuple[Any, Any]:
    """Turn columns into numbers, and say which of them are nominal.

    Parameters
    ----------
    X : array, sparse matrix or data frame
        As the user gave it, or as scikit-learn has checked it.
    abilities : Abilities
        True and false are numbers for methods that read no nominal columns.
    chosen : object
        The parameter ``categorical_features``.
    """
    if sparse.issparse(X):
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        X = X.tocsc()
        _refuse_infinite(X)
        return X, np.zeros(X.shape[1], dtype=bool)
    if isinstance(X, np.ndarray) and isinstance(chosen, str) and X.dtype == object:
        # Things that are neither numbers nor text end here, as a TypeError; for
        # text, `encode` has a message that names the column.
        with suppress(ValueError):
            X = np.where(pd.isna(X), np.nan, X).astype(np.float64)
    if not abilities.nominal:
        X = _booleans_as_numbers(X)
    table = encode(X, chosen)
    return table.values, table.nominal


def _first_column(data: Labelled, ability: str) -> int | None:
    """The first column that needs an ability, where one can be named."""
    if ability == "nominal":
        return int(np.argmax(data.nominal))
    if ability == "missing" and not sparse.issparse(data.values):
        return int(np.argmax(np.isnan(data.values).any(axis=0)))
    return None


def _booleans_as_numbers(X: Any) -> Any:
    """Take true and false for 1 and 0, as ``pandas.get_dummies`` means them."""
    if isinstance(X, np.ndarray):
        return X
    refuse_repeated(X)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or nw.Boolean not in frame.schema.values():
        return X
    return frame.with_columns(ncs.boolean().cast(nw.Float64)).to_native()


def _has_nan(values: Any) -> bool:
    # NaN survives a sum, so the usual case needs no mask of the size of X.
    values = values.data if sparse.issparse(values) else values
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(values)
    return bool(np.isnan(total)) and bool(np.isnan(values).any())


def _refuse_infinite(X: Any) -> None:
    infinite = np.flatnonzero(np.isinf(X.data))
    if infinite.size:
        column = int(np.searchsorted(X.indptr, infinite[0], side="right")) - 1
        raise InputError(
            f"Column {column} of X holds an infinite value (row "
            f"{int(X.indices[infinite[0]])}); replace it by a finite number."
        )


# -- labels --------------------------------------------------------------------------


def read_labels(y: Any, n_rows: int) -> tuple[Any, IntArray]:
    """Give the classes, and for every row the number of its class."""
    y = column_or_1d(y, warn=True)
    if len(y) != n_rows:
        raise InputError(
            f"X has {n_rows} rows but y has {len(y)}; give one label per row."
        )
    _refuse_missing_labels(y)
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size < 2:
        raise InputError(
            f"y holds one class only ({classes[0]}); selection needs at least two "
            "classes to tell apart."
        )
    return classes, codes.astype(np.intp)


def _refuse_missing_labels(y: Any) -> None:
    missing = np.asarray(pd.isna(y))
    if missing.any():
        raise InputError(
            f"y has no label in row {int(np.flatnonzero(missing)[0])}; drop or label "
            "the rows without a class."
        )


# -- training sets -------------------------------------------------------------------


def read_train_sets(train_sets: Iterable[Any], y: IntArray) -> list[IntArray]:
    """Turn masks into indices and check that each set can be learned from."""
    n_rows = len(y)
    indices = []
    for s, rows in enumerate(train_sets):
        try:
            rows = np.asarray(rows)
        except ValueError:  # arrays of different lengths
            rows = np.empty(0)
        if rows.dtype == bool:
            if rows.shape != (n_rows,):
                raise InputError(
                    f"Training set {s} is a mask of shape {rows.shape}, but X has "
                    f"{n_rows} rows; give one value per row."
                )
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or rows.size == 0 or rows.dtype.kind not in "iu":
            raise InputError(
                f"Training set {s} is not a list of row indices; give a non-empty "
                "one-dimensional array of whole numbers, or a boolean mask. Of a "
                "splitter's pairs give the first parts: "
                "[train for train, _ in cv.split(X, y)]."
            )
        outside = rows[(rows < -n_rows) | (rows >= n_rows)]
        if outside.size:
            raise InputError(
                f"Training set {s} names row {int(outside[0])}, but X has {n_rows} "
                f"rows, 0 to {n_rows - 1}."
            )
        rows = np.where(rows < 0, rows + n_rows, rows).astype(np.intp)
        if np.all(y[rows] == y[rows[0]]):
            raise InputError(
                f"Training set {s} holds one class only; selection needs at least two. "
                "Use fewer or stratified folds."
            )
        indices.append(rows)
    return indices

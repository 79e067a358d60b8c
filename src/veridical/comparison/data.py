"""The door: what people pass as data, checked once and made quick to slice.

Behind it everything is one matrix of numbers and codes, so that taking some rows and
some columns never goes through a data frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from veridical._records import DataSummary, FloatArray, IntArray
from veridical.datasets import check_table, encode
from veridical.datasets.encoding import column_names
from veridical.datasets.hashing import hash_columns

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Data:
    """Cases with their classes, checked.

    Parameters
    ----------
    values : array or CSC matrix of shape (n_samples, n_features)
        Numbers, codes in the nominal columns, NaN where missing.
    nominal : bool array of shape (n_features,)
        Which columns hold codes.
    categories : tuple of n_features arrays or None
        The values behind the codes.
    names : tuple of str
        Column names, made up as x0, x1, ... where the data has none.
    labels : array of shape (n_samples,)
        Classes as they were given.
    codes : int array of shape (n_samples,)
        Classes numbered in the order in which they first occur, so that renaming them
        changes nothing.
    """

    values: Any
    nominal: BoolArray
    categories: tuple[Any, ...]
    names: tuple[str, ...]
    labels: NDArray[Any]
    codes: IntArray

    @property
    def n_samples(self) -> int:
        """Number of cases."""
        return int(self.values.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    def take(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Take some rows of some columns as a dense array of numbers and codes."""
        if sparse.issparse(self.values):
            return np.asarray(self.values[:, columns].toarray()[rows])
        return np.asarray(self.values[np.ix_(rows, columns)])

    def table(self, rows: IntArray, columns: IntArray) -> Any:
        """Take the same as other people's estimators want it.

        An array where all columns are numeric, else a data frame in which nominal
        columns have a category dtype.
        """
        return self._dress(self.take(rows, columns), columns)

    def permuted(self, columns: IntArray, n_rows: int) -> Any:
        """Take the leading rows with all columns in another order; sparse stays so."""
        if sparse.issparse(self.values):
            return self.values[:n_rows, columns].tocsr()
        return self._dress(self.values[:n_rows, columns], columns)

    def _dress(self, values: FloatArray, columns: IntArray) -> Any:
        if not self.nominal[columns].any():
            return values
        series = {}
        for position, j in enumerate(columns):
            column: Any = values[:, position]
            if self.nominal[j]:
                codes = np.where(np.isnan(column), -1, column).astype(int)
                column = pd.Categorical.from_codes(codes, self.categories[j])
            series[self.names[j]] = column
        return pd.DataFrame(series)

    def sha256(self) -> str:
        """Hash the table, as `veridical.datasets.table_hash` does."""
        return hash_columns(
            self.values, self.nominal, self.categories, self.names, self.labels
        )

    def summary(self, name: str) -> DataSummary:
        """Describe the data for a report."""
        return DataSummary(
            name=name,
            n_samples=self.n_samples,
            n_features=self.n_features,
            classes=_count(self.labels),
            feature_names=self.names,
        )


def read_data(X: Any, y: Any) -> Data:
    """Check data and bring it into the comparison's own form.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        numpy, pandas, polars, pyarrow, scipy.
    y : array-like of shape (n_samples,)
        Class labels, numbers or text.

    Raises
    ------
    InputError
        For anything that would make a comparison meaningless; the message names it.
    """
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if isinstance(X, pd.DataFrame):
        X = X.set_axis([str(name) for name in X.columns], axis=1)
    check_table(X, labels)
    codes = pd.factorize(labels)[0].astype(np.intp)
    if sparse.issparse(X):
        n_features = X.shape[1]
        return Data(
            values=sparse.csc_array(X, dtype=np.float64),
            nominal=np.zeros(n_features, dtype=bool),
            categories=(None,) * n_features,
            names=_made_up(n_features),
            labels=labels,
            codes=codes,
        )
    table = encode(X)
    names = column_names(X)
    return Data(
        values=np.asarray(table.values, dtype=np.float64),
        nominal=table.nominal,
        categories=table.categories,
        names=_made_up(len(table.nominal)) if names is None else tuple(names),
        labels=labels,
        codes=codes,
    )


def _made_up(n_features: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(n_features))


def _count(labels: NDArray[Any]) -> dict[str, int]:
    codes, classes = pd.factorize(labels)
    counts = np.bincount(codes)
    order: Any = range(len(classes))
    try:
        order = sorted(order, key=lambda i: classes[i])
    except TypeError:  # text beside numbers
        order = sorted(order, key=lambda i: str(classes[i]))
    return {str(classes[i]): int(counts[i]) for i in order}

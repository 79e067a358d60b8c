"""Fill in missing numbers and categories, learned on training samples."""

from __future__ import annotations

from typing import Any, Self

import narwhals as nw
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.utils.validation import check_is_fitted, validate_data

from veridical._core.arrays import IntArray
from veridical._core.encoding import refuse_lazy, refuse_repeated_names
from veridical._core.errors import InputError
from veridical._core.reading import is_frame
from veridical._core.sklearn_private import take
from veridical._core.text import did_you_mean
from veridical.preparation.correction_columns import replace_columns

#: How missing numbers are filled, with what it does in words.
IMPUTERS: dict[str, str] = {
    "mean": "the mean",
    "median": "the median",
    "most-frequent": "the most frequent value",
    "knn": "the mean of the five nearest samples",
}


class Impute(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Fill in missing numbers, and missing categories by the most frequent one.

    The imputers are those of scikit-learn, applied to the numbers of a data frame;
    columns of text and categories keep their data types.

    Parameters
    ----------
    numbers : {"mean", "median", "most-frequent", "knn"}, default="median"
        What a missing number is replaced by: the mean, the median or the most frequent
        value of the feature, or the mean of the five nearest training samples.

    Attributes
    ----------
    imputer_ : SimpleImputer, KNNImputer or None
        Fitted on the numbers; None where there are none.
    numbers_ : int array
        The columns that hold numbers.
    frequent_ : list
        The most frequent value of every other column, the first where several tie.
    n_features_in_ : int
        Number of columns in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where they have any.

    See Also
    --------
    sklearn.impute.SimpleImputer : The imputer of numbers.

    Notes
    -----
    A column of numbers without any value becomes 0, one of categories stays missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from veridical.preparation import Impute
    >>> X = pd.DataFrame({"age": [50, None, 70, 71], "sex": ["f", "f", None, "m"]})
    >>> Impute("median").fit_transform(X)
        age sex
    0  50.0   f
    1  70.0   f
    2  70.0   f
    3  71.0   m
    """

    def __init__(self, numbers: str = "median") -> None:
        self.numbers = numbers

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what replaces missing values.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The training samples.
        y : None
            Not used.

        Returns
        -------
        Impute
            The fitted transformer itself.
        """
        if self.numbers not in IMPUTERS:
            raise InputError(
                f"numbers={self.numbers!r} is not a way to impute"
                f"{did_you_mean(str(self.numbers), IMPUTERS)} Use one of "
                f"{', '.join(IMPUTERS)}."
            )
        X = self._read(X, reset=True)
        self.numbers_: IntArray = _numeric_columns(X)
        self.imputer_: Any = None
        if self.numbers_.size:
            self.imputer_ = _make(self.numbers).fit(_numbers(X, self.numbers_))
        self.frequent_: list[Any] = [
            _most_frequent(column) for column in _others(X, self.numbers_)
        ]
        return self

    def transform(self, X: Any) -> Any:
        """Fill in missing values.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Any samples, with the columns of ``fit``.

        Returns
        -------
        array, or data frame where some columns are not numbers
            The samples without missing values.
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        filled = np.empty((X.shape[0], 0))
        if self.imputer_ is not None:
            filled = self.imputer_.transform(_numbers(X, self.numbers_))
        if self.numbers_.size == X.shape[1]:
            return filled
        whole = replace_columns(X, self.numbers_, filled)
        names = _other_names(whole, self.numbers_)
        return _fill(whole, dict(zip(names, self.frequent_, strict=True)))

    def _read(self, X: Any, *, reset: bool) -> Any:
        refuse_lazy(X)
        if is_frame(X):
            refuse_repeated_names(X)
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        return validate_data(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _make(how: str) -> Any:
    if how == "knn":
        return KNNImputer(keep_empty_features=True)
    strategy = how.replace("-", "_")
    return SimpleImputer(strategy=strategy, keep_empty_features=True)


def _numeric_columns(X: Any) -> IntArray:
    if not is_frame(X):
        return np.arange(X.shape[1])
    frame = nw.from_native(X, eager_only=True)
    return np.flatnonzero([dtype.is_numeric() for dtype in frame.schema.values()])


def _numbers(X: Any, places: IntArray) -> Any:
    part = take(X, places, axis=1) if is_frame(X) else X
    if is_frame(part):
        part = nw.from_native(part, eager_only=True).to_numpy()
    return np.asarray(part, dtype=np.float64)


def _other_names(X: Any, numbers: IntArray) -> list[str]:
    columns = list(nw.from_native(X, eager_only=True).columns)
    held = set(numbers.tolist())
    return [name for j, name in enumerate(columns) if j not in held]


def _others(X: Any, numbers: IntArray) -> list[Any]:
    if not is_frame(X):
        return []
    frame = nw.from_native(X, eager_only=True)
    return [frame[name] for name in _other_names(X, numbers)]


def _most_frequent(column: Any) -> Any:
    counts = pd.Series(column.drop_nulls().to_list()).value_counts()
    return counts.idxmax() if len(counts) else None


def _fill(X: Any, values: dict[str, Any]) -> Any:
    known = {name: value for name, value in values.items() if value is not None}
    if isinstance(X, pd.DataFrame):
        return X.fillna(known)
    frame = nw.from_native(X, eager_only=True)
    return frame.with_columns(
        nw.col(name).fill_null(value) for name, value in known.items()
    ).to_native()

"""Preparation of a table inside the folds: scaling, imputation, encoding.

All steps are put before the selector and before the estimator, so they are fitted on
the training samples of every split. Steps that keep the features and their names
(scalers, imputers, ordinal codes) come first in a pipeline. One-hot encoding makes
several columns of a feature; `OneHotSelector` ranks the feature by the best of them, so
that pages name the columns of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from veridical._core.errors import InputError
from veridical._core.lazy import is_lazy
from veridical._core.text import listing
from veridical._core.validation import count_features
from veridical.evaluation.arguments import make_selector
from veridical.learning import make_estimator
from veridical.preparation import IMPUTERS, Impute

#: How ``--scale`` maps numeric features, with what it does in words.
SCALERS: dict[str, tuple[Callable[[], Any], str]] = {
    "standard": (StandardScaler, "scaled to mean 0 and standard deviation 1"),
    "robust": (RobustScaler, "scaled by median and interquartile range"),
    "minmax": (MinMaxScaler, "scaled to [0, 1] by minimum and maximum"),
}
#: How ``--encode`` turns categories into numbers, in words.
ENCODERS = {"onehot": "one indicator per category", "ordinal": "ordinal codes"}


def numbers(X: pd.DataFrame) -> list[Any]:
    """Return the columns that hold numbers."""
    return list(X.select_dtypes("number").columns)


def categories(X: pd.DataFrame) -> list[Any]:
    """Return the other columns."""
    return list(X.select_dtypes(exclude="number").columns)


class Prepared(Pipeline):
    """A pipeline that people call by the name of its last step."""

    @property
    def shown_as(self) -> Any:
        """The selector or the estimator, whose name is shown."""
        return self.steps[-1][1]


class OneHotSelector(SelectorMixin, BaseEstimator):
    """A selector on one-hot columns; a feature ranks as the best of its columns.

    Parameters
    ----------
    selector : selector
        Ranks the columns: one per numeric feature, one per category of the others (one
        in all where there are two categories).
    n_features_to_select : int, default=10
        Number of features.

    Attributes
    ----------
    order_ : int array of shape (n_features,)
        The features, best first.
    ranking_ : int array of shape (n_features,)
        Place of each feature, from 1.
    support_ : bool array of shape (n_features,)
        The selected features.
    selector_ : selector
        The selector, fitted on the columns.
    """

    def __init__(self, selector: Any, n_features_to_select: int = 10) -> None:
        self.selector = selector
        self.n_features_to_select = n_features_to_select

    @property
    def shown_as(self) -> Any:
        """The selector, whose name is shown."""
        return self.selector

    def fit(self, X: pd.DataFrame, y: Any) -> Self:
        """Encode the categories, and rank."""
        validate_data(self, X, skip_check_array=True)
        n_features = X.shape[1]
        wanted = count_features(self.n_features_to_select, n_features)
        encoder = _one_hot().fit(X)
        columns = encoder.transform(X)
        origin = _origin(encoder, X)
        # Of this many columns, at least the wanted number are of different features.
        n_columns = wanted + len(origin) - n_features
        self.selector_ = clone(self.selector)
        self.selector_.set_params(n_features_to_select=n_columns).fit(columns, y)
        self.order_ = pd.unique(origin[self.selector_.order_])
        self.ranking_ = np.empty(n_features, dtype=np.intp)
        self.ranking_[self.order_] = np.arange(1, n_features + 1)
        self.support_ = self.ranking_ <= wanted
        return self

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_


def _one_hot() -> ColumnTransformer:
    encoder = OneHotEncoder(
        drop="if_binary", handle_unknown="ignore", sparse_output=False
    )
    return _on_columns([("categories", encoder, categories)])


def _origin(encoder: ColumnTransformer, X: pd.DataFrame) -> Any:
    """Return the feature behind each output of a fitted one-hot encoder."""
    is_category = X.columns.isin(categories(X))
    widths: list[int] = []
    if is_category.any():
        fitted = encoder.named_transformers_["categories"]
        dropped = fitted.drop_idx_
        widths = [
            len(values) - int(dropped is not None and dropped[k] is not None)
            for k, values in enumerate(fitted.categories_)
        ]
    places = np.repeat(np.flatnonzero(is_category), widths)
    return np.concatenate([places, np.flatnonzero(~is_category)]).astype(np.intp)


def _on_columns(parts: list[tuple[str, Any, Any]]) -> ColumnTransformer:
    """Transform some columns of a data frame; the others stay, and all keep names."""
    return ColumnTransformer(
        parts, remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")


@dataclass(frozen=True)
class Preparation:
    """The steps before a selector and before an estimator.

    Parameters
    ----------
    steps : tuple of transformers
        Those that keep features and names, not fitted.
    one_hot : bool
        Whether categories become columns.
    words : str
        What is done, in words; empty where nothing is.
    """

    steps: tuple[Any, ...] = ()
    one_hot: bool = False
    words: str = ""

    def apply(self, X: Any) -> Any:
        """Prepare a whole table; only to see what can read it, or without a target."""
        steps = (*self.steps, *self._encoders())
        return make_pipeline(*map(clone, steps)).fit_transform(X) if steps else X

    def select_by(self, selector: Any) -> Any:
        """Put the steps before a selector."""
        if self.one_hot:
            selector = OneHotSelector(selector)
        return self._called(self.steps, selector)

    def learn_by(self, estimator: Any) -> Any:
        """Put the steps before an estimator."""
        return self._called((*self.steps, *self._encoders()), estimator)

    def procedure(
        self, estimator: str, X: Any, selector: str | None = None, n_features: Any = 10
    ) -> Any:
        """Make an estimator by its name, on the features of a selector if one is named.

        Sparse data are converted to a dense table before the estimator.
        """
        steps = list(self.steps)
        if selector is not None:
            made = make_selector(selector, n_features_to_select=n_features)
            if self.one_hot:
                made = OneHotSelector(made, n_features)
            if hasattr(X, "columns"):  # keep names and categories for the estimator
                made.set_output(transform="pandas")
            steps.append(made)
        if issparse(X):
            to_dense = methodcaller("toarray")
            steps.append(FunctionTransformer(to_dense, accept_sparse=True))
        steps += [*self._encoders(), make_estimator(estimator)]
        return make_pipeline(*map(clone, steps)) if len(steps) > 1 else steps[0]

    def _encoders(self) -> tuple[Any, ...]:
        return (_one_hot(),) if self.one_hot else ()

    @staticmethod
    def _called(steps: Sequence[Any], last: Any) -> Any:
        if not steps:
            return last
        return Prepared(make_pipeline(*map(clone, steps), last).steps)


def make_preparation(
    X: Any,
    impute: str | None,
    scale: str | None,
    encode: str | None,
    learned: str = "on every training set",
) -> Preparation:
    """Make the preparation that was asked for.

    Numeric features are scaled first, by the values that are there, then missing values
    are filled (of categories, by the most frequent one), then categories are encoded.

    Parameters
    ----------
    X : DataFrame, array or sparse matrix
        The table; whether it has categories decides the steps.
    impute, scale, encode : str or None
        As `IMPUTERS`, `SCALERS` and `ENCODERS` name them.

    learned : str, default="on every training set"
        Where the steps are fitted, in words.

    Raises
    ------
    InputError
        If the data are sparse or read by blocks, or have no categories to encode.
    """
    asked = {"--impute": impute, "--scale": scale, "--encode": encode}
    for option, value in asked.items():
        if value is not None and (issparse(X) or is_lazy(X)):
            what = "sparse data" if issparse(X) else "data that are read by blocks"
            raise InputError(f"{option} {value} is not for {what}; leave it out.")
    is_frame = isinstance(X, pd.DataFrame)
    mixed = is_frame and bool(categories(X))
    if encode is not None and not mixed:
        raise InputError(
            f"--encode {encode}: all columns are numbers already; leave it out."
        )
    steps: list[Any] = []
    words: list[str] = []
    if scale is not None:
        make, what = SCALERS[scale]
        steps.append(_on_columns([("numbers", make(), numbers)]) if mixed else make())
        words.append(f"numbers are {what}")
    if impute is not None:
        steps.append(Impute(impute))
        words.append(f"missing numbers are replaced by {IMPUTERS[impute]}")
        if mixed:
            words.append("missing categories by the most frequent one")
    if encode is not None:
        words.append(f"categories become {ENCODERS[encode]}")
    if encode == "ordinal":
        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        steps.append(_on_columns([("categories", codes, categories)]))
    named = tuple(_return_frames(one, is_frame) for one in steps)
    said = f"{listing(words)}; learned {learned}" if words else ""
    return Preparation(named, encode == "onehot", said)


def _return_frames(transformer: Any, is_frame: bool) -> Any:
    """Let a transformer return data frames where it gets them."""
    return transformer.set_output(transform="pandas") if is_frame else transformer


__all__ = [
    "ENCODERS",
    "IMPUTERS",
    "SCALERS",
    "OneHotSelector",
    "Preparation",
    "Prepared",
    "make_preparation",
]

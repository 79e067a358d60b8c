"""What every selector shares: reading data, cutting a ranking, many training sets.

A selector says what it can read (its *abilities*) and how it ranks; this module gives
it the rest of scikit-learn's selector manners.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import narwhals as nw
import narwhals.selectors as ncs
import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from veridical._records import (
    FloatArray,
    InputError,
    IntArray,
    Labelled,
    Ranking,
)
from veridical.datasets import encode
from veridical.kernels.threads import thread_count
from veridical.kernels.trainsets import TrainSets


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


class Selector(SelectorMixin, BaseEstimator):
    """Base class of the selectors; a subclass gives ``_rankings`` and abilities."""

    _abilities: ClassVar[Abilities] = Abilities()

    n_features_to_select: int | float | None
    n_jobs: int | None = None

    @abstractmethod
    def _rankings(self, data: Labelled, sets: TrainSets) -> list[Ranking]:
        """Rank the features for every training set."""

    def fit(self, X: Any, y: Any) -> Self:
        """Rank the features and keep the best.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The training data.
        y : array-like of shape (n_samples,)
            The class labels.

        Returns
        -------
        self : object
            The fitted selector.
        """
        data = self._read(X, y)
        return self._keep(data, TrainSets.all_rows(len(data.y)))

    def rank_many(self, X: Any, y: Any, train_sets: Iterable[Any]) -> list[IntArray]:
        """Rank the features for many training sets at once.

        The result is exactly what ``fit(X[rows], y[rows]).order_`` would give for each
        of the training sets, for much less work. The selector itself is not fitted.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            All the data.
        y : array-like of shape (n_samples,)
            The class labels.
        train_sets : iterable of arrays
            Row indices (repeats count) or boolean masks, one per training set.

        Returns
        -------
        list of arrays
            Feature indices, best first, one array per training set.
        """
        copy = clone(self)  # what reading leaves behind belongs to a fit
        data = copy._read(X, y)
        indices = _read_train_sets(train_sets, data)
        if not indices:
            return []
        sets = TrainSets.from_indices(indices, len(data.y))
        rankings = copy._rankings(data, sets)
        return [ranking.order for ranking in rankings]

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The data.

        Returns
        -------
        array or data frame of shape (n_samples, n_selected)
            The selected columns. With ``set_output``, a frame whose columns keep their
            data types if X is a frame of the same library.
        """
        # scikit-learn does this for pandas; other frames it would turn into objects.
        wanted = _get_output_config("transform", estimator=self)["dense"]
        if wanted == "polars" and nw.dependencies.is_polars_dataframe(X):
            check_is_fitted(self)
            validate_data(self, X, skip_check_array=True, reset=False)
            mask = self._get_support_mask()
            return X[:, np.flatnonzero(mask).tolist()]
        return super().transform(X)

    def _keep(self, data: Labelled, sets: TrainSets) -> Self:
        """Rank on one training set and store what the user reads off."""
        n_features = data.values.shape[1]
        # Said before a long ranking, not after it.
        _count(self.n_features_to_select, n_features, n_features, warn=False)
        (ranking,) = self._rankings(data, sets)
        return self._store_ranking(ranking)

    def _store_ranking(self, ranking: Ranking) -> Self:
        n_features = ranking.order.size
        n_selected = _count(self.n_features_to_select, n_features, ranking.n_kept)
        self.order_ = ranking.order
        self.ranking_ = np.empty(n_features, dtype=np.intp)
        self.ranking_[ranking.order] = np.arange(1, n_features + 1)
        if ranking.scores is not None:
            self.scores_ = ranking.scores
        self.support_ = np.zeros(n_features, dtype=bool)
        self.support_[ranking.order[:n_selected]] = True
        self.n_features_ = n_selected
        return self

    def _read(self, X: Any, y: Any) -> Labelled:
        """Check the input and turn it into arrays."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is "
                "None; pass the class labels."
            )
        name = type(self).__name__
        if sparse.issparse(X) or not hasattr(X, "columns"):
            # What cannot be used is refused below, in words that name the cure.
            X = validate_data(
                self,
                X,
                accept_sparse=["csc", "csr"],
                dtype=None,
                ensure_all_finite=False,
                ensure_min_samples=2,
            )
            values, nominal = self._encode(X)
        else:
            values, nominal = self._encode(X)
            validate_data(self, X, skip_check_array=True)
        y = column_or_1d(y, warn=True)
        if len(y) != values.shape[0]:
            raise InputError(
                f"X has {values.shape[0]} rows but y has {len(y)}; give one label per "
                "row."
            )
        _refuse_missing_labels(y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            raise InputError(
                f"y holds one class only ({self.classes_[0]}); selection needs at "
                "least two classes to tell apart."
            )
        data = Labelled(values, nominal, codes.astype(np.intp), self.classes_.size)
        self._abilities.check(data, name, getattr(self, "feature_names_in_", None))
        return data

    def _encode(self, X: Any) -> tuple[Any, Any]:
        if sparse.issparse(X):
            if X.dtype not in (np.float32, np.float64):
                X = X.astype(np.float64)
            X = X.tocsc()
            _refuse_infinite(X)
            return X, np.zeros(X.shape[1], dtype=bool)
        chosen = getattr(self, "categorical_features", "from_dtype")
        if isinstance(X, np.ndarray) and isinstance(chosen, str) and X.dtype == object:
            # Things that are neither numbers nor text end here, as a TypeError; for
            # text, `encode` has a message that names the column.
            with suppress(ValueError):
                X = np.where(pd.isna(X), np.nan, X).astype(np.float64)
        if not self._abilities.nominal:
            X = _booleans_as_numbers(X)
        table = encode(X, chosen)
        return table.values, table.nominal

    @property
    def _n_threads(self) -> int:
        return thread_count(self.n_jobs)

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self._abilities.missing
        tags.input_tags.sparse = self._abilities.sparse
        tags.input_tags.categorical = self._abilities.nominal
        return tags


class WeightedSelector(Selector):
    """A selector whose statistic takes sample weights."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Rank the features and keep the best.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The training data.
        y : array-like of shape (n_samples,)
            The class labels.
        sample_weight : array-like of shape (n_samples,), optional
            How often each case counts.

        Returns
        -------
        self : object
            The fitted selector.
        """
        data = self._read(X, y)
        if sample_weight is None:
            return self._keep(data, TrainSets.all_rows(len(data.y)))
        weight = _check_sample_weight(
            sample_weight, data.values, dtype=np.float64, ensure_non_negative=True
        )
        self._check_weight(weight)
        sets = TrainSets.from_counts(weight)
        if np.count_nonzero(sets.class_counts(data.y, data.n_classes)) < 2:
            raise InputError(
                "sample_weight leaves one class only; selection needs at least two."
            )
        return self._keep(data, sets)

    def _check_weight(self, weight: FloatArray) -> None:
        """Refuse weights the statistic is not defined for."""


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
    names = list(getattr(X, "columns", ()))
    if len(set(names)) < len(names):
        return X  # `encode` says which names are repeated
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


def _refuse_missing_labels(y: Any) -> None:
    missing = np.asarray(pd.isna(y))
    if missing.any():
        raise InputError(
            f"y has no label in row {int(np.flatnonzero(missing)[0])}; drop or label "
            "the rows without a class."
        )


def _count(
    wanted: int | float | None, n_features: int, n_kept: int, *, warn: bool = True
) -> int:
    """How many features to select, from the parameter as the user gave it."""
    if wanted is None:
        return n_kept
    if isinstance(wanted, bool) or not isinstance(wanted, Real):
        raise InputError(
            f"n_features_to_select={wanted!r} is neither a number nor None; give a "
            "whole number, a share in (0, 1], or None."
        )
    if isinstance(wanted, Integral):
        if wanted < 1:
            raise InputError(
                f"n_features_to_select={wanted} selects nothing; give 1 or more."
            )
        if warn and wanted > n_features:
            warnings.warn(
                f"n_features_to_select={wanted} is more than the {n_features} features "
                "of X; all of them are selected.",
                UserWarning,
                stacklevel=5,
            )
        return min(int(wanted), n_features)
    if not 0 < wanted <= 1:
        raise InputError(
            f"n_features_to_select={wanted} is not a share in (0, 1]; for a number of "
            "features give a whole number."
        )
    # 0.29 of 100 is 29, though in binary the product falls short of it.
    return max(1, int(wanted * n_features + 1e-9))


def _read_train_sets(train_sets: Iterable[Any], data: Labelled) -> list[IntArray]:
    """Turn masks into indices and check that each set can be learned from."""
    n_rows = len(data.y)
    indices = []
    for s, rows in enumerate(train_sets):
        rows = np.asarray(rows)
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
                "one-dimensional array of whole numbers, or a boolean mask."
            )
        outside = rows[(rows < -n_rows) | (rows >= n_rows)]
        if outside.size:
            raise InputError(
                f"Training set {s} names row {int(outside[0])}, but X has {n_rows} "
                f"rows, 0 to {n_rows - 1}."
            )
        rows = np.where(rows < 0, rows + n_rows, rows).astype(np.intp)
        if np.all(data.y[rows] == data.y[rows[0]]):
            raise InputError(
                f"Training set {s} holds one class only; selection needs at least two. "
                "Use fewer or stratified folds."
            )
        indices.append(rows)
    return indices

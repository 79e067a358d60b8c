"""A classifier of numbers, made fit for tables with categorical features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.encoding import encode
from veridical._core.sklearn_private import take
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.learning.c45 import C45
from veridical.learning.expansion import Expansion
from veridical.learning.linear_svm import take_columns
from veridical.learning.many import Orders, Predicted, PredictMany, Sizes
from veridical.learning.reading import number_by_frequency, read_features


class TabularClassifier(PredictMany, ClassifierMixin, BaseEstimator):
    """A classifier of numbers, made fit for tables with categorical and missing values.

    Parameters
    ----------
    estimator : classifier
        What learns from the resulting matrix.
    scale : bool, default=True
        Map each numeric column to [0, 1] by its training minimum and maximum.
    categorical_weight : float or None, default=1.0
        Height of the indicators of a categorical feature. With ``sqrt(0.5)`` two
        different categories are at squared Euclidean distance 1. None leaves codes and
        missing values to the estimator, which is told of them by
        ``categorical_features``.
    categorical_features : "from_dtype", None, bool mask, indices or names
        Which features are categorical.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : array of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of columns seen in `fit`.

    Notes
    -----
    A missing number is replaced by the training mean; "missing" is a category of its
    own in a categorical feature. A category that training has not seen is no category:
    its indicators are all zero. What the names of the classes are does not matter:
    where a classifier decides a tie by the order of its classes, the more frequent one
    wins.

    Examples
    --------
    >>> import pandas as pd
    >>> from veridical.learning import make_estimator
    >>> X = pd.DataFrame({"size": [1.0, 2.0, None, 9.0], "kind": ["a", "a", "b", "b"]})
    >>> make_estimator("svm").fit(X, ["n", "n", "y", "y"]).predict(X).tolist()
    ['n', 'n', 'y', 'y']
    """

    def __init__(
        self,
        estimator: Any,
        *,
        scale: bool = True,
        categorical_weight: float | None = 1.0,
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.estimator = estimator
        self.scale = scale
        self.categorical_weight = categorical_weight
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the scaling and the classifier.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            May hold categorical features and missing values.
        y : array-like of shape (n_samples,)
            Class labels.
        """
        table = encode(X, self.categorical_features)
        validate_data(self, X, skip_check_array=True)  # names and number of columns
        _, y = check_X_y(np.zeros((len(table.values), 1)), y)
        check_classification_targets(y)
        self._categories = table.categories
        return self.fit_encoded(table.values, table.categorical, y)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples to classify, with the columns of `fit`.
        """
        check_is_fitted(self)
        if getattr(X, "ndim", 2) == 2:  # else encode says how to reshape it
            validate_data(self, X, skip_check_array=True, reset=False)
        values = encode(X, categories=self._categories).values
        return self.predict_encoded(_mark_unseen(values, X, self._categories))

    def fit_encoded(
        self, values: FloatArray, categorical: BoolArray, y: NDArray[Any]
    ) -> Self:
        """Fit on a table that is already numbers and codes; nothing is checked.

        Parameters
        ----------
        values : array of shape (n_samples, n_features)
            Numbers, and codes in the categorical features; NaN is missing.
        categorical : bool array of shape (n_features,)
            Which columns hold codes.
        y : array of shape (n_samples,)
            Class labels.
        """
        values = np.asarray(values, dtype=np.float64)
        self.classes_, self._labels, codes = number_by_frequency(y)
        model = clone(self.estimator)
        if self.categorical_weight is None:
            self._expansion = None
            model.set_params(
                categorical_features=categorical if categorical.any() else None
            )
        else:
            self._expansion = Expansion.learn(
                values, categorical, scale=self.scale, weight=self.categorical_weight
            )
        self.estimator_ = model.fit(self._matrix(values), codes)
        return self

    def predict_encoded(self, values: FloatArray) -> NDArray[Any]:
        """Predict for a table that is already numbers and codes, unchecked.

        Parameters
        ----------
        values : array of shape (n_samples, n_features)
            Coded as for `fit_encoded`.
        """
        return self._labels[self.estimator_.predict(self._matrix(values))]

    def _matrix(self, values: FloatArray) -> FloatArray:
        values = np.asarray(values, dtype=np.float64)
        return values if self._expansion is None else self._expansion.matrix(values)

    # -- many training sets ----------------------------------------------------------

    def _predict_table(
        self, table: Table, splits: Sequence[Split], orders: Orders, sizes: Sizes
    ) -> Predicted | None:
        read = read_features(self, table, orders)
        if read is None:
            return None
        features, declared = read
        if self.categorical_weight is None:
            if type(self.estimator) is not C45:
                return None
            self.estimator._check_parameters()
            # Of the codes it is given, the tree knows those of the training set alone.
            return self.estimator._predict_features(
                features,
                np.zeros_like(declared),
                table.y,
                splits,
                orders,
                sizes,
                by_frequency=True,
            )
        every = np.arange(features.values.shape[1])
        result: Predicted = []
        for s, (train, test) in enumerate(splits):
            order = every if orders is None else orders[s]
            known, asked = features.take(train, order), features.take(test, order)
            _, labels, codes = number_by_frequency(table.y[train])
            expansion = Expansion.learn(
                known,
                features.categorical[order],
                scale=self.scale,
                weight=self.categorical_weight,
            )
            leading = np.array(sizes or (order.size,))
            found = self._predict_subsets(
                expansion.matrix(known),
                codes,
                labels.size,
                expansion.matrix(asked),
                # As in the table, so that the model is that of a fit on the subset.
                [expansion.subset(np.argsort(order[:size])) for size in leading],
                expansion.ends[leading - 1],
            )
            result.append(None if found is None else labels[found])
        return result

    def _predict_subsets(
        self,
        X: FloatArray,
        codes: IntArray,
        n_classes: int,
        asked: FloatArray,
        subsets: Sequence[IntArray],
        ends: IntArray,
    ) -> IntArray | None:
        """Ask the estimator for all subsets at once, or fit it on each of them."""
        model = self.estimator
        if "_predict_subsets" in vars(type(model)):
            found: IntArray | None = model._predict_subsets(
                X, codes, n_classes, asked, subsets, ends
            )
            return found
        return np.array(
            [
                clone(model)
                .fit(take_columns(X, columns), codes)
                .predict(take_columns(asked, columns))
                for columns in subsets
            ]
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _mark_unseen(values: Any, X: Any, categories: Any) -> Any:
    """Give a category that training has not seen the code −1, which no category has.

    Encoding makes it NaN, like a missing value.
    """
    for j, known in enumerate(categories):
        if known is None:
            continue
        unknown = np.isnan(values[:, j])
        if unknown.any():
            X = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
            column = np.asarray(take(X, j, axis=1), dtype=object).ravel()
            unknown &= ~pd.isna(column)
            if unknown.any():
                values = values.copy()
                values[unknown, j] = -1.0
    return values

"""A classifier of numbers, adapted to tables with categorical features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.encoding import encode
from veridical._core.sklearn_private import take
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.learning.c45 import C45
from veridical.learning.expansion import Expansion
from veridical.learning.inputs import MixedFeatures, number_by_frequency
from veridical.learning.linear_svm import select_columns
from veridical.learning.many import Orders, Predicted, PredictMany, Sizes


class TabularClassifier(PredictMany, MixedFeatures, ClassifierMixin, BaseEstimator):
    """A classifier of numbers, adapted to categorical features and missing values.

    Parameters
    ----------
    estimator : classifier
        Learns from the resulting matrix.
    scale : bool, default=True
        Map each numeric feature to [0, 1] by its training minimum and maximum.
    categorical_weight : float or None, default=1.0
        Height of the indicators of a categorical feature. With ``sqrt(0.5)`` two
        different categories are at squared Euclidean distance 1. None passes codes and
        missing values on to the estimator, whose ``categorical_features`` is set.
    categorical_features : "from_dtype", None, bool mask, indices or names
        Which features are categorical.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : array of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features seen in `fit`.

    Notes
    -----
    A missing number is replaced by the training mean; in a categorical feature,
    "missing" is a category of its own. A category that does not occur in training has
    indicators that are all zero. The labels of the classes do not matter: where a
    classifier decides a tie by the order of its classes, the more frequent one wins.

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
        validate_data(self, X, skip_check_array=True)  # names and number of features
        _, y = check_X_y(np.zeros((len(table.values), 1)), y)
        check_classification_targets(y)
        self._categories = table.categories
        values = np.asarray(table.values, dtype=np.float64)
        self.classes_, self._labels, codes = number_by_frequency(y)
        model, categorical = clone(self.estimator), table.categorical
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

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples to classify, with the features of `fit`.
        """
        check_is_fitted(self)
        if getattr(X, "ndim", 2) == 2:  # else encode raises, with advice how to reshape
            validate_data(self, X, skip_check_array=True, reset=False)
        values = encode(X, categories=self._categories).values
        values = _mark_unseen(values, X, self._categories)
        return self._labels[self.estimator_.predict(self._matrix(values))]

    def _matrix(self, values: FloatArray) -> FloatArray:
        values = np.asarray(values, dtype=np.float64)
        return values if self._expansion is None else self._expansion.matrix(values)

    # -- many training sets ----------------------------------------------------------

    def _predict_table(
        self, table: Table, splits: Sequence[Split], orders: Orders, sizes: Sizes
    ) -> Predicted | None:
        read = self._read_features(table, orders)
        if read is None:
            return None
        features, declared = read
        if self.categorical_weight is None:
            if type(self.estimator) is not C45:
                return None
            self.estimator._check_parameters()
            # The tree knows only those codes that occur in the training set.
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
                # In the order of the table, as in a fit on the subset.
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
        """Predict all subsets at once if the estimator can, or fit it on each."""
        model = self.estimator
        if "_predict_subsets" in vars(type(model)):
            found: IntArray | None = model._predict_subsets(
                X, codes, n_classes, asked, subsets, ends
            )
            return found
        return np.array(
            [
                clone(model)
                .fit(select_columns(X, columns), codes)
                .predict(select_columns(asked, columns))
                for columns in subsets
            ]
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags


def _mark_unseen(values: Any, X: Any, categories: Any) -> Any:
    """Set the code of categories that do not occur in training to −1.

    Encoding makes them NaN, like a missing value.
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

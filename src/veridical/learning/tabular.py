"""Estimators of numbers, adapted to tables with categorical features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.encoding import encode
from veridical._core.errors import InputError
from veridical._core.scoring import Outputs, join_outputs
from veridical._core.sklearn_private import take
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.learning.c45 import C45
from veridical.learning.expansion import Expansion
from veridical.learning.inputs import MixedFeatures, number_by_frequency
from veridical.learning.linear_svm import select_columns
from veridical.learning.many import (
    Orders,
    Predicted,
    PredictMany,
    Sizes,
)


def _estimator_has(name: str) -> Callable[[Any], bool]:
    return lambda self: hasattr(self.estimator, name)


class TabularModel(MixedFeatures, BaseEstimator):
    """What estimators of tables share: a matrix of numbers, and the scale of it."""

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

    def _learn(self, X: Any) -> tuple[FloatArray, BoolArray]:
        """Encode the training samples, and learn the scale and the categories."""
        table = encode(X, self.categorical_features)
        validate_data(self, X, skip_check_array=True)  # names and number of features
        if table.is_sparse:
            raise InputError(
                f"{type(self.estimator).__name__} cannot use sparse data; "
                "use X.toarray()."
            )
        self._categories = table.categories
        values = np.asarray(table.values, dtype=np.float64)
        self._expansion = None
        if self.categorical_weight is not None:
            self._expansion = Expansion.learn(
                values,
                table.categorical,
                scale=self.scale,
                weight=self.categorical_weight,
            )
        return self._matrix(values), table.categorical

    def _encoded(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        if getattr(X, "ndim", 2) == 2:  # else encode raises, with advice how to reshape
            validate_data(self, X, skip_check_array=True, reset=False)
        values = encode(X, categories=self._categories).values
        return self._matrix(_mark_unseen(values, X, self._categories))

    def _matrix(self, values: FloatArray) -> FloatArray:
        values = np.asarray(values, dtype=np.float64)
        return values if self._expansion is None else self._expansion.matrix(values)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags


class TabularPredictor(TabularModel):
    """A regressor or survival model, adapted to categorical and missing values.

    Parameters
    ----------
    estimator : regressor, or estimator of survival times
        Learns from the resulting matrix.
    scale : bool, default=True
        Map each numeric feature to [0, 1] by its training minimum and maximum.
    categorical_weight : float or None, default=1.0
        Height of the indicators of a categorical feature.
    categorical_features : "from_dtype", None, bool mask, indices or names
        Which features are categorical.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    n_features_in_ : int
        Number of features seen in `fit`.

    Notes
    -----
    A missing number is replaced by the training mean; in a categorical feature,
    "missing" is a category of its own. A category that does not occur in training has
    indicators that are all zero.

    Examples
    --------
    >>> import pandas as pd
    >>> from veridical.learning import make_estimator
    >>> X = pd.DataFrame({"size": [1.0, 2.0, None, 9.0], "kind": ["a", "a", "b", "b"]})
    >>> make_estimator("tree").fit(X, [1.5, 1.5, 3.0, 3.0]).predict(X)
    array([2.25, 2.25, 2.25, 2.25])
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the scaling and the estimator.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            May hold categorical features and missing values.
        y : array-like of shape (n_samples,)
            Numbers, or events and times.
        """
        matrix, _ = self._learn(X)
        self.estimator_ = clone(self.estimator).fit(matrix, y)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict the number, or the risk, of each sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples, with the features of `fit`.
        """
        samples = self._encoded(X)
        return np.asarray(self.estimator_.predict(samples))

    @available_if(_estimator_has("score"))
    def score(self, X: Any, y: Any) -> float:
        """Return the score of the estimator: R² of numbers, concordance of risks.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples, with the features of `fit`.
        y : array-like of shape (n_samples,)
            As in `fit`.
        """
        samples = self._encoded(X)
        return float(self.estimator_.score(samples, y))

    @available_if(_estimator_has("predict_survival_function"))
    def predict_survival_function(
        self, X: Any, return_array: bool = False
    ) -> NDArray[Any]:
        """Return the probability to survive beyond each time, as the estimator does.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples, with the features of `fit`.
        return_array : bool, default=False
            Whether to return the values at `unique_times_` instead of functions.
        """
        samples = self._encoded(X)
        return np.asarray(
            self.estimator_.predict_survival_function(
                samples, return_array=return_array
            )
        )

    @property
    def unique_times_(self) -> FloatArray:
        """Times of the values of `predict_survival_function`."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.unique_times_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.regressor_tags = own.regressor_tags
        tags.target_tags = own.target_tags
        return tags


class TabularClassifier(PredictMany, ClassifierMixin, TabularModel):
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

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the scaling and the classifier.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            May hold categorical features and missing values.
        y : array-like of shape (n_samples,)
            Class labels.
        """
        matrix, categorical = self._learn(X)
        _, y = check_X_y(np.zeros((len(matrix), 1)), y)
        check_classification_targets(y)
        self.classes_, self._labels, codes = number_by_frequency(y)
        model = clone(self.estimator)
        if self.categorical_weight is None:
            model.set_params(
                categorical_features=categorical if categorical.any() else None
            )
        self.estimator_ = model.fit(matrix, codes)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples to classify, with the features of `fit`.
        """
        samples = self._encoded(X)
        return self._labels[self.estimator_.predict(samples)]

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Compute probabilities of the classes, where the estimator does.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples to classify, with the features of `fit`.

        Returns
        -------
        array of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        samples = self._encoded(X)
        values = np.asarray(self.estimator_.predict_proba(samples))
        return values[:, np.argsort(self._labels)]

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> FloatArray:
        """Compute decision values, where the estimator does.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples to classify, with the features of `fit`.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            With two classes one number, positive for the second of ``classes_``.
        """
        samples = self._encoded(X)
        values = np.asarray(self.estimator_.decision_function(samples))
        if values.ndim == 1:
            return values if self._labels[1] == self.classes_[1] else -values
        return values[:, np.argsort(self._labels)]

    # -- many training sets ----------------------------------------------------------

    def _predict_table(
        self,
        table: Table,
        splits: Sequence[Split],
        orders: Orders,
        sizes: Sizes,
        responses: Sequence[str] = (),
    ) -> Predicted | None:
        read = self._read_features(table, orders)
        if read is None:
            return None
        features, declared = read
        if self.categorical_weight is None:
            if type(self.estimator) is not C45 or responses:
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
        result: list[Any] = []
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
            problem = (
                expansion.matrix(known),
                codes,
                labels.size,
                expansion.matrix(asked),
                # In the order of the table, as in a fit on the subset.
                [expansion.subset(np.argsort(order[:size])) for size in leading],
                expansion.ends[leading - 1],
            )
            found = self._predict_subsets(*problem, responses)
            outputs = found and _for_table(found, labels, table.n_classes)
            result.append(outputs if responses else outputs and outputs.codes)
        return result

    def _predict_subsets(
        self,
        X: FloatArray,
        codes: IntArray,
        n_classes: int,
        asked: FloatArray,
        subsets: Sequence[IntArray],
        ends: IntArray,
        responses: Sequence[str],
    ) -> list[Outputs] | None:
        """Predict all subsets at once if the estimator can, or fit it on each."""
        model = self.estimator
        if "_predict_subsets" in vars(type(model)):
            found: list[Outputs] | None = model._predict_subsets(
                X, codes, n_classes, asked, subsets, ends, responses
            )
            return found
        answers = []
        for columns in subsets:
            part, samples = (select_columns(m, columns) for m in (X, asked))
            fitted = clone(model).fit(part, codes)
            wanted = {r: getattr(fitted, r)(samples) for r in responses}
            answers.append(
                Outputs(
                    fitted.predict(samples),
                    wanted.get("predict_proba"),
                    wanted.get("decision_function"),
                )
            )
        return answers


def _for_table(answers: Sequence[Outputs], labels: IntArray, n_classes: int) -> Outputs:
    """Stack the outputs, with a column for every class of the table."""
    codes, proba, decision = join_outputs(answers, np.stack)
    if proba is not None:
        proba = _put_in_columns(proba, labels, n_classes, 0.0)
    if decision is not None and decision.ndim == 3:
        decision = _put_in_columns(decision, labels, n_classes, _lowest(decision))
    elif decision is not None and n_classes > 2:  # two of more classes
        both = np.stack([-decision, decision], axis=2)
        decision = _put_in_columns(both, labels, n_classes, _lowest(both))
    elif decision is not None and labels[0] == 1:
        decision = -decision
    return Outputs(labels[codes], proba, decision)


def _lowest(values: FloatArray) -> FloatArray:
    """Return, for every size, a decision value for classes that training lacked."""
    return values.min(axis=(1, 2), keepdims=True) - 1.0


def _put_in_columns(
    values: FloatArray, labels: IntArray, n_classes: int, fill: Any
) -> FloatArray:
    result = np.empty((*values.shape[:2], n_classes))
    result[...] = fill
    result[..., labels] = values
    return result


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

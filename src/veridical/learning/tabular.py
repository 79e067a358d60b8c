"""The classifiers a comparison can name: linear SVM, naive Bayes, 1-NN and C4.5.

Comparisons and studies themselves fit them by `veridical.learning.nested`, which
makes the same predictions for less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from veridical._core.arrays import FloatArray
from veridical._core.encoding import encode
from veridical._core.errors import InputError
from veridical._core.text import did_you_mean
from veridical.kernels.neighbours import nearest_classes
from veridical.learning.c45 import C45
from veridical.learning.dagsvm import DAGSVM
from veridical.learning.expansion import BoolArray, Expansion
from veridical.learning.linear_svm import LinearSVM
from veridical.learning.naive_bayes import NaiveBayes
from veridical.learning.nested import COST, ONE_APART, ROUNDING, number_classes


class NearestNeighbour(ClassifierMixin, BaseEstimator):
    """The class of the nearest training case; all that are equally near vote.

    With nominal columns many training cases are equally near, and taking the first of
    them would let the order of the rows decide. A tied vote goes to the class that is
    more frequent in training.

    Examples
    --------
    >>> from veridical.learning.tabular import NearestNeighbour
    >>> NearestNeighbour().fit([[0.0], [1.0]], ["no", "yes"]).predict([[0.8]])
    array(['yes'], dtype='<U3')
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Remember the training cases.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, scaled as the distance should see them.
        y : array-like of shape (n_samples,)
            Class labels.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, self._labels, self._codes = number_classes(y)
        self._cases = np.ascontiguousarray(X.T)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Name the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Cases to classify.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        ends = np.array([X.shape[1]])
        found = nearest_classes(
            self._cases,
            self._codes,
            np.require(X, np.float64, ["C", "W"]),
            ends,
            self.classes_.size,
            ROUNDING,
        )
        return self._labels[found[0]]


class TabularClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of numbers, made fit for tables with nominal and missing values.

    Parameters
    ----------
    estimator : classifier
        What learns from the resulting matrix.
    scale : bool, default=True
        Map each numeric column to [0, 1] by its training minimum and maximum.
    nominal_weight : float or None, default=1.0
        Height of the indicators of a nominal column. With ``sqrt(0.5)`` two different
        categories are at squared Euclidean distance 1. None leaves codes and missing
        values to the estimator, which is told of them by ``categorical_features``.
    categorical_features : "from_dtype", None, bool mask, indices or names
        Which columns are nominal, see `veridical._core.encoding.encode`.

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
    own in a nominal column. A category that training has not seen is no category: its
    indicators are all zero. What the names of the classes are does not matter: where a
    classifier decides a tie by the order of its classes, the more frequent one wins.

    Examples
    --------
    >>> import pandas as pd
    >>> from veridical.comparison import make_classifier
    >>> X = pd.DataFrame({"size": [1.0, 2.0, None, 9.0], "kind": ["a", "a", "b", "b"]})
    >>> make_classifier("svm").fit(X, ["n", "n", "y", "y"]).predict(X).tolist()
    ['n', 'n', 'y', 'y']
    """

    def __init__(
        self,
        estimator: Any,
        *,
        scale: bool = True,
        nominal_weight: float | None = 1.0,
        categorical_features: Any = "from_dtype",
    ) -> None:
        self.estimator = estimator
        self.scale = scale
        self.nominal_weight = nominal_weight
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the scaling and the classifier.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            May hold nominal columns and missing values.
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
        """Name the class of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Cases to classify, with the columns of `fit`.
        """
        check_is_fitted(self)
        if getattr(X, "ndim", 2) == 2:  # else encode says how to reshape it
            validate_data(self, X, skip_check_array=True, reset=False)
        return self.predict_encoded(encode(X, categories=self._categories).values)

    def fit_encoded(
        self, values: FloatArray, nominal: BoolArray, y: NDArray[Any]
    ) -> Self:
        """Fit on a table that is already numbers and codes; nothing is checked.

        Parameters
        ----------
        values : array of shape (n_samples, n_features)
            Numbers, and codes in the nominal columns; NaN is missing.
        nominal : bool array of shape (n_features,)
            Which columns hold codes.
        y : array of shape (n_samples,)
            Class labels.
        """
        self.classes_, self._labels, codes = number_classes(y)
        model = clone(self.estimator)
        if self.nominal_weight is None:
            self._expansion = None
            model.set_params(categorical_features=nominal if nominal.any() else None)
        else:
            self._expansion = Expansion.learn(
                values, nominal, scale=self.scale, weight=self.nominal_weight
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
        return values if self._expansion is None else self._expansion.matrix(values)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


# -- by name -------------------------------------------------------------------------


def make_svm() -> TabularClassifier:
    """Make a linear support vector machine on scaled inputs."""
    return TabularClassifier(LinearSVM(C=COST))


def make_nearest() -> TabularClassifier:
    """Make a nearest neighbour classifier on scaled inputs."""
    return TabularClassifier(NearestNeighbour(), nominal_weight=ONE_APART)


def make_tree() -> TabularClassifier:
    """Make a C4.5 tree in which ties between classes go to the more frequent one."""
    return TabularClassifier(C45(), scale=False, nominal_weight=None)


def make_dagsvm() -> TabularClassifier:
    """Make a DAGSVM on standardized inputs."""
    return TabularClassifier(DAGSVM(standardize=True), scale=False)


def make_logistic() -> TabularClassifier:
    """Make a logistic regression on scaled inputs."""
    return TabularClassifier(LogisticRegression(max_iter=1000))


def make_majority() -> DummyClassifier:
    """Make a classifier that predicts the most frequent class."""
    return DummyClassifier(strategy="most_frequent")


#: The comparison paper's classifiers by name, each with what makes a fresh one.
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "svm": make_svm,
    "nb": NaiveBayes,
    "1nn": make_nearest,
    "tree": make_tree,
}


def make_classifier(name: str) -> Any:
    """Make a classifier by its name in `veridical.learning.ESTIMATORS`.

    Parameters
    ----------
    name : {"svm", "nb", "1nn", "tree", "c45", "logistic", "majority", "dagsvm"}
        "svm": linear support vector machine, C = 1, inputs scaled to [0, 1] by the
        training minimum and maximum, indicators for nominal columns. "nb": naive Bayes
        with normal densities for numbers and frequencies for categories. "1nn": nearest
        neighbour on scaled numbers, where two different categories are one apart.
        "tree": C4.5, where a tie between classes goes to the more frequent one. "c45":
        C4.5 with ties to the first label. "logistic": logistic regression, C = 1, with
        the inputs of "svm". "majority": the most frequent class, whatever the features.
        "dagsvm": `DAGSVM` on standardized inputs, indicators as for "svm".

    Returns
    -------
    classifier
        Unfitted; takes arrays or data frames, nominal columns and missing values.

    Raises
    ------
    InputError
        If there is no such classifier.

    References
    ----------
    .. [1] P. Refaeilzadeh, L. Tang & H. Liu, "On comparison of feature selection
       algorithms", AAAI Workshop on Evaluation Methods for Machine Learning II (2007).

    Examples
    --------
    >>> from veridical.comparison import make_classifier
    >>> make_classifier("1nn").fit([[0.0], [5.0]], ["a", "b"]).predict([[4.0]])
    array(['b'], dtype='<U1')
    """
    from veridical.learning import ESTIMATORS

    if name in ESTIMATORS:
        return ESTIMATORS[name]()
    raise InputError(
        f"There is no classifier {name!r}{did_you_mean(str(name), ESTIMATORS)} Use one "
        f"of {', '.join(map(repr, ESTIMATORS))}, or pass a scikit-learn classifier."
    )

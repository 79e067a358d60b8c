"""A linear support vector machine, quick on small problems."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.linalg.lapack import dormqr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical.kernels.hinge import fit_hinge

#: Decision value; one nearer to 0 is a tie. Where margins meet in a corner, as they do
#: on categorical data, the solver leaves errors of 1e-5 or so; that of scikit-learn's
#: SVC, of 1e-3.
TIE = 1e-4

#: Features, or samples if fewer; with more libsvm is faster.
LARGEST = 200


class PairModel(NamedTuple):
    """One against one: positive decision values speak for the first of two classes."""

    first: int
    second: int
    weights: FloatArray
    intercept: float


class LinearSVM(ClassifierMixin, BaseEstimator):
    """Linear support vector machine with hinge loss, one class against another.

    The same problem as scikit-learn's ``SVC(kernel="linear")``, which stops at a
    tolerance of 0.001; this one is solved to about eight digits, and several times as
    fast where there are few columns.

    Parameters
    ----------
    C : float, default=1.0
        Cost of an error.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    coef_ : array of shape (n_pairs, n_features)
        Weights of the model for each pair of classes, 0 against 1, 0 against 2, …,
        with the signs of scikit-learn's ``SVC``.
    intercept_ : array of shape (n_pairs,)
        Their intercepts; the middle where several would do.
    n_features_in_ : int
        Number of columns seen in `fit`.

    Notes
    -----
    Scale the columns alike first. Time is that of a dozen products of the matrix with
    itself, over the samples or over the columns, whichever are fewer. With more than
    200 of both, and where numbers are so large that rounding hides the margin,
    scikit-learn's solver is used instead.

    A sample on the border between two classes goes to the first of them. Where there
    are as many votes for several classes the first wins.

    Examples
    --------
    >>> from veridical.learning.linear_svm import LinearSVM
    >>> LinearSVM().fit([[0.0], [0.2], [0.8], [1.0]], list("aabb")).predict([[0.7]])
    array(['b'], dtype='<U1')
    """

    classes_: NDArray[Any]
    _models: list[PairModel]

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, y: Any) -> Self:
        """Find the widest margin between each pair of classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers of a common scale.
        y : array-like of shape (n_samples,)
            Class labels.
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            raise InputError(
                f"y has one class only ({self.classes_[0]!r}), but a margin lies "
                "between at least 2 classes."
            )
        self._models = fit_pairs(X, codes, self.classes_.size, float(self.C))
        # scikit-learn's signs: of two classes the second is the positive one.
        turn = -1.0 if self.classes_.size == 2 else 1.0
        self.coef_ = np.array([turn * m.weights for m in self._models])
        self.intercept_ = np.array([turn * m.intercept for m in self._models])
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples to classify.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self.classes_[vote(self._models, X, self.classes_.size)]

    def _check_parameters(self) -> None:
        if not (isinstance(self.C, Real) and 0 < self.C < np.inf):
            raise InputError(f"C={self.C!r} must be a positive number, 1.0 say.")

    def _predict_subsets(
        self,
        X: FloatArray,
        codes: IntArray,
        n_classes: int,
        asked: FloatArray,
        subsets: Sequence[IntArray],
        ends: IntArray,
    ) -> IntArray:
        """Fit and predict on every subset of columns; nothing is checked again."""
        self._check_parameters()
        found = []
        for columns in subsets:
            models = fit_pairs(
                take_columns(X, columns), codes, n_classes, float(self.C)
            )
            found.append(vote(models, take_columns(asked, columns), n_classes))
        return np.array(found)


def take_columns(X: FloatArray, columns: IntArray) -> FloatArray:
    """Take some columns, in C order; all of them without a copy."""
    whole = columns.size == X.shape[1] and bool((np.diff(columns) == 1).all())
    return X if whole else np.ascontiguousarray(X[:, columns])


def fit_pairs(X: FloatArray, y: IntArray, n_classes: int, C: float) -> list[PairModel]:
    """Fit a model for every pair of classes that has samples."""
    models = []
    for first, second in combinations(range(n_classes), 2):
        chosen = (y == first) | (y == second)
        everyone = bool(chosen.all())
        samples, numbers = (X, y) if everyone else (X[chosen], y[chosen])
        sign = np.where(numbers == first, 1.0, -1.0)
        if numbers.size and abs(sign.sum()) < sign.size:
            models.append(PairModel(first, second, *_fit(samples, sign, C)))
    return models


def _fit(X: FloatArray, sign: FloatArray, C: float) -> tuple[FloatArray, float]:
    if min(X.shape) <= LARGEST:
        weights, intercept, found = _fit_inside(X, sign, C)
        if found:
            return weights, intercept
    model = SVC(kernel="linear", C=C).fit(X, sign)
    return model.coef_[0], float(model.intercept_[0])


def _fit_inside(
    X: FloatArray, sign: FloatArray, C: float
) -> tuple[FloatArray, float, bool]:
    """Solve by the interior point method, over the samples or over the columns."""
    if X.shape[1] <= len(X):
        return fit_hinge(np.require(X, np.float64, ["C", "W"]), sign, C)
    # More columns than samples: the weights lie in the space that the samples span. Its
    # basis stays a product of reflections; written out it would cost several times as
    # much, and only one vector has to be led back.
    (reflections, scales), inside = qr(X.T, mode="raw", check_finite=False)
    weights, intercept, found = fit_hinge(np.ascontiguousarray(inside.T), sign, C)
    column = np.zeros((X.shape[1], 1), order="F")
    column[: len(X), 0] = weights
    column, _, _ = dormqr("L", "N", reflections, scales, column, 64, overwrite_c=1)
    return column[:, 0], intercept, found


def vote(models: list[PairModel], X: FloatArray, n_classes: int) -> IntArray:
    """Let every model vote; of equals the class with the smallest number wins."""
    X = np.ascontiguousarray(X)
    votes = np.zeros((n_classes, len(X)), dtype=np.intp)
    for first, second, weights, intercept in models:
        for_first = X @ weights + intercept >= -TIE
        votes[first] += for_first
        votes[second] += ~for_first
    return votes.argmax(axis=0)

"""A linear support vector machine, fast on small problems."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.linalg.lapack import dormqr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.reading import number_classes, refuse_one_class
from veridical._core.scoring import Outputs
from veridical.kernels.box import fit_hinge
from veridical.kernels.duality import bias_of
from veridical.kernels.products import inner_products
from veridical.kernels.svm import solve_svm
from veridical.kernels.svm_exact import exact_gram, sum_weights
from veridical.learning.inputs import check_positive

#: Decision value; one nearer to 0 is a tie. On categorical data, where the optimum is
#: degenerate, errors of 1e-5 or so remain; those of scikit-learn's SVC are of 1e-3.
VOTE_TIE = 1e-4

#: Features, or samples if fewer; up to this, interior points take 0.1 to 1 times the
#: time of the dual solver.
FEW_FEATURES = 30
#: Samples per feature, and features: with at least as many samples per feature, and at
#: most this many features, interior points take 0.05 to 1 times the time of the dual
#: solver; with fewer samples per feature up to ten times.
NARROW = ((2, 100), (5, 200))
#: Samples; with more, inner products of all of them would take too much memory.
MOST_SAMPLES = 5000


class PairModel(NamedTuple):
    """The model of two classes; a positive decision value predicts the first."""

    first: int
    second: int
    weights: FloatArray
    intercept: float


class LinearSVM(ClassifierMixin, BaseEstimator):
    """Linear support vector machine with hinge loss, one class against another.

    The same problem as scikit-learn's ``SVC(kernel="linear")``, which stops at a
    tolerance of 0.001; this one is solved to about eight digits, and several times as
    fast where there are few features.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the slacks in the objective; the larger, the less regularization.

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
        Number of features seen in `fit`.

    Notes
    -----
    Bring the features to a common scale first. With few samples or few features, time
    is that of a dozen products of the matrix with itself, over the samples or over the
    features, whichever are fewer. With more than 30 of both and fewer than two samples
    per feature, and where numbers are so large that rounding hides the margin, the dual
    is solved, which takes all inner products of the samples.

    A sample on the border between two classes goes to the first of them. Where several
    classes get equally many votes, the first wins.

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
        check_positive("C", self.C)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = number_classes(y)
        refuse_one_class(self.classes_, type(self).__name__)
        self._models = fit_pairs(X, codes, self.classes_.size, float(self.C))
        # scikit-learn's signs: of two classes the second is the positive one.
        sign = -1.0 if self.classes_.size == 2 else 1.0
        self.coef_ = np.array([sign * m.weights for m in self._models])
        self.intercept_ = np.array([sign * m.intercept for m in self._models])
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples to classify.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self.classes_[vote(self._models, X, self.classes_.size)]

    def decision_function(self, X: Any) -> FloatArray:
        """Compute decision values, as scikit-learn's ``SVC`` does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples to classify.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            With two classes one number, positive for the second; with more, the votes
            of each class and, between classes with equal votes, how clear they are.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return decision_values(self._models, X, self.classes_.size)

    def _predict_subsets(
        self,
        X: FloatArray,
        codes: IntArray,
        n_classes: int,
        asked: FloatArray,
        subsets: Sequence[IntArray],
        ends: IntArray,
        responses: Sequence[str],
    ) -> list[Outputs]:
        """Fit and predict on every subset of columns; nothing is checked again."""
        check_positive("C", self.C)
        found = []
        for columns in subsets:
            part, samples = (select_columns(m, columns) for m in (X, asked))
            models = fit_pairs(part, codes, n_classes, float(self.C))
            decision = (
                decision_values(models, samples, n_classes) if responses else None
            )
            found.append(Outputs(vote(models, samples, n_classes), None, decision))
        return found


def select_columns(X: FloatArray, columns: IntArray) -> FloatArray:
    """Return some columns, in C order; all of them without a copy."""
    whole = columns.size == X.shape[1] and bool((np.diff(columns) == 1).all())
    return X if whole else np.ascontiguousarray(X[:, columns])


def fit_pairs(X: FloatArray, y: IntArray, n_classes: int, C: float) -> list[PairModel]:
    """Fit a model for every pair of classes that has samples."""
    models = []
    for first, second in combinations(range(n_classes), 2):
        chosen = (y == first) | (y == second)
        samples, codes = (X, y) if chosen.all() else (X[chosen], y[chosen])
        sign = np.where(codes == first, 1.0, -1.0)
        if codes.size and abs(sign.sum()) < sign.size:
            models.append(PairModel(first, second, *_fit(samples, sign, C)))
    return models


def _fit(X: FloatArray, sign: FloatArray, C: float) -> tuple[FloatArray, float]:
    n, p = X.shape
    if _is_narrow(n, p) or (p < n and n > MOST_SAMPLES):
        weights, intercept, found = _fit_interior(X, sign, C)
        if found:
            return weights, intercept
    c = np.full(n, C)
    a, low, at_margin = solve_svm(
        inner_products(X), sign, c, exact=lambda: exact_gram(X)
    )
    bias = float(bias_of(at_margin, sign, a, c))
    return sum_weights(X, sign * a, sign * low), bias


def _is_narrow(n: int, p: int) -> bool:
    """Return whether interior points are faster than the dual solver."""
    narrow = any(ratio * p <= n and p <= most for ratio, most in NARROW)
    return min(n, p) <= FEW_FEATURES or narrow


def _fit_interior(
    X: FloatArray, sign: FloatArray, C: float
) -> tuple[FloatArray, float, bool]:
    """Solve by the interior point method, over the samples or over the features."""
    if X.shape[1] <= len(X):
        return fit_hinge(np.require(X, np.float64, ["C", "W"]), sign, C)
    # More features than samples: the weights lie in the space that the samples span.
    # Its basis is kept as a product of reflections: to form it would cost several times
    # as much, and only one vector has to be mapped back.
    (reflections, scales), inside = qr(X.T, mode="raw", check_finite=False)
    weights, intercept, found = fit_hinge(np.ascontiguousarray(inside.T), sign, C)
    column = np.zeros((X.shape[1], 1), order="F")
    column[: len(X), 0] = weights
    column, _, _ = dormqr("L", "N", reflections, scales, column, 64, overwrite_c=1)
    return column[:, 0], intercept, found


def vote(models: list[PairModel], X: FloatArray, n_classes: int) -> IntArray:
    """Let every model vote; of tied classes the one with the smallest number wins."""
    X = np.ascontiguousarray(X)
    votes = np.zeros((n_classes, len(X)), dtype=np.intp)
    for first, second, weights, intercept in models:
        for_first = X @ weights + intercept >= -VOTE_TIE
        votes[first] += for_first
        votes[second] += ~for_first
    return votes.argmax(axis=0)


def decision_values(
    models: list[PairModel], X: FloatArray, n_classes: int
) -> FloatArray:
    """Compute decision values: of two classes one, positive for the second.

    With more classes the value of a class is its number of votes, plus the sum of its
    decision values, mapped to (−1/3, 1/3) so that it decides between equal votes only.
    """
    X = np.ascontiguousarray(X)
    if n_classes == 2 and len(models) == 1:
        return -(X @ models[0].weights + models[0].intercept)
    votes, clear = np.zeros((2, len(X), n_classes))
    for first, second, weights, intercept in models:
        value = X @ weights + intercept
        votes[:, first] += value >= -VOTE_TIE
        votes[:, second] += value < -VOTE_TIE
        clear[:, first] += value
        clear[:, second] -= value
    return votes + clear / (3 * (np.abs(clear) + 1))

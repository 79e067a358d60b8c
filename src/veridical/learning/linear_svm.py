"""The linear support vector machine of the comparisons, quick on small problems."""

from __future__ import annotations

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

#: A decision value this close to 0 is 0: where margins meet in a corner, as they do on
#: nominal data, the solver leaves errors of 1e-5 or so. scikit-learn's SVC leaves 1e-3.
TIE = 1e-4

#: With more columns, and more cases, libsvm is the quicker solver.
LARGEST = 200


class Machine(NamedTuple):
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
        Weights of the machine for each pair of classes, 0 against 1, 0 against 2, …,
        with the signs of scikit-learn's ``SVC``.
    intercept_ : array of shape (n_pairs,)
        Their intercepts; the middle where several would do.
    n_features_in_ : int
        Number of columns seen in `fit`.

    Notes
    -----
    Scale the columns alike first. Time is that of a dozen products of the matrix with
    itself, over the cases or over the columns, whichever are fewer. With more than 200
    of both, and where numbers are so large that rounding hides the margin,
    scikit-learn's solver is used instead.

    A case on the border between two classes goes to the first of them. Where there are
    as many votes for several classes the first wins.

    Examples
    --------
    >>> from veridical.learning.linear_svm import LinearSVM
    >>> LinearSVM().fit([[0.0], [0.2], [0.8], [1.0]], list("aabb")).predict([[0.7]])
    array(['b'], dtype='<U1')
    """

    classes_: NDArray[Any]
    _machines: list[Machine]

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
        if not (isinstance(self.C, Real) and 0 < self.C < np.inf):
            raise InputError(f"C={self.C!r} must be a positive number, 1.0 say.")
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            raise InputError(
                f"y has one class only ({self.classes_[0]!r}), but a margin lies "
                "between at least 2 classes."
            )
        self._machines = fit_machines(X, codes, self.classes_.size, float(self.C))
        # scikit-learn's signs: of two classes the second is the positive one.
        turn = -1.0 if self.classes_.size == 2 else 1.0
        self.coef_ = np.array([turn * m.weights for m in self._machines])
        self.intercept_ = np.array([turn * m.intercept for m in self._machines])
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
        return self.classes_[vote(self._machines, X, self.classes_.size)]


def fit_machines(X: FloatArray, y: IntArray, n_classes: int, C: float) -> list[Machine]:
    """Fit a machine for every pair of classes that has cases."""
    machines = []
    for first, second in combinations(range(n_classes), 2):
        chosen = (y == first) | (y == second)
        everyone = bool(chosen.all())
        cases, numbers = (X, y) if everyone else (X[chosen], y[chosen])
        sign = np.where(numbers == first, 1.0, -1.0)
        if numbers.size and abs(sign.sum()) < sign.size:
            machines.append(Machine(first, second, *_fit(cases, sign, C)))
    return machines


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
    """Solve by the interior point method, over the cases or over the columns."""
    if X.shape[1] <= len(X):
        return fit_hinge(np.require(X, np.float64, ["C", "W"]), sign, C)
    # More columns than cases: the weights lie in the space that the cases span. Its
    # basis stays a product of reflections; written out it would cost several times as
    # much, and only one vector has to be led back.
    (reflections, scales), inside = qr(X.T, mode="raw", check_finite=False)
    weights, intercept, found = fit_hinge(np.ascontiguousarray(inside.T), sign, C)
    column = np.zeros((X.shape[1], 1), order="F")
    column[: len(X), 0] = weights
    column, _, _ = dormqr("L", "N", reflections, scales, column, 64, overwrite_c=1)
    return column[:, 0], intercept, found


def vote(machines: list[Machine], X: FloatArray, n_classes: int) -> IntArray:
    """Let every machine vote; of equals the class with the smallest number wins."""
    votes = np.zeros((n_classes, len(X)), dtype=np.intp)
    for first, second, weights, intercept in machines:
        for_first = X @ weights + intercept >= -TIE
        votes[first] += for_first
        votes[second] += ~for_first
    return votes.argmax(axis=0)

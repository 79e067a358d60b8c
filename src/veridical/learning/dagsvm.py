"""Support vector machines for all pairs of classes, evaluated along a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.reading import (
    number_classes,
    read_numeric,
    read_numeric_training,
    refuse_one_class,
)
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical._core.validation import check_count
from veridical.kernels.dagsvm import (
    predict_nested,
    solve_pair,
    solve_pair_exactly,
    sort_by_class,
    walk,
)
from veridical.kernels.products import inner_products
from veridical.learning.inputs import check_positive
from veridical.learning.many import Orders, Predicted, PredictMany, Sizes, predict_loop

KERNELS = ("linear", "rbf", "poly", "sigmoid")
#: Products of samples to be predicted with training samples that are in memory at once.
_MOST_PRODUCTS = 1 << 23
#: Training samples; with more, their inner products for every number of features would
#: take too much memory and time, and a model is fitted for each.
_MOST_NESTED = 2000


def _has_two_classes(model: Any) -> bool:
    """Return True for two classes; raise AttributeError for more."""
    check_is_fitted(model)
    if len(model.classes_) != 2:
        raise AttributeError(
            f"decision_function is for two classes, but there are "
            f"{len(model.classes_)}; use pairwise_decisions."
        )
    return True


class DAGSVM(PredictMany, ClassifierMixin, BaseEstimator):
    """A support vector machine per pair of classes, evaluated along a directed graph.

    To predict the class of a sample, start from a list of all classes. The model for
    the first against the last class of the list rejects one of the two, which is
    removed, until one class is left [1]_. With K classes that takes K − 1 evaluations,
    where a vote of all pairs takes K (K − 1) / 2.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the slacks in the objective; the larger, the less regularization.
    kernel : {"linear", "rbf", "poly", "sigmoid"}, default="linear"
        The kernel, as in :class:`sklearn.svm.SVC`.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels other than "linear", as in ``SVC``.
    degree : int, default=3
        Of the kernel "poly".
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    standardize : bool, default=False
        Whether to bring every feature to mean 0 and variance 1 over the training
        samples first.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels; their order is that of the list.
    pairs_ : list of (int, int)
        Indices of the two classes of each model.
    dual_coef_ : array of shape (n_pairs, n_samples)
        Multiplier times sign of every training sample in the model of every pair; 0
        for the samples of other classes. Signs here and below are those of ``SVC``: a
        positive decision value is for the second of two classes; with more classes,
        for the first of a pair.
    intercept_ : array of shape (n_pairs,)
        Constants of the decision functions.
    coef_ : array of shape (n_pairs, n_features)
        Weights of the (standardized) features; only with ``kernel="linear"``.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where they have any.

    See Also
    --------
    sklearn.svm.SVC : The same models, which vote.

    Notes
    -----
    The models share one matrix of inner products. Decision values are exact to 1e-9,
    six digits more than with the default tolerance of ``SVC``, also where features are
    on different scales. A decision value of zero removes the last class of the list.

    With ``kernel="linear"``, :meth:`predict_many` predicts with the first 2, 3, 4, …
    features of a ranking in little more time than with the last of these numbers: a
    further feature changes each inner product by a product of two numbers, and each
    search for multipliers starts from the last solution.

    References
    ----------
    .. [1] J. C. Platt, N. Cristianini & J. Shawe-Taylor, "Large margin DAGs for
       multiclass classification", NIPS 12 (1999).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from veridical.learning import DAGSVM
    >>> X, y = load_wine(return_X_y=True)
    >>> model = DAGSVM(standardize=True).fit(X, y)
    >>> model.pairs_
    [(0, 1), (0, 2), (1, 2)]
    >>> bool((model.predict(X) == y).all())
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        standardize: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.standardize = standardize

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train a model for each pair of classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers, none missing.
        y : array-like of shape (n_samples,)
            The class labels.

        Returns
        -------
        DAGSVM
            The fitted classifier itself.
        """
        self._check_parameters()
        values, codes = self._read(X, y)
        n_classes = self.classes_.size
        order, start = sort_by_class(codes, n_classes)
        self._centre, self._scale = self._find_scale(values)
        Z = (values - self._centre) / self._scale
        self._gamma = self._find_gamma(Z)
        linear = self.kernel == "linear"
        G: Any = (
            inner_products(Z[order]) if linear else self._products(Z[order], Z[order])
        )
        self.pairs_ = list(combinations(range(n_classes), 2))
        signed = np.zeros((len(self.pairs_), len(codes)))
        samples = Z[order] if linear else None

        def solve(a: int, b: int, row: FloatArray) -> float:
            C = float(self.C)
            if self.kernel == "sigmoid":
                # It need not be positive definite: then only descent is safe.
                return solve_pair(G, start, a, b, C, row)
            return solve_pair_exactly(G, start, a, b, C, row, samples)

        self._bias = np.array(
            [solve(*pair, row) for pair, row in zip(self.pairs_, signed, strict=True)]
        )
        self._train, self._start, self._signed = Z[order], start, signed
        # As in SVC: a positive decision value is for the second of two classes.
        sign = -1.0 if n_classes == 2 else 1.0
        self.intercept_ = sign * self._bias
        self.dual_coef_ = np.empty_like(signed)
        self.dual_coef_[:, order] = sign * signed
        if linear:
            self.coef_ = sign * signed @ self._train
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        array of shape (n_samples,)
            Labels of ``classes_``.
        """
        Z = self._read_scaled(X)
        found = np.empty(len(Z), dtype=np.intp)
        solved = np.ones(len(self.pairs_), dtype=bool)
        # Compiled code needs writable arrays; those of a loaded model may not be.
        start, signed, bias = (
            np.require(part, requirements="W")
            for part in (self._start, self._signed, self._bias)
        )
        doubtful = np.empty(len(Z), dtype=bool)
        nothing, fixed = np.empty((0, 0)), (start, float(self.C), signed, bias, solved)
        for some in self._blocks(len(Z)):
            T = self._products(Z[some], self._train)
            walk(nothing, T, *fixed, found[some], doubtful[some])
        return self.classes_[found]

    def pairwise_decisions(self, X: ArrayLike) -> FloatArray:
        """Evaluate the models of all pairs.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        array of shape (n_samples, n_pairs)
            In the order of ``pairs_``; a positive value is for the first of the pair,
            also with two classes, unlike :meth:`decision_function`.
        """
        Z = self._read_scaled(X)
        found = np.empty((len(Z), len(self.pairs_)))
        for some in self._blocks(len(Z)):
            found[some] = self._products(Z[some], self._train) @ self._signed.T
        return found + self._bias

    @available_if(_has_two_classes)
    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Compute the decision values of two classes, as ``SVC`` does.

        Only with two classes; with more use :meth:`pairwise_decisions`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        array of shape (n_samples,)
            Positive where the second class is predicted.
        """
        return -self.pairwise_decisions(X)[:, 0]

    # -- many training sets ----------------------------------------------------------

    def _predict_table(
        self, table: Table, splits: Sequence[Split], orders: Orders, sizes: Sizes
    ) -> Predicted | None:
        """Predict with the first features of a ranking, for many sizes at once."""
        self._check_parameters()
        if self.kernel != "linear" or orders is None or sizes is None:
            return None  # other kernels compute all inner products anew
        found: Predicted = []
        for split, order in zip(splits, orders, strict=True):
            found.append(self._predict_sizes(table, split, order, sizes))
        return found

    def _predict_sizes(
        self, table: Table, split: Split, order: IntArray, sizes: Sequence[int]
    ) -> IntArray | None:
        if table.categorical[order].any() or split.n_train > _MOST_NESTED:
            return None
        train, test = split
        values, asked = table.take(train, order), table.take(test, order)
        if not (np.isfinite(values).all() and np.isfinite(asked).all()):
            return None
        present, codes = np.unique(table.y[train], return_inverse=True)
        centre, scale = self._find_scale(values)
        found, doubtful = predict_nested(
            (values - centre) / scale,
            codes.astype(np.intp),
            present.size,
            (asked - centre) / scale,
            float(self.C),
            np.array(sizes, dtype=np.intp),
        )
        predicted: IntArray = present[found]
        again = np.flatnonzero(doubtful.any(axis=1))
        if again.size:
            few = [sizes[i] for i in again.tolist()]
            (predicted[again],) = predict_loop(self, table, [split], [order], few)
        return predicted

    # -- parts -----------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_positive("C", self.C)
        if self.kernel not in KERNELS:
            raise InputError(
                f"kernel={self.kernel!r} is not known; use one of {', '.join(KERNELS)}."
            )
        if isinstance(self.gamma, str):
            if self.gamma not in ("scale", "auto"):
                raise InputError(
                    f"gamma={self.gamma!r} must be 'scale', 'auto' or a number."
                )
        else:
            check_positive("gamma", self.gamma)
        check_count("degree", self.degree, 0)
        if not isinstance(self.coef0, Real) or not np.isfinite(self.coef0):
            raise InputError(f"coef0={self.coef0!r} must be a number.")

    def _read(self, X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, IntArray]:
        values, y = read_numeric_training(self, X, y, min_samples=2)
        self.classes_, codes = number_classes(y)
        refuse_one_class(self.classes_, type(self).__name__)
        return values, codes

    def _find_scale(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        p = values.shape[1]
        if not self.standardize:
            return np.zeros(p), np.ones(p)
        deviation = values.std(axis=0)
        return values.mean(axis=0), np.where(deviation > 0, deviation, 1.0)

    def _find_gamma(self, Z: FloatArray) -> float:
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        variance = float(Z.var()) if self.gamma == "scale" else 1.0
        return 1.0 / (Z.shape[1] * variance) if variance > 0 else 1.0

    def _products(self, A: FloatArray, B: FloatArray) -> FloatArray:
        if self.kernel == "linear":
            return np.ascontiguousarray(A @ B.T)
        return np.ascontiguousarray(
            pairwise_kernels(
                A,
                B,
                metric=self.kernel,
                filter_params=True,
                gamma=self._gamma,
                degree=self.degree,
                coef0=self.coef0,
            )
        )

    def _read_scaled(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self)
        values = read_numeric(self, X, reset=False)
        return (values - self._centre) / self._scale

    def _blocks(self, n: int) -> Iterator[slice]:
        """Divide n samples so that their products with training samples fit a block."""
        step = max(1, _MOST_PRODUCTS // len(self._train))
        for first in range(0, n, step):
            yield slice(first, min(first + step, n))

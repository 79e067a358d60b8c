"""Nearest neighbours: our own estimator, and scikit-learn's on many training sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from veridical._core.arrays import EPS, FloatArray, IntArray
from veridical._core.scoring import Outputs
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.kernels.neighbours import nearest_classes
from veridical.learning.inputs import finite_matrix, number_by_frequency
from veridical.learning.many import (
    Predicted,
    on_equal_subsets,
    register_predict_table,
)
from veridical.learning.outcomes import one_hot

#: Relative difference of squared distances; below it they are equal.
DISTANCE_ROUNDING = 1e-9

#: Samples; with more, the matrix of their distances is not computed and the loop runs.
_MOST_SAMPLES = 4000


class NearestNeighbour(ClassifierMixin, BaseEstimator):
    """Predict the class of the nearest training sample; equally near ones vote.

    With categorical features many training samples are equally near; if the first of
    them were taken, the order of the samples would decide. A tied vote goes to the
    class that is more frequent in training.

    Examples
    --------
    >>> from veridical.learning.neighbours import NearestNeighbour
    >>> NearestNeighbour().fit([[0.0], [1.0]], ["no", "yes"]).predict([[0.8]])
    array(['yes'], dtype='<U3')
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Store the training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers on the scale on which distances are computed.
        y : array-like of shape (n_samples,)
            Class labels.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, self._labels, self._codes = number_by_frequency(y)
        self._samples = np.ascontiguousarray(X.T)
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
        ends = np.array([X.shape[1]])
        (found,) = _nearest(self._samples, self._codes, X, ends, self.classes_.size)
        return self._labels[np.where(found < 0, ~found, found)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probability 1 for the predicted class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples to classify.

        Returns
        -------
        array of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        named = self.predict(X)
        return (named[:, np.newaxis] == self.classes_).astype(np.float64)

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
        """Predict on the leading columns, for every number in `ends`, in one pass."""
        found = _nearest(np.ascontiguousarray(X.T), codes, asked, ends, n_classes)
        if (found < 0).any():
            return None
        if not responses:
            return [Outputs(one) for one in found]
        return [Outputs(one, one_hot(one, n_classes)) for one in found]


def _nearest(
    samples: FloatArray, codes: IntArray, X: FloatArray, ends: IntArray, n_classes: int
) -> IntArray:
    asked = np.require(X, np.float64, ["C", "W"])
    return nearest_classes(samples, codes, asked, ends, n_classes, DISTANCE_ROUNDING)


# -- scikit-learn's k nearest neighbours ---------------------------------------------


@register_predict_table(KNeighborsClassifier)
@on_equal_subsets
def predict_k_neighbours(
    estimator: Any, table: Table, splits: Sequence[Split]
) -> Predicted | None:
    """Compute all distances once, then find the nearest of each training set."""
    values = _values_of(estimator, table)
    if len(splits) < 2 or values is None:
        return None
    squared = cdist(values, values, "sqeuclidean")
    order = np.argsort(squared, axis=1, kind="stable")
    norms = np.einsum("ij,ij->i", values, values)
    rounding = _rounding(values.shape[1]) * (norms + norms.max())
    k = int(estimator.n_neighbors)
    predicted: Predicted = []
    for train, test in splits:
        if len(train) < k:  # the loop raises the error
            predicted.append(None)
            continue
        counts = np.bincount(train, minlength=len(values))
        ranked = order[test]
        apart = np.take_along_axis(squared[test], ranked, axis=1)
        last = (counts[ranked].cumsum(axis=1) >= k).argmax(axis=1)
        edge = np.take_along_axis(apart, last[:, None], axis=1)[:, 0]
        votes = _vote(
            counts[ranked],
            apart,
            edge,
            table.y[ranked],
            rounding[test],
            k,
            table.n_classes,
        )
        predicted.append(None if votes is None else votes[np.newaxis])
    return predicted


@register_predict_table(StandardScaler, KNeighborsClassifier)
@on_equal_subsets
def predict_scaled_neighbours(
    estimator: Any, table: Table, splits: Sequence[Split]
) -> Predicted | None:
    """Scale by each training set, and find the nearest of its samples."""
    scaler, learner = (step for _, step in estimator.steps)
    values = _values_of(learner, table)
    if values is None or scaler.with_mean is not True or scaler.with_std is not True:
        return None
    k = int(learner.n_neighbors)
    predicted: Predicted = []
    for train, test in splits:
        scaled = _standardise(values, train) if len(train) >= k else None
        if scaled is None:
            predicted.append(None)
            continue
        norms = np.einsum("ij,ij->i", scaled, scaled)
        squared = norms[test][:, None] + norms[train]
        squared -= 2 * (scaled[test] @ scaled[train].T)
        votes = _vote(
            np.ones(squared.shape, dtype=np.intp),
            squared,
            np.partition(squared, k - 1, axis=1)[:, k - 1],
            np.broadcast_to(table.y[train], squared.shape),
            # Here and in scikit-learn.
            2 * _rounding(values.shape[1]) * (norms[test] + norms[train].max()),
            k,
            table.n_classes,
        )
        predicted.append(None if votes is None else votes[np.newaxis])
    return predicted


def _values_of(learner: KNeighborsClassifier, table: Table) -> FloatArray | None:
    """Return the features; None where a vote of neighbours has no fast way."""
    if len(table) > _MOST_SAMPLES or not (
        learner.weights == "uniform"
        and learner.metric in ("minkowski", "euclidean")
        and (learner.metric == "euclidean" or learner.p == 2)
        and learner.metric_params is None
    ):
        return None
    values = finite_matrix(table.frame())
    if values is not None:
        learner._validate_params()
    return values


def _rounding(n_features: int) -> float:
    """Return the relative error of a squared distance, in units of squared norms.

    scikit-learn may expand ‖a − b‖², which loses digits of the larger norms.
    """
    return 1e-14 * (8 + n_features)


def _standardise(values: FloatArray, train: IntArray) -> FloatArray | None:
    """Scale as ``StandardScaler``, fitted on training rows, does.

    None where a feature is so nearly constant there that rounding decides whether it
    is scaled.
    """
    own = values[train]
    mean = own.mean(axis=0)
    variance = ((own - mean) ** 2).mean(axis=0)
    constant = np.ptp(own, axis=0) == 0
    # scikit-learn's limit is a thousandth of this.
    limit = len(own) * EPS * variance + (len(own) * mean * EPS) ** 2
    if (~constant & (variance <= 1000 * limit)).any():
        return None
    return np.asarray((values - mean) / np.sqrt(np.where(constant, 1.0, variance)))


def _vote(
    counts: IntArray,
    squared: FloatArray,
    edge: FloatArray,
    classes: IntArray,
    rounding: FloatArray,
    k: int,
    n_classes: int,
) -> IntArray | None:
    """Let the k nearest samples vote; rows are test samples, columns samples.

    Samples about as far away as the k-th neighbour, at `edge`, could take its place.
    That does not matter if all of them vote, or all of them are of the same class; else
    return None.
    """
    edge = edge[:, None]
    margin = rounding[:, None] + 1e-12 * edge
    nearer = counts * (squared < edge - margin)
    tied = counts * (np.abs(squared - edge) <= margin)
    votes, tied_votes = (
        np.stack([(part * (classes == c)).sum(axis=1) for c in range(n_classes)], 1)
        for part in (nearer, tied)
    )
    n_open = k - votes.sum(axis=1)
    too_many = tied_votes.sum(axis=1) > n_open
    if (too_many & (np.count_nonzero(tied_votes, axis=1) > 1)).any():
        return None
    added = np.minimum(tied_votes, n_open[:, None])
    return (votes + np.where(too_many[:, None], added, tied_votes)).argmax(axis=1)

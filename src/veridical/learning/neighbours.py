"""Nearest neighbours: our own estimator, and scikit-learn's on many training sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from veridical._core.arrays import FloatArray, IntArray
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
    ) -> IntArray | None:
        """Predict on the leading columns, for every number in `ends`, in one pass."""
        found = _nearest(np.ascontiguousarray(X.T), codes, asked, ends, n_classes)
        return None if (found < 0).any() else found

    def _respond_subsets(
        self,
        X: FloatArray,
        codes: IntArray,
        n_classes: int,
        asked: FloatArray,
        subsets: Sequence[IntArray],
        ends: IntArray,
        responses: Sequence[str],
    ) -> list[Outputs] | None:
        """Do the same with probabilities, one result per subset."""
        found = self._predict_subsets(X, codes, n_classes, asked, subsets, ends)
        if found is None:
            return None
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
    """Sort all samples by distance once, then find the nearest of each training set."""
    if len(splits) < 2 or not (
        estimator.weights == "uniform"
        and estimator.metric in ("minkowski", "euclidean")
        and (estimator.metric == "euclidean" or estimator.p == 2)
        and estimator.metric_params is None
    ):
        return None
    if len(table) > _MOST_SAMPLES:
        return None
    values = finite_matrix(table.frame())
    if values is None:
        return None
    estimator._validate_params()
    squared = cdist(values, values, "sqeuclidean")
    order = np.argsort(squared, axis=1, kind="stable")
    # scikit-learn may expand ‖a − b‖², which loses digits of the larger norms.
    norms = np.einsum("ij,ij->i", values, values)
    rounding = 1e-14 * (8 + values.shape[1]) * (norms + norms.max())
    k = int(estimator.n_neighbors)
    predicted: Predicted = []
    for train, test in splits:
        if len(train) < k:  # the loop raises the error
            predicted.append(None)
            continue
        counts = np.bincount(train, minlength=len(values))
        ranked = order[test]
        votes = _vote(
            counts[ranked],
            np.take_along_axis(squared[test], ranked, axis=1),
            table.y[ranked],
            rounding[test],
            k,
            table.n_classes,
        )
        predicted.append(None if votes is None else votes[np.newaxis])
    return predicted


def _vote(
    counts: IntArray,
    squared: FloatArray,
    classes: IntArray,
    rounding: FloatArray,
    k: int,
    n_classes: int,
) -> IntArray | None:
    """Let the k nearest samples vote; rows are test samples, columns sorted samples.

    Samples about as far away as the k-th neighbour could take its place. That does not
    matter if all of them vote, or all of them are of the same class; else return None.
    """
    reached = counts.cumsum(axis=1)
    last = (reached >= k).argmax(axis=1)
    edge = np.take_along_axis(squared, last[:, None], axis=1)
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

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
from veridical._core.splits import Split
from veridical._core.table import Table
from veridical.kernels.neighbours import nearest_classes
from veridical.learning.many import Predicted, on_equal_subsets, register_predict_table
from veridical.learning.reading import finite_matrix, number_by_frequency

#: Squared distances that agree to this are equal.
ROUNDING = 1e-9

#: All distances between this many samples are held at once, not more.
_MOST_SAMPLES = 4000


class NearestNeighbour(ClassifierMixin, BaseEstimator):
    """The class of the nearest training sample; all that are equally near vote.

    With categorical features many training samples are equally near, and taking the
    first of them would let the order of the rows decide. A tied vote goes to the class
    that is more frequent in training.

    Examples
    --------
    >>> from veridical.learning.neighbours import NearestNeighbour
    >>> NearestNeighbour().fit([[0.0], [1.0]], ["no", "yes"]).predict([[0.8]])
    array(['yes'], dtype='<U3')
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Remember the training samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, scaled as the distance should see them.
        y : array-like of shape (n_samples,)
            Class labels.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, self._labels, self._codes = number_by_frequency(y)
        self._samples = np.ascontiguousarray(X.T)
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
        ends = np.array([X.shape[1]])
        (found,) = _nearest(self._samples, self._codes, X, ends, self.classes_.size)
        return self._labels[np.where(found < 0, ~found, found)]

    def _predict_subsets(
        self,
        X: FloatArray,
        codes: IntArray,
        n_classes: int,
        asked: FloatArray,
        subsets: Sequence[IntArray],
        ends: IntArray,
    ) -> IntArray | None:
        """Predict on the first columns, as many as `ends` say, in one pass."""
        found = _nearest(np.ascontiguousarray(X.T), codes, asked, ends, n_classes)
        return None if (found < 0).any() else found


def _nearest(
    samples: FloatArray, codes: IntArray, X: FloatArray, ends: IntArray, n_classes: int
) -> IntArray:
    asked = np.require(X, np.float64, ["C", "W"])
    return nearest_classes(samples, codes, asked, ends, n_classes, ROUNDING)


# -- scikit-learn's ------------------------------------------------------------------


@register_predict_table(KNeighborsClassifier)
@on_equal_subsets
def predict_k_neighbours(
    estimator: Any, table: Table, splits: Sequence[Split]
) -> Predicted | None:
    """Sort the samples by distance once; look up the nearest in each training set."""
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
    slack = 1e-14 * (8 + values.shape[1]) * (norms + norms.max())
    k = int(estimator.n_neighbors)
    predicted: Predicted = []
    for train, test in splits:
        if len(train) < k:  # the loop says so
            predicted.append(None)
            continue
        counts = np.bincount(train, minlength=len(values))
        ranked = order[test]
        votes = _vote(
            counts[ranked],
            np.take_along_axis(squared[test], ranked, axis=1),
            table.y[ranked],
            slack[test],
            k,
            table.n_classes,
        )
        predicted.append(None if votes is None else votes[np.newaxis])
    return predicted


def _vote(
    counts: IntArray,
    squared: FloatArray,
    classes: IntArray,
    slack: FloatArray,
    k: int,
    n_classes: int,
) -> IntArray | None:
    """Vote of the k nearest; rows are test samples, columns samples by distance.

    Those about as far as the k-th neighbour could take its place. That is of no
    consequence if all of them vote, or all of them for the same class; else None.
    """
    reached = counts.cumsum(axis=1)
    last = (reached >= k).argmax(axis=1)
    edge = np.take_along_axis(squared, last[:, None], axis=1)
    margin = slack[:, None] + 1e-12 * edge
    inside = counts * (squared < edge - margin)
    rim = counts * (np.abs(squared - edge) <= margin)
    votes, at_rim = (
        np.stack([(part * (classes == c)).sum(axis=1) for c in range(n_classes)], 1)
        for part in (inside, rim)
    )
    seats = k - votes.sum(axis=1)
    contested = at_rim.sum(axis=1) > seats
    if (contested & (np.count_nonzero(at_rim, axis=1) > 1)).any():
        return None
    filled = np.where(contested[:, None], np.minimum(at_rim, seats[:, None]), at_rim)
    return (votes + filled).argmax(axis=1)

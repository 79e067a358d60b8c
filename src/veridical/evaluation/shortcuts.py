"""Estimators that can be fitted on many training sets for little more than on one.

A shortcut gives the predictions of plain fits, and says of which splits it is not
sure: where rounding could decide (a tie of two classes, of two neighbours), the plain
fit is asked. So the results are the same, and only the time differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.splits import Split, class_counts
from veridical.evaluation.naive import gaussian_nb, mixed_nb
from veridical.learning import NaiveBayes

BoolArray = NDArray[np.bool_]

#: Predicted class numbers per split, and which splits must be fitted plainly.
Found = tuple[list[IntArray], BoolArray]

#: ``shortcut(estimator, X, codes, n_classes, splits)``; None where it cannot serve.
Shortcut = Callable[[Any, Any, IntArray, int, Sequence[Split]], Found | None]

#: All distances between this many cases are held at once, not more.
_MOST_NEIGHBOURS = 4000

_SHORTCUTS: dict[type, Shortcut] = {}


@runtime_checkable
class LeavesOneOut(Protocol):
    """An estimator that predicts each case from all the others by itself.

    ``leave_one_out_predictions(X, y)`` must return what fitting without a case and
    predicting it would, for every case.
    """

    def leave_one_out_predictions(self, X: Any, y: Any) -> Any:
        """Predict the label of every case from the others."""
        ...


def register_shortcut(estimator: type) -> Callable[[Shortcut], Shortcut]:
    """Offer a shortcut for a class of estimators (not for its subclasses).

    Parameters
    ----------
    estimator : type
        The class of the estimator.

    Returns
    -------
    callable
        A decorator for ``shortcut(estimator, X, codes, n_classes, splits)``, which
        returns the predicted class numbers per split and a mask of the splits that
        must be fitted plainly, or None where it cannot serve.
    """

    def register(shortcut: Shortcut) -> Shortcut:
        _SHORTCUTS[estimator] = shortcut
        return shortcut

    return register


def find_shortcut(estimator: Any) -> Shortcut | None:
    """Find the shortcut of an estimator; a subclass may differ, so it has none."""
    return _SHORTCUTS.get(type(estimator))


def leave_one_out_labels(
    estimator: Any, X: Any, y: NDArray[Any], splits: Sequence[Split]
) -> Any:
    """Ask an estimator that leaves one out itself; None if it, or the splits, do not.

    Returns
    -------
    array of shape (n_samples,) or None
        The predicted label of every case.
    """
    n = len(y)
    if not isinstance(estimator, LeavesOneOut):
        return None
    for split in splits:
        if len(split.test) != 1 or split.n_train != n - 1:
            return None
        if not split.leaves_out and not np.array_equal(
            np.sort(split.train), np.delete(np.arange(n), split.test)
        ):
            return None
    return np.asarray(clone(estimator).leave_one_out_predictions(X, y))


# -- majority ------------------------------------------------------------------------


@register_shortcut(DummyClassifier)
def majority(
    estimator: Any, X: Any, codes: IntArray, n_classes: int, splits: Sequence[Split]
) -> Found | None:
    """Count classes, name the most frequent; the first of them where they tie."""
    if estimator.strategy not in ("most_frequent", "prior"):
        return None
    named = class_counts(splits, codes, n_classes).argmax(axis=1)
    predicted = [
        np.full(len(split.test), code)
        for split, code in zip(splits, named, strict=True)
    ]
    return predicted, np.zeros(len(splits), dtype=bool)


# -- nearest neighbours --------------------------------------------------------------


@register_shortcut(KNeighborsClassifier)
def nearest_neighbours(
    estimator: Any, X: Any, codes: IntArray, n_classes: int, splits: Sequence[Split]
) -> Found | None:
    """Sort the cases by distance once; look up the nearest that are in the split."""
    if not (
        estimator.weights == "uniform"
        and estimator.metric in ("minkowski", "euclidean")
        and (estimator.metric == "euclidean" or estimator.p == 2)
        and estimator.metric_params is None
    ):
        return None
    values = float_matrix(X)
    if values is None or len(values) > _MOST_NEIGHBOURS:
        return None
    clone(estimator).fit(X, codes)  # bad parameters are refused as ever
    squared = cdist(values, values, "sqeuclidean")
    order = np.argsort(squared, axis=1, kind="stable")
    # scikit-learn may expand ‖a − b‖², which loses digits of the larger norms.
    norms = np.einsum("ij,ij->i", values, values)
    slack = 1e-14 * (8 + values.shape[1]) * (norms + norms.max())
    k = int(estimator.n_neighbors)
    predicted, doubtful = [], np.zeros(len(splits), dtype=bool)
    for s, (train, test) in enumerate(splits):
        if len(train) < k:
            doubtful[s] = True
            predicted.append(np.empty(0, dtype=np.intp))
            continue
        counts = np.bincount(train, minlength=len(values))
        ranked = order[test]
        votes, unsure = _vote(
            counts[ranked],
            np.take_along_axis(squared[test], ranked, axis=1),
            codes[ranked],
            slack[test],
            k,
            n_classes,
        )
        predicted.append(votes)
        doubtful[s] = unsure
    return predicted, doubtful


def _vote(
    counts: IntArray,
    squared: FloatArray,
    classes: IntArray,
    slack: FloatArray,
    k: int,
    n_classes: int,
) -> tuple[IntArray, bool]:
    """Vote of the k nearest; rows are test cases, columns cases by distance.

    Those about as far as the k-th neighbour could take its place. That is of no
    consequence if all of them vote, or all of them for the same class.
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
    unsure = contested & (np.count_nonzero(at_rim, axis=1) > 1)
    filled = np.where(contested[:, None], np.minimum(at_rim, seats[:, None]), at_rim)
    return (votes + filled).argmax(axis=1), bool(unsure.any())


def float_matrix(X: Any) -> FloatArray | None:
    """Read X as finite numbers in double precision; None where it is anything else."""
    if sparse.issparse(X):
        return None
    try:
        values = np.asarray(X)
    except ValueError:
        return None
    is_number = values.dtype == np.float64 or values.dtype.kind in "iu"
    if values.ndim != 2 or not is_number or not np.isfinite(values).all():
        return None
    return values.astype(np.float64)


# -- naive Bayes ---------------------------------------------------------------------


@register_shortcut(GaussianNB)
def _gaussian(
    estimator: Any, X: Any, codes: IntArray, n_classes: int, splits: Sequence[Split]
) -> Found | None:
    values = float_matrix(X)
    if values is None or estimator.priors is not None:
        return None
    clone(estimator).fit(X, codes)  # bad parameters are refused as ever
    return gaussian_nb(values, codes, n_classes, splits, estimator.var_smoothing)


@register_shortcut(NaiveBayes)
def _mixed(
    estimator: Any, X: Any, codes: IntArray, n_classes: int, splits: Sequence[Split]
) -> Found | None:
    clone(estimator).fit(X, codes)
    return mixed_nb(estimator, X, codes, n_classes, splits)

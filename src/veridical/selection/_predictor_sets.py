"""Measures of nested predictor sets, by Ooi, Chetty and Teng.

References
----------
.. [1] C. H. Ooi, M. Chetty & S. W. Teng, "Differential prioritization between
   relevance and redundancy in correlation-based feature selection techniques for
   multiclass gene expression data", BMC Bioinformatics 7:320 (2006).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_X_y

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical.criteria.anova import variances
from veridical.kernels.ordering import order_by_score
from veridical.kernels.threads import thread_count
from veridical.kernels.trainsets import TrainSets

TIED_WITHIN = 1e-9  # difference of accuracies; with a smaller one they are equal


def size_averaged_accuracy(
    accuracy: ArrayLike, *, rule: Literal["mean", "trapezoid"] = "mean"
) -> Any:
    """Average accuracy over the sizes of nested predictor sets.

    Parameters
    ----------
    accuracy : array-like of shape (..., n_sizes)
        Accuracy at each size, sizes one apart.
    rule : {"mean", "trapezoid"}, default="mean"
        The plain mean, or the area under the curve with half the weight on both ends.

    Returns
    -------
    float or array of shape (...)
        The averages.

    Examples
    --------
    >>> from veridical.selection import size_averaged_accuracy
    >>> size_averaged_accuracy([0.5, 0.75, 1.0])
    0.75
    """
    values = np.asarray(accuracy, dtype=np.float64)
    if values.ndim == 0 or values.shape[-1] == 0:
        raise InputError("accuracy holds no sizes; give one value for each size.")
    if rule not in ("mean", "trapezoid"):
        raise InputError(f"rule={rule!r} is not known; use 'mean' or 'trapezoid'.")
    if rule == "trapezoid" and values.shape[-1] > 1:
        found = np.trapezoid(values, axis=-1) / (values.shape[-1] - 1)
    else:
        found = values.mean(axis=-1)
    return float(found) if np.ndim(found) == 0 else found


def best_alpha(alphas: ArrayLike, accuracy: ArrayLike) -> float:
    """Find the alpha of the highest size-averaged accuracy; tied ones are averaged.

    Parameters
    ----------
    alphas, accuracy : array-like of shape (n_alphas,)
        The exponents tried, and their accuracies; a difference below 1e-9 is a tie.

    Examples
    --------
    >>> from veridical.selection import best_alpha
    >>> best_alpha([0.2, 0.4, 0.6], [0.9, 0.9, 0.8])
    0.3
    """
    tried, found = (np.asarray(v, dtype=np.float64) for v in (alphas, accuracy))
    if tried.shape != found.shape or tried.ndim != 1 or tried.size == 0:
        raise InputError(
            f"alphas has shape {tried.shape} and accuracy {found.shape}; give one "
            "accuracy for each alpha."
        )
    # The mean of 0.2 and 0.4 is 0.3, although in binary it is slightly more.
    return float(np.round(tried[found >= found.max() - TIED_WITHIN].mean(), 12))


def class_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> dict[Any, float]:
    """Compute the share of each class that was predicted correctly, NaN if it is empty.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The classes of the samples.
    y_pred : array-like of shape (n,) or (..., n)
        The predicted classes, perhaps for several sizes; these are averaged.

    Returns
    -------
    dict of class to float
        By class, sorted. Weighted with the shares of the classes the values add up to
        the accuracy.

    Examples
    --------
    >>> from veridical.selection import class_accuracy
    >>> class_accuracy(["a", "a", "b", "b"], ["a", "b", "b", "b"])
    {'a': 0.5, 'b': 1.0}
    """
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    if truth.ndim != 1 or predicted.shape[-1:] != truth.shape:
        raise InputError(
            f"y_true has shape {truth.shape} and y_pred {predicted.shape}; give one "
            "prediction for each sample."
        )
    all_classes = np.unique(np.concatenate([truth, predicted.ravel()]))
    return {
        label.item(): float((predicted[..., truth == label] == label).mean())
        if (truth == label).any()
        else float("nan")
        for label in all_classes
    }


def class_relevance(X: ArrayLike, y: ArrayLike) -> FloatArray:
    """Compute the relevance F(i, k) of every feature to each class against the rest.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers.
    y : array-like of shape (n_samples,)
        Class labels.

    Returns
    -------
    array of shape (n_classes, n_features)
        Ratio of the sums of squares between and within class k and the rest, in the
        sorted order of the classes. Infinite where nothing varies within.
    """
    values, y = check_X_y(X, y, dtype=[np.float64, np.float32])
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size < 2:
        raise InputError("y holds one class only; at least two are needed.")
    numeric = np.zeros(values.shape[1], dtype=bool)
    data = Table.from_arrays(values, numeric, codes.astype(np.intp))
    sets = TrainSets.all_rows(len(codes))
    return variances(data, sets, thread_count(None), against=True).ratio_against()[0]


def count_class_features(
    relevance: FloatArray, selected: ArrayLike, n_top: int | None = None
) -> IntArray:
    """Count the selected features among the most relevant ones of each class.

    Parameters
    ----------
    relevance : array of shape (n_classes, n_features)
        From `class_relevance`, on the data that the features were selected on.
    selected : array-like of int
        A predictor set.
    n_top : int, optional
        Number of most relevant features of a class; by default the number of selected
        features.

    Returns
    -------
    int array of shape (n_classes,)
        Number of selected features among them.

    Examples
    --------
    >>> import numpy as np
    >>> from veridical.selection import count_class_features
    >>> relevance = np.array([[9.0, 7.0, 1.0, 2.0], [1.0, 2.0, 8.0, 9.0]])
    >>> count_class_features(relevance, [0, 1])
    array([2, 0])
    """
    chosen = np.asarray(selected, dtype=np.intp)
    wanted = chosen.size if n_top is None else n_top
    return np.array(
        [np.isin(order_by_score(row)[:wanted], chosen).sum() for row in relevance],
        dtype=np.intp,
    )

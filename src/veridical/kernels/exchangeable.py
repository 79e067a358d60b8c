"""Accuracies of selectors that are equally good, by construction.

The features of a data set are divided into blocks with the same distribution given the
class. The first selector may select from the first block only, the
second from the second, and so on. Whatever is done with the selections, none is better.

| symbol | meaning                                        | shape    |
|--------|------------------------------------------------|----------|
| X      | numbers, one block after the other             | (n, S p) |
| y      | classes 0..n_classes-1                         | (n,)     |
| train  | which samples each split trains on             | (J, n)   |
| test   | which samples each split is tested on          | (J, n)   |
| count  | training samples per class                     | (C,)     |
| mean   | training means per class of the columns chosen | (C, F)   |
| spread | their variances per class                      | (C, F)   |
"""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.compiling import njit

#: Classifiers by number: nearest centroid, naive Bayes, nearest neighbour.
CENTROID, BAYES, NEIGHBOUR = 0, 1, 2


@njit(cache=True, nogil=True)
def select_blocks(
    X: FloatArray,
    y: IntArray,
    n_classes: int,
    train: BoolArray,
    n_selected: int,
    inside: bool,
    n_blocks: int,
) -> IntArray:
    """Select the features of every block for every split.

    Parameters
    ----------
    X, y, n_classes, train : see the table above
        The data set and its training sets.
    n_selected : int
        Features that each selects, those with the largest F statistic.
    inside : bool
        Whether each split selects on its training samples (IN) or selection sees all
        samples once (OUT).
    n_blocks : int
        Number of blocks, and so of selectors.

    Returns
    -------
    int array of shape (n_blocks, J, n_selected)
    """
    n_splits = train.shape[0]
    p = X.shape[1] // n_blocks
    result = np.empty((n_blocks, n_splits, n_selected), dtype=np.intp)
    all_samples = np.ones(X.shape[0], dtype=np.bool_)
    for b in range(n_blocks):
        columns = np.empty(0, dtype=np.intp)
        if not inside:
            columns = _best(X, y, n_classes, all_samples, b * p, p, n_selected)
        for j in range(n_splits):
            if inside:
                columns = _best(X, y, n_classes, train[j], b * p, p, n_selected)
            result[b, j] = columns
    return result


@njit(cache=True, nogil=True)
def block_accuracies(
    X: FloatArray,
    y: IntArray,
    n_classes: int,
    train: BoolArray,
    test: BoolArray,
    columns: IntArray,
    learner: int,
) -> FloatArray:
    """Compute the accuracy of every selector on every split.

    Parameters
    ----------
    X, y, n_classes, train, test : see the table above
        The data set and its splits.
    columns : int array of shape (n_blocks, J, n_selected)
        The selected features, as `select_blocks` returns them.
    learner : int
        CENTROID, BAYES or NEIGHBOUR.

    Returns
    -------
    array of shape (n_blocks, J)
    """
    n_blocks, n_splits, _ = columns.shape
    result = np.empty((n_blocks, n_splits))
    for b in range(n_blocks):
        for j in range(n_splits):
            result[b, j] = _accuracy(
                X, y, n_classes, train[j], test[j], columns[b, j], learner
            )
    return result


@njit(cache=True, nogil=True)
def _best(
    X: FloatArray,
    y: IntArray,
    n_classes: int,
    rows: BoolArray,
    first: int,
    p: int,
    n_selected: int,
) -> IntArray:
    """Choose the features of a block with the largest F statistic; ties by index."""
    scores = np.empty(p)
    count = np.zeros(n_classes)
    sums = np.zeros((n_classes, p))
    squares = np.zeros(p)
    for i in range(X.shape[0]):
        if rows[i]:
            count[y[i]] += 1
            for j in range(p):
                value = X[i, first + j]
                sums[y[i], j] += value
                squares[j] += value * value
    for j in range(p):
        total, between = 0.0, 0.0
        for c in range(n_classes):
            total += sums[c, j]
            between += sums[c, j] ** 2 / count[c]
        centre = total**2 / count.sum()
        # The F statistic grows with the share of the variance between classes.
        scores[j] = (between - centre) / (squares[j] - centre)
    return first + np.argsort(-scores, kind="mergesort")[:n_selected]


@njit(cache=True, nogil=True)
def _accuracy(
    X: FloatArray,
    y: IntArray,
    n_classes: int,
    train: BoolArray,
    test: BoolArray,
    columns: IntArray,
    learner: int,
) -> float:
    """Compute the accuracy of a classifier on the test samples."""
    count = np.zeros(n_classes)
    mean = np.zeros((n_classes, columns.size))
    spread = np.zeros((n_classes, columns.size))
    if learner != NEIGHBOUR:
        _moments(X, y, train, columns, count, mean, spread)
    hits, n_tested = 0, 0
    for i in range(X.shape[0]):
        if test[i]:
            n_tested += 1
            if learner == NEIGHBOUR:
                predicted = _predict_by_neighbour(X, y, train, columns, i)
            else:
                predicted = _predict_by_moments(
                    X[i], columns, count, mean, spread, learner
                )
            hits += predicted == y[i]
    return hits / n_tested


@njit(cache=True, nogil=True)
def _moments(
    X: FloatArray,
    y: IntArray,
    rows: BoolArray,
    columns: IntArray,
    count: FloatArray,
    mean: FloatArray,
    spread: FloatArray,
) -> None:
    """Fill in the number of samples, the means and the variances of each class."""
    for i in range(X.shape[0]):
        if rows[i]:
            count[y[i]] += 1
            for f in range(columns.size):
                mean[y[i], f] += X[i, columns[f]]
    for c in range(count.size):
        mean[c] /= count[c]
    for i in range(X.shape[0]):
        if rows[i]:
            for f in range(columns.size):
                gap = X[i, columns[f]] - mean[y[i], f]
                spread[y[i], f] += gap * gap / count[y[i]]


@njit(cache=True, nogil=True)
def _predict_by_moments(
    sample: FloatArray,
    columns: IntArray,
    count: FloatArray,
    mean: FloatArray,
    spread: FloatArray,
    learner: int,
) -> int:
    """Predict the class with the nearest mean, or with the largest posterior."""
    best, predicted = -np.inf, 0
    for c in range(count.size):
        score = np.log(count[c]) if learner == BAYES else 0.0
        for f in range(columns.size):
            gap = sample[columns[f]] - mean[c, f]
            if learner == BAYES:
                width = spread[c, f] + 1e-9
                score -= 0.5 * (np.log(width) + gap * gap / width)
            else:
                score -= gap * gap
        if score > best:
            best, predicted = score, c
    return predicted


@njit(cache=True, nogil=True)
def _predict_by_neighbour(
    X: FloatArray, y: IntArray, rows: BoolArray, columns: IntArray, sample: int
) -> int:
    """Predict the class of the nearest training sample."""
    least, predicted = np.inf, 0
    for i in range(X.shape[0]):
        if rows[i]:
            distance = 0.0
            for f in range(columns.size):
                gap = X[i, columns[f]] - X[sample, columns[f]]
                distance += gap * gap
            if distance < least:
                least, predicted = distance, y[i]
    return predicted

"""The nearest training sample, for nested sets of features in one pass.

Squared distances over the first k features plus those over the next few are the
distances over all of them, so that nested sets cost no more than the largest.

| symbol | meaning                               | shape  |
|--------|---------------------------------------|--------|
| train  | training samples, one feature per row | (d, n) |
| y      | their classes, numbered               | (n,)   |
| test   | samples to classify                   | (m, d) |
| ends   | sizes of the nested sets, ascending   | (e,)   |
"""

from __future__ import annotations

import numpy as np

from veridical._core.arrays import EPS, FloatArray, IntArray
from veridical._core.compiling import njit


@njit(cache=True, nogil=True)
def _largest(votes: IntArray) -> int:
    best = 0
    for k in range(1, votes.size):
        if votes[k] > votes[best]:
            best = k
    return best


@njit(cache=True, nogil=True)
def nearest_classes(
    train: FloatArray,
    y: IntArray,
    test: FloatArray,
    ends: IntArray,
    n_classes: int,
    tolerance: float,
) -> IntArray:
    """Predict the class of the nearest samples, all within a tolerance of the nearest.

    A tied vote goes to the class with the smallest number.

    Returns
    -------
    int array of shape (e, m)
        ``~class`` where a distance is so near the tolerance that rounding decides
        whether a sample votes.
    """
    n, m = train.shape[1], test.shape[0]
    result = np.empty((ends.size, m), dtype=np.intp)
    distance = np.empty(n)
    votes = np.empty(n_classes, dtype=np.intp)
    for i in range(m):
        distance[:] = 0.0
        begin = 0
        for e in range(ends.size):
            for j in range(begin, ends[e]):
                value, column = test[i, j], train[j]
                for t in range(n):
                    gap = column[t] - value
                    distance[t] += gap * gap
            begin = ends[e]
            reach = distance.min() + tolerance
            rounding = 8.0 * EPS * (ends[e] + 4) * reach
            votes[:] = 0
            doubtful = False
            for t in range(n):
                if distance[t] <= reach:
                    votes[y[t]] += 1
                doubtful |= abs(distance[t] - reach) <= rounding
            winner = _largest(votes)
            result[e, i] = ~winner if doubtful else winner
    return result

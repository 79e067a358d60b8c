"""Pairwise machines of scikit-learn, asked along the graph in the plainest way."""

from itertools import combinations

import numpy as np
from sklearn.svm import SVC


class RoundingError(Exception):
    """libsvm took a multiplier for free that rounding keeps from its bound.

    Its constant is then an end of the interval that is optimal, not the middle.
    """


def pairwise_decisions(X, y, samples, *, strict=False, **parameters):
    """Train an SVC on each pair of classes alone; positive is for the first.

    If strict, a multiplier that rounding keeps from 0 is an error too.
    """
    classes = np.unique(y)
    decisions = {}
    for a, b in combinations(range(len(classes)), 2):
        pair = np.isin(y, classes[[a, b]])
        machine = SVC(**{"kernel": "linear", "tol": 1e-10, **parameters})
        machine.fit(X[pair], y[pair])
        multiplier = np.abs(machine.dual_coef_)
        off = machine.C - multiplier
        if ((off > 0) & (off < 1e-9 * machine.C)).any():
            raise RoundingError
        if strict and (multiplier < 1e-9 * multiplier.max()).any():
            raise RoundingError
        # With two classes scikit-learn's decision is positive for the second.
        decisions[a, b] = -machine.decision_function(samples)
    return classes, decisions


def predict(X, y, samples, **parameters):
    """Delete the loser of first against last from a list until one class is left.

    Returns labels, and how many machines were asked for each sample.
    """
    classes, decisions = pairwise_decisions(X, y, samples, **parameters)
    labels, asked = [], []
    for sample in range(len(samples)):
        candidates = list(range(len(classes)))
        n_asked = 0
        while len(candidates) > 1:
            value = decisions[candidates[0], candidates[-1]][sample]
            n_asked += 1
            candidates.pop(-1 if value >= 0 else 0)
        labels.append(classes[candidates[0]])
        asked.append(n_asked)
    return np.array(labels), asked

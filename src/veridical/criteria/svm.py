"""Worth of features in a linear support vector machine, as features are dropped."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from veridical._records import FloatArray, IntArray, Labelled
from veridical.kernels.columns import cross_products, gram
from veridical.kernels.svm import solve_dual

COMPACT = 0.9  # copy the columns still there when they are less than this share


class SVMWeights:
    """Squared weights of one-vs-one linear SVMs over a shrinking set of features.

    The machines live in the dual: dropping a feature takes its products off the Gram
    matrix, the multipliers start from their last values, and the weights are updated
    by the change of the multipliers alone.

    Parameters
    ----------
    data : Labelled
        All the data.
    counts : array of shape (n,)
        How often each case counts; its multipliers are bounded by C times that.
    C : float
        Cost of an error.
    """

    def __init__(self, data: Labelled, counts: FloatArray, C: float) -> None:
        rows = np.flatnonzero(counts)
        everyone = rows.size == counts.size
        self._X: Any = data.values if everyone else data.values[rows]
        y, bound = data.y[rows], C * counts[rows]
        self._columns = np.arange(data.values.shape[1])
        self._present = np.ones(self._columns.size, dtype=bool)
        self._G = gram(self._X)
        self._machines = []
        for first, second in combinations(np.unique(y), 2):
            cases = np.flatnonzero((y == first) | (y == second))
            sign = np.where(y[cases] == first, 1.0, -1.0)
            self._machines.append((cases, sign, bound[cases]))
        self.noise = 0.0
        self._multipliers = [np.zeros(cases.size) for cases, _, _ in self._machines]
        self._weights = [np.zeros(self._columns.size) for _ in self._machines]

    def scores(self, kept: IntArray) -> FloatArray:
        """Return Σ over the machines of w² for the features still there."""
        self._drop_all_but(kept)
        total = np.zeros(kept.size)
        self.noise = 0.0
        here = np.searchsorted(self._columns, kept)
        for k, (cases, sign, bound) in enumerate(self._machines):
            G = self._G[np.ix_(cases, cases)]
            a = solve_dual(G, sign, bound, self._multipliers[k])
            change = np.zeros(self._X.shape[0])
            change[cases] = sign * (a - self._multipliers[k])
            self._multipliers[k] = a
            self._weights[k] += cross_products(self._X, change)
            total += self._weights[k][here] ** 2
            # No weight can be larger than this; what is tiny beside it is nothing.
            self.noise += (1e-9 * float(a @ np.sqrt(np.maximum(np.diag(G), 0.0)))) ** 2
        return total

    def _drop_all_but(self, kept: IntArray) -> None:
        if kept.size == self._columns.size:
            return
        here = np.searchsorted(self._columns, kept)
        if kept.size < COMPACT * self._columns.size:
            # Columns are copied and everything is summed anew, which also wipes out
            # the rounding that updates leave behind.
            self._X = self._X[:, here]
            self._columns = kept
            self._present = np.ones(kept.size, dtype=bool)
            self._G = gram(self._X)
            for k, (cases, sign, _) in enumerate(self._machines):
                signed = np.zeros(self._X.shape[0])
                signed[cases] = sign * self._multipliers[k]
                self._weights[k] = cross_products(self._X, signed)
            return
        present = np.zeros(self._columns.size, dtype=bool)
        present[here] = True
        lost = self._X[:, np.flatnonzero(self._present & ~present)]
        lost = lost.toarray() if sparse.issparse(lost) else lost.astype(np.float64)
        self._G -= lost @ lost.T
        self._present = present

"""Weights of features in a linear support vector machine, as features are dropped."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from veridical._core.advice import for_users
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical.kernels.columns import column_norms, cross_products, gram, row_products
from veridical.kernels.duality import measure_svm
from veridical.kernels.svm import solve_svm
from veridical.kernels.svm_exact import add_features, exact_gram

#: Share of the features stored that are still there; below it they are copied and all
#: products are summed again.
COPY_SHARE = 0.9
#: Trace of the Gram matrix as a share of that after the last sum; below it products are
#: summed again, because the rounding errors of the dropped ones are no longer small.
RESUM_SHARE = 1e-3
#: Rounding error of a weight, as a share of the largest weight a feature could have.
WEIGHT_ROUNDING = 1e-11


class SVMWeights:
    """Squared weights of one-vs-one linear SVMs over a shrinking set of features.

    They are solved in the dual: dropping a feature subtracts its products from the Gram
    matrix, the multipliers start from their last values, and the weights are updated
    by the change of the multipliers alone.

    Parameters
    ----------
    data : Table
        All the data.
    counts : array of shape (n,)
        How often each sample counts; its multipliers are bounded by C times that.
    C : float
        Cost of an error.

    Attributes
    ----------
    noise : array
        Bound of the rounding error of each of the last scores.
    spread : float
        Largest norm of a feature divided by the smallest that is not zero.
    gap : float
        Largest relative duality gap of the first support vector machines.
    """

    _G: FloatArray
    _norms: FloatArray
    _trace: float
    _exact_gram: FloatArray | None

    def __init__(self, data: Table, counts: FloatArray, C: float) -> None:
        rows = np.flatnonzero(counts)
        all_rows = rows.size == counts.size
        self._X: Any = data.values if all_rows else data.values[rows]
        y, bound = data.y[rows], C * counts[rows]
        self._features = np.arange(data.values.shape[1])
        self._present = np.ones(self._features.size, dtype=bool)
        self._sum_products()
        if not np.isfinite(self._trace):
            raise InputError(
                "The inner products of the rows of X overflow. Put the features on one "
                "scale first, "
                f"{for_users('as StandardScaler does', 'with --scale standard')}."
            )
        positive = self._norms[self._norms > 0]
        self.spread = float(positive.max() / positive.min()) if positive.size else 1.0
        self._problems = []
        for first, second in combinations(np.unique(y), 2):
            members = np.flatnonzero((y == first) | (y == second))
            sign = np.where(y[members] == first, 1.0, -1.0)
            self._problems.append((members, sign, bound[members]))
        self.noise, self.gap = np.zeros(0), -1.0
        self._multipliers = [np.zeros(members.size) for members, _, _ in self._problems]
        self._weights = [np.zeros(self._features.size) for _ in self._problems]

    def scores(self, kept: IntArray) -> FloatArray:
        """Return Σ w² over the pairs of classes, for the features still there."""
        self._keep_only(kept)
        total, self.noise = np.zeros(kept.size), np.zeros(kept.size)
        here = np.searchsorted(self._features, kept)
        for k, (members, sign, bound) in enumerate(self._problems):
            G = self._G[np.ix_(members, members)]
            exact = partial(self._exact_gram_of, members)
            a = solve_svm(G, sign, bound, self._multipliers[k], exact=exact).a
            change = np.zeros(self._X.shape[0])
            change[members] = sign * (a - self._multipliers[k])
            self._multipliers[k] = a
            self._weights[k] += cross_products(self._X, change)
            weight = self._weights[k][here]
            total += weight**2
            # No weight is larger than the norm of the multipliers times that of the
            # feature; a tiny share of it is rounding.
            error = WEIGHT_ROUNDING * float(np.linalg.norm(a)) * self._norms[here]
            self.noise += (2.0 * np.abs(weight) + error) * error
        if self.gap < 0:
            self.gap = self._measure_gap()
        return total

    def _exact_gram_of(self, members: IntArray) -> FloatArray:
        """Return the inner products of some samples, as high and low parts."""
        if self._exact_gram is None:
            self._exact_gram = exact_gram(self._X[:, np.flatnonzero(self._present)])
        return np.ascontiguousarray(self._exact_gram[:, members[:, None], members])

    def _measure_gap(self) -> float:
        """Return the largest relative duality gap of the support vector machines.

        Decisions are summed from the features, not from the products of the samples, in
        which small features are lost beside large ones.
        """
        largest = 0.0
        for a, w, (members, sign, bound) in zip(
            self._multipliers, self._weights, self._problems, strict=True
        ):
            bias_at_margin = sign - row_products(self._X, w)[members]
            half = 0.5 * float(w @ w)
            _, _, gap = measure_svm(half, bias_at_margin, sign, a, bound)
            largest = max(largest, gap)
        return largest

    def _keep_only(self, kept: IntArray) -> None:
        if kept.size == self._features.size:
            return
        here = np.searchsorted(self._features, kept)
        if kept.size < COPY_SHARE * self._features.size:
            self._recompute(kept, here)
            return
        present = np.zeros(self._features.size, dtype=bool)
        present[here] = True
        dropped = np.flatnonzero(self._present & ~present)
        if self._exact_gram is None:
            columns = self._X[:, dropped]
            columns = (
                columns.toarray()
                if sparse.issparse(columns)
                else columns.astype(np.float64)
            )
            self._G -= columns @ columns.T
        else:
            add_features(self._X[:, dropped], -1.0, self._exact_gram)
            self._G = self._exact_gram[0].copy()
        self._present = present
        if np.trace(self._G) < RESUM_SHARE * self._trace:
            self._recompute(kept, here)

    def _recompute(self, kept: IntArray, here: IntArray) -> None:
        """Copy the features and sum all products again, without old rounding errors."""
        self._X = self._X[:, here]
        self._features = kept
        self._present = np.ones(kept.size, dtype=bool)
        self._sum_products()
        for k, (members, sign, _) in enumerate(self._problems):
            signed = np.zeros(self._X.shape[0])
            signed[members] = sign * self._multipliers[k]
            self._weights[k] = cross_products(self._X, signed)

    def _sum_products(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            self._G = gram(self._X)
            self._norms = column_norms(self._X)
        self._trace = float(np.trace(self._G))
        self._exact_gram = None  # computed when it is needed

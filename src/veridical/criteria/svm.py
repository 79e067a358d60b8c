"""Worth of features in a linear support vector machine, as features are dropped."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.table import Table
from veridical.kernels.columns import (
    column_block,
    column_lengths,
    cross_products,
    gram,
    row_products,
)
from veridical.kernels.duality import bias_of, disagreement
from veridical.kernels.svm import solve_dual
from veridical.kernels.svm_exact import add_products, settle_exactly

COMPACT = 0.9  # copy the columns still there when they are less than this share
FAINT = 1e-3  # or when their products are: rounding of larger ones would be in them
SURE = 1e-9  # margins known no better than this are computed in twice the precision
BLOCK = 64  # columns whose products are summed together in twice the precision
NOISE = 1e-11  # share of the largest weight a column could have that means nothing


class SVMWeights:
    """Squared weights of one-vs-one linear SVMs over a shrinking set of features.

    The machines live in the dual: dropping a feature takes its products off the Gram
    matrix, the multipliers start from their last values, and the weights are updated
    by the change of the multipliers alone.

    Parameters
    ----------
    data : Table
        All the data.
    counts : array of shape (n,)
        How often each case counts; its multipliers are bounded by C times that.
    C : float
        Cost of an error.

    Attributes
    ----------
    noise : array
        How far rounding can put each of the scores asked for last.
    spread : float
        Longest column beside the shortest that is not zero.
    gap : float
        How far the first machines are from optimal, beside their optimum.
    """

    _G: FloatArray
    _lengths: FloatArray
    _size: float
    _pairs: FloatArray | None

    def __init__(self, data: Table, counts: FloatArray, C: float) -> None:
        rows = np.flatnonzero(counts)
        everyone = rows.size == counts.size
        self._X: Any = data.values if everyone else data.values[rows]
        y, bound = data.y[rows], C * counts[rows]
        self._columns = np.arange(data.values.shape[1])
        self._present = np.ones(self._columns.size, dtype=bool)
        self._sum_products()
        if not np.isfinite(self._size):
            raise InputError(
                "The inner products of the rows of X overflow. Put the columns of X on "
                "one scale first, as StandardScaler does."
            )
        known = self._lengths[self._lengths > 0]
        self.spread = float(known.max() / known.min()) if known.size else 1.0
        self._machines = []
        for first, second in combinations(np.unique(y), 2):
            cases = np.flatnonzero((y == first) | (y == second))
            sign = np.where(y[cases] == first, 1.0, -1.0)
            self._machines.append((cases, sign, bound[cases]))
        self.noise, self.gap = np.zeros(0), -1.0
        self._multipliers = [np.zeros(cases.size) for cases, _, _ in self._machines]
        self._weights = [np.zeros(self._columns.size) for _ in self._machines]

    def scores(self, kept: IntArray) -> FloatArray:
        """Return Σ over the machines of w² for the features still there."""
        self._drop_all_but(kept)
        total, self.noise = np.zeros(kept.size), np.zeros(kept.size)
        here = np.searchsorted(self._columns, kept)
        for k, (cases, sign, bound) in enumerate(self._machines):
            G = self._G[np.ix_(cases, cases)]
            a = solve_dual(G, sign, bound, self._multipliers[k])
            if disagreement(G, sign, bound, a) > SURE:
                a, _ = settle_exactly(self._pairs_of(cases), sign, bound, a)
            change = np.zeros(self._X.shape[0])
            change[cases] = sign * (a - self._multipliers[k])
            self._multipliers[k] = a
            self._weights[k] += cross_products(self._X, change)
            weight = self._weights[k][here]
            total += weight**2
            # No weight can be larger than multipliers times column; what is tiny
            # beside that is nothing.
            off = NOISE * float(np.linalg.norm(a)) * self._lengths[here]
            self.noise += (2.0 * np.abs(weight) + off) * off
        if self.gap < 0:
            self.gap = self._measure_gap()
        return total

    def _pairs_of(self, cases: IntArray) -> FloatArray:
        """Inner products of some cases, in high and low parts."""
        if self._pairs is None:
            n = self._X.shape[0]
            self._pairs = np.zeros((2, n, n))
            self._add_pairs(self._pairs, np.flatnonzero(self._present), 1.0)
        return np.ascontiguousarray(self._pairs[:, cases[:, None], cases])

    def _add_pairs(self, pairs: FloatArray, columns: IntArray, sign: float) -> None:
        for lo in range(0, columns.size, BLOCK):
            few = self._X[:, columns[lo : lo + BLOCK]]
            add_products(column_block(few, 0, few.shape[1]), sign, pairs)

    def _measure_gap(self) -> float:
        """Find the largest duality gap of the machines, beside the optimum.

        Decisions are summed from the columns, not from the products of the cases, in
        which large columns hide small ones.
        """
        largest = 0.0
        for a, w, (cases, sign, bound) in zip(
            self._multipliers, self._weights, self._machines, strict=True
        ):
            margin = row_products(self._X, w)[cases]
            half = 0.5 * float(w @ w)
            dual = float(a.sum()) - half
            bias = bias_of(sign - margin, sign, a, bound)
            loss = float(bound @ np.maximum(1.0 - sign * (margin + bias), 0.0))
            largest = max(largest, abs(half + loss - dual) / max(dual, 1e-300))
        return largest

    def _drop_all_but(self, kept: IntArray) -> None:
        if kept.size == self._columns.size:
            return
        here = np.searchsorted(self._columns, kept)
        if kept.size < COMPACT * self._columns.size:
            self._start_anew(kept, here)
            return
        present = np.zeros(self._columns.size, dtype=bool)
        present[here] = True
        gone = np.flatnonzero(self._present & ~present)
        if self._pairs is None:
            lost = self._X[:, gone]
            lost = lost.toarray() if sparse.issparse(lost) else lost.astype(np.float64)
            self._G -= lost @ lost.T
        else:
            self._add_pairs(self._pairs, gone, -1.0)
            self._G = self._pairs[0].copy()
        self._present = present
        if np.trace(self._G) < FAINT * self._size:
            self._start_anew(kept, here)

    def _start_anew(self, kept: IntArray, here: IntArray) -> None:
        """Copy the columns and sum everything again, without old rounding."""
        self._X = self._X[:, here]
        self._columns = kept
        self._present = np.ones(kept.size, dtype=bool)
        self._sum_products()
        for k, (cases, sign, _) in enumerate(self._machines):
            signed = np.zeros(self._X.shape[0])
            signed[cases] = sign * self._multipliers[k]
            self._weights[k] = cross_products(self._X, signed)

    def _sum_products(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            self._G = gram(self._X)
            self._lengths = column_lengths(self._X)
        self._size = float(np.trace(self._G))
        self._pairs = None  # computed where they are needed

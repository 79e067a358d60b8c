"""Redundancy by correlation: how much does every feature repeat a given one?"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from veridical._records import FloatArray, Labelled
from veridical.kernels.columns import column_block, cross_products
from veridical.kernels.correlation import add_similarity, correct_product
from veridical.kernels.trainsets import TrainSets

# A column whose spread in a set is this much smaller than in all rows (an outlier was
# left out) would lose digits if its products were corrected: they are taken anew.
FRAGILE = 0.03


class CorrelationRedundancy:
    """Absolute Pearson correlations in many training sets.

    Products of a column with all others are taken over all rows once and serve every
    training set, which corrects them for the rows it lacks.

    Parameters
    ----------
    data : Labelled
        The data; labels are not used.
    sets : TrainSets
        The training sets.
    spread : array of shape (S, p)
        Total sum of squares of each column in each set (0 for a constant).
    floor : float
        Correlations below this count as this.
    """

    def __init__(
        self,
        data: Labelled,
        sets: TrainSets,
        spread: FloatArray,
        *,
        floor: float = 0.0,
    ) -> None:
        self._X, self._sets, self._floor = data.values, sets, floor
        n = data.values.shape[0]
        self._mean = np.asarray(data.values.mean(axis=0, dtype=np.float64)).ravel()
        self._norm = np.ones(spread.shape[1])
        self._Z: Any = data.values
        self._standardized = not sparse.issparse(self._X) and self._X.dtype == float
        if self._standardized:
            self._Z = np.subtract(self._X, self._mean, order="C")
            norm = np.sqrt(np.einsum("ij,ij->j", self._Z, self._Z))
            self._norm = np.where(norm > 0, norm, 1.0)
            self._Z /= self._norm
        self._sums = np.stack([cross_products(self._Z, w) for w in sets.counts])
        self._weight = sets.counts.sum(axis=1)
        # Scaled like Z, so that constants drop out and nothing overflows.
        scaled = np.sqrt(spread) / self._norm
        with np.errstate(divide="ignore"):
            self._inverse = np.where(scaled > 0, 1.0 / scaled, 0.0)
        whole = self._whole_norm(n)
        fragile = (scaled > 0) & (scaled < FRAGILE * whole)
        self._fragile = [np.flatnonzero(row) for row in fragile]
        self._rows = [
            np.flatnonzero(w != base)
            for w, base in zip(sets.counts, sets.whole, strict=True)
        ]
        self._products: dict[int, FloatArray] = {}
        self._capacity = max(16, n // 2)  # products kept: half the size of X

    def prepare(self, columns: set[int]) -> None:
        """Take the products of these columns with all others, all in one go."""
        new = sorted(columns - self._products.keys())
        if not new:
            return
        if len(self._products) + len(new) > self._capacity:
            self._products.clear()
            new = sorted(columns)
        if len(new) == 1:
            self._products[new[0]] = cross_products(self._Z, self._column(new[0]))
            return
        centred = np.column_stack([self._column(j) for j in new])
        if self._standardized:
            for j, product in zip(new, (centred.T @ self._Z), strict=True):
                self._products[j] = product
        else:
            for j, column in zip(new, centred.T, strict=True):
                self._products[j] = cross_products(self._Z, column)

    def add_to(self, similarity: FloatArray, s: int, j: int) -> None:
        """Add to `similarity` the correlations of all columns with column `j`."""
        weight, fragile = self._sets.counts[s], self._fragile[s]
        column = self._alone(s, j) if j in fragile else self._column(j)
        mean = float(weight @ column) / self._weight[s]
        if not self._sets.whole[s] or j in fragile:
            product = cross_products(self._Z, weight * (column - mean))
        else:
            rows = self._rows[s]
            force = (weight[rows] - 1.0) * column[rows]
            product = np.empty(similarity.size)
            if sparse.issparse(self._Z):
                product = self._products[j] - mean * self._sums[s]
                product += self._Z[rows].T @ force
            else:
                correct_product(
                    self._Z,
                    self._products[j],
                    rows,
                    force,
                    self._sums[s],
                    mean,
                    product,
                )
        if fragile.size:
            here = weight * self._alone(s, j)
            product[fragile] = [here @ self._alone(s, int(k)) for k in fragile]
        add_similarity(product, self._inverse[s], j, self._floor, similarity)

    def _column(self, j: int) -> FloatArray:
        """Column `j` on the scale of Z, centred over all rows."""
        if self._standardized:
            return np.ascontiguousarray(self._Z[:, j])
        return column_block(self._Z, j, j + 1)[0] - self._mean[j]

    def _whole_norm(self, n: int) -> FloatArray:
        """Norm of every centred column over all rows, on the scale of Z."""
        if self._standardized:
            return np.ones(self._Z.shape[1])
        Z = self._Z
        square = Z.multiply(Z).sum(axis=0) if sparse.issparse(Z) else None
        if square is None:
            square = np.einsum("ij,ij->j", Z, Z, dtype=np.float64)
        return np.sqrt(np.maximum(np.asarray(square).ravel() - n * self._mean**2, 0.0))

    def _alone(self, s: int, j: int) -> FloatArray:
        """Column `j` on the scale of Z, centred over the rows of set `s` alone."""
        weight = self._sets.counts[s]
        x = column_block(self._X, j, j + 1)[0] / self._norm[j]
        x[weight == 0] = 0.0
        return np.where(weight > 0, x - (weight @ x) / weight.sum(), 0.0)

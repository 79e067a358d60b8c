"""Many training sets over the same rows, as row multiplicities.

A training set is how often each row occurs in it: 0 or 1 for a fold, 0, 1, 2, … for a
bootstrap sample, and any number where samples have weights. Statistics that are sums
over rows are taken over all rows once; each training set then needs only the rows in
which it *differs* from all rows (or from none, if that is less work). For ten folds
that is one more pass over the data, for leave-one-out as well, whatever the number of
sets.

| symbol | meaning                                          | shape          |
|--------|--------------------------------------------------|----------------|
| counts | how often row i occurs in set s                  | (S, n)         |
| whole  | set s starts from the sum over all rows          | (S,) bool      |
| start  | row i's changes are ``start[i]:start[i + 1]``    | (n + 1,)       |
| where  | which set a change belongs to                    | (n_changes,)   |
| change | what to add to the multiplicity of that row      | (n_changes,)   |
| indices| the rows of each set in the order they were given | S arrays       |
| weights| weight of row i in every set, None if it is 1     | (n,) or None   |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray

#: Of two complementary sets at most one row of this many is in neither.
MOST_IN_NEITHER = 8


@dataclass(frozen=True)
class TrainSets:
    """Row multiplicities of many training sets, with the changes against all rows."""

    counts: FloatArray
    whole: NDArray[np.bool_]
    start: IntArray
    where: IntArray
    change: FloatArray
    indices: tuple[IntArray, ...]
    weights: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.counts)

    @classmethod
    def from_counts(
        cls,
        counts: FloatArray,
        indices: Sequence[IntArray] = (),
        weights: FloatArray | None = None,
    ) -> TrainSets:
        """Build from multiplicities (or sample weights) of shape (S, n)."""
        counts = np.atleast_2d(np.asarray(counts, dtype=np.float64))
        n_rows = counts.shape[1]
        whole = np.count_nonzero(counts != 1, axis=1) < np.count_nonzero(counts, axis=1)
        changes = counts.T - whole
        rows, where = np.nonzero(changes)
        start = np.zeros(n_rows + 1, dtype=np.intp)
        np.cumsum(np.bincount(rows, minlength=n_rows), out=start[1:])
        change = changes[rows, where]
        # Contiguous arrays only: kernels are compiled for each layout.
        where = np.ascontiguousarray(where)
        return cls(counts, whole, start, where, change, tuple(indices), weights)

    @classmethod
    def from_indices(
        cls,
        train_sets: Sequence[IntArray],
        n_rows: int,
        weights: FloatArray | None = None,
    ) -> TrainSets:
        """Build from index arrays, repeats counted; each row counts by its weight."""
        counts = np.stack(
            [np.bincount(rows, minlength=n_rows) for rows in train_sets]
        ).astype(np.float64)
        if weights is not None:
            counts *= weights
        return cls.from_counts(counts, train_sets, weights)

    @classmethod
    def all_rows(cls, n_rows: int, weights: FloatArray | None = None) -> TrainSets:
        """Build the one set that holds every row once."""
        return cls.from_indices([np.arange(n_rows)], n_rows, weights)

    def copies(self, s: int) -> IntArray:
        """Return the rows of set `s`, each as often as its whole weight says."""
        rows = self.indices[s]
        if self.weights is None:
            return rows
        return np.repeat(rows, self.weights[rows].astype(np.intp))

    def class_counts(self, y: IntArray, n_classes: int) -> FloatArray:
        """Compute the weight of each class in each set, shape (S, K)."""
        member = y[:, None] == np.arange(n_classes)
        return self.counts @ member

    def complements(self) -> tuple[IntArray, IntArray, NDArray[np.bool_]]:
        """Divide the sets into some to sum, and some whose sums are what these leave.

        Returns
        -------
        firsts : int array of shape (H,)
            The sets to sum.
        seconds : int array of shape (H,)
            For each of them the next set, if both are disjoint and few rows are in
            neither, as for the halves of a pair; −1 otherwise.
        neither : array of shape (H, n)
            The rows that are in neither; none where there is no second set.
        """
        n_sets, n = self.counts.shape
        full = np.ones(n) if self.weights is None else self.weights
        first, second = self.counts[: n_sets - 1 : 2], self.counts[1::2]
        both = first + second
        neither = (both == 0) & (full > 0)
        paired = (first * second == 0).all(axis=1)
        paired &= ((both == full) | neither).all(axis=1)
        paired &= np.count_nonzero(neither, axis=1) <= n // MOST_IN_NEITHER
        starts = 2 * np.flatnonzero(paired)
        firsts = np.setdiff1d(np.arange(n_sets), starts + 1)
        seconds = np.full(firsts.size, -1, dtype=np.intp)
        rows = np.zeros((firsts.size, n), dtype=np.bool_)
        places = np.searchsorted(firsts, starts)
        seconds[places], rows[places] = starts + 1, neither[paired]
        return firsts, seconds, rows

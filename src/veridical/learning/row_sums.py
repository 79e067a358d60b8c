"""Sums over the samples of many training sets: of all samples once, then corrected.

The sums of a training set are those of all samples minus those of the samples it lacks
(or the sums of its own samples, if those are fewer). Class means are subtracted from
the features first, so that few digits are lost; a bound of the loss is computed too.

======  ===========================================================  ===============
symbol  meaning                                                      shape
======  ===========================================================  ===============
S, K    number of training sets, of classes
change  what to add to the multiplicities of the samples             (S, n) sparse
whole   whether a set starts from all samples or from none           (S,)
size    samples of each class in each set                            (S, K)
weight  those whose value is known                                   (S, K, p)
mean    their mean                                                   (S, K, p)
var     their variance                                               (S, K, p)
======  ===========================================================  ===============
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from veridical._core.arrays import EPS, FloatArray, IntArray
from veridical._core.splits import Split


@dataclass(frozen=True, eq=False)
class RowSums:
    """Sums over the samples of many training sets."""

    change: Any
    whole: FloatArray

    @classmethod
    def over(cls, splits: Sequence[Split], n_rows: int) -> RowSums:
        """Find which samples each training set adds to none, or removes from all."""
        whole = np.zeros(len(splits))
        rows, changes, starts = [], [], [0]
        minus = np.full(n_rows, -1.0)
        for s, split in enumerate(splits):
            if split.leaves_out and 2 * len(split.test) < n_rows:
                whole[s], differs = 1.0, split.test
                changes.append(minus[: len(differs)])
            else:
                counts = np.bincount(split.train, minlength=n_rows)
                differs = np.flatnonzero(counts)
                changes.append(counts[differs].astype(np.float64))
            rows.append(differs)
            starts.append(starts[-1] + differs.size)
        change = sparse.csr_array(
            (np.concatenate(changes), np.concatenate(rows), np.array(starts)),
            shape=(len(splits), n_rows),
        )
        return cls(change, whole)

    def total(self, values: FloatArray) -> FloatArray:
        """Sum the rows of a matrix over every training set, shape (S, p)."""
        return np.outer(self.whole, values.sum(axis=0)) + self.change @ values

    def by_class(
        self, values: FloatArray, codes: IntArray, n_classes: int
    ) -> FloatArray:
        """Sum the rows of each class over every training set, shape (S, K, p)."""
        sums = [
            self.total(values * (codes == k)[:, np.newaxis]) for k in range(n_classes)
        ]
        return np.stack(sums, axis=1)


@dataclass(frozen=True, eq=False)
class Moments:
    """Class sizes, means and raw variances of numeric features per training set."""

    size: FloatArray
    weight: FloatArray
    mean: FloatArray
    var: FloatArray
    mean_error: FloatArray
    var_error: FloatArray


@np.errstate(over="ignore", invalid="ignore")  # checked where variances are used
def class_moments(
    values: FloatArray, codes: IntArray, n_classes: int, sums: RowSums
) -> Moments:
    """Compute the moments of numeric features in every training set.

    Parameters
    ----------
    values : array of shape (n_samples, n_features)
        The features; NaN is missing.
    codes : int array of shape (n_samples,)
        The classes.
    n_classes : int
        Number of classes.
    sums : RowSums
        The training sets.
    """
    n, p = values.shape
    n_sets = len(sums.whole)
    known = ~np.isnan(values)
    size = sums.total((codes[:, None] == np.arange(n_classes)).astype(float))
    weight, mean, var, mean_error, var_error = (
        np.zeros((n_sets, n_classes, p)) for _ in range(5)
    )
    rounding = 4 * n * EPS
    largest = np.where(known, np.abs(values), 0.0).max(axis=0, initial=0.0)
    for k in range(n_classes):
        mine = known & (codes == k)[:, None]
        n_known = mine.sum(axis=0)
        centre = np.where(mine, values, 0.0).sum(axis=0) / np.maximum(n_known, 1)
        shifted = np.where(mine, values - centre, 0.0)
        weight[:, k] = sums.total(mine.astype(float))
        first, second = sums.total(shifted), sums.total(shifted**2)
        w = np.maximum(weight[:, k], 1.0)
        offset = first / w
        mean[:, k] = centre + offset
        var[:, k] = np.maximum(second / w - offset**2, 0.0)
        # How much the sums, and a plain fit's own, may be off by rounding.
        scale = (shifted**2).sum(axis=0) + np.abs(second)
        ratio = np.sqrt(np.maximum(n_known / w, 1.0))
        mean_error[:, k] = rounding * (ratio * np.sqrt(scale / w) + largest)
        var_error[:, k] = rounding * scale / w * (1 + 2 * ratio)
    return Moments(size, weight, mean, var, mean_error, var_error)

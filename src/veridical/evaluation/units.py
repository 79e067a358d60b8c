"""How much groups, weights and repeated tests are worth, in independent samples.

======  ========================================================================
symbol  meaning
======  ========================================================================
w_i     weight of test sample i, 1 without weights
h_i     1 if it was predicted correctly, its mean over repeats
a       accuracy, Σ w_i h_i / Σ w_i
m       number of units: groups, or samples where there are no groups
e_g     Σ w_i (h_i − a) over the samples of unit g
======  ========================================================================

The variance of a is m/(m − 1) Σ e_g² / (Σ w_i)², from the spread between units alone:
nothing is assumed of samples within one. The effective number of samples is that of
independent samples with the same variance, a (1 − a) / n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.records import Setting
from veridical._core.splits import Split
from veridical._core.table import Table


class Spread(NamedTuple):
    """Number of units, and of the independent samples that they are worth."""

    n_units: int
    n_effective: float

    @classmethod
    def from_hits(
        cls, table: Table, splits: Sequence[Split], hits: Sequence[Any] | None
    ) -> Spread:
        """Compute the spread of an accuracy; without hits, count the units only.

        Parameters
        ----------
        table : Table
            The samples, with groups or weights.
        splits : sequence of Split
            All splits.
        hits : sequence of bool arrays, or None
            For every split, which test samples were predicted correctly.
        """
        rows = np.concatenate([split.test for split in splits])
        times = np.bincount(rows, minlength=table.n_samples)
        weights = np.ones(len(times)) if table.weights is None else table.weights
        tested = (times > 0) & (weights > 0)
        units = np.arange(len(times)) if table.groups is None else table.groups
        units = np.unique(units[tested], return_inverse=True)[1]
        weights = weights[tested]
        n_units = int(units.max()) + 1
        if hits is None:
            return cls(n_units, 0.0)
        found = np.bincount(rows, np.concatenate(hits), minlength=len(times))
        means = found[tested] / times[tested]
        return cls(n_units, count_effective(means, units, weights))

    @classmethod
    def from_part(
        cls,
        table: Table,
        splits: Sequence[Split],
        part: Sequence[Any],
        hits: Sequence[Any],
    ) -> Spread:
        """Compute the spread of a share over a part of the test samples.

        Parameters
        ----------
        table, splits
            As in `from_hits`.
        part : sequence of bool arrays
            For every split, which test samples are in the part.
        hits : sequence of bool arrays
            For every split, which test samples count.

        Returns
        -------
        Spread
            Zeros where each test sample is a unit and is tested once, and where the
            part has no sample with a weight.
        """
        rows = np.concatenate(
            [split.test[own] for split, own in zip(splits, part, strict=True)]
        )
        samples = table.groups is None and table.weights is None
        if table.weights is not None:
            rows = rows[table.weights[rows] > 0]
        if not rows.size or (samples and len(np.unique(rows)) == len(rows)):
            return cls(0, 0.0)
        parts = [
            Split(split.test[own], split.n_rows)
            for split, own in zip(splits, part, strict=True)
        ]
        chosen = [one[own] for one, own in zip(hits, part, strict=True)]
        return cls.from_hits(table, parts, chosen)


def count_effective(hits: FloatArray, units: IntArray, weights: FloatArray) -> float:
    """Count the independent samples whose accuracy would vary as much.

    Parameters
    ----------
    hits : array of shape (n,)
        Share of right predictions of each sample.
    units : int array of shape (n,)
        The unit of each sample, from 0 on.
    weights : array of shape (n,)
        Positive.

    Returns
    -------
    float
        Between the numbers of equal units, and of equal samples, that vary as much as
        units and samples of such weights; the former where all hits are the same, so
        that there is no spread.

    Examples
    --------
    Four samples of two groups that are predicted alike are worth two:

    >>> units = np.array([0, 0, 1, 1])
    >>> count_effective(np.array([1.0, 1.0, 0.0, 0.0]), units, np.ones(4))
    2.0
    """
    total = weights.sum()
    of_units: FloatArray = np.bincount(units, weights).astype(np.float64)
    fewest, most = _kish(of_units), _kish(weights)
    accuracy = float(hits @ weights / total)
    n_units = len(of_units)
    if n_units < 2 or not 0 < accuracy < 1:
        return fewest
    variance = variance_of_mean(hits, units, weights)
    if variance <= 0:
        return most
    return float(np.clip(accuracy * (1 - accuracy) / variance, fewest, most))


def variance_of_mean(values: FloatArray, units: IntArray, weights: FloatArray) -> float:
    """Compute the variance of a weighted mean from the spread between units.

    Parameters
    ----------
    values, weights : array of shape (n,)
        The values and their weights.
    units : int array of shape (n,)
        The unit of each value.

    Returns
    -------
    float
        NaN with fewer than two units of positive weight.

    Examples
    --------
    >>> values = np.array([1.0, 0.0, 0.0, 1.0, 1.0])
    >>> found = variance_of_mean(values, np.arange(5), np.ones(5))
    >>> round(found, 12)  # values.var(ddof=1) / 5
    0.06
    """
    heavy = weights > 0
    values, weights = values[heavy], weights[heavy]
    place = np.unique(units[heavy], return_inverse=True)[1]
    n_units = int(place.max(initial=-1)) + 1
    if n_units < 2:
        return math.nan
    total = weights.sum()
    spread = np.bincount(place, weights * (values - values @ weights / total))
    return float(n_units / (n_units - 1) * (spread @ spread) / total**2)


def _kish(weights: FloatArray) -> float:
    """Return the number of equal weights that vary as much as these."""
    return float(weights.sum() ** 2 / (weights @ weights))


def describe_weights(table: Table) -> dict[str, Setting]:
    """Say in the settings of a record that samples are weighted, where they are."""
    if table.weights is None:
        return {}
    return {
        "smallest sample weight": float(table.weights.min()),
        "largest sample weight": float(table.weights.max()),
    }

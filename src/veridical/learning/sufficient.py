"""Sums over a table of numbers and names: all that naive Bayes keeps of the data.

======  ======================================================  ====================
symbol  meaning                                                 shape
======  ======================================================  ====================
weight  weight of the cases whose value is known                (K, numeric columns)
mean    their mean                                              (K, numeric columns)
spread  their sum of squared deviations from it                 (K, numeric columns)
counts  weight of the cases with each value of a nominal one    (K, values), a list
======  ======================================================  ====================

K is the number of classes. The sums of two batches add up to those of both together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.encoding import Features
from veridical._core.errors import InputError

ZERO_COUNTS = ("0.5/n", "laplace")
_TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Sums:
    """What is kept of the data; see the notation on top of the module."""

    class_weight: FloatArray
    weight: FloatArray
    mean: FloatArray
    spread: FloatArray
    counts: list[FloatArray]
    categories: list[NDArray[Any]]

    @classmethod
    def of(
        cls, table: Features, y: IntArray, sample_weight: FloatArray, n_classes: int
    ) -> Sums:
        """Sum over one batch."""
        numbers = table.values[:, ~table.categorical]
        origin = _first_known(numbers)
        weight, mean, spread = (
            np.zeros((n_classes, numbers.shape[1])) for _ in range(3)
        )
        categories = [values for values in table.categories if values is not None]
        sizes = [len(values) for values in categories]
        places = positions(table.values[:, table.categorical], sizes)
        totals = np.zeros((n_classes, sum(sizes) + 1))
        for k in range(n_classes):
            rows = y == k
            w = sample_weight[rows]
            weight[k], mean[k], spread[k] = _moments(numbers[rows], w, origin)
            totals[k] = np.bincount(
                places[rows].ravel(),
                weights=np.repeat(w, places.shape[1]),
                minlength=totals.shape[1],
            )
        counts = np.split(totals, np.cumsum(sizes), axis=1)[:-1]
        class_weight = np.bincount(y, weights=sample_weight, minlength=n_classes)
        return cls(
            class_weight.astype(np.float64), weight, mean, spread, counts, categories
        )

    def merge(self, other: Sums) -> Sums:
        """Add the sums of another batch (Chan, Golub and LeVeque's update)."""
        total = self.weight + other.weight
        share = other.weight / np.maximum(total, _TINY)
        step = other.mean - self.mean
        grown = [
            _add_counts(*pair)
            for pair in zip(
                self.categories,
                self.counts,
                other.categories,
                other.counts,
                strict=True,
            )
        ]
        return Sums(
            self.class_weight + other.class_weight,
            total,
            self.mean + share * step,
            self.spread + other.spread + step**2 * self.weight * share,
            [counts for _, counts in grown],
            [values for values, _ in grown],
        )


def _first_known(values: NDArray[Any]) -> NDArray[Any]:
    """Take the first known value of each column, or 0 where there is none.

    Sums are taken of differences from it: they lose fewer digits, and those of a
    constant column are exactly 0.
    """
    known = ~np.isnan(values)
    first = values[known.argmax(axis=0), np.arange(values.shape[1])]
    return np.where(known.any(axis=0), first, 0.0)


def _moments(
    values: NDArray[Any], weights: FloatArray, origin: NDArray[Any]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weight, mean and sum of squared deviations per column, over what is known."""
    known = ~np.isnan(values)
    weight = weights @ known
    shifted = np.where(known, values.astype(np.float64) - origin, 0.0)
    mean = (weights @ shifted) / np.maximum(weight, _TINY)
    deviation = np.where(known, shifted - mean, 0.0)
    with np.errstate(over="ignore"):  # refused later, in words
        return weight, mean + origin, weights @ deviation**2


def positions(codes: NDArray[Any], sizes: list[int]) -> IntArray:
    """Place codes on one line, column after column; what is missing goes to its end."""
    starts = np.cumsum([0, *sizes])
    return np.where(np.isnan(codes), starts[-1], codes + starts[:-1]).astype(np.intp)


def _add_counts(
    values: NDArray[Any],
    counts: FloatArray,
    other_values: NDArray[Any],
    other_counts: FloatArray,
) -> tuple[NDArray[Any], FloatArray]:
    """Add counts value by value; values seen for the first time go last."""
    places = pd.Index(values).get_indexer(pd.Index(other_values))
    new = places < 0
    places[new] = len(values) + np.arange(new.sum())
    merged = np.zeros((len(counts), len(values) + int(new.sum())))
    merged[:, : len(values)] = counts
    merged[:, places] += other_counts
    return np.append(values, other_values[new]), merged


# -- from sums to distributions ------------------------------------------------------


def gaussians(sums: Sums, min_std: float) -> tuple[FloatArray, FloatArray]:
    """Mean and variance per class and numeric column."""
    weight = sums.weight
    total = np.maximum(weight.sum(axis=0), _TINY)  # 0 / tiny is 0: no value, no sum
    with np.errstate(over="ignore", invalid="ignore"):
        origin = sums.mean[(weight > 0).argmax(axis=0), np.arange(weight.shape[1])]
        overall = origin + (weight * (sums.mean - origin)).sum(axis=0) / total
        between = weight * (sums.mean - overall) ** 2
        overall_variance = (sums.spread + between).sum(axis=0) / total
    if not np.isfinite(overall_variance).all():
        raise InputError(
            "Some numbers in X are too large to be squared; divide their column by a "
            "large constant."
        )
    seen = weight > 0
    mean = np.where(seen, sums.mean, overall)
    variance = np.divide(
        sums.spread, weight, out=np.tile(overall_variance, (len(weight), 1)), where=seen
    )
    return mean, np.maximum(variance, min_std**2 * overall_variance)


def log_frequencies(sums: Sums, zero_counts: str) -> list[FloatArray]:
    """Log-probability of every value of every nominal column, per class."""
    if zero_counts == "laplace":
        return [
            np.log((c + 1) / (c + 1).sum(axis=1, keepdims=True)) for c in sums.counts
        ]
    least = 0.5 / sums.class_weight.sum()
    result = []
    for counts in sums.counts:
        known = counts.sum(axis=1, keepdims=True)
        everywhere = counts.sum(axis=0, keepdims=True)
        counts = np.where(known > 0, counts, everywhere)
        known = np.maximum(counts.sum(axis=1, keepdims=True), _TINY)
        result.append(np.log(np.where(counts > 0, counts / known, least)))
    return result

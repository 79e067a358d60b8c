"""Sums per class, and the distributions that naive Bayes derives from them.

======  ======================================================  ====================
symbol  meaning                                                 shape
======  ======================================================  ====================
weight  weight of the samples whose value is known              (…, K, numeric)
mean    their mean                                              (…, K, numeric)
spread  their sum of squared deviations from it                 (…, K, numeric)
counts  weight of the samples with each category of a feature   (…, K, categories)
======  ======================================================  ====================

K is the number of classes; axes in front of it are training sets, where there are
several. The sums of two batches add up to those of both together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.encoding import Features

ZERO_COUNTS = ("0.5/n", "laplace")
_TINY = np.finfo(float).tiny
#: Numbers in a temporary array; a larger one would not stay in the cache.
_CHUNK = 1 << 15
#: Standardised value; larger ones are clipped, because their squares would overflow.
_FAR = 1e150
#: Relative difference of log-probabilities; below it they are equal.
DENSITY_ROUNDING = 1e-9


def normalize_logs(joint: FloatArray) -> FloatArray:
    """Return log-probabilities of the classes, on the last axis, from joint ones.

    It is scipy's ``logsumexp`` without its many checks, which take longer than the sum.

    Examples
    --------
    >>> np.exp(normalize_logs(np.log([[0.2, 0.6], [0.0, 1.0]]))).round(12).tolist()
    [[0.25, 0.75], [0.0, 1.0]]
    """
    top = joint.max(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(
            joint - (top + np.log(np.exp(joint - top).sum(axis=-1, keepdims=True)))
        )


@dataclass(frozen=True)
class ClassSums:
    """Sums over the training samples; see the notation on top of the module."""

    class_weight: FloatArray
    weight: FloatArray
    mean: FloatArray
    spread: FloatArray
    counts: list[FloatArray]
    categories: list[NDArray[Any]]
    n_samples: int
    first: FloatArray

    @classmethod
    def from_features(
        cls, table: Features, y: IntArray, sample_weight: FloatArray, n_classes: int
    ) -> ClassSums:
        """Sum over the samples of one batch."""
        numbers = table.values[:, ~table.categorical]
        origin = _first_known(numbers)
        weight, mean, spread = (
            np.zeros((n_classes, numbers.shape[1])) for _ in range(3)
        )
        categories = [values for values in table.categories if values is not None]
        codes = table.values[:, table.categorical]
        for k in range(n_classes):
            rows = y == k
            weight[k], mean[k], spread[k] = _moments(
                numbers[rows], sample_weight[rows], origin
            )
        counts = _count_categories(codes, categories, y, sample_weight, n_classes)
        class_weight = np.bincount(y, weights=sample_weight, minlength=n_classes)
        first = np.full(n_classes, np.inf)
        np.minimum.at(first, y, np.arange(len(y)))
        return cls(
            class_weight.astype(np.float64),
            weight,
            mean,
            spread,
            counts,
            categories,
            len(y),
            first,
        )

    @property
    def by_frequency(self) -> IntArray:
        """Classes by decreasing frequency, then in order of occurrence."""
        return np.lexsort((self.first, -self.class_weight))

    def merge(self, other: ClassSums) -> ClassSums:
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
        return ClassSums(
            self.class_weight + other.class_weight,
            total,
            self.mean + share * step,
            self.spread + other.spread + step**2 * self.weight * share,
            [counts for _, counts in grown],
            [values for values, _ in grown],
            self.n_samples + other.n_samples,
            np.minimum(self.first, self.n_samples + other.first),
        )


def _count_categories(
    codes: NDArray[Any],
    categories: list[NDArray[Any]],
    y: IntArray,
    sample_weight: FloatArray,
    n_classes: int,
) -> list[FloatArray]:
    """Count the categories of every feature, each of shape (K, categories)."""
    if not categories:
        return []
    sizes = [len(values) for values in categories]
    places = positions(codes, sizes)
    width = sum(sizes) + 1  # the last place is for missing values
    totals: FloatArray = np.bincount(
        (places + width * y[:, np.newaxis]).ravel(),
        weights=np.repeat(sample_weight, len(sizes)),
        minlength=n_classes * width,
    ).astype(np.float64, copy=False)
    return np.split(totals.reshape(n_classes, width), np.cumsum(sizes), axis=1)[:-1]


def _first_known(values: NDArray[Any]) -> NDArray[Any]:
    """Return the first known value of each feature, or 0 where there is none.

    It is subtracted before summing: fewer digits are lost, and the sums of a constant
    feature are exactly 0.
    """
    known = ~np.isnan(values)
    first = values[known.argmax(axis=0), np.arange(values.shape[1])]
    return np.where(known.any(axis=0), first, 0.0)


def _moments(
    values: NDArray[Any], weights: FloatArray, origin: NDArray[Any]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute weight, mean and sum of squared deviations of the known values."""
    known = ~np.isnan(values)
    missing = None if known.all() else ~known
    weight = weights @ known
    shifted = values.astype(np.float64, copy=False) - origin
    if missing is not None:
        shifted[missing] = 0.0
    mean = (weights @ shifted) / np.maximum(weight, _TINY)
    deviation = shifted - mean
    if missing is not None:
        deviation[missing] = 0.0
    with np.errstate(over="ignore"):  # the estimator raises an error later
        return weight, mean + origin, weights @ deviation**2


def positions(codes: NDArray[Any], sizes: list[int]) -> IntArray:
    """Return the place of each category among all; the last is for missing values."""
    starts = np.cumsum([0, *sizes])
    return np.where(np.isnan(codes), starts[-1], codes + starts[:-1]).astype(np.intp)


def _add_counts(
    categories: NDArray[Any],
    counts: FloatArray,
    other_categories: NDArray[Any],
    other_counts: FloatArray,
) -> tuple[NDArray[Any], FloatArray]:
    """Add counts category by category; new categories are appended."""
    n = len(categories)
    places = pd.Index(categories).get_indexer(pd.Index(other_categories))
    new = places < 0
    places[new] = n + np.arange(new.sum())
    merged = np.zeros((len(counts), n + int(new.sum())))
    merged[:, :n] = counts
    merged[:, places] += other_counts
    return np.append(categories, other_categories[new]), merged


# -- from sums to distributions ------------------------------------------------------


def pool(
    weight: FloatArray, mean: FloatArray, spread: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Compute mean and variance of numeric features over all classes.

    The mean of a class is subtracted first, so that a large common part costs no
    digits. The variance is not finite where numbers are too large to be squared.
    """
    total = np.maximum(weight.sum(axis=-2), _TINY)  # 0 / tiny is 0
    with np.errstate(over="ignore", invalid="ignore"):
        origin = mean[..., :1, :]
        if not np.all(weight[..., 0, :]):
            there = (weight > 0).argmax(axis=-2)[..., np.newaxis, :]
            origin = np.take_along_axis(mean, there, axis=-2)
        overall = origin[..., 0, :] + (weight * (mean - origin)).sum(axis=-2) / total
        between = weight * (mean - overall[..., np.newaxis, :]) ** 2
        return overall, (spread + between).sum(axis=-2) / total


def gaussians(
    weight: FloatArray, mean: FloatArray, spread: FloatArray, min_std: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute mean and variance of numeric features per class, for naive Bayes.

    A class without a known value takes the mean and variance over all classes.

    Returns
    -------
    mean, variance : arrays of shape (…, K, numeric)
        Of each class.
    overall : array of shape (…, numeric)
        Variance over all classes; not finite where numbers are too large to be squared.
    """
    overall_mean, overall = pool(weight, mean, spread)
    seen = weight > 0
    if not seen.all():
        mean = np.where(seen, mean, overall_mean[..., np.newaxis, :])
    least = min_std**2 * overall[..., np.newaxis, :]
    with np.errstate(over="ignore", invalid="ignore"):
        variance = spread / np.where(seen, weight, 1.0)
        if not seen.all():
            variance = np.where(seen, variance, overall[..., np.newaxis, :])
        return mean, np.maximum(variance, least), overall


@dataclass(frozen=True, eq=False)
class NormalDensities:
    """Normal densities of numeric features per class, ready to be evaluated.

    Parameters
    ----------
    mean, scale, constant : arrays of shape (…, K, numeric)
        Mean, 1 over the standard deviation, and log(√(2π) standard deviation). The last
        two are 0 for a feature that is left out.
    """

    mean: FloatArray
    scale: FloatArray
    constant: FloatArray

    @classmethod
    def from_moments(
        cls, mean: FloatArray, variance: FloatArray, used: Any = True
    ) -> NormalDensities:
        """Make densities from means and variances; `used` marks features that count."""
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.sqrt(np.where(used, variance, 1.0))
            constant = np.log(np.sqrt(2 * np.pi) * deviation)
            return cls(
                mean,
                np.where(used, 1 / deviation, 0.0),
                np.where(used, constant, 0.0),
            )

    def log_density(
        self, values: FloatArray, known: Any, sets: Any, ends: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Sum the log-densities of the leading features of some samples.

        Parameters
        ----------
        values : array of shape (n, numeric)
            Samples; a missing value may be any number but NaN.
        known : array of shape (n, numeric) or None
            Which values are known, 1 or 0; None if all are.
        sets : index
            The training set of each sample; ``...`` where there is one for all, and no
            axis for it.
        ends : int array
            Numbers of leading features.

        Returns
        -------
        distance, volume : arrays of shape (n, K, n_ends)
            The log-density is ``-(distance / 2 + volume)``. Without missing values
            `volume` has no axis for samples that share a training set.
        """
        z = values[:, np.newaxis] - self.mean[sets]
        z *= self.scale[sets]
        constant = self.constant[sets]
        if known is not None:
            z *= known[:, np.newaxis]
            constant = constant * known[:, np.newaxis]
        with np.errstate(over="ignore"):
            distance = _squares_at(z, ends)
        if not np.isfinite(distance).all():
            far = ~np.isfinite(distance).all(axis=-1)
            z[far] = np.clip(z[far], -_FAR, _FAR)
            distance = _squares_at(z, ends)
        return distance, sum_at(constant, ends)


def in_chunks(n: int, numbers_each: int) -> Iterator[slice]:
    """Divide samples into parts whose temporary arrays stay in the cache."""
    step = max(1, _CHUNK // max(numbers_each, 1))
    for start in range(0, n, step):
        yield slice(start, start + step)


def _squares_at(z: FloatArray, ends: IntArray) -> FloatArray:
    """Sum the leading squares of each row, for every number of them in `ends`."""
    if ends.size == 1 and ends[0] == z.shape[-1]:
        return np.einsum("ikj,ikj->ik", z, z)[..., np.newaxis]
    return sum_at(z * z, ends)


def sum_at(terms: FloatArray, ends: IntArray) -> FloatArray:
    """Sum the leading entries of each row, for every number of them in `ends`."""
    if ends.size == 1:
        return terms[..., : ends[0]].sum(axis=-1, keepdims=True)
    sums = np.cumsum(terms, axis=-1)
    if not ends.size or not ends[0]:
        zero = np.zeros((*terms.shape[:-1], 1))
        return np.concatenate([zero, sums], axis=-1)[..., ends]
    return sums[..., ends - 1]


def log_frequencies(
    counts: FloatArray, n: Any, zero_counts: str, exists: Any = True
) -> FloatArray:
    """Compute the log-probability of every category of a feature, per class.

    Parameters
    ----------
    counts : array of shape (…, K, categories)
        See the notation on top of the module.
    n : float or array of shape (…, 1, 1)
        Weight of the training samples.
    zero_counts : {"0.5/n", "laplace"}
        See :class:`NaiveBayes`.
    exists : bool or bool array of shape (…, 1, categories)
        Which categories occur in the training set; the others get 0.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if zero_counts == "laplace":
            n_values = np.broadcast_to(exists, counts.shape).sum(axis=-1, keepdims=True)
            share = (counts + 1) / (counts.sum(axis=-1, keepdims=True) + n_values)
        else:
            known = counts.sum(axis=-1, keepdims=True)
            everywhere = counts.sum(axis=-2, keepdims=True)
            counts = np.where(known > 0, counts, everywhere)
            known = np.maximum(counts.sum(axis=-1, keepdims=True), _TINY)
            share = np.where(counts > 0, counts / known, 0.5 / n)
        return np.where(exists, np.log(share), 0.0)


def most_probable(joint: FloatArray, rank: IntArray) -> IntArray:
    """Return the class with the largest value; of equal ones the first in `rank`.

    Parameters
    ----------
    joint : array of shape (n, K)
        Logarithms of joint probabilities.
    rank : int array of shape (K,)
        Classes in the order in which they win ties.
    """
    ordered = joint[:, rank]
    top = ordered.max(axis=1, keepdims=True)
    return rank[(ordered >= top - tie_width(top)).argmax(axis=1)]


def tie_width(top: FloatArray) -> FloatArray:
    """Return the difference of log-probabilities that rounding alone can cause."""
    return DENSITY_ROUNDING * np.maximum(1.0, np.abs(top))

"""Relevance by kernel dependence: the Hilbert–Schmidt independence criterion.

References
----------
.. [1] L. Song, A. Smola, A. Gretton, J. Bedo & K. Borgwardt, "Feature selection via
   dependence maximization", JMLR 13 (2012).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.devices import device_values, to_host
from veridical._core.table import Table
from veridical.criteria.hsic_on_device import OnDevice
from veridical.kernels.columns import map_blocks
from veridical.kernels.hsic import gaussian_scores, unbiased_criterion
from veridical.kernels.threads import run_jobs, spans
from veridical.kernels.trainsets import TrainSets


class LabelledRows:
    """The different samples of a training set, with their numbers and label vectors.

    Parameters
    ----------
    data : Table
        All the data.
    counts : array of shape (n_samples,)
        How often each sample occurs in the training set.

    Attributes
    ----------
    rows : int array of shape (n_rows,)
        The samples that occur.
    counts : array of shape (n_rows,)
        How often.
    size : float
        Number of samples, m.
    psi : array of shape (n_rows, n_classes)
        A vector per sample: 1/m_k for its class k, 1/(m_k − m) for the others. So
        classes have the same weight whatever their size [1]_. For a target of numbers
        the standardised number, shape (n_rows, 1).
    gaussian : bool
        Whether the kernel of the target is ``exp(−½ ‖psi − psi'‖²)``, rather than the
        inner product of these vectors.
    """

    def __init__(self, data: Table, counts: FloatArray, kernel: str = "linear") -> None:
        self.rows = np.flatnonzero(counts)
        self.counts = counts[self.rows]
        self.size = float(self.counts.sum())
        self._once = bool((self.counts == 1).all())
        self.gaussian = data.kind == "numbers" and kernel == "rbf"
        if data.kind == "numbers":
            self.psi = self.to_unit_variance(data.as_numbers.values[None]).T
            return
        y = data.y[self.rows]
        size = np.bincount(y, self.counts, minlength=data.n_classes)
        present = np.flatnonzero(size)
        own = y[:, None] == present
        self.psi = np.where(own, 1.0 / size[present], 1.0 / (size[present] - self.size))

    def moved(self, upload: Callable[[Any], Any]) -> LabelledRows:
        """Return the same with its arrays where features are, such as on a GPU."""
        there = copy(self)
        there.rows, there.counts = upload(self.rows), upload(self.counts)
        there.psi = upload(self.psi)
        return there

    def sums(self, block: FloatArray) -> FloatArray:
        """Return the sum of each row of a block over the samples, shape (B, 1)."""
        counted: FloatArray = block if self._once else block * self.counts
        return counted.sum(axis=1, keepdims=True)

    def kernel(self, psi: FloatArray | None = None) -> FloatArray:
        """Return the kernel of the target between all samples, or of some vectors."""
        psi = self.psi if psi is None else psi
        if self.gaussian:
            return np.exp(-0.5 * (psi - psi.T) ** 2)
        return psi @ psi.T

    def scale(self) -> float:
        """Compute the criterion of a kernel that equals the absolute label kernel.

        Terms of either sign cancel in the criterion; a tiny share of this is rounding.
        """
        m = self.size
        vectors, place = np.unique(self.psi, axis=0, return_inverse=True)
        size = np.bincount(place.ravel(), self.counts)
        L = np.abs(self.kernel(vectors))
        return float((size @ L @ size - size @ np.diag(L)) / (m * (m - 3)))

    def to_unit_variance(self, block: FloatArray) -> FloatArray:
        """Take these samples of a block of features, with mean 0 and variance 1.

        Constants become 0.
        """
        block = block.take(self.rows, axis=1)
        centred = block - self.sums(block) / self.size
        spread = np.sqrt(self.sums(centred**2) / self.size)
        noise = 1e-14 * np.abs(block).max(axis=1, keepdims=True)
        return centred / np.where(spread > noise, spread, np.inf)


def _linear_scores(Z: FloatArray, labels: LabelledRows) -> FloatArray:
    """Compute unbiased HSIC of a linear kernel on each row of `Z`.

    It takes no m × m matrix. Sums are computed row by row: with BLAS rounding would
    depend on the shape of the block, and so on the number of threads.
    """
    m, counts, psi = labels.size, labels.counts, labels.psi
    counted = counts[:, None] * psi
    own = (psi**2).sum(axis=1)
    row = psi @ counted.sum(axis=0) - own
    square = Z**2
    product = np.einsum("jm,mk->jk", Z, counted)
    trace = (product**2).sum(axis=1) - np.einsum("jm,m->j", square, counts * own)
    whole = -labels.sums(square)[:, 0]  # standardised columns sum to zero
    mixed = -np.einsum("jm,m->j", square, counts * row)
    all_labels = (counts * row).sum()
    return unbiased_criterion.py_func(trace, whole, mixed, all_labels, m)


class FeatureMemory(Protocol):
    """Where features are: in the memory of the processor, or of a GPU."""

    def move(self, labels: LabelledRows) -> LabelledRows:
        """Return the samples of a training set with their arrays in this memory."""

    def map_blocks(self, work: Callable[[int, int, Any], None]) -> None:
        """Call ``work(lo, hi, block)`` for all features, with features as rows."""

    def gaussian_scores(
        self, Z: Any, labels: LabelledRows, D: Any | None, gamma: float, L: Any
    ) -> Any:
        """Compute HSIC of a Gaussian kernel on each feature, or on all others.

        Parameters
        ----------
        Z : array of shape (B, n_rows)
            Standardised features.
        labels : LabelledRows
            The samples.
        D : array of shape (n_rows, n_rows) or None
            Squared distances over all features; None for each feature by itself.
        gamma : float
            The kernel is ``exp(-gamma * squared distance)``.
        L : array of shape (n_rows, n_rows)
            Label kernel.
        """


@dataclass(frozen=True, eq=False)
class OnProcessor:
    """Features in the memory of the processor; see `FeatureMemory`."""

    values: Any
    n_threads: int

    def move(self, labels: LabelledRows) -> LabelledRows:
        """Return the samples as they are."""
        return labels

    def map_blocks(self, work: Callable[[int, int, Any], None]) -> None:
        """Call ``work(lo, hi, block)`` for all features, in threads."""
        map_blocks(work, self.values, self.n_threads)

    def gaussian_scores(
        self, Z: Any, labels: LabelledRows, D: Any | None, gamma: float, L: Any
    ) -> FloatArray:
        """Compute the criterion of every row of `Z`; see `FeatureMemory`."""
        direction = 1.0 if D is None else -1.0
        D = np.zeros_like(L) if D is None else D
        out = np.empty(len(Z))
        gaussian_scores(Z, labels.counts, D, direction, gamma, L, out)
        return out


def place_of(data: Table, n_threads: int) -> FeatureMemory:
    """Return where the features of a table are."""
    there = device_values(data.values)
    if there is None:
        return OnProcessor(data.values, n_threads)
    return OnDevice(data.values, there)


@dataclass(frozen=True)
class HSICRelevance:
    """Unbiased HSIC between each standardised feature and the target.

    Parameters
    ----------
    kernel : {"linear", "rbf"}
        Kernel on the feature, and on a target of numbers; the Gaussian one has
        ``gamma = 1/2``.
    """

    kernel: str = "linear"

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return the criterion, larger for more dependence."""
        result = np.empty((len(sets), data.values.shape[1]))
        place = place_of(data, n_threads)
        labels = [
            place.move(LabelledRows(data, counts, self.kernel))
            for counts in sets.counts
        ]
        L = [one.kernel() for one in labels] if self.kernel == "rbf" else []

        def work(lo: int, hi: int, block: Any) -> None:
            for s, one in enumerate(labels):
                Z = one.to_unit_variance(block)
                if self.kernel == "linear":
                    found = _linear_scores(Z, one)
                else:
                    found = place.gaussian_scores(Z, one, None, 0.5, L[s])
                result[s, lo:hi] = to_host(found)

        place.map_blocks(work)
        return result


class GaussianWithout:
    """HSIC of a Gaussian kernel on a set of features with one of them left out.

    The width follows the number of features, ``gamma = 1 / (2 d)``.
    """

    def __init__(self, data: Table, labels: LabelledRows, n_threads: int) -> None:
        self._place = place_of(data, n_threads)
        self._labels = self._place.move(labels)
        self._L = self._labels.kernel()
        self._n_threads = n_threads
        self._kept = np.arange(data.values.shape[1])
        shape = self._kept.size, labels.rows.size
        self._Z = np.empty_like(self._L, shape=shape)

        def work(lo: int, hi: int, block: Any) -> None:
            self._Z[lo:hi] = self._labels.to_unit_variance(block)

        self._place.map_blocks(work)

    def scores(self, kept: IntArray) -> FloatArray:
        """Return for each kept feature the dependence of the others on the class.

        Features once left out cannot come back.
        """
        if kept.size < self._kept.size:
            self._Z = self._Z[np.searchsorted(self._kept, kept)]
            self._kept = kept
        Z = self._Z
        square = (Z**2).sum(axis=0)
        D = np.maximum(square[:, None] + square - 2.0 * (Z.T @ Z), 0.0)
        gamma = 0.5 / max(len(kept) - 1, 1)
        out = np.empty(len(kept))

        def work(lo: int, hi: int) -> None:
            found = self._place.gaussian_scores(
                Z[lo:hi], self._labels, D, gamma, self._L
            )
            out[lo:hi] = to_host(found)

        run_jobs(work, spans(len(kept), 4 * self._n_threads), self._n_threads)
        return out

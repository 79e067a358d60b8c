"""Relevance by kernel dependence: the Hilbert–Schmidt independence criterion.

References
----------
.. [1] L. Song, A. Smola, A. Gretton, J. Bedo & K. Borgwardt, "Feature selection via
   dependence maximization", JMLR 13 (2012).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.table import Table
from veridical.kernels.columns import map_blocks
from veridical.kernels.hsic import gaussian_scores
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

    def sums(self, block: FloatArray) -> FloatArray:
        """Return the sum of each row of a block over the samples, shape (B, 1)."""
        counted = block if self._once else block * self.counts
        return np.asarray(counted.sum(axis=1, keepdims=True))

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
    return (
        trace + whole * all_labels / ((m - 1) * (m - 2)) - 2.0 * mixed / (m - 2)
    ) / (m * (m - 3))


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
        labels = [LabelledRows(data, counts, self.kernel) for counts in sets.counts]
        L = [one.kernel() for one in labels] if self.kernel == "rbf" else []

        def work(lo: int, hi: int, block: FloatArray) -> None:
            for s, one in enumerate(labels):
                Z = one.to_unit_variance(block)
                if self.kernel == "linear":
                    result[s, lo:hi] = _linear_scores(Z, one)
                else:
                    zero = np.zeros((one.rows.size, one.rows.size))
                    out = np.empty(hi - lo)
                    gaussian_scores(Z, one.counts, zero, 1.0, 0.5, L[s], out)
                    result[s, lo:hi] = out

        map_blocks(work, data.values, n_threads)
        return result


class GaussianWithout:
    """HSIC of a Gaussian kernel on a set of features with one of them left out.

    The width follows the number of features, ``gamma = 1 / (2 d)``.
    """

    def __init__(self, data: Table, labels: LabelledRows, n_threads: int) -> None:
        self._L = labels.kernel()
        self._counts = labels.counts
        n_features = data.values.shape[1]
        self._Z = np.empty((n_features, labels.rows.size))
        self._kept = np.arange(n_features)
        self._n_threads = n_threads

        def work(lo: int, hi: int, block: FloatArray) -> None:
            self._Z[lo:hi] = labels.to_unit_variance(block)

        map_blocks(work, data.values, n_threads)

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
        run_jobs(
            gaussian_scores,
            [
                (Z[lo:hi], self._counts, D, -1.0, gamma, self._L, out[lo:hi])
                for lo, hi in spans(len(kept), 4 * self._n_threads)
            ],
            self._n_threads,
        )
        return out

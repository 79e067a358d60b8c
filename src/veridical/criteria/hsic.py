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
from veridical.kernels.threads import run, spans
from veridical.kernels.trainsets import TrainSets


def label_vectors(y: IntArray, n_classes: int) -> FloatArray:
    """Return a vector per sample: 1/m_k for its class k, 1/(m_k − m) for the others.

    So classes have the same weight whatever their size [1]_.
    """
    size = np.bincount(y, minlength=n_classes).astype(float)
    present = np.flatnonzero(size)
    own = y[:, None] == present
    return np.where(own, 1.0 / size[present], 1.0 / (size[present] - len(y)))


def label_scale(psi: FloatArray) -> float:
    """Compute the criterion of a kernel that equals the absolute label kernel.

    Terms of either sign cancel in the criterion; a tiny share of this is rounding.
    """
    m = len(psi)
    vectors, size = np.unique(psi, axis=0, return_counts=True)
    L = np.abs(vectors @ vectors.T)
    return float((size @ L @ size - size @ np.diag(L)) / (m * (m - 3)))


def to_unit_variance(block: FloatArray) -> FloatArray:
    """Centre each row of a block and scale it to variance 1; constants become 0."""
    centred = block - block.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1, keepdims=True))
    noise = 1e-14 * np.abs(block).max(axis=1, keepdims=True)
    return centred / np.where(spread > noise, spread, np.inf)


def _linear_scores(Z: FloatArray, psi: FloatArray) -> FloatArray:
    """Compute unbiased HSIC of a linear kernel on each row of `Z`.

    It takes no m × m matrix. Sums are computed row by row: with BLAS rounding would
    depend on the shape of the block, and so on the number of threads.
    """
    m = Z.shape[1]
    own = (psi**2).sum(axis=1)
    row = psi @ psi.sum(axis=0) - own
    square = Z**2
    product = np.einsum("jm,mk->jk", Z, psi)
    trace = (product**2).sum(axis=1) - np.einsum("jm,m->j", square, own)
    whole = -square.sum(axis=1)  # standardised columns sum to zero
    mixed = -np.einsum("jm,m->j", square, row)
    return (trace + whole * row.sum() / ((m - 1) * (m - 2)) - 2.0 * mixed / (m - 2)) / (
        m * (m - 3)
    )


@dataclass(frozen=True)
class HSICRelevance:
    """Unbiased HSIC between each standardised feature and the class.

    Parameters
    ----------
    kernel : {"linear", "rbf"}
        Kernel on the feature; the Gaussian one has ``gamma = 1/2``.
    """

    kernel: str = "linear"

    def scores(self, data: Table, sets: TrainSets, n_threads: int) -> FloatArray:
        """Return the criterion, larger for more dependence."""
        result = np.empty((len(sets), data.values.shape[1]))
        rows = [np.sort(indices) for indices in sets.indices]
        psi = [label_vectors(data.y[r], data.n_classes) for r in rows]
        L = [p @ p.T for p in psi] if self.kernel == "rbf" else []

        def work(lo: int, hi: int, block: FloatArray) -> None:
            for s, r in enumerate(rows):
                Z = to_unit_variance(block.take(r, axis=1))
                if self.kernel == "linear":
                    result[s, lo:hi] = _linear_scores(Z, psi[s])
                else:
                    zero = np.zeros((len(r), len(r)))
                    out = np.empty(hi - lo)
                    gaussian_scores(Z, zero, 1.0, 0.5, L[s], out)
                    result[s, lo:hi] = out

        map_blocks(work, data.values, n_threads)
        return result


class GaussianWithout:
    """HSIC of a Gaussian kernel on a set of features with one of them left out.

    The width follows the number of features, ``gamma = 1 / (2 d)``.
    """

    def __init__(self, data: Table, rows: IntArray, n_threads: int) -> None:
        psi = label_vectors(data.y[rows], data.n_classes)
        self._L = psi @ psi.T
        n_features = data.values.shape[1]
        self._Z = np.empty((n_features, rows.size))
        self._kept = np.arange(n_features)
        self._n_threads = n_threads

        def work(lo: int, hi: int, block: FloatArray) -> None:
            self._Z[lo:hi] = to_unit_variance(block.take(rows, axis=1))

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
        run(
            gaussian_scores,
            [
                (Z[lo:hi], D, -1.0, gamma, self._L, out[lo:hi])
                for lo, hi in spans(len(kept), 4 * self._n_threads)
            ],
            self._n_threads,
        )
        return out

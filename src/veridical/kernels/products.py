"""Inner products of many samples of few features, computed when they are asked for.

The matrix of all inner products takes n² numbers, and solvers that factor it n³ time.
With fewer features than samples, its products with vectors and the parts of it that
solvers need come from the features, in O(n p).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from veridical._core.arrays import FloatArray
from veridical.kernels.columns import gram

#: Samples; inner products of fewer are a matrix.
_MANY_SAMPLES = 500
#: Features as a share of the samples; with more, inner products are a matrix.
_FEW_FEATURES = 0.1


class Products:
    """The matrix ``left rightᵀ``, which is not computed as a whole.

    Parameters
    ----------
    left, right : arrays of shape (n, p) and (m, p)
        Samples in rows; `right` are those of `left` by default.
    """

    # Numpy leaves ``array @ products`` to this class.
    __array_ufunc__ = None

    def __init__(self, left: FloatArray, right: FloatArray | None = None) -> None:
        self.left = left
        self.right = left if right is None else right

    def __matmul__(self, v: FloatArray) -> FloatArray:
        return self.left @ (self.right.T @ v)

    def __getitem__(self, key: Any) -> Any:
        """Return some rows, or as an array the part that `numpy.ix_` describes."""
        if isinstance(key, tuple):
            rows, columns = (part.ravel() for part in key)
            return self.left[rows] @ self.right[columns].T
        return Products(self.left[key], self.right)

    def __abs__(self) -> Products:
        """Return upper bounds of the sizes of the inner products."""
        return Products(np.abs(self.left), np.abs(self.right))

    def diagonal(self) -> FloatArray:
        """Return the squared lengths of the samples."""
        return np.einsum("ij,ij->i", self.left, self.right)

    def trace(self) -> float:
        """Return the sum of the squared lengths."""
        return float(self.diagonal().sum())

    def among(self, some: Any) -> Products:
        """Return the inner products of some samples."""
        return Products(self.left[some], self.right[some])


#: Inner products of samples: all of them, or their features.
Gram = FloatArray | Products


def inner_products(X: Any) -> Gram:
    """Return the inner products of the rows of X in double precision."""
    n, p = X.shape
    if n < _MANY_SAMPLES or p > _FEW_FEATURES * n:
        return gram(X)
    dense = X.toarray() if sparse.issparse(X) else X
    return Products(np.ascontiguousarray(dense, dtype=np.float64))


def take_samples(G: Gram, some: Any) -> Gram:
    """Return the inner products of some samples."""
    if isinstance(G, Products):
        return G.among(some)
    return np.ascontiguousarray(G[np.ix_(some, some)])

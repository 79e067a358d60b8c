"""Gram matrices by name or by function, and how two-class problems share them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.lapack import dpotrf
from sklearn.metrics.pairwise import pairwise_kernels

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.text import did_you_mean

KERNELS = ("linear", "rbf", "poly", "precomputed")

#: Differences of a Gram matrix that are rounding, as a share of its entries.
_ROUNDING = 1e-6
#: Share of the largest entry, per case, by which double precision can make an
#: eigenvalue negative; beyond it negative eigenvalues are set to zero.
_DOUBLE_ROUNDING = 1e-15

Kernel = str | Callable[..., Any]


@dataclass(frozen=True)
class GramMaker:
    """A kernel with its parameters settled.

    Parameters
    ----------
    kernel : str or callable
        One of `KERNELS`, or a function of two tables that gives their Gram matrix.
    parameters : mapping
        As in `sklearn.metrics.pairwise`.
    name : str
        What messages call it.
    """

    kernel: Kernel
    parameters: dict[str, Any]
    name: str = "kernel"

    @classmethod
    def settle(cls, kernel: Kernel, parameters: Any, X: Any, name: str) -> GramMaker:
        """Check a kernel; where no width is given, take 1 / (features × variance)."""
        if not callable(kernel) and kernel not in KERNELS:
            raise InputError(
                f"{name}={kernel!r} is unknown{did_you_mean(str(kernel), KERNELS)} Use "
                f"one of {', '.join(KERNELS)}, or a function of two tables."
            )
        settled = dict(parameters or {})
        if kernel in ("rbf", "poly") and "gamma" not in settled:
            settled["gamma"] = 1.0 / max(X.shape[1] * _variance(X), 1e-300)
        if kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise InputError(
                f"{name}='precomputed' needs a Gram matrix of the training cases, "
                f"square; this one has shape {X.shape[0]} × {X.shape[1]}."
            )
        return cls(kernel, settled, name)

    @property
    def linear(self) -> bool:
        """Whether there are weights to report."""
        return self.kernel == "linear"

    def __call__(self, A: Any, B: Any) -> FloatArray:
        """Compute the Gram matrix of the rows of A with those of B."""
        if self.kernel == "precomputed":
            return _full(A)
        if self.kernel == "linear":
            return _full(A @ B.T)
        if callable(self.kernel):
            found = _full(self.kernel(A, B, **self.parameters))
        else:
            found = pairwise_kernels(A, B, metric=self.kernel, **self.parameters)
        if found.shape != (A.shape[0], B.shape[0]) or not np.isfinite(found).all():
            raise InputError(
                f"The kernel gave a matrix of shape {found.shape} for tables of "
                f"{A.shape[0]} and {B.shape[0]} rows, or values that are not finite."
            )
        return found

    def gram(self, X: Any) -> FloatArray:
        """Compute the Gram matrix of the training cases.

        The rounding of a matrix that comes from outside is taken away first: it is
        made exactly symmetric, and eigenvalues below zero are set to zero. Without
        that (single precision is enough) it is no Gram matrix: the problem is not
        convex, and no duality gap can be proved.

        Raises
        ------
        InputError
            If it is not symmetric or not positive semi-definite by more than rounding.
        """
        found = self(X, X)
        if self.kernel in ("linear", "rbf"):
            return found
        self._refuse_uneven(found)
        return self._without_rounding((found + found.T) / 2)

    def _refuse_uneven(self, found: FloatArray) -> None:
        off = np.abs(found - found.T)
        if off.max() > _ROUNDING * np.abs(found).max():
            i, j = (int(k) for k in np.unravel_index(off.argmax(), off.shape))
            raise InputError(
                f"{self.name}={self._shown()} gave a Gram matrix that is not "
                f"symmetric: {found[i, j]:g} for cases {i} and {j}, but "
                f"{found[j, i]:g} for {j} and {i}. Use a function for which both "
                "are equal."
            )

    def _without_rounding(self, gram: FloatArray) -> FloatArray:
        """Set negative eigenvalues of a symmetric matrix to zero.

        One Cholesky decomposition tells whether there are any beyond the rounding of
        double precision, which the solvers bear.
        """
        n, top = len(gram), float(np.diag(gram).max(initial=0.0))
        lifted = gram + n * _DOUBLE_ROUNDING * top * np.eye(n)
        if not dpotrf(lifted, lower=1, overwrite_a=1)[1]:
            return gram
        values, vectors = np.linalg.eigh(gram)
        if values[0] < -_ROUNDING * max(float(values[-1]), 0.0):
            raise InputError(
                f"{self.name}={self._shown()} gave a Gram matrix that is not positive "
                f"semi-definite: its eigenvalues run from {values[0]:.3g} to "
                f"{values[-1]:.3g}, so there is no optimum to be found. Use another "
                "kernel."
            )
        half = vectors * np.sqrt(np.maximum(values, 0.0))
        return half @ half.T

    def _shown(self) -> str:
        return getattr(self.kernel, "__name__", None) or repr(self.kernel)


def _full(matrix: Any) -> FloatArray:
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    return np.asarray(dense, dtype=np.float64)


def _variance(X: Any) -> float:
    if sparse.issparse(X):
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(np.var(X))


def signs(y: NDArray[Any], classes: NDArray[Any]) -> list[FloatArray]:
    """One-vs-rest: ±1 per problem; a single problem for two classes."""
    if len(classes) == 2:
        return [np.where(y == classes[1], 1.0, -1.0)]
    return [np.where(y == label, 1.0, -1.0) for label in classes]

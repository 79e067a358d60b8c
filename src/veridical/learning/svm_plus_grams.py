"""Gram matrices by name or by function, and how two-class problems share them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from veridical._records import FloatArray, InputError
from veridical.datasets.wording import did_you_mean

KERNELS = ("linear", "rbf", "poly", "precomputed")

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
    """

    kernel: Kernel
    parameters: dict[str, Any]

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
        return cls(kernel, settled)

    @property
    def linear(self) -> bool:
        """Whether there are weights to report."""
        return self.kernel == "linear"

    def __call__(self, A: Any, B: Any) -> FloatArray:
        """Compute the Gram matrix of the rows of A with those of B."""
        if self.kernel == "precomputed":
            return np.asarray(A, dtype=np.float64)
        if self.kernel == "linear":
            product = A @ B.T
            return product.toarray() if sparse.issparse(product) else product
        if callable(self.kernel):
            found = np.asarray(self.kernel(A, B, **self.parameters), dtype=np.float64)
        else:
            found = pairwise_kernels(A, B, metric=self.kernel, **self.parameters)
        if found.shape != (A.shape[0], B.shape[0]) or not np.isfinite(found).all():
            raise InputError(
                f"The kernel gave a matrix of shape {found.shape} for tables of "
                f"{A.shape[0]} and {B.shape[0]} rows, or values that are not finite."
            )
        return found


def _variance(X: Any) -> float:
    if sparse.issparse(X):
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(np.var(X))


def signs(y: NDArray[Any], classes: NDArray[Any]) -> list[FloatArray]:
    """One-vs-rest: ±1 per problem; a single problem for two classes."""
    if len(classes) == 2:
        return [np.where(y == classes[1], 1.0, -1.0)]
    return [np.where(y == label, 1.0, -1.0) for label in classes]

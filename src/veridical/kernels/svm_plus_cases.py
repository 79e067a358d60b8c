"""What an SVM+ problem is made of, and what its solution says.

Only Gram matrices enter. What depends on them alone is kept in `Cases` and
`PrivilegedGram` and serves every C and γ; a solution's states start the next problem
near it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf, dpotri, dpotrs

from veridical._core.arrays import FloatArray
from veridical.kernels.interior import factor

#: Below this the privileged Gram matrix counts as singular.
_LEAST_RCOND = 1e-11
#: Up to so many cases a whole inverse costs no more than asking for rows of it, and
#: steps of SMO are cheaper than interior points.
SMALL = 400


class InfeasibleError(ValueError):
    """No weights at all meet the constraints; only possible without b*."""


@dataclass(frozen=True, eq=False)
class States:
    """Who met the margin exactly, and who was allowed a slack."""

    margin: Any
    slack: Any

    def copy(self) -> States:
        """Copy both, for a solver that changes them."""
        return States(self.margin.copy(), self.slack.copy())


@dataclass(frozen=True, eq=False)
class Solution:
    """An optimum, with what it takes to believe it.

    Parameters
    ----------
    alpha, eta : arrays of shape (n,)
        ``w = Σ αᵢ yᵢ xᵢ`` and ``w* = Σ ηᵢ xᵢ*``.
    bias, privileged_bias : float
        b and b*.
    objective : float
        The dual objective, a lower bound of the primal one.
    gap : float
        How far the objective can be from the optimum, as a share of it; see
        `veridical.kernels.svm_plus_gap`.
    n_rounds : int
        Linear systems solved.
    states : States
        To start from.
    """

    alpha: FloatArray
    eta: FloatArray
    bias: float
    privileged_bias: float
    objective: float
    gap: float
    n_rounds: int
    states: States


@dataclass(eq=False)
class PrivilegedGram:
    """A privileged Gram matrix, and what serves every C and γ.

    Parameters
    ----------
    gram : array of shape (n, n)
        K*.
    bias : bool
        Whether slacks have a constant b*.
    """

    gram: FloatArray
    bias: bool = True
    shifted: FloatArray = field(init=False)
    kappa: float = field(init=False, default=0.0)
    inverse: FloatArray = field(init=False)
    known: Any = field(init=False)
    _lower: FloatArray | None = field(init=False, default=None)
    _factor: tuple[FloatArray, Any] | None = field(init=False, default=None)
    _lift: tuple[FloatArray, FloatArray] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.gram = np.ascontiguousarray(self.gram, dtype=np.float64)
        self.inverse = np.zeros_like(self.gram)
        self.known = np.zeros(len(self.gram), dtype=bool)
        if not self.bias:
            self.shifted = self.gram
            return
        means = self.gram.mean(axis=0)
        centred = self.gram - means
        centred -= means[:, None] - means.mean()
        n = len(means)
        self.kappa = max(float(np.trace(centred)) / n**2, 1e-300)
        self.shifted = centred + self.kappa

    @property
    def regular(self) -> bool:
        """Whether the shifted matrix can be inverted."""
        if self._lower is None:
            self._lower = _decompose(self.shifted)
        return self._lower.size > 0

    def invert(self, wanted: Any) -> bool:
        """Compute some rows of the inverse; False where the matrix is singular."""
        if not self.regular:
            return False
        n, missing = len(self.known), np.flatnonzero(wanted & ~self.known)
        if not missing.size:
            return True
        if n <= SMALL or self.known.sum() + missing.size > n // 3:
            half, _ = dpotri(self._lower, lower=1)
            half = np.tril(half)
            self.inverse[:] = half + np.tril(half, -1).T
            self.known[:] = True
        else:
            unit = np.zeros((n, missing.size), order="F")
            unit[missing, np.arange(missing.size)] = 1.0
            rows, _ = dpotrs(self._lower, unit, lower=1)
            self.inverse[missing] = rows.T
            self.known[missing] = True
        return True

    @property
    def factor(self) -> tuple[FloatArray, Any]:
        """Factor of the (centred) matrix, and its pivots."""
        if self._factor is None:
            self._factor = factor(self.shifted - self.kappa)
        return self._factor

    @property
    def lift(self) -> tuple[FloatArray, FloatArray]:
        """Coefficients that give every case a slack of at least 1, and the slacks.

        Both are empty where none were found: then slacks below zero cannot be mended.
        """
        if self._lift is None:
            self._lift = self._find_lift()
        return self._lift

    def _find_lift(self) -> tuple[FloatArray, FloatArray]:
        n = len(self.gram)
        tries = [np.ones(n)]  # enough where all are similar: features above zero
        Z, pivots = self.factor
        if pivots.size:
            v = np.linalg.lstsq(Z, np.ones(n), rcond=None)[0]
            tries.append(np.zeros(n))
            tries[1][pivots] = np.linalg.solve(Z[pivots].T, v)
        for d in tries:
            slack = self.gram @ d
            least = float(slack.min())
            if least > 1e-6 * float(slack.max()):
                return d / least, slack / least
        return np.zeros(0), np.zeros(0)


def _decompose(matrix: FloatArray) -> FloatArray:
    """Cholesky factor, or nothing where the matrix is as good as singular."""
    lower, failed = dpotrf(matrix, lower=1, clean=1)
    if failed:
        return np.zeros((0, 0))
    rcond, _ = dpocon(lower, np.abs(matrix).sum(axis=0).max(), uplo="L")
    return lower if rcond > _LEAST_RCOND else np.zeros((0, 0))


@lru_cache(maxsize=64)
def _words(n: int) -> Any:
    """Draw words to tell sets of states apart, no more."""
    return np.random.default_rng(0).integers(2**62, size=2 * n)


@dataclass(eq=False)
class Cases:
    """Training cases of a two-class problem.

    Parameters
    ----------
    gram : array of shape (n, n)
        K.
    sign : array of shape (n,)
        +1 or −1; both occur.
    """

    gram: FloatArray
    sign: FloatArray
    Q: FloatArray = field(init=False)
    ridge: float = field(init=False)
    words: Any = field(init=False)
    _factor: FloatArray | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.gram = np.ascontiguousarray(self.gram, dtype=np.float64)
        self.sign = np.ascontiguousarray(self.sign, dtype=np.float64)
        self.Q = self.gram * np.multiply.outer(self.sign, self.sign)
        self.ridge = 1e-12 * max(float(np.diag(self.Q).mean()), 1e-300)
        self.words = _words(len(self.sign))

    @property
    def factor(self) -> FloatArray:
        """Factor of K."""
        if self._factor is None:
            self._factor = factor(self.gram)[0]
        return self._factor

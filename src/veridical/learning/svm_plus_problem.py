"""What SVM+ and LUFe share: Gram matrices, the choice of a solver, checks and warnings.

=========================  ===========================================================
solver                     for
=========================  ===========================================================
interior points on the     linear kernels with no more features than samples, both
features                   kinds together, as long as a step stays cheap
active sets on Gram        everything else up to 30 000 samples; with linear kernels
matrices                   the first solver repeats it where Gram matrices lose digits
coordinate descent         linear kernels and the hinge loss, more than 5000 samples,
                           and so many features that the first solver is too slow
=========================  ===========================================================
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.lapack import dpotrf
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels
from threadpoolctl import threadpool_limits

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.text import did_you_mean
from veridical._core.validation import check_count
from veridical.kernels.duality import GOOD_GAP, POOR_GAP, ROUGH_GAP
from veridical.kernels.svm_exact import exact_gram
from veridical.kernels.svm_plus import (
    MANY_SQUARED,
    PrivilegedGram,
    SignedGram,
    Squared,
    solve_hinge,
    solve_plain,
)
from veridical.kernels.svm_plus_linear import Descent, Linear, LinearSolution
from veridical.learning.inputs import check_positive

# -- kernels ---------------------------------------------------------------------------

KERNELS = ("linear", "rbf", "poly", "precomputed")

#: Share of the largest entry (or eigenvalue) of a Gram matrix; a larger asymmetry (or
#: negative eigenvalue) is an error.
_LARGEST_ASYMMETRY = 1e-6
#: Share of the largest entry, per sample; eigenvalues further below 0 are set to zero.
_DOUBLE_ROUNDING = 1e-15

Kernel = str | Callable[..., Any]


@dataclass(frozen=True)
class GramMaker:
    """A kernel with all its parameters.

    Parameters
    ----------
    kernel : str or callable
        One of `KERNELS`, or a function of two tables that gives their Gram matrix.
    parameters : mapping
        As in `sklearn.metrics.pairwise`.
    name : str
        Name of the parameter in messages.
    """

    kernel: Kernel
    parameters: dict[str, Any]
    name: str = "kernel"

    @classmethod
    def make(cls, kernel: Kernel, parameters: Any, X: Any, name: str) -> GramMaker:
        """Check a kernel; where no width is given, take 1 / (features × variance)."""
        if not callable(kernel) and kernel not in KERNELS:
            raise InputError(
                f"{name}={kernel!r} is unknown{did_you_mean(str(kernel), KERNELS)} Use "
                f"one of {', '.join(KERNELS)}, or a function of two tables."
            )
        complete = dict(parameters or {})
        if kernel in ("rbf", "poly") and "gamma" not in complete:
            complete["gamma"] = 1.0 / max(X.shape[1] * _variance(X), 1e-300)
        if kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise InputError(
                f"{name}='precomputed' needs the Gram matrix of the training samples, "
                f"which is square; this one has shape {X.shape[0]} × {X.shape[1]}."
            )
        return cls(kernel, complete, name)

    @property
    def linear(self) -> bool:
        """Whether there are weights of the features."""
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

    @property
    def definite(self) -> bool:
        """Whether no Gram matrix of this kernel can have negative eigenvalues."""
        return self.kernel in ("linear", "rbf")

    def gram(self, X: Any) -> FloatArray:
        """Compute the Gram matrix of the training samples, exactly symmetric.

        Raises
        ------
        InputError
            If it is not symmetric beyond rounding.
        """
        found = self(X, X)
        if self.definite:
            return found
        off = found - found.T
        largest = float(off.max(initial=0.0))
        if largest == 0.0:
            return found
        if largest > _LARGEST_ASYMMETRY * np.abs(found).max():
            i, j = (int(k) for k in np.unravel_index(off.argmax(), off.shape))
            raise InputError(
                f"{self.name}={self._shown()} gave a Gram matrix that is not "
                f"symmetric: {found[i, j]:g} for samples {i} and {j}, but "
                f"{found[j, i]:g} for {j} and {i}. Use a function for which both "
                "are equal."
            )
        return (found + found.T) / 2

    def without_rounding(self, gram: FloatArray) -> FloatArray:
        """Set negative eigenvalues of a Gram matrix that a user's kernel gave to zero.

        Otherwise, in single precision for example, the problem is not convex and the
        duality gap has no meaning. One Cholesky decomposition shows whether there are
        any beyond the rounding of double precision, which does not disturb the solvers.

        Raises
        ------
        InputError
            If it is not positive semi-definite beyond rounding.
        """
        if self.definite:
            return gram
        n, top = len(gram), float(np.diag(gram).max(initial=0.0))
        lifted = gram.copy()
        lifted[np.diag_indices(n)] += n * _DOUBLE_ROUNDING * top
        if not dpotrf(lifted.T, lower=1, overwrite_a=1)[1]:
            return gram
        values, vectors = np.linalg.eigh(gram)
        if values[0] < -_LARGEST_ASYMMETRY * max(float(values[-1]), 0.0):
            raise InputError(
                f"{self.name}={self._shown()} gave a Gram matrix that is not positive "
                f"semi-definite: its eigenvalues run from {values[0]:.3g} to "
                f"{values[-1]:.3g}, so there is no optimum. Use another kernel."
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
    """Return ±1 per problem: one class against the rest, or one against the other."""
    if len(classes) == 2:
        return [np.where(y == classes[1], 1.0, -1.0)]
    return [np.where(y == label, 1.0, -1.0) for label in classes]


# -- problems --------------------------------------------------------------------------

#: Samples; with more, coordinate descent is preferred to Gram matrices.
MANY_SAMPLES = 5000
#: Samples; of more, every k-th is examined for negative eigenvalues, and all of them
#: only where the duality gap stays open.
_EXAMINED = 1000
#: Samples; Gram matrices of more do not fit into memory.
TOO_MANY = 30_000
#: Multiplications per step of interior points on features; with more they are too slow.
_MOST_MULTIPLICATIONS = 5e9
#: Entries of a sparse table; one with more is not made dense.
_MOST_ENTRIES = 5e7


@dataclass(frozen=True, eq=False)
class PrivilegedProblem:
    """SVM+ on some training samples; `solve` is given the signs of the classes.

    Parameters
    ----------
    X, X_star : tables or None
        Features and privileged features where their kernels are linear.
    gram, gram_star : functions
        Give the Gram matrices.
    c : array of shape (n,)
        C times the weight of a sample.
    gamma : float
        Weight of the privileged weights.
    bias : bool
        Whether slacks have a constant b*.
    loss : {"hinge", "squared_hinge"}
        Of the slacks.
    without_rounding : function or None
        Removes negative eigenvalues of both Gram matrices; None where there are none.
    """

    X: Any
    X_star: Any
    gram: Callable[[], FloatArray]
    gram_star: Callable[[], FloatArray]
    c: FloatArray
    gamma: float
    bias: bool = True
    loss: str = "hinge"
    without_rounding: Callable[..., tuple[FloatArray, FloatArray]] | None = None

    @property
    def linear(self) -> bool:
        """Whether both kernels are linear."""
        return self.X is not None and self.X_star is not None

    def _features(self) -> float:
        return float(self.X.shape[1] + self.X_star.shape[1])

    def few_features(self) -> bool:
        """Return whether features are no more than samples, and a step is cheap."""
        n = len(self.c)
        if not self.linear or self._features() > n:
            return False
        return n * self._features() ** 2 <= _MOST_MULTIPLICATIONS

    def takes_descent(self) -> bool:
        """Return whether there are so many samples that coordinate descent is used."""
        able = self.linear and self.loss == "hinge"
        return able and len(self.c) > MANY_SAMPLES and not self.few_features()

    # -- exact solvers ---------------------------------------------------------------

    def solve(self, problems: list[FloatArray]) -> list[LinearSolution]:
        """Solve to full precision, by the first or second solver of the table above.

        Raises
        ------
        InfeasibleError
            If no weights meet the constraints; only possible without b*.
        InputError
            If Gram matrices would be too large.
        """
        if self.few_features():
            X, X_star = _dense(self.X), _dense(self.X_star)
            return [self._on_features(X, X_star, sign) for sign in problems]
        n = len(self.c)
        if n > TOO_MANY:
            raise InputError(
                f"{n} samples need Gram matrices of {n}² numbers each, more than the "
                f"exact solver takes ({TOO_MANY} samples); use SVMPlus with linear "
                "kernels, the hinge loss and solver='descent', or fewer samples."
            )
        grams = self.gram(), self.gram_star()
        if self.without_rounding is None:
            return self._on_grams(*grams, problems)
        if n > _EXAMINED:
            few = slice(None, None, -(-n // _EXAMINED))
            self.without_rounding(*(gram[few, few] for gram in grams))
            found = self._on_grams(*grams, problems)
            if max(one.gap for one in found) <= GOOD_GAP:
                return found
        return self._on_grams(*self.without_rounding(*grams), problems)

    def _on_grams(
        self, gram: FloatArray, gram_star: FloatArray, problems: list[FloatArray]
    ) -> list[LinearSolution]:
        privileged: PrivilegedGram | None = None
        if self.loss == "hinge":
            privileged = PrivilegedGram(gram_star, self.bias)
        return [self._on_gram(gram, gram_star, privileged, sign) for sign in problems]

    def _on_features(
        self, X: FloatArray, X_star: FloatArray, sign: Any
    ) -> LinearSolution:
        one = Linear(X, X_star, sign, self.c, self.gamma, self.bias)
        if self.loss == "hinge":
            return one.solve_hinge()
        return one.solve_squared()

    def _on_gram(
        self,
        gram: FloatArray,
        gram_star: FloatArray,
        privileged: PrivilegedGram | None,
        sign: FloatArray,
    ) -> LinearSolution:
        c, gamma = self.c, self.gamma
        if privileged is None:
            one = Squared(gram, gram_star, sign, c, gamma, self.bias).solve()
        else:
            one = solve_hinge(SignedGram(gram, sign), privileged, c, gamma)
        found = LinearSolution.of_gram(one, sign, self.X, self.X_star)
        small = self.linear and len(c) * self._features() <= _MOST_ENTRIES
        many = self.loss == "squared_hinge" and len(c) > MANY_SQUARED
        if found.gap > (ROUGH_GAP if many else GOOD_GAP) and small:
            other = self._on_features(_dense(self.X), _dense(self.X_star), sign)
            found = other if other.gap < found.gap else found
        return found

    # -- coordinate descent ----------------------------------------------------------

    def descend(
        self, problems: list[FloatArray], tol: float, max_iter: int, rng: Any
    ) -> list[LinearSolution]:
        """Solve by dual coordinate descent.

        Raises
        ------
        InfeasibleError
            If no weights meet the constraints; only possible without b*.
        """
        X, X_star = sparse.csr_matrix(self.X), sparse.csr_matrix(self.X_star)
        answers = []
        with threadpool_limits(1, "blas"):  # vectors are too short for threads
            for sign in problems:
                one = Descent(X, X_star, sign, self.c, self.gamma, self.bias)
                seed = int(rng.randint(2**31 - 1))
                answers.append(one.solve(tol, max_iter, seed))
        return answers


def solve_without_privileged(
    gram: FloatArray, X: Any, problems: list[FloatArray], c: FloatArray
) -> list[LinearSolution]:
    """Solve the ordinary support vector machine, without privileged features."""
    small = X is not None and len(c) <= MANY_SAMPLES
    exact = cache(lambda: exact_gram(X)) if small else None
    return [
        LinearSolution.of_gram(
            solve_plain(SignedGram(gram, sign), c, exact), sign, X, None
        )
        for sign in problems
    ]


def _dense(X: Any) -> FloatArray:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


# -- checks and warnings ---------------------------------------------------------------

LOSSES = ("hinge", "squared_hinge")
SOLVERS = ("auto", "exact", "descent")

INFEASIBLE_MESSAGE = (
    "No weights meet the constraints: without privileged_bias the slacks must be a "
    "linear function of the privileged features (nowhere negative, with the hinge "
    "loss), and that and the features together do not separate the classes. Centred "
    "privileged features allow no slack at all. Use privileged_bias=True, or "
    "privileged features that are not negative (counts, say)."
)


def check_parameters(estimator: Any) -> None:
    """Raise if a parameter has an impossible value."""
    for name in ("C", "gamma"):
        check_positive(name, getattr(estimator, name))
    tol = getattr(estimator, "tol", 1.0)
    if not isinstance(tol, Real) or not float(tol) >= 0:
        raise InputError(f"tol={tol!r} must be a number, 0 or more.")
    check_count("max_iter", getattr(estimator, "max_iter", 1))
    for name, known in (("loss", LOSSES), ("solver", SOLVERS)):
        value = getattr(estimator, name, known[0])
        if value not in known:
            raise InputError(
                f"{name}={value!r} is unknown{did_you_mean(str(value), known)} Use one "
                f"of {', '.join(known)}."
            )


def warn_of_gap(estimator: Any) -> None:
    """Warn if rounding kept the exact solver from the optimum."""
    if estimator.dual_gap_ > POOR_GAP:
        warnings.warn(
            f"The solution may be inexact: its relative duality gap is "
            f"{estimator.dual_gap_:.1g}. Scale the features, or use less extreme C and "
            "gamma.",
            ConvergenceWarning,
            stacklevel=4,
        )


def warn_of_sweeps(estimator: Any) -> None:
    """Warn if coordinate descent stopped before it reached the tolerance."""
    if estimator.dual_gap_ > estimator.tol:
        warnings.warn(
            f"Coordinate descent stopped after {estimator.n_iter_} sweeps with a "
            f"relative duality gap of {estimator.dual_gap_:.1g}, above "
            f"tol={estimator.tol:g}. Raise max_iter, scale the features, lower "
            "C/gamma, on which the number of sweeps depends, or use solver='exact'.",
            ConvergenceWarning,
            stacklevel=4,
        )


def choose_class(classes: NDArray[Any], scores: FloatArray) -> NDArray[Any]:
    """Return the labels of scores; a score of 0 is the second of two classes."""
    if scores.ndim == 1:
        return classes[(scores >= 0).astype(np.intp)]
    return classes[scores.argmax(axis=1)]


# -- one class against the rest --------------------------------------------------------


class OneAgainstRest(ClassifierMixin, BaseEstimator, ABC):
    """A classifier of decision values: one problem per class, one for two classes."""

    classes_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _store_solutions(self, found: list[LinearSolution]) -> None:
        """Store what all solvers return, for every problem."""
        self.intercept_ = np.array([f.bias for f in found])
        self.dual_gap_ = float(max(f.gap for f in found))
        self.n_iter_ = max(1, *(f.n_rounds for f in found))

    def _as_decisions(self, scores: FloatArray) -> FloatArray:
        """Add the biases to scores of shape (n_samples, n_problems)."""
        scores = scores + self.intercept_
        return scores.ravel() if len(self.classes_) == 2 else scores

    @abstractmethod
    def decision_function(self, X: Any) -> FloatArray:
        """Compute decision values."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features, as in ``decision_function``.

        Returns
        -------
        array of shape (n_samples,)
            A label of ``classes_`` per sample.
        """
        scores = self.decision_function(X)  # raises if not fitted
        return choose_class(self.classes_, scores)

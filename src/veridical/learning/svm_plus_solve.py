"""Which solver takes which SVM+ problem, and answers in one form.

=========================  ===========================================================
route                      for
=========================  ===========================================================
interior points on the     linear kernels with no more features than cases, both kinds
features                   together, as long as a step stays cheap
pivoting on Gram matrices  everything else up to 30 000 cases; with linear kernels the
                           features help out where Gram matrices lose digits
coordinate descent         linear kernels and the hinge loss, more than 5000 cases, so
                           many features that the first route is too dear
=========================  ===========================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical.kernels.svm_plain import solve_plain
from veridical.kernels.svm_plus import solve_hinge
from veridical.kernels.svm_plus_cases import Cases, PrivilegedGram, Solution
from veridical.kernels.svm_plus_descent import Descent
from veridical.kernels.svm_plus_linear import Linear, LinearSolution
from veridical.kernels.svm_plus_squared import FEW, Squared

#: From here on Gram matrices are left alone where they can be.
MANY = 5000
#: More cases than this do not fit into memory several times over.
TOO_MANY = 30_000
#: Multiplications per step that interior points on features may take.
_CHEAP = 5e9
#: Numbers of a dense table that may be made of a sparse one.
_ROOM = 5e7
#: An answer from Gram matrices with a larger gap is looked for again.
_FINE_GAP = 1e-9
#: The same for many cases with squared slacks, whose rounding is larger.
_FAIR_GAP = 1e-7


@dataclass(frozen=True, eq=False)
class Answer:
    """The solution of one two-class problem.

    Parameters
    ----------
    alpha : array of shape (n,)
        Multipliers of the margins.
    weights, privileged_weights : array or None
        Of the features, where kernels are linear.
    bias, privileged_bias : float
        b and b*.
    objective, gap : float
        Dual objective, and how far the answer can be from the optimum.
    n_rounds : int
        Linear systems solved, or sweeps.
    """

    alpha: FloatArray
    weights: FloatArray | None
    privileged_weights: FloatArray | None
    bias: float
    privileged_bias: float
    objective: float
    gap: float
    n_rounds: int

    @classmethod
    def of_gram(cls, one: Solution, sign: FloatArray, X: Any, X_star: Any) -> Answer:
        """Read coefficients of cases as weights; features are None where unknown."""
        return cls(
            one.alpha,
            None if X is None else np.asarray((one.alpha * sign) @ X).ravel(),
            None if X_star is None else np.asarray(one.eta @ X_star).ravel(),
            one.bias,
            one.privileged_bias,
            one.objective,
            one.gap,
            one.n_rounds,
        )

    @classmethod
    def of_weights(cls, one: LinearSolution) -> Answer:
        """Take weights as they are."""
        return cls(
            one.alpha,
            one.w,
            one.w_star,
            one.b,
            one.b_star,
            one.objective,
            one.gap,
            one.n_rounds,
        )


@dataclass(frozen=True, eq=False)
class Task:
    """Training cases with their prices; classes come one problem at a time.

    Parameters
    ----------
    X, X_star : tables or None
        Features and privileged features where their kernels are linear.
    gram, gram_star : functions
        Give the Gram matrices.
    c : array of shape (n,)
        C times the weight of a case.
    gamma : float
        Weight of the privileged weights.
    bias : bool
        Whether slacks have a constant b*.
    loss : {"hinge", "squared_hinge"}
        Of the slacks.
    """

    X: Any
    X_star: Any
    gram: Callable[[], FloatArray]
    gram_star: Callable[[], FloatArray]
    c: FloatArray
    gamma: float
    bias: bool = True
    loss: str = "hinge"

    @property
    def linear(self) -> bool:
        """Whether both kernels are."""
        return self.X is not None and self.X_star is not None

    def _features(self) -> float:
        return float(self.X.shape[1] + self.X_star.shape[1])

    def few_features(self) -> bool:
        """Whether there are no more features than cases, and a step is cheap."""
        n = len(self.c)
        if not self.linear or self._features() > n:
            return False
        return n * self._features() ** 2 <= _CHEAP

    def takes_descent(self) -> bool:
        """Whether coordinate descent is the way for so many cases."""
        able = self.linear and self.loss == "hinge"
        return able and len(self.c) > MANY and not self.few_features()

    # -- exactly ---------------------------------------------------------------------

    def solve(self, problems: list[FloatArray]) -> list[Answer]:
        """Solve to all digits, by the first or second route.

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
                f"{n} cases need Gram matrices of {n}² numbers each, more than the "
                f"exact solver takes ({TOO_MANY} cases); use SVMPlus with linear "
                "kernels, the hinge loss and solver='descent', or a sample."
            )
        gram, gram_star = self.gram(), self.gram_star()
        privileged: PrivilegedGram | None = None
        if self.loss == "hinge":
            privileged = PrivilegedGram(gram_star, self.bias)
        return [self._on_grams(gram, gram_star, privileged, sign) for sign in problems]

    def _on_features(self, X: FloatArray, X_star: FloatArray, sign: Any) -> Answer:
        one = Linear(X, X_star, sign, self.c, self.gamma, self.bias)
        if self.loss == "hinge":
            return Answer.of_weights(one.solve_hinge())
        return Answer.of_weights(one.solve_squared())

    def _on_grams(
        self,
        gram: FloatArray,
        gram_star: FloatArray,
        privileged: PrivilegedGram | None,
        sign: FloatArray,
    ) -> Answer:
        c, gamma = self.c, self.gamma
        if privileged is None:
            one = Squared(gram, gram_star, sign, c, gamma, self.bias).solve()
        else:
            one = solve_hinge(Cases(gram, sign), privileged, c, gamma)
        found = Answer.of_gram(one, sign, self.X, self.X_star)
        small = self.linear and len(c) * self._features() <= _ROOM
        fair = self.loss == "squared_hinge" and len(c) > FEW
        if found.gap > (_FAIR_GAP if fair else _FINE_GAP) and small:
            other = self._on_features(_dense(self.X), _dense(self.X_star), sign)
            found = other if other.gap < found.gap else found
        return found

    # -- by sweeps -------------------------------------------------------------------

    def descend(
        self, problems: list[FloatArray], tol: float, max_iter: int, rng: Any
    ) -> list[Answer]:
        """Solve by dual coordinate descent.

        Raises
        ------
        InfeasibleError
            If no weights meet the constraints; only possible without b*.
        """
        X, X_star = sparse.csr_matrix(self.X), sparse.csr_matrix(self.X_star)
        answers = []
        with threadpool_limits(1, "blas"):  # vectors are too short to share
            for sign in problems:
                one = Descent(X, X_star, sign, self.c, self.gamma, self.bias)
                seed = int(rng.randint(2**31 - 1))
                answers.append(Answer.of_weights(one.solve(tol, max_iter, seed)))
        return answers


def solve_without(
    gram: FloatArray, X: Any, problems: list[FloatArray], c: FloatArray
) -> list[Answer]:
    """Solve the ordinary support vector machine, where nothing is privileged."""
    return [
        Answer.of_gram(solve_plain(Cases(gram, sign), c), sign, X, None)
        for sign in problems
    ]


def _dense(X: Any) -> FloatArray:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)

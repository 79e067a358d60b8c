"""SVM+: a support vector machine with privileged features."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.reading import (
    read_numeric,
    read_numeric_training,
    read_second_numeric,
    refuse_one_class,
)
from veridical._core.seeds import as_random_state
from veridical._core.weights import read_weights
from veridical.kernels.duality import InfeasibleError
from veridical.kernels.svm_plus_linear import LinearSolution
from veridical.learning.svm_plus_problem import (
    INFEASIBLE_MESSAGE,
    GramMaker,
    Kernel,
    OneAgainstRest,
    PrivilegedProblem,
    check_parameters,
    signs,
    solve_without_privileged,
    warn_of_gap,
    warn_of_sweeps,
)

#: Attributes that depend on kernels and solver; removed before each fit.
_OPTIONAL = ("coef_", "privileged_coef_", "dual_coef_", "objective_", "_fitted_rows")


class SVMPlus(OneAgainstRest):
    """Support vector machine with privileged information.

    Privileged features are known in training, but not in prediction. They tell how
    difficult each training sample is: the slack of a sample is not free, but a linear
    function of its privileged features, whose weights are learned too [1]_::

        min  ½|w|² + γ/2 |w*|² + C Σ ξᵢ   with   yᵢ(⟨w, xᵢ⟩ + b) ≥ 1 − ξᵢ,
        ξᵢ = ⟨w*, xᵢ*⟩ + b* ≥ 0

    Parameters
    ----------
    C : float, default=1.0
        Weight of the slacks in the objective; the larger, the less regularization.
    gamma : float, default=1.0
        Regularization of the privileged weights; the smaller, the freer the slacks.
    kernel : "linear", "rbf", "poly", "precomputed" or callable, default="linear"
        Of the features; a callable takes two tables and returns their Gram matrix.
    privileged_kernel : as `kernel`, default="linear"
        Of the privileged features.
    kernel_params : dict, default=None
        Parameters of `kernel`, as in `sklearn.metrics.pairwise`; for "rbf" and "poly"
        gamma is 1 / (n_features × variance of X) if it is not given.
    privileged_kernel_params : dict, default=None
        Parameters of `privileged_kernel`.
    privileged_bias : bool, default=True
        Whether slacks have a constant b*. Without it, centred privileged features
        force all slacks to be zero: then use features that are not negative.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        ``C Σ ξᵢ``, or ``C/2 Σ ξᵢ²``; the latter penalises both biases like weights.
    solver : {"auto", "exact", "descent"}, default="auto"
        "exact" works on Gram matrices, or on the features themselves where kernels are
        linear and there are few features; "descent" is dual coordinate descent for
        linear kernels and the hinge loss, with both biases penalised like weights.
        "auto" takes "descent" above 5000 samples of many features; see the notes.
    tol : float, default=1e-4
        Relative duality gap at which "descent" stops.
    max_iter : int, default=1000
        Most sweeps and Newton steps of "descent".
    random_state : int, RandomState instance or None, default=None
        Order of the samples in "descent".

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels.
    coef_ : array of shape (n_problems, n_features)
        Weights; with a linear kernel only. One problem for two classes, else one per
        class against the rest.
    intercept_ : array of shape (n_problems,)
        Biases.
    privileged_coef_ : array of shape (n_problems, n_privileged)
        Privileged weights; with a linear privileged kernel only.
    privileged_intercept_ : array of shape (n_problems,)
        Constants b* of the slacks.
    dual_coef_ : array of shape (n_problems, n_samples)
        ``αᵢ yᵢ``, 0 where a sample has no weight; with the exact solver only.
    objective_ : array of shape (n_problems,)
        Dual objective, a lower bound of the primal one; with the exact solver only.
    dual_gap_ : float
        Largest relative duality gap of all problems: an upper bound, not an estimate,
        of the distance of the objective from the optimum. Where rounding violates a
        constraint, the weights are corrected first, and the gap includes that.
    n_iter_ : int
        Linear systems solved, or sweeps and Newton steps, in the problem that took
        most.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where they have any.

    See Also
    --------
    LUFe : Takes the features that a selector left out as privileged information.
    sklearn.svm.SVC : The limit of a small `gamma` with many privileged features.

    Notes
    -----
    On Gram matrices the exact solver is an active-set method: it assumes which samples
    lie on their margin and which have slack, solves the linear system that follows, and
    corrects the assumption; where that cycles, an interior-point method is used. It
    takes O(n³) time at worst and O(n²) memory. With linear kernels and no more features
    (p, both kinds together) than samples, and n p² up to 5·10⁹, an interior-point
    method works on the features: about twenty steps of O(n p²). Descent is for linear
    kernels beyond that, above 5000 samples: a hundred sweeps, then Newton steps by
    conjugate gradients, all on sparse features. A decision value of exactly 0 is the
    second class.

    References
    ----------
    .. [1] V. Vapnik & A. Vashist, "A new learning paradigm: learning using privileged
       information", Neural Networks 22 (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from veridical.learning import SVMPlus
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 20)
    >>> X = y[:, None] + rng.normal(size=(40, 2))
    >>> hindsight = rng.normal(size=(40, 60)) + y[:, None]
    >>> model = SVMPlus(gamma=0.1).fit(X, y, X_privileged=hindsight)
    >>> model.coef_.shape, bool(model.dual_gap_ < 1e-8)
    ((1, 2), True)
    """

    def __init__(
        self,
        C: float = 1.0,
        gamma: float = 1.0,
        kernel: Kernel = "linear",
        privileged_kernel: Kernel = "linear",
        *,
        kernel_params: Any = None,
        privileged_kernel_params: Any = None,
        privileged_bias: bool = True,
        loss: str = "hinge",
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.kernel = kernel
        self.privileged_kernel = privileged_kernel
        self.kernel_params = kernel_params
        self.privileged_kernel_params = privileged_kernel_params
        self.privileged_bias = privileged_bias
        self.loss = loss
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    dual_coef_: FloatArray
    _fitted_rows: Any

    @classmethod
    def from_lambda(cls, lambda1: float, lambda2: float, **parameters: Any) -> Self:
        """Translate the weights of ``min |w|² + λ₁|w*|² + λ₂ Σ ξᵢ``.

        Half of that objective is ours with γ = λ₁ and C = λ₂/2.

        Parameters
        ----------
        lambda1, lambda2 : float
            Weights of the LUFe paper's equation (3).
        **parameters : any
            Further parameters of the class.

        Returns
        -------
        SVMPlus
            The classifier, not fitted yet.
        """
        return cls(C=lambda2 / 2, gamma=lambda1, **parameters)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    # -- learning --------------------------------------------------------------------

    def fit(
        self, X: Any, y: Any, X_privileged: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from features and privileged features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features; their Gram matrix if `kernel` is "precomputed".
        y : array-like of shape (n_samples,)
            The class labels.
        X_privileged : as X, of shape (n_samples, n_privileged), optional
            The privileged features. Without any, the ordinary support vector machine
            is fitted, with a warning.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of C for each sample; none negative.

        Returns
        -------
        SVMPlus
            The fitted classifier itself.
        """
        check_parameters(self)
        X, y = read_numeric_training(self, X, y, accept_sparse=True)
        weights = read_weights(sample_weight, len(y))
        star = None
        if X_privileged is not None:
            star = read_second_numeric(self, X_privileged, y, "X_privileged")
        kept = np.flatnonzero(weights)
        self.classes_ = np.unique(y[kept])
        refuse_one_class(self.classes_, type(self).__name__)
        make, X = self._make_kernel("kernel", X, kept)
        make_star, star = self._make_kernel("privileged_kernel", star, kept)
        self._make, self._kept = make, kept
        for name in _OPTIONAL:  # an earlier fit may have been of another kind
            self.__dict__.pop(name, None)
        problems = signs(y[kept], self.classes_)
        c = float(self.C) * weights[kept]
        if star is None:
            self._fit_plain(X, problems, c)
        else:
            problem = self._make_problem(X, star, make_star, c)
            self._fit_privileged(problem, X, problems)
        if kept.size < len(y) and hasattr(self, "dual_coef_"):
            whole = np.zeros((len(problems), len(y)))
            whole[:, kept] = self.dual_coef_
            self.dual_coef_ = whole
        return self

    def _make_kernel(self, name: str, X: Any, kept: IntArray) -> tuple[Any, Any]:
        """Check a kernel, and set its width on the samples that have weight."""
        if X is None:
            return None, None
        kernel, parameters = getattr(self, name), getattr(self, f"{name}_params")
        make = GramMaker.make(kernel, parameters, X, name)
        if kept.size == X.shape[0]:
            return make, X
        X = X[kept][:, kept] if kernel == "precomputed" else X[kept]
        return GramMaker.make(kernel, parameters, X, name), X

    def _make_problem(
        self, X: Any, star: Any, make_star: GramMaker, c: FloatArray
    ) -> PrivilegedProblem:
        def without_rounding(
            gram: FloatArray, gram_star: FloatArray
        ) -> tuple[FloatArray, FloatArray]:
            return (
                self._make.without_rounding(gram),
                make_star.without_rounding(gram_star),
            )

        definite = self._make.definite and make_star.definite
        return PrivilegedProblem(
            X if self._make.linear else None,
            star if make_star.linear else None,
            lambda: self._make.gram(X),
            lambda: make_star.gram(star),
            c,
            float(self.gamma),
            bool(self.privileged_bias),
            self.loss,
            None if definite else without_rounding,
        )

    def _fit_privileged(
        self, problem: PrivilegedProblem, X: Any, problems: list[FloatArray]
    ) -> None:
        if self.solver == "descent" and not (problem.linear and self.loss == "hinge"):
            raise InputError(
                "solver='descent' is for linear kernels and the hinge loss; use "
                "solver='exact'."
            )
        descends = self.solver == "descent" or (
            self.solver == "auto" and problem.takes_descent()
        )
        try:
            if descends:
                rng = as_random_state(self.random_state)
                tol, max_iter = float(self.tol), int(self.max_iter)
                found = problem.descend(problems, tol, max_iter, rng)
            else:
                found = problem.solve(problems)
        except InfeasibleError:
            raise InputError(INFEASIBLE_MESSAGE) from None
        self._store(None if descends else X, problems, found)
        if descends:
            warn_of_sweeps(self)
            return
        warn_of_gap(self)

    def _fit_plain(self, X: Any, problems: list[FloatArray], c: FloatArray) -> None:
        warnings.warn(
            f"{type(self).__name__} got no privileged features and fits an ordinary "
            "support vector machine; pass X_privileged.",
            UserWarning,
            stacklevel=3,
        )
        rows = X if self._make.linear else None
        gram = self._make.without_rounding(self._make.gram(X))
        self._store(X, problems, solve_without_privileged(gram, rows, problems, c))
        warn_of_gap(self)

    def _store(
        self, X: Any, problems: list[FloatArray], found: list[LinearSolution]
    ) -> None:
        """Store the solutions; without X, that is by descent, no multipliers."""
        self._store_solutions(found)
        self.privileged_intercept_ = np.array([f.privileged_bias for f in found])
        if found[0].weights is not None:
            self.coef_ = np.array([f.weights for f in found])
        if found[0].privileged_weights is not None:
            self.privileged_coef_ = np.array([f.privileged_weights for f in found])
        if X is not None:
            self._fitted_rows = X
            self.objective_ = np.array([f.objective for f in found])
            self.dual_coef_ = np.array(
                [f.alpha * s for f, s in zip(found, problems, strict=True)]
            )

    # -- predicting ------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """Compute decision values from the features, without privileged ones.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features; their Gram matrix with the training samples if `kernel` is
            "precomputed".

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive where the second is predicted.
        """
        check_is_fitted(self)
        X = read_numeric(self, X, reset=False, accept_sparse=True)
        if self._make.linear:
            scores = X @ self.coef_.T
        else:
            X = X[:, self._kept] if self._make.kernel == "precomputed" else X
            across = self._make(X, self._fitted_rows)
            scores = across @ self.dual_coef_[:, self._kept].T
        return self._as_decisions(scores)

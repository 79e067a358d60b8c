"""Learning using unselected features (LUFe)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Real
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectFromModel, SelectorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import check_cv
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import LabelBinarizer
from sklearn.svm import LinearSVC
from sklearn.utils.validation import (
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)
from threadpoolctl import threadpool_limits

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.encoding import refuse_lazy, refuse_repeated_names
from veridical._core.errors import InputError
from veridical._core.reading import (
    is_frame,
    read_numeric_training,
    read_part,
    refuse_one_class,
)
from veridical._core.sklearn_private import importances_of
from veridical._core.text import listed, quote
from veridical._core.weights import read_weights
from veridical.kernels.duality import POOR_GAP, InfeasibleError
from veridical.kernels.interior import center, factor
from veridical.kernels.margins import LogisticPoint, solve_logistic
from veridical.kernels.statistics import between_classes, f_ratio
from veridical.kernels.svm_plus import (
    PrivilegedGram,
    SignedGram,
    solve_grid,
    solve_plain,
)
from veridical.kernels.threads import run_jobs, thread_count
from veridical.learning.inputs import is_positive
from veridical.learning.svm_plus_problem import (
    OneAgainstRest,
    PrivilegedProblem,
    check_parameters,
    choose_class,
    signs,
    solve_without_privileged,
    warn_of_gap,
)

# -- selected and unselected features --------------------------------------------------


class BestByAnova(SelectorMixin, BaseEstimator):
    """The ten best features by weighted ANOVA F: the default selector of LUFe."""

    def fit(self, X: Any, y: NDArray[Any], sample_weight: Any = None) -> Self:
        """Compute the F ratio of every feature; −∞ for a constant feature."""
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        if not sparse.issparse(X):
            # The ratio does not change, but sums of squares far from 0 lose digits.
            X = X - X[np.argmax(weights)]
        classes, codes = np.unique(y, return_inverse=True)
        members = np.zeros((len(classes), len(y)))
        members[codes, np.arange(len(y))] = weights
        (between,), (centre,), _ = between_classes(X, members[:, None, :])
        squares = np.asarray(weights @ (X.multiply(X) if sparse.issparse(X) else X * X))
        total = squares - weights.sum() * centre**2
        within = np.maximum(total - between, 0.0)
        df = max(len(y) - len(classes), 1)  # weights need not sum to len(y)
        ratio = f_ratio(between, within, len(classes), len(classes) + df)
        self.scores_ = np.where(total > 1e-12 * squares, ratio, -np.inf)
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        best = np.argsort(-self.scores_, kind="stable")[:10]
        return np.isin(np.arange(len(self.scores_)), best)


@dataclass(frozen=True, eq=False)
class Training:
    """Training samples, with the selected and the unselected features.

    Parameters
    ----------
    X : array or sparse matrix
        The features.
    y, weights : arrays
        Labels and weights of the samples.
    selected, unselected : int arrays
        Feature indices; the unselected ones best first.
    """

    X: Any
    y: NDArray[Any]
    weights: FloatArray
    selected: IntArray
    unselected: IntArray

    def merged(self) -> tuple[IntArray, Training]:
        """Merge equal samples, summing their weights; drop samples without weight.

        The optimum is the same: a sample with weight 2 is a sample given twice. But
        equal samples make the problem degenerate, and its solution less exact.

        Returns
        -------
        kept : int array
            The samples that are kept, in the order of the data.
        training : Training
            These samples.
        """
        first: dict[Any, int] = {}
        weights = np.zeros(len(self.y))
        for i, key in enumerate(_row_keys(self.X)):
            if self.weights[i] > 0:
                weights[first.setdefault((key, self.y[i]), i)] += self.weights[i]
        kept = np.flatnonzero(weights)
        if kept.size == len(self.y):
            return kept, self
        return kept, replace(
            self, X=self.X[kept], y=self.y[kept], weights=weights[kept]
        )

    def gram(self) -> FloatArray:
        """Compute the Gram matrix of the selected features."""
        return _product(self.X[:, self.selected])

    def gram_star(self) -> FloatArray:
        """Compute the Gram matrix of the unselected features."""
        return _product(self.X[:, self.unselected])


def _row_keys(X: Any) -> Iterator[Any]:
    """Yield a hashable key for every row, the same for equal rows."""
    if not sparse.issparse(X):
        yield from (row.tobytes() for row in X)
        return
    X = X.tocsr(copy=True)
    X.sum_duplicates()  # sorts, too
    for lo, hi in pairwise(X.indptr):
        yield X.indices[lo:hi].tobytes(), X.data[lo:hi].tobytes()


def _product(part: Any) -> FloatArray:
    product = part @ part.T
    return product if isinstance(product, np.ndarray) else product.toarray()


def _check_fraction(fraction: Any) -> None:
    """Raise if a share is not above 0 and at most 1."""
    if not isinstance(fraction, Real) or not 0 < float(fraction) <= 1:
        raise InputError(
            f"unselected_fraction={fraction!r} must be above 0 and at most 1: it is "
            "the share of the unselected features to learn with."
        )


def _best_unselected(
    selector: Any, support: NDArray[np.bool_], fraction: float
) -> IntArray:
    """Return the best of the unselected features, by the order of the selector."""
    unselected = np.flatnonzero(~support)
    order = _read_order(selector, len(support))
    if order is None:
        if fraction < 1:
            raise InputError(
                f"{type(selector).__name__} does not order the features it leaves out "
                "(it has no order_, ranking_, scores_ or variances_), so there is no "
                "best share of them; use unselected_fraction=1."
            )
        return unselected
    ranked = order[~support[order]]
    return ranked[: int(np.floor(fraction * ranked.size + 1e-9))]


def _read_order(selector: Any, n_features: int) -> IntArray | None:
    """Return all features, best first, ties by index; None if there is no order."""
    for name in ("order_", "ranking_", "scores_", "variances_"):
        values = getattr(selector, name, None)
        if values is None or np.shape(values) != (n_features,):
            continue
        if name == "order_":
            return np.asarray(values, dtype=np.intp)
        if name == "ranking_":
            return np.argsort(values, kind="stable")
        return _best_first(values)
    if isinstance(selector, SelectFromModel):
        return _best_first(importances_of(selector))
    return None


def _best_first(scores: Any) -> IntArray:
    return np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")


# -- LUFe ------------------------------------------------------------------------------

_INFEASIBLE = (
    "No weights meet the constraints: without privileged_bias the slacks must be a "
    "linear function of the unselected features that is nowhere negative, and the "
    "selected features do not separate the classes without slack. Use "
    "privileged_bias=True, or features that are neither negative nor centred."
)


class LUFe(OneAgainstRest):
    """Learning using unselected features.

    A selector divides the features. The classifier is a linear function of the selected
    ones; in training only, a linear function of the unselected ones bounds its loss on
    each sample: an SVM+ with the unselected features as privileged information [1]_.
    Prediction uses the selected features and no others.

    Parameters
    ----------
    selector : selector, default=None
        Any selector of veridical or scikit-learn that is not fitted yet; None takes the
        10 best features by ANOVA F.
    C : float, default=1.0
        Weight of the slacks in the objective; the larger, the less regularization.
    gamma : float, default=1.0
        Regularization of the privileged weights; the smaller, the freer the slacks.
    unselected_fraction : float, default=1.0
        Share of the unselected features to learn with, the best by the selector's order
        first; rounded down.
    privileged_bias : bool, default=True
        Whether slacks have a constant. Needed for standardised features; see
        `SVMPlus`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels.
    selector_ : selector
        The fitted selector.
    support_ : bool array of shape (n_features_in_,)
        Which features were selected.
    unselected_ : int array
        Features that were used in training only, best first.
    coef_ : array of shape (n_problems, n_selected)
        Weights of the selected features, in the order of the data. One problem for two
        classes, else one per class against the rest.
    intercept_ : array of shape (n_problems,)
        Biases.
    privileged_coef_ : array of shape (n_problems, n_unselected)
        Weights in the bound, in the order of ``unselected_``.
    dual_gap_ : float
        Largest relative duality gap; see `SVMPlus`.
    n_iter_ : int
        Linear systems solved in the problem that took most.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where they have any.

    See Also
    --------
    LUFeCV : Chooses C and gamma by cross-validation.
    SVMPlus : The classifier behind it, for privileged features of any origin.

    Notes
    -----
    Standardise the features beforehand (in a pipeline): the result depends on their
    scale. If the selector leaves nothing out, the ordinary support vector machine
    is fitted, with a warning. There should be more unselected features than samples:
    few of them cannot bound the slack of every sample.

    References
    ----------
    .. [1] J. Taylor, V. Sharmanska, K. Kersting, D. Weir & N. Quadrianto, "Learning
       using unselected features (LUFe)", IJCAI 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from veridical.learning import LUFe
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 200))
    >>> X[:, :5] += 1.5 * y[:, None]
    >>> model = LUFe(SelectKBest(k=10)).fit(X, y)
    >>> model.coef_.shape, model.unselected_.size
    ((1, 10), 190)
    >>> type(model.deploy()).__name__
    'LinearSVC'
    """

    def __init__(
        self,
        selector: Any = None,
        *,
        C: float = 1.0,
        gamma: float = 1.0,
        unselected_fraction: float = 1.0,
        privileged_bias: bool = True,
    ) -> None:
        self.selector = selector
        self.C = C
        self.gamma = gamma
        self.unselected_fraction = unselected_fraction
        self.privileged_bias = privileged_bias

    # -- learning --------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Select, then learn from the selected and the unselected features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of C for each sample; none negative. The selector sees it if it takes
            weights.

        Returns
        -------
        LUFe
            The fitted classifier itself.
        """
        check_parameters(self)
        _, training = self._prepare(X, y, sample_weight).merged()
        star = training.gram_star if training.unselected.size else None
        self._solve(training, training.gram, star, float(self.C), float(self.gamma))
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Check the data, fit the selector, divide the features."""
        _check_fraction(self.unselected_fraction)
        X, y = read_numeric_training(self, X, y, accept_sparse=True)
        weights = read_weights(sample_weight, len(y))
        self.classes_ = np.unique(y[weights > 0])
        refuse_one_class(self.classes_, type(self).__name__)
        self.selector_ = self._select(X, y, sample_weight, weights)
        self.support_ = np.asarray(self.selector_.get_support())
        selected = np.flatnonzero(self.support_)
        if not selected.size:
            raise InputError(
                f"{type(self.selector_).__name__} selected no feature; there is "
                "nothing to learn from. Use a selector that keeps more features."
            )
        self.unselected_ = _best_unselected(
            self.selector_, self.support_, float(self.unselected_fraction)
        )
        if not self.unselected_.size:
            warnings.warn(
                f"{type(self.selector_).__name__} selected {selected.size} of "
                f"{len(self.support_)} features, and none is left unselected: an "
                "ordinary model of the selected features is fitted. Select fewer "
                "features, or raise unselected_fraction.",
                UserWarning,
                stacklevel=4,
            )
        return Training(X, y, weights, selected, self.unselected_)

    def _select(
        self, X: Any, y: NDArray[Any], sample_weight: Any, weights: FloatArray
    ) -> Any:
        """Fit the selector on the samples that have weight."""
        kept = np.flatnonzero(weights)
        if kept.size < len(y):
            X, y, weights = X[kept], y[kept], weights[kept]
        selector = BestByAnova() if self.selector is None else self.selector
        if not (hasattr(selector, "fit") and hasattr(selector, "get_support")):
            raise InputError(
                f"selector={quote(self.selector)} is not a selector: it needs fit and "
                "get_support. Pass an object such as veridical.selection.AnovaF(300)."
            )
        selector = clone(selector)
        if sample_weight is not None and has_fit_parameter(selector, "sample_weight"):
            return selector.fit(X, y, sample_weight=weights)
        return selector.fit(X, y)

    def _solve(
        self,
        training: Training,
        gram: Callable[[], FloatArray],
        gram_star: Callable[[], FloatArray] | None,
        C: float,
        gamma: float,
    ) -> None:
        """Solve one problem per class, and store the weights.

        Gram matrices are computed only where they are needed.
        """
        problems, c = signs(training.y, self.classes_), C * training.weights
        X, U = training.X[:, training.selected], training.X[:, training.unselected]
        if gram_star is None:
            found = solve_without_privileged(gram(), X, problems, c)
        else:
            problem = PrivilegedProblem(
                X, U, gram, gram_star, c, gamma, bool(self.privileged_bias)
            )
            try:
                found = problem.solve(problems)
            except InfeasibleError:
                raise InputError(_INFEASIBLE) from None
        self.coef_ = np.array([f.weights for f in found])
        self.privileged_coef_ = np.zeros((len(found), U.shape[1]))
        if gram_star is not None:
            self.privileged_coef_[:] = [f.privileged_weights for f in found]
        self._store_solutions(found)
        warn_of_gap(self)

    # -- predicting ------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """Compute decision values from the selected features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features as in ``fit``, or a data frame of the selected ones. The
            values of the unselected features do not matter; they may be NaN.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive where the second is predicted.
        """
        check_is_fitted(self)
        return self._as_decisions(self._read_selected(X) @ self.coef_.T)

    def _read_selected(self, X: Any) -> Any:
        """Return the selected features; the others are not checked."""
        names = getattr(self, "feature_names_in_", None)
        selected = np.flatnonzero(self.support_)
        refuse_lazy(X)
        if is_frame(X):
            return read_part(self, self._select_from_frame(X, names, selected), None)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=None, ensure_all_finite=False,
            reset=False,
        )  # fmt: skip
        told = selected if names is None else names[selected]
        return read_part(self, X[:, selected], told)

    def _select_from_frame(self, X: Any, names: Any, selected: IntArray) -> Any:
        refuse_repeated_names(X)
        frame = nw.from_native(X, eager_only=True)
        if names is not None:
            wanted = [str(name) for name in names[selected]]
            if set(wanted) == set(frame.columns) and len(wanted) < len(names):
                return frame.select(wanted).to_native()
        try:
            validate_data(self, X, skip_check_array=True, reset=False)
        except ValueError as problem:
            if names is None:
                raise
            told = _describe_missing(wanted, frame.columns)
            raise InputError(f"{problem}{told}") from None
        return frame[:, selected.tolist()].to_native()

    def deploy(self) -> LinearSVC:
        """Return a plain scikit-learn model of the selected features alone.

        It predicts what this classifier predicts, from a table that holds the selected
        features in their order, and can be loaded without veridical. (A score of
        exactly 0 is the first class there, the second here.)

        Returns
        -------
        LinearSVC
            Fitted; its ``feature_names_in_`` are those of the selected features, where
            they have any.
        """
        check_is_fitted(self)
        model = LinearSVC(C=self._deployed_C())
        model.classes_ = self.classes_.copy()
        model.coef_ = self.coef_.copy()
        model.intercept_ = self.intercept_.copy()
        model.n_features_in_ = self.coef_.shape[1]
        model.n_iter_ = self.n_iter_
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_[self.support_]
        return model

    def _deployed_C(self) -> float:
        return float(self.C)


def _describe_missing(wanted: list[str], columns: list[str]) -> str:
    """Write which of the selected features are missing, or that there are others."""
    lacking = [name for name in wanted if name not in set(columns)]
    told = "all of them are present, but there are others too"
    if lacking:
        told = f"{len(lacking)} of these are missing: {listed(lacking)}"
    return (
        "Pass all features of fit in their order, or a data frame of exactly the "
        f"{len(wanted)} selected ones; {told}."
    )


# -- C and gamma by cross-validation ---------------------------------------------------

#: The grid of the LUFe paper, for both parameters.
GRID = tuple(10.0**k for k in range(-3, 4))


class LUFeCV(LUFe):
    """Learning using unselected features, C and gamma chosen by cross-validation.

    The selector is fitted once, on all samples given; the folds are used only to choose
    C and gamma, as in the LUFe paper [1]_. So ``best_score_`` is optimistic:
    estimate accuracy by cross-validating this classifier as a whole.

    Parameters
    ----------
    selector : selector, default=None
        Any selector of veridical or scikit-learn that is not fitted yet; None takes the
        10 best features by ANOVA F.
    Cs : sequence of float, default=None
        Values of C; None takes seven from 0.001 to 1000.
    gammas : sequence of float, default=None
        Values of gamma; None takes seven from 0.001 to 1000.
    cv : int, splitter or iterable of (train, test), default=5
        Folds; an int makes stratified ones, in the order of the samples.
    unselected_fraction : float, default=1.0
        Share of the unselected features to learn with; see `LUFe`.
    privileged_bias : bool, default=True
        Whether slacks have a constant; see `LUFe`.
    n_jobs : int, default=None
        Number of threads for the folds; None is 1, -1 all cores.

    Attributes
    ----------
    C_, gamma_ : float
        The pair with the best mean accuracy; of equal ones that with the first gamma,
        then with the first C.
    best_score_ : float
        That accuracy.
    scores_ : array of shape (n_gammas, n_Cs, n_folds)
        All accuracies; NaN where a problem has no solution.
    classes_, selector_, support_, unselected_, coef_, intercept_ : see `LUFe`
        Of the classifier with the chosen pair, on all samples.
    privileged_coef_, dual_gap_, n_iter_, n_features_in_ : see `LUFe`
        Likewise.

    See Also
    --------
    LUFe : With C and gamma given.

    Notes
    -----
    Gram matrices are computed once, on all samples; a fold takes its part of them.
    Within a fold the whole grid shares one factorization, and each solution is the
    starting point of the next.

    References
    ----------
    .. [1] J. Taylor, V. Sharmanska, K. Kersting, D. Weir & N. Quadrianto, "Learning
       using unselected features (LUFe)", IJCAI 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from veridical.learning import LUFeCV
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 200))
    >>> X[:, :5] += y[:, None]
    >>> model = LUFeCV(SelectKBest(k=10), n_jobs=1).fit(X, y)
    >>> model.scores_.shape
    (7, 7, 5)
    """

    def __init__(
        self,
        selector: Any = None,
        *,
        Cs: Sequence[float] | None = None,
        gammas: Sequence[float] | None = None,
        cv: Any = 5,
        unselected_fraction: float = 1.0,
        privileged_bias: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.selector = selector
        self.Cs = Cs
        self.gammas = gammas
        self.cv = cv
        self.unselected_fraction = unselected_fraction
        self.privileged_bias = privileged_bias
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Select features, choose C and gamma, and learn from all samples.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of C for each sample, and its weight in an accuracy; none negative.
            The selector sees it if it takes weights.

        Returns
        -------
        LUFeCV
            The fitted classifier itself.
        """
        Cs, gammas = _read_grid(self.Cs, "Cs"), _read_grid(self.gammas, "gammas")
        n_threads = thread_count(self.n_jobs)
        training = self._prepare(X, y, sample_weight)
        gram = training.gram()
        gram_star = training.gram_star() if training.unselected.size else None
        with threadpool_limits(1, "blas"):
            self.scores_ = self._score(training, gram, gram_star, Cs, gammas, n_threads)
            means = self.scores_.mean(axis=2)
            kept, training = training.merged()
            inside = np.ix_(kept, kept)
            gram = gram[inside]
            gram_star = None if gram_star is None else gram_star[inside]
            part: Any = None if gram_star is None else lambda: gram_star
            if np.isnan(means).all():  # raises: no pair is feasible
                self._solve(training, lambda: gram, part, Cs[0], gammas[0])
            row, column = np.unravel_index(np.nanargmax(means), means.shape)
            self.best_score_ = float(means[row, column])
            self.C_, self.gamma_ = Cs[column], gammas[row]
            self._solve(training, lambda: gram, part, self.C_, self.gamma_)
        return self

    def _score(
        self,
        training: Training,
        gram: FloatArray,
        gram_star: FloatArray | None,
        Cs: list[float],
        gammas: list[float],
        n_threads: int,
    ) -> FloatArray:
        splitter = check_cv(self.cv, training.y, classifier=True)
        folds = list(splitter.split(training.X, training.y))
        if not folds:
            raise InputError(f"cv={quote(self.cv)} has no folds; pass at least one.")
        scores = np.empty((len(gammas), len(Cs), len(folds)))

        def work(number: int) -> None:
            train, test = folds[number]
            scores[:, :, number] = _score_fold(
                training, gram, gram_star, train, test, Cs, gammas, self
            )

        run_jobs(work, [(number,) for number in range(len(folds))], n_threads)
        return scores

    def _deployed_C(self) -> float:
        return float(self.C_)


def _read_grid(given: Sequence[float] | None, name: str) -> list[float]:
    try:
        values = list(GRID if given is None else given)
    except TypeError:
        values = []
    if not values or not all(map(is_positive, values)):
        raise InputError(f"{name}={given!r} must be a list of positive numbers.")
    return [float(v) for v in values]


def _score_fold(
    training: Training,
    gram: FloatArray,
    gram_star: FloatArray | None,
    train: Any,
    test: Any,
    Cs: list[float],
    gammas: list[float],
    estimator: LUFeCV,
) -> FloatArray:
    """Compute the accuracy on one fold, for every gamma and C."""
    classes, weights = estimator.classes_, training.weights
    train, test = np.asarray(train), np.asarray(test)
    train, test = train[weights[train] > 0], test[weights[test] > 0]
    if not test.size or len(np.unique(training.y[train])) < len(classes):
        raise InputError(
            "A fold has no sample to test, or its training set lacks one of the "
            "classes; use fewer folds, or drop classes with so few samples."
        )
    answers = []
    for sign in signs(training.y, classes):
        if gram_star is None:
            line = _plain_scores(gram, sign, weights, train, test, Cs)
            answers.append(np.repeat(line[None], len(gammas), axis=0))
        else:
            answers.append(
                _score_grid(
                    training, gram, gram_star, sign, train, test, Cs, gammas,
                    estimator.privileged_bias,
                )
            )  # fmt: skip
    scores = np.stack(answers, axis=-1)
    result = np.empty(scores.shape[:2])
    for place in np.ndindex(result.shape):
        one = scores[place]
        if np.isnan(one).any():
            result[place] = np.nan
            continue
        guess = choose_class(classes, one[:, 0] if one.shape[1] == 1 else one)
        result[place] = np.average(guess == training.y[test], weights=weights[test])
    return result


def _score_grid(
    training: Training,
    gram: FloatArray,
    gram_star: FloatArray,
    sign: FloatArray,
    train: IntArray,
    test: IntArray,
    Cs: list[float],
    gammas: list[float],
    bias: bool,
) -> FloatArray:
    """Compute test scores, shape (n_gammas, n_Cs, n_test); NaN where infeasible.

    Where Gram matrices lose digits, as they do with outliers, it is solved again as
    in `fit`, on the features.
    """
    inside, weights = np.ix_(train, train), training.weights[train]
    problem = SignedGram(gram[inside], sign[train])
    privileged = PrivilegedGram(gram_star[inside], bias)
    across = gram[np.ix_(test, train)] * sign[train]
    scores = np.full((len(gammas), len(Cs), len(test)), np.nan)
    grid = solve_grid(problem, privileged, Cs, gammas, weights)
    for row, column in np.ndindex(scores.shape[:2]):
        one = grid[row][column]
        if one is None:
            continue
        scores[row, column] = across @ one.alpha + one.bias
        if one.gap > POOR_GAP:
            X, U = training.X[:, training.selected], training.X[:, training.unselected]
            (exact,) = PrivilegedProblem(
                X[train],
                U[train],
                lambda: problem.gram,
                lambda: privileged.gram,
                Cs[column] * weights,
                gammas[row],
                bias,
            ).solve([sign[train]])
            scores[row, column] = X[test] @ exact.weights + exact.bias
    return scores


def _plain_scores(
    gram: FloatArray,
    sign: FloatArray,
    weights: FloatArray,
    train: Any,
    test: Any,
    Cs: list[float],
) -> FloatArray:
    problem = SignedGram(gram[np.ix_(train, train)], sign[train])
    across = gram[np.ix_(test, train)] * sign[train]
    found = [solve_plain(problem, C * weights[train]) for C in Cs]
    return np.array([across @ one.alpha + one.bias for one in found])


# -- the logistic loss -----------------------------------------------------------------


class LUFeLogistic(LUFe):
    """Logistic regression that learns from the unselected features.

    As in `LUFe`, in training only, a linear function of the unselected features bounds
    the loss of each sample; here that is the logistic loss::

        min  ½|w|² + γ/2 |w*|² + C Σ tᵢ   with   log(1 + exp(−yᵢ f(xᵢ))) ≤ tᵢ,
        tᵢ = ⟨w*, xᵢ*⟩ + b*

    The result is a logistic regression on the selected features with sample weights,
    whose sum is the number of samples; the unselected features decide how far the
    weights may differ. As gamma goes to 0, with more unselected features than samples,
    all weights become equal: ordinary logistic regression.

    Parameters
    ----------
    selector : selector, default=None
        Any selector of veridical or scikit-learn that is not fitted yet; None takes the
        10 best features by ANOVA F.
    C : float, default=1.0
        Weight of the bounds in the objective; the larger, the less regularization.
    gamma : float, default=1.0
        Regularization of the privileged weights; the smaller, the freer the bounds.
    unselected_fraction : float, default=1.0
        Share of the unselected features to learn with, the best by the selector's order
        first; rounded down.

    Attributes
    ----------
    classes_, selector_, support_, unselected_, coef_, intercept_ : see `LUFe`
        As there; so are privileged_coef_, n_iter_ and n_features_in_.
    sample_weights_ : array of shape (n_problems, n_samples)
        Weight of each sample in the logistic regression, in units of C.
    dual_gap_ : float
        Largest relative duality gap.

    See Also
    --------
    LUFe : With the hinge loss; faster.

    Notes
    -----
    The paper leaves losses other than the hinge to future work [1]_; this form is ours.
    An interior-point method takes some tens of Newton steps of O((n_selected + n)³).
    With several classes, each is fitted against the rest, and their probabilities are
    scaled to sum to 1. If
    the selector leaves nothing out, ordinary logistic regression is fitted, with a
    warning.

    References
    ----------
    .. [1] J. Taylor, V. Sharmanska, K. Kersting, D. Weir & N. Quadrianto, "Learning
       using unselected features (LUFe)", IJCAI 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest
    >>> from veridical.learning import LUFeLogistic
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = rng.normal(size=(60, 200))
    >>> X[:, :5] += y[:, None]
    >>> model = LUFeLogistic(SelectKBest(k=10)).fit(X, y)
    >>> model.predict_proba(X[:3]).shape, round(float(model.sample_weights_.sum()))
    ((3, 2), 60)
    """

    def __init__(
        self,
        selector: Any = None,
        *,
        C: float = 1.0,
        gamma: float = 1.0,
        unselected_fraction: float = 1.0,
    ) -> None:
        self.selector = selector
        self.C = C
        self.gamma = gamma
        self.unselected_fraction = unselected_fraction

    def _solve(
        self,
        training: Training,
        gram: Callable[[], FloatArray],
        gram_star: Callable[[], FloatArray] | None,
        C: float,
        gamma: float,
    ) -> None:
        problems, c = signs(training.y, self.classes_), C * training.weights
        if gram_star is None:
            self._solve_plain(training, problems, C)
            return
        (Z, pivots), (Z_star, pivots_star) = factor(gram()), factor(center(gram_star()))
        found = [solve_logistic(Z, Z_star, s, c, gamma) for s in problems]
        X = training.X
        rows = _sample_coefficients([f.w for f in found], Z, pivots)
        self.coef_ = np.asarray(rows @ X[:, training.selected])
        rows = _sample_coefficients([f.w_star for f in found], Z_star, pivots_star)
        rows -= rows.mean(axis=1, keepdims=True)  # the factor is of centred features
        self.privileged_coef_ = np.asarray(rows @ X[:, training.unselected])
        self._store(found, C)

    def _store(self, found: list[LogisticPoint], C: float) -> None:
        self.intercept_ = np.array([f.b for f in found])
        self.sample_weights_ = np.array([f.alpha for f in found]) / C
        self.dual_gap_ = float(max(f.gap for f in found))
        self.n_iter_ = max(f.n_steps for f in found)
        warn_of_gap(self)

    def _solve_plain(
        self, training: Training, problems: list[FloatArray], C: float
    ) -> None:
        part = training.X[:, training.selected]
        found = [
            LogisticRegression(C=C, tol=1e-8, max_iter=1000).fit(
                part, sign, sample_weight=training.weights
            )
            for sign in problems
        ]
        self.coef_ = np.concatenate([f.coef_ for f in found])
        self.intercept_ = np.concatenate([f.intercept_ for f in found])
        self.privileged_coef_ = np.zeros((len(found), 0))
        self.sample_weights_ = np.tile(training.weights, (len(found), 1))
        self.dual_gap_ = 0.0
        self.n_iter_ = int(max(f.n_iter_.max() for f in found))

    def predict_proba(self, X: Any) -> FloatArray:
        """Compute probabilities of the classes from the selected features.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features, as in ``decision_function``.

        Returns
        -------
        array of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        check_is_fitted(self)
        found = expit(self.decision_function(X))
        if found.ndim == 1:
            return np.column_stack([1.0 - found, found])
        return found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Compute log-probabilities of the classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features, as in ``decision_function``.

        Returns
        -------
        array of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        return np.log(np.maximum(self.predict_proba(X), 1e-300))

    def deploy(self) -> Any:
        """Return a plain scikit-learn model of the selected features alone.

        Returns
        -------
        LogisticRegression or OneVsRestClassifier
            Fitted, with the same probabilities; the latter for more than two classes.
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return self._plain_model(self.classes_, 0)
        model = OneVsRestClassifier(LogisticRegression(C=float(self.C)))
        model.classes_ = self.classes_.copy()
        model.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(self.classes_)
        two = np.array([0, 1])
        model.estimators_ = [
            self._plain_model(two, row) for row in range(len(self.classes_))
        ]
        model.n_features_in_ = self.coef_.shape[1]
        return model

    def _plain_model(self, classes: NDArray[Any], row: int) -> LogisticRegression:
        model = LogisticRegression(C=float(self.C))
        model.classes_ = classes.copy()
        model.coef_ = self.coef_[row : row + 1].copy()
        model.intercept_ = self.intercept_[row : row + 1].copy()
        model.n_features_in_ = self.coef_.shape[1]
        model.n_iter_ = np.array([self.n_iter_])
        if hasattr(self, "feature_names_in_"):
            model.feature_names_in_ = self.feature_names_in_[self.support_]
        return model


def _sample_coefficients(
    weights: list[FloatArray], Z: FloatArray, pivots: Any
) -> FloatArray:
    """Return coefficients of the samples that give the weights of a factor."""
    rows = np.zeros((len(weights), len(Z)))
    if pivots.size:
        rows[:, pivots] = np.linalg.solve(Z[pivots].T, np.array(weights).T).T
    return rows

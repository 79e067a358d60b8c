"""LUFe: what a selector leaves out still teaches."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.svm import LinearSVC
from sklearn.utils.validation import (
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.encoding import refuse_lazy, refuse_repeated
from veridical._core.errors import InputError
from veridical._core.reading import (
    is_frame,
    read_numeric_training,
    read_part,
    refuse_one_class,
)
from veridical._core.sklearn_private import read_sample_weight
from veridical._core.text import listed, show
from veridical.kernels.svm_plus_cases import InfeasibleError
from veridical.learning.lufe_split import BestByAnova, Training, check_fraction, cut
from veridical.learning.svm_plus_checks import (
    check_parameters,
    choose,
    warn_of_gap,
)
from veridical.learning.svm_plus_grams import signs
from veridical.learning.svm_plus_solve import Task, solve_without

_INFEASIBLE = (
    "No weights meet the constraints: without privileged_bias the slacks must be a "
    "linear function of the unselected features that is nowhere negative, and the "
    "selected features do not separate the classes without slack. Use "
    "privileged_bias=True, or features that are neither negative nor centred."
)


class LUFe(ClassifierMixin, BaseEstimator):
    """Learning using unselected features.

    A selector splits the features. The classifier is a linear function of the selected
    ones; the unselected ones bound, in training only, how badly it may do on each case:
    an SVM+ with the unselected features as privileged information [1]_. Prediction
    touches the selected columns and no others.

    Parameters
    ----------
    selector : selector, default=None
        Any selector of veridical or scikit-learn that is not fitted yet; None takes the
        10 best features by ANOVA F.
    C : float, default=1.0
        Weight of the slacks in the objective; the larger, the less regularization.
    gamma : float, default=1.0
        Weight of the privileged weights; the smaller, the freer are the slacks.
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
        Which columns were selected.
    unselected_ : int array
        Columns that were learned with but are not used, best first.
    coef_ : array of shape (n_problems, n_selected)
        Weights of the selected columns, in the order of the data. One problem for two
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
    Standardise the columns beforehand (in a pipeline): the result depends on their
    scale. If the selector leaves nothing out, the ordinary support vector machine
    is fitted, with a warning. The unselected features should be more than the cases:
    few of them cannot bound the slacks case by case.

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
        """Select, then learn from the selected and the unselected.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The class labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of C for each case; none negative. The selector sees it if it takes
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
        """Check the data, fit the selector, split the columns."""
        check_fraction(self.unselected_fraction)
        X, y = read_numeric_training(self, X, y, accept_sparse=True)
        weights = read_sample_weight(sample_weight, X)
        self.classes_ = np.unique(y[weights > 0])
        refuse_one_class(self.classes_, type(self).__name__)
        self.selector_ = self._select(X, y, sample_weight, weights)
        self.support_ = np.asarray(self.selector_.get_support())
        selected = np.flatnonzero(self.support_)
        if not selected.size:
            raise InputError(
                f"{type(self.selector_).__name__} selected no feature; there is "
                "nothing to learn with. Loosen it."
            )
        self.unselected_ = cut(
            self.selector_, self.support_, float(self.unselected_fraction)
        )
        if not self.unselected_.size:
            warnings.warn(
                f"{type(self.selector_).__name__} selected {selected.size} of "
                f"{len(self.support_)} features, and none is left to learn from beside "
                "them: an ordinary machine without them is fitted. Select fewer, or "
                "raise unselected_fraction.",
                UserWarning,
                stacklevel=4,
            )
        return Training(X, y, weights, selected, self.unselected_)

    def _select(
        self, X: Any, y: NDArray[Any], sample_weight: Any, weights: FloatArray
    ) -> Any:
        """Fit the selector on the cases that have weight."""
        kept = np.flatnonzero(weights)
        if kept.size < len(y):
            X, y, weights = X[kept], y[kept], weights[kept]
        selector = BestByAnova() if self.selector is None else self.selector
        if not (hasattr(selector, "fit") and hasattr(selector, "get_support")):
            raise InputError(
                f"selector={show(self.selector)} is not a selector: it needs fit and "
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
        """Solve one problem per class, and keep the weights.

        Gram matrices are asked for where they are needed.
        """
        problems, c = signs(training.y, self.classes_), C * training.weights
        X, U = training.X[:, training.selected], training.X[:, training.unselected]
        if gram_star is None:
            found = solve_without(gram(), X, problems, c)
        else:
            task = Task(X, U, gram, gram_star, c, gamma, bool(self.privileged_bias))
            try:
                found = task.solve(problems)
            except InfeasibleError:
                raise InputError(_INFEASIBLE) from None
        self.coef_ = np.array([f.weights for f in found])
        self.privileged_coef_ = np.zeros((len(found), U.shape[1]))
        if gram_star is not None:
            self.privileged_coef_[:] = [f.privileged_weights for f in found]
        self.intercept_ = np.array([f.bias for f in found])
        self.dual_gap_ = float(max(f.gap for f in found))
        self.n_iter_ = max(1, *(f.n_rounds for f in found))
        warn_of_gap(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # -- predicting ------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """Compute scores from the selected features alone.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features as in ``fit``, or a data frame of the selected ones. What
            stands in the unselected columns does not matter, not even NaN.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive where the second is predicted.
        """
        check_is_fitted(self)
        scores = self._read_selected(X) @ self.coef_.T + self.intercept_
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Name the class of each case.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The features, as in ``decision_function``.

        Returns
        -------
        array of shape (n_samples,)
            A label of ``classes_`` per case.
        """
        scores = self.decision_function(X)
        return choose(self.classes_, scores)

    def _read_selected(self, X: Any) -> Any:
        """Take the selected columns, and look at these alone."""
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
        refuse_repeated(X)
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
            told = _say_needed(wanted, frame.columns)
            raise InputError(f"{problem}{told}") from None
        return frame[:, selected.tolist()].to_native()

    def deploy(self) -> LinearSVC:
        """Give a plain scikit-learn model of the selected columns alone.

        It predicts what this classifier predicts, from a table that holds the selected
        columns in their order, and needs nothing of veridical to be loaded. (A score of
        exactly 0 counts as the first class there, as the second here.)

        Returns
        -------
        LinearSVC
            Fitted; its ``feature_names_in_`` are those of the selected columns, where
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


def _say_needed(wanted: list[str], columns: list[str]) -> str:
    """Say which of the selected columns are missing, or that there are too many."""
    lacking = [name for name in wanted if name not in set(columns)]
    told = "all of them are here, beside others"
    if lacking:
        told = f"of these {len(lacking)} lack: {listed(lacking)}"
    return (
        "Pass all columns of fit in their order, or a frame of exactly the "
        f"{len(wanted)} selected ones; {told}."
    )

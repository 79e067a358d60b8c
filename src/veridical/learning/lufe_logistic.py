"""LUFe for those who want probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import FloatArray
from veridical.kernels.interior import factor
from veridical.kernels.svm_plus_logistic import LogisticPoint, solve_logistic
from veridical.learning.lufe import LUFe
from veridical.learning.lufe_split import Training
from veridical.learning.svm_plus_checks import warn_of_gap
from veridical.learning.svm_plus_grams import signs


class LUFeLogistic(LUFe):
    """Logistic regression that learns from the unselected features.

    As in `LUFe`, a linear function of the unselected features bounds, in training only,
    the loss of each case; here that loss is the logistic one::

        min  ½|w|² + γ/2 |w*|² + C Σ tᵢ   with   log(1 + exp(−yᵢ f(xᵢ))) ≤ tᵢ,
        tᵢ = ⟨w*, xᵢ*⟩ + b*

    The result is a logistic regression on the selected features whose cases have been
    given weights, all together as much as before; the unselected features decide where
    weight may be moved. As gamma goes to 0, with more unselected features than cases,
    all weights become equal: ordinary logistic regression.

    Parameters
    ----------
    selector : selector, default=None
        Any selector of veridical or scikit-learn that is not fitted yet; None takes the
        10 best features by ANOVA F.
    C : float, default=1.0
        Weight of the bounds in the objective; the larger, the less regularization.
    gamma : float, default=1.0
        Weight of the privileged weights; the smaller, the freer are the bounds.
    unselected_fraction : float, default=1.0
        Share of the unselected features to learn with, the best by the selector's order
        first; rounded down.

    Attributes
    ----------
    classes_, selector_, support_, unselected_, coef_, intercept_ : see `LUFe`
        As there; so are privileged_coef_, n_iter_ and n_features_in_.
    case_weights_ : array of shape (n_problems, n_cases)
        Weights that the cases were given, in units of C.
    dual_gap_ : float
        Largest relative duality gap.

    See Also
    --------
    LUFe : With the hinge loss; faster.

    Notes
    -----
    The paper leaves losses other than the hinge to future work [1]_; this form is ours.
    A barrier method takes some tens of Newton steps of O((n_selected + n)³) each.
    Several classes are one against the rest, their probabilities scaled to sum to 1. If
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
    >>> model.predict_proba(X[:3]).shape, round(float(model.case_weights_.sum()))
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
        star = gram_star()
        means = star.mean(axis=0)
        centred = star - means - means[:, None] + means.mean()
        (Z, pivots), (Z_star, pivots_star) = factor(gram()), factor(centred)
        found = [solve_logistic(Z, Z_star, s, c, gamma) for s in problems]
        X = training.X
        rows = _unfold([f.w for f in found], Z, pivots)
        self.coef_ = np.asarray(rows @ X[:, training.selected])
        rows = _unfold([f.w_star for f in found], Z_star, pivots_star)
        rows -= rows.mean(axis=1, keepdims=True)  # the factor is of centred features
        self.privileged_coef_ = np.asarray(rows @ X[:, training.unselected])
        self._store(found, C)

    def _store(self, found: list[LogisticPoint], C: float) -> None:
        self.intercept_ = np.array([f.b for f in found])
        self.case_weights_ = np.array([f.alpha for f in found]) / C
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
        self.case_weights_ = np.tile(training.weights, (len(found), 1))
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
        chances = expit(self.decision_function(X))
        if chances.ndim == 1:
            return np.column_stack([1.0 - chances, chances])
        return chances / np.maximum(chances.sum(axis=1, keepdims=True), 1e-300)

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
        """Give a plain scikit-learn model of the selected columns alone.

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


def _unfold(weights: list[FloatArray], Z: FloatArray, pivots: Any) -> FloatArray:
    """Coefficients of cases that give the same weights as those of a factor."""
    rows = np.zeros((len(weights), len(Z)))
    if pivots.size:
        rows[:, pivots] = np.linalg.solve(Z[pivots].T, np.array(weights).T).T
    return rows

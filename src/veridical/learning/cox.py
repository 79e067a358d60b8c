"""Cox's proportional hazards with a ridge penalty."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.groups import read_strata
from veridical._core.reading import read_numeric, read_times
from veridical._core.text import listed
from veridical._core.weights import read_weights
from veridical.kernels.concordance import block_concordances, order_by_time
from veridical.kernels.cox import RiskSets
from veridical.kernels.sorting import sort_rows
from veridical.learning.inputs import check_positive

#: Halvings of a Newton step that lowers the likelihood.
_MAX_HALVINGS = 30
#: Share of the largest diagonal entry that is added to a singular matrix.
_RIDGE = 1e-10
#: Linear predictor relative to that of the mean sample; larger ones are cut, so that
#: squares of ``exp`` do not overflow.
_MAX_EXPONENT = 300.0


@dataclass(frozen=True, eq=False)
class StepFunction:
    """A function of time that is constant between its steps.

    Parameters
    ----------
    x : array of shape (n_times,)
        Times of the steps, ascending.
    y : array of shape (n_times,)
        Values from each step on.
    before : float
        Value before the first step.

    Examples
    --------
    >>> survival = StepFunction(np.array([2.0, 5.0]), np.array([0.8, 0.3]), 1.0)
    >>> survival([1.0, 2.0, 9.0])
    array([1. , 0.8, 0.3])
    """

    x: FloatArray
    y: FloatArray
    before: float

    def __call__(self, times: Any) -> Any:
        """Return the values at some times."""
        place = np.searchsorted(self.x, times, side="right")
        return np.concatenate([[self.before], self.y])[place]


class CoxRidge(BaseEstimator):
    """Cox's proportional hazards model with a ridge penalty.

    The hazard of a sample is a common function of time multiplied by
    ``exp(coef · x)`` [1]_. The coefficients maximize the partial likelihood, with
    Efron's averaging of tied times [2]_, minus ``alpha / 2`` times the sum of their
    squares. Newton's method in at most n dimensions, so that many more features than
    samples are no problem.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Penalty, in the units of scikit-survival's `CoxPHSurvivalAnalysis`; 0 is none.
        "auto" is the number of features: on standardized features each coefficient then
        has the prior variance 1/p, whatever p is.
    standardize : bool, default=True
        Whether the penalty applies to features of mean 0 and standard deviation 1.
        `coef_` is always on the scale of X.
    max_iter : int, default=100
        Number of Newton steps.
    tol : float, default=1e-12
        Gain of the penalized log-likelihood that a further step would bring, at which
        the steps end.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Log hazard ratios per unit of each feature.
    alpha_ : float
        The penalty that was used.
    unique_times_ : ndarray of shape (n_times,)
        Times of the events seen in `fit`, ascending.
    cum_baseline_hazard_ : ndarray of shape (n_times,) or (n_strata, n_times)
        Cumulative hazard of a sample with mean features, from each time on; with strata
        a row for each.
    baselines_ : dict of stratum to function of time
        The same for each stratum, where `fit` got strata.
    log_likelihood_ : float
        Log partial likelihood without the penalty.
    n_iter_ : int
        Number of Newton steps taken.
    n_features_in_ : int
        Number of features seen in `fit`.

    See Also
    --------
    veridical.selection.CoxScore : Score tests of the features one by one.
    sksurv.linear_model.CoxPHSurvivalAnalysis : The same model; any estimator of
        scikit-survival can be used in its place.

    Notes
    -----
    This is our own implementation, and no extra of scikit-survival, because a user with
    a survival time needs one estimator that installs with the library, reads more
    features than samples, and gives the same answer for any order of the samples.

    A y of plain numbers means that every event was seen. Whole sample weights count
    samples. With other weights, tied events have their mean weight, as in R's
    ``coxph``.

    With strata, samples are compared within their stratum only. Risks of `predict` are
    comparable within a stratum; survival functions need the strata of the samples.

    References
    ----------
    .. [1] D. R. Cox, "Regression models and life-tables", JRSS-B 34 (1972).
    .. [2] B. Efron, "The efficiency of Cox's likelihood function for censored data",
       JASA 72 (1977).
    .. [3] P. J. Verweij & H. C. van Houwelingen, "Penalized likelihood in Cox
       regression", Statistics in Medicine 13 (1994).

    Examples
    --------
    >>> import numpy as np
    >>> from veridical.learning import CoxRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> time, limit = rng.exponential(np.exp(-X[:, 0])), rng.exponential(2.0, 200)
    >>> y = np.empty(200, dtype=[("event", bool), ("time", float)])
    >>> y["event"], y["time"] = time <= limit, np.minimum(time, limit)
    >>> model = CoxRidge().fit(X, y)
    >>> float(model.coef_[0].round(1))
    1.0
    >>> round(model.score(X, y), 2)
    0.75
    """

    def __init__(
        self,
        alpha: float | Literal["auto"] = "auto",
        *,
        standardize: bool = True,
        max_iter: int = 100,
        tol: float = 1e-12,
    ) -> None:
        self.alpha = alpha
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, strata: Any = None
    ) -> Self:
        """Find the coefficients and the baseline hazard.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, none missing.
        y : structured array of shape (n_samples,), data frame, or array-like
            Whether the event was seen and the time, as scikit-survival takes them; or
            times alone if every event was seen.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.
        strata : array-like of shape (n_samples,), optional
            The stratum of each sample, such as its hospital. Every stratum has a
            baseline hazard of its own; the coefficients are common to all.
        """
        # Sums must not depend on the layout of X.
        values = np.ascontiguousarray(read_numeric(self, X, min_samples=2))
        target = read_times(self, y, len(values))
        weight = read_weights(sample_weight, len(values))
        self.alpha_ = self._penalty(values.shape[1])
        self._mean = weight @ values / weight.sum()
        Z = values - self._mean
        scale = np.sqrt(weight @ Z**2 / weight.sum()) if self.standardize else None
        if scale is not None:
            Z /= np.where(scale > 0, scale, 1.0)
        stratum, names = None, np.empty(0)
        if strata is not None:
            stratum, names = read_strata(strata, len(values))
        risk_sets = RiskSets.build(target.time, target.event, weight, strata=stratum)
        coef, self.log_likelihood_, self.n_iter_ = self._newton(Z, risk_sets)
        self.coef_ = coef if scale is None else coef / np.where(scale > 0, scale, 1.0)
        hazards = risk_sets.hazards(risk_sets.weight * _exp((Z @ coef)[risk_sets.rows]))
        first = risk_sets.rows[risk_sets.start]
        times, steps = target.time[first][::-1], hazards.step[::-1]
        if stratum is None:
            self.unique_times_ = times.copy()
            self.cum_baseline_hazard_ = np.cumsum(steps)
            self.__dict__.pop("baselines_", None)
            return self
        self.baselines_ = {}
        for code, name in enumerate(names.tolist()):
            own = stratum[first][::-1] == code
            self.baselines_[name] = StepFunction(times[own], np.cumsum(steps[own]), 0.0)
        # At all times of events together, for arrays of functions.
        self.unique_times_ = np.unique(times)
        self.cum_baseline_hazard_ = np.array(
            [one(self.unique_times_) for one in self.baselines_.values()]
        )
        return self

    def _penalty(self, n_features: int) -> float:
        if isinstance(self.alpha, str) and self.alpha == "auto":
            return float(n_features)
        alpha: Any = self.alpha
        if not isinstance(alpha, Real) or not 0 <= float(alpha) < np.inf:
            raise InputError(
                f"alpha={alpha!r} must be 0, a positive number, or 'auto'."
            )
        check_positive("tol", self.tol)
        check_positive("max_iter", self.max_iter)
        return float(alpha)

    def _newton(
        self, Z: FloatArray, risk_sets: RiskSets
    ) -> tuple[FloatArray, float, int]:
        """Return the coefficients of Z, the log-likelihood and the number of steps."""
        Z = Z[risk_sets.rows]
        if Z.shape[1] <= Z.shape[0]:
            problem = _PenalizedLikelihood(Z, risk_sets, self.alpha_)
            return problem.maximize(int(self.max_iter), float(self.tol))
        # The coefficients are a combination of samples: rotate to as many dimensions.
        left, sizes, directions = np.linalg.svd(Z, full_matrices=False)
        problem = _PenalizedLikelihood(left * sizes, risk_sets, self.alpha_)
        found, likelihood, n_iter = problem.maximize(
            int(self.max_iter), float(self.tol)
        )
        return found @ directions, likelihood, n_iter

    def predict(self, X: Any) -> FloatArray:
        """Return the risk of each sample: the log hazard relative to mean features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, with the features of `fit`.

        Returns
        -------
        array of shape (n_samples,)
            Larger where the event is expected earlier.
        """
        check_is_fitted(self)
        values = np.ascontiguousarray(read_numeric(self, X, reset=False))
        return np.asarray((values - self._mean) @ self.coef_)

    def predict_cumulative_hazard_function(
        self, X: Any, return_array: bool = False, strata: Any = None
    ) -> NDArray[Any]:
        """Return the cumulative hazard of each sample over time.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, with the features of `fit`.
        return_array : bool, default=False
            Whether to return the values at `unique_times_` instead of functions.
        strata : array-like of shape (n_samples,), optional
            The strata of the samples, which are needed where `fit` got strata.

        Returns
        -------
        array of functions, or array of shape (n_samples, n_times)
            Each function takes times and returns the values there.
        """
        risk = self.predict(X)
        values = _exp(risk)[:, None] * self._baseline(strata, len(risk))
        return values if return_array else self._steps(values, 0.0)

    def predict_survival_function(
        self, X: Any, return_array: bool = False, strata: Any = None
    ) -> NDArray[Any]:
        """Return the probability of each sample to survive beyond each time.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, with the features of `fit`.
        return_array : bool, default=False
            Whether to return the values at `unique_times_` instead of functions.
        strata : array-like of shape (n_samples,), optional
            The strata of the samples, which are needed where `fit` got strata.

        Returns
        -------
        array of functions, or array of shape (n_samples, n_times)
            Each function takes times and returns the probabilities there.
        """
        values = np.exp(-self.predict_cumulative_hazard_function(X, True, strata))
        return values if return_array else self._steps(values, 1.0)

    def _baseline(self, strata: Any, n_samples: int) -> FloatArray:
        """Return the baseline hazard; with strata, one per sample."""
        fitted = getattr(self, "baselines_", None)
        if fitted is None:
            if strata is not None:
                raise InputError("strata were not given in fit; leave them out here.")
            return self.cum_baseline_hazard_
        if strata is None:
            raise InputError(
                "This model was fitted with strata, which have baseline hazards of "
                "their own; pass the strata of these samples, or fit without strata."
            )
        codes, names = read_strata(strata, n_samples)
        known = list(fitted)
        unknown = [one for one in names.tolist() if one not in fitted]
        if unknown:
            raise InputError(
                f"strata has {listed(unknown)}, which fit did not see; the strata "
                f"in fit were {listed(known)}."
            )
        places = np.array([known.index(one) for one in names.tolist()])
        return self.cum_baseline_hazard_[places[codes]]

    def _steps(self, values: FloatArray, before: float) -> NDArray[Any]:
        found = np.empty(len(values), dtype=object)
        for i, row in enumerate(values):
            found[i] = StepFunction(self.unique_times_, row, before)
        return found

    def score(self, X: Any, y: Any) -> float:
        """Return Harrell's concordance of the predicted risks with the times.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, with the features of `fit`.
        y : structured array of shape (n_samples,), data frame, or array-like
            As in `fit`.

        Returns
        -------
        float
            ½ for risks that say nothing, 1 for risks in the order of the events.
        """
        risk = self.predict(X)[None]
        target = read_times(self, y, risk.size)
        out = np.empty(1)
        times = order_by_time(target.time, target.event, np.ones(risk.size))
        block_concordances(risk, sort_rows(risk), *times, out)
        return float(out[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags


def _exp(values: FloatArray) -> FloatArray:
    return np.exp(np.clip(values, -_MAX_EXPONENT, _MAX_EXPONENT))


class _PenalizedLikelihood:
    """Log partial likelihood of samples sorted by risk set, minus a ridge penalty."""

    def __init__(self, Z: FloatArray, risk_sets: RiskSets, alpha: float) -> None:
        self._Z, self._sets, self._alpha = Z, risk_sets, alpha
        self._died = np.where(risk_sets.event, risk_sets.weight, 0.0)

    def _value(self, coef: FloatArray) -> tuple[float, float]:
        """Return the likelihood, and the likelihood minus the penalty."""
        eta = self._Z @ coef
        hazards = self._sets.hazards(self._sets.weight * _exp(eta))
        value = float(self._died @ eta) - hazards.log_at_risk
        return value, value - 0.5 * self._alpha * float(coef @ coef)

    def _derivatives(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient, and minus the matrix of second derivatives."""
        Z, alpha = self._Z, self._alpha
        r = self._sets.weight * _exp(Z @ coef)
        hazards = self._sets.hazards(r)
        gradient = Z.T @ (self._died - hazards.expected) - alpha * coef
        at_risk, tied = self._sets.sums(r[:, None] * Z)
        first, second, third = hazards.moments.T[:, :, None]
        mixed = at_risk.T @ (second * tied)
        curvature = (
            Z.T @ (hazards.expected[:, None] * Z)
            - at_risk.T @ (first * at_risk)
            + mixed
            + mixed.T
            - tied.T @ (third * tied)
        )
        curvature[np.diag_indices(len(curvature))] += alpha
        return gradient, curvature

    def maximize(self, max_iter: int, tol: float) -> tuple[FloatArray, float, int]:
        """Take Newton steps; return coefficients, likelihood and number of steps."""
        coef = np.zeros(self._Z.shape[1])
        plain, best = self._value(coef)
        for step in range(1, max_iter + 1):
            gradient, curvature = self._derivatives(coef)
            change = _solve_symmetric(curvature, gradient)
            gain = 0.5 * float(gradient @ change)
            size = 1.0
            for _ in range(_MAX_HALVINGS):
                moved = coef + size * change
                value, penalized = self._value(moved)
                if penalized >= best:
                    break
                size *= 0.5
            else:
                return coef, plain, step  # rounding leaves nothing to gain
            coef, plain, best = moved, value, penalized
            if gain <= tol:
                return coef, plain, step
        warnings.warn(
            f"The Cox model has not converged after max_iter={max_iter} steps; raise "
            "alpha (a feature may separate the samples) or max_iter.",
            ConvergenceWarning,
            stacklevel=4,
        )
        return coef, plain, max_iter


def _solve_symmetric(A: FloatArray, b: FloatArray) -> FloatArray:
    """Solve a symmetric system; if it is singular, enlarge its diagonal a little."""
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        ridge = max(_RIDGE * float(np.abs(np.diag(A)).max()), 1e-300)
        A = A + ridge * np.eye(len(A))
        return np.asarray(np.linalg.lstsq(A, b, rcond=None)[0], np.float64)
    return np.asarray(np.linalg.solve(L.T, np.linalg.solve(L, b)), np.float64)

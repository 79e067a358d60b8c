"""Gaussian naive Bayes that takes into account what feature selection discarded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.reading import read_numeric, read_numeric_training
from veridical._core.validation import count_features
from veridical.kernels.beta_counts import log_low
from veridical.kernels.normal_classes import (
    add_log_densities,
    add_log_mixtures,
    class_sums,
    marginal,
)
from veridical.kernels.ordering import order_by_score
from veridical.kernels.threads import run_jobs, spans, thread_count
from veridical.learning.bias_corrected import BiasCorrected
from veridical.learning.bias_corrected_evidence import Components, low_normal
from veridical.learning.bias_corrected_nominal import check_threshold
from veridical.learning.bias_corrected_prior import NullShare, Prior

#: Largest r = 1/α to search, above that of binary features: numeric features may
#: separate classes better.
_LARGEST_INVERSE_ALPHA = 1e3
#: Relative difference of correlations; below it they are equal.
_EQUAL_WITHIN = 1e-12


@dataclass(frozen=True, eq=False)
class NormalFeatures:
    """Retained normal features, and the number of discarded ones.

    Parameters
    ----------
    sizes : array of shape (K,)
        Samples of each class.
    means, within : arrays of shape (K, k) and (k,)
        Of features centred and scaled to unit spread.
    df, squares : float and array of shape (k,)
        The prior of the variance within classes, on the same scale.
    n_discarded : int
        Number of features that correlated too little; 0 without correction.
    gamma : float
        The threshold.
    null : bool
        Whether there may be null features.
    """

    sizes: FloatArray
    means: FloatArray
    within: FloatArray
    df: float
    squares: FloatArray
    n_discarded: int
    gamma: float
    null: bool = False

    def tables(self, alphas: FloatArray) -> tuple[Components, FloatArray, FloatArray]:
        """Compute log-evidence and the predictive distributions of `marginal`."""
        logs, place, shrunk = marginal(
            1.0 / alphas, self.sizes, self.means, self.within, self.df, self.squares
        )
        null = self.without_effect()[0] if self.null else None
        return Components(logs, np.ones(logs.shape[1]), null), place, shrunk

    def without_effect(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Compute log-evidence, place and inverse scale of null features, (k,) each."""
        logs, place, shrunk = marginal(
            np.zeros(1), self.sizes, self.means, self.within, self.df, self.squares
        )
        return logs[0], place[0, 0], shrunk[0, 0]

    def evidence(self, alphas: FloatArray) -> Components:
        """Compute the log-probabilities of the retained features."""
        return self.tables(alphas)[0]

    def adjustment(self, alphas: FloatArray) -> Components:
        """Compute the log-probability of what is known of a discarded feature."""
        if self.n_discarded == 0:
            nothing = np.zeros(0)
            return Components(
                np.zeros((len(alphas), 0)), nothing, nothing if self.null else None
            )
        times = np.array([float(self.n_discarded)])
        null = self._log_low(np.zeros(1)) if self.null else None
        return Components(self._log_low(1.0 / alphas)[:, None], times, null)

    def _log_low(self, ratios: FloatArray) -> FloatArray:
        """Compute the log-probability of a correlation below the threshold."""
        sizes = self.sizes.astype(np.intp)
        gamma = max(self.gamma, _EQUAL_WITHIN)
        sides = np.array([low_normal(sizes, r, gamma) for r in ratios])
        return log_low(sides[:, 0], sides[:, 1])


class BiasCorrectedGaussianNB(BiasCorrected):
    """Bayesian naive Bayes for real numbers, corrected for feature selection.

    As `BiasCorrectedNB`, without binarizing features: within a class a feature is
    normal with a variance w of its own; the class means are normal around a common
    mean with variance ``w / α``. Features are retained by their absolute correlation
    with the class (the correlation ratio with more than two classes), and the
    probability that a feature correlates less than the threshold is an F
    distribution function.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        How many features to retain: a number, a share of all, or None for all.
    correct : bool, default=True
        Whether to condition on what was discarded.
    prior : tuple of float, default=(0.5, 5)
        Shape and rate of the gamma distribution of 1/α.
    threshold : float or None, default=None
        Retain all features whose absolute correlation is at least this; then
        `n_features_to_select` is ignored.
    variance_prior : tuple of float, default=(0.0, 0.0)
        Degrees of freedom and sum of squares of the scaled inverse χ² prior of the
        variance within classes; the default is flat in its logarithm.
    class_prior : float, default=1.0
        The share of each class has a Dirichlet prior with this parameter.
    alpha_grid : "log", "quantile" or array-like, default="log"
        Points equally spaced in log α where the posterior is, quantiles of the prior,
        or the points themselves.
    n_alphas : int, default=31
        Number of points of the grid.
    null_share : "estimate", float or None, default=None
        Share of features that have no effect: the same mean in all classes. None is
        the model in which all features have effects of one size. With "estimate" the
        share is uniform before the data, and integrated out.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores.

    Attributes
    ----------
    classes_, scores_, order_, ranking_, support_, n_features_, threshold_
        As in :class:`BiasCorrectedNB`.
    alpha_grid_, alpha_posterior_, log_adjustment_, alpha_
        As in :class:`BiasCorrectedNB`; 1/α is the variance of the class means over
        the variance within classes.
    null_share_ : float
        Mean of the posterior of the share of null features; 0 without them.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where they have any.

    See Also
    --------
    prob_low_correlation_gaussian : The adjustment factor for one discarded feature.
    sklearn.naive_bayes.GaussianNB : Does not account for selection.

    Notes
    -----
    Constant features are not part of the model: they are not counted among the
    discarded ones, and have no effect where they are retained.

    Examples
    --------
    >>> import numpy as np
    >>> from veridical.learning import BiasCorrectedGaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(400) % 2
    >>> X = rng.normal(size=(400, 2000)) + 0.1 * y[:, None] * rng.normal(size=2000)
    >>> model = BiasCorrectedGaussianNB(50).fit(X[:100], y[:100])
    >>> naive = BiasCorrectedGaussianNB(50, correct=False).fit(X[:100], y[:100])
    >>> [round(m.expected_error_rate(X[100:]), 2) for m in (model, naive)]
    [0.34, 0.12]
    >>> [round(1 - m.score(X[100:], y[100:]), 2) for m in (model, naive)]
    [0.33, 0.33]
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        correct: bool = True,
        prior: tuple[float, float] = (0.5, 5),
        *,
        threshold: float | None = None,
        variance_prior: tuple[float, float] = (0.0, 0.0),
        class_prior: float = 1.0,
        alpha_grid: Any = "log",
        n_alphas: int = 31,
        null_share: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.correct = correct
        self.prior = prior
        self.threshold = threshold
        self.variance_prior = variance_prior
        self.class_prior = class_prior
        self.alpha_grid = alpha_grid
        self.n_alphas = n_alphas
        self.null_share = null_share
        self.n_jobs = n_jobs

    _normals: NormalFeatures

    def fit(self, X: Any, y: Any) -> Self:
        """Select features and learn from them, and from what was discarded.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features; none missing.
        y : array-like of shape (n_samples,)
            The class labels.

        Returns
        -------
        BiasCorrectedGaussianNB
            The fitted classifier itself.
        """
        prior, null = Prior.checked(self.prior), NullShare.checked(self.null_share)
        df, squares = self._check_parameters()
        X, y = read_numeric_training(self, X, y, min_samples=2)
        codes, sizes = self._number_classes(y)
        if len(y) <= sizes.size:
            raise InputError(
                f"There are {len(y)} samples of {sizes.size} classes; the variance "
                "within classes needs more samples than classes."
            )
        varies = X.max(axis=0) > X.min(axis=0)
        centre, scale, means, within, scores = _standardized(X, codes, sizes, varies)
        order = order_by_score(scores, rtol=_EQUAL_WITHIN)
        kept, cut = self._count_features(scores, order)
        self._retain(scores, order, kept, cut)
        used = np.flatnonzero(self.support_ & varies)
        self._used, self._centre, self._scale = used, centre[used], scale[used]
        self._normals = NormalFeatures(
            sizes.astype(np.float64),
            means[:, used],
            within[used],
            df,
            (np.sqrt(squares) / scale[used]) ** 2,
            int((varies & ~self.support_).sum()) if self.correct else 0,
            cut,
            not null.is_zero,
        )
        self._integrate(prior, replace(null, n_features=order.size), sizes)
        return self

    # -- learning --------------------------------------------------------------------

    def _check_parameters(self) -> tuple[float, float]:
        try:
            df, squares = (float(value) for value in self.variance_prior)
        except (TypeError, ValueError):
            df, squares = -1.0, -1.0
        if not (0 <= df < np.inf and 0 <= squares < np.inf):
            raise InputError(
                f"variance_prior={self.variance_prior!r} must be two numbers, 0 or "
                "more: degrees of freedom and sum of squares."
            )
        self._check_shared()
        return df, squares

    def _count_features(self, scores: FloatArray, order: IntArray) -> tuple[int, float]:
        if self.threshold is not None:
            cut = check_threshold(self.threshold)
            return int((scores >= cut * (1 - _EQUAL_WITHIN)).sum()), cut
        kept = count_features(self.n_features_to_select, order.size)
        return kept, float(scores[order[kept - 1]])

    def _integrate(self, prior: Prior, null: NullShare, sizes: IntArray) -> None:
        """Compute the posterior of α and what predictions need."""
        normals = self._normals
        grid = self._make_grid(prior, null, normals, 1.0 / _LARGEST_INVERSE_ALPHA)
        evidence, self._place, self._shrunk = normals.tables(grid.alphas)
        adjustment = normals.adjustment(grid.alphas)
        points = self._store_posterior(grid, null, evidence, adjustment, sizes)
        self._rows = points[0]
        if normals.null:
            self._weights = evidence.null_weights(*points)

    # -- predicting ------------------------------------------------------------------

    def _read_retained(self, X: Any) -> FloatArray:
        X = read_numeric(self, X, reset=False)
        return (X[:, self._used] - self._centre) / self._scale

    def _log_likelihood(self, values: NDArray[Any]) -> FloatArray:
        normals, n_threads = self._normals, thread_count(self.n_jobs)
        out = np.empty((normals.sizes.size, len(values), self._rows.size))
        power = 0.5 * (normals.df + normals.sizes.sum())
        values = np.ascontiguousarray(values)
        if normals.null:
            without = (*normals.without_effect()[1:], power, self._rows)
            mixtures = [
                (
                    values,
                    self._place,
                    self._shrunk,
                    *without,
                    *self._weights,
                    lo,
                    hi,
                    out,
                )
                for lo, hi in spans(len(values), n_threads)
            ]
            run_jobs(add_log_mixtures, mixtures, n_threads)
            return out
        jobs = [
            (values, self._place, self._shrunk, power, lo, hi, out)
            for lo, hi in spans(len(values), n_threads)
        ]
        run_jobs(add_log_densities, jobs, n_threads)
        scales = 0.5 * np.log(self._shrunk).sum(axis=2)  # (A, K)
        return out + scales.T[:, None, :]

    def _draw_likelihood(
        self, classes: IntArray, points: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        df = self._normals.df + self._normals.sizes.sum() - 1
        rows = self._rows[points]
        place, shrunk = self._place[rows, classes], self._shrunk[rows, classes]
        if self._normals.null:
            null = rng.random(place.shape) < self._weights[0][points]
            _, null_place, null_shrunk = self._normals.without_effect()
            place = np.where(null, null_place, place)
            shrunk = np.where(null, null_shrunk, shrunk)
        drawn = rng.standard_t(df, size=place.shape) / np.sqrt(shrunk * df)
        return self._log_likelihood(place + drawn)


def _standardized(
    X: FloatArray, y: IntArray, sizes: IntArray, varies: Any
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Centre and scale; compute class means and squares, and the correlation ratio."""
    # The middle of the range: a mean of huge numbers would overflow.
    low, high = X.min(axis=0), X.max(axis=0)
    centre = low / 2 + high / 2
    scale = np.where(varies, high / 2 - low / 2, 1.0)
    scale[scale == 0] = np.finfo(float).tiny
    values = (X - centre) / scale
    means, within = class_sums(values, y, sizes.size)
    mean = (sizes[:, None] * means).sum(axis=0) / sizes.sum()
    between = (sizes[:, None] * (means - mean) ** 2).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        squared = np.where(varies, between / (between + within), 0.0)
    return centre, scale, means, within, np.sqrt(np.clip(squared, 0.0, 1.0))

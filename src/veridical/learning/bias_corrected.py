"""Bayesian naive Bayes that takes into account what feature selection discarded."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.reading import (
    names_categorical,
    number_classes,
    read_labels,
    read_numeric,
    read_samples,
    refuse_one_class,
)
from veridical._core.seeds import as_generator
from veridical._core.validation import check_count
from veridical.kernels.beta_counts import BaseRates
from veridical.kernels.threads import thread_count
from veridical.learning.bias_corrected_evidence import TIES, Components
from veridical.learning.bias_corrected_nominal import (
    RULES,
    CountedFeatures,
    RetainedFeatures,
    check_base_rates,
    check_threshold,
    median_cuts,
)
from veridical.learning.bias_corrected_prior import (
    LOWEST,
    AlphaGrid,
    NullShare,
    Prior,
    make_grid,
    normalized,
)
from veridical.learning.inputs import check_positive
from veridical.learning.probability_classifiers import LogProbabilityClassifier

# -- shared by both classifiers --------------------------------------------------------

#: Number of samples drawn from the model to estimate the error rate that it expects.
_N_DRAWN = 4000
#: Posterior probability of a pair of α and share, relative to the largest; less
#: probable ones are left out.
_NEGLIGIBLE_POINT = 1e-7
#: Test samples whose likelihoods are computed at once; more need more memory.
_CHUNK = 4096


class SelectionModel(Protocol):
    """Retained features and the selection that retained them, as functions of α."""

    def evidence(self, alphas: FloatArray) -> Components:
        """Compute the log-probabilities of the retained features."""
        ...

    def adjustment(self, alphas: FloatArray) -> Components:
        """Compute the log-probabilities of what is known of the discarded features."""
        ...


class BiasCorrected(LogProbabilityClassifier):
    """A classifier that averages over a grid of α; its subclasses define the model.

    The grid may hold shares of null features as well. A point is a pair of both.
    """

    alpha_grid: Any
    alpha_grid_: FloatArray
    alpha_posterior_: FloatArray
    n_alphas: int
    class_prior: float

    @abstractmethod
    def _read_retained(self, X: Any) -> NDArray[Any]:
        """Check new samples, and return their retained features."""

    @abstractmethod
    def _log_likelihood(self, values: NDArray[Any]) -> FloatArray:
        """Compute log P(x | class, point, training data), of shape (K, B, G)."""

    @abstractmethod
    def _draw_likelihood(
        self, classes: IntArray, points: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """Draw samples from the model; compute their log-likelihoods, (K, B, G)."""

    def _check_shared(self) -> None:
        """Raise if a parameter that both classifiers have is impossible."""
        check_count("n_alphas", self.n_alphas, 2)
        check_positive("class_prior", self.class_prior)

    def _number_classes(self, y: NDArray[Any]) -> tuple[IntArray, IntArray]:
        """Store the classes; return the codes of samples and the class sizes."""
        self.classes_, codes = number_classes(y)
        refuse_one_class(self.classes_, type(self).__name__)
        return codes, np.bincount(codes).astype(np.intp)

    def _retain(
        self, scores: FloatArray, order: IntArray, n_kept: int, threshold: float
    ) -> None:
        """Store what was selected."""
        self.scores_, self.order_ = scores, order
        self.n_features_, self.threshold_ = n_kept, threshold
        self.ranking_ = np.empty(order.size, dtype=np.intp)
        self.ranking_[order] = np.arange(1, order.size + 1)
        self.support_ = self.ranking_ <= n_kept

    def _make_grid(
        self,
        prior: Prior,
        null: NullShare,
        model: SelectionModel,
        lowest: float = LOWEST,
    ) -> AlphaGrid:
        """Make the grid of α that the parameters ask for."""

        def likelihood(alphas: FloatArray) -> FloatArray:
            both = Components.joined([model.evidence(alphas), model.adjustment(alphas)])
            return null.grid(both.log_likelihood, len(alphas)).log_evidence

        n_alphas = int(self.n_alphas)
        return make_grid(self.alpha_grid, prior, likelihood, n_alphas, lowest)

    def _store_posterior(
        self,
        grid: AlphaGrid,
        null: NullShare,
        evidence: Components,
        adjustment: Components,
        sizes: IntArray,
    ) -> tuple[IntArray, FloatArray]:
        """Store the posterior of α and of the share of null features.

        Returns
        -------
        rows, logits : arrays of shape (G,)
            The points that have a posterior probability: the index of α, and the logit
            of the share.
        """
        n_alphas = grid.alphas.size
        self.alpha_grid_ = grid.alphas
        both = Components.joined([evidence, adjustment])
        shares = null.grid(both.log_likelihood, n_alphas)
        log_joint = grid.log_weights[:, None] + shares.log_weights
        joint = normalized(log_joint + shares.log_likelihood)
        self.alpha_posterior_ = joint.sum(axis=1)
        self.alpha_ = float(np.exp(self.alpha_posterior_ @ np.log(grid.alphas)))
        self.null_share_ = float((joint * expit(shares.logits)).sum())
        with np.errstate(divide="ignore"):
            mean = np.full((n_alphas, 1), logit(self.null_share_))
        self.log_adjustment_ = np.array(adjustment.log_likelihood(mean)[:, 0])
        self._store_class_shares(sizes)
        # Published, every α is a point; of many pairs most are improbable.
        least = 0.0 if null.value is not None else _NEGLIGIBLE_POINT * joint.max()
        rows, columns = np.nonzero(joint >= least)
        chosen = joint[rows, columns]
        self._points = chosen / chosen.sum()
        with np.errstate(divide="ignore"):
            self._log_points = np.log(self._points)
        return rows, shares.logits[rows, columns]

    def _store_class_shares(self, sizes: IntArray) -> None:
        shares = sizes + float(self.class_prior)
        self._log_shares = np.log(shares / shares.sum())
        self.__dict__.pop("_expected", None)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Compute log-probabilities of the classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features, as in ``fit``.

        Returns
        -------
        array of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        check_is_fitted(self)
        values = self._read_retained(X)
        parts = [
            self._mix(self._log_likelihood(values[start : start + _CHUNK]))
            for start in range(0, len(values), _CHUNK)
        ]
        return np.concatenate(parts)

    def expected_error_rate(self, X: Any) -> float:
        """Compute the error rate that the model expects on these samples.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features, as in ``fit``; no labels are needed.

        Returns
        -------
        float
            Mean probability of all classes but the predicted one.
        """
        return expected_error(self.predict_log_proba(X))

    @property
    def expected_error_rate_(self) -> float:
        """Error rate that the model expects on new samples.

        The mean over 4000 samples drawn from the model itself, always the same ones.
        """
        check_is_fitted(self)
        if not hasattr(self, "_expected"):
            rng = as_generator(0)
            shares = np.exp(self._log_shares)
            classes = rng.choice(shares.size, _N_DRAWN, p=shares / shares.sum())
            points = rng.choice(self._points.size, _N_DRAWN, p=self._points)
            found = self._mix(self._draw_likelihood(classes, points, rng))
            self._expected = expected_error(found)
        return float(self._expected)

    def _mix(self, log_likelihood: FloatArray) -> FloatArray:
        """Average over points, and normalize over classes; from (K, B, G) to (B, K)."""
        joint = logsumexp(log_likelihood + self._log_points, axis=2).T
        joint = joint + self._log_shares
        return joint - logsumexp(joint, axis=1, keepdims=True)


def expected_error(log_probability: FloatArray) -> float:
    """Compute the mean probability that the most probable class is wrong."""
    top = log_probability.argmax(axis=1)
    rest = log_probability.copy()
    rest[np.arange(len(rest)), top] = -np.inf
    return float(np.exp(logsumexp(rest, axis=1)).mean())


# -- binary and categorical features ---------------------------------------------------


class BiasCorrectedNB(BiasCorrected):
    """Bayesian naive Bayes, corrected for the bias of feature selection.

    The features that correlate most with the class are retained. They look more
    informative than they are, because they were selected for that; the correction is
    to condition on what is known of the others: that they correlated less [1]_. All
    integrals over the rates of features are exact; the one over the hyperparameter α,
    which tells how similar the classes are, is a sum over a grid.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=10
        How many features to retain: a number, a share of all, or None for all.
    correct : bool, default=True
        Whether to condition on what was discarded; False is the usual naive Bayes.
    prior : tuple of float, default=(0.5, 5)
        Shape and rate of the gamma distribution of 1/α.
    threshold : float or None, default=None
        Retain all features whose absolute correlation is at least this; then
        `n_features_to_select` is ignored.
    ties : {"exact", "lt", "le"}, default="exact"
        What is known of a discarded feature that tied with a retained one: that its
        correlation is the threshold; that it is less; that it is not more.
    binarize : "median", float or None, default="median"
        Where to cut numeric features that hold other values than 0 and 1: at the
        median of the training samples (of two values, between them), or at a number;
        with None, such features are an error. A value above the cut counts as 1.
    class_prior : float, default=1.0
        The share of each class has a Dirichlet prior with this parameter.
    alpha_grid : "log", "quantile" or array-like, default="log"
        Points equally spaced in log α where the posterior is, quantiles of the prior,
        or the points themselves.
    n_alphas : int, default=61
        Number of points of the grid.
    theta_rule : {"exact", "simpson"}, default="exact"
        Gauss-Legendre, or Simpson's rule with 41 points as in the R package
        predbayescor, whose error is several nats where many features are discarded.
    null_share : "estimate", float or None, default=None
        Share of features that have no effect: the same rates in all classes. None is
        the published model, in which all features have effects of one size. With
        "estimate" the share is uniform before the data, and integrated out.
    base_rates : "uniform", "estimate" or tuple of float, default="uniform"
        Distribution of the rates of binary features, Beta(a, b), before the classes
        differ: uniform as published, two numbers, or estimated from all features,
        retained and discarded, without the classes.
    categorical_features : "from_dtype", None, bool mask, integer indices or names
        Which features are categorical. ``"from_dtype"`` takes the category, string and
        boolean columns of a data frame, and none of an array.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels.
    scores_ : array of shape (n_features,)
        Absolute correlation of every feature with the class; Cramér's V with more
        than two classes or categories.
    order_ : array of shape (n_features,)
        Feature indices, best first; ties by index.
    ranking_ : array of shape (n_features,)
        Rank of each feature; 1 is best.
    support_ : array of shape (n_features,)
        Mask of the retained features.
    n_features_ : int
        Number of retained features.
    threshold_ : float
        The smallest correlation that was retained, or the given threshold.
    alpha_grid_ : array of shape (n_alphas,)
        Values of α.
    alpha_posterior_ : array of shape (n_alphas,)
        Their posterior probabilities, which sum to 1.
    log_adjustment_ : array of shape (n_alphas,)
        Logarithm of the probability of what was discarded, given each α and the mean
        share of null features; 0 without correction, and where nothing was discarded.
    alpha_ : float
        Geometric mean of the posterior of α.
    null_share_ : float
        Mean of the posterior of the share of null features; 0 without them.
    base_rates_ : tuple of float
        Parameters a and b of the distribution of base rates; (1, 1) is uniform.
    cuts_ : array of shape (n_features,)
        Where numeric features were cut; 0.5 where they held zeros and ones.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where they have any.

    See Also
    --------
    prob_low_correlation : The adjustment factor for one discarded feature.
    BiasCorrectedGaussianNB : For real-valued features.
    sklearn.naive_bayes.BernoulliNB : Does not account for selection.

    Notes
    -----
    With two classes correlations are compared as fractions of whole numbers, without
    rounding. With more than two classes the statistic is the correlation ratio, and
    for categorical features with more than two categories Cramér's V; both are
    |correlation| with two classes and two categories.

    Reading takes one pass over the training data. Fitting then takes
    O(n_alphas * n_samples * T), where T is the number of different pairs of counts
    among the retained features, whatever the number of discarded ones. Prediction is a
    product of matrices, O(n_tests * T * n_alphas), after counting.

    References
    ----------
    .. [1] L. Li, J. Zhang and R. M. Neal, "A method for avoiding bias from feature
       selection with application to naive Bayes classification models", Bayesian
       Analysis 3(1), 2008, 171-196.

    Examples
    --------
    >>> from veridical.datasets import make_beta_bernoulli
    >>> from veridical.learning import BiasCorrectedNB
    >>> X, y = make_beta_bernoulli(1200, 5000, random_state=0)
    >>> train, test = slice(0, 200), slice(200, None)
    >>> model = BiasCorrectedNB(100).fit(X[train], y[train])
    >>> round(1 - model.score(X[test], y[test]), 2), round(
    ...     model.expected_error_rate(X[test]), 2
    ... )
    (0.31, 0.28)
    >>> naive = BiasCorrectedNB(100, correct=False).fit(X[train], y[train])
    >>> round(1 - naive.score(X[test], y[test]), 2), round(
    ...     naive.expected_error_rate(X[test]), 2
    ... )
    (0.31, 0.11)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = 10,
        correct: bool = True,
        prior: tuple[float, float] = (0.5, 5),
        *,
        threshold: float | None = None,
        ties: str = "exact",
        binarize: Any = "median",
        class_prior: float = 1.0,
        alpha_grid: Any = "log",
        n_alphas: int = 61,
        theta_rule: str = "exact",
        null_share: Any = None,
        base_rates: Any = "uniform",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.correct = correct
        self.prior = prior
        self.threshold = threshold
        self.ties = ties
        self.binarize = binarize
        self.class_prior = class_prior
        self.alpha_grid = alpha_grid
        self.n_alphas = n_alphas
        self.theta_rule = theta_rule
        self.null_share = null_share
        self.base_rates = base_rates
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    _kept: RetainedFeatures

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        # Binarized features cannot separate three clusters; nor can BernoulliNB.
        tags.classifier_tags.poor_score = True
        return tags

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
        BiasCorrectedNB
            The fitted classifier itself.
        """
        prior = self._check_parameters()
        X = self._read_samples(X, reset=True)
        y = read_labels(self, y, len(X))
        codes, sizes = self._number_classes(y)
        names = getattr(self, "feature_names_in_", None)
        features = CountedFeatures.read(
            X, codes, sizes, self.categorical_features, self.binarize, names
        )
        self._features = features.without_data()
        self.cuts_ = features.cuts
        self._select(features)
        self.base_rates_ = features.base_rates(self.base_rates)
        self._integrate(features, prior)
        return self

    # -- predicting ------------------------------------------------------------------

    def _read_samples(self, X: Any, *, reset: bool) -> Any:
        named = names_categorical(self.categorical_features)
        return read_samples(self, X, reset=reset, categorical=named)

    def _read_retained(self, X: Any) -> NDArray[Any]:
        X = self._read_samples(X, reset=False)
        return self._features.read_new(X, np.flatnonzero(self.support_))

    def _log_likelihood(self, values: NDArray[Any]) -> FloatArray:
        return self._kept.log_likelihood(values)

    # -- learning --------------------------------------------------------------------

    def _check_parameters(self) -> Prior:
        if self.ties not in TIES:
            raise InputError(f"ties={self.ties!r} must be 'exact', 'lt' or 'le'.")
        if self.theta_rule not in RULES:
            raise InputError(
                f"theta_rule={self.theta_rule!r} must be 'exact' or 'simpson'."
            )
        uniform = isinstance(self.base_rates, str) and self.base_rates == "uniform"
        plain = self.null_share is None and uniform
        if self.theta_rule == "simpson" and not plain:
            raise InputError(
                "theta_rule='simpson' is for null_share=None and base_rates='uniform' "
                "only."
            )
        self._check_shared()
        check_base_rates(self.base_rates)
        if self.threshold is not None:
            check_threshold(self.threshold)
        return Prior.checked(self.prior)

    def _select(self, features: CountedFeatures) -> None:
        """Rank all features and store which are retained."""
        chosen = features.select(self.n_features_to_select, self.threshold)
        self._retain(features.scores, chosen.order, chosen.n_kept, chosen.threshold)
        self._chosen = chosen

    def _integrate(self, features: CountedFeatures, prior: Prior) -> None:
        """Compute the posterior of α and what predictions need."""
        null = replace(
            NullShare.checked(self.null_share), n_features=features.n_values.size
        )
        kept = RetainedFeatures.from_selection(
            features,
            self._chosen,
            correct=bool(self.correct),
            ties=self.ties,  # type: ignore[arg-type]
            rule=self.theta_rule,
            n_threads=thread_count(self.n_jobs),
            rates=BaseRates(*self.base_rates_),
            null=not null.is_zero,
        )
        grid = self._make_grid(prior, null, kept)
        tables = kept.predictive_tables(grid.alphas)
        points = self._store_posterior(
            grid,
            null,
            tables.components,
            kept.adjustment(grid.alphas),
            features.sizes,
        )
        self._kept = tables.at(*points)

    def _draw_likelihood(
        self, classes: IntArray, points: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        return self._kept.draw_likelihood(classes, points, rng)


# -- binarizing ------------------------------------------------------------------------


class MedianBinarizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Turn numbers into 0 and 1: 1 where a value is above the median.

    The median is that of the training samples alone, so that no information of a test
    sample enters. A value equal to it becomes 0. A feature with two values is cut
    between them.

    Attributes
    ----------
    cuts_ : array of shape (n_features,)
        Where each feature is cut.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where they have any.

    See Also
    --------
    BiasCorrectedNB : Binarizes in the same way by itself.
    sklearn.preprocessing.Binarizer : Binarizes at a given number.

    Examples
    --------
    >>> from veridical.learning import MedianBinarizer
    >>> MedianBinarizer().fit_transform([[1.0, 0], [2.0, 1], [9.0, 1]])
    array([[0., 0.],
           [0., 1.],
           [1., 1.]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute the median of every feature.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training samples.
        y : None
            Ignored.

        Returns
        -------
        MedianBinarizer
            The fitted transformer itself.
        """
        X = read_numeric(self, X)
        self.cuts_ = median_cuts(X)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Binarize every feature.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any samples.

        Returns
        -------
        array of shape (n_samples, n_features)
            1 where a value is above its cut, else 0.
        """
        check_is_fitted(self)
        X = read_numeric(self, X, reset=False)
        return (self.cuts_ < X).astype(np.float64)

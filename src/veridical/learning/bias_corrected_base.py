"""What the bias-corrected classifiers share: the posterior of α, and predictions."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.reading import number_classes, refuse_one_class
from veridical._core.seeds import as_generator
from veridical.learning.bias_corrected_alpha import Grid, normalized
from veridical.learning.log_probabilities import ByLogProbability

#: Cases drawn from the model to find its own expectation of its errors.
_N_DRAWN = 4000
#: Test cases whose likelihoods are held in memory at once.
_CHUNK = 4096


class Corrected(ByLogProbability):
    """A classifier that averages over a grid of α; a subclass learns."""

    alpha_grid_: FloatArray
    alpha_posterior_: FloatArray
    n_alphas: int
    class_prior: float

    @abstractmethod
    def _values_of(self, X: Any) -> NDArray[Any]:
        """Check new cases, and give their retained features."""

    @abstractmethod
    def _log_likelihood(self, values: NDArray[Any]) -> FloatArray:
        """Log P(x | class, α, training data), of shape (K, B, A)."""

    @abstractmethod
    def _draw_likelihood(
        self, classes: IntArray, points: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """Likelihoods, of shape (K, B, A), of cases drawn from the model."""

    def _check_shared(self) -> None:
        """Refuse impossible values of the parameters that all have."""
        whole = isinstance(self.n_alphas, Integral) and not isinstance(
            self.n_alphas, bool
        )
        if not whole or self.n_alphas < 2:
            raise InputError(
                f"n_alphas={self.n_alphas!r} must be a whole number, 2 or more."
            )
        if not 0 < self.class_prior < np.inf:
            raise InputError(f"class_prior={self.class_prior!r} must be positive.")

    def _number_classes(self, y: NDArray[Any]) -> tuple[IntArray, IntArray]:
        """Store the classes; give the code of each case, and the size of each class."""
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

    def _conclude(
        self,
        grid: Grid,
        evidence: FloatArray,
        log_adjustment: FloatArray,
        sizes: IntArray,
        class_prior: float,
    ) -> None:
        """Store the posterior of α and the shares of the classes."""
        self.alpha_grid_ = grid.alphas
        self.log_adjustment_ = log_adjustment
        self.alpha_posterior_ = normalized(grid.log_weights + evidence + log_adjustment)
        self.alpha_ = float(np.exp(self.alpha_posterior_ @ np.log(grid.alphas)))
        with np.errstate(divide="ignore"):
            self._log_posterior = np.log(self.alpha_posterior_)
        shares = sizes + class_prior
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
        values = self._values_of(X)
        parts = [
            self._mix(self._log_likelihood(values[start : start + _CHUNK]))
            for start in range(0, len(values), _CHUNK)
        ]
        return np.concatenate(parts)

    def expected_error_rate(self, X: Any) -> float:
        """How often the model expects to be wrong about these cases.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The features, as in ``fit``; no labels are needed.

        Returns
        -------
        float
            Mean probability of all classes but the one that is named.
        """
        return expected_error(self.predict_log_proba(X))

    @property
    def expected_error_rate_(self) -> float:
        """How often the model expects to be wrong about new cases.

        The mean over 4000 cases drawn from the model itself, always the same ones.
        """
        check_is_fitted(self)
        if not hasattr(self, "_expected"):
            rng = as_generator(0)
            shares = np.exp(self._log_shares)
            classes = rng.choice(shares.size, _N_DRAWN, p=shares / shares.sum())
            points = rng.choice(
                self.alpha_grid_.size, _N_DRAWN, p=self.alpha_posterior_
            )
            found = self._mix(self._draw_likelihood(classes, points, rng))
            self._expected = expected_error(found)
        return float(self._expected)

    def _mix(self, log_likelihood: FloatArray) -> FloatArray:
        """Average over α, and let the classes compete; from (K, B, A) to (B, K)."""
        joint = logsumexp(log_likelihood + self._log_posterior, axis=2).T
        joint = joint + self._log_shares
        return joint - logsumexp(joint, axis=1, keepdims=True)


def expected_error(log_probability: FloatArray) -> float:
    """Mean probability that the most probable class is wrong."""
    top = log_probability.argmax(axis=1)
    rest = log_probability.copy()
    rest[np.arange(len(rest)), top] = -np.inf
    return float(np.exp(logsumexp(rest, axis=1)).mean())

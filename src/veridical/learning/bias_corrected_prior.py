"""The hyperparameters of the model: their priors and their grids.

``1/α ~ Gamma(shape a, rate b)``. In log α the density is proportional to
``α^(−a) exp(−b/α)``. The share π of null features, which have no effect, is 0 in the
published model, or known, or uniform on (0, 1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import (
    expit,
    gammainccinv,
    gammaincinv,
    logit,
    logsumexp,
    roots_legendre,
)

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError

#: Range of α to search. Below it, features determine the class; above it, they carry
#: no information.
LOWEST, HIGHEST = 1.0, 1e5
#: Number of values of α in one search for the range of the posterior.
_SEARCH_POINTS = 17
#: Log of the posterior density relative to its maximum; below it α is left out.
_NEGLIGIBLE = np.log(1e-9)
#: Number of searches, each within the range that the previous one found.
_N_SEARCHES = 2

#: Values of π for each α: in one search for the range of the posterior, and in the
#: grid; number of searches.
_SEARCH_SHARES, _N_SHARES, _SHARE_SEARCHES = 17, 16, 3
#: Log of the posterior density of π relative to its maximum; below it π is left out.
_NEGLIGIBLE_SHARE = np.log(1e-6)
#: Bound of |logit π|, beyond the logarithm of the number of features.
_SHARE_MARGIN = 7.0

#: log P(training data and selection | α), up to a constant.
LogLikelihood = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Prior:
    """An inverse gamma prior of α."""

    shape: float
    rate: float

    @classmethod
    def checked(cls, given: Any) -> Prior:
        """Check the ``prior`` of an estimator."""
        try:
            shape, rate = (float(value) for value in given)
        except (TypeError, ValueError):
            raise InputError(
                f"prior={given!r} must be two numbers, shape and rate of the gamma "
                "distribution of 1/α, such as (0.5, 5)."
            ) from None
        if not (0 < shape < np.inf and 0 < rate < np.inf):
            raise InputError(
                f"prior={given!r} must be two positive numbers: shape and rate of the "
                "gamma distribution of 1/α."
            )
        return cls(shape, rate)

    def log_density(self, alphas: FloatArray) -> FloatArray:
        """Compute the log-density of log α, up to a constant."""
        return -self.shape * np.log(alphas) - self.rate / alphas

    def quantiles(self, q: FloatArray) -> FloatArray:
        """Compute the values of α below which α lies with probability q."""
        # The upper tail of 1/α: a large α is a small inverse.
        inverse = np.where(
            q < 0.5,
            gammainccinv(self.shape, np.minimum(q, 0.5)),
            gammaincinv(self.shape, np.minimum(1 - q, 0.5)),
        )
        return self.rate / np.maximum(inverse, np.finfo(float).tiny)

    def range(self, lowest: float = LOWEST) -> tuple[float, float]:
        """Return the range to search: [lowest, 1e5], or wider if the prior is wider."""
        low, high = self.quantiles(np.array([0.01, 0.99]))
        return min(lowest, float(low)), max(HIGHEST, float(high))


@dataclass(frozen=True, eq=False)
class AlphaGrid:
    """Values of α and the logarithm of the prior weight of each."""

    alphas: FloatArray
    log_weights: FloatArray


def log_grid(prior: Prior, low: float, high: float, n: int) -> AlphaGrid:
    """Make points equally spaced in log α, with weights of the trapezoid rule."""
    alphas = np.geomspace(low, high, n)
    log_weights = prior.log_density(alphas)
    log_weights[[0, -1]] -= np.log(2.0)
    return AlphaGrid(alphas, log_weights)


def quantile_grid(prior: Prior, n: int) -> AlphaGrid:
    """Apply the midpoint rule in prior probability: quantiles of equal weight."""
    alphas = prior.quantiles((np.arange(n) + 0.5) / n)
    return AlphaGrid(alphas, np.full(n, -np.log(n)))


def find_grid(
    prior: Prior, likelihood: LogLikelihood, n: int, lowest: float = LOWEST
) -> AlphaGrid:
    """Make a grid over the range that holds the posterior.

    A coarse search of the whole range finds the part that holds all but a billionth of
    the posterior, and a second one narrows it further.
    """
    low, high = prior.range(lowest)
    for _ in range(_N_SEARCHES):
        alphas = np.geomspace(low, high, _SEARCH_POINTS)
        found = likelihood(alphas) + prior.log_density(alphas)
        kept = np.flatnonzero(found > found.max() + _NEGLIGIBLE)
        first, last = max(kept[0] - 1, 0), min(kept[-1] + 1, _SEARCH_POINTS - 1)
        low, high = float(alphas[first]), float(alphas[last])
    return log_grid(prior, low, high, n)


def make_grid(
    kind: Any,
    prior: Prior,
    likelihood: LogLikelihood,
    n: int,
    lowest: float = LOWEST,
) -> AlphaGrid:
    """Make the grid that an estimator's ``alpha_grid`` asks for.

    Parameters
    ----------
    kind : "log", "quantile" or array-like
        Points where the posterior is, quantiles of the prior, or the points
        themselves, whose weights are those of the trapezoid rule in log α.
    prior : Prior
        The prior.
    likelihood : callable
        Used by ``"log"`` only.
    n : int
        Number of points.
    lowest : float, default=1.0
        Where the search of ``"log"`` begins, unless the prior is lower.
    """
    if isinstance(kind, str):
        if kind == "log":
            return find_grid(prior, likelihood, n, lowest)
        if kind == "quantile":
            return quantile_grid(prior, n)
        raise InputError(
            f"alpha_grid={kind!r} is not known; use 'log', 'quantile' or an array of "
            "values of α."
        )
    return _given_grid(kind, prior)


def _given_grid(given: ArrayLike, prior: Prior) -> AlphaGrid:
    alphas = np.asarray(given, dtype=np.float64)
    if alphas.ndim != 1 or alphas.size == 0 or not np.all(np.isfinite(alphas)):
        raise InputError("alpha_grid must be a list of finite numbers, at least one.")
    if alphas.min() <= 0 or np.any(np.diff(alphas) <= 0):
        raise InputError("alpha_grid must be positive numbers in ascending order.")
    if alphas.size == 1:
        return AlphaGrid(alphas, np.zeros(1))
    steps = np.gradient(np.log(alphas))
    steps[[0, -1]] /= 2
    return AlphaGrid(alphas, prior.log_density(alphas) + np.log(steps))


# -- the share of null features --------------------------------------------------------


@dataclass(frozen=True)
class NullShare:
    """What is known of the share π of features without an effect.

    Parameters
    ----------
    value : float or None
        The share, or None where it is uniform on (0, 1) before the data.
    n_features : int
        Number of features; the share is resolved to a fraction of 1/n_features.
    """

    value: float | None
    n_features: int = 1

    @classmethod
    def checked(cls, given: Any) -> NullShare:
        """Check the ``null_share`` of an estimator."""
        if given is None:
            return cls(0.0)
        if isinstance(given, str) and given == "estimate":
            return cls(None)
        real = isinstance(given, Real) and not isinstance(given, bool)
        if not real or not 0 <= given <= 1:
            raise InputError(
                f"null_share={given!r} must be 'estimate', a share from 0 to 1, or "
                "None."
            )
        return cls(float(given))

    @property
    def is_zero(self) -> bool:
        """Whether there are no null features, as in the published model."""
        return self.value == 0

    def grid(
        self, likelihood: Callable[[FloatArray], FloatArray], n: int
    ) -> NullShares:
        """Make a grid of π for each of n values of α, where its posterior is.

        For every α the likelihood is a concave function of π, so that it has one
        maximum, near the best point of any grid.

        Parameters
        ----------
        likelihood : callable
            The log-likelihood as a function of logits of shape (n, P).
        n : int
            Number of values of α.
        """
        if self.value is not None:
            with np.errstate(divide="ignore"):
                logits = np.full((n, 1), logit(self.value))
            return NullShares(logits, np.zeros((n, 1)), likelihood(logits))
        bound = np.log(self.n_features) + _SHARE_MARGIN
        low, high = np.full(n, -bound), np.full(n, bound)
        rows = np.arange(n)
        steps = np.linspace(0.0, 1.0, _SEARCH_SHARES)
        for _ in range(_SHARE_SEARCHES):
            logits = low[:, None] + (high - low)[:, None] * steps
            found = likelihood(logits)
            kept = found > found.max(axis=1, keepdims=True) + _NEGLIGIBLE_SHARE
            first = np.maximum(kept.argmax(axis=1) - 1, 0)
            last = kept[:, ::-1].argmax(axis=1)
            last = np.minimum(_SEARCH_SHARES - last, _SEARCH_SHARES - 1)
            low, high = logits[rows, first], logits[rows, last]
        # Gauss–Legendre between these bounds, in 1 − π: near 1 it has more digits.
        x, w = roots_legendre(_N_SHARES)
        least, most = expit(-high)[:, None], expit(-low)[:, None]
        others = least + (most - least) * (0.5 * (1.0 + x))
        logits = np.log1p(-others) - np.log(others)
        log_weights = np.log(most - least) + np.log(0.5 * w)
        return NullShares(logits, log_weights, likelihood(logits))


@dataclass(frozen=True, eq=False)
class NullShares:
    """Values of logit π for each α, their prior weights and likelihoods, (A, P)."""

    logits: FloatArray
    log_weights: FloatArray
    log_likelihood: FloatArray

    @property
    def log_evidence(self) -> FloatArray:
        """The log-likelihood of each α, π integrated out."""
        found = logsumexp(self.log_weights + self.log_likelihood, axis=1)
        return np.asarray(found, np.float64)


def normalized(log_values: FloatArray) -> FloatArray:
    """Turn log-weights into probabilities that sum to 1."""
    probabilities = np.exp(log_values - logsumexp(log_values))
    return probabilities / probabilities.sum()

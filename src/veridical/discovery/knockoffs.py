"""Gaussian knockoffs: copies of the features that do not depend on the outcome.

A knockoff X̃ has the same means and covariances as X, and ``cov(X_j, X̃_j) = Σ_jj −
s_j``; exchanging a feature with its knockoff leaves all second moments as they are.

| symbol | meaning                                                    | shape  |
|--------|------------------------------------------------------------|--------|
| Z      | features as normal scores: mean 0, variance 1              | (n, p) |
| Σ      | their correlations, shrunken towards the identity          | (p, p) |
| ρ      | how much they are shrunken                                 |        |
| s      | 1 minus the correlation of each feature with its knockoff  | (p,)   |

Features are turned into normal scores by their ranks, so that heavy tails and binary
features have knockoffs with their own distribution (a Gaussian copula); equal values
share their ranks at random.

References
----------
.. [1] E. Candès, Y. Fan, L. Janson & J. Lv, "Panning for gold: model-X knockoffs for
   high dimensional controlled variable selection", JRSS-B 80 (2018).
.. [2] A. Spector & L. Janson, "Powerful knockoffs via minimizing reconstructability",
   Annals of Statistics 50 (2022).
.. [3] O. Ledoit & M. Wolf, "A well-conditioned estimator for large-dimensional
   covariance matrices", Journal of Multivariate Analysis 88 (2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import linalg
from scipy.special import ndtr, ndtri

from veridical._core.arrays import FloatArray
from veridical._core.errors import InputError
from veridical._core.seeds import as_generator

Construction = Literal["auto", "equicorrelated", "entropy"]
#: Most features for which a matrix of all pairs is inverted.
MOST_DENSE = 600
# Least shrinkage; a smaller one leaves correlation matrices that cannot be inverted.
_LEAST_SHRINKAGE = 1e-4
# Largest relative change of s in the last round, and the most rounds.
_TOLERANCE, _ROUNDS = 1e-4, 50


def mean_scores(X: FloatArray) -> FloatArray:
    """Turn features into normal scores by their ranks; equal values have their mean.

    Parameters
    ----------
    X : array of shape (n, p)
        The features.

    Returns
    -------
    array of shape (n, p)
        Features with mean 0 and variance 1; a constant feature is 0.

    Examples
    --------
    >>> mean_scores(np.array([[0.0], [1.0], [1.0], [0.0]])).ravel()
    array([-1.,  1.,  1., -1.])
    """
    Z = normal_scores_without_ties(X, as_generator(0))
    for j in np.flatnonzero(_has_ties(X)):
        place = np.unique(X[:, j], return_inverse=True)[1].reshape(-1)
        mean = np.bincount(place, weights=Z[:, j]) / np.bincount(place)
        deviation = float(np.sqrt((mean[place] ** 2).mean()))
        Z[:, j] = mean[place] / deviation if deviation > 0 else 0.0
    return Z


def normal_scores_without_ties(X: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Turn features into normal scores by their ranks; equal values at random.

    Parameters
    ----------
    X : array of shape (n, p)
        The features.
    rng : Generator
        Breaks ties.

    Returns
    -------
    array of shape (n, p)
        Each feature is a permutation of the same normal quantiles, with mean 0 and
        variance 1; a constant feature is 0.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.array([[5.0], [1e9], [-3.0]])
    >>> normal_scores_without_ties(X, rng).ravel().round(3)
    array([ 0.   ,  1.225, -1.225])
    """
    n = len(X)
    quantiles = ndtri((np.arange(n) + 0.5) / n)
    quantiles /= np.sqrt((quantiles**2).mean())
    shuffled = rng.permutation(n)
    order = shuffled[np.argsort(X[shuffled], axis=0, kind="stable")]
    for j in np.flatnonzero(_has_ties(X)):  # every feature has its own order of ties
        order[:, j] = np.lexsort((rng.random(n), X[:, j]))
    Z = np.empty(X.shape)
    np.put_along_axis(Z, order, quantiles[:, None], axis=0)
    Z[:, np.ptp(X, axis=0) == 0] = 0.0
    return Z


def _has_ties(X: FloatArray) -> FloatArray:
    ranked = np.sort(X, axis=0)
    return (ranked[1:] == ranked[:-1]).any(axis=0)


def ledoit_wolf_weight(Z: FloatArray) -> float:
    """Compute Ledoit and Wolf's shrinkage of the correlations of standardised features.

    Only products of samples are needed, so that p may be large.

    Parameters
    ----------
    Z : array of shape (n, p)
        Features with mean 0 and variance 1.

    Examples
    --------
    >>> Z = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> ledoit_wolf_weight(Z)
    0.0001
    """
    n, p = Z.shape
    products = Z @ Z.T
    squared = float((products**2).sum()) / n**2  # of all correlations
    scale = float(np.trace(products)) / (n * p)
    spread = (squared - p * scale**2) / p
    noise = (float((np.diag(products) ** 2).sum()) / n**2 - squared / n) / p
    if spread <= 0:
        return 1.0
    return float(np.clip(noise / spread, _LEAST_SHRINKAGE, 1.0))


@dataclass(frozen=True, eq=False)
class KnockoffSampler:
    """Draws knockoffs of normal scores.

    Parameters
    ----------
    basis : array of shape (p, r)
        Directions that correlations are known in; beside them Σ is ρ times the
        identity.
    mean_in, noise_in : arrays of shape (r,) or (p, p)
        Factors from Z to the mean of the knockoffs, and from independent standard
        normal numbers to their noise, in the directions of the basis; or matrices.
    mean_out, noise_out : float
        The same factors beside the basis.
    s : array of shape (p,)
        1 minus the correlation of each feature with its knockoff.
    rho : float
        Shrinkage.
    """

    basis: FloatArray
    mean_in: FloatArray
    mean_out: float
    noise_in: FloatArray
    noise_out: float
    s: FloatArray
    rho: float

    def draw(self, Z: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw knockoffs of the samples Z, of shape (n, p)."""
        noise = rng.standard_normal(Z.shape)
        return self._apply(Z, self.mean_in, self.mean_out) + self._apply(
            noise, self.noise_in, self.noise_out
        )

    def _apply(self, Z: FloatArray, inside: FloatArray, outside: float) -> FloatArray:
        if inside.ndim == 2:
            return Z @ inside
        part = Z @ self.basis
        return outside * Z + (part * (inside - outside)) @ self.basis.T


def make_sampler(
    Z: FloatArray,
    construction: Construction = "auto",
    covariance: FloatArray | None = None,
) -> KnockoffSampler:
    """Estimate the correlations of normal scores, and choose s.

    Parameters
    ----------
    Z : array of shape (n, p)
        Normal scores.
    construction : {"auto", "equicorrelated", "entropy"}, default="auto"
        How s is chosen: the same for all features, or by maximum entropy, one of the
        criteria of minimum reconstructability; "auto" takes the second up to
        `MOST_DENSE` features.
    covariance : array of shape (p, p), optional
        The correlations where they are known.
    """
    if construction not in ("auto", "equicorrelated", "entropy"):
        raise InputError(
            f"construction={construction!r} is not known; use 'auto', 'equicorrelated' "
            "or 'entropy'."
        )
    n, p = Z.shape
    rho = 0.0 if covariance is not None else ledoit_wolf_weight(Z)
    dense = construction == "entropy" or (construction == "auto" and p <= MOST_DENSE)
    if covariance is not None or dense:
        Sigma = covariance
        if Sigma is None:
            Sigma = (1 - rho) * (Z.T @ Z) / n
            Sigma[np.diag_indices(p)] = 1.0
        s = _entropy_s(Sigma) if dense else _equal_s(Sigma)
        return _dense_sampler(Sigma, s, rho)
    _, sizes, rows = linalg.svd(Z / np.sqrt(n), full_matrices=False)
    known = sizes > 1e-10 * sizes[0]
    values = (1 - rho) * sizes[known] ** 2 + rho
    least = float(values.min()) if known.sum() == p else rho
    same = min(1.0, 2 * least) * (1 - 1e-6)
    inside, beside = 1 / values, 1 / rho

    def noise(inverse: FloatArray | float) -> FloatArray:
        return np.sqrt(np.maximum(2 * same - same**2 * np.asarray(inverse), 0.0))

    return KnockoffSampler(
        np.ascontiguousarray(rows[known].T),
        1 - same * inside,
        1 - same * beside,
        noise(inside),
        float(noise(beside)),
        np.full(p, same),
        rho,
    )


def _dense_sampler(Sigma: FloatArray, s: FloatArray, rho: float) -> KnockoffSampler:
    p = len(Sigma)
    shifted = linalg.solve(Sigma, np.diag(s), assume_a="pos")
    noise = 2 * np.diag(s) - s[:, None] * shifted
    values, vectors = linalg.eigh((noise + noise.T) / 2)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    none = np.empty((p, 0))
    return KnockoffSampler(none, np.eye(p) - shifted, 0.0, root, 0.0, s, rho)


def _equal_s(Sigma: FloatArray) -> FloatArray:
    least = float(linalg.eigvalsh(Sigma, subset_by_index=[0, 0])[0])
    return np.full(len(Sigma), min(1.0, 2 * least) * (1 - 1e-6))


def _entropy_s(Sigma: FloatArray) -> FloatArray:
    """Maximise the entropy of features and knockoffs, one s_j after the other.

    With all others fixed, ``log det(2Σ − S) + log s_j`` is largest where s_j is half of
    ``s_j + 1 / ((2Σ − S)⁻¹)_jj``.
    """
    s = _equal_s(Sigma)
    inverse = linalg.inv(2 * Sigma - np.diag(s))
    for _ in range(_ROUNDS):
        largest = 0.0
        for j in range(len(s)):
            new = min(0.5 * (s[j] + 1 / inverse[j, j]), 2.0)
            change = s[j] - new  # added to the diagonal of 2Σ − S
            column = inverse[:, j].copy()
            factor = change / (1 + change * column[j])
            inverse -= factor * column[:, None] * column
            largest = max(largest, abs(change) / max(new, 1e-12))
            s[j] = new
        if largest < _TOLERANCE:
            break
    # Correlations between a feature and its knockoff are not negative.
    s = np.minimum(s, 1.0)
    least = float(linalg.eigvalsh(2 * Sigma - np.diag(s), subset_by_index=[0, 0])[0])
    return s if least > 0 else s * (1 - 1e-6)


def from_scores(Z: FloatArray, X: FloatArray) -> FloatArray:
    """Give normal scores the values of the features: the same share below each.

    Parameters
    ----------
    Z : array of shape (n, p)
        Normal scores, of knockoffs say.
    X : array of shape (n, p)
        The features.
    """
    n = len(X)
    ranked = np.sort(X, axis=0)
    tied = (ranked[1:] == ranked[:-1]).any(axis=0)
    place = np.clip(ndtr(Z) * n - 0.5, 0.0, n - 1.0)
    near = np.rint(place).astype(np.intp)
    values = np.take_along_axis(ranked, near, axis=0)
    low = np.floor(place).astype(np.intp)
    high = np.minimum(low + 1, n - 1)
    at_low = np.take_along_axis(ranked, low, axis=0)
    at_high = np.take_along_axis(ranked, high, axis=0)
    between = at_low + (place - low) * (at_high - at_low)
    return np.where(tied, values, between)


def gaussian_knockoffs(
    X: FloatArray,
    *,
    construction: Construction = "auto",
    covariance: FloatArray | None = None,
    random_state: int | np.random.Generator | None = None,
) -> FloatArray:
    """Draw Gaussian model-X knockoffs of numeric features.

    Parameters
    ----------
    X : array of shape (n, p)
        The features; p may be larger than n.
    construction : {"auto", "equicorrelated", "entropy"}, default="auto"
        How the correlations of features and knockoffs are chosen.
    covariance : array of shape (p, p), optional
        Correlations of the normal scores where they are known; otherwise they are
        estimated and shrunken by Ledoit and Wolf's rule.
    random_state : int, Generator or None
        Source of random numbers.

    Returns
    -------
    array of shape (n, p)
        Knockoffs, with the distribution of each feature.

    References
    ----------
    .. [1] E. Candès, Y. Fan, L. Janson & J. Lv, "Panning for gold: model-X knockoffs
       for high dimensional controlled variable selection", JRSS-B 80 (2018).

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> gaussian_knockoffs(X, random_state=0).shape
    (50, 3)
    """
    rng = as_generator(random_state)
    X = np.asarray(X, dtype=np.float64)
    Z = normal_scores_without_ties(X, rng)
    sampler = make_sampler(Z, construction, covariance)
    return from_scores(sampler.draw(Z, rng), X)

"""Knockoffs: their correlations, their ties, and the samplers against scikit-learn."""

import numpy as np
import pytest
from scipy import linalg

from veridical._core.errors import InputError
from veridical.discovery import gaussian_knockoffs
from veridical.discovery.knockoffs import (
    from_scores,
    ledoit_wolf_weight,
    make_sampler,
    normal_scores_without_ties,
)


def correlated(n, p, seed=0, r=0.6):
    rng = np.random.default_rng(seed)
    Sigma = r ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
    return rng.multivariate_normal(np.zeros(p), Sigma, size=n), Sigma


@pytest.mark.parametrize("construction", ["equicorrelated", "entropy"])
def test_swapping_a_feature_with_its_knockoff_keeps_second_moments(construction):
    n, p = 6000, 8
    X, _ = correlated(n, p)
    K = gaussian_knockoffs(X, construction=construction, random_state=1)
    both = np.cov(np.hstack([X, K]).T)
    for swapped in ([0], [2, 5], list(range(p))):
        order = np.arange(2 * p)
        order[swapped], order[np.add(swapped, p)] = (
            order[np.add(swapped, p)].copy(),
            order[swapped].copy(),
        )
        # Sampling error of a covariance of standard features is at most sqrt(2/n).
        assert np.abs(both - both[np.ix_(order, order)]).max() < 5 * np.sqrt(2 / n)


@pytest.mark.parametrize("construction", ["equicorrelated", "entropy"])
def test_moments_of_features_and_knockoffs_are_exchangeable_exactly(construction):
    """cov(Z, Z̃) = Σ − S and cov(Z̃) = Σ, from the matrices of the sampler."""
    Z = normal_scores_without_ties(correlated(50, 12)[0], np.random.default_rng(0))
    Sigma = correlated(1, 12)[1]
    sampler = make_sampler(Z, construction, covariance=Sigma)
    A, root = sampler.mean_in, sampler.noise_in
    S = np.diag(sampler.s)
    np.testing.assert_allclose(Sigma @ A, Sigma - S, atol=1e-8)
    np.testing.assert_allclose(A.T @ Sigma @ A + root.T @ root, Sigma, atol=1e-6)
    assert (sampler.s > 0).all()
    assert (sampler.s <= 1).all()
    assert linalg.eigvalsh(2 * Sigma - S)[0] > -1e-8


def test_few_samples_use_the_same_mathematics_as_many():
    """With p > n, the factors in the basis are those of the dense matrices."""
    X, _ = correlated(20, 30)
    Z = normal_scores_without_ties(X, np.random.default_rng(0))
    sampler = make_sampler(Z, "equicorrelated")
    Sigma = (1 - sampler.rho) * Z.T @ Z / 20 + sampler.rho * np.eye(30)
    s = sampler.s[0]
    mean = np.eye(30) - s * np.linalg.inv(Sigma)
    noise = 2 * s * np.eye(30) - s**2 * np.linalg.inv(Sigma)
    E = np.eye(30)
    np.testing.assert_allclose(
        sampler._apply(E, sampler.mean_in, sampler.mean_out), mean, atol=1e-8
    )
    root = sampler._apply(E, sampler.noise_in, sampler.noise_out)
    np.testing.assert_allclose(root @ root, noise, atol=1e-8)


def test_entropy_beats_equal_s_where_features_are_correlated_in_pairs():
    Sigma = linalg.block_diag(*[[[1, 0.9], [0.9, 1]]] * 3, *[[[1.0]]] * 6)
    Z = normal_scores_without_ties(
        np.random.default_rng(0).normal(size=(50, 12)), _rng()
    )
    equal = make_sampler(Z, "equicorrelated", covariance=Sigma)
    entropy = make_sampler(Z, "entropy", covariance=Sigma)
    assert entropy.s[6:].min() > 0.99 > equal.s[6:].max()

    def determinant(s):
        return np.linalg.slogdet(2 * Sigma - np.diag(s))[1] + np.log(s).sum()

    assert determinant(entropy.s * (1 - 1e-9)) >= determinant(equal.s * (1 - 1e-3))


def _rng():
    return np.random.default_rng(3)


def test_shrinkage_is_that_of_scikit_learn():
    from sklearn.covariance import ledoit_wolf_shrinkage

    Z = normal_scores_without_ties(correlated(40, 25)[0], _rng())
    assert ledoit_wolf_weight(Z) == pytest.approx(
        ledoit_wolf_shrinkage(Z, assume_centered=True), rel=1e-9
    )


def test_knockoffs_have_the_values_of_binary_features():
    rng = _rng()
    X = (rng.random((200, 5)) < [0.1, 0.3, 0.5, 0.7, 0.9]).astype(float)
    K = gaussian_knockoffs(X, random_state=0)
    assert set(np.unique(K)) == {0.0, 1.0}
    assert np.abs(K.mean(axis=0) - X.mean(axis=0)).max() < 5 * 0.5 / np.sqrt(200)


def test_scores_and_values_are_inverse():
    X = np.random.default_rng(0).standard_t(2, size=(60, 4))
    Z = normal_scores_without_ties(X, _rng())
    assert np.abs(Z.mean(axis=0)).max() < 1e-12
    order = np.argsort(X, axis=0)
    np.testing.assert_array_equal(np.argsort(Z, axis=0), order)
    back = from_scores(Z * np.std([-1, 1]), X)
    assert np.corrcoef(
        np.argsort(np.argsort(back[:, 0])), np.argsort(np.argsort(X[:, 0]))
    )[0, 1] == pytest.approx(1)


def test_same_seed_same_knockoffs_and_unknown_constructions_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 50))
    first, second = (gaussian_knockoffs(X, random_state=4) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    with pytest.raises(InputError, match="construction"):
        gaussian_knockoffs(X, construction="sdp")

"""The dual of the support vector machine: a duality gap is a proof."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.hinge import objective

from veridical.kernels.duality import violation
from veridical.kernels.svm import solve_interior, solve_svm


def overlapping(n, p, spread, seed):
    """Two classes that no plane parts, columns up to `spread` times as long."""
    rng = np.random.default_rng(seed)
    s = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.normal(size=(n, p)) + 0.5 * s[:, None] * (np.arange(p) < 3)
    return X * rng.permutation(np.geomspace(1.0, spread, p)), s


def excess(X, s, C, a):
    """How far the objective is above what the multipliers prove to be its least."""
    w = (s * a) @ X
    best = min(objective(X, s, C, w, b) for b in s - X @ w)
    proven = a.sum() - 0.5 * w @ w
    return (best - proven) / proven


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("spread", [1.0, 1e3])
def test_optimal_also_where_pairs_of_multipliers_crawl(spread, C):
    """At a spread of 10³ and C = 1 libsvm has not converged after 3 000 000 steps."""
    X, s = overlapping(120, 6, spread, seed=1)

    a = solve_svm(X @ X.T, s, np.full(120, C)).a

    assert (a >= 0).all()
    assert (a <= C).all()
    assert abs(s @ a) <= 1e-9 * a.sum()
    assert abs(excess(X, s, C, a)) < 1e-8


def test_a_shift_of_all_samples_changes_nothing():
    X, s = overlapping(80, 5, 10.0, seed=2)
    here, _ = solve_interior(X @ X.T, s, s, np.ones(80))
    there, left = solve_interior((X + 300.0) @ (X + 300.0).T, s, s, np.ones(80))
    assert left < 1e-10
    assert (s * there) @ X == pytest.approx((s * here) @ X, rel=1e-6)


@given(seed=st.integers(0, 2**32 - 1), C=st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=30, deadline=None)
def test_copies_of_a_sample_share_its_multiplier(seed, C):
    """Whole numbers meet the margin in crowds, where no single solution exists."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(30, 3)).astype(float)
    s = np.where(rng.permutation(30) < 12, 1.0, -1.0)
    X, s = np.vstack([X, X[:10]]), np.r_[s, s[:10]]
    bound = np.full(40, C)

    a = solve_svm(X @ X.T, s, bound).a

    assert violation(X @ X.T, s, s, bound, a) < 1e-9
    assert abs(excess(X, s, C, a)) < 1e-8


def test_samples_without_any_difference():
    G, s = np.ones((6, 6)), np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    a, left = solve_interior(G, s, s, np.ones(6))
    assert left == np.inf
    assert a.tolist() == [0.0] * 6
    assert s @ solve_svm(G, s, np.ones(6)).a == pytest.approx(0.0)

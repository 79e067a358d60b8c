"""SVM+ in the weights: the path of whole matrices, bounds, extreme C and γ."""

import numpy as np
import pytest
from tests.oracles.interior import follow as follow_matrices

from veridical.kernels.duality import GOOD_GAP
from veridical.kernels.interior import follow_path
from veridical.kernels.margins import (
    solve_hinge_margins,
    solve_logistic,
    solve_squared_margins,
    state_program,
)


def problem(n, p, q, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.normal(size=(n, p)) + 0.5 * y[:, None] * (np.arange(p) < 2)
    return X, rng.normal(size=(n, q)) + 0.3 * y[:, None], y


@pytest.mark.parametrize(("n", "p", "q"), [(12, 2, 3), (30, 5, 8), (40, 50, 3)])
@pytest.mark.parametrize("slacks", [True, False])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-8])
def test_the_path_is_that_of_whole_matrices(n, p, q, slacks, tolerance):
    """Step by step: both end at the same point, far from the last digits too."""
    X, Z, y = problem(n, p, q)
    E, F = y[:, None] * np.hstack([X, np.ones((n, 1))]), np.hstack([Z, np.ones((n, 1))])
    rng = np.random.default_rng(1)
    curve = rng.uniform(0.5, 2.0, p + q + 2)
    cost = rng.normal(size=p + q + 2)
    A, limit = np.hstack([E, F]), np.ones(n)
    if slacks:
        A = np.vstack([A, np.hstack([np.zeros_like(E), F])])
        limit = np.append(limit, np.zeros(n))
    x, s = np.zeros(p + q + 2), np.ones(len(A))
    z = rng.uniform(0.5, 2.0, len(A)) / n

    ours = follow_path(
        state_program([E, F], curve, cost, limit), x, s, z, tolerance, tolerance
    )

    theirs = follow_matrices(np.diag(curve), cost, A, limit, x, s, z, tolerance)
    for one, other in zip(ours[:3], theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


PRICES = [(1.0, 1.0), (1e3, 1e-3), (1e-3, 1e3), (1e3, 1e3), (1e-3, 1e-3)]


@pytest.mark.parametrize("shape", [(14, 2, 16), (40, 5, 60), (60, 80, 3), (100, 4, 2)])
@pytest.mark.parametrize(("C", "gamma"), PRICES)
def test_multipliers_prove_the_optimum_with_the_logistic_loss(shape, C, gamma):
    """The Lagrangian is convex: the optimum is where it is flat, and slacks are met."""
    X, Z, y = problem(*shape)
    c = np.full(len(y), C)

    found = solve_logistic(X, Z, y, c, gamma)

    margin = y * (X @ found.w + found.b)
    loss = np.logaddexp(0.0, -margin)
    slack = Z @ found.w_star + found.b_star
    assert found.gap <= GOOD_GAP
    assert (slack - loss).min() > 0.0
    assert found.alpha.min() >= 0.0
    cost = 0.5 * found.w @ found.w + gamma / 2 * found.w_star @ found.w_star + c @ slack
    assert found.alpha @ (slack - loss) <= 1e-8 * (1 + cost)
    force = found.alpha / (1.0 + np.exp(margin)) * y
    scale = 1e-6 * max(1.0, np.abs(force).sum())
    np.testing.assert_allclose(force @ X, found.w, atol=scale)
    assert abs(force.sum()) < scale
    assert found.alpha.sum() == pytest.approx(c.sum(), rel=1e-6)
    pull = (found.alpha - c) @ Z
    np.testing.assert_allclose(
        pull, gamma * found.w_star, atol=1e-6 * max(1.0, np.abs(pull).max(), c.sum())
    )


@pytest.mark.parametrize("solve", [solve_hinge_margins, solve_squared_margins])
def test_the_order_of_samples_does_not_matter(solve):
    X, Z, y = problem(40, 6, 9)
    rows = np.random.default_rng(2).permutation(40)
    how = {"bias": True} if solve is solve_hinge_margins else {}
    c = np.linspace(0.5, 2.0, 40)
    one = solve(X, Z, y, c, 0.3, **how)
    other = solve(X[rows], Z[rows], y[rows], c[rows], 0.3, **how)
    np.testing.assert_allclose(other.w, one.w, atol=1e-8)
    np.testing.assert_allclose(
        (other.alpha * y[rows]) @ X[rows], (one.alpha * y) @ X, atol=1e-6
    )

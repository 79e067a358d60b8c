"""The active-set method in each arithmetic, against every active set there is."""

import numpy as np
import pytest
from tests.oracles.active_set import dual_objective, try_all_active_sets

from veridical.kernels.active_set import bound_signed
from veridical.kernels.inverse import (
    invert_and_find_optimum,
    solve_active_set,
    state_equations,
)
from veridical.kernels.products import Products
from veridical.kernels.svm import solve_nonnegative
from veridical.kernels.svm_exact import exact_gram, solve_active_set_exactly

KINDS = ("independent", "copies", "opposite copies", "few features", "equal", "errors")


def make(kind, seed, n=6):
    """Features, classes and targets of a small problem."""
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.normal(size=(n, 1 if kind == "few features" else 8)) + sign[:, None]
    if kind in ("copies", "opposite copies"):
        X[n // 2 :] = X[: n // 2]
        sign[n // 2 :] = sign[: n // 2] * (1 if kind == "copies" else -1)
    if kind == "equal":
        X[:] = X[0]
    target = sign
    if kind == "errors":  # of a regression: every sample twice
        X[n // 2 :], sign = X[: n // 2], np.repeat([1.0, -1.0], n // 2)
        target = np.tile(rng.normal(size=n // 2), 2) - 0.1 * sign
    return X, sign, target


def in_doubles(X, *problem):
    return solve_active_set(X @ X.T, *problem)[0]


def from_features(X, *problem):
    return solve_active_set(Products(X), *problem)[0]


def in_pairs(X, *problem):
    return solve_active_set_exactly(exact_gram(X), *problem)[0][0]


@pytest.mark.parametrize("solve", [in_doubles, from_features, in_pairs])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [1e-3, 0.1, 10.0])
def test_every_arithmetic_finds_the_best_active_set(solve, kind, C):
    """At the smallest C all multipliers of two classes are at their bounds."""
    for seed in range(3):
        X, sign, target = make(kind, seed)
        bound = C * (1.0 + np.arange(6) % 3)
        lower, upper = bound_signed(sign, bound)
        best = try_all_active_sets(X @ X.T, target, lower, upper)
        shares = np.random.default_rng(seed).random(6)
        for start in (0.0 * bound, bound, shares * bound, 0.5 * bound):
            a = solve(X, sign, target, bound, start)
            assert (a >= 0).all()
            assert (a <= bound).all()
            assert abs(sign @ a) <= 1e-12 * max(a.sum(), C)
            found = dual_objective(X @ X.T, target, sign * a)
            assert found == pytest.approx(best, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_an_optimum_is_recognized_and_kept(kind):
    X, sign, target = make(kind, 3, n=20)
    G, bound = X @ X.T, np.full(20, 0.3)
    found, optimal, _ = solve_active_set(G, sign, target, bound, np.zeros(20), 100)
    again, kept, _ = solve_active_set(G, sign, target, bound, found, 1)
    assert optimal
    assert kept
    np.testing.assert_allclose((sign * again) @ X, (sign * found) @ X, atol=1e-12)
    assert not solve_active_set(G, sign, target, bound, np.zeros(20), 1)[1]


def test_the_inverse_is_that_of_the_free_samples():
    rng = np.random.default_rng(0)
    X, sign = rng.normal(size=(40, 30)), np.where(np.arange(40) % 2, 1.0, -1.0)
    lower, upper = bound_signed(sign, np.full(40, 0.05))
    equations = state_equations(X @ X.T, sign, lower, upper, np.zeros(40), 40)
    optimal, n_solved = invert_and_find_optimum(equations, 200)
    m = equations.n_free[0]
    own = equations.order[:m]
    system = np.ones((m + 1, m + 1))
    system[0, 0], system[1:, 1:] = 0.0, (X @ X.T)[np.ix_(own, own)]
    assert optimal
    assert n_solved > m > 5
    assert sorted(own) == np.flatnonzero(equations.free).tolist()
    np.testing.assert_allclose(
        equations.M[: m + 1, : m + 1] @ system, np.eye(m + 1), atol=1e-9
    )


@pytest.mark.parametrize("rank", [3, 6])
def test_squared_slacks_need_no_balance(rank):
    """The multiplier of a sample at the origin takes what the others sum to."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        B = rng.normal(size=(6, rank))
        B[:, 0] += 2.0  # so that weights meet all margins
        G = B @ B.T
        alpha, gap, n_solved = solve_nonnegative(G)
        best = try_all_active_sets(
            G, np.ones(6), np.zeros(6), np.full(6, np.inf), balanced=False
        )
        assert dual_objective(G, np.ones(6), alpha) == pytest.approx(best, rel=1e-9)
        assert alpha.min() >= 0
        assert gap < 1e-9
        assert n_solved >= 1


def test_squared_slacks_without_a_solution():
    """No weights meet both margins of one sample in two classes."""
    x = np.array([[1.0], [-1.0]])
    _, gap, _ = solve_nonnegative(x @ x.T)
    assert gap == np.inf

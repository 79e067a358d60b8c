"""SVM+ against what optimality means, other solvers, and its limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.svm import SVC, OneClassSVM
from tests.oracles.hinge import repaired_objective
from tests.oracles.svm_plus import (
    alternating_smo,
    dual_objective,
    generic_nonnegative,
    generic_plain,
    generic_primal,
    primal_objective,
)

from veridical.kernels.duality import GOOD_GAP, InfeasibleError
from veridical.kernels.svm import solve_nonnegative
from veridical.kernels.svm_exact import exact_gram
from veridical.kernels.svm_plus import (
    PrivilegedGram,
    SignedGram,
    Slacks,
    Squared,
    solve_grid,
    solve_hinge,
    solve_plain,
)
from veridical.kernels.svm_plus_linear import LinearSolution

PRICES = (0.01, 1.0, 1000.0)


def problem(seed, n=40, p=6, q=60, shift=0.7, positive=False):
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, p)) + shift * y[:, None] * (np.arange(p) < 3)
    Z = rng.normal(size=(n, q)) + 0.3 * y[:, None]
    return X, np.abs(Z) if positive else Z, y


def solve(X, Z, y, c, gamma, bias=True, start=None):
    return solve_hinge(
        SignedGram(X @ X.T, y), PrivilegedGram(Z @ Z.T, bias), c, gamma, start
    )


def weights(X, Z, y, one):
    return (one.alpha * y) @ X, one.bias, one.eta @ Z, one.privileged_bias


def assert_optimal(X, Z, y, c, gamma, one, bias=True):
    """B3: signs, complementarity, balance, and equal objectives."""
    w, b, v, b_star = weights(X, Z, y, one)
    slack, margin = Z @ v + b_star, y * (X @ w + b)
    beta = c - one.alpha + gamma * one.eta
    scale = max(1.0, c.max())
    assert one.alpha.min() >= 0
    assert beta.min() >= -1e-8 * scale
    assert slack.min() >= -1e-6
    assert (margin - 1 + slack).min() >= -1e-6
    assert abs(y @ one.alpha) <= 1e-8 * one.alpha.sum()
    if bias:
        assert abs(gamma * one.eta.sum()) <= 1e-8 * c.sum()
    positive = one.alpha > 1e-6 * max(1.0, one.alpha.max())
    np.testing.assert_allclose(margin[positive], (1 - slack)[positive], atol=1e-5)
    np.testing.assert_allclose(slack[beta > 1e-6 * scale], 0, atol=1e-5)
    primal, _ = primal_objective(X, Z, y, c, gamma, w, b, v, b_star)
    dual = dual_objective(X, Z, y, c, gamma, one.alpha, one.eta)
    assert primal == pytest.approx(dual, rel=1e-6, abs=1e-9)
    assert one.objective == pytest.approx(dual, rel=1e-9, abs=1e-12)
    assert one.gap <= 1e-7


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("gamma", [0.001, *PRICES])
@pytest.mark.parametrize("C", [0.001, *PRICES])
def test_the_solution_is_optimal(C, gamma, bias):
    """B1 and B3, separable or not, privileged features more than samples."""
    for p in (3, 60):
        X, Z, y = problem(p, p=p, positive=not bias)
        c = np.full(len(y), C)
        assert_optimal(X, Z, y, c, gamma, solve(X, Z, y, c, gamma, bias), bias)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("C", "gamma"), [(0.01, 1.0), (1.0, 0.01), (1.0, 100.0)])
def test_weights_are_those_of_a_generic_solver(C, gamma, bias):
    """B1 and B2."""
    X, Z, y = problem(5, p=4, positive=not bias)
    c = np.full(len(y), C)
    one = solve(X, Z, y, c, gamma, bias)
    w, b, v, b_star, objective = generic_primal(X, Z, y, c, gamma, bias=bias)
    ours = weights(X, Z, y, one)
    assert one.objective == pytest.approx(objective, rel=1e-6)
    np.testing.assert_allclose(ours[0], w, atol=1e-5)
    assert ours[1] == pytest.approx(b, abs=1e-5)
    np.testing.assert_allclose(ours[2], v, atol=1e-5)
    assert ours[3] == pytest.approx(b_star, abs=1e-5)


def test_separable_features_make_gamma_irrelevant():
    """B1a: the hard-margin value at C = 1000, whatever gamma is."""
    X, Z, y = problem(1, n=60, p=90, q=400)
    values = [solve(X, Z, y, np.full(60, 1e3), g).objective for g in (1e-3, 1.0, 1e3)]
    machine = SVC(kernel="linear", C=1e6, tol=1e-8).fit(X, y)
    hard = 0.5 * float((machine.coef_**2).sum())
    np.testing.assert_allclose(values, hard, rtol=1e-4)
    assert values[0] == pytest.approx(values[2], rel=1e-9)


def test_a_small_gamma_is_the_ordinary_svm():
    """Statement B4 of the specification of LUFe."""
    X, Z, y = problem(2, n=50, q=80)
    one = solve(X, Z, y, np.full(50, 1.0), 1e-5)
    w = SVC(kernel="linear", C=1.0, tol=1e-10).fit(X, y).coef_[0]
    assert np.linalg.norm((one.alpha * y) @ X - w) < 1e-3 * np.linalg.norm(w)


def test_a_large_gamma_gives_every_sample_the_same_slack():
    X, Z, y = problem(3, n=50, q=80)
    one = solve(X, Z, y, np.full(50, 0.05), 1e8)
    slack = Z @ (one.eta @ Z) + one.privileged_bias
    assert one.privileged_bias > 0.1
    np.testing.assert_allclose(slack, one.privileged_bias, atol=1e-4)


def test_an_infeasible_problem_is_reported():
    """B6: centred privileged features, no b*, classes that overlap."""
    X, Z, y = problem(4, p=2, shift=0.0)
    Z = Z - Z.mean(axis=0)
    for C, gamma in ((1.0, 1.0), (1000.0, 0.001), (0.001, 1000.0)):
        with pytest.raises(InfeasibleError):
            solve(X, Z, y, np.full(len(y), C), gamma, bias=False)
    assert solve(X, Z, y, np.full(len(y), 1.0), 1.0, bias=True).gap < 1e-8


def test_without_bias_separable_features_stay_feasible():
    X, Z, y = problem(4, p=60)
    Z = Z - Z.mean(axis=0)
    one = solve(X, Z, y, np.full(len(y), 1000.0), 1.0, bias=False)
    hard = solve(X, Z, y, np.full(len(y), 1000.0), 1.0, bias=True)
    assert one.objective == pytest.approx(hard.objective, rel=1e-6)


@pytest.mark.parametrize("gamma", [10.0, 100.0])
def test_alternating_smo_arrives_at_the_same_optimum(gamma):
    """Statement B8 of the specification of LUFe."""
    X, Z, y = problem(6, n=30)
    *_, value = alternating_smo(X @ X.T, Z @ Z.T, y, 1.0, gamma)
    one = solve(X, Z, y, np.full(30, 1.0), gamma)
    assert one.objective == pytest.approx(value, rel=1e-4)
    assert one.objective >= value - 1e-9


@pytest.mark.parametrize("q", [1, 3, 20])
@pytest.mark.parametrize("C", PRICES)
def test_few_privileged_features(q, C):
    """The privileged Gram matrix is singular."""
    X, Z, y = problem(q, q=q)
    c = np.full(len(y), C)
    for gamma in PRICES:
        assert_optimal(X, Z, y, c, gamma, solve(X, Z, y, c, gamma))


def test_samples_that_occur_twice_and_weights_say_the_same():
    X, Z, y = problem(7)
    times = np.arange(len(y)) % 3 + 1
    rows = np.repeat(np.arange(len(y)), times)
    weighted = solve(X, Z, y, 0.2 * times, 1.0)
    repeated = solve(X[rows], Z[rows], y[rows], np.full(len(rows), 0.2), 1.0)
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-7)
    ours, theirs = (
        weights(X, Z, y, weighted),
        weights(X[rows], Z[rows], y[rows], repeated),
    )
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(4, 24),
    p=st.integers(1, 30),
    q=st.integers(1, 40),
    log_C=st.floats(-3, 3),
    log_gamma=st.floats(-3, 3),
)
def test_any_problem_is_solved(seed, n, p, q, log_C, log_gamma):
    X, Z, y = problem(seed, n, p, q)
    c = np.full(n, 10.0**log_C)
    one = solve(X, Z, y, c, 10.0**log_gamma)
    assert_optimal(X, Z, y, c, 10.0**log_gamma, one)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**31), C=st.sampled_from([0.01, 0.3, 10.0]))
def test_the_order_of_samples_and_features_does_not_matter(seed, C):
    """Statement B10 of the specification of LUFe."""
    X, Z, y = problem(seed, p=30)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    c = np.full(len(y), C)
    one = solve(X, Z, y, c, 1.0)
    other = solve(X[rows][:, columns], Z[rows], y[rows], c, 1.0)
    scores = X @ ((one.alpha * y) @ X) + one.bias
    moved = X[rows][:, columns]
    again = moved @ ((other.alpha * y[rows]) @ moved) + other.bias
    np.testing.assert_allclose(again, scores[rows], atol=1e-6)


def test_a_start_changes_nothing_but_the_work():
    X, Z, y = problem(8, p=30)
    c = np.full(len(y), 0.1)
    cold = solve(X, Z, y, c, 1.0)
    near = solve(X, Z, y, c, 3.0)
    warm = solve(X, Z, y, c, 1.0, start=near.states)
    np.testing.assert_allclose(warm.alpha, cold.alpha, atol=1e-10)
    again = solve(X, Z, y, c, 1.0, start=cold.states)
    assert again.n_rounds == 1


def test_a_grid_is_its_points():
    X, Z, y = problem(9, n=50, p=70, q=120)
    Cs, gammas = (1.0, 0.001, 0.1, 1000.0), (10.0, 0.01)
    grid = solve_grid(
        SignedGram(X @ X.T, y), PrivilegedGram(Z @ Z.T), Cs, gammas, np.ones(50)
    )
    for i, gamma in enumerate(gammas):
        for j, C in enumerate(Cs):
            alone = solve(X, Z, y, np.full(50, C), gamma)
            assert grid[i][j].objective == pytest.approx(alone.objective, rel=1e-9)
            np.testing.assert_allclose(grid[i][j].alpha, alone.alpha, atol=1e-8)
            assert_optimal(X, Z, y, np.full(50, C), gamma, grid[i][j])


def test_many_samples_of_low_rank():
    """More samples than the small solver's: interior points give the start."""
    X, Z, y = problem(10, n=450, p=20, q=600, shift=0.1)
    for C, gamma in ((1.0, 1.0), (1000.0, 0.001)):
        c = np.full(450, C)
        assert_optimal(X, Z, y, c, gamma, solve(X, Z, y, c, gamma))


def test_many_samples_of_full_rank():
    X, Z, y = problem(11, n=420, p=500, q=600, shift=0.05)
    c = np.full(420, 0.01)
    assert_optimal(X, Z, y, c, 1.0, solve(X, Z, y, c, 1.0))


@pytest.mark.parametrize("C", PRICES)
@pytest.mark.parametrize("p", [2, 60])
def test_the_ordinary_svm_is_scikit_learns(C, p):
    X, _, y = problem(12, p=p)
    one = solve_plain(SignedGram(X @ X.T, y), np.full(len(y), C))
    theirs = SVC(kernel="linear", C=C, tol=1e-9, max_iter=10_000_000).fit(X, y)
    np.testing.assert_allclose((one.alpha * y) @ X, theirs.coef_[0], atol=2e-4)
    scores = X @ ((one.alpha * y) @ X) + one.bias
    np.testing.assert_allclose(scores, theirs.decision_function(X), atol=2e-3)
    assert one.gap < 1e-6


@pytest.mark.parametrize("kind", ["plain", "repeated", "shifted", "uneven"])
@pytest.mark.parametrize("C", [0.001, 1.0, 1000.0])
def test_the_ordinary_svm_is_solved_where_classes_overlap(kind, C):
    """SMO takes too long there; the objective is that of a generic QP."""
    X, _, y = problem(14, n=60, p=5, shift=0.2)
    if kind == "repeated":
        X, y = np.repeat(X[:30], 2, axis=0), np.repeat(y[:30], 2)
    elif kind == "shifted":
        X = X + 100.0
    elif kind == "uneven":
        X = X * 10.0 ** (np.arange(5) % 3 - 1)
    one = solve_plain(SignedGram(X @ X.T, y), np.full(60, C))
    assert one.gap < 1e-6
    assert one.objective == pytest.approx(generic_plain(X, y, C), rel=1e-6)


@pytest.mark.parametrize("C", [1e4, 1e5, 1e6])
def test_multipliers_far_below_a_large_bound_are_kept(C):
    """Separable classes: all multipliers are below 1, whatever C is."""
    X, _, y = problem(15, n=50, p=70)
    one = solve_plain(SignedGram(X @ X.T, y), np.full(50, C))
    hard = solve_plain(SignedGram(X @ X.T, y), np.full(50, 100.0))
    assert one.alpha.max() < 1.0
    assert one.gap < 1e-7
    assert one.objective == pytest.approx(hard.objective, rel=1e-9)


@pytest.mark.in_part(5)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["large", "small", "mixed"])
@pytest.mark.parametrize(("n", "p"), [(40, 5), (60, 10), (50, 80), (100, 20)])
def test_the_ordinary_svm_at_a_large_bound_and_any_scale(n, p, kind, seed):
    """Products of samples and multipliers are up to 1e13, margins are 1."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.normal(size=(n, p)) + 0.3 * y[:, None] * (np.arange(p) < 3)
    X *= {"large": 1e3, "small": 1e-3, "mixed": 10.0 ** rng.uniform(-3, 3, p)}[kind]
    c = np.full(n, 1e5)
    one = solve_plain(SignedGram(X @ X.T, y), c, lambda: exact_gram(X))
    assert one.gap <= GOOD_GAP
    w = LinearSolution.of_gram(one, y, X, None).weights
    cost = repaired_objective(X, y, 1e5, w, one.bias)
    assert cost == pytest.approx(one.objective, rel=GOOD_GAP)
    assert one.objective == pytest.approx(generic_plain(X, y, 1e5), rel=1e-7)
    # Without the features the products count as exact.
    assert solve_plain(SignedGram(X @ X.T, y), c).gap <= GOOD_GAP


def test_a_bias_without_free_multipliers_is_in_the_middle():
    """All multipliers at C: any bias between the two classes' wishes is optimal."""
    X = np.array([[5.0], [5.5], [7.0], [7.5]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    one = solve_plain(SignedGram(X @ X.T, y), np.full(4, 0.01))
    w = float((one.alpha * y) @ X[:, 0])
    np.testing.assert_allclose(one.alpha, 0.01)
    wishes = y - w * X[:, 0]
    assert one.bias == pytest.approx((wishes[:2].max() + wishes[2:].min()) / 2)
    assert one.gap < 1e-9


def test_squared_slacks_primal_and_dual_agree():
    """B7, and a one-class machine on the same matrix gives the same direction."""
    X, Z, y = problem(13)
    X, Z = np.c_[X, np.ones(40)], np.c_[Z, np.ones(40)]
    c, gamma = np.linspace(0.5, 2.0, 40), 0.3
    H = Slacks(Z @ Z.T, c, gamma).curvature()
    np.testing.assert_allclose(
        H, np.linalg.inv(np.diag(c) + gamma * np.linalg.inv(Z @ Z.T)), atol=1e-10
    )
    G = (X @ X.T) * np.outer(y, y) + H
    alpha, gap, _ = solve_nonnegative(G)
    w, slack = (alpha * y) @ X, H @ alpha
    v = (alpha - c * slack) @ Z / gamma
    np.testing.assert_allclose(Z @ v, slack, atol=1e-9)
    primal = 0.5 * w @ w + gamma / 2 * v @ v + 0.5 * c @ slack**2
    assert (y * (X @ w) - 1 + slack).min() > -1e-9
    assert primal == pytest.approx(alpha.sum() - 0.5 * alpha @ G @ alpha, rel=1e-6)
    assert gap < 1e-8
    one_class = OneClassSVM(kernel="precomputed", nu=1 / 40, tol=1e-10).fit(G)
    theirs = np.zeros(40)
    theirs[one_class.support_] = one_class.dual_coef_[0]
    np.testing.assert_allclose(
        alpha / alpha.sum(), theirs / theirs.sum(), rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("C", "gamma"), [(1e3, 1e-3), (1e3, 1.0), (100.0, 0.1)])
def test_guesses_that_go_in_circles_are_helped_out(C, gamma, seed):
    """Non-negative least squares has the same solution (seeds 1 and 3 circle)."""
    X, Z, y = problem(seed, n=60, p=10, q=90)
    H = Slacks(Z @ Z.T + 1.0, np.full(60, C), gamma).curvature()
    G = (X @ X.T + 1.0) * np.outer(y, y) + H
    alpha, gap, _ = solve_nonnegative(G)
    L = np.linalg.cholesky(G)
    expected, _ = nnls(L.T, np.linalg.solve(L, np.ones(60)))
    np.testing.assert_allclose(alpha, expected, atol=1e-6 * expected.max())
    assert gap < 1e-9


def test_squared_slacks_with_large_c_need_no_second_solver(monkeypatch):
    """η would be a difference of equals, with C/γ times its error, from Hα."""
    X, Z, y = problem(2, n=60, p=10, q=90)
    c = np.full(60, 1e3)
    machine = Squared(X @ X.T, Z @ Z.T, y, c, 1e-3, True)
    monkeypatch.setattr(Squared, "_solve_interior", None)
    found = machine.solve()
    assert found.gap < 1e-10
    slack = Z @ (found.eta @ Z) + found.privileged_bias
    margin = y * (X @ ((found.alpha * y) @ X) + found.bias)
    np.testing.assert_allclose((margin + slack)[found.alpha > 0], 1.0, atol=1e-8)
    assert (margin + slack).min() > 1 - 1e-8


def test_squared_slacks_against_a_generic_solver():
    rng = np.random.default_rng(0)
    for rank in (10, 40):
        B = rng.normal(size=(40, rank))
        G = B @ B.T + (0.0 if rank == 40 else 1e-3) * np.eye(40) + 1.0
        alpha, _, _ = solve_nonnegative(G)
        theirs = generic_nonnegative(G)
        ours = alpha.sum() - 0.5 * alpha @ G @ alpha
        assert ours == pytest.approx(theirs.sum() - 0.5 * theirs @ G @ theirs, rel=1e-6)

"""Interior points in a box: optimality conditions, whole matrices, two solvers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC
from tests.oracles.box import follow_box
from tests.oracles.hinge import objective, stationarity

from veridical.datasets import make_linear, make_monks, make_nonlinear
from veridical.kernels.box import fit_hinge, solve_box
from veridical.kernels.svm import solve_svm


def linear(n, d, seed):
    X, y = make_linear(n, random_state=seed)[:2]
    return np.ascontiguousarray(np.asarray(X)[:, :d]), signs(y)


def nonlinear(n, d, seed):
    X, y = make_nonlinear(n, random_state=seed)[:2]
    return np.ascontiguousarray(np.asarray(X)[:, :d]), signs(y)


def monks(n, d, seed):
    """Indicators: many cases lie in the same place, and margins meet in corners."""
    X, y = make_monks(1 + seed % 3, n, random_state=seed)
    codes = X.apply(lambda column: column.cat.codes).to_numpy()[:, :d]
    blocks = [codes[:, [j]] == np.unique(codes[:, j]) for j in range(d)]
    return np.hstack(blocks).astype(float), signs(y)


def signs(y):
    return np.where(np.asarray(y) == np.asarray(y)[0], 1.0, -1.0)


CASES = [
    *((linear, n, d, seed) for n, d, seed in [(60, 3, 0), (112, 20, 1), (400, 40, 2)]),
    *((nonlinear, n, d, seed) for n, d, seed in [(60, 3, 0), (112, 40, 1)]),
    *((monks, n, d, seed) for seed in range(6) for n, d in [(36, 2), (108, 5)]),
]


@pytest.mark.parametrize(("make", "n", "d", "seed"), CASES)
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_the_optimality_conditions_hold(make, n, d, seed, C):
    X, s = make(n, d, seed)

    w, b, found = fit_hinge(X, s, C)

    assert found
    # Where the conditions are degenerate (nominal data) only the square root of the
    # solver's precision is left.
    assert stationarity(X, s, C, w, b, on_margin=1e-4) < 2e-4 * C
    tight = SVC(kernel="linear", C=C, tol=1e-7).fit(X, s)
    theirs = objective(X, s, C, tight.coef_[0], tight.intercept_[0])
    assert objective(X, s, C, w, b) <= theirs * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize(("make", "n", "d", "seed"), CASES)
def test_the_same_svm_as_scikit_learns(make, n, d, seed):
    X, s = make(n, d, seed)
    w, b, _ = fit_hinge(X, s, 1.0)

    theirs = SVC(kernel="linear", C=1.0, tol=1e-6).fit(X, s)

    # libsvm keeps inner products in single precision
    assert theirs.decision_function(X) == pytest.approx(X @ w + b, abs=5e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_same_weights_as_by_pairs_of_multipliers(seed):
    """`solve_svm` goes from corner to corner instead, and ends in a linear system."""
    X, s = linear(80, 12, seed)

    a = solve_svm(X @ X.T, s, np.ones(80)).a
    w, b, _ = fit_hinge(X, s, 1.0)

    assert w == pytest.approx((s * a) @ X, abs=1e-7)
    free = (a > 1e-8) & (a < 1 - 1e-8)
    assert b == pytest.approx(np.mean(s[free] - X[free] @ w), abs=1e-7)


def test_the_widest_margin_of_four_samples_by_hand():
    # The margin lies half-way between the two inner cases, one unit from either.
    X = np.array([[0.0], [1.0], [3.0], [4.0]])
    w, b, _ = fit_hinge(X, np.array([1.0, 1.0, -1.0, -1.0]), 10.0)
    assert w == pytest.approx([-1.0], abs=1e-8)
    assert b == pytest.approx(2.0, abs=1e-8)
    # Nothing tells the classes apart: no weight, and the intercept of the larger one.
    w, b, _ = fit_hinge(np.ones((5, 1)), np.array([1.0, 1.0, 1.0, -1.0, -1.0]), 1.0)
    assert w == pytest.approx([0.0], abs=1e-8)
    assert b == pytest.approx(1.0, abs=1e-8)
    # As many of both: any intercept from −1 to 1 costs the same.
    w, b, _ = fit_hinge(np.ones((4, 1)), np.array([1.0, 1.0, -1.0, -1.0]), 1.0)
    assert b == pytest.approx(0.0, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 60), d=st.integers(1, 8))
def test_order_and_sign_do_not_matter(seed, n, d):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.5, rng.random((n, d)), rng.integers(2, size=d))
    s = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    s[:2] = 1.0, -1.0
    w, b, _ = fit_hinge(X, s, 1.0)
    rows, columns = rng.permutation(n), rng.permutation(d)

    w_other, b_other, _ = fit_hinge(
        np.ascontiguousarray(X[rows][:, columns]), -s[rows], 1.0
    )

    assert -w_other == pytest.approx(w[columns], abs=1e-4)
    assert -b_other == pytest.approx(b, abs=1e-4)
    assert stationarity(X, s, 1.0, w, b, on_margin=1e-4) < 2e-3


def test_it_says_where_rounding_hides_the_margin():
    rng = np.random.default_rng(0)
    X = np.round(2 * rng.random((80, 6)))
    s = np.where(X[:, 0] + 0.3 * rng.normal(size=80) > 1, 1.0, -1.0)
    assert fit_hinge(X, s, 1.0)[2]
    assert not fit_hinge(1e5 * X, s, 1e3)[2]


@pytest.mark.parametrize(("n", "d"), [(30, 5), (60, 10), (40, 60), (330, 300)])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_weights_are_those_of_the_multipliers(n, d, C):
    rng = np.random.default_rng(n)
    y = np.repeat([1.0, -1.0], n // 2)
    X = rng.normal(size=(n, d))
    X[:, 0] += y
    weights, _, found = fit_hinge(X, y, C)
    centred = X - X.mean(axis=0)
    a, _, _ = solve_box(centred @ centred.T, centred, y, np.full(n, C), 1e-12)
    assert found
    np.testing.assert_allclose((a * y) @ centred, weights, atol=1e-5)


@pytest.mark.parametrize(("n", "d"), [(12, 2), (30, 5), (40, 60), (90, 70), (300, 20)])
@pytest.mark.parametrize("tolerance", [1e-5, 1e-9])
@pytest.mark.parametrize("regression", [False, True])
def test_the_path_is_that_of_whole_matrices(n, d, tolerance, regression):
    """Step by step: both end at the same point, far from the last digits too."""
    rng = np.random.default_rng(n)
    y = np.repeat([1.0, -1.0], n // 2)
    Z = rng.normal(size=(n, d)) / np.sqrt(d)
    Z[:, 0] += y
    c = rng.uniform(0.1, 3.0, n)
    cost = rng.normal(size=n) if regression else -np.ones(n)
    gram = Z @ Z.T

    ours = solve_box(gram, Z, y, c, tolerance, cost)

    for one, general in zip(ours, follow_box(gram, y, c, cost, tolerance), strict=True):
        np.testing.assert_allclose(one, general, rtol=1e-5, atol=1e-8)


def test_features_and_inner_products_give_the_same_path():
    """A step works with features where these are few, else with inner products."""
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], 20)
    few = rng.normal(size=(40, 6))
    many = few @ np.linalg.qr(rng.normal(size=(38, 6)))[0].T  # the same products
    c = np.ones(40)
    gram = few @ few.T

    by_features = solve_box(gram, few, y, c)
    by_products = solve_box(gram, many, y, c)

    for one, other in zip(by_features, by_products, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("n", [300, 301])
def test_large_blocks_change_nothing(n):
    """With more than 256 samples the factors are computed in blocks of two sizes."""
    rng = np.random.default_rng(n)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    Z = rng.normal(size=(n, n)) / np.sqrt(n)
    Z[:, 0] += y
    c = np.full(n, 10.0)
    gram = Z @ Z.T

    a, surplus, slack = solve_box(gram, Z, y, c, 1e-10)

    assert abs(float(y @ a)) < 1e-8
    margin_without_bias = y * (gram @ (y * a))
    bias = y * (1.0 + surplus - slack - margin_without_bias)
    np.testing.assert_allclose(bias, np.full(n, bias[0]), atol=1e-7)
    assert np.all(a * surplus < 1e-7)
    assert np.all((c - a) * slack < 1e-7)

"""The dual in twice the working precision, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from veridical.kernels.svm import solve_interior
from veridical.kernels.svm_exact import (
    add_products,
    exact_gram,
    solve_active_set_exactly,
    sum_weights,
)


def bias_uncertainty(X, s, c, a):
    """By how much the biases differ that the samples want; without rounding."""
    rows = [[Fraction(x) for x in row] for row in X.tolist()]
    signed = [Fraction(v) for v in (s * a).tolist()]
    w = [
        sum(t * row[j] for t, row in zip(signed, rows, strict=True))
        for j in range(X.shape[1])
    ]
    bias_at_margin = [
        Fraction(sign) - sum(wj * x for wj, x in zip(w, row, strict=True))
        for sign, row in zip(s.tolist(), rows, strict=True)
    ]
    up = np.where(s > 0, a < c, a > 0)
    down = np.where(s > 0, a > 0, a < c)
    high = max(v for v, able in zip(bias_at_margin, up, strict=True) if able)
    low = min(v for v, able in zip(bias_at_margin, down, strict=True) if able)
    return float(max(high - low, Fraction(0)))


def outliers(seed, n=40, p=12, factor=1e6):
    rng = np.random.default_rng(seed)
    s = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.normal(size=(n, p)) + 0.5 * s[:, None] * (np.arange(p) < 3)
    X[rng.integers(0, n, p), np.arange(p)] *= factor
    return X, s


def test_inner_products_are_right_to_twice_the_precision():
    X, _ = outliers(0, n=12, p=5)
    G = exact_gram(X)
    for i in range(12):
        for j in range(12):
            terms = [
                Fraction(x) * Fraction(z)
                for x, z in zip(X[i].tolist(), X[j].tolist(), strict=True)
            ]
            got = Fraction(G[0, i, j]) + Fraction(G[1, i, j])
            size = sum(abs(t) for t in terms)
            assert abs(got - sum(terms)) <= Fraction(1, 2**98) * size


def test_features_taken_off_leave_no_trace():
    X, _ = outliers(1, n=15, p=6)
    G = exact_gram(X)
    add_products(np.ascontiguousarray(X[:, :3].T), -1.0, G)
    np.testing.assert_allclose(G[0], exact_gram(X[:, 3:])[0], rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_margins_agree_beside_outliers(seed, C):
    """What is left is the rounding of the multipliers to doubles."""
    X, s = outliers(seed)
    c = np.full(len(s), C)
    start, _ = solve_interior(X @ X.T, s, s, c)
    (a, _), _, left = solve_active_set_exactly(exact_gram(X), s, s, c, start)
    assert left <= 1e-13
    assert a.min() >= 0
    assert a.max() <= C
    assert abs(s @ a) <= 1e-14 * a.sum()
    rounding = np.finfo(float).eps * float((np.abs(X @ X.T) @ a).max())
    assert bias_uncertainty(X, s, c, a) <= 2 * rounding + 1e-13


def test_from_nowhere_and_with_copies_of_samples():
    """Copies make the inner products singular; the weights are unique all the same."""
    X, s = outliers(7, n=20, factor=1e4)
    X, s = np.vstack([X, X[:8]]), np.r_[s, s[:8]]
    c = np.ones(28)
    (a, _), _, left = solve_active_set_exactly(exact_gram(X), s, s, c, np.zeros(28))
    (other, _), _, _ = solve_active_set_exactly(
        exact_gram(X), s, s, c, np.full(28, 0.5)
    )
    assert left <= 1e-13
    scale = np.abs(X).T @ a
    assert np.abs((s * a) @ X - (s * other) @ X).max() <= 1e-12 * scale.max()


def test_fewer_features_than_free_multipliers():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, size=(30, 2)).astype(float)
    s = np.where(rng.permutation(30) < 13, 1.0, -1.0)
    c = np.full(30, 2.0)
    (a, _), _, left = solve_active_set_exactly(exact_gram(X), s, s, c, rng.random(30))
    assert left <= 1e-13
    assert bias_uncertainty(X, s, c, a) <= 1e-12


def test_weights_of_large_multipliers_that_cancel():
    """Rounded to doubles, multipliers lose the digits that their sums need."""
    X, _ = outliers(4, n=12, p=5)
    rng = np.random.default_rng(0)
    signed = 1e8 * rng.normal(size=12)
    low = 1e-9 * rng.normal(size=12)
    for k, weight in enumerate(sum_weights(X, signed, low)):
        terms = [
            Fraction(x) * (Fraction(a) + Fraction(b))
            for x, a, b in zip(X[:, k].tolist(), signed, low, strict=True)
        ]
        size = float(sum(abs(t) for t in terms))
        assert weight == pytest.approx(float(sum(terms)), rel=1e-15, abs=1e-30 * size)
    assert (sum_weights(X, signed, 0 * low) == X.T @ signed).all()

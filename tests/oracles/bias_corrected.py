"""Slow and obvious: the bias-corrected naive Bayes model, straight from its definition.

Integrals over θ are taken exactly, in fractions, by expanding the polynomial; or by
adaptive quadrature. No tables are shared, no patterns grouped.
"""

from fractions import Fraction
from itertools import product
from math import comb, factorial

import numpy as np
from scipy import integrate
from scipy.special import betaln, logsumexp


def multiply(a, b):
    out = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[i + j] += x * y
    return out


def sequence(alpha, ones, zeros):
    """U(αθ, α(1−θ), I, O) as a polynomial in θ, with fractions for coefficients."""
    alpha = Fraction(alpha)
    poly = [Fraction(1)]
    for i in range(ones):
        poly = multiply(poly, [Fraction(i), alpha])
    for o in range(zeros):
        poly = multiply(poly, [alpha + o, -alpha])
    for m in range(ones + zeros):
        poly = [c / (alpha + m) for c in poly]
    return poly


def integral(poly, power=0):
    return sum(c / (d + 1 + power) for d, c in enumerate(poly))


def evidence(alpha, sizes, counts):
    """∫ Π U dθ and ∫ θ Π U dθ, as fractions."""
    poly = [Fraction(1)]
    for size, ones in zip(sizes, counts, strict=True):
        poly = multiply(poly, sequence(alpha, ones, size - ones))
    return integral(poly), integral(poly, 1)


def squared_correlation(counts, sizes):
    """χ²/n of a binary feature with any number of classes, as a fraction."""
    n, s = sum(sizes), sum(counts)
    if s in (0, n):
        return Fraction(0)
    between = sum(Fraction(i * i, size) for i, size in zip(counts, sizes, strict=True))
    return (between - Fraction(s * s, n)) * n / (s * (n - s))


def low_probability(sizes, alpha, square, inclusive=False):
    """P(squared statistic < square), by enumeration of all counts, as a fraction."""
    total = Fraction(0)
    for counts in product(*(range(size + 1) for size in sizes)):
        value = squared_correlation(counts, sizes)
        if value < square or (inclusive and value == square):
            ways = 1
            for size, ones in zip(sizes, counts, strict=True):
                ways *= comb(size, ones)
            total += ways * evidence(alpha, sizes, counts)[0]
    return total


def predict(X, y, X_test, k, alphas, log_weights, class_prior=1.0, correct=True):
    """P(y* = 1) feature by feature, θ by adaptive quadrature, two classes."""
    y = np.asarray(y)
    sizes = [int((y == c).sum()) for c in (0, 1)]
    ones = np.array([X[y == c].sum(axis=0) for c in (0, 1)]).T.astype(int)
    squares = [squared_correlation([int(i) for i in row], sizes) for row in ones]
    order = sorted(range(X.shape[1]), key=lambda j: (-squares[j], j))
    kept, rest = order[:k], order[k:]
    gamma = squares[kept[-1]]
    joint = np.empty((len(X_test), 2, len(alphas)))
    for a, alpha in enumerate(alphas):
        adjustment = 0.0
        if correct and rest:
            below = float(low_probability(sizes, Fraction(alpha), gamma))
            upto = float(low_probability(sizes, Fraction(alpha), gamma, True))
            for j in rest:
                here = upto - below if squares[j] == gamma else below
                adjustment += np.log(here)
        for b, x in enumerate(X_test):
            for c in (0, 1):
                total = log_weights[a] + adjustment
                for j in kept:
                    total += np.log(_factor(alpha, sizes, ones[j], int(x[j]), c))
                joint[b, c, a] = total + np.log(class_prior + sizes[c])
    logs = logsumexp(joint, axis=2)
    return 1 / (1 + np.exp(logs[:, 0] - logs[:, 1])), order


def _factor(alpha, sizes, ones, value, label):
    def integrand(theta):
        u, v = alpha * theta, alpha * (1 - theta)
        logs = sum(
            betaln(u + i, v + size - i) - betaln(u, v)
            for i, size in zip(ones, sizes, strict=True)
        )
        rate = (u + ones[label]) / (alpha + sizes[label])
        return np.exp(logs) * (rate if value else 1 - rate)

    return integrate.quad(integrand, 0, 1, epsabs=0, epsrel=1e-12, limit=200)[0]


def simplex_evidence(alpha, tables):
    """Evidence of a table (K, V) and E(θ_v), by sums over powers of θ, as fractions."""
    alpha = Fraction(alpha)
    n_values = len(tables[0])
    polys = []
    for v in range(n_values):
        poly = [Fraction(1)]
        for row in tables:
            for i in range(row[v]):
                poly = multiply(poly, [Fraction(i), alpha])
        polys.append(poly)
    below = Fraction(1)
    for row in tables:
        for m in range(sum(row)):
            below *= alpha + m

    def moment(extra):
        total = Fraction(0)
        for powers in product(*(range(len(poly)) for poly in polys)):
            term = Fraction(factorial(n_values - 1))
            degree = 0
            for v, d in enumerate(powers):
                term *= polys[v][d] * factorial(d + (v == extra))
                degree += d + (v == extra)
            total += term / factorial(degree + n_values - 1)
        return total

    whole = moment(None)
    return whole / below, [moment(v) / whole for v in range(n_values)]


def simulated_tables(rng, alpha, sizes, n_values, n_draws):
    """Counts of simulated features, of shape (n_draws, K, V)."""
    theta = rng.dirichlet(np.ones(n_values), n_draws)
    shares = rng.gamma(alpha * np.repeat(theta[:, None], len(sizes), axis=1))
    shares = np.maximum(shares, 1e-300)
    shares /= shares.sum(axis=2, keepdims=True)
    return np.stack(
        [rng.multinomial(size, shares[:, c]) for c, size in enumerate(sizes)], axis=1
    )


def chi_square_share(tables):
    """χ²/n of many tables."""
    tables = tables.astype(float)
    n = tables.sum(axis=(1, 2), keepdims=True)
    expected = tables.sum(axis=1, keepdims=True) * tables.sum(axis=2, keepdims=True) / n
    with np.errstate(invalid="ignore", divide="ignore"):
        terms = np.where(expected > 0, (tables - expected) ** 2 / expected, 0.0)
    return terms.sum(axis=(1, 2)) / n[:, 0, 0]

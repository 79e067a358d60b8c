"""Counts of ones in each class of a binary feature, and how probable they are.

A feature has rate θ ~ U(0, 1) overall; its rates in the classes are independent draws
from Beta(αθ, α(1−θ)), so that its counts are beta-binomial given θ. All integrals over
θ are of polynomials of degree n at most, which Gauss–Legendre integrates exactly with
⌊n/2⌋ + 1 nodes; the terms are positive, so no digits are lost. Where θ ~ Beta(a, b),
Gauss–Jacobi takes its place. Without effect, at α = ∞, all classes have the rate θ.

| symbol | meaning                                                    | shape    |
|--------|------------------------------------------------------------|----------|
| sizes  | samples N_c of each class; n is their sum                  | (K,)     |
| counts | ones I_c of a feature in each class; a row is a pattern    | (T, K)   |
| nodes  | θ_q, symmetric about ½                                     | (m,)     |
| log_w  | logarithm of the weight of each node                       | (m,)     |
| steps  | the numbers i of ones or zeros that occur                  | (R,)     |
| rise   | Σ_{l<i} log(αθ_q + l): i ones in a row, up to a constant | (R, m)   |
| fall   | the same with 1−θ_q: i zeros in a row                      | (R, m)   |
| mass   | P(I_c given α and θ_q), one class after the other          | (m, n+K) |
"""

from __future__ import annotations

from functools import lru_cache
from math import lgamma
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, roots_jacobi, roots_legendre

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.threads import run_jobs, spans

#: Nodes per √n; more change an integral by less than rounding: integrands are no
#: narrower than 1/√n, and the error falls with exp(−2 (nodes)²/n).
_NODES_PER_ROOT = 8.0

#: Factors of a rising factorial; for more the gamma function is used.
_MAX_FACTORS = 16


def n_nodes(n: int) -> int:
    """Count the nodes that integrate the polynomials of n samples to rounding."""
    return int(min(n // 2 + 1, np.ceil(_NODES_PER_ROOT * np.sqrt(n))))


@lru_cache(maxsize=32)
def unit_rule(m: int) -> tuple[FloatArray, FloatArray]:
    """Compute Gauss–Legendre nodes and log-weights on (0, 1), symmetric about ½."""
    x, w = roots_legendre(m)
    x, w = 0.5 * (x - x[::-1]), 0.5 * (w + w[::-1])
    return 0.5 * (1.0 + x), np.log(0.5 * w)


class BaseRates(NamedTuple):
    """The distribution Beta(a, b) of the rates θ of features; by default uniform."""

    a: float = 1.0
    b: float = 1.0


#: The base rates of the published model.
UNIFORM = BaseRates()
#: The α at which rates of the classes are equal, to rounding.
NO_EFFECT = 1e16


@lru_cache(maxsize=32)
def beta_rule(m: int, rates: BaseRates) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute nodes θ, 1 − θ and log-weights of the Gauss rule for θ ~ Beta(a, b)."""
    if rates == UNIFORM:
        nodes, log_w = unit_rule(m)
        return nodes, np.ascontiguousarray(nodes[::-1]), log_w
    x, w = roots_jacobi(m, rates.b - 1.0, rates.a - 1.0)
    with np.errstate(divide="ignore"):  # far from both shapes weights are 0
        return 0.5 * (1.0 + x), 0.5 * (1.0 - x), np.log(w / w.sum())


def log_no_effect(
    sizes: IntArray, counts: IntArray, rates: BaseRates = UNIFORM
) -> FloatArray:
    """Compute the log-probability of one arrangement if all classes have one rate."""
    n, s = int(sizes.sum()), counts.sum(axis=1)
    found = betaln(rates.a + s, rates.b + n - s) - betaln(rates.a, rates.b)
    return np.asarray(found, np.float64)


@njit(cache=True, nogil=True)
def log_gamma_ratio(z: float, steps: int) -> float:
    """Compute log Γ(z + steps) − log Γ(z), without the digits that the two share.

    For large z by the difference of Stirling's series, whose next term is below
    1e-13.
    """
    if z < 32.0:
        return lgamma(z + steps) - lgamma(z)
    top = z + steps
    series = (1.0 / top - 1.0 / z) / 12.0 - (top**-3 - z**-3) / 360.0
    series += (top**-5 - z**-5) / 1260.0
    return (top - 0.5) * np.log1p(steps / z) + steps * (np.log(z) - 1.0) + series


@njit(cache=True, nogil=True)
def fill_rises(
    alpha: float, nodes: FloatArray, steps: IntArray, rise: FloatArray
) -> None:
    """Write the logarithms of rising factorials of αθ, a row for each of `steps`.

    Steps are in rising order. Between near ones factors are multiplied one by one,
    which keeps the most digits; across many factors by the gamma function.
    """
    m, before = nodes.size, 0
    for q in range(m):
        rise[0, q] = 0.0
    for r in range(steps.size):
        row, last = rise[r], rise[max(r - 1, 0)]
        if steps[r] - before > _MAX_FACTORS:
            for q in range(m):
                z = alpha * nodes[q]
                row[q] = last[q] + log_gamma_ratio(z + before, steps[r] - before)
        else:
            for q in range(m):
                row[q] = last[q]
            for i in range(before, steps[r]):
                for q in range(m):
                    row[q] += np.log(alpha * nodes[q] + i)
        before = steps[r]


@njit(cache=True, nogil=True)
def log_rise(alpha: float, n: int) -> float:
    """Compute Σ_{l<n} log(α + l)."""
    total = 0.0
    for i in range(n):
        total += np.log(alpha + i)
    return total


@njit(cache=True, nogil=True)
def integrate_patterns(
    alpha: float,
    rise: FloatArray,
    fall: FloatArray,
    nodes: FloatArray,
    log_w: FloatArray,
    sizes: IntArray,
    ones: IntArray,
    zeros: IntArray,
    log_evidence: FloatArray,
    mean: FloatArray,
) -> None:
    """Integrate θ out of every pattern, given the rows of its ones and zeros.

    Writes log ∫ Π_c U(αθ, α(1−θ), I_c, N_c − I_c) dθ and the mean of θ under that
    integrand, where U is the probability of one particular sequence.
    """
    m, n_classes = nodes.size, sizes.size
    constant = 0.0
    for c in range(n_classes):
        constant += log_rise(alpha, sizes[c])
    term = np.empty(m)
    for t in range(ones.shape[0]):
        term[:] = log_w
        for c in range(n_classes):
            up, down = rise[ones[t, c]], fall[zeros[t, c]]
            for q in range(m):
                term[q] += up[q] + down[q]
        top = term.max()
        total, moment = 0.0, 0.0
        for q in range(m):
            e = np.exp(term[q] - top)
            total += e
            moment += e * nodes[q]
        log_evidence[t] = top + np.log(total) - constant
        mean[t] = moment / total


@njit(cache=True, nogil=True)
def fill_masses(
    alpha: float,
    nodes: FloatArray,
    others: FloatArray,
    sizes: IntArray,
    mass: FloatArray,
) -> None:
    """Write the beta-binomial probabilities of all classes, side by side.

    `others` are 1 − `nodes`, known to as many digits.

    Each starts from the count nearest to its mean, follows the ratio of
    neighbouring probabilities both ways, and is divided by its sum: what underflows
    is far below what counts.
    """
    for q in range(nodes.size):
        start = 0
        for c in range(sizes.size):
            n = sizes[c]
            p = mass[q, start : start + n + 1]
            if c > 0 and n == sizes[c - 1]:  # classes of one size are alike
                p[:] = mass[q, start - n - 1 : start]
                start += n + 1
                continue
            a, b = alpha * nodes[q], alpha * others[q]
            middle = min(n, int(n * nodes[q] + 0.5))
            p[middle] = 1.0
            total = 1.0
            for i in range(middle, n):
                p[i + 1] = p[i] * ((n - i) * (a + i) / ((i + 1) * (b + (n - i - 1))))
                total += p[i + 1]
            for i in range(middle, 0, -1):
                p[i - 1] = p[i] * (i * (b + (n - i)) / ((n - i + 1) * (a + (i - 1))))
                total += p[i - 1]
            for i in range(n + 1):
                p[i] /= total
            start += n + 1


@njit(cache=True, nogil=True)
def sum_region(
    mass: FloatArray,
    weights: FloatArray,
    sizes: IntArray,
    first: IntArray,
    last: IntArray,
) -> tuple[float, float]:
    """Compute the probability of a region of counts and of the rest.

    The region is given by the counts of the last class: for each tuple of counts of
    the classes before it (the last of these running fastest) from ``first`` to
    ``last``, both included. What lies outside is a sum of positive terms, and keeps
    its digits however small it is.
    """
    n_classes = sizes.size
    top = sizes[n_classes - 1]
    base = mass.shape[1] - top - 1
    below, above = np.zeros(top + 2), np.zeros(top + 2)
    digits = np.zeros(n_classes - 1, np.intp)
    share = np.empty(n_classes)  # share[c]: weight times the counts before class c
    inside, outside = 0.0, 0.0
    for q in range(weights.size):
        for i in range(top + 1):
            below[i + 1] = below[i] + mass[q, base + i]
        for i in range(top, -1, -1):
            above[i] = above[i + 1] + mass[q, base + i]
        if n_classes == 2:
            for t in range(first.size):
                low, high = first[t], last[t] + 1
                weight = weights[q] * mass[q, t]
                into = below[high] - below[low] if low < high else 0.0
                rest = below[low] + above[high] if low < high else below[top + 1]
                inside += weight * into
                outside += weight * rest
            continue
        digits[:] = 0
        share[0], changed = weights[q], 0
        for t in range(first.size):
            row = 0
            for c in range(n_classes - 1):
                if c >= changed:
                    share[c + 1] = share[c] * mass[q, row + digits[c]]
                row += sizes[c] + 1
            low, high = first[t], last[t] + 1
            weight = share[n_classes - 1]
            if low < high:
                inside += weight * (below[high] - below[low])
                outside += weight * (below[low] + above[high])
            else:
                outside += weight * below[top + 1]
            for c in range(n_classes - 2, -1, -1):
                digits[c] += 1
                changed = c
                if digits[c] <= sizes[c]:
                    break
                digits[c] = 0
    return inside, outside


def pattern_table(
    alphas: FloatArray,
    sizes: IntArray,
    counts: IntArray,
    n_threads: int = 1,
    rates: BaseRates = UNIFORM,
) -> tuple[FloatArray, FloatArray]:
    """Integrate θ out of many patterns for many α.

    Parameters
    ----------
    alphas : array of shape (A,)
        Values of α.
    sizes : int array of shape (K,)
        Samples of each class.
    counts : int array of shape (T, K)
        Ones of each pattern in each class.
    n_threads : int, default=1
        Number of threads, which share the values of α.
    rates : BaseRates, default=UNIFORM
        The distribution of θ.

    Returns
    -------
    log_evidence, mean : arrays of shape (A, T)
        Log-probability of one particular arrangement of the ones, and E(θ | counts).
    """
    alphas = np.asarray(alphas, dtype=np.float64)
    nodes, others, log_w = beta_rule(n_nodes(int(sizes.sum())), rates)
    log_evidence = np.empty((len(alphas), len(counts)))
    mean = np.empty_like(log_evidence)
    both = np.stack([counts, sizes - counts])
    steps, rows = np.unique(both, return_inverse=True)
    ones, zeros = rows.reshape(both.shape).astype(np.intp)

    def work(lo: int, hi: int) -> None:
        rise = np.empty((max(steps.size, 1), nodes.size))
        for a in range(lo, hi):
            fill_rises(alphas[a], nodes, steps, rise)
            if rates.a == rates.b == 1.0:
                fall = np.ascontiguousarray(rise[:, ::-1])
            else:
                fall = np.empty_like(rise)
                fill_rises(alphas[a], others, steps, fall)
            integrate_patterns(
                alphas[a],
                rise,
                fall,
                nodes,
                log_w,
                sizes,
                ones,
                zeros,
                log_evidence[a],
                mean[a],
            )

    run_jobs(work, spans(len(alphas), n_threads), n_threads)
    return log_evidence, mean


def region_table(
    alphas: FloatArray,
    sizes: IntArray,
    region: tuple[IntArray, IntArray],
    n_threads: int = 1,
    rates: BaseRates = UNIFORM,
) -> tuple[FloatArray, FloatArray]:
    """Compute the probability of a region of counts and of the rest, for many α.

    Parameters
    ----------
    alphas, sizes, n_threads, rates
        As in `pattern_table`.
    region : two int arrays
        First and last count of the last class; see `sum_region`. It must hold with
        each pattern its mirror image, N_c − I_c: then θ and 1 − θ give the same.

    Returns
    -------
    inside, outside : arrays of shape (A,)
        They sum to 1.
    """
    alphas = np.asarray(alphas, dtype=np.float64)
    nodes, others, log_w = beta_rule(n_nodes(int(sizes.sum())), rates)
    weights = np.exp(log_w)
    if rates.a == rates.b == 1.0:
        half = (nodes.size + 1) // 2
        nodes, others = nodes[:half], others[:half].copy()
        weights = weights[:half] + weights[::-1][:half]
        if 2 * half > log_w.size:
            weights[-1] /= 2  # the middle is its own mirror image
    found = np.empty((2, len(alphas)))

    def work(lo: int, hi: int) -> None:
        mass = np.empty((nodes.size, int((sizes + 1).sum())))
        for a in range(lo, hi):
            fill_masses(alphas[a], nodes, others, sizes, mass)
            found[:, a] = sum_region(mass, weights, sizes, *region)

    run_jobs(work, spans(len(alphas), n_threads), n_threads)
    return found[0], found[1]


def log_low(inside: FloatArray, outside: FloatArray) -> FloatArray:
    """Compute log P(inside), from the smaller of the two probabilities."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(
            outside < 0.5, np.log1p(-np.minimum(outside, 0.5)), np.log(inside)
        )

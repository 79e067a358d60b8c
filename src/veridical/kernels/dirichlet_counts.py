"""Features with several values: exact integrals, and simulation of the rest.

A feature has shares θ, uniform on the simplex, of its V values; in each class the
shares are an independent draw from Dirichlet(αθ), and counts are Dirichlet-
multinomial. The probability of one particular arrangement is

    ∫ Π_v Π_c (αθ_v)(αθ_v + 1)…(αθ_v + h_cv − 1) dθ / Π_c α(α + 1)…(α + N_c − 1).

Expand the product over c for each value v in powers of z = αθ_v. The integral of
Π_v θ_v^{d_v} over the simplex is Π_v d_v! (V−1)!/(D+V−1)!, D = Σ d_v, so that what
remains is a sum over D of α^D times a coefficient that does not depend on α: the
convolution over v of the coefficients times d_v!. All terms are positive.

| symbol | meaning                                         | shape    |
|--------|-------------------------------------------------|----------|
| table  | samples of class c with value v, h_cv           | (K, V)   |
| whole  | log of the coefficient of α^D, θ integrated out | (n+1,)   |
| parts  | the same with another factor θ_v                | (V, n+1) |
"""

from __future__ import annotations

from math import lgamma

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.compiling import njit
from veridical.kernels.threads import run_jobs, spans


@njit(cache=True, nogil=True)
def _log_add(a: float, b: float) -> float:
    """Compute log(e^a + e^b)."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@njit(cache=True, nogil=True)
def _rising(column: IntArray) -> FloatArray:
    """Compute log-coefficients of Π_c z(z+1)…(z+h_c−1) in powers of z."""
    logs = np.full(column.sum() + 1, -np.inf)
    logs[0] = 0.0
    degree = 0
    for c in range(column.size):
        for i in range(column[c]):
            degree += 1
            shift = np.log(i) if i > 0 else -np.inf
            for d in range(degree, 0, -1):
                logs[d] = _log_add(logs[d - 1], shift + logs[d])
            logs[0] = shift + logs[0]
    return logs


@njit(cache=True, nogil=True)
def _convolve(a: FloatArray, b: FloatArray) -> FloatArray:
    """Convolve numbers given by their logarithms."""
    out = np.empty(a.size + b.size - 1)
    for d in range(out.size):
        lo, hi = max(0, d - b.size + 1), min(d, a.size - 1)
        top = -np.inf
        for i in range(lo, hi + 1):
            top = max(top, a[i] + b[d - i])
        total = 0.0
        if top > -np.inf:
            for i in range(lo, hi + 1):
                total += np.exp(a[i] + b[d - i] - top)
            out[d] = top + np.log(total)
        else:
            out[d] = -np.inf
    return out


@njit(cache=True, nogil=True)
def expand(table: IntArray, whole: FloatArray, parts: FloatArray) -> None:
    """Write the coefficients of one feature."""
    n_values = table.shape[1]
    before, after = [np.zeros(1)], [np.zeros(1)]
    plain, raised = [np.zeros(1)], [np.zeros(1)]
    for v in range(n_values):
        logs = _rising(table[:, v])
        one, two = np.empty_like(logs), np.empty_like(logs)
        for d in range(logs.size):
            one[d] = logs[d] + lgamma(d + 1.0)
            two[d] = logs[d] + lgamma(d + 2.0)
        plain.append(one)
        raised.append(two)
        before.append(_convolve(before[-1], one))
    for v in range(n_values, 0, -1):
        after.append(_convolve(after[-1], plain[v]))
    whole[:] = before[n_values]
    for v in range(n_values):
        others = _convolve(before[v], after[n_values - 1 - v])
        parts[v, :] = _convolve(others, raised[v + 1])


@njit(cache=True, nogil=True)
def evaluate_arrangement(
    alpha: float,
    sizes: IntArray,
    whole: FloatArray,
    parts: FloatArray,
    mean: FloatArray,
) -> float:
    """Compute the log-probability of one arrangement; write the mean of θ."""
    n_values = parts.shape[0]
    constant, log_alpha = lgamma(float(n_values)), np.log(alpha)
    for c in range(sizes.size):
        for i in range(sizes[c]):
            constant -= np.log(alpha + i)
    total = _weigh(whole, log_alpha, float(n_values))
    for v in range(n_values):
        mean[v] = np.exp(_weigh(parts[v], log_alpha, n_values + 1.0) - total)
    return constant + total


@njit(cache=True, nogil=True)
def _weigh(logs: FloatArray, log_alpha: float, shift: float) -> float:
    """Compute the log of Σ_D α^D e^{logs} / (D + shift − 1)!."""
    top = -np.inf
    for d in range(logs.size):
        top = max(top, logs[d] + d * log_alpha - lgamma(d + shift))
    total = 0.0
    for d in range(logs.size):
        total += np.exp(logs[d] + d * log_alpha - lgamma(d + shift) - top)
    return top + np.log(total)


@njit(cache=True, nogil=True)
def _integrate_some(
    alphas: FloatArray,
    sizes: IntArray,
    tables: IntArray,
    log_evidence: FloatArray,
    mean: FloatArray,
    lo: int,
    hi: int,
) -> None:
    n = sizes.sum()
    n_values = tables.shape[2]
    whole, parts = np.empty(n + 1), np.empty((n_values, n + 1))
    for t in range(lo, hi):
        expand(tables[t], whole, parts)
        for a in range(alphas.size):
            log_evidence[a, t] = evaluate_arrangement(
                alphas[a], sizes, whole, parts, mean[a, t]
            )


def value_table(
    alphas: FloatArray, sizes: IntArray, tables: IntArray, n_threads: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Integrate θ out of many features for many α.

    Parameters
    ----------
    alphas : array of shape (A,)
        Values of α.
    sizes : int array of shape (K,)
        Samples of each class.
    tables : int array of shape (T, K, V)
        Counts of the values in each class.
    n_threads : int, default=1
        Number of threads, which share the features.

    Returns
    -------
    log_evidence : array of shape (A, T)
        Log-probability of one particular arrangement.
    mean : array of shape (A, T, V)
        E(θ | counts).
    """
    n_tables, _, n_values = tables.shape
    log_evidence = np.empty((len(alphas), n_tables))
    mean = np.empty((len(alphas), n_tables, n_values))
    jobs = [
        (alphas, sizes, tables, log_evidence, mean, lo, hi)
        for lo, hi in spans(n_tables, n_threads)
    ]
    if n_tables:
        run_jobs(_integrate_some, jobs, n_threads)
    return log_evidence, mean


@njit(cache=True, nogil=True)
def association(table: IntArray) -> float:
    """Compute χ²/n of a table of counts, values that never occur left out."""
    n = table.sum()
    total = 0.0
    for c in range(table.shape[0]):
        size = table[c].sum()
        if size == 0:
            continue
        for v in range(table.shape[1]):
            total_of_value = 0
            for k in range(table.shape[0]):
                total_of_value += table[k, v]
            if total_of_value > 0:
                total += table[c, v] * table[c, v] / (size * total_of_value)
    return max(total - 1.0, 0.0) if n > 0 else 0.0


def cramers_v(table: IntArray) -> float:
    """Compute Cramér's V of a table of counts; two by two, it is |correlation|."""
    return float(np.sqrt(min(association(table) / (min(table.shape) - 1), 1.0)))


@njit(cache=True, nogil=True)
def pair_associations(first: IntArray, second: IntArray) -> FloatArray:
    """Compute χ²/n of every pair of histograms of two classes, shape (F, S)."""
    found = np.empty((first.shape[0], second.shape[0]))
    table = np.empty((2, first.shape[1]), first.dtype)
    for i in range(first.shape[0]):
        table[0] = first[i]
        for j in range(second.shape[0]):
            table[1] = second[j]
            found[i, j] = association(table)
    return found


@njit(cache=True, nogil=True)
def simulate_low(
    alphas: FloatArray,
    sizes: IntArray,
    n_values: int,
    cut: float,
    n_draws: int,
    rng: np.random.Generator,
    low: IntArray,
    shapes: FloatArray,
) -> None:
    """Count simulated features with χ²/n below `cut`, for every α.

    The shares θ are drawn from the Dirichlet distribution with parameters `shapes`.
    All α use the same shares θ and the same uniform numbers for the samples, drawn one
    after the other from Pólya's urn: differences between α are then known better than
    the counts themselves.
    """
    n = sizes.sum()
    uniforms = np.empty(n)
    table = np.zeros((sizes.size, n_values), np.intp)
    theta = np.empty(n_values)
    for _ in range(n_draws):
        for v in range(n_values):
            if shapes[v] == 1.0:
                theta[v] = -np.log(1.0 - rng.random())
            else:
                theta[v] = max(rng.standard_gamma(shapes[v]), 1e-300)
        theta /= theta.sum()
        for i in range(n):
            uniforms[i] = rng.random()
        for a in range(alphas.size):
            table[:] = 0
            place = 0
            for c in range(sizes.size):
                for i in range(sizes[c]):
                    rest = uniforms[place] * (alphas[a] + i)
                    place += 1
                    v = 0
                    while v < n_values - 1:
                        rest -= alphas[a] * theta[v] + table[c, v]
                        if rest < 0:
                            break
                        v += 1
                    table[c, v] += 1
            if association(table) < cut:
                low[a] += 1

"""Stability of selections, as the formulas of Nogueira, Sechidis and Brown stand."""

from itertools import combinations

import numpy as np


def stability_and_variance(Z):
    """Value and variance from a matrix of zeros and ones, one row per selection."""
    Z = np.asarray(Z, dtype=float)
    M, d = Z.shape
    p = Z.mean(axis=0)
    k = Z.sum(axis=1)
    mean_k = p.sum()
    denominator = (mean_k / d) * (1 - mean_k / d)
    value = 1 - np.mean(M / (M - 1) * p * (1 - p)) / denominator
    phi = np.empty(M)
    for i in range(M):
        phi[i] = (
            np.mean(Z[i] * p)
            - k[i] * mean_k / d**2
            + value / 2 * (2 * k[i] * mean_k / d**2 - k[i] / d - mean_k / d + 1)
        ) / denominator
    return value, 4 / M**2 * np.sum((phi - phi.mean()) ** 2)


def kuncheva(sets, d):
    """Mean over pairs of the overlap, rescaled: (r d - k²) / (k (d - k))."""
    values = []
    for one, other in combinations(sets, 2):
        r, k = len(set(one) & set(other)), len(set(one))
        values.append((r * d - k**2) / (k * (d - k)))
    return float(np.mean(values))

"""The significance tests as their papers write them, one loop at a time."""

import math

import numpy as np
from scipy import integrate, stats


def five_by_two_t(d):
    """Dietterich 1998: t and its two-sided p-value from ten differences (5, 2)."""
    total = 0.0
    for i in range(5):
        mean = (d[i][0] + d[i][1]) / 2
        total += (d[i][0] - mean) ** 2 + (d[i][1] - mean) ** 2
    t = d[0][0] / math.sqrt(total / 5)
    return t, 2 * stats.t.sf(abs(t), 5)


def five_by_two_f(d):
    """Alpaydin 1999: F and its p-value."""
    above = sum(d[i][j] ** 2 for i in range(5) for j in range(2))
    below = 0.0
    for i in range(5):
        mean = (d[i][0] + d[i][1]) / 2
        below += (d[i][0] - mean) ** 2 + (d[i][1] - mean) ** 2
    f = above / (2 * below)
    return f, stats.f.sf(f, 10, 5)


def sorted_runs_t(d):
    """Bouckaert 2004, from differences (runs, folds)."""
    runs, folds = len(d), len(d[0])
    averages = [sum(sorted(run)[j] for run in d) / runs for j in range(folds)]
    result = stats.ttest_1samp(averages, 0)
    return result.statistic, result.pvalue


def posterior(d, rho, rope):
    """Corani & Benavoli 2015: the three probabilities, by integrating the density."""
    n = len(d)
    scale = math.sqrt((1 / n + rho / (1 - rho)) * np.var(d, ddof=1))
    density = stats.t(n - 1, loc=np.mean(d), scale=scale).pdf

    def mass(low, high):
        return integrate.quad(density, low, high, limit=200)[0]

    reach = 60 * scale
    return (
        mass(rope, max(rope, np.mean(d)) + reach),
        mass(-rope, rope),
        mass(min(-rope, np.mean(d)) - reach, -rope),
    )

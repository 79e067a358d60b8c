"""Permutation p-values, adjusted p-values and knockoffs, slowly and by definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def permutation_pvalues(observed, drawn):
    """(1 + #{T_b ≥ T}) / (1 + B) as fractions, feature by feature."""
    return [
        Fraction(1 + sum(bool(t >= own - 1e-9) for t in column), 1 + len(drawn))
        for own, column in zip(observed, np.asarray(drawn).T, strict=True)
    ]


def step_down(observed, drawn):
    """Adjust by Westfall and Young's step-down max-T (their algorithm 2.8)."""
    order = sorted(range(len(observed)), key=lambda j: -observed[j])
    adjusted = [Fraction(0)] * len(observed)
    least = Fraction(0)
    for place, j in enumerate(order):
        rest = order[place:]
        n_above = sum(
            bool(max(row[k] for k in rest) >= observed[j] - 1e-9) for row in drawn
        )
        least = max(least, Fraction(1 + n_above, 1 + len(drawn)))
        adjusted[j] = least
    return adjusted


def benjamini_hochberg_claims(pvalues, rate):
    """Claim the k smallest, for the largest k whose k-th is at most k rate / p."""
    order = np.argsort(pvalues, kind="stable")
    n, best = len(pvalues), 0
    for k in range(1, n + 1):
        if pvalues[order[k - 1]] <= rate * k / n:
            best = k
    return set(order[:best].tolist())


def e_benjamini_hochberg_claims(evalues, rate):
    """Claim the k largest, for the largest k whose k-th is at least p / (rate k)."""
    order = np.argsort(-evalues, kind="stable")
    n, best = len(evalues), 0
    for k in range(1, n + 1):
        if evalues[order[k - 1]] >= n / (rate * k):
            best = k
    return set(order[:best].tolist())


def f_ratio(x, y):
    """The F ratio of one feature by its definition."""
    groups = [x[y == k] for k in np.unique(y)]
    mean = x.mean()
    between = sum(len(g) * (g.mean() - mean) ** 2 for g in groups)
    within = sum(((g - g.mean()) ** 2).sum() for g in groups)
    return between / within * (len(x) - len(groups)) / (len(groups) - 1)


def relief_null(X, y, order, k):
    """ReliefF weights of features in another order, with the neighbours of X.

    Two classes, numeric features without ties.
    """
    n, p = X.shape
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    distance = np.abs(scaled[:, None] - scaled[None]).sum(axis=2)
    moved = scaled[order]
    weights = np.zeros(p)
    for i in range(n):
        for same in (True, False):
            rows = [j for j in range(n) if j != i and (y[j] == y[i]) == same]
            near = sorted(rows, key=lambda j: distance[i, j])[:k]
            difference = np.abs(moved[near] - moved[i]).mean(axis=0)
            weights += -difference if same else difference
    return weights / n

"""The audit's procedures as obvious code: select, fit, predict, count."""

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import make_pipeline


def inside(selector, learner, X, y, splits):
    """Pooled accuracy with the selection repeated in each training set."""
    pipeline = make_pipeline(clone(selector), clone(learner))
    right = [
        clone(pipeline).fit(X[train], y[train]).predict(X[test]) == y[test]
        for train, test in splits
    ]
    return float(np.concatenate(right).mean())


def outside(selector, learner, X, y, splits):
    """Pooled accuracy with the selection made once, on all samples."""
    Z = clone(selector).fit(X, y).transform(X)
    return on_columns(learner, Z, y, splits)


def on_columns(learner, Z, y, splits):
    """Pooled accuracy of a learner on a table as it is."""
    right = [
        clone(learner).fit(Z[train], y[train]).predict(Z[test]) == y[test]
        for train, test in splits
    ]
    return float(np.concatenate(right).mean())


def near_copies(X, near, k, accidents):
    """Pairs that are far nearer than their surroundings, sample by sample."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    n = len(Z)
    distance = [[np.linalg.norm(a - b) for b in Z] for a in Z]
    others = [sorted(row[:i] + row[i + 1 :]) for i, row in enumerate(distance)]
    ratios = [row[1] / row[0] for row in others]
    dimension = np.log(2) / np.log(np.median(ratios))
    found = {}
    for i in range(n):
        for j in range(i + 1, n):
            r = distance[i][j] / min(others[i][k - 1], others[j][k - 1])
            chance = n / 2 * (1 - (1 - min(r, 1) ** dimension) ** (k - 1))
            if r <= near and chance <= accidents:
                found[i, j] = r
    return found


def f_ratio(x, y):
    """F of a one-way analysis of variance, by definition."""
    groups = [x[y == k] for k in np.unique(y)]
    between = sum(len(g) * (g.mean() - x.mean()) ** 2 for g in groups)
    within = sum(((g - g.mean()) ** 2).sum() for g in groups)
    return between / (len(groups) - 1) / (within / (len(x) - len(groups)))

"""Accuracy estimation as a page of obvious code: fit, predict, count."""

import itertools

import numpy as np
from scipy.optimize import brentq
from sklearn.base import clone

from veridical._core.sklearn_private import take


def predictions(model, X, y, splits):
    """Predicted labels of the test rows, split by split."""
    result = []
    for train, test in splits:
        fitted = clone(model).fit(take(X, train), y[train])
        result.append(np.asarray(fitted.predict(take(X, test))))
    return result


def pooled_accuracy(model, X, y, splits):
    right = total = 0
    for (_, test), predicted in zip(
        splits, predictions(model, X, y, splits), strict=True
    ):
        right += int(np.sum(predicted == y[test]))
        total += len(test)
    return right / total


def bootstrap(model, X, y, splits):
    """.632 and .632+ from the definitions, sample by sample; also Err1 by sample."""
    n = len(y)
    full = clone(model).fit(X, y).predict(X)
    apparent = np.mean(full != y)
    outside, per_case = [], [[] for _ in range(n)]
    for (_, test), predicted in zip(
        splits, predictions(model, X, y, splits), strict=True
    ):
        outside.append(np.mean(predicted == y[test]))
        for i, label in zip(test, predicted, strict=True):
            per_case[i].append(label != y[i])
    by_case = np.mean([np.mean(errors) for errors in per_case if errors])
    err1 = 1 - np.mean(outside)
    # Every label beside every prediction: what independence would give.
    gamma = np.mean([a != b for a, b in itertools.product(y, full)])
    capped = min(err1, gamma) if gamma > apparent else err1
    rate = 0.0
    if capped > apparent and gamma > apparent:
        rate = (capped - apparent) / (gamma - apparent)
    weight = 0.632 / (1 - 0.368 * rate)
    return {
        "632": np.mean([0.632 * e + 0.368 * (1 - apparent) for e in outside]),
        "632+": 1 - ((1 - weight) * apparent + weight * capped),
        "by_case": by_case,
        "gamma": gamma,
        "rate": rate,
    }


def wilson(accuracy, n, z):
    """Where the distance in standard errors is z, found by bisection."""

    def beyond(a):
        return abs(accuracy - a) - z * np.sqrt(a * (1 - a) / n)

    below, above = max(accuracy, 1e-12), min(accuracy, 1 - 1e-12)
    low = 0.0 if accuracy == 0 else brentq(beyond, 1e-15, above, xtol=1e-15)
    high = 1.0 if accuracy == 1 else brentq(beyond, below, 1 - 1e-15, xtol=1e-15)
    return low, high


def nested_errors(model, X, y, folds_of_repeats):
    """Bates, Hastie and Tibshirani's algorithm 1 as printed: every inner fit done.

    Returns, for each repeat, the errors of every fold and those of the cross-validation
    among the other folds.
    """
    everything, repeats = np.arange(len(y)), []
    for folds in folds_of_repeats:
        outer, inner = [], []
        for k, left_out in enumerate(folds):
            mine = []
            for j, held in enumerate(folds):
                if j == k:
                    continue
                train = np.setdiff1d(everything, np.concatenate([left_out, held]))
                fitted = clone(model).fit(X[train], y[train])
                mine.extend(fitted.predict(X[held]) != y[held])
            train = np.setdiff1d(everything, left_out)
            fitted = clone(model).fit(X[train], y[train])
            outer.append((fitted.predict(X[left_out]) != y[left_out]).astype(float))
            inner.append(np.array(mine, dtype=float))
        repeats.append((outer, inner))
    return repeats


def inflated(repeats, n):
    """Value, error and naive error of nested cross-validation, in the authors' terms.

    They divide the root of the mean squared excess by the naive error of a sample of
    n (K - 1)/K samples, cut the ratio to [1, sqrt(K)], and multiply the naive error of
    all n samples by it. Means and variances are taken by loops.
    """
    pivots, all_inner, all_outer = [], [], []
    for outer, inner in repeats:
        for e_out, e_in in zip(outer, inner, strict=True):
            mean_out, mean_in = sum(e_out) / len(e_out), sum(e_in) / len(e_in)
            variance = sum((e - mean_out) ** 2 for e in e_out) / (len(e_out) - 1)
            pivots.append((mean_in - mean_out) ** 2 - variance / len(e_out))
            all_inner.extend(e_in)
            all_outer.extend(e_out)
    n_folds = len(repeats[0][0])
    centre = sum(all_inner) / len(all_inner)
    square = sum((e - centre) ** 2 for e in all_inner) / (len(all_inner) - 1)
    root = np.sqrt(max(0.0, sum(pivots) / len(pivots)))
    of_fewer = np.sqrt(square / (n * (n_folds - 1) / n_folds))
    ratio = root / of_fewer if of_fewer > 0 else 1.0
    naive = np.sqrt(square / n)
    bias = centre - sum(all_outer) / len(all_outer)
    error = centre - bias * (1 + (n_folds - 2) / n_folds)
    return 1 - error, naive * min(max(ratio, 1.0), np.sqrt(n_folds)), naive

"""Accuracy estimation as a page of obvious code: fit, predict, count."""

import itertools

import numpy as np
from scipy.optimize import brentq
from sklearn.base import clone
from sklearn.utils import _safe_indexing


def predictions(model, X, y, splits):
    """Predicted labels of the test rows, split by split."""
    result = []
    for train, test in splits:
        fitted = clone(model).fit(_safe_indexing(X, train), y[train])
        result.append(np.asarray(fitted.predict(_safe_indexing(X, test))))
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
    """.632 and .632+ from the definitions, case by case."""
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
    err1 = np.mean([np.mean(errors) for errors in per_case if errors])
    # Every label beside every prediction: what independence would give.
    gamma = np.mean([a != b for a, b in itertools.product(y, full)])
    capped = min(err1, gamma)
    rate = 0.0
    if capped > apparent and gamma > apparent:
        rate = (capped - apparent) / (gamma - apparent)
    weight = 0.632 / (1 - 0.368 * rate)
    return {
        "632": np.mean([0.632 * e + 0.368 * (1 - apparent) for e in outside]),
        "632+": 1 - ((1 - weight) * apparent + weight * capped),
        "err1": err1,
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


def nested_cv(model, X, y, folds_of_repeats):
    """Bates, Hastie and Tibshirani's algorithm 1 as printed: every inner fit done."""
    a, b, inner_errors, outer_errors = [], [], [], []
    n = len(y)
    for folds in folds_of_repeats:
        for k, left_out in enumerate(folds):
            inner = []
            for j, held in enumerate(folds):
                if j == k:
                    continue
                train = np.setdiff1d(np.arange(n), np.concatenate([left_out, held]))
                fitted = clone(model).fit(X[train], y[train])
                inner.extend(fitted.predict(X[held]) != y[held])
            train = np.setdiff1d(np.arange(n), left_out)
            fitted = clone(model).fit(X[train], y[train])
            outer = fitted.predict(X[left_out]) != y[left_out]
            a.append((np.mean(inner) - np.mean(outer)) ** 2)
            b.append(np.var(outer, ddof=1) / len(outer))
            inner_errors.extend(inner)
            outer_errors.extend(outer)
    k = len(folds_of_repeats[0])
    naive = np.std(inner_errors, ddof=1) / np.sqrt(n)
    mse = (k - 1) / k * (np.mean(a) - np.mean(b))
    error = np.clip(np.sqrt(max(mse, 0)), naive, np.sqrt(k) * naive)
    difference = np.mean(inner_errors) - np.mean(outer_errors)
    value = np.mean(inner_errors) - (1 + (k - 2) / k) * difference
    return 1 - value, error

"""IN, OUT and TRUTH as a page of obvious code: fit, predict, count."""

import numpy as np


def accuracy(model, X_train, y_train, X_test, y_test):
    return float(np.mean(model().fit(X_train, y_train).predict(X_test) == y_test))


def in_and_out(best, model, X, y, folds):
    """Accuracies per fold under IN and OUT.

    ``best(X, y)`` returns the selected columns, ``model()`` a fresh classifier.
    """
    inside, outside = [], []
    once = np.sort(best(X, y))
    for train, test in folds:
        chosen = np.sort(best(X[train], y[train]))
        inside.append(
            accuracy(model, X[train][:, chosen], y[train], X[test][:, chosen], y[test])
        )
        outside.append(
            accuracy(model, X[train][:, once], y[train], X[test][:, once], y[test])
        )
    return np.array(inside), np.array(outside)


def true_accuracy(best, model, X, y, X_test, y_test):
    chosen = np.sort(best(X, y))
    return accuracy(model, X[:, chosen], y, X_test[:, chosen], y_test)

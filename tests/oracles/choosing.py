"""The best of many, corrected the slow way: a loop over draws, candidates and folds."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone


def bbc(score, y, predicted, counts, weights=None):
    """Bootstrap bias-corrected score: ``score(y, predictions)`` on every draw.

    `predicted` is (n, C), or (n, C, K) for probabilities; `counts` (B, n) says how
    often each sample was drawn. With weights, it is ``score(y, predictions, weights)``.
    """
    more = [] if weights is None else [weights]

    def on(rows, c):
        return score(y[rows], predicted[rows, c], *(w[rows] for w in more))

    winners, outside = [], []
    for drawn in counts.astype(int):
        rows = [i for i, times in enumerate(drawn) for _ in range(times)]
        others = [i for i, times in enumerate(drawn) if times == 0]
        scores = [on(rows, c) for c in range(predicted.shape[1])]
        # Scores that are equal up to rounding are equal; the first wins.
        best = next(c for c, s in enumerate(scores) if s >= max(scores) - 1e-12)
        winners.append(best)
        outside.append(on(others, best))
    return np.array(winners), np.array(outside)


def fitted(pipeline, X, y, rows, weights=None):
    """Fit a selector and an estimator, each with the weights of the samples."""
    model = clone(pipeline)
    if weights is None:
        return model.fit(X[rows], y[rows])
    (_, selector), (_, estimator) = model.steps
    kept = selector.fit(X[rows], y[rows], sample_weight=weights[rows])
    estimator.fit(kept.transform(X[rows]), y[rows], sample_weight=weights[rows])
    return model


def cross_validated(pipelines, X, y, splits, weights=None):
    """Predict every sample by every pipeline: (n, C)."""
    columns = []
    for pipeline in pipelines:
        found = {}
        for train, test in splits:
            model = fitted(pipeline, X, y, train, weights)
            found.update(zip(test, model.predict(X[test]), strict=True))
        columns.append([found[r] for r in sorted(found)])
    return np.array(columns).T


def nested(pipelines, X, y, outer, inner_of, score, weights=None):
    """Nested cross-validation by the plain double loop.

    `inner_of` gives the inner splits (train, test) of an outer training set. With
    weights, `score` gets those of the samples.
    """
    winners, predictions = [], {}
    for i, (train, test) in enumerate(outer):
        found = {}
        for c, pipeline in enumerate(pipelines):
            found[c] = {}
            for inner_train, inner_test in inner_of(i):
                model = fitted(pipeline, X, y, inner_train, weights)
                found[c].update(
                    zip(inner_test, model.predict(X[inner_test]), strict=True)
                )
        inside = sorted(found[0])
        more = [] if weights is None else [weights[inside]]
        scores = [
            score(y[inside], np.array([found[c][r] for r in inside]), *more)
            for c in range(len(pipelines))
        ]
        best = next(c for c, s in enumerate(scores) if s >= max(scores) - 1e-12)
        winners.append(best)
        model = fitted(pipelines[best], X, y, train, weights)
        predictions.update(zip(test, model.predict(X[test]), strict=True))
    return winners, np.array([predictions[r] for r in sorted(predictions)])


def concordance(y, risks):
    """Harrell's concordance: a loop over pairs."""
    above = pairs = 0.0
    for i, one in enumerate(y):
        for j, other in enumerate(y):
            later = one["time"] < other["time"]
            same = one["time"] == other["time"] and not other["event"]
            if one["event"] and (later or same):
                pairs += 1
                above += (risks[i] > risks[j]) + (risks[i] == risks[j]) / 2
    return above / pairs

"""The best of many, corrected the slow way: a loop over draws, candidates and folds."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone


def bbc(score, y, predicted, counts):
    """Bootstrap bias-corrected score: ``score(y, predictions)`` on every draw.

    `predicted` is (n, C), or (n, C, K) for probabilities; `counts` (B, n) says how
    often each sample was drawn.
    """
    winners, outside = [], []
    for drawn in counts.astype(int):
        rows = [i for i, times in enumerate(drawn) for _ in range(times)]
        others = [i for i, times in enumerate(drawn) if times == 0]
        scores = [score(y[rows], predicted[rows, c]) for c in range(predicted.shape[1])]
        # Scores that are equal up to rounding are equal; the first wins.
        best = next(c for c, s in enumerate(scores) if s >= max(scores) - 1e-12)
        winners.append(best)
        outside.append(score(y[others], predicted[others, best]))
    return np.array(winners), np.array(outside)


def nested(pipelines, X, y, outer, inner_of, score):
    """Nested cross-validation by the plain double loop.

    `inner_of` gives the inner splits (train, test) of an outer training set.
    """
    winners, predictions = [], {}
    for i, (train, test) in enumerate(outer):
        found = {}
        for c, pipeline in enumerate(pipelines):
            found[c] = {}
            for inner_train, inner_test in inner_of(i):
                model = clone(pipeline).fit(X[inner_train], y[inner_train])
                found[c].update(
                    zip(inner_test, model.predict(X[inner_test]), strict=True)
                )
        inside = sorted(found[0])
        scores = [
            score(y[inside], np.array([found[c][r] for r in inside]))
            for c in range(len(pipelines))
        ]
        best = next(c for c, s in enumerate(scores) if s >= max(scores) - 1e-12)
        winners.append(best)
        model = clone(pipelines[best]).fit(X[train], y[train])
        predictions.update(zip(test, model.predict(X[test]), strict=True))
    return winners, np.array([predictions[r] for r in sorted(predictions)])

"""Rows and oracles of the F ratio."""

import numpy as np
from sklearn.feature_selection import f_classif, f_regression
from tests.oracles import outcomes
from tests.oracles import selection as oracle
from tests.selection.rows.declare import Peer, Row, by_score

from veridical.selection import AnovaF


def _f_classif(X, y, categorical):
    return f_classif(X, y)[0]


def _varies_within_classes(X, y, categorical):
    """Elsewhere the F ratio is 0 / 0 or 1 / 0, or what rounding makes of it."""
    spreads = [np.ptp(X[y == label], axis=0) for label in np.unique(y)]
    return bool(np.max(spreads, axis=0).all())


ROWS = [
    Row(
        "AnovaF",
        AnovaF,
        by_score(lambda x, y, _: oracle.f_ratio(x, y), rtol=1e-12),
        sparse=True,
        weights="any",
        rtol=1e-12,
        affine="any",
        peer=Peer("scikit-learn", _f_classif, _varies_within_classes),
    ),
    Row(
        "AnovaF-numbers",
        AnovaF,
        by_score(lambda x, y, _: outcomes.line_f(x, y), rtol=1e-12),
        sparse=True,
        weights="any",
        rtol=1e-12,
        affine="any",
        target="numbers",
        peer=Peer("scikit-learn", lambda X, y, categorical: f_regression(X, y)[0]),
    ),
]

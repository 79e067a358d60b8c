"""Rows and oracles of the F ratio."""

import numpy as np
from sklearn.feature_selection import f_classif
from tests.oracles import selection as oracle
from tests.oracles.incremental import UnclearError
from tests.selection.rows.declare import Peer, Row, by_score

from veridical.selection import AnovaF


def _f_classif(X, y, nominal):
    within = np.max([np.ptp(X[y == label], axis=0) for label in np.unique(y)], axis=0)
    if not within.all():
        raise UnclearError  # a column is constant within the classes: 0 / 0 or 1 / 0
    return f_classif(X, y)[0]


ROWS = [
    Row(
        "AnovaF",
        AnovaF,
        by_score(lambda x, y, _: oracle.f_ratio(x, y), rtol=1e-12),
        sparse=True,
        weights=True,
        rtol=1e-12,
        affine="any",
        peer=Peer("scikit-learn", _f_classif),
    ),
]

"""Rows, oracles and peers of the selectors for survival times."""

import numpy as np
from sksurv.metrics import concordance_index_censored
from statsmodels.duration.hazard_regression import PHReg
from tests.oracles import outcomes
from tests.selection.rows.declare import SCORE_TEST, Peer, Row, by_score

from veridical.selection import Concordance, CoxScore


def _score_tests(X, y, categorical):
    """χ² of every feature by statsmodels' derivatives of the partial likelihood."""
    found = []
    for x in X.T:
        model = PHReg(y["time"], x[:, None], status=y["event"] * 1, ties="efron")
        zero = np.zeros(1)
        found.append((model.score(zero) ** 2 / -model.hessian(zero)[0])[0])
    return np.array(found)


def _concordances(X, y, categorical):
    found = [concordance_index_censored(y["event"], y["time"], x)[0] for x in X.T]
    return np.maximum(found, 1.0 - np.array(found))


ROWS = [
    Row(
        "CoxScore",
        CoxScore,
        by_score(lambda x, y, _: outcomes.cox(x, y), rtol=1e-10, atol=1e-12),
        sparse=True,
        target="survival",
        peer=Peer("statsmodels", _score_tests),
        **SCORE_TEST,
    ),
    Row(
        "Concordance",
        Concordance,
        by_score(lambda x, y, _: outcomes.concordance(x, y), atol=1e-12),
        sparse=True,
        weights="any",
        atol=1e-12,
        affine="any",
        target="survival",
        peer=Peer("scikit-survival", _concordances),
    ),
]

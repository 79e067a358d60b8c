"""Rows and oracles of information gain."""

import numpy as np
from sklearn.feature_selection import mutual_info_regression
from tests.oracles import outcomes
from tests.oracles import selection as oracle
from tests.selection.rows.declare import INFORMATION, Peer, Row, by_score

from veridical.selection import InformationGain


def _gain(cost):
    return by_score(
        lambda x, y, is_categorical: oracle.information_gain(
            oracle.coded(x, y, is_categorical, cost), y
        ),
        atol=1e-12,
    )


def _gain_of_bins(x, y, is_categorical):
    y = outcomes.bins(y)
    return oracle.information_gain(oracle.coded(x, y, is_categorical, "cuts"), y)


def _theirs(X, y, categorical):
    """Scores of scikit-learn in bits; its noise of 1e-10 changes nothing here."""
    found = mutual_info_regression(X, y, discrete_features=categorical, random_state=0)
    return found / np.log(2)


def _neighbors(target):
    def score(x, y, is_categorical):
        if is_categorical and target == "classes":
            return oracle.information_gain(oracle.coded(x, y, True, "cuts"), y)
        return outcomes.neighbor_information(x, y, is_categorical, target == "classes")

    return by_score(score, atol=1e-12)


NEIGHBORS = {
    **INFORMATION,
    "parameters": {"estimate": "neighbors"},
    "sparse": True,
    "affine": None,  # of numbers on a grid, rounding may part equal distances
}

ROWS = [
    Row(
        "InformationGain",
        InformationGain,
        _gain("cuts"),
        sparse=True,
        **INFORMATION,
    ),
    Row(
        "InformationGain-samples",
        InformationGain,
        _gain("samples"),
        {"mdl_cost": "samples"},
        sparse=True,
        **INFORMATION,
    ),
    Row(
        "InformationGain-numbers",
        InformationGain,
        by_score(_gain_of_bins, atol=1e-12),
        sparse=True,
        target="numbers",
        **INFORMATION,
    ),
    Row(
        "InformationGain-neighbors",
        InformationGain,
        _neighbors("classes"),
        **NEIGHBORS,
    ),
    Row(
        "InformationGain-neighbors-numbers",
        InformationGain,
        _neighbors("numbers"),
        target="numbers",
        peer=Peer("scikit-learn", _theirs),
        **NEIGHBORS,
    ),
]

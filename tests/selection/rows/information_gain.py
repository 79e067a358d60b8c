"""Rows and oracles of information gain."""

from tests.oracles import outcomes
from tests.oracles import selection as oracle
from tests.selection.rows.declare import INFORMATION, Row, by_score

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
]

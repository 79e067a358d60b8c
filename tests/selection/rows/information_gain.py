"""Rows and oracles of information gain."""

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
]

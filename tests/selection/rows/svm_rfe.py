"""Rows and oracles of SVM-RFE."""

from tests.selection.rows.declare import Row

from veridical.selection import SVMRFE

ROWS = [
    Row(
        "SVMRFE",
        SVMRFE,
        None,
        sparse=True,
        weights="any",
        wild=(),
        affine=None,
        tested_in="test_svmrfe.py",
    ),
    Row(
        "SVMRFE-numbers",
        SVMRFE,
        None,
        sparse=True,
        weights="any",
        wild=(),
        affine=None,
        max_rows=16,
        max_features=6,
        target="numbers",
        tested_in="test_outcomes.py",
    ),
]

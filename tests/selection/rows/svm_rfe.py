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
]

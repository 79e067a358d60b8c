"""Rows and oracles of mRMR."""

from tests.oracles import incremental
from tests.selection.rows.declare import INCREMENTAL, Row, step_by_step

from veridical.selection import MRMR

ROWS = [
    Row("MRMR", MRMR, step_by_step(incremental.mrmr), sparse=True, **INCREMENTAL),
    Row(
        "MRMR-difference",
        MRMR,
        step_by_step(incremental.mrmr, scheme="difference"),
        {"scheme": "difference"},
        sparse=True,
        **INCREMENTAL,
    ),
    Row(
        "MRMR-2-searched",
        MRMR,
        step_by_step(incremental.mrmr, n_searched=2),
        {"n_searched": 2},
        sparse=True,
        **INCREMENTAL,
    ),
]

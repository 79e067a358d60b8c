"""Rows and oracles of mRMR."""

from tests.oracles import incremental
from tests.selection.rows.declare import (
    INCREMENTAL,
    SCORE_TEST,
    Row,
    cox_ratios,
    line_correlations,
    line_f_ratios,
    step_by_step,
)

from veridical.selection import MRMR

ROWS = [
    Row("MRMR", MRMR, step_by_step(incremental.mrmr), **INCREMENTAL),
    Row(
        "MRMR-difference",
        MRMR,
        step_by_step(incremental.mrmr, scheme="difference"),
        {"scheme": "difference"},
        **INCREMENTAL,
    ),
    Row(
        "MRMR-2-searched",
        MRMR,
        step_by_step(incremental.mrmr, n_searched=2),
        {"n_searched": 2},
        **INCREMENTAL,
    ),
    Row(
        "MRMR-numbers",
        MRMR,
        step_by_step(incremental.mrmr, scores=line_f_ratios),
        target="numbers",
        **INCREMENTAL,
    ),
    Row(
        "MRMR-numbers-difference",
        MRMR,
        step_by_step(incremental.mrmr, scores=line_correlations, scheme="difference"),
        {"scheme": "difference"},
        target="numbers",
        **INCREMENTAL,
    ),
    Row(
        "MRMR-survival",
        MRMR,
        step_by_step(incremental.mrmr, scores=cox_ratios),
        sparse=True,
        target="survival",
        **SCORE_TEST,
    ),
    Row(
        "MRMR-survival-2-searched",
        MRMR,
        step_by_step(incremental.mrmr, scores=cox_ratios, n_searched=2),
        {"n_searched": 2},
        sparse=True,
        target="survival",
        **SCORE_TEST,
    ),
]

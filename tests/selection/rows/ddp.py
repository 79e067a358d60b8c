"""Rows and oracles of differential prioritization."""

from tests.oracles import incremental
from tests.selection.rows.declare import (
    INCREMENTAL,
    SCORE_TEST,
    Row,
    cox_ratios,
    line_ratios,
    step_by_step,
)

from veridical.selection import DifferentialPrioritization

ROWS = [
    *(
        Row(
            f"DDP-{alpha}",
            DifferentialPrioritization,
            step_by_step(incremental.prioritize, alpha=alpha),
            {"alpha": alpha},
            **INCREMENTAL,
        )
        for alpha in (0.1, 0.5, 1.0)
    ),
    Row(
        "DDP-one-vs-all",
        DifferentialPrioritization,
        step_by_step(incremental.prioritize_one_vs_all, alpha=0.4),
        {"alpha": 0.4, "relevance": "one-vs-all"},
        **INCREMENTAL,
    ),
    Row(
        "DDP-one-vs-all-3-searched",
        DifferentialPrioritization,
        step_by_step(incremental.prioritize_one_vs_all, alpha=0.4, n_searched=3),
        {"alpha": 0.4, "relevance": "one-vs-all", "n_searched": 3},
        **INCREMENTAL,
    ),
    Row(
        "DDP-numbers",
        DifferentialPrioritization,
        step_by_step(incremental.prioritize, scores=line_ratios),
        target="numbers",
        **INCREMENTAL,
    ),
    Row(
        "DDP-numbers-0.2",
        DifferentialPrioritization,
        step_by_step(incremental.prioritize, scores=line_ratios, alpha=0.2),
        {"alpha": 0.2},
        target="numbers",
        **INCREMENTAL,
    ),
    Row(
        "DDP-survival",
        DifferentialPrioritization,
        step_by_step(incremental.prioritize, scores=cox_ratios),
        sparse=True,
        target="survival",
        **SCORE_TEST,
    ),
]

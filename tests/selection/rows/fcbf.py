"""Rows and oracles of FCBF."""

from tests.oracles import outcomes
from tests.oracles import selection as oracle
from tests.selection.rows.declare import INFORMATION, Row

from veridical.selection import FCBF


def _fcbf(**options):
    return lambda problem: oracle.fcbf(
        problem.columns(), problem.y.tolist(), problem.categorical, **options
    )


def _fcbf_of_bins(problem):
    y = outcomes.bins(problem.y.tolist())
    return oracle.fcbf(problem.columns(), y, problem.categorical)


ROWS = [
    Row("FCBF", FCBF, _fcbf(), sparse=True, **INFORMATION),
    Row(
        "FCBF-0.2",
        FCBF,
        _fcbf(threshold=0.2),
        {"threshold": 0.2},
        sparse=True,
        **INFORMATION,
    ),
    Row(
        "FCBF-numbers",
        FCBF,
        _fcbf_of_bins,
        target="numbers",
        sparse=True,
        **INFORMATION,
    ),
]

"""Cases from the tests: selectors whose rows name a package with the same scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.selection.rows import ROWS

from benchmarks import problems, veridical_selectors
from benchmarks.agreement import close_scores
from benchmarks.definitions import VERIDICAL, Case, Contender, Problem, Result
from veridical.selection import SELECTORS


def _case_with_peer(row: Any) -> Case:
    """Make the case of a row: the selector on numbers, and its peer."""
    (name,) = (name for name, cls in SELECTORS.items() if cls is row.selector)

    def run(problem: Problem) -> Result:
        nominal = np.zeros(problem.X.shape[1], dtype=bool)
        return Result(scores=np.asarray(row.peer.scores(problem.X, problem.y, nominal)))

    return Case(
        name=f"{name}-peer",
        title=f"{row.name} beside {row.peer.name}",
        make=problems.normal,
        size=row.peer.timed_at,
        small={"n": 60, "p": 30},
        contenders=(
            Contender(VERIDICAL, veridical_selectors.fit(name, **row.parameters)),
            Contender(row.peer.name, run, check=close_scores(), own_processes=True),
        ),
    )


CASES = tuple(_case_with_peer(row) for row in ROWS if row.peer and row.peer.timed_at)

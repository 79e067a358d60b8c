"""The cases: problems, contenders, how results are compared, and the aims.

Ratios are always to the first contender of a case.
"""

from __future__ import annotations

from benchmarks import (
    bias_corrected,
    choosing,
    comparison,
    discovery,
    elimination,
    engine,
    estimation,
    filters,
    incremental,
    lufe,
    outcomes,
    peers,
    prioritization,
    training_sets,
)
from benchmarks.definitions import Case

CASES: dict[str, Case] = {
    case.name: case
    for case in (
        *filters.CASES,
        *peers.CASES,
        *outcomes.CASES,
        *incremental.CASES,
        prioritization.DDP_PATH,
        prioritization.NESTED,
        elimination.SVM_RFE,
        *training_sets.CASES,
        *discovery.CASES,
        comparison.COMPARE,
        choosing.CHOOSE,
        *estimation.CASES,
        *bias_corrected.CASES,
        *lufe.CASES,
        engine.ENGINE,
    )
}


def find(names: list[str]) -> list[Case]:
    """Return cases by name or by prefix of a name; all without names.

    Raises
    ------
    ValueError
        For a name no case begins with; the message lists the cases.
    """
    found: dict[str, Case] = {} if names else dict(CASES)
    for name in names:
        exact = {name: CASES[name]} if name in CASES else {}
        begun = exact or {n: c for n, c in CASES.items() if n.startswith(name)}
        if not begun:
            raise ValueError(f"no case {name!r}; there are {', '.join(CASES)}")
        found |= begun
    return list(found.values())

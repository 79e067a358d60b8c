"""Cases about claims: a thousand half samples, a thousand permutations."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import problems, veridical_selectors
from benchmarks.agreement import same_order
from benchmarks.aims import Faster
from benchmarks.definitions import Case, Contender, Problem, Result
from benchmarks.veridical_selectors import Run

#: What the first features of 1000 half samples may cost, in fits on all rows.
AIMS = {"anova": 30, "information-gain": 60, "relieff": 60}
N_HALVES, N_FIRST, N_PERMUTATIONS = 1000, 50, 1000


def _halves(problem: Problem) -> tuple[Any, list[Any]]:
    from veridical._core.reading import read_table
    from veridical.discovery.permuting import draw_pairs

    table = read_table(problem.X, problem.y)
    return table, draw_pairs(table, N_HALVES // 2, 0)


def _by_frequency(leading: list[Any], n_features: int) -> Result:
    counts = np.zeros(n_features)
    for first in leading:
        counts[first] += 1
    return Result(np.argsort(-counts, kind="stable"), counts)


def lead(name: str) -> Run:
    """Find the first features of every half, some halves at a time, as `discover`."""

    def run(problem: Problem) -> Result:
        from veridical.discovery.stable import select_halves
        from veridical.selection import SELECTORS

        table, halves = _halves(problem)
        selector = SELECTORS[name](n_jobs=1)
        found = select_halves(table, halves, N_FIRST, selector.lead_table)
        return _by_frequency(found.leading, table.n_features)

    return run


def rank(name: str) -> Run:
    """Rank all features of every half at once."""

    def run(problem: Problem) -> Result:
        from veridical.selection import SELECTORS

        table, halves = _halves(problem)
        orders = SELECTORS[name](n_jobs=1).rank_table(table, halves)
        leading = [order[:N_FIRST] for order in orders]
        return _by_frequency(leading, table.n_features)

    return run


def permute(problem: Problem) -> Result:
    """Rank the features in ten folds of every permutation of the outcome."""
    from veridical._core.reading import read_table
    from veridical.discovery.permuting import make_permutations
    from veridical.selection import AnovaF

    table = read_table(problem.X, problem.y)
    orders = make_permutations(table, None, 0).draw(N_PERMUTATIONS)
    firsts = [
        AnovaF(n_jobs=1).rank_table(table.permuted(order), problem.folds)
        for order in orders
    ]
    return Result(np.array(firsts[0]))


def _case(name: str) -> Case:
    return Case(
        name=f"halves-{name}",
        title=f"First features of 1000 half samples: {name}",
        make=problems.normal,
        size={"n": 200, "p": 10000},
        small={"n": 60, "p": 60},
        contenders=(
            Contender("one fit", veridical_selectors.fit(name, n_jobs=1)),
            Contender("rank_table", rank(name), differs="ranks halves"),
            Contender(
                "lead_table",
                lead(name),
                check=same_order(5),
                compared_with="rank_table",
            ),
        ),
        aims=(Faster("lead_table", "one fit", 1 / AIMS[name]),),
        notes="Complementary pairs of halves, the first 50 features of each; one "
        "thread. Features are compared in the order of how often halves select them.",
    )


PERMUTATIONS = Case(
    name="permutations-anova",
    title="1000 permutations of the outcome, ten folds each: anova",
    make=lambda n, p: problems.normal(n, p, n_folds=10),
    size={"n": 200, "p": 10000},
    small={"n": 60, "p": 60},
    contenders=(
        Contender("one fit", veridical_selectors.fit("anova", n_jobs=1)),
        Contender("1000 × 10 rankings", permute, differs="ranks permuted outcomes"),
    ),
    aims=(),
    notes="One thread. The aim is 60 seconds on two cores.",
)

CASES = (*(_case(name) for name in AIMS), PERMUTATIONS)

"""Cases about every selector: ten training sets at once, and memory."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from benchmarks import problems, veridical_selectors
from benchmarks.agreement import same_order
from benchmarks.aims import Faster, Lean
from benchmarks.definitions import Case, Contender
from veridical.selection import SELECTORS

#: Parameters under which a selector takes its time, where the defaults would not do.
PARAMETERS: dict[str, dict[str, object]] = {
    "hsic": {"kernel": "linear"},
    "svm-rfe": {"step": 0.1},
}
EVERY = {name: PARAMETERS.get(name, {}) for name in SELECTORS}

#: What `rank_many` over ten folds may cost, in fits on all rows.
MANY_AIMS = {
    "information-gain": 5,
    "anova": 2,
    "correlation": 2,
    "relieff": 4,
    "fcbf": 6,
    "mrmr": 5,
    "ddp": 5,
}


def _rank_many(name: str, parameters: dict[str, object]) -> Case:
    aim = MANY_AIMS.get(name)
    return Case(
        name=f"rank-many-{name}",
        title=f"Ten training sets at once: {name}",
        make=partial(problems.for_selector, SELECTORS[name], n_folds=10),
        size={"n": 200, "p": 10000},
        small={"n": 60, "p": 60},
        contenders=(
            Contender("one fit", veridical_selectors.fit(name, **parameters)),
            Contender("ten fits", veridical_selectors.fit_each(name, **parameters)),
            Contender(
                "rank_many",
                veridical_selectors.rank_many(name, **parameters),
                check=same_order(),
                compared_with="ten fits",
            ),
        ),
        aims=() if aim is None else (Faster("rank_many", "one fit", 1 / aim),),
        notes="One fit is on all rows, ten fits and `rank_many` on the training sets "
        "of ten-fold cross-validation."
        + "".join(f" {key}={value!r}." for key, value in parameters.items()),
    )


def _contenders(target: str) -> tuple[Contender, ...]:
    """Return the selectors of classes, or those of survival times alone."""
    return tuple(
        Contender(name, veridical_selectors.fit(name, **parameters))
        for name, parameters in EVERY.items()
        if SELECTORS[name]._abilities.targets[0] == target
    )


MEMORY = Case(
    name="memory",
    title="Memory beside X",
    make=problems.normal,
    size={"n": 200, "p": 100000},
    small={"n": 60, "p": 2000},
    contenders=_contenders("classes"),
    aims=tuple(Lean(one.name) for one in _contenders("classes")),
    notes="Ratios of time are to the first row and compare different methods.",
)
MEMORY_SURVIVAL = replace(
    MEMORY,
    name="memory-survival",
    title="Memory beside X, for survival times",
    make=problems.survival,
    contenders=_contenders("survival"),
    aims=tuple(Lean(one.name) for one in _contenders("survival")),
)

CASES = (
    *(_rank_many(name, parameters) for name, parameters in EVERY.items()),
    MEMORY,
    MEMORY_SURVIVAL,
)

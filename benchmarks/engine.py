"""What the experiment engine adds to the work of a study."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.agreement import close_scores
from benchmarks.aims import Faster
from benchmarks.definitions import Case, Contender, Problem, Result

STUDY, SCALE, USUAL = "in-vs-out", "smoke", 125


def study(n: int, p: int) -> Problem:
    """Make a problem whose `X` only has the size of the study's data.

    Below that size there is one training set of each source instead of all.
    """
    return Problem(np.zeros((n, p)), np.arange(n) % 2)


def work_alone(problem: Problem) -> Result:
    """Run every unit of the study and keep the accuracies in memory."""
    plan, spec = _plan(problem)
    values = [cell for unit in plan.units(spec) for cell in plan.run(unit)]
    return Result(scores=_numbers(values))


def work_in_a_fork(problem: Problem) -> Result:
    """Run the work without the engine, in a fork of this process.

    The copy loads the compiled kernels from disk, which takes it half a second whether
    there is an engine or not.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        return pool.submit(work_alone, problem).result()


def with_engine(problem: Problem) -> Result:
    """Run the same through the engine: planned, keyed, checked, stored on disk."""
    from veridical.experiments import Serial

    return _run(problem, Serial())


def with_a_worker(problem: Problem) -> Result:
    """Run the same in a worker process, as ``veridical study run`` does."""
    from veridical.experiments import Processes

    return _run(problem, Processes(1))


def _run(problem: Problem, executor: Any) -> Result:
    from veridical.experiments import Store, run_study

    plan, spec = _plan(problem)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "study.sqlite"
        report = run_study(plan, spec, path, executor=executor)
        with Store(path) as store:
            values = [json.loads(row.values or "null") for row in store.rows()]
    # Of the same run, so that no other work on the machine comes between the two.
    overhead = report.seconds / report.working - 1
    note = f"{100 * overhead:.1f} % on top of the time its cells took"
    return Result(scores=_numbers(values), note=note)


def _plan(problem: Problem) -> tuple[Any, Any]:
    from veridical.papers import find_study

    found = find_study(STUDY)
    spec = found.plan(SCALE, 0)
    if len(problem.y) < USUAL:
        spec = spec.model_copy(update={"n_sets": 1})
    return found, spec


def _numbers(values: list[Any]) -> Any:
    """Return all accuracies, sorted."""
    return np.sort([float(cell["truth"]) for cell in values])


ENGINE = Case(
    name="engine",
    title="A study through the experiment engine",
    make=study,
    size={"n": 125, "p": 60},
    small={"n": 125, "p": 60},
    contenders=(
        Contender("the work alone", work_alone),
        Contender(
            "the work alone, in a fork",
            work_in_a_fork,
            check=close_scores(rtol=1e-15),
            own_processes=True,
        ),
        Contender("with the engine", with_engine, check=close_scores(rtol=1e-15)),
        Contender(
            "with a worker process",
            with_a_worker,
            check=close_scores(rtol=1e-15),
            own_processes=True,
        ),
    ),
    aims=(
        Faster("with the engine", "the work alone", 1 / 1.1),
        Faster("with a worker process", "the work alone, in a fork", 1 / 1.1),
    ),
    notes="The smoke scale of the study in-vs-out: planning, keys, checksums and a "
    "store on disk come on top of the work, and in the last row a worker process, as "
    "veridical study run uses one. That row is compared with the second: both load "
    "the compiled kernels anew in a process of their own.",
)

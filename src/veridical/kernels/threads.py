"""Run a compiled routine over pieces of an array, on several threads.

Kernels release the interpreter's lock and write to disjoint parts of their output, so
threads need no locks and the answer does not depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from numbers import Integral
from typing import Any

from numba import config

from veridical._records import InputError


def thread_count(n_jobs: int | None) -> int:
    """Translate scikit-learn's ``n_jobs`` into a number of threads.

    None means what numba was given: all cores, unless ``NUMBA_NUM_THREADS`` (which
    joblib sets in its worker processes) says otherwise.
    """
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise InputError(
            f"n_jobs={n_jobs!r}; give a whole number of threads, -1 for all cores, or "
            "None."
        )
    available = int(config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if n_jobs is None:
        return available
    if n_jobs < 0:
        return max(1, available + 1 + n_jobs)
    return max(1, n_jobs)


def spans(length: int, pieces: int, minimum: int = 1) -> list[tuple[int, int]]:
    """Cut ``range(length)`` into at most `pieces` runs of at least `minimum` items."""
    pieces = max(1, min(pieces, length // max(minimum, 1)))
    bounds = [length * k // pieces for k in range(pieces + 1)]
    return list(pairwise(bounds))


def run(
    routine: Callable[..., Any], jobs: Iterable[Sequence[Any]], n_threads: int
) -> None:
    """Call ``routine(*job)`` for every job; the first error is raised."""
    jobs = list(jobs)
    if n_threads == 1 or len(jobs) <= 1:
        for job in jobs:
            routine(*job)
        return
    with ThreadPoolExecutor(min(n_threads, len(jobs))) as pool:
        for future in [pool.submit(routine, *job) for job in jobs]:
            future.result()

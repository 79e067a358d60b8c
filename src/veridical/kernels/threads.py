"""Run a compiled routine over pieces of an array, on several threads.

Kernels release the interpreter's lock and write to disjoint parts of their output, so
threads need no locks and the answer does not depend on how many there are.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from numbers import Integral
from typing import Any

from numba import config

from veridical._core.errors import InputError


def thread_count(n_jobs: int | None) -> int:
    """Translate scikit-learn's ``n_jobs`` into a number of threads.

    None is 1, as in joblib; −1 is what numba was given: all cores, unless
    ``NUMBA_NUM_THREADS`` (which joblib sets in its worker processes) says otherwise.
    """
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise InputError(
            f"n_jobs={n_jobs!r} must be a whole number of threads, -1 for all cores, "
            "or None."
        )
    available = int(config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if n_jobs is None:
        return 1
    if n_jobs < 0:
        return max(1, available + 1 + n_jobs)
    return max(1, n_jobs)


def spans(length: int, pieces: int, minimum: int = 1) -> list[tuple[int, int]]:
    """Cut ``range(length)`` into at most `pieces` runs of at least `minimum` items."""
    pieces = max(1, min(pieces, length // max(minimum, 1)))
    bounds = [length * k // pieces for k in range(pieces + 1)]
    return list(pairwise(bounds))


@cache
def _pool() -> ThreadPoolExecutor:
    """Return a pool of threads; starting a thread takes longer than many kernels."""
    return ThreadPoolExecutor(max(32, os.cpu_count() or 1), "veridical")


# Threads do not survive a fork; the child process starts new ones when it needs them.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def run_jobs(
    routine: Callable[..., Any], jobs: Iterable[Sequence[Any]], n_threads: int
) -> None:
    """Call ``routine(*job)`` for every job; an error is raised.

    The calling thread works too, so that it never waits for threads that are busy with
    other work: those that have not started when all jobs are done are cancelled.
    """
    waiting = deque(jobs)

    def work() -> None:
        try:
            while True:
                try:
                    job = waiting.popleft()
                except IndexError:
                    return
                routine(*job)
        except BaseException:
            waiting.clear()
            raise

    n_others = min(n_threads, len(waiting)) - 1
    futures = [_pool().submit(work) for _ in range(n_others)]
    try:
        work()
    finally:
        started = [future for future in futures if not future.cancel()]
        errors = [future.exception() for future in started]
    for error in filter(None, errors):
        raise error

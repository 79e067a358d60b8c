"""Run jobs in this process or in several: progress, warnings, thread limits."""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import ThreadpoolController

from veridical._core.errors import InputError
from veridical._core.progress import ProgressLike

Job = tuple[Callable[..., Any], tuple[Any, ...]]
Runner = Callable[[Iterable[Job]], list[Any]]
CaughtWarning = tuple[type[Warning], str]


def serial(jobs: Iterable[Job]) -> list[Any]:
    """Run jobs one after the other in this process."""
    return [routine(*arguments) for routine, arguments in jobs]


class Workers:
    """Runs jobs in several processes; results do not depend on their number.

    Parameters
    ----------
    n_jobs : int or None
        As in joblib: None is one process unless a context says otherwise, -1 all cores.
    progress : callable or None
        Called as ``progress(done, total)`` after each job.
    total : int
        Number of jobs in all.
    """

    def __init__(
        self, n_jobs: int | None, progress: ProgressLike = None, total: int = 0
    ) -> None:
        if n_jobs is not None and (
            isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)
        ):
            raise InputError(
                f"n_jobs={n_jobs!r} is not a number of processes; use a whole number, "
                "-1 for all cores, or None."
            )
        if n_jobs == 0:
            raise InputError("n_jobs=0 does no work; use 1, or -1 for all cores.")
        self.n_jobs = n_jobs
        self.progress = progress if callable(progress) else None
        self.total = total
        self.done = 0
        self.warned_of: set[CaughtWarning] = set()

    def __call__(self, jobs: Iterable[Job]) -> list[Any]:
        """Run jobs; the results come in the order of the jobs.

        Each different warning is given once, with the number of times it occurred.
        """
        return self._do(list(jobs), self.n_jobs)

    def here(self, jobs: Iterable[Job]) -> list[Any]:
        """Run jobs in this process, one after the other."""
        return self._do(list(jobs), 1)

    def _do(self, jobs: list[Job], n_jobs: int | None) -> list[Any]:
        if not jobs:
            return []
        self.total = max(self.total, self.done + len(jobs))
        results = []
        warned_of: Counter[CaughtWarning] = Counter()
        if n_jobs == 1:  # here, also where a context names another backend
            stream = (_run_on_one_thread(*job) for job in jobs)
        else:
            stream = Parallel(n_jobs=n_jobs, return_as="generator")(
                delayed(_run_on_one_thread)(*job) for job in jobs
            )
        for result, warned in stream:
            results.append(result)
            warned_of.update(warned)
            self.done += 1
            if self.progress is not None:
                self.progress(self.done, self.total)
        for (category, text), times in warned_of.items():
            if (category, text) not in self.warned_of:
                often = f" ({times} times)" if times > 1 else ""
                warnings.warn(text + often, category, stacklevel=5)
        self.warned_of |= set(warned_of)
        return results


@contextmanager
def expected(run: Runner, n_jobs: int) -> Iterator[None]:
    """Announce the jobs of a piece of work, so that progress has a constant total.

    Jobs that turn out not to be needed count as done at the end.
    """
    if not isinstance(run, Workers):
        yield
        return
    end = run.done + n_jobs
    run.total = max(run.total, end)
    yield
    if run.done < end:
        run.done = end
        if run.progress is not None:
            run.progress(run.done, run.total)


def one_thread() -> Any:
    """Limit BLAS to one thread.

    With several threads, BLAS would sum in another order and round differently.
    """
    return _threads().limit(limits=1)


@cache
def _threads() -> ThreadpoolController:
    """Find the libraries that use threads; once, because it takes a while."""
    return ThreadpoolController()


def _run_on_one_thread(
    routine: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[Any, list[CaughtWarning]]:
    """Run one job; return its result and its warnings."""
    with one_thread():
        if threading.current_thread() is not threading.main_thread():
            return routine(*arguments), []  # warning filters are shared by all threads
        with warnings.catch_warnings(record=True) as caught:
            result = routine(*arguments)
    return result, [(w.category, str(w.message)) for w in caught]

"""Executors: tasks in, attempts out, in any order.

Executors differ in speed and in which crashes they survive, never in their values.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Protocol

from threadpoolctl import threadpool_limits

from veridical._core.errors import InputError
from veridical.experiments.attempts import Attempt, Task, run_unit
from veridical.experiments.study import Study
from veridical.experiments.supervisor import Limits, Stopped, Supervisor, pack

# Seconds between two checks of the queue.
_TICK = 0.1
# Results that may wait to be stored; beyond them workers wait.
_WAITING = 4096


class Executor(Protocol):
    """Runs tasks."""

    def run(
        self, study: Study, tasks: Iterator[Task], stop: threading.Event
    ) -> Iterator[Attempt | None]:
        """Run tasks, and yield the attempt at each cell as soon as it is finished.

        Parameters
        ----------
        study : Study
            The study that the units belong to.
        tasks : iterator of Task
            Taken one by one as workers become free.
        stop : threading.Event
            Once it is set, yield what is finished and return within seconds.

        Yields
        ------
        Attempt or None
            None from time to time while nothing is finished, so that the caller can
            act.
        """
        ...


class Serial:
    """Runs tasks in this process; a crash of a unit is a crash of this process."""

    def run(
        self, study: Study, tasks: Iterator[Task], stop: threading.Event
    ) -> Iterator[Attempt | None]:
        """Run tasks one after the other."""
        with threadpool_limits(limits=1):
            for task in tasks:
                for result in run_unit(study, task.unit):
                    yield task.make_attempt(result)
                    if stop.is_set():
                        return


class Processes:
    """Runs tasks in worker processes with one thread each.

    Parameters
    ----------
    n_jobs : int, default=1
        Number of processes.
    limits : Limits, optional
        Time and memory limits of each.
    """

    def __init__(self, n_jobs: int = 1, limits: Limits | None = None) -> None:
        if n_jobs < 1:
            raise InputError(f"n_jobs={n_jobs} is below 1; use 1 or more processes.")
        self.n_jobs = n_jobs
        self.limits = limits or Limits()

    def run(
        self, study: Study, tasks: Iterator[Task], stop: threading.Event
    ) -> Iterator[Attempt | None]:
        """Run tasks in parallel."""
        pool = _Pool(pack(study), tasks, self.limits)
        supervisors = [pool.start() for _ in range(self.n_jobs)]
        threads = [
            threading.Thread(target=pool.work, args=(supervisor,), daemon=True)
            for supervisor in supervisors
        ]
        for thread in threads:
            thread.start()
        try:
            yield from pool.attempts(self.n_jobs, stop)
        finally:
            pool.halt.set()
            pool.abandoned.set()
            for thread in threads:
                thread.join()


class _Pool:
    """State shared by the threads that each supervise one worker process."""

    def __init__(self, study: bytes, tasks: Iterator[Task], limits: Limits) -> None:
        self.halt = threading.Event()  # stop working
        self.abandoned = threading.Event()  # results are no longer read
        self._study = study
        self._tasks = tasks
        self._limits = limits
        self._turn = threading.Lock()
        self._results: queue.Queue[Attempt | BaseException | None] = queue.Queue(
            _WAITING
        )

    def start(self) -> Supervisor:
        """Start a worker process; forking is safest before threads are started."""
        supervisor = Supervisor(self._study, self._limits, self.halt, may_fork=True)
        supervisor.start()
        return supervisor

    def work(self, supervisor: Supervisor) -> None:
        """Run tasks until there are none left; the target of each thread."""
        try:
            while (task := self._next()) is not None:
                for result in supervisor.run(task.unit):
                    self._put(task.make_attempt(result))
        except Stopped:
            pass
        except BaseException as error:
            self._put(error)
        finally:
            supervisor.close()
            self._put(None)

    def _next(self) -> Task | None:
        with self._turn:
            return None if self.halt.is_set() else next(self._tasks, None)

    def _put(self, item: Attempt | BaseException | None) -> None:
        while True:
            try:
                self._results.put(item, timeout=_TICK)
                return
            except queue.Full:
                if self.abandoned.is_set():
                    return

    def attempts(
        self, n_threads: int, stop: threading.Event
    ) -> Iterator[Attempt | None]:
        """Yield finished attempts until all threads have ended."""
        while n_threads:
            if stop.is_set():
                self.halt.set()
            try:
                item = self._results.get(timeout=_TICK)
            except queue.Empty:
                yield None
                continue
            if item is None:
                n_threads -= 1
            elif isinstance(item, BaseException):
                raise item
            else:
                yield item

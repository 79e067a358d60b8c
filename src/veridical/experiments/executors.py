"""Who does the work: tasks in, outcomes out, in any order.

Executors differ in speed and in what they survive, never in the values they yield.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Protocol

from threadpoolctl import threadpool_limits

from veridical._core.errors import InputError
from veridical.experiments.outcomes import Outcome, Task, perform
from veridical.experiments.study import Study
from veridical.experiments.supervisor import Limits, Stopped, Supervisor, pack

_TICK = 0.1  # seconds between two looks at the queue
_WAITING = 4096  # results that may wait to be stored


class Executor(Protocol):
    """Does tasks."""

    def run(
        self, study: Study, tasks: Iterator[Task], stop: threading.Event
    ) -> Iterator[Outcome | None]:
        """Do tasks, yielding what becomes of each cell as soon as it is known.

        Parameters
        ----------
        study : Study
            Whose units they are.
        tasks : iterator of Task
            Taken one by one as workers become free.
        stop : threading.Event
            Once it is set, yield what is finished and end within seconds.

        Yields
        ------
        Outcome or None
            None now and then while nothing happens, so that the caller gets a turn.
        """
        ...


class Serial:
    """Does the work in this process, which a unit that crashes takes down with it."""

    def run(
        self, study: Study, tasks: Iterator[Task], stop: threading.Event
    ) -> Iterator[Outcome | None]:
        """Do tasks one after the other."""
        with threadpool_limits(limits=1):
            for task in tasks:
                for result in perform(study, task.unit):
                    yield task.outcome(result)
                    if stop.is_set():
                        return


class Processes:
    """Does the work in processes that can be killed, one thread of BLAS in each.

    Parameters
    ----------
    n_jobs : int, default=1
        How many.
    limits : Limits, optional
        Time and memory for each.
    """

    def __init__(self, n_jobs: int = 1, limits: Limits | None = None) -> None:
        if n_jobs < 1:
            raise InputError(f"{n_jobs} processes do no work; use 1 or more.")
        self.n_jobs = n_jobs
        self.limits = limits or Limits()

    def run(
        self, study: Study, tasks: Iterator[Task], stop: threading.Event
    ) -> Iterator[Outcome | None]:
        """Do tasks side by side."""
        pool = _Pool(pack(study), tasks, self.limits)
        supervisors = [pool.start() for _ in range(self.n_jobs)]
        threads = [
            threading.Thread(target=pool.work, args=(supervisor,), daemon=True)
            for supervisor in supervisors
        ]
        for thread in threads:
            thread.start()
        try:
            yield from pool.outcomes(self.n_jobs, stop)
        finally:
            pool.halt.set()
            pool.abandoned.set()
            for thread in threads:
                thread.join()


class _Pool:
    """What the threads share that each supervise one worker process."""

    def __init__(self, study: bytes, tasks: Iterator[Task], limits: Limits) -> None:
        self.halt = threading.Event()  # stop working
        self.abandoned = threading.Event()  # nobody takes results any more
        self._study = study
        self._tasks = tasks
        self._limits = limits
        self._turn = threading.Lock()
        self._results: queue.Queue[Outcome | BaseException | None] = queue.Queue(
            _WAITING
        )

    def start(self) -> Supervisor:
        """Start a worker process, best before there are any threads."""
        supervisor = Supervisor(self._study, self._limits, self.halt, copies=True)
        supervisor.start()
        return supervisor

    def work(self, supervisor: Supervisor) -> None:
        """Do tasks until there are none left; the target of each thread."""
        try:
            while (task := self._next()) is not None:
                for result in supervisor.run(task.unit):
                    self._put(task.outcome(result))
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

    def _put(self, item: Outcome | BaseException | None) -> None:
        while True:
            try:
                self._results.put(item, timeout=_TICK)
                return
            except queue.Full:
                if self.abandoned.is_set():
                    return

    def outcomes(
        self, n_threads: int, stop: threading.Event
    ) -> Iterator[Outcome | None]:
        """Yield what the threads have finished, until all of them are done."""
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

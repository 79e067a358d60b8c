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
from veridical.experiments.keeper import Keeper, Limits, Stopped, pack
from veridical.experiments.outcomes import Outcome, Task, perform
from veridical.experiments.study import Study

_TICK = 0.1
_WAITING = 4096


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
            Taken one by one as hands become free.
        stop : threading.Event
            Once it is set, yield what is finished and end within seconds.

        Yields
        ------
        Outcome or None
            None now and then while nothing happens, so that the caller gets a turn.
        """
        ...


class Serial:
    """Does the work in this process: simple, and at the mercy of every unit."""

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
        crew = _Crew(pack(study), tasks, self.limits)
        keepers = [crew.hire() for _ in range(self.n_jobs)]
        threads = [
            threading.Thread(target=crew.work, args=(keeper,), daemon=True)
            for keeper in keepers
        ]
        for thread in threads:
            thread.start()
        try:
            yield from crew.listen(self.n_jobs, stop)
        finally:
            crew.halt.set()
            crew.alone.set()
            for thread in threads:
                thread.join()


class _Crew:
    """Threads that each keep one worker process; what they share."""

    def __init__(self, study: bytes, tasks: Iterator[Task], limits: Limits) -> None:
        self.halt = threading.Event()  # stop working
        self.alone = threading.Event()  # nobody listens any more
        self._study = study
        self._tasks = tasks
        self._limits = limits
        self._turn = threading.Lock()
        self._results: queue.Queue[Outcome | BaseException | None] = queue.Queue(
            _WAITING
        )

    def hire(self) -> Keeper:
        """Find a keeper and start its process, best before there are any threads."""
        keeper = Keeper(self._study, self._limits, self.halt, copies=True)
        keeper.start()
        return keeper

    def work(self, keeper: Keeper) -> None:
        """Be one of the threads."""
        try:
            while (task := self._next()) is not None:
                for result in keeper.run(task.unit):
                    self._put(task.outcome(result))
        except Stopped:
            pass
        except BaseException as error:
            self._put(error)
        finally:
            keeper.close()
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
                if self.alone.is_set():
                    return

    def listen(self, n_threads: int, stop: threading.Event) -> Iterator[Outcome | None]:
        """Yield what the threads bring, until all of them are done."""
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

"""Run tasks on a Dask cluster, with the same results as in local processes.

Each thread of a Dask worker supervises its own worker process, so that a crash ends
that process and not the Dask worker. The process is kept from unit to unit until the
run ends. If a Dask worker is lost, its units are submitted again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from veridical._core.errors import InputError
from veridical.experiments.attempts import Attempt, Result, Task
from veridical.experiments.keys import NUMERIC_VERSION
from veridical.experiments.study import Study, Unit
from veridical.experiments.supervisor import (
    CAN_FORK,
    Limits,
    Stopped,
    Supervisor,
    WorkerError,
    pack,
)

# Seconds: between two checks of results, between two counts of workers, without any
# worker before the run ends, and for all workers to be told that a run has ended.
_TICK = 0.2
_COUNT_EVERY = 2.0
_NO_WORKER_LIMIT = 120.0
_END_LIMIT = 2.0

# Lost workers after which the cells of a unit count as crashed.
_MOST_LOST_WORKERS = 20


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError as error:
        raise InputError(
            "Dask is not installed; pip install 'veridical[dask]', or leave out --dask."
        ) from error


def _start_forks(study: Study, stack: ExitStack) -> None:
    """Let Dask fork its workers from a process that has imported all modules.

    A lost worker is then replaced at once.
    """
    if not CAN_FORK:
        return
    method = {"distributed.worker.multiprocessing-method": "forkserver"}
    stack.enter_context(import_module("dask.config").set(method))
    context = _distributed().utils.get_mp_context()
    context.set_forkserver_preload(["distributed", __name__, type(study).__module__])


class Cluster:
    """Runs tasks on Dask.

    Parameters
    ----------
    address : str or None
        Address of a running scheduler; None starts one here, on the loopback interface
        only and without a dashboard.
    n_jobs : int, default=1
        Number of workers to start here; ignored with a running scheduler.
    limits : Limits, optional
        Time and memory limits of each worker process.

    Raises
    ------
    InputError
        If Dask is not installed or the scheduler does not answer.
    """

    def __init__(
        self,
        address: str | None = None,
        n_jobs: int = 1,
        limits: Limits | None = None,
    ) -> None:
        _distributed()
        if n_jobs < 1:
            raise InputError(f"n_jobs={n_jobs} is below 1; use 1 or more workers.")
        self.address = address
        self.n_jobs = n_jobs
        self.limits = limits or Limits()

    def run(
        self, study: Study, tasks: Iterator[Task], stop: threading.Event
    ) -> Iterator[Attempt | None]:
        """Run tasks on the cluster, a bounded number at a time."""
        settings = RunSettings(
            run=uuid4().hex,
            study=pack(study),
            limits=self.limits,
            may_fork=self.address is None,  # only workers that we started may be forked
            numeric=NUMERIC_VERSION,
        )
        with ExitStack() as stack:
            if self.address is None:
                _start_forks(study, stack)
            client = self._connect(stack)
            yield from _Submitter(client, settings, self._n_own).run(tasks, stop)

    @contextmanager
    def client(self) -> Iterator[Any]:
        """Connect to the cluster, or start one, for the duration of a block."""
        with ExitStack() as stack:
            yield self._connect(stack)

    @property
    def _n_own(self) -> int:
        """Number of workers that we started and must replace."""
        return 0 if self.address is not None else self.n_jobs

    def _connect(self, stack: ExitStack) -> Any:
        distributed = _distributed()
        if self.address is not None:
            try:
                return stack.enter_context(distributed.Client(self.address, timeout=10))
            except (OSError, ValueError) as error:
                raise InputError(
                    f"No Dask scheduler answers at {self.address} ({error}); start "
                    "one, or use --dask local."
                ) from error
        folder = stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True))
        cluster = distributed.LocalCluster(
            n_workers=self.n_jobs,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            worker_dashboard_address=None,
            local_directory=folder,
            memory_limit=None,
            silence_logs=logging.CRITICAL,
        )
        return stack.enter_context(distributed.Client(stack.enter_context(cluster)))


class _Submitter:
    """Submits units to a cluster and receives results, a bounded number at a time."""

    def __init__(self, client: Any, settings: RunSettings, n_own: int) -> None:
        self._client = client
        self._settings = settings
        self._n_own = n_own
        self._pending: dict[Any, tuple[Task, int]] = {}
        self._window = 2
        self._counted = 0.0
        self._last_worker = time.monotonic()

    def run(
        self, tasks: Iterator[Task], stop: threading.Event
    ) -> Iterator[Attempt | None]:
        more = True
        try:
            while (more or self._pending) and not stop.is_set():
                self._count_workers()
                while more and len(self._pending) < self._window:
                    task = next(tasks, None)
                    if task is None:
                        more = False
                    else:
                        self._submit(task, 0)
                done = self._done()
                if not done:
                    yield None
                for future in done:
                    yield from self._receive(future)
        finally:
            with suppress(Exception):  # the cluster may no longer exist
                self._client.cancel(list(self._pending), force=True)
            self._end()

    def _end(self) -> None:
        """End the worker processes on all Dask workers."""

        def tell_all() -> None:
            with suppress(Exception):  # the cluster may no longer exist
                self._client.run(end_run, self._settings.run, on_error="ignore")

        ending = threading.Thread(target=tell_all, daemon=True)
        ending.start()
        ending.join(_END_LIMIT)

    def _submit(self, task: Task, losses: int) -> None:
        future = self._client.submit(
            run_unit_on_worker, self._settings, task.unit.to_json(), pure=False
        )
        self._pending[future] = (task, losses)

    def _count_workers(self) -> None:
        """Count the workers; two units for each may be pending, and no more."""
        now = time.monotonic()
        if now - self._counted < _COUNT_EVERY:
            return
        self._counted = now
        try:
            n_workers = sum(self._client.nthreads().values())
        except (OSError, TimeoutError) as error:
            raise WorkerError(f"The Dask scheduler no longer answers ({error}).") from (
                error
            )
        if n_workers < self._n_own:
            # Dask restarts a lost worker, but gives up on one that starts slowly.
            self._client.cluster.scale(self._n_own)
        if n_workers:
            self._last_worker = now
            self._window = 2 * n_workers
        elif now - self._last_worker > _NO_WORKER_LIMIT:
            raise WorkerError(
                f"The Dask cluster has had no worker for {_NO_WORKER_LIMIT:g} s; start "
                "one."
            )

    def _done(self) -> list[Any]:
        if not self._pending:
            return []
        try:
            done = _distributed().wait(
                list(self._pending), timeout=_TICK, return_when="FIRST_COMPLETED"
            )
        except TimeoutError:
            return []
        return list(done.done)

    def _receive(self, future: Any) -> Iterator[Attempt]:
        task, losses = self._pending.pop(future)
        results, error = None, None
        try:
            if future.status == "finished":
                results = future.result(timeout=30)
            elif future.status == "error":
                error = future.exception()
        except Exception:  # the worker with the result was lost
            results = None
        finally:
            future.release()
        if results is not None:
            for result in results:
                yield task.make_attempt(Result(*result))
            return
        if error is not None and not isinstance(error, _distributed().KilledWorker):
            raise WorkerError(f"A Dask worker could not run its unit: {error}")
        if losses < _MOST_LOST_WORKERS:
            self._submit(task, losses + 1)
            return
        detail = f"{losses + 1} Dask workers were lost with this unit"
        for number in range(len(task.unit.cells)):
            yield task.make_attempt(Result(number, "crashed", None, detail, 0.0))


# -- inside a worker of Dask ---------------------------------------------------------

# Idle supervisors by run and thread, and the events that end those of a run.
_idle: dict[tuple[str, int], Supervisor] = {}
_stops: dict[str, threading.Event] = {}


@dataclass(frozen=True)
class RunSettings:
    """Settings that all units of a run share.

    Parameters
    ----------
    run : str
        Unique name of the run.
    study : bytes
        The pickled study.
    limits : Limits
        Time and memory limits of a process.
    may_fork : bool
        Whether the process may be a fork of the Dask worker.
    numeric : int
        Version of the numerics that the results must have.
    """

    run: str
    study: bytes
    limits: Limits
    may_fork: bool
    numeric: int


def run_unit_on_worker(settings: RunSettings, unit: str) -> list[tuple[Any, ...]]:
    """Run a unit, given as written by `Unit.to_json`."""
    if settings.numeric != NUMERIC_VERSION:
        raise WorkerError(
            f"This Dask worker has another veridical: its numerics have version "
            f"{NUMERIC_VERSION}, the study needs {settings.numeric}; install the same "
            "there."
        )
    stop = _stops.setdefault(settings.run, threading.Event())
    if stop.is_set():
        raise Stopped
    place = (settings.run, threading.get_ident())
    supervisor = _idle.pop(place, None)
    if supervisor is None:
        supervisor = Supervisor(
            settings.study, settings.limits, stop, may_fork=settings.may_fork
        )
    try:
        results = [tuple(result) for result in supervisor.run(Unit.from_json(unit))]
    except BaseException:
        supervisor.close()
        raise
    _idle[place] = supervisor
    if stop.is_set():
        _close_idle(settings.run)
    return results


def end_run(run: str) -> None:
    """End the worker processes of a run, idle ones included."""
    _stops.setdefault(run, threading.Event()).set()
    _close_idle(run)


def _close_idle(run: str) -> None:
    for place in list(_idle):
        if place[0] == run:
            supervisor = _idle.pop(place, None)
            if supervisor is not None:
                supervisor.close()

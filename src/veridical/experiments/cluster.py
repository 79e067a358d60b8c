"""The work on a Dask cluster: the same tasks, the same outcomes, more hands.

A cell cannot take a Dask worker down, see `hands`. What is left to lose is a whole
worker; its units are sent again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from veridical._core.errors import InputError
from veridical.experiments.hands import Order, do_unit, let_go
from veridical.experiments.keeper import Limits, WorkerError, pack
from veridical.experiments.keys import NUMERIC_VERSION
from veridical.experiments.outcomes import Outcome, Result, Task
from veridical.experiments.starting import CAN_FORK
from veridical.experiments.study import Study

_TICK = 0.2
_LOOK_AROUND = 2.0
_NOBODY = 120.0

# Losing a worker says nothing about the unit it was at; losing so many does.
_LOSSES = 20

# How long to wait for all workers to hear that a run is over.
_FAREWELL = 2.0


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError as error:
        raise InputError(
            "Dask is not installed; pip install 'veridical[dask]', or leave out --dask."
        ) from error


def _start_copies(study: Study, stack: ExitStack) -> None:
    """Let Dask copy its workers from a process that has imported all they need.

    A lost worker is there again at once, instead of importing everything anew.
    """
    if not CAN_FORK:
        return
    method = {"distributed.worker.multiprocessing-method": "forkserver"}
    stack.enter_context(import_module("dask.config").set(method))
    context = _distributed().utils.get_mp_context()
    context.set_forkserver_preload(["distributed", __name__, type(study).__module__])


class Cluster:
    """Does the work on Dask.

    Parameters
    ----------
    address : str or None
        Of a running scheduler; None starts one here, on the loopback interface only
        and without a dashboard.
    n_jobs : int, default=1
        Workers to start here; those of a running scheduler are as many as they are.
    limits : Limits, optional
        Time and memory for the process of each.

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
            raise InputError(f"{n_jobs} workers do no work; use 1 or more.")
        self.address = address
        self.n_jobs = n_jobs
        self.limits = limits or Limits()

    def run(
        self, study: Study, tasks: Iterator[Task], stop: threading.Event
    ) -> Iterator[Outcome | None]:
        """Do tasks on the cluster, a bounded number at a time."""
        order = Order(
            run=uuid4().hex,
            study=pack(study),
            limits=self.limits,
            copies=self.address is None,  # only a worker of our own is ours to copy
            numeric=NUMERIC_VERSION,
        )
        with ExitStack() as stack:
            if self.address is None:
                _start_copies(study, stack)
            client = self._connect(stack)
            yield from _Flight(client, order, self._n_own).run(tasks, stop)

    @property
    def _n_own(self) -> int:
        """How many workers are ours to replace."""
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


class _Flight:
    """Units under way on a cluster."""

    def __init__(self, client: Any, order: Order, n_own: int) -> None:
        self._client = client
        self._order = order
        self._n_own = n_own
        self._flying: dict[Any, tuple[Task, int]] = {}
        self._window = 2
        self._looked = 0.0
        self._seen = time.monotonic()

    def run(
        self, tasks: Iterator[Task], stop: threading.Event
    ) -> Iterator[Outcome | None]:
        more = True
        try:
            while (more or self._flying) and not stop.is_set():
                self._look_around()
                while more and len(self._flying) < self._window:
                    task = next(tasks, None)
                    if task is None:
                        more = False
                    else:
                        self._submit(task, 0)
                landed = self._landed()
                if not landed:
                    yield None
                for future in landed:
                    yield from self._receive(future)
        finally:
            with suppress(Exception):  # the cluster may be gone
                self._client.cancel(list(self._flying), force=True)
            self._part()

    def _part(self) -> None:
        """Let the hands go: a worker of the user's may not be kept busy any longer."""

        def tell_all() -> None:
            with suppress(Exception):  # the cluster may be gone
                self._client.run(let_go, self._order.run, on_error="ignore")

        farewell = threading.Thread(target=tell_all, daemon=True)
        farewell.start()
        farewell.join(_FAREWELL)

    def _submit(self, task: Task, losses: int) -> None:
        future = self._client.submit(
            do_unit, self._order, task.unit.to_json(), pure=False
        )
        self._flying[future] = (task, losses)

    def _look_around(self) -> None:
        """Count the hands; keep two units for each under way, and no more."""
        now = time.monotonic()
        if now - self._looked < _LOOK_AROUND:
            return
        self._looked = now
        try:
            hands = sum(self._client.nthreads().values())
        except (OSError, TimeoutError) as error:
            raise WorkerError(f"The Dask scheduler no longer answers ({error}).") from (
                error
            )
        if hands < self._n_own:
            # Dask starts a lost worker again, but forgets one that is slow to come.
            self._client.cluster.scale(self._n_own)
        if hands:
            self._seen = now
            self._window = 2 * hands
        elif now - self._seen > _NOBODY:
            raise WorkerError(
                f"The Dask cluster has had no worker for {_NOBODY:g} s; start one."
            )

    def _landed(self) -> list[Any]:
        if not self._flying:
            return []
        try:
            done = _distributed().wait(
                list(self._flying), timeout=_TICK, return_when="FIRST_COMPLETED"
            )
        except TimeoutError:
            return []
        return list(done.done)

    def _receive(self, future: Any) -> Iterator[Outcome]:
        task, losses = self._flying.pop(future)
        results, error = None, None
        try:
            if future.status == "finished":
                results = future.result(timeout=30)
            elif future.status == "error":
                error = future.exception()
        except Exception:  # the worker that held the result is gone
            results = None
        finally:
            future.release()
        if results is not None:
            for result in results:
                yield task.outcome(Result(*result))
            return
        if error is not None and not isinstance(error, _distributed().KilledWorker):
            raise WorkerError(f"A Dask worker could not do its unit: {error}")
        if losses < _LOSSES:
            self._submit(task, losses + 1)
            return
        detail = f"{losses + 1} Dask workers were lost with this unit"
        for number in range(len(task.unit.cells)):
            yield task.outcome(Result(number, "crashed", None, detail, 0.0))

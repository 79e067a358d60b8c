"""Run a study: plan, compute, save; it can be stopped and resumed."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from veridical._core import interrupts
from veridical._core.numbers import duration
from veridical._core.progress import Pace
from veridical.experiments.attempts import Attempt
from veridical.experiments.executors import Executor, Processes
from veridical.experiments.plan import Counts, Plan, Where
from veridical.experiments.store import Writer
from veridical.experiments.study import Study

#: A batch is written when it has this many rows, or its first row is this old
#: (seconds).
BATCH_ROWS = 100
BATCH_SECONDS = 1.0

# Number of recent failures that are kept.
_FAILURES_SHOWN = 3
# Seconds between two calls of `watch`, at least.
_WATCH_EVERY = 0.1


@dataclass
class Progress:
    """Counts of saved cells, their recent rate and the last failures.

    Parameters
    ----------
    counts : Counts
        Where the study stood at the start.
    again : int, default=0
        Number of failed cells that are still to be retried.
    computed : int
        Cells tried since the start.
    working : float
        Sum of their computing times, in seconds.
    failures : deque of Attempt
        The last ones.
    """

    counts: Counts
    again: int = 0
    computed: int = 0
    working: float = 0.0
    failures: deque[Attempt] = field(
        default_factory=lambda: deque(maxlen=_FAILURES_SHOWN)
    )

    def __post_init__(self) -> None:
        self.began = time.monotonic()
        self._pace = Pace()

    def saved(self, batch: list[Attempt]) -> None:
        """Count a batch that is on disk."""
        ok = sum(attempt.status == "ok" for attempt in batch)
        retried = sum(attempt.number > 1 for attempt in batch)
        self.again -= retried
        self.counts = Counts(
            self.counts.planned,
            self.counts.ok + ok,
            self.counts.failed + len(batch) - ok - retried,
        )
        self.failures.extend(o for o in batch if o.status != "ok")
        self.computed += len(batch)
        self.working += sum(attempt.seconds for attempt in batch)
        self._pace.mark(self.computed)

    @property
    def left(self) -> int:
        """Number of cells that are still to be computed."""
        return self.counts.pending + self.again

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began

    @property
    def rate(self) -> float | None:
        """Recent number of cells per second; None before any is computed."""
        return self._pace.rate

    @property
    def eta(self) -> float | None:
        """Seconds until the end at the recent rate; None if it is not known."""
        return self._pace.left(self.left)

    def __str__(self) -> str:
        words = str(self.counts)
        if self.rate is not None:
            words += f"; {self.rate:.3g} cells/s"
        if self.left and self.eta is not None:
            words += f"; about {duration(self.eta)} left"
        return words


Watch = Callable[[Progress], object]


@dataclass(frozen=True)
class RunReport:
    """How a run ended.

    Parameters
    ----------
    counts : Counts
        Where the study stands now.
    computed : int
        Cells tried in this run.
    seconds : float
        Duration in seconds, planning included.
    working : float
        Sum of the computing times of the cells, in seconds; the rest is overhead.
    stopped : None, "signal" or "time"
        Why it ended early; None if it did not.
    """

    counts: Counts
    computed: int
    seconds: float
    working: float
    stopped: Literal["signal", "time"] | None


def run_study(
    study: Study,
    spec: Any,
    path: str | Path,
    *,
    executor: Executor | None = None,
    where: Where | None = None,
    retry_failed: bool = False,
    limit_seconds: float | None = None,
    watch: Watch | None = None,
) -> RunReport:
    """Compute the cells of a study that are not in its store yet.

    Parameters
    ----------
    study : Study
        The study.
    spec : Spec
        What it varies, from ``study.plan``.
    path : str or Path
        The store; made if it is missing. One process at a time may write to it.
    executor : Executor, optional
        `Serial`, `Processes` or `Cluster`; by default one worker process. The results
        do not depend on it.
    where : mapping of coordinate to values, optional
        Compute only these cells, see `parse_where`.
    retry_failed : bool, default=False
        Retry cells whose last attempt failed.
    limit_seconds : float, optional
        Stop after this time; finished cells are saved.
    watch : callable, optional
        Called with a `Progress` several times a second.

    Returns
    -------
    RunReport
        State of the study. SIGINT and SIGTERM end the run early; finished cells are
        saved, and the same call resumes from there.

    Raises
    ------
    InputError
        If another process writes to the store, or the plan is empty.
    StoreError
        If the store cannot be written.
    """
    began = time.monotonic()
    if where and not Path(path).exists():
        Plan(study, spec, where=where)  # raise before an empty store is created
    # Handle signals first, so that Ctrl-C ends the run in order from here on.
    with interrupts.interrupt_event() as stop, Writer(path) as store:
        plan = Plan(study, spec, store.keys(), where or {}, retry_failed)
        progress = Progress(plan.counts, plan.counts.failed if retry_failed else 0)
        reason: Literal["signal", "time"] | None = None
        halt = _StopCondition(stop, began, limit_seconds)
        halt.check()
        if progress.left and not halt.event.is_set():
            store.begin_run(study=study.name, spec=spec.model_dump(mode="json"))
            work = (executor or Processes()).run(study, plan.tasks(), halt.event)
            _save(work, store, progress, halt, watch)
        if progress.left and halt.event.is_set():
            reason = "signal" if stop.is_set() else "time"
    seconds = time.monotonic() - began
    return RunReport(
        progress.counts, progress.computed, seconds, progress.working, reason
    )


class _StopCondition:
    """Sets an event for the executor on a signal or when the time limit is reached."""

    def __init__(
        self, signalled: threading.Event, began: float, limit: float | None
    ) -> None:
        self.event = threading.Event()
        self._signalled = signalled
        self._deadline = float("inf") if limit is None else began + limit

    def check(self) -> None:
        if self._signalled.is_set() or time.monotonic() > self._deadline:
            self.event.set()


def _save(
    work: Iterator[Attempt | None],
    store: Writer,
    progress: Progress,
    halt: _StopCondition,
    watch: Watch | None,
) -> None:
    batch: list[Attempt] = []
    opened = shown = time.monotonic()
    for attempt in work:
        now = time.monotonic()
        if attempt is not None:
            if not batch:
                opened = now
            batch.append(attempt)
        if len(batch) >= BATCH_ROWS or (batch and now - opened >= BATCH_SECONDS):
            store.add(batch)
            progress.saved(batch)
            batch = []
        halt.check()
        if watch is not None and now - shown >= _WATCH_EVERY:
            watch(progress)
            shown = now
    if batch:
        store.add(batch)
        progress.saved(batch)
    if watch is not None:
        watch(progress)

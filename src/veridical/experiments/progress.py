"""How far a run of a study has come, and how long the rest takes."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field

from veridical._core.numbers import duration
from veridical._core.progress import Pace
from veridical.experiments.outcomes import Outcome
from veridical.experiments.plan import Counts

_FAILURES_SHOWN = 3


@dataclass
class Progress:
    """Counts of saved cells, their recent rate and the last failures.

    Parameters
    ----------
    counts : Counts
        Where the study stood at the start.
    again : int, default=0
        Failed cells that are being tried again, so many of them are still to come.
    computed : int
        Cells tried since the start.
    working : float
        Seconds they took, added up.
    failures : deque of Outcome
        The last ones.
    """

    counts: Counts
    again: int = 0
    computed: int = 0
    working: float = 0.0
    failures: deque[Outcome] = field(
        default_factory=lambda: deque(maxlen=_FAILURES_SHOWN)
    )

    def __post_init__(self) -> None:
        self.began = time.monotonic()
        self._pace = Pace()

    def saved(self, batch: list[Outcome]) -> None:
        """Note a batch that is on disk."""
        ok = sum(outcome.status == "ok" for outcome in batch)
        retried = sum(outcome.attempt > 1 for outcome in batch)
        self.again -= retried
        self.counts = Counts(
            self.counts.planned,
            self.counts.ok + ok,
            self.counts.failed + len(batch) - ok - retried,
        )
        self.failures.extend(o for o in batch if o.status != "ok")
        self.computed += len(batch)
        self.working += sum(outcome.seconds for outcome in batch)
        self._pace.mark(self.computed)

    @property
    def left(self) -> int:
        """How many cells are still to be computed."""
        return self.counts.pending + self.again

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self.began

    @property
    def rate(self) -> float | None:
        """Cells per second of late; None before any is computed."""
        return self._pace.rate

    @property
    def eta(self) -> float | None:
        """Seconds the rest takes at the recent rate; None if it is not known."""
        return self._pace.left(self.left)

    def __str__(self) -> str:
        words = str(self.counts)
        if self.rate is not None:
            words += f"; {self.rate:.3g} cells/s"
        if self.left and self.eta is not None:
            words += f"; about {duration(self.eta)} left"
        return words

"""How far a run has come, and how long the rest will take, honestly."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field

from veridical.experiments.outcomes import Outcome
from veridical.experiments.plan import Counts

_RECENT_SECONDS = 120.0
_RECENT_CELLS = 500
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
        self._marks: deque[tuple[float, int]] = deque([(self.began, 0)])

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
        self._marks.append((time.monotonic(), self.computed))
        while (
            len(self._marks) > 2
            and self._marks[-1][0] - self._marks[0][0] > _RECENT_SECONDS
            and self.computed - self._marks[1][1] > _RECENT_CELLS
        ):
            self._marks.popleft()

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
        """Cells per second of late; None before there is anything to tell it from.

        The time since the last batch counts, so that the rate falls when the work
        stalls.
        """
        began, before = self._marks[0]
        elapsed = time.monotonic() - began
        if self.computed == before or elapsed <= 0:
            return None
        return (self.computed - before) / elapsed

    @property
    def eta(self) -> float | None:
        """Seconds the rest will take at the recent rate; None if it is not known."""
        rate = self.rate
        return None if rate is None else self.left / rate

    def __str__(self) -> str:
        words = str(self.counts)
        if self.rate is not None:
            words += f"; {self.rate:.3g} cells/s"
        if self.left and self.eta is not None:
            words += f"; about {duration(self.eta)} left"
        return words


def duration(seconds: float) -> str:
    """Say a length of time with as much precision as it deserves.

    >>> duration(42.4), duration(150), duration(6000), duration(200_000)
    ('42 s', '2.5 min', '1.7 h', '2.3 days')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.2g} min" if seconds < 600 else f"{seconds / 60:.0f} min"
    if seconds < 36 * 3600:
        return f"{seconds / 3600:.2g} h"
    return f"{seconds / 86400:.2g} days"

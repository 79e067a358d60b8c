"""A keeper looks after one worker process: feeds it, times it, replaces it.

A cell that takes its worker down is tried once more, alone in a fresh one; the other
cells of its unit go on without it. So a poisonous cell costs a process or two, and
never another cell.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from veridical._core.errors import InputError
from veridical.experiments.outcomes import Result, Status
from veridical.experiments.starting import CAN_FORK, Process, start_anew, start_copy
from veridical.experiments.study import Study, Unit
from veridical.experiments.worker import read_frame, write_frame

_TICK = 0.2
_START_LIMIT = 300.0
_TAIL = 64_000  # faulthandler lists every extension module after what happened
_WORDS = 400

# A crash of its own doing repeats itself: one more try shows it. A kill from outside
# (an operator, the system short of memory) says little about the cell.
_CRASHES = 2
_KILLS = 6
_STARTS = 50  # before it does a unit, a kill is nobody's fault


class WorkerError(Exception):
    """No worker can be started, so there is no point in going on."""


class Stopped(Exception):
    """The work is to end now; what is finished was handed over."""


@dataclass(frozen=True)
class Limits:
    """What a worker may use.

    Parameters
    ----------
    seconds : float or None
        For one cell, counted from the one before it.
    memory : int or None
        Bytes, beyond what importing the study takes.
    """

    seconds: float | None = 600.0
    memory: int | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None and self.seconds <= 0:
            raise InputError(
                f"A limit of {self.seconds:g} s leaves no time; give more than 0."
            )
        if self.memory is not None and not sys.platform.startswith("linux"):
            raise InputError(
                "Memory can be limited on Linux only; leave the limit out here."
            )


class _Died(Exception):
    def __init__(self, status: Status, detail: str, killed: bool) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.killed = killed


class Keeper:
    """Does units in a process of its own, one at a time.

    Parameters
    ----------
    study : bytes
        The pickled study, see `pack`.
    limits : Limits
        What the process may use.
    stop : threading.Event
        Once it is set, the process is killed and `run` raises `Stopped`.
    copies : bool, default=False
        The process may be a copy of this one, which starts at once.
    """

    def __init__(
        self,
        study: bytes,
        limits: Limits,
        stop: threading.Event,
        *,
        copies: bool = False,
    ) -> None:
        self._study = study
        self._limits = limits
        self._stop = stop
        self._launch = start_copy if copies and CAN_FORK else start_anew
        self._child: _Child | None = None
        self._ready = False

    def start(self) -> None:
        """Start a process without waiting for it; `run` does so if nobody did."""
        self._child = _Child(self._launch, self._study, self._limits)
        self._ready = False

    def run(self, unit: Unit) -> Iterator[Result]:
        """Do a unit; every cell gets a result, in an order that may differ."""
        groups = deque([list(range(len(unit.cells)))])
        crashes: Counter[int] = Counter()
        kills: Counter[int] = Counter()
        while groups:
            group = groups.popleft()
            n_done = 0
            try:
                for result in self._converse(unit.only(group)):
                    n_done += 1
                    yield result._replace(number=group[result.number])
            except _Died as death:
                self.close()
                if n_done == len(group):
                    continue
                suspect, rest = group[n_done], group[n_done + 1 :]
                if rest:
                    groups.appendleft(rest)
                (kills if death.killed else crashes)[suspect] += 1
                if (
                    death.status == "timeout"
                    or crashes[suspect] == _CRASHES
                    or kills[suspect] == _KILLS
                ):
                    took = (self._limits.seconds or 0.0) * (death.status == "timeout")
                    yield Result(suspect, death.status, None, death.detail, took)
                else:
                    groups.appendleft([suspect])

    def _converse(self, unit: Unit) -> Iterator[Result]:
        child = self._ready_child()
        child.send(unit.to_json().encode())
        for _ in range(len(unit.cells) + 1):
            frame = child.receive(self._limits.seconds, self._stop)
            if frame is None:
                raise self._autopsy(child)
            if frame == b"":
                raise _Died(
                    "timeout",
                    f"killed after {self._limits.seconds:g} s without a result",
                    killed=False,
                )
            if frame == b"done":
                child.forget()
                return
            yield Result(*json.loads(frame))

    def _ready_child(self) -> _Child:
        for _ in range(_STARTS):
            if self._child is None:
                self.start()
            child: Any = self._child
            if self._ready:
                return child
            answer = child.receive(_START_LIMIT, self._stop)
            if answer == b"ready":
                self._ready = True
                return child
            death = self._autopsy(child)
            self.close()
            if not death.killed or answer == b"":
                raise WorkerError(
                    f"A worker process could not be started ({death.detail})."
                )
        raise WorkerError(f"Worker processes are killed when they start ({death}).")

    @staticmethod
    def _autopsy(child: _Child) -> _Died:
        code, words = child.bury()
        if code < 0:
            name = signal.strsignal(-code) or "unknown"
            how = f"killed by signal {-code} ({name})"
        else:
            how = f"the process ended with status {code}"
        killed = -code in (signal.SIGTERM, getattr(signal, "SIGKILL", -1))
        return _Died("crashed", f"{how}; {words}" if words else how, killed)

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.bury()
            self._child = None


class _Child:
    """A worker process and the thread that listens to it."""

    def __init__(
        self,
        start: Callable[[IO[bytes]], Process],
        study: bytes,
        limits: Limits,
    ) -> None:
        self._complaints: IO[bytes] = tempfile.TemporaryFile("a+b")  # noqa: SIM115
        self._process = start(self._complaints)
        self._frames: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        settings = {"study": study, "memory": limits.memory, "limit": limits.seconds}
        self.send(pickle.dumps(settings))

    def _listen(self) -> None:
        stream: Any = self._process.stdout
        while (frame := read_frame(stream)) is not None:
            self._frames.put(frame)
        self._frames.put(None)

    def send(self, content: bytes) -> None:
        """Hand over a frame."""
        with suppress(OSError):  # it is dead, which `receive` will tell
            write_frame(self._process.stdin, content)  # type: ignore[arg-type]

    def receive(self, seconds: float | None, stop: threading.Event) -> bytes | None:
        """Wait for a frame; None if the process is gone, b"" if it takes too long."""
        deadline = float("inf") if seconds is None else time.monotonic() + seconds
        while not stop.is_set():
            left = deadline - time.monotonic()
            try:
                return self._frames.get(timeout=min(_TICK, max(left, 0.001)))
            except queue.Empty:
                pass
            if left <= 0:
                return b""
            # A process of its own that it left behind may keep its output open.
            if self._process.poll() is not None and self._frames.empty():
                return None
        raise Stopped

    def forget(self) -> None:
        """Throw away what it has said so far, so that it cannot fill the disk."""
        if os.fstat(self._complaints.fileno()).st_size > _TAIL:
            os.ftruncate(self._complaints.fileno(), 0)

    def bury(self) -> tuple[int, str]:
        """Make sure that it is dead: its exit status, and its last words."""
        if not self._listener.is_alive():
            # It closed its output and is about to end by itself.
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5)
        self._process.kill()
        code = self._process.wait()
        self._listener.join(timeout=1)
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what could not be sent
                stream.close()  # type: ignore[union-attr]
        if self._complaints.closed:
            return code, ""
        size = self._complaints.seek(0, os.SEEK_END)
        self._complaints.seek(max(0, size - _TAIL))
        words = self._complaints.read().decode(errors="replace")
        self._complaints.close()
        # faulthandler's account begins with what happened and where.
        _, fatal, account = words.partition("Fatal Python error: ")
        told = account.partition("Extension modules")[0] if fatal else words
        told = " ".join(told.split())
        return code, told[:_WORDS] if fatal else told[-_WORDS:]


def pack(study: Study) -> bytes:
    """Pickle a study for its workers; it travels through pipes and is never stored.

    Raises
    ------
    InputError
        If it cannot be found again by another process.
    """
    cure = "define it in a module of its own, with values that can be pickled."
    if type(study).__module__ == "__main__":
        raise InputError(
            f"The study {study.name!r} is defined in the script that is run, where "
            f"worker processes cannot find it; {cure}"
        )
    try:
        return pickle.dumps(study)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise InputError(
            f"The study {study.name!r} cannot be sent to workers ({error}); {cure}"
        ) from error

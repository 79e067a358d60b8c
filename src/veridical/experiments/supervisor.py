"""A supervisor runs one worker process: starts, feeds, times and restarts it.

A cell that crashes its worker is retried once, alone in a new process; the other cells
of its unit go on without it. So such a cell costs a process or two, and never another
cell.

A worker process is a copy of this one (a fork), which has everything imported already
and is there at once, where this process is ours alone. Elsewhere, as in a worker of
Dask, or on a system that does not fork safely, a new interpreter is started and imports
the study anew.
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
import traceback
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import IO, Any, Protocol

import numpy as np

from veridical._core.codes import count_seen
from veridical._core.errors import InputError
from veridical.experiments.outcomes import Result, Status
from veridical.experiments.study import Study, Unit
from veridical.experiments.worker import ONE_THREAD, read_frame, serve, write_frame

CAN_FORK = sys.platform.startswith("linux")

#: Name of a forked worker in the system's list of processes.
WORKER = "veridical-work"

# Seconds between two looks at a queue, and at a process that is about to end.
_TICK = 0.2
_WAIT_STEP = 0.01
# Seconds a worker may take to start; beyond them the run ends with `WorkerError`.
_START_LIMIT = 300.0
# Bytes of stderr that are kept: faulthandler lists every extension module at the end.
_TAIL = 64_000
# Characters of stderr that go into the detail of a crashed cell.
_DETAIL = 400

# A crash that the cell causes repeats itself: one retry shows it. A kill from outside
# (an operator, the system short of memory) says little about the cell.
_CRASHES = 2
_KILLS = 6
_STARTS = 50  # kills before the first unit that are allowed


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


class _Crash(Exception):
    def __init__(self, status: Status, detail: str, killed: bool) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.killed = killed


class Supervisor:
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
        self._launch = start_copy if copies and CAN_FORK else start_interpreter
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
                for result in self._run_cells(unit.only(group)):
                    n_done += 1
                    yield result._replace(number=group[result.number])
            except _Crash as crash:
                self.close()
                if n_done == len(group):
                    continue
                suspect, rest = group[n_done], group[n_done + 1 :]
                if rest:
                    groups.appendleft(rest)
                (kills if crash.killed else crashes)[suspect] += 1
                if (
                    crash.status == "timeout"
                    or crashes[suspect] == _CRASHES
                    or kills[suspect] == _KILLS
                ):
                    took = (self._limits.seconds or 0.0) * (crash.status == "timeout")
                    yield Result(suspect, crash.status, None, crash.detail, took)
                else:
                    groups.appendleft([suspect])

    def _run_cells(self, unit: Unit) -> Iterator[Result]:
        child = self._ready_child()
        child.send(unit.to_json().encode())
        for _ in range(len(unit.cells) + 1):
            frame = child.receive(self._limits.seconds, self._stop)
            if frame is None:
                raise self._diagnose(child)
            if frame == b"":
                raise _Crash(
                    "timeout",
                    f"killed after {self._limits.seconds:g} s without a result",
                    killed=False,
                )
            if frame == b"done":
                child.drop_stderr()
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
            crash = self._diagnose(child)
            self.close()
            if not crash.killed or answer == b"":
                raise WorkerError(
                    f"A worker process could not be started ({crash.detail})."
                )
        raise WorkerError(f"Worker processes are killed when they start ({crash}).")

    @staticmethod
    def _diagnose(child: _Child) -> _Crash:
        code, words = child.end()
        if code < 0:
            name = signal.strsignal(-code) or "unknown"
            how = f"killed by signal {-code} ({name})"
        else:
            how = f"the process ended with status {code}"
        killed = -code in (signal.SIGTERM, getattr(signal, "SIGKILL", -1))
        return _Crash("crashed", f"{how}; {words}" if words else how, killed)

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.end()
            self._child = None


class _Child:
    """A worker process and the thread that listens to it."""

    def __init__(
        self,
        start: Callable[[IO[bytes]], Process],
        study: bytes,
        limits: Limits,
    ) -> None:
        self._stderr: IO[bytes] = tempfile.TemporaryFile("a+b")  # noqa: SIM115
        self._process = start(self._stderr)
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
        with suppress(OSError):  # it has ended, which `receive` will tell
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

    def drop_stderr(self) -> None:
        """Drop a long stderr, so that it cannot fill the disk."""
        if os.fstat(self._stderr.fileno()).st_size > _TAIL:
            os.ftruncate(self._stderr.fileno(), 0)

    def end(self) -> tuple[int, str]:
        """Kill the process; return its exit status and the end of its stderr."""
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
        if self._stderr.closed:
            return code, ""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _TAIL))
        words = self._stderr.read().decode(errors="replace")
        self._stderr.close()
        # faulthandler's account begins with what happened and where.
        _, fatal, account = words.partition("Fatal Python error: ")
        told = account.partition("Extension modules")[0] if fatal else words
        told = " ".join(told.split())
        return code, told[:_DETAIL] if fatal else told[-_DETAIL:]


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


# -- starting a process --------------------------------------------------------------


class Process(Protocol):
    """A process at the other end of two pipes; `subprocess.Popen` is one."""

    stdin: IO[bytes] | None
    stdout: IO[bytes] | None

    def poll(self) -> int | None:
        """Return its exit status (minus the signal that ended it), or None."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its exit status; `subprocess.TimeoutExpired` if it takes longer."""
        ...

    def kill(self) -> None:
        """End it."""
        ...


def start_interpreter(stderr: IO[bytes]) -> Process:
    """Start a new interpreter; `stderr` gets its messages."""
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "veridical.experiments.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
    )


@cache
def _warm_up() -> None:
    """Load what every copy would otherwise load for itself.

    With its first kernel, whichever it is, numba imports a hundred modules of its own;
    that takes several times as long as a kernel does.
    """
    count_seen(np.zeros((1, 1), dtype=bool))


def start_copy(stderr: IO[bytes]) -> Process:
    """Fork this process; `stderr` gets the copy's messages."""
    _warm_up()
    tasks, to_child = os.pipe()
    from_child, results = os.pipe()
    with warnings.catch_warnings():
        # Other threads stay behind, and what they hold: the copy touches none of it.
        warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        _run_copy(tasks, results, stderr.fileno())
    os.close(tasks)
    os.close(results)
    return _Copy(pid, os.fdopen(to_child, "wb"), os.fdopen(from_child, "rb"))


def _run_copy(tasks: int, results: int, stderr: int) -> None:
    """Work as `veridical.experiments.worker` does, and never return."""
    code = 1
    try:
        os.dup2(tasks, 0)
        os.dup2(results, 1)
        os.dup2(stderr, 2)
        # The store, its lock and the pipes of other workers are not ours.
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        sys.stdin = open(os.devnull)  # noqa: SIM115
        sys.stdout = sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
        os.environ.update(ONE_THREAD)
        with suppress(OSError), open("/proc/self/comm", "w") as name:
            name.write(WORKER)  # for `top` and whoever wants to kill it
        serve()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        with suppress(Exception):
            traceback.print_exc()
    finally:
        os._exit(code)


class _Copy:
    """A fork of this process, handled like a `subprocess.Popen`."""

    def __init__(self, pid: int, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self._pid = pid
        self._code: int | None = None
        self.stdin: IO[bytes] | None = stdin
        self.stdout: IO[bytes] | None = stdout

    def poll(self) -> int | None:
        if self._code is None:
            try:
                pid, status = os.waitpid(self._pid, os.WNOHANG)
            except ChildProcessError:  # somebody else asked, and got the answer
                self._code = 1
            else:
                if pid:
                    self._code = os.waitstatus_to_exitcode(status)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("worker", timeout or 0.0)
            time.sleep(_WAIT_STEP)
        return code

    def kill(self) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, 9)

"""A supervisor starts a worker process, sends it units, and restarts it after a crash.

A cell that crashes its worker is retried once, alone in a new process; the other cells
of its unit continue without it.

Where this process belongs to us alone, a worker process is a fork of it, which starts
at once because everything is imported. Elsewhere, as in a Dask worker, or on a system
that does not fork safely, a new interpreter is started and imports the study.
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

from veridical._core.errors import InputError
from veridical._core.small_integers import count_seen
from veridical.experiments.attempts import Result, Status
from veridical.experiments.study import Study, Unit
from veridical.experiments.worker import ONE_THREAD, read_frame, serve, write_frame

CAN_FORK = sys.platform.startswith("linux")

#: Name of a forked worker in the system's list of processes.
WORKER = "veridical-work"

# Seconds between two checks of a queue, and of a process that is about to end.
_TICK = 0.2
_WAIT_STEP = 0.01
# Seconds a worker may take to start; beyond them the run ends with `WorkerError`.
_START_LIMIT = 300.0
# Bytes of stderr that are kept: faulthandler lists every extension module at the end.
_TAIL = 64_000
# Characters of stderr that go into the detail of a crashed cell.
_DETAIL = 400

# Crashes of a cell after which it has failed. A crash that the cell causes repeats, so
# one retry is enough. A kill from outside (by a user, or for lack of memory) says
# little about the cell, so more are allowed.
_CRASHES = 2
_KILLS = 6
# Kills of a process before its first unit; beyond them the run ends with `WorkerError`.
_STARTS = 50


class WorkerError(Exception):
    """Raised when no worker process can be started; the run ends."""


class Stopped(Exception):
    """Raised when the work has to stop; finished results were yielded."""


@dataclass(frozen=True)
class Limits:
    """Time and memory limits of a worker process.

    Parameters
    ----------
    seconds : float or None
        For one cell, counted from the previous one.
    memory : int or None
        Bytes, in addition to what importing the study takes.
    """

    seconds: float | None = 600.0
    memory: int | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None and self.seconds <= 0:
            raise InputError(
                f"A time limit of {self.seconds:g} s is not positive; give more than 0."
            )
        if self.memory is not None and not sys.platform.startswith("linux"):
            raise InputError(
                "Memory can be limited on Linux only; leave the limit out here."
            )


class _Crash(Exception):
    """Raised when a worker process ended or was killed before a unit was done."""

    def __init__(self, status: Status, detail: str, killed: bool) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.killed = killed


class Supervisor:
    """Runs units in its own worker process, one at a time.

    Parameters
    ----------
    study : bytes
        The pickled study, see `pack`.
    limits : Limits
        Limits of the process.
    stop : threading.Event
        Once it is set, the process is killed and `run` raises `Stopped`.
    may_fork : bool, default=False
        The process may be a fork of this one, which starts at once.
    """

    def __init__(
        self,
        study: bytes,
        limits: Limits,
        stop: threading.Event,
        *,
        may_fork: bool = False,
    ) -> None:
        self._study = study
        self._limits = limits
        self._stop = stop
        self._launch = start_fork if may_fork and CAN_FORK else start_interpreter
        self._worker: _WorkerProcess | None = None
        self._ready = False

    def start(self) -> None:
        """Start a process without waiting for it; `run` starts one if there is none."""
        self._worker = _WorkerProcess(self._launch, self._study, self._limits)
        self._ready = False

    def run(self, unit: Unit) -> Iterator[Result]:
        """Run a unit; yield a result for every cell, not always in their order."""
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
        process = self._get_ready_process()
        process.send(unit.to_json().encode())
        for _ in range(len(unit.cells) + 1):
            frame = process.receive(self._limits.seconds, self._stop)
            if frame is None:
                raise self._describe_crash(process)
            if frame == b"":
                raise _Crash(
                    "timeout",
                    f"killed after {self._limits.seconds:g} s without a result",
                    killed=False,
                )
            if frame == b"done":
                process.drop_stderr()
                return
            yield Result(*json.loads(frame))

    def _get_ready_process(self) -> _WorkerProcess:
        for _ in range(_STARTS):
            if self._worker is None:
                self.start()
            process: Any = self._worker
            if self._ready:
                return process
            answer = process.receive(_START_LIMIT, self._stop)
            if answer == b"ready":
                self._ready = True
                return process
            crash = self._describe_crash(process)
            self.close()
            if not crash.killed or answer == b"":
                raise WorkerError(
                    f"A worker process could not be started ({crash.detail})."
                )
        raise WorkerError(f"Worker processes are killed when they start ({crash}).")

    @staticmethod
    def _describe_crash(process: _WorkerProcess) -> _Crash:
        code, words = process.end()
        if code < 0:
            name = signal.strsignal(-code) or "unknown"
            how = f"killed by signal {-code} ({name})"
        else:
            how = f"the process ended with status {code}"
        killed = -code in (signal.SIGTERM, getattr(signal, "SIGKILL", -1))
        return _Crash("crashed", f"{how}; {words}" if words else how, killed)

    def close(self) -> None:
        """End the process."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None


class _WorkerProcess:
    """A worker process, and the thread that reads its results."""

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
        """Send a frame."""
        with suppress(OSError):  # the process has ended, which `receive` reports
            write_frame(self._process.stdin, content)  # type: ignore[arg-type]

    def receive(self, seconds: float | None, stop: threading.Event) -> bytes | None:
        """Wait for a frame; None if the process has ended, b"" after a timeout."""
        deadline = float("inf") if seconds is None else time.monotonic() + seconds
        while not stop.is_set():
            left = deadline - time.monotonic()
            try:
                return self._frames.get(timeout=min(_TICK, max(left, 0.001)))
            except queue.Empty:
                pass
            if left <= 0:
                return b""
            # A process process of the worker may keep its output open.
            if self._process.poll() is not None and self._frames.empty():
                return None
        raise Stopped

    def drop_stderr(self) -> None:
        """Truncate a long stderr, so that it cannot fill the disk."""
        if os.fstat(self._stderr.fileno()).st_size > _TAIL:
            os.ftruncate(self._stderr.fileno(), 0)

    def end(self) -> tuple[int, str]:
        """Kill the process; return its exit status and the end of its stderr."""
        if not self._listener.is_alive():
            # The process closed its output and is about to end.
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5)
        self._process.kill()
        code = self._process.wait()
        self._listener.join(timeout=1)
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # there may be data that could not be sent
                stream.close()  # type: ignore[union-attr]
        if self._stderr.closed:
            return code, ""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _TAIL))
        words = self._stderr.read().decode(errors="replace")
        self._stderr.close()
        # faulthandler writes the error and where it happened first.
        _, fatal, error = words.partition("Fatal Python error: ")
        text = error.partition("Extension modules")[0] if fatal else words
        text = " ".join(text.split())
        return code, text[:_DETAIL] if fatal else text[-_DETAIL:]


def pack(study: Study) -> bytes:
    """Pickle a study for its workers; the pickle is sent through pipes, never stored.

    Raises
    ------
    InputError
        If another process could not import it.
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
    """A process connected by two pipes, such as `subprocess.Popen`."""

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
    """Import what every fork would otherwise import for itself.

    numba imports a hundred modules with its first kernel, which takes several times as
    long as loading a kernel.
    """
    count_seen(np.zeros((1, 1), dtype=bool))


def start_fork(stderr: IO[bytes]) -> Process:
    """Fork this process; `stderr` gets the messages of the fork."""
    _warm_up()
    tasks, to_child = os.pipe()
    from_child, results = os.pipe()
    with warnings.catch_warnings():
        # The fork uses nothing that other threads hold.
        warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        _run_fork(tasks, results, stderr.fileno())
    os.close(tasks)
    os.close(results)
    return _ForkedProcess(pid, os.fdopen(to_child, "wb"), os.fdopen(from_child, "rb"))


def _run_fork(tasks: int, results: int, stderr: int) -> None:
    """Serve as `veridical.experiments.worker` does, and exit."""
    code = 1
    try:
        os.dup2(tasks, 0)
        os.dup2(results, 1)
        os.dup2(stderr, 2)
        # Close the store, its lock and the pipes of other workers.
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        sys.stdin = open(os.devnull)  # noqa: SIM115
        sys.stdout = sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
        os.environ.update(ONE_THREAD)
        with suppress(OSError), open("/proc/self/comm", "w") as name:
            name.write(WORKER)  # the name that `top` shows
        serve()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        with suppress(Exception):
            traceback.print_exc()
    finally:
        os._exit(code)


class _ForkedProcess:
    """A fork of this process with the interface of `subprocess.Popen`."""

    def __init__(self, pid: int, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self._pid = pid
        self._code: int | None = None
        self.stdin: IO[bytes] | None = stdin
        self.stdout: IO[bytes] | None = stdout

    def poll(self) -> int | None:
        if self._code is None:
            try:
                pid, status = os.waitpid(self._pid, os.WNOHANG)
            except ChildProcessError:  # its status was collected elsewhere
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

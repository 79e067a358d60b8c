"""How a worker process comes to life: as a copy of this one, or from nothing.

A copy (a fork) has everything imported already and is there at once. It is made where
this process is ours alone; elsewhere, as in a worker of Dask, or on a system that does
not fork safely, a new interpreter is started and imports the study anew.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import traceback
import warnings
from contextlib import suppress
from functools import cache
from typing import IO, Protocol

import numpy as np

from veridical._core.codes import count_seen
from veridical.experiments.worker import ONE_THREAD, serve

CAN_FORK = sys.platform.startswith("linux")

#: What the system calls a copy that works.
WORKER = "veridical-work"

_TICK = 0.01


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


def start_anew(complaints: IO[bytes]) -> Process:
    """Start an interpreter that knows nothing; `complaints` gets its last words."""
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "veridical.experiments.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,
        env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
    )


@cache
def _load_for_all() -> None:
    """Load what every copy would otherwise load for itself.

    With its first kernel, whichever it is, numba imports a hundred modules of its own;
    that takes several times as long as a kernel does.
    """
    count_seen(np.zeros((1, 1), dtype=bool))


def start_copy(complaints: IO[bytes]) -> Process:
    """Fork this process; `complaints` gets the copy's last words."""
    _load_for_all()
    tasks, to_child = os.pipe()
    from_child, results = os.pipe()
    with warnings.catch_warnings():
        # Other threads stay behind, and what they hold: the copy touches none of it.
        warnings.filterwarnings("ignore", ".*fork", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        _be_the_copy(tasks, results, complaints.fileno())
    os.close(tasks)
    os.close(results)
    return _Copy(pid, os.fdopen(to_child, "wb"), os.fdopen(from_child, "rb"))


def _be_the_copy(tasks: int, results: int, complaints: int) -> None:
    """Work as `veridical.experiments.worker` does, and never return."""
    code = 1
    try:
        os.dup2(tasks, 0)
        os.dup2(results, 1)
        os.dup2(complaints, 2)
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
            time.sleep(_TICK)
        return code

    def kill(self) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, 9)

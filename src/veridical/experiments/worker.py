"""The worker process: it runs units and may be killed at any time.

It reads frames (a length, then bytes) from its standard input: first the settings, then
one unit after the other. It writes a frame for every finished cell at once, so that the
supervisor knows the current cell after a crash. It ends when its input ends, or when
its parent process has ended.
"""

from __future__ import annotations

import faulthandler
import json
import os
import pickle
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from numba import config
from threadpoolctl import threadpool_limits

from veridical._core import interrupts
from veridical.experiments.attempts import run_unit
from veridical.experiments.study import Unit

#: One thread for every library, so that sums do not depend on the number of cores.
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)

_LENGTH = struct.Struct(">I")
# Seconds between two checks of the parent process, and between two resets of the timer.
_HEARTBEAT = 1.0
# Seconds after the time limit of a cell at which the worker ends itself, in case the
# supervisor no longer exists.
_GRACE = 30.0


def write_frame(stream: BinaryIO, content: bytes) -> None:
    """Write a frame and flush it."""
    stream.write(_LENGTH.pack(len(content)) + content)
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes | None:
    """Read a frame; None where the stream ends, also within a frame."""
    start = stream.read(_LENGTH.size)
    if len(start) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(start)
    content = stream.read(length)
    return content if len(content) == length else None


def serve() -> None:
    """Run units from descriptor 0 and write results to 1, until the input ends."""
    interrupts.ignore_interrupts()
    faulthandler.enable(file=2, all_threads=False)
    tasks = os.fdopen(0, "rb", closefd=False)
    # What a study prints goes to stderr: standard output carries the results.
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    threading.Thread(target=end_with_parent, args=(os.getppid(),), daemon=True).start()
    first = read_frame(tasks)
    if first is None:
        return
    settings: dict[str, Any] = pickle.loads(first)
    study = pickle.loads(settings["study"])
    if settings["memory"] is not None:
        _limit_memory(settings["memory"])
    write_frame(results, b"ready")
    with threadpool_limits(limits=1), _one_kernel_thread():
        while (task := read_frame(tasks)) is not None:
            _run_and_write(study, Unit.from_json(task), settings["limit"], results)
            write_frame(results, b"done")
    # Exit even if the study left a thread running.
    results.close()
    os._exit(0)


@contextmanager
def _one_kernel_thread() -> Iterator[None]:
    """Limit numba to one thread, as the environment does in a new interpreter."""
    before = config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    config.NUMBA_NUM_THREADS = 1  # type: ignore[attr-defined]
    yield
    config.NUMBA_NUM_THREADS = before  # type: ignore[attr-defined]


def _run_and_write(
    study: Any, unit: Unit, limit: float | None, results: BinaryIO
) -> None:
    def start_timer() -> float:
        if limit is not None:
            # This works even while compiled code does not return.
            faulthandler.dump_traceback_later(limit + _GRACE, exit=True)
        return time.monotonic()

    started = start_timer()
    for result in run_unit(study, unit):
        write_frame(results, json.dumps(result).encode())
        if time.monotonic() - started > _HEARTBEAT:
            started = start_timer()
    if limit is not None:
        faulthandler.cancel_dump_traceback_later()


def end_with_parent(parent: int) -> None:
    """End this process as soon as its parent, of this id, has ended."""
    while os.getppid() == parent:
        time.sleep(_HEARTBEAT)
    os._exit(1)


def _limit_memory(more: int) -> None:
    """Limit memory to this many bytes more than the imports took."""
    import resource

    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    bound = pages * os.sysconf("SC_PAGE_SIZE") + more
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))


if __name__ == "__main__":
    serve()

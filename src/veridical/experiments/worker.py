"""The far side of a pipe: a process that does units and may be killed at any time.

It reads frames (a length, then bytes) from its standard input: first how to work, then
one unit after the other. For every cell it writes a frame at once, so that whoever
watches knows which cell it is at when it dies. It ends when its input does, or when
the process that started it is gone.
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
from veridical.experiments.outcomes import perform
from veridical.experiments.study import Unit

#: So that sums do not depend on the number of cores, see ``threadpoolctl``.
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
_HEARTBEAT = 1.0

# Whoever started us kills a cell that takes too long. Should they be gone, this is
# how much later it ends itself.
_GRACE = 30.0


def write_frame(stream: BinaryIO, content: bytes) -> None:
    """Write a frame and make sure that it leaves."""
    stream.write(_LENGTH.pack(len(content)) + content)
    stream.flush()


def read_frame(stream: BinaryIO) -> bytes | None:
    """Read a frame; None where the stream ends, even in the middle of one."""
    start = stream.read(_LENGTH.size)
    if len(start) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(start)
    content = stream.read(length)
    return content if len(content) == length else None


def serve() -> None:
    """Work until there is nothing to read: units from descriptor 0, results to 1."""
    interrupts.ignore_interrupts()
    faulthandler.enable(file=2, all_threads=False)
    tasks = os.fdopen(0, "rb", closefd=False)
    # What a study prints goes to stderr: standard output carries the results.
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
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
            _do(study, Unit.from_json(task), settings["limit"], results)
            write_frame(results, b"done")
    # Nothing a study left behind, such as a thread, may keep us here.
    results.close()
    os._exit(0)


@contextmanager
def _one_kernel_thread() -> Iterator[None]:
    """Tell kernels what the environment tells them in a process started anew."""
    before = config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    config.NUMBA_NUM_THREADS = 1  # type: ignore[attr-defined]
    yield
    config.NUMBA_NUM_THREADS = before  # type: ignore[attr-defined]


def _do(study: Any, unit: Unit, limit: float | None, results: BinaryIO) -> None:
    def arm() -> float:
        if limit is not None:
            # Works where Python code no longer gets its turn.
            faulthandler.dump_traceback_later(limit + _GRACE, exit=True)
        return time.monotonic()

    armed = arm()
    for result in perform(study, unit):
        write_frame(results, json.dumps(result).encode())
        if time.monotonic() - armed > _HEARTBEAT:
            armed = arm()
    if limit is not None:
        faulthandler.cancel_dump_traceback_later()


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_HEARTBEAT)
    os._exit(1)


def _limit_memory(more: int) -> None:
    """Allow so many bytes beyond what the imports took."""
    import resource

    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    bound = pages * os.sysconf("SC_PAGE_SIZE") + more
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))


if __name__ == "__main__":
    serve()

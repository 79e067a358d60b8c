"""Ctrl-C, at any moment: a short word, status 130, and never a crash.

Python raises a KeyboardInterrupt wherever the main thread happens to be. Where a
library in C has called back into Python no exception can pass: ctypes prints it and
goes on. LLVM then misses the code that numba had to hand to it, and what comes of that
is anything from an odd error to a segmentation fault. So the exception is raised only
where it can be caught; elsewhere the process is left at once. Nothing is lost by that:
files are written under another name first, and a store is a database.

All handlers of SIGINT are here: `handled` for the command line from its first import
on, `as_event` for work that saves what is finished, `left_to_parent` for workers.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

STATUS = 130

#: What is said when a verb is stopped, unless it knows better.
WORDS = "Stopped. Nothing was written."

# Packages whose Python code may run on behalf of C code that ignores exceptions or
# replaces them by its own: compilers, callbacks, and what starts extension modules.
_CALLED_BACK = {
    "numba",
    "llvmlite",
    "ctypes",
    "threadpoolctl",
    "weakref",
    "_weakrefset",
}
_IMPORTS = {"importlib", "_frozen_importlib", "_frozen_importlib_external"}
_FRAGILE = _CALLED_BACK | _IMPORTS

# How long a verb may take to end once it is told to, in seconds.
_PATIENCE = 5.0


class _Stop:
    """The handler of SIGINT while the command line runs."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.words = WORDS
        self.working = False
        self.told = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self.pid:
            os._exit(STATUS)  # a fork that has not yet become what it will be
        if self.told or not self.working or _is_fragile(frame):
            self.leave(flush=True)
        self.told = True
        # Not threading.Thread, whose locks the main thread may hold just now.
        _thread.start_new_thread(self._insist, ())
        raise KeyboardInterrupt

    def _insist(self) -> None:
        """End what goes on although it was told to end."""
        time.sleep(_PATIENCE)
        self.leave(flush=False)  # the main thread may hold the streams

    def leave(self, *, flush: bool) -> NoReturn:
        """Say the last words and end the process, whatever it does."""
        # Below Python's streams, which may be in use.
        with contextlib.suppress(OSError):
            before = os.linesep if os.isatty(2) else ""  # there may be a bar
            os.write(2, f"{before}{self.words}{os.linesep}".encode())
        end(flush=flush)


_stop: _Stop | None = None


@contextlib.contextmanager
def handled() -> Iterator[None]:
    """Handle Ctrl-C as the command line does, where Python would by its default.

    Elsewhere than in the main thread, and where somebody ignores or handles the signal
    already, it is left to them. An exit with status 130 ends the process by `end`.
    """
    global _stop
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    _stop = _Stop()
    signal.signal(signal.SIGINT, _stop)
    try:
        yield
    except SystemExit as ended:
        if ended.code == STATUS:
            end()
        raise
    finally:
        # All is said; what is left is the interpreter's own end.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _stop = None


@contextlib.contextmanager
def working() -> Iterator[None]:
    """Let Ctrl-C raise a KeyboardInterrupt in the block, where one can be caught."""
    if _stop is None:
        yield
        return
    _stop.working = True
    try:
        yield
    finally:
        _stop.working = False


@contextlib.contextmanager
def saying(words: str) -> Iterator[None]:
    """Have other last words in the block, for a process that is left at once."""
    if _stop is None:
        yield
        return
    before, _stop.words = _stop.words, words
    try:
        yield
    finally:
        _stop.words = before


@contextlib.contextmanager
def as_event() -> Iterator[threading.Event]:
    """Turn the first SIGINT or SIGTERM into an event; a second one has its old force.

    Elsewhere than in the main thread signals are left to whoever has it.
    """
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}

    def restore() -> None:
        for number in numbers:
            signal.signal(number, before[number])

    def handle(number: int, frame: FrameType | None) -> None:
        event.set()
        restore()

    for number in numbers:
        signal.signal(number, handle)
    try:
        yield event
    finally:
        restore()


def left_to_parent() -> None:
    """Ignore SIGINT in a worker: Ctrl-C reaches the whole group, the parent acts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def was_told() -> bool:
    """Tell whether a KeyboardInterrupt was raised, wherever it went."""
    return _stop is not None and _stop.told


def end(*, flush: bool = True) -> NoReturn:
    """End the process as stopped by Ctrl-C, without the interpreter's own shutdown.

    That would wait for kernels which run on other threads, and take LLVM apart in
    whatever state it was left.
    """
    for stream in (sys.stdout, sys.stderr) if flush else ():
        # Refused where the signal came in the middle of a write.
        with contextlib.suppress(Exception):
            stream.flush()
    children = sys.modules.get("multiprocessing")
    if children is not None:
        with contextlib.suppress(Exception):
            for child in children.active_children():
                child.terminate()
    os._exit(STATUS)


def _is_fragile(frame: FrameType | None) -> bool:
    """Tell whether an exception raised in this frame might not come through."""
    while frame is not None:
        room = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if room in _FRAGILE or frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False

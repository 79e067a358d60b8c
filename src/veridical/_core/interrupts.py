"""Handle Ctrl-C at any moment: a short message, exit status 130, and never a crash.

Python raises a KeyboardInterrupt wherever the main thread happens to be. Where a
library in C has called back into Python no exception can pass: ctypes prints it and
goes on. LLVM then lacks the code that numba was passing to it, which can end in
anything from an odd error to a segmentation fault. So the exception is raised only
where it can be caught; elsewhere the process is left at once. Nothing is lost by that:
files are written under another name first, and a store is a database.

There is one handler of SIGINT, `_InterruptHandler`. `handled` installs it for the
command line from its first import on; `interrupt_event` lets its first signal set an
event instead, for work that saves what is finished. Workers ignore the signal
(`ignore_interrupts`).
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
from typing import Any, NoReturn

#: Exit status of a process that Ctrl-C stopped: 128 and the number of SIGINT.
STATUS = 130

#: Message of a command that was stopped, unless it has its own.
STOP_MESSAGE = "Stopped. Nothing was written."

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
_NO_EXCEPTIONS = _CALLED_BACK | _IMPORTS

# Seconds a command may take to end after Ctrl-C; then the process is ended.
_SECONDS_TO_END = 5.0


class _InterruptHandler:
    """The handler of signals that ask the process to stop.

    Where work waits for events, the first signal sets all of them, and the handlers
    that were there before act on the next one. Otherwise, on the command line, a
    KeyboardInterrupt is raised where it can be caught, or the process is left.
    """

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.message = STOP_MESSAGE
        self.working = False
        self.interrupted = False
        self.events: list[threading.Event] = []
        self.first_message = ""
        self.before: dict[signal.Signals, Any] = {}

    def install(self, *numbers: signal.Signals) -> None:
        """Handle some signals."""
        self.pid = os.getpid()
        self.before = {number: signal.getsignal(number) for number in numbers}
        for number in numbers:
            signal.signal(number, self)

    def restore(self) -> None:
        """Let the handlers act that were there before the last `install`."""
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def add(self, event: threading.Event, message: str) -> None:
        """Set an event at the first signal; at once if there was one already."""
        if not self.events:
            self.install(signal.SIGINT, signal.SIGTERM)
            self.first_message = message
        elif self.events[0].is_set():
            event.set()
        self.events.append(event)

    def remove(self, event: threading.Event) -> None:
        """Forget an event."""
        self.events.remove(event)
        if not self.events:
            self.restore()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self.pid:
            os._exit(STATUS)  # a fork that has not executed its program yet
        if self.events and not self.events[0].is_set():
            for event in self.events:
                event.set()
            self.restore()
            if self.first_message:
                _write(self.first_message)
            return
        if self.interrupted or not self.working or _may_lose_exception(frame):
            self.exit_now(flush=True)
        self.interrupted = True
        # Not threading.Thread, whose locks the main thread may hold just now.
        _thread.start_new_thread(self._end_later, ())
        raise KeyboardInterrupt

    def _end_later(self) -> None:
        """End the process if it still runs some seconds after the interrupt."""
        time.sleep(_SECONDS_TO_END)
        self.exit_now(flush=False)  # the main thread may hold the streams

    def exit_now(self, *, flush: bool) -> NoReturn:
        """Write the message and end the process at once."""
        _write(self.message)
        end(flush=flush)


def _write(message: str) -> None:
    """Write to standard error, below Python's streams, which may be in use."""
    with contextlib.suppress(OSError):
        before = os.linesep if os.isatty(2) else ""  # there may be a bar
        os.write(2, f"{before}{message}{os.linesep}".encode())


_handler = _InterruptHandler()


@contextlib.contextmanager
def handled() -> Iterator[None]:
    """Handle Ctrl-C as the command line does, where Python would by its default.

    Outside the main thread, and where the signal is ignored or handled already, nothing
    changes. An exit with status 130 ends the process by `end`.
    """
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    _handler.install(signal.SIGINT)
    try:
        yield
    except SystemExit as ended:
        if ended.code == STATUS:
            end()
        raise
    finally:
        # Only the interpreter's shutdown follows.
        signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextlib.contextmanager
def working() -> Iterator[None]:
    """Let Ctrl-C raise a KeyboardInterrupt in the block, where one can be caught."""
    _handler.working, _handler.message = True, STOP_MESSAGE
    try:
        yield
    finally:
        _handler.working = False


@contextlib.contextmanager
def stop_message(message: str) -> Iterator[None]:
    """Set the message of a process that is interrupted in the block.

    If it is interrupted, the message stays, for the command line prints it later.
    """
    before, _handler.message = _handler.message, message
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException:
        if not _handler.interrupted:
            _handler.message = before
        raise
    _handler.message = before


def message_of_stop() -> str:
    """Return the message of a process that was interrupted."""
    return _handler.message


@contextlib.contextmanager
def interrupt_event(message: str = "") -> Iterator[threading.Event]:
    """Turn the first SIGINT or SIGTERM into an event; a second one acts as before.

    Blocks may be inside each other: the first signal sets the events of all of them.
    Outside the main thread signals are not handled.

    Parameters
    ----------
    message : str, default=""
        Written to standard error at the first signal; that of the outermost block.
    """
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    _handler.add(event, message)
    try:
        yield event
    finally:
        _handler.remove(event)


def ignore_interrupts() -> None:
    """Ignore SIGINT in a worker: Ctrl-C reaches the whole group, the parent acts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def was_interrupted() -> bool:
    """Return whether a KeyboardInterrupt was raised, also if it was lost."""
    return _handler.interrupted


def end(*, flush: bool = True) -> NoReturn:
    """End the process as stopped by Ctrl-C, without the interpreter's own shutdown.

    The shutdown would wait for kernels that run on other threads, and destroy LLVM in
    an undefined state.
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


def _may_lose_exception(frame: FrameType | None) -> bool:
    """Return whether an exception raised in this frame could get lost."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package in _NO_EXCEPTIONS or frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False

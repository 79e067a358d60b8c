"""Progress of long work: what it costs, how far it is, and how long the rest takes.

Functions that work for long take ``progress=``: a callable ``progress(done, total)``,
None for lines on standard error where the work takes longer than `PATIENCE`, or False
for none at all. The command line passes a `Reporter`.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import shutil
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self, TextIO

from veridical._core.numbers import duration

Progress = Callable[[int, int], object]
ProgressLike = Progress | bool | None

# Seconds between two lines where there is no terminal, and two drawings of a bar.
EVERY, REDRAW = 10.0, 0.1
# Seconds before a function that nobody asked to report says anything.
PATIENCE = 2.0
# The recent rate is taken over so many seconds and units of work, whichever is longer.
_RECENT_SECONDS, _RECENT_UNITS = 120.0, 500
# The number of fits from which on the cost of work is announced.
LONG = 500
_BAR = 20  # characters


class Pace:
    """Rate of work over the last minutes.

    Parameters
    ----------
    done : int, default=0
        How much was done before the time is taken.
    """

    def __init__(self, done: int = 0) -> None:
        self._marks: deque[tuple[float, int]] = deque([(time.monotonic(), done)])

    def mark(self, done: int) -> None:
        """Note how much is done by now."""
        marks = self._marks
        if done == marks[-1][1]:
            return
        marks.append((time.monotonic(), done))
        while (
            len(marks) > 2
            and marks[-1][0] - marks[0][0] > _RECENT_SECONDS
            and done - marks[1][1] > _RECENT_UNITS
        ):
            marks.popleft()

    @property
    def rate(self) -> float | None:
        """Units per second; None before any is done.

        The time since the last mark counts, so that the rate falls when the work
        stalls.
        """
        began, before = self._marks[0]
        elapsed, done = time.monotonic() - began, self._marks[-1][1] - before
        return done / elapsed if done and elapsed > 0 else None

    def left(self, todo: int) -> float | None:
        """Return the seconds that the rest takes at this rate; None if not known."""
        rate = self.rate
        return None if rate is None else todo / rate


class Reporter:
    """Report progress on a stream: a bar on a terminal, else a line now and then.

    Where a single piece of work takes long, the time it has taken is told meanwhile.

    Parameters
    ----------
    label : str
        What the work is.
    stream : text stream, optional
        Standard error by default.
    patience : float, default=0.0
        Seconds before anything is said; shorter work is silent.

    Examples
    --------
    >>> import sys
    >>> with Reporter("Counting", sys.stdout) as progress:
    ...     progress.say("20 × 10 fits")
    ...     for done in range(1, 4):
    ...         progress(done, 3)
    Counting: 20 × 10 fits
    """

    def __init__(
        self, label: str, stream: TextIO | None = None, *, patience: float = 0.0
    ) -> None:
        self._label = label
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._shown = -math.inf if self._terminal else time.monotonic()
        self._pace = Pace()
        self._width = 0  # characters of the bar on the screen
        self._began = time.monotonic()
        self._at = (0, 0)  # done, total
        self._patience = patience
        self._kept: list[str] = []  # lines that came too early
        self._lock = threading.RLock()
        self._over = threading.Event()

    def __call__(self, done: int, total: int, text: str | None = None) -> None:
        """Report that so much of the total is done.

        Parameters
        ----------
        done, total : int
            Units of work.
        text : str, optional
            Said instead of the numbers and the time left.
        """
        with self._lock:
            self._pace.mark(done)
            self._at = (done, total)
            now = time.monotonic()
            if now - self._shown < (REDRAW if self._terminal else EVERY):
                return
            if self._is_early():
                return
            self._show(text or self._numbers())

    def _is_early(self) -> bool:
        return time.monotonic() - self._began < self._patience

    def _numbers(self) -> str:
        done, total = self._at
        left = self._pace.left(total - done)
        text = f"{done} of {total}" if total else "begun"
        if left is None:
            return f"{text}; {duration(time.monotonic() - self._began)} so far"
        return f"{text}; about {duration(left)} left"

    def _show(self, text: str) -> None:
        self._shown = time.monotonic()
        if self._terminal:
            done, total = self._at
            self._draw(done / total if total else 0.0, text)
        else:
            self.say(text)

    def _keep_telling(self) -> None:
        """Tell the state now and then, while nothing is reported."""
        pause = min(self._patience or EVERY, EVERY)
        while not self._over.wait(min(max(pause, 0.05), 3600.0)):
            with self._lock:
                if self._over.is_set() or self._is_early():
                    continue
                self._say_kept()
                if time.monotonic() - self._shown >= EVERY:
                    self._show(self._numbers())

    def say(self, text: str) -> None:
        """Write a line, once the patience is over."""
        with self._lock:
            self._kept.append(text)
            if not self._is_early():
                self._say_kept()

    def _say_kept(self) -> None:
        for text in self._kept:
            self._clear()
            print(f"{self._label}: {text}", file=self._stream, flush=True)
        self._kept.clear()

    def _draw(self, share: float, text: str) -> None:
        self._clear()
        full = round(_BAR * min(share, 1.0))
        bar = "#" * full + "-" * (_BAR - full)
        room = shutil.get_terminal_size().columns - 1
        line = f"[{bar}] {self._label}: {text}"[:room]
        self._width = len(line)
        self._stream.write(line)
        self._stream.flush()

    def _clear(self) -> None:
        if self._width:
            self._stream.write(f"\r{' ' * self._width}\r")
            self._width = 0

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        threading.Thread(target=self._keep_telling, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        with self._lock:
            self._clear()
            self._stream.flush()


_REPORTING: ContextVar[bool] = ContextVar("reporting", default=False)


@contextmanager
def reporting(progress: ProgressLike, label: str) -> Iterator[Progress | None]:
    """Report progress as a caller wants it; None where nothing is to be said.

    A function that another one calls, a worker process and a thread say nothing of
    their own accord.

    Parameters
    ----------
    progress : callable, bool or None
        As the function that works was given it.
    label : str
        What the work is called.
    """
    if progress is False or callable(progress):
        called = None if progress is False else progress
        token = _REPORTING.set(True)
        try:
            yield called
        finally:
            _REPORTING.reset(token)
        return
    if (
        _REPORTING.get()
        or threading.current_thread() is not threading.main_thread()
        or multiprocessing.parent_process() is not None
    ):
        yield None
        return
    token = _REPORTING.set(True)
    try:
        with Reporter(label, patience=PATIENCE) as reporter:
            yield reporter
    finally:
        _REPORTING.reset(token)


def announce(progress: ProgressLike, estimator: Any, *times: int) -> None:
    """Say beforehand what long work costs, where `progress` is a `Reporter`.

    Parameters
    ----------
    progress : callable, bool or None
        As passed to the function that works.
    estimator : estimator
        What is fitted.
    *times : int
        How often: the product of these numbers, which are named one by one.
    """
    if isinstance(progress, Reporter):
        n_fits, text = count_fits(estimator, *times)
        if n_fits >= LONG:
            progress.say(text)


def count_fits(estimator: Any, *times: int) -> tuple[int, str]:
    """Count the fits that fitting an estimator many times comes to.

    Parameters
    ----------
    estimator : estimator
        A search over parameters counts as the fits that it makes itself.
    *times : int
        Factors of the number of fits.

    Returns
    -------
    n_fits : int
        The number of fits.
    text : str
        The number and where it comes from.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.svm import SVC
    >>> search = GridSearchCV(SVC(), {"C": [0.01, 0.1, 1, 10, 100]}, cv=5)
    >>> count_fits(search, 20, 10)[1]
    'about 20 × 10 fits of GridSearchCV (5 candidates × 5 folds each): 5200 fits'
    """
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    inside, each = 1, ""
    searched = _candidates_and_folds(estimator)
    if searched is not None:
        candidates, folds = searched
        inside = candidates * folds + bool(estimator.refit)
        each = f" ({candidates} candidates × {folds} folds each)"
    else:  # what is wrapped says more than the wrapper
        estimator = getattr(estimator, "estimator", estimator)
    total = math.prod(times) * inside
    product = " × ".join(str(n) for n in times if n != 1) or "1"
    name = type(estimator).__name__
    return total, f"about {product} fits of {name}{each}: {total} fits"


def _candidates_and_folds(estimator: Any) -> tuple[int, int] | None:
    """Return how much a search tries; None where it is none, or cannot tell."""
    from sklearn.model_selection import ParameterGrid, check_cv

    if hasattr(estimator, "param_grid"):
        candidates = len(ParameterGrid(estimator.param_grid))
    elif hasattr(estimator, "param_distributions") and hasattr(estimator, "n_iter"):
        candidates = int(estimator.n_iter)
    else:
        return None
    try:
        folds = int(check_cv(estimator.cv).get_n_splits())
    except (TypeError, ValueError):  # it takes the data to tell
        return None
    return candidates, folds

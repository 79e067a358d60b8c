"""Report the progress of long work: cost, state and remaining time.

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

ProgressFunction = Callable[[int, int], object]
ProgressLike = ProgressFunction | bool | None

# Seconds between two lines where there is no terminal, and two drawings of a bar.
EVERY, REDRAW = 10.0, 0.1
# Seconds before a function reports by itself; shorter work is silent.
PATIENCE = 2.0
# The recent rate is that of the last seconds or units of work, whichever are more.
_RECENT_SECONDS, _RECENT_UNITS = 120.0, 500
# Number of fits; with fewer the cost of work is not announced.
MIN_FITS_ANNOUNCED = 500
_BAR_WIDTH = 20  # characters
# Seconds of compilation; with more the reporter says why the work has not begun.
_LONG_COMPILATION = 1.0
_COMPILING = "compiling for this computer, which is done once"


class Pace:
    """Rate of work over the last minutes.

    Parameters
    ----------
    done : int, default=0
        Units done before the clock starts.
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

    While a single unit of work takes long, the time so far is reported.

    Parameters
    ----------
    label : str
        Name of the work.
    stream : text stream, optional
        Standard error by default.
    patience : float, default=0.0
        Seconds before the first report; shorter work reports nothing.

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
        self._held_back: list[str] = []  # lines not shown yet, because it is too early
        self._compiling = 0.0  # seconds
        self._lock = threading.RLock()
        self._over = threading.Event()

    def __call__(self, done: int, total: int, text: str | None = None) -> None:
        """Report that so much of the total is done.

        Parameters
        ----------
        done, total : int
            Units of work.
        text : str, optional
            Shown instead of the numbers and the remaining time.
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
        # The first unit often compiles; a forecast from it alone is too long.
        left = self._pace.left(total - done) if done > 1 else None
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

    def _report_regularly(self) -> None:
        """Report the state regularly, while no unit of work ends."""
        pause = min(self._patience or EVERY, EVERY)
        while not self._over.wait(min(max(pause, 0.05), 3600.0)):
            with self._lock:
                if self._over.is_set() or self._is_early():
                    continue
                self._say_held_back()
                if time.monotonic() - self._shown >= EVERY:
                    self._show(self._numbers())

    def say(self, text: str) -> None:
        """Write a line, now or after the first `patience` seconds."""
        with self._lock:
            self._held_back.append(text)
            if not self._is_early():
                self._say_held_back()

    def add_compiling_time(self, seconds: float) -> None:
        """Count the time of compilation; say once why nothing is done yet."""
        before, self._compiling = self._compiling, self._compiling + seconds
        if before < _LONG_COMPILATION <= self._compiling:
            self.say(_COMPILING)

    def _say_held_back(self) -> None:
        for text in self._held_back:
            self._clear()
            print(f"{self._label}: {text}", file=self._stream, flush=True)
        self._held_back.clear()

    def _draw(self, share: float, text: str) -> None:
        self._clear()
        full = round(_BAR_WIDTH * min(share, 1.0))
        bar = "#" * full + "-" * (_BAR_WIDTH - full)
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
        _ACTIVE.append(self)
        threading.Thread(target=self._report_regularly, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        _ACTIVE.remove(self)
        with self._lock:
            self._clear()
            self._stream.flush()


#: Reporters of work that goes on now, in all threads; the last is the innermost.
_ACTIVE: list[Reporter] = []


def add_compiling_time(seconds: float) -> None:
    """Tell the reporter of the work, if there is one, how long a compilation took."""
    for reporter in _ACTIVE[-1:]:
        reporter.add_compiling_time(seconds)


_REPORTING: ContextVar[bool] = ContextVar("reporting", default=False)


@contextmanager
def reporting(progress: ProgressLike, label: str) -> Iterator[ProgressFunction | None]:
    """Make the reporter that ``progress=`` asks for; None for no reports.

    A function called by another one, a worker process and a thread do not report by
    themselves.

    Parameters
    ----------
    progress : callable, bool or None
        As it was passed to the function that works.
    label : str
        Name of the work.
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
    """Announce the cost of long work, where `progress` is a `Reporter`.

    Parameters
    ----------
    progress : callable, bool or None
        As passed to the function that works.
    estimator : estimator
        What is fitted.
    *times : int
        Factors of the number of fits, which are named one by one.
    """
    if isinstance(progress, Reporter):
        n_fits, text = count_fits(estimator, *times)
        if n_fits >= MIN_FITS_ANNOUNCED:
            progress.say(text)


def count_fits(estimator: Any, *times: int) -> tuple[int, str]:
    """Count the fits that many fits of an estimator make, searches included.

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
    fits_per_search, note = 1, ""
    searched = _candidates_and_folds(estimator)
    if searched is not None:
        candidates, folds = searched
        fits_per_search = candidates * folds + bool(estimator.refit)
        note = f" ({candidates} candidates × {folds} folds each)"
    else:  # the name of the wrapped estimator is more useful
        estimator = getattr(estimator, "estimator", estimator)
    total = math.prod(times) * fits_per_search
    product = " × ".join(str(n) for n in times if n != 1) or "1"
    name = type(estimator).__name__
    return total, f"about {product} fits of {name}{note}: {total} fits"


def _candidates_and_folds(estimator: Any) -> tuple[int, int] | None:
    """Return candidates and folds of a search; None if it is none, or not known."""
    from sklearn.model_selection import ParameterGrid, check_cv

    if hasattr(estimator, "param_grid"):
        candidates = len(ParameterGrid(estimator.param_grid))
    elif hasattr(estimator, "param_distributions") and hasattr(estimator, "n_iter"):
        candidates = int(estimator.n_iter)
    else:
        return None
    try:
        folds = int(check_cv(estimator.cv).get_n_splits())
    except (TypeError, ValueError):  # known only with the data
        return None
    return candidates, folds

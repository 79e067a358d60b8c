"""Measure one contender of one case, in this process and for this purpose alone.

``python -m benchmarks.worker CASE CONTENDER`` prints one line of JSON; with
``--result FILE`` it keeps what the contender found. The steps: call once on a small
problem of the same kind (imports, compilation), make the data, prepare, then call three
times, or more often where calls are short. A contender that takes longer than 20 s is
called once. If the first call is not over within the limit, a timer ends the
process.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import re
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.cases import CASES
from benchmarks.definitions import (
    CALLS,
    ENOUGH,
    MOST,
    Case,
    Contender,
    Measurement,
    Missing,
    Result,
)

SLOW = 20.0  # seconds: such a call is not repeated
LIMIT = 300.0


def measure(
    case: Case, contender: Contender, *, small: bool = False, limit: float = LIMIT
) -> tuple[Measurement, Result | None]:
    """Run a contender; whatever goes wrong becomes part of the measurement."""
    try:
        contender.run(contender.prepare(case.problem(small=True, limit=limit)))
        problem = case.problem(small=small, limit=limit)
        prepared = contender.prepare(problem)
        sizes = {"data_bytes": problem.X.nbytes, "n_samples": len(problem.y)}
        seconds, calls, peak, result = _best(contender.run, prepared, limit)
    except Missing as error:
        return Measurement(contender.name, "missing", note=str(error)), None
    except ModuleNotFoundError as error:
        note = f"not installed: {error.name}"
        return Measurement(contender.name, "missing", note=note), None
    except Exception as error:  # a broken peer must not stop the others
        return Measurement(contender.name, "failed", note=reason(error)), None
    return (
        Measurement(
            contender.name,
            "measured",
            seconds=seconds,
            calls=calls,
            peak=None if contender.own_processes else peak,
            note=result.note,
            **sizes,
        ),
        result,
    )


def _best(
    run: Callable[[Any], Result], prepared: Any, limit: float
) -> tuple[float, int, int, Result]:
    """Return the best time of several calls, and the memory growth of the first."""
    before = _reset_peak()
    with _alarm(limit):
        started = perf_counter()
        result = run(prepared)
        first = perf_counter() - started
    growth = max(0, _peak() - before)
    if result.seconds is not None:
        return result.seconds, 1, growth, result
    times = [first]
    while first <= SLOW and (
        len(times) < CALLS or (len(times) < MOST and sum(times) < ENOUGH)
    ):
        started = perf_counter()
        run(prepared)
        times.append(perf_counter() - started)
    return min(times), len(times), growth, result


@contextlib.contextmanager
def _alarm(limit: float) -> Any:
    """End the process by SIGALRM after `limit` seconds.

    The signal keeps its default action: no Python code has to run, so a contender that
    never leaves its compiled code is stopped too.
    """
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _reset_peak() -> int:
    """Free memory, reset the peak to the memory in use, and return it.

    ru_maxrss alone would hide growth below an earlier peak (making the data, or the
    process this one was started from), so the kernel resets the peak; where it
    cannot (not Linux) the mark stays and growth is a lower bound.
    """
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    """Return the peak memory of this process in bytes, since the last reset."""
    with contextlib.suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
        if found:
            return int(found[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def reason(error: BaseException) -> str:
    """Write an error in one line, without paths of this machine."""
    lines = str(error).strip().splitlines()
    words = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return re.sub(r"(?<![\w.])(?:/[^/\s'\"]+)+/", "…/", words)[:200]


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worker")
    parser.add_argument("case", choices=CASES, metavar="CASE")
    parser.add_argument("contender", metavar="CONTENDER")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--result", type=Path)
    options = parser.parse_args(arguments)
    case = CASES[options.case]
    contender = case.contender(options.contender)
    with contextlib.redirect_stdout(sys.stderr):  # peers print what they like
        measurement, result = measure(
            case, contender, small=options.small, limit=options.limit
        )
    if options.result is not None and result is not None:
        found = {"order": result.order, "scores": result.scores}
        np.savez(options.result, **{k: v for k, v in found.items() if v is not None})
    print(json.dumps(asdict(measurement)))


if __name__ == "__main__":
    main()

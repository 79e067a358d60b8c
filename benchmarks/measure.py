"""Run the contenders of a case, each in a process of its own, and compare results."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import IO

import numpy as np

from benchmarks.definitions import (
    Agreement,
    Case,
    CaseRecord,
    Contender,
    Measurement,
    Result,
)

ROOT = Path(__file__).resolve().parent.parent
SET_UP = 300.0  # seconds beside the limit: imports, compilation, data


def run_case(
    case: Case,
    *,
    limit: float,
    small: bool = False,
    load: float = 0.0,
    tell: Callable[[Measurement], None] = lambda _: None,
) -> CaseRecord:
    """Measure every contender in turn; `tell` is called after each.

    Parameters
    ----------
    case : Case
        What to measure.
    limit : float
        Seconds a contender may take for one call.
    small : bool
        Use the small problem.
    load : float
        Load average when the whole run began, kept in the record.
    tell : callable
        Gets each measurement, compared already.
    """
    results: dict[str, Result] = {}
    measurements = []
    for contender in case.contenders:
        measurement, result = run_contender(case, contender, limit=limit, small=small)
        if result is not None:
            results[contender.name] = result
            measurement = replace(
                measurement, agreement=compare(case, contender, results)
            )
        measurements.append(measurement)
        tell(measurement)
    size = case.small if small else case.size
    return CaseRecord(
        case.name,
        (size["n"], size["p"]),
        date.today().isoformat(),
        commit(),
        load,
        tuple(measurements),
    )


def run_contender(
    case: Case, contender: Contender, *, limit: float, small: bool = False
) -> tuple[Measurement, Result | None]:
    """Start a worker, wait for it, and read what it measured and found."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        found = Path(folder) / "result.npz"
        command = [sys.executable, "-m", "benchmarks.worker", case.name, contender.name]
        command += ["--limit", str(limit), "--result", str(found)]
        code, out, err = call(command + ["--small"] * small, timeout=2 * limit + SET_UP)
        measurement = read_outcome(contender.name, code, out, err, limit)
        if measurement.status != "measured":
            return measurement, None
        with np.load(found, allow_pickle=False) as arrays:
            return measurement, Result(arrays.get("order"), arrays.get("scores"))


def read_outcome(
    name: str, code: int | None, out: str, err: str, limit: float
) -> Measurement:
    """Turn the end of a worker into a measurement; `code` None means it hung."""
    if code == 0:
        return Measurement(**json.loads(out.splitlines()[-1]))
    if code == -signal.SIGALRM:
        return Measurement(name, "over", seconds=limit, note=f"over {limit:g} s")
    if code is None:
        return Measurement(name, "failed", note="did not get ready in time")
    if code < 0:
        note = f"ended by {signal.Signals(-code).name}"
        return Measurement(name, "failed", note=note)
    lines = err.strip().splitlines() or [f"exit status {code}"]
    return Measurement(name, "failed", note=lines[-1][:200])


def compare(
    case: Case, contender: Contender, results: dict[str, Result]
) -> Agreement | None:
    """Compare the result of a contender with that of another."""
    if contender.check is None:
        return None
    other = contender.compared_with or case.contenders[0].name
    if other not in results:
        return Agreement(None, f"nothing to compare with: no result of {other}")
    return contender.check(results[other], results[contender.name])


def call(command: list[str], *, timeout: float) -> tuple[int | None, str, str]:
    """Run a command in a session of its own; nothing it started outlives it.

    Its output goes to files: a pipe would stay open, and be waited for, as long as
    any process the command left behind.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=out, stderr=err, start_new_session=True
        )
        try:
            code: int | None = process.wait(timeout=timeout)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return code, _read(out), _read(err)


def _read(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


def commit() -> str:
    """Return the short hash of the measured code, with a mark for local changes."""
    try:
        named = subprocess.run(
            ["git", "describe", "--always", "--abbrev=7", "--exclude=*"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--", "src"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return named + (" with changes" if changed else "")

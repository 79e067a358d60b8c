"""Contenders from Weka, timed inside its own virtual machine.

Weka is found through the environment variable ``WEKA_JAR``, or where Debian's package
``weka`` puts it. ``WekaTimer.java`` reads the same numbers from a binary file, so that
neither starting Java nor parsing text is part of the time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.definitions import CALLS, ENOUGH, MOST, Missing, Problem, Result

DEBIAN_JAR = "/usr/share/java/weka.jar"
TIMER = Path(__file__).with_name("WekaTimer.java")
JAVA = ("java", "-Djava.awt.headless=true", "-Xmx6g")


@dataclass(frozen=True)
class Table:
    """The problem as a file of doubles, in a folder that goes with this object."""

    folder: tempfile.TemporaryDirectory[str]
    shape: tuple[int, int, int, int]

    @property
    def data(self) -> Path:
        """The numbers."""
        return Path(self.folder.name) / "data"

    @property
    def scores(self) -> Path:
        """Where Weka writes what it found."""
        return Path(self.folder.name) / "scores"


def numbers(problem: Problem) -> Table:
    """Write X and y for Weka, columns as numbers."""
    return _table(problem, n_codes=0)


def codes(problem: Problem) -> Table:
    """Write X and y for Weka, columns as nominal values."""
    return _table(problem, n_codes=int(np.nanmax(problem.X)) + 1)


def evaluator(name: str) -> Callable[[Table], Result]:
    """Score all columns by an evaluator of ``weka.attributeSelection``."""

    def run(table: Table) -> Result:
        scores, seconds, calls = _call(
            f"weka.attributeSelection.{name}", table, 1, CALLS, ENOUGH, MOST
        )
        order = np.argsort(-scores, kind="stable")
        return Result(order, scores, seconds, _note(1, calls))

    return run


def classifier(name: str, warm: int, calls: int) -> Callable[[Table], Result]:
    """Build a classifier of ``weka.classifiers``; scores are what it predicts.

    It is built `warm` times before the clock is looked at, and `calls` times then.
    """

    def run(table: Table) -> Result:
        named, seconds, _ = _call(f"weka.classifiers.{name}", table, warm, calls)
        return Result(scores=named, seconds=seconds, note=_note(warm, calls))

    return run


def _call(
    name: str, table: Table, warm: int, calls: int, enough: float = 0.0, most: int = 0
) -> tuple[Any, float, int]:
    called = subprocess.run(
        [
            *JAVA,
            "-cp",
            find_jar(),
            str(TIMER),
            name,
            str(table.data),
            str(table.scores),
            *map(str, table.shape),
            str(warm),
            str(calls),
            str(enough),
            str(most),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if called.returncode != 0:
        raise RuntimeError(_reason(called.stderr))
    seconds, made = called.stdout.split()[-2:]
    return np.fromfile(table.scores), float(seconds), int(made)


def _note(warm: int, calls: int) -> str:
    untimed = f"{warm} untimed call" + "s" * (warm > 1)
    return f"best of {calls} in a running virtual machine, after {untimed}"


def find_jar() -> str:
    """Return the path of Weka; the error says how to get it."""
    if shutil.which("java") is None:
        raise Missing("no java on the PATH (Debian: default-jdk-headless)")
    jar = os.environ.get("WEKA_JAR", DEBIAN_JAR)
    if not Path(jar).is_file():
        raise Missing("no weka.jar (Debian: weka; elsewhere set WEKA_JAR)")
    return jar


def _table(problem: Problem, n_codes: int) -> Table:
    find_jar()
    folder = tempfile.TemporaryDirectory(prefix="benchmark-")
    n, p = problem.X.shape
    table = Table(folder, (n, p, int(problem.y.max()) + 1, n_codes))
    np.column_stack([problem.X, problem.y]).astype(np.float64).tofile(table.data)
    return table


def _reason(stderr: str) -> str:
    """Return the most informative line: the exception, or the compiler error."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    informative = [line for line in lines if "rror" in line or "xception" in line]
    return (informative or lines or ["java ended with an error"])[0]

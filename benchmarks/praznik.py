"""Contenders from R's praznik, timed inside R.

Found through ``Rscript``; R reads the same codes from a binary file, and converting
them to factors is not part of the time.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import problems
from benchmarks.definitions import CALLS, ENOUGH, MOST, Missing, Problem, Result

NOTE = "best of several calls inside R"
SCRIPT = """
args <- commandArgs(trailingOnly = TRUE)
if (!requireNamespace("praznik", quietly = TRUE)) quit(status = 3)
n <- as.integer(args[3]); p <- as.integer(args[4]); k <- as.integer(args[5])
codes <- matrix(readBin(args[1], "integer", n * (p + 1)), nrow = n)
X <- as.data.frame(lapply(seq_len(p), function(j) factor(codes[, j])))
names(X) <- paste0("x", seq_len(p))
y <- factor(codes[, p + 1])
threads <- parallel::detectCores()
call <- switch(args[2],
  mi = function() praznik::miScores(X, y, threads = threads),
  mrmr = function() praznik::MRMR(X, y, k = k, threads = threads)$selection)
found <- call()
calls <- as.integer(args[6]); enough <- as.numeric(args[7]); most <- as.integer(args[8])
times <- c()
while (length(times) < calls || (length(times) < most && sum(times) < enough))
  times <- c(times, system.time(call(), gcFirst = TRUE)[["elapsed"]])
cat(min(times), "\\n", as.numeric(found), "\\n")
"""


@dataclass(frozen=True)
class Codes:
    """The problem as a file of integers, in a folder that goes with this object."""

    folder: tempfile.TemporaryDirectory[str]
    shape: tuple[int, int, int]

    @property
    def data(self) -> Path:
        """The codes, column by column, the class last."""
        return Path(self.folder.name) / "data"


def as_codes(problem: Problem) -> Codes:
    """Write integer columns for R; other columns are cut into five bins first."""
    if shutil.which("Rscript") is None:
        raise Missing("no Rscript on the PATH")
    X = problem.X
    if not np.issubdtype(X.dtype, np.integer):
        X = problems.codes(X)
    folder = tempfile.TemporaryDirectory(prefix="benchmark-")
    written = Codes(folder, (*X.shape, problem.n_selected))
    np.column_stack([X, problem.y]).astype(np.int32).T.tofile(written.data)
    return written


def mutual_information(written: Codes) -> Result:
    """Compute the mutual information of every feature with the class, in bits."""
    seconds, nats = _call(written, "mi")
    bits = nats / np.log(2.0)
    return Result(np.argsort(-bits, kind="stable"), bits, seconds, NOTE)


def mrmr(written: Codes) -> Result:
    """Run Peng's mRMR on the codes."""
    seconds, places = _call(written, "mrmr")
    return Result(places.astype(np.intp) - 1, seconds=seconds, note=NOTE)


def _call(written: Codes, what: str) -> tuple[float, np.ndarray]:
    arguments = [str(written.data), what, *map(str, written.shape)]
    arguments += [str(CALLS), str(ENOUGH), str(MOST)]
    called = subprocess.run(
        ["Rscript", "-e", SCRIPT, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if called.returncode == 3:
        raise Missing("R has no package praznik")
    if called.returncode != 0:
        lines = called.stderr.strip().splitlines() or ["R ended with an error"]
        raise RuntimeError(lines[0])
    seconds, *found = called.stdout.split()
    return float(seconds), np.array(found, dtype=np.float64)

"""Measure how long the first answer of every verb takes, with nothing compiled yet.

    python -m benchmarks.first_minute [--quick]

Every verb runs on a table of 100 samples and 50 features in a process and with a folder
of compiled kernels of its own: first with an empty folder, then with what the first run
has left in it. Methods are fitted on the same table. Writes
``benchmarks/first_minute.csv`` and its table on the page ``docs/start.md``.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import machine, store
from benchmarks.measure import ROOT

FILE = ROOT / "benchmarks" / "first_minute.csv"
PAGE = ROOT / "docs" / "start.md"
BEGIN, END = "<!-- first minute -->", "<!-- end of first minute -->"
VERBS = (
    "select",
    "estimate",
    "compare",
    "choose",
    "discover",
    "audit",
    "probabilities",
)
#: Methods whose first fit is measured, by what makes each.
METHODS = {
    "C45": "from veridical.learning import C45 as M",
    "ReliefF": "from veridical.selection import ReliefF as M",
    "FCBF": "from veridical.selection import FCBF as M",
    "DifferentialPrioritization": (
        "from veridical.selection import DifferentialPrioritization as M"
    ),
    "InformationGain": "from veridical.selection import InformationGain as M",
    "MRMR": "from veridical.selection import MRMR as M",
}
_FIT = """
import sys, pandas
{method}
table = pandas.read_csv(sys.argv[1])
M().fit(table.drop(columns="target"), table["target"])
"""
COLUMNS = ("what", "kernels", "seconds", "processor_seconds", "load")


def make_table(path: Path) -> None:
    """Write a small table with a signal."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 50))
    y = X[:, 0] + X[:, 1] + rng.normal(size=100) > 0
    names = [f"f{j}" for j in range(X.shape[1])]
    lines = [",".join([*names, "target"])]
    for row, positive in zip(X, y, strict=True):
        lines.append(
            ",".join([f"{v:.4f}" for v in row] + ["yes" if positive else "no"])
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def measure(command: list[str], cache: Path) -> tuple[float, float]:
    """Return seconds and processor seconds of a command with a folder of kernels."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, used


def measure_all(
    verbs: tuple[str, ...], methods: dict[str, str]
) -> Iterator[dict[str, Any]]:
    """Measure every verb and method with empty and with filled folders."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "small.csv"
        make_table(table)
        commands = {
            f"veridical {verb}": [
                *(sys.executable, "-m", "veridical", verb),
                *(str(table), "--target", "target"),
            ]
            for verb in verbs
        }
        for name, made in methods.items():
            script = _FIT.format(method=made)
            commands[f"{name}().fit"] = [sys.executable, "-c", script, str(table)]
        for number, (what, command) in enumerate(commands.items()):
            cache = Path(folder) / f"kernels-{number}"
            for kernels in ("compiled first", "from the folder"):
                load = machine.load()
                seconds, used = measure(command, cache)
                yield dict(
                    zip(
                        COLUMNS,
                        (what, kernels, f"{seconds:.1f}", f"{used:.1f}", f"{load:.1f}"),
                        strict=True,
                    )
                )


def as_markdown(rows: list[dict[str, Any]]) -> str:
    """Return the table of the page."""
    lines = [
        "| | nothing compiled: processor | clock | compiled: processor | clock |",
        "|---|---|---|---|---|",
    ]
    for first, again in zip(rows[::2], rows[1::2], strict=True):
        times = (
            f"{one[name]} s"
            for one in (first, again)
            for name in ("processor_seconds", "seconds")
        )
        lines.append(f"| `{first['what']}` | {' | '.join(times)} |")
    load = max(float(one["load"]) for one in rows)
    lines += [
        "",
        f"Load average before a run, on {machine.cores()} cores: at most {load:.1f}.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, and write the file and the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="only select; write nothing"
    )
    options = parser.parse_args()
    if options.quick:
        for row in measure_all(("select",), {}):
            print(*row.values(), sep=", ")
        return
    rows = []
    for row in measure_all(VERBS, METHODS):
        rows.append(row)
        print(*row.values(), sep=", ", flush=True)
    with FILE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    store.write_between(PAGE, BEGIN, END, as_markdown(rows))


if __name__ == "__main__":
    main()

"""Measure again what the library prints beside its numbers: sizes, coverages, rates.

    python -m benchmarks.truth [--minutes 120]

Takes two hours on two cores, or the minutes that are asked for. What was measured
stays: a script leaves out what is in its table, and the command, given again, goes on
where it stopped. To measure a table from nothing, delete it first.

Scripts that measure everything at once come first. Each of the others has a share of
the minutes, after which it begins no further design; what was measured is written after
each. A design that was begun is ended, so that a script may take longer; the last ones
then get what is left. Sizes, coverages and findings take 30 to 45 minutes of one core
each, so that they are complete within theirs on a machine without other work; others
may take further calls. Data sets that are not simulated are read from the folder that
VERIDICAL_DATA names; without it, `findings` and `real_data` are left out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.truth import (
    choices,
    coverages,
    discoveries,
    sizes,
    structured,
    test_sets,
)
from benchmarks.truth.designs import write_rows

#: Minutes of one call.
BUDGET = 120
#: Scripts of this folder that can be stopped, with options, and the minutes after which
#: they begin nothing new.
LIMITS = {
    "sizes": 16,
    "coverages": 20,
    "findings": 20,
    "claims": 16,
    "structured": 10,
    "choices": 8,
    "discoveries": 8,
    "outcomes": 8,
    "calibrated": 2,
    "coverages --unseen 30 --seed 20261119": 2,
}
#: Scripts that measure everything at once, where their table is missing, and the
#: minutes that they take.
AT_ONCE = {
    "sparse_world": 3,
    "batches": 2,
    "score_tests": 1,
    "real_data": 2,
    "other_tests": 2,
    "test_sets": 6,
}
#: Scripts that read data sets of that folder.
REAL = ("findings", "real_data")
#: Tables that ship with the package. Verbs read them, so that scripts need all of them.
SHIPPED = {
    sizes.TABLE: sizes.COLUMNS,
    coverages.TABLE: coverages.COLUMNS,
    structured.TABLE: structured.COLUMNS,
    choices.TABLE: choices.COLUMNS,
    discoveries.TABLE: discoveries.COLUMNS,
    test_sets.TABLE: structured.COLUMNS,
}


def main() -> None:
    """Run every script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=BUDGET)
    asked = parser.parse_args()
    end = time.monotonic() + 60 * asked.minutes
    for table, columns in SHIPPED.items():
        if not table.exists():
            write_rows(table, columns, [])
    for name in (*AT_ONCE, *LIMITS):
        print(f"-- {name}", flush=True)
        if name in REAL and not os.environ.get("VERIDICAL_DATA"):
            print("VERIDICAL_DATA names no folder", flush=True)
            continue
        if name in AT_ONCE and Path(__file__).with_name(f"{name}.csv").exists():
            print("its table is there", flush=True)
            continue
        left = (end - time.monotonic()) / 60
        if left <= 0:
            print("no time is left", flush=True)
            continue
        command = [sys.executable, "-m", *f"benchmarks.truth.{name}".split()]
        if name in LIMITS:
            minutes = min(LIMITS[name] * asked.minutes / BUDGET, left)
            command += ["--minutes", f"{minutes:.3f}"]
        subprocess.run(command, check=True)
    # The rows that ship are those of its table.
    export = [sys.executable, "-m", "benchmarks.truth.outcomes", "--export"]
    subprocess.run(export, check=True)


if __name__ == "__main__":
    main()

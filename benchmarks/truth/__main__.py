"""Measure again what the library prints beside its numbers: sizes, coverages, rates.

    python -m benchmarks.truth

Takes two hours at most on two cores. What was measured stays: a script leaves out what
is in its table, and the command, given again, goes on where it stopped. To measure a
table from nothing, delete it first.

Every script has a limit, after which it begins no further design; what was measured is
written after each. Sizes, coverages and findings take 30 to 45 minutes of one core
each, so that they are complete within theirs on a machine without other work; others
may take further calls. Data sets that are not simulated are read from the folder that
VERIDICAL_DATA names; without it, `findings` and `real_data` are left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

#: Minutes of one call.
BUDGET = 120
#: Scripts of this folder that can be stopped, and the minutes after which they begin
#: nothing new.
LIMITS = {
    "sizes": 18,
    "coverages": 24,
    "findings": 24,
    "structured": 12,
    "choices": 12,
    "discoveries": 12,
    "outcomes": 10,
}
#: Scripts that measure everything at once, where their table is missing, and the
#: minutes that they take.
AT_ONCE = {"sparse_world": 3, "batches": 2, "score_tests": 1, "real_data": 2}
#: Scripts that read data sets of that folder.
REAL = ("findings", "real_data")


def main() -> None:
    """Run every script."""
    for name in (*LIMITS, *AT_ONCE):
        print(f"-- {name}", flush=True)
        if name in REAL and not os.environ.get("VERIDICAL_DATA"):
            print("VERIDICAL_DATA names no folder", flush=True)
            continue
        if name in AT_ONCE and Path(__file__).with_name(f"{name}.csv").exists():
            print("its table is there", flush=True)
            continue
        options = ["--minutes", str(LIMITS[name])] if name in LIMITS else []
        command = [sys.executable, "-m", f"benchmarks.truth.{name}", *options]
        subprocess.run(command, check=True)
    # The rows that ship are those of its table.
    export = [sys.executable, "-m", "benchmarks.truth.outcomes", "--export"]
    subprocess.run(export, check=True)


if __name__ == "__main__":
    main()

"""Measure again what the library prints beside its numbers: sizes, coverages, rates.

    python -m benchmarks.truth

Takes two hours at most on two cores. What was measured stays: a script leaves out what
is in its table, and the command, given again, goes on where it stopped. To measure a
table from nothing, delete it first.

Every script has a limit. Sizes, coverages and findings take 30 to 45 minutes of one
core each, so that they are complete within theirs on a machine without other work;
`structured`, `choices` and `discoveries` may take further calls.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

#: Minutes of one call.
BUDGET = 120
#: Scripts of this folder that can be stopped, and the minutes after which they begin
#: nothing new.
LIMITS = {
    "sizes": 20,
    "coverages": 25,
    "findings": 25,
    "structured": 14,
    "choices": 14,
    "discoveries": 14,
}
#: Scripts that measure everything at once, where their table is missing, and the
#: minutes that they take.
AT_ONCE = {"sparse_world": 3, "batches": 2, "score_tests": 1}


def main() -> None:
    """Run every script."""
    for name in (*LIMITS, *AT_ONCE):
        print(f"-- {name}", flush=True)
        if name in AT_ONCE and Path(__file__).with_name(f"{name}.csv").exists():
            print("its table is there", flush=True)
            continue
        options = ["--minutes", str(LIMITS[name])] if name in LIMITS else []
        command = [sys.executable, "-m", f"benchmarks.truth.{name}", *options]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()

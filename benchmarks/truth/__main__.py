"""Measure again what the library prints beside its numbers: sizes, coverages, rates.

    python -m benchmarks.truth

Sizes and coverages, from nothing, take about 95 minutes on two cores. The rates of
findings stop after half an hour. What was measured stays: the command, given again,
goes on where it stopped.
"""

from __future__ import annotations

import subprocess
import sys

#: Scripts of this folder, and how they are called.
SCRIPTS = (
    ("sizes",),
    ("coverages",),
    ("choices", "--minutes", "40"),
    ("structured",),
    ("findings", "--minutes", "30"),
    ("sparse_world",),
    ("discoveries", "--minutes", "45"),
    ("batches",),
    ("score_tests",),
)


def main() -> None:
    """Run every script."""
    for name, *options in SCRIPTS:
        print(f"-- {name}", flush=True)
        command = [sys.executable, "-m", f"benchmarks.truth.{name}", *options]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()

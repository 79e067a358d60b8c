"""Measure again what the library prints beside its numbers: sizes, coverages, rates.

    python -m benchmarks.truth [--minutes 120]          what no table has yet
    python -m benchmarks.truth --again [--minutes 120]  everything anew

A clone has the tables of the repository, so that the first command measures hardly
anything there: more data sets for `choices` and `discoveries`, of which every call adds
some, and designs of `calibrated`. The second removes all tables first, with the raw
files of earlier calls; the scripts draw the same data sets again, and `git diff` shows
what has changed. It refuses tables that are not committed, which would be lost.

After two hours, or the minutes that are asked for, the command ends; it names the
scripts that have something left, and the first command goes on with these. It may also
be stopped at any moment: what was measured stays, but for the designs that were begun.

Scripts that measure everything at once come first. Each of the others has a share of
the minutes, after which it begins no further design; what the others did not need goes
to those that have something left. What still runs at the end of the time is stopped.
Data sets that are not simulated are read from the folder that VERIDICAL_DATA names;
without it, `findings` and `real_data` are left out, and keep their tables.

Five tables are apart, because they belong to decisions and not to numbers that are
printed: `factors` (variances that were tried, and not taken), `unselected` (what helps
to learn from unselected features), `prioritization` (two findings of a paper, looked
into again), and the rates of `discoveries --noise` and
`--peers`, which compare with other packages.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.measure import ROOT
from benchmarks.measured import FILES
from benchmarks.truth import (
    choices,
    claims,
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
    "sizes": 14,
    "coverages": 18,
    "findings": 20,
    "claims": 14,
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
#: Scripts with tables that no call of this command measures; see above.
APART = (
    "factors",
    "unselected",
    "prioritization",
    "discoveries --noise 500",
    "discoveries --peers 12",
)
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
#: What scripts keep beside their tables, from which they write rows again.
KEPT = (ROOT / choices.RAW, ROOT / claims.RAW)


def main() -> None:
    """Run every script."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.truth",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=BUDGET)
    parser.add_argument(
        "--again", action="store_true", help="remove the tables, and measure all anew"
    )
    asked = parser.parse_args()
    # An exception: a script that runs is ended before this command ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    if asked.again:
        remove([*tables_of(can_run())])
    for table, columns in SHIPPED.items():
        if not table.exists():
            write_rows(table, columns, [])
    left = run(asked.minutes)
    # The rows that ship are those of its table.
    export = [sys.executable, "-m", "benchmarks.truth.outcomes", "--export"]
    subprocess.run(export, check=True)
    if left:
        print(f"left: {', '.join(left)}; without --again the command goes on with them")
    else:
        print("every table is complete")


def can_run() -> list[str]:
    """Return the scripts with their options; without data, not those that read it."""
    has_data = bool(os.environ.get("VERIDICAL_DATA"))
    return [name for name in (*AT_ONCE, *LIMITS) if has_data or name not in REAL]


def tables_of(names: list[str]) -> Iterator[str]:
    """Yield the tables that scripts write, as paths from the root."""
    for table, (command, _) in FILES.items():
        if command.removeprefix("python -m benchmarks.truth.") in names:
            yield table


def is_measured(name: str) -> bool:
    """Return whether the tables of a script have rows below their names."""
    paths = [ROOT / table for table in tables_of([name])]
    return all(p.exists() and len(p.read_text().splitlines()) > 1 for p in paths)


def remove(tables: list[str]) -> None:
    """Remove tables and raw files; end if a table is not as it was committed."""
    state = subprocess.run(
        ["git", "-C", str(ROOT), "status", "--porcelain", "--", *tables],
        capture_output=True,
        text=True,
    )
    if state.returncode or state.stdout:
        raise SystemExit(
            f"--again removes tables, but these are not committed:\n"
            f"{state.stdout or state.stderr}"
            "Commit them first, or bring them back with `git restore`. If they are "
            "being measured anew already, leave out --again."
        )
    for path in (*(ROOT / table for table in tables), *KEPT):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def run(minutes: float) -> list[str]:
    """Run the scripts for some minutes; return those that have something left."""
    end = time.monotonic() + 60 * minutes
    left = []
    for name in (*AT_ONCE, *LIMITS):
        if name not in can_run():
            print(f"-- {name}: VERIDICAL_DATA names no folder", flush=True)
        elif name in AT_ONCE and is_measured(name):
            print(f"-- {name}: its table is there", flush=True)
        elif not run_script(name, LIMITS.get(name, BUDGET) * minutes / BUDGET, end):
            left.append(name)
    return [name for name in left if not run_script(name, minutes, end)]


def run_script(name: str, minutes: float, end: float) -> bool:
    """Run a script for its minutes, and not beyond the end; return whether it is done.

    A script that ends by itself before its minutes are over has measured everything.
    """
    begin = time.monotonic()
    minutes = min(minutes, (end - begin) / 60)
    if minutes <= 0:
        print(f"-- {name}: no time is left", flush=True)
        return False
    print(f"-- {name}", flush=True)
    command = [sys.executable, "-m", *f"benchmarks.truth.{name}".split()]
    if name in LIMITS:
        command += ["--minutes", f"{minutes:.3f}"]
    try:
        subprocess.run(command, check=True, cwd=ROOT, timeout=end - begin)
    except subprocess.TimeoutExpired:
        print("stopped: the time is over", flush=True)
        return False
    return time.monotonic() - begin < 60 * minutes


if __name__ == "__main__":
    main()

"""Run LeakBench and write its results.

    python -m benchmarks.leakbench --tables 200 --seconds 3600 --jobs 2

Runs what is not in the store yet, writes ``results.csv`` (every table, with date and
commit), and the tables of ``docs/leakbench.md``. The tables are draws of seed 4: seed 0
is for work on the checks, and seeds 1 to 3 were seen before the last of it, so that no
threshold is chosen on what is published.
``--again NAMES`` measures some mechanisms or controls anew, after a change that
concerns them alone. ``--rivals PYTHON`` also scores other packages on the same tables,
with the Python of an environment in which they are installed.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
from pathlib import Path

import pandas as pd

from benchmarks.leakbench.page import write_page
from veridical.experiments import Processes, Store, run_study
from veridical.leakbench.study import STUDY

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def commit() -> str:
    """Return the commit of the sources."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def main() -> None:
    """Run, export and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--store", type=Path, default=ROOT / "build" / "leakbench.db")
    parser.add_argument("--again", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--rivals", default=None, help="Python with other packages")
    options = parser.parse_args()
    options.store.parent.mkdir(parents=True, exist_ok=True)
    spec = STUDY.plan("paper").model_copy(
        update={"n_tables": options.tables, "seed": options.seed}
    )
    if options.again:
        spec = spec.model_copy(
            update={
                "mechanisms": tuple(x for x in spec.mechanisms if x in options.again),
                "controls": tuple(x for x in spec.controls if x in options.again),
            }
        )
    done = run_study(
        STUDY, spec, options.store, executor=Processes(options.jobs),
        limit_seconds=options.seconds,
    )  # fmt: skip
    print(done.counts)
    with Store(options.store) as store:
        frame = store.frame()
    export(frame, options.seed, options.again)
    if options.rivals is not None:
        here = [sys.executable, "-m", "benchmarks.leakbench.rivals", "draw"]
        subprocess.run(here, check=True, cwd=ROOT)
        there = [options.rivals, str(HERE / "rivals.py"), "score"]
        subprocess.run(there, check=True, cwd=ROOT)
    write_page(ROOT / "docs" / "leakbench.md", HERE)


KEYS = ["seed", "kind", "name", "dose", "source", "table"]
VALUES = [
    *("moved", "flagged", "noted", "conclusion", "largest", "part", "signal"),
    "seconds",
]


def export(frame: pd.DataFrame, seed: int, again: list[str]) -> None:
    """Write the finished cells; those not written before get this date and commit.

    Cells of other seeds were of other draws, and leave the file; so do those of
    mechanisms and controls that are measured again.
    """
    target = HERE / "results.csv"
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    frame = frame[frame["status"] == "ok"].assign(seed=seed)[KEYS + VALUES]
    frame = frame.assign(date=today, commit=commit())
    if target.exists():
        before = pd.read_csv(target, keep_default_na=False)
        before = before[(before["seed"] == seed) & ~before["name"].isin(again)]
        frame = pd.concat([before, frame]).drop_duplicates(KEYS, keep="first")
    frame.sort_values(KEYS).to_csv(
        target, index=False, float_format="%.4g", lineterminator="\n"
    )


if __name__ == "__main__":
    main()

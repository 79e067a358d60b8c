"""Designs drawn at random, so that all their properties vary at once.

Samples, features, features selected, signal, tails, balance of the classes and their
number. The first designs of a name are the same however many are drawn.
"""

from __future__ import annotations

import csv
import io
import os
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import store
from veridical.comparison.null_designs import NullDesign
from veridical.experiments.worker import end_with_parent

SEED = 2007

#: Effects that are so large that accuracies come near to 100 %.
CEILING = {"effect": 3.0, "n_relevant": 8}

#: What new designs have in turn, so that a few of them meet every edge.
UNSEEN: tuple[dict[str, Any], ...] = (
    {},
    {"n_samples": 20},
    CEILING,
    {"tail_df": 2.0},
    {"n_samples": 120, "n_classes": 2, "minority": 0.1},
    {"n_samples": 45, "n_columns": 1400},
)

Row = dict[str, Any]


def draw_designs(name: str, number: int, **fixed: Any) -> Iterator[NullDesign]:
    """Draw designs for a name, with some properties that are given."""
    rng = np.random.default_rng(zlib.crc32(f"{SEED} {name}".encode()))
    for _ in range(number):
        yield _draw(rng, **fixed)


def _draw(rng: np.random.Generator, **fixed: Any) -> NullDesign:
    n_samples = round(between(rng, max(20, 2 * fixed["n_folds"]), 400))
    n_samples = fixed.get("n_samples", n_samples)
    n_columns = round(between(rng, 8, 1500))
    n_columns = fixed.get("n_columns", n_columns)
    n_selected = round(between(rng, 1, min(50, n_columns / 2)))
    n_classes = int(rng.choice([2, 2, 2, 3]))
    minority = 1 / n_classes
    if rng.random() < 0.4:
        minority = rng.uniform(max(0.1, 5 / n_samples), minority)
    n_relevant = round(n_selected * between(rng, 0.3, 3))
    kind = rng.random()
    if kind < 0.15:
        n_relevant = 0
    elif kind < 0.3:
        n_relevant = 1
    drawn: dict[str, Any] = {
        "n_samples": n_samples,
        "effect": round(float(rng.uniform(0.2, 1.8)), 2),
        "n_columns": n_columns,
        "n_relevant": min(n_relevant, n_columns),
        "n_features_to_select": n_selected,
        "effects": "falling" if rng.random() < 0.5 else "equal",
        "tail_df": float(rng.choice([np.inf, np.inf, 4.0, 2.0])),
        "n_classes": n_classes,
        "minority": round(float(minority), 3),
    }
    return NullDesign(**drawn | fixed)


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def measure_all(
    todo: Sequence[tuple[Any, ...]],
    measure: Callable[..., list[Row]],
    write: Callable[[list[Row]], None],
    *,
    jobs: int,
    minutes: float,
) -> None:
    """Measure design by design, in processes, and write what each one gives.

    After `minutes` no further design is begun.
    """
    end = time.monotonic() + 60 * minutes
    waiting, running = iter(todo), {}
    with ProcessPoolExecutor(jobs, initializer=_watch, initargs=(os.getpid(),)) as pool:
        for one in islice(waiting, jobs):
            running[pool.submit(measure, *one)] = one
        done = 0
        while running:
            job = next(as_completed(running))
            running.pop(job)
            write(job.result())
            done += 1
            print(f"{done} of {len(todo)}", flush=True)
            if time.monotonic() < end:
                for one in islice(waiting, 1):
                    running[pool.submit(measure, *one)] = one


def _watch(parent: int) -> None:
    """Let a process of a pool end with the script, also where that is killed."""
    threading.Thread(target=end_with_parent, args=(parent,), daemon=True).start()


def add_rows(path: Path, columns: Sequence[str], rows: list[Row]) -> None:
    """Add rows to a table, and keep it in order; what is measured twice is one row."""
    new: list[Row] = [{k: str(v) for k, v in row.items()} for row in rows]
    every = [*new]
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            every += [row for row in csv.DictReader(file) if row not in new]
    every.sort(key=lambda row: [row[name].rjust(12) for name in columns])
    write_rows(path, columns, every)


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """Write a table in one step: what is stopped meanwhile leaves the old one."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    store.write(path, text.getvalue())

"""Measure the size of every test in many designs: the table that veridical ships.

    python -m benchmarks.truth.sizes [--jobs 2] [--minutes 60]
    python -m benchmarks.truth.sizes --check

The first command writes ``src/veridical/comparison/sizes.csv``, a design at a time;
designs that are in the table already are left out, so the work can be done in pieces.
Designs are drawn at random, so that all their properties vary at once: samples,
features, features selected, signal, tails, balance and classes.

The second asks of every design whether the range that is printed for it, from the
*other* designs, contains the size that was measured in it.
"""

from __future__ import annotations

import argparse
import csv
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

import veridical.comparison
from veridical._core.arrays import FloatArray
from veridical.comparison.calibration import measure, run_test
from veridical.comparison.null_designs import NullDesign, simulate
from veridical.comparison.ranks import friedman
from veridical.comparison.sizes import (
    ALPHAS,
    COLUMNS,
    SizeRow,
    read_sizes,
    size_range,
)
from veridical.comparison.testing import TESTS
from veridical.evaluation.situations import SIMULATED, find_near

TABLE = Path(veridical.comparison.__file__).with_name("sizes.csv")
SEED = 2007
METHODS = ("in", "out")

#: Repeats and folds: designs per estimator, and data sets per design.
SHAPES = {
    (1, 10): (16, 500),
    (1, 5): (10, 500),
    (5, 2): (10, 500),
    (10, 10): (10, 200),
}
#: Data sets in a null from which calibrated p-values are taken.
N_NULL = 10_000
#: Numbers of selectors that Friedman's test compares.
MANY = (3, 5)


# -- designs -------------------------------------------------------------------------


def draw_designs(
    shape: tuple[int, int], estimator: str, number: int
) -> list[NullDesign]:
    """Draw designs at random; the first ones are the same whatever the number."""
    rng = np.random.default_rng(zlib.crc32(f"{SEED} {shape} {estimator}".encode()))
    return [_draw_design(shape, estimator, rng) for _ in range(number)]


def _draw_design(
    shape: tuple[int, int], estimator: str, rng: np.random.Generator
) -> NullDesign:
    n_samples = round(_between(rng, max(20, 2 * shape[1]), 400))
    n_columns = round(_between(rng, 8, 1500))
    n_selected = round(_between(rng, 1, min(50, n_columns / 2)))
    n_classes = int(rng.choice([2, 2, 2, 3]))
    minority = 1 / n_classes
    if rng.random() < 0.4:
        minority = rng.uniform(max(0.1, 5 / n_samples), minority)
    n_relevant = round(n_selected * _between(rng, 0.3, 3))
    kind = rng.random()
    if kind < 0.15:
        n_relevant = 0
    elif kind < 0.3:
        n_relevant = 1
    return NullDesign(
        *shape,
        method="in",
        n_samples=n_samples,
        estimator=estimator,
        effect=round(float(rng.uniform(0.2, 1.8)), 2),
        n_columns=n_columns,
        n_relevant=min(n_relevant, n_columns),
        n_features_to_select=n_selected,
        effects="falling" if rng.random() < 0.5 else "equal",
        tail_df=float(rng.choice([np.inf, np.inf, 4.0, 2.0])),
        n_classes=n_classes,
        minority=round(float(minority), 3),
    )


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw a number whose logarithm is uniform."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


# -- measurements --------------------------------------------------------------------


def plan() -> Iterator[tuple[str, NullDesign, int]]:
    """Yield the kind, the design and the number of data sets of every measurement.

    Estimators and shapes take turns, so that a part of the work covers all of them.
    """
    drawn = [
        [("plain", one, n) for one in draw_designs(shape, estimator, number)]
        for shape, (number, n) in SHAPES.items()
        for estimator in SIMULATED
    ]
    for shape in SHAPES:
        usual = [
            NullDesign(*shape, "in", n, "centroid", effect)
            for n in (50, 100, 200)
            for effect in (0.5, 1.0)
        ]
        drawn.append([("calibrated", one, 2000) for one in usual])
        drawn.append([("many", one, 1000) for one in usual])
    for turn in zip_longest(*drawn):
        yield from (one for one in turn if one is not None)


def measure_design(kind: str, design: NullDesign, n: int) -> list[dict[str, Any]]:
    """Measure all tests in one design; return rows of the table."""
    if kind == "calibrated":
        return list(_calibrated(design, n))
    rows = []
    for method in METHODS:
        one = replace(design, method=method)
        if kind == "plain":
            found = simulate(one, n, seed(design))
            rows += [
                _row(kind, test, 2, one, found, count(test, one, found))
                for test, entry in TESTS.items()
                if entry.fits(one.n_repeats, one.n_folds)
            ]
            continue
        for sides in MANY:
            found = simulate(one, n, seed(design), stream=sides, sides=sides)
            pvalues = np.array([friedman(scores).pvalue for scores in found])
            rejected = [int((pvalues < alpha).sum()) for alpha in ALPHAS]
            rows.append(_row(kind, "friedman", sides, one, found, rejected))
    return rows


def _calibrated(design: NullDesign, n: int) -> Iterator[dict[str, Any]]:
    """Measure the tests that can take their p-values from a simulated null."""
    found = simulate(design, n, seed(design))
    apart = simulate(design, N_NULL, seed(design), stream=1)
    for test, entry in TESTS.items():
        if not entry.calibrated or not entry.fits(design.n_repeats, design.n_folds):
            continue
        null = measure(test, design, apart, 0.05, 0.01)
        pvalues = np.array(
            [
                run_test(test, a, b, design.geometry, 0.05, 0.01, null).pvalue
                for a, b in found
            ]
        )
        rejected = [int((pvalues < alpha).sum()) for alpha in ALPHAS]
        yield _row("calibrated", test, 2, design, found, rejected)


def count(test: str, design: NullDesign, found: FloatArray) -> list[int]:
    """Count the data sets that a test rejects at each level."""
    shape = (len(found), design.n_repeats, design.n_folds)
    a, b = found[:, 0].reshape(shape), found[:, 1].reshape(shape)
    result = TESTS[test].run(a, b, design.geometry, 0.05, 0.01)
    if result.probabilities is None:
        pvalues = np.asarray(result.pvalue)
        return [int((pvalues < alpha).sum()) for alpha in ALPHAS]
    sure = np.maximum(result.probabilities["a"], result.probabilities["b"])
    return [int((sure > 1 - alpha).sum()) for alpha in ALPHAS]


def _row(
    kind: str, test: str, sides: int, design: NullDesign, found: Any, rejected: Any
) -> dict[str, Any]:
    known = {
        k: f"{v:g}" if isinstance(v, float) else v for k, v in asdict(design).items()
    }
    return {
        "kind": kind,
        "test": test,
        "n_selectors": sides,
        **known,
        "accuracy": f"{found.mean():.4f}",
        "n_simulations": len(found),
        **{f"rejected_{a:g}": r for a, r in zip(ALPHAS, rejected, strict=True)},
    }


def seed(design: NullDesign) -> int:
    """Return a seed for each design, the same for both methods."""
    known = asdict(replace(design, method="in"))
    return SEED + zlib.crc32(repr(sorted(known.items())).encode())


# -- the table -----------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    if asked.check:
        check()
        return
    end = time.monotonic() + 60 * asked.minutes
    done = (
        {(row.kind, row.design) for row in read_sizes(TABLE)}
        if TABLE.exists()
        else set()
    )
    todo = [one for one in plan() if one[:2] not in done]
    print(f"{len(done)} designs are measured, {len(todo)} are left", flush=True)
    with ProcessPoolExecutor(asked.jobs) as pool:
        waiting, running = iter(todo), {}
        for one in _next(waiting, asked.jobs):
            running[pool.submit(measure_design, *one)] = one
        while running:
            job = next(as_completed(running))
            kind, design, _ = running.pop(job)
            _write(job.result())
            print(f"{kind} {design.describe(0.0)}", flush=True)
            if time.monotonic() < end:
                for one in _next(waiting, 1):
                    running[pool.submit(measure_design, *one)] = one


def _next(waiting: Iterator[Any], number: int) -> list[Any]:
    return list(islice(waiting, number))


def _write(rows: list[dict[str, Any]]) -> None:
    """Add rows, and keep the table in order."""
    every = list(rows)
    if TABLE.exists():
        with TABLE.open(newline="", encoding="utf-8") as file:
            every += csv.DictReader(file)
    every.sort(key=lambda row: [str(row[name]).rjust(12) for name in COLUMNS])
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(every)


# -- does the printed range hold? ----------------------------------------------------


def check(alpha: float = 0.05) -> dict[str, tuple[int, int]]:
    """Count, per test, the designs whose range from all others holds their size."""
    rows = [row for row in read_sizes(TABLE) if row.kind == "plain"]
    counts: dict[str, list[int]] = {}
    for row in rows:
        shape = f"{row.design.n_repeats}x{row.design.n_folds}"
        tally = counts.setdefault(f"{row.test} {shape} {row.design.method}", [0, 0, 0])
        near = find_near(_rivals(rows, row), row.situation)
        if not near:
            tally[2] += 1
            continue
        printed = size_range(near, alpha)
        own = row.size(alpha)
        tally[0] += printed.low <= own.rate <= printed.high
        tally[1] += 1
    for name, (held, asked, far) in sorted(counts.items()):
        print(f"{name:40} {held:4} of {asked:4} designs held, {far} without neighbours")
    return {name: (held, asked) for name, (held, asked, _) in counts.items()}


def _rivals(rows: list[SizeRow], row: SizeRow) -> list[SizeRow]:
    """Return the rows from which the range of a row would be taken without it."""
    one = row.design
    return [
        other
        for other in rows
        if (other.test, other.design.method) == (row.test, one.method)
        and (other.design.n_repeats, other.design.n_folds)
        == (one.n_repeats, one.n_folds)
        and other.design != one
    ]


if __name__ == "__main__":
    main()

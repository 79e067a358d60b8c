"""Measure the size of every test in every design: the table that veridical ships.

    python -m benchmarks.sizes [--geometry 10x10 ...] [--only plain|calibrated|many]

writes ``src/veridical/comparison/sizes.csv``. A run for some geometries replaces their
rows and leaves the others alone, so the work can be done in pieces; it takes about ten
minutes in all on one core. The same seeds give the same rows.
"""

from __future__ import annotations

import argparse
import csv
import zlib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import veridical.comparison
from veridical.comparison.calibration import measure, run_test
from veridical.comparison.null_designs import ESTIMATORS, NullDesign, simulate
from veridical.comparison.ranks import friedman
from veridical.comparison.sizes import ALPHAS, COLUMNS
from veridical.comparison.testing import TESTS

TABLE = Path(veridical.comparison.__file__).with_name("sizes.csv")
N_SIMULATIONS, N_NULL = 2000, 10_000
SEED = 2007

GEOMETRIES = {"1x5": (1, 5), "1x10": (1, 10), "5x2": (5, 2), "10x10": (10, 10)}
N_SAMPLES = (50, 100, 200)
EFFECTS = (0.0, 0.5, 1.0)
METHODS = ("in", "out")
MANY = (3, 5)  # selectors that Friedman's test compares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--geometry", nargs="*", default=list(GEOMETRIES))
    parser.add_argument("--only", nargs="*", default=["plain", "calibrated", "many"])
    asked = parser.parse_args()
    makers = {"plain": plain, "calibrated": calibrated, "many": many}
    for name, kind in product(asked.geometry, asked.only):
        rows = list(makers[kind](*GEOMETRIES[name]))
        replace_rows(rows, GEOMETRIES[name], kind)
        print(f"{name} {kind}: {len(rows)} rows", flush=True)


def plain(n_repeats: int, n_folds: int) -> Iterator[dict[str, Any]]:
    """Measure every test for the geometry, with its own p-values."""
    tests = [name for name, e in TESTS.items() if e.fits(n_repeats, n_folds)]
    for n, learner, effect, method in product(N_SAMPLES, ESTIMATORS, EFFECTS, METHODS):
        design = NullDesign(n_repeats, n_folds, method, n, learner, effect)
        found = simulate(design, N_SIMULATIONS, seed(design))
        for test in tests:
            yield row("plain", test, 2, design, found, count(test, design, found))


def calibrated(n_repeats: int, n_folds: int) -> Iterator[dict[str, Any]]:
    """Measure the tests that can take their p-values from a simulated null."""
    tests = [n for n, e in TESTS.items() if e.calibrated and e.fits(n_repeats, n_folds)]
    for n, effect in product(N_SAMPLES, EFFECTS[1:]):
        design = NullDesign(n_repeats, n_folds, "in", n, "centroid", effect)
        found = simulate(design, N_SIMULATIONS, seed(design))
        apart = simulate(design, N_NULL, seed(design), stream=1)
        for test in tests:
            null = measure(test, design, apart, 0.05, 0.01)
            rejected = count(test, design, found, null)
            yield row("calibrated", test, 2, design, found, rejected)


def many(n_repeats: int, n_folds: int) -> Iterator[dict[str, Any]]:
    """Measure Friedman's test on the folds of several selectors."""
    for sides, n, effect, method in product(MANY, N_SAMPLES, EFFECTS, METHODS):
        design = NullDesign(n_repeats, n_folds, method, n, "centroid", effect)
        found = simulate(design, N_SIMULATIONS, seed(design), stream=sides, sides=sides)
        pvalues = np.array([friedman(scores).pvalue for scores in found])
        rejected = [int((pvalues < alpha).sum()) for alpha in ALPHAS]
        yield row("many", "friedman", sides, design, found, rejected)


def count(test: str, design: NullDesign, found: Any, null: Any = None) -> list[int]:
    """Count the data sets that a test rejects at each level."""
    rejected = [0] * len(ALPHAS)
    for a, b in found:
        result = run_test(test, a, b, design.geometry, 0.05, 0.01, null)
        for i, alpha in enumerate(ALPHAS):
            if result.probabilities is not None:
                sure = max(result.probabilities["a"], result.probabilities["b"])
                rejected[i] += sure > 1 - alpha
            else:
                rejected[i] += result.pvalue < alpha
    return rejected


def row(
    kind: str, test: str, sides: int, design: NullDesign, found: Any, rejected: Any
) -> dict[str, Any]:
    return {
        "kind": kind,
        "test": test,
        "n_selectors": sides,
        "method": design.method,
        "n_repeats": design.n_repeats,
        "n_folds": design.n_folds,
        "n_samples": design.n_samples,
        "estimator": design.estimator,
        "effect": f"{design.effect:g}",
        "accuracy": f"{found.mean():.4f}",
        "n_simulations": len(found),
        **{f"rejected_{a:g}": r for a, r in zip(ALPHAS, rejected, strict=True)},
    }


def seed(design: NullDesign) -> int:
    """Return a seed for each design, the same for both methods."""
    text = f"{design.n_repeats}x{design.n_folds} {design.n_samples} "
    return SEED + zlib.crc32(f"{text}{design.estimator} {design.effect:g}".encode())


def replace_rows(
    rows: list[dict[str, Any]], geometry: tuple[int, int], kind: str
) -> None:
    """Put new rows in the place of the old ones of the same kind and geometry."""
    old: list[dict[str, Any]] = []
    if TABLE.exists():
        with TABLE.open(newline="", encoding="utf-8") as file:
            old = list(csv.DictReader(file))
    here = tuple(map(str, geometry))
    kept = [
        r for r in old if (r["n_repeats"], r["n_folds"]) != here or r["kind"] != kind
    ]
    every = sorted(
        kept + rows,
        key=lambda r: (
            r["kind"],
            int(r["n_repeats"]),
            int(r["n_folds"]),
            r["test"],
            int(r["n_selectors"]),
            r["method"],
            r["estimator"],
            int(r["n_samples"]),
            float(r["effect"]),
        ),
    )
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(every)


if __name__ == "__main__":
    main()

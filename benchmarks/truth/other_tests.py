"""Measure the sizes of DeLong's test and of the conservative z-test.

    python -m benchmarks.truth.other_tests
    python -m benchmarks.truth.other_tests --table

DeLong's test gets two correlated scores of equal area on one test set. The conservative
z-test gets two procedures that are equal by construction: nearest centroids, each on
its own block of five features with the same distribution. As both sides are equal, an
interval of 95 % covers the true difference, 0, where the test at 5 % does not reject.
The first command writes ``benchmarks/truth/other_tests.csv``, which takes some minutes;
the second prints the table of docs/which-test.md.
"""

from __future__ import annotations

import argparse
import csv
import zlib
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

import numpy as np
from scipy.stats import norm

from benchmarks.truth.designs import Row, write_rows
from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.scoring import areas_under_roc
from veridical.comparison import conservative_z, delong

TABLE = Path(__file__).with_name("other_tests.csv")
#: Simulations of a design.
N_DELONG, N_CONSERVATIVE = 4000, 400
#: Correlation of the two scores of DeLong's test within classes.
CORRELATION = 0.5
#: Splits of a data set, the share that they test, and pairs of halves.
N_SPLITS, TEST_SHARE, N_PAIRS = 15, 0.2, 10
#: Features of a block, and what the class adds to each, in standard deviations.
N_COLUMNS, EFFECT = 5, 0.5


@dataclass(frozen=True)
class Design:
    """A test, its score, and the samples."""

    test: str  #: "delong" or "conservative-z"
    score: str
    n_samples: int  #: of the test set, or of the data set that is split
    minority: float
    area: float = 0.0  #: true area of both scores, for DeLong's test
    #: Folds, as `compare` splits; 0 for random splits.
    n_folds: int = field(default=0, repr=False)


COLUMNS = (*(one.name for one in fields(Design)), "n_simulations", "rejected")


def designs() -> list[Design]:
    """List the designs."""
    return (
        [
            Design("delong", "roc_auc", n, minority, area)
            for n in (40, 100, 400)
            for minority in (0.1, 0.3, 0.5)
            for area in (0.6, 0.8, 0.95)
        ]
        + [
            Design("conservative-z", score, n, minority)
            for score in ("accuracy", "roc_auc")
            for n in (60, 200)
            for minority in (0.2, 0.5)
        ]
        + [
            Design("conservative-z", score, n, 0.5, n_folds=n_folds)
            for score in ("accuracy", "roc_auc")
            for n in (60, 200)
            for n_folds in (5, 10)
        ]
    )


def classes(design: Design) -> BoolArray:
    """Return the classes of the samples, the smaller one first."""
    return np.arange(design.n_samples) < round(design.minority * design.n_samples)


def reject_delong(design: Design, rng: np.random.Generator) -> int:
    """Count the rejections of DeLong's test."""
    y = classes(design)
    shared = rng.standard_normal((1, N_DELONG, y.size))
    own = rng.standard_normal((2, N_DELONG, y.size))
    scores = np.sqrt(CORRELATION) * shared + np.sqrt(1 - CORRELATION) * own
    first, second = scores + np.sqrt(2) * norm.ppf(design.area) * y
    pvalue = np.asarray(delong(y, first, second).pvalue)
    return int(np.count_nonzero(pvalue <= 0.05))


def divide(y: BoolArray, share: float, rng: np.random.Generator) -> IntArray:
    """Draw a share of the samples of each class."""
    drawn = []
    for one in (True, False):
        own = np.flatnonzero(y == one)
        n = max(1, round(share * own.size))
        drawn.append(rng.choice(own, n, replace=False))
    return np.concatenate(drawn)


def draw_tests(y: BoolArray, n_folds: int, rng: np.random.Generator) -> list[IntArray]:
    """Draw the test sets of random splits, or of stratified folds."""
    if not n_folds:
        return [divide(y, TEST_SHARE, rng) for _ in range(N_SPLITS)]
    folds = np.empty(y.size, dtype=np.intp)
    for one in (True, False):
        own = rng.permutation(np.flatnonzero(y == one))
        folds[own] = np.arange(own.size) % n_folds
    return [np.flatnonzero(folds == fold) for fold in range(n_folds)]


def score_splits(
    X: FloatArray,
    y: BoolArray,
    score: str,
    rng: np.random.Generator,
    n_folds: int = 0,
) -> FloatArray:
    """Score both sides on the same splits: (2, n_splits)."""
    tests = draw_tests(y, n_folds, rng)
    found = np.empty((2, len(tests)))
    for s, test in enumerate(tests):
        train = np.setdiff1d(np.arange(y.size), test)
        high, low = X[train[y[train]]].mean(axis=0), X[train[~y[train]]].mean(axis=0)
        parts = ((X[test] - (high + low) / 2) * (high - low)).reshape(len(test), 2, -1)
        values = parts.sum(axis=2).T
        if score == "accuracy":
            found[:, s] = ((values > 0) == y[test]).mean(axis=1)
        else:
            found[:, s] = areas_under_roc(y[test], values)
    return found


def reject_conservative(design: Design, rng: np.random.Generator) -> int:
    """Count the rejections of the conservative z-test."""
    y, rejected = classes(design), 0
    for _ in range(N_CONSERVATIVE):
        X = rng.standard_normal((y.size, 2 * N_COLUMNS)) + EFFECT * y[:, np.newaxis]
        a, b = score_splits(X, y, design.score, rng, design.n_folds)
        halves = np.empty((2, N_PAIRS, 2))
        for pair in range(N_PAIRS):
            first = divide(y, 0.5, rng)
            second = np.setdiff1d(np.arange(y.size), first)
            for k, rows in enumerate((first, second)):
                part = X[rows], y[rows]
                both = score_splits(*part, design.score, rng, design.n_folds)
                halves[:, pair, k] = both.mean(axis=1)
        found = conservative_z(a, b, halves_a=halves[0], halves_b=halves[1])
        rejected += found.pvalue <= 0.05
    return rejected


def measure_design(design: Design) -> Row:
    """Count the rejections in one design."""
    seed = f"{design}{design.n_folds or ''}"
    rng = np.random.default_rng(zlib.crc32(seed.encode()))
    if design.test == "delong":
        n, rejected = N_DELONG, reject_delong(design, rng)
    else:
        n, rejected = N_CONSERVATIVE, reject_conservative(design, rng)
    return {**asdict(design), "n_simulations": n, "rejected": rejected}


def print_table() -> None:
    """Print the range of the sizes by test, score and samples."""
    found: dict[tuple[str, str, str, str], list[float]] = {}
    with TABLE.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            n_folds = int(row["n_folds"])
            splits = f"{n_folds} folds" if n_folds else "15 random"
            splits = "one test set" if row["test"] == "delong" else splits
            key = row["test"], row["score"], row["n_samples"], splits
            size = 100 * int(row["rejected"]) / int(row["n_simulations"])
            found.setdefault(key, []).append(size)
    print("| test | score | samples | splits | designs | size at 5 % |")
    print("|---|---|---|---|---|---|")
    for (test, score, n, splits), sizes in found.items():
        span = f"{np.median(sizes):.1f}"
        span += f" ({min(sizes):.1f} to {max(sizes):.1f})" * (len(sizes) > 1)
        print(f"| `{test}` | {score} | {n} | {splits} | {len(sizes)} | {span} |")


def main() -> None:
    """Measure every design, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true")
    if not parser.parse_args().table:
        write_rows(TABLE, COLUMNS, map(measure_design, designs()))
    print_table()


if __name__ == "__main__":
    main()

"""Measure the size of every test in many designs: the table that veridical ships.

    python -m benchmarks.truth.sizes [--jobs 2] [--minutes 60]
    python -m benchmarks.truth.sizes --check
    python -m benchmarks.truth.sizes --unseen 20 --seed 1
    python -m benchmarks.truth.sizes --table

The first command writes ``src/veridical/comparison/sizes.csv``, a design at a time;
designs that are in the table already are left out, so the work can be done in pieces.
Designs are drawn at random, so that all their properties vary at once: samples,
features, features selected, signal, tails, balance and classes.

The second asks of every design whether the range that is printed for it, from the
*other* designs, contains the size that was measured in it, and how often a comparison
would say "you may claim" although neither selector is better. The third asks the same
of the default test in new designs, which are not in the table. The fourth prints the
table of docs/which-test.md.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

import veridical.comparison
from benchmarks.truth.designs import (
    CEILING,
    SEED,
    UNSEEN,
    add_rows,
    draw_designs,
    measure_all,
)
from veridical._core.arrays import FloatArray
from veridical.comparison.calibration import measure_test, run_test
from veridical.comparison.null_designs import NullDesign, simulate
from veridical.comparison.ranks import friedman
from veridical.comparison.records import MeasuredSize
from veridical.comparison.sizes import (
    ALPHAS,
    COLUMNS,
    SizeRow,
    measured_size,
    read_sizes,
    size_range,
)
from veridical.comparison.testing import TESTS
from veridical.evaluation.situations import HEAVY_TAILS, SIMULATED, find_near

TABLE = Path(veridical.comparison.__file__).with_name("sizes.csv")
METHODS = ("in", "out")

#: Repeats and folds: designs per estimator, and data sets per design.
SHAPES = {
    (1, 10): (16, 500),
    (1, 5): (10, 500),
    (5, 2): (10, 500),
    (10, 10): (10, 200),
}
#: Further designs per estimator with accuracies near 100 %.
N_CEILING = 2
#: Data sets in a null from which calibrated p-values are taken.
N_NULL = 10_000
#: Numbers of selectors that Friedman's test compares.
MANY = (3, 5)


# -- measurements --------------------------------------------------------------------


def plan() -> Iterator[tuple[str, NullDesign, int]]:
    """Yield the kind, the design and the number of data sets of every measurement.

    Estimators and shapes take turns, so that a part of the work covers all of them.
    """
    drawn = [
        [("plain", one, n) for one in designs_of(shape, estimator, number)]
        for shape, (number, n) in SHAPES.items()
        for estimator in SIMULATED
    ]
    drawn += [
        [
            ("plain", one, n)
            for one in designs_of(shape, estimator, N_CEILING, "ceiling", **CEILING)
        ]
        for shape, (_, n) in SHAPES.items()
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


def designs_of(
    shape: tuple[int, int],
    estimator: str,
    number: int,
    name: str = "",
    **more: Any,
) -> Iterator[NullDesign]:
    """Draw designs for a number of repeats and folds, and an estimator."""
    return draw_designs(
        f"{shape} {estimator}{' ' if name else ''}{name}",
        number,
        **more,
        n_repeats=shape[0],
        n_folds=shape[1],
        estimator=estimator,
    )


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
        null = measure_test(test, design, apart, 0.05, 0.01)
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
    parser.add_argument("--unseen", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0, help="of the unseen designs")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.check:
        check()
        return
    if asked.unseen:
        try_unseen(asked.unseen, asked.seed)
        return
    if asked.table:
        print(tabulate())
        return
    known = read_sizes(TABLE) if TABLE.exists() else ()
    done = {(row.kind, replace(row.design, method="in")) for row in known}
    todo = [one for one in plan() if one[:2] not in done]
    print(f"{len(done)} designs are measured, {len(todo)} are left", flush=True)
    measure_all(
        todo,
        measure_design,
        lambda rows: add_rows(TABLE, COLUMNS, rows),
        jobs=asked.jobs,
        minutes=asked.minutes,
    )


# -- does the printed range hold? ----------------------------------------------------


def check(alpha: float = 0.05) -> dict[str, tuple[int, int]]:
    """Count, per test, the designs whose range from all others holds their size."""
    rows = [row for row in read_sizes(TABLE) if row.kind == "plain"]
    counts: dict[str, list[int]] = {}
    claimed: dict[str, list[float]] = {}
    for row in rows:
        shape = f"{row.design.n_repeats}x{row.design.n_folds}"
        name = f"{row.test} {shape} {row.design.method}"
        tally = counts.setdefault(name, [0, 0, 0])
        rivals = _rivals(rows, row)
        if row.tails > HEAVY_TAILS:  # no design is near, all with such tails count
            near = [other for other in rivals if other.tails > HEAVY_TAILS]
        else:
            near = find_near(rivals, row.situation)
        printed = size_range(near or rivals, alpha, near=bool(near))
        claimed.setdefault(name, []).append(claims(row, printed))
        if not near:
            tally[2] += 1
            continue
        own = row.size(alpha)
        tally[0] += printed.low <= own.rate <= printed.high
        tally[1] += 1
    for name, (held, asked, far) in sorted(counts.items()):
        wrong = 100 * float(np.mean(claimed[name]))
        print(
            f"{name:35} {held:3} of {asked:3} designs held, {far:2} without neighbours;"
            f" wrongly claimed {wrong:4.1f} %"
        )
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    print(f"all: {total[0]} of {total[1]} designs held")
    default = [one for name in claimed if _is_default(name) for one in claimed[name]]
    above = sum(one > alpha for one in default)
    print(
        f"corrected-t in: wrongly claimed {100 * float(np.mean(default)):.1f} %; in "
        f"{above} of {len(default)} designs more than {100 * alpha:g} %"
    )
    return {name: (held, asked) for name, (held, asked, _) in counts.items()}


def try_unseen(number: int, first: int, n: int = 400, alpha: float = 0.05) -> None:
    """Measure the default test in new designs, and print what a comparison says."""
    shapes = ((1, 10), (1, 5), (1, 7), (10, 10))
    for i in range(number):
        shape = shapes[i % len(shapes)]
        estimator = list(SIMULATED)[i % len(SIMULATED)]
        (design,) = designs_of(
            shape, estimator, 1, f"unseen {first} {i}", **UNSEEN[i % len(UNSEEN)]
        )
        found = simulate(design, n, seed(design))
        rejected = tuple(count("corrected-t", design, found))
        row = SizeRow(
            "plain", "corrected-t", 2, design, float(found.mean()), n, rejected
        )
        printed = measured_size(
            "corrected-t", "in", shape, row.situation, alpha=alpha, tails=row.tails
        )
        assert printed is not None
        own = row.size(alpha)
        error = 100 * float(np.sqrt(own.rate * (1 - own.rate) / n))
        print(
            f"{design.describe(row.accuracy)}, {design.n_features_to_select} of "
            f"{design.n_columns} features, tails {design.tail_df:g}: "
            f"{100 * own.rate:.1f} ± {error:.1f} %, printed {100 * printed.low:.1f} to "
            f"{100 * printed.high:.1f}{'' if printed.near else ' (not near)'}, "
            f"{'held' if printed.low <= own.rate <= printed.high else 'MISSED'}; "
            f"claimed up to p = {printed.claim_level:.3f}, wrongly "
            f"{100 * claims(row, printed):.1f} %",
            flush=True,
        )


def _is_default(name: str) -> bool:
    return name.startswith("corrected-t") and name.endswith(" in")


def claims(row: SizeRow, printed: MeasuredSize) -> float:
    """Return how often a comparison would say "you may claim", all wrongly.

    It says so up to the p-value that may be claimed; between levels the number of
    rejections is interpolated.
    """
    if row.test == "paired-t" or not printed.near or row.tails > HEAVY_TAILS:
        return 0.0  # it treats folds as independent; nothing was measured near
    rates = np.array([0, *row.rejected]) / row.n_simulations
    return float(np.interp(printed.claim_level or 0.0, [0.0, *ALPHAS], rates))


def tabulate(method: str = "in", alpha: float = 0.05) -> str:
    """Write the median size of every test over all designs, and the range of 90 %.

    The last number of a cell is the root mean square distance from the nominal level.
    """
    rows = [row for row in read_sizes(TABLE) if row.kind == "plain"]
    lines = [
        "| test | " + " | ".join(_fold_names(shape) for shape in SHAPES) + " |",
        "|---" * (1 + len(SHAPES)) + "|",
    ]
    for test in TESTS:
        cells = []
        for shape in SHAPES:
            rates = [
                100 * row.size(alpha).rate
                for row in rows
                if (row.test, row.design.method) == (test, method)
                and (row.design.n_repeats, row.design.n_folds) == shape
            ]
            if not rates:
                cells.append("–")
                continue
            low, middle, high = np.quantile(rates, (0.05, 0.5, 0.95))
            off = np.sqrt(np.mean((np.array(rates) - 100 * alpha) ** 2))
            cells.append(f"{middle:.1f} ({low:.1f} to {high:.1f}); {off:.1f}")
        lines.append(f"| `{test}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _fold_names(shape: tuple[int, int]) -> str:
    return f"{shape[1]} folds" if shape[0] == 1 else f"{shape[0]} x {shape[1]}"


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

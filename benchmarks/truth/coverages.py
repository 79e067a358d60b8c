"""Measure how often intervals cover the truth: the table that veridical ships.

    python -m benchmarks.truth.coverages [--jobs 2] [--minutes 60]
    python -m benchmarks.truth.coverages --check
    python -m benchmarks.truth.coverages --unseen 20 --seed 1
    python -m benchmarks.truth.coverages --table

The first command writes ``src/veridical/evaluation/coverages.csv``, a design at a time;
designs that are in the table already are left out. In every design, data sets are
drawn, the procedure (AnovaF and the estimator, or the estimator alone) is evaluated,
and its intervals are compared with the accuracy, on fresh samples, of the model fitted
on all samples; of a holdout, on its training samples. The kind "default" is the
interval that `Estimate.interval` gives: the corrected t interval, or Wilson's in those
data sets in which all splits have the same accuracy. The interval of the optimism, OUT
minus IN, is compared with its mean over all data sets of the design.

The second asks of every design whether the range that is printed for it, from the
*other* designs, contains the coverage that was measured in it. The third asks the same
of new designs, which are not in the table, and adds them to ``unseen_coverages.csv``;
the table must be complete.
The fourth prints the table of docs/estimating.md.
"""

from __future__ import annotations

import argparse
import csv
import warnings
import zlib
from collections import Counter
from dataclasses import replace
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import Pipeline, make_pipeline

import veridical.evaluation
from benchmarks.truth.designs import (
    CEILING,
    UNSEEN,
    Row,
    add_rows,
    draw_designs,
    measure_all,
)
from veridical._core.arrays import FloatArray, IntArray
from veridical.comparison.null_designs import NullDesign, class_means, simulate
from veridical.comparison.significance import corrected_resampled_t
from veridical.evaluation import (
    CrossValidation,
    Holdout,
    LeaveOut,
    RandomSubsampling,
    estimate,
)
from veridical.evaluation.situations import SIMULATED, Situation, find_near
from veridical.evaluation.trust import (
    COLUMNS,
    DEFAULT,
    MEASURED,
    OPTIMISM,
    CoverageRow,
    coverage_range,
    coverage_table,
    read_coverages,
)
from veridical.learning import make_estimator
from veridical.selection import AnovaF

TABLE = Path(veridical.evaluation.__file__).with_name("coverages.csv")

METHODS = {
    "holdout": Holdout(),
    "5": CrossValidation(5),
    "10": CrossValidation(10),
    "10x10": CrossValidation(10, n_repeats=10),
    "5x2": CrossValidation(2, n_repeats=5),
    "loo": LeaveOut(1),
    "subsampling": RandomSubsampling(20),
    "2": CrossValidation(2),
}
#: Methods of new designs in turn.
UNSEEN_METHODS = ("holdout", "5", "10", "10x10", "5x2", "loo", "subsampling")
#: New designs, and the range that is printed beside the default interval in each.
UNSEEN_TABLE = Path(__file__).with_name("unseen_coverages.csv")
UNSEEN_COLUMNS = ("seed", "number", *COLUMNS, "tail_df", "low", "high", "held")

#: Intervals that are measured in designs of their own: those that cost no fits beyond
#: the evaluation, nested cross-validation, and that of the optimism.
SCORES, NESTED = "scores", "nested"
#: Designs per method and estimator, and data sets per design.
NUMBERS = {SCORES: (7, 150), NESTED: (3, 60), OPTIMISM: (4, 200)}
#: Without nearest centroid, which is like a linear SVM.
ESTIMATORS = ("nb", "1nn", "svm", "c45")
#: Further designs per method and estimator with accuracies near 100 %.
N_CEILING = 2
#: Further designs per estimator of wide tables, without signal or with a weak one, and
#: the methods that are measured in them.
WIDE = (
    {"n_samples": 25, "n_columns": 5000, "n_relevant": 0},
    {"n_samples": 50, "n_columns": 3000, "n_relevant": 0},
    {"n_samples": 100, "n_columns": 5000, "n_relevant": 5, "effect": 0.5},
    {"n_samples": 40, "n_columns": 2000, "n_relevant": 10, "effect": 0.7},
)
WIDE_METHODS = ("5", "10", "10x10", "loo")
_NOT_TREES = ("nb", "1nn", "svm")
#: Methods, estimators and properties of further designs at the edges of the others: few
#: and many samples, many features of which all are used, many classes, very wide
#: tables. The numbers are part of the seeds.
EDGES: dict[int, tuple[tuple[str, ...], tuple[str, ...], dict[str, Any]]] = {
    0: (tuple(METHODS), ESTIMATORS, {"n_samples": 20}),
    1: (("5", "10"), ESTIMATORS, {"n_columns": 200, "n_features_to_select": 200}),
    2: (("5", "10"), _NOT_TREES, {"n_columns": 1500, "n_features_to_select": 1500}),
    3: (("5", "10"), ESTIMATORS, {"n_samples": 120, "n_classes": 5, "minority": 0.2}),
    4: (("5", "10"), ESTIMATORS, {"n_samples": 200, "n_classes": 8, "minority": 1 / 8}),
    5: (("5", "10"), ("nb", "1nn"), {"n_samples": 40, "n_columns": 20_000}),
    7: (("holdout", "5", "10"), ESTIMATORS, {"n_samples": 800, "n_columns": 60}),
    8: (("holdout", "5", "10"), _NOT_TREES, {"n_samples": 2000, "n_columns": 25}),
}
#: The methods and estimators of each.
MEASURES = {
    SCORES: (tuple(METHODS), ESTIMATORS),
    NESTED: (("10",), ESTIMATORS),
    OPTIMISM: (("5", "10", "10x10", "5x2"), tuple(SIMULATED)),
}
_ALL = slice(None)
#: Features of a fresh sample; of wider tables only those that are selected are drawn.
MOST_DRAWN = 1500
#: Fresh samples on which the accuracy of a model is measured; in designs of more than
#: so many samples this many per sample. The error of this accuracy counts as a miss: of
#: intervals that cover in 95 %, with 100 samples in 0.6 %, with 400 in 2.4 %.
N_FRESH, N_MANY, FRESH_PER_SAMPLE = 2000, 400, 20


def make_procedure(design: NullDesign) -> Any:
    """Return a pipeline, or the estimator alone where all features are used."""
    model = (
        NearestCentroid()
        if design.estimator == "centroid"
        else make_estimator(design.estimator)
    )
    if design.n_features_to_select == design.n_columns:
        return model
    return make_pipeline(AnovaF(design.n_features_to_select), model)


def draw(
    design: NullDesign,
    y: IntArray,
    rng: np.random.Generator,
    columns: IntArray | slice = _ALL,
) -> FloatArray:
    """Draw features, all or some, of samples whose classes are given."""
    shift = class_means(design, y)[:, columns]
    if np.isinf(design.tail_df):
        return rng.standard_normal(shift.shape) + shift
    return rng.standard_t(design.tail_df, shift.shape) + shift


def measure_design(what: str, name: str, design: NullDesign) -> list[Row]:
    """Count how often the intervals of one method cover the truth."""
    warnings.simplefilter("ignore")
    if what == OPTIMISM:
        return measure_optimism(name, design)
    method, procedure = METHODS[name], make_procedure(design)
    shares = np.array(design.class_sizes) / design.n_samples
    covered: Counter[str] = Counter()
    n: Counter[str] = Counter()
    truths = []
    for run in range(NUMBERS[what][1]):
        rng = np.random.default_rng([zlib.crc32(repr(design).encode()), run])
        # Of a random sample the number in a class varies; every class has two.
        y = rng.choice(design.n_classes, design.n_samples, p=shares)
        while np.bincount(y, minlength=design.n_classes).min() < 2:
            y = rng.choice(design.n_classes, design.n_samples, p=shares)
        X = draw(design, y, rng)
        fresh = rng.choice(design.n_classes, count_fresh(design.n_samples), p=shares)
        found = estimate(procedure, X, y, cv=method, random_state=run, progress=False)
        rows = method.split(y, run)[0].train if name == "holdout" else np.arange(len(y))
        if len(np.unique(y[rows])) < 2:
            continue
        model, kept = procedure.fit(X[rows], y[rows]), _ALL
        if isinstance(model, Pipeline) and design.n_columns > MOST_DRAWN:
            kept, model = model[0].get_support(indices=True), model[-1]
        Z = draw(design, fresh, rng, kept)
        truths.append(float(np.mean(model.predict(Z) == fresh)))
        default = () if what == NESTED else ((DEFAULT, found.interval()),)
        kinds = [kind for kind in found.assumes if (kind == NESTED) == (what == NESTED)]
        for kind, (low, high) in (
            *default,
            *((kind, found.interval(0.95, kind)) for kind in kinds),
        ):
            n[kind] += 1
            covered[kind] += low <= truths[-1] <= high
    accuracy = float(np.mean(truths))
    return [_row(name, kind, design, accuracy, n[kind], covered[kind]) for kind in n]


def count_fresh(n_samples: int) -> int:
    """Return the number of fresh samples for a design."""
    return FRESH_PER_SAMPLE * n_samples if n_samples > N_MANY else N_FRESH


def measure_optimism(name: str, design: NullDesign) -> list[Row]:
    """Count how often the interval of OUT minus IN covers its mean."""
    found = {
        method: simulate(
            replace(design, method=method),
            NUMBERS[OPTIMISM][1],
            zlib.crc32(repr(design).encode()),
            sides=1,
        ).reshape(-1, design.n_repeats, design.n_folds)
        for method in ("in", "out")
    }
    geometry = design.geometry
    test = corrected_resampled_t(
        found["out"],
        found["in"],
        n_train=geometry.n_train,
        n_test=geometry.n_test,
    )
    low, high = np.asarray(test.interval)
    known = ~np.isnan(low)
    truth = (found["out"] - found["in"]).mean()
    covered = int(((low <= truth) & (truth <= high))[known].sum())
    accuracy = float(found["in"].mean())
    return [_row(name, OPTIMISM, design, accuracy, int(known.sum()), covered)]


def _row(
    name: str, kind: str, design: NullDesign, accuracy: float, n: int, covered: int
) -> Row:
    _, where = key_of(SCORES, name, design)
    return {
        "method": name,
        "kind": kind,
        **Situation(*where[1:], round(accuracy, 4))._asdict(),
        "n_simulations": n,
        "covered": covered,
    }


def plan() -> list[tuple[str, str, NullDesign]]:
    """Return measures, methods and designs; estimators and methods take turns."""
    drawn = []
    for what, (methods, estimators) in MEASURES.items():
        for name, estimator in product(methods, estimators):
            n_folds = METHODS[name].n_folds if what == OPTIMISM else 10
            designs = draw_designs(
                f"coverage {'' if what == SCORES else what + ' '}{name} {estimator}",
                NUMBERS[what][0],
                n_repeats=METHODS[name].n_repeats if what == OPTIMISM else 1,
                n_folds=n_folds,
                estimator=estimator,
            )
            drawn.append(
                [
                    (what, name, d if what == OPTIMISM else _some_unselected(i, d))
                    for i, d in enumerate(designs)
                ]
            )
    for name, estimator in product(*MEASURES[SCORES]):
        designs = draw_designs(
            f"coverage ceiling {name} {estimator}",
            N_CEILING,
            n_repeats=1,
            n_folds=10,
            estimator=estimator,
            **CEILING,
        )
        drawn.append([(SCORES, name, one) for one in designs])
    for name, estimator in product(WIDE_METHODS, ESTIMATORS):
        drawn.append(
            [
                (SCORES, name, one)
                for i, wide in enumerate(WIDE)
                for one in draw_designs(
                    f"coverage wide {i} {name} {estimator}",
                    1,
                    n_repeats=1,
                    n_folds=10,
                    estimator=estimator,
                    **wide,
                )
            ]
        )
    for i, (methods, estimators, edge) in EDGES.items():
        for name, estimator in product(methods, estimators):
            designs = draw_designs(
                f"coverage edge {i} {name} {estimator}",
                1,
                n_repeats=1,
                n_folds=10,
                estimator=estimator,
                **edge,
            )
            drawn.append([(SCORES, name, one) for one in designs])
    return [one for turn in zip_longest(*drawn) for one in turn if one is not None]


def _some_unselected(i: int, design: NullDesign) -> NullDesign:
    """Let every third design use all of its features, which then are few."""
    if i % 3:
        return design
    few = min(design.n_columns, 40)
    return replace(
        design,
        n_columns=few,
        n_features_to_select=few,
        n_relevant=min(design.n_relevant, few),
    )


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
    if asked.table:
        print(tabulate())
        return
    if not TABLE.exists():
        add_rows(TABLE, COLUMNS, [])
    done = measured_designs()
    todo: list[tuple[Any, ...]]
    todo = [one for one in plan() if key_of(*one) not in done]
    measure, path, columns = measure_design, TABLE, COLUMNS
    if asked.unseen:
        todo = [*list_unseen(asked.unseen, asked.seed)]
        measure, path, columns = measure_unseen, UNSEEN_TABLE, UNSEEN_COLUMNS
    print(f"{len(done)} designs are measured, {len(todo)} are left", flush=True)
    measure_all(
        todo,
        measure,
        lambda rows: add_rows(path, columns, rows),
        jobs=asked.jobs,
        minutes=asked.minutes,
    )


def measured_designs() -> dict[tuple[str, tuple[Any, ...]], CoverageRow]:
    """Return a row of the table for every design in it, that of default intervals."""
    return {
        (
            SCORES if row.kind == DEFAULT else row.kind,
            (row.method, *row.situation[:6]),
        ): row
        for row in read_coverages(TABLE)
        if row.kind in (NESTED, OPTIMISM, DEFAULT)
    }


def key_of(what: str, name: str, design: NullDesign) -> tuple[str, tuple[Any, ...]]:
    return what, (
        name,
        design.n_samples,
        design.n_columns,
        design.n_features_to_select,
        design.n_classes,
        design.minority,
        design.estimator,
    )


def check() -> dict[str, tuple[int, int]]:
    """Count, per method and kind, the designs whose range from others holds theirs."""
    rows = coverage_table()
    counts: dict[str, list[int]] = {}
    for row in rows:
        tally = counts.setdefault(f"{row.method} {row.kind}", [0, 0, 0])
        others: list[CoverageRow] = [
            other
            for other in rows
            if (other.method, other.kind) == (row.method, row.kind) and other != row
        ]
        near = find_near(others, row.situation)
        if not near:
            tally[2] += 1
            continue
        printed = coverage_range(near)
        tally[0] += printed.low <= row.covered / row.n_simulations <= printed.high
        tally[1] += 1
    for name, (held, asked, far) in sorted(counts.items()):
        print(f"{name:30} {held:4} of {asked:4} designs held, {far} without neighbours")
    return {name: (held, asked) for name, (held, asked, _) in counts.items()}


def list_unseen(number: int, seed: int) -> list[tuple[int, int]]:
    """Return the numbers of the new designs that are not in their table, and the seed.

    What is printed beside an interval depends on the whole table of coverages: without
    it there are none.
    """
    known = measured_designs()
    if any(key_of(*one) not in known for one in plan()):
        return []
    done = set()
    if UNSEEN_TABLE.exists():
        with UNSEEN_TABLE.open(newline="", encoding="utf-8") as file:
            done = {(row["number"], row["seed"]) for row in csv.DictReader(file)}
    return [(i, seed) for i in range(number) if (str(i), str(seed)) not in done]


def measure_unseen(i: int, seed: int) -> list[Row]:
    """Measure the default interval of one new design, and look up its range."""
    name = UNSEEN_METHODS[i % len(UNSEEN_METHODS)]
    (design,) = draw_designs(
        f"unseen {seed} {i}",
        1,
        n_repeats=1,
        n_folds=10,
        estimator=ESTIMATORS[i % len(ESTIMATORS)],
        **UNSEEN[i % len(UNSEEN)],
    )
    rows = measure_design(SCORES, name, design)
    found = next(row for row in rows if row["kind"] == DEFAULT)
    place = Situation(*(found[field] for field in Situation._fields))
    like = [
        row for row in coverage_table() if (row.method, row.kind) == (name, DEFAULT)
    ]
    near = find_near(like, place)
    printed = coverage_range(near) if near else None
    share = found["covered"] / found["n_simulations"]
    row = {
        "seed": seed,
        "number": f"{i}",
        **found,
        "tail_df": f"{design.tail_df:g}",
        "low": f"{printed.low:.4f}" if printed else "",
        "high": f"{printed.high:.4f}" if printed else "",
        "held": printed.low <= share <= printed.high if printed else "",
    }
    print(*row.values(), flush=True)
    return [row]


def tabulate() -> str:
    """Write the median coverage over all designs, and the range of 90 %."""
    lines = [
        "| method | kind | median | 90 % of the designs | designs |",
        "|---|---|---|---|---|",
    ]
    rows = coverage_table()
    for method, kind in sorted({(row.method, row.kind) for row in rows}):
        shares = [
            100 * row.covered / row.n_simulations
            for row in rows
            if (row.method, row.kind) == (method, kind)
        ]
        low, middle, high = np.quantile(shares, (0.05, 0.5, 0.95))
        lines.append(
            f"| {MEASURED[method]} | `{kind}` | {middle:.1f} | {low:.1f} to {high:.1f} "
            f"| {len(shares)} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()

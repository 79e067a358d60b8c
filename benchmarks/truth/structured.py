"""Measure sizes and coverages for scores and groups: the table that veridical ships.

    python -m benchmarks.truth.structured [--jobs 2] [--minutes 40]
    python -m benchmarks.truth.structured --check
    python -m benchmarks.truth.structured --table

The first command writes ``src/veridical/evaluation/structured.csv``, a design at a
time; designs that are in the table already are left out. In every design, data sets of
two blocks of features with the same distribution are drawn, a selector and an estimator
are cross-validated on each, and counted is how often the corrected resampled t-test
rejects (neither block is better), and how often the default interval of the first
covers the score of its model, fitted on all samples, on fresh ones. The second asks of
every design whether the range that is printed for it, from the *other* designs,
contains what was measured in it. The third prints the table of docs/which-test.md, and
what an analysis without groups would have done.
"""

from __future__ import annotations

import argparse
import warnings
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import veridical.evaluation
from benchmarks.truth.designs import Row, add_rows, between, measure_all
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.parallel import serial
from veridical._core.reading import read_table
from veridical._core.scoring import read_scoring
from veridical._core.splits import count_units, split_table
from veridical._core.table import Table
from veridical.comparison.significance import corrected_resampled_t
from veridical.evaluation import CrossValidation
from veridical.evaluation.engine import Evaluation, Procedure, evaluate_table
from veridical.evaluation.estimating import accuracy_of_hits, estimate_of_score
from veridical.evaluation.situations import Situation
from veridical.evaluation.structured import (
    ALPHAS,
    COLUMNS,
    near_rows,
    read_structured,
)
from veridical.evaluation.trust import range_of_shares
from veridical.learning import make_estimator
from veridical.selection import AnovaF

TABLE = Path(veridical.evaluation.__file__).with_name("structured.csv")
#: Data sets of a design, and fresh samples on which a model is measured.
N_SETS, N_FRESH = 400, 1000
#: Estimators of each score.
ESTIMATORS = {
    "accuracy": ("nb", "svm"),
    "balanced_accuracy": ("nb", "svm"),
    "roc_auc": ("nb", "svm"),
    "log_loss": ("nb",),
}
SEED = 2018


@dataclass(frozen=True)
class Design:
    """A design: units with samples that correlate, classes, features and a score."""

    score: str
    n_folds: int
    n_units: int
    group_size: int
    minority: float
    estimator: str
    correlation: float
    n_columns: int
    n_selected: int
    effect: float
    varies: bool

    def outcomes(self, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw the class and the group of every sample, each class in every fold."""
        groups = np.repeat(np.arange(self.n_units), self.group_size)
        n = len(groups) if self.varies else self.n_units
        few = max(round(self.minority * n), self.n_folds)
        y = rng.permutation(np.arange(n) < few).astype(np.intp)
        return (y if self.varies else y[groups]), groups

    def features(
        self, y: IntArray, groups: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """Draw a block of features; the first three differ between the classes."""
        shape = (int(groups.max()) + 1, self.n_columns)
        shared = rng.standard_normal(shape)[groups]
        own = rng.standard_normal(shared.shape)
        X = np.sqrt(self.correlation) * shared + np.sqrt(1 - self.correlation) * own
        X[:, :3] += self.effect * y[:, None]
        return X


def designs() -> list[Design]:
    """Draw the designs: every score without groups and with groups, in turn."""
    rng = np.random.default_rng(SEED)
    drawn = []
    for turn in range(10):
        for score, estimators in ESTIMATORS.items():
            for grouped in (False, True):
                if score == "accuracy" and not grouped:
                    continue  # benchmarks.truth.sizes and coverages have it
                drawn.append(
                    _draw(rng, score, estimators[turn % len(estimators)], grouped, turn)
                )
    return drawn


def _draw(
    rng: np.random.Generator, score: str, estimator: str, grouped: bool, turn: int
) -> Design:
    size = int(rng.integers(2, 11)) if grouped else 1
    minority = (0.5, 0.1, 0.3)[turn % 3]
    n_folds = 10 if turn % 2 and not (grouped and minority < 0.2) else 5
    fewest = max(40 / size, n_folds / minority, 20)
    n_units = round(between(rng, fewest, max(400 / size, 1.5 * fewest)))
    n_columns = round(between(rng, 6, 60))
    return Design(
        score,
        n_folds,
        n_units,
        size,
        minority,
        estimator,
        round(float(rng.uniform(0.2, 0.9)), 2) if grouped else 0.0,
        n_columns,
        round(between(rng, 2, min(10, n_columns / 2))),
        float(rng.choice([0.0, 0.5, 1.0])),
        bool(grouped and turn % 4 == 3),
    )


def measure_design(design: Design) -> list[Row]:
    """Count rejections and intervals that cover in one design."""
    warnings.simplefilter("ignore")
    (score,) = read_scoring(design.score, None)
    learner = make_estimator(design.estimator)
    method = CrossValidation(design.n_folds)
    rejected = np.zeros(len(ALPHAS), dtype=int)
    covered = n = 0
    values = []
    for run in range(N_SETS):
        rng = np.random.default_rng([zlib.crc32(repr(design).encode()), run])
        y, groups = design.outcomes(rng)
        given = groups if design.group_size > 1 else None
        tables = [
            read_table(design.features(y, groups, rng), y, groups=given, kind="classes")
            for _ in range(2)
        ]
        splits = split_table(method, tables[0], run)
        procedure = Procedure(learner, AnovaF(), (design.n_selected,))
        asked = [] if score.is_accuracy else [score]
        found = [
            evaluate_table([procedure], table, splits, run=serial, scores=asked)[0]
            for table in tables
        ]
        a, b = (one.scored(score).splits[0] for one in found)
        if np.isnan([a, b]).any():
            continue
        n_train, n_test = count_units(splits, given)
        test = corrected_resampled_t(
            a, b, n_train=n_train.tolist(), n_test=n_test.tolist()
        )
        rejected += [test.pvalue < alpha for alpha in ALPHAS]
        low, high = _interval(method, splits, found[0], score, tables[0])
        truth = _truth(design, learner, tables[0], score, rng)
        covered += low <= truth <= high
        values.append(float(found[0].scored(score).values[0]))
        n += 1
    known = {k: v for k, v in asdict(design).items() if k in COLUMNS}
    return [
        {
            **known,
            "n_features": design.n_columns,
            "value": f"{np.mean(values):.4f}",
            "n_simulations": n,
            **{
                f"rejected_{a:g}": int(r) for a, r in zip(ALPHAS, rejected, strict=True)
            },
            "covered": int(covered),
        }
    ]


def _interval(
    method: Any, splits: Any, found: Evaluation, score: Any, table: Table
) -> tuple[float, float]:
    if score.is_accuracy:
        situation = Situation.from_summary(table.summary(None), 1, "nb", np.nan)
        hits = [one[0] for one in found.hits]
        one = accuracy_of_hits(
            method, splits, hits, situation, random_state=0, table=table
        )
    else:
        one = estimate_of_score(method, splits, found, score, table)
    return one.interval() if one.assumes else (-np.inf, np.inf)


def _truth(
    design: Design, learner: Any, table: Table, score: Any, rng: np.random.Generator
) -> float:
    """Measure the model fitted on all samples on fresh ones, each of its own group."""
    order = AnovaF(design.n_selected).fit_table(table).order_[: design.n_selected]
    columns = np.sort(order)
    few = np.bincount(table.y, minlength=2)[1] / table.n_samples
    fresh = (np.arange(N_FRESH) < round(few * N_FRESH)).astype(np.intp)
    Z = design.features(fresh, np.arange(N_FRESH), rng)
    n = table.n_samples
    both = read_table(
        np.vstack([table.source, Z])[:, columns],
        np.concatenate([table.y, fresh]),
        kind="classes",
    )
    split = (np.arange(n), np.arange(n, n + N_FRESH))
    (found,) = veridical.evaluation.evaluate(
        [Procedure(learner)], both, both.labels, [split], scoring=score
    )
    return float(found.scored(score).splits[0, 0])


def print_table() -> None:
    """Print sizes and coverages, by score, with and without groups."""
    rows = read_structured(TABLE)
    print("| score | groups | designs | size at 5 % | coverage of 95 % |")
    print("|---|---|---|---|---|")
    for score in ESTIMATORS:
        for grouped in (False, True):
            some = [
                row
                for row in rows
                if row.situation.score == score
                and (row.situation.group_size > 1) == grouped
            ]
            if not some:
                continue
            sizes = [100 * row.rejected[1] / row.n_simulations for row in some]
            covers = [100 * row.covered / row.n_simulations for row in some]
            print(
                f"| {score} | {'yes' if grouped else 'no'} | {len(some)} | "
                f"{np.median(sizes):.1f} ({min(sizes):.1f} to {max(sizes):.1f}) | "
                f"{np.median(covers):.1f} ({min(covers):.1f} to {max(covers):.1f}) |"
            )


def key_of(design: Design) -> tuple[Any, ...]:
    """Return the folds and the situation of a design, without the score's value."""
    return (
        design.n_folds,
        design.score,
        design.n_units,
        float(design.group_size),
        design.n_columns,
        design.n_selected,
        design.minority,
        design.estimator,
    )


def check() -> tuple[int, int]:
    """Count the designs whose ranges from the others hold their rates.

    Sizes at 5 % and coverages count apart.
    """
    rows = read_structured(TABLE)
    held = asked = far = 0
    for row in rows:
        others = [other for other in rows if other != row]
        near = near_rows(others, row.n_folds, row.situation)
        if not near:
            far += 1
            continue
        numbers = [one.n_simulations for one in near]
        for counts, own in (
            ([one.covered for one in near], row.covered),
            ([one.rejected[1] for one in near], row.rejected[1]),
        ):
            printed = range_of_shares(counts, numbers, "")
            held += printed.low <= own / row.n_simulations <= printed.high
            asked += 1
    print(f"{held} of {asked} rates held, {far} designs without neighbours")
    return held, asked


def main() -> None:
    """Measure what is not in the table yet, or print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.check:
        check()
        return
    if asked.table:
        print_table()
        return
    done = set()
    if TABLE.exists():
        done = {(row.n_folds, *row.situation[:-1]) for row in read_structured(TABLE)}
    todo = [(one,) for one in designs() if key_of(one) not in done]
    measure_all(
        todo,
        measure_design,
        lambda rows: add_rows(TABLE, COLUMNS, rows),
        jobs=asked.jobs,
        minutes=asked.minutes,
    )


if __name__ == "__main__":
    main()

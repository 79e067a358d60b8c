"""Measure how often the intervals of the parts of a score cover.

    python -m benchmarks.leakbench.parts --tables 60

What an interval should cover depends on the part:

- parts that come from runs with other folds (luck, features, duplicates, groups) and
  from permuted labels (chance): the value with unlimited runs on the same samples. Many
  runs are made, each interval is computed from a few, and the others are the truth;
- selection: the mean over tables of the same source and estimator;
- signal: the accuracy that the procedure has on new samples, above chance, where the
  source is simulated.

Writes ``parts.csv``: for each table and part, how many of its intervals cover. The run
can be stopped and resumed.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import (
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_predict,
)

from veridical.auditing import audit
from veridical.auditing.decomposing import RUNS, part_between
from veridical.leakbench import CONTROLS, MECHANISMS, draw_table, real_sources
from veridical.leakbench.planting import N_FOLDS, Scenario
from veridical.leakbench.tables import ESTIMATORS, simulated_sources

TARGET = Path(__file__).parent / "parts.csv"
HEADER = ["part", "source", "table", "estimator", "value", "low", "high", "covers", "n"]
#: Number of runs of each table, and of permutations; an interval has `RUNS` of the
#: former and `FEW` of the latter.
MANY, MANY_PERMUTED, FEW = 60, 400, 20
#: First number of the draws: those of seed 2.
FIRST = 2 * 10**6


def audit_work(work: Scenario, number: int, n_permutations: int = 19) -> Any:
    """Audit a work."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return audit(
            work.estimator, work.X, work.y, cv=work.cv, random_state=number,
            n_permutations=n_permutations, progress=False, **work.known,
        )  # fmt: skip


def scores_of_runs(estimator: Any, X: Any, y: Any, groups: Any = None) -> Any:
    """Return the accuracy of cross-validation with many other folds."""
    made = StratifiedKFold if groups is None else StratifiedGroupKFold
    found = []
    for run in range(MANY):
        folds = made(N_FOLDS, shuffle=True, random_state=run)
        predicted = cross_val_predict(clone(estimator), X, y, cv=folds, groups=groups)
        found.append(np.mean(predicted == y))
    return np.array(found)


def draw_runs(part: str, source: str, number: int) -> tuple[Any, Any]:
    """Draw the scores before and after a freedom was removed."""
    if part == "luck":
        work = CONTROLS["plain"].draw(source, number)
        return scores_of_runs(work.estimator, work.X, work.y), None
    if part == "features":
        planted = MECHANISMS["consequence"].draw(source, number, 0.6)
        works = planted.leaky, planted.cured
        return tuple(scores_of_runs(one.estimator, one.X, one.y) for one in works)
    table = draw_table(source, number)
    rng = np.random.default_rng(number)
    copied = np.r_[np.arange(table.n), rng.permutation(table.n)[: table.n // 2]]
    noise = 0.5 * (part == "groups")
    X = table.X[copied] + noise * table.X.std(axis=0) * rng.normal(
        size=(copied.size, table.X.shape[1])
    )
    y = table.y[copied]
    before = scores_of_runs(table.estimator, X, y)
    return before, scores_of_runs(table.estimator, X, y, copied)


def count_of_runs(part: str, source: str, number: int) -> tuple[int, int]:
    """Count the intervals of some runs each that cover the mean over the others."""
    before, after = draw_runs(part, source, number)
    hits, n = 0, MANY // RUNS
    for i in range(n):
        some = np.zeros(MANY, dtype=bool)
        some[RUNS * i : RUNS * (i + 1)] = True
        if after is None:  # the score of one run minus the mean over others
            zero = np.zeros(RUNS)
            low, high = part_between(part, before[some], zero, 0.05)[2:]
            truth = before[~some].mean()
        else:
            low, high = part_between(part, before[some], after[some], 0.05)[2:]
            truth = before[~some].mean() - after[~some].mean()
        hits += low - 1e-9 <= truth <= high + 1e-9
    return hits, n


def count_of_permutations(work: Scenario, number: int) -> tuple[int, int]:
    """Count the intervals of some permutations that cover the mean over the others."""
    null = audit_work(work, number, MANY_PERMUTED).null["in"].accuracies
    hits, n = 0, MANY_PERMUTED // FEW
    for i in range(n):
        some = np.zeros(MANY_PERMUTED, dtype=bool)
        some[FEW * i : FEW * (i + 1)] = True
        half = stats.t.ppf(0.975, FEW - 1) * null[some].std(ddof=1) / np.sqrt(FEW)
        hits += abs(null[some].mean() - null[~some].mean()) <= half
    return hits, n


def measure(table: int) -> Iterator[list[Any]]:
    """Yield the lines of one table of every kind."""
    sources = [*simulated_sources(), *real_sources()]
    source, number = sources[table % len(sources)], FIRST + table
    empty: list[Any] = ["", "", ""]
    for part in ("luck", "features", "duplicates", "groups"):
        counted = count_of_runs(part, source, number)
        yield [part, source, table, "", *empty, *counted]
    source = simulated_sources()[table % 5]
    turn = number // 12 % len(ESTIMATORS)
    work = CONTROLS["plain"].draw(source, number)
    if table % 5 == 0:
        counted = count_of_permutations(work, table)
        yield ["chance", source, table, "", *empty, *counted]
    parts = audit_work(work, table).decomposition
    truth = true_accuracy(source, turn) - 0.5
    low, high = parts["signal"][2:]
    yield ["signal", source, table, turn, *parts["signal"][1:],
           int(low <= truth <= high), 1]  # fmt: skip
    work = MECHANISMS["selection"].draw(source, number, 20.0).leaky
    found = audit_work(work, table).decomposition["selection"]
    yield ["selection", source, table, turn, *found[1:], "", 1]


@cache
def true_accuracy(source: str, turn: int, n_tables: int = 100) -> float:
    """Return the accuracy on new samples of a simulated source."""
    right = []
    for i in range(n_tables):
        train = draw_table(source, 2 * FIRST + 2 * i)
        test = draw_table(source, 2 * FIRST + 2 * i + 1)
        rows = np.arange(train.n - train.n // N_FOLDS)
        model = clone(ESTIMATORS[turn]()).fit(train.X[rows], train.y[rows])
        right.append(np.mean(model.predict(test.X) == test.y))
    return float(np.mean(right))


def count_covered(frame: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Count the intervals of each part that cover, and all of them."""
    frame = frame.copy()
    numbers = ["value", "low", "high", "covers"]
    frame[numbers] = frame[numbers].apply(pd.to_numeric, errors="coerce")
    mean = frame.groupby(["part", "source", "estimator"])["value"].transform("mean")
    inside = (frame["low"] <= mean) & (mean <= frame["high"])
    frame["covers"] = frame["covers"].fillna(inside.astype(float))
    counted = frame.groupby("part")[["covers", "n"]].sum()
    return {str(p): (int(k), int(n)) for p, k, n in counted.itertuples()}


def main() -> None:
    """Measure the tables that are not in the file yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=60)
    options = parser.parse_args()
    first = int(pd.read_csv(TARGET)["table"].max()) + 1 if TARGET.exists() else 0
    with TARGET.open("a", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        if not opened.tell():
            writer.writerow(HEADER)
        for table in range(first, options.tables):
            writer.writerows(
                [f"{x:.5g}" if isinstance(x, float) else x for x in line]
                for line in list(measure(table))
            )
            opened.flush()
    print(count_covered(pd.read_csv(TARGET, keep_default_na=False)))


if __name__ == "__main__":
    main()

"""Measure how often the intervals of the parts of a score cover.

    python -m benchmarks.leakbench.parts --tables 60

What an interval should cover depends on the part:

- parts that come from runs with other folds (luck, overlap, features, duplicates,
  groups, order) and from permuted labels (chance, batch): the value with unlimited runs
  on the same samples. Many runs are made, each interval is computed from a few, and the
  mean of the others is the truth; intervals are widened by the error of that mean;
- selection: the mean over the other tables of the same source and estimator;
- signal: the accuracy that the procedure has on new samples, above chance, where the
  source is simulated;
- signal of leaky work: the mean accuracy of the same work without the mistake on other
  tables, above chance.

Writes ``parts.csv``: for each table and part, how many of its intervals cover. The run
can be stopped and resumed, and ``--parts`` measures some of the parts on more tables.
"""

from __future__ import annotations

import argparse
import csv
import itertools
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
from veridical.auditing.checks_samples import blocked_splits
from veridical.auditing.decomposing import RUNS, part_between
from veridical.evaluation.intervals import paired_shares
from veridical.leakbench import CONTROLS, MECHANISMS, draw_table, real_sources
from veridical.leakbench.honest_tables import (
    HONEST_CLASSIFIERS,
    nearest,
    simulated_sources,
)
from veridical.leakbench.planting import N_FOLDS, Scenario

TARGET = Path(__file__).parent / "parts.csv"
HEADER = ["part", "source", "table", "estimator", "value", "low", "high", "covers", "n"]
#: Number of runs of each table, and of permutations; an interval has `RUNS` of the
#: former and `FEW` of the latter. Permutations are of one table in four.
MANY, MANY_PERMUTED, FEW, EVERY = 60, 300, 20, 4
#: First number of the draws: those of seed 4.
FIRST = 4 * 10**6
#: The parts, in the order in which they are measured.
PARTS = (
    *("luck", "features", "duplicates", "groups", "order", "overlap", "chance"),
    *("batch", "signal", "signal of leaky work", "selection"),
)
#: Mistakes after whose removal the signal is compared with that of the cured work, and
#: their doses; the tables take them in turn. The classes are of equal size.
MISTAKES = (
    *(("outcome-copy", 1.0), ("patients", 0.5), ("missingness", 0.6)),
    *(("near-duplicates", 0.01), ("duplicates", 0.5), ("overlapping-folds", 0.2)),
    *(("consequence", 0.2), ("target-encoding", 3.0), ("time-order", 1.0)),
)


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


def draw_runs(part: str, source: str, number: int) -> tuple[Any, Any, int]:
    """Draw the scores before and after a freedom was removed, of how many samples."""
    if part == "luck":
        work = CONTROLS["plain"].draw(source, number)
        return scores_of_runs(work.estimator, work.X, work.y), None, len(work.y)
    if part == "features":
        planted = MECHANISMS["consequence"].draw(source, number, 0.6)
        works = planted.leaky, planted.cured
        left, right = (scores_of_runs(w.estimator, w.X, w.y) for w in works)
        return left, right, len(planted.leaky.y)
    if part == "order":  # the folds of consecutive samples are always the same
        work = MECHANISMS["time-order"].draw(source, number).leaky
        each = np.arange(len(work.y))[:, None]
        blocks, _ = blocked_splits(work.y, each, N_FOLDS)
        right = [
            clone(work.estimator).fit(work.X[one.train], work.y[one.train])
            .predict(work.X[one.test]) == work.y[one.test]
            for one in blocks
        ]  # fmt: skip
        whole = scores_of_runs(work.estimator, work.X, work.y)
        return whole, np.full(MANY, np.mean(np.concatenate(right))), len(work.y)
    table = draw_table(source, number)
    rng = np.random.default_rng(number)
    copied = np.r_[np.arange(table.n), rng.permutation(table.n)[: table.n // 2]]
    noise = 0.5 * (part == "groups")
    X = table.X[copied] + noise * table.X.std(axis=0) * rng.normal(
        size=(copied.size, table.X.shape[1])
    )
    y = table.y[copied]
    before = scores_of_runs(table.estimator, X, y)
    return before, scores_of_runs(table.estimator, X, y, copied), len(y)


def covers(distance: float, half_width: float, n: int, n_others: int) -> bool:
    """Return whether an interval of `n` values covers the mean over others.

    That mean has an error too, by which the interval is widened.
    """
    return bool(distance <= half_width * np.sqrt(1 + n / n_others) + 1e-9)


def count_of_runs(part: str, source: str, number: int) -> tuple[int, int]:
    """Count the intervals of some runs each that cover the mean over the others."""
    before, after, size = draw_runs(part, source, number)
    if after is None:  # the score of one run minus the mean over others
        after = np.zeros(MANY)
    hits, n = 0, MANY // RUNS
    for i in range(n):
        some = np.zeros(MANY, dtype=bool)
        some[RUNS * i : RUNS * (i + 1)] = True
        kept = after[some][: 1 if part in ("order", "luck") else RUNS]
        value, low, high = part_between(part, before[some], kept, 0.05, 1 / size)[1:]
        truth = before[~some].mean() - after[~some].mean()
        hits += covers(abs(value - truth), (high - low) / 2, RUNS, MANY - RUNS)
    return hits, n


def count_of_overlaps(source: str, number: int) -> tuple[int, int]:
    """Count the intervals of single runs that cover the mean over the others.

    In every run other test samples are in the training sets.
    """
    table = draw_table(source, number)
    X, y, learner = table.X, table.y, nearest(1)
    rng = np.random.default_rng(number)
    found = np.zeros((MANY // 2, len(y)))
    for run, gain in enumerate(found):
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=run)
        for train, test in folds.split(X, y):
            right = [
                clone(learner).fit(X[rows], y[rows]).predict(X[test]) == y[test]
                for rows in (np.r_[train, test[rng.random(test.size) < 0.2]], train)
            ]
            gain[test] = right[0].astype(float) - right[1]
    return count_of_gains(found)


def count_of_gains(found: Any) -> tuple[int, int]:
    """Count the intervals of runs that cover the mean gain over the other runs."""
    hits, n = 0, len(found)
    for i, gain in enumerate(found):
        won, lost = np.count_nonzero(gain > 0), np.count_nonzero(gain < 0)
        low, high = paired_shares(won, lost, gain.size)
        truth = np.delete(found, i, axis=0).mean()
        middle, half = (low + high) / 2, (high - low) / 2
        hits += covers(abs(middle - truth), half, 1, n - 1)
    return hits, n


def count_of_means(groups: Any) -> tuple[int, int]:
    """Count the t intervals of groups that cover the mean over the other groups."""
    n, size = groups.shape
    hits = 0
    for i in range(n):
        half = stats.t.ppf(0.975, size - 1) * groups[i].std(ddof=1) / np.sqrt(size)
        others = np.delete(groups, i, axis=0)
        hits += covers(abs(groups[i].mean() - others.mean()), half, size, others.size)
    return hits, n


def permuted_scores(work: Scenario, strata: Any, n: int, seed: int) -> Any:
    """Return accuracies for labels that are permuted within strata."""
    X, y = work.X, work.y
    found = np.empty(n)
    for b in range(n):
        rng = np.random.default_rng([seed, b])
        labels = y.copy()
        for one in np.unique(strata):
            rows = np.flatnonzero(strata == one)
            labels[rows] = labels[rng.permutation(rows)]
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=b)
        predicted = cross_val_predict(clone(work.estimator), X, labels, cv=folds)
        found[b] = np.mean(predicted == labels)
    return found


def count_of_permutations(part: str, source: str, number: int) -> tuple[int, int]:
    """Count the intervals of chance or batch that cover the mean over the others."""
    work = MECHANISMS["batch"].draw(source, number).leaky
    free = permuted_scores(work, np.zeros(len(work.y)), MANY_PERMUTED, 0)
    if part == "chance":
        return count_of_means(free.reshape(-1, FEW))
    within = permuted_scores(work, work.known["batch"], MANY_PERMUTED, 1)
    hits, n = 0, MANY_PERMUTED // FEW
    for i in range(n):
        some = np.zeros(MANY_PERMUTED, dtype=bool)
        some[FEW * i : FEW * (i + 1)] = True
        value, low, high = part_between("batch", within[some], free[some], 0.05)[1:]
        truth = within[~some].mean() - free[~some].mean()
        half = (high - low) / 2
        hits += covers(abs(value - truth), half, FEW, MANY_PERMUTED - FEW)
    return hits, n


def measure(part: str, table: int) -> Iterator[list[Any]]:
    """Yield the lines of one part and one table of every kind."""
    sources = [*simulated_sources(), *real_sources()]
    source, number = sources[table % len(sources)], FIRST + table
    empty: list[Any] = ["", "", "", ""]
    if part in ("chance", "batch"):
        if table % EVERY == 0:
            yield [part, source, table, *empty, *count_of_permutations(
                part, source, number
            )]  # fmt: skip
    elif part == "overlap":
        yield [part, source, table, *empty, *count_of_overlaps(source, number)]
    elif part not in PARTS[-3:]:
        yield [part, source, table, *empty, *count_of_runs(part, source, number)]
    else:
        for i, simulated in enumerate(simulated_sources()):
            yield [part, simulated, table, *measure_one(part, simulated, table, i)]


def measure_one(part: str, source: str, table: int, i: int) -> list[Any]:
    """Return the estimator, the part with its interval, and whether it covers."""
    number = FIRST + table
    turn = number // 12 % len(HONEST_CLASSIFIERS)
    mistake = MISTAKES[(table + i) % len(MISTAKES)]
    if part == "selection":
        work = MECHANISMS["selection"].draw(source, number, 20.0).leaky
    elif part == "signal":
        work = CONTROLS["plain"].draw(source, number)
    else:
        work = MECHANISMS[mistake[0]].draw(source, number, mistake[1]).leaky
    found = audit_work(work, 10 * table + i).decomposition[part.split()[0]]
    if part == "selection":  # compared with the others when all are measured
        return [turn, *found[1:], "", 1]
    if part == "signal":
        truth = true_accuracy(source, turn) - 0.5
    else:
        truth = cured_accuracy(*mistake, source, turn) - 0.5
    return [turn, *found[1:], int(found.low <= truth <= found.high), 1]


@cache
def true_accuracy(source: str, turn: int, n_tables: int = 100) -> float:
    """Return the accuracy on new samples of a simulated source."""
    right = []
    for i in range(n_tables):
        train = draw_table(source, 2 * FIRST + 2 * i)
        test = draw_table(source, 2 * FIRST + 2 * i + 1)
        rows = np.arange(train.n - train.n // N_FOLDS)
        model = clone(HONEST_CLASSIFIERS[turn]()).fit(train.X[rows], train.y[rows])
        right.append(np.mean(model.predict(test.X) == test.y))
    return float(np.mean(right))


@cache
def cured_accuracy(
    name: str, dose: float, source: str, turn: int, n_tables: int = 30
) -> float:
    """Return the mean balanced accuracy of cured work on other tables."""
    cured = [
        MECHANISMS[name].draw(source, 2 * FIRST + 36 * i + 12 * turn, dose).cured
        for i in range(n_tables)
    ]
    return float(np.mean([work.score(i) for i, work in enumerate(cured)]))


def count_covered(frame: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Count the intervals of each part that cover, and all of them."""
    frame = frame.copy()
    numbers = ["value", "low", "high", "covers"]
    frame[numbers] = frame[numbers].apply(pd.to_numeric, errors="coerce")
    same = frame.groupby(["part", "source", "estimator"])["value"]
    size = same.transform("size")
    others = (size * same.transform("mean") - frame["value"]) / (size - 1)
    inside = (frame["low"] <= others) & (others <= frame["high"])
    frame["covers"] = frame["covers"].fillna(inside.astype(float))
    counted = frame.groupby("part")[["covers", "n"]].sum()
    return {str(p): (int(k), int(n)) for p, k, n in counted.itertuples()}


def main() -> None:
    """Measure the tables that are not in the file yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--parts", nargs="*", default=PARTS, choices=PARTS)
    options = parser.parse_args()
    done = set()
    if TARGET.exists():
        before = pd.read_csv(TARGET)[["part", "table"]]
        done = set(before.itertuples(index=False, name=None))
    with TARGET.open("a", encoding="utf-8", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        if not opened.tell():
            writer.writerow(HEADER)
        for table, part in itertools.product(range(options.tables), options.parts):
            if (part, table) not in done:
                writer.writerows(
                    [f"{x:.5g}" if isinstance(x, float) else x for x in line]
                    for line in list(measure(part, table))
                )
                opened.flush()
    print(count_covered(pd.read_csv(TARGET, keep_default_na=False)))


if __name__ == "__main__":
    main()

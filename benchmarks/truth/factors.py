"""Try other variances for the test of a difference than Nadeau and Bengio's.

    python -m benchmarks.truth.factors [--seed 1] [--simulations 300]
    python -m benchmarks.truth.factors --table

The first command writes ``benchmarks/truth/factors.csv``: in designs drawn at random
with a seed, how often each candidate rejects at 5 % where neither side is better. Two
blocks of features have the same distribution given the outcome; from each, features are
selected and a model learns, on the same folds. The second prints, by score and seed,
the root mean square distance of the sizes from 5 %, the largest size, and how many
sizes are between 3 and 7 %. In the stored table the jackknife over folds was measured
for scores of classes, and in some designs of the others.

| candidate  | variance of the mean difference of J folds                              |
|------------|-------------------------------------------------------------------------|
| kappa k    | s² (1/J + k n_test/n_train): 0 is the paired t-test, 1 the default      |
| samples k  | k times that of the mean, from what every unit adds to it (linearized)  |
| halves     | half the mean squared difference of disjoint halves, three times        |
| mean       | the mean of the default and the halves (which are half as large)        |
| pairs k    | the jackknife over folds, less what it counts twice; at least kappa k   |
| pairs mean | the mean of the default and the first of these, without a least value   |

The jackknife over folds leaves one fold out of training and test sets at a time, so
that models are also learned without each pair of folds. It counts the variance that is
of pairs of folds (a fold learned from, a fold tested) more than twice; `jackknife`
estimates that part, and subtracts it.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import t as student

from benchmarks.truth.designs import Row, add_rows, between
from benchmarks.truth.outcomes import relation
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.targets import Survival
from veridical.datasets.synthetic_targets import censoring_rate

TABLE = Path(__file__).with_name("factors.csv")
SCORES = ("roc_auc", "balanced_accuracy", "log_loss", "r2", "concordance")
KAPPAS = (0.0, 0.5, 1.0, 1.25)
#: The least variance of the jackknife over folds, as kappa.
LEAST = (0.0, 0.25)
CANDIDATES = (
    *(f"kappa {k:g}" for k in KAPPAS), "samples 1", "samples 2", "halves", "mean",
    *(f"pairs {k:g}" for k in LEAST), "pairs mean",
)  # fmt: skip
#: Ways to divide the units into halves.
N_HALVES = 3


class Design(NamedTuple):
    """A design: units with samples that correlate, an outcome, features, a score."""

    seed: int
    score: str
    estimator: str
    n_folds: int
    n_units: int
    group_size: int
    minority: float
    censored: float
    tail_df: float
    effect: float
    correlation: float
    n_columns: int
    n_selected: int


COLUMNS = (*Design._fields, "n_simulations", *CANDIDATES)


def designs(seed: int, turns: int = 10) -> Iterator[Design]:
    """Draw designs: every score in turn, without and with groups."""
    rng = np.random.default_rng(seed)
    for turn in range(turns):
        for score in SCORES:
            size = int(rng.integers(2, 11)) if turn % 2 else 1
            n_folds = 5 if rng.random() < 0.6 else 10
            minority, censored = (
                rng.choice([0.5, 0.1, 0.3]),
                rng.choice([0.1, 0.3, 0.5]),
            )
            fewest = max(40 / size, 20, 2 * n_folds)
            if score in SCORES[:3]:
                fewest = max(fewest, n_folds / minority)
            if score == "concordance":
                fewest = max(fewest, 8 * n_folds)
            other = score in SCORES[2:] and turn % 4 > 1
            n_columns = round(between(rng, 8, 100))
            yield Design(
                seed,
                score,
                "knn" if other else "nb" if score in SCORES[:3] else "ridge",
                n_folds,
                round(between(rng, fewest, max(400 / size, 1.5 * fewest))),
                size,
                float(minority),
                float(censored),
                float(rng.choice([3.0, np.inf])),
                float(rng.choice([0.0, 0.4, 0.7, 1.0])),
                round(float(rng.uniform(0.2, 0.9)), 2) if size > 1 else 0.0,
                n_columns,
                round(between(rng, 2, min(10, n_columns / 2))),
            )


def draw(design: Design, rng: np.random.Generator) -> tuple[FloatArray, Any, IntArray]:
    """Draw both blocks of features, the outcome, and the unit of every sample."""
    units = np.repeat(np.arange(design.n_units), design.group_size)

    def normal(*shape: int) -> FloatArray:
        own = rng.standard_normal((len(units), *shape))
        shared = rng.standard_normal((design.n_units, *shape))[units]
        c = design.correlation
        return math.sqrt(1 - c) * own + math.sqrt(c) * shared

    y: Any
    if design.score in SCORES[:3]:
        few = max(round(design.minority * design.n_units), design.n_folds)
        y = (rng.permutation(design.n_units) < few).astype(float)[units]
        signal = y
    else:
        signal = y = normal()
        if design.score == "concordance":
            hazard = rng.exponential(size=len(units)) / np.exp(signal)
            rate = censoring_rate(1.0, design.censored)
            limit = rng.exponential(size=len(units)) / rate
            y = Survival(np.minimum(hazard, limit), hazard <= limit)
        elif np.isfinite(design.tail_df):
            chi = rng.chisquare(design.tail_df, len(units)) / design.tail_df
            signal = np.clip(y := y / np.sqrt(chi), -6, 6)
    X = np.stack([normal(design.n_columns) for _ in range(2)])
    X[:, :, :5] += design.effect * signal[:, None]
    return X, y, units


def divide(design: Design, y: Any, v: int, rng: np.random.Generator) -> IntArray:
    """Return the fold of every unit, stratified by class or event."""
    first = slice(None, None, design.group_size)
    kind = y.event[first] if isinstance(y, Survival) else y[first]
    order = rng.permutation(design.n_units)
    if design.score in SCORES[:3] or (design.group_size == 1 and design.score != "r2"):
        order = order[np.argsort(kind[order], kind="stable")]
    fold = np.empty(design.n_units, dtype=np.intp)
    fold[order] = np.arange(design.n_units) % v
    return fold


def predict(design: Design, X: FloatArray, y: Any, fresh: FloatArray) -> FloatArray:
    """Select features, learn, and predict: a number, a risk or a log odds."""
    k = design.n_selected
    chosen = np.argpartition(-relation(X, y), k - 1)[:k]
    mean, spread = X[:, chosen].mean(axis=0), X[:, chosen].std(axis=0)
    A, B = (X[:, chosen] - mean) / spread, (fresh[:, chosen] - mean) / spread
    if design.estimator == "nb":
        odds = np.log(y.mean() / (1 - y.mean()))
        for one, sign in ((A[y > 0.5], 1), (A[y < 0.5], -1)):
            var = one.var(axis=0) + 1e-9
            z = (B - one.mean(axis=0)) ** 2 / var + np.log(var)
            odds = odds - sign * z.sum(axis=1) / 2
        return odds
    if isinstance(y, Survival):  # martingale residuals
        order = np.argsort(y.time, kind="stable")
        hazard = np.empty(len(y))
        hazard[order] = np.cumsum(y.event[order] / np.arange(len(y), 0, -1))
        y = y.event - hazard
    if design.estimator == "knn":
        nearest = np.argpartition(cdist(B, A), 8, axis=1)[:, :9]
        found = y[nearest].mean(axis=1)
        if design.score != "log_loss":
            return found
        share = (9 * found + 1) / 11
        return np.log(share / (1 - share))
    weights = np.linalg.solve(A.T @ A + np.eye(k), A.T @ (y - y.mean()))
    return y.mean() + B @ weights


def score_of(name: str, y: Any, found: FloatArray) -> tuple[float, FloatArray]:
    """Return a score, and what every sample adds to it (its linearized influence)."""
    added: FloatArray
    if name == "r2":
        total = (y - y.mean()) ** 2
        lost = (y - found) ** 2
        share = lost.sum() / total.sum()
        return 1 - share, (share * total - lost) / total.sum()
    if name == "log_loss":
        loss = np.logaddexp(0, np.where(y > 0.5, -found, found))
        return loss.mean(), (loss - loss.mean()) / len(y)
    if name == "concordance":
        pairs = y.event[:, None] & (y.time[:, None] < y.time)
        right = pairs * ((found[:, None] > found) + 0.5 * (found[:, None] == found))
        n = max(pairs.sum(), 1e-300)
        value = right.sum() / n if pairs.any() else math.nan
        added = right.sum(axis=0) + right.sum(axis=1)
        return value, (added - value * (pairs.sum(axis=0) + pairs.sum(axis=1))) / n
    one, other = y > 0.5, y < 0.5
    if not (one.any() and other.any()):
        return math.nan, np.zeros(len(y))
    if name == "balanced_accuracy":
        right = ((found > 0) == one).astype(float)
        parts = right[one], right[other]
        value = (parts[0].mean() + parts[1].mean()) / 2
        scale = 0.5
    else:
        above = (found[one][:, None] > found[other]) + 0.5 * (
            found[one][:, None] == found[other]
        )
        parts, value, scale = (
            (above.mean(axis=1), above.mean(axis=0)),
            above.mean(),
            1.0,
        )
    added = np.empty(len(y))
    for rows, part in ((one, parts[0]), (other, parts[1])):
        added[rows] = scale * (part - part.mean()) / len(part)
    return float(value), added


def take(y: Any, rows: Any) -> Any:
    """Take some samples of an outcome."""
    return y.take(np.flatnonzero(rows)) if isinstance(y, Survival) else y[rows]


def difference(
    design: Design, X: FloatArray, y: Any, test: Any
) -> tuple[float, FloatArray]:
    """Learn from the other samples; return the difference on these, and influences."""
    ((value, added),) = differences(design, X, y, ~test, [test])
    return value, added


def differences(
    design: Design, X: FloatArray, y: Any, train: Any, tests: list[Any]
) -> list[tuple[float, FloatArray]]:
    """Learn from some samples; return the difference on others, and influences."""
    together = np.concatenate([np.flatnonzero(test) for test in tests])
    ends = np.cumsum([test.sum() for test in tests])[:-1]
    known = take(y, train)
    sides = [
        np.split(predict(design, block[train], known, block[together]), ends)
        for block in X
    ]
    made = []
    for test, first, second in zip(tests, *sides, strict=True):
        observed = take(y, test)
        a = score_of(design.score, observed, first)
        b = score_of(design.score, observed, second)
        made.append((a[0] - b[0], a[1] - b[1]))
    return made


def without_pairs(design: Design, X: FloatArray, y: Any, fold: IntArray) -> FloatArray:
    """Return the differences on fold j of what was learned without folds j and l."""
    v = design.n_folds
    found = np.zeros((v, v))
    for j in range(v):
        for one in range(j):
            tests = [fold == j, fold == one]
            (found[j, one], _), (found[one, j], _) = differences(
                design, X, y, ~(tests[0] | tests[1]), tests
            )
    return found


def jackknife(d: FloatArray, pairs: FloatArray) -> float:
    """Estimate the variance of the mean of d by leaving one fold out at a time.

    Of a statistic that is a sum over folds and over pairs of folds, the part of pairs
    is estimated from what leaving out l changes on j, less the effects of j and of l,
    and is subtracted as often as the jackknife counts it too much.
    """
    v = len(d)
    left = pairs.sum(axis=0) / (v - 1)
    counted = (v - 1) / v * ((left - left.mean()) ** 2).sum()
    change = d[:, None] - pairs
    both = (change + change.T) / 2
    np.fill_diagonal(both, 0)
    mean = both.sum() / (v * (v - 1))
    own = (both.sum(axis=1) - (v - 1) * mean) / (v - 2)
    rest = (both - mean - own - own[:, None])[np.triu_indices(v, 1)]
    return counted - 2 * (v - 2) / (v - 1) * (rest**2).sum() / (v * (v - 3) / 2)


def simulate(design: Design, rng: np.random.Generator) -> dict[str, float] | None:
    """Return the p-value by every candidate; None where a score is not defined."""
    X, y, units = draw(design, rng)
    v = design.n_folds
    fold = divide(design, y, v, rng)[units]
    d, added = np.empty(v), np.zeros(len(units))
    for f in range(v):
        test = fold == f
        d[f], added[test] = difference(design, X, y, test)
    halves = np.empty((N_HALVES, 2))
    for r in range(N_HALVES):
        half = divide(design, y, 2, rng)[units]
        for h in range(2):
            halves[r, h], _ = difference(design, X, y, half == h)
    pairs = without_pairs(design, X, y, fold)
    if np.isnan(d).any() or np.isnan(halves).any() or np.isnan(pairs).any():
        return None
    mean, s2, n = d.mean(), d.var(ddof=1), design.n_units
    samples = (np.bincount(units, added / v) ** 2).sum() * n / (n - v)
    halved = ((halves[:, 0] - halves[:, 1]) ** 2).mean() / 2
    default = s2 * (1 / v + 1 / (v - 1))
    variances: list[tuple[float, float]]
    variances = [(s2 * (1 / v + k / (v - 1)), v - 1) for k in KAPPAS]
    variances += [(samples, n - v), (2 * samples, n - v), (halved, math.inf)]
    variances += [((default + halved / 2) / 2, v - 1)]
    over_folds = jackknife(d, pairs)
    least = [s2 * (1 / v + k / (v - 1)) for k in LEAST]
    variances += [(max(over_folds, one), v - 1) for one in least]
    variances += [((default + max(over_folds, 0)) / 2, v - 1)]
    return {
        name: float(2 * student.sf(abs(mean) / math.sqrt(variance), df))
        if variance > 0
        else 1.0
        for name, (variance, df) in zip(CANDIDATES, variances, strict=True)
    }


def measure(design: Design, n_simulations: int) -> Row:
    """Count the rejections of every candidate."""
    place = list(designs(design.seed)).index(design)
    rng = np.random.default_rng([design.seed, place])
    found = [simulate(design, rng) for _ in range(n_simulations)]
    known = [one for one in found if one is not None]
    counts = {c: sum(one[c] <= 0.05 for one in known) for c in CANDIDATES}
    return {**design._asdict(), "n_simulations": len(known), **counts}


def print_table() -> None:
    """Print distances from 5 %, the largest sizes, and how many are 3 to 7 %."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    heads = "distance from 5 % (largest size), designs of all between 3 and 7 %"
    print(f"| score | seed | candidate: {heads} |")
    print("|---|---|---|")
    for score, seed in product(SCORES, sorted({row["seed"] for row in rows})):
        cells = []
        for name in CANDIDATES:
            sizes = np.array(
                [
                    100 * int(row[name]) / int(row["n_simulations"])
                    for row in rows
                    if row["score"] == score and row["seed"] == seed and row[name]
                ]
            )
            if len(sizes):
                off = np.sqrt(((sizes - 5) ** 2).mean())
                inside = ((sizes >= 3) & (sizes <= 7)).sum()
                cells.append(
                    f"{name}: {off:.1f} ({sizes.max():.1f}), {inside} of {len(sizes)}"
                )
        print(f"| {score} | {seed} | {'; '.join(cells)} |")


def main() -> None:
    """Measure the designs of a seed, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simulations", type=int, default=300)
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.table:
        print_table()
        return
    rows = [measure(one, asked.simulations) for one in designs(asked.seed)]
    add_rows(TABLE, COLUMNS, [row for row in rows if row["n_simulations"]])


if __name__ == "__main__":
    main()

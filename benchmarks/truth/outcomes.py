"""Measure tests and intervals for numbers and survival times: a table that ships.

    python -m benchmarks.truth.outcomes [--minutes 20] [--simulations 400]
    python -m benchmarks.truth.outcomes --table
    python -m benchmarks.truth.outcomes --export

The first command writes ``benchmarks/truth/outcomes.csv``, a design at a time, those
without groups first, numbers before survival times, and small ones before large
ones (``--kind r2``, ``--kind concordance`` and ``--folds 10`` measure some of them
only); scores of designs that are in the table already are left out. The second prints
it. The third puts the designs with one cross-validation into
``src/veridical/evaluation/structured.csv``, the table that veridical ships.

Every data set has an outcome and two blocks of features, both drawn in the same way
given the outcome: of p features, some depend on it. In both blocks, the k features that
are most related to the outcome of the training samples are selected (by correlation, or
by Cox's score), and a ridge model learns from them. So neither block is truly better,
and a test at 5 % should reject in 5 % of the data sets. The interval of the first block
should cover, in 95 % of the data sets, the score of the model that is fitted on all
samples, on 2000 fresh samples. Every score of a kind is computed from the same
predictions; losses are divided by the loss of guessing.

| symbol   | meaning                                                                   |
|----------|---------------------------------------------------------------------------|
| n, p, k  | samples, features of a block, features selected                           |
| effect   | correlation of a relevant feature with the outcome is e / sqrt(1 + e²)    |
| tail_df  | degrees of freedom of the outcome's t distribution; inf is normal         |
| censored | expected share of censored times                                          |
| m        | samples of a group; half of the variance of outcome and noise is shared   |
"""

from __future__ import annotations

import argparse
import csv
import math
import time
import zlib
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr

import veridical.evaluation
from benchmarks.truth.designs import write_rows
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.survival_scores import (
    Observed,
    concordance,
    integrated_brier,
    time_dependent_auc,
    uno,
)
from veridical._core.targets import Numbers, Survival
from veridical.comparison.significance import corrected_resampled_t
from veridical.datasets.synthetic_targets import censoring_rate
from veridical.evaluation.structured import COLUMNS as STRUCTURED
from veridical.evaluation.structured import loss_of_guessing
from veridical.learning import CoxRidge
from veridical.learning.outcomes import survival_at

TABLE = Path(__file__).with_name("outcomes.csv")
SHIPPED = Path(veridical.evaluation.__file__).with_name("structured.csv")
#: Fresh samples of the truth, and relevant features of a block.
N_FRESH, N_RELEVANT = 2000, 5
#: Scores that are computed from the same predictions.
SCORED = {
    "r2": ("r2", "mean_absolute_error", "root_mean_squared_error", "spearman"),
    "concordance": (
        "concordance",
        "concordance_uno",
        "time_dependent_auc",
        "integrated_brier_score",
    ),
}


@dataclass(frozen=True)
class Design:
    """A way to draw data sets and to split them."""

    score: str
    n_samples: int
    n_features: int = 50
    n_selected: int = 5
    effect: float = 0.5
    tail_df: float = math.inf
    censored: float = 0.0
    group_size: int = 1
    n_folds: int = 10
    n_repeats: int = 1


def designs() -> list[Design]:
    """List the designs: sizes, strengths, tails, censoring, groups and folds."""
    found = []
    for n in (40, 80, 160, 400):
        for effect in (0.0, 0.4, 1.0):
            found.append(Design("r2", n, effect=effect, n_folds=5 if n < 80 else 10))
        found.append(Design("r2", n, tail_df=3.0, n_folds=5))
    for n in (80, 240):
        found.append(Design("r2", n, tail_df=3.0, n_folds=10))
        found.append(Design("r2", n, n_folds=5, n_repeats=5))
        found.append(Design("r2", n, n_folds=5, group_size=4))
        found.append(Design("r2", n, n_folds=10, group_size=4))
        found.append(Design("r2", n, n_features=300, n_selected=10))
    for n, censored in (
        (40, 0.1), (80, 0.1), (80, 0.3), (80, 0.5), (160, 0.1), (160, 0.3),
        (160, 0.5), (160, 0.8), (400, 0.1), (400, 0.3), (400, 0.5), (400, 0.8),
    ):  # fmt: skip
        folds = 5 if n * (1 - censored) < 60 else 10
        found.append(Design("concordance", n, censored=censored, n_folds=folds))
    for n, censored in ((80, 0.3), (160, 0.5), (400, 0.8), (400, 0.3)):
        for effect in (0.0, 1.0):
            one = Design("concordance", n, effect=effect, censored=censored, n_folds=5)
            found.append(one)
    found.append(Design("concordance", 120, censored=0.5, n_folds=5, group_size=4))
    for n in (80, 240):
        found.append(Design("concordance", n, censored=0.3, n_folds=5, group_size=4))
        found.append(Design("concordance", n, censored=0.3, n_folds=5, n_repeats=5))
    for n, m, effect in ((60, 2, 0.5), (400, 10, 0.5), (160, 4, 0.0)):
        for folds in (5, 10):
            found.append(Design("r2", n, effect=effect, group_size=m, n_folds=folds))
    for n, m, censored in ((160, 4, 0.3), (240, 4, 0.5), (300, 10, 0.3)):
        one = Design("concordance", n, censored=censored, group_size=m, n_folds=10)
        found.append(one)
    for n in (100, 300, 1000):  # the tables of a clinic: few features
        for folds in (5, 10):
            found.append(Design("r2", n, 10, 8, n_folds=folds))
            found.append(Design("concordance", n, 10, 8, censored=0.5, n_folds=folds))
    for n, m in ((200, 5), (800, 20), (6000, 150)):  # few features, many visits
        for folds in (5, 10):
            found.append(Design("r2", n, 20, 10, group_size=m, n_folds=folds))
    for n, m in ((200, 5), (600, 10)):
        for folds in (5, 10):
            one = Design("concordance", n, 20, 10, 0.5, math.inf, 0.4, m, folds)
            found.append(one)
    return found


class Counted(NamedTuple):
    """What a data set says of a score."""

    rejected: bool
    covered: bool
    value: float
    truth: float


def draw(design: Design, n: int, rng: np.random.Generator) -> tuple[FloatArray, Any]:
    """Draw two blocks of features, (2, n, p), and the outcome."""
    m = design.group_size
    group = np.arange(n) // m

    def normal(*shape: int) -> FloatArray:
        """Draw standard normals; in groups, half of the variance is shared."""
        own = rng.standard_normal((*shape[:-1], n))
        if m == 1:
            return own
        shared = rng.standard_normal((*shape[:-1], int(group[-1]) + 1))[..., group]
        return (own + shared) / math.sqrt(2)

    z = normal(n)
    y: Any = z
    if math.isfinite(design.tail_df):
        chi = rng.chisquare(design.tail_df, n) / design.tail_df
        y = z / np.sqrt(chi)
    if design.score == "concordance":
        hazard = rng.exponential(size=n) / np.exp(z)
        limit = rng.exponential(size=n) / censoring_rate(1.0, design.censored)
        y = Survival(np.minimum(hazard, limit), hazard <= limit)
        signal = z
    else:
        signal = np.clip(y, -6, 6)
    effects = np.zeros(design.n_features)
    effects[:N_RELEVANT] = design.effect
    X = normal(2, design.n_features, n) + effects[:, None] * signal
    return np.ascontiguousarray(X.transpose(0, 2, 1)), y


def split(design: Design, y: Any, rng: np.random.Generator) -> list[IntArray]:
    """Return the test rows of every fold: whole groups, stratified by event."""
    n, m, v = design.n_samples, design.group_size, design.n_folds
    tests = []
    for _ in range(design.n_repeats):
        if m == 1 and isinstance(y, Survival):
            order = rng.permutation(n)
            order = order[np.argsort(~y.event[order], kind="stable")]
        else:
            order = rng.permutation(n // m)
        fold = np.empty(n // m, dtype=np.intp)
        fold[order] = np.arange(n // m) % v
        fold = np.repeat(fold, m)
        tests += [np.flatnonzero(fold == f) for f in range(v)]
    return tests


def relation(X: FloatArray, y: Any) -> FloatArray:
    """Return how much each feature is related to the outcome.

    The martingale residuals of the null model, times a feature, sum to Cox's score.
    """
    if isinstance(y, Survival):
        order = np.argsort(y.time, kind="stable")
        at_risk = np.arange(len(order), 0, -1)
        hazard = np.empty(len(order))
        hazard[order] = np.cumsum(y.event[order] / at_risk)
        y = y.event - hazard
    Z = X - X.mean(axis=0)
    return np.abs((y - y.mean()) @ Z) / np.sqrt((Z**2).sum(axis=0))


def fit_scores(
    X: FloatArray, y: Any, fresh: FloatArray, truth: Any, k: int
) -> list[float]:
    """Select and learn on some samples, and score others by each of `SCORED`."""
    chosen = np.argpartition(-relation(X, y), k - 1)[:k]
    A, B = X[:, chosen], fresh[:, chosen]
    mean, spread = A.mean(axis=0), A.std(axis=0)
    A, B = (A - mean) / spread, (B - mean) / spread
    if isinstance(y, Survival):
        model = CoxRidge(alpha=1.0).fit(A, y.labels)
        risk, observed = model.predict(B), Observed(truth, y)
        S = survival_at(model, B, observed.times)
        return [
            concordance(truth, risk),
            uno(observed, risk),
            time_dependent_auc(observed, risk),
            integrated_brier(observed, S),
        ]
    weights = np.linalg.solve(A.T @ A + np.eye(k), A.T @ (y - y.mean()))
    predicted = y.mean() + B @ weights
    error = truth - predicted
    explained = 1 - float((error**2).sum() / ((truth - truth.mean()) ** 2).sum())
    return [
        explained,
        float(np.abs(error).mean()),
        math.sqrt(float((error**2).mean())),
        float(spearmanr(truth, predicted)[0]),
    ]


def take(y: Any, rows: IntArray) -> Any:
    """Take some samples of an outcome."""
    return y.take(rows) if isinstance(y, Survival) else y[rows]


def simulate(design: Design, seed: int) -> list[Counted | None]:
    """Draw a data set, and say of every score what the test and the interval did.

    None where a score is not defined on every fold, so that no verb compares.
    """
    rng = np.random.default_rng(seed)
    X, y = draw(design, design.n_samples, rng)
    tests = split(design, y, rng)
    names = SCORED[design.score]
    scores = np.empty((len(names), 2, len(tests)))
    everything = np.arange(design.n_samples)
    k = design.n_selected
    for f, test in enumerate(tests):
        train = np.setdiff1d(everything, test, assume_unique=True)
        for b in range(2):
            scores[:, b, f] = fit_scores(
                X[b, train], take(y, train), X[b, test], take(y, test), k
            )
    m = design.group_size
    n_test = [len(test) // m for test in tests]
    n_train = [design.n_samples // m - one for one in n_test]
    options: dict[str, Any] = {"n_train": n_train, "n_test": n_test}
    fresh, truth = draw(design, N_FRESH, rng)
    reached = fit_scores(X[0], y, fresh[0], truth, k)
    target = y if isinstance(y, Survival) else Numbers(y)
    found: list[Counted | None] = []
    for name, both, true in zip(names, scores, reached, strict=True):
        if np.isnan(both).any() or math.isnan(true):
            found.append(None)
            continue
        rejected = corrected_resampled_t(*both, **options).pvalue <= 0.05
        low, high = corrected_resampled_t(both[0], 0 * both[0], **options).interval
        unit = loss_of_guessing(name, target)
        covered = bool(low <= true <= high)
        value = float(both[0].mean())
        found.append(Counted(bool(rejected), covered, value / unit, true / unit))
    return found


COLUMNS = (
    *(field.name for field in fields(Design)),
    "value",
    "truth",
    "n_simulations",
    "rejected",
    "covered",
)


def key(design: Design) -> str:
    """Return the text by which a design is found in the table."""
    return ",".join(f"{value}" for value in asdict(design).values())


def measure(design: Design, n_simulations: int) -> list[dict[str, Any]]:
    """Count rejections and covered truths in one design, for every score of the kind.

    The design is that of R² or of the concordance.
    """
    first = zlib.crc32(key(design).encode())
    found = [simulate(design, first + i) for i in range(n_simulations)]
    rows = []
    for name, column in zip(
        SCORED[design.score], zip(*found, strict=True), strict=True
    ):
        known = [one for one in column if one is not None]
        if not known:
            continue
        rejected, covered, value, truth = zip(*known, strict=True)
        counted = {
            "value": f"{np.mean(value):.4f}",
            "truth": f"{np.mean(truth):.4f}",
            "n_simulations": len(known),
            "rejected": sum(rejected),
            "covered": sum(covered),
        }
        rows.append({**asdict(replace(design, score=name)), **counted})
    return rows


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read the table, where there is one."""
    if not path.exists():
        return []
    with path.open() as file:
        return list(csv.DictReader(file))


def export(rows: list[dict[str, Any]]) -> None:
    """Replace the rows of these scores in the table that ships."""
    models = {
        name: model
        for first, model in (("r2", "ridge"), ("concordance", "cox"))
        for name in SCORED[first]
    }
    others = [row for row in read_rows(SHIPPED) if row["score"] not in models]
    found = [
        {
            "score": row["score"],
            "n_folds": row["n_folds"],
            "n_units": int(row["n_samples"]) // int(row["group_size"]),
            "group_size": row["group_size"],
            "n_features": row["n_features"],
            "n_selected": row["n_selected"],
            "minority": 1 - float(row["censored"]) if row["censored"] != "0.0" else 0.5,
            "estimator": models[row["score"]],
            "correlation": 0.5 if row["group_size"] != "1" else 0,
            "value": row["value"],
            "n_simulations": row["n_simulations"],
            "rejected_0.05": row["rejected"],
            "covered": row["covered"],
        }
        for row in rows
        if row["n_repeats"] == "1"
    ]
    write_rows(SHIPPED, STRUCTURED, [*others, *found])


def main() -> None:
    """Measure the designs that are missing, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--kind", choices=("", *SCORED), default="")
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--out", type=Path, default=TABLE)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--export", action="store_true")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = [*read_rows(options.out)]
    if options.table:
        for row in rows:
            n = int(row["n_simulations"])
            size, covers = int(row["rejected"]) / n, int(row["covered"]) / n
            said = ",".join(str(row[field.name]) for field in fields(Design))
            print(f"{said}: value {row['value']}, truth {row['truth']}, {n} data sets, "
                  f"size {size:.1%}, coverage {covers:.1%}")  # fmt: skip
        return
    if options.export:
        export(rows)
        return
    done = {",".join(row[field.name] for field in fields(Design)) for row in rows}
    end = time.monotonic() + 60 * options.minutes
    drawn = [
        one
        for one in designs()
        if options.kind in ("", one.score) and options.folds in (0, one.n_folds)
    ]
    drawn.sort(
        key=lambda one: (
            one.n_repeats,
            one.group_size > 1,
            one.score != "r2",
            one.n_samples,
        )
    )
    for design in drawn:
        wanted = {key(replace(design, score=name)) for name in SCORED[design.score]}
        if wanted <= done or time.monotonic() > end:
            continue
        for row in measure(design, options.simulations):
            if ",".join(str(row[field.name]) for field in fields(Design)) not in done:
                rows.append(row)
        write_rows(options.out, COLUMNS, rows)


if __name__ == "__main__":
    main()

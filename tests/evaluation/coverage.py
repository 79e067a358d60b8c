"""How often intervals cover the truth, on a source whose truth can be measured.

``python -m tests.evaluation.coverage`` prints the tables of docs/estimating.md.
"""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from veridical.evaluation import (
    CrossValidation,
    Holdout,
    LeaveOut,
    RandomSubsampling,
    estimate,
)

#: Name in the table: estimator and number of columns.
ROWS = {
    "naive Bayes, 10 features": (GaussianNB(), 10),
    "naive Bayes, 200 features": (GaussianNB(), 200),
    "1 nearest neighbour, 10 features": (KNeighborsClassifier(1), 10),
    "tree, 10 features": (DecisionTreeClassifier(random_state=0), 10),
}
#: The columns of the table: method and kind of interval.
FOLDS = (
    (CrossValidation(10), "wilson"),
    (CrossValidation(10), "nested"),
    (CrossValidation(10), "corrected-t"),
)
#: Other methods, which are measured for the first estimator alone.
OTHERS = (
    (CrossValidation(10, n_repeats=10), "wilson"),
    (CrossValidation(10, n_repeats=10), "corrected-t"),
    (LeaveOut(1), "wilson"),
    (RandomSubsampling(20), "corrected-t"),
)
FIRST = next(iter(ROWS))
#: No shortcut serves a tree: 2750 fits for every data set are too many.
LEFT_OUT = {("tree, 10 features", (CrossValidation(10), "nested"))}
N_CASES = 100
N_RUNS = 500


def folds_of(name: str):
    """The columns of the table that are measured for an estimator."""
    return [column for column in FOLDS if (name, column) not in LEFT_OUT]


def source(n: int, n_columns: int, rng: np.random.Generator):
    """Two classes; two columns tell them apart a little, the others nothing."""
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, n_columns))
    X[:, :2] += y[:, None]
    return X, y


def accuracy(model, n_columns: int, rng: np.random.Generator) -> float:
    X, y = source(10_000, n_columns, rng)
    return float(np.mean(model.predict(X) == y))


def of_splits(name: str, columns, n_runs: int = N_RUNS) -> dict:
    """Share of runs whose interval covers the accuracy of the model on all samples."""
    estimator, n_columns = ROWS[name]
    covered: Counter = Counter()
    for run in range(n_runs):
        rng = np.random.default_rng([run, n_columns])
        X, y = source(N_CASES, n_columns, rng)
        truth = accuracy(estimator.fit(X, y), n_columns, rng)
        methods = dict.fromkeys(method for method, _ in columns)
        found = {m: estimate(estimator, X, y, cv=m, random_state=run) for m in methods}
        for method, kind in columns:
            low, high = found[method].interval(kind=kind)
            covered[method, kind] += low <= truth <= high
    return {column: covered[column] / n_runs for column in columns}


def of_holdout(n_runs: int = 2000, n_cases: int = 300) -> float:
    """Share of runs whose interval covers the accuracy of the model it tested."""
    covered = 0
    for run in range(n_runs):
        rng = np.random.default_rng([run, 7])
        X, y = source(n_cases, 5, rng)
        (split,) = Holdout().split(y, run)
        truth = accuracy(GaussianNB().fit(X[split.train], y[split.train]), 5, rng)
        found = estimate(GaussianNB(), X, y, cv=Holdout(), random_state=run)
        low, high = found.interval(0.95)
        covered += low <= truth <= high
    return covered / n_runs


def main() -> None:
    print(f"holdout: {100 * of_holdout():.1f}", flush=True)
    for name in ROWS:
        shares = of_splits(name, folds_of(name))
        cells = [
            f"{100 * shares[column]:.1f}" if column in shares else "–"
            for column in FOLDS
        ]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    for (method, kind), share in of_splits(FIRST, OTHERS).items():
        print(f"| {method.describe()} | `{kind}` | {100 * share:.1f} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()

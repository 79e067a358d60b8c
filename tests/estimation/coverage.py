"""How often intervals cover the truth, on a source whose truth can be measured.

``python -m tests.estimation.coverage`` prints the table of docs/estimating.md.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from veridical.estimation import CrossValidation, Holdout, estimate

#: Name in the table, learner, number of columns, kinds of interval.
ROWS = {
    "naive Bayes, 10 columns": (GaussianNB(), 10, ("wilson", "nested", "corrected-t")),
    "naive Bayes, 200 columns": (
        GaussianNB(),
        200,
        ("wilson", "nested", "corrected-t"),
    ),
    "1 nearest neighbour, 10 columns": (
        KNeighborsClassifier(1),
        10,
        ("wilson", "nested", "corrected-t"),
    ),
    "tree, 10 columns": (
        DecisionTreeClassifier(random_state=0),
        10,
        ("wilson", "corrected-t"),
    ),
}
N_CASES = 100
N_RUNS = 500


def source(n: int, n_columns: int, rng: np.random.Generator):
    """Two classes; two columns tell them apart a little, the others nothing."""
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, n_columns))
    X[:, :2] += y[:, None]
    return X, y


def accuracy(model, n_columns: int, rng: np.random.Generator) -> float:
    X, y = source(10_000, n_columns, rng)
    return float(np.mean(model.predict(X) == y))


def of_cross_validation(name: str, n_runs: int = N_RUNS) -> dict[str, float]:
    """Share of runs whose interval covers the accuracy of the model on all cases."""
    learner, n_columns, kinds = ROWS[name]
    covered = dict.fromkeys(kinds, 0)
    for run in range(n_runs):
        rng = np.random.default_rng([run, n_columns])
        X, y = source(N_CASES, n_columns, rng)
        truth = accuracy(learner.fit(X, y), n_columns, rng)
        found = estimate(learner, X, y, method=CrossValidation(10), random_state=run)
        for kind in kinds:
            low, high = found.interval(kind=kind)
            covered[kind] += low <= truth <= high
    return {kind: count / n_runs for kind, count in covered.items()}


def of_holdout(n_runs: int = 2000, n_cases: int = 300) -> float:
    """Share of runs whose interval covers the accuracy of the model it tested."""
    covered = 0
    for run in range(n_runs):
        rng = np.random.default_rng([run, 7])
        X, y = source(n_cases, 5, rng)
        (split,) = Holdout().split(y, run)
        truth = accuracy(GaussianNB().fit(X[split.train], y[split.train]), 5, rng)
        found = estimate(GaussianNB(), X, y, method=Holdout(), random_state=run)
        low, high = found.interval(0.95)
        covered += low <= truth <= high
    return covered / n_runs


def main() -> None:
    print(f"holdout: {100 * of_holdout():.1f}", flush=True)
    for name in ROWS:
        shares = of_cross_validation(name)
        cells = [
            f"{100 * shares[kind]:.1f}" if kind in shares else "–"
            for kind in ("wilson", "nested", "corrected-t")
        ]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()

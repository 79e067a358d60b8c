"""Look again into two findings of differential prioritization.

    python -m benchmarks.truth.prioritization [--splits 40]

*Imbalance*: by how many the class features of the largest and of the smallest class
differ at alpha = 0.1, where the paper has more than 8 on every data set. It is computed
without veridical: the F ratio of scikit-learn, a search in numpy, and other splits than
those of the study. It is counted in three ways, which the paper leaves open.

*Gain*: how much more accurate one-vs-all relevance is, each kind of relevance at its
best alpha, on the data sets with more than six classes. This is the study, with more
splits than the ten of the paper.

Writes ``prioritization.csv`` and its table on the page of the paper; ``VERIDICAL_DATA``
must have the data sets.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_selection import f_classif
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks import store
from benchmarks.measure import ROOT
from benchmarks.results_page import table
from benchmarks.truth.designs import write_rows
from veridical.experiments import Serial, run_study
from veridical.papers.differential_prioritization.study import (
    DifferentialPrioritizationStudy,
    DifferentialSpec,
)
from veridical.papers.expression import DATA, FILES, get_arrays

FILE = Path(__file__).with_name("prioritization.csv")
PAGE = ROOT / "docs" / "papers" / "differential-prioritization.md"
BEGIN, END = "<!-- again -->", "<!-- end of again -->"
COLUMNS = ("question", "data", "classes", "splits", "found")
ALPHA, SIZE, SPLITS = 0.1, 100, 20
#: Data sets with more than six classes.
MANY = ("gcm", "nci60")
#: Ways to count, and their words.
WAYS = {
    "means": "mean of each class, then the difference",
    "splits": "difference in each split, then the mean",
    "half": "the same, class features among the best 50",
}


def select(X: Any, codes: Any) -> list[int]:
    """Search for the set of genes that maximizes V^alpha U^(1 - alpha), in numpy."""
    p = X.shape[1]
    relevance = np.nan_to_num(f_classif(X, codes)[0])
    Z = X - X.mean(axis=0)
    Z /= np.sqrt((Z**2).sum(axis=0)) + 1e-300
    chosen = [int(np.argmax(relevance))]
    near, pairs, total = np.zeros(p), 0.0, relevance[chosen[0]]
    while len(chosen) < SIZE:
        near += 1 - np.abs(Z.T @ Z[:, chosen[-1]])
        k = len(chosen) + 1
        U, V = (pairs + near) / (k * (k - 1) / 2), (total + relevance) / k
        score = V**ALPHA * np.maximum(U, 0) ** (1 - ALPHA)
        score[chosen] = -np.inf
        best = int(np.argmax(score))
        pairs, total = pairs + near[best], total + relevance[best]
        chosen.append(best)
    return chosen


def count(X: Any, codes: Any, chosen: list[int], best: int) -> Any:
    """Count the chosen genes among the best for each class against the rest."""
    found = []
    for one in range(codes.max() + 1):
        F = np.nan_to_num(f_classif(X, codes == one)[0])
        first = np.argsort(-F, kind="stable")[:best]
        found.append(len(np.intersect1d(first, chosen)))
    return found


def imbalance(name: str) -> Iterator[dict[str, Any]]:
    """Measure one data set."""
    arrays, row = get_arrays(name), DATA[name]
    splits = StratifiedShuffleSplit(SPLITS, test_size=row.test_share, random_state=24)
    counts: dict[int, list[Any]] = {SIZE: [], SIZE // 2: []}
    for train, _ in splits.split(arrays.X, arrays.codes):
        X = arrays.X[train]
        X = X[:, np.ptp(X, axis=0) > 0]
        chosen = select(X, arrays.codes[train])
        for best, found in counts.items():
            found.append(count(X, arrays.codes[train], chosen, best))
    whole, half = (np.array(found) for found in counts.values())
    values = np.ptp(whole.mean(axis=0)), np.ptp(whole, axis=1).mean()
    for way, value in zip(WAYS, (*values, np.ptp(half, axis=1).mean()), strict=True):
        yield _row(way, name, SPLITS, f"{value:.1f}")


def gains(n_splits: int) -> Iterator[dict[str, Any]]:
    """Run the study with more splits."""
    study = DifferentialPrioritizationStudy()
    names = FILES.present(MANY)
    spec = DifferentialSpec(seed=0, data=names, n_splits=n_splits)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.sqlite"
        run_study(study, spec, path, executor=Serial())
        report = study.report(path, spec)
    assert report is not None
    for name in names:
        start = "With many classes one-vs-all relevance is more accurate: "
        (check,) = (
            c for c in report.checks if c.statement.startswith(start + DATA[name].title)
        )
        yield _row("gain", name, n_splits, check.ours.rsplit(" points", 1)[0])


def _row(question: str, name: str, splits: int, found: str) -> dict[str, Any]:
    values = question, DATA[name].title, DATA[name].n_classes, splits, found
    return dict(zip(COLUMNS, values, strict=True))


def tabulate(rows: list[dict[str, Any]]) -> str:
    """Write the table of the page."""
    by_data: dict[str, dict[str, Any]] = {}
    for row in rows:
        by_data.setdefault(row["data"], {})[row["question"]] = row
    cells = []
    for data, found in by_data.items():
        said = [found[way]["found"] for way in WAYS]
        gain = found.get("gain")
        last = f"{gain['found']} points, {gain['splits']} splits" if gain else ""
        cells.append((data, str(found["means"]["classes"]), *said, last))
    heads = ("data", "classes", *WAYS.values(), "one-vs-all over all classes")
    return "\n" + table(heads, cells)


def main() -> None:
    """Measure, and write the file and the table of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=40, help="of the gain")
    options = parser.parse_args()
    rows = [row for name in FILES.present(DATA) for row in imbalance(name)]
    rows += gains(options.splits)
    write_rows(FILE, list(COLUMNS), rows)
    store.write_between(PAGE, BEGIN, END, tabulate(rows))


if __name__ == "__main__":
    main()

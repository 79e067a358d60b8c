"""Count false alarms and detections of the findings of an audit.

    python -m benchmarks.truth.findings [--jobs 2] [--minutes 30] [--only permuted]

measures what is not yet in ``findings.csv``, designs and repeats, and writes
``findings.md``.
Designs whose name begins with "honest" must not be flagged; the others must. Flagged
means a finding of severity error or warning; notes are counted apart.

Features given by ``selected=``, whole audits:

- *permuted*: the labels of a real table are permuted, then a selector chooses features
  on all samples by these labels.
- *honest random*, *honest variance*: features taken at random, or those of the largest
  variance, with permuted and with true labels.
- *honest other half*: features chosen on one half of the samples, audited on the other.
- *honest known*: the relevant ones of simulated features, 20 of 2000 or fewer.

Tables of selected features alone, subsets of raw tables, and iris make up the rest.

The levels of VD001 were chosen after other draws had been seen: its designs take seeds
from `FRESH` on, which no choice has seen.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from benchmarks.truth.designs import Row, measure_all, write_rows
from veridical._core.reading import read_table
from veridical.auditing import audit
from veridical.auditing.association import find_selection_trace
from veridical.auditing.preprocessing import find_traces
from veridical.datasets import load
from veridical.selection import SELECTORS, AnovaF, selectors_for

TABLE = Path(__file__).with_name("findings.csv")
KEY = ("code", "design", "data", "how")
COUNTS = ("n", "flagged", "notes", "nothing")
FIELDS = (*KEY, *COUNTS, "first_seed")
#: Real arrays, and the repeats of every selector in each: 64 in all.
ARRAYS = {"colon": 46, "srbct": 6, "lung_filtered": 6, "golub_amlall3": 6}
#: The same for SVM-RFE, which other selectors agree with less: 68 in all.
OF_ELIMINATION = {
    "colon": 30,
    "srbct": 12,
    "lung_filtered": 8,
    "golub_amlall3": 10,
    "mll": 8,
}
#: The same for selectors that leave all features of some tables tied: 106 in all.
OF_GAINS = ARRAYS | {"colon": 88}
#: First seed of the designs of VD001; the others begin at 0.
FRESH = 26_112_900
RAW = ("golub_amlall3", "mll", "colon", "srbct", "nci60", "lung_filtered")
SIZES = (10, 20, 50)
#: What one repeat gives: the worst severity of the code, "" for none, or "nothing"
#: where the design has nothing to find.
Trial = Callable[[int], str]


def read(name: str) -> tuple[Any, Any]:
    """Read a table with its classes as numbers."""
    X, y = load(name)
    return np.asarray(X, dtype=np.float64), np.unique(y, return_inverse=True)[1]


def severity_of(X: Any, y: Any, selected: Any, seed: int) -> str:
    """Return the severity of VD001 for selected features."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        record = audit(
            GaussianNB(), X, y, selected=np.sort(selected).tolist(), cv=5,
            random_state=seed, n_jobs=1, progress=False,
        )  # fmt: skip
    return next((f.severity for f in record.findings if f.code == "VD001"), "")


def choose(selector: str, k: int, X: Any, y: Any) -> Any:
    """Return the features that a selector chooses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SELECTORS[selector](k).fit(X, y).get_support(indices=True)


def permuted(name: str, selector: str) -> Trial:
    """Select on permuted labels."""
    X, y = read(name)

    def trial(seed: int) -> str:
        labels = np.random.default_rng(seed).permutation(y)
        k = SIZES[seed % len(SIZES)]
        chosen = choose(selector, k, X, labels)
        turned = X.shape[1] - 1 - choose(selector, k, X[:, ::-1], labels)
        if not np.intersect1d(chosen, turned).size:
            return "nothing"  # all features are tied: no label was used
        return severity_of(X, labels, chosen, seed)

    return trial


def blind(name: str, how: str, true_labels: bool) -> Trial:
    """Take features without the labels."""
    X, y = read(name)

    def trial(seed: int) -> str:
        rng = np.random.default_rng(seed)
        labels = y if true_labels else rng.permutation(y)
        k = SIZES[seed % len(SIZES)]
        rows = np.sort(rng.permutation(len(y))[: len(y) * 4 // 5])
        if how == "variance":
            chosen = np.argsort(-X[rows].var(axis=0))[:k]
        else:
            chosen = rng.choice(X.shape[1], k, replace=False)
        return severity_of(X[rows], labels[rows], chosen, seed)

    return trial


def other_half(name: str, selector: str) -> Trial:
    """Select on one half of the samples, audit on the other."""
    X, y = read(name)

    def trial(seed: int) -> str:
        rng = np.random.default_rng(seed)
        first = np.zeros(len(y), dtype=bool)
        for k in np.unique(y):
            rows = rng.permutation(np.flatnonzero(y == k))
            first[rows[: rows.size // 2]] = True
        k = SIZES[seed % len(SIZES)]
        return severity_of(
            X[~first], y[~first], choose(selector, k, X[first], y[first]), seed
        )

    return trial


def known(effect: float, correlation: float, p: int = 2000, k: int = 20) -> Trial:
    """Give the `k` relevant of `p` features of a simulated table."""

    def trial(seed: int) -> str:
        rng = np.random.default_rng(seed)
        y = np.arange(60) % 2
        X = rng.normal(size=(60, p))
        common = rng.normal(size=(60, 1))
        X[:, :k] *= np.sqrt(1 - correlation)
        X[:, :k] += np.sqrt(correlation) * common + effect * y[:, None]
        return severity_of(X, y, np.arange(k), seed)

    return trial


def useful_table(n: int, p: int, effect: float, unequal: float, rho: float) -> Trial:
    """Make a table of useful features; `effect` is in standard errors."""

    def trial(seed: int) -> str:
        rng = np.random.default_rng(seed)
        y = np.arange(n) % 2
        sizes = effect * 2 / np.sqrt(n) * (1 + unequal * rng.uniform(-1, 1, p))
        X = np.sqrt(1 - rho) * rng.normal(size=(n, p))
        X += np.sqrt(rho) * rng.normal(size=(n, 1))
        X += sizes * rng.choice([-1, 1], p) * y[:, None]
        found = find_selection_trace(read_table(X, y), seed)
        return "warning" if found is not None and found.is_shown else ""

    return trial


def selected_table(n: int, p: int, k: int) -> Trial:
    """Make a table of the best of many noise features."""

    def trial(seed: int) -> str:
        X = np.random.default_rng(seed).normal(size=(n, p))
        y = np.arange(n) % 2
        best = AnovaF(k).fit(X, y).transform(X)
        found = find_selection_trace(read_table(best, y), seed)
        return "warning" if found is not None and found.is_shown else ""

    return trial


def raw_subset(name: str, n: int, share: float) -> Trial:
    """Take samples of a raw table, with a share of the values set to the mean."""
    X, _ = read(name)

    def trial(seed: int) -> str:
        rng = np.random.default_rng([seed, n])
        values = X[rng.choice(len(X), n, replace=False)]
        if share:
            gone = rng.random(values.shape) < share
            means = np.nanmean(np.where(gone, np.nan, values), axis=0)
            values = np.where(gone, means, values)
        found = find_traces(read_table(values, np.arange(n) % 2))
        return "warning" if any(trace.kind == "imputed" for trace in found) else ""

    return trial


def iris(code: str, copies: int) -> Trial:
    """Audit iris with an honest pipeline, with some rows copied."""
    X, y = load_iris(return_X_y=True)
    learners = (
        GaussianNB(),
        LogisticRegression(max_iter=2000),
        KNeighborsClassifier(1),
        DecisionTreeClassifier(random_state=0),
        make_pipeline(StandardScaler(), KNeighborsClassifier(5)),
        make_pipeline(AnovaF(2), GaussianNB()),
        make_pipeline(StandardScaler(), AnovaF(3), LogisticRegression(max_iter=2000)),
    )
    pairs = (None, (0, 1), (0, 2))  # all classes, or two of them

    def trial(seed: int) -> str:
        rng = np.random.default_rng(seed)
        two = pairs[seed // len(learners) % len(pairs)]
        rows = np.flatnonzero(np.isin(y, two)) if two else np.arange(150)
        rows = np.concatenate([rows, rng.choice(rows, copies, replace=False)])
        found = audit(
            learners[seed % len(learners)], X[rows], y[rows], n_permutations=19,
            random_state=seed, progress=False,
        )  # fmt: skip
        worst = [f.severity for f in found.findings if code in (f.code, "any")]
        return worst[0] if worst else ""

    return trial


def designs() -> Iterator[tuple[tuple[str, str, str, str], int, Callable[[], Trial]]]:
    """Yield every design: its key, the number of repeats, and what makes its trial."""
    for selector in selectors_for("classes"):
        if not SELECTORS[selector]._uses_target:
            continue  # nothing can leak
        arrays = {
            "svm-rfe": OF_ELIMINATION,
            "fcbf": OF_GAINS,
            "information-gain": OF_GAINS,
        }
        for name, n in arrays.get(selector, ARRAYS).items():
            yield (
                ("VD001", "permuted", name, selector),
                n,
                lambda a=name, b=selector: permuted(a, b),
            )
    for name in ("colon", "lung_filtered"):
        for how in ("random", "variance"):
            for true in (False, True):
                labels = "true labels" if true else "permuted labels"
                yield (
                    ("VD001", f"honest {how}", name, labels),
                    12,
                    lambda a=name, b=how, c=true: blind(a, b, c),
                )
        for selector in ("anova", "relieff", "mrmr"):
            yield (
                ("VD001", "honest other half", name, selector),
                10,
                lambda a=name, b=selector: other_half(a, b),
            )
    for effect in (0.5, 1.0, 1.5, 2.0):
        for rho in (0.0, 0.5):
            yield (
                ("VD001", "honest known", "simulated", f"d = {effect}, r = {rho}"),
                15,
                lambda a=effect, b=rho: known(a, b),
            )
    for p, k in ((30, 5), (100, 10), (300, 5)):
        for effect in (0.5, 0.8, 1.2):
            how = f"{k} of {p}, d = {effect}"
            yield (
                ("VD001", "honest known", "few features", how),
                20,
                lambda a=effect, b=p, c=k: known(a, 0.3, b, c),
            )
    for n, p in ((40, 5), (60, 6), (100, 8), (200, 10), (60, 20)):
        for effect in (2.5, 3.0, 4.0, 8.0):
            for unequal in (0.0, 0.5):
                for rho in (0.0, 0.5, 0.8):
                    how = f"z = {effect:g}, ± {unequal:.0%}, r = {rho:g}"
                    yield (
                        ("VD001", "honest table", f"{n} x {p}", how),
                        50,
                        lambda a=n, b=p, c=effect, d=unequal, e=rho: useful_table(
                            a, b, c, d, e
                        ),
                    )
    for n, p, k in ((50, 2000, 20), (50, 2000, 10), (50, 2000, 5), (100, 1000, 20)):
        yield (
            ("VD001", "table of the best", f"{n} x {p}", f"best {k}"),
            100,
            lambda a=n, b=p, c=k: selected_table(a, b, c),
        )
    for name in RAW:
        for n in (16, 24, 40):
            for share in (0.0, 0.05):
                design = "5 % imputed" if share else "honest raw"
                yield (
                    ("VD002", design, name, f"{n} samples"),
                    20,
                    lambda a=name, b=n, c=share: raw_subset(a, b, c),
                )
    yield ("any", "honest", "iris", "pipelines"), 21, lambda: iris("any", 0)
    yield ("VD003", "15 copies", "iris", "pipelines"), 21, lambda: iris("VD003", 15)


def measure(key: tuple[str, ...], begin: int) -> list[Row]:
    """Run the repeats of the design that has a key, from number `begin` on."""
    n, make = next((n, make) for other, n, make in designs() if other == key)
    trial, first = make(), FRESH if key[0] == "VD001" else 0
    found = [trial(seed) for seed in range(first + begin, first + n)]
    counts = {
        "n": len(found),
        "flagged": sum(one in ("error", "warning") for one in found),
        "notes": found.count("note"),
        "nothing": found.count("nothing"),
        "first_seed": first,
        "begin": begin,
    }
    return [dict(zip(KEY, key, strict=True)) | counts]


def add_counts(rows: list[Row]) -> None:
    """Add what was counted to the table; further repeats of a design to its row.

    Repeats that the table has already, from another call, are not counted twice.
    """
    every = {tuple(row[field] for field in KEY): row for row in read_rows()}
    for row in rows:
        begin, key = row.pop("begin"), tuple(row[field] for field in KEY)
        known = every.setdefault(key, row | dict.fromkeys(COUNTS, 0))
        if int(known["n"]) == begin:
            known |= {name: int(known[name]) + row[name] for name in COUNTS}
    ordered = sorted(every, key=lambda key: [part.rjust(12) for part in key])
    write_rows(TABLE, FIELDS, [every[key] for key in ordered])


def write_table(rows: list[dict[str, Any]], path: Path) -> None:
    """Write the counts, summed over similar designs, for the documentation."""
    total: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        data = "" if row["design"] == "honest table" else row["data"]
        how = row["how"] if row["design"] in ("permuted", "table of the best") else ""
        keys = [(row["code"], row["design"], data, how)]
        if row["design"] == "permuted":
            keys = [(row["code"], row["design"], "", how)]
        for key in keys:
            sums = total.setdefault(key, [0, 0, 0])
            sums[0] += int(row["n"]) - int(row["nothing"])
            sums[1] += int(row["flagged"])
            sums[2] += int(row["notes"])
    lines = [
        "| code | design | data or selector | n | error or warning | note |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {code} | {design} | {' '.join((data, how)).strip()} | {n} | {f} | {m} |"
        for (code, design, data, how), (n, f, m) in total.items()
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Measure what is not stored yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--only", default="", help="part of the name of a design")
    options = parser.parse_args()
    done = {tuple(row[field] for field in KEY): int(row["n"]) for row in read_rows()}
    todo = [
        (key, done.get(key, 0))
        for key, n, _ in designs()
        if done.get(key, 0) < n and options.only in " ".join(key)
    ]
    print(f"{len(done)} designs are in the table, {len(todo)} are left", flush=True)
    measure_all(todo, measure, add_counts, jobs=options.jobs, minutes=options.minutes)
    write_table(read_rows(), TABLE.with_suffix(".md"))


def read_rows() -> list[Row]:
    """Read what was measured."""
    if not TABLE.exists():
        return []
    with TABLE.open(encoding="utf-8", newline="") as stored:
        return list(csv.DictReader(stored))


if __name__ == "__main__":
    main()

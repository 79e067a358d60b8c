"""Measure the bias and the coverage of corrected scores: a table that is shipped.

    python -m benchmarks.truth.choices [--minutes 40] [--sets 80]
    python -m benchmarks.truth.choices --table

In every design, data sets are drawn, `veridical.choose` chooses among many candidates,
and the score that it gives is compared with the score of its fitted pipeline on fresh
samples. The first command adds data sets, a few of every design at a time, to
``src/veridical/evaluation/choices.csv``; given again, it goes on where it stopped. What
a stopped call measured is in ``build/choices.jsonl``, from which the next one adds it.
The second prints the table of docs/questions/the-best-of-many.md, and means by target.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
import warnings
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor

import veridical.evaluation
from benchmarks.truth.designs import write_rows
from veridical import choose
from veridical._core.survival_scores import Observed, harrell
from veridical._core.targets import Survival

TABLE = Path(veridical.evaluation.__file__).with_name("choices.csv")
RAW = Path("build/choices.jsonl")
COLUMNS = (
    *("target", "n_samples", "n_features", "signal", "source"),
    *("n_candidates", "n_sets"),
    *("truth", "naive_bias", "bbc_bias", "bbc_covered"),
    *("nested_bias", "nested_covered"),
)
#: Number of the first data set of every target. Those before were looked at while the
#: intervals were made, so that none of the published ones had a part in that.
FIRST = {"classes": 1000, "grouped classes": 1000, "numbers": 1000, "survival": 2000}
#: Fresh samples on which a model is scored.
N_FRESH = 2000
#: Number of relevant features, and the effect of each in standard deviations.
RELEVANT = 10
EFFECTS = {"none": 0.0, "weak": 0.35, "strong": 0.8}
#: Candidates: selectors, sizes and estimators.
FEW: dict[str, Any] = {
    "selectors": ["anova", "mrmr"],
    "sizes": [5, 20],
    "estimators": ["nb", "1nn"],
}
SOME: dict[str, Any] = {
    "selectors": ["anova", "mrmr", "relieff"],
    "sizes": [1, 2, 5, 10, 20, 40],
    "estimators": ["nb", "1nn", "svm"],
}
MANY: dict[str, Any] = {
    "selectors": ["anova", "mrmr", "relieff", "information-gain", "hsic"],
    "sizes": [1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 55, 75, 100],
    "estimators": ["nb", "1nn", "svm", "c45"],
}
NUMBERS: dict[str, Any] = {
    "selectors": ["correlation", "mrmr", "relieff"],
    "sizes": [2, 5, 10, 20],
    "estimators": [Ridge(), KNeighborsRegressor()],
}
SURVIVAL: dict[str, Any] = {
    "selectors": ["cox-score", "mrmr"],
    "sizes": [2, 5, 10, 20],
    "estimators": ["cox"],
}
#: Classes of consecutive samples, where they are not two equal ones.
CLASSES = {"unbalanced": [0, 0, 0, 1], "three classes": [0, 1, 2]}
CANDIDATES = {"few": FEW, "some": SOME, "many": MANY, "numbers": NUMBERS}
CANDIDATES["survival"] = SURVIVAL


@dataclass(frozen=True)
class Design:
    """A source of data sets, and the candidates."""

    target: str
    n_samples: int
    n_features: int
    signal: str
    candidates: str
    source: str = "independent"

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
        """Draw features, target and groups (None without)."""
        if self.target == "grouped classes":
            return self._draw_groups(n, rng)
        X = self._draw_features(n, rng)
        if self.target == "numbers":
            effect = EFFECTS[self.signal] * X[:, :RELEVANT].sum(axis=1) / 2
            if self.source == "heavy tails":
                return X, effect + rng.standard_t(4, n) / np.sqrt(2), None
            return X, effect + rng.standard_normal(n), None
        if self.target == "survival":
            effect = EFFECTS[self.signal] * X[:, :RELEVANT].sum(axis=1) / 2
            time = rng.exponential(np.exp(-effect))
            censored = rng.exponential(2.0, n)
            y = np.empty(n, dtype=[("event", bool), ("time", float)])
            y["event"], y["time"] = time <= censored, np.minimum(time, censored)
            return X, y, None
        y = np.resize(CLASSES.get(self.source, [0, 1]), n)
        effects = EFFECTS[self.signal] * (y[:, np.newaxis] > 0)
        if self.source == "three classes":  # the third differs in other features too
            X[:, RELEVANT : 2 * RELEVANT] += EFFECTS[self.signal] * (y[:, None] > 1)
        X[:, :RELEVANT] += effects
        return X, y, None

    def _draw_features(self, n: int, rng: np.random.Generator) -> Any:
        X = rng.standard_normal((n, self.n_features))
        if self.source == "correlated":  # blocks of five features share half
            shared = rng.standard_normal((n, self.n_features // 5 + 1))
            X = np.sqrt(0.5) * (X + shared[:, np.arange(self.n_features) // 5])
        return X

    def _draw_groups(self, n: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
        """Draw groups of four samples that share their class and half the variance."""
        groups = np.arange(n) // 4
        y = np.resize([0, 1], groups.max() + 1)[groups]
        shared = rng.standard_normal((groups.max() + 1, self.n_features))[groups]
        X = np.sqrt(0.5) * (shared + rng.standard_normal((n, self.n_features)))
        X[:, :RELEVANT] += EFFECTS[self.signal] * y[:, np.newaxis]
        return X, y, groups


def plan() -> list[Design]:
    """List the designs."""
    found = [
        Design("classes", n, 200, signal, candidates)
        for n, signal, candidates in product((40, 100, 200), EFFECTS, ("few", "some"))
    ]
    found += [Design("classes", 60, 200, signal, "many") for signal in EFFECTS]
    found += [
        Design("classes", n, 100, signal, "few")
        for n, signal in product((500, 1000), EFFECTS)
    ]
    found += [
        Design("grouped classes", n, 100, signal, "few")
        for n, signal in product((96, 240), ("none", "strong"))
    ]
    found += [
        Design("numbers", n, 50, signal, "numbers")
        for n, signal in product((60, 200), EFFECTS)
    ]
    found += [Design("survival", 100, 50, signal, "survival") for signal in EFFECTS]
    return found


def held_out() -> list[Design]:
    """List designs of other sources, which were never used to set anything."""
    found = [
        Design("classes", n, 300, signal, "some", source)
        for source in ("correlated", "unbalanced", "three classes")
        for n, signal in ((50, "none"), (80, "strong"), (150, "weak"))
    ]
    found += [
        Design("numbers", n, 100, signal, "numbers", source)
        for source in ("correlated", "heavy tails")
        for n, signal in ((80, "none"), (120, "strong"), (300, "weak"))
    ]
    found += [
        Design("survival", n, 100, signal, "survival", "correlated")
        for n, signal in ((80, "none"), (150, "strong"), (250, "weak"))
    ]
    found += [
        Design("grouped classes", n, 200, signal, "some")
        for n, signal in ((120, "none"), (160, "strong"))
    ]
    return found


def measure(design: Design, run: int) -> dict[str, Any]:
    """Choose on one data set, and compare with the truth."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([zlib.crc32(repr(design).encode()), run])
    X, y, groups = design.draw(design.n_samples, rng)
    Z, fresh, _ = design.draw(N_FRESH, rng)
    more: dict[str, Any] = {} if groups is None else {"groups": groups}
    found = choose(
        X,
        y,
        **CANDIDATES[design.candidates],
        **more,
        correction="nested",
        random_state=run,
        n_bootstrap=300,
        progress=False,
    )
    predicted = found.estimator_.predict(Z)
    if design.target == "survival":
        times = Survival(fresh["time"], fresh["event"])
        truth = harrell(Observed(times, times), np.asarray(predicted))
    elif design.target == "numbers":
        truth = float(r2_score(fresh, predicted))
    else:
        truth = float(np.mean(predicted == fresh))
    return {
        **asdict(design),
        "run": run,
        "n_candidates": len(found.found),
        "truth": truth,
        "naive": found.naive_score,
        "nested": [found.score, *found.interval()],
        "bbc": list(found.by_bbc or ()),
    }


def read_raw() -> dict[Design, dict[int, dict[str, Any]]]:
    """Read the data sets that were measured here: by design and number."""
    found: dict[Design, dict[int, dict[str, Any]]] = defaultdict(dict)
    if RAW.exists():
        for line in RAW.read_text().splitlines():
            try:
                one = json.loads(line)
            except json.JSONDecodeError:  # a process was killed while it wrote
                continue
            design = Design(*(one[field.name] for field in fields(Design)))
            found[design][one["run"] - FIRST[design.target]] = one
    return found


def todo(n_sets: int) -> Iterator[tuple[Design, int]]:
    """Yield the data sets that are not measured yet; designs take turns."""
    raw, stored = read_raw(), read_table()
    for k in range(n_sets):
        for design in (*plan(), *held_out()):
            row = stored.get(design)
            if k >= (int(row["n_sets"]) if row else 0) and k not in raw[design]:
                yield design, FIRST[design.target] + k


def write_table() -> None:
    """Add the data sets that the table does not count yet, of every design."""
    raw, stored = read_raw(), read_table()
    rows = []
    for design in (*plan(), *held_out()):
        row = stored.get(design)
        k = first = int(row["n_sets"]) if row else 0
        while k in raw[design]:
            k += 1
        if k > first:
            row = add(row, design, [raw[design][i] for i in range(first, k)])
        if row is not None:
            rows.append(row)
    write_rows(TABLE, COLUMNS, rows)


def read_table() -> dict[Design, dict[str, Any]]:
    """Return the rows of the table by design.

    Designs take turns, so that the rows are those of the first designs.
    """
    if not TABLE.exists():
        return {}
    with TABLE.open(encoding="utf-8", newline="") as file:
        return dict(zip((*plan(), *held_out()), csv.DictReader(file), strict=False))


def add(
    row: dict[str, Any] | None, design: Design, found: list[dict[str, Any]]
) -> dict[str, Any]:
    """Add data sets of a design to its row: means, and numbers of covered truths."""
    before = int(row["n_sets"]) if row else 0
    truth = np.array([one["truth"] for one in found])
    new: dict[str, Any] = {
        "truth": truth,
        "naive_bias": np.array([one["naive"] for one in found]) - truth,
    }
    for kind in ("bbc", "nested"):
        value, low, high = np.array([one[kind] for one in found]).T
        new[f"{kind}_bias"] = value - truth
        new[f"{kind}_covered"] = (low <= truth) & (truth <= high)
    made = {name: one for name, one in asdict(design).items() if name in COLUMNS}
    made |= {"n_candidates": found[0]["n_candidates"], "n_sets": before + len(found)}
    for name, values in new.items():
        if name.endswith("covered"):
            made[name] = (int(row[name]) if row else 0) + int(values.sum())
            continue
        total = (before * float(row[name]) if row else 0.0) + values.sum()
        made[name] = round(float(total / made["n_sets"]), 4)
    return made


def print_table() -> None:
    """Print means by target, and the table, as Markdown."""
    with TABLE.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    by_target: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        by_target.setdefault(row["target"], []).append(row)
    means = [
        [name, str(len(own)), str(sum(int(row["n_sets"]) for row in own)), *_means(own)]
        for name, own in [*by_target.items(), ("**all**", rows)]
    ]
    single = [
        [
            *(row[k] for k in COLUMNS[:7]),
            f"{100 * float(row['truth']):.1f}",
            *_means([row]),
        ]
        for row in rows
    ]
    heads = "target | samples | features | signal | source | candidates"
    _print_markdown("target | designs | data sets", means)
    _print_markdown(f"{heads} | data sets | truth", single)


def _print_markdown(heads: str, rows: list[list[str]]) -> None:
    heads += " | uncorrected | BBC | covered | nested | covered"
    print(f"| {heads} |")
    print("|" + "---|" * (heads.count("|") + 1))
    for row in rows:
        print(f"| {' | '.join(row)} |".replace("-", "\N{MINUS SIGN}"))
    print()


def _means(rows: list[dict[str, str]]) -> list[str]:
    """Average biases and coverages over the data sets of some designs."""
    n = np.array([int(row["n_sets"]) for row in rows])
    said = []
    for key in COLUMNS[8:]:
        values = np.array([float(row[key]) for row in rows])
        if key.endswith("covered"):
            share = 100 * values.sum() / n.sum()
            said.append(f"{share:.0f} %" if len(rows) == 1 else f"{share:.1f} %")
        else:
            said.append(f"{100 * np.average(values, weights=n):+.1f}")
    return said


def main() -> None:
    """Measure, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--sets", type=int, default=80)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        print_table()
        return
    RAW.parent.mkdir(exist_ok=True)
    end = time.monotonic() + 60 * options.minutes
    for design, run in todo(options.sets):
        if time.monotonic() > end:
            break
        found = measure(design, run)
        with RAW.open("a") as file:
            file.write(json.dumps(found) + "\n")
    write_table()


if __name__ == "__main__":
    main()

"""Count how often a comparison says "you may claim", wrongly and rightly.

    python -m benchmarks.truth.claims [--jobs 2] [--minutes 30] [--unseen 40]
    python -m benchmarks.truth.claims --table

Two selectors are compared by the default test under IN, as `veridical.compare` does it:
it says "you may claim" where the test rejects at 5 %, one of the two is shown to be
better than the majority class, and the p-value is at most that which sizes measured
near the design allow. On data sets of the kind "equal" neither selector is better, and
every claim is wrong. On those of the kind "unequal" the effects in the block of the
second selector are half as large, which shows what the rule costs.

The designs are those of ``sizes.csv``, on other data sets than are counted there, and
each is left out of the table while it is judged; with ``--unseen``, new ones.
``claims.csv`` has a row for each kind and design; those that it has are left out. The
accuracies of the folds that were drawn here are kept in ``build/claims`` and judged
again by every call, so that another rule needs no drawing; for all of them, delete
``claims.csv`` first.
"""

from __future__ import annotations

import argparse
import csv
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

from benchmarks.truth.designs import UNSEEN, Row, measure_all, write_rows
from benchmarks.truth.sizes import designs_of, plan
from veridical._core.arrays import FloatArray
from veridical._core.reading import read_table
from veridical._core.splits import CrossValidation
from veridical.comparison.conclusions import mean_accuracy
from veridical.comparison.null_designs import (
    NullDesign,
    class_means,
    measure_accuracies,
)
from veridical.comparison.significance import corrected_resampled_t
from veridical.comparison.sizes import SizeRow, size_range, size_table
from veridical.evaluation.situations import (
    HEAVY_TAILS,
    SIMULATED,
    find_near,
    tail_weight,
)

TABLE = Path(__file__).with_suffix(".csv")
RAW = Path("build/claims")
ALPHA = 0.05
#: Seeds, data sets per design, with ten times ten folds, and the factor of the effects
#: in the second block.
KINDS = {"equal": (777, 500, 200, 1.0), "unequal": (778, 150, 60, 0.5)}
#: Most folds, over all repeats, of the designs of the kind "unequal".
MOST_UNEQUAL = 10
COLUMNS = (
    "kind",
    "designs",
    *(field.name for field in fields(NullDesign)),
    "accuracy",
    "n_simulations",
    "rejected",
    "near",
    "claimed",
)


def simulate(kind: str, design: NullDesign) -> tuple[FloatArray, FloatArray]:
    """Draw data sets; return accuracies (sets, sides, splits), and weights of tails."""
    first, n_sets, fewer, factor = KINDS[kind]
    if design.n_repeats * design.n_folds > 10:
        n_sets = fewer
    y = np.repeat(np.arange(design.n_classes), design.class_sizes)
    shift = class_means(design, y)
    shift = np.hstack([shift, factor * shift])
    rng = np.random.default_rng([first, zlib.crc32(repr(design).encode())])
    method = CrossValidation(design.n_folds, n_repeats=design.n_repeats)
    scores = np.empty((n_sets, 2, design.n_repeats * design.n_folds))
    tails = np.empty(n_sets)
    for i in range(n_sets):
        if np.isinf(design.tail_df):
            X = rng.standard_normal(shift.shape) + shift
        else:
            X = rng.standard_t(design.tail_df, shift.shape) + shift
        splits = method.split(y, int(rng.integers(2**31)))
        scores[i] = measure_accuracies(design, X, y, splits, 2)
        tails[i] = tail_weight(read_table(X, y, kind="classes"))
    return scores, tails


def raw_file(kind: str, design: NullDesign) -> Path:
    """Return where the accuracies of a design are kept."""
    return RAW / f"{kind}_{zlib.crc32(repr(design).encode()):08x}.npz"


def keep(kind: str, design: NullDesign) -> list[Row]:
    """Draw the data sets of a design, and keep the accuracies."""
    scores, tails = simulate(kind, design)
    path = raw_file(kind, design)
    part = path.with_name(f"part_{path.name}")
    np.savez_compressed(part, scores=scores.astype(np.float32), tails=tails)
    part.replace(path)
    return []


@cache
def rows_of(n_repeats: int, n_folds: int) -> tuple[SizeRow, ...]:
    """Return the measured sizes of the default test; for 6 to 9 folds, of 5 and 10."""
    shapes = {(1, 5), (1, 10)} if 5 < n_folds < 10 else {(n_repeats, n_folds)}
    return tuple(
        row
        for row in size_table()
        if (row.kind, row.test, row.design.method) == ("plain", "corrected-t", "in")
        and (row.design.n_repeats, row.design.n_folds) in shapes
    )


def judge(kind: str, name: str, design: NullDesign) -> Row:
    """Count the claims in the data sets of a design."""
    with np.load(raw_file(kind, design)) as kept:
        scores, tails = kept["scores"].astype(np.float64), kept["tails"]
    rivals = [
        row for row in rows_of(design.n_repeats, design.n_folds) if row.design != design
    ]
    shape = (len(scores), design.n_repeats, design.n_folds)
    test = corrected_resampled_t(
        scores[:, 0].reshape(shape),
        scores[:, 1].reshape(shape),
        n_train=design.geometry.n_train,
        n_test=design.geometry.n_test,
    )
    pvalue, gap = np.asarray(test.pvalue), np.asarray(test.mean_difference)
    rejected = np.flatnonzero(pvalue < ALPHA)
    near = claimed = 0
    for i in rejected:
        level = level_near(design, float(scores[i].mean()), float(tails[i]), rivals)
        near += level is not None
        right = gap[i] > 0 or kind == "equal"
        claimed += right and may_claim(design, scores[i], float(pvalue[i]), level)
    return {
        "kind": kind,
        "designs": name,
        **described(design),
        "accuracy": f"{scores.mean():.4f}",
        "n_simulations": len(scores),
        "rejected": len(rejected),
        "near": near,
        "claimed": int(claimed),
    }


def level_near(
    design: NullDesign, accuracy: float, tails: float, rivals: Sequence[SizeRow]
) -> float | None:
    """Return the p-value up to which may be claimed; None where nothing is near."""
    if tails > HEAVY_TAILS:
        return None
    place = SizeRow("plain", "corrected-t", 2, design, accuracy, 1, ()).situation
    near = find_near(rivals, place)
    return size_range(near, ALPHA).claim_level if near else None


def may_claim(
    design: NullDesign, scores: FloatArray, pvalue: float, level: float | None
) -> bool:
    """Return whether "you may claim" is said of the accuracies of two sides."""
    if level is None or pvalue > min(level, ALPHA):
        return False
    geometry = design.geometry
    ratio = float(np.mean(geometry.n_test) / np.mean(geometry.n_train))
    majority = max(design.class_sizes) / design.n_samples
    lows = [
        mean_accuracy(side, ratio, ALPHA, n_tested=design.n_samples).low
        for side in scores
    ]
    return max(lows) > majority


def stored() -> list[NullDesign]:
    """Return the designs of ``sizes.csv``, also those that it still lacks.

    Shapes and estimators take turns.
    """
    return [design for kind, design, _ in plan() if kind == "plain"]


def is_short(design: NullDesign) -> bool:
    """Return whether the kind "unequal" is measured in a design."""
    return design.n_repeats * design.n_folds <= MOST_UNEQUAL


def unseen(number: int) -> list[NullDesign]:
    """Draw designs that are not in the table, with folds that are not, too."""
    shapes, estimators = ((1, 10), (1, 5), (1, 7), (10, 10)), list(SIMULATED)
    found = []
    for i in range(number):
        (design,) = designs_of(
            shapes[i % len(shapes)],
            estimators[i % len(estimators)],
            1,
            f"claims unseen {i}",
            **UNSEEN[i % len(UNSEEN)],
        )
        found.append(design)
    return found


def planned(n_unseen: int) -> list[tuple[str, str, NullDesign]]:
    """Return the kind of every row, whether its design is stored, and the design."""
    designs = [("equal", "stored", one) for one in stored()]
    designs += [("equal", "unseen", one) for one in unseen(n_unseen)]
    return designs + [("unequal", "stored", one) for one in stored() if is_short(one)]


def write_table(designs: Sequence[tuple[str, str, NullDesign]]) -> None:
    """Judge every design whose accuracies are kept; rows of others stay."""
    rows = read_rows()
    for kind, name, design in designs:
        if raw_file(kind, design).exists():
            rows[key_of(kind, name, design)] = judge(kind, name, design)
    write_rows(TABLE, COLUMNS, rows.values())


def read_rows() -> dict[tuple[str, ...], Row]:
    """Read what was counted, by kind and design."""
    if not TABLE.exists():
        return {}
    with TABLE.open(newline="", encoding="utf-8") as file:
        return {
            tuple(row[name] for name in COLUMNS[:-5]): row
            for row in csv.DictReader(file)
        }


def key_of(kind: str, name: str, design: NullDesign) -> tuple[str, ...]:
    """Return by what a row is found again."""
    return kind, name, *described(design).values()


def described(design: NullDesign) -> dict[str, str]:
    """Return the fields of a design as they are written."""
    return {
        k: f"{v:g}" if isinstance(v, float) else str(v)
        for k, v in asdict(design).items()
    }


def count_above(claimed: FloatArray, numbers: FloatArray) -> int:
    """Count the designs in which claims are significantly above the level.

    By binomial tests of one side at 5 %, with Holm's correction for all designs.
    """
    pvalues = np.sort(binom.sf(claimed - 1, numbers, ALPHA))
    holm = pvalues * np.arange(len(pvalues), 0, -1)
    return int(np.count_nonzero(np.maximum.accumulate(holm) <= ALPHA))


def tabulate() -> str:
    """Write the table of the documentation."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = [
        "| selectors | designs | folds | designs | rejected | claimed | above 5 % "
        "| beyond chance | largest |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    keys = {
        (row["kind"], row["designs"], row["n_repeats"], row["n_folds"]): 0
        for row in rows
    }
    for key in keys:
        own = [
            row
            for row in rows
            if (row["kind"], row["designs"], row["n_repeats"], row["n_folds"]) == key
        ]
        n = np.array([int(row["n_simulations"]) for row in own])
        claimed = np.array([int(row["claimed"]) for row in own])
        rejected = np.array([int(row["rejected"]) for row in own])
        folds = key[3] if key[2] == "1" else f"{key[2]} x {key[3]}"
        above, beyond = int((claimed / n > ALPHA).sum()), count_above(claimed, n)
        cells: tuple[Any, ...] = (key[0], key[1], folds, len(own))
        cells += (f"{100 * (rejected / n).mean():.1f} %",)
        cells += (f"{100 * (claimed / n).mean():.1f} %",)
        wrong = key[0] == "equal"
        cells += (above, beyond) if wrong else ("", "")
        cells += (f"{100 * (claimed / n).max():.1f} %" if wrong else "",)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def left(
    designs: Sequence[tuple[str, str, NullDesign]],
) -> Iterator[tuple[str, NullDesign]]:
    """Yield the designs that have neither a row nor accuracies that are kept."""
    known = read_rows()
    for kind, name, design in designs:
        has_row = key_of(kind, name, design) in known
        if not has_row and not raw_file(kind, design).exists():
            yield kind, design


def main() -> None:
    """Draw what is not kept yet, and judge everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--unseen", type=int, default=40)
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.table:
        print(tabulate())
        return
    RAW.mkdir(parents=True, exist_ok=True)
    designs = planned(asked.unseen)
    todo = list(left(designs))
    print(
        f"{len(designs) - len(todo)} designs are drawn, {len(todo)} are left",
        flush=True,
    )
    if todo:
        measure_all(
            todo, keep, lambda rows: None, jobs=asked.jobs, minutes=asked.minutes
        )
    write_table(designs)
    print(tabulate())


if __name__ == "__main__":
    main()

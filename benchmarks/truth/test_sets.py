"""Measure tests and intervals of one test set: the table that veridical ships.

    python -m benchmarks.truth.test_sets
    python -m benchmarks.truth.test_sets --table

Two models of equal quality give correlated decision values, normal within classes, and
the probabilities that belong to them; with groups, the class is constant within a group
and half of the variance is common to it. Counted is how often the usual test of
``compare`` for the score rejects (DeLong's for areas without groups, else the
jackknife), and how often the jackknife interval of the first model covers its true
score. The first command writes ``src/veridical/evaluation/test_sets.csv``, which takes
some minutes; the second prints the table of docs/which-test.md.
"""

from __future__ import annotations

import argparse
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit, logit, stdtr
from scipy.stats import norm

import veridical.evaluation
from benchmarks.truth.designs import Row, write_rows
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.scoring import SCORES, Outputs
from veridical.comparison import delong
from veridical.evaluation.jackknife import (
    divide_units,
    jackknife_interval,
    leave_out,
    standard_error,
)
from veridical.evaluation.structured import ALPHAS, COLUMNS, read_structured

TABLE = Path(veridical.evaluation.__file__).with_name("test_sets.csv")
#: Test sets of a design, and samples for the true score.
N_SETS, N_TRUE = 300, 400_000
#: Correlation of the two models within classes, share of variance of a group, samples
#: of a group.
CORRELATION, GROUP_SHARE, GROUP_SIZE = 0.5, 0.5, 5


@dataclass(frozen=True)
class Design:
    """A score, the units of the test set, and how good the models are."""

    score: str
    n_units: int
    group_size: int
    minority: float
    area: float  #: under the ROC curve, of both models


def designs() -> list[Design]:
    """List the designs."""
    alone = [
        Design(score, n, 1, minority, area)
        for score in ("roc_auc", "balanced_accuracy", "log_loss")
        for n in (40, 120, 400, 1200)
        for minority in (0.1, 0.3, 0.5)
        for area in (0.65, 0.9)
    ]
    return alone + [
        Design(score, n, GROUP_SIZE, minority, area)
        for score in ("accuracy", "roc_auc", "balanced_accuracy", "log_loss")
        for n in (24, 80)
        for minority in (0.25, 0.5)
        for area in (0.65, 0.9)
    ]


def draw(design: Design, n_sets: int, rng: np.random.Generator) -> FloatArray:
    """Draw decision values of both models: (2, n_sets, n_samples)."""
    y, groups = classes(design)

    def noise(*shape: int) -> FloatArray:
        own = rng.standard_normal((*shape, y.size))
        if design.group_size == 1:
            return own
        common = rng.standard_normal((*shape, design.n_units))[..., groups]
        return np.sqrt(GROUP_SHARE) * common + np.sqrt(1 - GROUP_SHARE) * own

    both, own = noise(1, n_sets), noise(2, n_sets)
    values = np.sqrt(CORRELATION) * both + np.sqrt(1 - CORRELATION) * own
    return np.asarray(values + apart(design) * y)


def classes(design: Design) -> tuple[IntArray, IntArray]:
    """Return the class and the group of every sample."""
    groups = np.repeat(np.arange(design.n_units), design.group_size)
    return (groups < round(design.minority * design.n_units)).astype(np.intp), groups


def apart(design: Design) -> float:
    """Return how far the classes are apart, in standard deviations."""
    return float(np.sqrt(2) * norm.ppf(design.area))


def outputs_of(design: Design, values: FloatArray) -> Outputs:
    """Return what models with these decision values predict, a set for each size.

    For balanced accuracy they are made for classes of equal size, as such models are.
    """
    d = apart(design)
    share = round(design.minority * design.n_units) / design.n_units
    if design.score == "balanced_accuracy":
        share = 0.5
    proba = expit(d * values - d**2 / 2 + logit(share))
    both = np.stack([1 - proba, proba], axis=-1)
    return Outputs((proba > 0.5).astype(np.intp), both, values)


def true_score(design: Design, rng: np.random.Generator) -> float:
    """Compute the score of either model on very many samples."""
    share = round(design.minority * design.n_units) / design.n_units
    y = (np.arange(N_TRUE) < share * N_TRUE).astype(np.intp)
    values = rng.standard_normal(N_TRUE) + apart(design) * y
    score = SCORES[design.score]
    response = None if score.needs == "predict" else "predict_proba"
    scored = score.score_outputs(
        y, outputs_of(design, values[np.newaxis]).at(0), np.array([0, 1]), response
    )
    return float(scored.value)


def measure_design(design: Design) -> Row:
    """Count rejections and covered scores in one design."""
    rng = np.random.default_rng(zlib.crc32(repr(design).encode()))
    y, groups = classes(design)
    score, both = SCORES[design.score], np.array([0, 1])
    response = None if score.needs == "predict" else "predict_proba"
    blocks = divide_units(groups)
    values = draw(design, N_SETS, rng)
    sides = [outputs_of(design, side) for side in values]
    full = [
        np.array([one.value for one in score.score_sizes(y, side, both, response)])
        for side in sides
    ]
    left = [leave_out(score, y, side, both, response, None, blocks) for side in sides]
    if design.score == "roc_auc" and design.group_size == 1:
        pvalues = np.asarray(delong(y, *values).pvalue)
    else:
        error = standard_error(left[0] - left[1])
        pvalues = 2 * stdtr(len(left[0]) - 1, -np.abs(full[0] - full[1]) / error)
    truth, errors = true_score(design, rng), standard_error(left[0])
    low, high = score.low, score.high
    found = []
    for value, one in zip(full[0], errors, strict=True):
        if np.isfinite(one) and low < value < high:
            a, b = jackknife_interval(value, one, len(left[0]), (low, high))
            found.append(a <= truth <= b)
    return {
        "score": design.score,
        "n_folds": 1,
        "n_units": design.n_units,
        "group_size": design.group_size,
        "n_features": 1,
        "n_selected": 1,
        "minority": design.minority,
        "estimator": "centroid",
        "correlation": GROUP_SHARE if design.group_size > 1 else 0,
        "value": round(truth, 3),
        "n_simulations": N_SETS,
        **{
            f"rejected_{alpha:g}": int(np.count_nonzero(pvalues <= alpha))
            for alpha in ALPHAS
        },
        # Test sets without an interval are not counted.
        "covered": round(N_SETS * float(np.mean(found))),
    }


def print_table() -> None:
    """Print the ranges of sizes and coverages by score, groups and units."""
    found: dict[tuple[str, bool, int], list[tuple[float, float]]] = {}
    for row in read_structured(TABLE):
        place = row.situation
        key = place.score, place.group_size > 1, place.n_units
        n = row.n_simulations
        rates = 100 * row.rejected[ALPHAS.index(0.05)] / n, 100 * row.covered / n
        found.setdefault(key, []).append(rates)
    print("| score | test set | designs | size at 5 % | coverage of 95 % |")
    print("|---|---|---|---|---|")
    for (score, grouped, n), rates in found.items():
        what = f"{n} groups of {GROUP_SIZE}" if grouped else f"{n} samples"
        cells = (
            f"{np.median(each):.1f} ({min(each):.1f} to {max(each):.1f})"
            for each in zip(*rates, strict=True)
        )
        print(f"| {score} | {what} | {len(rates)} | {' | '.join(cells)} |")


def main() -> None:
    """Measure every design, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true")
    if not parser.parse_args().table:
        write_rows(TABLE, COLUMNS, map(measure_design, designs()))
    print_table()


if __name__ == "__main__":
    main()

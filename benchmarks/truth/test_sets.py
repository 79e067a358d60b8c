"""Measure tests and intervals of one test set: the table that veridical ships.

    python -m benchmarks.truth.test_sets
    python -m benchmarks.truth.test_sets --table

Two models of equal quality give correlated decision values, normal within classes, and
the probabilities that belong to them; with groups, the class is constant within a group
and half of the variance is common to it. Counted is how often the usual test of
``compare`` for the score rejects (DeLong's for areas without groups, else the
jackknife), and how often the jackknife interval of the first model covers its true
score. For numbers and survival times, two models know what can be predicted, each with
an error of the same variance; outcomes are drawn anew for every test set. The first
command writes ``src/veridical/evaluation/test_sets.csv``, which takes some minutes; the
second prints the table of docs/which-test.md.
"""

from __future__ import annotations

import argparse
import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit, stdtr
from scipy.stats import norm

import veridical.evaluation
from benchmarks.truth.designs import Row, write_rows
from veridical._core.arrays import FloatArray, IntArray
from veridical._core.scoring import SCORES, Outputs
from veridical._core.survival_scores import Observed
from veridical._core.targets import Numbers, Survival
from veridical.comparison import delong
from veridical.datasets.synthetic_targets import censoring_rate
from veridical.evaluation.jackknife import (
    divide_units,
    jackknife_interval,
    leave_out,
    standard_error,
)
from veridical.evaluation.structured import (
    ALPHAS,
    COLUMNS,
    loss_of_guessing,
    read_structured,
)

TABLE = Path(veridical.evaluation.__file__).with_name("test_sets.csv")
#: Test sets of a design, and samples for the true score.
N_SETS, N_TRUE = 300, 400_000
#: Samples for the true concordance, and how often they are drawn.
N_TRUE_TIMES, N_TIMES_DRAWN = 8000, 12
#: Variance of the error of a model, in times of what can be predicted.
ERROR = 0.25
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


@dataclass(frozen=True)
class OutcomeDesign:
    """Numbers or survival times, the units of the test set, and how good models are."""

    kind: str
    n_units: int
    group_size: int
    strength: float  #: standard deviation of what can be predicted
    tail_df: float = math.inf  #: degrees of freedom of what cannot; inf is normal
    censored: float = 0.0


def outcome_designs() -> list[OutcomeDesign]:
    """List the designs; what remains of numbers has the variance 1."""
    numbers = [
        OutcomeDesign("numbers", n, 1, strength, tail_df)
        for n in (40, 120, 400, 1200)
        for strength in (0.2, 0.6, 1.5)
        for tail_df in (math.inf, 3.0)
    ]
    times = [
        OutcomeDesign("survival", n, 1, strength, censored=censored)
        for n in (40, 120, 300)
        for strength in ((0.5, 1.5) if n > 120 else (0.2, 0.5, 1.5))
        for censored in (0.3, 0.6)
    ]
    groups = [
        OutcomeDesign(kind, n, GROUP_SIZE, strength, censored=censored)
        for kind, censored in (("numbers", 0.0), ("survival", 0.3))
        for n in (24, 40, 80)
        for strength in (0.6, 1.5)
    ]
    return [*numbers, *times, *groups]


def draw_outcome(
    design: OutcomeDesign, n_units: int, rng: np.random.Generator
) -> tuple[Any, FloatArray]:
    """Draw an outcome, and the predictions of both models, shape (2, n)."""
    n = n_units * design.group_size

    def noise(*shape: int) -> FloatArray:
        own = rng.standard_normal((*shape, n))
        if design.group_size == 1:
            return own
        common = rng.standard_normal((*shape, n_units))
        common = np.repeat(common, design.group_size, axis=-1)
        return np.sqrt(GROUP_SHARE) * common + np.sqrt(1 - GROUP_SHARE) * own

    known = design.strength * noise()
    error = np.sqrt(CORRELATION) * noise(1) + np.sqrt(1 - CORRELATION) * noise(2)
    predicted = known + np.sqrt(ERROR) * design.strength * error
    if design.kind == "survival":
        last = rng.exponential(size=n) / np.exp(known)
        limit = rng.exponential(size=n) / censoring_rate(
            design.strength, design.censored
        )
        y = Survival(np.minimum(last, limit), last <= limit)
        return Observed(y, y), predicted
    rest = noise()
    if math.isfinite(design.tail_df):
        df = design.tail_df
        rest = rest * np.sqrt((df - 2) / rng.chisquare(df, n))
    return known + rest, predicted


def score_outcome(name: str, y: Any, predicted: FloatArray) -> FloatArray:
    """Score the predictions of both models."""
    outputs, nothing = Outputs(predicted, None, None), np.empty(0)
    found = SCORES[name].score_sizes(y, outputs, nothing, None)
    return np.array([one.value for one in found])


def true_outcome(name: str, design: OutcomeDesign, rng: np.random.Generator) -> float:
    """Compute the score of either model on very many samples."""
    if design.kind == "numbers":
        n_units, n_drawn = N_TRUE // design.group_size, 1
    else:
        n_units, n_drawn = N_TRUE_TIMES // design.group_size, N_TIMES_DRAWN
    drawn = (draw_outcome(design, n_units, rng) for _ in range(n_drawn))
    return float(np.mean([score_outcome(name, *one).mean() for one in drawn]))


def measure_outcome(design: OutcomeDesign) -> list[Row]:
    """Count rejections and covered scores in one design, for each of its scores."""
    names = ["concordance"]
    if design.kind == "numbers":
        names = ["r2", "mean_absolute_error", "root_mean_squared_error"]
    return [_measure_score(name, design) for name in names]


def _measure_score(name: str, design: OutcomeDesign) -> Row:
    rng = np.random.default_rng(zlib.crc32(repr(design).encode()))
    truth, score = true_outcome(name, design, rng), SCORES[name]
    groups = np.repeat(np.arange(design.n_units), design.group_size)
    blocks, nothing = divide_units(groups), np.empty(0)
    pvalues, found, losses = [], [], []
    for _ in range(N_SETS):
        y, predicted = draw_outcome(design, design.n_units, rng)
        full = score_outcome(name, y, predicted)
        outputs = Outputs(predicted, None, None)
        left = leave_out(score, y, outputs, nothing, None, None, blocks)
        error = standard_error(left[:, 0] - left[:, 1])
        gap = -abs(full[0] - full[1]) / error
        pvalues.append(2 * stdtr(len(left) - 1, gap))
        one = float(standard_error(left)[0])
        if math.isfinite(one) and score.low < full[0] < score.high:
            bounds = score.low, score.high
            low, high = jackknife_interval(float(full[0]), one, len(left), bounds)
            found.append(low <= truth <= high)
        target = y.test if isinstance(y, Observed) else Numbers(y)
        losses.append(loss_of_guessing(name, target))
    return {
        "score": name,
        "n_folds": 1,
        "n_units": design.n_units,
        "group_size": design.group_size,
        "n_features": 1,
        "n_selected": 1,
        "minority": 0.5 if design.kind == "numbers" else 1 - design.censored,
        "estimator": "centroid",
        "correlation": GROUP_SHARE if design.group_size > 1 else 0,
        "value": round(truth / float(np.mean(losses)), 3),
        "n_simulations": N_SETS,
        **{
            f"rejected_{alpha:g}": int(np.count_nonzero(np.array(pvalues) <= alpha))
            for alpha in ALPHAS
        },
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
        rows = [measure_design(one) for one in designs()]
        rows += [row for one in outcome_designs() for row in measure_outcome(one)]
        write_rows(TABLE, COLUMNS, rows)
    print_table()


if __name__ == "__main__":
    main()

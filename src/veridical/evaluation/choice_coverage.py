"""How far corrected scores were off, and how often their intervals covered the truth.

``choices.csv`` was made by ``benchmarks/truth/choices.py``: in designs of its own, the
corrected score of `choose` was compared with the score of the fitted pipeline on fresh
samples. Beside a corrected score stand the measured designs nearest to the user's.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np

from veridical._core.numbers import count
from veridical._core.scoring import ScoreInfo
from veridical.evaluation.records import Coverage
from veridical.evaluation.trust import range_of_shares

#: Designs that are looked up for one answer.
_NEAREST = 6
#: Largest ratio of two numbers of samples that are near each other.
_LARGEST_RATIO = 3.0
#: The score that was measured for every kind of target.
_MEASURED = {"classes": "accuracy", "numbers": "r2", "survival": "concordance"}


class MeasuredChoice(NamedTuple):
    """What was measured in one design; biases are differences from the truth."""

    target: str
    n_samples: int
    n_features: int
    signal: str
    source: str
    n_candidates: int
    n_sets: int
    truth: float
    naive_bias: float
    bbc_bias: float
    bbc_covered: int
    nested_bias: float
    nested_covered: int


@cache
def measured_choices() -> tuple[MeasuredChoice, ...]:
    """Read the table of measured designs that ships with the package."""
    with files("veridical.evaluation").joinpath("choices.csv").open("r") as file:
        return tuple(
            MeasuredChoice(
                *(
                    kind(row[name])
                    for name, kind in zip(
                        MeasuredChoice._fields,
                        (
                            *(str, int, int, str, str, int, int),
                            *(float, float, float, int, float, int),
                        ),
                        strict=True,
                    )
                )
            )
            for row in csv.DictReader(file)
        )


def nearest_designs(
    kind: str, scoring: str, n_samples: int, n_candidates: int, *, grouped: bool
) -> Sequence[MeasuredChoice]:
    """Return the measured designs nearest to a choice; none where none is near."""
    if scoring != _MEASURED.get(kind):
        return ()
    target = f"grouped {kind}" if grouped else kind
    near = [
        one
        for one in measured_choices()
        if one.target == target
        and abs(math.log(one.n_samples / n_samples)) <= math.log(_LARGEST_RATIO)
    ]

    def distance(one: MeasuredChoice) -> float:
        rows = math.log(one.n_samples / n_samples)
        return abs(rows) + abs(math.log(one.n_candidates / n_candidates)) / 2

    return sorted(near, key=distance)[:_NEAREST]


def _span(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{low} to {high}" if low < high else str(low)


def coverage_of_choice(
    designs: Sequence[MeasuredChoice], correction: str
) -> Coverage | None:
    """Return the range of coverages over some designs; None without designs."""
    if not designs:
        return None
    covered = [
        one.nested_covered if correction == "nested" else one.bbc_covered
        for one in designs
    ]
    conditions = (
        f"{count(len(designs), 'design')} with "
        f"{_span([one.n_samples for one in designs])} samples and "
        f"{_span([one.n_features for one in designs])} features, "
        f"ten folds, {sum(one.n_sets for one in designs)} data sets in all"
    )
    return range_of_shares(covered, [one.n_sets for one in designs], conditions)


def say_bias(
    designs: Sequence[MeasuredChoice], correction: str, info: ScoreInfo
) -> str:
    """Say how far corrected scores were off in some designs; "" without designs."""
    if not designs:
        return ""
    corrected, mean = _say_biases(
        designs,
        [
            one.nested_bias if correction == "nested" else one.bbc_bias
            for one in designs
        ],
        info,
    )
    naive, _ = _say_biases(designs, [one.naive_bias for one in designs], info)
    where = (
        "designs nearest to this one" if len(designs) > 1 else "design nearest to it"
    )
    said = (
        f"In the measured {where}, scores corrected in this way differed from the true "
        f"score by {corrected}, and scores without the correction by {naive}."
    )
    if correction == "bbc" and mean > 0.01:
        said += " Nested cross-validation is less biased here."
    return said


def _say_biases(
    designs: Sequence[MeasuredChoice], biases: Sequence[float], info: ScoreInfo
) -> tuple[str, float]:
    """Write the mean of biases, and the range of those of single designs."""
    n_sets = [one.n_sets for one in designs]
    mean = float(np.average(biases, weights=n_sets))
    said = info.write_gap(mean)
    if len(designs) > 1:
        spread = info.write_gap_range(min(biases), max(biases))
        said += f" on average ({spread} in single designs)"
    return said, mean

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

from veridical.evaluation.records import Coverage

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


def coverage_of_choice(
    designs: Sequence[MeasuredChoice], correction: str
) -> Coverage | None:
    """Summarize the coverage in some designs; None without designs."""
    if not designs:
        return None
    shares = [
        (one.nested_covered if correction == "nested" else one.bbc_covered) / one.n_sets
        for one in designs
    ]
    rows = sorted({one.n_samples for one in designs})
    span = f"{rows[0]} to {rows[-1]}" if len(rows) > 1 else str(rows[0])
    conditions = (
        f"{len(designs)} designs with {span} samples, {sum(o.n_sets for o in designs)} "
        "data sets in all"
    )
    return Coverage(min(shares), max(shares), conditions)


def say_bias(designs: Sequence[MeasuredChoice], correction: str) -> str:
    """Say how far corrected scores were off in some designs; "" without designs."""
    if not designs:
        return ""
    biases = [
        one.nested_bias if correction == "nested" else one.bbc_bias for one in designs
    ]
    mean = sum(
        bias * one.n_sets for bias, one in zip(biases, designs, strict=True)
    ) / sum(one.n_sets for one in designs)
    naive = max(one.naive_bias for one in designs)
    said = (
        "In the measured designs nearest to this one, scores corrected in this way "
        f"differed from the true score by {100 * mean:+.1f} points on average (between "
        f"{100 * min(biases):+.1f} and {100 * max(biases):+.1f} in single designs), "
        f"and scores without the correction by up to {100 * naive:+.1f} points."
    )
    if correction == "bbc" and mean > 0.01:
        said += " Nested cross-validation is less biased here."
    return said.replace("-", "\N{MINUS SIGN}")

"""What the summary of a sensitivity analysis holds; see `veridical.report.schema`."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from veridical.comparison.records import Side, Winner
from veridical.report.schema import DataInfo, IntervalSummary

SENSITIVITY_SCHEMA = "veridical/sensitivity/1"


class SourceSummary(TypedDict):
    """One source: mean accuracies by method and side, and who found the truth.

    ``right`` counts the data sets on which a method reached the true verdict, ``only``
    those on which it alone did.
    """

    strength: float
    n_relevant: int
    means: dict[str, dict[str, float]]
    difference: IntervalSummary
    pvalue: float
    winner: Winner
    n_sets: int
    right: dict[str, int]
    only: dict[str, int]
    truthful_pvalue: float
    more_truthful: str


class SensitivityWords(TypedDict):
    """The summary in sentences."""

    headline: str
    belief: str
    evidence: str
    recommendation: str
    recipe: str


class SensitivitySummary(TypedDict):
    """Everything the page of a sensitivity analysis shows."""

    schema: str
    kind: Literal["sensitivity"]
    names: dict[Side, str]
    estimators: list[str]
    n_features_to_select: int
    alpha: float
    data: DataInfo
    observed: dict[str, dict[str, float]]
    sources: list[SourceSummary]
    settings: dict[str, str]
    words: SensitivityWords

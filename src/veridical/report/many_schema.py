"""What the summary of several selectors holds; see `veridical.report.schema`."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from veridical.report.schema import (
    DataInfo,
    DifferenceSummary,
    IntervalSummary,
    MeanSummary,
    SizeSummary,
)

MANY_SCHEMA = "veridical/comparison-of-many/1"


class SelectorSummary(TypedDict):
    """One selector: its accuracies and ranks per method, and how it chose."""

    name: str
    means: dict[str, MeanSummary]
    ranks: dict[str, float]
    optimism: IntervalSummary | None
    stability: IntervalSummary | None
    n_distinct: int
    seconds: float


class ManyPair(TypedDict):
    """Two selectors, by their places; ``better`` is a place, or None for a draw."""

    first: int
    second: int
    better: int | None
    adjusted: float | None
    difference: DifferenceSummary


class RanksSummary(TypedDict):
    """Friedman's test on one method, with Nemenyi's critical difference.

    ``groups`` are the places of selectors, best first, that are not told apart.
    """

    mean_ranks: list[float]
    statistic: float | None
    df: list[float]
    pvalue: float
    chi2: float
    critical_difference: float
    n: int
    groups: list[list[int]]
    size: SizeSummary | None


class ManyMethod(TypedDict):
    """One method: all pairs, and all selectors at once."""

    method: str
    label: str
    n_repeats: int
    n_folds: int
    pairs: list[ManyPair]
    friedman: RanksSummary


class ManyWords(TypedDict):
    """The summary in sentences; ``belief`` as for two selectors."""

    headline: str
    belief: str
    evidence: str
    sizes: list[str]
    protocols: list[str]
    recommendation: str


class ManySummary(TypedDict):
    """Everything the page of several selectors shows, as plain numbers and strings."""

    schema: str
    kind: Literal["many"]
    names: list[str]
    estimators: list[str]
    n_features_to_select: int
    alpha: float
    correction: str
    data: DataInfo
    selectors: list[SelectorSummary]
    methods: list[ManyMethod]
    settings: dict[str, str]
    words: ManyWords

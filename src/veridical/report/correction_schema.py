"""What the page about a correction shows: the keys behind it and behind ``--json``."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

CORRECTION_SCHEMA = "veridical/correction/1"


class BinSummary(TypedDict):
    """Cases whose probability fell between ``low`` and ``high``.

    ``observed_low`` and ``observed_high`` bound the share that was observed: Wilson's
    95 % interval, as if cases were independent.
    """

    low: float
    high: float
    n: int
    predicted: float | None
    observed: float | None
    observed_low: float | None
    observed_high: float | None


class CalibrationSummary(TypedDict):
    """Predicted probabilities of one class beside what happened."""

    label: str
    positive: str
    n: int
    error: float
    expected_error: float
    log_loss: float
    squared_error: float
    alpha: float
    bins: list[BinSummary]


class CorrectionSummary(TypedDict):
    """Everything the page about a correction shows, as plain numbers and strings."""

    schema: str
    kind: Literal["correction"]
    data: Any
    model: str
    n_features_to_select: int
    threshold: float
    models: list[CalibrationSummary]
    belief: str
    headline: str
    verdict: str
    settings: dict[str, str]

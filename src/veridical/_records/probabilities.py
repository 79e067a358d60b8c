"""How good predicted probabilities are, and what a correction changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from veridical._records.base import DataSummary
from veridical._records.looking import ForPapers, OnAPage

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Bin:
    """Cases whose probability fell into an interval.

    Parameters
    ----------
    low, high : float
        The interval: above `low`, up to and with `high`; the first one holds 0 too.
    n : int
        Number of cases.
    predicted, observed : float or None
        Mean probability of the class, and its share among the cases; None of none.
    """

    low: float
    high: float
    n: int
    predicted: float | None
    observed: float | None


@dataclass(frozen=True, repr=False)
class CalibrationTable(ForPapers):
    """Predicted probabilities of one class beside what happened.

    Parameters
    ----------
    label : str
        Who predicted.
    positive : str
        The class whose probability is meant.
    bins : tuple of Bin
        From 0 to 1.
    n : int
        Number of cases.
    error : float
        Share of cases for which the less probable class was the true one.
    expected_error : float
        What that share should have been: the mean probability of the class that was
        not named.
    log_loss : float
        Average minus log probability of the true class, in nats.
    squared_error : float
        Mean squared difference between probability and outcome.
    """

    label: str
    positive: str
    bins: tuple[Bin, ...]
    n: int
    error: float
    expected_error: float
    log_loss: float
    squared_error: float

    def __repr__(self) -> str:
        errors = f"error {self.error:.3f}, expected {self.expected_error:.3f}"
        return f"CalibrationTable({self.label}: {self.n} cases, {errors})"

    def to_frame(self) -> pd.DataFrame:
        """The table of the bins.

        Returns
        -------
        DataFrame
            Columns low, high, n, predicted, observed; a row for each bin.
        """
        import pandas as pd

        rows = [(b.low, b.high, b.n, b.predicted, b.observed) for b in self.bins]
        names = ["low", "high", "n", "predicted", "observed"]
        return pd.DataFrame.from_records(rows, columns=names)

    def _repr_html_(self) -> str:
        return self.to_html()


@dataclass(frozen=True, repr=False)
class Correction(OnAPage):
    """What correcting for feature selection changes on some data.

    Parameters
    ----------
    data : DataSummary
        The data set.
    model : str
        ``"binary"`` (features cut at their median where they are not zeros and ones)
        or ``"gaussian"``.
    n_features : int
        How many features were retained of all.
    threshold : float
        The smallest absolute correlation that was retained, on all cases.
    corrected, uncorrected : CalibrationTable
        By cross-validation, selection repeated in every training set.
    alphas : mapping of "corrected" and "uncorrected" to float
        Geometric posterior mean of α on all cases: the larger, the weaker features
        are believed to be.
    verdict : str
        What it means, in a sentence or two.
    settings : mapping of str to str
        Everything else a reader needs to repeat the run.
    """

    data: DataSummary
    model: str
    n_features: int
    threshold: float
    corrected: CalibrationTable
    uncorrected: CalibrationTable
    alphas: Mapping[str, float]
    verdict: str
    settings: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Correction({self.model}: {self.corrected!r}, {self.uncorrected!r})"

"""What was measured where there is nothing to find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from veridical._records.base import FloatArray


class MeasuredSize(NamedTuple):
    """How often a test rejects where there is nothing to find, measured.

    ``rate`` of ``n_simulations`` data sets, with a 95 % interval, against the
    ``nominal`` share; ``design`` says in words what was simulated.
    """

    nominal: float
    rate: float
    low: float
    high: float
    n_simulations: int
    design: str


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """A test on data sets where neither side is better, by construction.

    Parameters
    ----------
    test : str
        Its name.
    size : MeasuredSize
        How often it rejected.
    statistics : array of shape (n_simulations,)
        Absolute values of its statistic, in ascending order: the measured null.
    accuracy : float
        Mean accuracy of the two sides, by which designs are told apart.
    settings : mapping of str to object
        What was simulated.
    """

    test: str
    size: MeasuredSize
    statistics: FloatArray
    accuracy: float
    settings: Mapping[str, object] = field(default_factory=dict)

    def __repr__(self) -> str:
        size = self.size
        rate = f"{size.rate:.3f} ({size.low:.3f} to {size.high:.3f})"
        return f"Calibration({self.test}: rejects {rate}, nominal {size.nominal})"

    def p_value(self, statistic: float) -> float:
        """Share of the null that is at least as extreme, the observed one counted in.

        Where the observed statistic comes from the same distribution, this is at most
        α with probability at most α, exactly, however few simulations there are.
        """
        larger = self.statistics.size - int(
            np.searchsorted(self.statistics, _slightly_less(abs(statistic)))
        )
        return (1 + larger) / (1 + self.statistics.size)

    def critical(self, alpha: float) -> float:
        """The largest statistic that is not significant; infinite if none can be."""
        n = self.statistics.size
        # p < alpha where fewer than alpha (n + 1) - 1 of the null are as extreme.
        allowed = int(np.ceil(alpha * (n + 1) - 1e-9)) - 2
        return float(self.statistics[n - 1 - allowed]) if allowed >= 0 else np.inf


def _slightly_less(value: float) -> float:
    """Take statistics that differ by rounding for equal."""
    return value - 1e-9 * max(1.0, value) if np.isfinite(value) else value


@dataclass(frozen=True)
class Friedman:
    """Several selectors ranked on the same splits, and whether they differ.

    Parameters
    ----------
    mean_ranks : tuple of float
        Per selector; 1 is best.
    chi2, chi2_p_value : float
        Friedman's own statistic and its p-value.
    statistic, df, p_value : float, tuple of float, float
        Iman and Davenport's F, which is the test proper.
    critical_difference : float
        Nemenyi's: mean ranks further apart than this differ significantly.
    n : int
        Number of splits or data sets.
    alpha : float
        Significance level.
    groups : tuple of tuple of int
        Runs of selectors, in order of mean rank, that are not told apart.
    size : MeasuredSize or None
        How often the test rejects in a design like this one where all are equal.
    """

    mean_ranks: tuple[float, ...]
    chi2: float
    chi2_p_value: float
    statistic: float
    df: tuple[float, float]
    p_value: float
    critical_difference: float
    n: int
    alpha: float
    groups: tuple[tuple[int, ...], ...] = ()
    size: MeasuredSize | None = None

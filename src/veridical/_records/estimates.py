"""How accurate a learner is, by one method or by several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from veridical._records.base import DataSummary, FloatArray
from veridical._records.looking import ForPapers, OnAPage


class Coverage(NamedTuple):
    """How often 95 % intervals of a kind covered the truth where it is known.

    Parameters
    ----------
    low, high : float
        The least and the greatest share of data sets over the learners tried.
    conditions : str
        With what it was measured, in words.
    """

    low: float
    high: float
    conditions: str


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(ForPapers):
    """How accurate a learner is on some data, by one method.

    Parameters
    ----------
    value : float
        The estimate: accuracy pooled over all test cases, or the mean score.
    std : float
        Standard deviation of `scores`; with a single split, the binomial one of an
        accuracy. It is not the standard error of `value`: splits share cases.
    scores : array of shape (n_splits,)
        One score per split; for the bootstrap, each sample's term of the estimate. NaN
        where the score of a split is not defined; the estimate leaves it out.
    n_test : int
        How many different cases were tested.
    metric, method, learner : str
        What was measured, how, and of what.
    random_state : int
        The seed that gives the same splits again.
    assumes : mapping of str to str
        The valid kinds of interval, and what each takes for granted; empty where none
        is valid.
    details : mapping of str to float
        What the method computed on its way.
    notes : tuple of str
        What is doubtful about this estimate, in sentences.
    test_share : float
        Cases in a test set over cases in a training set.
    nested : object or None
        Runs nested cross-validation when its interval is asked for.
    coverage : mapping of str to Coverage
        How often 95 % intervals of each kind have covered the truth; without those
        that were not measured.
    score_range : tuple of float
        The least and the greatest score there can be; intervals are cut to it.
    """

    value: float
    std: float
    scores: FloatArray
    n_test: int
    metric: str
    method: str
    learner: str
    random_state: int
    assumes: Mapping[str, str]
    details: Mapping[str, float]
    notes: tuple[str, ...] = ()
    test_share: float = 0.0
    nested: Any = None
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    score_range: tuple[float, float] = (0.0, 1.0)

    @property
    def std_of_mean(self) -> float:
        """Standard deviation of the mean of the scores, were they independent."""
        n_known = np.count_nonzero(~np.isnan(self.scores))
        return self.std / float(np.sqrt(n_known))

    def interval(
        self, confidence: float = 0.95, kind: str | None = None
    ) -> tuple[float, float]:
        """Compute a confidence interval.

        Parameters
        ----------
        confidence : float, default=0.95
            How often such intervals should cover the truth.
        kind : str, optional
            A key of `assumes`: ``"wilson"``, ``"nested"``, ``"corrected-t"``. By
            default the one whose measured coverage is closest to nominal, see
            `veridical.estimation.default_interval`. ``"nested"`` fits many more models
            when first asked for; only then may it be the default.

        Returns
        -------
        low, high : float
            The bounds.

        Raises
        ------
        InputError
            If no such interval is valid for this metric and method, or the scores of
            all splits are the same where it is built on their spread.
        """
        room = import_module("veridical.estimation")
        low, high = room.interval_of(self, confidence, kind)
        return low, high

    def __repr__(self) -> str:
        return _display().one_line(self)

    def __rich__(self) -> Any:
        return _display().table(self)

    def _repr_html_(self) -> str:
        return _display().html(self)


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(OnAPage):
    """How accurate one learner is on one data set, by several methods.

    Parameters
    ----------
    data : DataSummary
        The data set or the source.
    learner : str
        Display name of what learned.
    estimates : tuple of Estimate
        At least one, all of the same metric.
    truth : Estimate or None
        On a source: the accuracy of the classifier built on all cases, measured on
        many fresh ones.
    settings : mapping of str to str
        Everything else a reader needs to repeat the run.
    """

    data: DataSummary
    learner: str
    estimates: tuple[Estimate, ...]
    truth: Estimate | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Estimates({self.learner}: {', '.join(map(repr, self.estimates))})"


def _display() -> Any:
    """Find the part of the estimation room that shows; see `OnAPage`."""
    return import_module("veridical.estimation.display")

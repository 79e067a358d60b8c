"""What a comparison of two selectors found.

The two are called ``"a"`` and ``"b"`` everywhere; a record carries their display names
beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from veridical._records.base import DataSummary, FloatArray, IntArray, Interval
from veridical._records.calibration import MeasuredSize
from veridical._records.looking import OnAPage

if TYPE_CHECKING:
    import pandas as pd

Side = Literal["a", "b"]
Winner = Literal["a", "b", "draw"]
SIDES: tuple[Side, Side] = ("a", "b")


@dataclass(frozen=True)
class TestResult:
    """The outcome of one significance test on paired scores.

    Positive differences favour ``a``. ``interval`` is for the mean difference, at
    confidence ``1 - alpha``, and rests on the same assumptions as the p-value.

    Parameters
    ----------
    name : str
        Of the test.
    statistic, p_value, df : float
        The statistic, its two-sided p-value and its degrees of freedom, NaN where the
        p-value does not come from a table.
    mean_difference : float
        Mean of ``a`` minus mean of ``b``.
    interval : tuple of float
        What the test does not reject.
    n : int
        Number of differences that entered the test.
    alpha : float
        Significance level.
    assumptions : str
        What the p-value rests on, in words.
    estimate : float or None
        The difference the test looks at, where that is not the mean of all.
    rope : float or None
        Differences up to this count as none (Bayesian tests).
    probabilities : mapping of "a", "rope" and "b" to float, or None
        Posterior probabilities that a is better, that they are practically equivalent,
        and that b is better (Bayesian tests).
    size : MeasuredSize or None
        How often the test rejects in a design like this one where there is nothing to
        find; None where that has not been measured.
    """

    __test__ = False  # the name is the field's own; it is not a pytest class

    name: str
    statistic: float
    p_value: float
    df: float
    mean_difference: float
    interval: tuple[float, float]
    n: int
    alpha: float
    assumptions: str
    estimate: float | None = None
    rope: float | None = None
    probabilities: Mapping[str, float] | None = None
    size: MeasuredSize | None = None

    @property
    def winner(self) -> Winner:
        """``"a"`` or ``"b"`` where the difference is significant, else ``"draw"``.

        A Bayesian test names a winner where its posterior probability exceeds
        ``1 - alpha``.
        """
        if self.probabilities is not None:
            sure = [s for s in SIDES if self.probabilities[s] > 1 - self.alpha]
            return sure[0] if sure else "draw"
        lead = self.mean_difference if self.estimate is None else self.estimate
        if self.p_value < self.alpha and lead != 0:
            return "a" if lead > 0 else "b"
        return "draw"


class Verdict(NamedTuple):
    """Who wins under one method, and on what evidence."""

    winner: Winner
    p_value: float
    mean_difference: float
    interval: tuple[float, float]
    test: TestResult

    @classmethod
    def of(cls, test: TestResult) -> Verdict:
        """Read the verdict off a test result."""
        return cls(test.winner, test.p_value, test.mean_difference, test.interval, test)


@dataclass(frozen=True, kw_only=True)
class Truthfulness(TestResult):
    """How often IN and OUT reached the true verdict, over many data sets.

    As a `TestResult`, ``a`` is IN and ``b`` is OUT, the scores are 1 where the verdict
    was true and 0 where not, and ``p_value`` is that of one tail.

    Parameters
    ----------
    only_in, only_out : int
        Data sets where IN was right and OUT wrong, and the reverse.
    both_right, both_wrong : int
        The others, which say nothing about which protocol is better.
    better : {"in", "out", "same"}
        Who is significantly more often right.
    """

    only_in: int
    only_out: int
    both_right: int
    both_wrong: int
    better: Literal["in", "out", "same"]

    @property
    def winner(self) -> Winner:
        """``"a"`` where IN is better, ``"b"`` where OUT is, else ``"draw"``."""
        winners: dict[str, Winner] = {"in": "a", "out": "b", "same": "draw"}
        return winners[self.better]


@dataclass(frozen=True, kw_only=True)
class Bias(TestResult):
    """How far a protocol's accuracy lies from the true one, on one data set.

    As a `TestResult`, ``a`` is the protocol and ``b`` is TRUTH.

    Parameters
    ----------
    value : float
        The difference of the means where it is significant, else 0 (the paper's rule).
    """

    value: float

    @property
    def difference(self) -> float:
        """The plain difference of the means."""
        return self.mean_difference


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(OnAPage):
    """Two selectors, one classifier or several, judged by one method or several.

    Parameters
    ----------
    names : mapping of "a" and "b" to str
        Display names of the selectors, always different.
    classifiers : tuple of str
        Display names of the classifiers.
    n_features : int
        How many features each selector had to return.
    data : DataSummary
        The data set or the source.
    accuracy : mapping of method to array (2, n_classifiers, n_repeats, n_folds)
        Method is "in", "out" or "truth"; for "truth" a repeat is a data set of its
        own and there is one fold, the independent test set.
    selected : mapping of method to array (2, n_repeats, n_folds, n_features)
        Column indices chosen, best first; OUT has one fold, because it selects once.
    verdicts : mapping of method to Verdict
        On the accuracies averaged over the classifiers.
    by_classifier : mapping of classifier name to (mapping of method to Verdict)
        The same question put to each classifier alone.
    optimism : mapping of "a" and "b" to Interval
        Accuracy under OUT minus accuracy under IN; empty unless both were run.
    bias_imbalance : mapping of method to float
        ``|bias(a) - bias(b)|``, against TRUTH where it is known, else against IN.
    recommendation : str
        What may be claimed, in a sentence or two.
    set_verdicts : mapping of method to tuple of Winner
        On a source: the verdict of IN and OUT on each data set.
    truthfulness : Truthfulness or None
        On a source: which of IN and OUT found the truth more often.
    settings : mapping of str to str
        Everything else a reader needs to repeat the run.
    stability : mapping of method to (mapping of "a" and "b" to Interval)
        How steadily each selector chose, from fold to fold (IN) or from data set to
        data set (TRUTH): 1 if always the same features, 0 if as by chance. It is
        Nogueira's measure.
    seconds : mapping of "a" and "b" to float
        How long each selector took to choose, all selections together.
    """

    names: Mapping[Side, str]
    classifiers: tuple[str, ...]
    n_features: int
    data: DataSummary
    accuracy: Mapping[str, FloatArray]
    selected: Mapping[str, IntArray]
    verdicts: Mapping[str, Verdict]
    by_classifier: Mapping[str, Mapping[str, Verdict]]
    optimism: Mapping[Side, Interval]
    bias_imbalance: Mapping[str, float]
    recommendation: str
    set_verdicts: Mapping[str, tuple[Winner, ...]] = field(default_factory=dict)
    truthfulness: Truthfulness | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    stability: Mapping[str, Mapping[Side, Interval]] = field(default_factory=dict)
    seconds: Mapping[Side, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        found = []
        for method, verdict in self.verdicts.items():
            winner = verdict.winner
            who = "draw" if winner == "draw" else self.names[winner]
            found.append(f"{method.upper()} {who} (p = {verdict.p_value:.3g})")
        pair = " against ".join(self.names[side] for side in SIDES)
        return f"Comparison({pair}: {', '.join(found)})"

    @property
    def scores(self) -> dict[str, dict[Side, FloatArray]]:
        """Accuracies per method and side, averaged over classifiers, one per fold."""
        return {
            method: {
                side: values[i].mean(axis=0).ravel() for i, side in enumerate(SIDES)
            }
            for method, values in self.accuracy.items()
        }

    def to_frame(self) -> pd.DataFrame:
        """Every accuracy in a row of its own.

        Returns
        -------
        DataFrame
            Columns method, selector, classifier, repeat, fold, accuracy, n_features.
        """
        names = tuple(self.names[side] for side in SIDES)
        return tidy(self.accuracy, names, self.classifiers, self.n_features)


def tidy(
    accuracy: Mapping[str, FloatArray],
    selectors: tuple[str, ...],
    classifiers: tuple[str, ...],
    n_features: int,
) -> pd.DataFrame:
    """Put every accuracy into a row of its own.

    Parameters
    ----------
    accuracy : mapping of str to array
        By method: (selectors, classifiers, repeats, folds).
    selectors, classifiers : tuple of str
        Display names along the first two axes.
    n_features : int
        How many features each selector chose.
    """
    import pandas as pd

    columns = ("method", "selector", "classifier", "repeat", "fold", "accuracy")
    rows = [
        (method, selectors[s], classifiers[c], r, f, float(value))
        for method, values in accuracy.items()
        for (s, c, r, f), value in np.ndenumerate(values)
    ]
    frame = pd.DataFrame.from_records(rows, columns=columns)
    return frame.assign(n_features=n_features)

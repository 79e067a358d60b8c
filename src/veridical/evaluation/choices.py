"""What a choice among many candidates found: the record of `choose`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import FloatArray
from veridical._core.defaults import CONFIDENCE
from veridical._core.errors import InputError
from veridical._core.numbers import count
from veridical._core.records import (
    Conclusion,
    DataSummary,
    Interval,
    Record,
    Setting,
    frame,
)
from veridical._core.scoring import ACCURACY, ScoreInfo
from veridical.evaluation.bias_correction import CorrectedInterval
from veridical.evaluation.records import Coverage, SelectedFeature

if TYPE_CHECKING:
    import pandas as pd

SearchCorrection = Literal["bbc", "nested"]
#: Least p-value of a candidate that is not distinguishable from the best.
TIE_LEVEL = 0.05

_COLUMNS = (
    "selector",
    "estimator",
    "n_features",
    "score",
    "low",
    "high",
    "standard_error",
    "pvalue",
    "within_one_se",
    "stability",
    "wins",
    "on_front",
    "is_baseline",
    "dropped_after",
)


@dataclass(frozen=True)
class Candidate:
    """One of the candidates: a selector, a number of features and an estimator.

    Parameters
    ----------
    selector, estimator : str
        Their names; "no selection" uses all features, "no features" none.
    n_features : int
        Number of features.
    score : Interval
        Cross-validated with selection inside the folds, and the bootstrap percentile
        interval of this candidate alone. It does not account for the choice.
    standard_error : float
        Standard error of the score, by the bootstrap.
    pvalue : float
        Of the hypothesis that this candidate is the best of all; adjusted for the
        number of candidates. From 0.05 up it is not distinguishable from the winner.
    within_one_se : bool
        Whether the score is within one standard error of the winner's.
    wins : float
        Share of the bootstrap draws that it won.
    stability : float or None
        Agreement of the features selected on the folds: 1 is always the same, 0 is
        chance; None without selection.
    on_front : bool
        Whether no candidate is at least as good in size, score and stability, and
        better in one of them.
    is_baseline : bool
        Whether it is a baseline: no selection, or no features.
    dropped_after : int or None
        Number of folds after which it was dropped as hopeless; None if it was not. Its
        score is that on these folds.
    """

    selector: str
    estimator: str
    n_features: int
    score: Interval
    standard_error: float
    pvalue: float
    within_one_se: bool
    wins: float
    stability: float | None = None
    on_front: bool = False
    is_baseline: bool = False
    dropped_after: int | None = None

    @property
    def is_like_winner(self) -> bool:
        """Whether it is not significantly worse than the winner, at the 5 % level."""
        return self.dropped_after is None and self.pvalue >= TIE_LEVEL

    @property
    def label(self) -> str:
        """Name it in a few words.

        Examples
        --------
        >>> one = Interval(0.8, 0.7, 0.9)
        >>> Candidate("AnovaF", "naive Bayes", 10, one, 0.02, 1.0, True, 0.5).label
        'naive Bayes on 10 features by AnovaF'
        """
        if not self.n_features:
            return self.estimator
        if self.is_baseline:
            return f"{self.estimator} on all {self.n_features} features"
        features = count(self.n_features, "feature")
        return f"{self.estimator} on {features} by {self.selector}"


@dataclass(frozen=True)
class StandIn:
    """A feature that can take the place of a selected one.

    Parameters
    ----------
    feature, other : str
        The selected feature, and the one that can stand in for it.
    index, other_index : int
        Their indices.
    correlation : float
        Their correlation over all samples; −1 and 1 are perfect.
    """

    feature: str
    other: str
    index: int
    other_index: int
    correlation: float


@dataclass(frozen=True)
class Signature:
    """Other features that predict as well as the selected ones, or not.

    Parameters
    ----------
    n_replaced : int
        Number of selected features that have a stand-in.
    score : float
        Score of the winner with every such feature replaced by its stand-in, found and
        used inside the folds.
    is_equivalent : bool
        Whether this score is within one standard error of the winner's.
    """

    n_replaced: int
    score: float
    is_equivalent: bool


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Record):
    """The best of many candidates, and a score that accounts for the choice.

    Parameters
    ----------
    data : DataSummary
        The data.
    correction : {"bbc", "nested"}
        How the score was corrected: by the bootstrap of the predictions, or by nested
        cross-validation.
    score : float
        The corrected score: what to report for `estimator_`.
    naive_score : float
        Cross-validated score of the winner, which was chosen because it is the best.
    found : tuple of Candidate
        All candidates, the best first.
    corrected : CorrectedInterval
        From which `interval` is computed.
    estimator_ : Pipeline
        The winner, fitted on all samples.
    features : tuple of SelectedFeature
        The features that it uses, with the number of folds that selected each.
    stand_ins : tuple of StandIn
        Features that can stand in for selected ones.
    signature : Signature or None
        The winner with stand-ins in place of its features.
    n_folds, n_test, n_units : int
        Number of splits, of different samples tested, and of what is drawn by the
        bootstrap: samples, or groups.
    n_bootstrap : int
        Number of bootstrap draws.
    scoring : ScoreInfo
        The score.
    other_scores : mapping of str to Interval
        Further scores of the winner, cross-validated, as they are: not corrected.
    coverage : Coverage or None
        How often such 95 % intervals covered the truth, where that was measured.
    n_planned : int
        Number of candidates that were planned; fewer in `found` is a partial answer.
    by_bbc : Interval or None
        For nested cross-validation, the corrected score by the bootstrap.
    fold_winners : tuple of str
        For nested cross-validation, the winner of every outer split.
    predictions : array of shape (n_repeats, n_test)
        Out-of-sample predictions of the tested samples, in the order of X, for every
        repeat of the cross-validation: of the winner or, for nested cross-validation,
        of the winner that each outer training set chose.
    notes : tuple of str
        What is doubtful, in sentences.
    settings : mapping of str to str, number, tuple or mapping
        Everything else a reader needs to repeat the run.

    Attributes
    ----------
    conclusion : Conclusion
        Whether the corrected score may be believed.

    See Also
    --------
    veridical.choose : Makes it.
    """

    data: DataSummary
    correction: SearchCorrection
    score: float
    naive_score: float
    found: tuple[Candidate, ...]
    corrected: CorrectedInterval
    estimator_: Any
    features: tuple[SelectedFeature, ...]
    stand_ins: tuple[StandIn, ...]
    signature: Signature | None
    n_folds: int
    n_test: int
    n_units: int
    n_bootstrap: int
    scoring: ScoreInfo = ACCURACY
    other_scores: Mapping[str, Interval] = field(default_factory=dict)
    coverage: Coverage | None = None
    n_planned: int = 0
    by_bbc: Interval | None = None
    fold_winners: tuple[str, ...] = ()
    predictions: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def optimism(self) -> float:
        """How much better than the corrected score the best candidate looks."""
        return self.scoring.sign * (self.naive_score - self.score)

    @property
    def is_partial(self) -> bool:
        """Whether it was stopped before all candidates were evaluated."""
        return len(self.found) < self.n_planned

    @property
    def winner(self) -> Candidate:
        """The candidate with the best cross-validated score."""
        return self.found[0]

    @property
    def like_winner(self) -> tuple[Candidate, ...]:
        """Candidates that are not distinguishable from the winner, which is first."""
        return tuple(one for one in self.found if one.is_like_winner)

    @property
    def smallest(self) -> Candidate:
        """The candidate with the fewest features that may be used instead.

        It is within one standard error of the winner, and not distinguishable from it;
        of several of the same size, the best.
        """
        able = [one for one in self.like_winner if one.within_one_se]
        return min(able or [self.winner], key=lambda one: one.n_features)

    @property
    def front(self) -> tuple[Candidate, ...]:
        """The Pareto front of size, score and stability, few features first."""
        kept = [one for one in self.found if one.on_front]
        return tuple(sorted(kept, key=lambda one: one.n_features))

    @property
    def knee(self) -> Candidate:
        """The candidate after which more features gain little.

        On the front of size and score, it is the farthest above the line from the
        smallest to the best, with sizes on a log scale.
        """
        return find_knee(self.found, self.scoring.sign)

    @property
    def candidates(self) -> pd.DataFrame:
        """All candidates as a data frame, the best first."""
        return self.to_frame()

    @property
    def baselines(self) -> tuple[Candidate, ...]:
        """The candidates without selection, and the one without features."""
        return tuple(one for one in self.found if one.is_baseline)

    def interval(
        self,
        confidence: float = CONFIDENCE,
        kind: Literal["sampling", "percentile"] | None = None,
    ) -> tuple[float, float]:
        """Compute an interval for the score of the winner on new samples.

        Parameters
        ----------
        confidence : float, default=0.95
            Nominal coverage; `coverage` has the measured one.
        kind : {"sampling", "percentile"}, optional
            "percentile" are the percentiles of the scores outside the bootstrap draws,
            and reach at least as far as "sampling"; the default for "bbc". "sampling"
            has the sampling error of the score of one candidate, around the corrected
            score, the default for "nested".

        Returns
        -------
        low, high : float
            Inside the range of the score, and never equal.
        """
        default = "percentile" if self.correction == "bbc" else "sampling"
        return self.corrected.interval(confidence, kind or default)

    def checklist(
        self, name: Literal["tripod+ai", "reforms"] = "tripod+ai"
    ) -> pd.DataFrame:
        """Fill in a reporting checklist as far as the record can.

        Parameters
        ----------
        name : {"tripod+ai", "reforms"}
            The checklist: TRIPOD+AI for prediction models in medicine, or REFORMS for
            science based on machine learning.

        Returns
        -------
        DataFrame
            Columns item, section, topic (in our words), status ("answered" or
            "yours") and evidence. Items that the record cannot answer are yours.
        """
        filled: pd.DataFrame = _room("checklists").fill_checklist(self, name)
        return filled

    def save_estimator(self, path: str | Path) -> Path:
        """Write the fitted pipeline to a file of skops, which holds no pickle.

        Parameters
        ----------
        path : str or Path
            Where to write it. ``skops.io.load(path, trusted=...)`` reads it; see
            ``skops.io.get_untrusted_types``.
        """
        try:
            from skops import io
        except ImportError as error:
            raise InputError(
                "skops is not installed; pip install skops, or pickle estimator_ "
                "yourself."
            ) from error
        io.dump(self.estimator_, path)
        return Path(path)

    def _conclude(self) -> Conclusion:
        """Decide whether the corrected score may be believed."""
        found: Conclusion = _room("conclusions").conclude_choice(self)
        return found

    def __repr__(self) -> str:
        low, high = self.interval()
        what = f"{self.scoring.label} {self.score:.3f} ({low:.3f} to {high:.3f})"
        many = f"best of {count(len(self.found), 'candidate')}"
        naive = f"uncorrected {self.naive_score:.3f}"
        partial = "; partial" if self.is_partial else ""
        return f"Choice({self.winner.label}, {many}; {what}, {naive}{partial})"

    def to_frame(self) -> pd.DataFrame:
        """Write all candidates as a data frame, the best first.

        Returns
        -------
        DataFrame
            Columns selector, estimator, n_features, score, low, high,
            standard_error, pvalue, within_one_se, stability, wins, on_front,
            is_baseline, dropped_after.
        """
        rows = (
            tuple(
                getattr(one.score, "value" if name == "score" else name)
                if name in ("score", "low", "high")
                else getattr(one, name)
                for name in _COLUMNS
            )
            for one in self.found
        )
        return frame(rows, *_COLUMNS)


def find_front(
    sizes: Sequence[int], scores: FloatArray, stabilities: FloatArray
) -> list[bool]:
    """Find which candidates no other one dominates.

    Parameters
    ----------
    sizes : sequence of int
        Number of features; less is better.
    scores, stabilities : array
        More is better.

    Examples
    --------
    >>> find_front([1, 5, 5], np.array([0.7, 0.8, 0.7]), np.array([1.0, 0.5, 0.4]))
    [True, True, False]
    """
    goods = np.column_stack([-np.asarray(sizes, dtype=float), scores, stabilities])
    front = []
    for one in goods:
        as_good = (goods >= one).all(axis=1)
        better = (goods > one).any(axis=1)
        front.append(not bool((as_good & better).any()))
    return front


def find_knee(found: Sequence[Candidate], sign: float) -> Candidate:
    """Find the candidate after which more features gain little; see `Choice.knee`."""
    best_of: dict[int, Candidate] = {}
    for one in found:  # the best first
        if one.n_features and one.dropped_after is None:
            best_of.setdefault(one.n_features, one)
    rising: list[Candidate] = []
    for _, one in sorted(best_of.items()):
        if not rising or sign * one.score.value > sign * rising[-1].score.value:
            rising.append(one)
    if len(rising) < 3:
        return rising[-1] if rising else found[0]
    x = np.array([math.log(one.n_features) for one in rising])
    y = np.array([sign * one.score.value for one in rising])
    above = (y - y[0]) / (y[-1] - y[0]) - (x - x[0]) / (x[-1] - x[0])
    return rising[int(above.argmax())]


def _room(name: str) -> Any:
    return import_module(f"veridical.evaluation.{name}")

"""What a comparison of selectors found.

A test on two arrays of scores calls them ``"a"`` and ``"b"``; a `Comparison` calls
selectors by their display names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.records import (
    SIDES,
    Conclusion,
    DataSummary,
    Interval,
    Record,
    Setting,
    frame,
)
from veridical._core.scoring import ACCURACY, ScoreInfo
from veridical.evaluation.records import Coverage

if TYPE_CHECKING:
    import pandas as pd

Winner = Literal["a", "b", "draw"]


@dataclass(frozen=True, repr=False)
class TestResult(Record):
    """The result of one significance test on paired scores.

    Positive differences favour ``a``. ``interval`` is for the mean difference, at
    confidence ``1 - alpha``, and rests on the same assumptions as the p-value. Of many
    tests at once the numbers are arrays, and `winner` is one.

    Parameters
    ----------
    name : str
        Of the test.
    statistic, pvalue, df : float
        The statistic, its two-sided p-value and its degrees of freedom, NaN where the
        p-value does not come from a table.
    mean_difference : float
        Mean of ``a`` minus mean of ``b``.
    interval : tuple of float
        The differences that the test does not reject; of the exact McNemar test Bonett
        and Price's interval.
    n : int
        Number of differences that entered the test.
    alpha : float
        Significance level.
    assumptions : str
        What the p-value assumes, in words.
    estimate : float or None
        The difference that is tested, where that is not the mean of all.
    rope : float or None
        Differences up to this count as none (Bayesian tests).
    probabilities : mapping of "a", "rope" and "b" to float, or None
        Posterior probabilities that a is better, that they are practically equivalent,
        and that b is better (Bayesian tests).
    size : MeasuredSize or None
        How often the test rejects in a similar design where neither side is better;
        None where that has not been measured.
    note : str
        Why there is no interval, or no p-value, in a sentence; empty where there is.
    greater_is_better : bool
        Whether the side with the greater scores is the better one; not for losses.
    calibrated : bool
        Whether the p-value comes from a measured null.
    """

    __test__ = False  # the name is the field's own; it is not a pytest class

    name: str
    statistic: float
    pvalue: float
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
    note: str = ""
    greater_is_better: bool = True
    calibrated: bool = False

    @property
    def winner(self) -> Winner:
        """``"a"`` or ``"b"`` where the difference is significant, else ``"draw"``.

        Without a p-value it is a draw: where nothing varies, nothing is shown. A
        Bayesian test names a winner where its posterior probability exceeds
        ``1 - alpha``.
        """
        if self.probabilities is not None:
            if np.ndim(self.pvalue):
                sides = [
                    np.greater(self.probabilities[s], 1 - self.alpha) for s in SIDES
                ]
                each: Any = np.select(sides, SIDES, "draw")
                return each
            sure = [s for s in SIDES if self.probabilities[s] > 1 - self.alpha]
            return sure[0] if sure else "draw"
        lead = self.mean_difference if self.estimate is None else self.estimate
        lead = lead if self.greater_is_better else -lead
        if np.ndim(self.pvalue):
            sign = np.where(np.less(self.pvalue, self.alpha), np.sign(lead), 0)
            many: Any = np.array(["b", "draw", "a"])[sign.astype(int) + 1]
            return many
        if self.pvalue < self.alpha and lead != 0:
            return "a" if lead > 0 else "b"
        return "draw"

    def _conclude(self) -> Conclusion:
        """Decide whether a side is significantly better."""
        found: Conclusion = _conclusions().conclude_test(self)
        return found

    def __repr__(self) -> str:
        if np.ndim(self.pvalue):
            return f"{type(self).__name__}({self.name}: {np.size(self.pvalue)} tests)"
        low, high = self.interval
        found = f"{self.winner}, difference {self.mean_difference:.3g}"
        span = "no interval" if np.isnan(low) else f"{low:.3g} to {high:.3g}"
        rest = f"({span}), p = {self.pvalue:.3g}, n = {self.n}"
        return f"{type(self).__name__}({self.name}: {found} {rest})"

    def to_frame(self) -> pd.DataFrame:
        """Write the result as a data frame, a row per test.

        Returns
        -------
        DataFrame
            Columns name, statistic, pvalue, df, mean_difference, low, high, n, alpha,
            winner.
        """
        first = (self.name, self.statistic, self.pvalue, self.df, self.mean_difference)
        names = ("name", "statistic", "pvalue", "df", "mean_difference")
        row = (*first, *self.interval, self.n, self.alpha, self.winner)
        columns = np.broadcast_arrays(*map(np.asarray, row))
        rows = list(zip(*(column.ravel().tolist() for column in columns), strict=True))
        return frame(rows, *names, "low", "high", "n", "alpha", "winner")


class Verdict(NamedTuple):
    """The better selector under one method, and the test that shows it."""

    winner: Winner
    pvalue: float
    mean_difference: float
    interval: tuple[float, float]
    test: TestResult

    @classmethod
    def from_test(cls, test: TestResult) -> Verdict:
        """Make the verdict of a test result."""
        return cls(test.winner, test.pvalue, test.mean_difference, test.interval, test)


@dataclass(frozen=True, kw_only=True, repr=False)
class Truthfulness(TestResult):
    """How often IN and OUT reached the true verdict, over many data sets.

    As a `TestResult`, ``a`` is IN and ``b`` is OUT, the scores are 1 where the verdict
    was true and 0 where not, and ``pvalue`` is that of one tail.

    Parameters
    ----------
    only_in, only_out : int
        Data sets where IN was right and OUT wrong, and the reverse.
    both_right, both_wrong : int
        Data sets where both or neither were right; the test does not use them.
    better : {"in", "out", "same"}
        The method that is right significantly more often.
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
        if np.ndim(self.better):
            many: Any = np.vectorize(winners.__getitem__)(self.better)
            return many
        return winners[self.better]

    def _conclude(self) -> Conclusion:
        """Decide whether IN or OUT is shown to reach the true verdict more often."""
        found: Conclusion = _conclusions().conclude_truthfulness(self)
        return found


@dataclass(frozen=True, kw_only=True, repr=False)
class Bias(TestResult):
    """How far a method's accuracy lies from the true one, on one data set.

    As a `TestResult`, ``a`` is the method and ``b`` is TRUTH.

    Parameters
    ----------
    value : float
        The difference of the means where it is significant, else 0.
    """

    value: float

    @property
    def difference(self) -> float:
        """The plain difference of the means."""
        return self.mean_difference

    def _conclude(self) -> Conclusion:
        """Decide whether the accuracy is shown to be too high or too low."""
        found: Conclusion = _conclusions().conclude_bias(self)
        return found


class PairVerdict(NamedTuple):
    """Two selectors under one method, with a p-value adjusted for all the pairs.

    ``first`` and ``second`` are display names. ``better`` is the name of the selector
    that is significantly better after the adjustment, or None. ``verdict`` is that of
    the pair alone, where ``"a"`` is the first selector; ``adjusted`` is its p-value
    adjusted for the number of pairs, which for one pair is the p-value itself.
    """

    first: str
    second: str
    better: str | None
    adjusted: float
    verdict: Verdict

    @property
    def pvalue(self) -> float:
        """P-value of the pair alone."""
        return self.verdict.pvalue


class MeanAccuracy(NamedTuple):
    """Mean accuracy of a selector under a method, with its t interval.

    ``std`` is the standard deviation of the ``n`` accuracies. If all accuracies of
    folds are equal, the interval is Wilson's for the tested samples. The bounds are NaN
    where there is one accuracy only, whose standard deviation is NaN too, or where
    those of independent data sets are equal.
    """

    value: float
    low: float
    high: float
    std: float
    n: int


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Record):
    """The comparison of two or more selectors, by one method or several.

    Parameters
    ----------
    names : tuple of str
        Display names of the selectors, all different.
    estimators : tuple of str
        Display names of the estimators.
    n_features_to_select : int
        Number of features each selector had to return.
    data : DataSummary
        The data set or the source.
    accuracy : mapping of method to array
        Of shape (n_selectors, n_estimators, n_repeats, n_folds). Method is "in", "out"
        or "truth"; for "truth" a repeat is a data set of its own and there is one fold,
        the independent test set.
    selected : mapping of method to array
        Indices of the selected features, best first, of shape (n_selectors, n_repeats,
        n_folds, n_features_to_select); OUT has one fold, because it selects once.
    pairs : mapping of method to tuple of PairVerdict
        All pairs of selectors, on the accuracies averaged over the estimators.
    by_estimator : mapping of estimator name to (mapping of method to pairs)
        The same for each estimator alone.
    optimism : tuple of Interval
        Per selector: accuracy under OUT minus accuracy under IN; empty unless both were
        run.
    bias_imbalance : mapping of method to float
        Largest difference between the biases of two selectors, against TRUTH where it
        is known, else against IN.
    recommendation : str
        Which claims are supported, in words.
    friedman : mapping of method to Friedman
        For three selectors or more: mean ranks over the folds and whether they differ.
    set_verdicts : mapping of method to tuple of Winner
        On a source: the verdict of IN and OUT on each data set.
    truthfulness : Truthfulness or None
        On a source: which of IN and OUT found the true verdict more often.
    stability : mapping of method to tuple of Interval
        Per selector: Nogueira's stability of the selected features, from fold to fold
        (IN) or from data set to data set (TRUTH): 1 if they are always the same, 0 if
        they agree as by chance.
    seconds : tuple of float
        Per selector: time of all its selections together.
    correction : str
        Adjustment of p-values for the number of pairs: "holm", "bonferroni" or "none".
    coverage : Coverage or None
        How often intervals of mean accuracies under IN have covered the truth in the
        measured designs nearest to this one; None where nothing was measured near.
    optimism_coverage : Coverage or None
        The same for intervals of the optimism, whose truth is the mean over data sets.
    alpha : float
        Significance level.
    settings : mapping of str to str, number, tuple or mapping
        Everything else a reader needs to repeat the run.
    n_train, n_test : float
        Mean numbers of training and of test samples of a fold; NaN where not known.
    independent_repeats : bool
        Whether every repeat of IN and OUT is a data set of its own, drawn from a
        source (`veridical.comparison.truth`), and not one more cross-validation of the
        same samples. A repeat of TRUTH always is.
    scorings : tuple of ScoreInfo
        The scores that were asked for, the leading one first, on which verdicts rest;
        empty where it is the accuracy alone.
    values : mapping of score name to (mapping of method to array)
        Values of these scores, of the shape of `accuracy`.
    corrected : mapping of method to tuple of PairVerdict
        The same pairs by the corrected resampled t-test, where another test was chosen.
    one_test_set : str or None
        Where there is one split: the kind of interval of the scores on its test set, as
        in `veridical.evaluation.Estimate`, "" for none; else None.
    bounds : mapping of method to tuple of (low, high)
        Where there is one split: these intervals, one per selector.

    Attributes
    ----------
    means : mapping of method to tuple of MeanAccuracy
        Mean accuracy of each selector, with its interval.
    artefacts : tuple of int
        Indices of the selectors whose OUT accuracy is an artefact of selection.
    notes : tuple of str
        Why an interval or a p-value is not available, a sentence for each.
    conclusion : Conclusion
        Which selector is better, and whether that may be believed.
    """

    names: tuple[str, ...]
    estimators: tuple[str, ...]
    n_features_to_select: int
    data: DataSummary
    accuracy: Mapping[str, FloatArray]
    selected: Mapping[str, IntArray]
    pairs: Mapping[str, tuple[PairVerdict, ...]]
    by_estimator: Mapping[str, Mapping[str, tuple[PairVerdict, ...]]]
    optimism: tuple[Interval, ...]
    bias_imbalance: Mapping[str, float]
    recommendation: str
    friedman: Mapping[str, Friedman] = field(default_factory=dict)
    set_verdicts: Mapping[str, tuple[Winner, ...]] = field(default_factory=dict)
    truthfulness: Truthfulness | None = None
    stability: Mapping[str, tuple[Interval, ...]] = field(default_factory=dict)
    seconds: tuple[float, ...] = ()
    correction: str = "holm"
    coverage: Coverage | None = None
    optimism_coverage: Coverage | None = None
    alpha: float = 0.05
    settings: Mapping[str, Setting] = field(default_factory=dict)
    n_train: float = np.nan
    n_test: float = np.nan
    independent_repeats: bool = False
    scorings: tuple[ScoreInfo, ...] = ()
    values: Mapping[str, Mapping[str, FloatArray]] = field(default_factory=dict)
    corrected: Mapping[str, tuple[PairVerdict, ...]] = field(default_factory=dict)
    one_test_set: str | None = None
    bounds: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    means: Mapping[str, tuple[MeanAccuracy, ...]] = field(init=False)
    artefacts: tuple[int, ...] = field(init=False)
    notes: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        decide = _conclusions()
        self._store(means=decide.mean_accuracies(self))
        self._store(artefacts=decide.find_artefacts(self))
        self._store(notes=decide.list_notes(self))
        super().__post_init__()

    def __repr__(self) -> str:
        if len(self.names) == 2:
            found = [
                f"{method.upper()} {pair.better or 'draw'} (p = {pair.pvalue:.3g})"
                for method, (pair,) in self.pairs.items()
            ]
            return f"Comparison({' against '.join(self.names)}: {', '.join(found)})"
        found = []
        for method, result in self.friedman.items():
            ranks = zip(result.mean_ranks, self.names, strict=True)
            order = ", ".join(f"{name} {rank:.1f}" for rank, name in sorted(ranks))
            found.append(
                f"{method.upper()} mean ranks {order} (p = {result.pvalue:.3g})"
            )
        return f"Comparison({'; '.join(found)})"

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """Verdict per method, where two selectors were compared; ``a`` is the first.

        Raises
        ------
        InputError
            With more than two selectors; `pairs` has the verdicts then.
        """
        if len(self.names) != 2:
            raise InputError(
                f"{len(self.names)} selectors were compared, so a method has a verdict "
                "for each pair; read them from pairs."
            )
        return {method: pair.verdict for method, (pair,) in self.pairs.items()}

    @property
    def scores(self) -> dict[str, FloatArray]:
        """Scores per method: (n_selectors, n_splits), averaged over estimators."""
        return {
            method: values.mean(axis=1).reshape(len(self.names), -1)
            for method, values in self.score.items()
        }

    @property
    def scoring(self) -> ScoreInfo:
        """The leading score."""
        if self.scorings:
            return self.scorings[0]
        return replace(ACCURACY, chance=self.data.majority_share)

    @property
    def score(self) -> Mapping[str, FloatArray]:
        """Values of the leading score, of the shape of `accuracy`, per method."""
        return self.values.get(self.scoring.name, self.accuracy)

    @property
    def estimator_means(self) -> dict[str, dict[str, tuple[float, ...]]]:
        """Mean accuracy of each estimator alone, per method and selector."""
        return {
            name: {
                method: tuple(float(one.mean()) for one in values[:, e])
                for method, values in self.score.items()
            }
            for e, name in enumerate(self.estimators)
        }

    @property
    def further_means(self) -> dict[str, dict[str, tuple[float, ...]]]:
        """Mean of every further score, per method and selector."""
        return {
            info.name: {
                method: tuple(float(one.mean()) for one in values)
                for method, values in self.values[info.name].items()
            }
            for info in self.scorings[1:]
        }

    @property
    def optimism_shown(self) -> tuple[Literal["higher", "lower", "open"], ...]:
        """Per selector: whether OUT is shown to be higher or lower than IN.

        It is where the whole interval of `optimism` is; elsewhere it is "open".
        """
        return tuple(
            "higher" if gap.low > 0 else "lower" if gap.high < 0 else "open"
            for gap in self.optimism
        )

    @property
    def n_right(self) -> dict[str, int]:
        """On how many data sets of the source each method reached the true verdict."""
        if "truth" not in self.pairs:
            return {}
        true = self.verdicts["truth"].winner
        return {
            method: sum(winner == true for winner in winners)
            for method, winners in self.set_verdicts.items()
        }

    @property
    def share_right(self) -> dict[str, Interval]:
        """`n_right` as a share of the data sets, with Wilson's 95 % bounds."""
        found: dict[str, Interval] = _conclusions().shares_right(self)
        return found

    def _conclude(self) -> Conclusion:
        """Decide which selector is better, and whether that may be believed."""
        found: Conclusion = _conclusions().conclude(self)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Write the accuracies as a data frame, one row each.

        Returns
        -------
        DataFrame
            Columns method, selector, estimator, repeat, fold, accuracy (or one for
            each score, by its name), n_features_to_select.
        """
        names = tuple(one.name for one in self.scorings) or ("accuracy",)
        columns = ("method", "selector", "estimator", "repeat", "fold", *names)
        kept = [self.values.get(name, self.accuracy) for name in names]
        rows = (
            (
                *(method, self.names[s], self.estimators[e], r, f),
                *(float(one[method][s, e, r, f]) for one in kept),
            )
            for method, values in self.accuracy.items()
            for (s, e, r, f), _ in np.ndenumerate(values)
        )
        found = frame(rows, *columns)
        return found.assign(n_features_to_select=self.n_features_to_select)


class MeasuredSize(NamedTuple):
    """How often a test rejects where neither side is better, measured.

    ``rate`` of ``n_simulations`` data sets, with a 95 % interval, against the
    ``nominal`` share; ``design`` says in words what was simulated. Over several designs
    ``rate`` is the median of the rates, and the interval spans those of all. ``near``
    says whether these designs are near to that of the comparison; if none is, they are
    all that were measured with such splits. A difference may be claimed up to a p-value
    of ``claim_level``, at which claims are wrong in at most the level of the test in
    nine of ten of these designs; None where that was not measured.
    """

    nominal: float
    rate: float
    low: float
    high: float
    n_simulations: int
    design: str
    n_designs: int = 1
    near: bool = True
    claim_level: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Record):
    """The measured null distribution of a test, where neither side is better.

    Parameters
    ----------
    test : str
        Name of the test.
    size : MeasuredSize
        How often it rejected.
    statistics : array of shape (n_simulations,)
        Absolute values of its statistic, in ascending order: the measured null.
    accuracy : float
        Mean accuracy of the two sides, which differs between designs.
    settings : mapping of str to object
        The design that was simulated.
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

    def _conclude(self) -> Conclusion:
        """Decide whether the test is shown to reject too often."""
        found: Conclusion = _conclusions().conclude_size(self)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Write what was measured as a data frame of one row.

        Returns
        -------
        DataFrame
            Columns test, nominal, rate, low, high, n_simulations, accuracy, design.
        """
        size, names = self.size, ("nominal", "rate", "low", "high", "n_simulations")
        measured = (getattr(size, name) for name in names)
        row = (self.test, *measured, self.accuracy, size.design)
        return frame([row], "test", *names, "accuracy", "design")

    def pvalue(self, statistic: float) -> float:
        """Return the share of the null that is at least as extreme as a statistic.

        The observed statistic is counted too. If it comes from the same distribution,
        the p-value is at most α with probability at most α, exactly, however few
        simulations there are. A statistic that is NaN has none.
        """
        if np.isnan(statistic):
            return np.nan
        larger = self.statistics.size - int(
            np.searchsorted(self.statistics, _slightly_less(abs(statistic)))
        )
        return (1 + larger) / (1 + self.statistics.size)

    def critical(self, alpha: float) -> float:
        """Return the largest statistic that is not significant; infinite if all are."""
        n = self.statistics.size
        # p < alpha where fewer than alpha (n + 1) - 1 of the null are as extreme.
        allowed = int(np.ceil(alpha * (n + 1) - 1e-9)) - 2
        return float(self.statistics[n - 1 - allowed]) if allowed >= 0 else np.inf


def _slightly_less(value: float) -> float:
    """Return a value so much smaller that rounding makes no difference."""
    return value - 1e-9 * max(1.0, value) if np.isfinite(value) else value


@dataclass(frozen=True, repr=False)
class Friedman(Record):
    """Friedman's test: several selectors, ranked on the same splits.

    Of many tests at once, statistics and p-values are arrays.

    Parameters
    ----------
    mean_ranks : tuple of float, or array of shape (..., n_selectors)
        Per selector; 1 is best.
    chi2, chi2_pvalue : float
        Friedman's own statistic and its p-value.
    statistic, df, pvalue : float, tuple of float, float
        Iman and Davenport's F, which is the test to use.
    critical_difference : float
        Nemenyi's: mean ranks further apart than this differ significantly.
    n : int
        Number of splits or data sets.
    alpha : float
        Significance level.
    groups : tuple of tuple of int
        Groups of selectors, in order of mean rank, that do not differ significantly. Of
        many tests, such a tuple for each.
    size : MeasuredSize or None
        How often the test rejects in a similar design where all are equal.
    """

    mean_ranks: tuple[float, ...]
    chi2: float
    chi2_pvalue: float
    statistic: float
    df: tuple[float, float]
    pvalue: float
    critical_difference: float
    n: int
    alpha: float
    groups: tuple[tuple[int, ...], ...] = ()
    size: MeasuredSize | None = None

    def __repr__(self) -> str:
        if np.ndim(self.pvalue):
            n_selectors = np.shape(self.mean_ranks)[-1]
            return f"Friedman({np.size(self.pvalue)} tests of {n_selectors} selectors)"
        ranks = ", ".join(f"{rank:.2f}" for rank in self.mean_ranks)
        found = f"critical difference {self.critical_difference:.2f}"
        return f"Friedman(mean ranks {ranks}; {found}, p = {self.pvalue:.3g})"

    def _conclude(self) -> Conclusion:
        """Decide whether the selectors are shown to differ."""
        found: Conclusion = _conclusions().conclude_ranks(self)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Write the mean ranks as a data frame, test after test in the order of scores.

        Returns
        -------
        DataFrame
            Columns selector (from 0), mean_rank, critical_difference, pvalue.
        """
        ranks = np.asarray(self.mean_ranks)
        pvalues = np.broadcast_to(np.expand_dims(self.pvalue, -1), ranks.shape).ravel()
        rows = (
            (i % ranks.shape[-1], rank, self.critical_difference, float(pvalues[i]))
            for i, rank in enumerate(ranks.ravel().tolist())
        )
        return frame(rows, "selector", "mean_rank", "critical_difference", "pvalue")


@dataclass(frozen=True, repr=False)
class Sensitivity(Record):
    """IN and OUT on a data set, and IN, OUT and TRUTH on sources like it.

    Parameters
    ----------
    names : tuple of str
        Display names of the two selectors, called ``a`` and ``b`` in verdicts.
    data : DataSummary
        The data set.
    observed : Comparison
        IN and OUT on the data set itself; the sources resemble it where their
        accuracies do.
    strengths : tuple of float
        Factor of the strength found in the data, for each source.
    n_relevant : tuple of int
        Number of features that differ between classes, for each source.
    sources : tuple of Comparison
        What `veridical.comparison.truth` found on each source.
    recommendation : str
        How often IN and OUT find the truth, in words.
    recipe : str
        How the sources were made, in words.
    settings : mapping of str to str, number, tuple or mapping
        Everything else a reader needs to repeat the run.
    """

    names: tuple[str, ...]
    data: DataSummary
    observed: Comparison
    strengths: tuple[float, ...]
    n_relevant: tuple[int, ...]
    sources: tuple[Comparison, ...]
    recommendation: str
    recipe: str
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def __repr__(self) -> str:
        pair = " against ".join(self.names)
        right = {"in": 0, "out": 0}
        for source in self.sources:
            for method in right:
                right[method] += source.n_right[method]
        n_sets = sum(len(source.set_verdicts["in"]) for source in self.sources)
        found = f"of {n_sets} data sets IN reached the true verdict on {right['in']}"
        return f"Sensitivity({pair}: {found}, OUT on {right['out']})"

    def _conclude(self) -> Conclusion:
        """Decide which method finds the true verdict more often."""
        found: Conclusion = _conclusions().conclude_sensitivity(self)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Write one row per source.

        Returns
        -------
        DataFrame
            Columns strength, n_relevant, the accuracies truth_a, truth_b, in_a, in_b,
            out_a, out_b, true_winner, n_sets, in_right and out_right (on how many data
            sets each reached the true verdict), pvalue and more_truthful.
        """
        import pandas as pd

        rows = []
        for strength, n_relevant, record in zip(
            self.strengths, self.n_relevant, self.sources, strict=True
        ):
            true = record.verdicts["truth"].winner
            row: dict[str, object] = {"strength": strength, "n_relevant": n_relevant}
            for method in ("truth", "in", "out"):
                for side, mean in zip(SIDES, record.means[method], strict=True):
                    row[f"{method}_{side}"] = mean.value
            row["true_winner"] = true
            row["n_sets"] = len(record.set_verdicts["in"])
            for method in ("in", "out"):
                row[f"{method}_right"] = record.n_right[method]
            assert record.truthfulness is not None
            row["pvalue"] = record.truthfulness.pvalue
            row["more_truthful"] = record.truthfulness.better
            rows.append(row)
        return pd.DataFrame(rows)


def _conclusions() -> Any:
    """Import the module of the conclusions; it imports these records."""
    return import_module("veridical.comparison.conclusions")

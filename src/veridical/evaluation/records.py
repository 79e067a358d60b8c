"""What estimates, selections and corrections found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.progress import ProgressLike
from veridical._core.records import (
    Conclusion,
    DataSummary,
    Interval,
    Record,
    Setting,
    frame,
)
from veridical._core.scoring import ACCURACY, ScoreInfo, info_by_name
from veridical.evaluation.outcome_curves import OutcomeCurves

if TYPE_CHECKING:
    import pandas as pd

#: How far folds support a feature: selected in half of them or more, fewer, none.
Support = Literal["half", "weak", "none"]
#: Standard errors of independent features; where z is larger, features are dependent.
LARGEST_Z = 3.0


class Coverage(NamedTuple):
    """How often 95 % intervals of a kind covered the truth where it is known.

    Parameters
    ----------
    low, high : float
        The smallest and the largest share of data sets, over the designs nearest to
        the user's.
    conditions : str
        How it was measured, in words.
    reached : float
        The share that nine of ten of these designs reach; a claim rests on it.
    """

    low: float
    high: float
    conditions: str
    reached: float = math.nan


def _share_with_bounds(
    share: float, n: int, n_units: int = 0, n_effective: float = 0.0
) -> Interval:
    """Return a share with Wilson's 95 % bounds, NaN without samples and for one unit.

    Units are groups or weighted samples, 0 where samples are units.
    """
    if n == 0 or n_units == 1 or math.isnan(share):
        return Interval(share, math.nan, math.nan)
    intervals = import_module("veridical.evaluation.intervals")
    if n_units:
        bounds = intervals.cluster_wilson(share, n_effective, n_units)
        return Interval(share, *bounds)
    return Interval(share, *intervals.wilson(share, n))


@dataclass(frozen=True)
class Bin:
    """Samples whose predicted probability lies in an interval.

    Parameters
    ----------
    low, high : float
        The interval: above `low`, up to and with `high`; the first one holds 0 too.
    n : int
        Number of predictions; a sample counts in every repeat.
    predicted, observed : float or None
        Mean probability of the class, and its share among the samples; None if there
        are no samples.
    n_units, n_effective : int and float
        Where samples have groups or weights, or are tested several times: the number
        of groups (without groups, of samples), and of the independent samples that vary
        as much; else 0.
    """

    low: float
    high: float
    n: int
    predicted: float | None
    observed: float | None
    n_units: int = 0
    n_effective: float = 0.0

    @property
    def interval(self) -> Interval:
        """The observed share with Wilson's 95 % bounds, as if units were independent.

        All are NaN where there are no samples, the bounds also for a single group.
        """
        share = math.nan if self.observed is None else self.observed
        return _share_with_bounds(share, self.n, self.n_units, self.n_effective)


@dataclass(frozen=True)
class PredictionCurves:
    """Predictions of classes beyond one number.

    Parameters
    ----------
    classes : tuple of str
        The classes.
    confusion : tuple of tuple of float
        Numbers of test samples (sums of weights) by true class, then predicted class.
    positive : str or None
        Of two classes, the one that curves are about.
    places : tuple of float
        False-positive rates, or recalls, at which curves were averaged.
    roc : tuple of Interval
        True-positive rates, the mean of the folds with its 95 % band; empty where
        there are neither decision values nor probabilities.
    precision : tuple of Interval
        Precision at these recalls.
    bins : tuple of Bin
        Predicted probabilities and observed shares; empty without probabilities.
    slope, intercept : float
        Of the calibration curve, on the scale of logits; NaN where not defined.
    """

    classes: tuple[str, ...]
    confusion: tuple[tuple[float, ...], ...]
    positive: str | None = None
    places: tuple[float, ...] = ()
    roc: tuple[Interval, ...] = ()
    precision: tuple[Interval, ...] = ()
    bins: tuple[Bin, ...] = ()
    slope: float = math.nan
    intercept: float = math.nan


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Record):
    """How accurate an estimator is on some data, by one method.

    Parameters
    ----------
    value : float
        The estimate: accuracy pooled over all test samples, or the mean score.
    std : float
        Standard deviation of `scores`; with a single split, the binomial one of an
        accuracy. It is not the standard error of `value`: splits share samples.
    scores : array of shape (n_splits,)
        One score per split; for the bootstrap, each sample's term of the estimate. NaN
        where the score of a split is not defined; the estimate leaves it out.
    n_test : int
        Number of different samples that were tested.
    metric, method, estimator : str
        What was measured, by which method, and of which estimator: its registered
        name, or else what it is called.
    random_state : int
        The seed that gives the same splits again.
    assumes : mapping of str to str
        The valid kinds of interval, and what each assumes; empty where none
        is valid.
    details : mapping of str to float
        Intermediate results of the method.
    notes : tuple of str
        What is doubtful about this estimate or its estimator, in sentences.
    test_share : float
        Size of a test set over the size of a training set.
    nested : object or None
        Runs nested cross-validation when its interval is first computed.
    coverage : mapping of str to Coverage
        How often 95 % intervals of each kind have covered the truth; without those
        that were not measured.
    score_range : tuple of float
        The smallest and the largest possible score; intervals are clipped to it.
    scoring : ScoreInfo
        The score: its name, unit and direction, whether it is pooled over all test
        samples or the mean of the splits, and what guessing reaches.
    others : tuple of Estimate
        The other scores, from the same predictions.
    curves : tuple of OutcomeCurves
        What was observed against what was predicted, for numbers and survival times.
    n_units : int
        Number of groups tested (of samples, where there are weights alone); 0 without
        groups and weights.
    n_effective : float
        Number of independent samples that would vary as much as these groups.
    n_shared : int
        Number of test samples that the score is a share of, such as those of the
        positive class for sensitivity; 0 for other scores.
    class_predictions : PredictionCurves or None
        Confusion matrix, ROC and precision–recall curves and calibration; None where
        predictions are no classes, and for the bootstrap.
    data : DataSummary or None
        The data; None where X is not a table but, say, a list of texts.
    settings : mapping of str to str, number, tuple or mapping
        Everything else a reader needs to repeat the run.
    is_doubtful : bool
        Whether a note doubts the estimate itself, and not the estimator; by default,
        whether there are notes.

    Attributes
    ----------
    intervals : mapping of str to tuple of float
        The 95 % bounds of each valid kind, the default kind first. ``"nested"`` is
        there only if it had been computed when the estimate was made.
    conclusion : Conclusion
        How accurate the estimator is, and whether that may be believed.
    """

    value: float
    std: float
    scores: FloatArray
    n_test: int
    metric: str
    method: str
    estimator: str
    random_state: int
    assumes: Mapping[str, str]
    details: Mapping[str, float]
    notes: tuple[str, ...] = ()
    test_share: float = 0.0
    nested: Any = None
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    score_range: tuple[float, float] = (0.0, 1.0)
    data: DataSummary | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)
    scoring: ScoreInfo = ACCURACY
    others: tuple[Estimate, ...] = ()
    curves: tuple[OutcomeCurves, ...] = ()
    n_shared: int = 0
    n_units: int = 0
    n_effective: float = 0.0
    class_predictions: PredictionCurves | None = None
    is_doubtful: bool = None  # type: ignore[assignment]
    intervals: Mapping[str, tuple[float, float]] = field(init=False)

    @property
    def by_score(self) -> dict[str, Estimate]:
        """The estimate of every score by its name, the leading one first."""
        return {one.metric: one for one in (self, *self.others)}

    def __post_init__(self) -> None:
        if self.scoring.name != self.metric:
            self._store(scoring=info_by_name(self.metric, self.score_range))
        if self.is_doubtful is None:
            self._store(is_doubtful=bool(self.notes))
        room = import_module("veridical.evaluation.intervals")
        self._store(intervals=room.intervals_of(self))
        super().__post_init__()

    def _conclude(self) -> Conclusion:
        """Decide how accurate the estimator is, and whether that may be believed."""
        return self.alone.conclusion

    @property
    def alone(self) -> Estimates:
        """The estimate as the only one of `Estimates`, which say what is shown."""
        return Estimates(self.data, self.estimator, (self,), settings=self.settings)

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
            `veridical.evaluation.default_interval`. ``"nested"`` fits many more models
            when first asked for; see `with_nested`.

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
        intervals = import_module("veridical.evaluation.intervals")
        low, high = intervals.interval_of(self, confidence, kind)
        return low, high

    def with_nested(self, progress: ProgressLike = None) -> Estimate:
        """Make the estimate anew with the interval by nested cross-validation.

        The estimate itself stays as it is, its default interval and conclusion too.

        Parameters
        ----------
        progress : optional
            As for `veridical.evaluation.nested_cv`.

        Returns
        -------
        Estimate
            The same numbers; its intervals and its conclusion count the nested one.

        Raises
        ------
        InputError
            If nested cross-validation gives no valid interval for this metric and
            method.
        """
        intervals = import_module("veridical.evaluation.intervals")
        intervals.check_kind(self, "nested")
        self.nested.result(progress)
        return replace(self)

    def to_frame(self) -> pd.DataFrame:
        """Write the scores as a data frame, one row per split.

        Returns
        -------
        DataFrame
            Columns estimator, method, metric, split, score; one row per split and
            score.
        """
        rows = (
            (one.estimator, one.method, one.metric, i, float(score))
            for one in (self, *self.others)
            for i, score in enumerate(one.scores)
        )
        return frame(rows, "estimator", "method", "metric", "split", "score")

    def __repr__(self) -> str:
        line: str = _conclusions().estimate_line(self)
        return line


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Record):
    """How accurate one estimator is on one data set, by several methods.

    Parameters
    ----------
    data : DataSummary or None
        The data set or the source; None where it is not known.
    estimator : str
        What learned: its registered name, or else what it is called.
    estimates : tuple of Estimate
        At least one, all of the same metric.
    truth : Estimate or None
        On a source: the accuracy of the classifier built on all samples, measured on
        many new ones.
    settings : mapping of str to str, number, tuple or mapping
        Everything else a reader needs to repeat the run.
    """

    data: DataSummary | None
    estimator: str
    estimates: tuple[Estimate, ...]
    truth: Estimate | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.estimates:
            raise InputError("Estimates is empty; give at least one estimate.")
        super().__post_init__()

    def __repr__(self) -> str:
        return f"Estimates({self.estimator}: {', '.join(map(repr, self.estimates))})"

    def _conclude(self) -> Conclusion:
        """Decide how accurate the estimator is, and whether that may be believed."""
        found: Conclusion = _conclusions().conclude_estimates(self)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Write one row per estimate; the truth, where it is known, comes last.

        Returns
        -------
        DataFrame
            Columns estimator, metric, method, value, std, interval (the kind of the
            interval, None where none is valid), low, high (its 95 % bounds), n_splits,
            n_test.
        """
        known = () if self.truth is None else (self.truth,)
        names = ("estimator", "metric", "method", "value", "std", "interval")
        none = (None, (np.nan, np.nan))
        rows = []
        for one in self.estimates + known:
            kind, bounds = next(iter(one.intervals.items()), none)
            found = (one.metric, one.method, one.value, one.std, kind, *bounds)
            rows.append((self.estimator, *found, len(one.scores), one.n_test))
        return frame(rows, *names, "low", "high", "n_splits", "n_test")


def _conclusions() -> Any:
    """Import the module of the conclusions; it imports these records."""
    return import_module("veridical.evaluation.conclusions")


@dataclass(frozen=True)
class SelectedFeature:
    """A feature of the selected set.

    Parameters
    ----------
    index : int
        Its index, from 0.
    name : str
        Its name.
    score : float or None
        Its score, where the selector has scores of single features.
    n_folds : int
        Number of folds in which it was selected too.
    """

    index: int
    name: str
    score: float | None
    n_folds: int

    def support(self, n_folds: int) -> Support:
        """Return how far the folds support the feature.

        Parameters
        ----------
        n_folds : int
            Number of all folds.

        Returns
        -------
        {"half", "weak", "none"}
            Selected in at least half of the folds, in fewer, or in none.
        """
        if self.n_folds == 0:
            return "none"
        return "half" if 2 * self.n_folds >= n_folds else "weak"

    @classmethod
    def from_arrays(
        cls,
        wanted: IntArray,
        names: Sequence[str],
        scores: FloatArray | None,
        n_folds: IntArray,
    ) -> tuple[SelectedFeature, ...]:
        """Describe features, given names, scores and counts of all."""
        return tuple(
            cls(
                int(j),
                names[j],
                None if scores is None else float(scores[j]),
                int(n_folds[j]),
            )
            for j in wanted
        )


@dataclass(frozen=True)
class ClassResult:
    """One class: number of samples tested, and the share predicted correctly.

    Where samples have groups or weights, or are tested several times, `n_units` is the
    number of groups (without groups, of samples), and `n_effective` the number of
    independent samples that vary as much.
    """

    name: str
    n_test: int
    accuracy: float
    n_units: int = 0
    n_effective: float = 0.0

    @property
    def interval(self) -> Interval:
        """The accuracy with Wilson's 95 % bounds, as if its units were independent.

        The bounds are NaN where no sample was tested, and for a single group.
        """
        return _share_with_bounds(
            self.accuracy, self.n_test, self.n_units, self.n_effective
        )


@dataclass(frozen=True)
class ScoreResult:
    """A score of a procedure: which it is, and its value.

    Parameters
    ----------
    scoring : ScoreInfo
        The score.
    score : Interval
        Its value with the 95 % interval, NaN where there is none.
    interval : str
        The kind of interval, "" where none is valid.
    coverage : Coverage or None
        How often such 95 % intervals have covered the truth in the measured designs
        nearest to this one; None where nothing was measured near.
    """

    scoring: ScoreInfo
    score: Interval
    interval: str = ""
    coverage: Coverage | None = None


@dataclass(frozen=True, repr=False)
class Selection(Record):
    """Selected features, with the accuracy of selecting and learning as a whole.

    Parameters
    ----------
    data : DataSummary
        The data set or the source.
    selector, estimator : str
        Registered names, or else what they are called.
    features : tuple of SelectedFeature
        Selected on all samples, best first.
    accuracy : Interval
        By cross-validation with everything that sees labels inside the folds, with
        its 95 % interval; for numbers and survival times the leading score.
    n_test, n_folds : int
        Numbers of different samples tested, and of folds.
    classes : tuple of ClassResult
        The same samples, class by class; empty where the target has no classes.
    sizes, size_accuracy : tuple
        Numbers of the leading features, and the accuracy with them, on the same folds.
    paths : mapping of str to tuple of float
        Properties of the first 1, 2, 3, … features, from the selector.
    alphas, alpha_accuracy : tuple of float
        Where an exponent was chosen: the values tried on all samples, and their
        accuracies.
    alpha : float or None
        The exponent used on all samples.
    fold_alphas : tuple of float
        The exponent chosen in each fold.
    notes : tuple of str
        What a reader must know, in sentences.
    settings : mapping of str to str, number, tuple or mapping
        Everything else a reader needs to repeat the run.
    interval : str
        Kind of the interval of `accuracy`: the one whose measured coverage is closest
        to nominal, see `veridical.evaluation.default_interval`.
    coverage : Coverage or None
        How often such intervals have covered the truth in the measured designs nearest
        to this one; None where nothing was measured near.
    other_features : tuple of SelectedFeature
        Features that folds selected but that are not in the list, the most frequent
        first.
    stability : Interval or None
        Agreement of the sets that the folds select, by Nogueira's measure: 1 if they
        are always the same, 0 if they agree as by chance.
    size_intervals : tuple of Interval
        The leading score at each of `sizes` with its 95 % interval; empty where not
        known.
    scores : tuple of ScoreResult
        All scores that were asked for, the leading one first; empty where it is the
        accuracy alone.
    size_scores : tuple of Interval
        The leading score at each of `sizes`, where it is not the accuracy.
    class_predictions : PredictionCurves or None
        Confusion matrix, ROC and precision–recall curves and calibration of the whole
        procedure; None where predictions are no classes.
    is_validated : bool
        Whether the test samples come from elsewhere (`Validation`): then features were
        selected once, on the training samples, and there are no folds.
    """

    data: DataSummary
    selector: str
    estimator: str
    features: tuple[SelectedFeature, ...]
    accuracy: Interval
    n_test: int
    n_folds: int
    classes: tuple[ClassResult, ...]
    sizes: tuple[int, ...]
    size_accuracy: tuple[float, ...]
    paths: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    alphas: tuple[float, ...] = ()
    alpha_accuracy: tuple[float, ...] = ()
    alpha: float | None = None
    fold_alphas: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Setting] = field(default_factory=dict)
    interval: str = "wilson"
    coverage: Coverage | None = None
    other_features: tuple[SelectedFeature, ...] = ()
    stability: Interval | None = None
    size_intervals: tuple[Interval, ...] = ()
    scores: tuple[ScoreResult, ...] = ()
    size_scores: tuple[Interval, ...] = ()
    class_predictions: PredictionCurves | None = None
    is_validated: bool = False

    @property
    def scoring(self) -> ScoreInfo:
        """The leading score."""
        if self.scores:
            return self.scores[0].scoring
        return replace(ACCURACY, chance=self.data.majority_share)

    @property
    def score(self) -> Interval:
        """The leading score with its interval; the accuracy unless another leads."""
        return self.scores[0].score if self.scores else self.accuracy

    @property
    def score_interval(self) -> str:
        """The kind of the interval of the leading score."""
        return self.scores[0].interval if self.scores else self.interval

    @property
    def score_coverage(self) -> Coverage | None:
        """The measured coverage of the interval of the leading score."""
        if self.scores and not self.scoring.is_accuracy:
            return self.scores[0].coverage
        return self.coverage

    @property
    def by_size(self) -> tuple[Interval, ...]:
        """The leading score at each of `sizes`, with its interval where known."""
        if self.size_scores:
            return self.size_scores
        return self.size_intervals or tuple(
            Interval(value, value, value) for value in self.size_accuracy
        )

    @property
    def best_size(self) -> int:
        """The number of features with the best score, the smallest of equals."""
        sign = self.scoring.sign
        values = [sign * one.value for one in self.by_size]
        return self.sizes[int(np.nanargmax(values))]

    @property
    def consensus(self) -> tuple[SelectedFeature, ...]:
        """Features that at least half of the folds selected, the most often first."""
        known = (*self.features, *self.other_features)
        often = [one for one in known if one.support(self.n_folds) == "half"]
        return tuple(sorted(often, key=lambda one: -one.n_folds))

    @property
    def n_supported(self) -> int:
        """Number of listed features that at least half of the folds selected."""
        return sum(one.support(self.n_folds) == "half" for one in self.features)

    @property
    def is_stable(self) -> bool:
        """Whether the folds support the list of features.

        They do not if a listed feature was selected in no fold, or if fewer than
        half of the listed features were selected in at least half of the folds.
        """
        never = any(feature.n_folds == 0 for feature in self.features)
        return not never and 2 * self.n_supported >= len(self.features)

    def _conclude(self) -> Conclusion:
        """Decide how good selecting this way is, and whether that may be believed."""
        found: Conclusion = _conclusions().conclude_selection(self)
        return found

    def __repr__(self) -> str:
        names = [feature.name for feature in self.features[:5]]
        more = len(self.features) - len(names)
        listed = ", ".join(names) + (f" and {more} more" if more else "")
        value, low, high = self.score
        bounds = "no interval" if np.isnan(low) else f"{low:.3f} to {high:.3f}"
        accuracy = f"{self.scoring.label} {value:.3f} ({bounds})"
        return (
            f"Selection({_conclusions().name_of(self.selector)}: {listed}; {accuracy})"
        )

    def to_frame(self) -> pd.DataFrame:
        """Write the selected features as a data frame, best first.

        Returns
        -------
        DataFrame
            Columns rank, index, name, score, n_folds.
        """
        rows = (
            (rank, one.index, one.name, one.score, one.n_folds)
            for rank, one in enumerate(self.features, 1)
        )
        return frame(rows, "rank", "index", "name", "score", "n_folds")

    def annotate(self, adata: Any, key: str = "veridical") -> None:
        """Write the selected features to ``adata.var`` of an AnnData object.

        Parameters
        ----------
        adata : AnnData
            What was passed to `select`.
        key : str, default="veridical"
            Beginning of the names of the columns: ``{key}_selected``, ``{key}_rank``
            (from 1; NaN where not selected) and ``{key}_folds``, the share of folds
            that select the feature.
        """
        n = self.data.n_features
        rank, folds = np.full(n, np.nan), np.zeros(n)
        for place, one in enumerate(self.features, 1):
            rank[one.index] = place
        for one in (*self.features, *self.other_features):
            folds[one.index] = one.n_folds / max(self.n_folds, 1)
        columns = {"selected": ~np.isnan(rank), "rank": rank, "folds": folds}
        self.data.annotate(adata, columns, key)


@dataclass(frozen=True, repr=False)
class CalibrationTable(Record):
    """Predicted probabilities of one class, and how often it occurred.

    Parameters
    ----------
    label : str
        Name of the classifier.
    positive : str
        The class whose probability is predicted.
    bins : tuple of Bin
        From 0 to 1.
    n : int
        Number of samples.
    error : float
        Share of samples whose true class was predicted to be less probable.
    expected_error : float
        The share that the probabilities imply: the mean probability of the class that
        was not predicted.
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
        return f"CalibrationTable({self.label}: {self.n} samples, {errors})"

    def _conclude(self) -> Conclusion:
        """Decide whether the model predicts its own error rate."""
        found: Conclusion = _conclusions().conclude_table(self)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Write the bins as a data frame.

        Returns
        -------
        DataFrame
            Columns low, high, n, predicted, observed; a row for each bin.
        """
        return frame(self.bins, "low", "high", "n", "predicted", "observed")


@dataclass(frozen=True)
class ScoreDifference:
    """The difference of the scores of two models on the same samples.

    Parameters
    ----------
    first, second : str
        The models: "corrected", "uncorrected" or "sparse".
    log_loss, squared_error : float
        Mean score of the first minus that of the second; above 0 the first is worse.
    log_loss_se, squared_error_se : float
        Their standard errors, from the differences of the samples.
    """

    first: str
    second: str
    log_loss: float
    log_loss_se: float
    squared_error: float
    squared_error_se: float

    @property
    def is_worse(self) -> bool:
        """Whether the first has the larger log loss, by two standard errors or more."""
        return self.log_loss > 2 * self.log_loss_se


@dataclass(frozen=True)
class Dependence:
    """Whether the retained features depend on each other within classes.

    Parameters
    ----------
    inflation : float
        Variance within classes of the sum of the standardized features, each with the
        sign of its difference between the classes, over the variance of independent
        ones.
    z : float
        Its distance from 1 in standard errors of independent features. Their moments
        are those over all permutations of each feature within classes, which keep what
        selection used.
    """

    inflation: float
    z: float

    @property
    def is_shown(self) -> bool:
        """Whether the features depend on each other more than by chance."""
        return self.z > LARGEST_Z


@dataclass(frozen=True, repr=False)
class Correction(Record):
    """What correcting for feature selection changes on some data.

    Parameters
    ----------
    data : DataSummary
        The data set.
    model : str
        ``"binary"`` (features cut at their median where they are not zeros and ones)
        or ``"gaussian"``.
    n_features_to_select : int
        Number of retained features.
    threshold : float
        The smallest absolute correlation that was retained, on all samples.
    corrected, uncorrected, sparse : CalibrationTable
        By cross-validation, selection repeated in every training set: the published
        model, naive Bayes without the correction, and the corrected model that allows
        for null features and unequal base rates.
    alphas : mapping of "corrected", "uncorrected" and "sparse" to float
        Geometric posterior mean of α on all samples; a larger α means weaker
        features.
    null_share : float
        Posterior mean of the share of null features on all samples, by the sparse
        model.
    differences : tuple of ScoreDifference
        Corrected and uncorrected, sparse and uncorrected, sparse and corrected.
    dependence : Dependence
        Of the features retained on all samples.
    believed : "corrected", "sparse", "uncorrected" or None
        The model whose probabilities may be believed; None where there is none.
    verdict : str
        What follows from it, in a few sentences.
    settings : mapping of str to str, number, tuple or mapping
        Everything else a reader needs to repeat the run.
    """

    data: DataSummary
    model: str
    n_features_to_select: int
    threshold: float
    corrected: CalibrationTable
    uncorrected: CalibrationTable
    sparse: CalibrationTable
    alphas: Mapping[str, float]
    null_share: float
    differences: tuple[ScoreDifference, ...]
    dependence: Dependence
    believed: str | None
    verdict: str
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Correction({self.model}: {self.corrected!r}, {self.uncorrected!r})"

    @property
    def tables(self) -> dict[str, CalibrationTable]:
        """The calibration of every model."""
        return {
            "corrected": self.corrected,
            "uncorrected": self.uncorrected,
            "sparse": self.sparse,
        }

    @property
    def does_harm(self) -> bool:
        """Whether the published correction makes the log loss clearly worse."""
        return any(
            one.is_worse
            for one in self.differences
            if (one.first, one.second) == ("corrected", "uncorrected")
        )

    def _conclude(self) -> Conclusion:
        """Decide which model's probabilities may be believed."""
        found: Conclusion = _conclusions().conclude_correction(self)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Write the bins of all calibrations as a data frame.

        Returns
        -------
        DataFrame
            Columns model ("corrected", "uncorrected" or "sparse"), low, high, n,
            predicted, observed.
        """
        rows = (
            (model, b.low, b.high, b.n, b.predicted, b.observed)
            for model, table in self.tables.items()
            for b in table.bins
        )
        return frame(rows, "model", "low", "high", "n", "predicted", "observed")

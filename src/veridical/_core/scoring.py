"""Scores: one table of names, units, directions and ranges, and their computation.

A score is computed from the predictions of a split (`Outputs`): classes, numbers or
risks and, where it needs them, probabilities or decision values. It is a positive
number also where it is a loss: "neg_log_loss" of scikit-learn is shown as log loss, of
which less is better. Every score is for one kind of target; the default is accuracy for
classes, R² for numbers and Harrell's concordance for survival times.

A score that is a mean over samples (accuracy, log loss, Brier score, absolute error) is
pooled over all test samples; any other is averaged over the folds on which it is
defined. A fold that lacks a class the score needs (the area under a ROC curve needs
both) is left out; where most folds do, as in leave-one-out, the test samples of all
folds are pooled.

The classifier of a training set that lacks a class is passed to the scorer with all
classes of the data, the absent ones with probability 0.

A sample of weight 3 counts as three equal samples in every score.

======  ==========================================================  ================
symbol  meaning                                                     shape
======  ==========================================================  ================
y       true classes, as places among the sorted classes; numbers;  (n,)
        or the censored times of `survival_scores.Observed`
codes   predicted classes; predicted numbers; predicted risks       (n,)
values  probabilities (n, K); decision values, (n,) for two classes
k       place of the positive class of a score for two classes
w       weights of the samples, or None                             (n,)
======  ==========================================================  ================
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.numbers import (
    MISSING,
    number,
    percent,
    percent_range,
    points,
    points_range,
)
from veridical._core.sklearn_private import parts_of
from veridical._core.survival_scores import (
    Observed,
    harrell,
    integrated_brier,
    pool_observed,
    time_dependent_auc,
    uno,
    without_features,
)
from veridical._core.targets import (
    TARGET_NAMES,
    Classes,
    Kind,
    Numbers,
    Survival,
    Target,
)
from veridical._core.text import did_you_mean, listed, one_line

Scorer = Callable[[Any, Any, Any], float]

#: What a score needs of an estimator: predictions, probabilities, decision values or
#: else probabilities, probabilities to be without the event at some times, or the
#: fitted model itself.
Needs = Literal["predict", "predict_proba", "ranking", "survival", "model"]
#: Classes that a test set must hold for a score to be defined.
Requires = Literal["none", "all", "positive", "negative"]
Averaging = Literal["pooled", "mean of folds"]

_ZERO_TO_ONE = (0.0, 1.0)
_UNBOUNDED = (-math.inf, math.inf)


class Outputs(NamedTuple):
    """Predictions of the test samples of one split, for every number of features.

    Parameters
    ----------
    codes : array of shape (n_sizes, n_test)
        Predicted classes, as places among the sorted classes of the table; predicted
        numbers; or risks, the greater, the sooner the event is expected.
    proba : array of shape (n_sizes, n_test, n_classes or n_times) or None
        Probabilities of all classes, 0 for one that the training set lacks; for
        survival the probabilities to be without the event at the times of
        `survival_scores.score_times`.
    decision : array of shape (n_sizes, n_test) or (n_sizes, n_test, n_classes) or None
        Decision values; of two classes one number, positive for the second.
    """

    codes: Any
    proba: FloatArray | None = None
    decision: FloatArray | None = None

    def take(self, sizes: Any) -> Outputs:
        """Take some of the sizes."""
        codes, proba, decision = self
        return Outputs(
            codes[sizes],
            None if proba is None else proba[sizes],
            None if decision is None else decision[sizes],
        )

    def at(self, size: int) -> Outputs:
        """Return the predictions at one size, without the axis of sizes."""
        return self.take(size)


def last_step(estimator: Any) -> Any:
    """Return what learns: the last step of a pipeline, the estimator of a search."""
    while True:
        if isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        elif hasattr(estimator, "estimator") and hasattr(estimator, "cv"):
            estimator = estimator.estimator
        else:
            return estimator


def join_outputs(
    parts: Sequence[Outputs], join: Callable[[Any], Any] = np.concatenate
) -> Outputs:
    """Join outputs along their first axis, or along a new one with `join=np.stack`."""
    codes, proba, decision = (
        None if one[0] is None else join(one) for one in zip(*parts, strict=True)
    )
    return Outputs(codes, proba, decision)


def observed_of(
    target: Target, test: Any, train: Any, weights: FloatArray | None = None
) -> Any:
    """Return the true outcome of test samples, as scores take it.

    Parameters
    ----------
    target : Classes, Numbers or Survival
        Of all samples.
    test, train : int arrays
        The rows; times of training samples say how many are not yet censored.
    weights : array of shape (n_samples,), optional
        Of all samples.
    """
    if isinstance(target, Classes):
        return target.codes[test]
    if isinstance(target, Numbers):
        return target.values[test]
    learned, tested = target.take(train), target.take(test)
    if weights is None:
        return Observed(tested, learned)
    return Observed(tested, learned, weights[test], weights[train])


def pool_targets(targets: Sequence[Any]) -> Any:
    """Put the true outcomes of all splits after one another."""
    if isinstance(targets[0], Observed):
        return pool_observed(list(targets))
    return np.concatenate(targets)


# -- what a record says about its score ------------------------------------------------


class _NamedScore:
    """What follows from the name and the direction of a score."""

    name: str
    greater_is_better: bool

    @property
    def is_accuracy(self) -> bool:
        """Whether it is the accuracy."""
        return self.name == "accuracy"

    @property
    def sign(self) -> float:
        """1, or −1 for a loss: a score times this is better if it is greater."""
        return 1.0 if self.greater_is_better else -1.0


@dataclass(frozen=True)
class ScoreInfo(_NamedScore):
    """A score as records carry it: name, unit, direction and averaging.

    Parameters
    ----------
    name : str
        Its key, as ``scoring=`` takes it.
    label : str
        What people call it.
    percent : bool
        Whether it is a share, which is shown in percent.
    greater_is_better : bool
        Whether more is better; False for a loss.
    averaging : {"pooled", "mean of folds"}
        Whether it is computed from the test samples of all splits together, or is the
        mean over splits.
    low, high : float
        The smallest and the largest possible value.
    positive : str or None
        The positive class of a score of two classes, such as sensitivity.
    chance : float or None
        What guessing reaches: always predicting the most frequent class for accuracy,
        predicting the shares of the classes for other scores of classes, the mean or
        the median of numbers, and the same for all samples in survival; None where not
        known.
    """

    name: str = "accuracy"
    label: str = "accuracy"
    percent: bool = True
    greater_is_better: bool = True
    averaging: Averaging = "pooled"
    low: float = 0.0
    high: float = 1.0
    positive: str | None = None
    chance: float | None = None

    @property
    def guessing(self) -> str:
        """What is predicted for every sample where nothing was learned, in words."""
        known = SCORES.get(base_name(self.name))
        kind = known.kind if known is not None else "classes"
        if kind == "numbers":
            center = "median" if self.name == "mean_absolute_error" else "mean"
            return f"the {center} of all samples"
        return "the shares of the classes" if kind == "classes" else "the same risk"

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest possible value."""
        return self.low, self.high

    @property
    def unit(self) -> Literal["percent", "number"]:
        """Unit in tables and figures."""
        return "percent" if self.percent else "number"

    @property
    def full_label(self) -> str:
        """The label, with the positive class where there is one."""
        return (
            self.label if self.positive is None else f"{self.label} ({self.positive})"
        )

    def is_better(self, value: float, other: float) -> bool:
        """Return whether a value is better than another."""
        return self.sign * value > self.sign * other

    def write(self, value: float | None) -> str:
        """Write a value with its unit.

        Examples
        --------
        >>> ScoreInfo().write(0.8274), ScoreInfo("roc_auc", percent=False).write(0.8274)
        ('82.7 %', '0.827')
        """
        if value is None:
            return MISSING
        return percent(value) if self.percent else write_number(value)

    def write_range(self, low: float | None, high: float | None) -> str:
        """Write an interval with its unit."""
        if self.percent:
            return percent_range(low, high)
        if low is None or high is None:
            return MISSING
        return f"{write_number(low)} to {write_number(high)}"

    def write_gap(
        self, value: float | None, *, signed: bool = True, unit: bool = True
    ) -> str:
        """Write a difference: of shares in percentage points, else as a number."""
        if self.percent:
            return points(value, signed=signed, unit=unit)
        return MISSING if value is None else write_number(value, signed=signed)

    def write_gap_range(
        self, low: float | None, high: float | None, *, unit: bool = True
    ) -> str:
        """Write an interval of differences."""
        if self.percent:
            return points_range(low, high, unit=unit)
        if low is None or high is None:
            return MISSING
        low_, high_ = (write_number(one, signed=True) for one in (low, high))
        return f"{low_} to {high_}"


#: The default score.
ACCURACY = ScoreInfo()


def write_number(value: float, *, signed: bool = False) -> str:
    """Write a score that is no share: three decimals, or three figures if large.

    Examples
    --------
    >>> write_number(0.12345), write_number(-0.5, signed=True), write_number(12345.0)
    ('0.123', '−0.500', '12345')
    """
    if not math.isfinite(value):
        return MISSING
    digits = 3 if abs(value) < 100 else 0
    return number(value, digits, signed=signed)


# -- scores of predictions -------------------------------------------------------------


def weighted_mean(values: NDArray[Any], weights: FloatArray | None) -> Any:
    """Compute the mean over the last axis; NaN where all weights are 0."""
    if weights is None:
        return values.mean(axis=-1)
    total = weights.sum()
    sums = values @ weights
    return sums / total if total > 0 else np.full(np.shape(sums), math.nan)[()]


def _counts(codes: IntArray, n_classes: int, w: FloatArray | None) -> FloatArray:
    return np.bincount(codes, weights=w, minlength=n_classes).astype(np.float64)


def _confusion(
    y: IntArray, codes: IntArray, n_classes: int, w: FloatArray | None
) -> FloatArray:
    known = codes >= 0  # a label that no class has is always wrong
    flat = y[known] * n_classes + codes[known]
    counts = _counts(flat, n_classes * n_classes, None if w is None else w[known])
    return counts.reshape(n_classes, n_classes)


def _share(hits: NDArray[np.bool_], w: FloatArray | None) -> float:
    return float(weighted_mean(hits, w)) if hits.size else 0.0


def _weights_at(w: FloatArray | None, rows: NDArray[np.bool_]) -> FloatArray | None:
    return None if w is None else w[rows]


def _accuracy(
    y: IntArray, codes: IntArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    return float(weighted_mean(y == codes, w))


def _balanced_accuracy(
    y: IntArray, codes: IntArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    sizes = _counts(y, n_classes, w)
    hits = y == codes
    right = _counts(y[hits], n_classes, _weights_at(w, hits))
    there = sizes > 0
    return float(np.mean(right[there] / sizes[there]))


def _matthews(
    y: IntArray, codes: IntArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    table = _confusion(y, codes, n_classes, w)
    true, named, n = table.sum(axis=1), table.sum(axis=0), table.sum()
    both = np.trace(table) * n - true @ named
    product = (n * n - named @ named) * (n * n - true @ true)
    return float(both / math.sqrt(product)) if product > 0 else 0.0


def _f1(
    y: IntArray, codes: IntArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    true, named = y == k, codes == k
    if w is None:
        total = float(np.count_nonzero(true) + np.count_nonzero(named))
        both = float(np.count_nonzero(true & named))
    else:
        total, both = true @ w + named @ w, (true & named) @ w
    return 2 * both / total if total else 0.0


def _precision(
    y: IntArray, codes: IntArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    named = codes == k
    return _share(y[named] == k, _weights_at(w, named))


def _sensitivity(
    y: IntArray, codes: IntArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    true = y == k
    return _share(codes[true] == k, _weights_at(w, true))


def _specificity(
    y: IntArray, codes: IntArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    true = y != k
    return _share(codes[true] != k, _weights_at(w, true))


# -- scores of probabilities and decision values ---------------------------------------


def area_under_roc(
    positive: NDArray[np.bool_], values: FloatArray, w: FloatArray | None = None
) -> float:
    """Compute the area under the ROC curve; equal values count one half.

    Parameters
    ----------
    positive : bool array of shape (n,)
        Which samples are of the positive class.
    values : array of shape (n,)
        The greater, the more likely positive.
    w : array of shape (n,), optional
        Weights of the samples.
    """
    if w is None:
        return float(areas_under_roc(positive, values[np.newaxis])[0])
    above, below = values[positive], values[~positive]
    if not above.size or not below.size:
        return math.nan
    return _weighted_area(above, below, w[positive], w[~positive])


#: Up to this many pairs, comparing all of them is faster than sorting.
_FEW_PAIRS = 1000


def areas_under_roc(positive: NDArray[np.bool_], values: FloatArray) -> FloatArray:
    """Compute the area under the ROC curve for every row of values.

    Parameters
    ----------
    positive : bool array of shape (n,)
        Which samples are of the positive class.
    values : array of shape (m, n)
        The greater, the more likely positive.
    """
    above, below = values[:, positive], values[:, ~positive]
    n_pairs = above.shape[1] * below.shape[1]
    if not n_pairs:
        return np.full(len(values), math.nan)
    # Twice the number of pairs in which the positive sample is above, ties once.
    if n_pairs <= _FEW_PAIRS:
        one, other = above[:, :, np.newaxis], below[:, np.newaxis, :]
        doubled = np.count_nonzero(one > other, axis=(1, 2))
        doubled += np.count_nonzero(one >= other, axis=(1, 2))
    else:
        below.sort(axis=1)
        doubled = np.array(
            [
                sum(int(b.searchsorted(a, side).sum()) for side in ("left", "right"))
                for a, b in zip(above, below, strict=True)
            ]
        )
    return doubled / (2 * n_pairs)


def _weighted_area(
    above: FloatArray, below: FloatArray, w_above: FloatArray, w_below: FloatArray
) -> float:
    order = np.argsort(below, kind="stable")
    below, upto = below[order], np.r_[0.0, np.cumsum(w_below[order])]
    doubled = upto[np.searchsorted(below, above, "left")]
    doubled = doubled + upto[np.searchsorted(below, above, "right")]
    total = w_above.sum() * upto[-1]
    return float(w_above @ doubled / (2 * total)) if total > 0 else math.nan


def _for_class(values: FloatArray, k: int) -> FloatArray:
    """Return values that are greater the more likely a class is."""
    if values.ndim == 2:
        return values[:, k]
    return values if k == 1 else -values


def _roc_auc(
    y: IntArray, values: FloatArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    return area_under_roc(y == 1, _for_class(values, 1), w)


def _roc_auc_of_sizes(
    y: IntArray, values: FloatArray, n_classes: int, k: int
) -> FloatArray:
    return areas_under_roc(y == 1, values[..., 1] if values.ndim == 3 else values)


def _roc_auc_ovr(
    y: IntArray, values: FloatArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    if n_classes == 2:
        return _roc_auc(y, values, n_classes, k, w)
    areas = [area_under_roc(y == c, values[:, c], w) for c in range(n_classes)]
    return float(np.mean(areas))


def _roc_auc_ovo(
    y: IntArray, values: FloatArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    if n_classes == 2:
        return _roc_auc(y, values, n_classes, k, w)
    areas = []
    for a, b in combinations(range(n_classes), 2):
        chosen = (y == a) | (y == b)
        first, part = y[chosen] == a, _weights_at(w, chosen)
        both = (
            area_under_roc(first, values[chosen, a], part),
            area_under_roc(~first, values[chosen, b], part),
        )
        areas.append(sum(both) / 2)
    return float(np.mean(areas))


def _average_precision(
    y: IntArray, values: FloatArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    if n_classes > 2:
        parts = [
            _average_precision_of(y == c, values[:, c], w) for c in range(n_classes)
        ]
        return float(np.mean(parts))
    return _average_precision_of(y == k, _for_class(values, k), w)


def _average_precision_of(
    positive: NDArray[np.bool_], values: FloatArray, w: FloatArray | None
) -> float:
    order = np.argsort(-values, kind="stable")
    ranked, there = values[order], positive[order].astype(np.float64)
    ends = np.flatnonzero(np.r_[ranked[1:] != ranked[:-1], True])
    named = (ends + 1).astype(np.float64)
    if w is not None:
        there *= w[order]
        named = np.cumsum(w[order])[ends]
    found = np.cumsum(there)[ends]
    if not found[-1]:
        return 0.0
    gained = np.diff(np.r_[0, found]) / found[-1]
    precision = np.divide(found, named, out=np.zeros_like(found), where=named > 0)
    return float(np.sum(gained * precision))


def _log_loss(
    y: IntArray, values: FloatArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    least = np.finfo(values.dtype).eps  # scikit-learn's limit
    true = values[np.arange(len(y)), y]
    if n_classes == 2:  # as scorers, which see the second class alone
        true = np.where(y == 1, values[:, 1], 1 - values[:, 1])
    return float(-weighted_mean(np.log(np.clip(true, least, 1 - least)), w))


def _brier(
    y: IntArray, values: FloatArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    if n_classes == 2:
        return float(weighted_mean((values[:, 1] - (y == 1)) ** 2, w))
    true = np.zeros_like(values)
    true[np.arange(len(y)), y] = 1.0
    return float(weighted_mean(((values - true) ** 2).sum(axis=1), w))


# -- scores of numbers -----------------------------------------------------------------


def _r2(
    y: FloatArray, predicted: FloatArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    spread = float(weighted_mean((y - weighted_mean(y, w)) ** 2, w))
    if len(y) < 2 or not spread:
        return math.nan
    return 1 - float(weighted_mean((y - predicted) ** 2, w)) / spread


def _mean_squared(
    y: FloatArray, predicted: FloatArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    return float(weighted_mean((y - predicted) ** 2, w))


def _root_mean_squared(
    y: FloatArray, predicted: FloatArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    return math.sqrt(_mean_squared(y, predicted, n_classes, k, w))


def _mean_absolute(
    y: FloatArray, predicted: FloatArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    return float(weighted_mean(np.abs(y - predicted), w))


def _median_absolute(
    y: FloatArray, predicted: FloatArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    return _median(np.abs(y - predicted), w)


def _median(values: FloatArray, w: FloatArray | None) -> float:
    if w is None:
        return float(np.median(values))
    order = np.argsort(values[w > 0], kind="stable")
    values, upto = values[w > 0][order], np.cumsum(w[w > 0][order])
    # The middle of the repeated values; of an even number, between the middle two.
    first = np.searchsorted(upto, upto[-1] / 2, "left")
    second = np.searchsorted(upto, upto[-1] / 2, "right")
    return float((values[first] + values[second]) / 2)


def _pearson(
    y: FloatArray, predicted: FloatArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    if w is not None:
        y, predicted, w = y[w > 0], predicted[w > 0], w[w > 0]
    if len(y) < 2 or not np.ptp(y):
        return math.nan
    if not np.ptp(predicted):
        return 0.0  # the same for all: no relation
    if w is None:
        return float(np.corrcoef(y, predicted)[0, 1])
    both = np.cov(y, predicted, aweights=w, ddof=0)
    return float(both[0, 1] / math.sqrt(both[0, 0] * both[1, 1]))


def _spearman(
    y: FloatArray, predicted: FloatArray, n_classes: int, k: int, w: FloatArray | None
) -> float:
    return _pearson(_ranks(y, w), _ranks(predicted, w), n_classes, k, w)


def _ranks(values: FloatArray, w: FloatArray | None) -> FloatArray:
    """Rank values, equal ones by their mean rank, as if samples were repeated."""
    if w is None:
        return np.asarray(rankdata(values), dtype=np.float64)
    _, place = np.unique(values, return_inverse=True)
    sums = np.bincount(place, w)
    return (np.cumsum(sums) - sums / 2 + 0.5)[place]


# -- scores of survival, whose outcomes hold the weights -------------------------------


def _score_survival(
    compute: Callable[[Observed, FloatArray], float],
    y: Observed,
    predicted: FloatArray,
    n_classes: int,
    k: int,
    w: FloatArray | None,
) -> float:
    return compute(y, predicted)


# -- the table of scores ---------------------------------------------------------------

Chance = Callable[[FloatArray, int], float]
ScoreOfCodes = Callable[[Any, Any, int, int, FloatArray | None], float]
ComputeSizes = Callable[[Any, Any, int, int], FloatArray]
Guess = Callable[[Any, FloatArray | None], float]


@dataclass(frozen=True, eq=False)
class Score(_NamedScore):
    """A score: how it is computed and what it needs; `ScoreInfo` is how it is shown.

    Parameters
    ----------
    name, label : str
        Its key, and what people call it.
    needs : {"predict", "predict_proba", "ranking", "model"}
        What it needs of an estimator. "ranking" is decision values, or probabilities of
        estimators without; "model" is the fitted model.
    low, high : float
        Its range.
    percent, greater_is_better, pooled : bool
        Whether it is a share, more is better, and it is a mean over samples.
    requires : {"none", "all", "positive", "negative"}
        Classes that a test set must hold.
    compute : callable, optional
        ``compute(y, codes or values, n_classes, k, w)``; without it the scorer is
        called.
    compute_sizes : callable, optional
        ``compute_sizes(y, codes or values, n_classes, k)`` for all sizes together,
        without weights; faster than `compute`.
    scorer : callable, optional
        Of scikit-learn, or the user's; defines the value where there is no `compute`.
    two_classes : bool
        Whether it is for two classes only.
    chance : callable, optional
        ``chance(shares, k)`` is what guessing reaches.
    has_positive : bool
        Whether it depends on which class is the positive one.
    positive : object
        The label of the positive class; None is 1 if that is a class, else the last.
    threshold : float, optional
        Least probability at which the positive class is predicted; None leaves the
        decision to the estimator.
    kind : {"classes", "numbers", "survival"} or None
        The kind of target that it is for; None is any.
    guess : callable, optional
        ``guess(target, weights)`` is what guessing reaches on numbers or survival
        times.
    smooth : bool
        Whether a sample more or less changes it by about what this sample adds, as it
        does means, ratios and ranks; False for medians and extremes, for which the
        jackknife is wrong. A scoring function that is not known is taken to be smooth.
    """

    name: str
    label: str
    needs: Needs = "predict"
    low: float = 0.0
    high: float = 1.0
    percent: bool = False
    greater_is_better: bool = True
    pooled: bool = False
    requires: Requires = "none"
    compute: ScoreOfCodes | None = None
    compute_sizes: ComputeSizes | None = None
    scorer: Scorer | None = None
    two_classes: bool = False
    chance: Chance | None = None
    has_positive: bool = False
    positive: Any = None
    threshold: float | None = None
    kind: Kind | None = "classes"
    guess: Guess | None = None
    smooth: bool = True

    def place_of_positive(self, classes: NDArray[Any]) -> int:
        """Return the place of the positive class among the sorted classes."""
        if not len(classes):
            return 0
        wanted = 1 if self.positive is None else self.positive
        places = [i for i, one in enumerate(classes.tolist()) if one == wanted]
        places = places or [
            i for i, one in enumerate(classes.tolist()) if str(one) == str(wanted)
        ]
        if places:
            return places[0]
        if self.positive is not None:
            raise InputError(
                f"positive={self.positive!r} is not a class; the classes are "
                f"{listed(map(str, classes.tolist()))}."
            )
        return len(classes) - 1

    def info(
        self,
        classes: NDArray[Any],
        shares: FloatArray | None = None,
        averaging: Averaging | None = None,
    ) -> ScoreInfo:
        """Describe the score for a record.

        Parameters
        ----------
        classes : array of shape (n_classes,)
            The sorted classes.
        shares : array of shape (n_classes,), optional
            Shares of the classes, for what guessing reaches.
        averaging : {"pooled", "mean of folds"}, optional
            How it was averaged.
        """
        k = self.place_of_positive(classes)
        chance = None
        if shares is not None and self.chance is not None:
            chance = float(self.chance(shares, k))
        # The average precision of more classes is the mean over all of them.
        one_class = self.has_positive and len(classes) == 2
        high = self.high
        if self.name == "brier_score" and len(classes) == 2:
            high = 1.0
        return ScoreInfo(
            name=self.name,
            label=self.label,
            percent=self.percent,
            greater_is_better=self.greater_is_better,
            averaging=averaging or ("pooled" if self.pooled else "mean of folds"),
            low=self.low,
            high=high,
            positive=show_label(classes[k]) if one_class else None,
            chance=chance,
        )

    def info_for(
        self,
        target: Target,
        averaging: Averaging | None = None,
        weights: FloatArray | None = None,
    ) -> ScoreInfo:
        """Describe the score of a target, with what guessing reaches there."""
        if isinstance(target, Classes):
            counts = _counts(target.codes, len(target.classes), weights)
            return self.info(target.classes, counts / counts.sum(), averaging)
        found = self.info(np.empty(0), None, averaging)
        chance = None if self.guess is None else float(self.guess(target, weights))
        return replace(found, chance=chance)

    def response(self, estimator: Any) -> str | None:
        """Return the method of an estimator that it needs beside ``predict``.

        Raises
        ------
        InputError
            If the estimator has no such method, with what to use instead.
        """
        if self.needs in ("predict", "model"):
            return None
        if self.needs == "survival":
            asked: tuple[str, ...] = ("predict_survival_function",)
            estimator = last_step(estimator)  # the others do not pass this method on
        elif self.needs == "ranking":
            asked = ("decision_function", "predict_proba")
        else:
            asked = ("predict_proba",)
        if self.compute is None and self.scorer is not None:
            own = parts_of(self.scorer).response_method
            asked = tuple(own) if isinstance(own, (list, tuple)) else (own,)
            if "predict" in asked:
                return None
        for method in asked:
            if hasattr(estimator, method):
                return method
        raise InputError(_without_arguments(self, estimator, asked))

    def is_defined(self, y: Any, n_classes: int, k: int) -> bool:
        """Return whether a test set holds the classes that the score requires."""
        if self.requires == "none" or not len(y):
            return bool(len(y))
        if self.requires == "positive" and n_classes == 2:
            return bool((y == k).any())
        if self.requires == "negative":
            return bool((y != k).any())
        return np.count_nonzero(np.bincount(y, minlength=n_classes)) == n_classes

    def score_outputs(
        self,
        y: Any,
        outputs: Outputs,
        classes: NDArray[Any],
        response: str | None,
        weights: FloatArray | None = None,
    ) -> Scored:
        """Compute the score of one split at one size; NaN where it is not defined.

        Parameters
        ----------
        y : array or Observed
            The true outcome, see `observed_of`.
        outputs : Outputs
            The predictions at one size.
        classes : array of shape (n_classes,)
            The sorted classes; empty for a target of numbers or survival times.
        response : str or None
            What the estimator was asked for beside ``predict``.
        weights : array of shape (n_test,), optional
            Weights of the samples.
        """
        alone = outputs.take(np.newaxis)
        return self.score_sizes(y, alone, classes, response, weights)[0]

    def score_sizes(
        self,
        y: Any,
        outputs: Outputs,
        classes: NDArray[Any],
        response: str | None,
        weights: FloatArray | None = None,
    ) -> list[Scored]:
        """Compute the score of one split at every size, see `score_outputs`."""
        k, n_classes = self.place_of_positive(classes), len(classes)
        counted = y if weights is None or not n_classes else y[weights > 0]
        n_sizes = len(outputs.codes)
        if not self.is_defined(counted, n_classes, k):
            lacks = Scored(math.nan, "it lacks a class that the score needs")
            return [lacks] * n_sizes
        if self.compute is None:
            return [
                self._by_scorer(y, outputs.at(size), classes, weights)
                for size in range(n_sizes)
            ]
        given = self._given(outputs, response, k)
        if self.compute_sizes is not None and weights is None:
            values = self.compute_sizes(y, given, n_classes, k).tolist()
        else:
            values = [
                float(self.compute(y, one, n_classes, k, weights)) for one in given
            ]
        why = _WHY_UNDEFINED[self.kind]
        return [Scored(one, why if math.isnan(one) else "") for one in values]

    def _by_scorer(
        self,
        y: Any,
        outputs: Outputs,
        classes: NDArray[Any],
        weights: FloatArray | None,
    ) -> Scored:
        assert self.scorer is not None
        X = np.zeros((len(y), 1))
        model: Any = StoredNumbers(outputs)
        truth = y
        if isinstance(y, Observed):
            truth = y.test.labels
        elif len(classes):
            model, truth = StoredClasses(outputs, classes), classes[y]
        found = score(self.scorer, model, X, truth, classes, weights)
        return found._replace(value=self.sign * found.value)

    def _given(self, outputs: Outputs, response: str | None, k: int) -> Any:
        if self.threshold is not None:
            assert outputs.proba is not None
            positive = outputs.proba[..., k] >= self.threshold
            return np.where(positive, k, 1 - k)
        if response is None:
            return outputs.codes
        by_decision = response == "decision_function"
        return outputs.decision if by_decision else outputs.proba


#: Why a score that was computed is not defined.
_WHY_UNDEFINED: dict[Any, str] = {
    "classes": "it lacks a class that the score needs",
    "numbers": "it holds one sample, or one number only",
    "survival": "no two of its samples are known to differ in their time",
    None: "",
}


def _without_arguments(score: Score, estimator: Any, asked: Sequence[str]) -> str:
    who = one_line(getattr(estimator, "estimator", estimator))
    if score.needs == "survival":
        return (
            f"The {score.label} needs survival probabilities, and {who} has none (no "
            "predict_survival_function); use an estimator that has, such as 'cox', or "
            "choose a score of risks, such as concordance."
        )
    if asked == ("predict_proba",):
        return (
            f"The {score.label} needs probabilities, and {who} has none "
            "(no predict_proba); use an estimator that has, such as 'logistic' or "
            "'nb', wrap it as sklearn.calibration.CalibratedClassifierCV(estimator), "
            "or choose a score of classes, such as balanced_accuracy."
        )
    return (
        f"The {score.label} needs decision values or probabilities, and {who} has "
        f"neither (no {' and no '.join(asked)}); use an estimator that has, such as "
        "'svm', 'logistic' or 'nb', wrap it as "
        "sklearn.calibration.CalibratedClassifierCV(estimator), or choose a score of "
        "classes, such as balanced_accuracy."
    )


def show_label(label: Any) -> str:
    """Write a class label as pages do."""
    return str(label.item() if hasattr(label, "item") else label)


def _share_of_majority(shares: FloatArray, k: int) -> float:
    return float(shares.max())


def _one_in_classes(shares: FloatArray, k: int) -> float:
    return 1 / len(shares)


def _half(shares: FloatArray, k: int) -> float:
    return 0.5


def _nothing(shares: FloatArray, k: int) -> float:
    return 0.0


def _prevalence(shares: FloatArray, k: int) -> float:
    return float(shares[k] if len(shares) == 2 else shares.mean())


def _entropy(shares: FloatArray, k: int) -> float:
    there = shares[shares > 0]
    return float(-(there * np.log(there)).sum())


def _gini(shares: FloatArray, k: int) -> float:
    whole = float(1 - (shares**2).sum())
    return whole / 2 if len(shares) == 2 else whole


def _guess_by_mean(compute: ScoreOfCodes) -> Guess:
    """Score the mean of all numbers as the prediction of each."""

    def guess(target: Numbers, w: FloatArray | None) -> float:
        mean = np.full(len(target), weighted_mean(target.values, w))
        return compute(target.values, mean, 0, 0, w)

    return guess


def _guess_by_median(target: Numbers, w: FloatArray | None) -> float:
    median = np.full(len(target), _median(target.values, w))
    return _mean_absolute(target.values, median, 0, 0, w)


def _guess_no_relation(target: Any, w: FloatArray | None) -> float:
    return 0.0


def _guess_no_order(target: Any, w: FloatArray | None) -> float:
    return 0.5


def _guess_without_features(target: Survival, w: FloatArray | None) -> float:
    return without_features(target, w)


_FOR_NUMBERS: dict[str, Any] = {"kind": "numbers"}
_LOSS_OF_NUMBERS: dict[str, Any] = {
    "kind": "numbers", "high": math.inf, "greater_is_better": False,
}  # fmt: skip
_SURVIVAL: dict[str, Any] = {"kind": "survival"}

_OF_TWO: dict[str, Any] = {"two_classes": True, "has_positive": True}

_OWN: tuple[Score, ...] = (
    Score(
        "accuracy", "accuracy", percent=True, pooled=True, compute=_accuracy,
        chance=_share_of_majority,
    ),
    Score(
        "balanced_accuracy", "balanced accuracy", percent=True, requires="all",
        compute=_balanced_accuracy, chance=_one_in_classes,
    ),
    Score(
        "roc_auc", "area under the ROC curve", "ranking", requires="all",
        compute=_roc_auc, compute_sizes=_roc_auc_of_sizes,
        two_classes=True, chance=_half,
    ),
    Score(
        "roc_auc_ovr", "area under the ROC curve, each class against the rest",
        "predict_proba", requires="all", compute=_roc_auc_ovr, chance=_half,
    ),
    Score(
        "roc_auc_ovo", "area under the ROC curve, mean over pairs of classes",
        "predict_proba", requires="all", compute=_roc_auc_ovo, chance=_half,
    ),
    Score(
        "average_precision", "average precision", "ranking", requires="positive",
        compute=_average_precision, has_positive=True, chance=_prevalence,
    ),
    Score(
        "matthews_corrcoef", "Matthews correlation coefficient", low=-1.0,
        requires="all", compute=_matthews, chance=_nothing,
    ),
    Score("f1", "F1 score", requires="positive", compute=_f1, **_OF_TWO),
    Score("precision", "precision", percent=True, compute=_precision, **_OF_TWO),
    Score(
        "recall", "recall (sensitivity)", percent=True, requires="positive",
        compute=_sensitivity, **_OF_TWO,
    ),
    Score(
        "sensitivity", "sensitivity", percent=True, requires="positive",
        compute=_sensitivity, **_OF_TWO,
    ),
    Score(
        "specificity", "specificity", percent=True, requires="negative",
        compute=_specificity, **_OF_TWO,
    ),
    Score(
        "log_loss", "log loss", "predict_proba", high=math.inf,
        greater_is_better=False, pooled=True, compute=_log_loss, chance=_entropy,
    ),
    Score(
        "brier_score", "Brier score", "predict_proba", high=2.0,
        greater_is_better=False, pooled=True, compute=_brier, chance=_gini,
    ),
    Score(
        "r2", "R²", low=-math.inf, compute=_r2,
        guess=_guess_no_relation, **_FOR_NUMBERS,
    ),
    Score(
        "mean_absolute_error", "mean absolute error", pooled=True,
        compute=_mean_absolute, guess=_guess_by_median, **_LOSS_OF_NUMBERS,
    ),
    Score(
        "mean_squared_error", "mean squared error", pooled=True,
        compute=_mean_squared, guess=_guess_by_mean(_mean_squared), **_LOSS_OF_NUMBERS,
    ),
    Score(
        "root_mean_squared_error", "root mean squared error",
        compute=_root_mean_squared, guess=_guess_by_mean(_root_mean_squared),
        **_LOSS_OF_NUMBERS,
    ),
    Score(
        "median_absolute_error", "median absolute error", compute=_median_absolute,
        smooth=False, **_LOSS_OF_NUMBERS,
    ),
    Score(
        "spearman", "Spearman's rank correlation", low=-1.0, compute=_spearman,
        guess=_guess_no_relation, **_FOR_NUMBERS,
    ),
    Score(
        "pearson", "Pearson's correlation", low=-1.0, compute=_pearson,
        guess=_guess_no_relation, **_FOR_NUMBERS,
    ),
    Score(
        "concordance", "concordance (Harrell)", guess=_guess_no_order,
        compute=partial(_score_survival, harrell), **_SURVIVAL,
    ),
    Score(
        "concordance_uno", "concordance (Uno)", guess=_guess_no_order,
        compute=partial(_score_survival, uno), **_SURVIVAL,
    ),
    Score(
        "time_dependent_auc", "time-dependent area under the ROC curve",
        compute=partial(_score_survival, time_dependent_auc), guess=_guess_no_order,
        **_SURVIVAL,
    ),
    Score(
        "integrated_brier_score", "integrated Brier score", "survival", high=math.inf,
        greater_is_better=False, compute=partial(_score_survival, integrated_brier),
        guess=_guess_without_features, **_SURVIVAL,
    ),
)  # fmt: skip

#: The scores that are computed here, by name.
SCORES: dict[str, Score] = {one.name: one for one in _OWN}

#: Other names of scores.
ALIASES = {
    "auc": "roc_auc",
    "brier": "brier_score",
    "mcc": "matthews_corrcoef",
    "neg_brier_score": "brier_score",
    "neg_log_loss": "log_loss",
    "mae": "mean_absolute_error",
    "mse": "mean_squared_error",
    "rmse": "root_mean_squared_error",
    "neg_mean_absolute_error": "mean_absolute_error",
    "neg_mean_squared_error": "mean_squared_error",
    "neg_root_mean_squared_error": "root_mean_squared_error",
    "neg_median_absolute_error": "median_absolute_error",
    "c_index": "concordance",
    "harrell": "concordance",
    "uno": "concordance_uno",
    "ibs": "integrated_brier_score",
}

#: The default score of every kind of target.
DEFAULTS: dict[Kind, str] = {
    "classes": "accuracy",
    "numbers": "r2",
    "survival": "concordance",
}

#: Scorers of scikit-learn for numbers that are not computed here.
_OTHER_NUMBERS = (
    "d2_absolute_error_score",
    "explained_variance",
    "max_error",
    "mean_absolute_percentage_error",
    "mean_gamma_deviance",
    "mean_poisson_deviance",
    "mean_squared_log_error",
    "root_mean_squared_log_error",
)

#: Other scorers of scikit-learn, as people call them.
_LABELS = {
    "d2_brier_score": "D² (Brier score)",
    "d2_log_loss_score": "D² (log loss)",
    "f1_macro": "F1 score, macro-averaged over classes",
    "f1_micro": "F1 score, micro-averaged",
    "f1_samples": "F1 score, averaged over samples",
    "f1_weighted": "F1 score, weighted by class size",
    "jaccard": "Jaccard index",
    "jaccard_macro": "Jaccard index, macro-averaged over classes",
    "jaccard_micro": "Jaccard index, micro-averaged",
    "jaccard_weighted": "Jaccard index, weighted by class size",
    "negative_likelihood_ratio": "negative likelihood ratio",
    "positive_likelihood_ratio": "positive likelihood ratio",
    "precision_macro": "precision, macro-averaged over classes",
    "precision_micro": "precision, micro-averaged",
    "precision_weighted": "precision, weighted by class size",
    "recall_macro": "recall, macro-averaged over classes",
    "recall_micro": "recall, micro-averaged",
    "recall_weighted": "recall, weighted by class size",
    "roc_auc_ovo_weighted": "area under the ROC curve, weighted over pairs of classes",
    "roc_auc_ovr_weighted": "area under the ROC curve, each class against the rest, "
    "weighted by class size",
    "top_k_accuracy": "top-k accuracy",
}

#: Names of scores, as people call them; reports use these names.
SCORERS: dict[str, str] = {one.name: one.label for one in _OWN} | _LABELS

#: Scoring functions of scikit-learn that are medians or extremes.
_NOT_SMOOTH = (metrics.max_error, metrics.median_absolute_error)

#: Least and greatest value of scikit-learn's scoring functions.
_RANGES = {
    metrics.accuracy_score: _ZERO_TO_ONE,
    metrics.average_precision_score: _ZERO_TO_ONE,
    metrics.balanced_accuracy_score: _ZERO_TO_ONE,
    metrics.brier_score_loss: (0.0, 2.0),  # of two classes it is half of that
    metrics.class_likelihood_ratios: (0.0, math.inf),
    metrics.cohen_kappa_score: (-1.0, 1.0),
    metrics.d2_log_loss_score: (-math.inf, 1.0),
    metrics.f1_score: _ZERO_TO_ONE,
    metrics.fbeta_score: _ZERO_TO_ONE,
    metrics.hamming_loss: _ZERO_TO_ONE,
    metrics.jaccard_score: _ZERO_TO_ONE,
    metrics.log_loss: (0.0, math.inf),
    metrics.matthews_corrcoef: (-1.0, 1.0),
    metrics.precision_score: _ZERO_TO_ONE,
    metrics.recall_score: _ZERO_TO_ONE,
    metrics.roc_auc_score: _ZERO_TO_ONE,
    metrics.top_k_accuracy_score: _ZERO_TO_ONE,
    metrics.zero_one_loss: _ZERO_TO_ONE,
    metrics.d2_absolute_error_score: (-math.inf, 1.0),
    metrics.explained_variance_score: (-math.inf, 1.0),
    metrics.max_error: (0.0, math.inf),
    metrics.mean_absolute_error: (0.0, math.inf),
    metrics.mean_absolute_percentage_error: (0.0, math.inf),
    metrics.mean_gamma_deviance: (0.0, math.inf),
    metrics.mean_poisson_deviance: (0.0, math.inf),
    metrics.mean_squared_error: (0.0, math.inf),
    metrics.mean_squared_log_error: (0.0, math.inf),
    metrics.median_absolute_error: (0.0, math.inf),
    metrics.r2_score: (-math.inf, 1.0),
    metrics.root_mean_squared_error: (0.0, math.inf),
    metrics.root_mean_squared_log_error: (0.0, math.inf),
}


# -- from what the user passed ---------------------------------------------------------


def read_scoring(scoring: Any, target: Target | None) -> tuple[Score, ...]:
    """Read ``scoring=``: one score or several, of which the first leads.

    Parameters
    ----------
    scoring : str, callable, Score, list or mapping of these, or None
        None is accuracy for classes, R² for numbers, and Harrell's concordance for
        survival times. Keys of a mapping are names of the scores.
    target : Classes, Numbers or Survival, or None
        The target of the data; None where it is not known yet.

    Raises
    ------
    InputError
        If there is no such score, it is for another kind of target or not for so many
        classes, or a name is used twice.
    """
    if scoring is None and target is not None:
        scoring = DEFAULTS[target.kind]
    if isinstance(scoring, Mapping):
        read = [
            replace(_read_one(one), name=str(name), label=_label_of(name, one))
            for name, one in scoring.items()
        ]
    elif isinstance(scoring, (list, tuple, set)):
        read = [_read_one(one) for one in scoring]
    else:
        read = [_read_one(scoring)]
    if not read:
        raise InputError("scoring is empty; pass a score, or None for the default.")
    names = [one.name for one in read]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(
            f"scoring holds {twice[0]!r} twice; give scores different names by a "
            "mapping of names to scorers."
        )
    if target is not None:
        for one in read:
            _check_kind(one, target)
            if isinstance(target, Classes):
                _check_classes(one, target.classes)
    return tuple(read)


def _check_kind(score: Score, target: Target) -> None:
    """Raise if a score is for another kind of target."""
    if score.kind in (None, target.kind):
        return
    able = [one.name for one in SCORES.values() if one.kind == target.kind]
    raise InputError(
        f"The {score.label} is a score of {TARGET_NAMES[score.kind or 'classes']}, but "
        f"the target is {TARGET_NAMES[target.kind]}; use {', '.join(able[:-1])} or "
        f"{able[-1]}."
    )


def _label_of(name: Any, given: Any) -> str:
    """Return the label of a score in a mapping: its own where it keeps its name."""
    own = _read_one(given)
    return own.label if str(name) in (own.name, given) else str(name)


def make_score(
    name: str, *, threshold: float | None = None, positive: Any = None
) -> Score:
    """Make a score with a threshold or a positive class, for ``scoring=``.

    Parameters
    ----------
    name : str
        Name of a score, such as "sensitivity".
    threshold : float, optional
        Least probability at which the positive class is predicted, for "sensitivity",
        "specificity", "recall", "precision" and "f1". The text "sensitivity@0.3" means
        the same. By default the estimator decides.
    positive : object, optional
        Label of the positive class; by default 1 if that is a class, as in
        scikit-learn, else the last of the sorted labels. The text
        "sensitivity:relapse" means the same, also before a threshold.

    Returns
    -------
    Score
        What ``scoring=`` takes.

    Examples
    --------
    >>> from veridical.evaluation import make_score
    >>> make_score("sensitivity", threshold=0.2, positive="relapse").label
    'sensitivity at threshold 0.2'
    """
    found = _read_one(name)
    if positive is not None:
        if not found.has_positive:
            raise InputError(
                f"The score {name!r} does not depend on which class is positive."
            )
        found = replace(found, positive=positive)
    if threshold is None:
        return found
    if not (found.has_positive and found.two_classes):
        thresholded = [n for n, s in SCORES.items() if s.has_positive and s.two_classes]
        raise InputError(
            f"The score {name!r} has no threshold; {listed(thresholded)} have one."
        )
    if not 0 < threshold < 1:
        raise InputError(
            f"threshold={threshold!r} must be a probability between 0 and 1."
        )
    return replace(
        found,
        name=f"{found.name}@{threshold:g}",
        label=f"{found.label} at threshold {threshold:g}",
        needs="predict_proba",
        threshold=float(threshold),
    )


def _read_one(scoring: Any) -> Score:
    if scoring is None:
        return SCORES["accuracy"]
    if isinstance(scoring, Score):
        return scoring
    if isinstance(scoring, str):
        return _read_name(scoring)
    if not callable(scoring):
        raise InputError(
            f"scoring={scoring!r} must be the name of a scorer, a callable "
            "scorer(estimator, X, y), a list or mapping of these, or None for accuracy."
        )
    name = getattr(scoring, "__name__", None) or " ".join(repr(scoring).split())
    return _from_scorer(str(name), str(name), scoring)


def base_name(name: str) -> str:
    """Return a name without its positive class and its threshold.

    Examples
    --------
    >>> base_name("sensitivity:relapse@0.2")
    'sensitivity'
    """
    return name.partition("@")[0].partition(":")[0]


def _read_name(name: str) -> Score:
    plain, at, threshold = name.partition("@")
    base, colon, positive = plain.partition(":")
    if at or colon:
        try:
            limit = float(threshold) if at else None
        except ValueError as error:
            raise InputError(
                f"scoring={name!r}: write a probability after @, as in "
                "'sensitivity@0.3'."
            ) from error
        found = make_score(base, threshold=limit, positive=positive if colon else None)
        return replace(found, name=name) if colon else found
    key = ALIASES.get(name, name)
    if key in SCORES:
        return SCORES[key]
    for known in (name, f"neg_{name}"):
        try:
            scorer = metrics.get_scorer(known)
        except ValueError:
            continue
        shown = known.removeprefix("neg_")
        kind: Kind = "numbers" if shown in _OTHER_NUMBERS else "classes"
        label = SCORERS.get(shown, shown.replace("_", " "))
        return _from_scorer(shown, label, scorer, kind)
    names = [*SCORES, *ALIASES, *metrics.get_scorer_names()]
    raise InputError(
        f"scoring={name!r} is not a scorer{did_you_mean(name, names)} Use "
        f"{listed(SCORES)}, another of sklearn.metrics.get_scorer_names(), or a "
        "callable scorer(estimator, X, y)."
    )


def _from_scorer(name: str, label: str, scorer: Any, kind: Kind | None = None) -> Score:
    function, _, response, greater = parts_of(scorer)
    low, high = range_of(scorer)
    low, high = (low, high) if greater else (-high, -low)
    needs: Needs = "predict"
    if function is None:
        needs = "model"
    elif response not in ("predict", "default"):
        needs = "predict_proba" if response == "predict_proba" else "ranking"
    return Score(
        name,
        label,
        needs,
        low,
        high,
        greater_is_better=greater,
        scorer=scorer,
        kind=kind,
        smooth=function not in _NOT_SMOOTH,
    )


def info_by_name(name: str, score_range: tuple[float, float]) -> ScoreInfo:
    """Describe a score of which only the name and the range are known."""
    low, high = score_range
    known = SCORES.get(base_name(name))
    if known is None:
        return ScoreInfo(
            name, SCORERS.get(name, name), False, True, "mean of folds", low, high
        )
    return ScoreInfo(
        name,
        known.label,
        known.percent,
        known.greater_is_better,
        "pooled" if known.pooled else "mean of folds",
        low,
        high,
    )


def _check_classes(score: Score, classes: NDArray[Any]) -> None:
    """Raise if a score is not for this many classes."""
    if score.two_classes and len(classes) > 2:
        instead = {
            "roc_auc": "roc_auc_ovr or roc_auc_ovo",
            "f1": "f1_macro",
            "precision": "precision_macro",
        }.get(base_name(score.name), "balanced_accuracy or recall_macro")
        raise InputError(
            f"The {score.label} is for two classes, but there are {len(classes)}; use "
            f"{instead}, or make a scorer with sklearn.metrics.make_scorer (which "
            "takes pos_label, average, multi_class and the like)."
        )
    score.place_of_positive(classes)


def range_of(scorer: Scorer | None) -> tuple[float, float]:
    """Return the least and the greatest value of a scorer; infinite if not known."""
    if scorer is None:
        return _ZERO_TO_ONE
    function, options, _, greater_is_better = parts_of(scorer)
    low, high = _UNBOUNDED if function is None else _RANGES.get(function, _UNBOUNDED)
    if options.get("adjusted"):  # chance is 0, and below it is possible
        low = -1.0
    if options.get("normalize", True) is not True:  # a count
        high = math.inf
    return (low, high) if greater_is_better else (-high, -low)


class Scored(NamedTuple):
    """The score of a split; NaN with the reason if it is undefined.

    Warnings are collected, so that each is given once and not for every split.
    """

    value: float
    reason: str = ""
    warned: tuple[tuple[type[Warning], str], ...] = ()


def score(
    scorer: Scorer,
    model: Any,
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any],
    weights: FloatArray | None = None,
) -> Scored:
    """Score a fitted model on a test set.

    Parameters
    ----------
    scorer : callable
        ``scorer(model, X, y)``.
    model : classifier
        Fitted, perhaps on fewer classes.
    X, y : array-like
        The test samples and their labels; classes may be absent here too.
    classes : array of shape (n_classes,)
        All classes of the data, sorted.
    weights : array of shape (n_samples,), optional
        Weights of the test samples.

    Returns
    -------
    Scored
        NaN where a test set that lacks classes has no such score.

    Raises
    ------
    InputError
        If the scorer raises for a test set with all classes.
    """
    known = getattr(model, "classes_", classes)
    if len(known) < len(classes):
        model = AllClasses(model, classes)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            value = float(_call(_with_labels(scorer, classes), model, X, y, weights))
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        if len(np.unique(y)) < len(classes):
            return Scored(math.nan, _sentence(error))
        raise InputError(
            f"The score cannot be computed: {_sentence(error)}. Choose another "
            "scoring, or make one with sklearn.metrics.make_scorer (which takes "
            "pos_label, average, multi_class and the like)."
        ) from error
    # Undefined scores are reported in a note.
    said = {
        (w.category, str(w.message)): None
        for w in caught
        if not (math.isnan(value) and w.category is UndefinedMetricWarning)
    }
    return Scored(value, warned=tuple(said))


def _call(
    scorer: Any, model: Any, X: Any, y: NDArray[Any], weights: FloatArray | None
) -> float:
    """Call a scorer, with weights where there are any."""
    if weights is None:
        return float(scorer(model, X, y))
    function = parts_of(scorer).function
    taken = inspect.signature(scorer if function is None else function).parameters
    if "sample_weight" not in taken:
        name = getattr(scorer, "__name__", None) or one_line(scorer)
        raise InputError(
            f"The scorer {name} takes no sample_weight; use a score of scikit-learn "
            "that does, or leave sample_weight out."
        )
    return float(scorer(model, X, y, sample_weight=weights))


def _with_labels(scorer: Scorer, classes: NDArray[Any]) -> Scorer:
    """Pass all classes to a scorer of probabilities that takes `labels`."""
    function, options, response, greater_is_better = parts_of(scorer)
    if function is None or response == "predict" or "labels" in options:
        return scorer
    if "labels" not in inspect.signature(function).parameters:
        return scorer
    if function is metrics.roc_auc_score and len(classes) < 3:
        return scorer  # for two classes it takes no labels
    return metrics.make_scorer(
        function,
        response_method=response,
        greater_is_better=greater_is_better,
        labels=classes,
        **options,
    )


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


# -- a classifier with known answers, and one fitted on fewer classes ------------------


class StoredClasses(ClassifierMixin, BaseEstimator):
    """A classifier that returns predictions made before, whatever X is.

    Scorers of scikit-learn are called with it, so that their values need no fit.

    Parameters
    ----------
    outputs : Outputs
        The predictions of some samples, at one size.
    classes : array of shape (n_classes,)
        All classes, sorted.
    """

    def __init__(self, outputs: Outputs, classes: NDArray[Any]) -> None:
        self.outputs = outputs
        self.classes = classes

    @property
    def classes_(self) -> NDArray[Any]:
        """All classes."""
        return self.classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted classes."""
        return self.classes[self.outputs.codes]

    @available_if(lambda self: self.outputs.proba is not None)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities."""
        return np.asarray(self.outputs.proba)

    @available_if(lambda self: self.outputs.decision is not None)
    def decision_function(self, X: Any) -> FloatArray:
        """Return the decision values."""
        return np.asarray(self.outputs.decision)


class StoredNumbers(RegressorMixin, BaseEstimator):
    """A regressor that returns predictions made before, whatever X is.

    Parameters
    ----------
    outputs : Outputs
        The predictions of some samples, at one size.
    """

    def __init__(self, outputs: Outputs) -> None:
        self.outputs = outputs

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> FloatArray:
        """Return the predicted numbers or risks."""
        return np.asarray(self.outputs.codes)


def _model_has(name: str) -> Callable[[Any], bool]:
    return lambda self: hasattr(self.model, name)


class AllClasses(ClassifierMixin, BaseEstimator):
    """A fitted classifier, extended by classes that its training set lacked.

    Parameters
    ----------
    model : classifier
        Fitted on some of the classes.
    classes : array of shape (n_classes,)
        All of them, sorted.
    """

    def __init__(self, model: Any, classes: NDArray[Any]) -> None:
        self.model = model
        self.classes = classes

    @property
    def classes_(self) -> NDArray[Any]:
        """All classes, also those absent from the training set."""
        return self.classes

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict classes of the training set."""
        return np.asarray(self.model.predict(X))

    @available_if(_model_has("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities; 0 for a class absent from the training set."""
        return self._add_classes(np.asarray(self.model.predict_proba(X)), 0.0)

    @available_if(_model_has("decision_function"))
    def decision_function(self, X: Any) -> FloatArray:
        """Return decision values; the lowest for absent classes."""
        values = np.asarray(self.model.decision_function(X))
        if values.ndim == 1:  # of two classes: for the second, against the first
            values = np.column_stack([-values, values])
        return self._add_classes(values, float(values.min()) - 1.0)

    def _add_classes(self, values: FloatArray, fill: float) -> FloatArray:
        result = np.full((len(values), len(self.classes)), fill)
        places = np.searchsorted(self.classes, self.model.classes_)
        result[:, places] = values
        return result

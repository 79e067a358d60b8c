"""Scores of risks and survival probabilities on censored times.

======  ===============================================================  =============
symbol  meaning                                                          shape
======  ===============================================================  =============
time    time until the event, or until the last observation              (n,)
event   whether the event was seen                                       (n,)
risk    the greater, the sooner the event is expected                    (n,)
S       predicted probability to be without the event at some times      (n, n_times)
G       Kaplan-Meier estimate of being not yet censored, from a training
        set; a sample whose event was seen at t counts 1 / G(t)
======  ===============================================================  =============

Where the training set says nothing about censoring (G = 0, after its last time), a
sample has no weight. A sample that counts 3 is worth three equal samples everywhere: in
G, in pairs, in means and in the times at which scores look.

References
----------
.. [1] F. E. Harrell, K. L. Lee & D. B. Mark, "Multivariable prognostic models",
   Statistics in Medicine 15 (1996).
.. [2] H. Uno, T. Cai, M. J. Pencina, R. B. D'Agostino & L. J. Wei, "On the C-statistics
   for evaluating overall adequacy of risk prediction procedures with censored survival
   data", Statistics in Medicine 30 (2011).
.. [3] E. Graf, C. Schmoor, W. Sauerbrei & M. Schumacher, "Assessment and comparison of
   prognostic classification schemes for survival data", Statistics in Medicine 18
   (1999).
.. [4] H. Hung & C. T. Chiang, "Estimation methods for time-dependent AUC models with
   survival data", Canadian Journal of Statistics 38 (2010).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import BoolArray, FloatArray
from veridical._core.targets import Survival

#: Shares of the events of a training set between which scores look at times.
_EARLIEST, _LATEST, _N_TIMES = 0.1, 0.9, 25
#: Pairs of samples compared at a time; bounds the memory.
_PAIRS = 1 << 22


@dataclass(frozen=True, eq=False)
class Steps:
    """A function that is constant between some times, and 1 before the first.

    Parameters
    ----------
    times : float array
        Ascending.
    values : float array
        Value from each of the times on.
    """

    times: FloatArray
    values: FloatArray

    def __call__(self, at: FloatArray) -> FloatArray:
        place = np.searchsorted(self.times, at, side="right")
        return np.append(1.0, self.values)[place]


def kaplan_meier(
    time: FloatArray,
    event: BoolArray,
    counts: FloatArray | None = None,
    *,
    of_censoring: bool = False,
) -> Steps:
    """Estimate the share of samples without the event over time.

    Parameters
    ----------
    time, event : array of shape (n,)
        The sample.
    counts : array of shape (n,), optional
        What each sample counts, by default 1.
    of_censoring : bool, default=False
        Whether to estimate the share not yet censored instead. A sample with an event
        can no longer be censored at the same time.

    Returns
    -------
    Steps
        The estimate.

    Examples
    --------
    >>> time = np.array([1.0, 2.0, 2.0, 3.0])
    >>> event = np.array([True, True, False, True])
    >>> kaplan_meier(time, event)(np.array([0.5, 1.0, 2.5, 3.0])).tolist()
    [1.0, 0.75, 0.5, 0.0]
    >>> kaplan_meier(time, event, of_censoring=True)(time).tolist()
    [1.0, 0.5, 0.5, 0.5]
    """
    times, place = np.unique(time, return_inverse=True)
    counts = np.ones(len(time)) if counts is None else counts
    n_events = np.bincount(place, weights=event * counts, minlength=times.size)
    n_here = np.bincount(place, weights=counts, minlength=times.size)
    at_risk = counts.sum() - np.append(0, np.cumsum(n_here)[:-1])
    lost = n_events
    if of_censoring:
        lost, at_risk = n_here - n_events, at_risk - n_events
    with np.errstate(invalid="ignore", divide="ignore"):
        share: FloatArray = np.where(at_risk > 0, 1 - lost / at_risk, 1.0)
    return Steps(times, np.cumprod(share, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class Observed:
    """The outcome of test samples, with what scores need of the training samples.

    Parameters
    ----------
    test, train : Survival
        The outcomes.
    counts, train_counts : float array, optional
        What each test and training sample counts (its sample weight), by default 1.
    """

    test: Survival
    train: Survival
    counts: FloatArray | None = None
    train_counts: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.test)

    @cached_property
    def not_censored(self) -> Steps:
        """The share of training samples that are not yet censored, over time."""
        return kaplan_meier(
            self.train.time, self.train.event, self.train_counts, of_censoring=True
        )

    @cached_property
    def weights(self) -> FloatArray:
        """Weight for censoring: 1 / G(t) of an event, 0 where censored."""
        share = self.not_censored(self.test.time)
        known = self.test.event & (share > 0) & (self.test.time <= self._last)
        return np.where(known, 1 / np.where(share > 0, share, 1.0), 0.0)

    @property
    def _last(self) -> float:
        counts = self.train_counts
        return float(
            (self.train.time if counts is None else self.train.time[counts > 0]).max()
        )

    @cached_property
    def times(self) -> FloatArray:
        """Times at which probabilities are scored, see `score_times`."""
        return score_times(self.train, self.train_counts)


def score_times(train: Survival, counts: FloatArray | None = None) -> FloatArray:
    """Return the times at which scores look: between the early and the late events.

    They are 25 times, equally far apart, from the first time by which 10 % of the
    events of a training set were seen, to the first by which 90 % were.

    Examples
    --------
    >>> train = Survival(np.arange(1.0, 21.0), np.ones(20, dtype=bool))
    >>> score_times(train)[[0, -1]].tolist()
    [2.0, 18.0]
    >>> score_times(train, np.arange(20.0) < 10)[[0, -1]].tolist()
    [1.0, 9.0]
    """
    counts = np.ones(len(train)) if counts is None else counts.astype(np.float64)
    used = train.event & (counts > 0)
    if not used.any():
        used = counts > 0
    order = np.flatnonzero(used)[np.argsort(train.time[used], kind="stable")]
    seen = np.cumsum(counts[order])
    wanted = seen[-1] * np.array([_EARLIEST, _LATEST]) * (1 - 1e-12)  # up to rounding
    low, high = train.time[order][np.searchsorted(seen, wanted)]
    return np.linspace(low, high, _N_TIMES) if high > low else np.array([low])


def concordance(
    test: Survival,
    risk: FloatArray,
    weights: FloatArray | None = None,
    counts: FloatArray | None = None,
) -> float:
    """Compute the share of comparable pairs whose risks are in the right order.

    Two samples are comparable if the event of one was seen while the other was still
    observed. Equal risks count one half; two events at one time are not comparable.

    Parameters
    ----------
    test : Survival
        The outcomes.
    risk : array of shape (n,)
        The greater, the sooner the event is expected.
    weights : array of shape (n,), optional
        Weight of a pair by the sample with the event; 1 by default, which is Harrell's
        concordance.
    counts : array of shape (n,), optional
        What each sample counts, by default 1; a pair counts the product.

    Returns
    -------
    float
        NaN without a comparable pair.
    """
    time, event = test.time, test.event
    counts = np.ones(len(time)) if counts is None else counts
    right = total = 0.0
    cases = np.flatnonzero(event)
    step = max(1, _PAIRS // max(len(time), 1))
    for start in range(0, len(cases), step):
        some = cases[start : start + step, None]
        comparable = (time > time[some]) | ((time == time[some]) & ~event)
        higher = comparable & (risk < risk[some])
        tied = comparable & (risk == risk[some])
        weight = counts[some[:, 0]]
        if weights is not None:
            weight = weight * weights[some[:, 0]]
        right += float(weight @ (higher @ counts + 0.5 * (tied @ counts)))
        total += float(weight @ (comparable @ counts))
    return right / total if total > 0 else math.nan


def harrell(y: Observed, risk: FloatArray) -> float:
    """Compute Harrell's concordance."""
    return concordance(y.test, risk, counts=y.counts)


def uno(y: Observed, risk: FloatArray) -> float:
    """Compute Uno's concordance: pairs count by the squared weight of the event."""
    return concordance(y.test, risk, y.weights**2, y.counts)


def brier_scores(y: Observed, S: FloatArray, times: FloatArray) -> FloatArray:
    """Compute the Brier score at every time, weighted for censoring.

    Parameters
    ----------
    y : Observed
        The outcomes.
    S : array of shape (n, n_times)
        Predicted probabilities to be without the event.
    times : array of shape (n_times,)
        The times.
    """
    time = y.test.time[:, None]
    share = y.not_censored(times)
    still = np.where(share > 0, 1 / np.where(share > 0, share, 1.0), 0.0)
    died = y.weights[:, None] * (time <= times) * S**2
    alive = (time > times) * still * (1 - S) ** 2
    return np.asarray(np.average(died + alive, axis=0, weights=y.counts))


def integrated_brier(
    y: Observed, S: FloatArray, times: FloatArray | None = None
) -> float:
    """Compute the mean of the Brier score over the times, by the trapezoidal rule."""
    times = y.times if times is None else times
    found = brier_scores(y, S, times)
    if len(times) == 1:
        return float(found[0])
    return float(np.trapezoid(found, times) / (times[-1] - times[0]))


def time_dependent_auc(
    y: Observed, risk: FloatArray, times: FloatArray | None = None
) -> float:
    """Compute the mean over times of the AUC of who had the event by then.

    Cases are the samples whose event was seen by a time, weighted for censoring;
    controls those observed beyond it. The mean is weighted by the share of events
    between the times. A time without cases or controls is left out.
    """
    times = y.times if times is None else times
    areas = np.array([_auc_at(y, risk, t) for t in times])
    alive = kaplan_meier(y.test.time, y.test.event, y.counts)(times)
    weight = -np.diff(np.append(1.0, alive))
    known = ~np.isnan(areas)
    if not weight[known].sum() > 0:
        return math.nan
    return float(areas[known] @ weight[known] / weight[known].sum())


def _auc_at(y: Observed, risk: FloatArray, t: float) -> float:
    counts = np.ones(len(y)) if y.counts is None else y.counts
    controls = np.flatnonzero(y.test.time > t)
    controls = controls[np.argsort(risk[controls], kind="stable")]
    cases = (y.test.time <= t) & (y.weights > 0)
    weight = y.weights[cases] * counts[cases]
    passed = np.append(0.0, np.cumsum(counts[controls]))
    if not passed[-1] > 0 or not weight.sum() > 0:
        return math.nan
    below = np.searchsorted(risk[controls], risk[cases], "left")
    below_or_tied = np.searchsorted(risk[controls], risk[cases], "right")
    above = weight @ (passed[below] + passed[below_or_tied]) / 2
    return float(above / (weight.sum() * passed[-1]))


def without_features(target: Survival, counts: FloatArray | None = None) -> float:
    """Return the integrated Brier score of the Kaplan-Meier estimate of all samples."""
    y = Observed(target, target, counts, counts)
    S = kaplan_meier(target.time, target.event, counts)(y.times)
    return integrated_brier(y, np.broadcast_to(S, (len(y), len(y.times))))


def pool_observed(parts: list[Observed]) -> Observed:
    """Put the test samples of several splits after one another.

    All of them together also stand for the training samples.
    """
    labels: NDArray[np.void] = np.concatenate([one.test.labels for one in parts])
    whole = Survival(labels["time"], labels["event"])
    found = [one.counts for one in parts if one.counts is not None]
    counts = np.concatenate(found) if found else None
    return Observed(whole, whole, counts, counts)

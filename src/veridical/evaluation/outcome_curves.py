"""Pictures of predictions as data: observed against predicted, and over time.

- Numbers: test samples in tenths by their prediction; the mean of what was predicted
  and the mean of what was observed, with its 95 % interval.
- Survival times: Kaplan-Meier curves of the samples with the lower and with the higher
  predicted risk, as steps. Samples are divided inside each test set, by the median of
  its risks, because risks of different models cannot be compared.
- Survival probabilities, where a score asked for them: quarters of the test samples by
  the predicted probability to be without the event at a time, and the Kaplan-Meier
  estimate of each quarter at that time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from veridical._core.arrays import BoolArray, FloatArray, IntArray
from veridical._core.records import Curve, Interval
from veridical._core.splits import Split
from veridical._core.survival_scores import Observed, kaplan_meier
from veridical._core.table import Table
from veridical.kernels.statistics import NORMAL_95

if TYPE_CHECKING:
    from veridical.evaluation.engine import Evaluation

#: Tenths of the samples by prediction, quarters by probability.
_N_BINS, _N_QUARTERS = 10, 4
#: Largest number of named times after 0, and steps of a curve between two of them.
_N_TIMES, _N_BETWEEN = 10, 10
#: Samples; with fewer in a bin there are fewer bins.
_FEWEST_IN_BIN = 5


class OutcomeCurves(NamedTuple):
    """Curves over some places, for a figure.

    Parameters
    ----------
    title, unit, axis : str
        What is drawn, its unit, and what the places are.
    places : tuple of str
        Names of the places; empty between the marks of an axis of times.
    curves : tuple of Curve
        Values with 95 % intervals at the places.
    steps : bool, default=False
        Whether a value holds until the next place, as on a Kaplan-Meier curve.
    """

    title: str
    unit: str
    axis: str
    places: tuple[str, ...]
    curves: tuple[Curve, ...]
    steps: bool = False


def outcome_curves(
    found: Evaluation, splits: Sequence[Split], table: Table
) -> tuple[OutcomeCurves, ...]:
    """Describe the predictions of test samples, for numbers and survival times.

    Parameters
    ----------
    found : Evaluation
        Predictions on every split; the largest size is taken.
    splits : sequence of Split
        Their test rows.
    table : Table
        The samples.

    Returns
    -------
    tuple of OutcomeCurves
        Nothing for classes, nor where too few samples were tested.
    """
    predicted = [values[-1] for values in found.predictions]
    if table.kind == "classes" or not predicted:
        return ()
    tested = np.concatenate([split.test for split in splits])
    repeated = len(np.unique(tested)) < len(tested)
    if table.kind == "numbers":
        units, noun = (tested, "samples") if repeated else (None, "")
        if table.groups is not None:
            units, noun = table.groups[tested], "groups"
        drawn = _observed_and_predicted(
            np.concatenate(found.targets), np.concatenate(predicted), units, noun
        )
    else:
        drawn = _risk_groups(found.targets, predicted)
        if found.outputs and found.outputs[0].proba is not None:
            drawn += _calibration(found.targets, [one.proba for one in found.outputs])
    said = ""
    if table.weights is not None:
        said = ", without the weights of samples"
    if table.kind == "survival" and (table.groups is not None or repeated):
        noun = "predictions" if repeated else "samples"
        said += f", as if {noun} were independent"
    return tuple(one._replace(title=one.title + said) for one in drawn)


def _observed_and_predicted(
    observed: FloatArray, predicted: FloatArray, units: IntArray | None, noun: str
) -> tuple[OutcomeCurves, ...]:
    n_bins = min(_N_BINS, len(observed) // _FEWEST_IN_BIN)
    if n_bins < 2:
        return ()
    order = np.argsort(predicted, kind="stable")
    bins = np.array_split(order, n_bins)
    everything = (float(observed.min()), float(observed.max()))
    means = [
        _mean_of_units(
            observed[rows], None if units is None else units[rows], everything
        )
        for rows in bins
    ]
    said = [float(predicted[rows].mean()) for rows in bins]
    return (
        OutcomeCurves(
            "Observed against predicted, test samples in bins of equal size by their "
            "prediction, from the lowest to the highest, with 95 % intervals of the "
            "means observed" + (f", which count {noun}" if noun else ""),
            "mean of the target",
            "bins by prediction",
            tuple(str(i) for i in range(1, n_bins + 1)),
            (
                Curve("observed", tuple(range(n_bins)), tuple(means)),
                Curve(
                    "predicted",
                    tuple(range(n_bins)),
                    tuple(Interval(one, one, one) for one in said),
                ),
            ),
        ),
    )


def _mean_of_units(
    values: FloatArray, units: IntArray | None, everything: tuple[float, float]
) -> Interval:
    """Return a mean with its 95 % interval, by the sums of units where there are any.

    Units are groups, or samples with several predictions. One unit alone says nothing
    about others: the bounds are those of the target.
    """
    center = float(values.mean())
    off = values - center
    if units is not None:
        numbers = np.unique(units, return_inverse=True)[1]
        off = np.bincount(numbers, weights=off).astype(np.float64)
    if off.size < 2:
        return Interval(center, *everything)
    half = NORMAL_95 * math.sqrt(off.size / (off.size - 1) * float(off @ off))
    half /= len(values)
    return Interval(center, center - half, center + half)


def _risk_groups(
    targets: Sequence[Observed], risks: Sequence[FloatArray]
) -> tuple[OutcomeCurves, ...]:
    high = np.concatenate([risk > np.median(risk) for risk in risks])
    labels = np.concatenate([one.test.labels for one in targets])
    time, event = labels["time"], labels["event"]
    if min(event[high].sum(), event[~high].sum()) < _FEWEST_IN_BIN:
        return ()
    times = _axis_times(float(np.quantile(time[event], 0.9)))
    curves = tuple(
        Curve(
            f"{name} predicted risk ({int(own.sum())} samples, "
            f"{int(event[own].sum())} events)",
            tuple(range(len(times))),
            survival_at_times(time[own], event[own], times),
        )
        for name, own in (("lower", ~high), ("higher", high))
    )
    return (
        OutcomeCurves(
            "Kaplan-Meier curves of the test samples with lower and with higher "
            "predicted risk, divided inside each test set, with 95 % intervals",
            "without the event, %",
            "time",
            tuple("" if i % _N_BETWEEN else f"{t:g}" for i, t in enumerate(times)),
            curves,
            steps=True,
        ),
    )


def _axis_times(last: float) -> FloatArray:
    """Return equally far times from 0 to the first that is not before the last.

    Every tenth is 1, 2 or 5 times a power of ten, at most ten of them before the last.

    Examples
    --------
    >>> _axis_times(1526.0)[[0, 10, 20, -1]].tolist()
    [0.0, 200.0, 400.0, 1540.0]
    """
    size = 10.0 ** math.floor(math.log10(last / _N_TIMES))
    mark = next(k * size for k in (1, 2, 5, 10) if k * size * _N_TIMES >= last)
    n_steps = math.ceil(last / mark * _N_BETWEEN - 1e-9)
    return mark * np.arange(n_steps + 1) / _N_BETWEEN


def survival_at_times(
    time: FloatArray, event: BoolArray, at: FloatArray
) -> tuple[Interval, ...]:
    """Return Kaplan-Meier estimates in percent, with Greenwood's intervals.

    The intervals are those of the logarithm of minus the logarithm, which stay between
    0 and 100 %. Beyond the last of the times only an estimate of 0 is known.

    Parameters
    ----------
    time, event : arrays of shape (n,)
        The samples.
    at : array of shape (n_times,)
        Where to estimate.
    """
    shares = kaplan_meier(time, event)(at)
    seen, died = np.unique(time[event], return_counts=True)
    at_risk = time.size - np.searchsorted(np.sort(time), seen)
    with np.errstate(divide="ignore"):
        variances = np.cumsum(died / (at_risk * (at_risk - died)))
    place = np.searchsorted(seen, at, side="right")
    known = (at <= time.max()) | (shares == 0)
    return tuple(
        _share_in_percent(*one) if is_known else Interval(*[math.nan] * 3)
        for *one, is_known in zip(
            shares.tolist(), np.append(0.0, variances)[place], known, strict=True
        )
    )


def _share_in_percent(share: float, variance: float) -> Interval:
    if not 0 < share < 1 or not math.isfinite(variance):
        return Interval(100 * share, 100 * share, 100 * share)
    log = math.log(share)
    width = NORMAL_95 * math.sqrt(variance) / abs(log)
    low, high = (100 * share ** math.exp(sign * width) for sign in (1, -1))
    return Interval(100 * share, low, high)


def _calibration(
    targets: Sequence[Observed], probabilities: Sequence[Any]
) -> tuple[OutcomeCurves, ...]:
    """Compare predicted with observed probabilities at the middle time of a score.

    Between the times at which a split has probabilities, they are interpolated.
    """
    at = float(np.median([one.times[len(one.times) // 2] for one in targets]))
    predicted = np.array(
        [
            np.interp(at, one.times, curve)
            for one, S in zip(targets, probabilities, strict=True)
            for curve in S[-1]
        ]
    )
    labels = np.concatenate([one.test.labels for one in targets])
    bins = np.array_split(np.argsort(predicted, kind="stable"), _N_QUARTERS)
    if min(map(len, bins)) < 2 * _FEWEST_IN_BIN:
        return ()
    places = tuple(range(_N_QUARTERS))
    observed = tuple(
        survival_at_times(labels["time"][rows], labels["event"][rows], np.array([at]))[
            0
        ]
        for rows in bins
    )
    said = [100 * float(predicted[rows].mean()) for rows in bins]
    return (
        OutcomeCurves(
            f"Calibration at time {at:.4g}: probability to be without the event, "
            "predicted and observed (Kaplan-Meier), in quarters of the test samples "
            "from the lowest to the highest predicted probability",
            "without the event, %",
            "quarters by prediction",
            tuple(str(i + 1) for i in places),
            (
                Curve("observed", places, observed),
                Curve(
                    "predicted", places, tuple(Interval(one, one, one) for one in said)
                ),
            ),
        ),
    )

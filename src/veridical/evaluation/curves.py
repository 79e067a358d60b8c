"""What predictions look like beyond one number: confusion, curves, calibration.

All is computed from the predictions of an evaluation, without a fit. Curves are those
of the folds, averaged at fixed places of the horizontal axis (vertical averaging).
Their bands are corrected t intervals at each place, as wide as folds differ and
training sets overlap. Curves and calibration are for two classes, and need decision
values or probabilities, which the evaluation has where a score needs them.

References
----------
.. [1] T. Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27
   (2006).
.. [2] B. Van Calster et al., "Calibration: the Achilles heel of predictive analytics",
   BMC Medicine 17 (2019).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.records import Interval
from veridical._core.scoring import SCORES, Outputs, Score, show_label
from veridical._core.splits import Split, count_units
from veridical._core.table import Table
from veridical.evaluation.engine import Evaluation
from veridical.evaluation.intervals import t_half_width
from veridical.evaluation.probabilities import bin_places, bins_of
from veridical.evaluation.records import Bin, PredictionCurves
from veridical.evaluation.units import Spread

#: Places of the horizontal axis: false-positive rates, and recalls.
PLACES = tuple(np.linspace(0, 1, 11).round(1).tolist())
#: Recalls that count as reached, in spite of rounding.
_REACHED = np.array(PLACES) - 1e-12
#: Classes; with more there is no confusion matrix.
MOST_CLASSES = 12
#: Probabilities are cut to this distance from 0 and 1 before the logit.
_LEAST_PROBABILITY = 1e-6


def curves_of(
    found: Evaluation,
    splits: Sequence[Split],
    table: Table,
    scores: Sequence[Score] = (),
) -> PredictionCurves | None:
    """Describe the predictions of an evaluation; None for other targets than classes.

    Parameters
    ----------
    found : Evaluation
        The predictions; those with the most features are described.
    splits : sequence of Split
        Their splits.
    table : Table
        The samples.
    scores : sequence of Score
        What was asked for; the first that is about one class says which is positive.
    """
    if table.kind != "classes" or table.n_classes > MOST_CLASSES:
        return None
    classes = tuple(show_label(one) for one in table.classes)
    targets = np.concatenate(found.targets)
    codes = np.concatenate([one[-1] for one in found.predictions])
    weights = None if found.weights is None else np.concatenate(found.weights)
    known = codes >= 0
    cells = targets[known] * len(classes) + codes[known]
    counts = np.bincount(
        cells, None if weights is None else weights[known], minlength=len(classes) ** 2
    ).reshape(len(classes), -1)
    matrix = tuple(tuple(float(one) for one in row) for row in counts)
    outputs = [one.at(-1) for one in found.all_outputs]
    about = [one for one in scores if one.has_positive] or [SCORES["sensitivity"]]
    k = about[0].place_of_positive(table.classes)
    values = [_values_of(one, k) for one in outputs]
    if len(classes) != 2 or values[0] is None:
        return PredictionCurves(classes, matrix)
    n_train, n_test = count_units(splits, table.groups)
    share = float(n_test.mean() / n_train.mean())
    rates = [
        sums_above(
            target == k, value, None if found.weights is None else found.weights[s]
        )
        for s, (target, value) in enumerate(zip(found.targets, values, strict=True))
        if np.ptp(target) and value is not None
    ]
    bins: tuple[Any, ...] = ()
    slope = intercept = math.nan
    probas = [one.proba[:, k] for one in outputs if one.proba is not None]
    if probas and np.ptp(targets):
        bins = _bins(found, splits, table, probas, k)
        proba, truth = np.concatenate(probas), targets == k
        slope, intercept = calibrate_logits(truth, proba, weights)
    roc, precision = _average(
        [roc_at(*one) for one in rates], [precision_at(*one) for one in rates], share
    )
    return PredictionCurves(
        classes,
        matrix,
        positive=classes[k],
        places=PLACES,
        roc=roc,
        precision=precision,
        bins=bins,
        slope=slope,
        intercept=intercept,
    )


def _values_of(outputs: Outputs, k: int) -> FloatArray | None:
    """Return values that are larger, the more likely class k of two is."""
    if outputs.decision is not None and outputs.decision.ndim == 1:
        return outputs.decision if k else -outputs.decision
    return None if outputs.proba is None else outputs.proba[:, k]


def sums_above(
    positive: NDArray[np.bool_], values: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Sum the positive and the negative samples above each different value."""
    order = np.argsort(-values, kind="stable")
    ordered, hit = values[order], positive[order]
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    sums = np.zeros((2, len(ends) + 1))
    if weights is None:
        sums[0, 1:] = np.cumsum(hit)[ends]
        sums[1, 1:] = ends + 1 - sums[0, 1:]
    else:
        w = weights[order]
        sums[:, 1:] = np.cumsum([w * hit, w * ~hit], axis=1)[:, ends]
    return sums[0], sums[1]


def roc_at(found: FloatArray, false: FloatArray) -> FloatArray:
    """Return the true-positive rates at the false-positive rates of `PLACES`."""
    tpr, fpr = found / max(found[-1], 1e-300), false / max(false[-1], 1e-300)
    # At a vertical step, the top of it.
    last = np.append(fpr[1:] > fpr[:-1], True)
    return np.interp(PLACES, fpr[last], tpr[last])


def precision_at(found: FloatArray, false: FloatArray) -> FloatArray:
    """Return the precision where the recall first reaches each of `PLACES`."""
    found, false = found[1:], false[1:]
    recall = found / max(found[-1], 1e-300)
    precision = found / np.maximum(found + false, 1e-300)
    places: IntArray = np.searchsorted(recall, _REACHED)
    return precision[np.minimum(places, len(recall) - 1)]


def _average(
    roc: Sequence[FloatArray], precision: Sequence[FloatArray], share: float
) -> tuple[tuple[Interval, ...], tuple[Interval, ...]]:
    """Average curves over folds, with the corrected t interval at each place."""
    if not roc:
        return (), ()
    stacked = np.hstack([np.stack(roc), np.stack(precision)])
    mean = stacked.mean(axis=0)
    reach = t_half_width(stacked, share) if len(roc) > 2 else np.zeros_like(mean)
    bounds = np.maximum(0.0, mean - reach), np.minimum(1.0, mean + reach)
    drawn = [Interval(*one) for one in np.column_stack([mean, *bounds]).tolist()]
    return tuple(drawn[: len(PLACES)]), tuple(drawn[len(PLACES) :])


def _bins(
    found: Evaluation,
    splits: Sequence[Split],
    table: Table,
    probas: Sequence[FloatArray],
    k: int,
) -> tuple[Bin, ...]:
    """Compare probabilities with observed shares, and count independent samples."""
    truth = [target == k for target in found.targets]
    weights = None if found.weights is None else np.concatenate(found.weights)
    bins = bins_of(np.concatenate(probas), np.concatenate(truth), weights=weights)
    places = [bin_places(proba) for proba in probas]
    counted = []
    for i, one in enumerate(bins):
        part = [place == i for place in places]
        n_units, n_effective = Spread.from_part(table, splits, part, truth)
        counted.append(replace(one, n_units=n_units, n_effective=n_effective))
    return tuple(counted)


def calibrate_logits(
    truth: NDArray[np.bool_], proba: FloatArray, weights: FloatArray | None = None
) -> tuple[float, float]:
    """Compute slope and intercept of the calibration curve, on the scale of logits.

    Parameters
    ----------
    truth : bool array of shape (n,)
        Whether the class was observed.
    proba : array of shape (n,)
        Its predicted probability.
    weights : array of shape (n,), optional
        Weights of the samples.

    Returns
    -------
    slope, intercept : float
        The slope is 1 where probabilities are spread as they should be, and below 1
        where they are too extreme. The intercept, with the slope fixed at 1, is 0 where
        they are right on average, and below 0 where they are too high. NaN where they
        are not defined, because probabilities do not vary or separate the classes.

    Examples
    --------
    >>> p = np.array([0.2, 0.2, 0.2, 0.2, 0.2, 0.8, 0.8, 0.8, 0.8, 0.8])
    >>> truth = np.array([1, 0, 0, 0, 0, 1, 1, 1, 1, 0], dtype=bool)
    >>> [round(one, 3) + 0.0 for one in calibrate_logits(truth, p)]
    [1.0, 0.0]
    """
    z = logit(np.clip(proba, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY))
    w = np.ones(len(z)) if weights is None else weights
    _, slope = _fit_logits(z, truth, w)
    intercept, _ = _fit_logits(z, truth, w, slope=1.0)
    return slope, intercept


def _fit_logits(
    z: FloatArray,
    truth: NDArray[np.bool_],
    w: FloatArray,
    slope: float | None = None,
) -> tuple[float, float]:
    """Fit intercept and slope, or the intercept alone, by Newton steps.

    Both are NaN where no finite values are best.
    """
    a, b = (0.0, 0.0) if slope is None else (0.0, slope)
    for _ in range(100):
        mean = expit(a + b * z)
        gap, curvature = w * (truth - mean), w * mean * (1 - mean)
        flat = float(curvature.sum())
        if slope is None:
            of_z = curvature * z
            cross, steep = float(of_z.sum()), float(of_z @ z)
            determinant = flat * steep - cross**2
            if determinant <= 1e-12 * (flat + steep) ** 2:  # nearly singular
                break
            up, along = float(gap.sum()), float(gap @ z)
            steps = (
                (steep * up - cross * along) / determinant,
                (flat * along - cross * up) / determinant,
            )
        elif flat <= 0:
            break
        else:
            steps = float(gap.sum()) / flat, 0.0
        a, b = (
            one + min(max(step, -5.0), 5.0)
            for one, step in zip((a, b), steps, strict=True)
        )
        if max(abs(a), abs(b)) > 1e3:
            break
        if max(map(abs, steps)) < 1e-10:
            return a, b
    return math.nan, math.nan

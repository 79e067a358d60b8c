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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.records import Interval
from veridical._core.scoring import Outputs, show_label
from veridical._core.splits import Split, count_units
from veridical._core.table import Table
from veridical.evaluation.engine import Evaluation
from veridical.evaluation.intervals import t_half_width
from veridical.evaluation.probabilities import calibration_table
from veridical.evaluation.records import PredictionCurves

#: Places of the horizontal axis: false-positive rates, and recalls.
PLACES = tuple(np.linspace(0, 1, 11).round(1).tolist())
#: Recalls that count as reached, in spite of rounding.
_REACHED = np.array(PLACES) - 1e-12
#: Classes; with more there is no confusion matrix.
MOST_CLASSES = 12
#: Probabilities are cut to this distance from 0 and 1 before the logit.
_LEAST = 1e-6


def curves_of(
    found: Evaluation, splits: Sequence[Split], table: Table, size: int = -1
) -> PredictionCurves | None:
    """Describe the predictions of an evaluation; None for other targets than classes.

    Parameters
    ----------
    found : Evaluation
        The predictions.
    splits : sequence of Split
        Their splits.
    table : Table
        The samples.
    size : int, default=-1
        Which number of features.
    """
    if table.kind != "classes" or table.n_classes > MOST_CLASSES:
        return None
    classes = tuple(show_label(one) for one in table.classes)
    targets = np.concatenate(found.targets)
    codes = np.concatenate([one[size] for one in found.predictions])
    weights = None if found.weights is None else np.concatenate(found.weights)
    known = codes >= 0
    cells = targets[known] * len(classes) + codes[known]
    counts = np.bincount(
        cells, None if weights is None else weights[known], minlength=len(classes) ** 2
    ).reshape(len(classes), -1)
    matrix = tuple(tuple(float(one) for one in row) for row in counts)
    outputs = [one.at(size) for one in found.all_outputs]
    values = [_values(one) for one in outputs]
    if len(classes) != 2 or values[0] is None:
        return PredictionCurves(classes, matrix)
    n_train, n_test = count_units(splits, table.groups)
    share = float(n_test.mean() / n_train.mean())
    rates = [
        _rates(target == 1, value, None if found.weights is None else found.weights[s])
        for s, (target, value) in enumerate(zip(found.targets, values, strict=True))
        if np.ptp(target) and value is not None
    ]
    bins: tuple[Any, ...] = ()
    slope = intercept = math.nan
    probas = [one.proba[:, 1] for one in outputs if one.proba is not None]
    if probas and np.ptp(targets):
        proba, truth = np.concatenate(probas), targets == 1
        bins = calibration_table(truth, proba, positive=True).bins
        slope, intercept = calibrate_logits(truth, proba, weights)
    return PredictionCurves(
        classes,
        matrix,
        positive=classes[1],
        places=PLACES,
        roc=_average([_roc(*one) for one in rates], share),
        precision=_average([_precision(*one) for one in rates], share),
        bins=bins,
        slope=slope,
        intercept=intercept,
    )


def _values(outputs: Outputs) -> FloatArray | None:
    """Return values that are larger, the more likely the second class is."""
    if outputs.decision is not None and outputs.decision.ndim == 1:
        return outputs.decision
    return None if outputs.proba is None else outputs.proba[:, 1]


def _rates(
    positive: NDArray[np.bool_], values: FloatArray, weights: FloatArray | None
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


def roc_at(
    positive: NDArray[np.bool_], values: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Return the true-positive rates at the false-positive rates of `PLACES`."""
    return _roc(*_rates(positive, values, weights))


def _roc(found: FloatArray, false: FloatArray) -> FloatArray:
    tpr, fpr = found / max(found[-1], 1e-300), false / max(false[-1], 1e-300)
    # At a vertical step, the top of it.
    last = np.append(fpr[1:] > fpr[:-1], True)
    return np.interp(PLACES, fpr[last], tpr[last])


def precision_at(
    positive: NDArray[np.bool_], values: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Return the precision where the recall first reaches each of `PLACES`."""
    return _precision(*_rates(positive, values, weights))


def _precision(found: FloatArray, false: FloatArray) -> FloatArray:
    found, false = found[1:], false[1:]
    recall = found / max(found[-1], 1e-300)
    precision = found / np.maximum(found + false, 1e-300)
    places: IntArray = np.searchsorted(recall, _REACHED)
    return precision[np.minimum(places, len(recall) - 1)]


def _average(rows: Sequence[FloatArray], share: float) -> tuple[Interval, ...]:
    """Average curves over folds, with the corrected t interval at each place."""
    if not rows:
        return ()
    stacked = np.stack(rows)
    mean = stacked.mean(axis=0)
    reach = t_half_width(stacked, share) if len(rows) > 2 else np.zeros_like(mean)
    bounds = np.maximum(0.0, mean - reach), np.minimum(1.0, mean + reach)
    return tuple(Interval(*one) for one in np.column_stack([mean, *bounds]).tolist())


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
    z = logit(np.clip(proba, _LEAST, 1 - _LEAST))
    w = np.ones(len(z)) if weights is None else weights
    both = _fit_logits(
        np.column_stack([np.ones(len(z)), z]), np.zeros(len(z)), truth, w
    )
    alone = _fit_logits(np.ones((len(z), 1)), z, truth, w)
    slope = math.nan if both is None else float(both[1])
    return slope, math.nan if alone is None else float(alone[0])


def _fit_logits(
    X: FloatArray, offset: FloatArray, truth: NDArray[np.bool_], w: FloatArray
) -> FloatArray | None:
    """Fit a logistic regression by Newton steps; None if it has no finite solution."""
    beta = np.zeros(X.shape[1])
    for _ in range(100):
        mean = expit(X @ beta + offset)
        gradient = X.T @ (w * (truth - mean))
        hessian = X.T @ (X * (w * mean * (1 - mean))[:, None])
        sizes = np.linalg.eigvalsh(hessian)
        if sizes[0] * 1e12 <= sizes[-1]:  # nearly singular
            return None
        step = np.linalg.solve(hessian, gradient)
        beta = beta + np.clip(step, -5, 5)
        if np.abs(beta).max() > 1e3:
            return None
        if np.abs(step).max() < 1e-10:
            return beta
    return None

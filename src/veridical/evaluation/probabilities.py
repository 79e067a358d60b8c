"""The calibration of predicted probabilities: counts per bin, and scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from veridical._core.arrays import FloatArray, IntArray
from veridical._core.errors import InputError
from veridical._core.text import listed, quote
from veridical.evaluation.records import Bin, CalibrationTable

#: Log-probability; a smaller one counts as this, so that the log loss stays finite.
LEAST_LOG_PROBABILITY = np.log(1e-300)


def calibration_table(
    y: ArrayLike,
    probability: ArrayLike | None = None,
    *,
    log_probability: ArrayLike | None = None,
    positive: Any = None,
    n_bins: int = 10,
    label: str = "",
) -> CalibrationTable:
    """Compare predicted probabilities of one class with its observed frequencies.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The true classes, two of them at most.
    probability : array-like of shape (n_samples,)
        Probability of the class `positive`.
    log_probability : array-like of shape (n_samples, 2), optional
        Instead of `probability`: log-probabilities of the other class and of
        `positive`, as ``predict_log_proba`` returns them. Probabilities near 0 and 1
        are then more precise.
    positive : label, optional
        By default the last of the sorted labels.
    n_bins : int, default=10
        Number of equal intervals; each holds its upper bound, the first also 0.
    label : str
        Name of the classifier.

    Returns
    -------
    CalibrationTable
        Counts, mean probability and share per bin; error rate, actual and expected;
        average minus log probability; mean squared error.

    Examples
    --------
    >>> from veridical.evaluation import calibration_table
    >>> found = calibration_table([0, 1, 1, 1], [0.1, 0.35, 0.9, 0.95])
    >>> found.error, round(found.expected_error, 4)
    (0.25, 0.15)
    >>> found.to_frame().query("n > 0")
       low  high  n  predicted  observed
    0  0.0   0.1  1       0.10       0.0
    3  0.3   0.4  1       0.35       1.0
    8  0.8   0.9  1       0.90       1.0
    9  0.9   1.0  1       0.95       1.0
    """
    labels = np.asarray(y)
    classes = np.unique(labels)
    if positive is None:
        positive = classes[-1]
    if classes.size > 2 or (classes.size == 2 and positive not in classes):
        raise InputError(
            f"y holds the classes {listed(classes)}; a calibration table is for two "
            f"classes, and positive={quote(positive)} must be one of them."
        )
    truth = labels == positive
    logs = _logs(probability, log_probability, truth.size)
    if n_bins < 1:
        raise InputError(f"n_bins={n_bins} must be 1 or more.")
    p = np.exp(logs[:, 1]) if probability is None else np.asarray(probability, float)
    predicted = p >= 0.5
    return CalibrationTable(
        label,
        str(positive),
        tuple(bins_of(p, truth, n_bins)),
        int(truth.size),
        float(np.mean(predicted != truth)),
        float(np.exp(np.where(predicted, logs[:, 0], logs[:, 1])).mean()),
        float(
            -np.maximum(
                np.where(truth, logs[:, 1], logs[:, 0]), LEAST_LOG_PROBABILITY
            ).mean()
        ),
        float(np.mean(np.where(truth, np.exp(logs[:, 0]), p) ** 2)),
    )


def calibration_tables(
    estimators: Mapping[str, Any], X: Any, y: ArrayLike, *, n_bins: int = 10
) -> tuple[CalibrationTable, ...]:
    """Compare the probabilities of fitted classifiers with observed frequencies.

    Parameters
    ----------
    estimators : mapping of str to classifier
        Fitted on two classes, by name.
    X, y : array-like
        Test samples that they have not seen.
    n_bins : int, default=10
        Number of equal intervals.

    Returns
    -------
    tuple of CalibrationTable
        One for each classifier, for the probability of its last class.

    Raises
    ------
    InputError
        If a classifier knows more than two classes.
    """
    tables = []
    for name, estimator in estimators.items():
        check_is_fitted(estimator)
        classes = estimator.classes_
        if len(classes) != 2:
            raise InputError(
                f"{name} knows {len(classes)} classes; calibration is drawn for two."
            )
        p = estimator.predict_proba(X)[:, 1]
        tables.append(
            calibration_table(y, p, positive=classes[1], n_bins=n_bins, label=name)
        )
    return tuple(tables)


def _logs(probability: Any, log_probability: Any, n: int) -> FloatArray:
    """Return the log-probabilities of both classes, of shape (n, 2)."""
    if (probability is None) == (log_probability is None):
        raise InputError("Pass either probability or log_probability, and not both.")
    if probability is None:
        logs = np.asarray(log_probability, dtype=np.float64)
        good = logs.shape == (n, 2) and not np.isnan(logs).any() and logs.max() <= 1e-9
    else:
        p = np.asarray(probability, dtype=np.float64)
        good = p.shape == (n,) and bool(np.all((p >= 0) & (p <= 1)))
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.stack([np.log1p(-p), np.log(p)], axis=-1)
    if not good or n == 0:
        raise InputError(
            f"There must be a probability from 0 to 1 for each of the {n} samples."
        )
    return logs


def bin_places(p: FloatArray, n_bins: int = 10) -> IntArray:
    """Return the number of the equal interval that each probability lies in."""
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    return np.clip(np.searchsorted(edges, p, side="left") - 1, 0, n_bins - 1)


def bins_of(
    p: FloatArray, truth: Any, n_bins: int = 10, weights: FloatArray | None = None
) -> list[Bin]:
    """Count samples, and average probabilities and outcomes, in equal intervals."""
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    place = bin_places(p, n_bins)
    counts = np.bincount(place, minlength=n_bins)
    w = np.ones(len(p)) if weights is None else weights
    totals = np.bincount(place, w, n_bins)
    sums = np.bincount(place, w * p, n_bins)
    ones = np.bincount(place, w * truth, n_bins)
    return [
        Bin(
            round(float(edges[i]), 12),
            round(float(edges[i + 1]), 12),
            int(n),
            float(sums[i] / total) if total else None,
            float(ones[i] / total) if total else None,
        )
        for i, (n, total) in enumerate(zip(counts, totals, strict=True))
    ]

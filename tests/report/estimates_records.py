"""Estimates made by hand, of every kind that a page must be able to show."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.records import DataSummary
from veridical.evaluation.records import Coverage, Estimate, Estimates

#: Intervals that cover often enough for a claim, and others.
COVERED = Coverage(0.93, 0.99, "10 folds", 0.95)
TOO_SELDOM = Coverage(0.57, 0.98, "leave-one-out", 0.7)
STABLE = "the estimator is stable"
MEMORY = "The estimator has memorised its training samples, so .632 is too high."
COMMAND = {"random_state": 0, "command": "veridical estimate --seed 0"}


def estimate(value: float, **fields: Any) -> Estimate:
    """Ten splits whose scores scatter about a value, with Wilson's interval."""
    scores = np.clip(value + np.linspace(-0.1, 0.1, 10), 0, 1)
    record: dict[str, Any] = {
        "value": value,
        "std": float(scores.std(ddof=1)),
        "scores": scores,
        "n_test": 200,
        "metric": "accuracy",
        "method": "stratified 10-fold cross-validation",
        "estimator": "C45()",
        "random_state": 0,
        "assumes": {"wilson": STABLE, "corrected-t": "scores are normal"},
        "details": {"mean_of_splits": value},
        "test_share": 1 / 9,
        "coverage": {
            "corrected-t": COVERED,
            "wilson": Coverage(0.884, 0.926, "10 folds", 0.9),
        },
    }
    return Estimate(**{**record, **fields})


def bootstrap(value: float, **fields: Any) -> Estimate:
    """An estimate without any valid interval."""
    options = {"method": ".632 bootstrap, 50 bootstrap samples", "assumes": {}}
    return estimate(value, **{**options, **fields})


def resubstitution(value: float = 1.0, **fields: Any) -> Estimate:
    """On the training samples."""
    notes = ("Resubstitution tests on the training samples.",)
    options = {"method": "resubstitution", "assumes": {}, "notes": notes}
    return estimate(value, **{**options, **fields})


def estimates(
    *found: Estimate,
    name: str = "table.csv",
    estimator: str = "c45",
    class_names: tuple[str, str] = ("no", "yes"),
    **fields: Any,
) -> Estimates:
    """A record of 200 samples, 110 of them in the larger class."""
    data = DataSummary(
        name, 200, 3, dict(zip(class_names, (90, 110), strict=True)), ("x", "y", "z")
    )
    options = {"settings": COMMAND, **fields}
    return Estimates(data, estimator, found or (estimate(0.8),), **options)


def with_failure(**options: Any) -> Estimates:
    """Cross-validation at chance, and .632 fooled by a memoriser."""
    return estimates(estimate(0.5), bootstrap(0.684, notes=(MEMORY,)), **options)


def with_truth(**options: Any) -> Estimates:
    """The same on a source."""
    return with_failure(**{"truth": fresh(0.52), **options})


def fresh(value: float, **fields: Any) -> Estimate:
    """The truth, as 20 000 fresh samples tell it."""
    options = {
        "n_test": 20_000,
        "method": "fresh samples",
        "scores": np.array([value]),
        "assumes": {"wilson": "test samples are independent draws"},
    }
    return estimate(value, **{**options, **fields})

"""Audits made by hand, of every kind that a page must be able to show."""

from __future__ import annotations

from typing import Any

import numpy as np

from veridical._core.records import DataSummary, Interval
from veridical.auditing.records import (
    Audit,
    Decomposition,
    Finding,
    Null,
    Part,
    Preselection,
)
from veridical.evaluation.records import Coverage

COMMAND = {"random_state": 0, "alpha": 0.05, "command": "veridical audit --seed 0"}
NAN = float("nan")


def null(mean: float, pvalue: float, spread: float = 0.08) -> Null:
    """Accuracies on fifty random orders."""
    values = np.clip(mean + spread * np.linspace(-2, 2, 51)[1:], 0, 1)
    low, high = np.quantile(values, (0.025, 0.975))
    return Null(values, float(values.mean()), float(low), float(high), pvalue)


def finding(code: str = "VD001", severity: Any = "error", **fields: Any) -> Finding:
    """A finding with something in every field."""
    options = {
        "title": "Selection saw the test fold",
        "evidence": "The features were selected on all samples.",
        "cure": "Select inside each training fold.",
        "details": {"optimism": 0.48},
    }
    return Finding(code, severity=severity, **{**options, **fields})


def audit(
    *found: Finding,
    honest: float = 0.8,
    pvalue: float = 0.02,
    name: str = "table.csv",
    feature_names: tuple[str, ...] = ("x", "y", "z"),
    class_names: tuple[str, str] = ("no", "yes"),
    **fields: Any,
) -> Audit:
    """An honest pipeline on 50 samples."""
    data = DataSummary(
        name,
        50,
        len(feature_names),
        dict(zip(class_names, (25, 25), strict=True)),
        feature_names,
    )
    options: dict[str, Any] = {
        "estimator": "svm",
        "accuracy": {"in": Interval(honest, honest - 0.15, min(1.0, honest + 0.12))},
        "reported": "in",
        "optimism": None,
        "null": {"in": null(0.5, pvalue)},
        "balanced_accuracy": honest,
        "coverage": Coverage(0.93, 0.99, "10 folds", 0.95),
        "settings": COMMAND,
    }
    return Audit(data=data, findings=found, **{**options, **fields})


def leaky(*found: Finding, honest: float = 0.46, pvalue: float = 0.6, **fields: Any):
    """Features selected beforehand, on noise."""
    options: dict[str, Any] = {
        "accuracy": {
            "in": Interval(honest, honest - 0.18, min(1.0, honest + 0.19)),
            "out": Interval(0.94, NAN, NAN),
        },
        "reported": "out",
        "optimism": Interval(0.94 - honest, 0.22, 0.74),
        "null": {"in": null(0.5, pvalue), "out": null(0.95, 0.7, 0.02)},
        "preselection": Preselection((0, 2), "anova", False, {"anova": 2}, 0.002),
        "stability": Interval(0.43, 0.38, 0.48),
        "n_selected": 2.0,
        "decomposition": Decomposition(
            0.94,
            (
                Part("chance", 0.5, 0.48, 0.52),
                Part("signal", honest - 0.5, honest - 0.7, honest - 0.3),
                Part("selection", 0.94 - honest, 0.22, 0.74),
                Part("batch", 0.0, 0.0, 0.0),
            ),
        ),
    }
    return audit(
        *(found or (finding(),)),
        honest=honest,
        pvalue=pvalue,
        **{**options, **fields},
    )

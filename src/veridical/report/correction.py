"""From a correction to plain numbers, strings and sentences."""

from __future__ import annotations

import numpy as np

from veridical._core.numbers import percent
from veridical.evaluation.intervals import wilson
from veridical.evaluation.records import Bin, CalibrationTable, Correction
from veridical.report.correction_schema import (
    CORRECTION_SCHEMA,
    BinSummary,
    CalibrationSummary,
    CorrectionSummary,
)
from veridical.report.summarize import clean, clean_settings, data_info

_Z = 1.959963984540054


def of(record: Correction) -> CorrectionSummary:
    """Turn what a correction changes into what a page shows.

    Parameters
    ----------
    record : Correction
        From `veridical.evaluation.correction`.
    """
    tables = (record.corrected, record.uncorrected)
    return {
        "schema": CORRECTION_SCHEMA,
        "kind": "correction",
        "data": data_info(record.data),
        "model": record.model,
        "n_features_to_select": int(record.n_features_to_select),
        "threshold": float(record.threshold),
        "models": [
            summarize_table(table, record.alphas[kind])
            for table, kind in zip(tables, ("corrected", "uncorrected"), strict=True)
        ],
        "belief": "yes" if _close(record.corrected) else "care",
        "headline": (
            f"Wrong about {percent(record.uncorrected.error)} of new cases, and "
            f"expecting {percent(record.uncorrected.expected_error)}; corrected, "
            f"expecting {percent(record.corrected.expected_error)}."
        ),
        "verdict": clean(record.verdict, 2000),
        "settings": clean_settings(record.settings),
    }


def _close(table: CalibrationTable) -> bool:
    """Tell whether the model knew its error rate, within two standard errors."""
    spread = max(table.error * (1 - table.error), 0.01) / table.n
    return abs(table.error - table.expected_error) <= 2 * float(np.sqrt(spread))


def summarize_table(table: CalibrationTable, alpha: float) -> CalibrationSummary:
    """Turn one model's calibration into plain numbers."""
    return {
        "label": clean(table.label),
        "positive": clean(table.positive),
        "n": int(table.n),
        "error": float(table.error),
        "expected_error": float(table.expected_error),
        "log_loss": float(table.log_loss),
        "squared_error": float(table.squared_error),
        "alpha": float(alpha),
        "bins": [_bin(one) for one in table.bins],
    }


def _bin(one: Bin) -> BinSummary:
    low, high = observed_bounds(one)
    return {
        "low": one.low,
        "high": one.high,
        "n": one.n,
        "predicted": one.predicted,
        "observed": one.observed,
        "observed_low": low,
        "observed_high": high,
    }


def observed_bounds(one: Bin) -> tuple[float | None, float | None]:
    """Wilson's 95 % interval of the share that a bin observed."""
    if one.n == 0 or one.observed is None:
        return None, None
    return wilson(one.observed, one.n)

"""From several estimates of one estimator to plain numbers and strings."""

from __future__ import annotations

from typing import Any

from veridical._core.errors import InputError
from veridical.evaluation import default_interval
from veridical.evaluation.records import Coverage, Estimate, Estimates
from veridical.report import estimates_words as words
from veridical.report.schema import (
    ESTIMATES_SCHEMA,
    BoundsSummary,
    CoverageSummary,
    EstimatesSummary,
    EstimateSummary,
)
from veridical.report.summarize import clean, clean_settings, data_info, finite

CONFIDENCE = 0.95


def of(record: Estimates) -> EstimatesSummary:
    """Turn estimates into what a page shows; see `veridical.report.summarize`.

    Parameters
    ----------
    record : Estimates
        Accuracies of one estimator.
    """
    if not record.estimates:
        raise InputError("Estimates without an estimate show nothing; give it some.")
    metrics = dict.fromkeys(clean(e.metric) for e in record.estimates)
    if len(metrics) > 1:
        raise InputError(
            f"The estimates are of {' and '.join(metrics)}, which no page can show on "
            "one axis; save one record for each score."
        )
    truth = None if record.truth is None else _estimate(record.truth, None)
    known = None if truth is None else truth["value"]
    summary: EstimatesSummary = {
        "schema": ESTIMATES_SCHEMA,
        "kind": "estimates",
        "estimator": clean(record.estimator),
        "metric": next(iter(metrics)),
        "confidence": CONFIDENCE,
        "data": None if record.data is None else data_info(record.data),
        "estimates": [_estimate(e, known) for e in record.estimates],
        "truth": truth,
        "settings": clean_settings(record.settings),
        "words": words.silence(),
    }
    summary["words"] = words.of(summary)
    return summary


def of_one(record: Estimate) -> EstimatesSummary:
    """Turn one estimate into the page of several.

    Parameters
    ----------
    record : Estimate
        From `veridical.evaluation.estimate`.
    """
    settings = {"random_state": str(record.random_state)}
    return of(Estimates(record.data, record.estimator, (record,), settings=settings))


def to_dict(record: Estimate) -> dict[str, Any]:
    """Turn one estimate into plain numbers and strings, with its scores."""
    return {
        "kind": "estimate",
        "estimator": clean(record.estimator),
        "metric": clean(record.metric),
        "confidence": CONFIDENCE,
        "data": None if record.data is None else data_info(record.data),
        **_estimate(record, None),
        "scores": [finite(score) for score in record.scores],
        "random_state": int(record.random_state),
    }


def _estimate(estimate: Estimate, truth: float | None) -> EstimateSummary:
    return {
        "method": clean(estimate.method),
        "value": float(estimate.value),
        "intervals": _intervals(estimate),
        "std": finite(estimate.std),
        "n_splits": len(estimate.scores),
        "n_test": int(estimate.n_test),
        "details": {clean(k): float(v) for k, v in estimate.details.items()},
        "off": None if truth is None else float(estimate.value) - truth,
        "notes": [clean(note, 2000) for note in estimate.notes],
    }


def _intervals(estimate: Estimate) -> list[BoundsSummary]:
    """List the valid intervals, the one whose measured coverage holds first.

    The nested one is shown only if it has been computed: it takes thousands of fits,
    and a report computes no result.
    """
    lead = default_interval(estimate)
    intervals: list[BoundsSummary] = []
    for kind in sorted(estimate.assumes, key=lambda kind: kind != lead):
        if kind == "nested" and not (estimate.nested and estimate.nested.ready):
            continue
        low, high = estimate.interval(CONFIDENCE, kind)
        intervals.append(
            {
                "kind": clean(kind),
                "low": float(low),
                "high": float(high),
                "assumes": clean(estimate.assumes[kind], 2000),
                "coverage": _coverage(estimate.coverage.get(kind)),
            }
        )
    return intervals


def _coverage(measured: Coverage | None) -> CoverageSummary | None:
    if measured is None:
        return None
    return {
        "low": float(measured.low),
        "high": float(measured.high),
        "conditions": clean(measured.conditions, 2000),
    }

"""From an audit to plain numbers and strings."""

from __future__ import annotations

from veridical.auditing.records import Audit, Finding, Preselection
from veridical.report import audit_words as words
from veridical.report.schema import (
    AUDIT_SCHEMA,
    AuditSummary,
    FindingSummary,
    IntervalSummary,
    LaneSummary,
    PreselectionSummary,
)
from veridical.report.summarize import clean, clean_settings, data_info, finite

LABELS = {"in": "IN", "out": "OUT"}


def of(record: Audit) -> AuditSummary:
    """Turn an audit into what a page shows; see `veridical.report.summarize`.

    Parameters
    ----------
    record : Audit
        What `veridical.audit` returned.
    """
    summary: AuditSummary = {
        "schema": AUDIT_SCHEMA,
        "kind": "audit",
        "estimator": clean(record.estimator, 400),
        "data": data_info(record.data),
        "alpha": float(record.settings.get("alpha", 0.05)),
        "reported": record.reported,
        "lanes": [_lane(record, p) for p in ("out", "in") if p in record.accuracy],
        "optimism": None if record.optimism is None else _interval(record.optimism),
        "balanced_accuracy": float(record.balanced_accuracy),
        "stability": None if record.stability is None else _interval(record.stability),
        "n_selected": record.n_selected,
        "findings": [_finding(finding) for finding in record.findings],
        "muted": [_finding(finding) for finding in record.muted],
        "preselection": _preselection(record, record.preselection),
        "settings": clean_settings(record.settings),
        "words": words.silence(),
    }
    summary["words"] = words.of(summary)
    return summary


def _lane(record: Audit, protocol: str) -> LaneSummary:
    null = record.null.get(protocol)
    lane: LaneSummary = {
        "protocol": protocol,
        "label": LABELS[protocol],
        "accuracy": _interval(record.accuracy[protocol]),
        "null": [],
        "null_mean": None,
        "null_low": None,
        "null_high": None,
        "pvalue": None,
    }
    if null is not None:
        lane["null"] = sorted(float(value) for value in null.accuracies)
        lane["null_mean"], lane["pvalue"] = float(null.mean), float(null.pvalue)
        lane["null_low"], lane["null_high"] = float(null.low), float(null.high)
    return lane


def _interval(interval: tuple[float, float, float]) -> IntervalSummary:
    value, low, high = interval
    return {"value": float(value), "low": finite(low), "high": finite(high)}


def _finding(finding: Finding) -> FindingSummary:
    return {
        "code": clean(finding.code),
        "title": clean(finding.title),
        "severity": finding.severity,
        "evidence": clean(finding.evidence, 4000),
        "cure": clean(finding.cure, 2000),
        "details": {clean(k): float(v) for k, v in finding.details.items()},
    }


def _preselection(
    record: Audit, chosen: Preselection | None
) -> PreselectionSummary | None:
    if chosen is None:
        return None
    names = record.data.feature_names
    return {
        "columns": [clean(names[j]) for j in chosen.columns],
        "selector": clean(chosen.selector),
        "given": chosen.given,
        "overlap": {clean(k): int(v) for k, v in chosen.overlap.items()},
        "pvalue": float(chosen.pvalue),
    }

"""What crosses from room to room: small frozen records, no behaviour of their own."""

from veridical._records.audit import (
    SEVERITIES,
    Audit,
    Finding,
    Null,
    Preselection,
    Severity,
)
from veridical._records.base import (
    DataSummary,
    FloatArray,
    InputError,
    IntArray,
    Interval,
    Labelled,
    Ranking,
)
from veridical._records.calibration import Calibration, Friedman, MeasuredSize
from veridical._records.comparison import (
    SIDES,
    Bias,
    Comparison,
    Side,
    TestResult,
    Truthfulness,
    Verdict,
    Winner,
)
from veridical._records.estimates import Coverage, Estimate, Estimates
from veridical._records.many import ManyComparison, PairVerdict
from veridical._records.probabilities import Bin, CalibrationTable, Correction
from veridical._records.sensitivity import Sensitivity
from veridical._records.studies import (
    Check,
    Curve,
    Outcome,
    Picture,
    StudyReport,
    StudyTable,
)

__all__ = [
    "SEVERITIES",
    "SIDES",
    "Audit",
    "Bias",
    "Bin",
    "Calibration",
    "CalibrationTable",
    "Check",
    "Comparison",
    "Correction",
    "Coverage",
    "Curve",
    "DataSummary",
    "Estimate",
    "Estimates",
    "Finding",
    "FloatArray",
    "Friedman",
    "InputError",
    "IntArray",
    "Interval",
    "Labelled",
    "ManyComparison",
    "MeasuredSize",
    "Null",
    "Outcome",
    "PairVerdict",
    "Picture",
    "Preselection",
    "Ranking",
    "Sensitivity",
    "Severity",
    "Side",
    "StudyReport",
    "StudyTable",
    "TestResult",
    "Truthfulness",
    "Verdict",
    "Winner",
]

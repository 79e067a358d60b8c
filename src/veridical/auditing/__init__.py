"""May an accuracy be believed? Coded findings with evidence and cure."""

from veridical.auditing.auditing import audit
from veridical.auditing.codes import CODES
from veridical.auditing.for_skore import skore_checks
from veridical.auditing.records import (
    Audit,
    Decomposition,
    Finding,
    Null,
    Part,
    Preselection,
    Untested,
)

__all__ = [
    "CODES",
    "Audit",
    "Decomposition",
    "Finding",
    "Null",
    "Part",
    "Preselection",
    "Untested",
    "audit",
    "skore_checks",
]

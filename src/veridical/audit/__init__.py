"""May an accuracy be believed? Coded findings with evidence and cure."""

from veridical.audit.codes import CODES
from veridical.audit.entry import audit
from veridical.audit.for_skore import skore_checks
from veridical.audit.reading import read_columns
from veridical.audit.records import Audit

__all__ = ["CODES", "Audit", "audit", "read_columns", "skore_checks"]

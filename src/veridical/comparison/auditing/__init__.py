"""The audit: is an accuracy an artefact? Coded findings with evidence and cure."""

from veridical.comparison.auditing.codes import CODES
from veridical.comparison.auditing.entry import audit
from veridical.comparison.auditing.reading import read_columns

__all__ = ["CODES", "audit", "read_columns"]

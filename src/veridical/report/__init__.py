"""Look at it: records to pages and pictures.

Three steps, each testable alone: `summarize` turns a record into plain numbers and
strings, `draw` turns those into pictures, `render` turns both into a page. A report
only reads what is stored; it never computes a result again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from veridical.comparison.records import Comparison
from veridical.evaluation.records import Selection
from veridical.experiments.findings import StudyReport
from veridical.report import render, selection, studies
from veridical.report.audit import of as summarize_audit
from veridical.report.correction import of as summarize_correction
from veridical.report.estimates import of as summarize_estimates
from veridical.report.estimates import of_one as summarize_estimate
from veridical.report.many import of as summarize_several
from veridical.report.many_schema import ManySummary
from veridical.report.render import check_writable
from veridical.report.schema import AnySummary, Summary
from veridical.report.sensitivity import of as summarize_sensitivity
from veridical.report.summarize import pair as summarize_pair
from veridical.report.summarize import summarize


@summarize.register
def _comparison(record: Comparison) -> Summary | ManySummary:
    """Lay out two selectors side by side, and more by their ranks."""
    return (summarize_pair if len(record.names) == 2 else summarize_several)(record)


summarize.register(summarize_audit)
summarize.register(summarize_correction)
summarize.register(summarize_estimate)
summarize.register(summarize_estimates)
summarize.register(summarize_sensitivity)
_register: Any = summarize.register  # their summaries are types of their own
_register(selection.to_json)
_register(studies.to_json)

#: Those whose pictures need more than the summary.
_OWN = {Selection: selection, StudyReport: studies}

__all__ = ["check_writable", "fragment", "save", "to_json"]


def save(record: Any, path: str | Path) -> Path:
    """Write a record as one self-contained HTML page.

    The page loads nothing from anywhere, and replaces an older one in a single step.

    Parameters
    ----------
    record : record
        What a verb returned: Estimate, Estimates, Selection, Comparison, Sensitivity,
        Audit, Correction or StudyReport.
    path : str or Path
        Where to write it.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    InputError
        Where the page cannot be written there.
    """
    own = _OWN.get(type(record))
    page = render.page(summarize(record)) if own is None else own.page(record)
    return render.write(page, path)


def fragment(record: Any) -> str:
    """Show a record's verdict, picture and first tables as HTML for a notebook.

    Parameters
    ----------
    record : record
        What a verb returned: Estimate, Estimates, Selection, Comparison, Sensitivity,
        Audit, Correction or StudyReport.
    """
    own = _OWN.get(type(record))
    return render.fragment(summarize(record)) if own is None else own.fragment(record)


def to_json(record: Any) -> AnySummary:
    """Turn a record into plain numbers, strings, lists and dicts.

    Parameters
    ----------
    record : record
        What a verb returned: Estimate, Estimates, Selection, Comparison, Sensitivity,
        Audit, Correction or StudyReport.

    Returns
    -------
    dict
        ``veridical.report.schema`` lists its keys: Summary, EstimatesSummary,
        AuditSummary.
    """
    return summarize(record)

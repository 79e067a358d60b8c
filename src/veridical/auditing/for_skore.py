"""The audit as checks for reports of skore."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal
from weakref import WeakKeyDictionary

from veridical._core.errors import InputError
from veridical.auditing import CODES, audit
from veridical.auditing.codes import check_codes
from veridical.auditing.records import Audit


class AuditCheck:
    """One code of the audit, in the form of skore's ``Check`` protocol.

    Parameters
    ----------
    code : str
        "VD001" and so on.
    audits : object
        Cache of audits, shared by all codes, so that a report is audited once.

    Attributes
    ----------
    severity : {"issue", "tip"}
        An error or a warning is an issue, a note is a tip; known after the check.
    """

    docs_url: str | None = None
    slow = True

    def __init__(self, code: str, audits: Any) -> None:
        self.code = code
        self.title = CODES[code].title
        self.report_types = ["cross-validation"]
        self.severity: Literal["issue", "tip"] = "issue"
        self._audits = audits

    def check_function(self, report: Any) -> str | None:
        """Return evidence and cure of the finding, or None.

        Parameters
        ----------
        report : skore.CrossValidationReport
            The report whose estimator, data and splits are audited.
        """
        found = {finding.code: finding for finding in self._audits.get(report).findings}
        if self.code not in found:
            return None
        finding = found[self.code]
        self.severity = "tip" if finding.severity == "note" else "issue"
        return f"{finding.evidence} Cure: {finding.cure}"


class _AuditCache:
    """Cache of audits by report."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.made: WeakKeyDictionary[Any, Audit] = WeakKeyDictionary()

    def get(self, report: Any) -> Audit:
        if report not in self.made:
            _check_applicable(report)
            self.made[report] = audit(
                report.estimator,
                report.X,
                report.y,
                cv=report.splitter,
                **self.settings,
            )
        return self.made[report]


def _check_applicable(report: Any) -> None:
    from skore import CheckNotApplicable

    if "classification" not in report.ml_task or "multioutput" in report.ml_task:
        raise CheckNotApplicable(
            f"veridical audits classification; this is {report.ml_task}."
        )


def skore_checks(
    codes: Iterable[str] | None = None,
    *,
    n_permutations: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> list[AuditCheck]:
    """Make checks of the audit for a report of skore.

    Parameters
    ----------
    codes : iterable of str, optional
        Codes to check, by default all.
    n_permutations : int, optional
        Number of permutations of the labels, see `veridical.audit`.
    random_state : int, default=0
        Seed of everything random.
    n_jobs : int, optional
        Number of processes.

    Returns
    -------
    list of AuditCheck
        For ``report.checks.add``; they are slow, so skore leaves them out in its fast
        mode.

    Raises
    ------
    InputError
        If a code is unknown.

    See Also
    --------
    audit : The same without skore.

    Examples
    --------
    >>> from veridical.auditing import skore_checks
    >>> [check.code for check in skore_checks(["VD001", "VD003"])]
    ['VD001', 'VD003']

    With skore, ``report.checks.add(skore_checks())`` and then
    ``report.checks.summarize()``.
    """
    wanted = tuple(CODES) if codes is None else tuple(codes)
    if isinstance(codes, str):
        raise InputError(f"codes={codes!r} must be a list: [{codes!r}].")
    check_codes(wanted)
    settings = {
        "n_permutations": n_permutations,
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    audits = _AuditCache(settings)
    return [AuditCheck(code, audits) for code in wanted]

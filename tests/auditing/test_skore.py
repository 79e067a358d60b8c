"""The audit as checks of skore: by its protocol, and in skore itself."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from veridical._core.errors import InputError
from veridical.auditing import CODES, audit, skore_checks

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 8)), np.arange(60) % 2
TWINS = np.vstack([X[:30], X[:30]])


class Report:
    """What the checks ask of skore's CrossValidationReport."""

    def __init__(self, estimator, X, y, ml_task="binary-classification"):
        self.estimator, self.X, self.y, self.ml_task = estimator, X, y, ml_task
        self.splitter = StratifiedKFold(5, shuffle=True, random_state=0)


@pytest.fixture
def skore(monkeypatch):
    """A stand-in with the exception that skore wants for what does not apply."""
    module = ModuleType("skore")
    module.CheckNotApplicable = type("CheckNotApplicable", (Exception,), {})
    monkeypatch.setitem(sys.modules, "skore", module)
    return module


def test_the_checks_say_what_the_audit_says(skore):
    report = Report(GaussianNB(), TWINS, np.resize(Y[:30], 60))
    checks = skore_checks(n_permutations=19)
    assert [check.code for check in checks] == list(CODES)
    found = {check.code: check.check_function(report) for check in checks}
    direct = audit(
        report.estimator,
        report.X,
        report.y,
        cv=report.splitter,
        n_permutations=19,
        random_state=0,
    )
    assert {code for code, words in found.items() if words} == set(direct.codes)
    assert "VD003" in direct.codes  # the twins lie in different folds
    for finding in direct.findings:
        assert found[finding.code] == f"{finding.evidence} Cure: {finding.cure}"
        check = next(c for c in checks if c.code == finding.code)
        assert check.severity == ("tip" if finding.severity == "note" else "issue")


def test_a_report_is_audited_once(skore, monkeypatch):
    calls = []
    monkeypatch.setattr(
        "veridical.auditing.for_skore.audit",
        lambda *a, **k: calls.append(k) or SimpleNamespace(findings=()),
    )
    report = Report(GaussianNB(), X, Y)
    for check in skore_checks(random_state=3):
        assert check.check_function(report) is None
    assert [call["random_state"] for call in calls] == [3]


def test_what_does_not_apply_is_said(skore):
    report = Report(DummyRegressor(), X, X[:, 0], "regression")
    with pytest.raises(skore.CheckNotApplicable, match="this is regression"):
        skore_checks(["VD001"])[0].check_function(report)


def test_unknown_codes():
    with pytest.raises(InputError, match="VD999"):
        skore_checks(["VD999"])
    with pytest.raises(InputError, match=r"\['VD001'\]"):
        skore_checks("VD001")


def test_in_skore_itself():
    skore = pytest.importorskip("skore")
    twins, y = TWINS, np.resize(Y[:30], 60)
    splits = StratifiedKFold(5, shuffle=True, random_state=0)
    pipeline = make_pipeline(SelectKBest(k=3), GaussianNB())
    report = skore.CrossValidationReport(pipeline, twins, y, splitter=splits)
    checks = skore_checks(n_permutations=19)
    assert all(isinstance(check, skore.Check) for check in checks)
    report.checks.add(checks)
    fast = report.checks.summarize(fast_mode=True).frame()
    assert set(fast[fast.code.str.startswith("VD")].section) == {"skipped"}
    shown = report.checks.summarize()
    issues = shown.frame(section="issue").set_index("code")
    assert "Cure:" in issues.explanation["VD003"]
    assert "VD003" in repr(shown)
    other = skore.CrossValidationReport(
        DummyClassifier(), X, Y, splitter=StratifiedKFold(3)
    )
    other.checks.add(skore_checks(["VD001"], n_permutations=19))
    assert "VD001" in other.checks.summarize().frame(section="passed").code.to_list()

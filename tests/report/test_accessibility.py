"""Pages that everybody can read, as axe-core judges them in a real browser.

axe-core comes from npm: ``npm install --prefix build axe-core``, or name its folder in
AXE_CORE. Without it, or without a browser, these tests are skipped.
"""

from __future__ import annotations

import html
import json
import os
import re
from pathlib import Path

import pytest
from tests.report import (
    audit_records,
    estimates_records,
    records,
    test_correction,
    test_many,
)
from tests.report.browser import find_browser, visit

from veridical import report
from veridical._records import Check, Curve, Interval, Picture, StudyReport, StudyTable
from veridical.report import studies, watch

ROOT = Path(__file__).parent.parent.parent
AXE = Path(os.environ.get("AXE_CORE", ROOT / "build/node_modules/axe-core"))

pytestmark = [
    pytest.mark.skipif(find_browser() is None, reason="no Chromium here"),
    pytest.mark.skipif(not (AXE / "axe.min.js").is_file(), reason="no axe-core here"),
]

RUN = """
axe.run(document).then(function (found) {
  var kept = found.violations.map(function (v) {
    return {id: v.id, impact: v.impact, nodes: v.nodes.map(function (n) {
      return n.html.slice(0, 200) + " " + (n.any[0] || {message: ""}).message; })};
  });
  var pre = document.createElement("pre");
  pre.id = "axe";
  pre.textContent = JSON.stringify({checked: found.passes.length, violations: kept});
  document.body.appendChild(pre);
});
"""


def study():
    band = Interval(0.5, 0.4, 0.6)
    return StudyReport(
        study="in-vs-out",
        question="Which is better?",
        paper="Somebody (2007)",
        checks=(
            Check("A holds", "reproduced", "81 %", "80 % (n = 5)", "within 2"),
            Check("B holds", "not reproduced", "5 %", "9 %", "within 2"),
            Check("C holds", "open", "5 %", "too few", "within 2"),
        ),
        tables=(StudyTable("Table 1", ("Data", "n"), (("monks", "5"),), ("A note.",)),),
        pictures=(
            Picture(
                "Bias",
                "monks",
                "points",
                (("folds", ("2", "5", "10")),),
                (Curve("C4.5", (0, 1, 2), (band, band, band)),),
                band,
            ),
        ),
        notes=("A note.",),
        settings={"cells": "9"},
    )


def watched():
    return {
        "study": "in-vs-out",
        "store": "in-vs-out.sqlite",
        "planned": 9,
        "ok": 1,
        "failed": 1,
        "pending": 7,
        "cells_per_second": 2.0,
        "seconds_left": 3.5,
        "failures": [{"status": "error", "cell": {"n": 125}, "detail": "no"}],
        "looked": "12:00:00",
        "trouble": None,
        "findings": studies.to_json(study()),
    }


def saved(record):
    def write(path):
        return report.save(record(), path).read_text(encoding="utf-8")

    return write


PAGES = {
    "comparison": saved(records.honest),
    "comparison on noise": saved(records.random_labels),
    "comparison with truth": saved(records.with_truth),
    "several selectors": saved(lambda: test_many.made(2.0)),
    "estimates": saved(estimates_records.with_failure),
    "audit": saved(audit_records.leaky),
    "correction": saved(test_correction.record),
    "study": lambda path: studies.page(study()),
    "running study": lambda path: watch.page(watched()),
}


@pytest.mark.parametrize("name", PAGES)
def test_nothing_serious(name, tmp_path):
    page = PAGES[name](tmp_path / "page.html")
    # The page's own policy forbids scripts, and rightly; this copy is for the judge.
    judged, n = re.subn(r"<meta http-equiv=\"Content-Security[^>]*>", "", page)
    assert n == 1
    judged = re.sub(r"<meta http-equiv=\"refresh[^>]*>", "", judged)
    axe = (AXE / "axe.min.js").read_text(encoding="utf-8")
    script = f"<script>{axe}</script><script>{RUN}</script></body>"
    path = tmp_path / "judged.html"
    path.write_text(judged.replace("</body>", script), encoding="utf-8")

    found = re.search(r'<pre id="axe">(.*?)</pre>', visit(path, tmp_path).dom, re.S)

    assert found, "axe-core did not finish"
    result = json.loads(html.unescape(found[1]))
    assert result["checked"] > 10
    serious = [
        v for v in result["violations"] if v["impact"] in ("serious", "critical")
    ]
    assert serious == []

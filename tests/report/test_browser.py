"""The page as a browser sees it: silent, and content with what it has."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.report import estimates_records, records
from tests.report.browser import needs_browser, visit
from tests.report.hostile import PAYLOADS
from tests.report.markup import elements

from veridical import report

pytestmark = needs_browser


@pytest.mark.parametrize("kind", ["honest", "random_labels", "with_truth"])
def test_page_opens_without_requests_or_messages(kind, tmp_path):
    page = report.save(getattr(records, kind)(), tmp_path / "page.html")

    seen = visit(page, tmp_path)

    assert seen.console == []
    assert seen.requests == []
    assert "What may be claimed" in seen.dom


@pytest.mark.parametrize("kind", ["estimates", "with_truth"])
def test_page_of_estimates_opens_likewise(kind, tmp_path):
    page = report.save(getattr(estimates_records, kind)(), tmp_path / "page.html")

    seen = visit(page, tmp_path)

    assert seen.console == []
    assert seen.requests == []
    assert "The estimates side by side" in seen.dom


def test_hostile_names_make_no_element_in_a_browser(tmp_path):
    def dom(names):
        record = records.honest(
            feature_names=names, names={"a": names[0], "b": names[1]}
        )
        return visit(report.save(record, tmp_path / "page.html"), tmp_path)

    hostile = dom(PAYLOADS[:30])
    harmless = dom(tuple(f"name {i}" for i in range(30)))

    assert hostile.console == []
    assert hostile.requests == []
    assert Counter(elements(hostile.dom)) == Counter(elements(harmless.dom))


def test_the_watch_is_awake(tmp_path):
    """A page that does what ours must not is caught at both."""
    page = tmp_path / "bad.html"
    page.write_text(
        '<!doctype html><meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; img-src http:\">"
        '<img src="http://127.0.0.1:9/x.png"><script>alert(1)</script>'
    )

    seen = visit(page, tmp_path)

    assert "http://127.0.0.1:9/x.png" in seen.requests
    assert any("Content Security Policy" in message for message in seen.console)

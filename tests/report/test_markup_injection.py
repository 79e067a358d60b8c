"""Every payload in every place of every page: nothing but text comes of it."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from importlib import import_module

import pytest
from tests.report.injection_payloads import PAYLOADS
from tests.report.markup import Page
from tests.report.pages import CATALOGUE, kinds

#: A page of each kind, that with the most places for names.
RICHEST = {"comparison": "truth"}
ENTRIES = [
    entry for entry in CATALOGUE if entry[1] in (RICHEST.get(entry[0], ""), "bare")
]
POLICY = re.compile('<meta http-equiv="Content-Security-Policy[^>]*>')
# Tags and the names of attributes, counted by a real parser; but a box has a tabindex
# where it scrolls, which depends on how long names are.
COUNT = """
(root) => {
  const counts = {};
  for (const e of root.querySelectorAll("*")) {
    const names = e.getAttributeNames().filter((name) => name !== "tabindex");
    const key = [e.localName, ...names.sort()].join(" ");
    counts[key] = (counts[key] || 0) + 1;
  }
  return counts;
}
"""
# Go through all values of all pictures, and filter by a payload.
WORK = """
(payload) => {
  for (const picture of document.querySelectorAll("svg[role=img]")) {
    const keys = new KeyboardEvent("keydown", {key: "ArrowRight"});
    for (let i = 0; i < 12; i++) picture.dispatchEvent(keys);
  }
  for (const button of document.querySelectorAll(".vd-sort")) button.click();
  for (const input of document.querySelectorAll(".vd-filter input")) {
    for (const value of [payload, ""]) {
      input.value = value;
      input.dispatchEvent(new Event("input"));
    }
  }
}
"""


def hostile(start):
    """Say one payload after the other, numbered so that no two names are the same."""
    payloads = itertools.cycle(PAYLOADS[start:] + PAYLOADS[:start])
    numbers = itertools.count()
    return lambda _: f"{next(payloads)}{next(numbers)}"


def tame():
    """Say names of which nobody need be afraid."""
    numbers = itertools.count()
    return lambda _: f"name {next(numbers)}"


def title(entry):
    return "-".join(filter(None, entry))


def test_sixty_payloads_on_every_kind():
    assert len(set(PAYLOADS)) >= 60
    assert {kind for kind, _ in ENTRIES} == {kind for kind, _ in CATALOGUE}
    assert len(ENTRIES) >= len(kinds())


@pytest.mark.parametrize("entry", ENTRIES, ids=title)
def test_no_payload_becomes_markup(entry):
    """Place i says payload i + start; with all starts, below, each is in each place."""
    harmless = Page(CATALOGUE[entry](tame()))
    for start in range(0, len(PAYLOADS), 16):
        page = Page(CATALOGUE[entry](hostile(start)))
        assert Counter(page.elements) == Counter(harmless.elements)
        assert page.other == harmless.other


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("entry", ENTRIES, ids=title)
def test_every_payload_in_every_place(entry, every, browser, tmp_path):
    """As above with some or all starts, read by the browser's own parser."""
    read = f"(text) => ({COUNT})(new DOMParser().parseFromString(text, 'text/html'))"
    blank = tmp_path / "blank.html"
    blank.write_text("<!doctype html><title>x</title>")
    with browser.tab() as tab:
        tab.open(blank)
        tab.run(f"window.read = {read}; 0")
        harmless = call(tab, "read", CATALOGUE[entry](tame()))
        for start in range(0, len(PAYLOADS), every):
            assert call(tab, "read", CATALOGUE[entry](hostile(start))) == harmless


def call(tab, function, *arguments):
    """Call a function of the page; arguments go as data."""
    window = tab.call("Runtime.evaluate", expression="window")["result"]["objectId"]
    answer = tab.call(
        "Runtime.callFunctionOn",
        functionDeclaration=f"function (...given) {{ return ({function})(...given); }}",
        objectId=window,
        arguments=[{"value": argument} for argument in arguments],
        returnByValue=True,
    )
    assert "exceptionDetails" not in answer, answer
    return answer["result"].get("value")


@pytest.mark.in_part(2)
@pytest.mark.parametrize("entry", ENTRIES, ids=title)
def test_no_payload_runs_in_a_browser(entry, browser, tmp_path):
    """With and without the policy, and after every control has been worked."""

    def visit(say, *, policy):
        text = CATALOGUE[entry](say)
        path = tmp_path / "page.html"
        path.write_text(text if policy else POLICY.sub("", text), encoding="utf-8")
        tab.open(path)
        call(tab, WORK, PAYLOADS[0])
        assert tab.run("window.__pwned") is None
        assert tab.complaints == []
        assert tab.requests == []
        return call(tab, f"(() => ({COUNT})(document))")

    with browser.tab() as tab:
        tab.call(
            "Page.addScriptToEvaluateOnNewDocument",
            source="window.alert = () => { window.__pwned = true; };",
        )
        start = 7 * ENTRIES.index(entry) % len(PAYLOADS)
        found = visit(hostile(start), policy=False)
        harmless = visit(tame(), policy=True)
        assert visit(hostile(start + 30), policy=True) == harmless
        policies = [key for key in harmless if "http-equiv" in key]
        for key in policies:
            found.pop(key, None)
            harmless.pop(key)
        assert found == harmless


def test_scripts_run_on_a_page_without_escaping(browser, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text(f"<!doctype html><p>{PAYLOADS[12]}<p>{PAYLOADS[0]}")
    with browser.tab() as tab:
        tab.call(
            "Page.addScriptToEvaluateOnNewDocument",
            source="window.alert = () => { window.__pwned = true; };",
        )
        tab.open(bad)
        assert tab.run("window.__pwned") is True
        assert "img onerror src" in call(tab, f"(() => ({COUNT})(document))")


@pytest.mark.parametrize("entry", CATALOGUE, ids=title)
def test_a_page_shows_no_name_of_our_own_classes(entry):
    classes = vars(import_module("veridical.report.view"))
    text = re.sub(r"<(script|style).*?</\1>", "", CATALOGUE[entry](tame()), flags=re.S)
    shown = set(re.findall(r"\b[A-Z]\w+", re.sub(r"<[^>]*>", " ", text)))
    ours = {name for name in classes if re.fullmatch(r"[A-Z][a-z]+[A-Z]\w+", name)}
    assert "TableCell" in ours
    assert not shown & ours

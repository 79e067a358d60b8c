"""Every kind of page in a real browser: what must hold for each, and how each looks.

axe-core comes from npm: ``npm install --prefix build axe-core``, or name its folder in
AXE_CORE. Pictures of all pages go to the folder named in VERIDICAL_SHOTS, else to
build/pages: light, dark, on a phone and in print.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest
from tests.report.all_records import KINDS
from tests.report.browser import DESK, PHONE
from tests.report.page_texts import plain
from tests.report.pages import CATALOGUE, kinds

from veridical.comparison.records import Bias, Truthfulness

ROOT = Path(__file__).parent.parent.parent
AXE = Path(os.environ.get("AXE_CORE", ROOT / "build/node_modules/axe-core/axe.min.js"))
# What of a table lies outside its box, and options of commands that are broken.
CUT = """
[...document.querySelectorAll(".vd-scroll")]
  .filter((e) => e.scrollWidth > e.clientWidth)
  .map((e) => e.getAttribute("aria-label"))
  .concat([...document.querySelectorAll(".vd-option")]
    .filter((e) => e.getClientRects().length > 1)
    .map((e) => e.textContent))
"""
SHOTS = Path(os.environ.get("VERIDICAL_SHOTS", ROOT / "build/pages"))
PAPER = (717, 1047)  # A4 without a centimetre on each side

# What sticks out to the right of the window, but for what scrolls in a box of its own;
# in print nothing scrolls, so nothing may stick out of its box either.
OUTSIDE = """
[...document.querySelectorAll("main, main *, footer")].filter((e) => {
  const box = matchMedia("print").matches ? e : e.closest(".vd-scroll") || e;
  const right = box.getBoundingClientRect().right;
  return right > document.documentElement.clientWidth + 1;
}).map((e) => e.outerHTML.slice(0, 120))
"""
# Of the rules, only contrast depends on the colours.
JUDGE = """
(rules) => axe.run(document, {
  resultTypes: ["violations"], ...(rules ? {runOnly: rules} : {})
}).then((found) => found.violations
  .filter((v) => ["serious", "critical"].includes(v.impact))
  .map((v) => v.id + ": " + v.nodes.map((n) => n.html.slice(0, 200) + " "
    + ((n.any[0] || {}).message || "")).join("; ")))
"""
STRUCTURE = """
({
  first: [...document.querySelectorAll("main h1, main h2, main svg[role=img],"
    + " main table, main dl.vd-list")]
    .filter((e) => !e.closest("details")).map((e) => e.localName),
  h1: document.querySelectorAll("h1").length,
  headings: [...document.querySelectorAll("h2")].map((e) => e.textContent),
  pictures: [...document.querySelectorAll("svg[role=img]")]
    .map((e) => e.getAttribute("aria-label")),
  silent: [...document.querySelectorAll("svg:not([role=img])")]
    .filter((e) => e.getAttribute("aria-hidden") !== "true").length,
  captions: [...document.querySelectorAll("table")]
    .filter((e) => !e.caption || !e.caption.textContent.trim()).length,
  scopes: document.querySelectorAll("th:not([scope])").length,
  toggles: document.querySelectorAll(".vd-toggle").length,
  provenance: [...document.querySelectorAll("section")].at(-1).textContent,
  lang: document.documentElement.lang,
  title: document.title,
})
"""


def title(entry):
    return "-".join(filter(None, entry))


def test_no_kind_is_forgotten():
    shown = {type(make()) for make in KINDS.values()}
    # Two tests share the view of their base class.
    assert shown - {Truthfulness, Bias} == kinds()
    assert shown >= {Truthfulness, Bias}
    assert len(kinds()) >= 13


@pytest.mark.parametrize("entry", CATALOGUE, ids=title)
def test_page_is_accessible_and_fits_every_screen(entry, browser, tmp_path):
    """One visit for all that must hold: a browser takes its time to open a page."""
    path = tmp_path / "page.html"
    path.write_text(CATALOGUE[entry](plain), encoding="utf-8")
    SHOTS.mkdir(parents=True, exist_ok=True)
    with browser.tab() as tab:
        tab.open(path)
        check_design(tab.run(STRUCTURE), entry[1])
        check_looks(tab, title(entry))
        assert tab.complaints == []
        assert tab.requests == []
        # The wide page differs from the others in its length alone.
        if AXE.is_file() and entry[1] != "wide":
            check_access(tab)


def check_looks(tab, name):
    """Light, dark, on a phone and in print nothing is cut or unreadable."""

    def shoot(look):
        tab.screenshot(SHOTS / f"{name}-{look}.png")

    tab.look(DESK)
    shoot("light")
    assert not light_on_dark(tab)
    assert tab.run(OUTSIDE) == []
    assert tab.run(CUT) == []
    tab.look(PHONE, dark=True)
    assert tab.run("document.documentElement.scrollWidth") <= PHONE[0]
    assert tab.run(OUTSIDE) == []
    assert light_on_dark(tab)
    shoot("phone")
    tab.look(PAPER, dark=True, media="print")
    assert tab.run(OUTSIDE) == []
    assert not light_on_dark(tab)
    shoot("print")
    # The first picture fits below the answer, so that page one is not left half empty.
    first = "document.querySelector('.vd-band')"
    if tab.run(f"!!{first}"):
        assert tab.run(f"{first}.getBoundingClientRect().bottom + scrollY") <= PAPER[1]
        kept = f"getComputedStyle({first}.closest('figure')).breakInside"
        assert tab.run(kept) == "auto"
    assert tab.print().startswith(b"%PDF")


def light_on_dark(tab):
    """Whether letters are lighter than what is behind them, in pictures too."""
    letters, pictured, (paper,) = (
        tab.run(
            f"[...document.querySelectorAll('{where}')].map(e => getComputedStyle(e)"
            f".{what}.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0))"
        )
        for where, what in (
            ("h1", "color"),
            ("svg g:not(.vd-box) > text, svg > text", "fill"),
            ("body", "backgroundColor"),
        )
    )
    lighter = {ink > paper for ink in letters + pictured}
    assert len(lighter) == 1
    return lighter.pop()


@pytest.mark.parametrize("entry", [e for e in CATALOGUE if not e[1]], ids=title)
def test_endless_names_fit_everywhere(entry, browser, tmp_path):
    """Names without a space to break at; in a picture they may be cut."""
    numbers = itertools.count()
    path = tmp_path / "page.html"
    text = CATALOGUE[entry](lambda _: f"{120 * 'W'}{next(numbers)}")
    path.write_text(text, encoding="utf-8")
    outside = OUTSIDE.replace("main *", "main *:not(svg *)")
    with browser.tab() as tab:
        tab.open(path)
        for size, media in ((DESK, ""), (PHONE, ""), (PAPER, "print")):
            tab.look(size, media=media)
            assert tab.run("document.documentElement.scrollWidth") <= size[0]
            assert tab.run(outside) == []


def check_design(seen, special):
    """The answer, the picture, the tables, and last how it came about."""
    assert seen["h1"] == 1
    first = seen["first"]
    assert first[0] == "h1"
    if special != "young":  # of which there is nothing to show yet
        assert first.index("svg") < first.index("table")
    assert seen["headings"][-1] == "Method and provenance"
    assert all(len(words) > 20 for words in seen["pictures"])
    assert (seen["silent"], seen["captions"], seen["scopes"]) == (0, 0, 0)
    assert seen["toggles"] <= 1  # it stands for the whole page
    assert seen["lang"] == "en"
    assert seen["title"].strip()
    if special not in ("young", "wide", "bare"):  # made without any
        said, _, repeat = seen["provenance"].partition("To repeat this analysis")
        for words in ("Seed", "SHA-256", "5f70bf18", "scikit-learn 1.6.0", "Record"):
            assert words in said, words
        assert "veridical " in repeat


def check_access(tab):
    """axe-core finds nothing serious, in light or dark."""
    tab.look(DESK)
    tab.run(AXE.read_text(encoding="utf-8"))
    assert tab.run(f"({JUDGE})()", wait=True) == []
    tab.look(DESK, dark=True)
    assert tab.run(f"({JUDGE})(['color-contrast'])", wait=True) == []


@pytest.mark.skipif(not AXE.is_file(), reason="no axe-core here")
def test_accessibility_checker_finds_a_violation(browser, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<!doctype html><html lang="en"><title>x</title><main><h1>x</h1>'
        '<p style="color: #ccc">pale</p><img src="data:,"></main>'
    )
    with browser.tab() as tab:
        tab.open(bad)
        tab.run(AXE.read_text(encoding="utf-8"))
        found = " ".join(tab.run(f"({JUDGE})()", wait=True))
        assert "color-contrast" in found
        assert "image-alt" in found
        assert "contrast" in tab.run(f"({JUDGE})(['color-contrast'])", wait=True)[0]


def test_browser_checks_find_every_violation(browser, tmp_path):
    """A page that does what ours must not is caught at all of it."""
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<!doctype html><meta name="viewport" content="width=device-width">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; img-src http:; style-src 'unsafe-inline'\">"
        '<img src="http://127.0.0.1:9/x.png"><script>alert(1)</script>'
        '<main><p style="width: 900px">wide</p></main>'
    )
    with browser.tab(PHONE) as tab:
        tab.open(bad)
        assert "http://127.0.0.1:9/x.png" in tab.requests
        assert any("Content Security Policy" in said for said in tab.complaints)
        assert tab.run(OUTSIDE)
        tab.look(PAPER, media="print")
        assert tab.run(OUTSIDE)

"""The controls of a page, worked by mouse and keys in a real browser."""

from __future__ import annotations

import re

import pytest
from tests.report.page_texts import plain
from tests.report.pages import CATALOGUE

FEATURES = (
    "[...document.querySelectorAll('table')].find((t) => t.tBodies[0].rows.length > 15)"
)
ROWS = f"[...({FEATURES}).tBodies[0].rows]"
SHOWN = f"{ROWS}.filter((r) => r.checkVisibility()).map((r) => r.cells[0].textContent)"


@pytest.fixture
def show(browser, tmp_path):
    """Open pages of the catalogue in a tab of their own."""
    opened = []

    def open_page(kind, special="", **options):
        path = tmp_path / "page.html"
        path.write_text(CATALOGUE[kind, special](plain), encoding="utf-8")
        context = browser.tab(**options)
        tab = context.__enter__()
        opened.append((context, tab))
        tab.open(path)
        return tab

    yield open_page
    for context, tab in opened:
        assert tab.complaints == []
        context.__exit__(None, None, None)


def focused(tab):
    return tab.run("document.activeElement.outerHTML.slice(0, 300)")


# -- tables --------------------------------------------------------------------------


def column(tab, place):
    texts = tab.run(f"{ROWS}.map((r) => r.cells[{place}].textContent)")
    return [int(text.split()[0]) if text[0].isdigit() else None for text in texts]


def test_a_column_sorts_by_mouse_and_keys(show):
    tab = show("comparison")
    names = tab.run(SHOWN)
    before = column(tab, 1)
    button = f"({FEATURES}).tHead.rows[0].cells[1].firstElementChild"
    order = f"({FEATURES}).tHead.rows[0].cells[1].getAttribute('aria-sort')"
    assert tab.run(order) == "none"

    tab.point(button, click=True)
    assert tab.run(order) == "descending"
    assert column(tab, 1) == sorted(before, reverse=True)
    tab.press("Enter")
    assert tab.run(order) == "ascending"
    assert column(tab, 1) == sorted(before)
    tab.press(" ")
    assert tab.run(order) == "none"
    assert tab.run(SHOWN) == names


def test_words_sort_by_letters_and_what_is_missing_comes_last(show):
    tab = show("comparison")
    names = tab.run(SHOWN)
    tab.run(f"({FEATURES}).tHead.rows[0].cells[0].firstElementChild.click()")
    assert tab.run(SHOWN) == sorted(names)
    out = f"({FEATURES}).tHead.rows[0].cells[2]"
    for turn in ("ascending", "descending"):
        tab.run(f"{out}.firstElementChild.click()")
        assert tab.run(f"{out}.getAttribute('aria-sort')") == turn
        texts = tab.run(
            f"[...({FEATURES}).tBodies[0].rows].map((r) => r.cells[2].textContent)"
        )
        assert texts == ["yes"] * 5 + ["\N{EN DASH}"] * (len(names) - 5)
    sorts = (
        f"[...({FEATURES}).tHead.rows[0].cells].map((c) => c.getAttribute('aria-sort'))"
    )
    assert tab.run(sorts).count("none") == 4


def test_numbers_sort_as_numbers(show):
    """Minus signs, intervals and p-values are no obstacle."""
    tab = show("many")
    pairs = (
        "[...document.querySelectorAll('table')]"
        ".find((t) => t.caption.textContent.startsWith('IN: first'))"
    )
    for place in (2, 3, 4):
        tab.run(f"{pairs}.tHead.rows[0].cells[{place}].firstElementChild.click()")
        texts = tab.run(
            f"[...{pairs}.tBodies[0].rows].map((r) => r.cells[{place}].textContent)"
        )
        numbers = [
            float(re.search(r"-?\d+\.\d+", text.replace("\N{MINUS SIGN}", "-"))[0])
            for text in texts
        ]
        assert numbers == sorted(numbers, reverse=True)
        assert len(set(numbers)) > 3


def test_long_tables_can_be_filtered(show):
    tab = show("selection")
    names = tab.run(f"{ROWS}.map((r) => r.cells[1].textContent)")
    tab.point("document.querySelector('.vd-filter input')", click=True)
    tab.press("x", "5")
    wanted = [name for name in names if "x5" in name.lower()]
    shown = (
        f"{ROWS}.filter((r) => r.checkVisibility()).map((r) => r.cells[1].textContent)"
    )
    assert 0 < len(wanted) < len(names)
    assert tab.run(shown) == wanted
    said = tab.run("document.querySelector('.vd-filter output').value")
    assert said == f"{len(wanted)} of {len(names)} rows"
    tab.run(f"({FEATURES}).tHead.rows[0].cells[0].firstElementChild.click()")
    assert tab.run(shown) == wanted[::-1]  # a sorted table stays filtered


# -- protocols -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "special"), [("comparison", "truth"), ("audit", ""), ("many", "")]
)
def test_a_protocol_can_be_hidden(show, kind, special):
    tab = show(kind, special)
    seen = (
        "['in', 'out', 'truth'].map((p) => [...document.querySelectorAll("
        "`[data-protocol=${p}]`)].filter((e) => e.checkVisibility()).length)"
    )
    both = tab.run(seen)
    assert min(both[:2]) >= 2  # the picture and a row
    tab.point("document.querySelector('.vd-toggle [value=in]')", click=True)
    assert tab.run(seen) == [both[0], 0, both[2]]
    tab.press("ArrowRight")  # as radio buttons do
    assert tab.run(seen) == [0, both[1], both[2]]
    tab.press("ArrowRight")
    assert tab.run(seen) == both
    assert tab.run("document.querySelector('.vd-toggle legend').textContent")


def test_rows_keep_their_columns_without_a_protocol(show):
    tab = show("comparison")
    tab.run("document.querySelector('.vd-toggle [value=in]').click()")
    places = tab.run(
        f"[({FEATURES}).tHead.rows[0], ({FEATURES}).tBodies[0].rows[0]].map((r) =>"
        "[...r.cells].filter((c) => c.checkVisibility()).map((c) =>"
        "Math.round(c.getBoundingClientRect().right)))"
    )
    assert places[0] == places[1]
    assert len(places[0]) == 3


# -- pictures ------------------------------------------------------------------------


def test_a_picture_tells_its_values_by_pointer_and_keys(show):
    tab = show("comparison")
    tip = "document.querySelector('.vd-frame .vd-tip').textContent"
    tab.point("document.querySelector('.vd-mean .vd-dot').parentNode.lastChild")
    tab.point("document.querySelector('svg[role=img] .vd-mean text')")
    assert re.fullmatch(
        r"ReliefF, mean 89\.7 % \(84\.3 to 95\.1 %\), n = 10", tab.run(tip)
    )
    tab.run("document.querySelector('svg[role=img]').focus()")
    tab.press("ArrowRight")
    first = tab.run(tip)
    tab.press("ArrowRight")
    assert tab.run(tip) != first
    tab.press("Escape")
    assert tab.run(tip) == ""
    assert tab.run("document.querySelector('.vd-tip').getAttribute('role')") == "status"


@pytest.mark.parametrize("entry", CATALOGUE, ids="-".join)
def test_every_picture_has_values_to_point_at(entry):
    page = re.sub('<svg class="vd-ribbon.*?</svg>', "", CATALOGUE[entry](plain))
    pictures = re.findall(r"<svg class=\"vd-band-picture.*?</svg>", page, re.DOTALL)
    assert pictures or entry == ("watch", "young")
    for picture in pictures:
        assert re.search(
            "<title>[^<]*[0-9a-z]</title>|<title>[^<]*[%)]</title>", picture
        )


# -- keyboard and paper ----------------------------------------------------------------


def test_keys_reach_everything_in_order(show):
    tab = show("comparison", size=(1400, 900))
    tab.press("Tab")
    assert "Skip to the answer" in focused(tab)
    assert tab.run("document.activeElement.getBoundingClientRect().x") >= 0
    tab.press("Enter")
    assert focused(tab).startswith("<main")
    places, kinds = [], set()
    for _ in range(60):
        tab.press("Tab")
        if focused(tab).startswith("<body"):
            break  # the end of the page
        places.append(
            tab.run(
                "((e) => e.getBoundingClientRect().y + scrollY"
                " + (e.closest('.vd-tall') || {scrollTop: 0}).scrollTop"
                ")(document.activeElement)"
            )
        )
        kinds.add(tab.run("document.activeElement.localName"))
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert tab.run(outline) != "none", focused(tab)
    assert places == sorted(places)
    assert len(places) > 10
    assert {"input", "svg", "summary", "div", "button"} <= kinds


def test_what_is_folded_away_opens_with_a_key(show):
    tab = show("comparison")
    tab.run("document.querySelector('summary').focus()")
    tab.press("Enter")
    assert tab.run("document.querySelector('details').open")


def test_the_contents_lead_to_their_sections(show):
    tab = show("many", size=(1400, 900))
    n = tab.run("document.querySelectorAll('.vd-nav a').length")
    assert n == tab.run("document.querySelectorAll('main h2').length") > 4
    tab.point("[...document.querySelectorAll('.vd-nav a')].at(-1)", click=True)
    top = "document.querySelector(location.hash).getBoundingClientRect().y"
    assert 0 <= tab.until(f"{top} < 900 && {top}") < 900
    tab.look((1000, 800))
    assert not tab.run("document.querySelector('.vd-nav').checkVisibility()")


def test_paper_has_no_controls_but_all_values(show):
    tab = show("audit")
    tab.look((717, 1047), media="print")
    controls = ".vd-toggle, .vd-filter, .vd-nav, .vd-tip, .vd-skip"
    found = f"[...document.querySelectorAll('{controls}')]"
    assert tab.run(f"{found}.length") > 3
    assert tab.run(f"{found}.filter((e) => e.checkVisibility()).length") == 0
    columns = "document.querySelector('details.vd-printed p')"
    assert tab.run(f"{columns}.getBoundingClientRect().height") > 10


def test_a_page_is_whole_without_its_script(browser, tmp_path):
    path = tmp_path / "page.html"
    path.write_text(CATALOGUE["comparison", ""](plain), encoding="utf-8")
    with browser.tab() as tab:
        tab.call("Emulation.setScriptExecutionDisabled", value=True)
        tab.open(path)
        assert tab.run("document.querySelectorAll('svg title').length") > 20
        assert tab.run("document.querySelectorAll('.vd-sort, .vd-filter').length") == 0
        assert len(tab.run(SHOWN)) > 15
        tab.point("document.querySelector('.vd-toggle [value=in]')", click=True)
        hidden = "document.querySelector('[data-protocol=out]').checkVisibility()"
        assert tab.run(hidden) is False

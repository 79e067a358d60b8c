"""Every example in the README and the documentation runs and prints what it says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```pycon\n(.*?)^```", re.MULTILINE | re.DOTALL)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def examples(page: Path) -> str:
    return "\n".join(FENCE.findall(page.read_text(encoding="utf-8")))


def test_pages_with_examples_are_found():
    with_examples = {page.stem for page in PAGES if examples(page)}
    assert {"README", "relieff", "anova", "many-training-sets"} <= with_examples


@pytest.mark.parametrize(
    "page", [p for p in PAGES if examples(p)], ids=lambda p: str(p.relative_to(ROOT))
)
def test_examples_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(
        examples(page), {}, page.name, str(page), 0
    )
    lines: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=lines.append)
    assert result.attempted > 0
    assert result.failed == 0, "".join(lines)


def test_every_selector_has_a_page():
    from veridical.selection import SELECTORS, __all__

    names = {cls.__name__ for cls in SELECTORS.values()} | {"MDLDiscretizer"}
    assert names <= set(__all__)
    titles = {
        page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        for page in (ROOT / "docs" / "selectors").glob("*.md")
    }
    assert names <= titles

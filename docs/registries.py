"""What pages list from registries: the table of selectors, the names of estimators.

Names, abilities and costs come from ``veridical.selection.SELECTORS``; what a selector
is good for is the beginning of the paragraph **Good for** of its page. The names of
estimators come from ``veridical.learning.ESTIMATORS``.
"""

from __future__ import annotations

import re
from pathlib import Path

from veridical.learning import ESTIMATORS
from veridical.selection import SELECTORS

PAGES = Path(__file__).parent / "selectors"
TABLE = "<!-- table of selectors -->"
NAMES = "<!-- names of estimators -->"
HEADINGS = (
    *("selector", "on the command line", "good for", "time of a fit"),
    *("categorical", "missing", "sparse", "weights", "targets"),
)
WEIGHTS = {"any": "any", "whole": "whole numbers", "none": "–"}


def find_pages() -> dict[str, Path]:
    """Return the pages by their titles."""
    pages = sorted(PAGES.glob("*.md"))
    return {page.read_text(encoding="utf-8").split("\n")[0][2:]: page for page in pages}


def good_for(page: Path) -> str:
    """Return what a page says its selector is good for, up to the first stop."""
    text = page.read_text(encoding="utf-8")
    found = re.search(r"^\*\*Good for\*\* (.*?)(?:[:;]|\.\s)", text, re.M | re.S)
    if found is None:
        raise ValueError(f"{page.name} has no paragraph that begins with **Good for**")
    return " ".join(found[1].split())


def make_table() -> str:
    """Return the table as Markdown, one row for each registered selector."""
    pages = find_pages()
    rows = [HEADINGS, ("---",) * len(HEADINGS)]
    for name, cls in SELECTORS.items():
        page = pages[cls.__name__]
        abilities = cls._abilities
        can = (abilities.categorical, abilities.missing, abilities.sparse)
        words = ("yes" if it else "–" for it in can)
        link = f"[{cls.__name__}]({page.name})"
        rows.append(
            (
                link,
                f"`{name}`",
                good_for(page),
                cls._cost.time,
                *words,
                WEIGHTS[abilities.weights],
                ", ".join(abilities.targets),
            )
        )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def fill(source: str) -> str:
    """Put the table and the names where a page has their marks."""
    names = ", ".join(f"`{name}`" for name in ESTIMATORS)
    return source.replace(TABLE, make_table()).replace(NAMES, f": {names}")

"""The README's table of speeds, made from ``RESULTS.md``.

``make bench`` writes it; ``python -m benchmarks.readme_table`` rewrites it without
measuring.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from benchmarks import store

ROOT = Path(__file__).resolve().parent.parent
RESULTS, README = ROOT / "benchmarks" / "RESULTS.md", ROOT / "README.md"
BEGIN, END = "<!-- speeds: written by make bench -->", "<!-- end of speeds -->"


@dataclass(frozen=True)
class Line:
    """A case that is shown in the README.

    Parameters
    ----------
    case : str
        Its name in ``RESULTS.md``.
    words : str
        What is done.
    ours : str
        The contender that is veridical.
    others : tuple of (contender, words)
        Whom to show beside it, and what they are called here.
    """

    case: str
    words: str
    ours: str
    others: tuple[tuple[str, str], ...]


LINES = (
    Line(
        "relieff",
        "ReliefF",
        "veridical",
        (("fast-select", "fast-select"), ("Weka", "Weka"), ("skrebate", "skrebate")),
    ),
    Line(
        "relieff-folds",
        "ReliefF for ten training folds",
        "veridical",
        (("fast-select, ten fits", "fast-select"),),
    ),
    Line(
        "information-gain",
        "information gain with MDL cuts",
        "veridical",
        (("Weka", "Weka"),),
    ),
    Line(
        "mrmr",
        "mRMR, 100 features",
        "veridical",
        (("mrmr_selection, default", "mrmr_selection"),),
    ),
    Line("anova", "F ratio", "veridical", (("scikit-learn", "scikit-learn"),)),
    Line(
        "compare",
        "`compare` two selectors, ten folds, inside and outside",
        "veridical",
        (("Pipeline with skrebate", "a quarter of it by Pipeline with skrebate"),),
    ),
    Line("c45-numbers", "C4.5", "veridical", (("Weka J48", "Weka's J48"),)),
    Line(
        "lufe-grid",
        "245 SVM+ problems of a grid",
        "veridical",
        (("piqp, well-scaled dual", "piqp"),),
    ),
    Line(
        "bootstrap-632-plus",
        ".632+ bootstrap, 100 samples",
        "veridical",
        (("mlxtend", "mlxtend"),),
    ),
    Line(
        "leave-one-out",
        "leave-one-out, naive Bayes",
        "veridical",
        (("scikit-learn", "scikit-learn"),),
    ),
)


def update() -> None:
    """Put the table into the README."""
    lines = table(RESULTS.read_text(encoding="utf-8"))
    store.write_between(README, BEGIN, END, lines)


def table(results: str) -> str:
    """Make the table from the page of results."""
    rows = ["| | size | veridical | others, in times of that |", "|---|---|---|---|"]
    for line in LINES:
        size, found = read_case(results, line.case)
        seconds = float(found[line.ours][0].removeprefix("≈ "))
        beside = [f"{words} {found[name][1]}" for name, words in line.others]
        rows.append(
            f"| {line.words} | {size} | {seconds:.2g} s | {', '.join(beside)} |"
        )
    return "\n".join(rows)


def read_case(results: str, case: str) -> tuple[str, dict[str, tuple[str, str]]]:
    """Read the size of a case, and seconds and ratio of each contender."""
    section = re.search(
        rf"^`{re.escape(case)}`: (.*?), measured.*?(?=^## |\Z)", results, re.M | re.S
    )
    if section is None:
        raise KeyError(
            f"RESULTS.md has no case {case}; run python -m benchmarks {case}"
        )
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|", section[0], re.M)
    return section[1], {name: (seconds, ratio) for name, seconds, ratio in rows}


if __name__ == "__main__":
    update()

"""The README's table of speeds is that of the benchmarks."""

from __future__ import annotations

import pytest
from benchmarks.cases import CASES

from benchmarks import readme_table

PAGE = """\
## A case

`some`: 20 × 30, measured on a day (code x).

| contender | seconds | ratio | memory | result |
| --- | --- | --- | --- | --- |
| veridical | 0.0124 | 1.00 × | 2 MiB | — |
| other | 5.75 | 464 × | — | agrees |

## Another

`more`: 1 × 1, measured on a day (code x).

| veridical | 7 | 1.00 × | — | — |
"""


def test_the_readme_says_what_was_measured():
    shown = readme_table.README.read_text(encoding="utf-8")
    shown = shown.split(readme_table.BEGIN)[1].split(readme_table.END)[0].strip()
    measured = readme_table.table(readme_table.RESULTS.read_text(encoding="utf-8"))
    assert shown == measured, "run python -m benchmarks.readme_table"


def test_a_case_is_read():
    size, found = readme_table.read_case(PAGE, "some")
    assert size == "20 × 30"
    assert found["other"] == ("5.75", "464 ×")
    assert found["veridical"] == ("0.0124", "1.00 ×")
    assert readme_table.read_case(PAGE, "more")[1] == {"veridical": ("7", "1.00 ×")}


def test_a_case_that_is_missing_is_named():
    with pytest.raises(KeyError, match="python -m benchmarks none"):
        readme_table.read_case(PAGE, "none")


def test_lines_name_cases_and_contenders_that_exist():
    for line in readme_table.LINES:
        case = CASES[line.case]
        assert case.contender(line.ours)
        assert all(case.contender(name) for name, _ in line.others)

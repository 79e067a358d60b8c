"""Tables on a terminal: nothing is lost, however narrow it is."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from tests.report.all_records import KINDS

from veridical import report
from veridical.report.render.terminal import MOST_ROWS, TextTable
from veridical.report.view import table

RULE = "─"


def printed(what, width):
    console = Console(width=width, file=io.StringIO(), force_terminal=False)
    console.print(what)
    return console.file.getvalue()


def characters(*texts):
    return sorted("".join("".join(texts).split()))


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("kind", KINDS)
def test_every_character_of_a_table_is_shown(kind, width):
    for rows in report.view(KINDS[kind]()).tables:
        shown = printed(TextTable(rows), width)
        flat = rows.flat(narrow=True)
        expected = characters(
            rows.caption,
            *(column.header for column in flat.columns),
            *(cell.text for row in flat.rows[:MOST_ROWS] for cell in row.cells),
        )
        assert characters(shown.replace(RULE, "")) == expected
        assert max(map(len, shown.splitlines())) <= width


def test_two_selectors_fit_eighty_columns():
    shown = printed(KINDS["comparison"](), 80).splitlines()
    assert sum(line.rstrip().endswith("10 folds") for line in shown) == 2
    (head,) = [line for line in shown if line.startswith("Selection")]
    assert head.rstrip().endswith(" n")
    known = printed(KINDS["comparison-truth"](), 80).splitlines()
    (truth,) = [line for line in known if line.startswith("TRUTH ")]
    assert truth.rstrip().endswith("100 data sets")


def test_several_selectors_fit_eighty_columns():
    pairs = report.view(KINDS["many"]()).tables[1]
    shown = printed(TextTable(pairs), 80)
    assert "p = " not in shown
    lines = shown.splitlines()
    (head,) = [line for line in lines if line.startswith("First")]
    assert head.split()[-1] == "Verdict"
    n_pairs = len(pairs.rows)
    assert sum(line.rstrip().endswith("no significant") for line in lines) == n_pairs
    assert sum(line.strip() == "difference" for line in lines) == n_pairs


def test_what_matters_least_is_folded_first():
    rows = table("", "Name! | Mean accuracy#", [("one two three", "80.0 to 90.0 %")])

    def lines(width):
        return [line.split() for line in printed(TextTable(rows), width).splitlines()]

    whole = ["one", "two", "three", "80.0", "to", "90.0", "%"]
    assert lines(29)[-1] == whole
    assert lines(28)[-2:] == [["one", "two", "80.0", "to", "90.0", "%"], ["three"]]
    assert lines(20)[-3][1:] == ["80.0", "to", "90.0", "%"]
    assert "90.0" not in lines(15)[-3]


def test_words_of_a_column_of_numbers_are_folded_before_long_words():
    heads = "Name! | Coverage#"
    rows = table("", heads, [("cross-validation", "not measured in designs like this")])
    shown = printed(TextTable(rows), 30)
    assert "cross-validation" in shown
    assert max(map(len, shown.splitlines())) <= 30

"""Every registered selector is under test, and says truly what it reads."""

from pathlib import Path

import pytest
from tests.selection.rows import ROWS, each

from veridical.selection import SELECTORS

TARGETS = [
    (name, target)
    for name, selector in SELECTORS.items()
    for target in selector._abilities.targets
]


@pytest.mark.parametrize(("name", "target"), TARGETS)
def test_every_selector_has_something_to_be_held_against_for_every_target(name, target):
    rows = [row for row in ROWS if row.selector is SELECTORS[name]]
    rows = [row for row in rows if row.target == target]
    assert rows, f"no file of tests/selection/rows has a row of {name} for {target}"
    if not any(row.oracle for row in rows):
        assert any(row.tested_in for row in rows), f"{name} has no oracle for {target}"


def test_names_of_rows_are_unique_and_files_that_test_exist():
    names = [row.name for row in ROWS]
    assert len(set(names)) == len(names)
    named = {row.tested_in for row in ROWS} - {""}
    assert all((Path(__file__).parent / name).exists() for name in named)


@each()
def test_rows_and_classes_agree_on_what_is_read(row):
    abilities = row.selector._abilities
    assert row.categorical == abilities.categorical
    assert row.missing == abilities.missing
    assert row.sparse == abilities.sparse
    assert (row.weights or "none") == abilities.weights

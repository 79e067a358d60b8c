"""The selectors under test: what they read and what they should say.

Every file of this folder but ``declare.py`` has the rows of one selector, ``ROWS``. To
put a new selector under every test of this folder, add a file with its oracle and its
rows; ``test_rows.py`` says which selector has none.
"""

from importlib import import_module
from pathlib import Path

import pytest
from tests.selection.rows.declare import Row

_FILES = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))

ROWS: list[Row] = [
    row
    for name in _FILES
    if name != "declare"
    for row in import_module(f"tests.selection.rows.{name}").ROWS
]


def each_selector(*abilities):
    """Run a test for the first row of every selector that has the abilities."""
    rows = {row.selector: row for row in reversed(ROWS) if row.target == "classes"}
    rows = [row for row in rows.values() if all(getattr(row, a) for a in abilities)]
    return pytest.mark.parametrize("row", rows[::-1], ids=lambda row: row.name)


def each(*abilities):
    """Run a test for every row of classes that has the abilities."""
    return _each(abilities, {"classes"})


def each_outcome(*abilities):
    """Run a test for every row of numbers or survival that has the abilities."""
    return _each(abilities, {"numbers", "survival"})


def _each(abilities, targets):
    rows = [row for row in ROWS if all(getattr(row, a) for a in abilities)]
    rows = [row for row in rows if row.target in targets]
    return pytest.mark.parametrize("row", rows, ids=lambda row: row.name)

"""One command measures all that pages show, in the time that it promises."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from shutil import copy

from benchmarks.truth import choices, claims
from benchmarks.truth.__main__ import AT_ONCE, BUDGET, LIMITS, SHIPPED


def test_the_limits_of_all_scripts_are_within_the_budget():
    assert sum(LIMITS.values()) + sum(AT_ONCE.values()) <= BUDGET == 120


def test_every_script_is_there():
    for name in (*LIMITS, *AT_ONCE):
        assert find_spec(f"benchmarks.truth.{name}") is not None


def test_the_tables_that_ship_have_the_columns_that_scripts_write():
    for table, columns in SHIPPED.items():
        with table.open(encoding="utf-8") as file:
            assert file.readline().rstrip("\n").split(",") == list(columns)


def test_what_was_measured_stays_where_raw_files_are_missing(tmp_path, monkeypatch):
    """The raw files do not ship: on a fresh clone the tables keep their rows."""
    for script, write in (
        (choices, choices.write_table),
        (claims, lambda: claims.write_table(claims.planned(40))),
    ):
        table = Path(copy(script.TABLE, tmp_path))
        before = table.read_bytes()
        with monkeypatch.context() as other:
            other.setattr(script, "TABLE", table)
            other.setattr(script, "RAW", tmp_path / "none")
            write()
        assert table.read_bytes() == before
        assert before.count(b"\n") >= 60

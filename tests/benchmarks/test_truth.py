"""One command measures all that pages show, in the time that it promises."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from shutil import copy

import pytest
from benchmarks.truth import choices, claims, coverages
from benchmarks.truth.__main__ import AT_ONCE, BUDGET, LIMITS, SHIPPED
from benchmarks.truth.sizes import SHAPES


def test_the_limits_of_all_scripts_are_within_the_budget():
    assert sum(LIMITS.values()) + sum(AT_ONCE.values()) <= BUDGET == 120


def test_every_script_is_there():
    for name in (*LIMITS, *AT_ONCE):
        script, *_ = name.split()
        assert find_spec(f"benchmarks.truth.{script}") is not None


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


def test_a_fresh_clone_draws_nothing_that_is_in_its_tables(tmp_path, monkeypatch):
    for script in (choices, claims):
        monkeypatch.setattr(script, "RAW", tmp_path / "none")
    assert not list(claims.left(claims.planned(40)))
    counted = {
        (design, choices.FIRST[design.target] + k)
        for design, row in choices.read_table().items()
        for k in range(int(row["n_sets"]))
    }
    assert len(counted) >= 600
    assert not counted & set(choices.todo(80))
    assert coverages.list_unseen(32, 20261119) == [(30, 20261119), (31, 20261119)]


def test_claims_keep_their_rows_while_sizes_are_measured_anew(monkeypatch):
    """Their designs are those that are planned, not those that are measured."""
    before = claims.stored()
    assert {row.design for shape in SHAPES for row in claims.rows_of(*shape)} == {
        *before
    }
    monkeypatch.setattr(claims, "rows_of", lambda *shape: ())
    assert claims.stored() == before
    assert claims.level_near(before[0], 0.7, 0.0, ()) is None


def test_data_sets_are_added_to_the_rows_of_their_designs(tmp_path, monkeypatch):
    table = Path(copy(choices.TABLE, tmp_path))
    monkeypatch.setattr(choices, "TABLE", table)
    monkeypatch.setattr(choices, "RAW", tmp_path / "choices.jsonl")
    design, row = next(iter(choices.read_table().items()))
    n, first = int(row["n_sets"]), choices.FIRST[design.target]
    new = {"n_candidates": row["n_candidates"], "truth": 0.5, "naive": 0.7}
    new |= {"bbc": [0.6, 0.4, 0.8], "nested": [0.4, 0.3, 0.45]}
    lines = [
        json.dumps(asdict(design) | new | {"run": first + k}) + "\n"
        for k in (n - 1, n, n + 1, n + 3)  # one is counted already, one is missing
    ]
    choices.RAW.write_text("".join(lines))
    for _ in range(2):
        choices.write_table()
        added = choices.read_table()[design]
        assert int(added["n_sets"]) == n + 2
        for name, value in (("truth", 0.5), ("naive_bias", 0.2), ("nested_bias", -0.1)):
            mean = (n * float(row[name]) + 2 * value) / (n + 2)
            assert float(added[name]) == pytest.approx(mean, abs=5.1e-5)
        assert int(added["bbc_covered"]) == int(row["bbc_covered"]) + 2
        assert added["nested_covered"] == row["nested_covered"]
    others = [one for one in choices.read_table().values() if one != added]
    assert len(others) == len(choices.read_table()) - 1
    assert (design, first + n + 2) in set(choices.todo(n + 4))

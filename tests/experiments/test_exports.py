"""Exports: with a checksum, comparable, and safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass

import pandas as pd
import pytest
from tests.experiments.synthetic import Grid, GridSpec

from veridical._core.errors import InputError
from veridical.experiments import Plan, Serial, Store, export, run_study

HOSTILE = ["=1+1", "+cmd", "-x", "@sum", "\tx", "\rx", "-5", "plain", 'a"b,c\nd']


@dataclass(frozen=True)
class Hostile(Grid):
    """Values that a spreadsheet would take for formulas."""

    def run(self, unit):
        for cell in unit.cells:
            yield {"=name": HOSTILE[cell.coordinates["cell"]], "number": -5}


@pytest.fixture
def hostile(tmp_path):
    path = tmp_path / "hostile.sqlite"
    spec = GridSpec(n_units=1, n_cells=len(HOSTILE), groups=("=g",))
    run_study(Hostile(), spec, path, executor=Serial())
    return path


def test_no_cell_of_a_csv_is_a_formula(hostile, tmp_path):
    for canonical in (True, False):
        with Store(hostile) as store:
            export(store, tmp_path / "out.csv", canonical=canonical)
        with (tmp_path / "out.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        found = {int(row["cell"]): row["'=name"] for row in rows}
        assert [found[i] for i in range(len(HOSTILE))] == [
            *(f"'{text}" for text in HOSTILE[:6]),
            *HOSTILE[6:],
        ]
        assert {row["group"] for row in rows} == {"'=g"}
        assert {row["number"] for row in rows} == {"-5"}


def test_a_canonical_export_has_no_times_and_hosts(filled, tmp_path):
    with Store(filled) as store:
        export(store, tmp_path / "a.csv", canonical=True)
        export(store, tmp_path / "b.csv")
    a, b = (pd.read_csv(tmp_path / name) for name in ("a.csv", "b.csv"))

    assert list(a) == [
        *("study", "recipe", "cell", "group", "unit", "status", "value", "key")
    ]
    assert {"seconds", "finished", "host", "attempt"} <= set(b) - set(a)
    assert a["key"].is_monotonic_increasing
    assert len(a) == len(b) == 50


def test_numbers_keep_their_digits(filled, tmp_path):
    with Store(filled) as store:
        export(store, tmp_path / "a.csv", canonical=True)
        values = {
            row.key.hex(): json.loads(row.values)["value"] for row in store.rows()
        }
    with (tmp_path / "a.csv").open() as file:
        for row in csv.DictReader(file):
            assert float(row["value"]) == values[row["key"]]


def test_every_kind_of_file_says_the_same(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "s.sqlite"
    study = Grid(width=12, poison=((1, 1, "exception"),))
    run_study(study, GridSpec(), path, executor=Serial())
    with Store(path) as store:
        frame = store.frame()
        for kind in ("csv", "parquet", "json", "jsonl"):
            assert export(store, tmp_path / f"a.{kind}", canonical=True) == 50
    parquet = pd.read_parquet(tmp_path / "a.parquet")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").open()]

    assert json.loads((tmp_path / "a.json").read_text()) == lines
    assert list(frame.filter(like="in_")) == [f"in_{i}" for i in range(12)]
    pd.testing.assert_frame_equal(parquet, frame, check_dtype=False)
    pd.testing.assert_frame_equal(pd.DataFrame(lines)[list(frame)], frame)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "a.csv"), frame)


def test_a_frame_of_some_cells_leaves_out_the_others(tmp_path):
    path = tmp_path / "s.sqlite"
    for seed in (0, 1):
        run_study(Grid(), GridSpec(seed=seed), path, executor=Serial())
    with Store(path) as store:
        assert len(store.frame()) == 100
        only = store.frame(only=Plan(Grid(), GridSpec(seed=1)).keys)

    assert len(only) == 50
    assert only["recipe"].nunique() == 1


def test_slices_of_a_frame_share_its_timings(filled):
    with Store(filled) as store:
        frame = store.frame()
    seconds = frame.attrs["seconds"]
    assert len(seconds) == len(frame) > 0
    assert frame[frame["status"] == "ok"].attrs["seconds"] is seconds


def test_an_empty_store_has_an_empty_table(tmp_path):
    from veridical.experiments import Writer

    Writer(tmp_path / "s.sqlite").close()
    with Store(tmp_path / "s.sqlite") as store:
        assert store.frame().empty
        assert export(store, tmp_path / "a.csv") == 0


def test_an_export_that_fails_leaves_the_old_file(filled, tmp_path, monkeypatch):
    out = tmp_path / "a.csv"
    out.write_text("old")
    monkeypatch.setattr("veridical.experiments.exports.csv_line", lambda _: 1 / 0)
    with Store(filled) as store, pytest.raises(ZeroDivisionError):
        export(store, out)

    assert out.read_text() == "old"
    assert sorted(p.name for p in tmp_path.glob(".*")) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [("a.xlsx", "use .csv"), ("no/a.csv", "cannot be written"), ("", "a folder")],
)
def test_where_an_export_cannot_go(filled, tmp_path, name, words):
    with Store(filled) as store, pytest.raises(InputError, match=words):
        export(store, tmp_path / name)


def test_parquet_says_what_to_install(filled, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with Store(filled) as store, pytest.raises(InputError, match="pip install"):
        export(store, tmp_path / "a.parquet")

"""The store: one writer, any readers, rows that stay."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys

import pytest
from tests.experiments.synthetic import Grid, GridSpec

from veridical._core.errors import InputError
from veridical.experiments import (
    Plan,
    Serial,
    Store,
    StoreError,
    Writer,
    run_study,
    verify,
)
from veridical.experiments.attempts import run_unit
from veridical.experiments.database import SCHEMA_VERSION


def outcomes(study, spec):
    for task in Plan(study, spec).tasks():
        for result in run_unit(study, task.unit):
            yield task.make_attempt(result)


def test_what_is_written_is_read(tmp_path):
    done = list(outcomes(Grid(), GridSpec()))
    with Writer(tmp_path / "s.sqlite") as store:
        store.add(done)

    with Store(tmp_path / "s.sqlite") as store:
        rows = {row.key: row for row in store.rows()}
        assert len(store) == len(done) == 50
        assert store.statuses() == {"ok": 50}
    for outcome in done:
        row = rows[outcome.key]
        assert row.values == outcome.values
        assert json.loads(row.cell) == outcome.cell.coordinates
        assert row.recipe == outcome.cell.recipe.text


def test_readers_read_while_a_writer_writes(tmp_path):
    done = list(outcomes(Grid(), GridSpec()))
    with Writer(tmp_path / "s.sqlite") as store:
        for n in range(0, 50, 10):
            store.add(done[n : n + 10])
            with Store(tmp_path / "s.sqlite") as reader:
                assert len(reader) == n + 10
                assert len(reader.frame()) == n + 10
            assert verify(tmp_path / "s.sqlite").ok


def test_rows_are_never_changed_or_deleted(filled):
    connection = sqlite3.connect(filled)
    for statement in ("DELETE FROM attempts", "UPDATE attempts SET status = 'ok'"):
        with pytest.raises(sqlite3.IntegrityError, match="attempts are never"):
            connection.execute(statement)


def test_a_cell_is_stored_once(tmp_path):
    done = list(outcomes(Grid(), GridSpec()))
    with Writer(tmp_path / "s.sqlite") as store:
        store.add(done[:5])
        with pytest.raises(StoreError, match="UNIQUE"):
            store.add([*done[5:9], done[0]])
        store.add(done[5:])

    with Store(tmp_path / "s.sqlite") as store:
        assert len(store) == 50
    assert verify(tmp_path / "s.sqlite").ok


HOLD = """
import sys, time
from veridical.experiments import Writer
with Writer(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_second_writer_gets_the_holder_of_the_lock(tmp_path):
    path = tmp_path / "s.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE, text=True
    ) as holder:
        try:
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(InputError, match=f"process {holder.pid} on "):
                run_study(Grid(), GridSpec(), path, executor=Serial())
            assert holder.poll() is None  # it was not waited for
            with Store(path) as reader:
                assert len(reader) == 0
        finally:
            holder.kill()
    with Writer(path):  # the lock died with its holder
        pass


def test_a_full_disk_is_told_and_nothing_is_lost(tmp_path, canonical):
    path = tmp_path / "s.sqlite"
    study, spec = Grid(), GridSpec(n_units=40)
    done = list(outcomes(study, spec))
    with Writer(path) as store:
        store.add(done[:100])
        (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
        store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreError, match="disk is full; make room and run"):
            store.add(done[100:])
        store._connection.execute("PRAGMA max_page_count = 1000000")
    assert verify(path).ok
    with Store(path) as store:
        assert len(store) == 100

    run_study(study, spec, path, executor=Serial())

    run_study(study, spec, tmp_path / "whole.sqlite", executor=Serial())
    assert canonical(path) == canonical(tmp_path / "whole.sqlite")


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"not a database at all" * 100, "not the store of a study"), (None, "no store")],
)
def test_what_is_no_store_is_refused(tmp_path, content, words):
    path = tmp_path / "s.sqlite"
    if content is not None:
        path.write_bytes(content)
        with pytest.raises(InputError, match=words):
            Writer(path)
        assert path.read_bytes() == content

    with pytest.raises(InputError, match=words):
        Store(path)


def test_other_peoples_databases_are_left_alone(tmp_path):
    path = tmp_path / "s.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE precious (x)")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(InputError, match="not the store of a study"):
        Writer(path)

    assert path.read_bytes() == before


def test_a_newer_store_is_refused_in_words(filled):
    connection = sqlite3.connect(filled)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()

    for attempt in (Writer, Store, verify):
        with pytest.raises(InputError, match=r"newer veridical .* update veridical"):
            attempt(filled)


@pytest.mark.parametrize("version", [1, 2])
def test_a_store_of_version_0_1_is_refused_in_words(filled, version):
    connection = sqlite3.connect(filled)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()

    for attempt in (Writer, Store, verify):
        with pytest.raises(InputError, match=r"by veridical 0\.1\.0.* run the study"):
            attempt(filled)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match="create the folder first"):
        Writer(tmp_path / "no" / "s.sqlite")


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_named(filled):
    filled.parent.chmod(0o500)
    try:
        with pytest.raises(InputError, match="cannot be written"):
            Writer(filled)
        with Store(filled) as store:
            assert len(store) == 50
    finally:
        filled.parent.chmod(0o700)


# ---- new files ---------------------------------------------------------------------


def test_tables_that_cannot_be_made_leave_the_file_empty(tmp_path, monkeypatch):
    path = tmp_path / "s.sqlite"
    monkeypatch.setattr("veridical.experiments.database.EMPTY", object())
    with pytest.raises(StoreError, match="could not be written"):
        Writer(path)
    monkeypatch.undo()

    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    connection.close()
    with Store(path) as store:  # an empty file gets its tables
        assert len(store) == 0
    assert verify(path).ok

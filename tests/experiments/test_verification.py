"""Every alteration of a store is found."""

from __future__ import annotations

import random
import shutil
import sqlite3

import pytest
from tests.experiments.synthetic import Grid, GridSpec

from veridical._core.errors import InputError
from veridical.experiments import (
    Serial,
    Store,
    StoreError,
    export,
    exports,
    run_study,
    verify,
)

TABLES = ("attempts", "recipes", "runs", "head")


def change(path, *statements):
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER attempts_stay")
    connection.execute("DROP TRIGGER attempts_remain")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("key", "zeroblob(32)"),
        ("attempt", "2"),
        ("run", "7"),
        ("recipe", "7"),
        ("cell", "'{}'"),
        ("status", "'error'"),
        ('"values"', "'{\"value\":0.5}'"),
        ('"values"', 'CAST("values" AS BLOB)'),
        ("detail", "''"),
        ("seconds", "seconds + 1e-9"),
        ("finished", "0"),
        ("digest", "zeroblob(16)"),
    ],
)
def test_an_altered_row_is_named(filled, column, value):
    assert verify(filled).ok
    change(filled, f"UPDATE attempts SET {column} = {value} WHERE seq = 17")

    assert verify(filled).altered == (17,)


@pytest.mark.parametrize("table", TABLES)
def test_a_checksum_that_became_text_is_reported(filled, table):
    """Its bytes are the same, but readers cannot decode them."""
    change(filled, f"UPDATE {table} SET digest = CAST(digest AS TEXT)")

    assert not verify(filled).ok


def test_a_deleted_row_is_named(filled):
    change(filled, "DELETE FROM attempts WHERE seq IN (17, 50)")

    found = verify(filled)

    assert found.missing == (17, 50)
    assert not found.altered


def test_an_added_row_is_named(filled):
    columns = 'key, attempt + 1, run, recipe, cell, status, "values", detail'
    change(
        filled,
        f"INSERT INTO attempts SELECT 51, {columns}, seconds, finished, digest "
        "FROM attempts WHERE seq = 3",
    )

    found = verify(filled)

    assert found.extra == (51,)


def test_rows_exchanged_with_their_checksums_are_noticed(filled, tmp_path):
    other = tmp_path / "other.sqlite"
    run_study(Grid(), GridSpec(), other, executor=Serial())
    connection = sqlite3.connect(filled, isolation_level=None)
    connection.execute("DROP TRIGGER attempts_remain")
    connection.execute("ATTACH ? AS other", (str(other),))
    connection.execute("DELETE FROM attempts WHERE seq = 9")
    connection.execute(
        "INSERT INTO attempts SELECT * FROM other.attempts WHERE seq = 9"
    )
    connection.close()

    found = verify(filled)

    assert not found.ok
    assert any("head" in sentence for sentence in found.damage)


@pytest.mark.parametrize("table", ["recipes", "runs"])
def test_what_rows_refer_to_is_checked_too(filled, table):
    change(filled, f"UPDATE {table} SET text = replace(text, 'grid', 'grit')")

    assert any(table in sentence for sentence in verify(filled).damage)


def test_a_missing_store_is_bad_input(tmp_path):
    with pytest.raises(InputError, match="no store"):
        verify(tmp_path / "none.sqlite")


# ---- flipped bits ----------------------------------------------------------------


def content(path):
    """All rows of all tables as they lie in the file; None if they cannot be read."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    connection.text_factory = bytearray
    try:
        return {
            table: connection.execute(f"SELECT * FROM {table} NOT INDEXED").fetchall()
            for table in TABLES
        }
    except sqlite3.DatabaseError:
        return None
    finally:
        connection.close()


def is_reported(path):
    try:
        return not verify(path).ok
    except InputError:
        return True  # it is no store any more, and says so


def flip_bits(path, copy, n_flips, seed):
    """Flip bits one at a time; how many changed a row, and how many went unseen."""
    before, raw = content(path), path.read_bytes()
    generator = random.Random(seed)
    changed = unseen = 0
    for _ in range(n_flips):
        place, bit = generator.randrange(len(raw)), 1 << generator.randrange(8)
        flipped = bytearray(raw)
        flipped[place] ^= bit
        copy.write_bytes(flipped)
        if content(copy) != before:
            changed += 1
            unseen += not is_reported(copy)
    return changed, unseen


def test_flipped_bits_are_found(filled, tmp_path):
    changed, unseen = flip_bits(filled, tmp_path / "copy.sqlite", 60, seed=0)

    assert changed >= 10
    assert unseen == 0


@pytest.mark.slow
def test_two_hundred_flipped_bits_are_found(tmp_path):
    path = tmp_path / "s.sqlite"
    study = Grid(width=10, poison=((3, 1, "exception"), (4, 2, "nan")))
    run_study(study, GridSpec(n_units=100), path, executor=Serial())

    changed, unseen = flip_bits(path, tmp_path / "copy.sqlite", 200, seed=1)

    print(f"\n200 bit flips: {changed} changed a row, {unseen} of them unseen")
    assert changed >= 100
    assert unseen == 0


def use(path, folder):
    """Do everything that can be done with a store; what each gives, or refuses."""

    def read(work):
        with Store(path) as store:
            return work(store)

    def exported(store):
        export(store, folder / "out.csv", canonical=True)
        return (folder / "out.csv").read_bytes()

    def told(work):
        try:
            return work()
        except (InputError, StoreError) as error:
            return str(error)

    return {
        "verify": told(lambda: verify(path).ok),
        "export": told(lambda: read(exported)),
        "frame": told(lambda: read(lambda store: len(store.frame()))),
        "show": told(lambda: read(lambda store: (store.failures(), store.statuses()))),
        "who": told(lambda: read(lambda store: store.runs())),
        "run": told(lambda: run_study(Grid(), GridSpec(), path, executor=Serial())),
    }


@pytest.mark.parametrize("seed", range(3))
def test_nothing_altered_leaves_a_store(filled, tmp_path, seed):
    """Whatever happened to the file: what was written, or a refusal in words."""
    raw, copy = filled.read_bytes(), tmp_path / "copy.sqlite"
    sound = use(filled, tmp_path)
    generator = random.Random(seed)
    refused = 0
    for _ in range(30):
        flipped = bytearray(raw)
        for _ in range(generator.choice([1, 1, 4])):
            flipped[generator.randrange(len(raw))] ^= 1 << generator.randrange(8)
        for left in tmp_path.glob("copy.sqlite*"):
            left.unlink()
        copy.write_bytes(flipped)

        found = use(copy, tmp_path)

        assert found["export"] == sound["export"] or isinstance(found["export"], str)
        assert found["frame"] == sound["frame"] or isinstance(found["frame"], str)
        refused += isinstance(found["export"], str)
        if isinstance(found["export"], str):
            assert found["verify"] is not True, found["export"]
    assert refused > 3


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM attempts WHERE seq = 20", "50 rows were written, 49 were found"),
        ("DELETE FROM attempts", "50 rows were written, 0 were found"),
        ("UPDATE recipes SET text = replace(text, 'grid', 'grit')", "recipe 1 was alt"),
        ("DELETE FROM head", "its table head is damaged"),
    ],
)
def test_deleted_rows_are_noticed_by_every_reader(filled, tmp_path, statement, words):
    change(filled, statement)

    with Store(filled) as store, pytest.raises(InputError, match=words):
        export(store, tmp_path / "out.csv", canonical=True)
    if "attempts" in statement:
        with pytest.raises(InputError, match=words):
            run_study(Grid(), GridSpec(), filled, executor=Serial())


def test_a_store_cut_short_is_damaged(filled, tmp_path):
    copy = tmp_path / "copy.sqlite"
    shutil.copy(filled, copy)
    with copy.open("rb+") as file:
        file.truncate(copy.stat().st_size // 2)

    assert is_reported(copy)


@pytest.mark.parametrize("place", [5, 68], ids=["magic", "application"])
def test_a_store_with_a_damaged_first_page_is_still_ours(filled, tmp_path, place):
    raw = bytearray(filled.read_bytes())
    raw[place] ^= 1
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(raw)

    found = verify(copy)

    assert not found.ok
    assert "can no longer be opened" in found.damage[0]


def test_a_foreign_file_is_bad_input(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear store, " * 1000)
    with pytest.raises(InputError, match="not the store of a study"):
        verify(path)


def test_an_altered_row_is_not_exported(filled, tmp_path):
    change(filled, 'UPDATE attempts SET "values" = \'{"value":0.5}\' WHERE seq = 8')
    with Store(filled) as store, pytest.raises(InputError, match="row 8 was altered"):
        export(store, tmp_path / "out.csv", canonical=True)
    assert not (tmp_path / "out.csv").exists()


def test_an_export_sees_one_state_of_the_store(filled, tmp_path, monkeypatch):
    """Rows written between its two passes neither appear nor disturb."""
    columns_of, done = exports._typed_columns, []

    def meanwhile(records):
        columns = columns_of(records)
        if not done:
            done.append(True)
            run_study(Grid(), GridSpec(n_units=20), filled, executor=Serial())
        return columns

    with Store(filled) as store:
        before = sum(store.statuses().values())
        monkeypatch.setattr(exports, "_typed_columns", meanwhile)
        assert export(store, tmp_path / "out.csv") == before
        assert sum(store.statuses().values()) > before

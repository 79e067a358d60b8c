"""The tables of a store, and how older ones become newer ones.

========  ==================================================================
table     holds
========  ==================================================================
attempts  one row per attempt at a cell; rows are added and never changed
recipes   what cells depend on besides their coordinates, each written once
runs      who computed when, with what; one row per start of a run
head      how many attempts there are, and the chain of their checksums
========  ==================================================================

Version 1 kept the recipe inside each attempt and had no checksums.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from veridical._core.canonical import canonical
from veridical._core.errors import InputError
from veridical.experiments.checksums import EMPTY, chain, row_check

#: Marks an SQLite file as a store of ours: "veri" in ASCII.
APPLICATION_ID = 0x76657269

SCHEMA_VERSION = 2

#: Columns of an attempt which its checksum covers, in this order.
ATTEMPT = (
    "seq",
    "key",
    "attempt",
    "run",
    "recipe",
    "cell",
    "status",
    '"values"',
    "detail",
    "seconds",
    "finished",
)

INSERT_ATTEMPT = (
    f"INSERT INTO attempts ({', '.join(ATTEMPT)}, digest) "
    f"VALUES ({', '.join('?' * (len(ATTEMPT) + 1))})"
)

_TABLES = """
CREATE TABLE recipes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, digest BLOB NOT NULL);
CREATE TABLE runs (id INTEGER PRIMARY KEY, text TEXT NOT NULL, digest BLOB NOT NULL);
CREATE TABLE attempts (
    seq INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    attempt INTEGER NOT NULL,
    run INTEGER NOT NULL REFERENCES runs (id),
    recipe INTEGER NOT NULL REFERENCES recipes (id),
    cell TEXT NOT NULL,
    status TEXT NOT NULL,
    "values" TEXT,
    detail TEXT,
    seconds REAL NOT NULL,
    finished REAL NOT NULL,
    digest BLOB NOT NULL
);
CREATE UNIQUE INDEX attempts_by_key ON attempts (key, attempt);
CREATE INDEX failures ON attempts (key, attempt) WHERE status <> 'ok';
CREATE TABLE head (
    id INTEGER PRIMARY KEY CHECK (id = 1), n_rows INTEGER NOT NULL, digest BLOB NOT NULL
);
CREATE TRIGGER attempts_stay BEFORE UPDATE ON attempts
    BEGIN SELECT RAISE(ABORT, 'attempts are never changed'); END;
CREATE TRIGGER attempts_remain BEFORE DELETE ON attempts
    BEGIN SELECT RAISE(ABORT, 'attempts are never deleted'); END;
"""


class NewerStore(InputError):
    """A store whose tables only a newer veridical understands."""


def version_of(connection: sqlite3.Connection, path: Path) -> int:
    """Which version of the tables a file has; 0 for an empty file.

    Raises
    ------
    InputError
        If it is no store, or one that a newer veridical wrote.
    """
    try:
        (mark,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} is not a study's store ({error}); name another file."
        ) from error
    if mark == 0 and version == 0 and tables == 0:
        return 0
    if mark != APPLICATION_ID:
        raise InputError(
            f"{path} is an SQLite file, but not a study's store; name another file "
            "with --store."
        )
    if version > SCHEMA_VERSION:
        raise NewerStore(
            f"{path} was written by a newer veridical (its tables have version "
            f"{version}, this one knows up to {SCHEMA_VERSION}); update veridical to "
            "use it."
        )
    return int(version)


def upgrade(connection: sqlite3.Connection, version: int) -> None:
    """Bring the tables to the present version, all or nothing.

    Parameters
    ----------
    connection : sqlite3.Connection
        With ``isolation_level=None``, by the holder of the writer's lock.
    version : int
        What they are now, from `version_of`.
    """
    if version == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        while version < SCHEMA_VERSION:
            version = _STEPS[version](connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _create(connection: sqlite3.Connection) -> int:
    for statement in _statements(_TABLES):
        connection.execute(statement)
    connection.execute("INSERT INTO head VALUES (1, 0, ?)", (EMPTY,))
    return SCHEMA_VERSION


def _statements(script: str) -> list[str]:
    """Cut a script; executescript would commit the transaction it runs in."""
    statements, current = [], ""
    for line in script.strip().splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current):
            statements.append(current)
            current = ""
    return statements


def _move_recipes_and_add_checksums(connection: sqlite3.Connection) -> int:
    """From version 1 to 2."""
    connection.execute("ALTER TABLE attempts RENAME TO attempts_1")
    for (index,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'index' "
        "AND tbl_name = 'attempts_1' AND sql IS NOT NULL"
    ).fetchall():
        connection.execute(f'DROP INDEX "{index}"')
    _create(connection)
    run = canonical({"upgraded from version": 1, "started": time.time()})
    connection.execute("INSERT INTO runs VALUES (1, ?, ?)", (run, row_check((1, run))))
    recipes: dict[str, int] = {}
    head, seq = EMPTY, 0
    for key, attempt, recipe, *rest in connection.execute(
        'SELECT key, attempt, recipe, cell, status, "values", detail, seconds, '
        "finished FROM attempts_1 ORDER BY seq"
    ):
        if recipe not in recipes:
            number = recipes[recipe] = len(recipes) + 1
            insert_recipe(connection, number, recipe)
        seq += 1
        row: tuple[Any, ...] = (seq, key, attempt, 1, recipes[recipe], *rest)
        check = row_check(row)
        connection.execute(INSERT_ATTEMPT, (*row, check))
        head = chain(head, check)
    connection.execute("UPDATE head SET n_rows = ?, digest = ?", (seq, head))
    connection.execute("DROP TABLE attempts_1")
    return 2


def insert_recipe(connection: sqlite3.Connection, number: int, text: str) -> None:
    """Add a recipe with its checksum."""
    connection.execute(
        "INSERT INTO recipes VALUES (?, ?, ?)",
        (number, text, row_check((number, text))),
    )


_STEPS: dict[int, Callable[[sqlite3.Connection], int]] = {
    0: _create,
    1: _move_recipes_and_add_checksums,
}

"""The file of a store: opening, tables, and checksums of rows.

========  ==================================================================
table     content
========  ==================================================================
attempts  one row per attempt at a cell; rows are added and never changed
recipes   what cells depend on besides their coordinates, each written once
runs      host, time, versions and specification of each run
head      number of attempts, and the chain of their checksums
========  ==================================================================

A row's checksum covers every column with its type, so that a changed bit is detected.
The head chains the checksums of all rows in order, so that a removed, added or
exchanged row is detected too. Checksums protect against accidents, not against forgery.
"""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from veridical._core.errors import InputError

#: Marks an SQLite file as a store of ours: "veri" in ASCII.
APPLICATION_ID = 0x76657269

#: Version of the tables; those of veridical 0.1.0 had 1 and 2.
SCHEMA_VERSION = 3

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

#: Length of a checksum in bytes.
CHECK_SIZE = 16

#: The head of a table without rows.
EMPTY = bytes(CHECK_SIZE)

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


class StoreError(Exception):
    """Raised when the store could not be written; what was saved before is intact."""


class UnreadableVersion(InputError):
    """Raised for a store whose tables need another version of veridical."""


# -- opening -------------------------------------------------------------------------


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a file so that nothing can be written to it."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        # SQLite cannot create its shared-memory file in a read-only folder; without a
        # write-ahead log it does not need one.
        connection.close()
        if path.with_name(path.name + "-wal").exists():
            raise InputError(
                f"{path} cannot be read: it was not closed, and its folder cannot be "
                "written to; copy it and its -wal file to another folder."
            ) from None
        return sqlite3.connect(f"{address}&immutable=1", uri=True)
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        pass  # not a database: `version_of` raises
    return connection


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise InputError if a store differs from what was written to it."""
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} does not contain what was written to it ({error}); `veridical "
            "study verify` lists the differences."
        ) from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise StoreError with the reason if the store cannot be written."""
    try:
        yield
    except sqlite3.Error as error:
        what = str(error)
        if "disk is full" in what:
            cure = "The disk is full; make room and run the same command again."
        else:
            cure = "Run `veridical study verify` on it."
        raise StoreError(
            f"{path} could not be written ({what}). What was saved before is intact. "
            f"{cure}"
        ) from error


# -- tables --------------------------------------------------------------------------


def version_of(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the tables of a file; 0 for an empty file.

    Raises
    ------
    InputError
        If it is not a store, or another version of veridical wrote it.
    """
    try:
        (mark,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} is not the store of a study ({error}); name another file."
        ) from error
    if mark == 0 and version == 0 and tables == 0:
        return 0
    if mark != APPLICATION_ID:
        raise InputError(
            f"{path} is an SQLite file, but not the store of a study; name another "
            "file with --store."
        )
    if version < SCHEMA_VERSION:
        raise UnreadableVersion(
            f"{path} was written by veridical 0.1.0, whose tables this version cannot "
            "read; run the study again into another file, or use version 0.1.0."
        )
    if version > SCHEMA_VERSION:
        raise UnreadableVersion(
            f"{path} was written by a newer veridical (its tables have version "
            f"{version}, this one knows {SCHEMA_VERSION}); update veridical to use it."
        )
    return int(version)


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables of an empty file in one transaction.

    Parameters
    ----------
    connection : sqlite3.Connection
        With ``isolation_level=None``, by the holder of the writer's lock.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in _statements(_TABLES):
            connection.execute(statement)
        connection.execute("INSERT INTO head VALUES (1, 0, ?)", (EMPTY,))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _statements(script: str) -> list[str]:
    """Split a script; executescript would commit the current transaction."""
    statements, current = [], ""
    for line in script.strip().splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current):
            statements.append(current)
            current = ""
    return statements


# -- checksums -----------------------------------------------------------------------


def row_check(values: Iterable[Any]) -> bytes:
    """Return the checksum of the columns of a row.

    Texts may be given as ``str`` or as ``bytearray`` (the bytes in the file), blobs as
    ``bytes``.
    """
    parts = []
    for value in values:
        if value is None:
            parts.append(b"n")
        elif isinstance(value, int):
            parts.append(b"i%d;" % value)
        elif isinstance(value, float):
            parts.append(b"f" + struct.pack(">d", value))
        elif isinstance(value, bytes):
            parts.append(b"b%d:" % len(value) + value)
        else:
            text = value.encode() if isinstance(value, str) else bytes(value)
            parts.append(b"t%d:" % len(text) + text)
    return hashlib.sha256(b"".join(parts)).digest()[:CHECK_SIZE]


def chain(head: bytes, check: bytes) -> bytes:
    """Return the chain of checksums with one more row."""
    return hashlib.sha256(head + check).digest()[:CHECK_SIZE]

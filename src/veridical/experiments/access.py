"""Opening a store's file, and saying in words what is wrong with it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from veridical._core.errors import InputError


class StoreError(Exception):
    """Writing failed, said in words; what was acknowledged before is intact."""


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a file so that nothing can be written to it."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        # In a folder where nothing may be written a reader cannot keep its notes
        # beside the file; without a log of a writer it needs none.
        connection.close()
        if path.with_name(path.name + "-wal").exists():
            raise InputError(
                f"{path} cannot be read: it was not closed, and its folder cannot be "
                "written to; copy it and its -wal file to another folder."
            ) from None
        return sqlite3.connect(f"{address}&immutable=1", uri=True)
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        pass  # not a database: told by who asks for its version
    return connection


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say in words that a store cannot be read as it was written."""
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} does not hold what was written to it ({error}); `veridical study "
            "verify` lists what is wrong."
        ) from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say in words why something could not be written."""
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

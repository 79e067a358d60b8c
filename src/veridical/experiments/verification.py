"""Verify that a store contains what was written to it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veridical._core.errors import InputError
from veridical.experiments.database import (
    ATTEMPT,
    EMPTY,
    UnreadableVersion,
    chain,
    connect_to_read,
    row_check,
    version_of,
)
from veridical.experiments.keys import cell_key, recipe_digest

_UNREADABLE = (
    "It can no longer be opened as a store: it was truncated, or its first page was "
    "altered. Use a backup, or run the study with a new store."
)
_COLUMNS = f"{', '.join(ATTEMPT)}, digest"


@dataclass(frozen=True)
class Verification:
    """Result of `verify`.

    Parameters
    ----------
    n_rows : int
        Number of attempts that the store should contain.
    altered : tuple of int
        Numbers of the attempts that differ from what was written, or are unreadable.
    missing, extra : tuple of int
        Numbers of attempts that were removed, and that were added by others.
    damage : tuple of str
        Other damage, one sentence each.
    """

    n_rows: int
    altered: tuple[int, ...]
    missing: tuple[int, ...]
    extra: tuple[int, ...]
    damage: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was changed."""
        return not (self.altered or self.missing or self.extra or self.damage)


def verify(path: str | Path) -> Verification:
    """Check the checksum of every row of a store, and the chain of all of them.

    Parameters
    ----------
    path : str or Path
        The store. It is only read; a run may be writing to it.

    Returns
    -------
    Verification
        Which rows were altered, removed or added.

    Raises
    ------
    InputError
        If it is not a store.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from veridical.experiments import Writer, verify
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "study.sqlite"
    ...     Writer(path).close()
    ...     verify(path).ok
    True
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no store {path}; `veridical study run` makes one.")
    connection = connect_to_read(path)
    # Read texts as bytes: damaged UTF-8 must not stop the verification.
    connection.text_factory = bytearray
    try:
        version = _version(connection, path)
        if version is None:
            return Verification(0, (), (), (), (_UNREADABLE,))
        if version == 0:
            raise InputError(f"{path} is empty; no run has written to it yet.")
        connection.execute("BEGIN")  # one state of the store for all that follows
        return _Inspection(connection).verify()
    finally:
        connection.close()


def _version(connection: sqlite3.Connection, path: Path) -> int | None:
    """Return the version of the tables; None for a damaged store.

    A file that cannot be opened counts as a damaged store if it contains the definition
    of our tables.
    """
    try:
        return version_of(connection, path)
    except UnreadableVersion:
        raise
    except InputError:
        with path.open("rb") as file:
            if b"CREATE TABLE attempts" in file.read(1 << 20):
                return None
        raise


class _Inspection:
    """Collects the damage of an open store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._damage: list[str] = []

    def verify(self) -> Verification:
        head = self._one("SELECT n_rows, digest FROM head", "the table head")
        n_rows, last = head if head else (0, None)
        recipes = self._texts("recipes")
        self._texts("runs")
        altered, seen, digest = [], set(), EMPTY
        for row in self._attempts(int(n_rows) if isinstance(n_rows, int) else 0):
            seq, check = row[0], row[-1]
            if row_check(row[:-1]) != check or not _has_its_key(row, recipes):
                altered.append(seq)
            seen.add(seq)
            if isinstance(check, bytes):
                digest = chain(digest, check)
        missing = [seq for seq in range(1, n_rows + 1) if seq not in seen]
        extra = sorted(seq for seq in seen if not 1 <= seq <= n_rows)
        if digest != last and not (altered or missing or extra):
            self._damage.append(
                "The chain of checksums does not match: rows were exchanged together "
                "with their checksums, or the table head was altered."
            )
        self._check_structure()
        return Verification(
            n_rows, tuple(altered), tuple(missing), tuple(extra), tuple(self._damage)
        )

    def _attempts(self, n_rows: int) -> Iterator[tuple[Any, ...]]:
        """Yield every row; for one that cannot be read only its number."""
        seen = set()
        try:
            for row in self._connection.execute(
                f"SELECT {_COLUMNS} FROM attempts NOT INDEXED"
            ):
                if type(row[0]) is not int:  # the definition of the table changed
                    raise sqlite3.DatabaseError("its rows have no numbers")
                seen.add(row[0])
                yield row
            return
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            self._damage.append(f"The table of attempts cannot be read: {error}.")
        for seq in range(1, n_rows + 1):
            if seq in seen:
                continue
            try:
                row = self._connection.execute(
                    f"SELECT {_COLUMNS} FROM attempts WHERE seq = ?", (seq,)
                ).fetchone()
            except (sqlite3.DatabaseError, UnicodeDecodeError):
                yield (seq,)
            else:
                if row is not None:
                    yield (seq, *row[1:])

    def _texts(self, table: str) -> dict[int, bytes]:
        """Read recipes or runs; altered ones are left out and reported."""
        texts: dict[int, bytes] = {}
        try:
            rows = self._connection.execute(
                f"SELECT id, text, digest FROM {table}"
            ).fetchall()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            self._damage.append(f"The table of {table} cannot be read: {error}.")
            return texts
        for number, text, check in rows:
            # A text is a bytearray here, which may equal bytes: compare the types too.
            right = isinstance(text, bytearray) and isinstance(check, bytes)
            if not right or row_check((number, text)) != check:
                self._damage.append(f"Row {number} of the table of {table} is altered.")
            else:
                texts[number] = bytes(text)
        return texts

    def _one(self, query: str, what: str) -> tuple[Any, ...] | None:
        try:
            row = self._connection.execute(query).fetchone()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            self._damage.append(f"{what.capitalize()} cannot be read: {error}.")
            return None
        valid = row is not None and isinstance(row[0], int) and row[0] >= 0
        if not (valid and isinstance(row[1], bytes)):
            self._damage.append(f"{what.capitalize()} is damaged.")
            return None
        return tuple(row)

    def _check_structure(self) -> None:
        """Let SQLite check what is outside the rows, such as the index."""
        try:
            lines = [
                bytes(line).decode(errors="replace")
                for (line,) in self._connection.execute("PRAGMA integrity_check(10)")
            ]
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            lines = [str(error)]
        self._damage += [f"SQLite says: {line}" for line in lines if line != "ok"]


def _has_its_key(row: tuple[Any, ...], recipes: dict[int, bytes]) -> bool:
    named = dict(zip(ATTEMPT, row, strict=False))
    recipe = recipes.get(named["recipe"])
    if recipe is None:
        return False
    cell = json.loads(bytes(named["cell"]))
    return bool(cell_key(cell, recipe_digest(recipe.decode())) == named["key"])

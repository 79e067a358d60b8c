"""Does a store still hold what was written to it?"""

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
    NewerStore,
    chain,
    connect_to_read,
    row_check,
    version_of,
)
from veridical.experiments.keys import cell_key, recipe_digest

_UNREADABLE = (
    "It cannot be opened as a store any more: it was cut short, or its first page was "
    "altered. Go back to a copy, or run the study into a new store."
)
_COLUMNS = f"{', '.join(ATTEMPT)}, digest"


@dataclass(frozen=True)
class Verification:
    """What `verify` found.

    Parameters
    ----------
    n_rows : int
        How many attempts the store should hold.
    altered : tuple of int
        Numbers of the attempts that are not as they were written, or unreadable.
    missing, extra : tuple of int
        Attempts that are gone, and such as were never written by us.
    damage : tuple of str
        What else is wrong, a sentence each.
    """

    n_rows: int
    altered: tuple[int, ...]
    missing: tuple[int, ...]
    extra: tuple[int, ...]
    damage: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether everything is as it was written."""
        return not (self.altered or self.missing or self.extra or self.damage)


def verify(path: str | Path) -> Verification:
    """Check every row of a store against its checksum, and all of them together.

    Parameters
    ----------
    path : str or Path
        The store. It is only read, and may be in use.

    Returns
    -------
    Verification
        Which rows were altered, are missing, or should not be there.

    Raises
    ------
    InputError
        If it is no store.

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
        raise InputError(f"There is no store {path}.")
    connection = connect_to_read(path)
    # Texts as they lie in the file: what is no UTF-8 any more must not stop us.
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
    """Which version of the tables it has; None for a store that fell apart.

    A file that cannot be opened is a damaged store, and not somebody else's file, if
    the text of our tables is still in it.
    """
    try:
        return version_of(connection, path)
    except NewerStore:
        raise
    except InputError:
        with path.open("rb") as file:
            if b"CREATE TABLE attempts" in file.read(1 << 20):
                return None
        raise


class _Inspection:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._damage: list[str] = []

    def verify(self) -> Verification:
        head = self._one("SELECT n_rows, digest FROM head", "its head")
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
                "The rows do not add up to the head: rows were exchanged together with "
                "their checksums, or the head was altered."
            )
        self._check_structure()
        return Verification(
            n_rows, tuple(altered), tuple(missing), tuple(extra), tuple(self._damage)
        )

    def _attempts(self, n_rows: int) -> Iterator[tuple[Any, ...]]:
        """Every row; one that cannot be read comes as its number alone."""
        seen = set()
        try:
            for row in self._connection.execute(
                f"SELECT {_COLUMNS} FROM attempts NOT INDEXED"
            ):
                if type(row[0]) is not int:  # the words that describe the table changed
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
        """Read recipes or runs; those that were altered are left out and told."""
        texts: dict[int, bytes] = {}
        try:
            rows = self._connection.execute(
                f"SELECT id, text, digest FROM {table}"
            ).fetchall()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            self._damage.append(f"The table of {table} cannot be read: {error}.")
            return texts
        for number, text, check in rows:
            if row_check((number, text)) != check or not isinstance(text, bytearray):
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
        if row is None or not isinstance(row[0], int) or row[0] < 0:
            self._damage.append(f"{what.capitalize()} is damaged.")
            return None
        return tuple(row)

    def _check_structure(self) -> None:
        """Ask SQLite for what lies outside the rows, such as the index."""
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

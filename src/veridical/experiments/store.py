"""The store of a study: one SQLite file.

One process writes; any number of processes may read at the same time. A batch of rows
counts as done once it is on disk. Only JSON and numbers are stored, never pickles.
"""

from __future__ import annotations

import platform
import socket
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from veridical._core.canonical import canonical
from veridical._core.errors import InputError
from veridical.experiments.attempts import Attempt
from veridical.experiments.database import (
    INSERT_ATTEMPT,
    chain,
    connect_to_read,
    create_tables,
    reading,
    row_check,
    version_of,
    writing,
)
from veridical.experiments.keys import StoredKeys, write_coordinates
from veridical.experiments.lock import WriterLock

if TYPE_CHECKING:
    import pandas as pd


#: Packages whose versions are stored with a run.
_PACKAGES = ("veridical", "numpy", "scipy", "scikit-learn", "numba")


class StoredAttempt(NamedTuple):
    """The last attempt at a cell, as it is stored."""

    key: bytes
    attempt: int
    run: int
    recipe: str
    cell: str
    status: str
    values: str | None
    detail: str | None
    seconds: float
    finished: float


_LAST_ATTEMPTS = """
SELECT a.key, a.attempt, a.run, r.text, a.cell, a.status, a."values", a.detail,
       a.seconds, a.finished, a.seq, a.recipe, a.digest, r.digest AS recipe_check,
       (SELECT n_rows FROM head) AS n_rows
FROM attempts a JOIN recipes r ON r.id = a.recipe
WHERE a.attempt = (SELECT max(b.attempt) FROM attempts b WHERE b.key = a.key)
"""


class Store:
    """A store opened for reading, also while another process writes.

    Parameters
    ----------
    path : str or Path
        The file.

    Raises
    ------
    InputError
        If there is no such file, it is not a store, or it has a newer version.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from veridical.experiments import Store, Writer
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "study.sqlite"
    ...     Writer(path).close()
    ...     with Store(path) as store:
    ...         len(store)
    0
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise InputError(
                f"There is no store {self.path}; `veridical study run` makes one."
            )
        self._connection = connect_to_read(self.path)
        try:
            if not version_of(self._connection, self.path):
                self._connection.close()
                Writer(self.path).close()  # an empty file gets its tables
                self._connection = connect_to_read(self.path)
        except BaseException:
            self._connection.close()
            raise

    def __len__(self) -> int:
        """Return the number of attempts."""
        return self._read_count_and_chain()[0]

    def _read_count_and_chain(self) -> tuple[int, bytes]:
        """Return the number of attempts, and the chain of their checksums."""
        with reading(self.path):
            head = self._connection.execute(
                "SELECT n_rows, digest FROM head"
            ).fetchone()
            if head is None or [type(part) for part in head] != [int, bytes]:
                raise sqlite3.DatabaseError("its table head is damaged")
        return int(head[0]), bytes(head[1])

    def keys(self) -> StoredKeys:
        """Return which cells are stored, and which of them failed."""
        with reading(self.path):
            return StoredKeys.read(self._connection)

    def rows(self, *, by_key: bool = False) -> Iterator[StoredAttempt]:
        """Iterate over the last attempt at every cell.

        Parameters
        ----------
        by_key : bool, default=False
            In the order of the keys, which is the same for every store with the same
            cells; else in the order of writing.
        """
        order = "a.key" if by_key else "a.seq"
        n_rows, attempts = len(self), 0
        with reading(self.path):
            for row, written in self._checked(f"{_LAST_ATTEMPTS} ORDER BY {order}"):
                attempts += row.attempt  # they are numbered from 1
                n_rows = written
                yield row
            if attempts != n_rows:
                raise sqlite3.DatabaseError(
                    f"{n_rows} rows were written, {attempts} were found"
                )

    def failures(self, limit: int = 10) -> list[StoredAttempt]:
        """Read the most recent failures, the last one first."""
        query = f"{_LAST_ATTEMPTS} AND a.status <> 'ok' ORDER BY a.seq DESC LIMIT ?"
        return [row for row, _ in self._checked(query, limit)]

    def _checked(
        self, query: str, *arguments: Any
    ) -> Iterator[tuple[StoredAttempt, int]]:
        """Read rows, and raise if one differs from what was written.

        Each comes with the number of rows in the store when it was read.
        """
        intact: set[int] = set()  # recipes that were checked
        with reading(self.path):
            for found in self._connection.execute(query, arguments):
                *columns, seq, recipe, digest, recipe_check, n_rows = found
                row = StoredAttempt(*columns)
                if row_check((seq, *row[:3], recipe, *row[4:])) != digest:
                    raise sqlite3.DatabaseError(f"row {seq} was altered")
                if recipe not in intact:
                    if row_check((recipe, row.recipe)) != recipe_check:
                        raise sqlite3.DatabaseError(f"recipe {recipe} was altered")
                    intact.add(recipe)
                yield row, n_rows

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one state of the store, whatever is written in the meantime."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("ROLLBACK")

    def statuses(self) -> dict[str, int]:
        """Count the cells by the status of their last attempt."""
        query = f"SELECT status, count(*) FROM ({_LAST_ATTEMPTS}) GROUP BY status"
        with reading(self.path):
            return dict(self._connection.execute(query).fetchall())

    def runs(self) -> list[str]:
        """Return one JSON text per run: host, time, versions, specification."""
        texts = []
        with reading(self.path):
            for number, text, digest in self._connection.execute(
                "SELECT id, text, digest FROM runs ORDER BY id"
            ):
                if row_check((number, text)) != digest:
                    raise sqlite3.DatabaseError(f"run {number} was altered")
                texts.append(text)
        return texts

    def frame(self, *, only: StoredKeys | None = None) -> pd.DataFrame:
        """Return a data frame with one row per cell, in the order of their keys.

        Parameters
        ----------
        only : StoredKeys, optional
            Leave out other cells, such as those of an older version: `Plan.keys`.

        Returns
        -------
        DataFrame
            The coordinates, ``status``, and the values; a list becomes columns
            ``name_0``, ``name_1`` and so on. ``recipe`` distinguishes cells with the
            same coordinates that differ in what else they depend on. The computing
            times are not results; they are in ``attrs["seconds"]``.
        """
        from veridical.experiments.exports import to_frame

        return to_frame(self, only)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Writer(Store):
    """A store opened for writing, by one process at a time; created if missing.

    Parameters
    ----------
    path : str or Path
        The file.

    Raises
    ------
    InputError
        If another process is writing (the message names it), or as in `Store`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise InputError(
                f"{self.path} cannot be written: there is no folder "
                f"{self.path.parent}; create the folder first."
            )
        if self.path.exists() and not self.path.is_file():
            raise InputError(f"{self.path} is not a file; name one with --store.")
        self._lock = WriterLock(self.path)
        try:
            self._connection = sqlite3.connect(
                self.path, isolation_level=None, check_same_thread=False
            )
            with writing(self.path):
                found = version_of(self._connection, self.path)
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
                if not found:
                    create_tables(self._connection)
            self._load()
        except BaseException:
            if hasattr(self, "_connection"):
                self._connection.close()
            self._lock.release()
            raise
        self._run = 0

    def _load(self) -> None:
        self._n_rows, self._head = self._read_count_and_chain()
        with reading(self.path):
            self._recipes: dict[str, int] = {
                text: number
                for number, text in self._connection.execute(
                    "SELECT id, text FROM recipes"
                )
            }

    def keys(self) -> StoredKeys:
        """Return which cells are stored; raise if the number of rows is wrong.

        The content of the rows is checked when they are read.
        """
        found = super().keys()
        if found.known.size != self._n_rows:
            raise InputError(
                f"{self.path} does not contain what was written to it ({self._n_rows} "
                f"rows were written, {found.known.size} were found); `veridical study "
                "verify` lists the differences."
            )
        return found

    def begin_run(self, **what: Any) -> None:
        """Store the host, the versions and `what` for the attempts that follow."""
        text = canonical(
            {
                **what,
                "started": time.time(),
                "host": socket.gethostname(),
                "python": platform.python_version(),
                **{name: version(name) for name in _PACKAGES},
            }
        )
        with self._transaction():
            (last,) = self._connection.execute(
                "SELECT coalesce(max(id), 0) FROM runs"
            ).fetchone()
            self._run = last + 1
            self._insert("runs", self._run, text)

    def add(self, attempts: Sequence[Attempt]) -> None:
        """Add a batch; when this returns, it is on disk.

        Raises
        ------
        StoreError
            If the batch cannot be written; then none of it is.
        """
        if not self._run:
            self.begin_run()
        n_rows, head, recipes = self._n_rows, self._head, dict(self._recipes)
        with self._transaction():
            rows = []
            for attempt in attempts:
                recipe = attempt.cell.recipe.text
                if recipe not in recipes:
                    recipes[recipe] = len(recipes) + 1
                    self._insert("recipes", recipes[recipe], recipe)
                n_rows += 1
                row = (
                    n_rows,
                    attempt.key,
                    attempt.number,
                    self._run,
                    recipes[recipe],
                    write_coordinates(attempt.cell.coordinates),
                    attempt.status,
                    attempt.values,
                    attempt.detail,
                    attempt.seconds,
                    time.time(),
                )
                check = row_check(row)
                head = chain(head, check)
                rows.append((*row, check))
            self._connection.executemany(INSERT_ATTEMPT, rows)
            self._connection.execute(
                "UPDATE head SET n_rows = ?, digest = ?", (n_rows, head)
            )
        self._n_rows, self._head, self._recipes = n_rows, head, recipes

    def _insert(self, table: str, number: int, text: str) -> None:
        """Add a row with its checksum to the table of recipes or runs."""
        self._connection.execute(
            f"INSERT INTO {table} VALUES (?, ?, ?)",
            (number, text, row_check((number, text))),
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with writing(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the file and release the lock."""
        self._connection.close()
        self._lock.release()

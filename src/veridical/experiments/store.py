"""The store: one SQLite file that survives anything its disk survives.

One process writes; any number read meanwhile. A batch of rows is on disk before it is
called done. Only JSON and numbers are stored, never pickles.
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
from veridical.experiments.database import (
    INSERT_ATTEMPT,
    chain,
    connect_to_read,
    create_tables,
    insert_recipe,
    reading,
    row_check,
    version_of,
    writing,
)
from veridical.experiments.keys import StoredKeys, write_coordinates
from veridical.experiments.lock import WriterLock
from veridical.experiments.outcomes import Outcome

if TYPE_CHECKING:
    import pandas as pd


#: Packages whose versions a run notes.
_PACKAGES = ("veridical", "numpy", "scipy", "scikit-learn", "numba")


class Row(NamedTuple):
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
    """A store opened for reading; it works while another process writes.

    Parameters
    ----------
    path : str or Path
        The file.

    Raises
    ------
    InputError
        If there is no such file, if it is no store, or of a newer version.

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
        """Number of attempts."""
        return self._head_of_all()[0]

    def _head_of_all(self) -> tuple[int, bytes]:
        """How many attempts were written, and the chain of their checksums."""
        with reading(self.path):
            head = self._connection.execute(
                "SELECT n_rows, digest FROM head"
            ).fetchone()
            if head is None or [type(part) for part in head] != [int, bytes]:
                raise sqlite3.DatabaseError("its head is damaged")
        return int(head[0]), bytes(head[1])

    def keys(self) -> StoredKeys:
        """Which cells are stored, and which of them failed."""
        with reading(self.path):
            return StoredKeys.read(self._connection)

    def rows(self, *, by_key: bool = False) -> Iterator[Row]:
        """Go through the last attempt at every cell.

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
                    f"{n_rows} rows were written, {attempts} are there"
                )

    def failures(self, limit: int = 10) -> list[Row]:
        """Read the most recent failures, the last one first."""
        query = f"{_LAST_ATTEMPTS} AND a.status <> 'ok' ORDER BY a.seq DESC LIMIT ?"
        return [row for row, _ in self._checked(query, limit)]

    def _checked(self, query: str, *arguments: Any) -> Iterator[tuple[Row, int]]:
        """Read rows, and refuse one that is not as it was written.

        Each comes with the number of rows that were written by then.
        """
        sound: set[int] = set()  # recipes that were checked
        with reading(self.path):
            for found in self._connection.execute(query, arguments):
                *columns, seq, recipe, digest, recipe_check, n_rows = found
                row = Row(*columns)
                if row_check((seq, *row[:3], recipe, *row[4:])) != digest:
                    raise sqlite3.DatabaseError(f"row {seq} was altered")
                if recipe not in sound:
                    if row_check((recipe, row.recipe)) != recipe_check:
                        raise sqlite3.DatabaseError(f"recipe {recipe} was altered")
                    sound.add(recipe)
                yield row, n_rows

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """See one state of the store, however much is written meanwhile."""
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
        """Who computed when and with what: one JSON text per start of a run."""
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
        """Every cell in a row of its own, in the order of their keys.

        Parameters
        ----------
        only : StoredKeys, optional
            Leave out other cells, such as those of an older version: `Plan.keys`.

        Returns
        -------
        DataFrame
            The coordinates, ``status``, and the values; a list becomes columns
            ``name_0``, ``name_1`` and so on. ``recipe`` tells apart cells with the
            same coordinates that depend on something else. How long each cell took
            is no result; it is kept aside, in ``attrs["seconds"]``.
        """
        from veridical.experiments.exports import to_frame

        return to_frame(self, only)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Writer(Store):
    """A store opened for writing, by one process at a time; made if it is missing.

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
                f"{self.path.parent}; make the folder first."
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
            self._read_head()
        except BaseException:
            if hasattr(self, "_connection"):
                self._connection.close()
            self._lock.release()
            raise
        self._run = 0

    def _read_head(self) -> None:
        self._n_rows, self._head = self._head_of_all()
        with reading(self.path):
            self._recipes: dict[str, int] = {
                text: number
                for number, text in self._connection.execute(
                    "SELECT id, text FROM recipes"
                )
            }

    def keys(self) -> StoredKeys:
        """Which cells are stored; refuse to go on where rows are gone or strange.

        What lies in the rows is checked by whoever reads them.
        """
        found = super().keys()
        if found.known.size != self._n_rows:
            raise InputError(
                f"{self.path} does not hold what was written to it ({self._n_rows} "
                f"rows were written, {found.known.size} are there); `veridical study "
                "verify` lists what is wrong."
            )
        return found

    def begin_run(self, **what: Any) -> None:
        """Note who computes from now on: host, versions, and what the caller adds."""
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
            self._connection.execute(
                "INSERT INTO runs VALUES (?, ?, ?)",
                (self._run, text, row_check((self._run, text))),
            )

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Add a batch; when this returns, it is on disk.

        Raises
        ------
        StoreError
            If it cannot be written; then nothing of the batch is.
        """
        if not self._run:
            self.begin_run()
        n_rows, head, recipes = self._n_rows, self._head, dict(self._recipes)
        with self._transaction():
            rows = []
            for outcome in outcomes:
                recipe = outcome.cell.recipe.text
                if recipe not in recipes:
                    recipes[recipe] = len(recipes) + 1
                    insert_recipe(self._connection, recipes[recipe], recipe)
                n_rows += 1
                row = (
                    n_rows,
                    outcome.key,
                    outcome.attempt,
                    self._run,
                    recipes[recipe],
                    write_coordinates(outcome.cell.coordinates),
                    outcome.status,
                    outcome.values,
                    outcome.detail,
                    outcome.seconds,
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
        """Let go of the file and of the right to write to it."""
        self._connection.close()
        self._lock.release()

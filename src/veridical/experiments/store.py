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
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from veridical._records import InputError
from veridical.experiments.checksums import chain, row_check
from veridical.experiments.keys import canonical, write_coordinates
from veridical.experiments.lock import WriterLock
from veridical.experiments.outcomes import Outcome
from veridical.experiments.schema import (
    INSERT_ATTEMPT,
    SCHEMA_VERSION,
    insert_recipe,
    upgrade,
    version_of,
)
from veridical.experiments.stored_keys import StoredKeys

if TYPE_CHECKING:
    import pandas as pd


#: Packages whose versions a run notes.
_PACKAGES = ("veridical", "numpy", "scipy", "scikit-learn", "numba")


class StoreError(Exception):
    """Writing failed, said in words; what was acknowledged before is intact."""


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
       a.seconds, a.finished, a.seq, a.recipe, a.digest
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
            found = version_of(self._connection, self.path)
            if found < SCHEMA_VERSION:
                # Tables of an older version become new ones when somebody writes.
                self._connection.close()
                Writer(self.path).close()
                self._connection = connect_to_read(self.path)
        except BaseException:
            self._connection.close()
            raise

    def __len__(self) -> int:
        """Number of attempts."""
        (count,) = self._connection.execute("SELECT n_rows FROM head").fetchone()
        return int(count)

    def keys(self) -> StoredKeys:
        """Which cells are stored, and which of them failed."""
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
        return self._checked(f"{_LAST_ATTEMPTS} ORDER BY {order}")

    def failures(self, limit: int = 10) -> list[Row]:
        """Read the most recent failures, the last one first."""
        query = f"{_LAST_ATTEMPTS} AND a.status <> 'ok' ORDER BY a.seq DESC LIMIT ?"
        return list(self._checked(query, limit))

    def _checked(self, query: str, *arguments: Any) -> Iterator[Row]:
        """Read rows, and refuse one that is not as it was written."""
        try:
            for *columns, seq, recipe, digest in self._connection.execute(
                query, arguments
            ):
                row = Row(*columns)
                written = (seq, *row[:3], recipe, *row[4:])
                if row_check(written) != digest:
                    raise sqlite3.DatabaseError(f"row {seq} was altered")
                yield row
        except sqlite3.DatabaseError as error:
            raise InputError(
                f"{self.path} does not hold what was written to it ({error}); "
                "`veridical study verify` lists what is wrong."
            ) from error

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
        return dict(self._connection.execute(query).fetchall())

    def runs(self) -> list[str]:
        """Who computed when and with what: one JSON text per start of a run."""
        query = "SELECT text FROM runs ORDER BY id"
        return [text for (text,) in self._connection.execute(query)]

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
            with _in_words(self.path):
                found = version_of(self._connection, self.path)
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
                upgrade(self._connection, found)
            self._read_head()
        except BaseException:
            if hasattr(self, "_connection"):
                self._connection.close()
            self._lock.release()
            raise
        self._run = 0

    def _read_head(self) -> None:
        self._n_rows, self._head = self._connection.execute(
            "SELECT n_rows, digest FROM head"
        ).fetchone()
        self._recipes: dict[str, int] = {
            text: number
            for number, text in self._connection.execute("SELECT id, text FROM recipes")
        }

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
        with _in_words(self.path):
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


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
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
    except sqlite3.DatabaseError:
        pass  # not a database: told by who asks for its version
    return connection

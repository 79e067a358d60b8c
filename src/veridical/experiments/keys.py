"""Keys of cells: hashes of everything that a result depends on.

A key is the SHA-256 of canonical JSON: a change of the data or of a parameter gives a
new key; a further selector leaves the keys of the others unchanged.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from veridical._core.arrays import BoolArray
from veridical._core.canonical import canonical

#: Increase it when the same cell would have other values than before: every stored cell
#: then counts as one of an older version and is computed again.
NUMERIC_VERSION = 2

#: Length of a key in bytes.
KEY_SIZE = 32


# Number of keys that are read from a store at a time.
_CHUNK = 20_000
_KEY_TYPE = np.dtype(f"S{KEY_SIZE}")

# By the names of coordinates: the text before each value, and its name, sorted.
_layouts: dict[tuple[str, ...], list[tuple[str, str]]] = {}


def cell_key(cell: Mapping[str, Any], recipe: str) -> bytes:
    """Compute the key of a cell.

    Parameters
    ----------
    cell : mapping
        Its coordinates in the grid.
    recipe : str
        ``recipe_digest`` of everything else the result depends on.
    """
    text = f'{{"cell":{write_coordinates(cell)},"recipe":"{recipe}"}}'
    return hashlib.sha256(text.encode()).digest()


def write_coordinates(cell: Mapping[str, Any]) -> str:
    """Write coordinates as `canonical` does, in half the time.

    A plan of a million cells writes a million of them, and nearly all values are
    strings and integers.
    """
    layout = _layouts.get(tuple(cell))
    if layout is None:
        layout = _lay_out(cell)
    parts = []
    for start, name in layout:
        value = cell[name]
        kind = type(value)
        if kind is int:
            parts.append(f"{start}{value}")
        elif kind is str:
            parts.append(start + canonical(value))
        else:
            return canonical(cell)
    return "".join(parts) + "}" if parts else canonical(cell)


def _lay_out(cell: Mapping[str, Any]) -> list[tuple[str, str]]:
    layout = []
    if all(type(name) is str for name in cell):
        layout = [
            (("," if i else "{") + canonical(name) + ":", name)
            for i, name in enumerate(sorted(cell))
        ]
    if len(_layouts) < 1000:  # a study has few layouts; bound the memory
        _layouts[tuple(cell)] = layout
    return layout


def recipe_digest(text: str) -> str:
    """Hash the canonical JSON of a recipe, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def content_hash(path: str | Path) -> str:
    """Return the hash of a file, which represents a data set in a recipe."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -- many keys -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class StoredKeys:
    """Keys of cells, and which of them have failed.

    A Python set would take more than a hundred bytes for each key; a study may have
    millions of cells.

    Parameters
    ----------
    known : array of bytes
        Keys in ascending order.
    failed : mapping of key to int
        Cells whose last attempt failed, with the number of that attempt.
    """

    known: NDArray[Any]
    failed: dict[bytes, int]

    @classmethod
    def read(cls, connection: sqlite3.Connection) -> Self:
        """Read all keys of a store, sorted by its index."""
        keys = connection.execute("SELECT key FROM attempts ORDER BY key")
        raw = bytearray()
        while chunk := keys.fetchmany(_CHUNK):
            raw += b"".join(key for (key,) in chunk)
        failed = connection.execute(
            "SELECT a.key, a.attempt FROM attempts a WHERE a.status <> 'ok' AND "
            "a.attempt = (SELECT max(b.attempt) FROM attempts b WHERE b.key = a.key)"
        )
        return cls(np.frombuffer(raw, dtype=_KEY_TYPE), dict(failed))

    @classmethod
    def from_units(cls, keys: Iterable[Sequence[bytes]]) -> Self:
        """Collect the keys of many units."""
        raw = bytearray()
        for part in keys:
            raw += b"".join(part)
        return cls(np.sort(np.frombuffer(raw, dtype=_KEY_TYPE)), {})

    @classmethod
    def none(cls) -> Self:
        """Return an empty set of keys."""
        return cls(np.empty(0, dtype=_KEY_TYPE), {})

    def contain(self, keys: Sequence[bytes]) -> BoolArray:
        """Return which of the given keys are stored."""
        if self.known.size == 0 or not keys:
            return np.zeros(len(keys), dtype=bool)
        raw = b"".join(keys)
        searched = np.frombuffer(raw, dtype=_KEY_TYPE)
        place = np.searchsorted(self._prefixes, _prefixes(raw))
        place[place == self.known.size] = 0
        found = np.asarray(self.known[place] == searched, dtype=bool)
        # Two keys with the same first eight bytes are rare; then whole keys are
        # compared.
        same_prefix = ~found & (self._prefixes[place] == _prefixes(raw))
        if same_prefix.any():
            place = np.searchsorted(self.known, searched[same_prefix])
            place[place == self.known.size] = 0
            found[same_prefix] = self.known[place] == searched[same_prefix]
        return found

    def have_failed(self, keys: Sequence[bytes]) -> BoolArray:
        """Return which of the given keys belong to cells that have failed."""
        if not self.failed:
            return np.zeros(len(keys), dtype=bool)
        return np.array([key in self.failed for key in keys], dtype=bool)

    @cached_property
    def _prefixes(self) -> NDArray[np.uint64]:
        """The first eight bytes as integers, which are searched faster than bytes."""
        return _prefixes(self.known)


def _prefixes(keys: Any) -> NDArray[np.uint64]:
    words = np.frombuffer(keys, dtype=">u8").reshape(-1, KEY_SIZE // 8)
    return words[:, 0].astype(np.uint64)

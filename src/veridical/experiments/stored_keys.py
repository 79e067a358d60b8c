"""A large set of keys in little memory: sorted bytes, 32 for each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from veridical.experiments.keys import KEY_SIZE

BoolArray = NDArray[np.bool_]

_CHUNK = 20_000
_TYPE = np.dtype(f"S{KEY_SIZE}")


@dataclass(frozen=True, eq=False)
class StoredKeys:
    """Keys of cells, and which of them have failed.

    A set of Python's own would take a hundred bytes and more for each key; a million
    cells must fit beside the work.

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
        """Read all keys of a store; the index has them in order."""
        keys = connection.execute("SELECT key FROM attempts ORDER BY key")
        raw = bytearray()
        while chunk := keys.fetchmany(_CHUNK):
            raw += b"".join(key for (key,) in chunk)
        failed = connection.execute(
            "SELECT a.key, a.attempt FROM attempts a WHERE a.status <> 'ok' AND "
            "a.attempt = (SELECT max(b.attempt) FROM attempts b WHERE b.key = a.key)"
        )
        return cls(np.frombuffer(raw, dtype=_TYPE), dict(failed))

    @classmethod
    def of(cls, keys: Iterable[Sequence[bytes]]) -> Self:
        """Gather the keys of many units."""
        raw = bytearray()
        for part in keys:
            raw += b"".join(part)
        return cls(np.sort(np.frombuffer(raw, dtype=_TYPE)), {})

    @classmethod
    def none(cls) -> Self:
        """No keys at all."""
        return cls(np.empty(0, dtype=_TYPE), {})

    def contain(self, keys: Sequence[bytes]) -> BoolArray:
        """Tell which of some keys are among these."""
        if self.known.size == 0 or not keys:
            return np.zeros(len(keys), dtype=bool)
        raw = b"".join(keys)
        asked = np.frombuffer(raw, dtype=_TYPE)
        place = np.searchsorted(self._beginnings, _beginnings(raw))
        place[place == self.known.size] = 0
        found = np.asarray(self.known[place] == asked, dtype=bool)
        # Two keys that begin alike are rare; then only whole ones tell where to look.
        alike = ~found & (self._beginnings[place] == _beginnings(raw))
        if alike.any():
            place = np.searchsorted(self.known, asked[alike])
            place[place == self.known.size] = 0
            found[alike] = self.known[place] == asked[alike]
        return found

    def have_failed(self, keys: Sequence[bytes]) -> BoolArray:
        """Tell which of some keys belong to cells that have failed."""
        if not self.failed:
            return np.zeros(len(keys), dtype=bool)
        return np.array([key in self.failed for key in keys], dtype=bool)

    @cached_property
    def _beginnings(self) -> NDArray[np.uint64]:
        """The first eight bytes as numbers, which are found faster than bytes are."""
        return _beginnings(self.known)


def _beginnings(keys: Any) -> NDArray[np.uint64]:
    words = np.frombuffer(keys, dtype=">u8").reshape(-1, KEY_SIZE // 8)
    return words[:, 0].astype(np.uint64)

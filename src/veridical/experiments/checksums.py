"""Checksums of rows: what was written is what is read.

A row's checksum covers every column with its type, so that a flipped bit cannot turn
one value into another unnoticed. The head chains the checksums of all rows in order,
so that a row that was taken out, put in or exchanged is noticed too. They guard
against accidents; whoever forges a store can compute them as well as we can.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable
from typing import Any

#: Length of a checksum in bytes.
CHECK_SIZE = 16

#: The head of a table without rows.
EMPTY = bytes(CHECK_SIZE)


def row_check(values: Iterable[Any]) -> bytes:
    """Checksum the columns of a row.

    Texts may be given as ``str`` or ``bytearray`` (as they lie in the file), blobs as
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
    """Add a row to the head."""
    return hashlib.sha256(head + check).digest()[:CHECK_SIZE]

"""How much a file may claim, and how far it may expand."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

from veridical._core.errors import InputError

#: What expands to more than this, and beyond so many times its size, is no table.
ROOM = 256 * 2**20
RATIO = 200

_STEP = 1 << 20
_OPENERS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}


def memory() -> int:
    """Bytes of memory this machine has; a modest guess where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8 * 2**30


def too_much(expanded: int, packed: int) -> bool:
    """Tell whether something expands as only a trap does."""
    return expanded > ROOM and expanded > RATIO * packed


def read_all(file: BinaryIO, name: str) -> bytes:
    """Read the rest of a file, or of a pipe, that fits into memory.

    Raises
    ------
    InputError
        If it holds more than this machine's memory, or a pipe does not end before.
    """
    room = memory()
    parts, size = [], os.fstat(file.fileno()).st_size
    if size <= room:
        size = 0
        while size <= room and (part := file.read(_STEP)):
            parts.append(part)
            size += len(part)
    if size > room:
        raise InputError(
            f"{name} holds more than the {room / 2**30:.0f} GiB of this machine's "
            "memory; take a sample of its rows, or fewer of its columns."
        )
    return b"".join(parts)


def unpack(content: bytes, name: str) -> tuple[bytes, bool]:
    """Expand what gzip, bzip2 or xz packed; return it, and whether it was packed.

    Raises
    ------
    InputError
        If it is damaged, or expands beyond all measure.
    """
    opener = next((o for m, o in _OPENERS.items() if content.startswith(m)), None)
    if opener is None:
        return content, False
    parts, size = [], 0
    try:
        with opener(io.BytesIO(content)) as file:
            while part := file.read(_STEP):
                parts.append(part)
                size += len(part)
                if too_much(size, len(content)) or size > memory():
                    raise InputError(
                        f"{name} expands to more than {size // 2**20} MiB from "
                        f"{len(content) / 2**20:.1f}; it may be a trap. If you trust "
                        "it, unpack it first."
                    )
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{name} is cut short or damaged and cannot be unpacked ({error}); "
            "copy or download it again."
        ) from error
    return b"".join(parts), True

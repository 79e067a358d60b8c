"""Limits of memory, and of how far a compressed file may expand."""

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

#: Bytes, and multiple of the compressed size; what expands beyond both is refused.
MOST_BYTES = 256 * 2**20
MOST_RATIO = 200

#: Bytes read at a time.
_STEP = 1 << 20
_OPENERS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}


def memory() -> int:
    """Return the memory of this computer in bytes; 8 GiB where it is not known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8 * 2**30


def too_much(expanded: int, packed: int) -> bool:
    """Return whether something expands so far that it may be a decompression bomb."""
    return expanded > MOST_BYTES and expanded > MOST_RATIO * packed


def read_all(file: BinaryIO, name: str, head: bytes = b"") -> bytes:
    """Read the rest of a file or a pipe into memory, behind what was read of it.

    Raises
    ------
    InputError
        If it holds more than the memory of this computer.
    """
    room = memory()
    parts, size = [head] * bool(head), os.fstat(file.fileno()).st_size
    if size <= room:
        step, size = max(_STEP, size), 0  # of a pipe the size is not known
        while size <= room and (part := file.read(step)):
            parts.append(part)
            size += len(part)
    if size > room:
        raise InputError(
            f"{name} holds more than the {room / 2**30:.0f} GiB of memory of this "
            "computer; use fewer rows or columns."
        )
    return b"".join(parts)


def unpack(content: bytes, name: str) -> tuple[bytes, bool]:
    """Expand a file compressed by gzip, bzip2 or xz; return also whether it was.

    Raises
    ------
    InputError
        If it is damaged, or expands too far.
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
                        f"{len(content) / 2**20:.1f}; it may be a decompression bomb. "
                        "If you trust it, unpack it first."
                    )
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{name} is cut short or damaged and cannot be unpacked ({error}); "
            "copy or download it again."
        ) from error
    return b"".join(parts), True

"""Formats that are recognized but not read, with advice on how to convert them."""

from __future__ import annotations

import zipfile
from pathlib import Path

from veridical._core.errors import InputError

_AS_CSV = "open it there and save the sheet as CSV (UTF-8)"
_WITH_PANDAS = "read it with pandas and save the table as CSV or Parquet"

#: First bytes of a format, its name, and how to convert it.
_MAGIC = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook", _AS_CSV),
    (b"%PDF", "a PDF", "take the table out of it and save it as CSV"),
    (b"ARROW1", "a Feather file", _WITH_PANDAS),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"\x93NUMPY", "a single numpy array", "save X and y together with numpy.savez"),
    (
        b"\x80",
        "a Python pickle, which is never loaded because it could run code",
        "save the table as CSV, Parquet or npz where it was made",
    ),
    (b"RDX", "an R data file", "save the table with write.csv in R"),
    (b"$FL2", "an SPSS file", "save the table as CSV in SPSS"),
)
#: Files in a zip archive that identify a format.
_SHEETS = {
    "xl/workbook.xml": "an Excel workbook",
    "xl/workbook.bin": "an Excel workbook",
    "content.xml": "an OpenDocument file",
}


def refuse_unsupported(head: bytes, name: str) -> None:
    """Raise if the first bytes are those of a format that is not read.

    Parameters
    ----------
    head : bytes
        First bytes of the file, uncompressed.
    name : str
        Name of the file in messages.

    Raises
    ------
    InputError
        If the file has such a format.
    """
    for magic, kind, cure in _MAGIC:
        # The first byte of a pickle may begin text in an old encoding; a second byte
        # below 6 may not.
        if head.startswith(magic) and (magic != b"\x80" or head[1:2] < b"\x06"):
            raise InputError(f"{name} is {kind}; {cure}.")
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:64].lower()
    if start.startswith((b"<!doctype html", b"<html")):
        raise InputError(
            f"{name} is a web page, not a table; it may be what a server sent in place "
            "of the file. Download it again."
        )
    if start.startswith((b'[{"', b'{"')):
        raise InputError(f"{name} is JSON; {_WITH_PANDAS}.")


def refuse_unsupported_archive(path: Path, name: str) -> None:
    """Raise if a zip archive holds no arrays; the message tells what it is."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
    except Exception:
        return  # damaged: the reader of npz raises the error
    if any(member.endswith(".npy") for member in members):
        return
    for member, kind in _SHEETS.items():
        if member in members:
            raise InputError(f"{name} is {kind}; {_AS_CSV}.")
    raise InputError(
        f"{name} is a zip archive without arrays; unpack it, and pass the file that "
        "was in it."
    )

"""Files that are often given for a table: what they are, and what to do."""

from __future__ import annotations

import zipfile
from pathlib import Path

from veridical._core.errors import InputError

_AS_CSV = "open it there and save the sheet as CSV (UTF-8)"
_WITH_PANDAS = "read it with pandas and save the table as CSV or Parquet"

#: First bytes, what begins so, and what to do about it.
_MAGIC = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook", _AS_CSV),
    (b"%PDF", "a PDF", "take the table out of it and save it as CSV"),
    (b"\x89HDF", "an HDF5 file", _WITH_PANDAS),
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
_SHEETS = {
    "xl/workbook.xml": "an Excel workbook",
    "xl/workbook.bin": "an Excel workbook",
    "content.xml": "an OpenDocument file",
}


def refuse_stranger(head: bytes, name: str) -> None:
    """Refuse what its first bytes show to be something else.

    Parameters
    ----------
    head : bytes
        How the file begins, unpacked.
    name : str
        What messages call the file.

    Raises
    ------
    InputError
        If the file is of a kind that is known, but not read here.
    """
    for magic, kind, cure in _MAGIC:
        # A byte of a pickle's kind may begin text in an old encoding; a zero may not.
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


def refuse_other_archive(path: Path, name: str) -> None:
    """Refuse a zip archive that holds no arrays, and say what it is."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
    except Exception:
        return  # damaged: for the reader of npz to say
    if any(member.endswith(".npy") for member in members):
        return
    for member, kind in _SHEETS.items():
        if member in members:
            raise InputError(f"{name} is {kind}; {_AS_CSV}.")
    raise InputError(
        f"{name} is a zip archive without arrays; unpack it, and name the file that "
        "was in it."
    )

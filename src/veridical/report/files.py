"""Write whole files, and raise before the work where none can be written."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from veridical._core.errors import InputError

#: Ends of names that say how a record is written; any other name is that of a page.
PICTURES = (".png", ".pdf", ".svg")
FORMATS = (".html", ".json", ".csv", ".tex", ".md", *PICTURES)
# A page under such a name could not be opened.
_OTHER_KINDS = (
    *(".doc", ".docx", ".eps", ".ipynb", ".jpeg", ".jpg", ".jsonl", ".ods"),
    *(".parquet", ".tsv", ".txt", ".xls", ".xlsx", ".yaml", ".zip"),
)


def check_writable(path: str | Path) -> Path:
    """Raise if a record cannot be written, before the work that it will show.

    Parameters
    ----------
    path : str or Path
        Where it shall go; nothing is left there.

    Raises
    ------
    InputError
        Where the folder is missing or closed, or something other than a file is there.
    """
    target = _target(path)
    with _explain_error(target), _temporary(target):
        pass
    return target


def write(content: str | bytes, path: str | Path) -> Path:
    """Write a file in one step: readers find the whole old one or the whole new one.

    Parameters
    ----------
    content : str or bytes
        What to write; text as UTF-8.
    path : str or Path
        Where; a link is followed.
    """
    target = _target(path)
    with _explain_error(target), _temporary(target) as scratch:
        with scratch.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, target)
        _sync_folder(target.parent)
    return Path(path)


def _target(path: str | Path) -> Path:
    """Find the file that a path means, and refuse to replace anything but a file."""
    if Path(path).suffix.lower() in _OTHER_KINDS:
        raise InputError(
            f"cannot write {str(path)!r}: no record is written as "
            f"{Path(path).suffix}; end the name in {', '.join(FORMATS[:-1])} or "
            f"{FORMATS[-1]}"
        )
    target = Path(os.path.realpath(path))
    with _explain_error(target):
        try:
            mode = target.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return target
    if stat.S_ISDIR(mode):
        raise InputError(
            f"cannot write {str(path)!r}: that is a folder; "
            "name a file in it, such as report.html"
        )
    if not stat.S_ISREG(mode):
        raise InputError(
            f"cannot write {str(path)!r}: that is a device or a pipe; "
            "name an ordinary file, such as report.html"
        )
    return target


@contextlib.contextmanager
def _explain_error(target: Path) -> Iterator[None]:
    """Raise an `InputError` that says why the operating system refused."""
    try:
        yield
    except OSError as error:
        cure = (
            "make the folder first"
            if not target.parent.is_dir()
            else "choose a place where you may write"
        )
        raise InputError(
            f"cannot write {target.name!r} in {str(target.parent)!r}: "
            f"{error.strerror or error}; {cure}"
        ) from error


@contextlib.contextmanager
def _temporary(target: Path) -> Iterator[Path]:
    """Create an empty file beside the target; delete it unless it was renamed."""
    scratch = target.with_name(f".veridical-{secrets.token_hex(8)}.tmp")
    # Not tempfile: its files are private, and a page should have the usual rights.
    os.close(os.open(scratch, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield scratch
    finally:
        scratch.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Write a rename to the disk, where the system can do that."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""Data sets from OpenML: fetched once, kept with a checksum, read like any other."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from veridical._core.errors import InputError
from veridical.datasets.arff import write_arff

PREFIX = "openml:"

#: Name of the class column of a file in the data folders.
TARGET = "class"


def cache_folder() -> Path:
    """Return the folder of fetched data sets."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "veridical"


def fetch(name: str, *, again: bool = False) -> Path:
    """Fetch a data set from OpenML, unless it is there already.

    Parameters
    ----------
    name : str
        ``"openml:credit-g"`` for the active version of that name, or ``"openml:31"``
        for a number; the prefix may be left out.
    again : bool, default=False
        Fetch it even if it is there.

    Returns
    -------
    Path
        An ARFF file with the class in the column ``class``, and beside it its SHA-256.

    Raises
    ------
    InputError
        If OpenML cannot be reached, has no such data set, or it has no class.
    """
    wanted = name.removeprefix(PREFIX).strip()
    if not wanted:
        raise InputError(
            f"{name!r} names no data set; use openml:credit-g, or the number, "
            "openml:31."
        )
    stem = re.sub(r"[^A-Za-z0-9_.-]", "_", wanted).lstrip(".")
    path = cache_folder() / "openml" / f"{stem}.arff.gz"
    if path.is_file() and not again:
        check_sum(path)
        return path
    frame = _labelled(_from_openml(wanted), wanted)
    content = gzip.compress(write_arff(frame, wanted).encode(), mtime=0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, content)
        digest = hashlib.sha256(content).hexdigest()
        _replace(_sum_file(path), f"{digest}  {path.name}\n".encode())
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}; set XDG_CACHE_HOME to a "
            "folder that can."
        ) from error
    return path


def check_sum(path: Path) -> None:
    """Raise if a fetched file differs from its checksum."""
    try:
        digest = _sum_file(path).read_text().split()[0]
    except (OSError, IndexError):
        return  # it was not fetched
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        name = path.name.removesuffix(".arff.gz")
        raise InputError(
            f"{path} is not what was fetched (its SHA-256 differs); fetch it again: "
            f"veridical data fetch {PREFIX}{name} --again"
        )


def _sum_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _replace(path: Path, content: bytes) -> None:
    """Write to a temporary file and rename it, so that no part can be read."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _from_openml(wanted: str) -> Any:
    from urllib.error import HTTPError, URLError

    from sklearn.datasets import fetch_openml

    which = {"data_id": int(wanted)} if wanted.isdigit() else {"name": wanted}
    try:
        with warnings.catch_warnings():
            # Failed retries are reported once, at the end.
            warnings.filterwarnings("ignore", "A network error occurred")
            # It checks OpenML's own checksum.
            return fetch_openml(**which, as_frame=True, parser="auto", cache=False)
    except HTTPError as error:
        raise InputError(
            f"OpenML answers {error.code} for {wanted!r} ({error.reason}); look it up "
            "at openml.org."
        ) from error
    except (URLError, OSError) as error:
        raise InputError(
            f"OpenML cannot be reached ({getattr(error, 'reason', error)}); check the "
            "connection, or give a file you have."
        ) from error
    except ValueError as error:  # unknown names, broken checksums
        raise InputError(f"OpenML has no usable {wanted!r}: {error}") from error


def _labelled(bunch: Any, wanted: str) -> pd.DataFrame:
    target = bunch.target
    if target is None or getattr(target, "ndim", 1) != 1:
        raise InputError(
            f"OpenML names no single class for {wanted!r}; fetch it with scikit-learn "
            "and choose the column yourself."
        )
    frame = pd.DataFrame(bunch.data).rename(columns={TARGET: f"{TARGET}_"})
    frame[TARGET] = pd.Series(target).astype("str").astype("category")
    return frame

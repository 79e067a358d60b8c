"""Reading a file: its format, by content and by name, and the reader of each.

To add a format, write one function ``(bytes or path, target, name) -> X, y`` in a
module of its own and one line in ``_BINARY`` or ``_TEXT``.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical._core.advice import for_users
from veridical._core.errors import InputError
from veridical._core.lazy import read_bytes
from veridical._core.reading import (
    check_outcome,
    check_survival,
    read_events,
)
from veridical._core.text import did_you_mean, listed
from veridical.datasets.arff import looks_like_arff, read_arff
from veridical.datasets.block_files import (
    HDF5,
    is_zarr,
    open_hdf5,
    open_parquet,
    open_zarr,
)
from veridical.datasets.delimited import read_delimited
from veridical.datasets.libsvm import looks_like_libsvm, read_libsvm
from veridical.datasets.limits import memory, read_all, unpack
from veridical.datasets.npz import read_npz
from veridical.datasets.parquet import read_parquet
from veridical.datasets.unsupported import refuse_unsupported

ReadData = tuple[Any, NDArray[Any]]

#: Bytes that text does not have.
_CONTROL_BYTES = bytes(set(range(32)) - set(b"\t\n\r\f\v"))


@dataclass(frozen=True)
class _Binary:
    """A format recognized by its first bytes; its reader gets the path."""

    name: str
    suffixes: tuple[str, ...]
    magic: bytes
    read: Callable[[Path, str | None, str], ReadData]


@dataclass(frozen=True)
class _TextFormat:
    """A format recognized by content or suffix; its reader gets the text in UTF-8."""

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[bytes, str | None, str], ReadData]
    looks: Callable[[bytes], bool] | None = None


_BINARY = (
    _Binary("npz", (".npz",), b"PK\x03\x04", read_npz),
    _Binary("parquet", (".parquet", ".pq"), b"PAR1", read_parquet),
)
#: The first one also reads text that no other recognizes.
_TEXT = (
    _TextFormat("CSV", (".csv", ".tsv", ".txt", ".data"), read_delimited),
    _TextFormat("ARFF", (".arff",), read_arff, looks_like_arff),
    _TextFormat(
        "libsvm", (".libsvm", ".svmlight", ".svm"), read_libsvm, looks_like_libsvm
    ),
)

#: Every suffix that a data file may have, in the order in which ``load`` tries them.
SUFFIXES: tuple[str, ...] = tuple(
    suffix + packed
    for text in _TEXT
    for suffix in text.suffixes
    for packed in ("", ".gz", ".bz2", ".xz")
) + tuple(suffix for binary in _BINARY for suffix in binary.suffixes)


def read(
    path: str | Path,
    target: str | None = None,
    *,
    time: str | None = None,
    event: str | None = None,
    header: bool | None = None,
    memory_limit: int | str | None = None,
    layer: str | None = None,
) -> ReadData:
    r"""Read a table from a file, and divide it into features and labels.

    Parameters
    ----------
    path : str or Path
        CSV or TSV (columns separated by comma, semicolon or tab, UTF-8; where no comma
        separates them, numbers may have a decimal comma),
        ARFF or libsvm, plain or compressed by gzip, bzip2 or xz; npz with arrays ``X``
        and ``y``; parquet (a file or, with `memory_limit`, a folder), where pyarrow is
        installed; HDF5 or zarr with arrays ``X``, ``y`` and perhaps ``feature_names``,
        or of AnnData, where h5py or zarr is installed. The content decides, and the
        suffix where the content leaves it open.
    target : str
        The column with the class or the number to predict; in an npz file the array, by
        default ``y``; of AnnData a column of ``obs``. In libsvm's format the target
        has no name: leave it out.
    time, event : str, optional
        In place of `target`: the columns (in an npz file the arrays) with a survival
        time, and with whether the event was seen (1, or true) or the time is censored
        (0, or false).
    header : bool, optional
        For CSV and TSV: whether the first row holds the names of the columns. By
        default its content decides. Without names columns are called ``column_1``,
        ``column_2`` and so on, and a warning says so.
    memory_limit : int or str, optional
        For parquet, HDF5 and zarr: how much memory the data may take, in bytes or as a
        text such as "2GB"; see :func:`by_blocks`. Without it, parquet is read as a
        whole, and the limit of the others is the memory of the computer.
    layer : str, optional
        Of AnnData, the layer to read instead of ``X``.

    Returns
    -------
    X : DataFrame, array, csr_array or LazyMatrix of shape (n_samples, n_features)
        A data frame wherever columns have names. Numbers stay numbers, text and
        booleans become categories; an empty cell, ``NA``, ``NaN`` or ``?`` is missing.
        An npz file gives an array if it names no features, and a ``csr_array`` if it
        holds a sparse matrix. Files that are read by blocks give a matrix that is read
        when it is used; columns of ``obs`` can be given as `groups` by their names.
    y : array of shape (n_samples,)
        The labels; strings stay strings and integers stay integers. With `time` and
        `event` a structured array with these two fields, as scikit-survival takes it.

    Raises
    ------
    InputError
        If the file cannot be read as a table of features and classes; the message tells
        what is wrong, in which line or column, and what to do. Also if the first row
        holds numbers that may be names or data, and `header` does not decide.

    Warns
    -----
    UserWarning
        If a text column differs in every row, the first column counts the rows, or the
        first row is taken as data.

    See Also
    --------
    load : The same by name, from the folder of data sets.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from veridical.datasets import read
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "fruit.csv"
    ...     _ = path.write_text("mass,colour,kind\n7,red,cherry\n150,,apple\n")
    ...     X, y = read(path, target="kind")
    >>> X
       mass colour
    0     7    red
    1   150    NaN
    >>> y
    array(['cherry', 'apple'], dtype='<U6')
    """
    limit = None if memory_limit is None else read_bytes(memory_limit)
    if time is not None or event is not None:
        if limit is not None:
            raise InputError(
                "Survival times are not read by blocks; leave memory_limit out, or "
                "read the features by by_blocks and the times by themselves."
            )
        return _read_survival(path, target, time, event, header)
    path, name = Path(path).expanduser(), str(path)
    if not (target is None or isinstance(target, str)):
        raise InputError(f"target={target!r} is not the name of a column; pass a text.")
    opened = _open_blocks(path, target, name, limit, layer)
    if opened is not None:
        _refuse_header(header, "read by blocks", name)
        return opened
    if layer is not None:
        raise InputError(
            f"layer={layer!r} is for AnnData, which {name} is not; leave it out."
        )
    X, y = _read_whole(path, target, header)
    check_outcome(y, X.shape[0], name)
    return X, y


def _read_whole(path: str | Path, target: str | None, header: bool | None) -> ReadData:
    """Read a table into memory; the target is not checked, except for missing ones."""
    path, name = Path(path).expanduser(), str(path)
    with _open(path, name) as file:
        head = file.read(8)
        for binary in _BINARY:
            if head.startswith(binary.magic):
                _refuse_header(header, binary.name, name)
                return binary.read(path, target, name)
        if file.seekable():  # not a pipe: the head need not be joined to the rest
            file.seek(0)
            head = b""
        content, packed = unpack(read_all(file, name, head), name)
    refuse_unsupported(content[:128], name)
    expected = _by_suffix(path)
    if isinstance(expected, _Binary):
        raise InputError(
            f"{name} is not {expected.name}, in spite of its name; save it again, or "
            "rename it if it is a CSV file."
        )
    content = _as_utf8(content, name)
    if not content or content.isspace():
        raise InputError(
            f"{name} is empty{' when unpacked' if packed else ''}; it must have a "
            "header and rows."
        )
    reader = _reader(content, expected)
    if reader.read is read_delimited:
        return read_delimited(content, target, name, header)
    _refuse_header(header, reader.name, name)
    return reader.read(content, target, name)


def _open_blocks(
    path: Path, target: str | None, name: str, limit: int | None, layer: str | None
) -> ReadData | None:
    """Open a file that is read by blocks; None where it is read as a whole."""
    whole = memory()
    if path.is_dir():
        if is_zarr(path):
            return open_zarr(path, target, name, limit or whole, layer)
        if limit is not None and any(path.rglob("*.parquet")):
            return open_parquet(path, target, name, limit)
        return None
    head = b""
    if path.is_file():  # what a pipe gives can be read once only
        with _open(path, name) as file:
            head = file.read(8)
    if head.startswith(HDF5):
        return open_hdf5(path, target, name, limit or whole, layer)
    if limit is None:
        return None
    if head.startswith(b"PAR1"):
        return open_parquet(path, target, name, limit)
    raise InputError(
        f"{name} is not read by blocks: memory_limit is for parquet, HDF5 and zarr. "
        "Save the table as parquet, or leave memory_limit out."
    )


def _read_survival(
    path: str | Path,
    target: str | None,
    time: str | None,
    event: str | None,
    header: bool | None,
) -> ReadData:
    """Read a table with a survival time."""
    name = str(path)
    if target is not None or time is None or event is None:
        raise InputError(
            "A survival time needs the column of the time and that of the event, and "
            "no target; give time and event."
        )
    if time == event:
        raise InputError(
            f"{time!r} is given for the time and for the event of {name}; name the "
            "column of each."
        )
    X, times = _read_whole(path, time, header)
    known = [str(column) for column in getattr(X, "columns", ())]
    if event in known:
        seen = X[event]
        X = X.drop(columns=event)
    elif zipfile.is_zipfile(Path(path).expanduser()):  # npz: an array of its own
        seen = pd.Series(_read_whole(path, event, header)[1])
    else:
        raise InputError(
            f"{name} has no column {event!r} for the event{did_you_mean(event, known)} "
            f"The columns are {listed(known)}."
        )
    more = {}
    if np.isin(times, (0, 1)).all():
        swapped = f"the values of {time!r} are 0 and 1, so that the two may be swapped"
        more = {"cure": swapped}
    found = check_survival(times, read_events(seen, name, event, **more), name)
    return X, found.labels


def _refuse_header(header: bool | None, kind: str, name: str) -> None:
    if header is not None:
        option = for_users("header", "--header")
        raise InputError(
            f"{option} is for CSV files, but {name} is {kind}, which has its own names "
            "of columns; leave it out."
        )


def _reader(content: bytes, expected: _TextFormat | None) -> _TextFormat:
    """Return the format by content, or else by suffix."""
    for text in _TEXT:
        if text.looks is not None and text.looks(content):
            return text
    return expected or _TEXT[0]


def names_its_class(path: Path) -> bool:
    """Return whether the class of a file has a name, by its suffix."""
    kind = _by_suffix(path)
    return kind is None or kind.read is not read_libsvm


def _open(path: Path, name: str) -> BinaryIO:
    if path.is_dir():
        raise InputError(f"{name} is a folder; pass a file in it.")
    if path.is_char_device() or path.is_block_device():
        raise InputError(f"{name} is a device, which may never end; pass a file.")
    try:
        return path.open("rb")
    except FileNotFoundError:
        siblings = [p.name for p in path.parent.glob("*")] if path.name else []
        raise InputError(
            f"There is no file {name}{did_you_mean(path.name, siblings)}"
        ) from None
    except OSError as error:
        raise InputError(f"{name} cannot be opened: {error.strerror}.") from error


def _by_suffix(path: Path) -> _Binary | _TextFormat | None:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    while suffixes and suffixes[-1] in (".gz", ".bz2", ".xz"):
        suffixes.pop()
    for kind in (*_BINARY, *_TEXT):
        if suffixes and suffixes[-1] in kind.suffixes:
            return kind
    return None


def _as_utf8(content: bytes, name: str) -> bytes:
    """Return text in UTF-8, also from UTF-16 with its mark, as Excel writes."""
    encoding = "UTF-8"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "UTF-16"
    elif b"\0" in content or _has_control_bytes(content[:4096]):
        kinds = ", ".join(kind.name for kind in (*_TEXT, *_BINARY))
        raise InputError(
            f"{name} is not a text file, nor any kind that can be read here ({kinds})."
        )
    elif content.isascii():
        return content
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"Line {line} of {name} is not {encoding} text; save the file as UTF-8."
        ) from error
    if encoding == "UTF-16":
        content = text.encode()
    return content.removeprefix(b"\xef\xbb\xbf")  # the mark of UTF-8 that Excel adds


def _has_control_bytes(content: bytes) -> bool:
    return len(content.translate(None, _CONTROL_BYTES)) < len(content)

"""Tables in text: columns separated by comma, semicolon or tab."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical._core.advice import for_users
from veridical._core.errors import InputError
from veridical.datasets.headers import MISSING_WORDS, has_header
from veridical.datasets.tables import split_target

_SEPARATORS = (",", ";", "\t")
#: Missing values with a blank on either side, as in "5.1, ?, 1.4".
_MARKERS = [
    left + m + right for m in MISSING_WORDS for left in ("", " ") for right in ("", " ")
]

#: Characters; a longer field must have a quotation mark that is never closed.
_LONGEST_FIELD = 131_072

#: Bytes that are searched at once.
_PART = 1 << 18

_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+(?:,\d+)?(?:[eE][+-]?\d+)?\s*", re.ASCII)

#: Before pandas 3.1 its default parser could miss the nearest double by one bit.
_PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
_EXACT_DOUBLES: dict[str, Any] = (
    {} if _PANDAS >= (3, 1) else {"float_precision": "round_trip"}
)


def read_delimited(
    content: bytes, target: str | None, name: str, header: bool | None = None
) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Read a table from delimited text.

    Parameters
    ----------
    content : bytes
        The whole file, in UTF-8.
    target : str or None
        The column with the class.
    name : str
        Name of the file in messages.
    header : bool, optional
        Whether the first row holds the names of the columns; None decides by its
        content.

    Returns
    -------
    X : DataFrame
        Numbers and categories.
    y : array
        The labels.

    Warns
    -----
    UserWarning
        If the first row is taken as data, unless `header` says so.
    """
    separator = _find_separator(content, name)
    first, lines = _scan(content, separator, name)
    frame = None
    if header is not False and len(lines) > 1:
        frame = _parse(content, separator, first, lines[1:], name, target, skip=True)
    if header is None:
        header = frame is None or has_header(first, frame, target, name)
        if not header:
            warnings.warn(
                f"The first row of {name} looks like data, so the columns are named "
                f"column_1 to column_{len(first)}. If it holds names, give "
                f"{for_users('header=True', '--header yes')}.",
                stacklevel=2,
            )
    if not header:
        names = [f"column_{j}" for j in range(1, len(first) + 1)]
        _refuse_other_name(target, names, name)
        frame = _parse(content, separator, names, lines, name, target, skip=False)
        return split_target(frame, target, name, lambda row: f"line {lines[row]}")
    if frame is None:
        raise InputError(f"{name} has a header but no rows; nothing can be learned.")
    return split_target(frame, target, name, lambda row: f"line {lines[row + 1]}")


def _refuse_other_name(target: str | None, names: list[str], name: str) -> None:
    """Raise for the name of a target in a file without names."""
    if target is None or target in names:
        return
    meant = f"column_{target}"
    wanted = meant if meant in names else names[-1]
    raise InputError(
        f"{name} has no column {target!r}: its first row holds no names, so that the "
        f"columns are called column_1 to {names[-1]}. Give the target by its place, "
        f"such as {for_users(f'{wanted!r}', f'--target {wanted}')}; or, if the first "
        f"row holds names, {for_users('header=True', '--header yes')}."
    )


def _parse(
    content: bytes,
    separator: str,
    names: list[str],
    lines: list[int],
    name: str,
    target: str | None,
    *,
    skip: bool,
) -> pd.DataFrame:
    """Convert the rows to columns of numbers or text; `skip` leaves the first out."""
    # Python's reader has counted the fields and lines; pandas converts them to numbers.
    try:
        frame = pd.read_csv(
            io.BytesIO(content),
            sep=separator,
            header=0 if skip else None,
            names=range(len(names)),
            index_col=False,
            keep_default_na=False,
            na_values=_MARKERS,
            low_memory=False,
            **_EXACT_DOUBLES,
        )
    except pd.errors.ParserError as error:
        raise InputError(
            f"{name} cannot be read: {error}. Look for a quotation mark that is never "
            "closed."
        ) from error
    if len(frame) != len(lines):
        raise InputError(
            f"{name} cannot be read: its rows are not clearly separated. Look for "
            "quotation marks without a partner, or lines of blanks."
        )
    frame.columns = pd.Index(names, dtype=object)
    frame = frame.copy()  # one block of memory for all numbers, not one per column
    return frame if separator == "," else _with_decimal_commas(frame, target)


def _with_decimal_commas(frame: pd.DataFrame, target: str | None) -> pd.DataFrame:
    """Convert columns of numbers such as 1,5, where no comma separates columns.

    All values of a column must be such numbers or whole numbers. With a point as well,
    the comma may separate thousands: such a column is left as it is.
    """
    changed = {}
    for j, label in enumerate(frame.columns):
        column = frame.iloc[:, j]
        if label == target or pd.api.types.is_numeric_dtype(column):
            continue
        words = column.dropna().astype(str)
        if words.str.contains(",").any() and words.map(_is_decimal).all():
            changed[j] = column.map(_with_decimal_comma, na_action="ignore").astype(
                "float64"
            )
    if not changed:
        return frame
    columns = [changed.get(j, frame.iloc[:, j]) for j in range(frame.shape[1])]
    turned = pd.concat(columns, axis=1)
    turned.columns = frame.columns
    return turned


def _is_decimal(word: str) -> bool:
    return _DECIMAL_COMMA.fullmatch(word) is not None


def _with_decimal_comma(word: str) -> float:
    return float(str(word).replace(",", "."))


def _records(content: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that are not blank, each with the line it begins on."""
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    reader = csv.reader(text, delimiter=separator)
    line = 1
    for record in reader:
        # The module's own limit is the same, unless some other library has raised it.
        if len(max(record, key=len, default="")) > _LONGEST_FIELD:
            raise csv.Error(f"a field is longer than {_LONGEST_FIELD} characters")
        if record and not (len(record) == 1 and record[0].isspace()):
            yield line, record
        line = reader.line_num + 1


def _find_separator(content: bytes, name: str) -> str:
    """Find the separator that gives the first rows equal numbers of columns."""

    def fitness(separator: str) -> tuple[bool, int]:
        widths: list[int] = []
        with suppress(csv.Error):  # it is reported later, with its line
            for _, record in islice(_records(content, separator), 10):
                widths.append(len(record))
        width = widths[0] if widths else 0
        return width > 1 and len(set(widths)) == 1, width

    best = max(_SEPARATORS, key=fitness)
    if fitness(best)[1] < 2:
        raise InputError(
            f"{name} seems to have a single column; separate the columns by comma, "
            "semicolon or tab."
        )
    return best


def _scan(content: bytes, separator: str, name: str) -> tuple[list[str], list[int]]:
    """Return the first row and the line of each row; raise for unequal lengths."""
    plain = _scan_unquoted(content, separator)
    if plain is not None:
        return plain
    lines: list[int] = []
    first: list[str] = []
    try:
        for line, record in _records(content, separator):
            if not lines:
                first = record
            elif len(record) != len(first):
                raise InputError(
                    f"Line {line} of {name} has {len(record)} values, but the header "
                    f"names {len(first)} columns; correct the line: quote text that "
                    "contains the separator, and close every quotation mark."
                )
            lines.append(line)
    except csv.Error as error:
        after = f" after line {lines[-1]}" if lines else ""
        raise InputError(
            f"{name} cannot be read{after}: {error}. Look for a quotation mark that is "
            "never closed."
        ) from error
    return first, lines


def _scan_unquoted(
    content: bytes, separator: str
) -> tuple[list[str], list[int]] | None:
    """Do what `_scan` does where no field is quoted, a line is a row, and all is well.

    Returns
    -------
    first : list of str
        The fields of the first row.
    lines : list of int
        The line of each row, from 1.
        None where fields may be quoted, or something is wrong that `_scan` reports.
    """
    if not content or b'"' in content or b"\0" in content:
        return None
    if b"\r" in content and content.count(b"\r") != content.count(b"\r\n"):
        return None
    letters = np.frombuffer(content, dtype=np.uint8)
    ends = _find(letters, "\n")
    if not content.endswith(b"\n"):
        ends = np.append(ends, len(content))
    starts = np.concatenate([[0], ends[:-1] + 1])
    separators = _find(letters, separator)
    widths = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
    # A line without a separator is blank, or wrong in a table of several columns.
    alone = np.flatnonzero(widths == 1)
    if any(
        content[a:b].strip() for a, b in zip(starts[alone], ends[alone], strict=True)
    ):
        return None
    rows = np.flatnonzero(widths > 1)
    if not rows.size or (widths[rows] != widths[rows[0]]).any():
        return None
    if (ends - starts).max() > _LONGEST_FIELD:  # perhaps a field is, too
        fields = np.sort(np.concatenate([separators, ends]))
        if np.diff(fields, prepend=-1).max() > _LONGEST_FIELD:
            return None
    first = content[starts[rows[0]] : ends[rows[0]]].decode().rstrip("\r")
    return first.split(separator), (rows + 1).tolist()


def _find(letters: NDArray[np.uint8], one: str) -> NDArray[np.intp]:
    """Return the places of a character; parts of the text stay in the cache."""
    return np.concatenate(
        [
            first + np.flatnonzero(letters[first : first + _PART] == ord(one))
            for first in range(0, letters.size, _PART)
        ]
    )

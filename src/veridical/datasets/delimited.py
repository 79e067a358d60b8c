"""Tables in text: columns separated by comma, semicolon or tab, with a header."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from veridical._core.errors import InputError
from veridical.datasets.tables import split_target

_SEPARATORS = (",", ";", "\t")
_MISSING = ("", "NA", "NaN", "nan", "?")
#: The same with a blank on either side, as in "5.1, ?, 1.4".
_MARKERS = [
    left + m + right for m in _MISSING for left in ("", " ") for right in ("", " ")
]

#: Characters; a longer field must have a quotation mark that is never closed.
_LONGEST = 131_072

_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+(?:,\d+)?(?:[eE][+-]?\d+)?\s*", re.ASCII)

#: Before pandas 3.1 its default parser could miss the nearest double by one bit.
_PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
_EXACT: dict[str, Any] = {} if _PANDAS >= (3, 1) else {"float_precision": "round_trip"}


def read_delimited(
    content: bytes, target: str | None, name: str
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

    Returns
    -------
    X : DataFrame
        Numbers and categories.
    y : array
        The labels.
    """
    separator = _find_separator(content, name)
    header, lines = _scan(content, separator, name)
    # Python's reader has counted the fields and lines; pandas converts them to numbers.
    try:
        frame = pd.read_csv(
            io.BytesIO(content),
            sep=separator,
            header=0,
            names=range(len(header)),
            index_col=False,
            keep_default_na=False,
            na_values=_MARKERS,
            low_memory=False,
            **_EXACT,
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
    frame.columns = pd.Index(header, dtype=object)
    if separator != ",":
        frame = _with_decimal_commas(frame, target)
    return split_target(frame, target, name, lambda row: f"line {lines[row]}")


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
            changed[j] = column.map(_as_number, na_action="ignore").astype("float64")
    if not changed:
        return frame
    columns = [changed.get(j, frame.iloc[:, j]) for j in range(frame.shape[1])]
    turned = pd.concat(columns, axis=1)
    turned.columns = frame.columns
    return turned


def _is_decimal(word: str) -> bool:
    return _DECIMAL_COMMA.fullmatch(word) is not None


def _as_number(word: str) -> float:
    return float(str(word).replace(",", "."))


def _records(content: bytes, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that are not blank, each with the line it begins on."""
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    reader = csv.reader(text, delimiter=separator)
    line = 1
    for record in reader:
        # The module's own limit is the same, unless some other library has raised it.
        if len(max(record, key=len, default="")) > _LONGEST:
            raise csv.Error(f"a field is longer than {_LONGEST} characters")
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
    """Return the header and the line of each row; raise for rows of unequal length."""
    records = _records(content, separator)
    lines: list[int] = []
    try:
        _, header = next(records)
        for line, record in records:
            if len(record) != len(header):
                raise InputError(
                    f"Line {line} of {name} has {len(record)} values, but the header "
                    f"names {len(header)} columns; correct the line: quote text that "
                    "contains the separator, and close every quotation mark."
                )
            lines.append(line)
    except csv.Error as error:
        after = f" after line {lines[-1]}" if lines else ""
        raise InputError(
            f"{name} cannot be read{after}: {error}. Look for a quotation mark that is "
            "never closed."
        ) from error
    if not lines:
        raise InputError(f"{name} has a header but no rows; nothing can be learned.")
    return header, lines

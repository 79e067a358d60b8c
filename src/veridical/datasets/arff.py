"""Tables in Weka's ARFF: attributes declared first, then rows, dense or sparse.

Missing values are ``?``. Attributes are numeric (also ``real``, ``integer``), nominal
(their values listed in braces), ``string`` or ``date``; the last two are read as text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from veridical._core.errors import InputError
from veridical._core.text import did_you_mean, listed, quote
from veridical.datasets.tables import split_target

#: A value in single or double quotes (a backslash escapes), or bare.
_VALUE = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_VALUE}|[^\s{{]+)\s*(.+)", re.I)
_BARE = r"""(?!['"])[^,]*?"""
_FIELD = re.compile(rf"\s*({_VALUE}|{_BARE})\s*(,|$)")
_ENTRY = re.compile(rf"\s*(\d+)\s+({_VALUE}|{_BARE})\s*(,|$)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_WRITTEN = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True)
class _Attribute:
    name: str
    values: tuple[str, ...] | None  # the categories of a nominal attribute
    numeric: bool


def looks_like_arff(content: bytes) -> bool:
    """Return whether the first line that is not a comment declares a relation."""
    for line in content[:65536].splitlines():
        line = line.strip()
        if line and not line.startswith(b"%"):
            return line[:9].lower() == b"@relation"
    return False


def read_arff(
    content: bytes, target: str | None, name: str
) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Read a table from ARFF.

    Parameters
    ----------
    content : bytes
        The whole file, in UTF-8.
    target : str or None
        The attribute with the class.
    name : str
        Name of the file in messages.

    Returns
    -------
    X : DataFrame
        Numbers and categories.
    y : array
        The labels.
    """
    lines = _lines(content.decode())
    attributes = _header(lines, name)
    numbers, rows = [], []
    for number, line in lines:
        rows.append(_row(line, attributes, f"Line {number} of {name}"))
        numbers.append(number)
    if not rows:
        raise InputError(f"{name} has no rows after @data; nothing can be learned.")
    columns = zip(*rows, strict=True)
    frame = pd.DataFrame(
        {
            j: _parse_column(values, attribute)
            for j, (values, attribute) in enumerate(
                zip(columns, attributes, strict=True)
            )
        }
    )
    frame.columns = pd.Index([each.name for each in attributes], dtype=object)
    return split_target(frame, target, name, lambda row: f"line {numbers[row]}")


def write_arff(frame: pd.DataFrame, relation: str) -> str:
    """Write a table as ARFF: numbers as numeric, everything else as nominal."""
    lines, columns = [f"@relation {_quote(relation)}", ""], []
    for name in frame.columns:
        column = frame[name]
        missing = column.isna().to_numpy()
        if pd.api.types.is_numeric_dtype(column) and column.dtype != bool:
            kind = "numeric"
            values = [repr(float(value)) for value in column.fillna(0.0)]
        else:
            nominal = column.astype("category").cat
            known = [_quote(str(value)) for value in nominal.categories]
            kind = "{" + ",".join(known) + "}"
            values = [known[code] if code >= 0 else "?" for code in nominal.codes]
        lines.append(f"@attribute {_quote(str(name))} {kind}")
        columns.append(np.where(missing, "?", np.array(values, dtype=object)))
    lines += ["", "@data", *map(",".join, zip(*columns, strict=True)), ""]
    return "\n".join(lines)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = line.strip()
        if line and not line.startswith("%"):
            yield number, line


def _header(lines: Iterator[tuple[int, str]], name: str) -> list[_Attribute]:
    attributes: list[_Attribute] = []
    for number, line in lines:
        word = line.split(None, 1)[0].lower()
        if word == "@data":
            if not attributes:
                raise InputError(
                    f"{name} declares no attribute before @data in line {number}; a "
                    "line '@attribute name type' must declare each column."
                )
            return attributes
        if word == "@attribute":
            attributes.append(_attribute(line, f"Line {number} of {name}"))
        elif word != "@relation":
            raise InputError(
                f"Line {number} of {name} begins with {quote(word)}"
                f"{did_you_mean(word, ('@relation', '@attribute', '@data'))} Before "
                "the rows, lines begin with @relation, @attribute or @data."
            )
    raise InputError(f"{name} has no line @data; the rows must follow it.")


def _attribute(line: str, where: str) -> _Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise InputError(
            f"{where} declares an attribute without a name or a type; write "
            "'@attribute name numeric', or the values in braces."
        )
    name, kind = _unquote(match[1]), match[2].strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise InputError(f"{where} opens a brace that it never closes; add a }}.")
        values = tuple(_text(field) for field in _fields(kind[1:-1], where))
        if len(set(values)) < len(values):
            raise InputError(
                f"{where} lists a value of {quote(name)} twice; list each once."
            )
        return _Attribute(name, values, numeric=False)
    word = kind.split(None, 1)[0].lower()
    if word in ("numeric", "real", "integer"):
        return _Attribute(name, None, numeric=True)
    if word in ("string", "date"):
        return _Attribute(name, None, numeric=False)
    raise InputError(
        f"{where} gives {quote(name)} the type {quote(word)}; it must be numeric, "
        "real, integer, string, date, or a list of values in braces."
    )


def _row(line: str, attributes: list[_Attribute], where: str) -> list[Any]:
    if line.startswith("{"):
        fields = _expand_sparse(line, attributes, where)
    else:
        fields = _fields(line, where)
        if len(fields) != len(attributes):
            raise InputError(
                f"{where} has {len(fields)} values, but {len(attributes)} attributes "
                "are declared; correct the line: quote text that contains a comma."
            )
    return [
        _value(field, attribute, where)
        for field, attribute in zip(fields, attributes, strict=True)
    ]


def _fields(line: str, where: str) -> list[str]:
    if "'" not in line and '"' not in line:
        return [field.strip() for field in line.split(",")]
    fields, at = [], 0
    while True:
        match = _FIELD.match(line, at)
        if match is None:
            raise InputError(
                f"{where} has a quotation mark that is never closed, or text beside a "
                "quoted value; correct the line."
            )
        fields.append(match[1])
        at = match.end()
        if not match[2]:
            return fields


def _expand_sparse(line: str, attributes: list[_Attribute], where: str) -> list[str]:
    """Expand ``{index value, ...}``; omitted entries are 0, or the first category."""
    if not line.endswith("}"):
        raise InputError(
            f"{where} opens a brace that it does not close at its end (weights of "
            "samples are not read); correct the line."
        )
    fields = [
        "0" if each.numeric else "?" if each.values is None else _quote(each.values[0])
        for each in attributes
    ]
    inner, at = line[1:-1].strip(), 0
    while at < len(inner):
        match = _ENTRY.match(inner, at)
        if match is None or int(match[1]) >= len(attributes):
            raise InputError(
                f"{where} must list 'index value' with indices from 0 to "
                f"{len(attributes) - 1}, separated by commas; correct the line."
            )
        fields[int(match[1])] = match[2]
        at = match.end()
    return fields


def _value(field: str, attribute: _Attribute, where: str) -> Any:
    if field == "?":
        return None
    text = _text(field)
    if attribute.numeric:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if math.isnan(number):
            raise InputError(
                f"{where} holds {quote(text)} for {quote(attribute.name)}, which is "
                "declared numeric; write a number, or ? if it is missing."
            )
        return number
    if attribute.values is not None and text not in attribute.values:
        raise InputError(
            f"{where} holds {quote(text)} for {quote(attribute.name)}, whose values "
            f"are {listed(attribute.values)}{did_you_mean(text, attribute.values)}"
        )
    return text


def _parse_column(values: tuple[Any, ...], attribute: _Attribute) -> Any:
    if attribute.numeric:
        return np.array([np.nan if v is None else v for v in values], dtype=float)
    if attribute.values is not None:
        return pd.Categorical(values, categories=list(attribute.values))
    return pd.Series(values, dtype="str")


def _text(field: str) -> str:
    return _unquote(field.strip())


def _quote(text: str) -> str:
    for sign, written in _WRITTEN.items():
        text = text.replace(sign, written)
    return f"'{text}'"


def _unquote(field: str) -> str:
    if len(field) < 2 or field[0] not in "'\"" or field[-1] != field[0]:
        return field
    return re.sub(
        r"\\(.)",
        lambda match: _ESCAPES.get(match[1], match[1]),
        field[1:-1],
        flags=re.S,
    )

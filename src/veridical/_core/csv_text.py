"""Lines of CSV that spreadsheets do not read as formulas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from veridical._core.text import is_number

# First characters that make a spreadsheet read a text as a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_line(values: Iterable[Any]) -> str:
    r"""Write values as a line of CSV; None is empty.

    Examples
    --------
    >>> csv_line(["a, b", None, 0.5])
    '"a, b",,0.5\n'
    """
    return ",".join(map(_field, values)) + "\n"


def _field(value: Any) -> str:
    """Write a value for CSV so that a spreadsheet does not read it as a formula.

    The csv module does not quote a single carriage return, which readers take as the
    end of a line.

    >>> _field("=1+1"), _field("-5"), _field(-5), _field("a=b"), _field("a, b")
    ("'=1+1", '-5', '-5', 'a=b', '"a, b"')
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(value)
    if value.startswith(_FORMULA) and not is_number(value):
        value = f"'{value}"
    if any(sign in value for sign in ',"\r\n'):
        return '"' + value.replace('"', '""') + '"'
    return value

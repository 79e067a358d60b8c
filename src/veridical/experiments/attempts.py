"""Run a unit, and record for every cell whether it succeeded.

===========  ==========================================================
status       meaning
===========  ==========================================================
ok           it has values
error        the study raised an exception, or gave too few values
invalid      a value is NaN or infinite
unpicklable  a value cannot be stored
memory       the memory limit was exceeded
timeout      the time limit was exceeded
crashed      its process crashed twice, the second time with this cell alone
===========  ==========================================================
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from veridical._core.canonical import canonical
from veridical.experiments.study import Cell, Study, Unit

Status = Literal[
    "ok", "error", "invalid", "unpicklable", "memory", "timeout", "crashed"
]

_StatusValuesDetail = tuple[Status, str | None, str | None]

# Characters of the reason of a failure; the rest is cut.
_LONGEST_DETAIL = 500


class Result(NamedTuple):
    """Status and values of one cell of a unit.

    Parameters
    ----------
    number : int
        Index of the cell in the unit.
    status : str
        As in the table of this module.
    values : str or None
        Canonical JSON, where it is ok.
    detail : str or None
        Reason of a failure, in one line.
    seconds : float
        Time since the previous cell.
    """

    number: int
    status: Status
    values: str | None
    detail: str | None
    seconds: float


@dataclass(frozen=True)
class Task:
    """A unit to be computed, with the keys under which its cells are stored.

    Parameters
    ----------
    unit : Unit
        The work.
    keys : sequence of bytes
        One per cell.
    numbers : sequence of int
        The number of the attempt at each cell, from 1.
    """

    unit: Unit
    keys: Sequence[bytes]
    numbers: Sequence[int]

    def make_attempt(self, result: Result) -> Attempt:
        """Add cell, key and number to a result."""
        i = result.number
        return Attempt(
            cell=self.unit.cells[i],
            key=self.keys[i],
            number=self.numbers[i],
            status=result.status,
            values=result.values,
            detail=result.detail,
            seconds=result.seconds,
        )


class Attempt(NamedTuple):
    """An attempt at a cell, ready to be stored."""

    cell: Cell
    key: bytes
    number: int
    status: Status
    values: str | None
    detail: str | None
    seconds: float


def run_unit(study: Study, unit: Unit) -> Iterator[Result]:
    """Run a unit in this process; an exception in one cell does not affect the others.

    After an exception the work starts again with the cells after the one that raised.

    Parameters
    ----------
    study : Study
        Whose unit it is.
    unit : Unit
        The work.
    """
    number, stream = 0, None
    while number < len(unit.cells):
        began = time.perf_counter()
        try:
            if stream is None:
                rest = range(number, len(unit.cells))
                stream = iter(study.run(unit.only(rest)))
            values = next(stream)
        except StopIteration:
            found = _failed("error", "the study yielded too few values")
            stream = None
        except MemoryError as error:
            found = _failed("memory", _write_error(error))
            stream = None
        except (Exception, SystemExit) as error:
            found = _failed("error", _write_error(error))
            stream = None
        else:
            found = _check(values)
        yield Result(number, *found, time.perf_counter() - began)
        number += 1


def _check(values: Any) -> _StatusValuesDetail:
    if not isinstance(values, Mapping):
        return _failed(
            "unpicklable", f"values are a {type(values).__name__}, not a dict"
        )
    try:
        return "ok", canonical(values), None
    except ValueError as error:
        if not _has_nan(values):
            return _failed("unpicklable", _write_error(error))
        return _failed("invalid", "a value is NaN or infinite")
    except (TypeError, RecursionError) as error:
        return _failed("unpicklable", _write_error(error))


def _has_nan(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Mapping):
        return any(map(_has_nan, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_has_nan, value))
    return False


def _failed(status: Status, detail: str) -> _StatusValuesDetail:
    return status, None, detail


def _write_error(error: BaseException) -> str:
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}"[:_LONGEST_DETAIL].rstrip(": ")

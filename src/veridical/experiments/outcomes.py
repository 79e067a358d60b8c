"""What becomes of a cell, and the doing of a unit where nothing can go wrong unseen.

===========  ==========================================================
status       meaning
===========  ==========================================================
ok           it has values
error        the study raised an exception, or gave too few values
invalid      a value is NaN or infinite
unpicklable  a value is nothing that can be stored
memory       the memory allowed was not enough
timeout      the time allowed was not enough
crashed      its process died, twice, the second time with nothing else
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

_Found = tuple[Status, str | None, str | None]

_LONGEST_DETAIL = 500


class Result(NamedTuple):
    """What became of one cell of a unit.

    Parameters
    ----------
    number : int
        Which cell of the unit.
    status : str
        See the table above.
    values : str or None
        Canonical JSON, where it is ok.
    detail : str or None
        Why it failed, in a line.
    seconds : float
        How long it took since the cell before.
    """

    number: int
    status: Status
    values: str | None
    detail: str | None
    seconds: float


@dataclass(frozen=True)
class Task:
    """A unit to be done, with the keys under which its cells are stored.

    Parameters
    ----------
    unit : Unit
        The work.
    keys : sequence of bytes
        One per cell.
    attempts : sequence of int
        The number of the attempt at each cell, from 1.
    """

    unit: Unit
    keys: Sequence[bytes]
    attempts: Sequence[int]

    def outcome(self, result: Result) -> Outcome:
        """Put a result under its key."""
        i = result.number
        return Outcome(
            cell=self.unit.cells[i],
            key=self.keys[i],
            attempt=self.attempts[i],
            status=result.status,
            values=result.values,
            detail=result.detail,
            seconds=result.seconds,
        )


class Outcome(NamedTuple):
    """What became of a cell, ready to be stored."""

    cell: Cell
    key: bytes
    attempt: int
    status: Status
    values: str | None
    detail: str | None
    seconds: float


def perform(study: Study, unit: Unit) -> Iterator[Result]:
    """Do a unit here and now; what one cell raises does not touch the others.

    After an exception the work begins again with the cells behind the one that
    raised it.

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
            found = _failed("error", "the study gave too few values")
            stream = None
        except MemoryError as error:
            found = _failed("memory", _in_a_line(error))
            stream = None
        except (Exception, SystemExit) as error:
            found = _failed("error", _in_a_line(error))
            stream = None
        else:
            found = _check(values)
        yield Result(number, *found, time.perf_counter() - began)
        number += 1


def _check(values: Any) -> _Found:
    if not isinstance(values, Mapping):
        return _failed("unpicklable", f"values are a {type(values).__name__}, no dict")
    try:
        return "ok", canonical(values), None
    except ValueError as error:
        if not _has_nan(values):
            return _failed("unpicklable", _in_a_line(error))
        return _failed("invalid", "a value is NaN or infinite")
    except (TypeError, RecursionError) as error:
        return _failed("unpicklable", _in_a_line(error))


def _has_nan(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Mapping):
        return any(map(_has_nan, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(_has_nan, value))
    return False


def _failed(status: Status, detail: str) -> _Found:
    return status, None, detail


def _in_a_line(error: BaseException) -> str:
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}"[:_LONGEST_DETAIL].rstrip(": ")

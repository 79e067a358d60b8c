"""What happens inside a worker of Dask: a hand that does units, and can be let go.

Each thread of a Dask worker keeps a killable process of its own, so that a poisonous
cell takes down that process and no Dask worker. It is kept from unit to unit, until
the run it works for is over.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from veridical.experiments.keeper import Keeper, Limits, Stopped, WorkerError
from veridical.experiments.keys import NUMERIC_VERSION
from veridical.experiments.study import Unit

# Keepers without work by run and thread, and what tells a run's keepers to end.
_idle: dict[tuple[str, int], Keeper] = {}
_stops: dict[str, threading.Event] = {}


@dataclass(frozen=True)
class Order:
    """What all units of a run have in common.

    Parameters
    ----------
    run : str
        A name for the run that no other has.
    study : bytes
        The pickled study.
    limits : Limits
        What a process may use.
    copies : bool
        Whether it may be a copy of the Dask worker.
    numeric : int
        The version of the numerics the results must have.
    """

    run: str
    study: bytes
    limits: Limits
    copies: bool
    numeric: int


def do_unit(order: Order, unit: str) -> list[tuple[Any, ...]]:
    """Do a unit, given as `Unit.to_json` writes it."""
    if order.numeric != NUMERIC_VERSION:
        raise WorkerError(
            f"This Dask worker has another veridical: its numerics have version "
            f"{NUMERIC_VERSION}, the study needs {order.numeric}; install the same "
            "there."
        )
    stop = _stops.setdefault(order.run, threading.Event())
    if stop.is_set():
        raise Stopped
    place = (order.run, threading.get_ident())
    keeper = _idle.pop(place, None)
    if keeper is None:
        keeper = Keeper(order.study, order.limits, stop, copies=order.copies)
    try:
        results = [tuple(result) for result in keeper.run(Unit.from_json(unit))]
    except BaseException:
        keeper.close()
        raise
    _idle[place] = keeper
    if stop.is_set():
        _close_idle(order.run)
    return results


def let_go(run: str) -> None:
    """End the processes that work for a run, and those that wait to."""
    _stops.setdefault(run, threading.Event()).set()
    _close_idle(run)


def _close_idle(run: str) -> None:
    for place in list(_idle):
        if place[0] == run:
            keeper = _idle.pop(place, None)
            if keeper is not None:
                keeper.close()

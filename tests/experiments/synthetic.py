"""Studies of trivial cells, some of them poisonous, to try the engine with."""

from __future__ import annotations

import ctypes
import hashlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from veridical.experiments import (
    Cell,
    PaperStudy,
    Recipe,
    Spec,
    StudyReport,
    Unit,
)

POISONS = {
    "segfault": "crashed",
    "abort": "crashed",
    "exit 0": "crashed",
    "exit 3": "crashed",
    "sigkill": "crashed",
    "memory": "memory",
    "loop": "timeout",
    "sleep": "timeout",
    "exception": "error",
    "system exit": "error",
    "too few": "error",
    "nan": "invalid",
    "infinity in a list": "invalid",
    "unpicklable": "unpicklable",
}


class GridSpec(Spec):
    n_units: int = 10
    n_cells: int = 5
    groups: tuple[str, ...] = ("a",)


@dataclass(frozen=True)
class Grid(PaperStudy):
    """Cells whose values are a hash of where they lie.

    ``poison`` maps the number of a cell, as (unit, cell), to a kind of poison.
    """

    name: str = "grid"
    question: str = "Does the engine keep its promises?"
    paper: str = "none"
    spec: type[GridSpec] = GridSpec
    seconds: float = 0.0
    poison: tuple[tuple[int, int, str], ...] = ()
    width: int = 1
    talk: bool = False

    def at_scale(self, scale: str) -> dict[str, Any]:
        return {}

    def units(self, spec: GridSpec) -> Iterator[Unit]:
        recipes = {
            g: Recipe.from_details(self.name, spec.seed, group=g) for g in spec.groups
        }
        for u in range(spec.n_units):
            cells = [
                Cell({"unit": u, "cell": c, "group": g}, recipes[g])
                for g in spec.groups
                for c in range(spec.n_cells)
            ]
            yield Unit({"unit": u, "seed": spec.seed}, cells)

    def run(self, unit: Unit) -> Iterator[dict[str, Any]]:
        poison = {(u, c): kind for u, c, kind in self.poison}
        if self.talk:
            print("what a study prints does no harm")
        for cell in unit.cells:
            at = cell.coordinates
            if self.seconds:
                time.sleep(self.seconds)
            kind = poison.get((at["unit"], at["cell"]))
            if kind == "too few":
                return
            yield {**self.values(at, unit.settings["seed"]), **take(kind)}

    def values(self, at: Any, seed: int) -> dict[str, Any]:
        text = f"{seed} {sorted(at.items())}".encode()
        number = int.from_bytes(hashlib.sha256(text).digest()[:6])
        if self.width == 1:
            return {"value": number / 2**48}
        return {
            "truth": number / 2**48,
            "in": [(number + i) / 2**48 for i in range(self.width)],
            "out": [(number - i) / 2**48 for i in range(self.width)],
        }

    def findings(self, frame: Any) -> StudyReport:
        return self.make_report(frame, ())


def take(kind: str | None) -> dict[str, Any]:
    """Take a poison; what the values get besides, where one survives it."""
    if kind == "segfault":
        ctypes.string_at(0)
    elif kind == "abort":
        os.abort()
    elif kind == "exit 0":
        os._exit(0)
    elif kind == "exit 3":
        os._exit(3)
    elif kind == "sigkill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind == "memory":
        _ = [bytearray(2 * 10**7) for _ in range(10**6)]
    elif kind == "loop":
        while True:
            pass
    elif kind == "sleep":
        time.sleep(10**6)
    elif kind == "exception":
        raise RuntimeError("no such luck")
    elif kind == "system exit":
        sys.exit("enough")
    elif kind == "nan":
        return {"more": float("nan")}
    elif kind == "infinity in a list":
        return {"more": [0.0, {"deep": float("inf")}]}
    elif kind == "unpicklable":
        return {"more": lambda: None}
    return {}

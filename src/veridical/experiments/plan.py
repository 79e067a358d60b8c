"""The plan of a run: the cells of the grid that are not stored yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from veridical._core.arrays import IntArray
from veridical._core.errors import InputError
from veridical._core.text import did_you_mean, listed
from veridical.experiments.attempts import Task
from veridical.experiments.keys import StoredKeys, cell_key, recipe_digest
from veridical.experiments.study import Cell, Study, Unit

Where = Mapping[str, frozenset[str]]

# Number of keys that are looked up together.
_BATCH = 5000


@dataclass(frozen=True)
class Counts:
    """Numbers of cells; planned = ok + failed + pending."""

    planned: int
    ok: int
    failed: int

    @property
    def pending(self) -> int:
        """Number of cells that have not been tried."""
        return self.planned - self.ok - self.failed

    def as_dict(self) -> dict[str, int]:
        """Return the numbers by name."""
        return {**asdict(self), "pending": self.pending}

    def __str__(self) -> str:
        return (
            f"planned {self.planned} = ok {self.ok} + failed {self.failed} "
            f"+ pending {self.pending}"
        )


def parse_where(conditions: Iterable[str]) -> Where:
    """Read conditions such as ``selector=relieff``.

    Several for one coordinate are alternatives; those for different coordinates must
    all hold.

    Examples
    --------
    >>> from veridical.experiments.plan import parse_where
    >>> where = parse_where(["n=125", "selector=fcbf", "selector=relieff"])
    >>> {name: sorted(values) for name, values in where.items()}
    {'n': ['125'], 'selector': ['fcbf', 'relieff']}
    """
    where: dict[str, frozenset[str]] = {}
    for condition in conditions:
        name, equals, value = condition.partition("=")
        if not (name and equals and value):
            raise InputError(
                f"--where {condition} is not a condition; write COORDINATE=VALUE, such "
                "as selector=relieff."
            )
        where[name] = where.get(name, frozenset()) | {value}
    return where


@dataclass
class Plan:
    """The cells of a study, or some of them, and which are still to be computed.

    Parameters
    ----------
    study : Study
        The study.
    spec : Spec
        What it varies.
    stored : StoredKeys
        The keys in a store.
    where : mapping of coordinate to values, optional
        Only these cells, see `parse_where`.
    retry_failed : bool, default=False
        Retry cells whose last attempt failed.

    Notes
    -----
    The grid is never in memory as a whole: it is iterated once to count, with one byte
    stored per unit, and once more to run.
    """

    study: Study
    spec: Any
    stored: StoredKeys = field(default_factory=StoredKeys.none)
    where: Where = field(default_factory=dict)
    retry_failed: bool = False

    def __post_init__(self) -> None:
        self._digests: dict[str, str] = {}
        self._open = bytearray()
        self.counts = self._count()

    def _count(self) -> Counts:
        planned = ok = failed = 0
        for sizes, keys in self._batches():
            known = self.stored.contain(keys)
            bad = self.stored.have_failed(keys)
            planned += len(keys)
            failed += int(bad.sum())
            ok += int(known.sum() - bad.sum())
            to_do = ~known | bad if self.retry_failed else ~known
            before = np.concatenate([[0], np.cumsum(to_do)])
            ends = np.cumsum(sizes)
            self._open += (before[ends] > before[ends - sizes]).tobytes()
        if planned == 0:
            self._refuse_empty()
        return Counts(planned, ok, failed)

    def _batches(self) -> Iterator[tuple[IntArray, list[bytes]]]:
        """Yield the keys of many units, with the number of cells of each unit."""
        sizes: list[int] = []
        keys: list[bytes] = []
        for unit in self._units():
            sizes.append(len(unit.cells))
            keys += self._keys(unit.cells)
            if len(keys) + len(sizes) >= _BATCH:
                yield np.array(sizes), keys
                sizes, keys = [], []
        if sizes:
            yield np.array(sizes), keys

    def _units(self) -> Iterator[Unit]:
        for unit in self.study.units(self.spec):
            if not self.where:
                yield unit
                continue
            self._check_coordinates(unit.cells[0])
            yield unit.only([i for i, c in enumerate(unit.cells) if self._matches(c)])

    def _keys(self, cells: Sequence[Cell]) -> list[bytes]:
        digests = self._digests
        keys = []
        for coordinates, recipe in cells:
            known = digests.get(recipe.text)
            if known is None:
                known = digests[recipe.text] = recipe_digest(recipe.text)
            keys.append(cell_key(coordinates, known))
        return keys

    def _matches(self, cell: Cell) -> bool:
        at = cell.coordinates
        return all(str(at[name]) in values for name, values in self.where.items())

    def _check_coordinates(self, cell: Cell) -> None:
        for name in self.where:
            if name not in cell.coordinates:
                raise InputError(
                    f"--where {name}=...: the cells of {self.study.name} have no "
                    f"{name!r}{did_you_mean(name, cell.coordinates)} They have "
                    f"{', '.join(cell.coordinates)}."
                )

    def _refuse_empty(self) -> None:
        seen: dict[str, dict[str, None]] = {name: {} for name in self.where}
        for unit in self.study.units(self.spec):
            for cell in unit.cells:
                for name, values in seen.items():
                    values[str(cell.coordinates[name])] = None
        if not any(seen.values()):
            raise InputError(f"{self.study.name} has no cells with this specification.")
        for name, values in seen.items():
            for wanted in sorted(self.where[name] - set(values)):
                raise InputError(
                    f"--where {name}={wanted}: no cell has this value"
                    f"{did_you_mean(wanted, values)} There are {listed(values)}."
                )
        raise InputError("No cell meets all conditions of --where together.")

    @property
    def keys(self) -> StoredKeys:
        """The keys of all planned cells."""
        return StoredKeys.from_units(keys for _, keys in self._batches())

    def tasks(self) -> Iterator[Task]:
        """Yield the units that are to be computed, without their finished cells."""
        left = sum(self._open)
        for unit, is_open in zip(self._units(), self._open, strict=True):
            if not left:
                return
            if is_open:
                left -= 1
                yield self._task(unit)

    def _task(self, unit: Unit) -> Task:
        keys = self._keys(unit.cells)
        failed = self.stored.failed
        known = self.stored.contain(keys)
        numbers = [
            i
            for i, key in enumerate(keys)
            if not known[i] or (self.retry_failed and key in failed)
        ]
        wanted = [keys[i] for i in numbers]
        attempts = [failed.get(key, 0) + 1 for key in wanted]
        return Task(unit.only(numbers), wanted, attempts)

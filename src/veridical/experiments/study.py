"""A study as data: a specification, the units of its work, the cells of its record.

A unit groups work that shares computation, such as everything computed from one
training set. A cell is one stored result: one number of features, one classifier, one
selector. A unit is a small description; the worker draws or reads the data itself, so
that nothing large is sent.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)

from veridical._core.canonical import canonical
from veridical._core.errors import InputError
from veridical._core.text import did_you_mean
from veridical.experiments.keys import NUMERIC_VERSION

Scale = Literal["smoke", "laptop", "paper"]
SCALES: tuple[Scale, ...] = get_args(Scale)

Values = Mapping[str, Any]


class Spec(BaseModel):
    """What a study varies; frozen, validated, and readable from TOML.

    A tuple may not contain the same value twice.

    Parameters
    ----------
    seed : int, default=0
        Seed of everything random.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(default=0, ge=0)

    @field_validator("*")
    @classmethod
    def _refuse_repeated(cls, given: Any) -> Any:
        if isinstance(given, tuple):
            refuse_repeated(given)
        return given

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Read a specification from a TOML file.

        Raises
        ------
        InputError
            If the file cannot be read, or its content is not valid for the study.
        """
        path = Path(path)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}.") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{path} is not TOML: {error}") from error
        return cls.checked(content, str(path))

    @classmethod
    def checked(cls, content: Mapping[str, Any], where: str) -> Self:
        """Validate the content of a specification; raise InputError in one sentence."""
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"]) or "the whole"
            raise InputError(
                f"{where}: {place}: {first['msg']}. A study of this kind has "
                f"{', '.join(cls.model_fields)}."
            ) from error


def refuse_repeated(values: Sequence[Any]) -> None:
    """Raise ValueError if a value occurs twice, for validators of a `Spec`."""
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"{value!r} is named twice")


def refuse_unknown(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise ValueError if a name is not known, for validators of a `Spec`."""
    known = list(known)
    for name in names:
        if name not in known:
            raise ValueError(
                f"there is no {what} {name!r}{did_you_mean(name, known)} Use one of "
                f"{', '.join(known)}"
            )


class Cell(NamedTuple):
    """One result of a study.

    Parameters
    ----------
    coordinates : mapping of str to str or number
        Its place in the grid; the columns of a table of results.
    recipe : Recipe
        Everything else that its values depend on.
    """

    coordinates: Mapping[str, Any]
    recipe: Recipe


@dataclass(frozen=True)
class Recipe:
    """Everything that the values of a cell depend on, except its coordinates.

    Parameters
    ----------
    text : str
        Canonical JSON: study, seed, version of the numerics, data, parameters.
    """

    text: str

    @classmethod
    def from_details(cls, study: str, seed: int, **details: Any) -> Recipe:
        """Write a recipe; the version of the numerics is added.

        Parameters
        ----------
        study : str
            Name of the study.
        seed : int
            Its root seed.
        **details : JSON values
            Data (name and version, or a hash of the bytes), parameters, resampling.
        """
        numeric = NUMERIC_VERSION
        parts = {"study": study, "seed": seed, "numeric": numeric, **details}
        return cls(canonical(parts))


@dataclass(frozen=True)
class Unit:
    """A part of the work, as a small description that can be sent to a worker.

    Parameters
    ----------
    settings : mapping
        Parameters of the work, as JSON values, except the coordinates of the cells.
    cells : sequence of Cell
        The cells to compute, in the order in which the work yields them.
    """

    settings: Mapping[str, Any]
    cells: Sequence[Cell]

    def only(self, numbers: Sequence[int]) -> Unit:
        """Return the unit with only some of its cells."""
        return Unit(self.settings, [self.cells[i] for i in numbers])

    def to_json(self) -> str:
        """Write settings and coordinates for another process.

        Recipes are left out; the work does not need them.
        """
        cells = [cell.coordinates for cell in self.cells]
        return canonical({"settings": self.settings, "cells": cells})

    @classmethod
    def from_json(cls, text: str | bytes) -> Unit:
        """Read what `to_json` wrote; recipes are empty."""
        parts = json.loads(text)
        return cls(parts["settings"], [Cell(at, Recipe("")) for at in parts["cells"]])


class Study(Protocol):
    """The interface of a study that `run_study` needs.

    Objects must be picklable and defined in a module that can be imported: workers get
    them by reference. `PaperStudy` adds what the command line shows.
    """

    @property
    def name(self) -> str:
        """Name of the study."""
        ...

    def units(self, spec: Any) -> Iterator[Unit]:
        """Expand a specification into units, lazily and always in the same order."""
        ...

    def run(self, unit: Unit) -> Iterator[Values]:
        """Run a unit: yield the values of its cells, in their order.

        Values are a mapping of names to numbers, texts or lists of them, without NaN.
        The values of a cell may not depend on which other cells are in the unit.
        """
        ...

"""A study as data: a specification, the units of its work, the cells of its record.

The unit of work groups what shares computation, such as all that is done to one
training set. The unit of record is the cell: one number of features, one classifier,
one selector. A unit is a small description; whoever works on it draws or reads the
data anew, so that nothing large travels.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from veridical._core.canonical import canonical
from veridical._core.errors import InputError
from veridical._core.text import did_you_mean
from veridical.experiments.keys import NUMERIC_VERSION

Scale = Literal["smoke", "laptop", "paper"]
SCALES: tuple[Scale, ...] = get_args(Scale)

Values = Mapping[str, Any]


class Spec(BaseModel):
    """What a study varies; frozen, checked, and readable from TOML.

    Parameters
    ----------
    seed : int, default=0
        Decides all that is left to chance.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(default=0, ge=0)

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Read a specification from a TOML file.

        Raises
        ------
        InputError
            If the file cannot be read, or holds something else than the study varies.
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
        """Check what a specification says, and name what is wrong in one sentence."""
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
    """Raise ValueError if a value is named twice, for validators of a `Spec`."""
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
    """One entry of the record.

    Parameters
    ----------
    coordinates : mapping of str to str or number
        Where it lies in the grid; the columns of a table of results.
    recipe : Recipe
        Everything else its values depend on.
    """

    coordinates: Mapping[str, Any]
    recipe: Recipe


@dataclass(frozen=True)
class Recipe:
    """Everything the values of a cell depend on besides its coordinates.

    Parameters
    ----------
    text : str
        Canonical JSON: study, seed, version of the numerics, data, parameters.
    """

    text: str

    @classmethod
    def of(cls, study: str, seed: int, **details: Any) -> Recipe:
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
    """A piece of work, small enough to send anywhere.

    Parameters
    ----------
    settings : mapping
        What to do, as JSON values: all that the work has to know besides coordinates.
    cells : sequence of Cell
        What is asked for, in the order in which the work yields it.
    """

    settings: Mapping[str, Any]
    cells: Sequence[Cell]

    def only(self, numbers: Sequence[int]) -> Unit:
        """Ask for some of the cells; the work is otherwise the same."""
        return Unit(self.settings, [self.cells[i] for i in numbers])

    def to_json(self) -> str:
        """Write it for another process: what to do, and which cells are asked for.

        Recipes stay here; they are hashed, and tell the work nothing.
        """
        cells = [cell.coordinates for cell in self.cells]
        return canonical({"settings": self.settings, "cells": cells})

    @classmethod
    def from_json(cls, text: str | bytes) -> Unit:
        """Read what `to_json` wrote; recipes are empty."""
        parts = json.loads(text)
        return cls(parts["settings"], [Cell(at, Recipe("")) for at in parts["cells"]])


class Study(Protocol):
    """What the engine has to know of a study.

    Objects must be picklable and live in a module that can be imported: workers get
    them by reference. `PaperStudy` has in addition what the command line shows.
    """

    @property
    def name(self) -> str:
        """The name it goes by."""
        ...

    def units(self, spec: Any) -> Iterator[Unit]:
        """Expand a specification into units, lazily and always in the same order."""
        ...

    def run(self, unit: Unit) -> Iterator[Values]:
        """Do a unit: the values of its cells, one by one, in their order.

        Values are a mapping of names to numbers, texts or lists of them, without NaN.
        A cell's values may not depend on which other cells are asked for.
        """
        ...

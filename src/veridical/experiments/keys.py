"""What a result depends on, as a key.

A key is the SHA-256 of canonical JSON: change a byte of the data or a parameter and
there is a new key; add a selector and the keys of the others stay as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from veridical._core.canonical import canonical

#: Raise it when the same cell would come out with other numbers than before: every
#: stored cell then counts as one of an older version and is computed anew.
NUMERIC_VERSION = 2

#: Length of a key in bytes.
KEY_SIZE = 32

# Names of coordinates in their order, each with what is written before its value.
_layouts: dict[tuple[str, ...], list[tuple[str, str]]] = {}


def cell_key(cell: Mapping[str, Any], recipe: str) -> bytes:
    """Compute the key of a cell.

    Parameters
    ----------
    cell : mapping
        Its coordinates in the grid.
    recipe : str
        ``recipe_digest`` of everything else the result depends on.
    """
    text = f'{{"cell":{write_coordinates(cell)},"recipe":"{recipe}"}}'
    return hashlib.sha256(text.encode()).digest()


def write_coordinates(cell: Mapping[str, Any]) -> str:
    """Write coordinates as `canonical` does, in half the time.

    A plan of a million cells writes a million of them, and nearly all are texts and
    whole numbers.
    """
    layout = _layouts.get(tuple(cell))
    if layout is None:
        layout = _lay_out(cell)
    parts = []
    for start, name in layout:
        value = cell[name]
        kind = type(value)
        if kind is int:
            parts.append(f"{start}{value}")
        elif kind is str:
            parts.append(start + canonical(value))
        else:
            return canonical(cell)
    return "".join(parts) + "}" if parts else canonical(cell)


def _lay_out(cell: Mapping[str, Any]) -> list[tuple[str, str]]:
    layout = []
    if all(type(name) is str for name in cell):
        layout = [
            (("," if i else "{") + canonical(name) + ":", name)
            for i, name in enumerate(sorted(cell))
        ]
    if len(_layouts) < 1000:  # a study has one or a few; nothing grows for ever
        _layouts[tuple(cell)] = layout
    return layout


def recipe_digest(text: str) -> str:
    """Hash the canonical JSON of a recipe, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def content_hash(path: str | Path) -> str:
    """Hash the bytes of a file; the part of a recipe that stands for a data set."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

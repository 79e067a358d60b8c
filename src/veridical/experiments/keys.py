"""What a result depends on, as a key and as seeds.

A key is the SHA-256 of canonical JSON: change a byte of the data or a parameter and
there is a new key; add a selector and the keys of the others stay as they are. Seeds
come from the same kind of hash, never from a worker, an order or a number of jobs.

Examples
--------
>>> from veridical.experiments.keys import canonical, derive_seed
>>> canonical({"b": 0.5, "a": [1, "ü"]})
'{"a":[1,"ü"],"b":0.5}'
>>> derive_seed(0, purpose="folds", n=125) == derive_seed(0, n=125, purpose="folds")
True
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

#: Raise it when the same cell would come out with other numbers than before: every
#: stored cell then counts as one of an older version and is computed anew.
NUMERIC_VERSION = 2

#: Length of a key in bytes.
KEY_SIZE = 32

_encoder = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)

# Names of coordinates in their order, each with what is written before its value.
_layouts: dict[tuple[str, ...], list[tuple[str, str]]] = {}


def canonical(value: Any) -> str:
    """Write a value as the one JSON text that stands for it.

    Keys are sorted, nothing is padded, numbers are written as Python's ``repr`` does.

    Raises
    ------
    ValueError
        For NaN and infinities.
    TypeError
        For what JSON has no form for.
    """
    return _encoder.encode(value)


def digest(value: Any) -> bytes:
    """Hash a value by its canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).digest()


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
            parts.append(start + _encoder.encode(value))
        else:
            return _encoder.encode(cell)
    return "".join(parts) + "}" if parts else _encoder.encode(cell)


def _lay_out(cell: Mapping[str, Any]) -> list[tuple[str, str]]:
    layout = []
    if all(type(name) is str for name in cell):
        layout = [
            (("," if i else "{") + _encoder.encode(name) + ":", name)
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


def derive_seed(root: int, **what: Any) -> int:
    """Derive a seed from the root seed and from what it is for.

    Parameters
    ----------
    root : int
        The seed of the whole study.
    **what : JSON values
        Everything the stream of random numbers should depend on, and nothing else: a
        seed for folds names the data set, the resampling and the repeat but no
        selector, so that all selectors are judged on the same folds.

    Returns
    -------
    int
        At most 32 bits, which every random number generator takes.
    """
    words = np.frombuffer(digest(what), dtype=">u4")
    sequence = np.random.SeedSequence([root, *(int(word) for word in words)])
    return int(sequence.generate_state(1)[0])

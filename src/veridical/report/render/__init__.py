"""Renderers: each draws views and their blocks, and depends on no kind of record.

What pictures look like in every renderer stands here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

#: Boxes of findings side by side; more begin a new row.
BOXES_PER_ROW = 12
APART, GAP = 0.16, 0.6  # places between curves, and between sections of their axis


def pile(positions: Iterable[float], width: float) -> list[tuple[float, int]]:
    """Pile dots up that would hide each other.

    Parameters
    ----------
    positions : iterable of float
        Along the axis, in ascending order.
    width : float
        Dots nearer than this to the first of a pile join it.

    Returns
    -------
    list of (float, int)
        Position of the first dot of the pile, and number of dots below.

    Examples
    --------
    >>> pile([0.5, 0.505, 0.9], 0.01)
    [(0.5, 0), (0.5, 1), (0.9, 0)]
    """
    placed, first, level = [], -math.inf, 0
    for x in positions:
        first, level = (first, level + 1) if x - first < width else (x, 0)
        placed.append((first, level))
    return placed


def starts(sections: Sequence[tuple[str, Sequence[str]]]) -> list[float]:
    """Return where the places of an axis lie, in places, sections apart.

    Examples
    --------
    >>> starts([("samples", ("10", "20")), ("features", ("5",))])
    [0.0, 1.0, 2.6]
    """
    found: list[float] = []
    begin = 0.0
    for _, places in sections:
        found += [begin + i for i in range(len(places))]
        begin += len(places) + GAP
    return found

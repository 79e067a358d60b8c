"""What the features look like, and the rate that was measured where they look alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical._core.arrays import FloatArray
from veridical._core.table import Table
from veridical.discovery.records import MeasuredRate


@dataclass(frozen=True)
class Look:
    """Properties of a table."""

    n_samples: int = 0

    def warnings(self, method: str) -> list[str]:
        return []


def look_at(table: Table) -> Look:
    return Look(table.n_samples)


def find_rate(look: Look, method: str, score: str, rate: str, level: float) -> MeasuredRate | None:
    return None

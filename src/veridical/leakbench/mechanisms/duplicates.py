"""Samples that are in the table twice."""

from __future__ import annotations

import numpy as np

from veridical.leakbench.honest_tables import HonestTable, nearest
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Append copies of some samples."""
    again = rng.permutation(table.n)[: round(dose * table.n)]
    rows = rng.permutation(np.r_[np.arange(table.n), again])
    return Planted(
        Scenario(nearest(1), table.X[rows], table.y[rows]),
        Scenario(nearest(1), table.X, table.y),
    )


MECHANISM = Mechanism(
    name="duplicates",
    recipe="Some samples are in the table twice.",
    dose="share of the samples that are repeated",
    doses=(0.5, 0.1),
    cure="Keep one of each.",
    codes=("VD003",),
    plant=plant,
    cause="duplicates",
)

"""Samples that were measured twice."""

from __future__ import annotations

import numpy as np

from veridical.leakbench.honest_tables import HonestTable, nearest
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Append copies of some samples with noise."""
    again = rng.permutation(table.n)[: table.n // 2]
    more = table.with_noisy_copies(again, dose, rng)
    return Planted(
        Scenario(nearest(1), more.X, more.y),
        Scenario(nearest(1), table.X, table.y),
    )


MECHANISM = Mechanism(
    name="near-duplicates",
    recipe="Half of the samples were measured a second time.",
    dose="noise of the second measurement, in standard deviations",
    doses=(0.2, 0.01),
    cure="Keep one of each, or both in the same fold.",
    codes=("VD003", "VD021"),
    plant=plant,
    cause="groups",
)

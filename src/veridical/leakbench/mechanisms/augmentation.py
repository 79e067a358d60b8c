"""Noisy copies made before the split."""

from __future__ import annotations

import numpy as np

from veridical.leakbench.honest_tables import HonestTable, nearest
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Append two noisy copies of every sample."""
    again = np.tile(np.arange(table.n), 2)
    more = table.with_noisy_copies(again, dose, rng)
    return Planted(
        Scenario(nearest(1), more.X, more.y),
        Scenario(nearest(1), table.X, table.y),
    )


MECHANISM = Mechanism(
    name="augmentation",
    recipe="The samples are augmented before they are split.",
    dose="noise of a copy, in standard deviations",
    doses=(0.1, 0.4),
    cure="Augment inside the training folds only.",
    codes=("VD003", "VD021"),
    plant=plant,
    cause="groups",
)

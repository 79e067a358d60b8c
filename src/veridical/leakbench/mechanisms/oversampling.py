"""Copies of the rare class made before the split."""

from __future__ import annotations

import numpy as np

from veridical.leakbench.honest_tables import HonestTable, nearest
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Make one class rare, then copy its samples until it is not."""
    rare = np.flatnonzero(table.y == 1)
    rare = rare[: max(6, round(dose * rare.size))]
    rows = np.r_[np.flatnonzero(table.y == 0), rare]
    more = rng.choice(rare, max(0, rows.size - 2 * rare.size))
    both = rng.permutation(np.r_[rows, more])
    return Planted(
        Scenario(nearest(1), table.X[both], table.y[both]),
        Scenario(nearest(1), table.X[rows], table.y[rows]),
    )


MECHANISM = Mechanism(
    name="oversampling",
    recipe="Samples of the rare class are copied before the samples are split.",
    dose="share of the rare class that is kept",
    doses=(0.4,),
    cure="Oversample inside the training folds only.",
    codes=("VD003",),
    plant=plant,
    cause="duplicates",
)

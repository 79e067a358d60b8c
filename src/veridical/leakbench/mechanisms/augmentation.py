"""Noisy copies made before the split."""

from __future__ import annotations

import numpy as np

from veridical.leakbench.honest_tables import HonestTable, nearest
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Append two noisy copies of every sample."""
    rows = np.tile(np.arange(table.n), 3)
    X, spread = table.X[rows], table.X.std(axis=0)
    X[table.n :] += dose * spread * rng.normal(size=(2 * table.n, X.shape[1]))
    order = rng.permutation(rows.size)
    return Planted(
        Scenario(nearest(1), X[order], table.y[rows][order]),
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

"""A feature that was measured after the class was known."""

from __future__ import annotations

import numpy as np

from veridical.leakbench.honest_tables import HonestTable, shallow_tree
from veridical.leakbench.planting import Mechanism, Planted


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Append a measurement that follows from the class, with noise."""
    later = 2.0 * table.y + dose * rng.normal(size=table.n)
    X = np.column_stack([table.X, later])
    return Planted.into_features(table, X, shallow_tree())


MECHANISM = Mechanism(
    name="consequence",
    recipe="A feature is a consequence of the class.",
    dose="noise of the measurement; the classes differ by 2",
    doses=(0.2, 0.6),
    cure="Drop what is not known when the class is to be predicted.",
    codes=("VD012",),
    plant=plant,
    cause="features",
)

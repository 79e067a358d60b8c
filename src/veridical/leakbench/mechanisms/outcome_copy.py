"""A feature that is the class under another name."""

from __future__ import annotations

import numpy as np

from veridical.leakbench.honest_tables import HonestTable, shallow_tree
from veridical.leakbench.planting import Mechanism, Planted


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Append the class, with some errors."""
    wrong = rng.random(table.n) > dose
    code = np.where(wrong, 1 - table.y, table.y).astype(float)
    X = np.column_stack([table.X, code])
    return Planted.into_features(table, X, shallow_tree())


MECHANISM = Mechanism(
    name="outcome-copy",
    recipe="A feature is a code of the class.",
    dose="share of the samples with the right code",
    doses=(1.0, 0.95),
    cure="Drop the feature.",
    codes=("VD012",),
    plant=plant,
    cause="features",
)

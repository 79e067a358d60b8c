"""Sample numbers given by class."""

from __future__ import annotations

import numpy as np

from veridical.leakbench.honest_tables import HonestTable, shallow_tree
from veridical.leakbench.planting import Mechanism, Planted


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Give numbers to samples class by class, with some exceptions."""
    swapped = rng.random(table.n) > dose
    order = np.argsort(np.where(swapped, 1 - table.y, table.y), kind="stable")
    number = np.empty(table.n)
    number[order] = np.arange(table.n) + 1.0
    X = np.column_stack([number, table.X])
    return Planted.into_features(table, X, shallow_tree())


MECHANISM = Mechanism(
    name="id-by-class",
    recipe="The number of a sample is a feature, and classes were numbered in turn.",
    dose="share of the samples numbered with their class",
    doses=(1.0, 0.95, 0.8),
    cure="Drop the number.",
    codes=("VD025", "VD012"),
    plant=plant,
    cause="features",
)

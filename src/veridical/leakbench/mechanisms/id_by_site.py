"""Sample numbers in blocks of sites."""

from __future__ import annotations

import numpy as np

from veridical.leakbench.honest_tables import HonestTable, shallow_tree
from veridical.leakbench.planting import Mechanism, Planted


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Give numbers to samples site by site; sites differ in their classes."""
    site = rng.integers(2, size=table.n) * 2
    site += rng.random(table.n) < np.where(table.y == 1, dose, 1 - dose)
    number = np.empty(table.n)
    for one in np.unique(site):
        own = rng.permutation(np.flatnonzero(site == one))
        number[own] = 1000.0 * (one + 1) + np.arange(own.size)
    X = np.column_stack([number, table.X])
    return Planted.into_features(table, X, shallow_tree(4))


MECHANISM = Mechanism(
    name="id-by-site",
    recipe="The number of a sample is a feature, and begins with that of the site.",
    dose="share of a class in the sites that see it most",
    doses=(0.95,),
    cure="Drop the number; pass the site as batch=.",
    codes=("VD025",),
    plant=plant,
    cause="features",
)

"""The day on which a sample was taken."""

from __future__ import annotations

import numpy as np

from veridical.leakbench.honest_tables import HonestTable, shallow_tree
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Take the samples of one class later than those of the other."""
    late = np.where(rng.random(table.n) > dose, 1 - table.y, table.y)
    day = 738000.0 + rng.integers(60, size=table.n) + 60 * late
    order = np.argsort(day, kind="stable")
    X, y = np.column_stack([day, table.X])[order], table.y[order]
    tree = shallow_tree()
    return Planted(Scenario(tree, X, y), Scenario(tree, X[:, 1:], y))


MECHANISM = Mechanism(
    name="date",
    recipe="The date is a feature, and the classes were recruited one after another.",
    dose="share of the samples in the period of their class",
    doses=(0.95,),
    cure="Drop the date.",
    codes=("VD025",),
    plant=plant,
    cause="features",
)

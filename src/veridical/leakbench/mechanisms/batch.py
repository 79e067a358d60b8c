"""A batch that is associated with the class."""

from __future__ import annotations

import numpy as np

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Measure most samples of a class in one batch, which shifts features."""
    other = rng.random(table.n) > dose
    batch = np.where(other, 1 - table.y, table.y)
    shift = rng.normal(size=table.X.shape[1]) * table.X.std(axis=0)
    X = table.X + shift * batch[:, None]
    return Planted(
        Scenario(table.estimator, X, table.y, known={"batch": batch}),
        Scenario(table.estimator, table.X, table.y),
    )


MECHANISM = Mechanism(
    name="batch",
    recipe="Most samples of a class were measured in one batch.",
    dose="share of the samples whose batch is that of their class",
    doses=(0.9, 0.75),
    cure="Measure both classes in every batch, or compare within batches.",
    codes=("VD023",),
    plant=plant,
    cause="batch",
)

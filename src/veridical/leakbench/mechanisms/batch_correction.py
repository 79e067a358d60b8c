"""A batch correction that used the class of all samples."""

from __future__ import annotations

import numpy as np

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Remove a batch effect by least squares on batch and class."""
    wide = table.with_noise_features(200)
    other = rng.random(wide.n) > dose
    batch = np.where(other, 1 - wide.y, wide.y)
    batch[:2] = 0, 1
    shift = 0.5 * rng.normal(size=wide.X.shape[1]) * wide.X.std(axis=0)
    X = wide.X + shift * batch[:, None]
    design = np.column_stack([np.ones(wide.n), wide.y, batch])
    effect = np.linalg.lstsq(design, X, rcond=None)[0][2]
    return Planted(
        Scenario(
            table.estimator, X - effect * batch[:, None], wide.y, known={"batch": batch}
        ),
        Scenario(table.estimator, wide.X, wide.y),
    )


MECHANISM = Mechanism(
    name="batch-correction",
    recipe="A batch correction protects the class, on all samples.",
    dose="share of the samples whose batch is that of their class",
    doses=(0.8,),
    cure="Correct inside the folds, without the class.",
    codes=("VD013",),
    plant=plant,
    cause="fitted",
)

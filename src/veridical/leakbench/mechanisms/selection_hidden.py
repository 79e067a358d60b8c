"""Features selected on all samples; the others are not shown."""

from __future__ import annotations

import numpy as np
from sklearn.pipeline import make_pipeline

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import Mechanism, Planted, Scenario
from veridical.selection import AnovaF


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Keep only the features that were selected on all samples."""
    wide = table.with_noise_features(1000)
    k = int(dose)
    best = AnovaF(k).fit(wide.X, wide.y).get_support(indices=True)
    return Planted(
        Scenario(table.estimator, wide.X[:, best], wide.y),
        Scenario(make_pipeline(AnovaF(k), table.estimator), wide.X, wide.y),
    )


MECHANISM = Mechanism(
    name="selection-hidden",
    recipe="Only features that were selected on all samples are in the table.",
    dose="number of features kept of at least 1000",
    doses=(10.0,),
    cure="Keep all features in the table, and select inside the folds.",
    codes=("VD001",),
    plant=plant,
    cause="selection",
)

"""Features selected on all samples, named beside all features."""

from __future__ import annotations

import numpy as np
from sklearn.pipeline import make_pipeline

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import Mechanism, Planted, Scenario
from veridical.selection import AnovaF


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Select on all samples; the cure selects inside the folds."""
    wide = table.with_noise_features(300)
    k = int(dose)
    best = AnovaF(k).fit(wide.X, wide.y).get_support(indices=True)
    known = {"selected": best, "selector": "anova"}
    return Planted(
        Scenario(table.estimator, wide.X, wide.y, known=known),
        Scenario(make_pipeline(AnovaF(k), table.estimator), wide.X, wide.y),
    )


MECHANISM = Mechanism(
    name="selection",
    recipe="The best features are selected on all samples, then cross-validated.",
    dose="number of features kept of at least 300",
    doses=(20.0, 5.0),
    cure="Make the selection a step of the pipeline.",
    codes=("VD001",),
    plant=plant,
    cause="selection",
)

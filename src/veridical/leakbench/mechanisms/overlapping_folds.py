"""Test samples that are also training samples."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import StratifiedKFold

from veridical.leakbench.honest_tables import HonestTable, nearest
from veridical.leakbench.planting import N_FOLDS, Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Add a share of the test samples to their training sets."""
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=table.seed)
    honest = list(folds.split(table.X, table.y))
    splits = [
        (np.r_[train, test[rng.random(test.size) < dose]], test)
        for train, test in honest
    ]
    return Planted(
        Scenario(nearest(1), table.X, table.y, cv=splits),
        Scenario(nearest(1), table.X, table.y, cv=honest),
    )


MECHANISM = Mechanism(
    name="overlapping-folds",
    recipe="Training sets contain test samples.",
    dose="share of the test samples in the training set",
    doses=(0.2,),
    cure="Use splits that do not overlap.",
    codes=("VD011",),
    plant=plant,
    cause="overlap",
)

"""Samples removed because the classifier was wrong on them."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import cross_val_predict

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import N_FOLDS, Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Remove samples that are misclassified in cross-validation."""
    X, y = table.X, table.y
    wrong = cross_val_predict(table.estimator, X, y, cv=N_FOLDS) != y
    gone = wrong & (rng.random(table.n) < dose)
    known = {"n_removed": int(np.count_nonzero(gone))}
    return Planted(
        Scenario(table.estimator, X[~gone], y[~gone], known=known),
        Scenario(table.estimator, X, y),
    )


MECHANISM = Mechanism(
    name="cleaning",
    recipe="Samples that are misclassified are removed as outliers.",
    dose="share of the misclassified samples that are removed",
    doses=(0.5,),
    cure="Remove samples without looking at predictions.",
    codes=("VD032",),
    plant=plant,
    cause="removed",
)

"""Missing values replaced by the mean of the sample's own class."""

from __future__ import annotations

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Remove values at random and impute them by the mean of the class."""
    X = np.where(rng.random(table.X.shape) < dose, np.nan, table.X)
    filled = X.copy()
    for k in (0, 1):
        own = table.y == k
        filled[own] = SimpleImputer().fit_transform(X[own])
    return Planted(
        Scenario(table.estimator, filled, table.y),
        Scenario(make_pipeline(SimpleImputer(), table.estimator), X, table.y),
    )


MECHANISM = Mechanism(
    name="class-mean-imputation",
    recipe="Missing values are replaced by the mean of their class.",
    dose="share of the values that are missing",
    doses=(0.1, 0.3),
    cure="Impute without the class, inside the folds.",
    codes=("VD026",),
    plant=plant,
    cause="features",
)

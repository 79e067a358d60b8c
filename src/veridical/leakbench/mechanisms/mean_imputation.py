"""Missing values replaced by the mean of all samples."""

from __future__ import annotations

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Remove values at random and impute them on all samples."""
    X = np.where(rng.random(table.X.shape) < dose, np.nan, table.X)
    return Planted(
        Scenario(table.estimator, SimpleImputer().fit_transform(X), table.y),
        Scenario(make_pipeline(SimpleImputer(), table.estimator), X, table.y),
    )


MECHANISM = Mechanism(
    name="mean-imputation",
    recipe="Missing values are replaced by the mean of all samples.",
    dose="share of the values that are missing",
    doses=(0.1,),
    cure="Make the imputer a step of the pipeline.",
    codes=("VD002",),
    plant=plant,
)

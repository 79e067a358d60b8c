"""Features standardised on all samples."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import StandardScaler

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import Mechanism, Planted


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Standardise some of the features on all samples."""
    X = table.X.copy()
    some = rng.permutation(X.shape[1])[: round(dose * X.shape[1])]
    X[:, some] = StandardScaler().fit_transform(X[:, some])
    return Planted.into_features(table, X)


MECHANISM = Mechanism(
    name="scaling",
    recipe="Features are standardised with the mean and deviation of all samples.",
    dose="share of the features that are standardised",
    doses=(1.0,),
    cure="Make the scaler a step of the pipeline.",
    codes=("VD002",),
    plant=plant,
)

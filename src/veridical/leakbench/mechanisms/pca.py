"""Principal components of all samples."""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from veridical.leakbench.honest_tables import HonestTable
from veridical.leakbench.planting import Mechanism, Planted, Scenario


def plant(table: HonestTable, dose: float, rng: np.random.Generator) -> Planted:
    """Replace the features by principal components of all samples."""
    k = min(int(dose), table.X.shape[1] - 1)
    return Planted(
        Scenario(table.estimator, PCA(k).fit_transform(table.X), table.y),
        Scenario(make_pipeline(PCA(k), table.estimator), table.X, table.y),
    )


MECHANISM = Mechanism(
    name="pca",
    recipe="Principal components are computed on all samples.",
    dose="number of components",
    doses=(10.0,),
    cure="Make PCA a step of the pipeline.",
    codes=("VD002",),
    plant=plant,
)
